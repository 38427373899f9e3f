#include "base/files.hpp"
#include "base/messages.hpp"
#include "data/columns.hpp"
#include "data/csv_record.hpp"
#include "data/kept_rows.hpp"
#include "data/memory_rows.hpp"
#include "data/number_cache.hpp"
#include "data/part_frames.hpp"
#include "data/parts.hpp"
#include "data/row_numbers.hpp"
#include "data/rows_digest.hpp"
#include "data/watched_rows.hpp"

#include <lrvb/base/interruption.hpp>
#include <lrvb/data/csv.hpp>
#include <lrvb/data/dataset.hpp>
#include <lrvb/data/npy.hpp>
#include <lrvb/data/row_crew.hpp>
#include <lrvb/data/table.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <filesystem>
#include <functional>
#include <limits>

namespace lrvb {

namespace {

constexpr Index kChunk = 1 << 14;  // rows

struct Opened {
    std::shared_ptr<RowSource> source;
    std::vector<std::string> names;
    const CsvSource* csv = nullptr;
    Index rows = 0;  // where that is known before they are read
    /// Rows left out so far, where they are left out while they are read.
    std::function<Index()> dropped = [] { return Index{0}; };
    bool counts_dropped = false;
    /// Of tables in memory, whose rows are left out before.
    Index dropped_before = 0;
    std::vector<Index> file_rows = {};
    bool leaves_out_row_names = false;

