// "Can be relied on" where it can, on posteriors that a normal at one point does not describe: against an independent
// Gibbs sampler, and against quadrature.

#include "gibbs_mixture.hpp"
#include "targets.hpp"

#include <lrvb/check/check.hpp>
#include <lrvb/kind/declared.hpp>
#include <lrvb/kind/mixture/posterior.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace lrvb {
namespace {

using test::FittedMixture;

Check check_of(const FittedMixture& mixture, CheckOptions options = {}) {
    options.method = CheckMethod::importance;
    const MixtureModel& model = *mixture.fit.model;
    const Posterior posterior = mixture_posterior(mixture.fit);
    return check_posterior(model, mixture.fit.optimum, posterior, model.in_data_units(posterior.statistics), options);
}

FittedMixture two_components(const Vector& x) {
    MixtureSpecification specification;
    specification.components = 2;
    return FittedMixture(x, specification);
}

Vector w12() {
    return example::read_column(LRVB_TEST_DATA "/w12.csv", "x");
}

// Fifty rows of which component 1 has about seven, and in a tenth of the posterior none: then it falls back to its
// prior.
TEST(Reliance, AComponentThatCanLoseItsRowsHasTheSdOfGibbs) {
    const Vector x = w12();
    const FittedMixture mixture = two_components(x);
    const Check check = check_of(mixture);
    ASSERT_TRUE(check.reliable) << check.trust;
    EXPECT_GT(check.parts, 1);
    const Vector sd = mixture.approximation.covariance.diagonal().cwiseSqrt();
    test::GibbsMixture sampler(x, 2, mixture.fit.model->prior(),
                               test::labelling_of(*mixture.fit.model, mixture.approximation.mean, sd));
    const std::map<std::string, test::GibbsAnswer> gibbs = sampler.run(20000, 6, 1);
    EXPECT_NEAR(gibbs.at("mu[1]").sd, 4.4, 0.4);  // as another Gibbs sampler said when the defect was found
    for (const CheckedVariable& variable : check.variables) {
        const test::GibbsAnswer& exact = gibbs.at(variable.name);
        EXPECT_NEAR(std::log(variable.sd_exact / exact.sd), 0.0,
                    4.0 * std::hypot(variable.ratio_se / variable.ratio, exact.log_sd_se) + 0.02)
            << variable.name << " " << variable.sd_exact << " " << exact.sd;
        EXPECT_NEAR(variable.mean_exact, exact.mean,
                    4.0 * std::hypot(variable.shift_se * variable.sd_exact, exact.mean_se) + 0.02 * exact.sd)
            << variable.name;
    }
}

TEST(Reliance, TheSameDrawsForAnyNumberOfThreads) {
    const FittedMixture mixture = two_components(w12());
    CheckOptions options;
    const Check one = check_of(mixture, options);
    options.threads = 3;
    const Check three = check_of(mixture, options);
    EXPECT_EQ(one.log_weights, three.log_weights);
    EXPECT_EQ(one.values, three.values);
}

// Where chains find nothing new, the draws are those of the Student t about the linear response.
TEST(Reliance, SeparateComponentsNeedNoFurtherPart) {
    const FittedMixture mixture = test::bundled_mixture("old_faithful.csv", "eruptions", 2);
    const Check check = check_of(mixture);
    EXPECT_TRUE(check.reliable) << check.trust;
    EXPECT_EQ(check.parts, 1);
    EXPECT_EQ(check.unseen, "");
    const ImportanceSample plain = importance_sample(mixture.density, mixture.approximation);
    EXPECT_EQ(check.log_weights, plain.log_weights);
}

// Rows with weights that are no whole numbers have no indicators to draw: what cannot be seen is said.
TEST(Reliance, WithoutChainsAComponentOfFewRowsIsDoubtful) {
    const Vector x = w12();
    Matrix rows(x.size(), 2);
    rows << x, Vector::Constant(x.size(), 0.9999);
    MixtureSpecification specification;
    specification.components = 2;
    specification.weighted = true;
    const FittedMixture mixture(rows, specification);
    const Check check = check_of(mixture);
    EXPECT_FALSE(check.reliable);
    EXPECT_NE(check.trust.find("few rows"), std::string::npos) << check.trust;
    FitFile file;
    file.posterior = mixture_posterior(mixture.fit);
    EXPECT_THROW(corrected(file, check), std::invalid_argument);
}

// Then no variable is called ok: what the draws do not see may be in any of them.
TEST(Reliance, ByDoubtfulDrawsAVariableOnlySeemsOk) {
    Random random(7);
    Matrix rows(406, 2);
    for (Index n = 0; n < rows.rows(); ++n) rows.row(n) << random.normal() + (n < 6 ? 40.0 : 0.0), 0.9999;
    MixtureSpecification specification;
    specification.components = 2;
    specification.weighted = true;
    const FittedMixture mixture(rows, specification);
    const Check check = check_of(mixture);
    EXPECT_EQ(check.verdict, CheckVerdict::doubtful) << check.trust;
    const auto verdicts = [&](const char* verdict) {
        return std::ranges::count(check.variables, verdict, &CheckedVariable::verdict);
    };
    EXPECT_EQ(verdicts("ok"), 0);
    EXPECT_GT(verdicts("seems ok"), 0);
}

// Rows that count twice are rows twice.
TEST(Reliance, WholeWeightsAreCopiesOfRows) {
    const Vector x = w12().head(25);
    Matrix rows(25, 2);
    rows << x, Vector::Constant(25, 2.0);
    Vector twice(50);
    twice << x, x;
    MixtureSpecification specification;
    specification.components = 2;
    const Check copies = check_of(FittedMixture(twice, specification));
    specification.weighted = true;
    const Check weighted = check_of(FittedMixture(rows, specification));
    for (std::size_t v = 0; v < copies.variables.size(); ++v) {
        const CheckedVariable& one = copies.variables[v];
        const CheckedVariable& other = weighted.variables[v];
        EXPECT_NEAR(std::log(one.sd_exact / other.sd_exact), 0.0,
                    5.0 * std::hypot(one.ratio_se / one.ratio, other.ratio_se / other.ratio) + 0.02)
            << one.name;
    }
}

// The one-way layout y_ij ~ Normal(θ_j, τ_e), θ_j ~ Normal(μ, τ_u), μ ~ Normal(0, 1e-4), with precisions under
// Gamma(0.001, 0.001): given both precisions the field is normal, so a grid over their logarithms has the exact answer.
struct OneWay {
    Matrix y;  // a group a column

