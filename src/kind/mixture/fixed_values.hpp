#pragma once

#include <lrvb/kind/mixture/fit.hpp>

#include <string>
#include <vector>

namespace lrvb::detail {

/// The values of --fix PARTS --at FILE, in the units of the data. FILE is a fit of the same shape, whose posterior
/// means are taken, or JSON with a list for each part:
///
///     {"weights": [0.3, 0.7], "means": [2, 4.3], "precisions": [17, 5.2]}
///
/// where with P columns a mean is a list of P numbers, and a precision a list of P numbers (diagonal covariances) or a
/// matrix. Throws std::runtime_error, with the file, for values that are not there or of another shape.
MixtureFixed read_fixed(const std::vector<std::string>& parts, const std::string& path, Index components, Index columns,
                        bool full);

}  // namespace lrvb::detail
