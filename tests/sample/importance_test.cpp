// Importance sampling of exact posteriors.

#include "targets.hpp"

#include <Eigen/LU>
#include <fmt/format.h>

#include <numbers>

namespace lrvb {
namespace {

using test::FittedMixture;
using test::FunctionDensity;

// A correlated normal with log ∫ = 3.
FunctionDensity normal_target(const Vector& mean, const Matrix& covariance) {
    const Matrix precision = covariance.inverse();
    const double constant = 3.0 - 0.5 * static_cast<double>(mean.size()) * std::log(2.0 * std::numbers::pi) -
                            0.5 * std::log(covariance.determinant());
    return {mean.size(), [=](const Vector& x) { return constant - 0.5 * (x - mean).dot(precision * (x - mean)); }};
}

TEST(Importance, ANormalTargetGivesItsMomentsAndItsIntegral) {
    Random random(2);
    const Matrix covariance = test::random_precision(4, random);
    const Vector mean = standard_normals(4, random);
    const FunctionDensity target = normal_target(mean, covariance);
    const ImportanceSample sample = importance_sample(target, {mean, covariance}, {.draws = 20000});
    EXPECT_LT(sample.k_hat, 0.3);
    EXPECT_EQ(sample.rounds, 1);
    const NormalApproximation moments = weighted_moments(sample.points, sample.log_weights);
    // Five Monte Carlo standard errors.
    EXPECT_LT(((moments.mean - mean).array() / covariance.diagonal().array().sqrt()).abs().maxCoeff(),
              5.0 / std::sqrt(sample.ess));
    EXPECT_LT(test::relative_error(moments.covariance, covariance), 8.0 / std::sqrt(sample.ess));
    EXPECT_NEAR(sample.log_integral, 3.0, 5.0 / std::sqrt(sample.ess));
}

TEST(Importance, ATooNarrowProposalIsFlaggedAndThenRepairedByItsOwnDraws) {
    const Vector mean = Vector::Zero(6);
    const Matrix covariance = Matrix::Identity(6, 6);
    const FunctionDensity target = normal_target(mean, covariance);
    const NormalApproximation narrow{mean.array() + 0.3, 0.04 * covariance};
    const ImportanceSample first = importance_sample(target, narrow, {.dof = 50.0, .rounds = 1});
    EXPECT_GT(first.k_hat, 0.7);
    EXPECT_FALSE(first.reliable());
    const ImportanceSample adapted = importance_sample(target, narrow, {.dof = 50.0, .rounds = 8});
    EXPECT_GT(adapted.rounds, 1);
    EXPECT_TRUE(adapted.reliable()) << adapted.k_hat;
}

TEST(Importance, ADensityThatIsNoNumberSomewhereHasNoWeightThere) {
    const FunctionDensity half(1, [](const Vector& x) { return std::log(x[0]) - 0.5 * x[0] * x[0]; });
    const ImportanceSample sample =
        importance_sample(half, {Vector::Ones(1), Matrix::Identity(1, 1)}, {.draws = 20000});
    // Rayleigh: mean √(π/2), and the density integrates to one.
    EXPECT_NEAR(weighted_moments(sample.points, sample.log_weights).mean[0], std::sqrt(0.5 * std::numbers::pi), 0.03);
    EXPECT_NEAR(sample.log_integral, 0.0, 0.05);
}

TEST(Importance, BadArgumentsAreRefused) {
    const FunctionDensity flat(2, [](const Vector&) { return 0.0; });
    const FunctionDensity nothing(2, [](const Vector&) { return std::nan(""); });
    const NormalApproximation good{Vector::Zero(2), Matrix::Identity(2, 2)};
    EXPECT_THROW(importance_sample(flat, {Vector::Zero(3), Matrix::Identity(3, 3)}), std::invalid_argument);
    EXPECT_THROW(importance_sample(flat, {Vector::Zero(2), -Matrix::Identity(2, 2)}), std::invalid_argument);
    EXPECT_THROW(importance_sample(flat, good, {.draws = 10}), std::invalid_argument);
    EXPECT_THROW(importance_sample(flat, good, {.dof = 0.0}), std::invalid_argument);
    EXPECT_THROW(importance_sample(nothing, good), std::invalid_argument);
}

struct Reference {
    std::string name;
    std::string column;
    Index components;
};

// The bundled posteriors come from 100,000 draws of a separate program.
TEST(Importance, AgreesWithTheReferencePosteriors) {
    for (const Reference& reference : {Reference{"old_faithful", "eruptions", 2}, Reference{"mixture3", "x", 3}}) {
        const FittedMixture mixture =
            test::bundled_mixture(reference.name + ".csv", reference.column, reference.components);
        const ImportanceSample sample =
            importance_sample(mixture.density, mixture.approximation, {.draws = 20000, .threads = 2});
        EXPECT_TRUE(sample.reliable()) << sample.k_hat;
        std::vector<std::string> names;
        for (const char* base : {"log_pi", "mu", "log_tau"}) {
            for (Index k = 1; k <= reference.components; ++k) names.push_back(fmt::format("{}[{}]", base, k));
        }
        const Functionals::Resolved asked =
            mixture.fit.model->in_data_units(names).resolve(mixture.fit.model->layout());
        Matrix values = asked.weights.transpose() * mixture.density.statistics(sample.points);
        values.colwise() += asked.constants;
        const NormalApproximation moments = weighted_moments(values, sample.log_weights);
        const Vector mean = test::read_column(reference.name + "_posterior.csv", "mean");
        const Vector sd = test::read_column(reference.name + "_posterior.csv", "sd");
        // Monte Carlo standard errors, in sds: 1/√ess of a mean, and about 1/√(2 ess) of an sd, more where tails are
        // heavy; the reference has about a third of that itself.
        const double error = 1.0 / std::sqrt(sample.ess);
        const Vector shift = (moments.mean - mean).cwiseQuotient(sd);
        const Vector ratio = moments.covariance.diagonal().cwiseSqrt().cwiseQuotient(sd);
        fmt::print("{}: k {:.2f}, ess {:.0f} of 20000, largest shift {:.3f} sd, ratios {:.3f} to {:.3f}\n",
                   reference.name, sample.k_hat, sample.ess, shift.cwiseAbs().maxCoeff(), ratio.minCoeff(),
                   ratio.maxCoeff());
        EXPECT_LT(shift.cwiseAbs().maxCoeff(), 4.5 * error) << reference.name;
        EXPECT_LT((ratio.array() - 1.0).abs().maxCoeff(), 4.5 * error) << reference.name;
    }
}

TEST(Importance, EveryNumberOfThreadsGivesTheSameBits) {
    const FittedMixture mixture = test::bundled_mixture("mixture3.csv", "x", 3);
    const ImportanceSample one = importance_sample(mixture.density, mixture.approximation, {.draws = 1001});
    for (const int threads : {2, 7}) {
        const ImportanceSample many =
            importance_sample(mixture.density, mixture.approximation, {.draws = 1001, .threads = threads});
        EXPECT_TRUE(many.points == one.points);
        EXPECT_TRUE(many.log_density == one.log_density);
        EXPECT_TRUE(many.log_weights == one.log_weights);
    }
    const ImportanceSample other =
        importance_sample(mixture.density, mixture.approximation, {.draws = 1001, .seed = 2});
    EXPECT_FALSE(other.points == one.points);
}

}  // namespace
}  // namespace lrvb
