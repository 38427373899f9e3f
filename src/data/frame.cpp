#include "base/files.hpp"
#include "base/messages.hpp"
#include "data/columns.hpp"
#include "data/csv_reader.hpp"
#include "data/part_frames.hpp"

#include <lrvb/data/frame.hpp>
#include <lrvb/data/npy.hpp>

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <unordered_map>
#include <utility>

namespace lrvb {
namespace {

using detail::NumberKind;
using detail::PartFrame;
using detail::PartRange;

/// A number that no double can hold, which is only wrong if its column turns out to be numbers.
struct Unusable {
    NumberKind kind = NumberKind::number;
    Index row = 0;
    std::string text;
};

/// Numbers are read on a first pass, which also tells where there is text; text on a second. Which rows are dropped
/// does not depend on what a column holds, so that both keep the same ones.
class CsvFrameReader {
  public:
    /// `as_text`: of the columns that are read, those in which others found text.
    CsvFrameReader(const PartRange& part, const FrameOptions& options, const std::vector<bool>& as_text = {})
        : reader_(part.path, options.block, options.memory, options.columns, options.ranges, options.last, options.na),
          missing_(options.missing),
          keeps_missing_(options.keep_missing),
          memory_(options.memory),
          is_text_(reader_.selected().size(), false),
          is_number_(reader_.selected().size(), false),
          has_text_(reader_.selected().size(), false),
          is_quoted_(reader_.selected().size(), true),
          unusable_(reader_.selected().size()),
          numbers_(reader_.selected().size()) {
        if (!part.is_whole()) reader_.restrict_to(part.begin, part.end, part.rows_before);
        rows_before_ = part.rows_before;
        mark(options.text, "text", is_text_);
        mark(options.numbers, "numbers", is_number_);
        told_text_ = is_text_;
        for (std::size_t i = 0; i < as_text.size() && i < is_text_.size(); ++i) {
            if (as_text[i]) is_text_[i] = true;
        }
    }

    DataFrame read() {
        PartFrame part = read_part();
        for (std::size_t i = 0; i < is_text_.size(); ++i) {
            if (!is_text_[i] && !part.unusable[i].empty()) throw std::runtime_error(part.unusable[i]);
        }
        if (rows_ == 0) reader_.refuse_all_missing();
        return std::move(part.frame);
    }

    PartFrame read_part() {
        read_numbers();
        PartFrame part;
        part.has_text = has_text_;
        part.all_quoted = is_quoted_;
        part.quotes_all = quotes_all_;
        decide(part);
        DataFrame& frame = part.frame;
        frame.name = reader_.name();
        frame.rows = rows_;
        frame.dropped = dropped_;
        frame.leaves_out_row_names = reader_.leaves_out_row_names();
        if (dropped_ > 0) frame.file_rows = std::move(file_rows_);
        const std::vector<std::string> names = reader_.selected_names();
        for (std::size_t i = 0; i < is_text_.size(); ++i) {
            FrameColumn& column = frame.columns.emplace_back();
            column.name = names[i];
            column.quoted = is_quoted_[i];
            if (is_number_[i]) column.told = FrameColumn::Told::numbers;
            if (told_text_[i]) column.told = FrameColumn::Told::text;
            if (is_text_[i]) continue;
            column.numbers = Eigen::Map<const Vector>(numbers_[i].data(), rows_);
            numbers_[i] = {};
        }
        if (std::find(is_text_.begin(), is_text_.end(), true) != is_text_.end()) read_text(frame);
        return part;
    }

  private:
    /// What each column is, as far as these rows tell.
    void decide(PartFrame& part) {
        for (std::size_t i = 0; i < is_text_.size(); ++i) {
            is_quoted_[i] = is_quoted_[i] && !quotes_all_;
            if (is_quoted_[i] && !is_number_[i]) is_text_[i] = true;
            std::string& sentence = part.unusable.emplace_back();
            if (told_text_[i] || has_text_[i]) continue;
            try {
                refuse_unusable(unusable_[i], reader_.selected()[i]);
            } catch (const std::runtime_error& error) {  // wrong only if others found no text here
                sentence = error.what();
            }
        }
    }

