#include "likelihood/registry.hpp"
#include "likelihood/row_likelihood.hpp"

#include <cmath>
#include <numbers>

/// Normal rows, ℓ = −log σ − ½ log 2π − ½ (y − η)²/σ², which fold into cross-products (Likelihood::is_normal).
namespace lrvb::detail {

namespace {

class GaussianRows final : public RowLikelihood {
  public:
    GaussianRows(std::shared_ptr<const Likelihood> likelihood, LikelihoodRows rows)
        : RowLikelihood(std::move(likelihood), std::move(rows)) {}

    double draw(Index row, double predictor, const Vector& theta, Random& random) const override {
        return expected(row, predictor) + theta[0] / root_precision(row) * random.normal();
    }
    double guess(Index row) const override { return y()[row] - offset_of(row); }

  protected:
    void block(Index first, Index count, const double* means, const double* variances, const Prepared& prepared,
               Block& out) const override {
        for (Index i = 0; i < count; ++i) {
            const auto at = static_cast<std::size_t>(i);
            const double sd = prepared.theta[0] / root_precision(first + i);
            const double rest = (y()[first + i] - means[at]) / sd;
            out[at] = -std::log(sd) - 0.5 * std::log(2.0 * std::numbers::pi) -
                      0.5 * (rest * rest + variances[at] / (sd * sd));
            out[kFieldBlock + at] = rest / sd;
            out[2 * kFieldBlock + at] = -1.0 / (sd * sd);
            out[3 * kFieldBlock + at] = 0.0;
            out[4 * kFieldBlock + at] = 0.0;
        }
    }
    void add_parameter_gradient(Index row, double weight, double mean, double variance, const Prepared&,
                                const std::array<double, 3>& terms, Vector& gradient) const override {
        gradient[0] += weight * ((y()[row] - mean) * terms[1] - variance * terms[2] - 1.0);
    }
    std::array<double, 3> response_slope(Index row, double mean, double, const Prepared& prepared) const override {
        const double precision = std::pow(root_precision(row) / prepared.theta[0], 2);
        return {precision * (mean - y()[row]), precision, 0.0};
    }
};

class Gaussian final : public Likelihood {
  public:
    explicit Gaussian(std::string_view link) : Likelihood(link) {}

    std::string_view name() const override { return "gaussian"; }
    std::string_view title() const override { return "linear regression"; }
    const std::vector<std::string_view>& links() const override {
        static const std::vector<std::string_view> all{"identity"};
        return all;
    }
    std::optional<std::string> refusal(double, std::optional<double>) const override { return std::nullopt; }
    std::optional<std::string> suspicion(const std::vector<double>& values, double mean) const override {
        constexpr std::size_t most = 20;
        constexpr double small = 10.0;
        if (values.size() > most) return std::nullopt;
        bool whole = true;
        for (const double value : values) whole = whole && value >= 0.0 && is_whole(value);
        if (values.size() == 2) {
            return "has two values, but this fits a normal response: --family bernoulli fits one of 0 and 1";
        }
        if (!whole || mean >= small) return std::nullopt;
        return "has small counts, but this fits a normal response of one variance: --family poisson fits counts";
    }
    bool has_sigma() const override { return true; }
    bool is_normal() const override { return true; }
    VarianceFunction variance(const Vector& theta) const override { return {theta[0] * theta[0], 0.0, 0.0}; }
    double cdf(double y, double eta, const Vector& theta) const override {
        return 0.5 * std::erfc((eta - y) / (theta[0] * std::numbers::sqrt2));
    }
    double link_variance(double, const Vector& theta) const override { return theta[0] * theta[0]; }
    std::shared_ptr<const RowLikelihood> rows(LikelihoodRows rows) const override {
        return std::make_shared<GaussianRows>(shared_from_this(), std::move(rows));
    }
};

}  // namespace

std::shared_ptr<const Likelihood> gaussian_likelihood(std::string_view link) {
    return std::make_shared<Gaussian>(link);
}

}  // namespace lrvb::detail
