#pragma once

#include <lrvb/linalg/factor_too_large.hpp>
#include <lrvb/types.hpp>

#include <functional>
#include <memory>
#include <optional>
#include <vector>

/// A = RᵀR for symmetric positive definite A, in two phases: a plan depends on A's pattern only, and is shared by all
/// factorisations of matrices with that pattern; the numbers stop at the first pivot that is not positive and say which
/// it was. R is upper triangular up to the order of A's positions, which is the factorisation's own business.
///
/// Two stand behind it. Sparse LDLᵀ in a fill-reducing order; and, where the pattern is nearly full, or falls apart
/// into few parts that are, or where a factor would fill up, a dense Cholesky of each part, in A's own order.
namespace lrvb::detail {

/// Some entries of A⁻¹: those on the pattern of A are always among them.
class SelectedInverse {
  public:
    virtual ~SelectedInverse() = default;
    /// (A⁻¹)_ij, by positions in A; std::logic_error for an entry that is not among them.
    virtual double operator()(Index i, Index j) const = 0;
};

class Cholesky {
  public:
    virtual ~Cholesky() = default;

    /// Factors the matrix whose lower triangle has the planned pattern and these values. Empty on success, otherwise
    /// the position in A of the first pivot that was not safely positive; then nothing else may be asked.
    virtual std::optional<Index> factorise(const std::vector<double>& lower_values) = 0;

    /// A⁻¹ B, column by column.
    virtual Matrix solve(const Matrix& right_hand_sides) const = 0;
    /// R X: its columns have the norms of X in the metric A.
    virtual Matrix root_times(const Matrix& x) const = 0;
    /// R⁻¹ Z: of Z standard normal, draws with covariance A⁻¹.
    virtual Matrix root_solve(const Matrix& z) const = 0;
    /// R⁻ᵀ G: what a gradient is in those z.
    virtual Matrix root_transposed_solve(const Matrix& g) const = 0;

    /// The smallest pivot, the square of a diagonal entry of R: positive, and tends to zero as A turns singular.
    virtual double smallest_pivot() const = 0;

    /// As dear as the factorisation, and the full inverse is never formed. The factorisation must outlive it.
    virtual std::unique_ptr<SelectedInverse> selected_inverse() const = 0;
};

/// Makes empty factorisations, for matrices of one pattern.
using CholeskyPlan = std::function<std::unique_ptr<Cholesky>()>;

/// `lower_pattern` is the lower triangle of A, diagonal included; its values are not read. Throws FactorTooLarge where
/// no factor would fit in factor_memory_limit().
CholeskyPlan plan_cholesky(const SparseMatrix& lower_pattern);

/// What stands apart from the rest of A, such as the connected components of its graph: positions in A, ascending.
using Part = std::vector<int>;

/// A pivot that rounding alone could have made positive is no evidence of a maximum.
bool is_safely_positive(double pivot, double diagonal);

}  // namespace lrvb::detail
