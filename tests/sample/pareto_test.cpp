// Pareto smoothing on ratios whose tail is known.

#include <lrvb/family/random.hpp>
#include <lrvb/sample/pareto.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace lrvb {
namespace {

// Ratios r = U^(−k) have P(r > x) = x^(−1/k), exactly: a Pareto tail of index k.
Vector log_pareto(double k, Index count, std::uint64_t seed) {
    Random random(seed);
    Vector log_ratios(count);
    for (double& value : log_ratios) value = -k * std::log(random.uniform());
    return log_ratios;
}

TEST(Pareto, TheFitFindsTheParametersOfItsOwnDraws) {
    Random random(5);
    for (const double k : {-0.3, 0.2, 0.7, 1.4}) {
        Vector values(20000);
        for (double& value : values) value = 3.0 * std::expm1(-k * std::log(random.uniform())) / k;
        std::sort(values.begin(), values.end());
        const ParetoFit fit = fit_pareto(values);
        // The asymptotic sd of the estimate of k is (1 + k)/√n.
        EXPECT_NEAR(fit.k, k, 4.0 * (1.0 + k) / std::sqrt(20000.0)) << k;
        EXPECT_NEAR(fit.sigma, 3.0, 0.15) << k;
    }
}

TEST(Pareto, KIsTheTailIndexOfTheRatios) {
    for (const double k : {0.2, 0.5, 0.7, 1.0}) {
        // The mean over seeds; one estimate from the tail of 4,000 draws (190 of them) has an sd of about 0.1.
        double mean = 0.0;
        for (std::uint64_t seed = 1; seed <= 20; ++seed) mean += pareto_smooth(log_pareto(k, 4000, seed)).k_hat / 20.0;
        // The prior draws k by ten observations of ½ in 200.
        EXPECT_NEAR(mean, (190.0 * k + 5.0) / 200.0, 0.08) << k;
    }
}

// A normal proposal of sd s < 1 for a standard normal target: r = exp((1 − s²)z²/2). As P(|z| > t) falls by the hazard
// h(t) = φ(t)/P(z > t), the tail P(r > y) has at y = r(t) the index (1 − s²) t/h(t), which grows to 1 − s². The middle
// of the 190 largest of 4,000 is at t = 2.26, where t/h = 0.867.
TEST(Pareto, ATooNarrowNormalProposalHasTheIndexOfItsVariance) {
    for (const double sd : {0.3, 0.5, 0.7, 0.9}) {
        double mean = 0.0;
        for (std::uint64_t seed = 1; seed <= 20; ++seed) {
            Random random(seed);
            Vector log_ratios(4000);
            for (double& value : log_ratios) {
                const double z = random.normal();
                value = 0.5 * z * z * (1.0 - sd * sd);
            }
            mean += pareto_smooth(log_ratios).k_hat / 20.0;
        }
        EXPECT_NEAR(mean, (190.0 * 0.867 * (1.0 - sd * sd) + 5.0) / 200.0, 0.05) << sd;
    }
}

TEST(Pareto, AWiderProposalHasABoundedTail) {
    Random random(3);
    Vector log_ratios(4000);
    for (double& value : log_ratios) {
        const double z = 1.5 * random.normal();
        value = 0.5 * z * z * (1.0 / 2.25 - 1.0);
    }
    const ParetoSmoothed smoothed = pareto_smooth(log_ratios);
    EXPECT_LT(smoothed.k_hat, 0.1);
    // E[w]²/E[w²] of these weights is √(2s² − 1)/s² = 0.831 for s = 1.5.
    EXPECT_NEAR(smoothed.ess / 4000.0, 0.831, 0.02);
}

TEST(Pareto, WeightsAddUpToOneAndKeepTheOrderOfTheRatios) {
    const Vector log_ratios = log_pareto(0.6, 1000, 9);
    const ParetoSmoothed smoothed = pareto_smooth(log_ratios);
    EXPECT_NEAR(smoothed.log_weights.array().exp().sum(), 1.0, 1e-12);
    for (Index i = 1; i < 1000; ++i) {
        const bool rises = log_ratios[i] > log_ratios[i - 1];
        EXPECT_GE((smoothed.log_weights[i] - smoothed.log_weights[i - 1]) * (rises ? 1.0 : -1.0), 0.0);
    }
    // A constant factor changes nothing.
    const ParetoSmoothed shifted = pareto_smooth(log_ratios.array() - 12345.0);
    EXPECT_NEAR(shifted.k_hat, smoothed.k_hat, 1e-9);
    EXPECT_LT((shifted.log_weights - smoothed.log_weights).cwiseAbs().maxCoeff(), 1e-9);
}

TEST(Pareto, SmoothingTamesTheErrorOfHeavyWeights) {
    // E r = 1/(1 − k) for Pareto ratios: relative mean squared error of the mean, plain and smoothed.
    const double k = 0.8;
    double plain = 0.0;
    double smoothed = 0.0;
    for (std::uint64_t seed = 1; seed <= 200; ++seed) {
        const Vector log_ratios = log_pareto(k, 1000, 1000 + seed);
        const ParetoSmoothed result = pareto_smooth(log_ratios);
        // Unnormalised smoothed ratios: the smallest ratio is as it was.
        Index least = 0;
        log_ratios.minCoeff(&least);
        const double scale = log_ratios[least] - result.log_weights[least];
        const double mean = (result.log_weights.array() + scale).exp().mean();
        plain += std::pow(log_ratios.array().exp().mean() * (1.0 - k) - 1.0, 2);
        smoothed += std::pow(mean * (1.0 - k) - 1.0, 2);
    }
    EXPECT_LT(smoothed, plain);
}

TEST(Pareto, TheThresholdGrowsWithTheDrawsUpToSevenTenths) {
    EXPECT_NEAR(pareto_threshold(100), 0.5, 1e-12);
    EXPECT_NEAR(pareto_threshold(1000), 2.0 / 3.0, 1e-12);
    EXPECT_EQ(pareto_threshold(100000), 0.7);
}

TEST(Pareto, TheEdgesAreSaidAndNotGuessed) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    const ParetoSmoothed equal = pareto_smooth(Vector::Zero(1000));
    EXPECT_EQ(equal.k_hat, -infinity);
    EXPECT_NEAR(equal.ess, 1000.0, 1e-9);

    Vector one_draw = Vector::Constant(1000, -infinity);
    one_draw[17] = 3.0;
    const ParetoSmoothed single = pareto_smooth(one_draw);
    EXPECT_EQ(single.k_hat, infinity);
    EXPECT_NEAR(single.ess, 1.0, 1e-12);

    // Ratios that span more than numbers do: the grid of the fit overflows.
    Vector steep(1000);
    for (Index i = 0; i < 1000; ++i) steep[i] = -1000.0 * static_cast<double>(i);
    const ParetoSmoothed spanned = pareto_smooth(steep);
    EXPECT_GT(spanned.k_hat, 1.0);
    Vector tiny = Vector::Constant(100, std::numeric_limits<double>::denorm_min());
    tiny[99] = 1.0;
    EXPECT_EQ(fit_pareto(tiny).k, infinity);
    EXPECT_NEAR(spanned.log_weights.array().exp().sum(), 1.0, 1e-12);

    EXPECT_THROW(pareto_smooth(Vector::Constant(10, -infinity)), std::invalid_argument);
    EXPECT_THROW(pareto_smooth(Vector::Constant(10, std::nan(""))), std::invalid_argument);
    EXPECT_THROW(pareto_smooth(Vector()), std::invalid_argument);
}

}  // namespace
}  // namespace lrvb
