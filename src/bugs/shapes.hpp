#pragma once

#include "bugs/evaluator.hpp"

#include <vector>

namespace lrvb::bugs {

/// Whether the parameters and bounds of a distribution are numbers, vectors and matrices where it takes such, and fit
/// to the left side, whose extents are `left`. An array with one element is a number. Throws EvaluationProblem.
void require_shapes(const Relation& relation, const std::vector<Index>& left, const Evaluator& evaluator);

}  // namespace lrvb::bugs
