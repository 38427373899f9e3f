// The no-U-turn sampler against targets whose moments are known, and the gradients that it follows.

#include "targets.hpp"

#include <lrvb/family/symmetric.hpp>
#include <lrvb/sample/diagnostics.hpp>
#include <lrvb/sample/nuts.hpp>
#include <lrvb/testing/density_battery.hpp>

#include <Eigen/Cholesky>
#include <Eigen/QR>
#include <fmt/format.h>

#include <limits>

namespace lrvb {
namespace {

using test::SmoothFunction;

// A normal whose variances run from 1e-3 to 1e3 along random directions.
struct NormalTarget {
    explicit NormalTarget(Index dimension, std::uint64_t seed) : mean(dimension), covariance(dimension, dimension) {
        Random random(seed);
        mean = standard_normals(dimension, random);
        Matrix any(dimension, dimension);
        for (Index i = 0; i < dimension; ++i) any.col(i) = standard_normals(dimension, random);
        const Matrix directions = Eigen::HouseholderQR<Matrix>(any).householderQ();
        Vector variances(dimension);
        for (Index i = 0; i < dimension; ++i) {
            const double share = dimension == 1 ? 0.5 : static_cast<double>(i) / static_cast<double>(dimension - 1);
            variances[i] = std::pow(10.0, -3.0 + 6.0 * share);
        }
        covariance = directions * variances.asDiagonal() * directions.transpose();
        covariance = 0.5 * (covariance + covariance.transpose()).eval();
        precision = directions * variances.cwiseInverse().asDiagonal() * directions.transpose();
    }

    SmoothFunction density() const {
        return {mean.size(), [this](const Vector& x, Vector& gradient) {
                    gradient = -precision * (x - mean);
                    return 0.5 * gradient.dot(x - mean);
                }};
    }

    Vector mean;
    Matrix covariance;
    Matrix precision;
};

// How far means and sds of the draws are from the true ones, in standard errors of the draws: the largest.
double largest_error(const NutsSample& sample, const Vector& mean, const Vector& sd) {
    double largest = 0.0;
    for (Index i = 0; i < mean.size(); ++i) {
        const Vector values = sample.points.row(i);
        const Matrix chains = sample.by_chain(values);
        const double own = std::sqrt((values.array() - values.mean()).square().mean());
        largest = std::max({largest, std::abs(values.mean() - mean[i]) / mean_error(chains),
                            std::abs(own - sd[i]) / sd_error(chains)});
    }
    return largest;
}

// Of a dozen numbers and more the largest is beyond 4 standard errors one time in a thousand.
TEST(NoUTurn, NormalsOfAnyShapeHaveTheirMoments) {
    for (const Index dimension : {1, 3, 20, 100}) {
        for (std::uint64_t seed = 1; seed <= 5; ++seed) {
            const NormalTarget target(dimension, seed);
            const NutsSample sample = no_u_turn(target.density(), {target.mean, target.covariance}, {.seed = seed});
            EXPECT_TRUE(sample.reliable()) << dimension << ": R-hat " << sample.r_hat << ", ess " << sample.ess;
            EXPECT_EQ(sample.divergences, 0);
            EXPECT_EQ(sample.refinements, 0);
            EXPECT_LT(largest_error(sample, target.mean, target.covariance.diagonal().cwiseSqrt()), 4.5) << dimension;
        }
    }
}

// The approximation makes the target round, so that its condition costs nothing and its dimension little.
TEST(NoUTurn, AThousandDimensionsCostFewGradientsADraw) {
    const NormalTarget target(1000, 1);
    const NutsSample sample = no_u_turn(target.density(), {target.mean, target.covariance}, {.draws = 2000});
    const double each = sample.ess / static_cast<double>(sample.kept_gradients);
    fmt::print("effective draws a gradient, 1,000 dimensions: {:.2f} (ess {:.0f}, {} gradients)\n", each, sample.ess,
               sample.kept_gradients);
    EXPECT_GT(each, 0.2);
}

// Ten times too narrow, at the wrong place, and blind to correlations.
TEST(NoUTurn, APoorApproximationIsReplacedByTheDraws) {
    const NormalTarget target(10, 3);
    const Matrix narrow = 0.01 * Matrix(target.covariance.diagonal().asDiagonal());
    const NutsSample sample =
        no_u_turn(target.density(), {target.mean + narrow.diagonal().cwiseSqrt(), narrow}, {.seed = 2});
    EXPECT_TRUE(sample.reliable()) << "R-hat " << sample.r_hat << ", ess " << sample.ess;
    EXPECT_LT(largest_error(sample, target.mean, target.covariance.diagonal().cwiseSqrt()), 4.5);
}

// Neal's funnel: v ~ N(0, 9), x_i ~ N(0, exp v): in its neck no step is short enough.
TEST(NoUTurn, AFunnelDivergesAndIsNotReliedOn) {
    const SmoothFunction funnel(10, [](const Vector& u, Vector& gradient) {
        const double precision = std::exp(-u[0]);
        const Vector x = u.tail(9);
        gradient.resize(10);
        gradient[0] = -u[0] / 9.0 + 0.5 * precision * x.squaredNorm() - 4.5;
        gradient.tail(9) = -precision * x;
        return -u[0] * u[0] / 18.0 - 0.5 * precision * x.squaredNorm() - 4.5 * u[0];
    });
    Index divergences = 0;
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
        const NutsSample sample = no_u_turn(funnel, {Vector::Zero(10), Matrix::Identity(10, 10)}, {.seed = seed});
        fmt::print("funnel: {} of {} diverged, R-hat {:.3f}, ess {:.0f}\n", sample.divergences, sample.points.cols(),
                   sample.r_hat, sample.ess);
        divergences += sample.divergences;
        EXPECT_FALSE(sample.reliable()) << seed;
    }
    EXPECT_GT(divergences, 0);
}

// Student t with 8 degrees of freedom: variance 8/6.
TEST(NoUTurn, AStudentTHasItsMoments) {
    const SmoothFunction student(1, [](const Vector& x, Vector& gradient) {
        gradient = Vector::Constant(1, -9.0 * x[0] / (8.0 + x[0] * x[0]));
        return -4.5 * std::log1p(x[0] * x[0] / 8.0);
    });
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
        const NutsSample sample = no_u_turn(student, {Vector::Zero(1), Matrix::Identity(1, 1)}, {.seed = seed});
        EXPECT_TRUE(sample.reliable());
        EXPECT_LT(largest_error(sample, Vector::Zero(1), Vector::Constant(1, std::sqrt(8.0 / 6.0))), 4.0);
    }
}

