#include "model/field/likelihood.hpp"

#include "base/parallel.hpp"
#include "family/special.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <stdexcept>
#include <utility>

namespace lrvb::detail {

namespace {

constexpr Index kTaskRows = 16 * static_cast<Index>(kFieldBlock);

std::optional<NormalExpectation> expectation_of(RowKind kind) {
    switch (kind) {
        case RowKind::logit:
            return NormalExpectation(SmoothFunction::softplus);
        case RowKind::probit:
            return NormalExpectation(SmoothFunction::log_normal_cdf);
        case RowKind::cloglog:
            return NormalExpectation(SmoothFunction::log_success);
        case RowKind::student:
            return NormalExpectation(SmoothFunction::log_square);
        case RowKind::poisson:
            break;
    }
    return std::nullopt;
}

// Beyond, nothing is left of a sum of log likelihoods but rounding.
constexpr double kLargestCount = 1e12;

// log p(y) of a Poisson count at its best rate: y log y − y − log y!, by Stirling's series where these are large.
double saturated_poisson(double y) {
    if (y < 1e5) return (y > 0.0 ? y * std::log(y) : 0.0) - y - log_gamma(y + 1.0);
    const double inverse = 1.0 / y;
    return -0.5 * std::log(2.0 * std::numbers::pi * y) - inverse * (1.0 / 12.0 - inverse * inverse / 360.0);
}

bool is_whole(double value) {
    return value == std::floor(value);
}

void require_row(bool fine, Index row, const char* what, double value, const char* must) {
    if (fine) return;
    throw std::invalid_argument(fmt::format("row {}: {} {}, but must be {}", row + 1, what, value, must));
}

// log t_ν's constant, without the scale.
double student_constant(double nu) {
    return log_gamma_rise(0.5 * nu, 0.5) - 0.5 * std::log(nu * std::numbers::pi);
}

double student_constant_change(double nu) {
    return 0.5 * digamma_rise(0.5 * nu, 0.5) - 0.5 / nu;
}

double scale_constant(RowKind kind, const RowScale& scale) {
    return kind == RowKind::student ? student_constant(scale.nu) - std::log(scale.sigma) : 0.0;
}

// Counts of arrivals within a time that is cut by gammas while it is long (Ahrens and Dieter 1974).
double draw_poisson(double rate, Random& random) {
    double count = 0.0;
    while (rate > 30.0) {
        const double shape = std::floor(0.875 * rate);
        const double arrival = std::exp(random.log_gamma(shape));
        if (arrival > rate) {
            // The rest are uniform below that arrival: binomial.
            double within = 0.0;
            const double chance = rate / arrival;
            for (double i = 1.0; i < shape; i += 1.0) within += random.uniform() < chance ? 1.0 : 0.0;
            return count + within;
        }
        count += shape;
        rate -= arrival;
    }
    double product = random.uniform();
    for (const double least = std::exp(-rate); product > least; product *= random.uniform()) count += 1.0;
    return count;
}

}  // namespace

void LikelihoodTerms::resize(Index rows) {
    value.resize(rows);
    first.resize(rows);
    second.resize(rows);
    third.resize(rows);
    fourth.resize(rows);
}

RowLikelihood::RowLikelihood(RowKind kind, Vector y, Vector trials, Vector offset, Vector weights)
    : kind_(kind),
      y_(std::move(y)),
      trials_(std::move(trials)),
      offset_(std::move(offset)),
      weights_(std::move(weights)),
      constants_(Vector::Zero(y_.size())),
      expectation_(expectation_of(kind)) {
    const Index rows = y_.size();
    const bool binary = trials_.size() == 0;
    if (binary) trials_ = Vector::Ones(rows);
    if (weights_.size() == 0) weights_ = Vector::Ones(rows);
    if (kind == RowKind::poisson) log_counts_.resize(rows);
    for (Index n = 0; n < rows; ++n) {
        require_row(std::isfinite(y_[n]), n, "the response is", y_[n], "a finite number");
        require_row(std::isfinite(weights_[n]) && weights_[n] >= 0.0, n, "the weight is", weights_[n],
                    "finite and not negative");
        if (offset_.size() > 0) require_row(std::isfinite(offset_[n]), n, "the offset is", offset_[n], "finite");
        if (kind == RowKind::student) continue;
        if (kind == RowKind::poisson) {
            require_row(y_[n] >= 0.0 && is_whole(y_[n]), n, "the count is", y_[n], "a whole number and not negative");
            require_row(y_[n] <= kLargestCount, n, "the count is", y_[n],
                        "at most 1e12: fit the logarithm of larger ones");
            constants_[n] = saturated_poisson(y_[n]);
            log_counts_[n] = std::log(y_[n]);
            continue;
        }
        if (binary) {
            require_row(y_[n] == 0.0 || y_[n] == 1.0, n, "the response is", y_[n], "0 or 1");
            continue;
        }
        require_row(trials_[n] >= 0.0 && is_whole(trials_[n]), n, "the number of trials is", trials_[n],
                    "a whole number and not negative");
        require_row(trials_[n] <= kLargestCount, n, "the number of trials is", trials_[n], "at most 1e12");
        require_row(y_[n] >= 0.0 && is_whole(y_[n]), n, "the number of successes is", y_[n],
                    "a whole number and not negative");
        require_row(y_[n] <= trials_[n], n, "the number of successes is", y_[n],
                    fmt::format("at most its trials, {}", trials_[n]).c_str());
        constants_[n] = log_gamma(trials_[n] + 1.0) - log_gamma(y_[n] + 1.0) - log_gamma(trials_[n] - y_[n] + 1.0);
    }
}

void RowLikelihood::set_precisions(const Vector& precisions) {
    roots_.resize(rows());
    for (Index n = 0; n < rows(); ++n) {
        if (precisions[n] == 0.0) weights_[n] = 0.0;
        roots_[n] = precisions[n] > 0.0 ? std::sqrt(precisions[n]) : 1.0;
        constants_[n] = std::log(roots_[n]);
    }
}

template <class Take>
void RowLikelihood::visit(const Vector& means, const Vector& variances, const RowScale& scale, int threads,
                          const Take& take) const {
    const double constant = scale_constant(kind_, scale);
    const Index tasks = (rows() + kTaskRows - 1) / kTaskRows;
    in_parallel(threads, tasks, [&](Index task) {
        std::array<double, kOrders * kFieldBlock> g;
        const Index end = std::min(rows(), (task + 1) * kTaskRows);
        for (Index first = task * kTaskRows; first < end; first += static_cast<Index>(kFieldBlock)) {
            const Index count = std::min<Index>(kFieldBlock, end - first);
            block(first, count, means.data() + first, variances.size() > 0 ? variances.data() + first : nullptr, scale,
                  constant, g);
            for (Index i = 0; i < count; ++i) take(first + i, g.data() + i);
        }
    });
}

void RowLikelihood::terms(const Vector& means, const Vector& variances, const RowScale& scale, int threads,
                          LikelihoodTerms& out) const {
    out.resize(rows());
    visit(means, variances, scale, threads, [&](Index n, const double* g) {
        const double w = weights_[n];
        // A row that does not count may be anywhere.
        const bool counts = w != 0.0;
        out.value[n] = counts ? w * g[0] : 0.0;
        out.first[n] = counts ? w * g[kFieldBlock] : 0.0;
        out.second[n] = counts ? w * g[2 * kFieldBlock] : 0.0;
        out.third[n] = counts ? w * g[3 * kFieldBlock] : 0.0;
        out.fourth[n] = counts ? w * g[4 * kFieldBlock] : 0.0;
    });
}

Vector RowLikelihood::log_likelihoods(Index first, const Vector& predictors, const RowScale& scale) const {
    const double constant = scale_constant(kind_, scale);
    Vector result(predictors.size());
    std::array<double, kOrders * kFieldBlock> g;
    for (Index begin = 0; begin < result.size(); begin += static_cast<Index>(kFieldBlock)) {
        const Index count = std::min<Index>(kFieldBlock, result.size() - begin);
        block(first + begin, count, predictors.data() + begin, nullptr, scale, constant, g);
        for (Index i = 0; i < count; ++i) result[begin + i] = g[static_cast<std::size_t>(i)];
    }
    return result;
}

RowLikelihood::RowSlopes RowLikelihood::by_weight(const Vector& means, const Vector& variances, const RowScale& scale,
                                                  int threads) const {
    RowSlopes result{Vector(rows()), Vector(rows()), Vector(rows())};
    visit(means, variances, scale, threads, [&](Index n, const double* g) {
        result.value[n] = g[0];
        result.by_mean[n] = g[kFieldBlock];
        result.by_variance[n] = 0.5 * g[2 * kFieldBlock];
    });
    return result;
}

// ∂ℓ/∂y: the predictor itself, up to constants, where the link is canonical; the log odds; −ℓ' of Student's.
RowLikelihood::RowSlopes RowLikelihood::by_response(const Vector& means, const Vector& variances, const RowScale& scale,
                                                    int threads) const {
    RowSlopes result{Vector(rows()), Vector(rows()), Vector(rows())};
    const auto offset = [&](Index n) { return offset_.size() > 0 ? offset_[n] : 0.0; };
    for (Index n = 0; n < rows(); ++n) {
        const double mu = means[n] + offset(n);
        const double v = variances[n];
        const double w = weights_[n];
        if (kind_ == RowKind::logit || kind_ == RowKind::poisson) {
            result.value[n] = w * mu;
            result.by_mean[n] = w;
            result.by_variance[n] = 0.0;
        } else if (kind_ == RowKind::probit) {
            const Derivatives success = (*expectation_)(mu, v);
            const Derivatives failure = (*expectation_)(-mu, v);
            result.value[n] = w * (success[0] - failure[0]);
            result.by_mean[n] = w * (success[1] + failure[1]);
            result.by_variance[n] = 0.5 * w * (success[2] - failure[2]);
        } else if (kind_ == RowKind::cloglog) {
            const Derivatives success = (*expectation_)(mu, v);
            const double failure = std::exp(mu + 0.5 * v);
            result.value[n] = w * (success[0] + failure);
            result.by_mean[n] = w * (success[1] + failure);
            result.by_variance[n] = 0.5 * w * (success[2] + failure);
        }
    }
    if (kind_ != RowKind::student) return result;
    visit(means, variances, scale, threads, [&](Index n, const double* g) {
        result.value[n] = -weights_[n] * g[kFieldBlock];
        result.by_mean[n] = -weights_[n] * g[2 * kFieldBlock];
        result.by_variance[n] = -0.5 * weights_[n] * g[3 * kFieldBlock];
    });
    return result;
}

void RowLikelihood::block(Index first, Index rows, const double* means, const double* variances, const RowScale& scale,
                          double constant, std::array<double, kOrders * kFieldBlock>& out) const {
    using Block = std::array<double, kFieldBlock>;
    Block mu{};
    Block v{};
    const double unit = 1.0 / (scale.sigma * std::sqrt(scale.nu));
    for (Index i = 0; i < rows; ++i) {
        const auto at = static_cast<std::size_t>(i);
        const Index n = first + i;
        mu[at] = means[i] + (offset_.size() > 0 ? offset_[n] : 0.0);
        v[at] = variances != nullptr ? variances[i] : 0.0;
        if (kind_ == RowKind::student) {
            const double own_unit = roots_.size() > 0 ? unit * roots_[n] : unit;
            mu[at] = (y_[n] - mu[at]) * own_unit;
            v[at] *= own_unit * own_unit;
        }
    }
    if (expectation_ && kind_ != RowKind::probit) {
        expectation_->block(mu.data(), v.data(), static_cast<std::size_t>(rows), out.data());
    }
    if (kind_ == RowKind::logit) {
        using Column = Eigen::Map<Eigen::ArrayXd>;
        const auto order = [&](std::size_t o) { return Column(out.data() + o * kFieldBlock, rows); };
        const Eigen::ArrayXd trials = trials_.segment(first, rows);
        const Eigen::ArrayXd y = y_.segment(first, rows);
        for (std::size_t o = 0; o < kOrders; ++o) order(o) *= -trials;
        order(0) += y * Column(mu.data(), rows);
        order(1) += y;
        order(0) += constants_.segment(first, rows).array() + constant;
        return;
    }
    for (Index i = 0; i < rows; ++i) {
        const auto at = static_cast<std::size_t>(i);
        const Index n = first + i;
        const double y = y_[n];
        const double t = trials_[n];
        const auto order = [&](std::size_t o) -> double& { return out[o * kFieldBlock + at]; };
        switch (kind_) {
            case RowKind::logit:
                break;
            case RowKind::probit: {
                Derivatives sum{};
                if (y > 0.0) {
                    const Derivatives success = (*expectation_)(mu[at], v[at]);
                    for (std::size_t o = 0; o < kOrders; ++o) sum[o] += y * success[o];
                }
                if (t > y) {
                    const Derivatives failure = (*expectation_)(-mu[at], v[at]);
                    for (std::size_t o = 0; o < kOrders; ++o) sum[o] += (o % 2 == 0 ? t - y : y - t) * failure[o];
                }
                for (std::size_t o = 0; o < kOrders; ++o) order(o) = sum[o];
                break;
            }
            case RowKind::cloglog: {
                const double failure = t > y ? (t - y) * std::exp(mu[at] + 0.5 * v[at]) : 0.0;
                for (std::size_t o = 0; o < kOrders; ++o) order(o) = y * order(o) - failure;
                break;
            }
            case RowKind::poisson: {
                const double rate = std::exp(mu[at] + 0.5 * v[at]);
                for (std::size_t o = 0; o < kOrders; ++o) order(o) = -rate;
                if (y > 0.0) {
                    // About the best rate: y μ and the rate itself would cancel.
                    const double away = mu[at] - log_counts_[n];
                    const double excess = std::expm1(away + 0.5 * v[at]);
                    order(0) = y * (away - excess);
                    order(1) = -y * excess;
                }
                break;
            }
            case RowKind::student: {
                const double own_unit = roots_.size() > 0 ? unit * roots_[n] : unit;
                double factor = -0.5 * (scale.nu + 1.0);
                for (std::size_t o = 0; o < kOrders; ++o, factor *= -own_unit) order(o) *= factor;
                break;
            }
        }
        order(0) += constants_[n] + constant;
    }
}

// ℓ depends on σ by (y − η)/σ, so E ∂ℓ/∂log σ = −1 + E (y − η) ℓ' = −1 + (y − μ) E ℓ' − v E ℓ''; and ν scales too.
RowLikelihood::ScaleGradient RowLikelihood::row_scale_gradient(Index row, double mean, double variance,
                                                               const RowScale& scale, double value, double first,
                                                               double second) const {
    const double residual = y_[row] - mean - (offset_.size() > 0 ? offset_[row] : 0.0);
    const double stretch = residual * first - variance * second;
    const double log_part =
        (value - constants_[row] - student_constant(scale.nu) + std::log(scale.sigma)) / (scale.nu + 1.0);
    return {stretch - 1.0, student_constant_change(scale.nu) + log_part + stretch / (2.0 * scale.nu)};
}

RowLikelihood::ScaleGradient RowLikelihood::scale_gradient(const Vector& means, const Vector& variances,
                                                           const RowScale& scale, const LikelihoodTerms& terms) const {
    ScaleGradient sum;
    if (kind_ != RowKind::student) return sum;
    for (Index n = 0; n < rows(); ++n) {
        const double w = weights_[n];
        if (w == 0.0) continue;
        const ScaleGradient row = row_scale_gradient(n, means[n], variances.size() > 0 ? variances[n] : 0.0, scale,
                                                     terms.value[n] / w, terms.first[n] / w, terms.second[n] / w);
        sum.log_sigma += w * row.log_sigma;
        sum.nu += w * row.nu;
    }
    return sum;
}

double RowLikelihood::expected(Index row, double predictor) const {
    const double eta = predictor + (offset_.size() > 0 ? offset_[row] : 0.0);
    switch (kind_) {
        case RowKind::logit:
            return trials_[row] * derivatives(SmoothFunction::softplus, eta)[1];
        case RowKind::probit:
            return trials_[row] * 0.5 * std::erfc(-eta / std::numbers::sqrt2);
        case RowKind::cloglog:
            return -trials_[row] * std::expm1(-std::exp(eta));
        case RowKind::poisson:
            return std::exp(eta);
        case RowKind::student:
            return eta;
    }
    return eta;
}

double RowLikelihood::draw(Index row, double predictor, const RowScale& scale, Random& random) const {
    const double about = expected(row, predictor);
    if (kind_ == RowKind::student) {
        const double log_mixing = random.log_gamma(0.5 * scale.nu) - std::log(0.5 * scale.nu);
        const double sigma = roots_.size() > 0 ? scale.sigma / roots_[row] : scale.sigma;
        return about + sigma * random.normal() * std::exp(-0.5 * log_mixing);
    }
    if (kind_ == RowKind::poisson) return draw_poisson(about, random);
    const double chance = trials_[row] > 0.0 ? about / trials_[row] : 0.0;
    double successes = 0.0;
    for (double i = 0.0; i < trials_[row]; i += 1.0) successes += random.uniform() < chance ? 1.0 : 0.0;
    return successes;
}

double RowLikelihood::guess(Index row) const {
    const double offset = offset_.size() > 0 ? offset_[row] : 0.0;
    if (kind_ == RowKind::student) return y_[row] - offset;
    if (kind_ == RowKind::poisson) return std::log(y_[row] + 0.5) - offset;
    const double share = (y_[row] + 0.5) / (trials_[row] + 1.0);
    switch (kind_) {
        case RowKind::probit:
            return normal_quantile(share) - offset;
        case RowKind::cloglog:
            return std::log(-std::log1p(-share)) - offset;
        default:
            return std::log(share / (1.0 - share)) - offset;
    }
}

}  // namespace lrvb::detail
