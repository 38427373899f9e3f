#pragma once

#include <lrvb/lrvb.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

namespace lrvb::example {

/// A univariate normal mixture, declared with an indicator variable for every row:
///
///     pi ~ Dirichlet(alpha),   mu_k ~ Normal(0, mu_precision),   tau_k ~ Gamma(tau_shape, tau_rate),
///     z_n ~ Categorical(pi),   x_n ~ Normal(mu_{z_n}, tau_{z_n}).
struct Mixture {
    MultilinearModel model;
    Variable<family::Dirichlet> pi;
    std::vector<Variable<family::Normal>> mu;
    std::vector<Variable<family::Gamma>> tau;
    std::vector<Variable<family::Categorical>> z;

    std::vector<std::string> global_names() const {
        std::vector<std::string> names;
        for (const char* statistic : {"log_pi", "mu", "log_tau"}) {
            for (std::size_t k = 1; k <= mu.size(); ++k) names.push_back(fmt::format("{}[{}]", statistic, k));
        }
        return names;
    }

    /// Starts the indicators by the order of the data, so that components come out in the order of their means.
    FitOptions ordered_start(const Vector& x) const {
        FitOptions options;
        const Index components = static_cast<Index>(mu.size());
        Vector sorted = x;
        std::sort(sorted.begin(), sorted.end());
        for (Index n = 0; n < x.size(); ++n) {
            const Index rank = std::lower_bound(sorted.begin(), sorted.end(), x[n]) - sorted.begin();
            Vector p = Vector::Constant(components, 0.1 / static_cast<double>(components));
            p[rank * components / x.size()] += 0.9;
            options.start(z[static_cast<std::size_t>(n)], p);
        }
        return options;
    }
};

/// The prior of Giordano & Broderick (2014): alpha, mu_precision, tau_shape, tau_rate.
inline const Vector kPaperPrior{{1.0, 0.01, 2.0001, 0.1}};

inline Mixture mixture_model(const Vector& x, Index components, const Vector& prior = kPaperPrior) {
    ModelBuilder builder;
    const Hyperparameter alpha = builder.hyperparameter("alpha", prior[0]);
    const Hyperparameter precision = builder.hyperparameter("mu_precision", prior[1]);
    const Hyperparameter shape = builder.hyperparameter("tau_shape", prior[2]);
    const Hyperparameter rate = builder.hyperparameter("tau_rate", prior[3]);
    const auto pi =
        builder.add("pi", dirichlet(std::vector<Expression>(static_cast<std::size_t>(components), Expression(alpha))));
    std::vector<Variable<family::Normal>> mu;
    std::vector<Variable<family::Gamma>> tau;
    std::vector<Distribution<family::Normal>> kinds;
    for (Index k = 0; k < components; ++k) {
        mu.push_back(builder.add(fmt::format("mu[{}]", k + 1), normal(0.0, precision)));
        tau.push_back(builder.add(fmt::format("tau[{}]", k + 1), gamma(shape, rate)));
        kinds.push_back(normal(mu.back(), tau.back()));
    }
    std::vector<Variable<family::Categorical>> z;
    for (Index n = 0; n < x.size(); ++n) {
        z.push_back(builder.add(fmt::format("z[{}]", n + 1), categorical(pi)));
        builder.observe(x[n], mixture(z.back(), kinds));
    }
    return {builder.build(), pi, mu, tau, z};
}

}  // namespace lrvb::example
