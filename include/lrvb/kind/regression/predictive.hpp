#pragma once

#include <lrvb/export.hpp>
#include <lrvb/types.hpp>

#include <vector>

/// The predictive distribution of a new response y, given what a fit of a regression knows:
///
///     y = μ + s Z₁ + τ^(−1/2) Z₂,   Z₁, Z₂ ~ Normal(0, 1),   τ ~ Gamma(shape, rate),
///
/// where μ is the posterior mean of the response's mean at a row and s its sd (RegressionPrediction::mean, mean_sd),
/// and τ the precision of the noise; all three are independent. It is symmetric about μ, with
///
///     P(|y − μ| > d) = E_τ erfc(d / √(2 (s² + 1/τ))),
///
/// a Student t of 2·shape degrees of freedom for s = 0 and a normal for shape → ∞. The expectation is taken by the
/// trapezoidal rule in log τ, where the integrand is analytic and falls off on both sides: to about 1e-14. d is found
/// by Newton's method within a bracket, to 1e-12 of itself.
///
/// Assumptions: the coefficients are normal, and independent of τ. In the exact posterior of a regression with a flat
/// prior s² is larger where 1/τ is, so that y is a Student t; the intervals differ by the order of s²τ/shape, which is
/// (columns/rows)/rows.
///
/// Failures: std::invalid_argument for a shape, a rate, an sd or a level that cannot be one.
namespace lrvb {

/// τ ~ Gamma(shape, rate), in the units of the data.
struct NoisePrecision {
    double shape = 0.0;
    double rate = 0.0;
};

/// The Gamma whose log τ has this mean and this sd: those of the variable "log_tau" of a posterior, by linear response
/// or from the draws of a correction. With those of mean field it is the factor of τ.
LRVB_EXPORT NoisePrecision noise_precision(double log_mean, double log_sd);

/// Intervals of one level for any number of rows: μ ± half_width(s).
class LRVB_EXPORT PredictiveInterval {
  public:
    /// `level`: the probability that y is within, above 0 and below 1.
    PredictiveInterval(const NoisePrecision& noise, double level);

    double half_width(double mean_sd) const;

  private:
    /// P(|y − μ| ≤ d) or, for levels above one half, what is left to 1; and the density of |y − μ|.
    struct Mass {
        double inside = 0.0;
        double density = 0.0;
    };
    Mass mass(double distance, double mean_sd) const;

    double level_;
    double typical_ = 0.0;  // an sd of the noise
    std::vector<double> weights_;
    std::vector<double> sds_;  // of the noise, at the nodes of the rule
};

}  // namespace lrvb