    void mark(const std::vector<std::string>& columns, std::string_view what, std::vector<bool>& marks) const {
        for (const std::string& column : columns) {
            const std::size_t place = detail::select_columns(reader_.name(), reader_.names(), {column}).front();
            const auto slot = std::find(reader_.selected().begin(), reader_.selected().end(), place);
            if (slot == reader_.selected().end()) {
                if (place == 0 && reader_.leaves_out_row_names()) detail::refuse_row_names(reader_.name());
                throw std::invalid_argument(
                    fmt::format("{}: column {} is to be {}, but is not among the columns to read: add it to them",
                                reader_.name(), detail::shown(reader_.names()[place]), what));
            }
            marks[static_cast<std::size_t>(slot - reader_.selected().begin())] = true;
        }
    }

    std::string_view field(std::size_t column) const {
        return reader_.record().fields[reader_.selected()[column]].text;
    }

    void read_numbers() {
        Index first_missing_row = 0;
        std::size_t first_missing_place = 0;
        while (reader_.next()) {
            require_memory();
            if (keeps_missing_) add_blank_rows();
            if (reader_.blank_rows() > 0 && first_missing_row == 0) {
                first_missing_row = reader_.row() - reader_.blank_rows();
            }
            if (!keeps_missing_) dropped_ += reader_.blank_rows();
            reader_.require_whole();
            const std::size_t missing = read_row();
            if (missing == is_text_.size() || keeps_missing_) {
                ++rows_;
                file_rows_.push_back(reader_.row() - rows_before_);
                continue;
            }
            for (std::size_t i = 0; i < is_text_.size(); ++i) {
                if (!is_text_[i]) numbers_[i].resize(static_cast<std::size_t>(rows_));
            }
            if (dropped_++ == 0) {
                first_missing_row = reader_.row();
                first_missing_place = reader_.selected()[missing];
            }
        }
        if (missing_ == Missing::refuse && dropped_ > 0) {
            reader_.refuse_missing(first_missing_row, first_missing_place, dropped_, reader_.is_restricted());
        }
    }

    /// Of a file with a single column, blank lines are rows without a value.
    void add_blank_rows() {
        rows_ += reader_.blank_rows();
        if (is_text_[0]) return;
        numbers_[0].resize(static_cast<std::size_t>(rows_), std::numeric_limits<double>::quiet_NaN());
    }

    /// Of a pipe, which may have no end, and of a packed file, whose size says nothing.
    void require_memory() const {
        const std::size_t kept = reader_.buffer().kept_bytes();
        const std::size_t numbers = static_cast<std::size_t>(rows_) * is_text_.size() * sizeof(double);
        if (kept > 0 && kept + numbers > memory_) detail::refuse_long_pipe(reader_.name(), memory_);
        require_unpacked(numbers);
    }

    void require_unpacked(std::size_t bytes) const {
        if (reader_.buffer().is_packed() && bytes > memory_) detail::refuse_large_unpacked(reader_.name(), memory_);
    }

