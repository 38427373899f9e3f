#include "base/validate.hpp"

#include <lrvb/family/point.hpp>

#include <cmath>

namespace lrvb::family {

std::vector<std::string> Point::statistic_names(const std::string& variable) const {
    return {variable};
}

std::vector<std::string> Point::standard_names() const {
    return {"value"};
}

std::string Point::domain_error(const VectorView& natural) const {
    return std::isfinite(natural[0]) ? std::string() : fmt::format("the value is {}", natural[0]);
}

Vector Point::mean(const VectorView& natural) const {
    return natural;
}

Vector Point::natural_from_mean(const VectorView& mean) const {
    detail::require_size(name, "mean parameter", mean.size(), size());
    detail::require_finite(name, "mean", mean[0]);
    return mean;
}

Vector Point::natural_from_standard(const VectorView& standard) const {
    detail::require_size(name, "standard parameter", standard.size(), size());
    detail::require_finite(name, "value", standard[0]);
    return standard;
}

Vector Point::standard(const VectorView& natural) const {
    return natural;
}

double Point::log_partition(const VectorView& natural) const {
    return 0.5 * natural[0] * natural[0];
}

double Point::entropy(const VectorView& natural) const {
    return -0.5 * natural[0] * natural[0];
}

Matrix Point::covariance(const VectorView&) const {
    return Matrix::Ones(1, 1);
}

Matrix Point::covariance_factor(const VectorView&) const {
    return Matrix::Ones(1, 1);
}

Vector Point::sample(const VectorView& natural, Random& random) const {
    return Vector::Constant(1, natural[0] + random.normal());
}

Vector Point::statistic(const VectorView& value) const {
    detail::require_size(name, "value", value.size(), 1);
    detail::require_finite(name, "value", value[0]);
    return value;
}

StatisticProduct Point::product(Index, Index) const {
    return StatisticProduct::none();
}

Vector Point::reference_natural() const {
    return Vector::Zero(1);
}

}  // namespace lrvb::family
