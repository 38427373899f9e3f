// Labels of rows, summed out of a declared model: against explicit indicators, against the streaming mixture, against
// refits and enumeration, and at their edges.

#include "labelled_models.hpp"
#include "mixture_with_indicators.hpp"
#include "support.hpp"

#include <lrvb/data/table.hpp>
#include <lrvb/testing/density_battery.hpp>
#include <lrvb/testing/model_battery.hpp>
#include <lrvb/testing/response_battery.hpp>

#include <fmt/format.h>

namespace lrvb {
namespace {

using test::kMissing;

void expect_all_batteries(const std::function<MultilinearModel(const Matrix&)>& build, const Matrix& values,
                          const FitOptions& how = {}) {
    const MultilinearModel model = build(values);
    FitOptions options = how;
    options.tolerance = 1e-12;
    const Optimum optimum = fit(model, options);
    ASSERT_TRUE(optimum.converged()) << optimum.message;
    // At the optimum, and some way off.
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
    std::vector<Index> statistics;
    for (Index s = 0; s < model.layout().size(); s += 3) statistics.push_back(s);
    const testing::Report covariance = testing::check_covariance(model, statistics, response);
    EXPECT_TRUE(covariance.passed()) << covariance.text();
    std::vector<Index> rows;
    for (Index n = 0; n < model.rows(); n += 1 + model.rows() / 6) rows.push_back(n);
    const testing::Report weights = testing::check_case_weights(model, rows, response);
    EXPECT_TRUE(weights.passed()) << weights.text();
    if (model.inputs().empty()) return;
    const auto moved = [&](Index row, Index input, double by) {
        Matrix changed = values;
        changed(row, input) += by;
        return build(changed);
    };
    std::vector<Index> whole;
    for (const Index n : rows) {
        if (values.row(n).allFinite()) whole.push_back(n);
    }
    const testing::Report leverage = testing::check_leverage(model, whole, moved, response);
    EXPECT_TRUE(leverage.passed()) << leverage.text();
}

TEST(RowMixture, EqualsExplicitIndicatorsAndTheStreamingMixture) {
    const Vector x = test::three_component_rows(400, 5);
    const example::Mixture explicit_model = example::mixture_model(x, 3);
    FitOptions options = explicit_model.ordered_start(x);
    options.tolerance = 1e-12;
    const Optimum optimum = fit(explicit_model.model, options);
    ASSERT_TRUE(optimum.converged()) << optimum.message;
    const std::vector<std::string> names = explicit_model.global_names();

    const MultilinearModel model = test::normal_mixture(x, 3);
    // From the means of the explicit one, so that labels agree.
    FitOptions how;
    how.tolerance = 1e-12;
    State start;
    start.natural = optimum.state.natural.head(model.layout().size());
    start.mean = optimum.state.mean.head(model.layout().size());
    start.clamped.assign(static_cast<std::size_t>(model.layout().variable_count()), false);
    how.initial = start;
    const Optimum found = fit(model, how);
    ASSERT_TRUE(found.converged()) << found.message;
    EXPECT_NEAR(found.bound, optimum.bound, 1e-10 * std::abs(optimum.bound));
    const LinearResponse response(model, found);
    const LinearResponse truth(explicit_model.model, optimum);
    const Vector sd = truth.sd(names);
    EXPECT_LT((response.mean(names) - truth.mean(names)).cwiseAbs().cwiseQuotient(sd).maxCoeff(), 1e-9);
    const Matrix difference = (response.covariance(names) - truth.covariance(names)).cwiseAbs();
    EXPECT_LT(difference.cwiseQuotient(sd * sd.transpose()).maxCoeff(), 1e-10);
    for (const char* name : {"alpha", "mu_precision", "tau_shape", "tau_rate"}) {
        const Vector expected = truth.sensitivity(names, name);
        EXPECT_LT((response.sensitivity(names, name) - expected).cwiseAbs().cwiseQuotient(sd).maxCoeff(),
                  1e-9 * (1.0 + expected.cwiseQuotient(sd).cwiseAbs().maxCoeff()))
            << name;
    }
    // The labels' own q.
    const Matrix shares = model.label_probabilities(found.state.mean, 0);
    for (Index n = 0; n < x.size(); n += 37) {
        const Vector own = explicit_model.model.layout().segment(optimum.state.mean,
                                                                 explicit_model.z[static_cast<std::size_t>(n)].index());
        EXPECT_LT((shares.row(n).transpose() - own).cwiseAbs().maxCoeff(), 1e-10);
    }

    MixtureSpecification specification;
    specification.components = 3;
    specification.prior = MixturePrior::paper(1, MixtureCovariance::full);
    MixtureFitOptions streaming_options;
    streaming_options.tolerance = 1e-12;
    const MixtureFit streaming =
        fit_mixture(std::make_shared<TableSource>(Matrix(x)), specification, streaming_options);
    EXPECT_NEAR(found.bound, streaming.optimum.bound, 1e-10 * std::abs(found.bound));
    const LinearResponse streamed(*streaming.model, streaming.optimum);
    const Functionals functionals = streaming.model->in_data_units(names);
    const Matrix off = (response.covariance(names) - streamed.covariance(functionals)).cwiseAbs();
    EXPECT_LT(off.cwiseQuotient(sd * sd.transpose()).maxCoeff(), 1e-10);
}

TEST(RowMixture, StartsFindSeparatedComponents) {
    const Vector x = test::three_component_rows(600, 9);
    const MultilinearModel model = test::normal_mixture(x, 3);
    double best = -1e300;
    std::vector<double> bounds;
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
        FitOptions options;
        options.seed = seed;
        const Optimum optimum = fit(model, options);
        ASSERT_TRUE(optimum.converged()) << optimum.message;
        bounds.push_back(optimum.bound);
        best = std::max(best, optimum.bound);
    }
    for (const double bound : bounds) EXPECT_NEAR(bound, best, 1e-6);
}

TEST(RowMixture, PassesTheBatteriesWithNormalColumns) {
    const Matrix x = test::three_component_rows(60, 5);
    expect_all_batteries([](const Matrix& values) { return test::normal_mixture(values.col(0), 2); }, x);
}

TEST(RowMixture, PassesTheBatteriesWithASharedPrecisionAndMissingCells) {
    Matrix x(40, 2);
    x.col(0) = test::three_component_rows(40, 6);
    x.col(1) = test::three_component_rows(40, 7);
    x(3, 0) = x(9, 1) = x(20, 0) = x(20, 1) = kMissing;
    expect_all_batteries(test::two_columns, x);
}

TEST(RowMixture, PassesTheBatteriesWithLatentClasses) {
    expect_all_batteries([](const Matrix& values) { return test::latent_classes(values, 2); },
                         test::latent_class_rows(80, 5, 4));
}

TEST(RowMixture, PassesTheBatteriesWithCountsTrialsAndLabels) {
    expect_all_batteries(test::counts_of_all_kinds, test::rows_of_all_kinds(50, 8));
}

TEST(RowMixture, PassesTheBatteriesWithRegressions) {
    const Matrix rows = test::regression_rows(70, 3);
    expect_all_batteries([&](const Matrix& values) { return test::regressions(values.col(0), rows.rightCols(2)); },
                         rows.leftCols(1));
}

TEST(RowMixture, PassesTheBatteriesWithVectors) {
    Random random(4);
    Matrix x = test::random_matrix(40, 2, random);
    x.topRows(20).col(0).array() += 4.0;
    expect_all_batteries(test::vector_mixture, x);
}

TEST(RowMixture, PassesTheBatteriesWithWeightsThatDataChoose) {
    expect_all_batteries([](const Matrix& values) { return test::chosen_weights(values.col(0)); },
                         test::three_component_rows(50, 5));
}

TEST(RowMixture, AnswersForHyperparametersOfColumnsAndWeights) {
    const Vector x = test::three_component_rows(40, 5);
    const auto build = [&](const Vector& alpha) {
        ModelBuilder builder;
        const Hyperparameter precision = builder.hyperparameter("precision", alpha[0]);
        const Hyperparameter share = builder.hyperparameter("share", alpha[1]);
        const auto mu = builder.add("mu", normal(-2.0, 0.5));
        const auto nu = builder.add("nu", normal(2.0, 0.5));
        builder.observe_mixture(LabelWeights::bernoulli(share),
                                {column(x, {normal(mu, precision), normal(nu, 2.0 * precision)})});
        return builder.build();
    };
    const testing::Report report = testing::check_sensitivity(build, Vector{{0.8, 0.4}});
    EXPECT_TRUE(report.passed()) << report.text();
}

TEST(RowMixture, LogJointSumsLabelsOut) {
    // Against the sum over both labels of each row, by hand.
    const Vector x{{-1.0, 0.5, 3.0, kMissing}};
    ModelBuilder builder;
    const Rows rows = builder.rows("rows", 4);
    const auto p = builder.add("p", beta(2.0, 3.0));
    const auto mu = builder.add("mu", normal(0.0, 0.1));
    builder.observe_mixture(p, {column(x, {normal(mu, 1.0), normal(mu + 2.0, 4.0)})}, rows);
    const MultilinearModel model = builder.build();
    const double at_p = 0.3;
    const double at_mu = 0.7;
    const Vector statistics{{std::log(at_p), std::log1p(-at_p), at_mu, at_mu * at_mu}};
    const auto density = [](double value, double mean, double precision) {
        return std::sqrt(precision / (2.0 * M_PI)) * std::exp(-0.5 * precision * (value - mean) * (value - mean));
    };
    double expected = std::log(12.0) + std::log(at_p) + 2.0 * std::log1p(-at_p) + std::log(density(at_mu, 0.0, 0.1));
    std::vector<double> of_rows;
    for (Index n = 0; n < 3; ++n) {
        of_rows.push_back(std::log((1.0 - at_p) * density(x[n], at_mu, 1.0) + at_p * density(x[n], at_mu + 2.0, 4.0)));
        expected += of_rows.back();
    }
    of_rows.push_back(0.0);
    EXPECT_NEAR(model.log_joint(statistics, 1)[0], expected, 1e-12);
    EXPECT_NEAR(model.expand(statistics, Order::value).value, expected, 1e-12);
    model.row_log_likelihoods(statistics, 1, [&](const RowAnswers& answers) {
        ASSERT_EQ(answers.answers.rows(), 4);
        for (Index n = 0; n < 4; ++n) EXPECT_NEAR(answers.answers(n, 0), of_rows[static_cast<std::size_t>(n)], 1e-12);
        EXPECT_TRUE(std::isnan(answers.inputs(3, 0)));
    });
}

TEST(RowMixture, HasTheSameBitsForAnyNumberOfThreads) {
    const Vector x = test::three_component_rows(40000, 5);
    MultilinearModel model = test::normal_mixture(x, 3);
    Random random(1);
    const State state = model.start(random);
    const Expansion one = model.expand(state.mean, Order::hessian);
    const Vector joint = model.log_joint(state.mean, 1);
    for (const int threads : {2, 3}) {
        model.set_threads(threads);
        const Expansion other = model.expand(state.mean, Order::hessian);
        EXPECT_EQ(one.value, other.value);
        EXPECT_EQ(one.gradient, other.gradient);
        EXPECT_EQ(Matrix(one.hessian), Matrix(other.hessian));
        EXPECT_EQ(model.log_joint(state.mean, threads), joint);
    }
}

TEST(RowMixture, RowsOfWeightZeroAreNotThereAndOfTwoAreTwice) {
    const Vector x = test::three_component_rows(30, 5);
    const MultilinearModel model = test::normal_mixture(x, 2);
    Vector fewer(30);
    fewer << x.head(5), x.tail(24), x[12];
    const MultilinearModel expected = test::normal_mixture(fewer, 2);
    const MultilinearModel changed = model.without_row(5).reweighted(12, 2.0);
    Random random(1);
    const State state = model.start(random);
    const Expansion a = changed.expand(state.mean, Order::hessian);
    const Expansion b = expected.expand(state.mean, Order::hessian);
    EXPECT_NEAR(a.value, b.value, 1e-11 * std::abs(b.value));
    EXPECT_LT(test::relative_error(a.gradient, b.gradient), 1e-12);
    EXPECT_LT(test::relative_error(Matrix(a.hessian), Matrix(b.hessian)), 1e-12);
    EXPECT_TRUE(changed.gibbs_work().has_value());
    EXPECT_FALSE(model.reweighted(3, 0.5).gibbs_work().has_value());
}

TEST(RowMixture, OneLabelIsNoMixture) {
    const Vector x = test::three_component_rows(25, 5);
    const auto build = [&](bool labelled) {
        ModelBuilder builder;
        const auto mu = builder.add("mu", normal(0.0, 0.01));
        const auto tau = builder.add("tau", gamma(2.0, 1.0));
        const Rows rows = builder.rows("x", x.size());
        if (labelled) {
            builder.observe_mixture(LabelWeights::logs({Expression(0.0)}), {column(x, {normal(mu, tau)})}, rows);
        } else {
            builder.observe_column(x, normal(mu, tau), rows);
        }
        return builder.build();
    };
    FitOptions options;
    options.tolerance = 1e-12;
    const Optimum a = fit(build(true), options);
    const Optimum b = fit(build(false), options);
    ASSERT_TRUE(a.converged()) << a.message;
    EXPECT_NEAR(a.bound, b.bound, 1e-10 * std::abs(b.bound));
    EXPECT_LT(test::relative_error(a.state.mean, b.state.mean), 1e-10);
}

TEST(RowMixture, OneRowAndEmptyComponentsFit) {
    const Vector x{{0.5}};
    const Optimum optimum = fit(test::normal_mixture(x, 3));
    EXPECT_TRUE(std::isfinite(optimum.bound)) << optimum.message;
    Vector same = Vector::Constant(20, 1.0);
    same.head(10).setConstant(1.5);
    const Optimum flat = fit(test::normal_mixture(same, 3));
    EXPECT_TRUE(std::isfinite(flat.bound)) << flat.message;
}

TEST(RowMixture, LabelsThatNeverOccurAreLeftOut) {
    const Vector x = test::three_component_rows(30, 5);
    const auto build = [&](bool three) {
        ModelBuilder builder;
        const auto mu = builder.add("mu", normal(-3.0, 0.1));
        const auto nu = builder.add("nu", normal(3.0, 0.1));
        std::vector<std::optional<Expression>> logs{std::log(0.4), std::log(0.6)};
        std::vector<Distribution<family::Normal>> kinds{normal(mu, 1.0), normal(nu, 1.0)};
        if (three) {
            logs.insert(logs.begin() + 1, std::nullopt);
            kinds.insert(kinds.begin() + 1, normal(100.0, 1.0));
        }
        builder.observe_mixture(LabelWeights::logs(logs), {column(x, kinds)});
        return builder.build();
    };
    const MultilinearModel two = build(false);
    const MultilinearModel three = build(true);
    const Vector mean{{-2.5, 6.5, 2.8, 8.0}};
    EXPECT_EQ(two.expand(mean, Order::value).value, three.expand(mean, Order::value).value);
    const Matrix shares = three.label_probabilities(mean, 0);
    EXPECT_EQ(shares.col(1).cwiseAbs().maxCoeff(), 0.0);
    EXPECT_LT((shares.rowwise().sum().array() - 1.0).abs().maxCoeff(), 1e-14);
}

TEST(RowMixture, FindsWhatCanBeExchanged) {
    const Vector x = test::three_component_rows(30, 5);
    const MultilinearModel alike = test::normal_mixture(x, 3);
    const Exchangeable found = alike.exchangeable();
    ASSERT_EQ(found.blocks.size(), 3U);
    EXPECT_EQ(found.weights, std::optional<Index>(0));
    EXPECT_EQ(found.blocks[1], (std::vector<Index>{3, 4}));
    EXPECT_EQ(test::latent_classes(test::latent_class_rows(30, 3, 1), 2).exchangeable().blocks.size(), 2U);
    // Priors that differ tell labels apart.
    ModelBuilder builder;
    const auto p = builder.add("p", beta(1.0, 1.0));
    const auto mu = builder.add("mu", normal(-3.0, 0.1));
    const auto nu = builder.add("nu", normal(3.0, 0.1));
    builder.observe_mixture(p, {column(x, {normal(mu, 1.0), normal(nu, 1.0)})});
    EXPECT_TRUE(builder.build().exchangeable().blocks.empty());
}

TEST(RowMixture, BetaWeightsChangePlacesWithTheirLabels) {
    const Vector x = test::three_component_rows(30, 5);
    ModelBuilder builder;
    const auto p = builder.add("p", beta(1.0, 1.0));
    const auto mu = builder.add("mu", normal(0.0, 0.1));
    const auto nu = builder.add("nu", normal(0.0, 0.1));
    builder.observe_mixture(p, {column(x, {normal(mu, 1.0), normal(nu, 1.0)})});
    const MultilinearModel model = builder.build();
    const Exchangeable found = model.exchangeable();
    ASSERT_EQ(found.blocks.size(), 2U);
    // log p, the first statistic, is of the second label.
    EXPECT_EQ(found.blocks[0], (std::vector<Index>{2}));
    const Vector mean{{-0.5, -1.2, -2.0, 4.5, 1.0, 1.7}};
    const Vector exchanged{{-1.2, -0.5, 1.0, 1.7, -2.0, 4.5}};
    EXPECT_NEAR(model.expand(mean, Order::value).value, model.expand(exchanged, Order::value).value, 1e-12);
}

TEST(RowMixture, WeightsOfGroupsChangePlacesWithTheLabels) {
    const Vector x = test::three_component_rows(30, 5);
    ModelBuilder builder;
    const auto first = builder.add("pi[1]", dirichlet({1.0, 1.0}));
    const auto second = builder.add("pi[2]", dirichlet({2.0, 2.0}));
    const auto mu = builder.add("mu[1]", normal(0.0, 0.2));
    const auto nu = builder.add("mu[2]", normal(0.0, 0.2));
    std::vector<Index> group;
    for (Index n = 0; n < x.size(); ++n) group.push_back(n % 3 == 0 ? 1 : 0);
    builder.observe_mixture(LabelWeights::chosen({first, second}, group),
                            {column(x, {normal(mu, 1.0), normal(nu, 1.0)})});
    const Exchangeable found = builder.build().exchangeable();
    EXPECT_EQ(found.blocks, (std::vector<std::vector<Index>>{{2}, {3}}));
    EXPECT_EQ(found.further, (std::vector<Index>{0, 1}));
    EXPECT_FALSE(found.weights.has_value());
}

TEST(RowMixture, ChecksKeepLabelsThatAreAlike) {
    Random data(12);
    Vector x(300);
    for (Index n = 0; n < x.size(); ++n) x[n] = (n % 3 == 0 ? 4.0 : 0.0) + data.normal();
    const auto model = std::make_shared<const MultilinearModel>(test::normal_mixture(x, 2));
    const std::unique_ptr<FittedModel> fitted = fitted_model(model, fit(*model));
    CheckOptions how;
    how.method = CheckMethod::importance;
    const Check found = check(*fitted, how);
    EXPECT_TRUE(found.reliable) << found.unseen;
    // Against Gibbs steps, which draw the labels: the components are too far apart for them to change places.
    Random random(6);
    const ModelDensity density(*model, fitted->optimum().state);
    Vector statistics = density.statistics(density.chart().point(fitted->optimum().state.mean));
    Vector sum = Vector::Zero(statistics.size());
    constexpr int kSteps = 20000;
    for (int i = 0; i < kSteps; ++i) {
        model->gibbs(statistics, std::vector<bool>(5, false), random);
        sum += statistics;
    }
    int compared = 0;
    for (const CheckedVariable& variable : found.variables) {
        const bool is_asked = variable.name.starts_with("mu") || variable.name.starts_with("log_");
        if (!is_asked) continue;
        ++compared;
        EXPECT_NEAR(variable.mean_exact, sum[model->layout().statistic(variable.name)] / kSteps,
                    0.08 * variable.sd_exact)
            << variable.name;
    }
    EXPECT_EQ(compared, 6);
}

TEST(RowMixture, GibbsStepsAgreeWithImportanceSampling) {
    // Two ways to the exact posterior: labels drawn, and labels summed out.
    const Vector x = test::three_component_rows(40, 3);
    ModelBuilder builder;
    const auto pi = builder.add("pi", dirichlet({2.0, 2.0}));
    const auto mu = builder.add("mu", normal(-3.0, 1.0));
    const auto nu = builder.add("nu", normal(3.0, 1.0));
    const auto tau = builder.add("tau", gamma(3.0, 2.0));
    builder.observe_mixture(pi, {column(x, {normal(mu, tau), normal(nu, tau)})});
    const MultilinearModel model = builder.build();
    const Optimum optimum = fit(model);
    ASSERT_TRUE(optimum.converged()) << optimum.message;
    Random random(2);
    Vector statistics = ModelDensity(model, optimum.state)
                            .statistics(ModelDensity(model, optimum.state).chart().point(optimum.state.mean));
    const Index mu_at = model.layout().statistic("mu");
    const Index tau_at = model.layout().statistic("log_tau");
    double sum_mu = 0.0;
    double sum_tau = 0.0;
    constexpr int kSteps = 40000;
    for (int i = 0; i < kSteps; ++i) {
        model.gibbs(statistics, std::vector<bool>(4, false), random);
        sum_mu += statistics[mu_at];
        sum_tau += statistics[tau_at];
    }
    // By self-normalised importance sampling from the fitted q, over the density with labels summed out.
    Random draws(5);
    double total = 0.0;
    double mean_mu = 0.0;
    double mean_tau = 0.0;
    double offset = 0.0;
    const Layout& layout = model.layout();
    for (int i = 0; i < 40000; ++i) {
        Vector values(layout.size());
        double log_q = 0.0;
        for (Index j = 0; j < layout.variable_count(); ++j) {
            std::visit(
                [&](const auto& family) {
                    const Vector natural = layout.segment(optimum.state.natural, j);
                    const Vector drawn = family.sample(natural, draws);
                    layout.segment(values, j) = drawn;
                    log_q += natural.dot(drawn) - family.log_partition(natural);
                },
                layout[j].family);
        }
        const double log_weight = model.log_joint(values, 1)[0] - log_q;
        if (i == 0) offset = log_weight;
        const double weight = std::exp(log_weight - offset);
        total += weight;
        mean_mu += weight * values[mu_at];
        mean_tau += weight * values[tau_at];
    }
    EXPECT_NEAR(sum_mu / kSteps, mean_mu / total, 0.02);
    EXPECT_NEAR(sum_tau / kSteps, mean_tau / total, 0.02);
}

TEST(RowMixture, AChangePointIsTheLabelOfOneRow) {
    // Counts that change their rate at an unknown place: one row with a column for each time, a label for each place.
    // Against the sum over all places, with rates integrated out in closed form.
    const Vector counts{{5, 4, 6, 3, 5, 7, 4, 5, 1, 0, 2, 1, 1, 0, 1, 2}};
    const Index times = counts.size();
    ModelBuilder builder;
    const auto before = builder.add("before", gamma(2.0, 0.5));
    const auto after = builder.add("after", gamma(2.0, 0.5));
    std::vector<LabelledColumn> columns;
    for (Index t = 0; t < times; ++t) {
        std::vector<Distribution<likelihood::Poisson>> places;
        for (Index k = 0; k < times; ++k) places.push_back(poisson(t <= k ? before : after));
        columns.push_back(column(Matrix::Constant(1, 1, counts[t]), places));
    }
    const Vector even = Vector::Constant(times, 1.0 / static_cast<double>(times));
    builder.observe_mixture(SimplexParameter(even), columns);
    const MultilinearModel model = builder.build();
    const Optimum optimum = fit(model);
    ASSERT_TRUE(optimum.converged()) << optimum.message;
    const testing::Report report = testing::check_model(model, optimum.state);
    EXPECT_TRUE(report.passed()) << report.text();

    // log p(places | counts) up to a constant: two Gamma–Poisson evidences.
    Vector log_share(times);
    Vector mean_before(times);
    for (Index k = 0; k < times; ++k) {
        const double first = counts.head(k + 1).sum();
        const double second = counts.tail(times - k - 1).sum();
        const auto evidence = [](double sum, double n) {
            return std::lgamma(2.0 + sum) - (2.0 + sum) * std::log(0.5 + n);
        };
        log_share[k] =
            evidence(first, static_cast<double>(k + 1)) + evidence(second, static_cast<double>(times - k - 1));
        mean_before[k] = (2.0 + first) / (0.5 + static_cast<double>(k + 1));
    }
    Vector share = (log_share.array() - log_share.maxCoeff()).exp();
    share /= share.sum();
    const Matrix found = model.label_probabilities(optimum.state.mean, 0);
    EXPECT_GT(found(0, 7), 0.5);
    EXPECT_LT((found.row(0).transpose() - share).cwiseAbs().maxCoeff(), 0.1);
    EXPECT_NEAR(optimum.state.mean[0], mean_before.dot(share), 0.1);
}

TEST(RowMixture, ManyLabelsAreDifferentiatedByRows) {
    // The same numbers by the two ways that curvature is computed: 40 labels of three rows, each row twice as heavy.
    Random random(8);
    ModelBuilder builder;
    std::vector<Distribution<family::Normal>> kinds;
    for (Index k = 0; k < 40; ++k) {
        kinds.push_back(normal(builder.add(fmt::format("mu[{}]", k + 1), normal(random.normal(), 1.0)), 1.0));
    }
    const Vector x{{0.3, -0.7, 1.2}};
    builder.observe_mixture(SimplexParameter(Vector::Constant(40, 1.0 / 40)), {column(x, kinds)}, builder.rows("x", 3));
    const MultilinearModel model = builder.build().reweighted({0, 1, 2}, Vector::Constant(3, 2.0));
    Random start(1);
    const testing::Report report = testing::check_model(model, model.start(start));
    EXPECT_TRUE(report.passed()) << report.text();
}

TEST(RowMixture, RefusesWhatItCannotUse) {
    const Vector x{{1.0, 2.0, 3.0}};
    ModelBuilder builder;
    const auto pi = builder.add("pi", dirichlet({1.0, 1.0}));
    const auto mu = builder.add("mu", normal(0.0, 1.0));
    const Rows rows = builder.rows("people", 3);
    const auto expect_refusal = [&](const std::function<void()>& call, const std::string& says) {
        try {
            call();
            ADD_FAILURE() << "nothing was refused: " << says;
        } catch (const std::invalid_argument& error) {
            EXPECT_NE(std::string(error.what()).find(says), std::string::npos) << error.what();
        }
    };
    expect_refusal([&] { builder.observe_mixture(pi, {}, rows); }, "there are no columns");
    expect_refusal([&] { builder.observe_mixture(pi, {column(x, {normal(mu, 1.0)})}, rows); },
                   "column 1 has 1 distributions, but there are 2 labels");
    expect_refusal(
        [&] {
            builder.observe_mixture(pi, {column(Vector(x.head(2)), {normal(mu, 1.0), normal(mu, 2.0)})}, rows);
        },
        "2 rows are given, but 'people' has 3");
    expect_refusal(
        [&] {
            builder.observe_mixture(pi, {column(Vector{{0.0, 2.5, 1.0}}, {poisson(1.0), poisson(2.0)})}, rows);
        },
        "column 1, row 2");
    expect_refusal(
        [&] {
            builder.observe_mixture(pi,
                                    {column(Matrix{{1.0, kMissing}, {1.0, 2.0}, {1.0, 2.0}},
                                            {mv_normal(Vector::Zero(2), Matrix::Identity(2, 2)),
                                             mv_normal(Vector::Ones(2), Matrix::Identity(2, 2))})},
                                    rows);
        },
        "1 of its 2 numbers are missing");
    expect_refusal(
        [&] {
            builder.observe_mixture(pi, {column(x, {normal(mu, mu), normal(mu, 1.0)})}, rows);
        },
        "column 1 ~ Normal");
    const auto own = builder.add("own", normal(0.0, 1.0), rows[1]);
    expect_refusal(
        [&] {
            builder.observe_mixture(pi, {column(x, {normal(own, 1.0), normal(mu, 1.0)})}, rows);
        },
        "belongs to row 2 of 'people'");
    // Nothing of all that was kept.
    builder.observe_mixture(pi, {column(x, {normal(mu, 1.0), normal(mu, 2.0)}).as("height")}, rows);
    expect_refusal(
        [&] {
            builder.observe_mixture(pi, {column(x, {normal(mu, 1.0), normal(mu, 2.0)}).as("height")}, rows);
        },
        "has an input 'height' already");
    EXPECT_EQ(builder.build().inputs(), std::vector<std::string>{"height"});
    EXPECT_EQ(builder.build().labelled(), (std::vector<std::pair<Index, Index>>{{2, 3}}));
}

}  // namespace
}  // namespace lrvb
