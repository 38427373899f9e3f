#pragma once

#include <lrvb/export.hpp>
#include <lrvb/sample/log_density.hpp>

#include <memory>
#include <optional>

/// Coordinates z in which a density is about a standard normal:
///
///     u = centre + Lz,     ∇_z log p = Lᵀ ∇_u log p,     LLᵀ about the covariance of u.
///
/// Of a covariance, L is its Cholesky factor, and takes memory and time with the square of the dimension. Of a sparse
/// precision P = RᵀR, in an order that keeps R sparse, it is L = R⁻¹ and never formed: either map is one triangular
/// solve, linear in the entries of R, so that the dimension can be any. How well it whitens decides how fast a sampler
/// is, not what it draws.
namespace lrvb {

class LRVB_EXPORT Whitening {
  public:
    /// Throws std::invalid_argument where the covariance is not positive definite.
    static Whitening of_covariance(const NormalApproximation& approximation);
    /// `precision` is read below and on its diagonal. Throws std::invalid_argument where it is not positive definite,
    /// and FactorTooLarge where its factor would not fit in memory.
    static Whitening of_precision(Vector centre, const SparseMatrix& precision);

    Index dimension() const { return centre_.size(); }
    const Vector& centre() const { return centre_; }

    /// Columns z to columns u.
    Matrix points(const Matrix& z) const;
    /// Gradients in u, a column each, to those in z.
    Matrix gradients(const Matrix& at_points) const;

    /// What draws u, a column each and worth as many as said, make of it: about their mean, with their covariance in z,
    /// or of a sparse one with their variances in z, drawn towards one as far as there are too few draws. Nothing where
    /// they have none.
    std::optional<Whitening> refined(const Matrix& draws, double worth) const;

  private:
    class Factor;
    class DenseFactor;
    class SparseFactor;

    Whitening(Vector centre, std::shared_ptr<const Factor> factor);

    Vector centre_;
    std::shared_ptr<const Factor> factor_;
};

}  // namespace lrvb
