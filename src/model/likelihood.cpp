#include "base/validate.hpp"
#include "family/special.hpp"

#include <lrvb/model/likelihood.hpp>

#include <cmath>

namespace lrvb::likelihood {

namespace {

void require_count(std::string_view who, std::string_view argument, double value) {
    if (std::isfinite(value) && value >= 0.0 && value == std::floor(value)) return;
    throw std::invalid_argument(
        fmt::format("{}: {} is {}, but must be a whole number, zero or more", who, argument, value));
}

}  // namespace

Vector Poisson::statistic(const VectorView& value) const {
    detail::require_size(name, "value", value.size(), 1);
    require_count(name, "value", value[0]);
    return value;
}

double Poisson::log_base(const VectorView& value) const {
    return -detail::log_gamma(value[0] + 1.0);
}

Vector Binomial::statistic(const VectorView& value) const {
    detail::require_size(name, "value", value.size(), 1);
    require_count(name, "value", value[0]);
    if (value[0] > static_cast<double>(trials)) {
        throw std::invalid_argument(fmt::format("{}: value is {}, but there are {} trials", name, value[0], trials));
    }
    return value;
}

double Binomial::log_base(const VectorView& value) const {
    const double n = static_cast<double>(trials);
    return detail::log_gamma(n + 1.0) - detail::log_gamma(value[0] + 1.0) - detail::log_gamma(n - value[0] + 1.0);
}

Vector Multinomial::statistic(const VectorView& value) const {
    detail::require_size(name, "value", value.size(), labels);
    for (Index k = 0; k < labels; ++k) require_count(name, detail::indexed("value", {k}), value[k]);
    return value;
}

double Multinomial::log_base(const VectorView& value) const {
    double sum = detail::log_gamma(value.sum() + 1.0);
    for (const double count : value) sum -= detail::log_gamma(count + 1.0);
    return sum;
}

Vector ExposedPoisson::statistic(const VectorView& value) const {
    detail::require_size(name, "value", value.size(), 2);
    require_count(name, "value", value[0]);
    detail::require_positive(name, "exposure", value[1]);
    return Vector{{value[0], -value[1]}};
}

double ExposedPoisson::log_base(const VectorView& value) const {
    return value[0] * std::log(value[1]) - detail::log_gamma(value[0] + 1.0);
}

}  // namespace lrvb::likelihood
