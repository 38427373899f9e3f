// Simulation-based calibration of the no-U-turn sampler (Talts, Betancourt, Simpson, Vehtari & Gelman 2018): parameters
// are drawn from the prior and data from the parameters, the data are fitted, and the sampler draws about the linear
// response. If the draws are those of the exact posterior, the rank of the true value of any function among 99 of them
// is uniform on 0 … 99. That is judged in twenty bins of five ranks each by a chi-squared test with 19 degrees of
// freedom. Two more columns, which fail nothing, say in which way ranks are not uniform:
//
//   middle     the mean of the ranks, in its standard errors: positive where draws are too small
//   spread     their variance, likewise: positive where draws are too narrow
//
// Functions of a mixture do not depend on the order of its components, and the log joint density, of all parameters
// and the data together, is one more function of every model. No replicate is left out: where a fit does not converge
// another seed is tried, and where chains cannot be relied on they run again with more draws, as in a check.
//
// usage: sbc [REPLICATES [SEED]]      (default 200 1)
//
// Fails where a p-value, times the number of tests in the table (Bonferroni), is below 0.001, and where a replicate
// could not be sampled.

#include "check/labels.hpp"
#include "ranks.hpp"

#include <lrvb/lrvb.hpp>

#include <Eigen/LU>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <numbers>
#include <string>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

namespace {

using namespace lrvb;
using bench::kRanked;
using bench::RankTest;

constexpr Index kThinning = 16;
constexpr Index kMoreDraws = 4;  // times as many, where chains cannot be relied on
constexpr int kRuns = 3;
constexpr int kFits = 5;

double gamma_draw(double shape, double rate, Random& random) {
    return std::exp(random.log_gamma(shape)) / rate;
}

// Events in a time, at distances that are exponential.
double poisson_draw(double mean, Random& random) {
    double count = 0.0;
    for (double time = -std::log(random.uniform()); time < mean; time -= std::log(random.uniform())) count += 1.0;
    return count;
}

// The statistics of values, one a variable.
Vector stacked(const Layout& layout, const std::vector<std::pair<Index, Vector>>& values) {
    Vector result = Vector::Zero(layout.size());
    for (const auto& [variable, value] : values) {
        const auto statistic = [&value = value](const auto& family) -> Vector { return family.statistic(value); };
        layout.segment(result, variable) = std::visit(statistic, layout[variable].family);
    }
    return result;
}

Vector one(double value) {
    return Vector::Constant(1, value);
}

Matrix values_of(const Functionals& functionals, const Model& model, const Matrix& statistics) {
    const Functionals::Resolved resolved = functionals.resolve(model.layout());
    Matrix values = resolved.weights.transpose() * statistics;
    values.colwise() += resolved.constants;
    return values;
}

struct Fitted {
    std::shared_ptr<const Model> model;
    Optimum optimum;
    Vector truth;  // the statistics at the true values
};

/// Data whose true parameters are known, and how they are fitted.
using Problem = std::function<Fitted(std::uint64_t seed)>;

class Study {
  public:
    virtual ~Study() = default;
    virtual std::string name() const = 0;
    /// Of `values`: one a row.
    virtual std::vector<std::string> quantities() const = 0;
    virtual Problem simulated(Random& random) const = 0;
    virtual Matrix values(const Model& model, const Matrix& statistics) const = 0;
};

// π ~ Dirichlet(4, 4), μ_k ~ Normal(0, 9), τ_k ~ Gamma(6, 6): components may be well apart, or coincide.
class MixtureStudy final : public Study {
  public:
    std::string name() const override { return "mixture"; }
    std::vector<std::string> quantities() const override {
        return {"mean", "smaller mu", "larger mu", "smaller pi", "variance"};
    }

