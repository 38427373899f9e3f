#include "base/validate.hpp"
#include "family/gamma_draw.hpp"
#include "family/special.hpp"

#include <lrvb/family/gamma.hpp>

#include <cmath>

namespace lrvb::family {

namespace {

struct Standard {
    double shape;
    double rate;
};

Standard unpack(const VectorView& natural) {
    return {natural[1] + 1.0, 0.0 - natural[0]};  // 0, not −0, where there is no rate
}

}  // namespace

std::vector<std::string> Gamma::statistic_names(const std::string& variable) const {
    return {variable, "log_" + variable};
}

std::vector<std::string> Gamma::standard_names() const {
    return {"shape", "rate"};
}

std::string Gamma::domain_error(const VectorView& natural) const {
    const auto [shape, rate] = unpack(natural);
    if (!(std::isfinite(shape) && shape > 0.0)) return fmt::format("shape {} is not positive", shape);
    if (!(std::isfinite(rate) && rate > 0.0)) return fmt::format("rate {} is not positive", rate);
    return {};
}

Vector Gamma::mean(const VectorView& natural) const {
    const auto [shape, rate] = unpack(natural);
    // ψ(a) − log b, in the form that keeps its digits where a/b is near one and a is large.
    return Vector{{shape / rate, std::log(shape / rate) - detail::log_minus_digamma(shape)}};
}

Vector Gamma::natural_from_mean(const VectorView& mean) const {
    detail::require_size(name, "mean parameter", mean.size(), size());
    detail::require_positive(name, "mean of x", mean[0]);
    detail::require_finite(name, "mean of log x", mean[1]);
    const double gap = std::log(mean[0]) - mean[1];
    detail::require_positive(name, "log of the mean less mean of the log", gap);
    const double shape = detail::inverse_log_minus_digamma(gap);
    return Vector{{-shape / mean[0], shape - 1.0}};
}

Vector Gamma::natural_from_standard(const VectorView& standard) const {
    detail::require_size(name, "standard parameter", standard.size(), size());
    detail::require_positive(name, "shape", standard[0]);
    detail::require_positive(name, "rate", standard[1]);
    return Vector{{-standard[1], standard[0] - 1.0}};
}

Vector Gamma::standard(const VectorView& natural) const {
    const auto [shape, rate] = unpack(natural);
    return Vector{{shape, rate}};
}

double Gamma::log_partition(const VectorView& natural) const {
    const auto [shape, rate] = unpack(natural);
    return detail::log_gamma(shape) - shape * std::log(rate);
}

double Gamma::entropy(const VectorView& natural) const {
    const auto [shape, rate] = unpack(natural);
    return detail::gamma_entropy(shape) - std::log(rate);
}

Matrix Gamma::covariance(const VectorView& natural) const {
    const auto [shape, rate] = unpack(natural);
    return Matrix{{shape / (rate * rate), 1.0 / rate}, {1.0 / rate, detail::trigamma(shape)}};
}

Matrix Gamma::covariance_factor(const VectorView& natural) const {
    const auto [shape, rate] = unpack(natural);
    const double root = std::sqrt(shape);
    return Matrix{{root / rate, 0.0}, {1.0 / root, std::sqrt(detail::trigamma_excess(shape)) / root}};
}

Vector Gamma::sample(const VectorView& natural, Random& random) const {
    const auto [shape, rate] = unpack(natural);
    double log_draw = 0.0;
    if (shape >= 1.0) {
        const double unscaled = detail::gamma_draw(shape, random);
        const double draw = unscaled / rate;
        if (std::isnormal(draw)) return Vector{{draw, std::log(draw)}};
        log_draw = std::log(unscaled) - std::log(rate);
    } else {
        log_draw = random.log_gamma(shape) - std::log(rate);
    }
    return Vector{{std::exp(log_draw), log_draw}};
}

Vector Gamma::statistic(const VectorView& value) const {
    detail::require_size(name, "value", value.size(), 1);
    detail::require_positive(name, "value", value[0]);
    return Vector{{value[0], std::log(value[0])}};
}

StatisticProduct Gamma::product(Index, Index) const {
    return StatisticProduct::none();
}

Vector Gamma::reference_natural() const {
    return Vector{{-1.0, 0.0}};
}

}  // namespace lrvb::family
