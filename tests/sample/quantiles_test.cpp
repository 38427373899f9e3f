// Quantiles of draws, and the intervals of a fit that was corrected by them, against closed forms.

#include <lrvb/check/check.hpp>
#include <lrvb/kind/declared.hpp>
#include <lrvb/model/builder.hpp>
#include <lrvb/model/distribution.hpp>
#include <lrvb/posterior/quantiles.hpp>

#include <boost/math/distributions/gamma.hpp>
#include <boost/math/distributions/normal.hpp>
#include <boost/math/distributions/students_t.hpp>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <unistd.h>
#include <utility>

namespace lrvb {
namespace {

constexpr std::array kTransforms{Transform::identity,
                                 Transform::exponential,
                                 Transform::logistic,
                                 Transform::log_logistic,
                                 Transform::correlation,
                                 Transform{Transform::Kind::logistic, -1.0, 3.0},
                                 Transform{Transform::Kind::exponential, 2.0, 1.0},
                                 Transform{Transform::Kind::negative, 2.0, 1.0}};
constexpr double kInfinity = std::numeric_limits<double>::infinity();

double normal_quantile(double probability) {
    return boost::math::quantile(boost::math::normal(), probability);
}

TEST(Quantiles, TheProbabilitiesAscendAndAreSymmetric) {
    const std::size_t last = kQuantileProbabilities.size() - 1;
    for (std::size_t i = 0; i <= last; ++i) {
        EXPECT_NEAR(kQuantileProbabilities[i] + kQuantileProbabilities[last - i], 1.0, 1e-15);
        EXPECT_GT(kQuantileProbabilities[i], i == 0 ? 0.0 : kQuantileProbabilities[i - 1]);
    }
}

// At every level that the commands take, 1e-6 to 1 − 1e-6, and on every scale.
TEST(Quantiles, OfANormalAreThoseOfTheNormal) {
    constexpr double mean = 0.7;
    constexpr double sd = 0.3;
    for (const Transform transform : kTransforms) {
        Vector kept(static_cast<Index>(kQuantileProbabilities.size()));
        for (Index i = 0; i < kept.size(); ++i) {
            kept[i] = transformed(transform,
                                  mean + sd * normal_quantile(kQuantileProbabilities[static_cast<std::size_t>(i)]));
        }
        for (const double p : {5e-7, 1e-4, 5e-4, 0.0123, 0.05, 0.4999995, 0.5, 0.77, 0.9995, 0.9999, 1.0 - 5e-7}) {
            const double exact = transformed(transform, mean + sd * normal_quantile(p));
            EXPECT_NEAR(quantile_at(transform, kept, p), exact, 1e-9) << p;
        }
    }
}

// Draws at the quantiles of an exponential distribution with mean 2, weighted to be those of Gamma(3, 1), whose
// quantiles Boost knows. They are as even as draws can be, so what is left is the error of the rule.
TEST(Quantiles, OfWeightedDrawsAreThoseOfTheirTarget) {
    constexpr Index count = 20000;
    Vector values(count);
    Vector log_weights(count);
    for (Index i = 0; i < count; ++i) {
        const double p = (static_cast<double>(i * 7919 % count) + 0.5) / static_cast<double>(count);  // in no order
        values[i] = -2.0 * std::log1p(-p);
        log_weights[i] = 2.0 * std::log(values[i]) - 0.5 * values[i];
    }
    const boost::math::gamma_distribution<> exact(3.0, 1.0);
    for (const Transform transform : {Transform::identity, Transform::exponential}) {
        const Vector kept = draw_quantiles(transform, values, log_weights);
        for (const double p : {0.0005, 0.0017, 0.01, 0.05, 0.07, 0.25, 0.5, 0.9, 0.99, 0.9995}) {
            const double found = boost::math::cdf(exact, quantile_at(transform, kept, p));
            EXPECT_NEAR(found, p, 0.04 * std::min(p, 1.0 - p)) << p;  // 0.03 between 0.001 and 0.0025
        }
    }
}

TEST(Quantiles, ADrawWithoutWeightDoesNotCount) {
    const Vector values{{1.0, kInfinity, 2.0, std::nan(""), 4.0}};
    const double third = -std::log(3.0);
    const Vector log_weights{{third, -kInfinity, third, -kInfinity, third}};
    const Vector weighted = draw_quantiles(Transform::identity, values, log_weights);
    const Vector plain = draw_quantiles(Transform::identity, Vector{{1.0, 2.0, 4.0}}, Vector::Constant(3, third));
    EXPECT_EQ(weighted, plain);
    EXPECT_DOUBLE_EQ(quantile_at(Transform::identity, plain, 0.5), 2.0);
    EXPECT_THROW(draw_quantiles(Transform::identity, Vector::Ones(1), Vector::Constant(1, -kInfinity)),
                 std::invalid_argument);
    EXPECT_THROW(draw_quantiles(Transform::identity, Vector::Ones(1), Vector::Zero(2)), std::invalid_argument);
    EXPECT_THROW(quantile_at(Transform::identity, plain, 1.0), std::invalid_argument);
    EXPECT_THROW(quantile_at(Transform::identity, Vector{{1.0, 2.0}}, 0.5), std::invalid_argument);
}

// A weight that is one to all digits is at infinity on the scale of its logit.
TEST(Quantiles, AtTheEndOfTheRangeAreTheEnd) {
    const Vector values{{0.2, 0.5, 1.0, 1.0, 1.0}};
    const Vector kept = draw_quantiles(Transform::logistic, values, Vector::Constant(5, -std::log(5.0)));
    EXPECT_TRUE(kept.allFinite());
    EXPECT_EQ(quantile_at(Transform::logistic, kept, 0.95), 1.0);
    EXPECT_NEAR(quantile_at(Transform::logistic, kept, 0.3), 0.5, 1e-12);
}

// τ ~ Gamma(a, b), μ | τ ~ N(m, 1/(kτ)), y ~ N(μ, 1/τ), conjugate: with a' = a + n/2 and so on, τ | y ~ Gamma(a', b')
// and μ | y is a Student t with 2a' degrees of freedom. Four rows leave both far from normal.
class FewRows : public ::testing::Test {
  protected:
    FewRows() {
        const Vector y{{4.1, 5.3, 3.2, 6.9}};
        constexpr double n = 4.0;
        ModelBuilder builder;
        const auto tau = builder.add("tau", gamma(1.5, 1.0));
        const auto mu = builder.add("mu", normal(4.0, 0.5 * tau));
        builder.observe_column(y, normal(mu, tau));
        const auto model = std::make_shared<const MultilinearModel>(builder.build());
        const std::unique_ptr<FittedModel> fitted = fitted_model(model, fit(*model));
        CheckOptions options;
        options.draws = 40000;
        result = check(*fitted, options);
        file = corrected(fitted->file(), result);

        const double centre = (0.5 * 4.0 + y.sum()) / (0.5 + n);
        const double shape = 1.5 + 0.5 * n;
        const double rate =
            1.0 + 0.5 * (y.array() - y.mean()).square().sum() + 0.5 * 0.5 * n * std::pow(y.mean() - 4.0, 2) / (0.5 + n);
        const double scale = std::sqrt(rate / (shape * (0.5 + n)));
        distribution["tau"] = [=](double x) { return boost::math::gamma_p(shape, rate * x); };
        distribution["log_tau"] = [=](double x) { return boost::math::gamma_p(shape, rate * std::exp(x)); };
        distribution["mu"] = [=](double x) {
            return boost::math::cdf(boost::math::students_t(2.0 * shape), (x - centre) / scale);
        };
    }

