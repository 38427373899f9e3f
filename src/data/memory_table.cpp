#include "base/messages.hpp"
#include "data/csv_record.hpp"
#include "data/kept_rows.hpp"
#include "data/memory_rows.hpp"

#include <lrvb/base/interruption.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <functional>
#include <stdexcept>

namespace lrvb {

namespace {

constexpr Index kLooked = 1 << 15;  // numbers between points of interruption

// What is observed need not be aligned.
template <class Number>
Number at(const char* address) {
    Number number;
    std::memcpy(&number, address, sizeof(Number));
    return number;
}

// Calls `use` with a value of the type that the numbers have.
template <class Use>
auto by_type(NumberType type, Use use) {
    switch (type) {
        case NumberType::float64:
            return use(double());
        case NumberType::float32:
            return use(float());
        case NumberType::int64:
            return use(std::int64_t());
        case NumberType::int32:
            return use(std::int32_t());
        case NumberType::int16:
            return use(std::int16_t());
        case NumberType::int8:
            return use(std::int8_t());
        case NumberType::uint64:
            return use(std::uint64_t());
        case NumberType::uint32:
            return use(std::uint32_t());
        case NumberType::uint16:
            return use(std::uint16_t());
        case NumberType::uint8:
            return use(std::uint8_t());
    }
    throw std::logic_error("a type of numbers that there is not");
}

const char* address_of(const MemoryColumn& column, Index row) {
    return static_cast<const char*>(column.first) + row * column.stride;
}

// The numbers of some rows, `apart` doubles from each other.
void copy(const MemoryColumn& column, Index first, Index count, double* out, Index apart) {
    const char* address = address_of(column, first);
    by_type(column.type, [&](auto type) {
        using Number = decltype(type);
        for (Index i = 0; i < count; ++i) {
            out[i * apart] = static_cast<double>(at<Number>(address));
            address += column.stride;
        }
    });
}

// What is wrong with a row of a table.
[[noreturn]] void refuse_infinite(const std::string& name, Index row, const std::string& column) {
    throw std::runtime_error(fmt::format(
        "{}: row {}, column {}: the value is infinite, but must be a finite number: correct it, or make it NaN if it "
        "is missing",
        name, row, detail::shown(column)));
}

[[noreturn]] void refuse_missing(const std::string& name, Index row, const std::string& column, Index count) {
    throw MissingValue(fmt::format(
        "{}: row {}, column {}: the value is missing{}: fill it in, or have rows with missing values dropped", name,
        row, detail::shown(column), count == 1 ? "" : fmt::format(", in the first of {} such rows", count)));
}

// The rows (from 0) that lack a value in a column; throws for what is infinite, and for any where none may be missing.
class MissingRows {
  public:
    MissingRows(const MemoryTable& table, const std::vector<std::size_t>& places, Missing missing,
                const std::vector<std::string>& na)
        : table_(table), marks_(na), first_(table.rows) {
        for (const std::size_t place : places) {
            const MemoryColumn& column = table.columns[place];
            column.is_text() ? look_at_text(column, na) : look_at_numbers(column);
        }
        if (first_column_ == nullptr || missing == Missing::drop) return;
        refuse_missing(table.name, first_ + 1, first_column_->name,
                       static_cast<Index>(std::count(is_missing_.begin(), is_missing_.end(), true)));
    }

    /// Empty where none is missing.
    std::vector<Index> kept() const {
        std::vector<Index> rows;
        for (Index n = 0; n < static_cast<Index>(is_missing_.size()); ++n) {
            if (!is_missing_[static_cast<std::size_t>(n)]) rows.push_back(n);
        }
        if (!is_missing_.empty() && rows.empty()) {
            throw std::runtime_error(fmt::format(
                "{}: every row has a missing value in the selected columns, so none is left: select other columns",
                table_.name));
        }
        return rows;
    }

  private:
    void leave(Index row, const MemoryColumn& column) {
        if (is_missing_.empty()) is_missing_.resize(static_cast<std::size_t>(table_.rows), false);
        is_missing_[static_cast<std::size_t>(row)] = true;
        if (row >= first_) return;
        first_ = row;
        first_column_ = &column;
    }

    void look_at_text(const MemoryColumn& column, const std::vector<std::string>& na) {
        std::vector<bool> means_missing;
        for (const std::string& level : column.levels) means_missing.push_back(!na.empty() && marks_.has(level));
        for (Index n = 0; n < table_.rows; ++n) {
            const std::uint32_t code = column.codes[static_cast<std::size_t>(n)];
            if (code == MemoryColumn::kMissing || means_missing[code]) leave(n, column);
        }
    }

