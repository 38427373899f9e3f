#include "base/validate.hpp"

#include <lrvb/family/normal.hpp>

#include <cmath>
#include <numbers>

namespace lrvb::family {

namespace {

struct Standard {
    double mean;
    double variance;
};

Standard unpack(const VectorView& natural) {
    const double variance = -0.5 / natural[1];
    return {natural[0] * variance, variance};
}

const double kLogTwoPi = std::log(2.0 * std::numbers::pi);

}  // namespace

std::vector<std::string> Normal::statistic_names(const std::string& variable) const {
    return {variable, variable + "^2"};
}

std::vector<std::string> Normal::standard_names() const {
    return {"mean", "variance"};
}

std::string Normal::domain_error(const VectorView& natural) const {
    if (!std::isfinite(natural[0])) return fmt::format("precision times mean is {}", natural[0]);
    const double precision = 0.0 - 2.0 * natural[1];  // 0, not −0, where there is none
    if (!(std::isfinite(precision) && precision > 0.0)) return fmt::format("precision {} is not positive", precision);
    return {};
}

Vector Normal::mean(const VectorView& natural) const {
    const auto [mean, variance] = unpack(natural);
    return Vector{{mean, mean * mean + variance}};
}

Vector Normal::natural_from_mean(const VectorView& mean) const {
    detail::require_size(name, "mean parameter", mean.size(), size());
    const double variance = mean[1] - mean[0] * mean[0];
    return natural_from_standard(Vector{{mean[0], variance}});
}

Vector Normal::natural_from_standard(const VectorView& standard) const {
    detail::require_size(name, "standard parameter", standard.size(), size());
    detail::require_finite(name, "mean", standard[0]);
    detail::require_positive(name, "variance", standard[1]);
    return Vector{{standard[0] / standard[1], -0.5 / standard[1]}};
}

Vector Normal::standard(const VectorView& natural) const {
    const auto [mean, variance] = unpack(natural);
    return Vector{{mean, variance}};
}

double Normal::log_partition(const VectorView& natural) const {
    const auto [mean, variance] = unpack(natural);
    return 0.5 * (natural[0] * mean + kLogTwoPi + std::log(variance));
}

double Normal::entropy(const VectorView& natural) const {
    return 0.5 * (1.0 + kLogTwoPi + std::log(unpack(natural).variance));
}

Matrix Normal::covariance(const VectorView& natural) const {
    const auto [mean, variance] = unpack(natural);
    const double cross = 2.0 * mean * variance;
    return Matrix{{variance, cross}, {cross, 2.0 * variance * (2.0 * mean * mean + variance)}};
}

Matrix Normal::covariance_factor(const VectorView& natural) const {
    const auto [mean, variance] = unpack(natural);
    const double sd = std::sqrt(variance);
    return Matrix{{sd, 0.0}, {2.0 * mean * sd, std::numbers::sqrt2 * variance}};
}

Vector Normal::sample(const VectorView& natural, Random& random) const {
    const auto [mean, variance] = unpack(natural);
    return statistic(Vector::Constant(1, mean + std::sqrt(variance) * random.normal()));
}

Vector Normal::statistic(const VectorView& value) const {
    detail::require_size(name, "value", value.size(), 1);
    detail::require_finite(name, "value", value[0]);
    return Vector{{value[0], value[0] * value[0]}};
}

StatisticProduct Normal::product(Index i, Index j) const {
    return i == 0 && j == 0 ? StatisticProduct::of(1) : StatisticProduct::none();
}

Vector Normal::reference_natural() const {
    return Vector{{0.0, -0.5}};
}

}  // namespace lrvb::family
