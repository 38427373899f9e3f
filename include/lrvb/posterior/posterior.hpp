#pragma once

#include <lrvb/export.hpp>
#include <lrvb/kind/mixture/fit.hpp>
#include <lrvb/kind/regression/model.hpp>
#include <lrvb/response/linear_response.hpp>

#include <string>
#include <utility>
#include <vector>

/// The posterior as people read it: named variables with means, sds, quantiles and covariances, in the units of the
/// data.
///
/// It holds the statistics T of a model, with their means m and covariances C (by linear response, and by mean field),
/// and the variables that are reported. A variable is a statistic, or a smooth function of a block of parameters such
/// as σ = τ^(−1/2): its mean under q is a function of the means m of the block, and with g the gradient of that
/// function, Cov(x, y) = g_xᵀ C g_y, and whatever moves m moves the reported mean along g. Intervals are taken on a
/// scale where the variable is unbounded, u ~ Normal(centre, hᵀCh), and carried to its own by an increasing or
/// decreasing transform of u.
///
/// Nothing here knows of a model: what a fit file holds is enough.
namespace lrvb {

/// (position of a statistic, derivative) pairs.
using Gradient = std::vector<std::pair<Index, double>>;

enum class Transform {
    identity,      ///< x = u
    exponential,   ///< x = exp u
    logistic,      ///< x = 1/(1 + exp(−u))
    log_logistic,  ///< x = −log(1 + exp(−u))
};

struct PosteriorVariable {
    std::string name;
    double mean = 0.0;
    Gradient gradient;

    struct Unbounded {
        Transform transform = Transform::identity;
        double centre = 0.0;
        Gradient gradient;
    };
    Unbounded unbounded;
};

enum class Method { linear_response, mean_field };

struct LRVB_EXPORT Posterior {
    std::vector<std::string> statistics;
    Vector mean;
    /// By linear response; empty where there is none, because the fit did not converge to a maximum.
    Matrix covariance;
    Matrix mean_field_covariance;
    /// d mean / d hyperparameter, one column each; empty where there is no response.
    std::vector<std::string> hyperparameters;
    Matrix sensitivities;

    std::vector<PosteriorVariable> variables;

    bool has_response() const { return covariance.size() > 0; }

    /// Positions of the variables of these names, in the order asked for; a name without its index ("mu") stands for
    /// all of its variables. None asked for means all. Throws std::invalid_argument for what is not there.
    std::vector<Index> select(const std::vector<std::string>& names) const;

    /// Covariance of variables, by position. Throws NotAnOptimum where a response is asked for and there is none.
    Matrix covariance_of(const std::vector<Index>& chosen, Method method) const;

    struct Row {
        std::string name;
        double mean = 0.0;
        /// By linear response; NaN where there is none, and so for the quantiles.
        double sd = 0.0;
        double mean_field_sd = 0.0;
        double lower = 0.0;
        double upper = 0.0;
        /// The quantiles that mean field gives, about the same centre.
        double mean_field_lower = 0.0;
        double mean_field_upper = 0.0;
    };
    /// `level`: the probability between the two quantiles.
    std::vector<Row> summary(const std::vector<Index>& chosen, double level) const;
};

/// The posterior of a mixture: log_pi, pi (two components or more), mu, and log_tau, tau, sigma, or Lambda,
/// log_det_Lambda, Sigma. Where the fit has not converged there is no response in it.
LRVB_EXPORT Posterior mixture_posterior(const MixtureFit& fit);

/// The posterior of a regression: intercept (at zero), beta[…], log_tau, tau, sigma.
LRVB_EXPORT Posterior regression_posterior(const RegressionModel& model, const Optimum& optimum);

}  // namespace lrvb
