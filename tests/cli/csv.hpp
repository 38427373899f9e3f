#pragma once

#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <vector>

/// CSV as the program prints it.
namespace lrvb::testing {

struct Csv {
    std::vector<std::string> header;
    std::vector<std::vector<std::string>> rows;

    std::size_t column(const std::string& name) const {
        for (std::size_t i = 0; i < header.size(); ++i) {
            if (header[i] == name) return i;
        }
        ADD_FAILURE() << "no column " << name;
        return 0;
    }
    double number(std::size_t row, const std::string& name) const { return std::stod(rows.at(row).at(column(name))); }
};

inline std::vector<std::string> split_line(const std::string& line) {
    std::vector<std::string> fields(1);
    bool quoted = false;
    for (const char c : line) {
        if (c == '"') quoted = !quoted;
        if (c == '"') continue;
        if (c == ',' && !quoted) {
            fields.emplace_back();
        } else {
            fields.back() += c;
        }
    }
    return fields;
}

inline Csv parse_csv(const std::string& text) {
    Csv csv;
    std::istringstream lines(text);
    std::string line;
    std::getline(lines, line);
    csv.header = split_line(line);
    while (std::getline(lines, line)) csv.rows.push_back(split_line(line));
    return csv;
}

}  // namespace lrvb::testing