    /// The row, from 1, that a row (from 0) has where it comes from.
    Index file_row(Index row) const {
        return file_rows.empty() ? row + dropped() + 1 : file_rows[static_cast<std::size_t>(row)];
    }
};

Opened open(const std::string& path, const RowSelection& selection, const std::vector<std::string>& na) {
    Opened opened;
    opened.counts_dropped = selection.drop_missing && !path.ends_with(".npy");
    if (detail::names_parts(path)) {
        auto source = std::make_shared<detail::PartsSource>(path, detail::whole_parts(path), selection, na);
        opened.names = source->column_names();
        opened.dropped = [parts = source.get()] { return parts->dropped(); };
        opened.leaves_out_row_names = source->leaves_out_row_names();
        opened.source = std::move(source);
        return opened;
    }
    detail::OpenedPart part = detail::open_part({path}, selection, na, true);
    opened.names = std::move(part.names);
    opened.rows = part.rows;
    opened.csv = part.csv;
    if (part.csv != nullptr) opened.dropped = [csv = part.csv] { return csv->dropped(); };
    opened.leaves_out_row_names = part.leaves_out_row_names;
    opened.source = std::move(part.source);
    return opened;
}

Index size_of(const FrameColumn& column) {
    return column.is_text() ? static_cast<Index>(column.codes.size()) : column.numbers.size();
}

// A table that somebody else made.
void require_whole(const DataFrame& frame) {
    const auto refuse = [](const std::string& reason) { throw std::invalid_argument("Dataset: " + reason); };
    if (frame.rows < 1 || frame.columns.empty()) {
        refuse(fmt::format("a table of {} rows and {} columns holds nothing: give it both", frame.rows,
                           frame.columns.size()));
    }
    if (!frame.file_rows.empty() && static_cast<Index>(frame.file_rows.size()) != frame.rows) {
        refuse(fmt::format("file_rows has {} entries for {} rows: give one a row, or none", frame.file_rows.size(),
                           frame.rows));
    }
    for (const FrameColumn& column : frame.columns) {
        if (size_of(column) != frame.rows) {
            refuse(fmt::format("column {} has {} values, but the table has {} rows: give one a row",
                               detail::shown(column.name), size_of(column), frame.rows));
        }
        if (std::adjacent_find(column.levels.begin(), column.levels.end(), std::greater_equal<>()) !=
            column.levels.end()) {
            refuse(fmt::format("the levels of column {} are not sorted, or one comes twice: sort them",
                               detail::shown(column.name)));
        }
        const bool is_text =
            detail::is_utf8(column.name) && std::all_of(column.levels.begin(), column.levels.end(), detail::is_utf8);
        if (!is_text) {
            refuse(
                fmt::format("the name or a level of column {} is not UTF-8: convert it", detail::shown(column.name)));
        }
        for (const std::uint32_t code : column.codes) {
            if (code >= column.levels.size()) {
                refuse(fmt::format("column {} has the code {}, but {} levels: codes count from 0",
                                   detail::shown(column.name), code, column.levels.size()));
            }
        }
    }
}

// The rows of a table that have a value in every column; those that have not are counted.
void leave_out(DataFrame& frame, const std::vector<bool>& is_missing) {
    std::vector<Index> kept;
    for (Index n = 0; n < frame.rows; ++n) {
        if (!is_missing[static_cast<std::size_t>(n)]) kept.push_back(n);
    }
    if (kept.empty()) {
        throw std::runtime_error(fmt::format(
            "{}: every row has a missing value in the selected columns, so none is left: select other columns",
            frame.name));
    }
    frame.dropped += frame.rows - static_cast<Index>(kept.size());
    detail::keep_rows(frame, kept);
}

// What a file with these numbers would give: what is no number is missing, and so is what `na` has.
void settle_missing(DataFrame& frame, Missing missing, const std::vector<std::string>& na) {
    const detail::MissingMarks marks(na);
    std::vector<bool> is_missing(static_cast<std::size_t>(frame.rows), false);
    const FrameColumn* first_column = nullptr;
    Index first = frame.rows;
    for (const FrameColumn& column : frame.columns) {
        const auto leave = [&](Index n) {
            is_missing[static_cast<std::size_t>(n)] = true;
            if (n >= first) return;
            first = n;
            first_column = &column;
        };
        for (Index n = 0; n < static_cast<Index>(column.codes.size()) && !na.empty(); ++n) {
            if (marks.has(column.levels[column.codes[static_cast<std::size_t>(n)]])) leave(n);
        }
        for (Index n = 0; n < column.numbers.size(); ++n) {
            if (std::isinf(column.numbers[n])) {
                throw std::runtime_error(fmt::format(
                    "{}: row {}, column {}: the value is infinite, but must be a finite number: correct it, or make it "
                    "NaN if it is missing",
                    frame.name, frame.file_row(n), detail::shown(column.name)));
            }
            if (std::isnan(column.numbers[n]) || marks.has(column.numbers[n])) leave(n);
        }
    }
    if (first_column == nullptr) return;
    if (missing == Missing::drop) {
        leave_out(frame, is_missing);
        return;
    }
    const auto count = std::count(is_missing.begin(), is_missing.end(), true);
    throw MissingValue(fmt::format(
        "{}: row {}, column {}: the value is missing{}: fill it in, or have rows with missing values dropped",
        frame.name, frame.file_row(first), detail::shown(first_column->name),
        count == 1 ? "" : fmt::format(", in the first of {} such rows", count)));
}

std::vector<std::size_t> places_in(const DataFrame& frame, const FrameOptions& options) {
    return detail::select_columns(frame.name, frame.column_names(), options.columns, options.ranges, options.last);
}

// These columns of a table in memory; none: all.
DataFrame chosen_of(const DataFrame& frame, const FrameOptions& options) {
    DataFrame result;
    result.name = frame.name;
    result.rows = frame.rows;
    result.dropped = frame.dropped;
    result.file_rows = frame.file_rows;
    const std::vector<std::string> names = frame.column_names();
    if (options.columns.empty() && options.last.empty() && !detail::has_row_names(names)) {
        result.columns = frame.columns;
    } else {
        const std::vector<std::size_t> places = places_in(frame, options);
        for (const std::size_t place : places) result.columns.push_back(frame.columns[place]);
        result.leaves_out_row_names = detail::leaves_out_row_names(names, options.columns, places);
    }
    settle_missing(result, options.missing, options.na);
    detail::take_as_told(result, detail::names_in(frame, options.text), detail::names_in(frame, options.numbers));
    return result;
}

// A table in memory whose columns must all be numbers.
Opened open(const DataFrame& frame) {
    Opened opened;
    const std::size_t width = frame.columns.size();
    std::vector<double> numbers(width * static_cast<std::size_t>(frame.rows));
    for (std::size_t j = 0; j < width; ++j) {
        const FrameColumn& column = frame.columns[j];
        if (column.is_text()) {
            throw std::runtime_error(fmt::format("{}: column {} holds text, such as {}, but must be numbers",
                                                 frame.name, detail::shown(column.name),
                                                 detail::shown(column.levels.back())));
        }
        opened.names.push_back(column.name);
        for (Index n = 0; n < frame.rows; ++n) {
            numbers[static_cast<std::size_t>(n) * width + j] = column.numbers[n];
        }
    }
    opened.source = std::make_shared<TableSource>(std::move(numbers), frame.name, opened.names);
    opened.dropped_before = frame.dropped;
    opened.file_rows = frame.file_rows;
    opened.leaves_out_row_names = frame.leaves_out_row_names;
    return opened;
}

// Numbers in foreign memory, read where they are.
Opened open(const std::shared_ptr<const MemoryTable>& table, const FrameOptions& options) {
    const DataFrame outline = detail::outline_of(*table);
    const std::vector<std::size_t> places = places_in(outline, options);
    auto rows = std::make_shared<detail::MemoryRows>(table, places, options.missing, options.na);
    Opened opened;
    opened.names = rows->column_names();
    opened.rows = rows->rows();
    opened.dropped_before = rows->dropped();
    opened.file_rows = rows->file_rows();
    opened.leaves_out_row_names = detail::leaves_out_row_names(outline.column_names(), options.columns, places);
    opened.source = std::move(rows);
    return opened;
}

DataFrame outline_of(const RowSource& source) {
    DataFrame outline;
    outline.name = source.name();
    for (Index j = 0; j < source.columns(); ++j) outline.columns.emplace_back().name = source.column_name(j);
    return outline;
}

// Rows of somebody else's source.
Opened open(const std::shared_ptr<RowSource>& source, const FrameOptions& options) {
    const DataFrame outline = outline_of(*source);
    const std::vector<std::size_t> places = places_in(outline, options);
    auto rows = std::make_shared<detail::PickedRows>(source, places, options.missing, options.na);
    Opened opened;
    for (const std::size_t place : places) opened.names.push_back(outline.columns[place].name);
    opened.dropped = [picked = rows.get()] { return picked->dropped(); };
    opened.counts_dropped = options.missing == Missing::drop;
    opened.leaves_out_row_names = detail::leaves_out_row_names(outline.column_names(), options.columns, places);
    opened.source = std::move(rows);
    return opened;
}

// All of it in memory, as a frame is.
DataFrame read_rows(const Opened& opened) {
    DataFrame frame;
    frame.name = opened.source->name();
    frame.leaves_out_row_names = opened.leaves_out_row_names;
    std::vector<std::vector<double>> columns(opened.names.size());
    std::vector<double> row(opened.names.size());
    opened.source->rewind();
    while (opened.source->read(row.data(), 1) == 1) {
        if (opened.dropped() > 0 && frame.file_rows.empty()) {
            for (Index before = 1; before <= frame.rows; ++before) frame.file_rows.push_back(before);
        }
        if (opened.dropped() > 0) frame.file_rows.push_back(frame.rows + opened.dropped() + 1);
        for (std::size_t j = 0; j < row.size(); ++j) columns[j].push_back(row[j]);
        ++frame.rows;
    }
    frame.dropped = opened.dropped();
    if (frame.rows == 0) {
        throw std::runtime_error(fmt::format(
            "{}: there is no row, or every row has a missing value in the selected columns: give rows that are whole",
            frame.name));
    }
    for (std::size_t j = 0; j < row.size(); ++j) {
        FrameColumn& column = frame.columns.emplace_back();
        column.name = opened.names[j];
        column.numbers = Eigen::Map<const Vector>(columns[j].data(), frame.rows);
        columns[j] = {};
    }
    return frame;
}

// Rows that know how many were left out before the last that was read.
class CountedRows final : public RowSource {
  public:
    CountedRows(std::shared_ptr<RowSource> source, std::vector<Index> file_rows)
        : source_(std::move(source)), file_rows_(std::move(file_rows)) {}

