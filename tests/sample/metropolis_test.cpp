// Modes, and Metropolis–Hastings against importance sampling.

#include "targets.hpp"

#include <lrvb/sample/metropolis.hpp>
#include <lrvb/sample/mode.hpp>

#include <Eigen/Cholesky>
#include <fmt/format.h>

namespace lrvb {
namespace {

using test::FittedMixture;
using test::FunctionDensity;

TEST(Mode, ANormalTargetHasItsMeanAndItsCovariance) {
    Random random(8);
    const Matrix precision = test::random_precision(5, random);
    const Vector mean = standard_normals(5, random);
    const FunctionDensity target(5, [&](const Vector& x) { return -0.5 * (x - mean).dot(precision * (x - mean)); });
    const Mode mode = find_mode(target, {Vector::Zero(5), 0.3 * Matrix::Identity(5, 5)});
    EXPECT_TRUE(mode.converged);
    EXPECT_LT((mode.point - mean).cwiseAbs().maxCoeff(), 1e-4);
    const Matrix covariance = precision.llt().solve(Matrix::Identity(5, 5));
    EXPECT_LT(test::relative_error(mode.covariance, covariance), 1e-4);
}

// log Gamma(a, b) has its mode at log(a/b) and the curvature a there.
TEST(Mode, ASkewTargetHasItsKnownCurvature) {
    const FunctionDensity target(1, [](const Vector& u) { return 3.0 * u[0] - 2.0 * std::exp(u[0]); });
    const Mode mode = find_mode(target, {Vector::Constant(1, -2.0), Matrix::Identity(1, 1)});
    EXPECT_TRUE(mode.converged);
    EXPECT_NEAR(mode.point[0], std::log(1.5), 1e-5);
    EXPECT_NEAR(mode.covariance(0, 0), 1.0 / 3.0, 1e-4);
}

TEST(Mode, AMixturesModeIsAboveItsMeansAndItsLaplaceSdsAreNearTheResponse) {
    const FittedMixture mixture = test::bundled_mixture("mixture3.csv", "x", 3);
    const Mode mode = find_mode(mixture.density, mixture.approximation);
    EXPECT_TRUE(mode.converged);
    EXPECT_GT(mode.log_density, mixture.density.evaluate(mixture.approximation.mean, 1)[0]);
    const Vector ratio =
        (mode.covariance.diagonal().array() / mixture.approximation.covariance.diagonal().array()).sqrt();
    fmt::print("Laplace sd over LRVB sd: {:.3f} to {:.3f}\n", ratio.minCoeff(), ratio.maxCoeff());
    EXPECT_GT(ratio.minCoeff(), 0.9);
    EXPECT_LT(ratio.maxCoeff(), 1.1);
}

// Both methods, in posterior sds; errors of both are Monte Carlo errors.
void expect_agreement(const FittedMixture& mixture, const std::string& name, bool random_walk = false) {
    const ImportanceSample importance =
        importance_sample(mixture.density, mixture.approximation, {.draws = 10000, .threads = 2});
    const Mode mode = find_mode(mixture.density, mixture.approximation);
    const MetropolisSample chains = metropolis_hastings(mixture.density, {mode.point, mixture.approximation.covariance},
                                                        {.draws = 10000, .threads = 2});
    fmt::print("{}: k {:.2f}, ess {:.0f}; accepted {:.2f}, ess {:.0f}, R-hat {:.4f}\n", name, importance.k_hat,
               importance.ess, chains.acceptance, chains.ess, chains.r_hat);
    EXPECT_TRUE(importance.reliable()) << name;
    EXPECT_TRUE(chains.reliable()) << name;
    EXPECT_EQ(chains.random_walk, random_walk) << name;
    const NormalApproximation left = weighted_moments(importance.points, importance.log_weights);
    const NormalApproximation right =
        weighted_moments(chains.points, Vector::Constant(chains.points.cols(), -std::log(10000.0)));
    const Vector sd = left.covariance.diagonal().cwiseSqrt();
    const double error = std::sqrt(1.0 / importance.ess + 1.0 / chains.ess);
    EXPECT_LT((left.mean - right.mean).cwiseQuotient(sd).cwiseAbs().maxCoeff(), 4.5 * error) << name;
    const Vector ratio = right.covariance.diagonal().cwiseSqrt().cwiseQuotient(sd);
    EXPECT_LT((ratio.array() - 1.0).abs().maxCoeff(), 4.5 * error) << name;
}

TEST(Metropolis, AgreesWithImportanceSamplingOnTheBundledMixtures) {
    expect_agreement(test::bundled_mixture("old_faithful.csv", "eruptions", 2), "old_faithful");
    // Its tail is longer than the proposal's, where fresh draws make chains wait.
    expect_agreement(test::bundled_mixture("mixture3.csv", "x", 3), "mixture3", true);
}

TEST(Metropolis, AgreesWithImportanceSamplingOnTwoColumns) {
    expect_agreement(test::old_faithful_pairs(), "both columns, full");
    expect_agreement(test::old_faithful_pairs(MixtureCovariance::diagonal), "both columns, diagonal");
}

// A target five times as wide as the proposal, and three of its own sds away.
TEST(Metropolis, FallsBackOnRandomWalksWhereFreshDrawsFail) {
    const Index dimension = 5;
    const FunctionDensity target(dimension, [](const Vector& x) { return -0.5 * (x.array() - 3.0).square().sum(); });
    const NormalApproximation poor{Vector::Zero(dimension), 0.04 * Matrix::Identity(dimension, dimension)};
    const MetropolisSample chains = metropolis_hastings(target, poor);
    EXPECT_TRUE(chains.random_walk);
    EXPECT_TRUE(chains.reliable()) << chains.r_hat << " " << chains.ess;
    const NormalApproximation moments = weighted_moments(chains.points, Vector::Constant(4000, -std::log(4000.0)));
    EXPECT_LT((moments.mean.array() - 3.0).abs().maxCoeff(), 5.0 / std::sqrt(chains.ess));
    EXPECT_LT((moments.covariance.diagonal().array().sqrt() - 1.0).abs().maxCoeff(), 5.0 / std::sqrt(chains.ess));
}

TEST(Metropolis, EveryNumberOfThreadsGivesTheSameBits) {
    const FittedMixture mixture = test::old_faithful_pairs();
    const MetropolisSample one = metropolis_hastings(mixture.density, mixture.approximation, {.draws = 400});
    for (const int threads : {2, 7}) {
        const MetropolisSample many =
            metropolis_hastings(mixture.density, mixture.approximation, {.draws = 400, .threads = threads});
        EXPECT_TRUE(many.points == one.points);
        EXPECT_TRUE(many.log_density == one.log_density);
    }
}

}  // namespace
}  // namespace lrvb
