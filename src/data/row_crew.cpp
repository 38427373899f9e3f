#include "base/block_tree.hpp"
#include "base/bytes.hpp"
#include "data/number_cache.hpp"
#include "data/part_frames.hpp"
#include "data/parts.hpp"
#include "data/rows_digest.hpp"
#include "data/unpacked_stream.hpp"
#include "data/watched_rows.hpp"

#include <lrvb/base/interruption.hpp>
#include <lrvb/data/row_crew.hpp>
#include <lrvb/data/table.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <mutex>
#include <new>
#include <optional>
#include <stdexcept>
#include <utility>

namespace lrvb {

namespace {

using detail::ByteReader;
using detail::ByteWriter;
using detail::PartRange;

constexpr Index kReadRows = 1 << 14;  // at once

// An answer, with what became of it in its first byte.
constexpr char kValue = 'v';
constexpr char kNothing = 'n';  // of a rank without rows
constexpr char kError = 'e';
constexpr char kMissingValue = 'm';

std::string merged(std::string left, std::string right, const Merge& merge) {
    const auto is_error = [](const std::string& answer) { return answer[0] == kError || answer[0] == kMissingValue; };
    if (is_error(left) || right[0] == kNothing) return left;
    if (is_error(right) || left[0] == kNothing) return right;
    try {
        return kValue + merge(left.substr(1), right.substr(1));
    } catch (const std::exception& error) {
        return kError + std::string(error.what());
    }
}

// A file, as it is shared out.
struct SharedFile {
    std::string path;
    std::size_t bytes = 0;
    bool is_split = true;            // by ranks, at bytes; otherwise who has its first byte has all of it
    std::vector<Index> rows_before;  // of each rank's bytes, where it is CSV and split
};

struct Opening {
    std::string name;
    std::vector<SharedFile> files;
    RowSelection selection;
    std::vector<std::string> na;
    std::vector<std::string> columns;
    std::size_t memory = 0;
    FrameOptions frame;  // of a table, in place of the selection

    std::string bytes() const {
        ByteWriter writer;
        writer.text(name).number(static_cast<Index>(files.size()));
        for (const SharedFile& file : files) {
            writer.text(file.path).number(file.bytes).number(file.is_split).numbers(file.rows_before);
        }
        writer.texts(selection.columns).text(selection.weights).number(selection.drop_missing);
        writer.number(selection.ranges).texts(na).texts(columns).number(memory);
        writer.texts(frame.columns).number(frame.ranges).texts(frame.last).texts(frame.text).texts(frame.numbers);
        return writer.number(frame.missing == Missing::drop).texts(frame.na).number(frame.memory).take();
    }

    static Opening of(std::string_view bytes) {
        ByteReader reader(bytes);
        Opening result;
        result.name = reader.text();
        result.files.resize(static_cast<std::size_t>(reader.index()));
        for (SharedFile& file : result.files) {
            file.path = reader.text();
            file.bytes = reader.number<std::size_t>();
            file.is_split = reader.number<bool>();
            file.rows_before = reader.numbers<Index>();
        }
        result.selection.columns = reader.texts();
        result.selection.weights = reader.text();
        result.selection.drop_missing = reader.number<bool>();
        result.selection.ranges = reader.number<bool>();
        result.na = reader.texts();
        result.columns = reader.texts();
        result.memory = reader.number<std::size_t>();
        result.frame.columns = reader.texts();
        result.frame.ranges = reader.number<bool>();
        result.frame.last = reader.texts();
        result.frame.text = reader.texts();
        result.frame.numbers = reader.texts();
        result.frame.missing = reader.number<bool>() ? Missing::drop : Missing::refuse;
        result.frame.na = reader.texts();
        result.frame.memory = reader.number<std::size_t>();
        return result;
    }

    struct Piece {
        std::size_t file;
        std::size_t begin;
        std::size_t end;
        bool is_whole;
    };

