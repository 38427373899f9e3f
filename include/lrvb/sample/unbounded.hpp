#pragma once

#include <lrvb/export.hpp>
#include <lrvb/model/model.hpp>
#include <lrvb/response/linear_response.hpp>
#include <lrvb/sample/log_density.hpp>

#include <vector>

/// The variables of a model on a scale where they are unbounded, as samplers want them. A point u stacks, variable by
/// variable in the layout's order, those that are not clamped:
///
///     Normal, MvNormal,  x                          |dx/du| = 1
///     Point
///     Gamma              log τ                      |dτ/du| = τ
///     Beta               logit p                    |dp/du| = p(1 − p)
///     Dirichlet          log(π_k/π_K), k < K        |dπ/du| = Π_k π_k
///     Wishart            C with Λ = CCᵀ, lower,     |dΛ/du| = 2^P Π_i C_ii^(P − i + 2), i = 1 … P
///                        row by row, its diagonal as logarithms
///     Bernoulli,         none: they are summed out, and their statistics are zero here
///     Categorical
///
/// All are smooth and one to one, so a density in u is the density of the variables times the product of these.
namespace lrvb {

class LRVB_EXPORT UnboundedChart {
  public:
    /// `state` says which variables are clamped, and at what. Throws std::invalid_argument where nothing is left to
    /// vary.
    UnboundedChart(const Layout& layout, const State& state);

    Index dimension() const { return dimension_; }

    /// The variables that are discrete, and not clamped.
    const std::vector<Index>& discrete() const { return discrete_; }

    /// The coordinates of a variable, in the order of the point; none of one that is clamped.
    std::vector<Index> coordinates_of(Index variable) const;

    /// The stacked statistics T of the variables at a point; returns the log of the Jacobian.
    double statistics(const VectorView& point, Eigen::Ref<Vector> stacked) const;

    /// The gradient in the point of L(T(u)) + log |J|, from that of L in the stacked statistics: Jᵀ∇L + ∇log |J|.
    Vector pulled_back(const VectorView& point, const VectorView& gradient) const;

    /// The point whose statistics these are.
    Vector point(const VectorView& stacked) const;

    /// The linear response in this chart, by the delta method: exact but for Wishart variables, since all other
    /// coordinates are linear in statistics. Their centre is the Cholesky factor of E Λ, scaled to have the determinant
    /// exp E log det Λ.
    NormalApproximation approximation(const LinearResponse& response) const;

    /// The curvature of −log p, expected under the fit, from ∇²L in the stacked statistics at its means, both as lower
    /// triangles: with s_j = −∇_u log q_j(u) the scores of the factors in this chart, and Cov(T_j, s_j) = E_q J_j by
    /// parts,
    ///
    ///     −E_q ∇²_u log p(u) = Cov(s) − Cov(s, T) ∇²L Cov(T, s),
    ///
    /// where L is linear in the statistics of each variable, as it is unless local variables have been maximised out.
    /// Sparse by variables as ∇²L is, and positive definite at every strict maximum of the bound: there V⁻¹ − ∇²L is,
    /// and Cov(s) is at least Cov(s, T) V⁻¹ Cov(T, s). Of a normal target it is the precision; elsewhere it is near the
    /// inverse of what the linear response gives, and there is no need to form that.
    SparseMatrix expected_precision(const State& state, const SparseMatrix& hessian) const;

  private:
    struct Part {
        Index variable;
        Index offset;  // in the point
        Index size;
    };

    Layout layout_;
    Vector mean_;  // of what is clamped, and where the approximation is centred
    std::vector<Part> parts_;
    std::vector<Index> discrete_;
    Index dimension_ = 0;
};

}  // namespace lrvb
