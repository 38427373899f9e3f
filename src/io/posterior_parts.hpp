#pragma once

#include <lrvb/io/posterior.hpp>

#include <array>

/// What the posteriors of all models are made of.
namespace lrvb::detail {

/// Statistics, means and covariances of these functionals of a fit; no variables yet.
Posterior posterior_of(const Model& model, const Optimum& optimum, const std::vector<std::string>& statistics,
                       const Functionals& functionals);

PosteriorVariable unbounded_variable(const std::string& name, double mean, const Gradient& gradient);

/// Its interval is taken on the log scale.
PosteriorVariable positive_variable(const std::string& name, double mean, const Gradient& gradient);

/// log τ, τ and σ = τ^(−1/2), named in this order. σ is a function of log τ, and all intervals are those of log τ.
void add_precision(Posterior& posterior, const std::array<std::string, 3>& names, Index tau, Index log_tau,
                   double mean_sigma);

/// E τ^(−1/2) = √b Γ(a − ½)/Γ(a) of a Gamma variable (exp(−½ E log τ) where that has no mean).
double mean_of_inverse_root(const State& state, const Layout& layout, Index variable);

}  // namespace lrvb::detail
