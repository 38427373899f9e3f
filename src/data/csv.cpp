#include "data/columns.hpp"
#include "data/csv_buffer.hpp"
#include "data/csv_record.hpp"
#include "data/decimal.hpp"
#include "data/messages.hpp"
#include "family/validate.hpp"

#include <lrvb/data/csv.hpp>

#include <fast_float/fast_float.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>
#include <string_view>
#include <system_error>
#include <utility>

namespace lrvb {
namespace {

using detail::NumberKind;
using detail::RecordState;
using detail::shown;

/// No honest record is longer: a quote was left open, or the file is no CSV file. Not to be read into memory to its
/// end.
constexpr std::size_t longest_record = std::size_t{16} << 20;

enum class Outcome { row, dropped, end };

}  // namespace

class CsvSource::Implementation {
  public:
    Implementation(const std::string& path, const CsvOptions& options)
        : buffer_(path, options.block), missing_(options.missing) {
        skip_byte_order_mark();
        if (is_blank_to_the_end()) refuse("is empty: give a line of column names, then rows of numbers");
        read_header();
        selected_ = detail::select_columns(name(), names_, options.columns);
        slots_.assign(names_.size(), -1);
        for (std::size_t i = 0; i < selected_.size(); ++i) slots_[selected_[i]] = static_cast<Index>(i);
        for (const char stop : {separator_, '\n', '\r', '\0'})
            ends_plain_text_[static_cast<unsigned char>(stop)] = true;
        buffer_.mark();
        if (is_blank_to_the_end()) refuse("has a header but no rows: add rows of numbers below it");
    }

    const std::string& name() const { return buffer_.name(); }
    Index columns() const { return static_cast<Index>(selected_.size()); }
    Index dropped() const { return dropped_; }

    std::vector<std::string> column_names() const {
        std::vector<std::string> names;
        for (const std::size_t place : selected_) names.push_back(names_[place]);
        return names;
    }

    void rewind() {
        buffer_.rewind();
        row_ = 0;
        blank_lines_ = 0;
        dropped_ = 0;
    }

    Index read(double* rows, Index capacity) {
        detail::require_at_least("CsvSource", "capacity", capacity, 1);
        Index count = 0;
        while (count < capacity) {
            count += read_plain(rows + count * columns(), capacity - count);
            if (count == capacity) break;
            const Outcome outcome = read_any(rows + count * columns(), missing_);
            if (outcome == Outcome::end) break;
            if (outcome == Outcome::row) ++count;
        }
        if (count == 0 && dropped_ > 0 && dropped_ == row_) {
            refuse("every row has a missing value in the selected columns, so none is left: select other columns");
        }
        return count;
    }

  private:
    [[noreturn]] void refuse(const std::string& sentence) const {
        throw std::runtime_error(fmt::format("{}: {}", name(), sentence));
    }

    [[noreturn]] void refuse_row(Index row, const std::string& sentence) const {
        refuse(fmt::format("row {}: {}", row, sentence));
    }

    [[noreturn]] void refuse_field(Index row, std::size_t place, const std::string& sentence) const {
        refuse(
            fmt::format("{}, {}: {}", row == 0 ? "header" : fmt::format("row {}", row), column_label(place), sentence));
    }

    std::string column_label(std::size_t place) const {
        const bool has_name = place < names_.size() && !names_[place].empty();
        return has_name ? fmt::format("column {}", shown(names_[place])) : fmt::format("column {}", place + 1);
    }

    void skip_byte_order_mark() {
        constexpr std::string_view mark = "\xEF\xBB\xBF";
        while (buffer_.size() < mark.size() && !buffer_.is_last()) buffer_.fill();
        if (std::string_view(buffer_.begin(), buffer_.size()).substr(0, mark.size()) == mark) {
            buffer_.consume(buffer_.begin() + mark.size());
        }
    }

    void read_header() {
        split_next(0);
        if (record_.is_blank()) refuse("the first line is blank, but must hold the names of the columns");
        bool only_numbers = true;
        for (const detail::CsvField& field : record_.fields) {
            names_.push_back(detail::unquoted(field));
            double number = 0.0;
            if (field.quoted || detail::parse_number(field.text, number) != NumberKind::number) only_numbers = false;
        }
        if (only_numbers) {
            refuse(
                "the first line holds numbers, but must hold the names of the columns: add a line of names above it, "
                "or quote the names if they are numbers");
        }
        buffer_.consume(record_.next);
    }