    Index columns() const override { return source_->columns(); }
    std::string name() const override { return source_->name(); }
    std::string column_name(Index column) const override { return source_->column_name(column); }
    void rewind() override {
        source_->rewind();
        read_ = 0;
    }
    Index read(double* rows, Index capacity) override {
        const Index count = source_->read(rows, capacity);
        read_ += count;
        return count;
    }
    Index dropped() const {
        return read_ == 0 || file_rows_.empty() ? 0 : file_rows_[static_cast<std::size_t>(read_ - 1)] - read_;
    }

  private:
    std::shared_ptr<RowSource> source_;
    std::vector<Index> file_rows_;
    Index read_ = 0;
};

}  // namespace

void Checksum::add(const double* values, Index count) {
    for (Index i = 0; i < count; ++i) {
        hash_ = (std::rotl(hash_, 5) ^ std::bit_cast<std::uint64_t>(values[i])) * 0x9E3779B97F4A7C15U;
    }
}

std::string Checksum::text() const {
    return fmt::format("{:016x}", hash_ ^ (hash_ >> 32U));
}

ColumnSummary::ColumnSummary(Index columns, bool weighted)
    : weighted_(weighted),
      smallest_(Vector::Constant(columns, std::numeric_limits<double>::infinity())),
      largest_(-smallest_),
      samples_(static_cast<std::size_t>(columns)) {}

void ColumnSummary::add(const double* row) {
    constexpr std::size_t kMostSampled = 20'000;
    const bool is_sampled = row_++ % stride_ == 0;
    if (weighted_ && !(row[smallest_.size()] > 0.0)) return;
    for (Index p = 0; p < smallest_.size(); ++p) {
        smallest_[p] = std::min(smallest_[p], row[p]);
        largest_[p] = std::max(largest_[p], row[p]);
        if (is_sampled) samples_[static_cast<std::size_t>(p)].push_back(row[p]);
    }
    if (samples_.front().size() < kMostSampled) return;
    stride_ *= 2;
    for (std::vector<double>& sample : samples_) {
        for (std::size_t i = 0; i < sample.size() / 2; ++i) sample[i] = sample[2 * i];
        sample.resize(sample.size() / 2);
    }
}

Dataset::Dataset(DataFrame frame) {
    require_whole(frame);
    if (frame.name.empty()) frame.name = "a table in memory";
    frame.leaves_out_row_names = false;  // of a file that it may come from: its own columns are counted here
    frame_ = std::make_shared<const DataFrame>(std::move(frame));
}

Dataset::Dataset(MemoryTable table) {
    detail::require_whole(table);
    if (table.name.empty()) table.name = "a table in memory";
    options_.memory = kGathered;
    table_ = std::make_shared<const MemoryTable>(std::move(table));
}

Dataset::Dataset(std::shared_ptr<RowSource> source, DataOptions options)
    : options_(std::move(options)), source_(std::move(source)) {
    if (source_ == nullptr || source_->columns() < 1) {
        throw std::invalid_argument("Dataset: source is null, or has no column: give one that has rows");
    }
}

Dataset Dataset::of_arrays(std::string name, std::vector<DataArray> arrays) {
    Dataset result{std::vector<std::string>()};
    result.name_ = std::move(name);
    result.arrays_ = std::make_shared<const std::vector<DataArray>>(std::move(arrays));
    return result;
}

Dataset Dataset::with_na(const std::vector<std::string>& texts) const {
    Dataset result = *this;
    std::vector<std::string>& own = result.options_.na;
    for (const std::string& text : texts) {
        if (std::find(own.begin(), own.end(), text) == own.end()) own.push_back(text);
    }
    return result;
}

std::string Dataset::name() const {
    if (table_) return table_->name;
    if (source_) return source_->name();
    if (arrays_) return name_;
    return frame_ ? frame_->name : fmt::format("{}", fmt::join(paths_, ", "));
}

const std::string& Dataset::path() const {
    if (paths_.size() == 1) return paths_.front();
    if (arrays_)
        throw std::runtime_error(fmt::format("{}: this kind of model reads a table, but there are arrays", name_));
    throw std::runtime_error(
        paths_.empty() ? "there are no data: give a file"
                       : fmt::format("this kind of model reads one file, but there are {} ({}): give one of them",
                                     paths_.size(), fmt::join(paths_, ", ")));
}

Dataset dataset_of(const DataRecord& record) {
    if (!record.files.empty()) return record.files;
    return record.name.empty() ? Dataset(std::vector<std::string>()) : Dataset(record.name);
}

DataRows Dataset::rows(const RowSelection& selection) const {
    if (options_.crew && !paths_.empty()) return options_.crew->open(path(), selection, options_);
    if (const auto shared = std::dynamic_pointer_cast<TeamRows>(source_))
        return detail::rows_of_team(shared, selection);
    FrameOptions own;
    own.columns = selection.columns;
    own.ranges = selection.ranges;
    if (!selection.weights.empty()) own.last = {selection.weights};
    own.missing = selection.drop_missing ? Missing::drop : Missing::refuse;
    own.na = options_.na;
    const Opened opened = table_    ? open(table_, own)
                          : source_ ? open(source_, own)
                          : frame_  ? open(chosen_of(*frame_, own))
                                    : open(path(), selection, options_.na);
    DataRows data;
    data.record.name = opened.source->name();
    data.record.columns = opened.names;
    data.record.na = options_.na;
    if (!selection.weights.empty()) {
        data.record.weights = opened.names.back();
        data.record.columns.pop_back();
    }

    const Index width = opened.source->columns();
    detail::NumberCache cache(options_.memory, static_cast<std::size_t>(opened.rows * width),
                              opened.source->resident() == nullptr);
    std::vector<double> chunk(static_cast<std::size_t>(kChunk * width));
    detail::RowsChecksum checksum(width);
    Checksum former;
    if (selection.summarise) {
        data.summary.emplace(static_cast<Index>(data.record.columns.size()), data.record.weights.has_value());
    }
    data.leaves_out_row_names = opened.leaves_out_row_names;
    detail::RowNumbers numbers(static_cast<Index>(data.record.columns.size()));
    opened.source->rewind();
    // One by one where rows are left out: then the number of those tells the file's row.
    const bool counts_rows = opened.counts_dropped;
    while (const Index count = opened.source->read(chunk.data(), counts_rows ? 1 : kChunk)) {
        interruption_point();
        data.record.rows += count;
        if (counts_rows && opened.dropped() > 0) {
            for (Index row = static_cast<Index>(data.file_rows.size()) + 1; row < data.record.rows; ++row) {
                data.file_rows.push_back(row);  // before the first that was left out
            }
            data.file_rows.push_back(data.record.rows + opened.dropped());
        }
        for (Index i = 0; i < count && numbers.any_counts(); ++i) {
            const Index row = data.record.rows - count + i;
            numbers.add(chunk.data() + i * width, opened.file_row(row));
        }
        checksum.add(chunk.data(), count);
        former.add(chunk.data(), count * width);
        for (Index i = 0; data.summary && i < count; ++i) data.summary->add(chunk.data() + i * width);
        cache.add(chunk.data(), static_cast<std::size_t>(count * width));
        if (!cache.is_kept() && opened.csv != nullptr && !opened.csv->can_go_back()) {
            detail::refuse_long_pipe(data.record.name, options_.memory);
        }
    }
    data.record.checksum = detail::RowsChecksum::text(checksum.take());
    data.former_checksum = former.text();
    data.record.dropped = opened.dropped();
    if (data.record.dropped == 0) data.file_rows.clear();
    if (data.record.rows == 0) {
        throw std::runtime_error(
            fmt::format("{}: every row has a missing value in a used column: use other columns", data.record.name));
    }
    for (std::size_t j = 0; j < data.record.columns.size(); ++j) {
        if (numbers.counts(static_cast<Index>(j))) data.counting.push_back(data.record.columns[j]);
    }
    data.source = opened.source;
    if (cache.is_kept()) {
        data.source = std::make_shared<TableSource>(cache.taken(), data.record.name, opened.names);
    } else if (opened.source->resident() == nullptr && opened.source->team() == nullptr) {
        data.source = std::make_shared<detail::WatchedRows>(opened.source, data.record.rows, data.record.checksum);
    }
    if (frame_ || table_) {
        data.record.dropped = opened.dropped_before;
        data.file_rows = opened.file_rows;
    }
    return data;
}

NewRows Dataset::new_rows(const std::vector<std::string>& columns, bool drop_missing) const {
    FrameOptions own;
    own.columns = columns;
    own.missing = drop_missing ? Missing::drop : Missing::refuse;
    own.na = options_.na;
    if (frame_ || table_) {
        const Opened opened = table_ ? open(table_, own) : open(chosen_of(*frame_, own));
        const auto rows = std::make_shared<CountedRows>(opened.source, opened.file_rows);
        return {rows, [rows] { return rows->dropped(); }};
    }
    const Opened opened =
        source_ ? open(source_, own) : open(path(), {columns, {}, drop_missing, false, false}, options_.na);
    return {opened.source, opened.dropped};
}

DataFrame Dataset::frame(const FrameOptions& options) const {
    FrameOptions own = options;
    own.memory = options_.memory;
    own.na = options_.na;
    if (frame_) return chosen_of(*frame_, own);
    if (table_) {
        const DataFrame outline = detail::outline_of(*table_);
        const std::vector<std::size_t> places = places_in(outline, own);
        DataFrame frame = detail::frame_of(*table_, places, own.missing, own.na);
        frame.leaves_out_row_names = detail::leaves_out_row_names(outline.column_names(), own.columns, places);
        detail::take_as_told(frame, detail::names_in(outline, options.text),
                             detail::names_in(outline, options.numbers));
        return frame;
    }
    if (source_) {
        DataFrame frame = read_rows(open(source_, own));
        const DataFrame outline = outline_of(*source_);
        detail::take_as_told(frame, detail::names_in(outline, options.text),
                             detail::names_in(outline, options.numbers));
        return frame;
    }
    if (detail::names_parts(path())) {
        return detail::read_frame_of_parts(path(), detail::whole_parts(path()), own);
    }
    if (!path().ends_with(".npy")) return read_frame(path(), own);
    return detail::read_part_frame({path()}, own).frame;
}

FrameRows Dataset::frame_rows(const FrameOptions& options) const {
    if (!options_.crew || paths_.empty()) return {frame(options), nullptr};
    FrameOptions own = options;
    own.memory = options_.memory;
    own.na = options_.na;
    return options_.crew->open_frame(path(), own);
}

DataRows detail::rows_of_team(const std::shared_ptr<TeamRows>& rows, const RowSelection& selection) {
    DataRows data;
    data.source = rows;
    data.record.name = rows->name();
    data.record.columns = rows->column_names();
    if (!selection.weights.empty()) {
        data.record.weights = data.record.columns.back();
        data.record.columns.pop_back();
    }
    if (!selection.columns.empty() && selection.columns != data.record.columns) {
        throw std::runtime_error(
            fmt::format("{}: rows that others have are all read: choose their columns there", rows->name()));
    }
    data.record.rows = rows->rows();
    const auto columns = static_cast<Index>(data.record.columns.size());
    const RowsDigest digest = ask_digest(*rows->team(), columns);
    data.record.checksum = digest.checksum;
    for (Index j = 0; j < columns; ++j) {
        if (digest.numbers.counts(j)) data.counting.push_back(data.record.columns[static_cast<std::size_t>(j)]);
    }
    return data;
}

std::vector<std::string> Dataset::column_names() const {
    if (frame_) return frame_->column_names();
    if (table_) return detail::outline_of(*table_).column_names();
    if (source_) return outline_of(*source_).column_names();
    std::error_code ignored;
    if (paths_.size() != 1 || path() == "-") return {};
    try {
        const std::string first = detail::parts_of(path()).front();
        if (!std::filesystem::is_regular_file(first, ignored)) return {};
        return Dataset(first).text_rows()->names();
    } catch (const std::runtime_error&) {
        return {};
    }
}

void for_each_row(RowSource& source, const std::function<void(const double*)>& visit) {
    const Index width = source.columns();
    std::vector<double> chunk(static_cast<std::size_t>(kChunk * width));
    source.rewind();
    while (const Index count = source.read(chunk.data(), kChunk)) {
        for (Index i = 0; i < count; ++i) visit(chunk.data() + i * width);
    }
}

}  // namespace lrvb
