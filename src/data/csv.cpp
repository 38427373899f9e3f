#include "base/messages.hpp"
#include "base/validate.hpp"
#include "data/csv_reader.hpp"
#include "data/decimal.hpp"

#include <lrvb/data/csv.hpp>

#include <fast_float/fast_float.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>
#include <string_view>
#include <system_error>

namespace lrvb {
namespace {

using detail::NumberKind;
using detail::shown;

enum class Outcome { row, dropped, end };

}  // namespace

class CsvSource::Implementation {
  public:
    Implementation(const std::string& path, const CsvOptions& options)
        : reader_(path, options.block, options.read_once ? 0 : options.memory, options.columns, options.ranges,
                  options.last.empty() ? std::vector<std::string>() : std::vector{options.last}, options.na),
          missing_(options.missing) {
        if (options.range) reader_.restrict_to(options.range->begin, options.range->end, options.range->rows_before);
        slots_.assign(reader_.names().size(), -1);
        for (std::size_t i = 0; i < selected().size(); ++i) slots_[selected()[i]] = static_cast<Index>(i);
        for (const char stop : {reader_.separator(), '\n', '\r', '\0'})
            ends_plain_text_[static_cast<unsigned char>(stop)] = true;
    }

    const std::string& name() const { return reader_.name(); }
    Index columns() const { return static_cast<Index>(selected().size()); }
    Index dropped() const { return dropped_; }
    bool leaves_out_row_names() const { return reader_.leaves_out_row_names(); }
    bool can_go_back() const { return reader_.buffer().can_go_back(); }

    std::vector<std::string> column_names() const { return reader_.selected_names(); }

    void rewind() {
        reader_.rewind();
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
        const bool is_whole = !reader_.is_restricted();
        if (is_whole && count == 0 && dropped_ > 0 && dropped_ == reader_.row()) reader_.refuse_all_missing();
        return count;
    }

  private:
    const std::vector<std::size_t>& selected() const { return reader_.selected(); }

    /// Reads rows for as long as they hold nothing but plain numbers in the selected columns, and no quotes in the
    /// others: the fast way through most files. It stops before any row about which there is more to say.
    Index read_plain(double* rows, Index capacity) {
        Index count = 0;
        if (reader_.has_missing_numbers()) return count;
        detail::CsvBuffer& buffer = reader_.buffer();
        const char* const end = buffer.lines_end();
        for (const char* next = buffer.begin(); count < capacity && next < end; ++count) {
            next = parse_plain_row(next, end, rows + count * columns());
            if (next == nullptr) break;
            buffer.consume(next);
        }
        reader_.skip_rows(count);
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
            if (*next != reader_.separator()) return nullptr;
            ++next;
        }
        if (*next == '\r') ++next;
        return *next == '\n' ? next + 1 : nullptr;
    }

    /// Reads one row, whatever it holds.
    Outcome read_any(double* row, Missing missing) {
        if (!reader_.next()) return Outcome::end;
        if (reader_.blank_rows() > 0) {
            dropped_ += reader_.blank_rows();
            if (missing == Missing::refuse) refuse_missing(reader_.row() - reader_.blank_rows(), 0);
        }
        reader_.require_whole();
        std::size_t first_missing = selected().size();
        for (std::size_t i = 0; i < selected().size(); ++i) {
            if (is_missing(selected()[i], row[i])) first_missing = std::min(first_missing, i);
        }
        if (first_missing == selected().size()) return Outcome::row;
        ++dropped_;
        if (missing == Missing::refuse) refuse_missing(reader_.row(), selected()[first_missing]);
        return Outcome::dropped;
    }

    /// Parses a selected field.
    bool is_missing(std::size_t place, double& number) const {
        const std::string_view text = reader_.record().fields[place].text;
        switch (reader_.parse(text, number)) {
            case NumberKind::number:
                return false;
            case NumberKind::missing:
                return true;
            case NumberKind::infinite:
                reader_.refuse_infinite(reader_.row(), place, text);
            case NumberKind::too_large:
                reader_.refuse_too_large(reader_.row(), place, text);
            case NumberKind::text:
                break;
        }
        const bool has_comma = reader_.separator() != ',' && text.find(',') != std::string_view::npos;
        reader_.refuse_field(reader_.row(), place,
                             fmt::format("{} is not a number: {}", shown(text),
                                         has_comma ? "write decimal points instead of commas"
                                                   : "correct it, write NA if it is missing, or select other columns"));
    }

    /// Looks at the rest of the file to tell how many rows are concerned, for as long as it makes sense: not to the end
    /// of a pipe that may have none.
    [[noreturn]] void refuse_missing(Index row, std::size_t place) {
        constexpr Index most = 1'000'000;  // rows
        std::vector<double> ignored(selected().size());
        bool saw_all = !reader_.is_restricted();
        try {
            while (read_plain(ignored.data(), 1) > 0 || read_any(ignored.data(), Missing::drop) != Outcome::end) {
                if (reader_.row() < row + most) continue;
                saw_all = false;
                break;
            }
        } catch (const std::runtime_error&) {
            saw_all = false;
        }
        reader_.refuse_missing(row, place, dropped_, !saw_all);
    }

    detail::CsvReader reader_;
    Missing missing_;
    std::vector<Index> slots_;  // where a column of the file goes in a row, or -1
    std::array<bool, 256> ends_plain_text_ = {};
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

bool CsvSource::leaves_out_row_names() const {
    return implementation_->leaves_out_row_names();
}

bool CsvSource::can_go_back() const {
    return implementation_->can_go_back();
}

}  // namespace lrvb
