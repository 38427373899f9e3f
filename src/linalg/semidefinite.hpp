#pragma once

#include <lrvb/types.hpp>

namespace lrvb::detail {

/// Whether a symmetric matrix, of which the lower triangle is read, is a covariance: no variance is negative, what has
/// none covaries with nothing, and the correlations R have R + εI = LLᵀ, with ε = 1e-6 for the rounding of whoever
/// computed it. One Cholesky factorisation.
bool is_covariance(const Matrix& matrix);

}  // namespace lrvb::detail
