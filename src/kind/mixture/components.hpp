#pragma once

#include "kind/mixture/pass.hpp"

#include <lrvb/model/functionals.hpp>
#include <lrvb/model/model.hpp>

#include <array>
#include <string>
#include <vector>

/// How the parameters of a mixture make its scores. With Λ, μ and Var μ = E[μμᵀ] − EμEμᵀ those of component k, and any
/// origin o, y = x − o and d = Eμ − o,
///
///     ρ = E log π + ½E log det Λ − ½P log 2π − ½ tr EΛ(Var μ + (y − d)(y − d)ᵀ),
///
/// a polynomial in y whose coefficients are bilinear in the means (log π, μ, μμᵀ, Λ, log det Λ). About o = Eμ it has no
/// linear part, and nothing in it cancels, nor in the gradient
///
///     ∂/∂Λ = −½ Σ r(yyᵀ + Var μ),     ∂/∂μ = Λ Σ r(y + o),     ∂/∂μμᵀ = −½ Λ Σ r,
///
/// however narrow the component is and however far from zero. (Var μ is a small difference of means; a state's naturals
/// have it whole, so points are made from states where there is one.)
namespace lrvb::detail {

class MixtureComponents {
  public:
    MixtureComponents(Index columns, bool full, Index components);

    const Layout& layout() const { return layout_; }
    Index components() const { return components_; }
    /// A single component has no weights to learn.
    bool has_weights() const { return components_ > 1; }
    /// With full covariances one variable for all columns (p = 0), otherwise one a column.
    Index location_variable(Index component, Index column) const;
    Index precision_variable(Index component, Index column) const;
    /// Locations, then precisions.
    std::vector<Index> variables_of(Index component) const;
    /// The same apart: given precisions no location depends on another, nor, given locations, does a precision. So one
    /// gradient serves all of a half.
    std::array<std::vector<Index>, 2> halves_of(Index component) const;

    /// Means of one component, unpacked. Symmetric matrices are lists of their entries (p, q): p ≤ q where covariances
    /// are full, p = q where they are diagonal.
    struct Component {
        double log_weight = 0.0;
        Vector location;
        Vector variance;  // Var μ
        Vector precision;
        double log_det = 0.0;
    };
    using Point = std::vector<Component>;

    Point point_at(const Vector& mean) const;
    Point point_at(const State& state) const;
    /// The mixture with its parameters at their means, E π, E μ and E Λ, for densities.
    Point plug_in_point(const State& state) const;

    /// About each component's own mean.
    MixtureScores scores(const Point& point) const;
    /// For each pair k < l the mean of the product of its two densities, (Λ_k + Λ_l)⁻¹(Λ_k μ_k + Λ_l μ_l): there, if
    /// anywhere, both have a share in the rows.
    Matrix pair_origins(const Point& point) const;

    /// ∇ Σ_k ρ_k over the stacked means, with the sums of the pass about these origins.
    Vector gradient(const Point& point, const Matrix& origins, const Matrix& sums) const;
    /// Σ|terms| of each entry of it, with sums about the components' means.
    Vector gradient_magnitude(const Point& point, const Matrix& sums) const;
    /// What belongs to a component's own means, and the part of it that is one variable's.
    Vector own_gradient(const Component& component, const Vector& origin, const Vector& sums) const;
    Vector block_of(const Vector& own_gradient, Index variable) const;
    /// Lower triangle, with sums about the components' means.
    SparseMatrix hessian(const Point& point, const Matrix& pair_origins, const PassSums& sums) const;
    Component component_at(const State& state, Index component) const;
    Component component_at(const Vector& mean, Index component) const;
    /// Along each direction over the stacked means, ∇ρ_k as a polynomial in x − Eμ_k: features × directions, for each
    /// component.
    std::vector<Matrix> row_gradients(const Point& point, const Matrix& directions) const;

    /// Stacked statistics, by position.
    Functionals in_data_units(const std::vector<Index>& statistics, const RowFormat& format) const;
    /// Components in ascending order of their first mean, each with all that is its own: means, naturals, clamps.
    State ordered(const State& state) const;

  private:
    /// An entry of a symmetric matrix; off the diagonal it stands for two.
    struct Entry {
        Index p;
        Index q;
        double weight;
    };

    class BlockSum;

    /// ∂ρ/∂(own means) as polynomials in x − origin: features × own means.
    SparseMatrix jacobian(const Component& component, const Vector& origin) const;
    /// Σ_q M_pq v_q.
    Vector product(const Vector& entries, const Vector& vector) const;
    Vector outer(const Vector& a, const Vector& b) const;
    /// Own vectors of all components, stacked.
    template <class OwnOf>
    Vector scattered(OwnOf own_of) const;

    Index columns_;
    bool full_;
    Index components_;
    Index features_;
    Layout layout_;
    std::vector<Entry> entries_;
    // A component's own means: log π first, then those of its variables. Where each stands:
    Index own_size_;
    std::vector<Index> location_at_;              // of column p
    std::vector<Index> second_at_;                // of entry e of μμᵀ
    std::vector<Index> precision_at_;             // of entry e of Λ
    std::vector<Index> log_det_at_;               // their sum is log det Λ
    std::vector<std::vector<Index>> stacked_of_;  // and where in the layout; −1 where there are no weights
};

}  // namespace lrvb::detail
