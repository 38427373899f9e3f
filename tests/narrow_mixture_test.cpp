// Components far narrower than their distance from the centre of the data: sums about the column's centre would lose
// the digits that decide.

#include "support.hpp"

#include <lrvb/data/table.hpp>
#include <lrvb/kind/mixture/fit.hpp>
#include <lrvb/response/linear_response.hpp>

#include <boost/math/special_functions/digamma.hpp>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
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

// A row and how often it is there.
struct Row {
    double x;
    double count;
};

// A univariate mixture by the updates of coordinate ascent as they are in the books, in long double: the independent
// computation. q(π) = Dirichlet(alpha), q(μ_k) = Normal(mean, variance), q(τ_k) = Gamma(shape, rate).
struct Ascended {
    struct Component {
        long double alpha;
        long double mean;
        long double variance;
        long double shape;
        long double rate;
    };
    std::vector<Component> components;

    // Until no mean moves by more than 1e-14 of its size, or as often as is said.
    void run(const std::vector<Row>& rows, const MixturePrior& prior, int sweeps) {
        for (int i = 0; i < sweeps; ++i) {
            const std::vector<Component> before = components;
            sweep(rows, prior);
            long double moved = 0.0L;
            for (std::size_t k = 0; k < components.size(); ++k) {
                const Component& now = components[k];
                moved = std::max({moved, std::abs(now.alpha / before[k].alpha - 1.0L),
                                  std::abs(now.mean - before[k].mean) / std::abs(now.mean),
                                  std::abs(now.rate / before[k].rate - 1.0L)});
            }
            if (moved < 1e-14L) return;
        }
    }

    void sweep(const std::vector<Row>& rows, const MixturePrior& prior) {
        struct Sums {
            long double count = 0.0L;
            long double first = 0.0L;  // about the component's mean
            long double second = 0.0L;
        };
        std::vector<Sums> sums(components.size());
        std::vector<long double> constants;
        for (const Component& own : components) {
            constants.push_back(boost::math::digamma(own.alpha) +
                                0.5L * (boost::math::digamma(own.shape) - std::log(own.rate)) -
                                0.5L * own.shape / own.rate * own.variance);
        }
        std::vector<long double> share(components.size());
        for (const Row& row : rows) {
            for (std::size_t k = 0; k < components.size(); ++k) {
                const long double off = row.x - components[k].mean;
                share[k] = constants[k] - 0.5L * components[k].shape / components[k].rate * off * off;
            }
            const long double largest = *std::max_element(share.begin(), share.end());
            long double total = 0.0L;
            for (long double& value : share) total += value = std::exp(value - largest);
            for (std::size_t k = 0; k < components.size(); ++k) {
                const long double weight = row.count * share[k] / total;
                const long double off = row.x - components[k].mean;
                sums[k].count += weight;
                sums[k].first += weight * off;
                sums[k].second += weight * off * off;
            }
        }
        for (std::size_t k = 0; k < components.size(); ++k) {
            Component& own = components[k];
            const Sums& sum = sums[k];
            const long double precision = own.shape / own.rate;
            const long double prior_precision = 1.0L / prior.variance(0, 0);
            own.alpha = prior.alpha + sum.count;
            own.variance = 1.0L / (prior_precision + sum.count * precision);
            const long double step =
                own.variance * (prior_precision * (prior.mean[0] - own.mean) + precision * sum.first);
            own.mean += step;
            own.shape = prior.shape + 0.5L * sum.count;
            own.rate = prior.rate[0] +
                       0.5L * (sum.second - 2.0L * step * sum.first + sum.count * (step * step + own.variance));
        }
    }
};

