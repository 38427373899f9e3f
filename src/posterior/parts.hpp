#pragma once

#include <lrvb/posterior/posterior.hpp>

#include <array>

/// What the posteriors of all models are made of.
namespace lrvb::detail {

/// Statistics, means and covariances of these functionals of a fit; no variables yet.
Posterior posterior_of(const Model& model, const Optimum& optimum, const std::vector<std::string>& statistics,
                       const Functionals& functionals);

PosteriorVariable unbounded_variable(const std::string& name, double mean, const Gradient& gradient);

/// Its interval is taken on the log scale.
PosteriorVariable positive_variable(const std::string& name, double mean, const Gradient& gradient);

/// The derivative in the means m of something whose derivative in the natural parameters is h: V⁻¹h, since dm = V dη.
Vector by_means(const AnyFamily& family, const VectorView& natural, const Vector& by_natural);

/// log τ, τ and σ = τ^(−1/2), named in this order, of a Gamma(a, b) variable of the model, whose statistics stand in
/// the posterior at `tau` and `log_tau`. All intervals are those of log τ, and σ has the mean √b Γ(a − ½)/Γ(a).
void add_precision(Posterior& posterior, const std::array<std::string, 3>& names, Index tau, Index log_tau,
                   const Layout& layout, const State& state, Index variable);

}  // namespace lrvb::detail
