#include "family/special.hpp"
#include "likelihood/counts.hpp"
#include "likelihood/registry.hpp"
#include "likelihood/row_likelihood.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

/// Counts with mean m = exp(η) and variance m + m²/φ, by the parameter κ = 1/√φ, which is 0 for Poisson counts:
///
///     ℓ = c(y, φ) + y η − (y + φ) log(1 + e^{η − log φ}),    c = log Γ(y + φ) − log Γ(φ) − log y! − y log φ
///     ∂ℓ/∂φ = ψ(y + φ) − ψ(φ) − log(1 + e^{η − log φ}) − ℓ'/φ,    dφ/dκ = −2 φ/κ
///
/// Expectations under a normal η are those of log(1 + eˣ). Above φ, where y η and the logarithm would cancel,
///
///     ℓ = b(y, φ) − φ η − (y + φ) log(1 + e^{log φ − η}),   b = log Γ(y + φ) − log Γ(φ) − log y! + φ log φ
///
/// c and b depend on a row by its count alone: once for each different one.
namespace lrvb::detail {

namespace {

// Nearer to a Poisson count than numbers tell.
constexpr double kLeast = 1e-8;

double size_of(double kappa) {
    const double used = std::max(kappa, kLeast);
    return 1.0 / (used * used);
}

// E log(1 + eˣ) and its derivatives far below zero, to the last digit of what is left there: Σ ∓ E e^{kx} k^{o−1}.
bool is_far_below(double mean, double variance) {
    return mean + 4.5 * variance < -9.0;
}

Derivatives softplus_far_below(double mean, double variance) {
    Derivatives sums{};
    for (int k = 1; k <= 4; ++k) {
        double term = (k % 2 == 1 ? 1.0 : -1.0) / k * std::exp(k * mean + 0.5 * k * k * variance);
        for (double& sum : sums) {
            sum += term;
            term *= k;
        }
    }
    return sums;
}

class NegativeBinomialRows final : public RowLikelihood {
  public:
    NegativeBinomialRows(std::shared_ptr<const Likelihood> likelihood, LikelihoodRows given)
        : RowLikelihood(std::move(likelihood), std::move(given)) {
        require_counts(y());
        counts_.assign(y().begin(), y().end());
        std::sort(counts_.begin(), counts_.end());
        counts_.erase(std::unique(counts_.begin(), counts_.end()), counts_.end());
        for (const double count : y()) {
            place_.push_back(std::lower_bound(counts_.begin(), counts_.end(), count) - counts_.begin());
        }
        for (const double count : counts_) log_factorials_.push_back(log_gamma(count + 1.0));
    }

    double draw(Index row, double predictor, const Vector& theta, Random& random) const override {
        const double phi = size_of(theta[0]);
        const double log_mixing = random.log_gamma(phi) - std::log(phi);
        return draw_poisson(expected(row, predictor) * std::exp(log_mixing), random);
    }
    double guess(Index row) const override { return std::log(y()[row] + 0.5) - offset_of(row); }

