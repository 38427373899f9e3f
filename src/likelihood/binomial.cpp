#include "family/special.hpp"
#include "likelihood/registry.hpp"
#include "likelihood/row_likelihood.hpp"

#include <fmt/format.h>

#include <cmath>
#include <numbers>

/// y successes of t trials, with p = g(η):
///
///     ℓ = log (t over y) + y log p + (t − y) log(1 − p)
///
///     logit     y η − t log(1 + e^η)
///     probit    y log Φ(η) + (t − y) log Φ(−η)
///     cloglog   y log(1 − exp(−e^η)) − (t − y) e^η
///
/// Bernoulli rows are those of one trial each; they are kept as binomial ones.
namespace lrvb::detail {

namespace {

class BinomialRows : public RowLikelihood {
  public:
    BinomialRows(std::shared_ptr<const Likelihood> likelihood, LikelihoodRows given)
        : RowLikelihood(std::move(likelihood), with_trials(given)), constants_(Vector::Zero(rows())) {
        if (given.trials.size() == 0) {
            for (Index n = 0; n < rows(); ++n) {
                require_row(y()[n] == 0.0 || y()[n] == 1.0, n, "the response is", y()[n], "0 or 1");
            }
            return;
        }
        for (Index n = 0; n < rows(); ++n) {
            const double t = trials(n);
            require_row(t >= 0.0 && is_whole(t), n, "the number of trials is", t, "a whole number and not negative");
            require_row(t <= kLargestCount, n, "the number of trials is", t, "at most 1e12");
            require_row(y()[n] >= 0.0 && is_whole(y()[n]), n, "the number of successes is", y()[n],
                        "a whole number and not negative");
            require_row(y()[n] <= t, n, "the number of successes is", y()[n], fmt::format("at most its trials, {}", t));
            constants_[n] = log_gamma(t + 1.0) - log_gamma(y()[n] + 1.0) - log_gamma(t - y()[n] + 1.0);
        }
    }

    double draw(Index row, double predictor, const Vector&, Random& random) const override {
        return draw_binomial(trials(row), likelihood().mean(predictor + offset_of(row)), random);
    }
    double guess(Index row) const override { return link_of((y()[row] + 0.5) / (trials(row) + 1.0)) - offset_of(row); }

  protected:
    virtual double link_of(double share) const = 0;
    double constant(Index row) const { return constants_[row]; }

  private:
    static LikelihoodRows with_trials(LikelihoodRows rows) {
        if (rows.trials.size() == 0) rows.trials = Vector::Ones(rows.y.size());
        return rows;
    }

    Vector constants_;
};

class LogitRows final : public BinomialRows {
  public:
    using BinomialRows::BinomialRows;

  protected:
    double link_of(double share) const override { return std::log(share / (1.0 - share)); }
    void block(Index first, Index count, const double* means, const double* variances, const Prepared&,
               Block& out) const override {
        static const NormalExpectation softplus(SmoothFunction::softplus);
        softplus.block(means, variances, static_cast<std::size_t>(count), out.data());
        for (Index i = 0; i < count; ++i) {
            const auto at = static_cast<std::size_t>(i);
            const Index n = first + i;
            for (std::size_t o = 0; o < kOrders; ++o) out[o * kFieldBlock + at] *= -trials(n);
            out[at] += y()[n] * means[at];
            out[kFieldBlock + at] += y()[n];
            out[at] += constant(n);
        }
    }
    std::array<double, 3> response_slope(Index, double mean, double, const Prepared&) const override {
        return {mean, 1.0, 0.0};
    }
};

class ProbitRows final : public BinomialRows {
  public:
    using BinomialRows::BinomialRows;

  protected:
    double link_of(double share) const override { return normal_quantile(share); }
    void block(Index first, Index count, const double* means, const double* variances, const Prepared&,
               Block& out) const override {
        for (Index i = 0; i < count; ++i) {
            const auto at = static_cast<std::size_t>(i);
            const double successes = y()[first + i];
            const double failures = trials(first + i) - successes;
            Derivatives sum{};
            if (successes > 0.0) {
                const Derivatives success = expectation()(means[at], variances[at]);
                for (std::size_t o = 0; o < kOrders; ++o) sum[o] += successes * success[o];
            }
            if (failures > 0.0) {
                const Derivatives failure = expectation()(-means[at], variances[at]);
                for (std::size_t o = 0; o < kOrders; ++o) sum[o] += (o % 2 == 0 ? failures : -failures) * failure[o];
            }
            for (std::size_t o = 0; o < kOrders; ++o) out[o * kFieldBlock + at] = sum[o];
            out[at] += constant(first + i);
        }
    }
    std::array<double, 3> response_slope(Index, double mean, double variance, const Prepared&) const override {
        const Derivatives success = expectation()(mean, variance);
        const Derivatives failure = expectation()(-mean, variance);
        return {success[0] - failure[0], success[1] + failure[1], success[2] - failure[2]};
    }