    struct Moments {
        double weight = 0.0;
        std::map<std::string, std::pair<double, double>> sums;
        void add(const std::string& name, double probability, double mean, double variance) {
            sums[name].first += probability * mean;
            sums[name].second += probability * (mean * mean + variance);
        }
    };

    std::map<std::string, std::pair<double, double>> exact() const {
        const Vector means = y.colwise().mean();
        const double within = (y.rowwise() - means.transpose()).squaredNorm();
        const double rows = static_cast<double>(y.rows());
        const double groups = static_cast<double>(y.cols());
        constexpr double step = 0.02;
        std::vector<std::pair<double, std::pair<double, double>>> nodes;
        double largest = -1e300;
        for (double a = -20.0; a < 14.0; a += step) {
            for (double b = -12.0; b < -4.0; b += step) {
                const double tau_u = std::exp(a);
                const double tau_e = std::exp(b);
                const double variance = 1.0 / tau_u + 1.0 / (rows * tau_e);
                // The group means under μ ~ Normal(0, 1e-4), μ integrated out.
                const double precision = 1e-4 + groups / variance;
                const double first = means.sum() / variance;
                const double value = 0.001 * (a + b) - 0.001 * (tau_u + tau_e) + 0.5 * groups * (rows - 1.0) * b -
                                     0.5 * tau_e * within - 0.5 * groups * std::log(variance) -
                                     0.5 * means.squaredNorm() / variance - 0.5 * std::log(precision) +
                                     0.5 * first * first / precision;
                nodes.push_back({value, {a, b}});
                largest = std::max(largest, value);
            }
        }
        Moments moments;
        for (const auto& [value, place] : nodes) {
            const double p = std::exp(value - largest);
            if (p < 1e-14) continue;
            const auto [a, b] = place;
            const double tau_u = std::exp(a);
            const double tau_e = std::exp(b);
            const double variance = 1.0 / tau_u + 1.0 / (rows * tau_e);
            const double precision = 1e-4 + groups / variance;
            const double mu = means.sum() / variance / precision;
            const double own = rows * tau_e / (tau_u + rows * tau_e);
            moments.weight += p;
            moments.add("log_tau_u", p, a, 0.0);
            moments.add("log_tau_e", p, b, 0.0);
            moments.add("tau_u", p, tau_u, 0.0);
            moments.add("tau_e", p, tau_e, 0.0);
            moments.add("mu", p, mu, 1.0 / precision);
            for (Index j = 0; j < y.cols(); ++j) {
                moments.add("theta[" + std::to_string(j + 1) + "]", p, own * means[j] + (1.0 - own) * mu,
                            (1.0 - own) * (1.0 - own) / precision + 1.0 / (tau_u + rows * tau_e));
            }
        }
        std::map<std::string, std::pair<double, double>> result;
        for (const auto& [name, sums] : moments.sums) {
            const double mean = sums.first / moments.weight;
            result[name] = {mean, std::sqrt(sums.second / moments.weight - mean * mean)};
        }
        return result;
    }

