#pragma once

#include "kind/model/declarations.hpp"

/// Discrete nodes that are no labels of rows, and depend on each other: a network of diagnoses, or indicators of what
/// is in a regression. A cluster of them is one label, whose states are the combinations of theirs that can be; so what
/// they know of each other is kept, and they can be summed out together.
namespace lrvb::detail::text {

/// Finds them, and marks their nodes. A node alone is a cluster where some of its labels cannot be, or where it is
/// binomial. Those with more than a thousand combinations are left as they are.
void find_clusters(Declarations& declarations);

/// Declares a cluster, once all that its probabilities depend on is declared.
void declare_cluster(Declarations& declarations, std::size_t cluster);

}  // namespace lrvb::detail::text