    /// The first column without a value, or the number of columns.
    std::size_t read_row() {
        std::size_t first_missing = is_text_.size();
        for (std::size_t i = 0; i < is_text_.size(); ++i) {
            const std::string_view text = field(i);
            double number = 0.0;
            const NumberKind kind = reader_.parse(text, number);
            if (kind != NumberKind::missing && !reader_.record().fields[reader_.selected()[i]].quoted) {
                is_quoted_[i] = false;
            }
            if (kind == NumberKind::missing) {
                first_missing = std::min(first_missing, i);
                number = std::numeric_limits<double>::quiet_NaN();
            } else if (kind == NumberKind::text) {
                is_text_[i] = true;
                has_text_[i] = true;
                numbers_[i] = {};
            } else if (kind != NumberKind::number && unusable_[i].kind == NumberKind::number) {
                unusable_[i] = {kind, reader_.row(), std::string(text)};
            }
            if (!is_text_[i]) numbers_[i].push_back(number);
        }
        for (const detail::CsvField& any : reader_.record().fields) {
            double number = 0.0;
            if (!quotes_all_) break;
            quotes_all_ = any.quoted || reader_.parse(any.text, number) == NumberKind::missing;
        }
        return first_missing;
    }

    void refuse_unusable(const Unusable& value, std::size_t place) const {
        if (value.kind == NumberKind::infinite) reader_.refuse_infinite(value.row, place, value.text);
        if (value.kind == NumberKind::too_large) reader_.refuse_too_large(value.row, place, value.text);
    }

    void read_text(DataFrame& frame) {
        std::vector<std::unordered_map<std::string, std::uint32_t>> known(is_text_.size());
        std::size_t bytes = 0;  // of different texts
        reader_.rewind();
        while (reader_.next()) {
            if (!keeps_missing_ && is_dropped()) continue;
            for (std::size_t i = 0; i < is_text_.size(); ++i) {
                if (!is_text_[i]) continue;
                if (keeps_missing_) {
                    std::vector<std::uint32_t>& codes = frame.columns[i].codes;
                    codes.resize(codes.size() + static_cast<std::size_t>(reader_.blank_rows()), FrameColumn::kMissing);
                    double number = 0.0;
                    if (reader_.parse(field(i), number) == NumberKind::missing) {
                        codes.push_back(FrameColumn::kMissing);
                        continue;
                    }
                }
                const std::string text = detail::unquoted(reader_.record().fields[reader_.selected()[i]]);
                const auto next = static_cast<std::uint32_t>(known[i].size());
                const auto [level, is_new] = known[i].try_emplace(text, next);
                if (is_new) {
                    reader_.require_utf8(reader_.row(), reader_.selected()[i], text);
                    require_unpacked(bytes += text.size());
                }
                frame.columns[i].codes.push_back(level->second);
            }
        }
        for (std::size_t i = 0; i < is_text_.size(); ++i) {
            if (!is_text_[i]) continue;
            if (static_cast<Index>(frame.columns[i].codes.size()) != rows_) {
                reader_.refuse("the file changed while it was read: read it again");
            }
            sort_levels(known[i], frame.columns[i]);
        }
    }

    bool is_dropped() const {
        double number = 0.0;
        for (std::size_t i = 0; i < is_text_.size(); ++i) {
            if (reader_.parse(field(i), number) == NumberKind::missing) return true;
        }
        return false;
    }

    static void sort_levels(const std::unordered_map<std::string, std::uint32_t>& known, FrameColumn& column) {
        std::vector<std::uint32_t> new_codes(known.size());
        for (const auto& [text, code] : known) column.levels.push_back(text);
        std::sort(column.levels.begin(), column.levels.end());
        for (std::uint32_t i = 0; i < column.levels.size(); ++i) new_codes[known.at(column.levels[i])] = i;
        for (std::uint32_t& code : column.codes) {
            if (code != FrameColumn::kMissing) code = new_codes[code];
        }
    }

