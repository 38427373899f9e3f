#pragma once

#include <cstddef>
#include <vector>

namespace lrvb::bugs {

/// Tarjan's strongly connected components of a directed graph, given by the successors of each node: every component
/// after all that its nodes lead to. Nodes of a component are in ascending order.
std::vector<std::vector<std::size_t>> components_of(const std::vector<std::vector<std::size_t>>& successors);

/// A circle among nodes of which each leads to at least one other of them: nodes in the order of the way, the first not
/// repeated.
std::vector<std::size_t> circle_in(const std::vector<std::vector<std::size_t>>& successors,
                                   const std::vector<bool>& is_among);

}  // namespace lrvb::bugs
