// Posteriors along a precision: funnels and tails whose moments are known.

#include "sample/ridge.hpp"

#include "targets.hpp"

#include <lrvb/sample/nuts.hpp>
#include <lrvb/sample/pareto.hpp>

#include <cmath>

namespace lrvb {
namespace {

using test::SmoothFunction;

// ψ ~ N(0, s²) and x_i | ψ ~ N(1, e^−ψ): the marginal of ψ is known, and the neck is at large ψ.
SmoothFunction funnel(Index effects, double sd) {
    return {effects + 1, [=](const Vector& u, Vector& gradient) {
                const Eigen::ArrayXd x = u.tail(effects).array() - 1.0;
                const double precision = std::exp(u[0]);
                const auto count = static_cast<double>(effects);
                gradient[0] = -u[0] / (sd * sd) + 0.5 * count - 0.5 * precision * x.square().sum();
                gradient.tail(effects) = -precision * x;
                return -0.5 * u[0] * u[0] / (sd * sd) + 0.5 * count * u[0] - 0.5 * precision * x.square().sum();
            }};
}

NormalApproximation about(const Vector& mean) {
    return {mean, Matrix::Identity(mean.size(), mean.size())};
}

detail::RidgeOptions with(std::function<Matrix(const Matrix&)> functions) {
    detail::RidgeOptions options;
    options.functions = std::move(functions);
    return options;
}

TEST(Ridge, FollowsAFunnelAsItsMarginalSays) {
    const SmoothFunction density = funnel(10, 1.5);
    const auto ridge =
        detail::ridge_along(density, 0, about(Vector::Ones(11)),
                            with([](const Matrix& points) { return Matrix(points.row(0).array().exp()); }));
    ASSERT_TRUE(ridge);
    double mean = 0.0;
    double square = 0.0;
    for (std::size_t k = 0; k < ridge->nodes().size(); ++k) {
        const double place = ridge->nodes()[k].point[0];
        mean += ridge->weights()[static_cast<Index>(k)] * place;
        square += ridge->weights()[static_cast<Index>(k)] * place * place;
    }
    // Given ψ the target is normal, so that the Laplace approximation is exact.
    EXPECT_NEAR(mean, 0.0, 0.01);
    EXPECT_NEAR(std::sqrt(square - mean * mean), 1.5, 0.01);
    EXPECT_EQ(ridge->moments().front(), TailMoments::mean_and_sd);
}

// e^ψ is lognormal: mean e^(s²/2), variance (e^(s²) − 1) e^(s²). Half of the latter is beyond the 99.7 % quantile.
TEST(Ridge, ItsProposalHasTheMomentsOfAFarTail) {
    const double sd = 1.5;
    const SmoothFunction density = funnel(10, sd);
    const auto ridge =
        detail::ridge_along(density, 0, about(Vector::Ones(11)),
                            with([](const Matrix& points) { return Matrix(points.row(0).array().exp()); }));
    ASSERT_TRUE(ridge);
    EXPECT_GT(ridge->far_shares()[0], 0.25);
    ImportanceOptions options;
    options.rounds = 1;
    const ImportanceSample sample = importance_sample(density, ridge->proposal(), options);
    EXPECT_TRUE(sample.reliable());
    const Eigen::ArrayXd weights = weights_of(sample.log_weights);
    const Eigen::ArrayXd values = sample.points.row(0).array().exp();
    const double mean = (weights * values).sum();
    EXPECT_NEAR(mean, std::exp(0.5 * sd * sd), 0.04 * mean);
    const double variance = std::expm1(sd * sd) * std::exp(sd * sd);
    EXPECT_NEAR(std::sqrt((weights * (values - mean).square()).sum()), std::sqrt(variance), 0.05 * std::sqrt(variance));
}

// τ = e^ψ ~ Exp(1): τ has all moments, τ^−½ a mean (√π) but no variance, and 1/τ no mean.
TEST(Ridge, NegativePowersOfAPrecisionThatMayBeZeroLackMoments) {
    const SmoothFunction density(2, [](const Vector& u, Vector& gradient) {
        gradient[0] = 1.0 - std::exp(u[0]);
        gradient[1] = -u[1];
        return u[0] - std::exp(u[0]) - 0.5 * u[1] * u[1];
    });
    const auto ridge = detail::ridge_along(density, 0, about(Vector::Zero(2)), with([](const Matrix& points) {
                                               Matrix values(3, points.cols());
                                               values.row(0) = points.row(0).array().exp();
                                               values.row(1) = (-0.5 * points.row(0).array()).exp();
                                               values.row(2) = (-points.row(0).array()).exp();
                                               return values;
                                           }));
    ASSERT_TRUE(ridge);
    EXPECT_EQ(ridge->moments()[0], TailMoments::mean_and_sd);
    EXPECT_EQ(ridge->moments()[1], TailMoments::mean);
    EXPECT_EQ(ridge->moments()[2], TailMoments::none);
}

// s = e^−ψ has a density that falls as s^−3 beyond 1, and x | s ~ N(0, s²): the modes of x are all zero, but neither it
// nor s has a variance. sin x and x/(1 + s) have one.
TEST(Ridge, AFunctionWhoseSpreadAtANodeGrowsLacksMoments) {
    const SmoothFunction density(2, [](const Vector& u, Vector& gradient) {
        const double precision = std::exp(2.0 * u[0]);
        const double right = 1.0 / (1.0 + std::exp(-u[0]));
        gradient[0] = 2.0 - 6.0 * right + 1.0 - precision * u[1] * u[1];
        gradient[1] = -precision * u[1];
        return 2.0 * u[0] - 6.0 * std::log1p(std::exp(u[0])) + u[0] - 0.5 * precision * u[1] * u[1];
    });
    const auto ridge = detail::ridge_along(density, 0, about(Vector::Zero(2)), with([](const Matrix& points) {
                                               Matrix values(3, points.cols());
                                               values.row(0) = points.row(1);
                                               values.row(1) = points.row(1).array().sin();
                                               values.row(2) =
                                                   points.row(1).array() / (1.0 + (-points.row(0).array()).exp());
                                               return values;
                                           }));
    ASSERT_TRUE(ridge);
    EXPECT_EQ(ridge->moments()[0], TailMoments::mean);
    EXPECT_EQ(ridge->moments()[1], TailMoments::mean_and_sd);
    EXPECT_EQ(ridge->moments()[2], TailMoments::mean_and_sd);
}

// A density that is rounding far out, as sums of squares times a huge precision are: what has fallen off before stays
// so.
TEST(Ridge, RoundingBeyondTheMassSaysNothing) {
    const SmoothFunction density(1, [](const Vector& u, Vector& gradient) {
        gradient[0] = -std::tanh(u[0]);
        return -std::log(std::cosh(u[0])) + (u[0] > 14.0 ? 3.0 : 0.0);
    });
    const auto ridge = detail::ridge_along(density, 0, about(Vector::Zero(1)), with([](const Matrix& points) {
                                               Matrix values(2, points.cols());
                                               values.row(0) = points.row(0);
                                               values.row(1) = points.row(0).array().exp();
                                               return values;
                                           }));
    ASSERT_TRUE(ridge);
    EXPECT_EQ(ridge->moments()[0], TailMoments::mean_and_sd);
    EXPECT_EQ(ridge->moments()[1], TailMoments::none);
}

TEST(RidgeDensity, ItsGradientIsThatOfDifferences) {
    const SmoothFunction density = funnel(3, 1.0);
    std::optional<detail::Ridge> ridge = detail::ridge_along(density, 0, about(Vector::Ones(4)), {});
    ASSERT_TRUE(ridge);
    const detail::RidgeDensity along(density, {*ridge}, about(Vector::Ones(4)));
    for (const double place : {-9.0, -0.37, 0.81, 12.0}) {
        const Vector point{{place, 0.4, -1.2, 0.7}};
        const Vector gradient = along.evaluate_gradients(point, 1).gradients.col(0);
        for (Index i = 0; i < 4; ++i) {
            const Vector step = 1e-5 * Vector::Unit(4, i);
            const double difference = (along.evaluate(point + step, 1)[0] - along.evaluate(point - step, 1)[0]) / 2e-5;
            EXPECT_NEAR(gradient[i], difference, 1e-5 * (1.0 + std::abs(difference))) << place << ", " << i;
        }
    }
}

// Chains in coordinates of the funnel miss its neck; along the ridge they find all of it: ψ ~ N(0, 3²).
TEST(RidgeDensity, ChainsReachTheNeckOfAFunnel) {
    const SmoothFunction density = funnel(9, 3.0);
    std::optional<detail::Ridge> ridge = detail::ridge_along(density, 0, about(Vector::Ones(10)), {});
    ASSERT_TRUE(ridge);
    const detail::RidgeDensity along(density, {*ridge}, about(Vector::Ones(10)));
    const NutsSample sample = no_u_turn(along, along.approximation());
    EXPECT_TRUE(sample.reliable());
    const Eigen::ArrayXd places = along.points(sample.points).row(0);
    EXPECT_NEAR(places.mean(), 0.0, 0.2);
    EXPECT_NEAR(std::sqrt((places - places.mean()).square().mean()), 3.0, 0.15);
}

}  // namespace
}  // namespace lrvb
