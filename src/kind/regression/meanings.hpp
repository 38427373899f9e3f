#pragma once

#include <lrvb/posterior/variable.hpp>

#include <string>
#include <vector>

namespace lrvb::detail {

/// What the variables of a regression mean, in the order of its posterior; statistics stand as intercept (if there is
/// one), slopes, τ, log τ.
std::vector<VariableMeaning> regression_meanings(bool intercept, const std::vector<std::string>& slopes);

}  // namespace lrvb::detail
