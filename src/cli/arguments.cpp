#include "cli/arguments.hpp"

#include "cli/command.hpp"

#include <fast_float/fast_float.h>
#include <fmt/format.h>

#include <cmath>

namespace lrvb::cli {

std::vector<std::string> split(const std::string& text, char separator) {
    std::vector<std::string> parts;
    if (text.empty()) return parts;
    int depth = 0;
    parts.emplace_back();
    for (const char c : text) {
        if (c == '[') ++depth;
        if (c == ']') --depth;
        if (c == separator && depth <= 0) {
            parts.emplace_back();
        } else {
            parts.back() += c;
        }
    }
    return parts;
}

Vector numbers(const std::string& option, const std::string& text) {
    const std::vector<std::string> parts = split(text);
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

double single(const std::string& option, const std::string& text) {
    const Vector values = numbers(option, text);
    if (values.size() != 1) throw UsageError(fmt::format("{} is one number, not {}", option, values.size()));
    return values[0];
}

Vector for_columns(const std::string& option, const std::string& text, Index columns) {
    const Vector values = numbers(option, text);
    if (values.size() == 1) return Vector::Constant(columns, values[0]);
    if (values.size() == columns) return values;
    throw UsageError(
        fmt::format("{} has {} numbers for {} columns: give one, or one a column", option, values.size(), columns));
}

void require_positive(const std::string& option, double value) {
    if (!(value > 0.0)) throw UsageError(fmt::format("{} is {}, but must be positive", option, value));
}

}  // namespace lrvb::cli