    Problem simulated(Random& random) const override {
        MixtureSpecification specification;
        specification.components = 2;
        specification.covariance = MixtureCovariance::diagonal;
        // Inside are the units of the data.
        specification.standardisation = {Vector::Zero(1), Vector::Ones(1)};
        MixturePrior prior;
        prior.alpha = 4.0;
        prior.mean = Vector::Zero(1);
        prior.variance = Matrix::Constant(1, 1, 9.0);
        prior.shape = 6.0;
        prior.rate = one(6.0);
        specification.prior = prior;

        const double first = gamma_draw(prior.alpha, 1.0, random);
        const double second = gamma_draw(prior.alpha, 1.0, random);
        const Vector pi{{first / (first + second), second / (first + second)}};
        Vector mu(2);
        Vector tau(2);
        for (Index k = 0; k < 2; ++k) {
            mu[k] = prior.mean[0] + std::sqrt(prior.variance(0, 0)) * random.normal();
            tau[k] = gamma_draw(prior.shape, prior.rate[0], random);
        }
        Vector x(40);
        for (double& value : x) {
            const Index k = random.uniform() < pi[0] ? 0 : 1;
            value = mu[k] + random.normal() / std::sqrt(tau[k]);
        }
        return [specification, pi, mu, tau, x](std::uint64_t seed) {
            MixtureFitOptions options;
            options.seed = seed;
            MixtureFit fit = fit_mixture(std::make_shared<TableSource>(x), specification, options);
            const MixtureModel& model = *fit.model;
            const Vector truth = stacked(model.layout(), {{model.weights().index(), pi},
                                                          {model.location(0, 0).index(), one(mu[0])},
                                                          {model.location(1, 0).index(), one(mu[1])},
                                                          {model.precision(0, 0).index(), one(tau[0])},
                                                          {model.precision(1, 0).index(), one(tau[1])}});
            return Fitted{fit.model, std::move(fit.optimum), truth};
        };
    }

    Matrix values(const Model& model, const Matrix& statistics) const override {
        const Functionals parameters = dynamic_cast<const MixtureModel&>(model).in_data_units(
            {"log_pi[1]", "log_pi[2]", "mu[1]", "mu[2]", "tau[1]", "tau[2]"});
        const Eigen::ArrayXXd at = values_of(parameters, model, statistics).array();
        const Eigen::ArrayXXd pi = at.topRows(2).exp();
        const Eigen::ArrayXXd mu = at.middleRows(2, 2);
        const Eigen::ArrayXXd variance = at.bottomRows(2).inverse();
        Matrix result(5, at.cols());
        result.row(0) = (pi * mu).colwise().sum();
        result.row(1) = mu.colwise().minCoeff();
        result.row(2) = mu.colwise().maxCoeff();
        result.row(3) = pi.colwise().minCoeff();
        result.row(4) = (pi * (mu.square() + variance)).colwise().sum() - result.row(0).array().square();
        return result;
    }
};

// α ~ Normal(1, 4), β_j ~ Normal(0, 1), τ ~ Gamma(4, 4), on three columns of which two are correlated.
class RegressionStudy final : public Study {
  public:
    std::string name() const override { return "regression"; }
    std::vector<std::string> quantities() const override {
        return {"intercept", "beta[1]", "beta[2]", "beta[3]", "sigma"};
    }

    Problem simulated(Random& random) const override {
        constexpr Index rows = 30;
        constexpr Index columns = 3;
        RegressionPrior prior;
        prior.intercept_mean = 1.0;
        prior.intercept_variance = 4.0;
        prior.mean = Vector::Zero(columns);
        prior.variance = Vector::Ones(columns);
        prior.shape = 4.0;
        prior.rate = 4.0;
        prior.centre = Vector::Zero(columns);

        RegressionDesign design;
        design.response = "y";
        design.columns.resize(rows, columns);
        for (Index j = 0; j < columns; ++j) {
            design.names.push_back(fmt::format("x{}", j + 1));
            design.terms.push_back({design.names.back()});
            design.columns.col(j) = standard_normals(rows, random);
        }
        design.columns.col(1) = 0.8 * design.columns.col(0) + 0.6 * design.columns.col(1);
        Vector coefficients(columns + 1);
        coefficients[0] = prior.intercept_mean + std::sqrt(prior.intercept_variance) * random.normal();
        for (Index j = 0; j < columns; ++j) {
            coefficients[j + 1] = prior.mean[j] + std::sqrt(prior.variance[j]) * random.normal();
        }
        const double tau = gamma_draw(prior.shape, prior.rate, random);
        design.y = design.columns * coefficients.tail(columns) + standard_normals(rows, random) / std::sqrt(tau);
        design.y.array() += coefficients[0];
        return [prior, design, coefficients, tau](std::uint64_t seed) {
            const auto model = std::make_shared<const RegressionModel>(design, prior);
            FitOptions options;
            options.seed = seed;
            return Fitted{model, fit(*model, options), truth_of(*model, coefficients, tau)};
        };
    }

    Matrix values(const Model& model, const Matrix& statistics) const override {
        const auto& regression = dynamic_cast<const RegressionModel&>(model);
        Matrix result(5, statistics.cols());
        result.topRows(4) = values_of(regression.coefficients(), model, statistics);
        const Vector tau = values_of(regression.in_data_units({"tau"}), model, statistics).row(0);
        result.row(4) = tau.cwiseSqrt().cwiseInverse();
        return result;
    }

