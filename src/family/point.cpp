#include "base/validate.hpp"

#include <lrvb/family/point.hpp>

#include <cmath>

namespace lrvb::family {

Point::Point(double unit) : unit_(unit) {
    detail::require_positive(name, "unit", unit);
}

std::vector<std::string> Point::statistic_names(const std::string& variable) const {
    return {variable};
}

std::vector<std::string> Point::standard_names() const {
    if (unit_ == 1.0) return {"value"};
    return {"value", "unit"};
}

std::string Point::domain_error(const VectorView& natural) const {
    return std::isfinite(natural[0]) ? std::string() : fmt::format("the value is {}", natural[0]);
}

Vector Point::mean(const VectorView& natural) const {
    return unit_ * unit_ * natural;
}

Vector Point::natural_from_mean(const VectorView& mean) const {
    detail::require_size(name, "mean parameter", mean.size(), size());
    detail::require_finite(name, "mean", mean[0]);
    return mean / (unit_ * unit_);
}

Vector Point::natural_from_standard(const VectorView& standard) const {
    detail::require_size(name, "standard parameter", standard.size(), unit_ == 1.0 ? 1 : 2);
    detail::require_finite(name, "value", standard[0]);
    return standard.head(1) / (unit_ * unit_);
}

Vector Point::standard(const VectorView& natural) const {
    if (unit_ == 1.0) return natural;
    return Vector{{mean(natural)[0], unit_}};
}

double Point::log_partition(const VectorView& natural) const {
    return 0.5 * unit_ * unit_ * natural[0] * natural[0];
}

double Point::entropy(const VectorView& natural) const {
    return -log_partition(natural);
}

Matrix Point::covariance(const VectorView&) const {
    return Matrix::Constant(1, 1, unit_ * unit_);
}

Matrix Point::covariance_factor(const VectorView&) const {
    return Matrix::Constant(1, 1, unit_);
}

Vector Point::sample(const VectorView& natural, Random& random) const {
    return Vector::Constant(1, unit_ * (unit_ * natural[0] + random.normal()));
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