    // The bytes of each file that a rank begins rows at: all bytes together are shared out evenly, in order.
    std::vector<Piece> pieces(int rank, int size) const {
        std::size_t total = 0;
        for (const SharedFile& file : files) total += file.bytes;
        const auto bound = [&](int at) {
            const auto ranks = static_cast<std::size_t>(size);
            const auto number = static_cast<std::size_t>(at);
            return total / ranks * number + total % ranks * number / ranks;
        };
        const std::size_t begin = bound(rank);
        const std::size_t end = bound(rank + 1);
        std::vector<Piece> result;
        std::size_t place = 0;
        for (std::size_t i = 0; i < files.size(); ++i) {
            const std::size_t next = place + files[i].bytes;
            if (!files[i].is_split) {
                if (begin <= place && place < end) result.push_back({i, 0, files[i].bytes, true});
            } else if (std::max(begin, place) < std::min(end, next)) {
                const std::size_t first = std::max(begin, place) - place;
                const std::size_t last = std::min(end, next) - place;
                result.push_back({i, first, last, first == 0 && last == files[i].bytes});
            }
            place = next;
        }
        return result;
    }
};

// What ranks found in their parts of a table.
struct FrameFound {
    detail::ColumnForms forms;
    std::vector<Index> files;    // of which a rank had a part,
    std::vector<Index> records;  // and how many rows that has

    void add(const FrameFound& next) {
        forms.add(next.forms);
        files.insert(files.end(), next.files.begin(), next.files.end());
        records.insert(records.end(), next.records.begin(), next.records.end());
    }
    std::string bytes() const { return ByteWriter().text(forms.bytes()).numbers(files).numbers(records).take(); }
    static FrameFound of(std::string_view bytes) {
        ByteReader reader(bytes);
        FrameFound found;
        found.forms = detail::ColumnForms::of(reader.text());
        found.files = reader.numbers<Index>();
        found.records = reader.numbers<Index>();
        return found;
    }
};

bool is_csv(const std::string& path) {
    return !path.ends_with(".npy");
}

// Who has which rows, before and after neighbours handed some over.
struct Plan {
    std::vector<Index> firsts;   // of each rank, of all, as they were read; and the number of all
    std::vector<Index> records;  // the same with rows that were left out
    bool any_dropped = false;
    Index dropped = 0;

    Index total() const { return firsts.back(); }
    Index count(int rank) const { return first(rank + 1) - first(rank); }
    Index first(int rank) const { return firsts[static_cast<std::size_t>(rank)]; }
    // Where a share begins: at the first super-block that begins with a row of this rank, or a later one. The first is
    // always rank 0's, so that few rows are all there.
    Index start(int rank) const {
        if (rank == 0) return 0;
        return std::min(total(), (std::max(first(rank), Index{1}) + kShareRows - 1) / kShareRows * kShareRows);
    }
    Index rows(int rank) const { return start(rank + 1) - start(rank); }
    int size() const { return static_cast<int>(firsts.size()) - 1; }
    // Rows that a rank hands over, and to whom: who has the block that they are in.
    Index head(int rank) const { return std::min(start(rank), first(rank + 1)) - first(rank); }
    int owner(int rank) const {
        const Index block = first(rank) / kShareRows * kShareRows;
        int result = rank;
        while (start(result) > block) --result;
        return result;
    }

    std::string bytes() const { return ByteWriter().numbers(firsts).numbers(records).number(any_dropped).take(); }
    static Plan of(std::string_view bytes) {
        ByteReader reader(bytes);
        Plan plan;
        plan.firsts = reader.numbers<Index>();
        plan.records = reader.numbers<Index>();
        plan.any_dropped = reader.number<bool>();
        return plan;
    }
};

// A source without its first rows, and with some in memory behind the last.
class HandedOver final : public RowSource {
  public:
    HandedOver(std::shared_ptr<RowSource> source, Index skipped, std::vector<double> tail)
        : source_(std::move(source)), skipped_(skipped), tail_(std::move(tail)) {}

