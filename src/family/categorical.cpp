#include "base/validate.hpp"

#include <lrvb/family/categorical.hpp>

#include <cmath>

namespace lrvb::family {

Categorical::Categorical(Index labels) : labels_(labels) {
    detail::require_at_least(name, "number of labels", labels, 2);
}

std::vector<std::string> Categorical::statistic_names(const std::string& variable) const {
    std::vector<std::string> names;
    for (Index k = 0; k < labels_; ++k) names.push_back(detail::indexed(variable, {k}));
    return names;
}

std::vector<std::string> Categorical::standard_names() const {
    return statistic_names("p");
}

std::string Categorical::domain_error(const VectorView& natural) const {
    for (Index k = 0; k < labels_; ++k) {
        if (!std::isfinite(natural[k])) return fmt::format("log probability of label {} is {}", k + 1, natural[k]);
    }
    return {};
}

Vector Categorical::mean(const VectorView& natural) const {
    const Vector weights = (natural.array() - natural.maxCoeff()).exp();
    return weights / weights.sum();
}

Vector Categorical::natural_from_mean(const VectorView& mean) const {
    return natural_from_standard(mean);
}

Vector Categorical::natural_from_standard(const VectorView& standard) const {
    detail::require_size(name, "parameter", standard.size(), labels_);
    for (Index k = 0; k < labels_; ++k) detail::require_positive(name, detail::indexed("p", {k}), standard[k]);
    const double total = standard.sum();
    if (std::abs(total - 1.0) > 1e-9) {
        throw std::invalid_argument(fmt::format("{}: p adds up to {}, but must add up to one", name, total));
    }
    return (standard / total).array().log();
}

Vector Categorical::standard(const VectorView& natural) const {
    return mean(natural);
}

double Categorical::log_partition(const VectorView& natural) const {
    const double largest = natural.maxCoeff();
    return largest + std::log((natural.array() - largest).exp().sum());
}

double Categorical::entropy(const VectorView& natural) const {
    const Vector p = mean(natural);
    const double normaliser = log_partition(natural);
    double sum = 0.0;
    for (Index k = 0; k < labels_; ++k) sum += p[k] * (normaliser - natural[k]);
    return sum;
}

Matrix Categorical::covariance(const VectorView& natural) const {
    const Matrix factor = covariance_factor(natural);
    return factor * factor.transpose();
}

Matrix Categorical::covariance_factor(const VectorView& natural) const {
    const Vector p = mean(natural);
    Vector tail(labels_);  // tail[k] = Σ_{j>k} p_j
    tail[labels_ - 1] = 0.0;
    for (Index k = labels_ - 2; k >= 0; --k) tail[k] = tail[k + 1] + p[k + 1];

    Matrix factor = Matrix::Zero(labels_, labels_ - 1);
    double tail_before = 1.0;
    for (Index k = 0; k < labels_ - 1; ++k) {
        // A label without probability, or with all that is left, has no variance of its own.
        if (p[k] > 0.0 && tail[k] > 0.0) {
            factor(k, k) = std::sqrt(p[k] * (tail[k] / tail_before));
            // p_i √(p_k/(q_k q_{k−1})) as (p_i/q_k) L_kk: 1/q_k alone overflows.
            factor.col(k).tail(labels_ - k - 1) = -factor(k, k) * (p.tail(labels_ - k - 1) / tail[k]);
        }
        tail_before = tail[k];
    }
    return factor;
}

Vector Categorical::sample(const VectorView& natural, Random& random) const {
    const Vector p = mean(natural);
    double left = random.uniform();
    Index label = 0;
    while (label < labels_ - 1 && left >= p[label]) left -= p[label++];
    return Vector::Unit(labels_, label);
}

Vector Categorical::statistic(const VectorView& value) const {
    detail::require_size(name, "value", value.size(), 1);
    const double label = value[0];
    if (!(label >= 0.0 && label < static_cast<double>(labels_) && label == std::floor(label))) {
        throw std::invalid_argument(
            fmt::format("{}: value is {}, but must be a label from 0 to {}", name, label, labels_ - 1));
    }
    return Vector::Unit(labels_, static_cast<Index>(label));
}

StatisticProduct Categorical::product(Index i, Index j) const {
    return i == j ? StatisticProduct::of(i) : StatisticProduct::zero();
}

Vector Categorical::reference_natural() const {
    return Vector::Constant(labels_, -std::log(static_cast<double>(labels_)));
}

}  // namespace lrvb::family