  private:
    // In the inner units: coefficients are linear in those of the data, and the precision is a multiple.
    static Vector truth_of(const RegressionModel& model, const Vector& coefficients, double tau) {
        const Layout& layout = model.layout();
        const Index count = coefficients.size();
        const Functionals::Resolved door = model.coefficients().resolve(layout);
        Matrix from_inner(count, count);
        for (Index j = 0; j < count; ++j) from_inner.col(j) = Matrix(door.weights).row(layout[j].offset).transpose();
        const Vector inner = from_inner.partialPivLu().solve(coefficients - door.constants);
        std::vector<std::pair<Index, Vector>> truth;
        for (Index j = 0; j < count; ++j) truth.emplace_back(j, one(inner[j]));
        truth.emplace_back(count, one(1.0));
        const Vector at_one = stacked(layout, truth);
        const double factor = values_of(model.in_data_units({"tau"}), model, at_one)(0, 0);
        truth.back().second = one(tau / factor);
        return stacked(layout, truth);
    }
};

// β ~ Gamma(3, 1.5), θ_i ~ Gamma(1.8, β), counts ~ Poisson(θ_i hours_i), with the hours of the ten pumps.
class PumpStudy final : public Study {
  public:
    std::string name() const override { return "pump"; }
    std::vector<std::string> quantities() const override {
        return {"beta", "theta[1]", "theta[7]", "theta[10]", "sum of theta"};
    }

    Problem simulated(Random& random) const override {
        const Vector hours{{94.3, 15.7, 62.9, 126.0, 5.24, 31.4, 1.05, 1.05, 2.1, 10.5}};
        constexpr double shape = 1.8;
        const double beta = gamma_draw(3.0, 1.5, random);
        Vector theta(hours.size());
        Vector failures(hours.size());
        for (Index i = 0; i < hours.size(); ++i) {
            theta[i] = gamma_draw(shape, beta, random);
            failures[i] = poisson_draw(theta[i] * hours[i], random);
        }
        return [hours, beta, theta, failures](std::uint64_t seed) {
            ModelBuilder builder;
            const auto rate = builder.add("beta", gamma(3.0, 1.5));
            std::vector<std::pair<Index, Vector>> truth{{rate.index(), one(beta)}};
            for (Index i = 0; i < hours.size(); ++i) {
                const auto own = builder.add(fmt::format("theta[{}]", i + 1), gamma(shape, rate));
                builder.observe(failures[i], poisson(own, hours[i]));
                truth.emplace_back(own.index(), one(theta[i]));
            }
            const auto model = std::make_shared<const MultilinearModel>(builder.build());
            FitOptions options;
            options.seed = seed;
            return Fitted{model, fit(*model, options), stacked(model->layout(), truth)};
        };
    }

