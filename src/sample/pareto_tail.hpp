#pragma once

#include <lrvb/types.hpp>

namespace lrvb::detail {

/// k̂ of ratios, as pareto_smooth has it, without smoothing them.
double pareto_k_hat(const Vector& log_ratios);

}  // namespace lrvb::detail
