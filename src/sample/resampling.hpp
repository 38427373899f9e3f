#pragma once

#include <lrvb/types.hpp>

#include <vector>

namespace lrvb::detail {

/// Systematic resampling: which draws to take, in their order, `count` of them, so that draw i is there as often as its
/// share count·w_i/Σw says, rounded up or down. `offset`, in [0, 1), is where between two places it begins. A draw
/// without weight is never taken. Throws std::invalid_argument where none has a weight.
std::vector<Index> resampled(const Vector& weights, Index count, double offset);

}  // namespace lrvb::detail
