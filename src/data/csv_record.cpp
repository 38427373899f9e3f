#include "data/csv_record.hpp"

#include <fast_float/fast_float.h>
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <system_error>
#include <utility>

namespace lrvb::detail {
namespace {

std::string_view text_between(const char* begin, const char* end) {
    return {begin, static_cast<std::size_t>(end - begin)};
}

std::string_view trimmed(std::string_view text) {
    while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
    while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
    return text;
}

/// Reads one field from `next_`, up to the separator or the line end.
class FieldSplitter {
  public:
    FieldSplitter(const char* begin, const char* end, char separator)
        : next_(begin), end_(end), separator_(separator) {}

    const char* next() const { return next_; }

    RecordState split(CsvField& field) {
        const char* const begin = next_;
        skip_spaces();
        if (next_ != end_ && *next_ == '"') return split_quoted(field);
        while (next_ != end_ && *next_ != separator_ && *next_ != '\n' && *next_ != '\r' && *next_ != '\0') ++next_;
        field = {trimmed(text_between(begin, next_)), false};
        return at_field_end(RecordState::complete);
    }

  private:
    RecordState split_quoted(CsvField& field) {
        const char* const begin = ++next_;
        for (;; ++next_) {
            field = {text_between(begin, next_), true};
            if (next_ == end_) return RecordState::open_quote;
            if (*next_ == '\0') return RecordState::nul_byte;
            if (*next_ != '"') continue;
            // The quote's twin may lie beyond what is in sight.
            if (next_ + 1 == end_) return RecordState::incomplete;
            if (next_[1] != '"') break;
            ++next_;
        }
        ++next_;
        skip_spaces();
        return at_field_end(RecordState::text_after_quote);
    }

    void skip_spaces() {
        while (next_ != end_ && *next_ == ' ') ++next_;
    }

    /// Steps over the CR of a CRLF.
    RecordState at_field_end(RecordState otherwise) {
        if (next_ == end_) return RecordState::incomplete;
        if (*next_ == separator_ || *next_ == '\n') return RecordState::complete;
        if (*next_ == '\0') return RecordState::nul_byte;
        if (*next_ != '\r') return otherwise;
        ++next_;
        if (next_ == end_) return RecordState::incomplete;
        return *next_ == '\n' ? RecordState::complete : RecordState::lone_carriage_return;
    }

    const char* next_;
    const char* end_;
    char separator_;
};

}  // namespace

RecordState split_record(const char* begin, const char* end, char separator, CsvRecord& record) {
    record.fields.clear();
    FieldSplitter splitter(begin, end, separator);
    for (const char* next = begin;; ++next) {
        splitter = FieldSplitter(next, end, separator);
        const RecordState state = splitter.split(record.fields.emplace_back());
        if (state != RecordState::complete) return state;
        next = splitter.next();
        if (*next == '\n') {
            record.next = next + 1;
            return RecordState::complete;
        }
    }
}

bool find_separator(const char* begin, const char* end, char& separator) {
    std::size_t commas = 0;
    std::size_t semicolons = 0;
    std::size_t tabs = 0;
    bool at_start = true;  // of a field, where alone a quote opens it
    bool has_quotes = false;
    bool is_open = false;
    const char* next = begin;
    for (; next != end && *next != '\0' && (is_open || *next != '\n'); ++next) {
        if (*next == '"' && (has_quotes || at_start)) {
            has_quotes = true;
            is_open = !is_open;
        }
        if (is_open) continue;
        commas += *next == ',' ? 1 : 0;
        semicolons += *next == ';' ? 1 : 0;
        tabs += *next == '\t' ? 1 : 0;
        const bool is_between = *next == ',' || *next == ';' || *next == '\t';
        at_start = is_between || (at_start && *next == ' ');
        if (is_between) has_quotes = false;
    }
    if (commas >= std::max(semicolons, tabs)) {
        separator = ',';
    } else {
        separator = semicolons >= tabs ? ';' : '\t';
    }
    return next != end;
}

std::string unquoted(const CsvField& field) {
    std::string text;
    for (std::size_t i = 0; i < field.text.size(); ++i) {
        text += field.text[i];
        if (field.quoted && field.text[i] == '"') ++i;
    }
    return text;
}

NumberKind parse_number(std::string_view text, double& number) {
    text = trimmed(text);
    if (text.empty() || text == "NA") return NumberKind::missing;
    const bool has_plus = text.size() > 1 && text[0] == '+' && text[1] != '-';
    if (has_plus) text.remove_prefix(1);
    const char* const end = text.data() + text.size();
    const fast_float::from_chars_result result = fast_float::from_chars(text.data(), end, number);
    if (result.ptr != end || result.ec == std::errc::invalid_argument) return NumberKind::text;
    if (std::isfinite(number)) return NumberKind::number;
    if (std::isnan(number)) return NumberKind::missing;
    // What is infinite but begins with a digit was only large.
    return text.find_first_of("0123456789") == std::string_view::npos ? NumberKind::infinite : NumberKind::too_large;
}

MissingMarks::MissingMarks(std::vector<std::string> texts) : texts_(std::move(texts)) {
    for (const std::string& text : texts_) {
        double number = 0.0;
        const NumberKind kind = parse_number(text, number);
        if (kind == NumberKind::number) numbers_.push_back(number);
        has_numbers_ = has_numbers_ || kind != NumberKind::text;
    }
}

NumberKind MissingMarks::parse(std::string_view text, double& number) const {
    if (std::find(texts_.begin(), texts_.end(), text) != texts_.end()) return NumberKind::missing;
    const NumberKind kind = parse_number(text, number);
    return kind == NumberKind::number && has(number) ? NumberKind::missing : kind;
}

bool MissingMarks::has(std::string_view text) const {
    if (std::find(texts_.begin(), texts_.end(), text) != texts_.end()) return true;
    double number = 0.0;
    return !numbers_.empty() && parse_number(text, number) == NumberKind::number && has(number);
}

bool MissingMarks::has(double number) const {
    return std::find(numbers_.begin(), numbers_.end(), number) != numbers_.end();
}

std::optional<std::string> decimal_form(std::string_view text) {
    double number = 0.0;
    if (parse_number(text, number) != NumberKind::number) return std::nullopt;
    text = trimmed(text);
    const std::size_t mark = std::min(text.find_first_of("eE"), text.size());
    std::string digits;
    long long exponent = 0;
    if (mark < text.size()) {
        const char* const begin = text.data() + mark + (text.substr(mark + 1).starts_with('+') ? 2 : 1);
        const char* const end = text.data() + text.size();
        if (std::from_chars(begin, end, exponent).ec != std::errc()) exponent = 0;
    }
    bool is_behind_point = false;
    for (const char c : text.substr(0, mark)) {
        is_behind_point = is_behind_point || c == '.';
        if (c < '0' || c > '9') continue;
        if (is_behind_point) --exponent;
        if (c != '0' || !digits.empty()) digits += c;
    }
    while (!digits.empty() && digits.back() == '0') {
        digits.pop_back();
        ++exponent;
    }
    if (digits.empty()) return "0";
    return fmt::format("{}{}e{}", text.front() == '-' ? "-" : "", digits, exponent);
}

}  // namespace lrvb::detail