    void look_at_numbers(const MemoryColumn& column) {
        by_type(column.type, [&](auto type) {
            using Number = decltype(type);
            if (std::is_integral_v<Number> && !marks_.has_numbers()) return;
            for (Index begin = 0; begin < table_.rows; begin += kLooked) {
                interruption_point();
                look_at<Number>(column, begin, std::min(table_.rows, begin + kLooked));
            }
        });
    }

    template <class Number>
    void look_at(const MemoryColumn& column, Index begin, Index end) {
        const char* address = address_of(column, begin);
        if (!marks_.has_numbers()) {  // mostly nothing is missing: x − x is 0 unless x is no finite number
            double none = 0.0;
            for (Index n = begin; n < end; ++n, address += column.stride) {
                const auto number = static_cast<double>(at<Number>(address));
                none += number - number;
            }
            if (none == 0.0) return;
            address = address_of(column, begin);
        }
        for (Index n = begin; n < end; ++n, address += column.stride) {
            const auto number = static_cast<double>(at<Number>(address));
            if (std::isinf(number)) refuse_infinite(table_.name, n + 1, column.name);
            if (std::isnan(number) || marks_.has(number)) leave(n, column);
        }
    }

    const MemoryTable& table_;
    detail::MissingMarks marks_;
    std::vector<bool> is_missing_;
    Index first_;
    const MemoryColumn* first_column_ = nullptr;
};

}  // namespace

double MemoryColumn::number(Index row) const {
    double result = 0.0;
    copy(*this, row, 1, &result, 1);
    return result;
}

namespace detail {

void require_whole(const MemoryTable& table) {
    const auto refuse = [](const std::string& reason) { throw std::invalid_argument("Dataset: " + reason); };
    if (table.rows < 1 || table.columns.empty()) {
        refuse(fmt::format("a table of {} rows and {} columns holds nothing: give it both", table.rows,
                           table.columns.size()));
    }
    for (const MemoryColumn& column : table.columns) {
        const bool is_utf = is_utf8(column.name) && std::all_of(column.levels.begin(), column.levels.end(), is_utf8);
        if (!is_utf)
            refuse(fmt::format("the name or a level of column {} is not UTF-8: convert it", shown(column.name)));
        if (!column.is_text()) continue;
        if (static_cast<Index>(column.codes.size()) != table.rows) {
            refuse(fmt::format("column {} has {} values, but the table has {} rows: give one a row", shown(column.name),
                               column.codes.size(), table.rows));
        }
        if (std::adjacent_find(column.levels.begin(), column.levels.end(), std::greater_equal<>()) !=
            column.levels.end()) {
            refuse(fmt::format("the levels of column {} are not sorted, or one comes twice: sort them",
                               shown(column.name)));
        }
        for (const std::uint32_t code : column.codes) {
            if (code >= column.levels.size() && code != MemoryColumn::kMissing) {
                refuse(fmt::format("column {} has the code {}, but {} levels: codes count from 0", shown(column.name),
                                   code, column.levels.size()));
            }
        }
    }
}

DataFrame outline_of(const MemoryTable& table) {
    DataFrame outline;
    outline.name = table.name;
    outline.rows = table.rows;
    for (const MemoryColumn& column : table.columns) outline.columns.emplace_back().name = column.name;
    return outline;
}

DataFrame frame_of(const MemoryTable& table, const std::vector<std::size_t>& places, Missing missing,
                   const std::vector<std::string>& na) {
    const std::vector<Index> kept = MissingRows(table, places, missing, na).kept();
    DataFrame frame;
    frame.name = table.name;
    frame.rows = table.rows;
    for (const std::size_t place : places) {
        interruption_point();
        const MemoryColumn& column = table.columns[place];
        FrameColumn& copied = frame.columns.emplace_back();
        copied.name = column.name;
        if (!column.is_text()) {
            copied.numbers.resize(table.rows);
            copy(column, 0, table.rows, copied.numbers.data(), 1);
            continue;
        }
        copied.levels = column.levels;
        copied.codes = column.codes;
        if (copied.levels.empty()) copied.levels.emplace_back();  // where every row is without a value
        std::replace(copied.codes.begin(), copied.codes.end(), MemoryColumn::kMissing, 0U);  // these rows are left out
    }
    if (!kept.empty()) {
        frame.dropped = frame.rows - static_cast<Index>(kept.size());
        keep_rows(frame, kept);
    }
    return frame;
}

MemoryRows::MemoryRows(std::shared_ptr<const MemoryTable> table, const std::vector<std::size_t>& places,
                       Missing missing, const std::vector<std::string>& na)
    : table_(std::move(table)) {
    for (const std::size_t place : places) {
        const MemoryColumn& column = table_->columns[place];
        if (column.is_text()) {
            throw std::runtime_error(fmt::format("{}: column {} holds text, such as {}, but must be numbers",
                                                 table_->name, shown(column.name),
                                                 shown(column.levels.empty() ? "" : column.levels.back())));
        }
        columns_.push_back(&column);
    }
    kept_ = MissingRows(*table_, places, missing, na).kept();
}

std::vector<std::string> MemoryRows::column_names() const {
    std::vector<std::string> names;
    for (const MemoryColumn* column : columns_) names.push_back(column->name);
    return names;
}

std::vector<Index> MemoryRows::file_rows() const {
    std::vector<Index> rows = kept_;
    for (Index& row : rows) ++row;
    return rows;
}

Index MemoryRows::read(double* rows, Index capacity) {
    interruption_point();
    const Index width = columns();
    const Index count = std::min(capacity, this->rows() - next_);
    for (Index j = 0; j < width; ++j) {
        const MemoryColumn& column = *columns_[static_cast<std::size_t>(j)];
        if (kept_.empty()) {
            copy(column, next_, count, rows + j, width);
            continue;
        }
        for (Index i = 0; i < count; ++i) {
            rows[i * width + j] = column.number(kept_[static_cast<std::size_t>(next_ + i)]);
        }
    }
    next_ += count;
    return count;
}

const double* MemoryRows::resident() const {
    if (!kept_.empty()) return nullptr;
    constexpr std::ptrdiff_t size = sizeof(double);
    const auto* const first = static_cast<const char*>(columns_.front()->first);
    if (std::bit_cast<std::uintptr_t>(first) % alignof(double) != 0) return nullptr;
    for (std::size_t j = 0; j < columns_.size(); ++j) {
        const MemoryColumn& column = *columns_[j];
        const bool is_next = column.type == NumberType::float64 && column.stride == columns() * size &&
                             column.first == first + static_cast<std::ptrdiff_t>(j) * size;
        if (!is_next) return nullptr;
    }
    return static_cast<const double*>(columns_.front()->first);
}

PickedRows::PickedRows(std::shared_ptr<RowSource> source, std::vector<std::size_t> places, Missing missing,
                       const std::vector<std::string>& na)
    : source_(std::move(source)), places_(std::move(places)), missing_(missing), marks_(na), has_marks_(!na.empty()) {}

std::string PickedRows::column_name(Index column) const {
    return source_->column_name(static_cast<Index>(places_[static_cast<std::size_t>(column)]));
}

void PickedRows::rewind() {
    source_->rewind();
    in_chunk_ = next_ = read_ = dropped_ = 0;
}

void PickedRows::fill() {
    constexpr Index kChunk = 1 << 12;
    chunk_.resize(static_cast<std::size_t>(kChunk * source_->columns()));
    in_chunk_ = source_->read(chunk_.data(), kChunk);
    next_ = 0;
}

bool PickedRows::is_whole(const double* row) const {
    for (std::size_t j = 0; j < places_.size(); ++j) {
        const double number = row[places_[j]];
        if (std::isfinite(number) && !(has_marks_ && marks_.has(number))) continue;
        if (std::isinf(number)) refuse_infinite(name(), read_ + 1, column_name(static_cast<Index>(j)));
        if (missing_ == Missing::refuse) refuse_missing(name(), read_ + 1, column_name(static_cast<Index>(j)), 1);
        return false;
    }
    return true;
}

Index PickedRows::read(double* rows, Index capacity) {
    interruption_point();
    Index count = 0;
    while (count < capacity) {
        if (next_ == in_chunk_) fill();
        if (in_chunk_ == 0) break;
        const double* const row = chunk_.data() + next_ * source_->columns();
        const bool kept = is_whole(row);
        ++next_;
        ++read_;
        if (!kept) {
            ++dropped_;
            continue;
        }
        for (const std::size_t place : places_) *rows++ = row[place];
        ++count;
    }
    return count;
}

}  // namespace detail

}  // namespace lrvb