MultilinearModel priors_of_every_family() {
    ModelBuilder builder;
    Matrix precision(2, 2);
    precision << 2.0, 0.5, 0.5, 1.0;
    builder.add("x", normal(1.5, 4.0));
    builder.add("y", mv_normal(Vector{{1.0, -2.0}}, precision));
    builder.add("tau", gamma(6.0, 2.0));
    builder.add("Lambda", wishart(12.0, precision));
    builder.add("pi", dirichlet(Vector{{3.0, 5.0, 4.0}}));
    builder.add("p", beta(4.0, 7.0));
    return builder.build();
}

// Statistics of the families have the means that the fit has: a prior is in its own family.
TEST(NoUTurn, PriorsOfEveryFamilyHaveTheMeansOfTheirStatistics) {
    const MultilinearModel model = priors_of_every_family();
    const Optimum optimum = fit(model);
    const ModelDensity density(model, optimum.state);
    const NormalApproximation approximation = density.chart().approximation(LinearResponse(model, optimum));
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
        const NutsSample sample = no_u_turn(density, approximation, {.seed = seed});
        EXPECT_TRUE(sample.reliable()) << sample.r_hat << " " << sample.ess;
        const Matrix statistics = density.statistics(sample.points);
        for (Index i = 0; i < statistics.rows(); ++i) {
            const Vector values = statistics.row(i);
            EXPECT_LT(std::abs(values.mean() - optimum.state.mean[i]), 4.5 * mean_error(sample.by_chain(values))) << i;
        }
    }
}

void expect_gradient(const SmoothDensity& density, const Vector& point) {
    const testing::Report report = testing::check_gradient(density, point);
    EXPECT_TRUE(report.passed()) << report.text();
}

TEST(Gradients, OfEveryFamilyEqualDifferenceQuotients) {
    const MultilinearModel model = priors_of_every_family();
    Random random(1);
    const ModelDensity density(model, model.start(random));
    for (int i = 0; i < 20; ++i) expect_gradient(density, standard_normals(density.dimension(), random));
}

TEST(Gradients, OfMixturesEqualDifferenceQuotients) {
    Random random(2);
    const auto expect = [&](const test::FittedMixture& mixture) {
        const Vector sd = mixture.approximation.covariance.diagonal().cwiseSqrt();
        for (int i = 0; i < 5; ++i) {
            const Vector z = standard_normals(sd.size(), random);
            expect_gradient(mixture.density, mixture.approximation.mean + 2.0 * sd.cwiseProduct(z));
        }
    };
    expect(test::bundled_mixture("mixture3.csv", "x", 3));
    expect(test::bundled_mixture("old_faithful.csv", "eruptions", 1));
    expect(test::old_faithful_pairs());
    expect(test::old_faithful_pairs(MixtureCovariance::diagonal));
}

TEST(Gradients, ThatAreWrongAreFound) {
    const SmoothFunction wrong(2, [](const Vector& x, Vector& gradient) {
        gradient = -x;
        gradient[1] *= 1.001;
        return -0.5 * x.squaredNorm();
    });
    EXPECT_FALSE(testing::check_gradient(wrong, Vector{{0.3, -1.2}}).passed());
}