  protected:
    // log φ, and of each different count c, ψ(y + φ) − ψ(φ) and b.
    Prepared prepare(const Vector& theta) const override {
        const double phi = size_of(theta[0]);
        const auto count = static_cast<Index>(counts_.size());
        Prepared prepared{theta, Vector(1 + 3 * count)};
        prepared.numbers[0] = std::log(phi);
        for (Index i = 0; i < count; ++i) {
            const double y = counts_[static_cast<std::size_t>(i)];
            prepared.numbers[1 + i] =
                y > 0.0 ? log_gamma_rise_beyond_power(phi, y) - log_factorials_[static_cast<std::size_t>(i)] : 0.0;
            prepared.numbers[1 + count + i] = y > 0.0 ? digamma_rise(phi, y) : 0.0;
            // log Γ(y + φ) − log y!, by what one is above the other.
            const double rise = phi > 1.0   ? log_gamma_rise(y + 1.0, phi - 1.0)
                                : phi < 1.0 ? -log_gamma_rise(y + phi, 1.0 - phi)
                                            : 0.0;
            prepared.numbers[1 + 2 * count + i] = rise - log_gamma(phi) + phi * std::log(phi);
        }
        return prepared;
    }
    void block(Index first, Index count, const double* means, const double* variances, const Prepared& prepared,
               Block& out) const override {
        static const NormalExpectation softplus(SmoothFunction::softplus);
        const double phi = size_of(prepared.theta[0]);
        std::array<double, kFieldBlock> below{};
        for (Index i = 0; i < count; ++i) {
            below[static_cast<std::size_t>(i)] = -std::abs(means[i] - prepared.numbers[0]);
        }
        softplus.block(below.data(), variances, static_cast<std::size_t>(count), out.data());
        for (Index i = 0; i < count; ++i) {
            const auto at = static_cast<std::size_t>(i);
            const double observed = y()[first + i];
            if (is_far_below(below[at], variances[at])) {
                const Derivatives far = softplus_far_below(below[at], variances[at]);
                for (std::size_t o = 0; o < kOrders; ++o) out[o * kFieldBlock + at] = far[o];
            }
            const bool is_above = means[at] > prepared.numbers[0];
            double factor = -(observed + phi);
            for (std::size_t o = 0; o < kOrders; ++o) {
                out[o * kFieldBlock + at] *= factor;
                if (is_above) factor = -factor;
            }
            out[at] += is_above ? upper_constant(first + i, prepared) - phi * means[at]
                                : constant(first + i, prepared) + observed * means[at];
            out[kFieldBlock + at] += is_above ? -phi : observed;
        }
    }
    void add_parameter_gradient(Index row, double weight, double mean, double, const Prepared& prepared,
                                const std::array<double, 3>& terms, Vector& gradient) const override {
        const double kappa = std::max(prepared.theta[0], kLeast);
        const double phi = size_of(kappa);
        const double observed = y()[row];
        const bool is_above = mean > prepared.numbers[0];
        const double softplus = is_above
                                    ? mean - prepared.numbers[0] +
                                          (upper_constant(row, prepared) - phi * mean - terms[0]) / (observed + phi)
                                    : (constant(row, prepared) + observed * mean - terms[0]) / (observed + phi);
        const Index place = 1 + static_cast<Index>(counts_.size()) + place_[static_cast<std::size_t>(row)];
        const double by_phi = prepared.numbers[place] - softplus - terms[1] / phi;
        gradient[0] -= weight * 2.0 * phi / kappa * by_phi;
    }
    // With y as a real number: ψ(y + φ) − ψ(y + 1) − log φ + η − log(1 + e^{η − log φ}).
    std::array<double, 3> response_slope(Index row, double mean, double variance,
                                         const Prepared& prepared) const override {
        static const NormalExpectation softplus(SmoothFunction::softplus);
        const double phi = size_of(prepared.theta[0]);
        const Derivatives at = softplus(mean - prepared.numbers[0], variance);
        const double constant = digamma(y()[row] + phi) - digamma(y()[row] + 1.0) - prepared.numbers[0];
        return {constant + mean - at[0], 1.0 - at[1], -at[2]};
    }

  private:
    double upper_constant(Index row, const Prepared& prepared) const {
        return prepared.numbers[1 + 2 * static_cast<Index>(counts_.size()) + place_[static_cast<std::size_t>(row)]];
    }
    double constant(Index row, const Prepared& prepared) const {
        return prepared.numbers[1 + place_[static_cast<std::size_t>(row)]];
    }

    std::vector<double> counts_;  // the different ones
    std::vector<double> log_factorials_;
    std::vector<Index> place_;  // of a row's count among them
};

class NegativeBinomial final : public Likelihood {
  public:
    explicit NegativeBinomial(std::string_view link)
        : Likelihood(link, {{.name = "1/sqrt(phi)",
                             .psi_name = "log_1/sqrt(phi)",
                             .meaning = "the overdispersion 1/sqrt(phi)",
                             .prior = ScalePrior::half_normal(1.0),
                             .guess = 0.7,
                             .starts = {{0.05, 0.0}},
                             .powers = {{.name = "phi", .exponent = -2.0, .has_moments = false}}}}) {}

    std::string_view name() const override { return "negative_binomial"; }
    std::string_view title() const override { return "negative binomial regression"; }
    const std::vector<std::string_view>& links() const override {
        static const std::vector<std::string_view> all{"log"};
        return all;
    }
    std::optional<std::string> refusal(double y, std::optional<double>) const override { return count_refusal(y); }
    OpenEnds open_ends(double y, double) const override { return {y == 0.0, false}; }
    std::string_view telling_response() const override { return "a count above zero"; }
    // Where no response is above zero, half of one.
    double intercept_guess(double mean) const override { return std::log(mean); }

    VarianceFunction variance(const Vector& theta) const override { return {0.0, 1.0, theta[0] * theta[0]}; }
    double cdf(double y, double eta, const Vector& theta) const override {
        if (y < 0.0) return 0.0;
        const double mean = std::exp(eta);
        if (theta[0] < 1e-6) return poisson_cdf(y, mean);
        return negative_binomial_cdf(y, mean, 1.0 / (theta[0] * theta[0]));
    }
    bool is_discrete() const override { return true; }
    double link_variance(double mean, const Vector& theta) const override {
        return std::log1p(1.0 / mean + theta[0] * theta[0]);
    }
    std::shared_ptr<const RowLikelihood> rows(LikelihoodRows rows) const override {
        return std::make_shared<NegativeBinomialRows>(shared_from_this(), std::move(rows));
    }
};

}  // namespace

std::shared_ptr<const Likelihood> negative_binomial_likelihood(std::string_view link) {
    return std::make_shared<NegativeBinomial>(link);
}

}  // namespace lrvb::detail