    /// Whether only blank lines follow. More of them than a record may be long are not looked through.
    bool is_blank_to_the_end() {
        for (;;) {
            const std::string_view rest(buffer_.begin(), buffer_.size());
            if (rest.find_first_not_of(" \r\n") != std::string_view::npos || rest.size() > longest_record) return false;
            if (buffer_.is_last()) return true;
            buffer_.fill();
        }
    }

    /// Splits the record at the beginning of the buffer, without consuming it; false at the end of the file. Row 0 is
    /// the header.
    bool split_next(Index row) {
        for (;;) {
            if (row == 0) separator_ = detail::find_separator(buffer_.begin(), buffer_.end());
            const RecordState state = detail::split_record(buffer_.begin(), buffer_.end(), separator_, record_);
            if (state == RecordState::complete) return true;
            const bool needs_more = state == RecordState::incomplete || state == RecordState::open_quote;
            if (!needs_more || (buffer_.is_last() && buffer_.size() > 0)) refuse_malformed(row, state);
            if (buffer_.is_last()) return false;
            if (buffer_.size() > longest_record) {
                refuse_field(row, record_.fields.size() - 1,
                             fmt::format("no end of the row within {} MiB: close the quote that was left open, or give "
                                         "a text file with line ends",
                                         longest_record >> 20));
            }
            buffer_.fill();
        }
    }

    [[noreturn]] void refuse_malformed(Index row, RecordState state) const {
        const std::size_t place = record_.fields.size() - 1;
        if (state == RecordState::nul_byte) {
            refuse_field(row, place, "there is a NUL byte, so this is not a CSV file: save it as text in UTF-8");
        }
        if (state == RecordState::lone_carriage_return) {
            refuse_field(row, place, "a carriage return has no line feed behind it: save with line ends LF or CRLF");
        }
        if (state == RecordState::text_after_quote) {
            refuse_field(row, place, "text follows the closing quote: double the quotes within quoted text");
        }
        refuse_field(row, place,
                     "a quote is opened but never closed: close it, or double the quotes within quoted text");
    }

    /// Reads rows for as long as they hold nothing but plain numbers in the selected columns, and no quotes in the
    /// others: the fast way through most files. It stops before any row about which there is more to say.
    Index read_plain(double* rows, Index capacity) {
        if (blank_lines_ > 0) return 0;
        Index count = 0;
        const char* const end = buffer_.lines_end();
        for (const char* next = buffer_.begin(); count < capacity && next < end; ++count) {
            next = parse_plain_row(next, end, rows + count * columns());
            if (next == nullptr) break;
            buffer_.consume(next);
        }
        row_ += count;
        return count;
    }

    static const char* parse_plain_number(const char* text, const char* end, double& number) {
        if (const char* const behind = detail::parse_short_decimal(text, number)) return behind;
        const fast_float::from_chars_result result = fast_float::from_chars(text, end, number);
        return result.ec == std::errc() && std::isfinite(number) ? result.ptr : nullptr;
    }

    /// The end of the row, or null. Nothing here steps over a line feed, and there is one before `end`, so that every
    /// pointer that is looked through points at text.
    const char* parse_plain_row(const char* next, const char* end, double* row) const {
        const Index* const slots = slots_.data();
        const std::size_t last = slots_.size() - 1;
        for (std::size_t place = 0;; ++place) {
            while (*next == ' ') ++next;
            if (slots[place] >= 0) {
                next = parse_plain_number(next, end, row[slots[place]]);
                if (next == nullptr) return nullptr;
                while (*next == ' ') ++next;
            } else {
                if (*next == '"') return nullptr;
                while (!ends_plain_text_[static_cast<unsigned char>(*next)]) ++next;
            }
            if (place == last) break;
            if (*next != separator_) return nullptr;
            ++next;
        }
        if (*next == '\r') ++next;
        return *next == '\n' ? next + 1 : nullptr;
    }

    /// Reads one row, whatever it holds.
    Outcome read_any(double* row, Missing missing) {
        for (;;) {
            if (!split_next(row_ + blank_lines_ + 1)) return Outcome::end;
            buffer_.consume(record_.next);
            if (!record_.is_blank()) break;
            ++blank_lines_;
        }
        settle_blank_lines(missing);
        ++row_;
        if (record_.fields.size() != names_.size()) refuse_ragged();
        std::size_t first_missing = selected_.size();
        for (std::size_t i = 0; i < selected_.size(); ++i) {
            if (is_missing(selected_[i], row[i])) first_missing = std::min(first_missing, i);
        }
        if (first_missing == selected_.size()) return Outcome::row;
        ++dropped_;
        if (missing == Missing::refuse) refuse_missing(row_, selected_[first_missing]);
        return Outcome::dropped;
    }