    Index columns() const override { return source_->columns(); }
    std::string name() const override { return source_->name(); }
    std::string column_name(Index column) const override { return source_->column_name(column); }
    void rewind() override {
        source_->rewind();
        std::vector<double> passed(static_cast<std::size_t>(std::min(skipped_, kReadRows) * columns()));
        for (Index left = skipped_; left > 0;) {
            const Index count = source_->read(passed.data(), std::min(left, kReadRows));
            if (count == 0) break;
            left -= count;
        }
        next_ = 0;
    }
    Index read(double* rows, Index capacity) override {
        Index count = source_->read(rows, capacity);
        const Index some = std::min(capacity - count, static_cast<Index>(tail_.size()) / columns() - next_);
        std::copy_n(tail_.begin() + next_ * columns(), some * columns(), rows + count * columns());
        next_ += some;
        return count + some;
    }

  private:
    std::shared_ptr<RowSource> source_;
    Index skipped_;
    std::vector<double> tail_;
    Index next_ = 0;  // of the tail
};

std::string concatenated(std::string left, const std::string& right) {
    return left += right;
}

}  // namespace

class RowCrew::Implementation {
  public:
    Implementation(Communicator& communicator_in, std::vector<RowQuestion> questions_in, std::string version_in)
        : communicator(communicator_in), questions(std::move(questions_in)), version(std::move(version_in)) {
        for (RowQuestion& question : data_questions()) questions.push_back(std::move(question));
    }

    bool is_first() const { return communicator.rank() == 0; }

    // At rank 0: says what is asked, answers it with the others, and gives what came of it.
    std::string together(const std::string& command, const std::string& asked) {
        const std::lock_guard lock(one_question);
        const std::string message = ByteWriter().text(command).text(asked).take();
        heard = broadcast(communicator, message);
        if (others) others();
        const std::string answer = answer_heard();
        if (answer[0] == kMissingValue) throw MissingValue(answer.substr(1));
        if (answer[0] == kError) throw std::runtime_error(answer.substr(1));
        return answer.substr(1);
    }

    std::string answer_heard() {
        ByteReader reader(heard);
        const std::string command = reader.text();
        const std::string asked = reader.text();
        Merge merge = concatenated;
        std::string own;
        try {
            own = run(command, asked, merge);
        } catch (const MissingValue& error) {
            own = kMissingValue + std::string(error.what());
        } catch (const std::bad_alloc&) {
            own = kError + fmt::format("rank {} has not enough memory for this: use more ranks, or fewer columns",
                                       communicator.rank());
        } catch (const std::exception& error) {
            own = kError + std::string(error.what());
        }
        return reduce(communicator, std::move(own), [&](std::string left, std::string right) {
            return merged(std::move(left), std::move(right), merge);
        });
    }

    std::string run(const std::string& command, const std::string& asked, Merge& merge) {
        if (command == "version") return kValue + ByteWriter().number(communicator.rank()).text(version).take();
        if (command == "count") return kValue + count(asked);
        if (command == "read") return kValue + read(asked);
        if (command == "align") return kValue + align(asked);
        if (command == "frames") {
            merge = [](const std::string& left, const std::string& right) {
                FrameFound found = FrameFound::of(left);
                found.add(FrameFound::of(right));
                return found.bytes();
            };
            return kValue + read_frames(asked);
        }
        if (command == "code") return kValue + code_frames(asked);
        const auto question = std::find_if(questions.begin(), questions.end(),
                                           [&](const RowQuestion& one) { return one.name == command; });
        if (question == questions.end()) throw std::logic_error(fmt::format("nobody knows the question {}", command));
        merge = question->merge;
        if (!share) throw std::logic_error(fmt::format("{} was asked before there were rows", command));
        if (share->rows() == 0) return std::string(1, kNothing);
        return kValue + question->answer(*share, asked);
    }

