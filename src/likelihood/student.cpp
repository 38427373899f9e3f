#include "family/special.hpp"
#include "likelihood/registry.hpp"
#include "likelihood/row_likelihood.hpp"

#include <cmath>
#include <limits>
#include <numbers>

/// Rows with Student's t errors, ℓ = log t_ν((y − η)/σ) − log σ. ℓ'' is positive for rows far out, so that ℓ is not
/// concave: the density itself is averaged, not a mixture of normals with its scales held.
namespace lrvb::detail {

namespace {

// log t_ν's constant, without the scale.
double student_constant(double nu) {
    return log_gamma_rise(0.5 * nu, 0.5) - 0.5 * std::log(nu * std::numbers::pi);
}

double student_constant_change(double nu) {
    return 0.5 * digamma_rise(0.5 * nu, 0.5) - 0.5 / nu;
}

class StudentRows final : public RowLikelihood {
  public:
    StudentRows(std::shared_ptr<const Likelihood> likelihood, LikelihoodRows rows)
        : RowLikelihood(std::move(likelihood), std::move(rows)) {}

    double draw(Index row, double predictor, const Vector& theta, Random& random) const override {
        const double about = expected(row, predictor);
        const double log_mixing = random.log_gamma(0.5 * theta[1]) - std::log(0.5 * theta[1]);
        const double sigma = has_precisions() ? theta[0] / root_precision(row) : theta[0];
        return about + sigma * random.normal() * std::exp(-0.5 * log_mixing);
    }
    double guess(Index row) const override { return y()[row] - offset_of(row); }

  protected:
    // 1/(σ√ν), and the constant of ℓ.
    Prepared prepare(const Vector& theta) const override {
        return {theta, Vector{{1.0 / (theta[0] * std::sqrt(theta[1])), constant(theta)}}};
    }
    void block(Index first, Index count, const double* means, const double* variances, const Prepared& prepared,
               Block& out) const override {
        std::array<double, kFieldBlock> z{};
        std::array<double, kFieldBlock> spread{};
        for (Index i = 0; i < count; ++i) {
            const auto at = static_cast<std::size_t>(i);
            const double unit = unit_of(first + i, prepared);
            z[at] = (y()[first + i] - means[at]) * unit;
            spread[at] = variances[at] * unit * unit;
        }
        expectation().block(z.data(), spread.data(), static_cast<std::size_t>(count), out.data());
        for (Index i = 0; i < count; ++i) {
            const auto at = static_cast<std::size_t>(i);
            const double unit = unit_of(first + i, prepared);
            double factor = -0.5 * (prepared.theta[1] + 1.0);
            for (std::size_t o = 0; o < kOrders; ++o, factor *= -unit) out[o * kFieldBlock + at] *= factor;
            out[at] += own_constant(first + i) + prepared.numbers[1];
        }
    }
    // ℓ depends on σ by (y − η)/σ, so E ∂ℓ/∂log σ = −1 + E (y − η) ℓ' = −1 + (y − μ) E ℓ' − v E ℓ''; and ν scales too.
    void add_parameter_gradient(Index row, double weight, double mean, double variance, const Prepared& prepared,
                                const std::array<double, 3>& terms, Vector& gradient) const override {
        const double nu = prepared.theta[1];
        const double stretch = (y()[row] - mean) * terms[1] - variance * terms[2];
        const double log_part = (terms[0] - own_constant(row) - prepared.numbers[1]) / (nu + 1.0);
        gradient[0] += weight * (stretch - 1.0);
        gradient[1] += weight * (student_constant_change(nu) + log_part + stretch / (2.0 * nu));
    }
    std::array<double, 3> response_slope(Index row, double mean, double variance,
                                         const Prepared& prepared) const override {
        const double unit = unit_of(row, prepared);
        const Derivatives at = expectation()((y()[row] - mean) * unit, variance * unit * unit);
        const double half = 0.5 * (prepared.theta[1] + 1.0);
        return {-half * unit * at[1], half * unit * unit * at[2], -half * unit * unit * unit * at[3]};
    }

  private:
    static const NormalExpectation& expectation() {
        static const NormalExpectation of_log_square(SmoothFunction::log_square);
        return of_log_square;
    }
    static double constant(const Vector& theta) { return student_constant(theta[1]) - std::log(theta[0]); }
    double own_constant(Index row) const { return has_precisions() ? std::log(root_precision(row)) : 0.0; }
    double unit_of(Index row, const Prepared& prepared) const {
        return has_precisions() ? prepared.numbers[0] * root_precision(row) : prepared.numbers[0];
    }
};

class Student final : public Likelihood {
  public:
    explicit Student(std::string_view link)
        : Likelihood(link, {{.name = "nu",
                             .psi_name = "log_nu_above_1",
                             .meaning = "the degrees of freedom",
                             .lower = 1.0,
                             .prior = ScalePrior::gamma(2.0, 0.1),
                             .guess = 6.0,
                             .starts = {{1.5, -0.7}, {40.0, 0.3}},
                             .rival_values = {2.0, 5.0}}}) {}

    std::string_view name() const override { return "student"; }
    std::string_view title() const override { return "regression with Student errors"; }
    const std::vector<std::string_view>& links() const override {
        static const std::vector<std::string_view> all{"identity"};
        return all;
    }
    std::optional<std::string> refusal(double, std::optional<double>) const override { return std::nullopt; }
    bool has_sigma() const override { return true; }
    bool is_log_concave() const override { return false; }
    VarianceFunction variance(const Vector& theta) const override {
        const double nu = theta[1];
        const double tails = nu > 2.0 ? nu / (nu - 2.0) : std::numeric_limits<double>::infinity();
        return {theta[0] * theta[0] * tails, 0.0, 0.0};
    }
    double cdf(double y, double eta, const Vector& theta) const override {
        return student_cdf(theta[1], (y - eta) / theta[0]);
    }
    double link_variance(double, const Vector&) const override { return std::numeric_limits<double>::quiet_NaN(); }
    // `variance` is σ² over the precision of the row.
    RowWorking working(double rest, double, double variance, const Vector& theta) const override {
        const double nu = theta[1];
        const double curvature = (nu + 1.0) / (nu * variance + rest * rest);
        return {curvature * rest, curvature};
    }
    std::shared_ptr<const RowLikelihood> rows(LikelihoodRows rows) const override {
        return std::make_shared<StudentRows>(shared_from_this(), std::move(rows));
    }
};

}  // namespace

std::shared_ptr<const Likelihood> student_likelihood(std::string_view link) {
    return std::make_shared<Student>(link);
}

}  // namespace lrvb::detail
