// Densities with jointly normal variables integrated out: against normal marginals in closed form, quadrature and
// differences.

#include "support.hpp"

#include <lrvb/lrvb.hpp>
#include <lrvb/testing/density_battery.hpp>

#include <Eigen/Cholesky>
#include <fmt/format.h>

#include <array>
#include <cmath>
#include <numbers>

namespace lrvb {
namespace {

// log N(y; 0, covariance).
double log_normal(const Vector& y, const Matrix& covariance) {
    const Eigen::LLT<Matrix> factor(covariance);
    const double half_log_det = factor.matrixLLT().diagonal().array().log().sum();
    return -0.5 * y.dot(factor.solve(y)) - half_log_det -
           0.5 * static_cast<double>(y.size()) * std::log(2.0 * std::numbers::pi);
}

// log of Gamma(τ; a, b) dτ/du at u = log τ.
double log_gamma_at(double u, double a, double b) {
    return a * std::log(b) - std::lgamma(a) + a * u - b * std::exp(u);
}

// y_i ~ N(θ_i, 1), θ_i ~ N(μ, τ⁻¹), μ ~ N(0, 100): all of (μ, θ) is integrated out.
struct Layout4 {
    Vector y{{1.2, -0.7, 3.1, 0.4}};

    JointModel model() const {
        ModelBuilder builder;
        const auto tau = builder.add("tau", gamma(2.0, 1.5));
        const auto mu = builder.add("mu", normal(0.0, 0.01));
        for (Index i = 0; i < y.size(); ++i) {
            const auto theta = builder.add(fmt::format("theta[{}]", i + 1), normal(mu, tau));
            builder.observe(y[i], normal(theta, 1.0));
        }
        return JointModel(builder.build());
    }
    Matrix covariance(double tau) const {
        return (1.0 + 1.0 / tau) * Matrix::Identity(4, 4) + 100.0 * Matrix::Ones(4, 4);
    }
};

TEST(IntegratedDensity, OfAOneWayLayoutIsItsMarginal) {
    const Layout4 data;
    const JointModel model = data.model();
    const ModelDensity density(model, fit(model).state);
    ASSERT_EQ(density.dimension(), 1);
    for (const double u : {-3.0, -0.5, 0.0, 1.7, 6.0}) {
        const double exact = log_normal(data.y, data.covariance(std::exp(u))) + log_gamma_at(u, 2.0, 1.5);
        EXPECT_NEAR(density.evaluate(Vector{{u}}, 1)[0], exact, 1e-10) << u;
        EXPECT_NEAR(density.evaluate_gradients(Vector{{u}}, 1).values[0], exact, 1e-10) << u;
    }
}

TEST(IntegratedDensity, KeepsNormalsAsCoordinatesWhereThatIsAsked) {
    const JointModel model = Layout4().model();
    EXPECT_EQ(ModelDensity(model, fit(model).state, JointNormals::coordinates).dimension(), 6);
}

TEST(IntegratedDensity, HasTheGradientsOfDifferences) {
    const JointModel model = Layout4().model();
    const testing::Report report = testing::check_gradients(model, fit(model).state);
    EXPECT_TRUE(report.passed()) << report.text();
}

// Given τ, θ_1 is normal with a mean and variance that the joint covariance of (θ_1, y) gives.
TEST(IntegratedDensity, DrawsWhatIsIntegratedOutFromItsConditional) {
    const Layout4 data;
    const JointModel model = data.model();
    const ModelDensity density(model, fit(model).state);
    const double tau = 0.6;
    const Index draws = 20000;
    const Matrix drawn = density.statistics(Matrix::Constant(1, draws, std::log(tau)), 2);
    const Vector theta = drawn.row(model.position(model.base_layout().statistic("theta[1]")));
    Vector cross = Vector::Constant(4, 100.0);
    cross[0] += 1.0 / tau;
    const Eigen::LLT<Matrix> factor(data.covariance(tau));
    const double mean = cross.dot(factor.solve(data.y));
    const double sd = std::sqrt(100.0 + 1.0 / tau - cross.dot(factor.solve(cross)));
    const double root = std::sqrt(static_cast<double>(draws));
    EXPECT_NEAR(theta.mean(), mean, 4.0 * sd / root);
    const double drawn_sd = std::sqrt((theta.array() - theta.mean()).square().mean());
    EXPECT_NEAR(drawn_sd, sd, 4.0 * sd / (std::numbers::sqrt2 * root));
    // The same draws for any number of threads.
    EXPECT_EQ(drawn, density.statistics(Matrix::Constant(1, draws, std::log(tau)), 1));
}

// A mean that changes after one of three rows, or not at all: the sum over where.
TEST(IntegratedDensity, AddsUpOverLabelsBesideNormals) {
    const Vector y{{0.2, 0.1, 2.3, 1.9}};
    ModelBuilder builder;
    const auto tau = builder.add("tau", gamma(2.0, 1.0));
    const auto before = builder.add("before", normal(0.0, 0.1));
    const auto after = builder.add("after", normal(0.0, 0.1));
    const Vector prior{{0.2, 0.5, 0.3}};
    const auto change = builder.add("change", categorical(prior));
    for (Index i = 0; i < y.size(); ++i) {
        const auto at = [&](Index k) { return i <= k ? normal(before, tau) : normal(after, tau); };
        builder.observe(y[i], mixture(change, {at(0), at(1), at(2)}));
    }
    const JointModel model(builder.build());
    const Optimum optimum = fit(model);
    const ModelDensity density(model, optimum.state);
    ASSERT_EQ(density.dimension(), 1);
    const double u = 0.4;
    double sum = 0.0;
    Vector shares(3);
    for (Index k = 0; k < 3; ++k) {
        Matrix design = Matrix::Zero(4, 2);
        for (Index i = 0; i < 4; ++i) design(i, i <= k ? 0 : 1) = 1.0;
        const Matrix covariance = std::exp(-u) * Matrix::Identity(4, 4) + 10.0 * design * design.transpose();
        shares[k] = prior[k] * std::exp(log_normal(y, covariance));
        sum += shares[k];
    }
    EXPECT_NEAR(density.evaluate(Vector{{u}}, 1)[0], std::log(sum) + log_gamma_at(u, 2.0, 1.0), 1e-10);
    const testing::Report report = testing::check_gradients(model, optimum.state);
    EXPECT_TRUE(report.passed()) << report.text();
    // Labels are drawn as often as they are likely.
    const Index draws = 20000;
    const Matrix drawn = density.statistics(Matrix::Constant(1, draws, u));
    const Index first = model.layout()[model.layout().variable("change")].offset;
    for (Index k = 0; k < 3; ++k) {
        const double share = shares[k] / sum;
        EXPECT_NEAR(drawn.row(first + k).mean(), share,
                    4.0 * std::sqrt(share * (1.0 - share) / static_cast<double>(draws)));
    }
}

// Eight schools with a flat prior of the sd between them: given it, all is normal, so that quadrature over it is exact.
TEST(IntegratedDensity, DecidesTheEightSchools) {
    const Vector y{{28, 8, -3, 7, -1, 1, 18, 12}};
    const Vector error{{15, 10, 16, 11, 9, 11, 10, 18}};
    ModelBuilder builder;
    const auto between = builder.add("between", precision(uniform_sd(0.0, 100.0)));
    const auto mu = builder.add("mu", normal(0.0, 1e-4));
    for (Index i = 0; i < 8; ++i) {
        const auto theta = builder.add(fmt::format("theta[{}]", i + 1), normal(mu, between));
        builder.observe(y[i], normal(theta, 1.0 / (error[i] * error[i])));
    }
    const auto model = std::make_shared<const JointModel>(builder.build());
    CheckOptions options;
    options.method = CheckMethod::importance;
    const Check result = check(*fitted_model(model, fit(*model)), options);
    EXPECT_TRUE(result.reliable) << result.trust;
    // One over the square of an sd that may be zero.
    EXPECT_EQ(std::ranges::find(result.variables, "between", &CheckedVariable::name)->verdict,
              "mean and sd unknown: heavy tail");
    // Of mu and theta[1], the first two moments.
    std::array<double, 5> sums{};
    for (double sd = 0.005; sd < 100.0; sd += 0.01) {
        Matrix covariance = Matrix::Constant(8, 8, 1e4);
        covariance.diagonal().array() += error.array().square() + sd * sd;
        const double weight = std::exp(log_normal(y, covariance) + 30.0);
        const Eigen::LLT<Matrix> factor(covariance);
        const Vector solved = factor.solve(y);
        Vector of_mu = Vector::Constant(8, 1e4);
        Vector of_theta = of_mu;
        of_theta[0] += sd * sd;
        const double mu_mean = of_mu.dot(solved);
        const double theta_mean = of_theta.dot(solved);
        sums[0] += weight;
        sums[1] += weight * mu_mean;
        sums[2] += weight * (mu_mean * mu_mean + 1e4 - of_mu.dot(factor.solve(of_mu)));
        sums[3] += weight * theta_mean;
        sums[4] += weight * (theta_mean * theta_mean + 1e4 + sd * sd - of_theta.dot(factor.solve(of_theta)));
    }
    for (const auto& [name, first] : {std::pair("mu", 1U), std::pair("theta[1]", 3U)}) {
        const double mean = sums[first] / sums[0];
        const double sd = std::sqrt(sums[first + 1] / sums[0] - mean * mean);
        const auto found = std::ranges::find(result.variables, name, &CheckedVariable::name);
        ASSERT_NE(found, result.variables.end());
        EXPECT_NEAR(found->mean_exact, mean, 4.0 * sd / std::sqrt(result.ess)) << name;
        EXPECT_NEAR(found->sd_exact, sd, 4.0 * sd * found->ratio_se / found->ratio) << name;
    }
}

}  // namespace
}  // namespace lrvb
