#include <lrvb/family/gamma.hpp>
#include <lrvb/family/normal.hpp>
#include <lrvb/family/scale.hpp>
#include <lrvb/family/truncated_normal.hpp>
#include <lrvb/testing/family_battery.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

/// The families that are computed by quadrature: one-dimensional factors with the prior of a scale, and normals between
/// bounds.
namespace lrvb {
namespace {

using family::Gamma;
using family::Normal;
using family::Scale;
using family::TruncatedNormal;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

template <Family F>
void expect_passes(const F& family, const Vector& natural, const std::string& what) {
    const testing::Report report = testing::check_family(family, natural);
    EXPECT_TRUE(report.passed()) << what << " at natural parameter " << natural.transpose() << '\n' << report.text();
}

std::vector<ScalePrior> priors() {
    return {ScalePrior::half_t(1.0, 5.0), ScalePrior::half_t(3.0, 0.2),    ScalePrior::half_normal(2.0),
            ScalePrior::exponential(0.5), ScalePrior::uniform(0.0, 100.0), ScalePrior::uniform(0.5, 4.0)};
}

TEST(ScaleFamily, PassesTheBatteryAtOrdinaryParameters) {
    for (const ScalePrior& prior : priors()) {
        for (const Scale::Of of : {Scale::Of::sd, Scale::Of::variance, Scale::Of::value}) {
            const Scale scale(prior, of);
            for (const auto& [shape, rate] :
                 std::vector<std::pair<double, double>>{{1.5, 0.5}, {4.0, 2.5}, {60.0, 20.0}}) {
                expect_passes(scale, scale.natural_from_standard(Vector{{shape, rate}}),
                              "kind " + std::to_string(static_cast<int>(prior.kind)) + " of " +
                                  std::to_string(static_cast<int>(of)));
            }
        }
    }
}

TEST(ScaleFamily, PassesTheBatteryAtExtremeParameters) {
    // Narrow: the likelihood of a million and of 1e12 rows.
    for (const double rows : {1e6, 1e12}) {
        for (const ScalePrior& prior : priors()) {
            const Scale scale(prior);
            expect_passes(scale, Vector{{-0.5 * rows, 0.5 * rows}}, "narrow");
        }
    }
    // Few groups whose variance may be zero: most of it far out, where only the rate holds the precision.
    for (const double rate : {1e-3, 1e-8, 1e-15}) {
        expect_passes(Scale(ScalePrior::half_t(1.0, 5.0)), Vector{{-rate, 1.0}}, "long tail");
        expect_passes(Scale(ScalePrior::uniform(0.0, 100.0)), Vector{{-rate, 2.0}}, "long tail");
        expect_passes(Scale(ScalePrior::half_normal(1.0)), Vector{{-rate, 0.5}}, "long tail");
    }
    // Next to the edge of the domain: the tail of a half-Cauchy alone.
    expect_passes(Scale(ScalePrior::half_t(1.0, 5.0)), Vector{{-1.0, -0.45}}, "heavy tail");
    expect_passes(Scale(ScalePrior::half_t(0.5, 5.0)), Vector{{-1e-3, -0.2}}, "heavy tail");
    // Piled up at a bound of the sd, upper and lower.
    for (const double rows : {10.0, 1e4, 1e6}) {
        expect_passes(Scale(ScalePrior::uniform(0.0, 2.0)), Vector{{-50.0 * rows, 0.5 * rows}}, "at the upper bound");
        expect_passes(Scale(ScalePrior::uniform(1.0, 2.0)), Vector{{-0.005 * rows, 0.5 * rows}}, "at the lower bound");
    }
    // No likelihood, and one that prefers large precisions without end: the bounds hold it.
    expect_passes(Scale(ScalePrior::uniform(1.0, 2.0)), Vector{{0.0, 0.0}}, "the prior alone");
    expect_passes(Scale(ScalePrior::uniform(1.0, 2.0)), Vector{{60.0, -30.0}}, "convex");
    expect_passes(Scale(ScalePrior::half_normal(1.0), Scale::Of::value), Vector{{0.0, 0.0}}, "the prior alone");
    expect_passes(Scale(ScalePrior::exponential(1.0), Scale::Of::value), Vector{{0.0, 0.0}}, "the prior alone");
    // Units that are far away.
    expect_passes(Scale(ScalePrior::half_t(1.0, 1e8)), Vector{{-1e16, 8.0}}, "large units");
    expect_passes(Scale(ScalePrior::half_t(1.0, 1e-8)), Vector{{-1e-16, 8.0}}, "small units");
}

// A uniform sd whose bounds are far away is Gamma with half a degree less: h ∝ x^(−3/2).
TEST(ScaleFamily, IsGammaWhereBoundsAreFarAway) {
    const double upper = 1e30;
    const Scale scale(ScalePrior::uniform(0.0, upper));
    for (const double shape : {0.6, 2.0, 30.0, 1e6, 1e12}) {
        const Vector natural{{-3.0 * shape, shape - 1.0}};
        const Vector gamma{{-3.0 * shape, shape - 2.5}};
        if (shape <= 2.0) continue;
        const Vector mean = scale.mean(natural);
        const Vector expected = Gamma{}.mean(gamma);
        const Matrix factor = scale.covariance_factor(natural);
        const Matrix expected_factor = Gamma{}.covariance_factor(gamma);
        EXPECT_NEAR(mean[0], expected[0], 1e-13 * expected[0]) << shape;
        EXPECT_NEAR(mean[1], expected[1], 2e-13 * (1.0 + std::abs(expected[1]))) << shape;
        EXPECT_NEAR(factor(0, 0), expected_factor(0, 0), 1e-11 * expected_factor(0, 0)) << shape;
        EXPECT_NEAR(factor(1, 0), expected_factor(1, 0), 1e-11 * expected_factor(1, 0)) << shape;
        EXPECT_NEAR(factor(1, 1), expected_factor(1, 1), 1e-11 * expected_factor(1, 1)) << shape;
        const double log_base = std::log(0.5 / upper);  // of x^(−3/2)
        const double log_partition = Gamma{}.log_partition(gamma);
        EXPECT_NEAR(scale.log_partition(natural) - log_base, log_partition, 1e-13 * (1.0 + std::abs(log_partition)));
        // A − ηᵀm with the base apart: Gamma's entropy and E log h.
        EXPECT_NEAR(scale.entropy(natural), Gamma{}.entropy(gamma) + log_base - 1.5 * expected[1], 1e-12) << shape;
    }
}

// ∫ over the sd itself by the trapezoidal rule: y ~ Normal(0, sd²) under a half-Cauchy.
TEST(ScaleFamily, HasTheEvidenceOfAnObservationAsItsLogPartition) {
    const Vector y{{0.3, -1.2, 2.5}};
    const Scale scale(ScalePrior::half_t(1.0, 2.0));
    const double rows = 3.0;
    double integral = 0.0;
    double log_mean = 0.0;
    const double step = 1e-3;
    for (double t = -40.0; t < 40.0; t += step) {
        const double sd = std::exp(t);
        const double prior = 2.0 / (std::numbers::pi * 2.0 * (1.0 + sd * sd / 4.0));
        const double weight = prior * sd * std::exp(-rows * t - 0.5 * y.squaredNorm() / (sd * sd));
        if (!std::isfinite(weight)) continue;
        integral += step * weight;
        log_mean += step * weight * -2.0 * t;
    }
    const Vector natural{{-0.5 * y.squaredNorm(), 0.5 * rows}};
    EXPECT_NEAR(scale.log_partition(natural), std::log(integral), 1e-12);
    EXPECT_NEAR(scale.mean(natural)[1], log_mean / integral, 1e-12);
    EXPECT_NEAR(scale.log_base(Vector{{0.25}}),  // an sd of 2: |d sd/d x| = ½ x^(−3/2) = 4
                std::log(2.0 / (std::numbers::pi * 2.0 * 2.0) * 4.0), 1e-14);
}

TEST(ScaleFamily, KnowsHowItsMeanMovesWithItsPrior) {
    for (const ScalePrior& prior : priors()) {
        for (const Scale::Of of : {Scale::Of::sd, Scale::Of::variance, Scale::Of::value}) {
            const Scale scale(prior, of);
            const Vector natural = of == Scale::Of::value ? Vector{{-2.0, 1.0}} : Vector{{-1.0, 1.5}};
            const Matrix slopes = scale.mean_by_prior(natural);
            for (int number = 0; number < 2; ++number) {
                const double value = number == 0 ? prior.first : prior.second;
                if (!(value > 0.0)) continue;
                const double step = 1e-4 * value;
                const auto moved = [&](double by) {
                    return number == 0 ? scale.with_numbers(prior.first + by, prior.second).mean(natural)
                                       : scale.with_numbers(prior.first, prior.second + by).mean(natural);
                };
                const Vector coarse = (moved(2.0 * step) - moved(-2.0 * step)) / (4.0 * step);
                const Vector fine = (moved(step) - moved(-step)) / (2.0 * step);
                const Vector expected = (4.0 * fine - coarse) / 3.0;
                for (Index s = 0; s < 2; ++s) {
                    EXPECT_NEAR(slopes(s, number), expected[s], 1e-8 * (1.0 + std::abs(expected[s])))
                        << "kind " << static_cast<int>(prior.kind) << " of " << static_cast<int>(of);
                }
            }
        }
    }
}

TEST(ScaleFamily, RefusesWhatItCannotBe) {
    EXPECT_THROW(Scale(ScalePrior::gamma_precision(1.0, 1.0)), std::invalid_argument);
    EXPECT_THROW(Scale(ScalePrior::half_t(1.0, 0.0)), std::invalid_argument);
    EXPECT_THROW(Scale(ScalePrior::uniform(2.0, 1.0)), std::invalid_argument);
    const Scale cauchy(ScalePrior::half_t(1.0, 1.0));
    EXPECT_NE(cauchy.domain_error(Vector{{0.0, 0.0}}), "");
    EXPECT_NE(cauchy.domain_error(Vector{{-1.0, -0.5}}), "");
    EXPECT_EQ(cauchy.domain_error(Vector{{-1.0, -0.49}}), "");
    const Scale uniform(ScalePrior::uniform(0.0, 10.0));
    EXPECT_THROW(uniform.statistic(Vector{{0.001}}), std::invalid_argument);
    EXPECT_EQ(uniform.statistic(Vector{{4.0}})[1], std::log(4.0));
}

TEST(TruncatedNormalFamily, PassesTheBattery) {
    const TruncatedNormal unit(0.0, 1.0);
    const TruncatedNormal positive(0.0, kInfinity);
    const TruncatedNormal below(-kInfinity, 3.0);
    for (const Vector& natural : {Vector{{0.0, 0.0}}, Vector{{1.0, -1.0}}, Vector{{-3.0, 2.0}}, Vector{{80.0, -50.0}},
                                  Vector{{-500.0, -3.0}}, Vector{{500.0, 0.0}}, Vector{{-100.0, 100.0}}}) {
        expect_passes(unit, natural, "between 0 and 1");
    }
    for (const Vector& natural : {Vector{{0.0, -0.5}}, Vector{{5.0, -0.5}}, Vector{{-20.0, -0.5}}, Vector{{-1e4, -0.5}},
                                  Vector{{50.0, -0.5}}, Vector{{1e-3, -1e-9}}}) {
        expect_passes(positive, natural, "above 0");
        expect_passes(below, natural, "below 3");
    }
    expect_passes(TruncatedNormal(-1e6, 1e6), Vector{{0.0, 0.0}}, "wide");
    expect_passes(TruncatedNormal(-1e6, 1e6), Vector{{1.0, -0.5}}, "far inside");
    expect_passes(TruncatedNormal(-kInfinity, kInfinity), Vector{{1.0, -0.5}}, "no bounds");
    expect_passes(TruncatedNormal(1e6, 1e6 + 3.0), Vector{{1e6, -0.5}}, "far from zero");
}

TEST(TruncatedNormalFamily, IsNormalWhereBoundsAreFarAway) {
    const TruncatedNormal wide(-1e3, 1e3);
    const Vector natural{{12.0, -2.0}};
    EXPECT_EQ(wide.mean(natural), Normal{}.mean(natural));
    EXPECT_EQ(wide.covariance_factor(natural), Normal{}.covariance_factor(natural));
    EXPECT_EQ(wide.log_partition(natural), Normal{}.log_partition(natural));
    // With bounds just near enough for the quadrature, which is Normal's to rounding.
    const TruncatedNormal near(3.0 - 18.9, 3.0 + 18.9);  // mean 3, sd ½
    EXPECT_NEAR(near.mean(natural)[0], 3.0, 1e-14);
    EXPECT_NEAR(near.mean(natural)[1], 9.25, 1e-13);
    EXPECT_NEAR(near.log_partition(natural), Normal{}.log_partition(natural), 1e-13);
    EXPECT_NEAR(near.entropy(natural), Normal{}.entropy(natural), 1e-14);
}

// Closed forms: the half-normal, and the normal above a far bound by Mills' ratio.
TEST(TruncatedNormalFamily, HasTheMomentsOfHalfNormals) {
    const TruncatedNormal positive(0.0, kInfinity);
    const Vector half{{0.0, -0.5}};
    EXPECT_NEAR(positive.mean(half)[0], std::sqrt(2.0 / std::numbers::pi), 1e-15);
    EXPECT_NEAR(positive.mean(half)[1], 1.0, 1e-14);
    EXPECT_NEAR(positive.log_partition(half), 0.5 * std::log(0.5 * std::numbers::pi), 1e-14);
    // Mean −30, sd 1: E x = −30 + 1/R, with R Mills' ratio at 30 by its continued fraction.
    double fraction = 30.0;
    for (int k = 60; k >= 1; --k) fraction = 30.0 + k / fraction;
    EXPECT_NEAR(positive.mean(Vector{{-30.0, -0.5}})[0], fraction - 30.0, 1e-13 * (fraction - 30.0) + 1e-14);
    EXPECT_NEAR(positive.log_partition(Vector{{-30.0, -0.5}}), -std::log(fraction), 1e-13);
}

TEST(TruncatedNormalFamily, KnowsHowItsMeanMovesWithItsBounds) {
    const Vector natural{{1.0, -0.7}};
    const Matrix slopes = TruncatedNormal(-0.5, 2.0).mean_by_bounds(natural);
    const double step = 1e-3;
    const auto difference = [&](double lower, double upper) {
        const auto central = [&](double h) {
            return Vector((TruncatedNormal(-0.5 + h * lower, 2.0 + h * upper).mean(natural) -
                           TruncatedNormal(-0.5 - h * lower, 2.0 - h * upper).mean(natural)) /
                          (2.0 * h));
        };
        return Vector((4.0 * central(0.5 * step) - central(step)) / 3.0);
    };
    EXPECT_NEAR((slopes.col(0) - difference(1.0, 0.0)).norm(), 0.0, 1e-9);
    EXPECT_NEAR((slopes.col(1) - difference(0.0, 1.0)).norm(), 0.0, 1e-9);
}

}  // namespace
}  // namespace lrvb
