#pragma once

#include "support.hpp"

#include <fmt/format.h>

#include <fstream>
#include <string>
#include <utility>
#include <vector>

/// Tables in memory, and fits of them by the kinds that the program has.
namespace lrvb::test {

inline DataFrame frame_of(const std::vector<std::pair<std::string, Vector>>& columns) {
    DataFrame frame;
    frame.rows = columns.front().second.size();
    for (const auto& [name, values] : columns) {
        frame.columns.push_back({.name = name, .numbers = values, .levels = {}, .codes = {}});
    }
    return frame;
}

inline std::unique_ptr<FittedModel> fit_of(const std::string& kind, const Dataset& data, const Settings& settings) {
    FitOptions options;
    options.tolerance = 1e-10;
    std::unique_ptr<FittedModel> fitted = find_kind(kind)->fit(FitRequest{data, settings, options, 1, {}});
    EXPECT_TRUE(fitted->file().converged());
    return fitted;
}

}  // namespace lrvb::test
