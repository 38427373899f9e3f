#include "base/validate.hpp"
#include "family/special.hpp"

#include <lrvb/family/bernoulli.hpp>

#include <cmath>

namespace lrvb::family {

namespace {

double sigmoid(double x) {
    return x >= 0.0 ? 1.0 / (1.0 + std::exp(-x)) : std::exp(x) / (1.0 + std::exp(x));
}

}  // namespace

std::vector<std::string> Bernoulli::statistic_names(const std::string& variable) const {
    return {variable};
}

std::vector<std::string> Bernoulli::standard_names() const {
    return {"p"};
}

std::string Bernoulli::domain_error(const VectorView& natural) const {
    return std::isfinite(natural[0]) ? std::string{} : fmt::format("log odds are {}", natural[0]);
}

Vector Bernoulli::mean(const VectorView& natural) const {
    return Vector::Constant(1, sigmoid(natural[0]));
}

Vector Bernoulli::natural_from_mean(const VectorView& mean) const {
    return natural_from_standard(mean);
}

Vector Bernoulli::natural_from_standard(const VectorView& standard) const {
    detail::require_size(name, "parameter", standard.size(), 1);
    const double p = standard[0];
    if (!(p > 0.0 && p < 1.0)) {
        throw std::invalid_argument(fmt::format("{}: p is {}, but must lie strictly between 0 and 1", name, p));
    }
    return Vector::Constant(1, std::log(p) - std::log1p(-p));
}

Vector Bernoulli::standard(const VectorView& natural) const {
    return mean(natural);
}

double Bernoulli::log_partition(const VectorView& natural) const {
    return detail::softplus(natural[0]);
}

// −p log p − (1 − p) log(1 − p), in a form that only adds positive terms: with t = |η|, log(1 + e^−t) + t σ(−t).
double Bernoulli::entropy(const VectorView& natural) const {
    const double magnitude = std::abs(natural[0]);
    return detail::softplus(-magnitude) + magnitude * sigmoid(-magnitude);
}

Matrix Bernoulli::covariance(const VectorView& natural) const {
    return Matrix::Constant(1, 1, sigmoid(natural[0]) * sigmoid(-natural[0]));
}

Matrix Bernoulli::covariance_factor(const VectorView& natural) const {
    return covariance(natural).cwiseSqrt();
}

Vector Bernoulli::sample(const VectorView& natural, Random& random) const {
    return Vector::Constant(1, random.uniform() < sigmoid(natural[0]) ? 1.0 : 0.0);
}

Vector Bernoulli::statistic(const VectorView& value) const {
    detail::require_size(name, "value", value.size(), 1);
    if (value[0] != 0.0 && value[0] != 1.0) {
        throw std::invalid_argument(fmt::format("{}: value is {}, but must be 0 or 1", name, value[0]));
    }
    return value;
}

StatisticProduct Bernoulli::product(Index, Index) const {
    return StatisticProduct::of(0);
}

Vector Bernoulli::reference_natural() const {
    return Vector::Zero(1);
}

}  // namespace lrvb::family
