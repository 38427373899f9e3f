#pragma once

#include "kind/model/declarations.hpp"

#include <vector>

/// Discrete nodes that belong to single rows, and chains of them: they are summed out (row_mixture.hpp).
namespace lrvb::detail::text {

/// Labels z of one array that can be summed out, and what they choose.
struct LabelledPlate {
    std::size_t array = 0;
    std::vector<Index> elements;           // of the labels, row by row; of chains end to end
    std::vector<Index> lengths;            // of chains; none where rows are independent
    std::vector<std::size_t> priors;       // pieces that give labels their probabilities; of chains the first labels'
    std::vector<std::size_t> transitions;  // pieces of chains
    std::vector<std::size_t> children;     // observed pieces that they choose
};

/// Finds them, and marks their nodes as summed out.
std::vector<LabelledPlate> labelled_plates(Declarations& declarations);

/// Observes their rows, once all nodes are declared. What is refused goes to `diagnostics`.
void observe_labelled(Declarations& declarations, const std::vector<LabelledPlate>& plates,
                      bugs::Diagnostics& diagnostics);

}  // namespace lrvb::detail::text