    Matrix values(const Model& model, const Matrix& statistics) const override {
        const Layout& layout = model.layout();
        Matrix result = Matrix::Zero(5, statistics.cols());
        const std::array<const char*, 4> names{"beta", "theta[1]", "theta[7]", "theta[10]"};
        for (std::size_t i = 0; i < names.size(); ++i) {
            result.row(static_cast<Index>(i)) = statistics.row(layout.statistic(names[i]));
        }
        for (int i = 1; i <= 10; ++i) result.row(4) += statistics.row(layout.statistic(fmt::format("theta[{}]", i)));
        return result;
    }
};

// What came of one replicate.
struct Outcome {
    std::vector<Index> ranks;  // one a quantity; none where no fit converged
    int failed_fits = 0;
    int runs = 0;  // of the chains
    bool reliable = false;
    Index divergences = 0;
    double ess = 0.0;  // of the thinned draws, by that of all
};

// Values of the study, and below them the log joint density.
Matrix all_values(const Study& study, const Model& model, const Matrix& statistics) {
    const Matrix values = study.values(model, statistics);
    Matrix result(values.rows() + 1, values.cols());
    result << values, model.log_joint(statistics, 1).transpose();
    return result;
}

Outcome replicate(const Study& study, std::uint64_t seed, std::uint64_t number) {
    Random random(seed, number);
    const Problem problem = study.simulated(random);
    Outcome outcome;
    Fitted fitted = problem(1);
    while (!fitted.optimum.converged() && ++outcome.failed_fits < kFits) {
        fitted = problem(static_cast<std::uint64_t>(outcome.failed_fits) + 1);
    }
    if (!fitted.optimum.converged()) return outcome;
    const ModelDensity density(*fitted.model, fitted.optimum.state);
    const NormalApproximation approximation =
        density.chart().approximation(LinearResponse(*fitted.model, fitted.optimum));
    const detail::LabelledDensity labelled(*fitted.model, fitted.optimum.state, density, approximation);
    NutsOptions options;
    options.draws = kRanked * kThinning;
    options.seed = seed * 1000003U + number;
    options.representative = [&](const Vector& point) { return labelled.relabelled(point); };
    NutsSample sample;
    for (; outcome.runs < kRuns && !sample.reliable(); ++outcome.runs) {
        if (outcome.runs > 0) options.draws *= kMoreDraws;
        sample = no_u_turn(density, approximation, options);
    }
    outcome.reliable = sample.reliable();
    outcome.divergences = sample.divergences;
    const Index thinning = sample.points.cols() / kRanked;
    outcome.ess = sample.ess / static_cast<double>(thinning);
    Matrix thinned(density.dimension(), kRanked);
    for (Index i = 0; i < kRanked; ++i) thinned.col(i) = sample.points.col((i + 1) * thinning - 1);
    const Matrix draws = all_values(study, *fitted.model, density.statistics(thinned));
    const Matrix truth = all_values(study, *fitted.model, fitted.truth);
    for (Index q = 0; q < draws.rows(); ++q) outcome.ranks.push_back((draws.row(q).array() < truth(q, 0)).count());
    return outcome;
}

// Each has random numbers of its own, so that threads change nothing.
std::vector<Outcome> replicates(const Study& study, std::size_t count, std::uint64_t seed) {
    std::vector<Outcome> outcomes(count);
    std::atomic<std::size_t> next = 0;
    const auto work = [&] {
        for (std::size_t i = next++; i < count; i = next++) outcomes[i] = replicate(study, seed, i + 1);
    };
    std::vector<std::jthread> threads;
    for (unsigned t = 1; t < std::thread::hardware_concurrency(); ++t) threads.emplace_back(work);
    work();
    threads.clear();
    return outcomes;
}

// Appends the tests of a study; false where a replicate could not be sampled.
bool judge(const Study& study, std::size_t count, std::uint64_t seed, std::vector<RankTest>& tests) {
    const std::vector<Outcome> outcomes = replicates(study, count, seed);
    std::vector<std::string> again;
    std::vector<std::string> lost;
    std::vector<std::string> doubtful;
    Index more = 0;
    Index divergences = 0;
    std::vector<double> ess;
    for (std::size_t i = 0; i < outcomes.size(); ++i) {
        const Outcome& outcome = outcomes[i];
        if (outcome.failed_fits > 0) again.push_back(fmt::format("{}", i + 1));
        if (outcome.ranks.empty()) {
            lost.push_back(fmt::format("{}", i + 1));
            continue;
        }
        if (!outcome.reliable) doubtful.push_back(fmt::format("{}", i + 1));
        more += outcome.runs > 1 ? 1 : 0;
        divergences += outcome.divergences;
        ess.push_back(outcome.ess);
    }
    std::sort(ess.begin(), ess.end());
    const auto listed = [](const std::vector<std::string>& numbers) {
        return numbers.empty() ? std::string("none") : fmt::format("{} ({})", numbers.size(), fmt::join(numbers, ", "));
    };
    fmt::print("{}: {} replicates; first fit did not converge: {}; none of {} did: {};\n", study.name(), count,
               listed(again), kFits, listed(lost));
    fmt::print("  chains ran again with more draws: {}; still not to be relied on: {}; {} moves diverged;\n", more,
               listed(doubtful), divergences);
    if (!ess.empty()) {
        fmt::print("  the {} draws are worth {:.0f} in the median, {:.0f} at worst\n", kRanked,
                   std::min(ess[ess.size() / 2], static_cast<double>(kRanked)),
                   std::min(ess.front(), static_cast<double>(kRanked)));
    }
    std::vector<std::string> quantities = study.quantities();
    quantities.emplace_back("log joint density");
    if (ess.empty()) return false;
    for (std::size_t q = 0; q < quantities.size(); ++q) {
        std::vector<Index> ranks;
        for (const Outcome& outcome : outcomes) {
            if (!outcome.ranks.empty()) ranks.push_back(outcome.ranks[q]);
        }
        tests.push_back(bench::tested(study.name(), quantities[q], ranks));
    }
    std::fflush(stdout);
    return lost.empty();
}

}  // namespace

int main(int argc, char** argv) {
    const std::size_t count = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 200;
    const std::uint64_t seed = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1;
    const MixtureStudy mixture;
    const RegressionStudy regression;
    const PumpStudy pump;
    std::vector<RankTest> tests;
    bool complete = true;
    for (const Study* study : std::array<const Study*, 3>{&mixture, &regression, &pump})
        complete = judge(*study, count, seed, tests) && complete;
    return bench::judged(tests) && complete ? EXIT_SUCCESS : EXIT_FAILURE;
}