// The fit's weights, locations and precisions are those of the other, in posterior sds.
void expect_at(const MixtureFit& fitted, const Ascended& expected, double sds) {
    const LinearResponse response(*fitted.model, fitted.optimum);
    long double total = 0.0L;
    for (const Ascended::Component& own : expected.components) total += own.alpha;
    for (std::size_t k = 0; k < expected.components.size(); ++k) {
        const Ascended::Component& own = expected.components[k];
        const std::vector<std::pair<std::string, long double>> values{
            {fmt::format("log_pi[{}]", k + 1), boost::math::digamma(own.alpha) - boost::math::digamma(total)},
            {fmt::format("mu[{}]", k + 1), own.mean},
            {fmt::format("tau[{}]", k + 1), own.shape / own.rate}};
        for (const auto& [name, value] : values) {
            const Functionals asked = fitted.model->in_data_units({name});
            EXPECT_LT(std::abs(response.mean(asked)[0] - value) / response.sd(asked)[0], sds) << name;
        }
    }
}

Ascended::Component component_of(double rows, double mean, double sd) {
    return {rows, mean, sd * sd / rows, 0.5 * rows, 0.5 * rows * sd * sd};
}

TEST(NarrowMixture, ASpikeOfEqualValuesIsFoundForWhatItIs) {
    const Vector x = alternating(
        100000, [](Random&) { return 2.0; }, standard_normal);
    MixtureSpecification specification;
    specification.components = 2;
    const MixtureFit fitted = fit_mixture(table(x), specification);
    ASSERT_TRUE(fitted.optimum.converged()) << fitted.optimum.message;
    std::vector<Row> rows{{2.0, 50000.0}};
    for (Index n = 1; n < x.size(); n += 2) rows.push_back({x[n], 1.0});
    Ascended expected{{component_of(50000.0, 0.0, 1.0), component_of(50000.0, 2.0, 0.01)}};
    expected.run(rows, fitted.model->prior(), 1000);
    expect_at(fitted, expected, 1e-7);
}

TEST(NarrowMixture, ANarrowComponentUnderAPriorThatAllowsItIsFoundForWhatItIs) {
    const Vector x = alternating(
        100000, [](Random& random) { return 2.0 + 1e-4 * random.normal(); }, standard_normal);
    MixtureSpecification specification;
    specification.components = 2;
    specification.prior = MixturePrior::paper(1, MixtureCovariance::diagonal);
    specification.prior->rate[0] = 1e-9;
    const MixtureFit fitted = fit_mixture(table(x), specification);
    ASSERT_TRUE(fitted.optimum.converged()) << fitted.optimum.message;
    std::vector<Row> rows;
    for (const double value : x) rows.push_back({value, 1.0});
    Ascended expected{{component_of(50000.0, 0.0, 1.0), component_of(50000.0, 2.0, 1e-4)}};
    expected.run(rows, *specification.prior, 1000);
    expect_at(fitted, expected, 1e-7);
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

// Which of its optima a mixture of more components than kinds ends at is the tournament's affair; that it is one, to
// all digits, is seen by the updates written out, which must stay where they are put.
TEST(NarrowMixture, AnOutlierFarAwayLeavesTheRestItsDigits) {
    Random random(23);
    Vector x(10000);
    for (double& value : x) value = random.normal();
    x[17] = 1e8;
    MixtureSpecification specification;
    specification.components = 4;
    specification.prior = MixturePrior::paper(1, MixtureCovariance::diagonal);
    const MixtureFit fitted = fit_mixture(table(x), specification);
    ASSERT_TRUE(fitted.optimum.converged()) << fitted.optimum.message;
    Ascended expected;
    const Vector alpha = fitted.optimum.standard(*fitted.model, fitted.model->weights());
    const double scale = fitted.model->scale()[0];
    for (Index k = 0; k < 4; ++k) {
        const Vector location = fitted.optimum.standard(*fitted.model, fitted.model->location(k, 0));
        const Vector precision = fitted.optimum.standard(*fitted.model, fitted.model->precision(k, 0));
        expected.components.push_back({alpha[k], fitted.model->centre()[0] + scale * location[0],
                                       scale * scale * location[1], precision[0], scale * scale * precision[1]});
    }
    // The outlier has a component for itself: alpha is 1 + 1.
    EXPECT_LT((alpha.array() - 2.0).abs().minCoeff(), 1e-6);
    std::vector<Row> rows;
    for (const double value : x) rows.push_back({value, 1.0});
    expected.run(rows, *specification.prior, 100);
    expect_at(fitted, expected, 1e-6);
}

}  // namespace
}  // namespace lrvb
