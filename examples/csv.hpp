#pragma once

#include <lrvb/types.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace lrvb::example {

/// A column of numbers of a CSV file, by its name in the header. A mistake ends in a sentence with the file, the row
/// and the column.
inline Vector read_column(const std::string& path, const std::string& column) {
    std::ifstream file(path);
    if (!file) throw std::runtime_error(fmt::format("{}: cannot be opened; check the path", path));
    const auto split = [](const std::string& line) {
        std::vector<std::string> fields;
        std::istringstream parts(line);
        for (std::string field; std::getline(parts, field, ',');) fields.push_back(field);
        if (!fields.empty() && !fields.back().empty() && fields.back().back() == '\r') fields.back().pop_back();
        return fields;
    };
    std::string line;
    std::getline(file, line);
    const std::vector<std::string> header = split(line);
    const auto found = std::find(header.begin(), header.end(), column);
    if (found == header.end()) {
        throw std::runtime_error(fmt::format("{}: there is no column '{}' in its first line", path, column));
    }
    const auto at = static_cast<std::size_t>(std::distance(header.begin(), found));
    std::vector<double> values;
    for (std::size_t row = 1; std::getline(file, line); ++row) {
        const std::vector<std::string> fields = split(line);
        if (fields.size() != header.size()) {
            throw std::runtime_error(fmt::format("{}: row {} has {} fields, but the header has {}", path, row,
                                                 fields.size(), header.size()));
        }
        const std::string& field = fields[at];
        double value = 0.0;
        const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), value);
        if (error != std::errc{} || end != field.data() + field.size()) {
            throw std::runtime_error(
                fmt::format("{}: row {} of column '{}' is '{}', but must be a number", path, row, column, field));
        }
        values.push_back(value);
    }
    return Eigen::Map<const Vector>(values.data(), static_cast<Index>(values.size()));
}

}  // namespace lrvb::example
