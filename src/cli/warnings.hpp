#pragma once

#include <lrvb/kind/fit_file.hpp>

namespace lrvb::cli {

/// What can be seen of a converged fit without sampling: a direction that is nearly flat, components with few rows,
/// components that overlap. Each in a sentence with the variable and the remedy, added to the fit's warnings.
void add_warnings(FitFile& fit);

}  // namespace lrvb::cli
