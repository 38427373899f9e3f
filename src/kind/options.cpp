#include <lrvb/kind/options.hpp>

#include <fast_float/fast_float.h>
#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <limits>

namespace lrvb {

namespace {

std::string option_of(const std::string& key) {
    return "--" + key;
}

void require_positive(const std::string& key, double value) {
    if (!(value > 0.0)) throw UsageError(fmt::format("{} is {}, but must be positive", option_of(key), value));
}

template <class Number>
Number parsed(const std::string& key, const std::string& text, Number otherwise) {
    if (text.empty()) return otherwise;
    Number value = 0;
    const char* end = text.data() + text.size();
    const auto [next, error] = std::from_chars(text.data(), end, value);
    if (error == std::errc::result_out_of_range) {
        throw UsageError(fmt::format("{}: '{}' is too large: it must be at most {}", option_of(key), text,
                                     std::numeric_limits<Number>::max()));
    }
    if (error != std::errc() || next != end) {
        throw UsageError(fmt::format("{}: '{}' is not a whole number", option_of(key), text));
    }
    return value;
}

/// What stands in the quotes that open at `at`, which goes on to the one that closes them; one that is doubled is a
/// quote.
std::string quoted_part(std::string_view text, std::size_t& at) {
    std::string part;
    for (++at; at < text.size(); ++at) {
        if (text[at] == '"') {
            if (at + 1 == text.size() || text[at + 1] != '"') return part;
            ++at;
        }
        part += text[at];
    }
    throw UsageError(fmt::format("{}: a quote is opened but never closed: close it", text));
}

}  // namespace

OptionInfo OptionInfo::flag(std::string name, std::string help) {
    return {std::move(name), std::move(help), Type::flag};
}

OptionInfo OptionInfo::choice(std::string name, std::vector<std::string> choices, std::string help) {
    OptionInfo option{std::move(name), std::move(help), Type::choice};
    option.choices = std::move(choices);
    return option;
}

OptionInfo OptionInfo::whole(std::string name, double least, double most, std::string help) {
    OptionInfo option{std::move(name), std::move(help), Type::whole};
    option.least = least;
    option.most = most;
    option.range = fmt::format("{} or more", least);
    return option;
}

OptionInfo OptionInfo::whole_range(std::string name, double least, double most, std::string help) {
    OptionInfo option = whole(std::move(name), least, most, std::move(help));
    option.type = Type::range;
    return option;
}

OptionInfo OptionInfo::number(std::string name, double least, double most, std::string range, std::string help) {
    OptionInfo option{std::move(name), std::move(help), Type::number};
    option.least = least;
    option.most = most;
    option.range = std::move(range);
    return option;
}

std::string OptionInfo::key() const {
    const std::size_t comma = name.rfind(',');
    std::string result = comma == std::string::npos ? name : name.substr(comma + 1);
    return result.substr(std::min(result.find_first_not_of('-'), result.size()));
}

std::string OptionInfo::short_key() const {
    const std::string result = name.substr(0, name.find(','));
    return result.substr(std::min(result.find_first_not_of('-'), result.size()));
}

std::vector<std::string> split_list(std::string_view text, char separator) {
    std::vector<std::string> parts;
    if (text.empty()) return parts;
    std::size_t begin = 0;  // of the part
    int depth = 0;
    parts.emplace_back();
    for (std::size_t at = 0; at < text.size(); ++at) {
        const char c = text[at];
        const bool is_first = at == begin || (at == begin + 1 && text[begin] == '-');
        if (c == '"' && (is_first || (depth == 0 && text[at - 1] == '='))) {
            parts.back() += quoted_part(text, at);
            continue;
        }
        if (c == '[') ++depth;
        if (c == ']') --depth;
        if (c == separator && depth <= 0) {
            parts.emplace_back();
            begin = at + 1;
        } else {
            parts.back() += c;
        }
    }
    return parts;
}

Vector parse_numbers(const std::string& option, std::string_view text) {
    const std::vector<std::string> parts = split_list(text);
    Vector values(static_cast<Index>(parts.size()));
    for (std::size_t i = 0; i < parts.size(); ++i) {
        const std::string& part = parts[i];
        double value = 0.0;
        const char* end = part.data() + part.size();
        const auto [next, error] = fast_float::from_chars(part.data(), end, value);
        if (error != std::errc() || next != end || !std::isfinite(value)) {
            throw UsageError(fmt::format("{}: '{}' is not a number", option, part));
        }
        values[static_cast<Index>(i)] = value;
    }
    return values;
}

bool Settings::has_any(std::string_view beginning) const {
    for (const auto& [key, value] : values_) {
        if (key.starts_with(beginning) && !value.empty()) return true;
    }
    return false;
}

std::string Settings::text(const std::string& key, const std::string& otherwise) const {
    const auto found = values_.find(key);
    return found == values_.end() || found->second.empty() ? otherwise : found->second;
}

// A path holds everything but this.
constexpr char kNext = '\0';

std::vector<std::string> Settings::texts(const std::string& key) const {
    std::vector<std::string> result;
    const std::string all = text(key);
    for (std::size_t begin = 0; begin < all.size();) {
        const std::size_t end = std::min(all.find(kNext, begin), all.size());
        result.push_back(all.substr(begin, end - begin));
        begin = end + 1;
    }
    return result;
}

void Settings::add(const std::string& key, const std::string& value) {
    std::string& all = values_[key];
    if (!all.empty()) all += kNext;
    all += value;
}

Index Settings::whole(const std::string& key, Index otherwise) const {
    return parsed(key, text(key), otherwise);
}

std::pair<Index, Index> Settings::range(const std::string& key) const {
    const std::string all = text(key);
    const std::size_t colon = all.find(':');
    if (colon == std::string::npos) return {whole(key, 0), whole(key, 0)};
    const std::string first = all.substr(0, colon);
    const std::string last = all.substr(colon + 1);
    if (first.empty() || last.empty()) {
        throw UsageError(
            fmt::format("{}: '{}' is no range: give its first and its last number, as in 1:8", option_of(key), all));
    }
    const std::pair<Index, Index> result{parsed(key, first, Index{0}), parsed(key, last, Index{0})};
    if (result.first > result.second) {
        throw UsageError(fmt::format("{}: the range {} goes down: write {}:{}", option_of(key), all, last, first));
    }
    return result;
}

std::uint64_t Settings::seed(std::uint64_t otherwise) const {
    return parsed("seed", text("seed"), otherwise);
}

std::vector<std::string> Settings::list(const std::string& key) const {
    return split_list(text(key));
}

Vector Settings::numbers(const std::string& key) const {
    return parse_numbers(option_of(key), text(key));
}

double Settings::number(const std::string& key) const {
    const Vector values = numbers(key);
    if (values.size() != 1) throw UsageError(fmt::format("{} is one number, not {}", option_of(key), values.size()));
    return values[0];
}

double Settings::positive(const std::string& key) const {
    const double value = number(key);
    require_positive(key, value);
    return value;
}

Vector Settings::for_columns(const std::string& key, Index columns) const {
    Vector values = numbers(key);
    if (values.size() == 1) return Vector::Constant(columns, values[0]);
    if (values.size() == columns) return values;
    throw UsageError(fmt::format("{} has {} numbers for {} columns: give one, or one a column", option_of(key),
                                 values.size(), columns));
}

Vector Settings::positive_for_columns(const std::string& key, Index columns) const {
    Vector values = for_columns(key, columns);
    if (values.size() > 0) require_positive(key, values.minCoeff());
    return values;
}

}  // namespace lrvb
