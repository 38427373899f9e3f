#pragma once

#include <lrvb/export.hpp>
#include <lrvb/types.hpp>

/// Symmetric matrices in a minimal chart. A symmetric P×P matrix S is stored as its half-vector: the upper triangle row
/// by row, S_11, S_12, …, S_1P, S_22, …, S_PP. The coefficients c of a linear function of S pair with it as
/// Σ_{i≤j} c_ij S_ij = tr(M S), so that M_ii = c_ii and M_ij = c_ij / 2.
namespace lrvb {

/// P(P+1)/2.
LRVB_EXPORT Index half_size(Index dimension);

/// Position of (i, j), in either order, in the half-vector.
LRVB_EXPORT Index half_index(Index i, Index j, Index dimension);

LRVB_EXPORT Vector half_vector(const Matrix& symmetric);
LRVB_EXPORT Matrix symmetric_from_half(const VectorView& half, Index dimension);

/// The coefficients c with cᵀ half_vector(S) = tr(M S).
LRVB_EXPORT Vector trace_coefficients(const Matrix& symmetric);
LRVB_EXPORT Matrix symmetric_from_trace_coefficients(const VectorView& coefficients, Index dimension);

}  // namespace lrvb
