#pragma once

#include "kind/regression/columns.hpp"

#include <lrvb/kind/kind.hpp>

#include <optional>
#include <string>
#include <vector>

namespace lrvb::detail {

/// What --response and -c choose of the data: the columns, the response among them, and the weights, which are no
/// longer.
struct RegressionTable {
    DataFrame frame;
    Index response = 0;
    std::optional<std::string> weights_name;
    Vector weights;
    Index weightless = 0;  // rows that have none, and are not there
};

/// --weights or --precision-weights: its name, and the column. Empty where neither is given; throws UsageError where
/// both are.
struct WeightsOption {
    std::string name;
    std::string column;
};
WeightsOption weights_option(const Settings& settings);

/// How weights were taken, for the first lines of a fit.
std::string weights_note(const std::string& weights, WeightMeaning meaning, const std::string& response);

/// As --columns, --factor, --numeric, --weights and --drop-missing say. Throws UsageError where they contradict each
/// other.
FrameOptions table_reading(const Settings& settings);

/// Which of the columns so read is the response, and which the weights (-1: none).
struct TablePlaces {
    Index response = 0;
    Index weights = -1;
};
TablePlaces table_places(const Settings& settings, const DataFrame& frame);

/// All of it, in memory.
RegressionTable read_table(const FitRequest& request);

/// What is said of rows that have no weight.
std::string weightless_note(const std::string& weights, Index count);

/// --factor and --numeric.
void require_apart(const std::vector<std::string>& factors, const std::vector<std::string>& numbers);

}  // namespace lrvb::detail