    /// Blank lines turn out not to be the last: in a single column they are missing values.
    void settle_blank_lines(Missing missing) {
        if (blank_lines_ == 0) return;
        const Index first = row_ + 1;
        if (names_.size() > 1) refuse_row(first, "the line is blank, but rows follow it: remove it");
        row_ += blank_lines_;
        dropped_ += std::exchange(blank_lines_, 0);
        if (missing == Missing::refuse) refuse_missing(first, 0);
    }

    /// Parses a selected field.
    bool is_missing(std::size_t place, double& number) const {
        const std::string_view text = record_.fields[place].text;
        switch (detail::parse_number(text, number)) {
            case NumberKind::number:
                return false;
            case NumberKind::missing:
                return true;
            case NumberKind::infinite:
                refuse_field(row_, place,
                             fmt::format("{} is infinite, but must be a finite number: correct it, or write NA "
                                         "if it is missing",
                                         shown(text)));
            case NumberKind::too_large:
                refuse_field(row_, place,
                             fmt::format("{} is too large for a double: correct it, or change the unit of the "
                                         "column",
                                         shown(text)));
            case NumberKind::text:
                break;
        }
        const bool has_comma = separator_ != ',' && text.find(',') != std::string_view::npos;
        refuse_field(row_, place,
                     fmt::format("{} is not a number: {}", shown(text),
                                 has_comma ? "write decimal points instead of commas"
                                           : "correct it, write NA if it is missing, or select other columns"));
    }

    [[noreturn]] void refuse_ragged() const {
        const std::size_t count = record_.fields.size();
        refuse_row(row_,
                   fmt::format("there {} {} field{}, but the header has {}: give every row one field a column, and "
                               "quote text that contains {}",
                               count == 1 ? "is" : "are", count, count == 1 ? "" : "s", names_.size(),
                               separator_ == '\t' ? "tabs" : fmt::format("'{}'", separator_)));
    }

    /// Looks at the rest of the file to tell how many rows are concerned, for as long as it makes sense.
    [[noreturn]] void refuse_missing(Index row, std::size_t place) {
        std::vector<double> ignored(selected_.size());
        bool saw_all = true;
        try {
            while (read_plain(ignored.data(), 1) > 0 || read_any(ignored.data(), Missing::drop) != Outcome::end)
                continue;
        } catch (const std::runtime_error&) {
            saw_all = false;
        }
        const std::string others =
            dropped_ == 1 ? "" : fmt::format(", in the first of {}{} such rows", saw_all ? "" : "at least ", dropped_);
        refuse_field(
            row, place,
            fmt::format("the value is missing{}: fill it in, or have rows with missing values dropped", others));
    }

    detail::CsvBuffer buffer_;
    Missing missing_;
    char separator_ = ',';
    std::vector<std::string> names_;     // of the file's columns
    std::vector<std::size_t> selected_;  // the columns to read, as places in the file
    std::vector<Index> slots_;           // where a column of the file goes in a row, or -1
    std::array<bool, 256> ends_plain_text_ = {};
    detail::CsvRecord record_;
    Index row_ = 0;          // rows passed
    Index blank_lines_ = 0;  // after them, and not yet known to be the end
    Index dropped_ = 0;
};

CsvSource::CsvSource(const std::string& path, const CsvOptions& options)
    : implementation_(std::make_unique<Implementation>(path, options)) {}
CsvSource::~CsvSource() = default;
CsvSource::CsvSource(CsvSource&&) noexcept = default;
CsvSource& CsvSource::operator=(CsvSource&&) noexcept = default;

Index CsvSource::columns() const {
    return implementation_->columns();
}

std::string CsvSource::name() const {
    return implementation_->name();
}

void CsvSource::rewind() {
    implementation_->rewind();
}

Index CsvSource::read(double* rows, Index capacity) {
    return implementation_->read(rows, capacity);
}

std::string CsvSource::column_name(Index column) const {
    return column_names().at(static_cast<std::size_t>(column));
}

std::vector<std::string> CsvSource::column_names() const {
    return implementation_->column_names();
}

Index CsvSource::dropped() const {
    return implementation_->dropped();
}

}  // namespace lrvb
