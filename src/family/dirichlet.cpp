#include "base/compensated_sum.hpp"
#include "base/validate.hpp"
#include "family/special.hpp"

#include <lrvb/family/dirichlet.hpp>

#include <algorithm>
#include <cmath>

namespace lrvb::family {

namespace {

// Σ_{j≠k} α_j, added up and not subtracted from the total: a part that holds nearly all the weight is an ordinary
// input.
Vector weight_of_others(const Vector& alpha) {
    Vector others = Vector::Zero(alpha.size());
    double before = 0.0;
    double after = 0.0;
    for (Index k = 0, l = alpha.size() - 1; l >= 0; ++k, --l) {
        others[k] += before;
        others[l] += after;
        before += alpha[k];
        after += alpha[l];
    }
    return others;
}

}  // namespace

Dirichlet::Dirichlet(Index parts) : parts_(parts) {
    detail::require_at_least(name, "number of parts", parts, 2);
}

std::vector<std::string> Dirichlet::statistic_names(const std::string& variable) const {
    std::vector<std::string> names;
    for (Index k = 0; k < parts_; ++k) names.push_back("log_" + detail::indexed(variable, {k}));
    return names;
}

std::vector<std::string> Dirichlet::standard_names() const {
    std::vector<std::string> names;
    for (Index k = 0; k < parts_; ++k) names.push_back(detail::indexed("alpha", {k}));
    return names;
}

std::string Dirichlet::domain_error(const VectorView& natural) const {
    for (Index k = 0; k < parts_; ++k) {
        const double alpha = natural[k] + 1.0;
        if (!(std::isfinite(alpha) && alpha > 0.0)) return fmt::format("alpha[{}] {} is not positive", k + 1, alpha);
    }
    return {};
}

Vector Dirichlet::mean(const VectorView& natural) const {
    const Vector alpha = standard(natural);
    const Vector others = weight_of_others(alpha);
    Vector mean(parts_);
    for (Index k = 0; k < parts_; ++k) mean[k] = -detail::digamma_rise(alpha[k], others[k]);
    return mean;
}

// Given s = ψ(α_0), every α_k = ψ⁻¹(m_k + s); what is left is one equation, Σ_k α_k(s) = ψ⁻¹(s), in one unknown. Where
// α_0 is large both sides agree to first order, so it is solved as Newton in log α_0 on the log of the ratio. That
// loses digits where one m_k is far smaller than s; Newton in all of α, with V = LLᵀ and residuals in the means,
// restores them.
Vector Dirichlet::natural_from_mean(const VectorView& mean) const {
    detail::require_size(name, "mean parameter", mean.size(), size());
    const double gap = detail::require_means_of_log_parts(name, mean);
    // For large α_0, Σ exp m_k ≈ 1 − (K − 1)/(2α_0): the start.
    double total = 0.5 * static_cast<double>(parts_ - 1) / gap;
    Vector alpha(parts_);
    for (int iteration = 0; iteration < 200; ++iteration) {
        const double s = detail::digamma(total);
        double slope = 0.0;
        for (Index k = 0; k < parts_; ++k) {
            alpha[k] = detail::inverse_digamma(mean[k] + s);
            slope += 1.0 / detail::trigamma(alpha[k]);
        }
        const double sum = alpha.sum();
        // d log(Σα_k)/d log α_0 = α_0 ψ'(α_0) Σ 1/ψ'(α_k) / Σα_k, below one.
        const double derivative = total * detail::trigamma(total) * slope / sum;
        const double step = std::log(sum / total) / (1.0 - derivative);
        if (!std::isfinite(step)) break;
        total *= std::exp(std::clamp(step, -2.0, 2.0));
        if (std::abs(step) <= 1e-15) break;
    }
    for (int iteration = 0; iteration < 4; ++iteration) {
        const Vector natural = alpha.array() - 1.0;
        const Matrix factor = covariance_factor(natural);
        const Vector whitened = factor.triangularView<Eigen::Lower>().solve(mean - this->mean(natural));
        const Vector next = alpha + factor.transpose().triangularView<Eigen::Upper>().solve(whitened);
        if (!(next.allFinite() && next.minCoeff() > 0.0)) break;
        alpha = next;
        if (whitened.norm() <= 1e-14) break;
    }
    return alpha.array() - 1.0;
}

Vector Dirichlet::natural_from_standard(const VectorView& standard) const {
    detail::require_size(name, "standard parameter", standard.size(), size());
    for (Index k = 0; k < parts_; ++k) detail::require_positive(name, detail::indexed("alpha", {k}), standard[k]);
    return standard.array() - 1.0;
}

Vector Dirichlet::standard(const VectorView& natural) const {
    return natural.array() + 1.0;
}

double Dirichlet::log_partition(const VectorView& natural) const {
    const Vector alpha = standard(natural);
    Index largest = 0;
    const double weight = alpha.maxCoeff(&largest);
    // log Γ(α_0) and log Γ of the largest part cancel where that part holds nearly all the weight.
    double sum = -detail::log_gamma_rise(weight, weight_of_others(alpha)[largest]);
    for (Index k = 0; k < parts_; ++k) {
        if (k != largest) sum += detail::log_gamma(alpha[k]);
    }
    return sum;
}

// A Dirichlet is independent Gammas divided by their sum, and the sum is an independent Gamma.
double Dirichlet::entropy(const VectorView& natural) const {
    const Vector alpha = standard(natural);
    const double total = alpha.sum();
    detail::CompensatedSum sum;  // many parts of few counts cancel
    sum.add(-detail::gamma_entropy(total));
    sum.add(-static_cast<double>(parts_ - 1) * detail::digamma(total));
    for (Index k = 0; k < parts_; ++k) sum.add(detail::gamma_entropy(alpha[k]));
    return sum.value();
}

Matrix Dirichlet::covariance(const VectorView& natural) const {
    const Vector alpha = standard(natural);
    const Vector others = weight_of_others(alpha);
    Matrix covariance = Matrix::Constant(parts_, parts_, -detail::trigamma(alpha.sum()));
    for (Index k = 0; k < parts_; ++k) covariance(k, k) = detail::trigamma_fall(alpha[k], others[k]);
    return covariance;
}

Matrix Dirichlet::covariance_factor(const VectorView& natural) const {
    const Vector alpha = standard(natural);
    // remaining[k] = Σ_{j≥k} α_j, from the end; R_k = remaining[k] + Σ_{j<k} d(α_j) − d(α_0).
    Vector remaining(parts_ + 1);
    remaining[parts_] = 0.0;
    for (Index k = parts_ - 1; k >= 0; --k) remaining[k] = remaining[k + 1] + alpha[k];
    const double deficit_of_total = detail::trigamma_deficit(remaining[0]);

    Matrix factor = Matrix::Zero(parts_, parts_);
    double deficits = 0.0;
    double here = remaining[0] - deficit_of_total;
    for (Index k = 0; k < parts_; ++k) {
        deficits += detail::trigamma_deficit(alpha[k]);
        const double next = remaining[k + 1] + (deficits - deficit_of_total);
        factor(k, k) = std::sqrt(detail::trigamma(alpha[k]) * next / here);
        factor.col(k).tail(parts_ - k - 1).setConstant(-1.0 / (here * factor(k, k)));
        here = next;
    }
    return factor;
}

Vector Dirichlet::sample(const VectorView& natural, Random& random) const {
    Vector log_draws(parts_);
    for (Index k = 0; k < parts_; ++k) log_draws[k] = random.log_gamma(natural[k] + 1.0);
    const double largest = log_draws.maxCoeff();
    const double log_sum = largest + std::log((log_draws.array() - largest).exp().sum());
    return log_draws.array() - log_sum;
}

Vector Dirichlet::statistic(const VectorView& value) const {
    detail::require_size(name, "value", value.size(), parts_);
    for (Index k = 0; k < parts_; ++k) detail::require_positive(name, detail::indexed("value", {k}), value[k]);
    if (std::abs(value.sum() - 1.0) > 1e-9) {
        throw std::invalid_argument(fmt::format("{}: value adds up to {}, but must add up to one", name, value.sum()));
    }
    return value.array().log();
}

StatisticProduct Dirichlet::product(Index, Index) const {
    return StatisticProduct::none();
}

Vector Dirichlet::reference_natural() const {
    return Vector::Zero(parts_);
}

}  // namespace lrvb::family
