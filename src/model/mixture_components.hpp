#pragma once

#include "model/mixture_pass.hpp"

#include <lrvb/model/functionals.hpp>
#include <lrvb/model/model.hpp>

#include <string>
#include <vector>

/// How the parameters of a mixture make its scores: θ_k, the coefficients of the features in ρ_nk, is bilinear in the
/// means of component k. Its terms are listed once, and value, gradient and Hessian follow from the list.
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

    /// features × components.
    Matrix theta(const Vector& mean) const;
    /// θ of the mixture with its parameters at their means, E π and E Λ, for densities.
    Matrix plug_in_theta(const State& state) const;

    /// Σ_k ∇(s_k · θ_k) over the stacked means, with s_k the sums of the pass.
    Vector gradient(const Vector& mean, const Matrix& sums) const;
    /// Σ|terms| of each entry of it.
    Vector gradient_magnitude(const Vector& mean, const Matrix& sums) const;
    Vector block_gradient(const Vector& mean, Index component, const Vector& sums, Index variable) const;
    /// Lower triangle, dense.
    SparseMatrix hessian(const Vector& mean, const PassSums& sums) const;

    Functionals in_data_units(const std::vector<std::string>& names, const RowFormat& format) const;
    State ordered(const State& state) const;

  private:
    /// θ_feature += coefficient · u_a · u_b over the component's own means u; −1 stands for 1.
    struct Term {
        Index feature;
        double coefficient;
        Index a;
        Index b;
    };

    void list_terms();
    Vector own_means(const Vector& mean, Index component) const;
    Vector own_gradient(const Vector& own, const Vector& sums) const;
    Matrix jacobian(const Vector& own) const;
    /// Own vectors of all components, stacked.
    template <class OwnOf>
    Vector scattered(OwnOf own_of) const;

    Index columns_;
    bool full_;
    Index components_;
    Index features_;
    Index own_size_;  // 1 + statistics of its location and precision variables; the first is log π_k
    Layout layout_;
    std::vector<Term> terms_;
    std::vector<std::vector<Index>> stacked_of_;  // positions of a component's own means; −1 where there are no weights
};

}  // namespace lrvb::detail
