#pragma once

#include "kind/model/declarations.hpp"

#include <functional>
#include <string>
#include <vector>

namespace lrvb::detail::text {

/// Where a statistic of the builder's model stands among those of the posterior; −1 where it does not.
using StatisticPlace = std::function<Index(Index)>;

/// All deterministic nodes of small arrays, and those that are monitored, as functions of the posterior's statistics;
/// and stochastic ones that the model has by another number, such as an sd that it has by its precision. What is no
/// such function is left out, with a note.
std::vector<DerivedNode> derived_nodes(Declarations& declarations, const Layout& layout, const StatisticPlace& place,
                                       const std::vector<std::string>& monitor);

}  // namespace lrvb::detail::text
