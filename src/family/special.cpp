#include "family/special.hpp"

#include <boost/math/distributions/students_t.hpp>
#include <boost/math/quadrature/gauss.hpp>
#include <boost/math/quadrature/gauss_kronrod.hpp>
#include <boost/math/special_functions/beta.hpp>
#include <boost/math/special_functions/digamma.hpp>
#include <boost/math/special_functions/erf.hpp>
#include <boost/math/special_functions/gamma.hpp>
#include <boost/math/special_functions/trigamma.hpp>

#include <cmath>
#include <numbers>

namespace lrvb::detail {

namespace {

// From here on the asymptotic series below have errors under one unit in the last place.
constexpr double kSeriesFrom = 20.0;

// Σ_n B_2n / x^2n over n = 1 … 6 with the given divisors: the tail that ψ, ψ' and log Γ share.
template <class Divisor>
double bernoulli_series(double x, Divisor divisor) {
    constexpr double kBernoulli[] = {1.0 / 6, -1.0 / 30, 1.0 / 42, -1.0 / 30, 5.0 / 66, -691.0 / 2730};
    const double inverse_square = 1.0 / (x * x);
    double sum = 0.0;
    for (int n = 6; n >= 1; --n) sum = (sum + kBernoulli[n - 1] / divisor(n)) * inverse_square;
    return sum;
}

// log Γ(x) − [(x − ½) log x − x + ½ log 2π] = Σ B_2n / (2n (2n−1) x^(2n−1)).
double stirling_remainder(double x) {
    return x * bernoulli_series(x, [](int n) { return 2.0 * n * (2.0 * n - 1.0); });
}

}  // namespace

const KronrodRule& kronrod_rule() {
    static const KronrodRule rule = [] {
        using Kronrod = boost::math::quadrature::gauss_kronrod<double, kKronrodNodes>;
        using Gauss = boost::math::quadrature::gauss<double, 10>;
        KronrodRule result;
        const auto& nodes = Kronrod::abscissa();  // not negative, from zero on
        const auto& weights = Kronrod::weights();
        const std::size_t middle = kKronrodNodes / 2;
        for (std::size_t i = 0; i < nodes.size(); ++i) {
            result.nodes[middle + i] = nodes[i];
            result.nodes[middle - i] = -nodes[i];
            result.weights[middle + i] = result.weights[middle - i] = weights[i];
        }
        // An even number of Gauss' nodes: every other one of Kronrod's, without zero.
        for (std::size_t i = 0; i < Gauss::weights().size(); ++i) {
            result.gauss_weights[middle + 1 + 2 * i] = result.gauss_weights[middle - 1 - 2 * i] = Gauss::weights()[i];
        }
        return result;
    }();
    return rule;
}

double log_gamma(double x) {
    return boost::math::lgamma(x);
}

double digamma(double x) {
    return boost::math::digamma(x);
}

double trigamma(double x) {
    return boost::math::trigamma(x);
}

double log_minus_digamma(double x) {
    if (x < kSeriesFrom) return std::log(x) - digamma(x);
    return 0.5 / x + bernoulli_series(x, [](int n) { return 2.0 * n; });
}

double trigamma_excess(double x) {
    if (x < kSeriesFrom) return x * trigamma(x) - 1.0;
    return 0.5 / x + bernoulli_series(x, [](int) { return 1.0; });
}

double trigamma_deficit(double x) {
    const double excess = trigamma_excess(x);
    return x * excess / (1.0 + excess);
}

// For large x the leading terms of Stirling's formula are subtracted by hand.
double log_gamma_rise(double x, double rise) {
    if (x < kSeriesFrom) return log_gamma(x + rise) - log_gamma(x);
    return rise * (std::log(x) - 1.0) + (x + rise - 0.5) * std::log1p(rise / x) + stirling_remainder(x + rise) -
           stirling_remainder(x);
}

// A small rise at a small x is first carried to where the series begin, by ψ(x + 1) = ψ(x) + 1/x: a sum of positive
// terms.
double digamma_rise(double x, double rise) {
    if (x < kSeriesFrom && rise > x) return digamma(x + rise) - digamma(x);
    double sum = 0.0;
    for (; x < kSeriesFrom; x += 1.0) sum += rise / x / (x + rise);
    return sum + std::log1p(rise / x) + (log_minus_digamma(x) - log_minus_digamma(x + rise));
}

double trigamma_fall(double x, double rise) {
    if (x < kSeriesFrom && rise > x) return trigamma(x) - trigamma(x + rise);
    const auto fall_of_inverse = [rise](double at) { return rise / at / (at + rise); };
    double sum = 0.0;
    for (; x < kSeriesFrom; x += 1.0) sum += fall_of_inverse(x) * (1.0 / x + 1.0 / (x + rise));
    return sum + fall_of_inverse(x) + (trigamma_excess(x) / x - trigamma_excess(x + rise) / (x + rise));
}

double gamma_entropy(double shape) {
    if (shape < kSeriesFrom) return shape + log_gamma(shape) + (1.0 - shape) * digamma(shape);
    // The leading terms of log Γ and ψ cancel to ½ log shape; what is left are their remainders.
    const double half_log_two_pi = 0.5 * std::log(2.0 * std::numbers::pi);
    return 0.5 * std::log(shape) + half_log_two_pi + stirling_remainder(shape) +
           (shape - 1.0) * log_minus_digamma(shape);
}

double inverse_digamma(double y) {
    // Minka's start (2000, appendix C), then Newton, which converges monotonically since ψ is concave.
    double x = y > -2.22 ? std::exp(y) + 0.5 : -1.0 / (y - digamma(1.0));
    for (int i = 0; i < 20; ++i) {
        const double step = (digamma(x) - y) / trigamma(x);
        x = step < x ? x - step : 0.5 * x;
        if (std::abs(step) <= 1e-15 * x) break;
    }
    return x;
}

double inverse_log_minus_digamma(double gap) {
    // log x − ψ(x) lies between 1/(2x) and 1/x; Newton in log x, where the function is nearly linear.
    double x = gap > 1.0 ? 1.0 / gap : (0.5 + 0.25 * gap) / gap;
    for (int i = 0; i < 50; ++i) {
        // d/d(log x) [log x − ψ(x)] = 1 − xψ'(x); Newton for log(log x − ψ(x)) = log gap.
        const double value = log_minus_digamma(x);
        const double step = value / trigamma_excess(x) * std::log(value / gap);
        x *= std::exp(step);
        if (std::abs(step) <= 1e-15) break;
    }
    return x;
}

double log_gamma_rise_beyond_power(double x, double rise) {
    if (x < kSeriesFrom) return log_gamma_rise(x, rise) - rise * std::log(x);
    return (x + rise - 0.5) * std::log1p(rise / x) - rise + stirling_remainder(x + rise) - stirling_remainder(x);
}

double central_quantile(double level) {
    return std::numbers::sqrt2 * boost::math::erf_inv(level);
}

double beta_quantile(double a, double b, double level) {
    return boost::math::ibeta_inv(a, b, level);
}

double normal_quantile(double probability) {
    return -std::numbers::sqrt2 * boost::math::erfc_inv(2.0 * probability);
}

double student_cdf(double degrees, double t) {
    return boost::math::cdf(boost::math::students_t(degrees), t);
}

double poisson_cdf(double count, double mean) {
    if (count < 0.0) return 0.0;
    if (!(mean > 0.0)) return 1.0;
    // So far out nothing is left, and beyond 1e10 a Poisson is a normal to five digits.
    constexpr double kFar = 40.0;
    constexpr double kLarge = 1e10;
    const double distance = std::floor(count) + 0.5 - mean;
    const double sd = std::sqrt(mean);
    if (!(std::abs(distance) < kFar * (1.0 + sd))) return distance > 0.0 ? 1.0 : 0.0;
    if (mean > kLarge) return 0.5 * boost::math::erfc(-distance / (std::numbers::sqrt2 * sd));
    return boost::math::gamma_q(std::floor(count) + 1.0, mean);
}

double negative_binomial_cdf(double count, double mean, double size) {
    if (count < 0.0) return 0.0;
    if (!(mean > 0.0)) return 1.0;
    if (!std::isfinite(mean)) return 0.0;
    return boost::math::ibeta(size, std::floor(count) + 1.0, size / (size + mean));
}

double gamma_beyond(double shape, double x) {
    return boost::math::gamma_q(shape, x);
}

double gamma_quantile(double shape, double level) {
    return boost::math::gamma_p_inv(shape, level);
}

double softplus(double x) {
    return x > 0.0 ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x));
}

}  // namespace lrvb::detail
