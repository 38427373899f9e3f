#pragma once

#include <lrvb/export.hpp>
#include <lrvb/linalg/factor_too_large.hpp>
#include <lrvb/model/model.hpp>

#include <memory>
#include <stdexcept>
#include <vector>

/// The linear-response covariance of an optimum from its parts, without the model: from the naturals of the factors and
/// the Hessian H = ∇²L there,
///
///     Σ̂ = L (I − LᵀHL)⁻¹ Lᵀ,     V = LLᵀ the mean-field covariance.
///
/// That is all that a fit has to store to answer later: memory linear in its size, where Σ̂ itself would be quadratic.
/// Queries are weighted sums of statistics, a column of weights over the stacked statistics each.
///
/// Assumes that the parts are of a fixed point, which only the model could tell. Whether it is a strict local maximum
/// shows in the factorisation, which is made at the first query and shared by copies; queries are const and may be
/// concurrent.
namespace lrvb {

/// An optimum that the response cannot be read off: not converged, or not a maximum of the bound.
class LRVB_EXPORT NotAnOptimum : public std::invalid_argument {
  public:
    using std::invalid_argument::invalid_argument;
};

/// Where the bound is flattest against what mean field says: the smallest eigenvalue of I − LᵀHL, to 1e-3 or better.
/// Along its direction the variance is 1 / curvature times the mean-field one, the most that it is anywhere.
struct FlatDirection {
    double curvature = 0.0;
    /// How the means move along it, stacked: one mean-field sd in all, and upwards what moves most.
    Vector direction;
    /// The statistic that moves most, in its own mean-field sds.
    Index statistic = 0;
};

class LRVB_EXPORT FactoredCovariance {
  public:
    /// `hessian` is the lower triangle of ∇²L at the state's means. Throws std::invalid_argument for sizes that do not
    /// fit together, numbers that are not finite, and naturals outside their family's domain.
    FactoredCovariance(Layout layout, State state, const SparseMatrix& hessian);

    const Layout& layout() const;
    const State& state() const;
    const SparseMatrix& hessian() const;

    // All of these throw NotAnOptimum where the state is no strict local maximum, naming the variable whose pivot
    // failed, and FactorTooLarge where the factorisation would not fit in memory.

    /// leftᵀ Σ̂ right; no more of Σ̂ is formed than a few columns at a time.
    Matrix covariance(const SparseMatrix& left, const SparseMatrix& right) const;
    Matrix covariance(const SparseMatrix& weights) const;
    /// The diagonal of the same. Columns that weigh a single variable are answered together from a selected inverse,
    /// however many there are; the others by a solve each.
    Vector variances(const SparseMatrix& weights) const;

    /// What mean field says about the same, for comparison.
    Matrix mean_field_covariance(const SparseMatrix& weights) const;
    Vector mean_field_variances(const SparseMatrix& weights) const;

    /// Σ̂ times any change of ∇L, stacked.
    Vector respond(const Vector& gradient_change) const;

    /// The covariance blocks of all variables.
    std::vector<Matrix> marginal_covariances() const;

    FlatDirection flattest_direction() const;
    /// The smallest pivot of I − LᵀHL.
    double smallest_pivot() const;

  private:
    class Implementation;
    std::shared_ptr<Implementation> implementation_;
};

}  // namespace lrvb
