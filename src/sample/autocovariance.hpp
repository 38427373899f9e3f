#pragma once

#include <lrvb/types.hpp>

namespace lrvb::detail {

/// Σ over the columns of Σ_t x_t x_(t + lag) for every lag from 0, by the fast Fourier transform: |X(ω)|² is the
/// transform of the sums, where x is padded by as many zeros as it is long. O(n log n), where lag by lag it is O(n²).
Vector autocovariances(const Matrix& chains);

}  // namespace lrvb::detail