    MultilinearModel model() const {
        ModelBuilder builder;
        const auto mu = builder.add("mu", normal(0.0, 1e-4));
        const auto tau_u = builder.add("tau_u", gamma(0.001, 0.001));
        const auto tau_e = builder.add("tau_e", gamma(0.001, 0.001));
        for (Index j = 0; j < y.cols(); ++j) {
            const auto theta = builder.add("theta[" + std::to_string(j + 1) + "]", normal(mu, tau_u));
            builder.observe_column(y.col(j), normal(theta, tau_e));
        }
        return builder.build();
    }
};

// Dyestuff (Davies & Goldsmith 1972), yields of six batches, less 1527.5. A sixth or so of the posterior is on a shelf
// where the batches are all alike and the precision between them has no data to hold it.
TEST(Reliance, AFewGroupsHaveTheSdsOfQuadratureOrAreDoubtful) {
    OneWay layout{Matrix(5, 6)};
    layout.y << 1545, 1540, 1595, 1445, 1595, 1520,  //
        1440, 1555, 1550, 1440, 1630, 1455,          //
        1440, 1490, 1605, 1595, 1515, 1450,          //
        1520, 1560, 1510, 1465, 1635, 1480,          //
        1580, 1495, 1560, 1545, 1625, 1445;
    layout.y.array() -= 1527.5;
    const auto model = std::make_shared<const MultilinearModel>(layout.model());
    const Optimum optimum = fit(*model);
    ASSERT_TRUE(optimum.converged()) << optimum.message;
    const std::map<std::string, std::pair<double, double>> exact = layout.exact();
    const std::unique_ptr<FittedModel> fitted = fitted_model(model, optimum);
    for (const Index draws : {4000, 40000}) {
        CheckOptions options;
        options.draws = draws;
        const Check found = check(*fitted, options);
        RecordProperty(fmt::format("{} draws", draws), found.trust);
        for (const CheckedVariable& variable : found.variables) {
            const auto known = exact.find(variable.name);
            if (known == exact.end()) continue;
            const auto [mean, sd] = known->second;
            const double error = variable.ratio_se / variable.ratio;
            RecordProperty(fmt::format("{}, {} draws", variable.name, draws),
                           fmt::format("{:.3f}", variable.sd_exact / sd));
            if (!found.reliable) continue;
            EXPECT_NEAR(std::log(variable.sd_exact / sd), 0.0, 4.0 * error + 0.01)
                << variable.name << " " << variable.sd_exact << " " << sd;
            EXPECT_NEAR((variable.mean_exact - mean) / sd, 0.0, 4.0 * variable.shift_se + 0.01) << variable.name;
        }
        if (!found.reliable) {
            EXPECT_NE(found.verdict, CheckVerdict::ok) << found.trust;
        }
    }
}

}  // namespace
}  // namespace lrvb