TEST(NoUTurn, AgreesWithImportanceSamplingOnMixtures) {
    const auto expect = [](const test::FittedMixture& mixture, const std::string& name) {
        const ImportanceSample importance =
            importance_sample(mixture.density, mixture.approximation, {.draws = 20000, .threads = 2});
        const NutsSample sample = no_u_turn(mixture.density, mixture.approximation, {.threads = 2});
        fmt::print("{}: ess {:.0f} of {}, R-hat {:.4f}, {} gradients, {} diverged\n", name, sample.ess,
                   sample.points.cols(), sample.r_hat, sample.kept_gradients, sample.divergences);
        EXPECT_TRUE(sample.reliable()) << name;
        const NormalApproximation exact = weighted_moments(importance.points, importance.log_weights);
        const Vector sd = exact.covariance.diagonal().cwiseSqrt();
        const Vector mean = sample.points.rowwise().mean();
        const Vector own = ((sample.points.colwise() - mean).cwiseAbs2().rowwise().mean()).cwiseSqrt();
        const double error = std::sqrt(1.0 / importance.ess + 1.0 / sample.ess);
        EXPECT_LT((mean - exact.mean).cwiseQuotient(sd).cwiseAbs().maxCoeff(), 4.5 * error) << name;
        EXPECT_LT((own.cwiseQuotient(sd).array() - 1.0).abs().maxCoeff(), 4.5 * error) << name;
    };
    expect(test::bundled_mixture("old_faithful.csv", "eruptions", 2), "old_faithful");
    expect(test::bundled_mixture("mixture3.csv", "x", 3), "mixture3");
    expect(test::old_faithful_pairs(), "both columns, full");
}

TEST(NoUTurn, ThreadsChangeNoBit) {
    const test::FittedMixture mixture = test::old_faithful_pairs();
    NutsOptions options;
    options.draws = 200;
    options.warmup = 50;
    options.refinements = 1;
    const NutsSample one = no_u_turn(mixture.density, mixture.approximation, options);
    options.threads = 3;
    const NutsSample three = no_u_turn(mixture.density, mixture.approximation, options);
    EXPECT_TRUE(one.points == three.points);
    EXPECT_TRUE(one.log_density == three.log_density);
    EXPECT_EQ(one.ess, three.ess);
}

TEST(NoUTurn, CanBeCancelled) {
    const NormalTarget target(3, 1);
    NutsOptions options;
    double last = 0.0;
    options.progress = [&](double done) {
        last = done;
        return done < 0.5;
    };
    EXPECT_THROW(no_u_turn(target.density(), {target.mean, target.covariance}, options), std::runtime_error);
    EXPECT_GE(last, 0.5);
    EXPECT_LT(last, 0.7);
}

// Where the metric is wrong moves are long, and every criterion that ends one must end the way back as well: one that
// is asked of the whole trajectory alone made this sd 3 % too large.
TEST(NoUTurn, LongMovesLeaveTheTargetAsItIs) {
    const Vector sd{{0.1, 1.0}};
    const SmoothFunction target(2, [&](const Vector& x, Vector& gradient) {
        gradient = -x.cwiseQuotient(sd.cwiseAbs2());
        return 0.5 * x.dot(gradient);
    });
    const NormalApproximation round{Vector::Zero(2), Matrix::Identity(2, 2)};
    const NutsSample sample = no_u_turn(target, round, {.draws = 400000, .refinements = 0, .threads = 2});
    EXPECT_LT(largest_error(sample, Vector::Zero(2), sd), 4.0);
}

// As every chain has not yet begun to keep its own.
TEST(NoUTurn, WithTooFewGradientsThereAreNoDraws) {
    const NormalTarget target(3, 1);
    const NutsSample sample =
        no_u_turn(target.density(), {target.mean, target.covariance}, {.warmup = 300, .gradients = 200});
    EXPECT_EQ(sample.points.cols(), 0);
    EXPECT_FALSE(sample.reliable());
    EXPECT_LE(sample.gradients, 204);
}

TEST(NoUTurn, RefusesWhatItCannotStartFrom) {
    const NormalTarget target(3, 1);
    const NormalApproximation flat{target.mean, Matrix::Zero(3, 3)};
    EXPECT_THROW(no_u_turn(target.density(), flat), std::invalid_argument);
    const SmoothFunction nowhere(1, [](const Vector&, Vector& gradient) {
        gradient = Vector::Zero(1);
        return std::numeric_limits<double>::quiet_NaN();
    });
    EXPECT_THROW(no_u_turn(nowhere, {Vector::Zero(1), Matrix::Identity(1, 1)}), std::invalid_argument);
    NutsOptions options;
    options.acceptance = 1.0;
    EXPECT_THROW(no_u_turn(target.density(), {target.mean, target.covariance}, options), std::invalid_argument);
}

}  // namespace
}  // namespace lrvb