  private:
    static const NormalExpectation& expectation() {
        static const NormalExpectation of_log_cdf(SmoothFunction::log_normal_cdf);
        return of_log_cdf;
    }
};

class CloglogRows final : public BinomialRows {
  public:
    using BinomialRows::BinomialRows;

  protected:
    double link_of(double share) const override { return std::log(-std::log1p(-share)); }
    void block(Index first, Index count, const double* means, const double* variances, const Prepared&,
               Block& out) const override {
        expectation().block(means, variances, static_cast<std::size_t>(count), out.data());
        for (Index i = 0; i < count; ++i) {
            const auto at = static_cast<std::size_t>(i);
            const double successes = y()[first + i];
            const double failures = trials(first + i) - successes;
            const double failure = failures > 0.0 ? failures * std::exp(means[at] + 0.5 * variances[at]) : 0.0;
            for (std::size_t o = 0; o < kOrders; ++o) {
                double& value = out[o * kFieldBlock + at];
                value = successes * value - failure;
            }
            out[at] += constant(first + i);
        }
    }
    std::array<double, 3> response_slope(Index, double mean, double variance, const Prepared&) const override {
        const Derivatives success = expectation()(mean, variance);
        const double failure = std::exp(mean + 0.5 * variance);
        return {success[0] + failure, success[1] + failure, success[2] + failure};
    }

  private:
    static const NormalExpectation& expectation() {
        static const NormalExpectation of_log_success(SmoothFunction::log_success);
        return of_log_success;
    }
};

class Binomial final : public Likelihood {
  public:
    Binomial(std::string_view link, bool has_one_trial) : Likelihood(link), has_one_trial_(has_one_trial) {}

    std::string_view name() const override { return "binomial"; }
    std::string_view title() const override { return "binomial regression"; }
    const std::vector<std::string_view>& links() const override {
        static const std::vector<std::string_view> all{"logit", "probit", "cloglog"};
        return all;
    }

    bool has_trials() const override { return true; }
    bool has_one_trial() const override { return has_one_trial_; }
    std::optional<std::string> refusal(double y, std::optional<double> trials) const override {
        const auto is_count = [](double value) { return value >= 0.0 && is_whole(value); };
        if (!trials) {
            if (y == 0.0 || y == 1.0) return std::nullopt;
            return fmt::format("is {}, but {}", y,
                               has_one_trial_ ? "a bernoulli response is 0 or 1: choose another --family, or, where it "
                                                "has two values, name the one that is 1 by --success"
                                              : "without its failures it is 0 or 1: write cbind(successes, failures) ~ "
                                                "…");
        }
        if (!is_count(y)) {
            return fmt::format("is {}, but successes are whole and not negative: correct the row, or leave it out", y);
        }
        if (is_count(*trials - y)) return std::nullopt;
        return fmt::format("has {} failures, but these are whole and not negative: correct the row, or leave it out",
                           *trials - y);
    }
    OpenEnds open_ends(double y, double trials) const override { return {y == 0.0, y == trials}; }
    std::string_view telling_response() const override { return "both outcomes"; }

    VarianceFunction variance(const Vector&) const override { return {0.0, 1.0, -1.0}; }
    double cdf(double y, double eta, const Vector&) const override {
        return y < 0.0 ? 0.0 : y < 1.0 ? 1.0 - mean(eta) : 1.0;
    }
    bool is_discrete() const override { return true; }
    bool predicts_means() const override { return true; }
    double link_variance(double, const Vector&) const override {
        constexpr double pi = std::numbers::pi;
        if (link().name == "logit") return pi * pi / 3.0;
        return link().name == "probit" ? 1.0 : pi * pi / 6.0;
    }
    std::shared_ptr<const RowLikelihood> rows(LikelihoodRows rows) const override {
        if (link().name == "probit") return std::make_shared<ProbitRows>(shared_from_this(), std::move(rows));
        if (link().name == "cloglog") return std::make_shared<CloglogRows>(shared_from_this(), std::move(rows));
        return std::make_shared<LogitRows>(shared_from_this(), std::move(rows));
    }

  private:
    bool has_one_trial_;
};

}  // namespace

std::shared_ptr<const Likelihood> bernoulli_likelihood(std::string_view link) {
    return std::make_shared<Binomial>(link, true);
}

std::shared_ptr<const Likelihood> binomial_likelihood(std::string_view link) {
    return std::make_shared<Binomial>(link, false);
}

}  // namespace lrvb::detail
