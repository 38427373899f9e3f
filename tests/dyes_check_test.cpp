// Six batches of dye, with Gamma(0.001, 0.001) on both precisions: with so few groups the variance between them may be
// zero, and a shelf of the posterior reaches as far out as the prior does. Against quadrature over both precisions.

#include <lrvb/check/check.hpp>
#include <lrvb/fit/fit.hpp>
#include <lrvb/model/builder.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

namespace lrvb {
namespace {

// data/dyestuff.csv, batch by batch.
const std::vector<Vector>& batches() {
    static const std::vector<Vector> groups{
        Vector{{1545, 1440, 1440, 1520, 1580}}, Vector{{1540, 1555, 1490, 1560, 1495}},
        Vector{{1595, 1550, 1605, 1510, 1560}}, Vector{{1445, 1440, 1595, 1465, 1545}},
        Vector{{1595, 1630, 1515, 1635, 1625}}, Vector{{1520, 1455, 1450, 1480, 1445}}};
    return groups;
}

constexpr double kPrior = 0.001;

MultilinearModel dyes() {
    ModelBuilder builder;
    const auto within = builder.add("tau.within", gamma(kPrior, kPrior));
    const auto between = builder.add("tau.between", gamma(kPrior, kPrior));
    const auto theta = builder.add("theta", normal(0.0, 1e-10));
    for (std::size_t g = 0; g < batches().size(); ++g) {
        const auto mu = builder.add("mu[" + std::to_string(g + 1) + "]", normal(theta, between));
        builder.observe_column(batches()[g], normal(mu, within));
    }
    return builder.build();
}

struct Exact {
    double mean;
    double sd;
};

// Of log tau.between: given both precisions the rest is normal and integrated in closed form, theta's prior taken as
// flat (its sd is 1e5).
Exact exact_between() {
    double total = 0.0;
    double first = 0.0;
    double second = 0.0;
    double highest = -1e300;
    for (int turn = 0; turn < 2; ++turn) {
        for (double a = -14.0; a < -3.0; a += 0.05) {
            for (double b = -25.0; b < 15.0; b += 0.05) {
                const double within = std::exp(-a);
                const double between = std::exp(-b);
                double log_density = kPrior * (a + b) - kPrior * (std::exp(a) + std::exp(b));
                double weight = 0.0;
                double sum = 0.0;
                double squares = 0.0;
                for (const Vector& y : batches()) {
                    const double n = static_cast<double>(y.size());
                    const double residual = (y.array() - y.mean()).square().sum();
                    const double variance = between + within / n;
                    const double centred = y.mean() - 1527.5;
                    log_density += 0.5 * (n - 1.0) * a - 0.5 * residual / within - 0.5 * std::log(variance);
                    weight += 1.0 / variance;
                    sum += centred / variance;
                    squares += centred * centred / variance;
                }
                log_density -= 0.5 * (squares - sum * sum / weight) + 0.5 * std::log(weight);
                if (turn == 0) {
                    highest = std::max(highest, log_density);
                    continue;
                }
                const double density = std::exp(log_density - highest);
                total += density;
                first += density * b;
                second += density * b * b;
            }
        }
    }
    const double mean = first / total;
    return {mean, std::sqrt(second / total - mean * mean)};
}

TEST(DyesCheck, IsNotReliableWhereAShelfWasNotVisited) {
    const MultilinearModel model = dyes();
    const Optimum optimum = fit(model);
    ASSERT_TRUE(optimum.converged()) << optimum.message;
    const Exact exact = exact_between();
    CheckOptions options;
    options.seconds = 5.0;
    const Check checked = check(model, optimum, {}, options);
    const auto found = std::ranges::find(checked.variables, "log_tau.between", &CheckedVariable::name);
    ASSERT_NE(found, checked.variables.end());
    const bool is_right =
        std::abs(found->sd_exact / exact.sd - 1.0) < 0.1 && std::abs(found->mean_exact - exact.mean) < 0.1 * exact.sd;
    EXPECT_TRUE(is_right || !checked.reliable)
        << found->mean_exact << " sd " << found->sd_exact << " against " << exact.mean << " sd " << exact.sd;
    EXPECT_NE(found->verdict, "ok");
}

}  // namespace
}  // namespace lrvb
