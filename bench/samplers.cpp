// What draws of the exact posterior cost: importance sampling, the no-U-turn sampler and Metropolis–Hastings, each
// about the same linear response of the same fit, in one run and on one core; and whether a check that chooses for
// itself can tell of every variable.
//
//   bulk, tail   the effective draws of the reported variable that has the fewest: of its mean, and of its quantiles
//                for 5 % and 95 %
//   /eval        the smaller of the two by evaluation of the density; of the no-U-turn sampler, by gradient
//   /s           the same by second, and as a multiple of the no-U-turn sampler's
//   trust        k-hat of the weights, or R-hat of the variables that agree least, and divergences; "no" where the
//                sampler itself says that its draws cannot be relied on, and then the numbers before are nothing
//                to go by
//
// usage: samplers [NAME [DRAWS]]      (default all, 4000)

#include "check/labels.hpp"

#include <lrvb/lrvb.hpp>
#include <lrvb/sample/diagnostics.hpp>
#include <lrvb/sample/nuts.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace lrvb;

template <class Work>
double seconds(Work work) {
    const auto begin = std::chrono::steady_clock::now();
    work();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

struct Case {
    std::string name;
    Dataset data;
    Settings settings;
};

std::vector<Case> cases() {
    const std::string folder = LRVB_DATA_DIR;
    return {{"mixture3", folder + "/mixture3.csv", {{"components", "3"}}},
            {"old_faithful", folder + "/old_faithful.csv", {{"components", "2"}, {"columns", "eruptions"}}},
            {"old_faithful, 2", folder + "/old_faithful.csv", {{"components", "2"}}},
            {"iris, 4 columns",
             folder + "/iris.csv",
             {{"components", "3"}, {"columns", "Sepal.Length,Sepal.Width,Petal.Length,Petal.Width"}}},
            {"digits, 10", folder + "/digits.csv", {{"components", "3"}}},
            {"wine, 13", folder + "/wine.csv", {{"components", "3"}, {"columns", "-cultivar"}}}};
}

// Counts the points that a density is asked about.
class Counted final : public SmoothDensity {
  public:
    Counted(const LogDensity& values, const SmoothDensity& gradients) : values_(values), gradients_(gradients) {}

    Index dimension() const override { return values_.dimension(); }
    Vector evaluate(const Matrix& points, int threads) const override {
        asked_ += points.cols();
        return values_.evaluate(points, threads);
    }
    DensityGradients evaluate_gradients(const Matrix& points, int threads) const override {
        asked_ += points.cols();
        return gradients_.evaluate_gradients(points, threads);
    }
    Index asked() const { return asked_; }

  private:
    const LogDensity& values_;
    const SmoothDensity& gradients_;
    mutable Index asked_ = 0;
};

/// A fit and its exact posterior.
struct Target {
    explicit Target(const FittedModel& fitted_in)
        : fitted(fitted_in),
          density(fitted.model(), fitted.optimum().state),
          approximation(density.chart().approximation(fitted.response())),
          labelled(fitted.model(), fitted.optimum().state, density, approximation),
          statistics(fitted.statistics().resolve(fitted.model().layout())) {}

    /// The reported variables at points, one a row.
    Matrix values_at(const Matrix& points) const {
        Matrix values = statistics.weights.transpose() * density.statistics(points);
        values.colwise() += statistics.constants;
        return fitted.posterior().values_at(values);
    }

    const FittedModel& fitted;
    ModelDensity density;
    NormalApproximation approximation;
    detail::LabelledDensity labelled;
    Functionals::Resolved statistics;
};

struct Cost {
    double bulk = std::numeric_limits<double>::infinity();
    double tail = std::numeric_limits<double>::infinity();
    double evaluations = 0.0;
    double seconds = 0.0;
    std::string trust;

    double ess() const { return std::min(bulk, tail); }
};

// The smallest value with so much of the weight at or below it.
double weighted_quantile(const Eigen::ArrayXd& values, const Eigen::ArrayXd& weights, double probability) {
    std::vector<Index> order(static_cast<std::size_t>(values.size()));
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<Index>(i);
    std::sort(order.begin(), order.end(), [&](Index a, Index b) { return values[a] < values[b]; });
    double below = 0.0;
    for (const Index i : order) {
        below += weights[i];
        if (below >= probability) return values[i];
    }
    return values[order.back()];
}

// As many independent draws have the variance that the weighted mean of these has, to first order.
double worth(const Eigen::ArrayXd& values, const Eigen::ArrayXd& weights) {
    const Eigen::ArrayXd off = values - (weights * values).sum();
    return (weights * off.square()).sum() / (weights * off).square().sum();
}

void judge_weighted(const Matrix& values, const Vector& log_weights, Cost& cost) {
    Eigen::ArrayXd weights = log_weights.array().exp();
    weights /= weights.sum();
    for (Index v = 0; v < values.rows(); ++v) {
        const Eigen::ArrayXd own = (weights > 0.0).select(values.row(v).transpose().array(), 0.0);
        cost.bulk = std::min(cost.bulk, worth(own, weights));
        for (const double probability : {0.05, 0.95}) {
            const double quantile = weighted_quantile(own, weights, probability);
            const Eigen::ArrayXd below = (own <= quantile).cast<double>();
            cost.tail = std::min(cost.tail, worth(below, weights));
        }
    }
}

// Returns the largest R-hat.
double judge_chains(const Matrix& values, Index chains, Cost& cost) {
    double r_hat = 1.0;
    for (Index v = 0; v < values.rows(); ++v) {
        const Vector own = values.row(v);
        const Matrix by_chain = Eigen::Map<const Matrix>(own.data(), own.size() / chains, chains);
        cost.bulk = std::min(cost.bulk, bulk_ess(by_chain));
        cost.tail = std::min(cost.tail, tail_ess(by_chain));
        r_hat = std::max(r_hat, split_r_hat(by_chain));
    }
    return r_hat;
}

std::string yes_or_no(bool reliable) {
    return reliable ? "yes" : "no ";
}

Cost by_importance(const Target& target, Index draws) {
    const Counted density(target.labelled, target.density);
    ImportanceOptions options;
    options.draws = draws;
    ImportanceSample sample;
    Cost cost;
    cost.seconds = seconds([&] { sample = importance_sample(density, target.approximation, options); });
    cost.evaluations = static_cast<double>(density.asked());
    judge_weighted(target.values_at(sample.points), sample.log_weights, cost);
    cost.trust = fmt::format("{} k-hat {:.2f}", yes_or_no(sample.reliable() && sample.ess >= kCheckEss), sample.k_hat);
    return cost;
}

Cost by_nuts(const Target& target, Index draws) {
    const Counted density(target.labelled, target.density);
    NutsOptions options;
    options.draws = draws;
    options.representative = [&](const Vector& point) { return target.labelled.relabelled(point); };
    NutsSample sample;
    Cost cost;
    cost.seconds = seconds([&] { sample = no_u_turn(density, target.approximation, options); });
    cost.evaluations = static_cast<double>(density.asked());
    const double r_hat = judge_chains(target.values_at(sample.points), sample.chains, cost);
    cost.trust = fmt::format("{} R-hat {:.3f}, {} divergences, {} refinements", yes_or_no(sample.reliable()), r_hat,
                             sample.divergences, sample.refinements);
    return cost;
}

// About the mean of the response, as the others are, where the paper takes the mode.
Cost by_metropolis(const Target& target, Index draws) {
    const Counted density(target.labelled, target.density);
    MetropolisOptions options;
    options.draws = draws;
    MetropolisSample sample;
    Cost cost;
    cost.seconds = seconds([&] { sample = metropolis_hastings(density, target.approximation, options); });
    cost.evaluations = static_cast<double>(density.asked());
    const double r_hat = judge_chains(target.values_at(sample.points), sample.chains, cost);
    cost.trust = fmt::format("{} R-hat {:.3f}{}", yes_or_no(sample.reliable()), r_hat,
                             sample.random_walk ? ", random walk" : "");
    return cost;
}

void print_cost(const std::string& name, Index dimension, const std::string& sampler, const Cost& cost,
                double nuts_rate) {
    const double rate = cost.ess() / cost.seconds;
    fmt::print("{:<16} {:>4}  {:<10} {:>6.0f} {:>6.0f} {:>8.4f} {:>8.0f} {:>7.2f}  {}\n", name, dimension, sampler,
               cost.bulk, cost.tail, cost.ess() / cost.evaluations, rate, rate / nuts_rate, cost.trust);
    std::fflush(stdout);
}

// Of the check that chooses.
struct Decision {
    std::string name;
    double fit_seconds = 0.0;
    double check_seconds = 0.0;
    Check check;
};

void print_decisions(const std::vector<Decision>& decisions) {
    fmt::print("\n{:<16} {:>11} {:>7} {:>10} {:>10} {:>9} {:>10}  {}\n", "check by choice", "sampler", "draws",
               "variables", "told of", "reliable", "time/fit", "verdict");
    for (const Decision& decision : decisions) {
        const Check& check = decision.check;
        fmt::print("{:<16} {:>11} {:>7} {:>10} {:>10} {:>9} {:>10.1f}  {}\n", decision.name, to_string(check.method),
                   check.draws, check.variables.size(), check.resolved, yes_or_no(check.reliable),
                   decision.check_seconds / decision.fit_seconds, to_string(check.verdict));
        fmt::print("{:16}   {}\n", "", check.trust);
    }
}

}  // namespace

