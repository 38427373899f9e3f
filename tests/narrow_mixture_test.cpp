// Components far narrower than their distance from the centre of the data: sums about the column's centre would lose
// the digits that decide.

#include "support.hpp"

#include <lrvb/data/table.hpp>
#include <lrvb/kind/mixture/fit.hpp>
#include <lrvb/response/linear_response.hpp>

#include <gtest/gtest.h>

#include <cmath>

namespace lrvb {
namespace {

std::shared_ptr<TableSource> table(const Matrix& rows) {
    return std::make_shared<TableSource>(rows);
}

// Every other row is of the first kind.
template <class First, class Second>
Vector alternating(Index rows, First first, Second second) {
    Random random(21);
    Vector x(rows);
    for (Index n = 0; n < rows; ++n) x[n] = n % 2 == 0 ? first(random) : second(random);
    return x;
}

double standard_normal(Random& random) {
    return random.normal();
}

TEST(NarrowMixture, ASpikeOfEqualValuesConverges) {
    const Vector x = alternating(
        100000, [](Random&) { return 2.0; }, standard_normal);
    MixtureSpecification specification;
    specification.components = 2;
    const MixtureFit fitted = fit_mixture(table(x), specification);
    EXPECT_TRUE(fitted.optimum.converged()) << fitted.optimum.message;
    EXPECT_LE(fitted.optimum.step, 1e-8);
}

TEST(NarrowMixture, ANarrowComponentUnderAPriorThatAllowsItConverges) {
    const Vector x = alternating(
        100000, [](Random& random) { return 2.0 + 1e-4 * random.normal(); }, standard_normal);
    MixtureSpecification specification;
    specification.components = 2;
    specification.prior = MixturePrior::paper(1, MixtureCovariance::diagonal);
    specification.prior->rate[0] = 1e-9;
    const MixtureFit fitted = fit_mixture(table(x), specification);
    EXPECT_TRUE(fitted.optimum.converged()) << fitted.optimum.message;
    const LinearResponse response(*fitted.model, fitted.optimum);
    const Vector tau = response.mean(fitted.model->in_data_units({"tau[1]", "tau[2]"}));
    EXPECT_NEAR(1.0 / std::sqrt(tau[1]), 1e-4, 2e-6);
}

// The normal with these rows alone, by coordinate ascent in long double about the rows' own mean.
struct Normal {
    long double mean;
    long double mean_sd;
    long double precision;
    long double precision_sd;
};

Normal normal_of(const std::vector<double>& x, const MixturePrior& prior, double shape, double rate) {
    const auto n = static_cast<long double>(x.size());
    long double centre = 0.0L;
    for (const double value : x) centre += value / n;
    long double squares = 0.0L;
    for (const double value : x) squares += (value - centre) * (value - centre);
    const long double prior_precision = 1.0L / prior.variance(0, 0);
    Normal result{centre, 0.0L, n / squares, 0.0L};
    for (int i = 0; i < 1000; ++i) {
        const long double total = prior_precision + n * result.precision;
        // Off the centre only as far as the prior pulls.
        const long double off = prior_precision * (prior.mean[0] - centre) / total;
        result.mean = centre + off;
        result.mean_sd = std::sqrt(1.0L / total);
        const long double a = shape + 0.5L * n;
        const long double b = rate + 0.5L * (squares + n * off * off + n / total);
        result.precision = a / b;
        result.precision_sd = std::sqrt(a) / b;
    }
    return result;
}

TEST(NarrowMixture, TwoNarrowComponentsFarApartAreEachANormal) {
    const Vector x = alternating(
        100000, [](Random& random) { return -5.0 + 1e-4 * random.normal(); },
        [](Random& random) { return 5.0 + 1e-4 * random.normal(); });
    MixtureSpecification specification;
    specification.components = 2;
    specification.prior = MixturePrior::paper(1, MixtureCovariance::diagonal);
    specification.prior->rate[0] = 1e-9;
    const MixtureFit fitted = fit_mixture(table(x), specification);
    ASSERT_TRUE(fitted.optimum.converged()) << fitted.optimum.message;
    const LinearResponse response(*fitted.model, fitted.optimum);
    const Vector mean = response.mean(fitted.model->in_data_units({"mu[1]", "mu[2]", "tau[1]", "tau[2]"}));
    for (Index k = 0; k < 2; ++k) {
        std::vector<double> own;
        for (const double value : x) {
            if ((value > 0.0) == (k == 1)) own.push_back(value);
        }
        const Normal expected = normal_of(own, *specification.prior, specification.prior->shape, 1e-9);
        // What is left is the rounding of 5 itself: 9e-16 of 4.5e-7.
        EXPECT_LT(std::abs(mean[k] - expected.mean) / expected.mean_sd, 1e-8);
        EXPECT_LT(std::abs(mean[2 + k] - expected.precision) / expected.precision_sd, 1e-8);
    }
}

// The same with two columns, whose covariances are full or diagonal: each side alone is the reference, fitted about its
// own mean.
TEST(NarrowMixture, NarrowComponentsOfSeveralColumnsEqualFitsOfEachAlone) {
    Random random(22);
    Matrix x(20000, 2);
    for (Index n = 0; n < x.rows(); ++n) {
        const double shared = random.normal();
        const double side = n < 10000 ? -5.0 : 5.0;
        x(n, 0) = side + 1e-4 * (shared + random.normal());
        x(n, 1) = -side + 1e-4 * (shared - random.normal());
    }
    for (const MixtureCovariance covariance : {MixtureCovariance::full, MixtureCovariance::diagonal}) {
        MixtureSpecification specification;
        specification.components = 2;
        specification.covariance = covariance;
        specification.prior = MixturePrior::paper(2, covariance);
        if (covariance == MixtureCovariance::full) {
            specification.prior->inverse_scale *= 1e-8;
        } else {
            specification.prior->rate *= 1e-8;
        }
        const MixtureFit both = fit_mixture(table(x), specification);
        ASSERT_TRUE(both.optimum.converged()) << both.optimum.message;
        specification.components = 1;
        const MixtureFit alone = fit_mixture(table(x.topRows(10000)), specification);
        ASSERT_TRUE(alone.optimum.converged()) << alone.optimum.message;
        const bool full = covariance == MixtureCovariance::full;
        const std::vector<std::string> names{"mu[1,1]", "mu[1,2]", full ? "Lambda[1,1,1]" : "tau[1,1]",
                                             full ? "Lambda[1,2,2]" : "tau[1,2]"};
        const LinearResponse response(*both.model, both.optimum);
        const LinearResponse expected(*alone.model, alone.optimum);
        const Vector sd = expected.sd(alone.model->in_data_units(names));
        const Vector shift =
            response.mean(both.model->in_data_units(names)) - expected.mean(alone.model->in_data_units(names));
        EXPECT_LT(shift.cwiseQuotient(sd).cwiseAbs().maxCoeff(), 1e-7);
        EXPECT_LT(test::relative_error(response.sd(both.model->in_data_units(names)), sd), 1e-6);
    }
}

TEST(NarrowMixture, AnOutlierFarAwayLeavesTheRestItsDigits) {
    Random random(23);
    Vector x(10000);
    for (double& value : x) value = random.normal();
    x[17] = 1e8;
    MixtureSpecification specification;
    specification.components = 4;
    specification.prior = MixturePrior::paper(1, MixtureCovariance::diagonal);
    const MixtureFit fitted = fit_mixture(table(x), specification);
    EXPECT_TRUE(fitted.optimum.converged()) << fitted.optimum.message;
}

}  // namespace
}  // namespace lrvb
