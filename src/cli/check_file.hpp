#pragma once

#include "report/contents.hpp"

#include <string>

namespace lrvb::cli {

/// What the fit file itself keeps of its comparison with the exact posterior; nothing where there is none, and where
/// the posterior was corrected afterwards: then it speaks of other numbers.
std::optional<report::Comparison> recorded_check(const FitFile& fit);

/// What 'lrvb check FIT DATA --format json' printed of this fit. Throws std::runtime_error for what is no such file,
/// and for that of another fit.
report::Comparison read_check(const std::string& path, const FitFile& fit);

}  // namespace lrvb::cli