int main(int argc, char** argv) {
    const std::string only = argc > 1 ? argv[1] : "";
    const Index draws = argc > 2 ? std::atoi(argv[2]) : 4000;
    std::vector<Decision> decisions;
    fmt::print("{:<16} {:>4}  {:<10} {:>6} {:>6} {:>8} {:>8} {:>7}  {}\n", "data", "dim", "sampler", "bulk", "tail",
               "/eval", "/s", "ratio", "trust");
    for (const Case& one : cases()) {
        if (one.name.find(only) == std::string::npos) continue;
        Decision decision;
        decision.name = one.name;
        std::unique_ptr<FittedModel> fitted;
        decision.fit_seconds = seconds([&] {
            fitted = find_kind("mixture")->fit(FitRequest{one.data, one.settings, {}, 1, {}});
        });
        if (!fitted->file().converged()) {
            fmt::print("{:<16} did not converge: {}\n", one.name, fitted->optimum().message);
            continue;
        }
        const Target target(*fitted);
        const Cost nuts = by_nuts(target, draws);
        const double rate = nuts.ess() / nuts.seconds;
        print_cost(one.name, target.density.dimension(), "no-U-turn", nuts, rate);
        print_cost("", target.density.dimension(), "importance", by_importance(target, draws), rate);
        print_cost("", target.density.dimension(), "Metropolis", by_metropolis(target, draws), rate);
        decision.check_seconds = seconds([&] { decision.check = check(*fitted); });
        decisions.push_back(std::move(decision));
    }
    print_decisions(decisions);
    return EXIT_SUCCESS;
}
