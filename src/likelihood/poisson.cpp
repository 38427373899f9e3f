#include "family/special.hpp"
#include "likelihood/counts.hpp"
#include "likelihood/registry.hpp"
#include "likelihood/row_likelihood.hpp"

#include <fmt/format.h>

#include <cmath>
#include <numbers>

/// Counts with mean exp(η): ℓ = y η − e^η − log y!, and E exp(η) = exp(μ + v/2).
namespace lrvb::detail {

namespace {

// log p(y) of a Poisson count at its best rate: y log y − y − log y!, by Stirling's series where these are large.
double saturated_poisson(double y) {
    if (y < 1e5) return (y > 0.0 ? y * std::log(y) : 0.0) - y - log_gamma(y + 1.0);
    const double inverse = 1.0 / y;
    return -0.5 * std::log(2.0 * std::numbers::pi * y) - inverse * (1.0 / 12.0 - inverse * inverse / 360.0);
}

class PoissonRows final : public RowLikelihood {
  public:
    PoissonRows(std::shared_ptr<const Likelihood> likelihood, LikelihoodRows given)
        : RowLikelihood(std::move(likelihood), std::move(given)), constants_(rows()), log_counts_(rows()) {
        require_counts(y());
        for (Index n = 0; n < rows(); ++n) {
            constants_[n] = saturated_poisson(y()[n]);
            log_counts_[n] = std::log(y()[n]);
        }
    }

    double draw(Index row, double predictor, const Vector&, Random& random) const override {
        return draw_poisson(expected(row, predictor), random);
    }
    double guess(Index row) const override { return std::log(y()[row] + 0.5) - offset_of(row); }

  protected:
    void block(Index first, Index count, const double* means, const double* variances, const Prepared&,
               Block& out) const override {
        for (Index i = 0; i < count; ++i) {
            const auto at = static_cast<std::size_t>(i);
            const double observed = y()[first + i];
            const double rate = std::exp(means[at] + 0.5 * variances[at]);
            for (std::size_t o = 0; o < kOrders; ++o) out[o * kFieldBlock + at] = -rate;
            if (observed > 0.0) {
                // About the best rate: y μ and the rate itself would cancel.
                const double away = means[at] - log_counts_[first + i];
                const double excess = std::expm1(away + 0.5 * variances[at]);
                out[at] = observed * (away - excess);
                out[kFieldBlock + at] = -observed * excess;
            }
            out[at] += constants_[first + i];
        }
    }
    std::array<double, 3> response_slope(Index, double mean, double, const Prepared&) const override {
        return {mean, 1.0, 0.0};
    }

  private:
    Vector constants_;
    Vector log_counts_;
};

class Poisson final : public Likelihood {
  public:
    explicit Poisson(std::string_view link) : Likelihood(link) {}

    std::string_view name() const override { return "poisson"; }
    std::string_view title() const override { return "Poisson regression"; }
    const std::vector<std::string_view>& links() const override {
        static const std::vector<std::string_view> all{"log"};
        return all;
    }
    std::optional<std::string> refusal(double y, std::optional<double>) const override { return count_refusal(y); }
    OpenEnds open_ends(double y, double) const override { return {y == 0.0, false}; }
    std::string_view telling_response() const override { return "a count above zero"; }

    VarianceFunction variance(const Vector&) const override { return {0.0, 1.0, 0.0}; }
    double cdf(double y, double eta, const Vector&) const override { return poisson_cdf(y, std::exp(eta)); }
    bool is_discrete() const override { return true; }
    double link_variance(double mean, const Vector&) const override { return std::log1p(1.0 / mean); }
    std::shared_ptr<const RowLikelihood> rows(LikelihoodRows rows) const override {
        return std::make_shared<PoissonRows>(shared_from_this(), std::move(rows));
    }
};

}  // namespace

std::shared_ptr<const Likelihood> poisson_likelihood(std::string_view link) {
    return std::make_shared<Poisson>(link);
}

}  // namespace lrvb::detail
