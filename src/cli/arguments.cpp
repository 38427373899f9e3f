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

}  // namespace lrvb::cli
