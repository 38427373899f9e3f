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

    /// What is said of these.
    std::string weightless_note() const;
};

/// As --columns, --factor, --numeric, --weights and --drop-missing say. Throws UsageError where they contradict each
/// other.
RegressionTable read_table(const FitRequest& request);

/// --factor and --numeric.
void require_apart(const std::vector<std::string>& factors, const std::vector<std::string>& numbers);

}  // namespace lrvb::detail
