#include "kind/declared/skewness.hpp"

#include "family/special.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace lrvb::detail {

namespace {

constexpr double kLevel = 0.9;  // of the interval that is that of q

std::optional<SkewedScale> skewed_scale(double mean, double lower, double upper, double sd) {
    const double width = upper - lower;
    if (!(width > 0.0 && sd > 0.0 && std::isfinite(width) && std::isfinite(mean))) return std::nullopt;
    return SkewedScale{mean, 0.5 * (lower + upper), 0.5 * width / (central_quantile(kLevel) * sd)};
}

// Beyond it a density is a spike, or a normal.
bool is_moderate(double shape) {
    return shape > 1e-3 && shape < 1e12;
}

// log x of a Gamma variable with this shape and mean.
std::optional<SkewedScale> gamma_scale(double shape, double mean, double sd) {
    if (!is_moderate(shape)) return std::nullopt;
    const double rate = shape / mean;
    const double lower = std::log(gamma_quantile(shape, 0.5 * (1.0 - kLevel)) / rate);
    const double upper = std::log(gamma_quantile(shape, 0.5 * (1.0 + kLevel)) / rate);
    return skewed_scale(std::log(mean) - log_minus_digamma(shape), lower, upper, sd);
}

// By the cumulants of nodes with weights (Cornish and Fisher's expansion).
std::optional<SkewedScale> scale_of_nodes(const Vector& values, const Vector& weights, double sd) {
    constexpr double kMostSkewed = 1.0;  // for quantiles to ascend
    constexpr double kMostPeaked = 2.0;
    const double mean = weights.dot(values);
    const Eigen::ArrayXd centred = values.array() - mean;
    const double own_sd = std::sqrt((weights.array() * centred.square()).sum());
    const Eigen::ArrayXd scaled = centred / own_sd;
    const double skewness = std::clamp((weights.array() * scaled.cube()).sum(), -kMostSkewed, kMostSkewed);
    const double excess =
        std::clamp((weights.array() * scaled.square().square()).sum() - 3.0, -kMostPeaked, kMostPeaked);
    const double z = central_quantile(kLevel);
    const double bent = (z * z - 1.0) * skewness / 6.0;
    const double stretched =
        z + (z * z * z - 3.0 * z) * excess / 24.0 - (2.0 * z * z * z - 5.0 * z) * skewness * skewness / 36.0;
    return skewed_scale(mean, mean + own_sd * (bent - stretched), mean + own_sd * (bent + stretched), sd);
}

double normal_cdf(double z) {
    return 0.5 * std::erfc(-z / std::numbers::sqrt2);
}

// Of a normal that is cut: what is cut off is left out. Seen from the side where the tail is, which does not cancel.
double cut_quantile(double mean, double sd, double lower, double upper, double probability) {
    const double a = (lower - mean) / sd;
    const double b = (upper - mean) / sd;
    if (a > 0.0) return 2.0 * mean - cut_quantile(mean, sd, 2.0 * mean - upper, 2.0 * mean - lower, 1.0 - probability);
    const double below = normal_cdf(a);
    const double here = below + probability * (normal_cdf(b) - below);
    if (!(here > 0.0 && here < 1.0)) return std::numeric_limits<double>::quiet_NaN();  // too far out to tell
    return mean + sd * normal_quantile(here);
}

}  // namespace

std::optional<SkewedScale> skewed_logarithm(const AnyFamily& family, const VectorView& natural) {
    if (const auto* gamma = std::get_if<family::Gamma>(&family)) {
        const Vector standard = gamma->standard(natural);
        return gamma_scale(standard[0], standard[0] / standard[1], std::sqrt(trigamma(standard[0])));
    }
    if (const auto* scale = std::get_if<family::Scale>(&family)) {
        const auto [logarithms, weights] = scale->nodes(natural);
        return scale_of_nodes(logarithms, weights, std::sqrt(scale->covariance(natural)(1, 1)));
    }
    return std::nullopt;
}

std::optional<SkewedScale> skewed_diagonal(const family::Wishart& family, const VectorView& natural, double mean) {
    const double shape = 0.5 * family.standard(natural)[0];
    return gamma_scale(shape, mean, mean / std::sqrt(shape));
}

std::optional<SkewedScale> skewed_logit(double a, double b) {
    if (!is_moderate(a) || !is_moderate(b)) return std::nullopt;
    const auto end = [&](double probability) {
        const double p = beta_quantile(a, b, probability);
        const double rest = beta_quantile(b, a, 1.0 - probability);
        return std::log(p / rest);
    };
    const double mean = digamma(a) - digamma(b);
    return skewed_scale(mean, end(0.5 * (1.0 - kLevel)), end(0.5 * (1.0 + kLevel)), std::sqrt(trigamma_fall(a, b)));
}

std::optional<SkewedScale> skewed_cut(const family::TruncatedNormal& family, const VectorView& natural,
                                      const Transform& transform) {
    const auto [values, weights] = family.nodes(natural);
    const Vector unbounded = unbounded_values(transform, values);
    const double sd = std::sqrt(family.covariance(natural)(0, 0));
    if (!unbounded.allFinite()) return std::nullopt;
    if (natural[1] < 0.0) {
        const double variance = -0.5 / natural[1];
        const auto end = [&](double probability) {
            const double x =
                cut_quantile(natural[0] * variance, std::sqrt(variance), family.lower(), family.upper(), probability);
            return unbounded_values(transform, Vector{{x}})[0];
        };
        const double lower = end(0.5 * (1.0 - kLevel));
        const double upper = end(0.5 * (1.0 + kLevel));
        if (std::isfinite(lower) && std::isfinite(upper) && lower < upper)
            return skewed_scale(weights.dot(unbounded), lower, upper, sd);
    }
    return scale_of_nodes(unbounded, weights, sd);
}

}  // namespace lrvb::detail
