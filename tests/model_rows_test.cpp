// Rows of declared models: case weights and leverage against refits, closed forms and the other models that have rows.

#include "support.hpp"

#include <lrvb/lrvb.hpp>
#include <lrvb/testing/response_battery.hpp>

#include <Eigen/QR>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <malloc.h>
#include <numeric>

namespace lrvb {
namespace {

std::vector<Index> every_row(const MultilinearModel& model) {
    std::vector<Index> rows(static_cast<std::size_t>(model.rows()));
    std::iota(rows.begin(), rows.end(), Index{0});
    return rows;
}

/// Everything that the visitor is told, in one piece.
RowAnswers all_answers(const std::function<void(const RowVisitor&)>& ask) {
    RowAnswers all;
    ask([&](const RowAnswers& answers) {
        const Index before = all.weights.size();
        const Index after = before + answers.weights.size();
        EXPECT_EQ(answers.first, before);
        all.inputs.conservativeResize(after, answers.inputs.cols());
        all.weights.conservativeResize(after);
        all.answers.conservativeResize(after, answers.answers.cols());
        all.inputs.bottomRows(after - before) = answers.inputs;
        all.weights.tail(after - before) = answers.weights;
        all.answers.bottomRows(after - before) = answers.answers;
    });
    return all;
}

RowAnswers case_weights(const LinearResponse& response, const Functionals& functionals) {
    return all_answers([&](const RowVisitor& visit) { response.case_weights(functionals, visit); });
}

RowAnswers leverage(const LinearResponse& response, const Functionals& functionals) {
    return all_answers([&](const RowVisitor& visit) { response.leverage(functionals, visit); });
}

FitOptions tight() {
    FitOptions options;
    options.tolerance = 1e-12;
    return options;
}

void expect_same_fit(const MultilinearModel& actual, const MultilinearModel& expected,
                     const FitOptions& options = tight()) {
    const Optimum a = fit(actual, options);
    const Optimum b = fit(expected, options);
    ASSERT_TRUE(a.converged()) << a.message;
    ASSERT_TRUE(b.converged()) << b.message;
    EXPECT_NEAR(a.bound, b.bound, 1e-10 * std::abs(b.bound));
    EXPECT_LT(test::relative_error(a.state.mean, b.state.mean), 1e-10);
}

void expect_refusal(const std::function<void()>& call, const std::vector<std::string>& says) {
    try {
        call();
        ADD_FAILURE() << "nothing was refused";
    } catch (const std::invalid_argument& error) {
        for (const std::string& part : says) {
            EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what() << "\nlacks: " << part;
        }
    }
}

/// Checks case weights and leverage of all rows of the model that `build` makes of its observed numbers, one row a row.
void expect_rows_equal_refits(const std::function<MultilinearModel(const Matrix&)>& build, const Matrix& values,
                              const testing::ResponseCheckOptions& options = {}) {
    const MultilinearModel model = build(values);
    const testing::Report weights = testing::check_case_weights(model, every_row(model), options);
    EXPECT_TRUE(weights.passed()) << weights.text();
    const auto moved = [&](Index row, Index input, double by) {
        Matrix changed = values;
        changed(row, input) += by;
        return build(changed);
    };
    const testing::Report values_moved = testing::check_leverage(model, every_row(model), moved, options);
    EXPECT_TRUE(values_moved.passed()) << values_moved.text();
}

// ---------------------------------------------------------------------------------------------------------------------
// Against refits

const Vector kEffects{{28.0, 8.0, -3.0, 7.0, -1.0, 1.0, 18.0, 12.0}};
const Vector kErrors{{15.0, 10.0, 16.0, 11.0, 9.0, 11.0, 10.0, 18.0}};

MultilinearModel schools(const Matrix& y) {
    ModelBuilder builder;
    const Rows rows = builder.rows("schools", y.rows());
    const auto mu = builder.add("mu", normal(0.0, 1e-3));
    const auto tau = builder.add("tau", gamma(2.0, 50.0));
    // From the last to the first: the order of the calls is not that of the rows.
    for (Index i = y.rows() - 1; i >= 0; --i) {
        const auto theta = builder.add(fmt::format("theta[{}]", i + 1), normal(mu, tau));
        builder.observe(y(i, 0), normal(theta, 1.0 / (kErrors[i] * kErrors[i])), rows[i]);
    }
    return builder.build();
}

TEST(ModelRows, OfAHierarchicalModelEqualRefits) {
    expect_rows_equal_refits(schools, kEffects);
}

TEST(ModelRows, OfAColumnWithUnknownMeanAndPrecisionEqualRefits) {
    const auto build = [](const Matrix& y) {
        ModelBuilder builder;
        const auto mu = builder.add("mu", normal(0.0, 0.01));
        const auto tau = builder.add("tau", gamma(2.0, 1.0));
        builder.observe_column(y.col(0), normal(2.0 * mu + 1.0, 0.5 * tau), builder.rows("x", y.rows()));
        return builder.build();
    };
    expect_rows_equal_refits(build, Vector{{1.0, 2.5, -0.3, 4.0, 0.0}});
}

const Matrix kDesign{{1.0, 0.2, 1.0}, {1.0, -1.0, 0.0}, {1.0, 0.5, -1.0}, {1.0, 2.0, 0.0}, {1.0, 1.0, 1.0}};
const Vector kResponses{{1.0, 0.1, 2.0, 2.5, 1.2}};

template <class Design>
MultilinearModel regression(const Vector& y, const Design& design, bool named = true) {
    ModelBuilder builder;
    std::vector<Variable<family::Normal>> beta;
    for (Index j = 0; j < design.cols(); ++j)
        beta.push_back(builder.add(fmt::format("beta[{}]", j + 1), normal(0.3, 0.2)));
    const auto tau = builder.add("tau", gamma(3.0, 1.0));
    const Rows rows = named ? builder.rows("x", y.size()) : Rows();
    builder.observe_linear(y, design, beta, 2.0 * tau, rows);
    return builder.build();
}

TEST(ModelRows, OfARegressionEqualRefits) {
    expect_rows_equal_refits([](const Matrix& y) { return regression(y.col(0), kDesign); }, kResponses);
    expect_rows_equal_refits([](const Matrix& y) { return regression(y.col(0), SparseMatrix(kDesign.sparseView())); },
                             kResponses);
}

TEST(ModelRows, OfARegressionOnACorrelatedVectorEqualRefits) {
    const auto build = [](const Matrix& y) {
        ModelBuilder builder;
        const auto beta = builder.add("beta", mv_normal(Vector(Vector::Zero(3)), Matrix(Matrix::Identity(3, 3))));
        const auto tau = builder.add("tau", gamma(3.0, 1.0));
        const auto weight = builder.add("weight", gamma(5.0, 5.0));
        builder.observe_linear(y.col(0), kDesign, beta, tau * weight, builder.rows("x", y.rows()));
        return builder.build();
    };
    expect_rows_equal_refits(build, kResponses);
}

const Vector kCounts{{5.0, 1.0, 5.0, 14.0, 3.0}};
const Vector kHours{{94.3, 15.7, 62.9, 126.0, 5.2}};

TEST(ModelRows, OfCountsWithExposuresEqualRefits) {
    ModelBuilder builder;
    const auto scale = builder.add("scale", gamma(3.0, 3.0));
    const auto rate = builder.add("rate", gamma(1.5, 2.0 * scale));
    builder.observe_counts(kCounts, kHours, 0.5 * rate * scale, builder.rows("pumps", 5));
    const MultilinearModel model = builder.build();
    const testing::Report report = testing::check_case_weights(model, every_row(model));
    EXPECT_TRUE(report.passed()) << report.text();
}

TEST(ModelRows, OfSuccessesAndLabelsEqualRefits) {
    ModelBuilder builder;
    const Rows trials = builder.rows("trials", 3);
    const Rows coins = builder.rows("coins", 4);
    const Rows labels = builder.rows("labels", 3);
    const auto p = builder.add("p", beta(2.0, 3.0));
    const auto pi = builder.add("pi", dirichlet({1.0, 2.0}));
    const auto z = builder.add("z", categorical(pi));
    builder.observe_column(Vector{{3.0, 0.0, 7.0}}, binomial(10, p), trials);
    builder.observe_column(Vector{{1.0, 0.0, 1.0, 1.0}}, mixture(z, {bernoulli(p), bernoulli(0.6)}), coins);
    builder.observe_column(Vector{{1.0, 0.0, 1.0}}, categorical(pi), labels);
    builder.observe(Vector{{4.0, 2.0}}, multinomial(pi), labels[1]);
    const MultilinearModel model = builder.build();
    const testing::Report report = testing::check_case_weights(model, every_row(model));
    EXPECT_TRUE(report.passed()) << report.text();
}

TEST(ModelRows, OfGammaObservationsEqualRefits) {
    const auto build = [](const Matrix& x) {
        ModelBuilder builder;
        const auto rate = builder.add("rate", gamma(2.0, 1.0));
        const auto weight = builder.add("weight", gamma(2.0, rate));
        builder.observe_column(x.col(0), gamma(2.5, rate * weight), builder.rows("x", x.rows()));
        return builder.build();
    };
    expect_rows_equal_refits(build, Vector{{0.4, 1.3, 2.2, 0.9}});
}

const Matrix kTable{{0.3, 0.1}, {-1.0, 2.0}, {0.5, 0.8}, {1.5, -0.7}};

TEST(ModelRows, OfAMultivariateNormalEqualRefits) {
    const auto build = [](const Matrix& x) {
        ModelBuilder builder;
        const auto mu = builder.add("mu", mv_normal(Vector{{0.0, 0.5}}, Matrix{{0.2, 0.0}, {0.0, 0.3}}));
        const auto lambda = builder.add("Lambda", wishart(4.0, Matrix{{2.0, 0.5}, {0.5, 1.0}}));
        builder.observe_rows(x, mv_normal(mu, lambda), builder.rows("x", x.rows()));
        return builder.build();
    };
    expect_rows_equal_refits(build, kTable);
}

TEST(ModelRows, WithAMissingEntryHaveTheOthersAsInputs) {
    const auto build = [](const Matrix& x) {
        ModelBuilder builder;
        const Rows rows = builder.rows("x", x.rows());
        const auto mu = builder.add("mu", mv_normal(Vector{{0.0, 0.5}}, Matrix{{0.2, 0.0}, {0.0, 0.3}}));
        const auto lambda = builder.add("Lambda", wishart(4.0, Matrix{{2.0, 0.5}, {0.5, 1.0}}));
        const auto missing = builder.add("missing", flat(family::Normal{}));
        for (Index n = 0; n < x.rows(); ++n) {
            if (n == 2) {
                builder.observe({x(n, 0), missing}, mv_normal(mu, lambda), rows[n]);
            } else {
                builder.observe(Vector(x.row(n)), mv_normal(mu, lambda), rows[n]);
            }
        }
        return builder.build();
    };
    expect_rows_equal_refits(build, kTable);
    const MultilinearModel model = build(kTable);
    EXPECT_EQ(model.inputs(), (std::vector<std::string>{"y[1]", "y[2]"}));
    const RowAnswers answers = leverage(LinearResponse(model, fit(model)), std::vector<std::string>{"mu[1]"});
    EXPECT_EQ(answers.inputs(2, 0), kTable(2, 0));
    EXPECT_TRUE(std::isnan(answers.inputs(2, 1)));
    EXPECT_EQ(answers.answers(2, 1), 0.0);
}

TEST(ModelRows, OfObservedMatricesEqualRefits) {
    const auto build = [](const Matrix& x) {
        ModelBuilder builder;
        const auto scale = builder.add("scale", wishart(5.0, Matrix{{1.0, 0.2}, {0.2, 2.0}}));
        const auto weight = builder.add("weight", gamma(2.0, 2.0));
        builder.observe_rows(x, wishart(4.0, scaled(weight, scale)), builder.rows("x", x.rows()));
        return builder.build();
    };
    expect_rows_equal_refits(build, Matrix{{2.0, 0.5, 1.0}, {1.0, -0.3, 0.8}, {3.0, 1.0, 2.0}});
}

/// A mixture of two normals with an indicator for every row; with `own`, each belongs to its row.
struct IndicatorMixture {
    MultilinearModel model;
    FitOptions options;
};

IndicatorMixture indicator_mixture(const Vector& x, bool own, Index without = -1) {
    ModelBuilder builder;
    const Rows rows = builder.rows("x", x.size());
    const auto pi = builder.add("pi", dirichlet({1.0, 1.0}));
    std::vector<Distribution<family::Normal>> kinds;
    for (Index k = 0; k < 2; ++k) {
        const auto mu = builder.add(fmt::format("mu[{}]", k + 1), normal(0.0, 0.01));
        const auto tau = builder.add(fmt::format("tau[{}]", k + 1), gamma(2.0001, 0.1));
        kinds.push_back(normal(mu, tau));
    }
    FitOptions options = tight();
    for (Index n = 0; n < x.size(); ++n) {
        if (n == without) continue;
        const auto z = builder.add(fmt::format("z[{}]", n + 1), categorical(pi), own ? rows[n] : Row());
        builder.observe(x[n], mixture(z, kinds), rows[n]);
        options.start(z, x[n] < x.mean() ? Vector{{0.95, 0.05}} : Vector{{0.05, 0.95}});
    }
    return {builder.build(), options};
}

Vector two_groups(Index rows) {
    Random random(11);
    Vector x(rows);
    for (Index n = 0; n < rows; ++n) x[n] = (n % 3 == 0 ? -1.5 : 1.5) + random.normal();
    return x;
}

TEST(ModelRows, OfAMixtureWithIndicatorsEqualRefits) {
    const Vector x = two_groups(24);
    const IndicatorMixture mixture = indicator_mixture(x, false);
    testing::ResponseCheckOptions options;
    options.fit = mixture.options;
    options.step = 5e-4;  // row 0 lies between the components, which then move by five sds for one of the row
    const std::vector<Index> rows{0, 5, 13, 23};
    const testing::Report weights = testing::check_case_weights(mixture.model, rows, options);
    EXPECT_TRUE(weights.passed()) << weights.text();
    const auto moved = [&](Index row, Index, double by) {
        Vector changed = x;
        changed[row] += by;
        return indicator_mixture(changed, false).model;
    };
    const testing::Report values = testing::check_leverage(mixture.model, rows, moved, options);
    EXPECT_TRUE(values.passed()) << values.text();
}

// ---------------------------------------------------------------------------------------------------------------------
// Against closed forms and the other models that have rows

// E rate = (a + Σy)/(b + Σe).
TEST(ModelRows, OfCountsUnderAGammaRateHaveTheClosedForm) {
    ModelBuilder builder;
    const auto rate = builder.add("rate", gamma(1.5, 2.0));
    builder.observe_counts(kCounts, kHours, rate, builder.rows("pumps", 5));
    const MultilinearModel model = builder.build();
    const LinearResponse response(model, fit(model));
    const RowAnswers answers = case_weights(response, {rate});
    const double above = 1.5 + kCounts.sum();
    const double below = 2.0 + kHours.sum();
    const Vector expected = kCounts / below - above * kHours / (below * below);
    EXPECT_LT((answers.answers - expected).cwiseAbs().maxCoeff(), 1e-14);
    EXPECT_EQ(answers.weights, Vector(Vector::Ones(5)));
    EXPECT_TRUE(model.inputs().empty());
}

// With flat coefficients the mean of Xβ is Hy, whatever the precision.
TEST(ModelRows, OfARegressionHaveTheHatValues) {
    ModelBuilder builder;
    std::vector<Variable<family::Normal>> beta;
    for (Index j = 0; j < 3; ++j) beta.push_back(builder.add(fmt::format("beta[{}]", j + 1), flat(family::Normal{})));
    const auto tau = builder.add("tau", gamma(3.0, 1.0));
    builder.observe_linear(kResponses, kDesign, beta, tau, builder.rows("x", 5).as("yield"));
    const MultilinearModel model = builder.build();
    const LinearResponse response(model, fit(model, tight()));
    const RowAnswers answers = leverage(response, {beta[0], beta[1], beta[2]});
    const Matrix q = kDesign.householderQr().householderQ() * Matrix::Identity(5, 3);
    const Matrix hat = q * q.transpose();
    EXPECT_LT((kDesign * answers.answers.transpose() - hat).cwiseAbs().maxCoeff(), 1e-10);
    EXPECT_EQ(answers.inputs, Matrix(kResponses));
    EXPECT_EQ(model.inputs(), std::vector<std::string>{"yield"});
}

TEST(ModelRows, OfADeclaredRegressionAreThoseOfTheRegressionModel) {
    const DataFrame frame = read_frame(LRVB_DATA_DIR "/mtcars.csv", {.columns = {"mpg", "wt", "hp"}});
    const auto design = std::make_shared<const RegressionDesign>(regression_design(frame, 0));
    const RegressionModel model(design);
    const RegressionPrior& prior = model.prior();
    const LinearResponse response(model, fit(model, tight()));
    const Functionals functionals = model.in_data_units({"beta[wt]", "beta[hp]", "tau", "log_tau"});

    ModelBuilder builder;
    std::vector<Variable<family::Normal>> beta;
    beta.push_back(builder.add("alpha", normal(prior.intercept_mean, 1.0 / prior.intercept_variance)));
    beta.push_back(builder.add("wt", normal(prior.mean[0], 1.0 / prior.variance[0])));
    beta.push_back(builder.add("hp", normal(prior.mean[1], 1.0 / prior.variance[1])));
    const auto tau = builder.add("tau", gamma(prior.shape, prior.rate));
    Matrix x(design->columns.rows(), 3);
    x << Vector::Ones(x.rows()), design->columns.rowwise() - model.centre().transpose();
    builder.observe_linear(design->y, x, beta, tau, builder.rows("cars", x.rows()));
    const MultilinearModel declared = builder.build();
    const LinearResponse other(declared, fit(declared, tight()));
    const Functionals same{beta[1], beta[2], tau, log(tau)};
    for (Index v = 0; v < 4; ++v) {
        EXPECT_LT(test::relative_error(case_weights(other, same).answers.col(v),
                                       case_weights(response, functionals).answers.col(v)),
                  1e-8);
        EXPECT_LT(
            test::relative_error(leverage(other, same).answers.col(v), leverage(response, functionals).answers.col(v)),
            1e-8);
    }
}

TEST(ModelRows, OfAMixtureWithItsOwnIndicatorsAreThoseOfTheStreamingMixture) {
    const Vector x = two_groups(60);
    const std::vector<std::string> names{"log_pi[1]", "mu[1]", "mu[2]", "tau[1]", "log_tau[2]"};
    MixtureSpecification specification;
    specification.components = 2;
    specification.prior = MixturePrior::paper(1, MixtureCovariance::full);
    specification.standardisation = {Vector::Zero(1), Vector::Ones(1)};
    MixtureFitOptions mixture_options;
    mixture_options.tolerance = 1e-12;
    mixture_options.restarts = 1;  // the optimum of the partition, as the other's: of so few rows there is a better one
    const MixtureFit streaming = fit_mixture(std::make_shared<TableSource>(Matrix(x)), specification, mixture_options);
    const LinearResponse expected(*streaming.model, streaming.optimum);

    const IndicatorMixture declared = indicator_mixture(x, true);
    const LinearResponse response(declared.model, fit(declared.model, declared.options));
    const Functionals functionals = streaming.model->in_data_units(names);
    const RowAnswers weights = case_weights(response, names);
    const RowAnswers values = leverage(response, names);
    EXPECT_LT(test::relative_error(weights.answers, case_weights(expected, functionals).answers), 1e-10);
    EXPECT_LT(test::relative_error(values.answers, leverage(expected, functionals).answers), 1e-10);
    EXPECT_EQ(values.inputs, Matrix(x));
}

// A fit does not weigh the entropies of variables, but the streaming mixture, which has maximised its indicators out,
// is refitted with weights.
TEST(ModelRows, OfAMixtureWithItsOwnIndicatorsEqualRefitsWithWeights) {
    const Vector x = two_groups(40);
    const IndicatorMixture declared = indicator_mixture(x, true);
    const LinearResponse response(declared.model, fit(declared.model, declared.options));
    const std::vector<std::string> names{"log_pi[1]", "mu[1]", "mu[2]", "tau[1]", "log_tau[2]"};
    const RowAnswers answers = case_weights(response, names);

    MixtureSpecification specification;
    specification.components = 2;
    specification.prior = MixturePrior::paper(1, MixtureCovariance::full);
    specification.standardisation = {Vector::Zero(1), Vector::Ones(1)};
    specification.weighted = true;
    Matrix table(x.size(), 2);
    table << x, Vector::Ones(x.size());
    MixtureFitOptions options;
    options.tolerance = 1e-12;
    options.restarts = 1;  // the optimum of the partition, as the other's
    const MixtureFit whole = fit_mixture(std::make_shared<TableSource>(table), specification, options);
    for (const Index row : {0, 7, 21}) {
        const auto means = [&](double by) -> Vector {
            Matrix changed = table;
            changed(row, 1) += by;
            const MixtureModel model(std::make_shared<TableSource>(changed), specification);
            FitOptions near = tight();
            near.initial = whole.optimum.state;
            const Optimum optimum = fit(model, near);
            EXPECT_TRUE(optimum.converged()) << optimum.message;
            return LinearResponse(model, optimum).mean(model.in_data_units(names));
        };
        const Vector expected = testing::detail::refit_derivative(means, 2e-3);
        EXPECT_LT(test::relative_error(answers.answers.row(row).transpose(), expected), 1e-6) << row;
    }
}

// docs/guide.md: it compiles, and a row moves the mean the way that was foretold, up to the factor of two that the
// second order is when one of eight rows goes.
TEST(ModelRows, OfTheGuideForetellWhatDroppingOneDoes) {
    const Vector& effect = kEffects;
    const Vector& error = kErrors;
    ModelBuilder builder;
    Rows schools = builder.rows("schools", 8);
    auto mu = builder.add("mu", normal(0.0, 0.001));
    auto tau = builder.add("tau", gamma(2.0, 50.0));
    for (Index i = 0; i < 8; ++i) {
        auto theta = builder.add("theta[" + std::to_string(i + 1) + "]", normal(mu, tau));
        builder.observe(effect[i], normal(theta, 1.0 / (error[i] * error[i])), schools[i]);
    }
    MultilinearModel model = builder.build();
    LinearResponse response(model, fit(model));
    Vector moves(8);
    response.case_weights(
        {mu}, [&](const RowAnswers& rows) { moves.segment(rows.first, rows.answers.rows()) = -rows.answers.col(0); });
    const double before = response.mean({mu})[0];
    for (Index n = 0; n < 8; ++n) {
        const double after = fit(model.without_row(n)).state.mean[model.layout().statistic("mu")];
        EXPECT_GT(moves[n] / (after - before), 0.5) << n;
        EXPECT_LT(moves[n] / (after - before), 1.0) << n;
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// Rows that are weighted and dropped

TEST(ReweightedRows, AreRowsThatWereNeverObservedOrObservedTwice) {
    const auto build = [](const std::vector<Index>& times) {
        ModelBuilder builder;
        const Rows columns = builder.rows("columns", 3);
        const Rows tables = builder.rows("tables", 2);
        const auto h = builder.hyperparameter("h", 1.5);
        const auto mu = builder.add("mu", normal(0.0, 0.1));
        const auto tau = builder.add("tau", gamma(2.0, h));
        const auto lambda = builder.add("Lambda", wishart(3.0, Matrix(Matrix::Identity(2, 2))));
        const Vector y{{1.0, 4.0, -2.0}};
        const Vector counts{{3.0, 0.0, 2.0}};
        const Vector exposures{{1.0, 0.5, 2.0}};
        const bool as_columns = times.empty();
        if (as_columns) {
            builder.observe_column(y, normal(mu, h * tau), columns);
            builder.observe_counts(counts, exposures, tau, columns);
            builder.observe_rows(kTable.topRows(2), mv_normal({mu, 0.5}, lambda), tables);
        }
        for (std::size_t n = 0; n < times.size(); ++n) {
            const Index i = static_cast<Index>(n);
            for (Index t = 0; t < times[n]; ++t) {
                if (i >= 3) {
                    builder.observe(Vector(kTable.row(i - 3)), mv_normal({mu, 0.5}, lambda), tables[i - 3]);
                    continue;
                }
                builder.observe(y[i], normal(mu, h * tau), columns[i]);
                builder.observe(counts[i], poisson(tau, exposures[i]), columns[i]);
            }
        }
        return builder.build();
    };
    const MultilinearModel model = build({});
    const MultilinearModel singles = build({1, 1, 1, 1, 1});
    expect_same_fit(model, singles);
    for (const MultilinearModel& whole : {model, singles}) {
        const MultilinearModel changed = whole.reweighted({1, 2, 4}, Vector{{0.0, 2.0, 0.0}});
        const MultilinearModel expected = build({1, 0, 2, 1, 0});
        expect_same_fit(changed, expected);
        const Vector mean = fit(expected, tight()).state.mean;
        EXPECT_LT(
            test::relative_error(changed.hyperparameter_gradient(mean, 0), expected.hyperparameter_gradient(mean, 0)),
            1e-13);
        expect_same_fit(changed.reweighted({1, 2, 4}, Vector::Ones(3)), model);
        expect_same_fit(whole.without_row(3), build({1, 1, 1, 0, 1}));
    }
}

// Columns 1 and 3 of the design are orthogonal, though their rows are not: the sum has no term for the pair.
TEST(ReweightedRows, OfARegressionAreRowsOfAnotherDesign) {
    Matrix fewer(4, 3);
    fewer << kDesign.topRows(2), kDesign.bottomRows(2);
    Vector y(4);
    y << kResponses.head(2), kResponses.tail(2);
    const MultilinearModel expected = regression(y, fewer, false);
    Matrix orthogonal = kDesign;
    orthogonal(4, 2) = 0.0;
    Matrix without_last(4, 3);
    without_last << orthogonal.topRows(2), orthogonal.bottomRows(2);
    const SparseMatrix sparse = orthogonal.sparseView();
    expect_same_fit(regression(kResponses, kDesign).without_row(2), expected);
    expect_same_fit(regression(kResponses, orthogonal).without_row(2), regression(y, without_last, false));
    expect_same_fit(regression(kResponses, sparse).without_row(2), regression(y, without_last, false));
}

TEST(ReweightedRows, ReportTheirWeightsAndLeverageInProportion) {
    const MultilinearModel model = regression(kResponses, kDesign);
    const MultilinearModel doubled = model.reweighted(1, 2.0).reweighted(3, 0.0);
    const State state = fit(model).state;
    const Matrix directions = Matrix::Identity(model.layout().size(), model.layout().size());
    const auto asked = [&](const MultilinearModel& which, RowChange change) {
        return all_answers([&](const RowVisitor& visit) { which.ask_rows(state, directions, change, visit); });
    };
    const RowAnswers once = asked(model, RowChange::value);
    const RowAnswers twice = asked(doubled, RowChange::value);
    EXPECT_EQ(twice.weights, (Vector{{1.0, 2.0, 1.0, 0.0, 1.0}}));
    EXPECT_EQ(twice.answers.row(0), once.answers.row(0));
    EXPECT_EQ(twice.answers.row(1), 2.0 * once.answers.row(1));
    EXPECT_TRUE((twice.answers.row(3).array() == 0.0).all());
    EXPECT_EQ(asked(doubled, RowChange::weight).answers, asked(model, RowChange::weight).answers);
}

TEST(ReweightedRows, WithIndicatorsOfTheirOwnTakeThemAlong) {
    const Vector x = two_groups(20);
    const IndicatorMixture whole = indicator_mixture(x, true);
    const IndicatorMixture fewer = indicator_mixture(x, true, 7);
    const MultilinearModel dropped = whole.model.without_row(7);
    const Optimum a = fit(dropped, whole.options);
    const Optimum b = fit(fewer.model, fewer.options);
    ASSERT_TRUE(a.converged() && b.converged()) << a.message << b.message;
    EXPECT_NEAR(a.bound, b.bound, 1e-10 * std::abs(b.bound));
    for (const char* name : {"log_pi[1]", "mu[1]", "mu[2]", "tau[1]", "z[20,1]"}) {
        EXPECT_NEAR(a.state.mean[dropped.layout().statistic(name)], b.state.mean[fewer.model.layout().statistic(name)],
                    1e-10)
            << name;
    }
    const RowAnswers answers = case_weights(LinearResponse(dropped, a), std::vector<std::string>{"mu[1]"});
    EXPECT_TRUE(std::isnan(answers.answers(7, 0)));
    EXPECT_TRUE(std::isfinite(answers.answers(8, 0)));
    expect_refusal([&] { whole.model.reweighted(7, 0.5); }, {"row 8 of 'x' is 0.5", "'z[8]'", "drop the row (0)"});
}

TEST(ReweightedRows, OfMissingNumbersTakeThemAlong) {
    const auto build = [](bool all) {
        ModelBuilder builder;
        const Rows rows = builder.rows("x", 3);
        const auto mu = builder.add("mu", mv_normal(Vector{{0.0, 0.5}}, Matrix{{0.2, 0.0}, {0.0, 0.3}}));
        const auto lambda = builder.add("Lambda", wishart(4.0, Matrix{{2.0, 0.5}, {0.5, 1.0}}));
        builder.observe_rows(kTable.topRows(3), mv_normal(mu, lambda), rows);
        if (!all) return builder.build();
        const Rows more = builder.rows("more", 1);
        const auto missing = builder.add("missing", flat(family::Normal{}), more[0]);
        builder.observe({0.7, missing}, mv_normal(mu, lambda), more[0]);
        return builder.build();
    };
    const Optimum a = fit(build(true).without_row(3), tight());
    const Optimum b = fit(build(false), tight());
    ASSERT_TRUE(a.converged() && b.converged()) << a.message << b.message;
    EXPECT_NEAR(a.bound, b.bound, 1e-10 * std::abs(b.bound));
    EXPECT_LT(test::relative_error(a.state.mean.head(b.state.mean.size()), b.state.mean), 1e-10);
}

TEST(ReweightedRows, LeaveAFlatVariableWithoutDataImproper) {
    ModelBuilder builder;
    const auto mu = builder.add("mu", flat(family::Normal{}));
    const auto tau = builder.add("tau", gamma(2.0, 1.0));
    builder.observe_column(Vector{{0.1, 0.7, 1.3}}, normal(mu, tau), builder.rows("x", 3));
    const MultilinearModel none = builder.build().reweighted({0, 1, 2}, Vector::Zero(3));
    const Optimum optimum = fit(none);
    EXPECT_EQ(optimum.termination, Termination::improper);
    EXPECT_NE(optimum.message.find("'mu'"), std::string::npos) << optimum.message;
}

// ---------------------------------------------------------------------------------------------------------------------
// Names, sets, sizes

TEST(ModelRows, AreNumberedOverTheSetsAndInputsAreNamed) {
    ModelBuilder builder;
    const Rows people = builder.rows("people", 3);
    const Rows others = builder.rows("others", 2);
    const auto mu = builder.add("mu", normal(0.0, 1.0));
    const auto tau = builder.add("tau", gamma(2.0, 1.0));
    builder.observe_column(Vector{{1.0, 2.0, 3.0}}, normal(mu, tau), people.as("height"));
    builder.observe(7.0, normal(mu, 1.0), others[1]);
    builder.observe(8.0, normal(mu, 1.0), others[1]);
    builder.observe(Vector{{5.0}}, poisson(tau), others[0]);
    builder.observe_column(Vector{{4.0, 5.0, 6.0}}, exponential(tau), people.as("age"));
    const MultilinearModel model = builder.build();
    EXPECT_EQ(model.rows(), 5);
    EXPECT_EQ(model.row_sets(), (std::vector<std::pair<std::string, Index>>{{"people", 3}, {"others", 2}}));
    EXPECT_EQ(model.inputs(), (std::vector<std::string>{"height", "y", "y_2", "age"}));
    const RowAnswers answers = leverage(LinearResponse(model, fit(model)), {mu, tau});
    ASSERT_EQ(answers.answers.cols(), 8);
    const Matrix expected{
        {1.0, 0.0, 0.0, 4.0}, {2.0, 0.0, 0.0, 5.0}, {3.0, 0.0, 0.0, 6.0}, {0.0, 0.0, 0.0, 0.0}, {0.0, 7.0, 8.0, 0.0}};
    for (Index n = 0; n < 5; ++n) {
        for (Index p = 0; p < 4; ++p) {
            EXPECT_EQ(std::isnan(answers.inputs(n, p)), expected(n, p) == 0.0);
            EXPECT_EQ(answers.answers(n, p) == 0.0, expected(n, p) == 0.0);
            if (expected(n, p) != 0.0) {
                EXPECT_EQ(answers.inputs(n, p), expected(n, p));
            }
        }
    }
}

TEST(ModelRows, HaveAWeightThatMultipliesAllThatIsObservedOfThem) {
    const auto build = [](bool second) {
        ModelBuilder builder;
        const Rows rows = builder.rows("people", 3);
        const auto mu = builder.add("mu", normal(0.0, 1.0));
        const auto tau = builder.add("tau", gamma(2.0, 1.0));
        builder.observe_column(Vector{{1.0, 2.0, 3.0}}, normal(mu, tau), rows);
        for (Index i = 0; i < 3; ++i) {
            if (i != 1 || second) builder.observe(2.0 * mu, normal(0.3, tau), rows[i]);
        }
        return builder.build();
    };
    const testing::Report report = testing::check_case_weights(build(true), {0, 1, 2});
    EXPECT_TRUE(report.passed()) << report.text();
    // In the same terms but for what is missing in row 1.
    const MultilinearModel with = build(true);
    const State state = fit(with).state;
    const Matrix directions = Matrix::Identity(4, 4);
    const auto asked = [&](const MultilinearModel& model) {
        return all_answers(
            [&](const RowVisitor& visit) { model.ask_rows(state, directions, RowChange::weight, visit); });
    };
    EXPECT_EQ(asked(with).answers.row(0), asked(build(false)).answers.row(0));
    EXPECT_NE(asked(with).answers.row(1), asked(build(false)).answers.row(1));
}

TEST(ModelRows, OfALongColumnComeInOrderAndInParts) {
    const Index count = 10000;
    Vector y(count);
    Random random(3);
    for (double& value : y) value = random.normal();
    ModelBuilder builder;
    const auto mu = builder.add("mu", normal(0.0, 1.0));
    builder.observe_column(y, normal(mu, 2.0), builder.rows("x", count));
    const MultilinearModel model = builder.build();
    const LinearResponse response(model, fit(model));
    Index parts = 0;
    response.leverage({mu}, [&](const RowAnswers& answers) {
        ++parts;
        EXPECT_LE(answers.answers.rows(), 4096);
    });
    EXPECT_GT(parts, 1);
    // μ | y is normal with precision 1 + 2N and mean 2Σy/(1 + 2N).
    const double precision = 1.0 + 2.0 * static_cast<double>(count);
    const RowAnswers values = leverage(response, {mu});
    EXPECT_EQ(values.inputs, Matrix(y));
    EXPECT_LT((values.answers.array() - 2.0 / precision).abs().maxCoeff(), 1e-16);
    const Vector expected = 2.0 / precision * (y.array() - 2.0 * y.sum() / precision);
    EXPECT_LT((case_weights(response, {mu}).answers - expected).cwiseAbs().maxCoeff(), 1e-15);
}

#if !defined(__SANITIZE_ADDRESS__)
TEST(ModelRows, OfAMillionCostAColumn) {
    const Vector y = Vector::LinSpaced(1000000, 0.0, 1.0);
    const auto allocated = [] {
        const struct mallinfo2 info = mallinfo2();
        return static_cast<double>(info.uordblks + info.hblkhd);
    };
    const double before = allocated();
    const MultilinearModel model = [&] {
        ModelBuilder builder;
        const auto mu = builder.add("mu", normal(0.0, 1.0));
        const auto tau = builder.add("tau", gamma(2.0, 1.0));
        builder.observe_column(y, normal(mu, tau), builder.rows("x", y.size()));
        return builder.build();
    }();
    EXPECT_LT(allocated() - before, 1.1 * 8e6);
    EXPECT_EQ(model.rows(), 1000000);
}
#endif

// ---------------------------------------------------------------------------------------------------------------------
// What is refused

TEST(ModelRows, AreRefusedWhereTheyDoNotFit) {
    ModelBuilder builder;
    const Rows rows = builder.rows("schools", 3);
    const auto mu = builder.add("mu", normal(0.0, 1.0));
    const auto tau = builder.add("tau", gamma(2.0, 1.0));
    const Vector two{{1.0, 2.0}};
    const Vector three{{1.0, 2.0, 3.0}};
    expect_refusal([&] { builder.rows("", 3); }, {"rows", "name is empty", "give"});
    expect_refusal([&] { builder.rows("schools", 3); }, {"'schools'", "declared twice", "must differ"});
    expect_refusal([&] { builder.rows("none", 0); }, {"count of 'none' is 0", "at least 1"});
    expect_refusal([&] { rows[3]; }, {"'schools'", "index 3", "0 to 2"});
    expect_refusal([&] { rows.as(""); }, {"'schools'", "empty", "give it one"});
    const std::vector<std::string> count{"2 rows are given", "'schools' has 3", "a value for each"};
    expect_refusal([&] { builder.observe_column(two, normal(mu, tau), rows); }, count);
    expect_refusal([&] { builder.observe_counts(two, two, tau, rows); }, count);
    expect_refusal([&] { builder.observe_linear(two, Matrix(Matrix::Ones(2, 1)), {mu}, tau, rows); }, count);
    ModelBuilder other;
    const Rows foreign = other.rows("foreign", 3);
    const std::vector<std::string> of_another{"'foreign'", "another model", "declare them in this one"};
    expect_refusal([&] { builder.observe_column(three, normal(mu, tau), foreign); }, of_another);
    expect_refusal([&] { builder.observe(1.0, normal(mu, tau), foreign[0]); }, of_another);
    expect_refusal([&] { builder.observe(mu, normal(0.0, tau), foreign[0]); }, of_another);
    expect_refusal([&] { builder.observe({mu}, mv_normal(Vector{{0.0}}, Matrix{{1.0}}), foreign[0]); }, of_another);
    expect_refusal([&] { builder.observe_counts(three, three, tau, foreign); }, of_another);
    expect_refusal([&] { builder.observe_linear(three, Matrix(Matrix::Ones(3, 1)), {mu}, tau, foreign); }, of_another);
    expect_refusal([&] { builder.add("z", normal(0.0, 1.0), foreign[0]); }, of_another);
    builder.observe(1.0, normal(mu, tau), rows.as("grade")[1]);
    expect_refusal([&] { builder.observe_column(three, normal(mu, tau), rows.as("grade")); },
                   {"row 2 of 'schools'", "'grade' already", "another name"});
    // A refused call leaves the builder as it was.
    const MultilinearModel model = builder.build();
    EXPECT_EQ(model.rows(), 3);
    EXPECT_EQ(model.inputs(), std::vector<std::string>{"grade"});
    expect_same_fit(model, [] {
        ModelBuilder again;
        const auto location = again.add("mu", normal(0.0, 1.0));
        again.observe(1.0, normal(location, again.add("tau", gamma(2.0, 1.0))));
        return again.build();
    }());
    expect_refusal([&] { model.without_row(3); }, {"row 3", "0 to 2"});
    expect_refusal([&] { model.reweighted(0, -1.0); }, {"row 0 is -1", "not negative"});
    expect_refusal([&] { model.reweighted({0, 1}, Vector::Ones(1)); }, {"weights has 1 entries", "must have 2"});
}

TEST(ModelRows, RefuseVariablesOfOtherRows) {
    ModelBuilder builder;
    const Rows rows = builder.rows("x", 2);
    const auto own = builder.add("own", normal(0.0, 1.0), rows[1]);
    const std::vector<std::string> says{"'own' belongs to row 2 of 'x'", "name the row"};
    expect_refusal([&] { builder.observe(1.0, normal(own, 1.0)); }, says);
    expect_refusal([&] { builder.observe(1.0, normal(own, 1.0), rows[0]); }, says);
    expect_refusal([&] { builder.observe_column(Vector{{1.0, 2.0}}, normal(own, 1.0), rows); }, says);
    expect_refusal([&] { builder.add("child", normal(own, 1.0)); }, says);
    expect_refusal([&] { builder.add_term(2.0 * own); }, says);
    builder.add("child", normal(own, 1.0), rows[1]);
    EXPECT_EQ(builder.build().layout().variable_count(), 2);
}

TEST(RowQuestions, AreRefusedByModelsThatNamedNoRowsOrHaveNoNumbersThatMove) {
    const auto nothing = [](const RowAnswers&) {};
    ModelBuilder builder;
    const auto p = builder.add("p", beta(1.0, 1.0));
    builder.observe(1.0, bernoulli(p));
    const MultilinearModel unnamed = builder.build();
    const std::vector<std::string> says{"no rows that can be asked", "name them where they are observed"};
    const LinearResponse response(unnamed, fit(unnamed));
    expect_refusal([&] { response.case_weights({log(p)}, nothing); }, says);
    expect_refusal([&] { response.leverage({log(p)}, nothing); }, says);
    expect_refusal([&] { unnamed.without_row(0); }, says);
    EXPECT_EQ(unnamed.rows(), 0);
    EXPECT_TRUE(unnamed.inputs().empty() && unnamed.row_sets().empty());
    builder.observe(1.0, bernoulli(p), builder.rows("coins", 1)[0]);
    const MultilinearModel coins = builder.build();
    const LinearResponse of_coins(coins, fit(coins));
    expect_refusal([&] { of_coins.leverage({log(p)}, nothing); }, {"can move", "ask for case weights"});
}

TEST(ResponseBattery, FindsWrongRows) {
    const MultilinearModel model = schools(kEffects);
    const auto wrong_row = [&](Index row, double weight) { return model.reweighted((row + 1) % 8, weight); };
    EXPECT_FALSE(testing::check_case_weights(model, {0}, wrong_row).passed());
    const auto wrong_size = [&](Index row, Index, double by) {
        Matrix y = kEffects;
        y(row, 0) += 1.001 * by;
        return schools(y);
    };
    EXPECT_FALSE(testing::check_leverage(model, {0}, wrong_size).passed());
}

}  // namespace
}  // namespace lrvb
