#pragma once

#include "likelihood/expectation_kernels.hpp"

#include <lrvb/types.hpp>

#include <array>
#include <cstddef>
#include <vector>

/// E g(x), x ~ N(μ, v), and E g', … E g'''', for the functions that log-likelihoods are made of:
///
///     softplus        log(1 + eˣ)             logit          analytic for |Im x| < π
///     log_normal_cdf  log Φ(x)                probit                             2.81
///     log_success     log(1 − exp(−eˣ))       cloglog                            π/2
///     log_square      log(1 + x²)             Student's t                        1
///
/// With w the width of that strip: up to v = 0.3 (w/π)² the Gauss–Hermite rule converges at once; beyond it the
/// trapezoidal rule on the fixed grid 0.4 (w/π) Z does, whatever v, so the function is tabulated there once and an
/// expectation is a sum of products with a normal density. Where the normal reaches beyond the table, it is integrated
/// over panels that double with the distance from zero, however far and wide it is. All are accurate to about 1e-12 of
/// the largest |g⁽ᵏ⁾|.
namespace lrvb::detail {

enum class SmoothFunction { softplus, log_normal_cdf, log_success, log_square };

using Derivatives = std::array<double, kOrders>;

/// g and its first four derivatives at a point: none cancels to less than about 1e-12 of its size in the tails.
Derivatives derivatives(SmoothFunction function, double x);

/// Expectations for many normals: `out` has a column for each order. The same bits for any grouping of the rows.
class NormalExpectation {
  public:
    explicit NormalExpectation(SmoothFunction function);

    /// For up to kFieldBlock normals; `out` has the orders one after the other, kFieldBlock apart.
    void block(const double* means, const double* variances, std::size_t rows, double* out) const;

    Derivatives operator()(double mean, double variance) const;

  private:
    Derivatives by_grid(double mean, double variance) const;
    Derivatives by_panels(double mean, double sd) const;
    Derivatives by_rule(double mean, double variance) const;

    SmoothFunction function_;
    double step_ = 0.0;
    double narrow_ = 0.0;  // the largest variance of the rule
    int half_count_ = 0;   // the table reaches from −half_count_ to half_count_ steps
    std::vector<double> table_;
};

/// A rule for the standard normal, exact for polynomials of degree 2 count − 1.
struct HermiteRule {
    explicit HermiteRule(int count);
    std::vector<double> nodes;
    std::vector<double> weights;
};

/// The same for the uniform weight on [−1, 1].
struct LegendreRule {
    explicit LegendreRule(int count);
    std::vector<double> nodes;
    std::vector<double> weights;
};

}  // namespace lrvb::detail
