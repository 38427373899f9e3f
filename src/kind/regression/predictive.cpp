#include "family/special.hpp"

#include <lrvb/kind/regression/predictive.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>
#include <stdexcept>

namespace lrvb {

namespace {

constexpr double kSmallestShape = 0.01;  // an sd of log τ of 100; smaller ones would take ever more nodes

constexpr double kKnownShape = 1e10;  // beyond it a Student t is a normal

void require_positive(const char* function, const char* argument, double value) {
    if (value > 0.0 && std::isfinite(value)) return;
    throw std::invalid_argument(
        fmt::format("{}: {} is {}, but must be positive and finite", function, argument, value));
}

}  // namespace

NoisePrecision noise_precision(double log_mean, double log_sd) {
    require_positive("noise_precision", "log_sd", log_sd);
    if (!std::isfinite(log_mean)) {
        throw std::invalid_argument(fmt::format("noise_precision: log_mean is {}, but must be finite", log_mean));
    }
    // ψ'(shape) = log_sd²; shape − 1/ψ'(shape) is between 0 and 1/2.
    const double inverse_variance = 1.0 / (log_sd * log_sd);
    double low = inverse_variance;
    double high = inverse_variance + 0.5;
    for (double middle = 0.5 * (low + high); low < middle && middle < high; middle = 0.5 * (low + high)) {
        (middle - detail::trigamma_deficit(middle) < inverse_variance ? low : high) = middle;
    }
    const double shape = 0.5 * (low + high);
    return {shape, std::exp(detail::digamma(shape) - log_mean)};
}

PredictiveInterval::PredictiveInterval(const NoisePrecision& noise, double level) : level_(level) {
    require_positive("PredictiveInterval", "shape", noise.shape);
    require_positive("PredictiveInterval", "rate", noise.rate);
    if (noise.shape < kSmallestShape) {
        throw std::invalid_argument(
            fmt::format("PredictiveInterval: shape is {}, but must be {} or more: the noise is hardly known",
                        noise.shape, kSmallestShape));
    }
    if (!(level > 0.0 && level < 1.0)) {
        throw std::invalid_argument(
            fmt::format("PredictiveInterval: level is {}, but must be above 0 and below 1", level));
    }
    // u = log τ less its mode, with the density exp(shape (u − eᵘ + 1)) up to a factor. The step is a part of the
    // density's sd, and small beside π/2, the distance of the nearest singularity from the real line.
    constexpr double kNegligible = -38.0;
    const double step = std::min(0.2, 0.5 / std::sqrt(noise.shape));
    typical_ = std::sqrt(noise.rate / noise.shape);
    const auto add = [&](double u) {
        const double log_density = -noise.shape * (std::expm1(u) - u);
        if (log_density < kNegligible) return false;
        weights_.push_back(std::exp(log_density));
        sds_.push_back(typical_ * std::exp(-0.5 * u));
        return true;
    };
    add(0.0);
    if (noise.shape > kKnownShape) return;
    for (const double side : {-step, step}) {
        for (int i = 1; add(side * i);) ++i;
    }
    const double total = std::accumulate(weights_.begin(), weights_.end(), 0.0);
    for (double& weight : weights_) weight /= total;
}

PredictiveInterval::Mass PredictiveInterval::mass(double distance, double mean_sd) const {
    const bool is_tail = level_ > 0.5;
    Mass result;
    for (std::size_t i = 0; i < weights_.size(); ++i) {
        const double scale = std::numbers::sqrt2 * std::hypot(mean_sd, sds_[i]);
        const double z = distance / scale;
        result.inside += weights_[i] * (is_tail ? std::erfc(z) : std::erf(z));
        result.density += weights_[i] * 2.0 * std::numbers::inv_sqrtpi * std::exp(-z * z) / scale;
    }
    return result;
}

double PredictiveInterval::half_width(double mean_sd) const {
    if (!(mean_sd >= 0.0)) {
        throw std::invalid_argument(
            fmt::format("PredictiveInterval: mean_sd is {}, but must not be negative", mean_sd));
    }
    const bool is_tail = level_ > 0.5;
    const double wanted = is_tail ? 1.0 - level_ : level_;
    double low = 0.0;
    double high = std::numeric_limits<double>::infinity();
    double distance = detail::central_quantile(level_) * std::hypot(mean_sd, typical_);
    constexpr int kMost = 400;
    for (int i = 0; i < kMost && std::isfinite(distance); ++i) {
        const Mass here = mass(distance, mean_sd);
        // What is still to be inside.
        const double lacking = is_tail ? here.inside - wanted : wanted - here.inside;
        double next = distance + lacking / here.density;
        if (std::abs(next - distance) <= 1e-13 * distance) break;
        (lacking > 0.0 ? low : high) = distance;
        if (!(next > low && next < high)) next = std::isfinite(high) ? 0.5 * (low + high) : 2.0 * distance;
        distance = next;
    }
    return distance;
}

}  // namespace lrvb
