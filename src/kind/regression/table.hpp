#pragma once

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