    // Lines of the CSV files that are shared with others: file, rank, and what count_lines says.
    std::string count(const std::string& asked) const {
        const Opening opening = Opening::of(asked);
        ByteWriter writer;
        for (const Opening::Piece& piece : opening.pieces(communicator.rank(), communicator.size())) {
            const SharedFile& file = opening.files[piece.file];
            if (piece.is_whole || !is_csv(file.path) || !file.is_split) continue;
            const std::size_t begin = detail::line_start(file.path, piece.begin);
            const std::size_t end = detail::line_start(file.path, piece.end);
            const detail::LineCount lines = detail::count_lines(file.path, begin, end);
            writer.number(static_cast<Index>(piece.file)).number(communicator.rank()).number(lines.rows);
            writer.number(lines.are_records).number(lines.has_blank).number(lines.ends_blank);
        }
        return writer.take();
    }

    struct OwnPart {
        std::size_t file;
        PartRange range;
    };

    // What this rank reads.
    std::vector<OwnPart> own_parts(const Opening& opening) const {
        std::vector<OwnPart> parts;
        for (const Opening::Piece& piece : opening.pieces(communicator.rank(), communicator.size())) {
            const SharedFile& file = opening.files[piece.file];
            PartRange part;
            part.path = file.path;
            if (!piece.is_whole) {
                const bool by_lines = is_csv(file.path);
                part.begin = by_lines ? detail::line_start(file.path, piece.begin) : piece.begin;
                part.end = by_lines ? detail::line_start(file.path, piece.end) : piece.end;
                if (by_lines) part.rows_before = file.rows_before.at(static_cast<std::size_t>(communicator.rank()));
            }
            if (part.begin < part.end) parts.push_back({piece.file, std::move(part)});
        }
        return parts;
    }

    // The first reading of this rank's rows of a table: what its columns are here, and the rows of each file.
    std::string read_frames(const std::string& asked) {
        share.reset();
        own_frames.clear();
        ByteReader reader(asked);
        const Opening opening = Opening::of(reader.text());
        const std::vector<char> marks = reader.numbers<char>();
        const std::vector<bool> as_text(marks.begin(), marks.end());
        FrameFound found;
        for (const OwnPart& part : own_parts(opening)) {
            interruption_point();
            own_frames.push_back(detail::read_part_frame(part.range, opening.frame, as_text));
            found.forms.add(detail::ColumnForms(own_frames.back()));
            found.files.push_back(static_cast<Index>(part.file));
            found.records.push_back(own_frames.back().records());
        }
        return found.bytes();
    }

    // The rows of this rank as numbers, now that all levels are known: how many there are, and how many were left out.
    std::string code_frames(const std::string& asked) {
        const DataFrame outline = detail::outline_of(asked);
        own_rows = 0;
        own_records.clear();
        own_numbers.emplace();
        Index records = 0;
        for (detail::PartFrame& part : own_frames) {
            detail::take_form(outline, part.frame);
            for (Index n = 0; n < part.frame.rows; ++n) {
                for (const FrameColumn& column : part.frame.columns) {
                    own_numbers->push_back(column.is_text()
                                               ? static_cast<double>(column.codes[static_cast<std::size_t>(n)])
                                               : column.numbers[n]);
                }
                own_records.push_back(records + part.frame.file_row(n));
            }
            own_rows += part.frame.rows;
            records += part.records();
            part = {};
        }
        own_frames.clear();
        width_ = static_cast<Index>(outline.columns.size());
        names = outline.column_names();
        name = outline.name;
        return ByteWriter().number(own_rows).number(records - own_rows).take();
    }