    detail::CsvReader reader_;
    Missing missing_;
    bool keeps_missing_;
    std::size_t memory_;
    std::vector<bool> is_text_;    // of the columns that are read, as are the following
    std::vector<bool> is_number_;  // whose quotes say nothing
    std::vector<bool> told_text_;
    std::vector<bool> has_text_;   // so far: a value that is no number
    std::vector<bool> is_quoted_;  // so far: all of its values
    bool quotes_all_ = true;       // so far: every value of the file, of columns that are not read too
    std::vector<Unusable> unusable_;
    std::vector<std::vector<double>> numbers_;
    std::vector<Index> file_rows_;
    Index rows_before_ = 0;
    Index rows_ = 0;
    Index dropped_ = 0;
};

DataFrame read_npy_frame(const PartRange& part, const FrameOptions& options) {
    const std::string& path = part.path;
    if (!options.text.empty()) {
        throw std::invalid_argument(
            fmt::format("{}: column {} is to be text, but a NumPy file holds numbers: give a CSV file", path,
                        detail::shown(options.text.front())));
    }
    NpyOptions own;
    own.columns = options.columns;
    own.ranges = options.ranges;
    own.last = options.last;
    detail::restrict_rows(part, own);
    NpySource source(path, own);

    DataFrame frame;
    frame.name = source.name();
    frame.rows = source.rows();
    for (std::string& name : source.column_names()) {
        frame.columns.push_back({.name = std::move(name), .numbers = Vector(frame.rows), .levels = {}, .codes = {}});
    }
    constexpr Index capacity = 4096;
    std::vector<double> chunk(static_cast<std::size_t>(capacity * source.columns()));
    Index done = 0;
    for (Index count = 0; (count = source.read(chunk.data(), capacity)) > 0; done += count) {
        const Eigen::Map<const Matrix> columns(chunk.data(), source.columns(), count);
        for (std::size_t j = 0; j < frame.columns.size(); ++j) {
            frame.columns[j].numbers.segment(done, count) = columns.row(static_cast<Index>(j)).transpose();
        }
    }
    return frame;
}

}  // namespace

Index DataFrame::file_row(Index row) const {
    return file_rows.empty() ? row + 1 : file_rows[static_cast<std::size_t>(row)];
}

std::string detail::row_name_of(const DataFrame& frame, Index file_row) {
    const DataFrame::Part* part = nullptr;
    for (const DataFrame::Part& one : frame.parts) {
        if (one.rows_before < file_row) part = &one;
    }
    if (part == nullptr) return fmt::format("{}: row {}", frame.name, file_row);
    return fmt::format("{}: row {}", part->name, file_row - part->rows_before);
}

std::string DataFrame::row_name(Index row) const {
    return detail::row_name_of(*this, file_row(row));
}

std::vector<std::string> DataFrame::column_names() const {
    std::vector<std::string> names;
    for (const FrameColumn& column : columns) names.push_back(column.name);
    return names;
}

Index DataFrame::find(const std::string& column) const {
    std::vector<std::string> names = column_names();
    if (!leaves_out_row_names) return static_cast<Index>(detail::select_columns(name, names, {column}).front());
    names.insert(names.begin(), "");
    const std::size_t place = detail::select_columns(name, names, {column}).front();
    if (place == 0) detail::refuse_row_names(name);
    return static_cast<Index>(place) - 1;
}

DataFrame read_frame(const std::string& path, const FrameOptions& options) {
    return path.ends_with(".npy") ? read_npy_frame({path}, options) : CsvFrameReader({path}, options).read();
}

detail::PartFrame detail::read_part_frame(const PartRange& part, const FrameOptions& options,
                                          const std::vector<bool>& as_text) {
    if (!part.path.ends_with(".npy")) return CsvFrameReader(part, options, as_text).read_part();
    // Its columns are numbers; which of them are to be text is a matter of the table.
    require_no_texts(part.path, options.na);
    FrameOptions own = options;
    own.text.clear();
    own.numbers.clear();
    PartFrame result;
    result.frame = read_npy_frame(part, own);
    take_as_told(result.frame, names_in(result.frame, options.text), names_in(result.frame, options.numbers));
    const std::size_t columns = result.frame.columns.size();
    result.has_text.assign(columns, false);
    result.all_quoted.assign(columns, false);
    result.unusable.assign(columns, {});
    result.quotes_all = false;
    return result;
}

}  // namespace lrvb