    // The largest error of the probability below an end of an interval, in its Monte Carlo errors.
    double largest_error(const Posterior& posterior, const std::string& name) const {
        double largest = 0.0;
        for (const double level : {0.5, 0.8, 0.9, 0.95, 0.98, 0.99}) {
            const Posterior::Row row = posterior.summary(posterior.select({name}), level).front();
            for (const auto& [end, p] :
                 {std::pair{row.lower, 0.5 * (1.0 - level)}, std::pair{row.upper, 0.5 * (1.0 + level)}}) {
                const double error = std::sqrt(p * (1.0 - p) / result.ess);
                largest = std::max(largest, std::abs(distribution.at(name)(end) - p) / error);
            }
        }
        return largest;
    }

    Check result;
    FitFile file;
    std::map<std::string, std::function<double(double)>> distribution;
};

TEST_F(FewRows, ACorrectedFitHasTheExactQuantilesAndNotThoseOfANormal) {
    Posterior normal = file.posterior;
    for (PosteriorVariable& variable : normal.variables) variable.quantiles.resize(0);
    for (const auto& [name, unused] : distribution) {
        EXPECT_LT(largest_error(file.posterior, name), 4.0) << name;
        EXPECT_GT(largest_error(normal, name), 8.0) << name;
    }
}

TEST_F(FewRows, TheSameQuantilesComeFromTheFile) {
    const std::string path = ::testing::TempDir() + fmt::format("quantiles_{}.json", ::getpid());
    write_fit(path, file);
    const FitFile again = read_fit(path);
    std::remove(path.c_str());
    const std::vector<Index> all = file.posterior.select({});
    const std::vector<Posterior::Row> before = file.posterior.summary(all, 0.9);
    const std::vector<Posterior::Row> after = again.posterior.summary(all, 0.9);
    for (std::size_t v = 0; v < all.size(); ++v) {
        EXPECT_EQ(after[v].lower, before[v].lower) << before[v].name;
        EXPECT_EQ(after[v].upper, before[v].upper) << before[v].name;
    }
}

TEST(Transforms, BetweenBoundsKeepToThemAscendAndComeBack) {
    for (const auto& [lower, upper] : {std::pair(-1.0, 2.0), std::pair(3.0, kInfinity), std::pair(-kInfinity, -4.0)}) {
        const Transform transform = Transform::between(lower, upper);
        double before = -kInfinity;
        for (const double u : {-20.0, -2.0, 0.3, 5.0, 20.0}) {
            const double x = transformed(transform, u);
            EXPECT_GE(x, lower);
            EXPECT_LE(x, upper);
            EXPECT_GT(x, before);
            EXPECT_NEAR(unbounded_values(transform, Vector{{x}})[0], u, 1e-6);
            before = x;
        }
    }
    EXPECT_EQ(Transform::between(-kInfinity, kInfinity), Transform::identity);
    EXPECT_EQ(Transform::between(0.0, 1.0), Transform::logistic);
    EXPECT_EQ(Transform::between(0.0, kInfinity), Transform::exponential);
}

Posterior::Row interval_of(const ModelBuilder& builder, const std::string& name) {
    const MultilinearModel model = builder.build();
    const Posterior posterior = declared_posterior(model, fit(model));
    return posterior.summary(posterior.select({name}), 0.9).front();
}

// Given one count the rate is Gamma(shape + y, rate + 1), and the interval is that of the density itself.
TEST(Intervals, OfARateAreThoseOfItsGammaDensity) {
    for (const double shape : {0.3, 1.8, 40.0}) {
        ModelBuilder builder;
        const auto rate = builder.add("rate", gamma(shape, 0.5));
        builder.observe(1.0, poisson(rate));
        const Posterior::Row row = interval_of(builder, "rate");
        const boost::math::gamma_distribution<> exact(shape + 1.0, 1.0 / 1.5);
        EXPECT_NEAR(row.lower, quantile(exact, 0.05), 1e-9 * row.mean) << shape;
        EXPECT_NEAR(row.upper, quantile(exact, 0.95), 1e-9 * row.mean) << shape;
    }
}

// Normal with precision 3 about 1.4, cut at −1 and 1: Φ is known.
TEST(Intervals, OfALocationBetweenBoundsAreThoseOfTheNormalThatIsCut) {
    const boost::math::normal uncut(1.4, 1.0 / std::sqrt(3.0));
    const double below = cdf(uncut, -1.0);
    const double inside = cdf(uncut, 1.0) - below;
    ModelBuilder builder;
    const auto mu = builder.add("mu", uniform(-1.0, 1.0));
    builder.observe(1.4, normal(mu, 3.0));
    const Posterior::Row row = interval_of(builder, "mu");
    EXPECT_NEAR(row.lower, quantile(uncut, below + 0.05 * inside), 0.005 * row.sd);
    EXPECT_NEAR(row.upper, quantile(uncut, below + 0.95 * inside), 0.005 * row.sd);
}

// A diagonal entry of a Wishart matrix is a Gamma variable of shape ν/2.
TEST(Intervals, OfADiagonalEntryAreThoseOfItsGammaDensity) {
    ModelBuilder builder;
    builder.add("Omega", wishart(5.0, Matrix{{2.0, 0.3}, {0.3, 1.0}}));
    const Posterior::Row row = interval_of(builder, "Omega[1,1]");
    const boost::math::gamma_distribution<> exact(2.5, row.mean / 2.5);
    EXPECT_NEAR(row.lower, quantile(exact, 0.05), 1e-9 * row.mean);
    EXPECT_NEAR(row.upper, quantile(exact, 0.95), 1e-9 * row.mean);
}

// Mean and sd are those of the draws, but the interval is that of a normal, half below zero.
TEST(Checks, AnIntervalThatIsNotThatOfTheDrawsIsOff) {
    ModelBuilder builder;
    const auto rate = builder.add("rate", gamma(0.5, 0.5));
    builder.observe(1.0, poisson(rate));
    const auto model = std::make_shared<const MultilinearModel>(builder.build());
    const Optimum optimum = fit(*model);
    Posterior posterior = declared_posterior(*model, optimum);
    const std::unique_ptr<FittedModel> fitted = fitted_model(model, optimum);
    const auto verdict = [&] {
        CheckOptions options;
        options.method = CheckMethod::importance;
        const Check checked = check(*fitted, posterior, options);
        for (const CheckedVariable& variable : checked.variables) {
            if (variable.name == "rate") return variable.verdict;
        }
        return std::string();
    };
    EXPECT_EQ(verdict(), "ok");
    for (PosteriorVariable& variable : posterior.variables) {
        if (variable.name == "rate") variable.unbounded = {Transform::identity, variable.mean, variable.gradient};
    }
    EXPECT_TRUE(verdict().starts_with("q5 off by -")) << verdict();
}
}  // namespace
}  // namespace lrvb