    // The first reading of this rank's rows: how many there are, and how many were left out.
    std::string read(const std::string& asked) {
        share.reset();
        const Opening opening = Opening::of(asked);
        std::vector<PartRange> parts;
        for (OwnPart& part : own_parts(opening)) parts.push_back(std::move(part.range));
        auto source = std::make_shared<detail::PartsSource>(
            opening.name, parts, opening.selection, opening.na,
            detail::PartsSource::Header{opening.columns, opening.files.front().path});
        const Index width = source->columns();
        detail::NumberCache cache(opening.memory, 0, true);
        detail::RowsChecksum checksum(width);
        const bool one_by_one = opening.selection.drop_missing;
        std::vector<double> chunk(static_cast<std::size_t>(kReadRows * width));
        own_rows = 0;
        own_records.clear();
        source->rewind();
        while (const Index count = source->read(chunk.data(), one_by_one ? 1 : kReadRows)) {
            interruption_point();
            own_rows += count;
            if (one_by_one) own_records.push_back(own_rows + source->dropped());
            cache.add(chunk.data(), static_cast<std::size_t>(count * width));
            checksum.add(chunk.data(), count);
        }
        own_numbers.reset();
        own_source.reset();
        if (cache.is_kept()) {
            own_numbers = cache.taken();
        } else {
            own_source =
                std::make_shared<detail::WatchedRows>(source, own_rows, detail::RowsChecksum::text(checksum.take()));
        }
        width_ = width;
        names = opening.columns;
        name = opening.name;
        return ByteWriter().number(own_rows).number(source->dropped()).take();
    }

    // Hands the rows over that belong to another's super-block, and takes those that belong to one of ours.
    std::string align(const std::string& asked) {
        const Plan plan = Plan::of(asked);
        const int rank = communicator.rank();
        const Index head = plan.head(rank);
        std::vector<Index> file_rows;
        if (plan.any_dropped) {
            file_rows = std::move(own_records);
            for (Index& row : file_rows) row += plan.records[static_cast<std::size_t>(rank)];
        }
        std::vector<double> rows(static_cast<std::size_t>(head * width_));
        std::string trouble;
        try {
            if (own_numbers) {
                std::copy_n(own_numbers->begin(), head * width_, rows.begin());
            } else if (head > 0) {
                own_source->rewind();
                if (own_source->read(rows.data(), head) != head) throw std::runtime_error("rows are gone");
            }
        } catch (const std::exception& error) {  // who waits for the rows must not wait forever
            trouble = fmt::format("{}: {}", name, error.what());
        }
        if (head > 0) {
            const auto middle = file_rows.begin() + (file_rows.empty() ? 0 : head);
            communicator.send(plan.owner(rank),
                              ByteWriter().numbers(rows).numbers(std::vector<Index>(file_rows.begin(), middle)).take());
            file_rows.erase(file_rows.begin(), middle);
        }
        std::vector<double> tail;
        for (int other = rank + 1; other < plan.size(); ++other) {
            if (plan.first(other) >= plan.start(rank + 1)) break;
            if (plan.head(other) == 0 || plan.owner(other) != rank) continue;
            const std::string message = communicator.receive(other);
            ByteReader reader(message);
            const std::vector<double> more = reader.numbers<double>();
            tail.insert(tail.end(), more.begin(), more.end());
            const std::vector<Index> more_rows = reader.numbers<Index>();
            file_rows.insert(file_rows.end(), more_rows.begin(), more_rows.end());
        }
        if (!trouble.empty()) throw std::runtime_error(trouble);
        std::shared_ptr<RowSource> source;
        if (own_numbers) {
            own_numbers->erase(own_numbers->begin(), own_numbers->begin() + head * width_);
            own_numbers->insert(own_numbers->end(), tail.begin(), tail.end());
            if (!own_numbers->empty()) source = std::make_shared<TableSource>(std::move(*own_numbers), name, names);
        } else {
            source = std::make_shared<HandedOver>(own_source, head, std::move(tail));
        }
        own_numbers.reset();
        own_source.reset();
        const Index count = plan.rows(rank);
        share.emplace(std::move(source), count == 0 ? 0 : plan.start(rank), count, std::move(file_rows));
        return {};
    }

    Communicator& communicator;
    std::vector<RowQuestion> questions;
    std::string version;
    std::function<void()> others;
    std::mutex one_question;  // at a time: threads may ask
    std::string heard;

