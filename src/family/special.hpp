#pragma once

#include <array>
#include <cstddef>

/// Special functions of the Gamma world, each accurate to a few units in the last place of its own value over the whole
/// positive axis: the differences that cancel for large arguments have names of their own and use their series there.
namespace lrvb::detail {

/// log Γ(x). (std::lgamma writes a global, so it is not safe in threads.)
double log_gamma(double x);
double digamma(double x);
double trigamma(double x);

/// log x − ψ(x) > 0.
double log_minus_digamma(double x);

/// x ψ'(x) − 1 > 0. Tends to 1/(2x) for large x, where the direct form cancels.
double trigamma_excess(double x);

/// x − 1/ψ'(x), in (0, 1/2). Differences of 1/ψ' are differences of this, without the cancellation.
double trigamma_deficit(double x);

/// log Γ(x + rise) − log Γ(x), ψ(x + rise) − ψ(x) and ψ'(x) − ψ'(x + rise), for rise > 0: accurate also where rise is
/// far below x, and where x + rise rounds to x.
double log_gamma_rise(double x, double rise);
double digamma_rise(double x, double rise);
double trigamma_fall(double x, double rise);

/// log Γ(x + rise) − log Γ(x) − rise log x, which is small where rise is far below x.
double log_gamma_rise_beyond_power(double x, double rise);

/// Entropy of Gamma(shape, rate 1).
double gamma_entropy(double shape);

/// The x > 0 with ψ(x) = y.
double inverse_digamma(double y);

/// The x > 0 with log x − ψ(x) = gap, for gap > 0.
double inverse_log_minus_digamma(double gap);

/// √2 erf⁻¹(level), odd in it: the z with P(|Z| ≤ z) = level for a standard normal Z.
double central_quantile(double level);

/// The x with P(X ≤ x) = level for X ~ Beta(a, b).
double beta_quantile(double a, double b, double level);

/// The z with P(Z ≤ z) = probability for a standard normal Z.
double normal_quantile(double probability);

/// P(T ≤ t) of Student's t, and P(N ≤ count) of a Poisson count.
double student_cdf(double degrees, double t);
double poisson_cdf(double count, double mean);
/// The same of a count with the variance mean + mean²/size.
double negative_binomial_cdf(double count, double mean, double size);

/// P(X > x) for X ~ Gamma(shape, rate 1).
double gamma_beyond(double shape, double x);

/// The x with P(X ≤ x) = level for X ~ Gamma(shape, rate 1).
double gamma_quantile(double shape, double level);

/// Kronrod's rule with 21 nodes on [−1, 1], and Gauss' with 10 on some of them (weight zero on the others).
inline constexpr std::size_t kKronrodNodes = 21;
struct KronrodRule {
    std::array<double, kKronrodNodes> nodes{};
    std::array<double, kKronrodNodes> weights{};
    std::array<double, kKronrodNodes> gauss_weights{};
};
const KronrodRule& kronrod_rule();

/// log(1 + exp(x)) without overflow.
double softplus(double x);

}  // namespace lrvb::detail
