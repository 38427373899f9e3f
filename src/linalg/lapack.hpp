#pragma once

#include <lrvb/types.hpp>

#include <optional>

/// The few routines of LAPACK (OpenBLAS) that the library needs, always on one thread: the same bits on every machine
/// with the same instruction set, whatever else runs and however many cores there are. The number of threads that the
/// rest of the process gave OpenBLAS is put back.
namespace lrvb::detail {

/// A = LLᵀ for a dense symmetric matrix, from its lower triangle to L in its place; what is above the diagonal is left
/// as it was. Empty on success, otherwise the first pivot that is not positive.
std::optional<Index> cholesky_in_place(Matrix& a);

/// A⁻¹B from L, in B's place.
void cholesky_solve_in_place(const Matrix& factor, Eigen::Ref<Matrix> b);

/// L⁻¹ in L's place; what is above the diagonal is left as it was.
void invert_lower_in_place(Matrix& lower);

/// A⁻¹ from L, in its place, both triangles.
void invert_from_cholesky_in_place(Matrix& factor);

/// The eigenvectors of a symmetric tridiagonal matrix, a column each; their eigenvalues, ascending, in `diagonal`.
Matrix tridiagonal_eigenvectors(Vector& diagonal, Vector below);

}  // namespace lrvb::detail