    // What was read, before it is a share.
    std::vector<detail::PartFrame> own_frames;
    std::shared_ptr<RowSource> own_source;
    std::optional<std::vector<double>> own_numbers;
    Index own_rows = 0;
    std::vector<Index> own_records;  // the row, from 1, that each row is among all that this rank read
    Index width_ = 0;
    std::vector<std::string> names;
    std::string name;

    std::optional<RowShare> share;
};

RowCrew::RowCrew(Communicator& communicator, std::vector<RowQuestion> questions, std::string version)
    : implementation_(std::make_unique<Implementation>(communicator, std::move(questions), std::move(version))) {}
RowCrew::~RowCrew() = default;

void RowCrew::require_same_version() {
    const std::string answers = implementation_->together("version", {});
    for (ByteReader reader(answers); !reader.at_end();) {
        const auto rank = reader.number<int>();
        const std::string version = reader.text();
        if (version == implementation_->version) continue;
        throw std::runtime_error(fmt::format("rank {} runs version {}, but rank 0 runs {}: install one everywhere",
                                             rank, version, implementation_->version));
    }
}

std::string RowCrew::ask(const std::string& question, const std::string& asked) {
    interruption_point();
    return implementation_->together(question, asked);
}

void RowCrew::end(int code) {
    broadcast(implementation_->communicator, ByteWriter().text("end").number(code).take());
    if (implementation_->others) implementation_->others();
}

bool RowCrew::hear() {
    implementation_->heard = broadcast(implementation_->communicator, {});
    return ByteReader(implementation_->heard).text() != "end";
}

void RowCrew::answer() {
    implementation_->answer_heard();
}

int RowCrew::serve() {
    while (hear()) answer();
    ByteReader reader(implementation_->heard);
    static_cast<void>(reader.text());
    return reader.number<int>();
}

void RowCrew::set_others(std::function<void()> others) {
    implementation_->others = std::move(others);
}

namespace {

// Which CSV files can be read by several ranks, and the rows before the bytes of each.
void settle_counts(const std::string& counts, int size, std::vector<SharedFile>& files) {
    struct Count {
        int rank;
        detail::LineCount lines;
    };
    std::vector<std::vector<Count>> of_file(files.size());
    for (ByteReader reader(counts); !reader.at_end();) {
        const Index file = reader.index();
        Count count;
        count.rank = reader.number<int>();
        count.lines.rows = reader.index();
        count.lines.are_records = reader.number<bool>();
        count.lines.has_blank = reader.number<bool>();
        count.lines.ends_blank = reader.number<bool>();
        of_file.at(static_cast<std::size_t>(file)).push_back(count);
    }
    for (std::size_t i = 0; i < files.size(); ++i) {
        Index rows = 0;
        bool is_blank = false;  // before what comes next
        files[i].rows_before.assign(of_file[i].empty() ? 0 : static_cast<std::size_t>(size), 0);
        for (const Count& count : of_file[i]) {
            const detail::LineCount& lines = count.lines;
            const bool follows_blank = is_blank && lines.rows > 0;
            if (!lines.are_records || lines.has_blank || follows_blank) files[i].is_split = false;
            files[i].rows_before[static_cast<std::size_t>(count.rank)] = rows;
            rows += lines.rows;
            is_blank = is_blank || lines.ends_blank;
        }
        if (!files[i].is_split) files[i].rows_before.clear();
    }
}

std::vector<SharedFile> files_of(const std::string& path) {
    if (path == "-") {
        throw std::runtime_error("standard input cannot be shared out among ranks: save it to a file, and give that");
    }
    std::vector<SharedFile> files;
    for (const std::string& part : detail::parts_of(path)) {
        SharedFile& file = files.emplace_back();
        file.path = part;
        file.bytes = detail::PlacedFile(part).size();
        if (file.bytes == 0) {
            throw std::runtime_error(
                fmt::format("{}: is empty: give a line of column names, then rows of numbers", part));
        }
        // Bytes of what is packed are no rows.
        if (is_csv(part)) file.is_split = !detail::UnpackedStream(part).is_packed();
    }
    return files;
}

}  // namespace

namespace {

// Of the rows that each rank has read, and left out.
Plan plan_of(const std::string& path, const std::string& counts) {
    Plan plan;
    Index records = 0;
    Index rows = 0;
    for (ByteReader reader(counts); !reader.at_end();) {
        plan.firsts.push_back(rows);
        plan.records.push_back(records);
        const Index own = reader.index();
        const Index dropped = reader.index();
        rows += own;
        records += own + dropped;
    }
    plan.firsts.push_back(rows);
    plan.dropped = records - rows;
    plan.any_dropped = plan.dropped > 0;
    if (rows == 0) {
        throw std::runtime_error(
            fmt::format("{}: every row has a missing value in a used column: use other columns", path));
    }
    return plan;
}

}  // namespace

FrameRows RowCrew::open_frame(const std::string& path, const FrameOptions& options) {
    Implementation& self = *implementation_;
    Opening opening;
    opening.name = path;
    opening.files = files_of(path);
    opening.frame = options;
    settle_counts(self.together("count", opening.bytes()), self.communicator.size(), opening.files);
    const auto read = [&](const std::vector<bool>& as_text) {
        const std::vector<char> marks(as_text.begin(), as_text.end());
        return FrameFound::of(self.together("frames", ByteWriter().text(opening.bytes()).numbers(marks).take()));
    };
    FrameFound found = read({});
    const std::vector<bool> again = found.forms.read_again();
    if (std::find(again.begin(), again.end(), true) != again.end()) found = read(again);
    found.forms.require_usable();

    FrameRows result;
    result.frame = found.forms.outline(path);
    if (detail::names_parts(path)) {
        Index before = 0;
        for (std::size_t file = 0; file < opening.files.size(); ++file) {
            result.frame.parts.push_back({opening.files[file].path, before});
            for (std::size_t i = 0; i < found.files.size(); ++i) {
                if (found.files[i] == static_cast<Index>(file)) before += found.records[i];
            }
        }
    }
    const Plan plan = plan_of(path, self.together("code", detail::outline_bytes(result.frame)));
    self.together("align", plan.bytes());
    // Few rows are all here.
    if (plan.rows(0) == plan.total()) {
        result.frame = detail::frame_of(*self.share, std::move(result.frame));
    } else {
        result.team = shared_from_this();
    }
    result.frame.rows = plan.total();
    result.frame.dropped = plan.dropped;
    return result;
}

DataRows RowCrew::open(const std::string& path, const RowSelection& selection, const DataOptions& options) {
    Implementation& self = *implementation_;
    const int size = self.communicator.size();
    Opening opening;
    opening.name = path;
    opening.files = files_of(path);
    opening.selection = selection;
    opening.na = options.na;
    opening.memory = options.memory;
    const detail::OpenedPart first = detail::open_part({opening.files.front().path}, selection, options.na, true);
    opening.columns = first.names;
    settle_counts(self.together("count", opening.bytes()), size, opening.files);

    const Plan plan = plan_of(path, self.together("read", opening.bytes()));
    const Index rows = plan.total();
    self.together("align", plan.bytes());

    const auto team = std::make_shared<TeamRows>(shared_from_this(), path, opening.columns, rows);
    RowSelection all = selection;
    all.columns.clear();
    DataRows data = detail::rows_of_team(team, all);
    data.leaves_out_row_names = first.leaves_out_row_names;
    data.record.na = options.na;
    data.record.dropped = plan.dropped;
    if (plan.any_dropped) {
        const std::string bytes = self.together("file rows", {});
        ByteReader reader(bytes);
        while (!reader.at_end()) {
            const std::vector<Index> some = reader.numbers<Index>();
            data.file_rows.insert(data.file_rows.end(), some.begin(), some.end());
        }
    }
    // Few rows are all here.
    if (plan.rows(0) == rows) data.source = self.share->shared_source();
    return data;
}

}  // namespace lrvb
