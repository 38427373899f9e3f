#include "kind/declared/skewness.hpp"

#include "family/special.hpp"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

namespace lrvb::detail {

namespace {

constexpr double kLevel = 0.9;  // of the interval that is that of q

std::optional<SkewedScale> skewed_scale(double mean, double lower, double upper, double sd) {
    const double width = upper - lower;
    if (!(width > 0.0 && sd > 0.0 && std::isfinite(width) && std::isfinite(mean))) return std::nullopt;
    return SkewedScale{mean, 0.5 * (lower + upper), 0.5 * width / (central_quantile(kLevel) * sd)};
}

// log x of a Gamma variable with this shape and mean.
std::optional<SkewedScale> gamma_scale(double shape, double mean, double sd) {
    const double rate = shape / mean;
    const double lower = std::log(gamma_quantile(shape, 0.5 * (1.0 - kLevel)) / rate);
    const double upper = std::log(gamma_quantile(shape, 0.5 * (1.0 + kLevel)) / rate);
    return skewed_scale(std::log(mean) - log_minus_digamma(shape), lower, upper, sd);
}

// Quantiles of nodes with weights, each of which stands for what is about it.
std::optional<SkewedScale> scale_of_nodes(const Vector& values, const Vector& weights, double sd) {
    std::vector<std::pair<double, double>> nodes;
    double mean = 0.0;
    for (Index i = 0; i < values.size(); ++i) {
        if (!(weights[i] > 0.0) || !std::isfinite(values[i])) continue;
        nodes.emplace_back(values[i], weights[i]);
        mean += weights[i] * values[i];
    }
    std::sort(nodes.begin(), nodes.end());
    const auto quantile = [&](double probability) {
        double before = 0.0;
        double left = nodes.front().first;
        double at_left = 0.0;
        for (const auto& [value, weight] : nodes) {
            const double at = before + 0.5 * weight;
            if (at >= probability) return left + (value - left) * (probability - at_left) / (at - at_left);
            before += weight;
            left = value;
            at_left = at;
        }
        return left;
    };
    if (nodes.size() < 2) return std::nullopt;
    return skewed_scale(mean, quantile(0.5 * (1.0 - kLevel)), quantile(0.5 * (1.0 + kLevel)), sd);
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

std::optional<SkewedScale> skewed_cut(const family::TruncatedNormal& family, const VectorView& natural,
                                      const Transform& transform) {
    const auto [values, weights] = family.nodes(natural);
    return scale_of_nodes(unbounded_values(transform, values), weights, std::sqrt(family.covariance(natural)(0, 0)));
}

}  // namespace lrvb::detail
