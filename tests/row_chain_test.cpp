// Chains of labels, summed out: against enumeration of all paths, against refits, and at their edges.

#include "labelled_models.hpp"
#include "support.hpp"

#include <lrvb/testing/density_battery.hpp>
#include <lrvb/testing/model_battery.hpp>
#include <lrvb/testing/response_battery.hpp>

#include <fmt/format.h>

#include <functional>

namespace lrvb {
namespace {

using test::kMissing;

// Rows of a chain that stays where it is with probability 0.85: two levels, three apart.
Vector chain_rows(Index rows, std::uint64_t seed) {
    Random random(seed);
    Vector y(rows);
    bool high = false;
    for (double& value : y) {
        if (random.uniform() < 0.15) high = !high;
        value = (high ? 3.0 : 0.0) + random.normal();
    }
    return y;
}

MultilinearModel two_states(const Matrix& y, const std::vector<Index>& lengths) {
    ModelBuilder builder;
    const auto first = builder.add("first", dirichlet({1.0, 1.0}));
    const auto from_low = builder.add("P[1]", dirichlet({4.0, 1.0}));
    const auto from_high = builder.add("P[2]", dirichlet({1.0, 3.0}));
    const auto low = builder.add("mu[1]", normal(-1.0, 0.2));
    const auto high = builder.add("mu[2]", normal(3.5, 0.2));
    const auto tau = builder.add("tau", gamma(2.0, 1.0));
    builder.observe_chain(first, {from_low, from_high}, {column(y, {normal(low, tau), normal(high, tau)})}, lengths,
                          builder.rows("times", y.rows()));
    return builder.build();
}

// Σ over all paths of the scores of one sequence: what the forward recursion should find.
double enumerated(Index length, Index labels, const std::function<double(const std::vector<Index>&)>& log_score) {
    std::vector<Index> path(static_cast<std::size_t>(length), 0);
    double largest = -1e300;
    std::vector<double> scores;
    while (true) {
        scores.push_back(log_score(path));
        largest = std::max(largest, scores.back());
        std::size_t t = 0;
        while (t < path.size() && ++path[t] == labels) path[t++] = 0;
        if (t == path.size()) break;
    }
    double sum = 0.0;
    for (const double score : scores) sum += std::exp(score - largest);
    return largest + std::log(sum);
}

TEST(RowChain, EqualsTheSumOverAllPaths) {
    const Vector y{{0.3, 2.5, kMissing, 3.1, -0.4, 0.2, 2.0}};
    const std::vector<Index> lengths{4, 1, 2};
    const MultilinearModel model = two_states(y, lengths);
    // Means that belong to no value: E log of weights, E μ² ≠ (E μ)².
    const Vector mean{{-0.5, -1.4, -0.2, -2.1, -1.8, -0.3, 0.1, 0.3, 2.9, 8.9, 1.2, 0.1}};
    const double prior = two_states(Vector::Constant(7, kMissing), {7}).expand(mean, Order::value).value -
                         enumerated(7, 2, [&](const std::vector<Index>& path) {
                             double score = mean[path[0]];
                             for (std::size_t t = 1; t < path.size(); ++t) score += mean[2 + 2 * path[t - 1] + path[t]];
                             return score;
                         });
    double expected = prior;
    Index begin = 0;
    for (const Index length : lengths) {
        expected += enumerated(length, 2, [&](const std::vector<Index>& path) {
            double score = 0.0;
            for (std::size_t t = 0; t < path.size(); ++t) {
                const Index k = path[t];
                score += t == 0 ? mean[k] : mean[2 + 2 * path[t - 1] + k];
                const double value = y[begin + static_cast<Index>(t)];
                if (std::isnan(value)) continue;
                const double square = value * value - 2.0 * value * mean[6 + 2 * k] + mean[7 + 2 * k];
                score += 0.5 * mean[11] - 0.5 * std::log(2.0 * M_PI) - 0.5 * mean[10] * square;
            }
            return score;
        });
        begin += length;
    }
    EXPECT_NEAR(model.expand(mean, Order::value).value, expected, 1e-11);
    EXPECT_NEAR(model.log_joint(mean, 2)[0], expected, 1e-11);

    // P(z_2 = high) of the first sequence, by paths with and without it.
    const auto with = [&](Index only) {
        return enumerated(4, 2, [&](const std::vector<Index>& path) {
            if (only >= 0 && path[1] != only) return -1e300;
            double score = 0.0;
            for (std::size_t t = 0; t < path.size(); ++t) {
                const Index k = path[t];
                score += t == 0 ? mean[k] : mean[2 + 2 * path[t - 1] + k];
                const double value = y[static_cast<Index>(t)];
                if (std::isnan(value)) continue;
                score +=
                    0.5 * mean[11] - 0.5 * mean[10] * (value * value - 2.0 * value * mean[6 + 2 * k] + mean[7 + 2 * k]);
            }
            return score;
        });
    };
    EXPECT_NEAR(model.label_probabilities(mean, 0)(1, 1), std::exp(with(1) - with(-1)), 1e-12);
}

TEST(RowChain, PassesTheBatteries) {
    Vector y = chain_rows(60, 3);
    y[7] = y[30] = kMissing;
    const std::vector<Index> lengths{25, 1, 34};
    const MultilinearModel model = two_states(y, lengths);
    FitOptions options;
    options.tolerance = 1e-12;
    const Optimum optimum = fit(model, options);
    ASSERT_TRUE(optimum.converged()) << optimum.message;
    State state = optimum.state;
    for (int i = 0; i < 2; ++i) {
        const testing::Report report = testing::check_model(model, state);
        EXPECT_TRUE(report.passed()) << report.text();
        Random random(3);
        state = model.start(random);
        model.sweep(state);
    }
    const testing::Report density = testing::check_gradients(model, optimum.state);
    EXPECT_TRUE(density.passed()) << density.text();
    testing::ResponseCheckOptions response;
    response.fit.initial = optimum.state;
    const testing::Report covariance = testing::check_covariance(model, {0, 2, 5, 6, 9, 11}, response);
    EXPECT_TRUE(covariance.passed()) << covariance.text();
    const testing::Report weights = testing::check_case_weights(model, {0, 7, 25, 26, 40, 59}, response);
    EXPECT_TRUE(weights.passed()) << weights.text();
    const auto moved = [&](Index row, Index, double by) {
        Vector changed = y;
        changed[row] += by;
        return two_states(changed, lengths);
    };
    const testing::Report leverage = testing::check_leverage(model, {0, 25, 26, 40, 59}, moved, response);
    EXPECT_TRUE(leverage.passed()) << leverage.text();
    // A row of weight zero is one that was not observed.
    Vector without = y;
    without[40] = kMissing;
    const Expansion a = model.without_row(40).expand(optimum.state.mean, Order::hessian);
    const Expansion b = two_states(without, lengths).expand(optimum.state.mean, Order::hessian);
    EXPECT_NEAR(a.value, b.value, 1e-11 * std::abs(b.value));
    EXPECT_LT(test::relative_error(a.gradient, b.gradient), 1e-12);
    EXPECT_LT(test::relative_error(Matrix(a.hessian), Matrix(b.hessian)), 1e-12);
}

TEST(RowChain, AnswersForHyperparametersOfStepsAndColumns) {
    const Vector y = chain_rows(40, 5);
    const auto build = [&](const Vector& alpha) {
        ModelBuilder builder;
        const Hyperparameter stay = builder.hyperparameter("stay", alpha[0]);
        const Hyperparameter precision = builder.hyperparameter("precision", alpha[1]);
        const auto low = builder.add("mu[1]", normal(-1.0, 0.2));
        const auto high = builder.add("mu[2]", normal(3.5, 0.2));
        const Expression leave = 1.0 - Expression(stay);
        builder.observe_chain({0.5, 0.5}, {LabelWeights::bernoulli(leave), LabelWeights::bernoulli(stay)},
                              {column(y, {normal(low, precision), normal(high, precision)})}, {40});
        return builder.build();
    };
    const testing::Report report = testing::check_sensitivity(build, Vector{{0.8, 0.9}});
    EXPECT_TRUE(report.passed()) << report.text();
}

TEST(RowChain, WithEqualRowsOfTransitionsIsAMixture) {
    const Vector y = chain_rows(50, 7);
    const auto build = [&](bool chain) {
        ModelBuilder builder;
        const auto pi = builder.add("pi", dirichlet({2.0, 1.0}));
        const auto low = builder.add("mu[1]", normal(-1.0, 0.2));
        const auto high = builder.add("mu[2]", normal(3.5, 0.2));
        const LabelledColumn values = column(y, {normal(low, 1.0), normal(high, 0.7)});
        if (chain) {
            builder.observe_chain(pi, {pi, pi}, {values}, {20, 30});
        } else {
            builder.observe_mixture(pi, {values});
        }
        return builder.build();
    };
    FitOptions options;
    options.tolerance = 1e-12;
    const MultilinearModel chain = build(true);
    const Optimum a = fit(chain, options);
    const Optimum b = fit(build(false), options);
    ASSERT_TRUE(a.converged()) << a.message;
    EXPECT_NEAR(a.bound, b.bound, 1e-10 * std::abs(b.bound));
    EXPECT_LT(test::relative_error(a.state.mean, b.state.mean), 1e-9);
}

TEST(RowChain, LeftToRightStepsStayInOrder) {
    // A change point: from the first state only onwards, and the second is the end.
    Vector y(30);
    Random random(2);
    for (Index t = 0; t < 30; ++t) y[t] = (t < 12 ? 1.0 : 5.0) + random.normal();
    ModelBuilder builder;
    const auto p = builder.add("p", beta(1.0, 1.0));
    const auto low = builder.add("mu[1]", normal(0.0, 0.1));
    const auto high = builder.add("mu[2]", normal(6.0, 0.1));
    const LabelWeights only_first = LabelWeights::logs({Expression(0.0), std::nullopt});
    const LabelWeights only_second = LabelWeights::logs({std::nullopt, Expression(0.0)});
    builder.observe_chain(only_first, {p, only_second}, {column(y, {normal(low, 1.0), normal(high, 1.0)})}, {30});
    const MultilinearModel model = builder.build();
    const Optimum optimum = fit(model);
    ASSERT_TRUE(optimum.converged()) << optimum.message;
    const Matrix shares = model.label_probabilities(optimum.state.mean, 0);
    EXPECT_EQ(shares(0, 1), 0.0);
    for (Index t = 1; t < 30; ++t) EXPECT_GE(shares(t, 1), shares(t - 1, 1) - 1e-14);
    EXPECT_LT(shares(8, 1), 0.01);
    EXPECT_GT(shares(15, 1), 0.99);
}

TEST(RowChain, HasTheSameBitsForAnyNumberOfThreads) {
    const Vector y = chain_rows(20000, 5);
    std::vector<Index> lengths(200, 100);
    MultilinearModel model = two_states(y, lengths);
    Random random(1);
    const State state = model.start(random);
    const Expansion one = model.expand(state.mean, Order::hessian);
    for (const int threads : {2, 3}) {
        model.set_threads(threads);
        const Expansion other = model.expand(state.mean, Order::hessian);
        EXPECT_EQ(one.value, other.value);
        EXPECT_EQ(one.gradient, other.gradient);
        EXPECT_EQ(Matrix(one.hessian), Matrix(other.hessian));
    }
}

TEST(RowChain, GibbsStepsHaveTheMeansOfThePosterior) {
    // All but the level of one state is fixed: its posterior mean by quadrature over the density with labels summed
    // out.
    const Vector y = chain_rows(30, 9);
    ModelBuilder builder;
    const auto high = builder.add("mu", normal(3.0, 0.5));
    builder.observe_chain({0.5, 0.5}, {{0.8, 0.2}, {0.3, 0.7}}, {column(y, {normal(0.0, 1.0), normal(high, 1.0)})},
                          {30}, builder.rows("times", 30));
    for (const bool weighted : {false, true}) {
        MultilinearModel model = builder.build();
        if (weighted) model = model.reweighted({3, 20}, Vector{{0.0, 1.5}});
        double total = 0.0;
        double mean = 0.0;
        const double offset = model.log_joint(Vector{{3.0, 9.0}}, 1)[0];
        for (double at = -2.0; at < 8.0; at += 0.01) {
            const double density = std::exp(model.log_joint(Vector{{at, at * at}}, 1)[0] - offset);
            total += density;
            mean += density * at;
        }
        Random random(4);
        Vector statistics{{3.0, 9.0}};
        double sum = 0.0;
        constexpr int kSteps = 20000;
        for (int i = 0; i < kSteps; ++i) {
            model.gibbs(statistics, {false}, random);
            sum += statistics[0];
        }
        EXPECT_NEAR(sum / kSteps, mean / total, 0.015);
    }
}

TEST(RowChain, ChecksKeepLabelsOfStatesThatAreAlike) {
    const Vector y = chain_rows(120, 3);
    ModelBuilder builder;
    const auto first = builder.add("first", dirichlet({1.0, 1.0}));
    std::vector<LabelWeights> steps;
    std::vector<Distribution<family::Normal>> kinds;
    for (int k = 1; k <= 2; ++k) {
        steps.emplace_back(
            builder.add(fmt::format("P[{}]", k), k == 1 ? dirichlet({3.0, 1.0}) : dirichlet({1.0, 3.0})));
        kinds.push_back(normal(builder.add(fmt::format("mu[{}]", k), normal(0.0, 0.1)), 1.0));
    }
    builder.observe_chain(first, steps, {column(y, kinds)}, {120}, builder.rows("times", 120));
    const auto model = std::make_shared<const MultilinearModel>(builder.build());
    const Exchangeable alike = model->exchangeable();
    EXPECT_EQ(alike.blocks, (std::vector<std::vector<Index>>{{1, 2}, {3, 4}}));
    EXPECT_EQ(alike.further, (std::vector<Index>{0, 1, 3}));

    const std::unique_ptr<FittedModel> fitted = fitted_model(model, fit(*model));
    CheckOptions how;
    how.method = CheckMethod::importance;
    const Check found = check(*fitted, how);
    EXPECT_TRUE(found.reliable) << found.unseen;
    // Against Gibbs steps that draw the labels: the levels are too far apart for them to change places.
    Random random(6);
    Vector statistics =
        ModelDensity(*model, fitted->optimum().state)
            .statistics(ModelDensity(*model, fitted->optimum().state).chart().point(fitted->optimum().state.mean));
    Vector sum = Vector::Zero(statistics.size());
    constexpr int kSteps = 20000;
    for (int i = 0; i < kSteps; ++i) {
        model->gibbs(statistics, std::vector<bool>(5, false), random);
        sum += statistics;
    }
    for (const char* name : {"mu[1]", "mu[2]", "log_P[1,1]", "log_P[2,1]"}) {
        const Posterior& posterior = fitted->posterior();
        for (std::size_t v = 0; v < posterior.variables.size(); ++v) {
            if (posterior.variables[v].name != name) continue;
            EXPECT_NEAR(found.variables[v].mean_exact, sum[model->layout().statistic(name)] / kSteps,
                        0.08 * found.variables[v].sd_exact)
                << name;
        }
    }
}

TEST(RowChain, RefusesWhatItCannotUse) {
    const Vector y = chain_rows(10, 1);
    ModelBuilder builder;
    const auto mu = builder.add("mu", normal(0.0, 1.0));
    const std::vector<LabelledColumn> columns{column(y, {normal(mu, 1.0), normal(mu, 2.0)})};
    const auto expect_refusal = [&](const std::function<void()>& call, const std::string& says) {
        try {
            call();
            ADD_FAILURE() << "nothing was refused: " << says;
        } catch (const std::invalid_argument& error) {
            EXPECT_NE(std::string(error.what()).find(says), std::string::npos) << error.what();
        }
    };
    const LabelWeights even{0.5, 0.5};
    expect_refusal([&] { builder.observe_chain(even, {even}, columns, {10}); }, "transitions has 1 entries");
    expect_refusal([&] { builder.observe_chain(even, {even, even}, columns, {4, 5}); }, "add up to 9");
    expect_refusal([&] { builder.observe_chain(even, {even, even}, columns, {10, 0}); }, "sequence 2");
    const Rows rows = builder.rows("times", 10);
    builder.observe_chain(even, {even, even}, columns, {10}, rows);
    const MultilinearModel model = builder.build();
    expect_refusal([&] { model.row_log_likelihoods(Vector{{0.1, 0.01}}, 1, [](const RowAnswers&) {}); }, "chains");
}

}  // namespace
}  // namespace lrvb
