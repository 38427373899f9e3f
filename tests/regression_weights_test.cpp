// Rows of a regression that count more or less than once: whole weights are rows that are repeated, a weight of zero is
// a row that is not there, and all that asks about rows knows it.

#include "data_files.hpp"
#include "says.hpp"
#include "support.hpp"

#include <lrvb/kind/fitted_model.hpp>
#include <lrvb/kind/kind.hpp>
#include <lrvb/kind/regression/model.hpp>
#include <lrvb/query/influence.hpp>
#include <lrvb/query/loo.hpp>
#include <lrvb/query/robust.hpp>
#include <lrvb/testing/response_battery.hpp>

#include <fmt/format.h>

namespace lrvb {
namespace {

using Names = std::vector<std::string>;

constexpr double kTight = 1e-12;

FitOptions tight() {
    FitOptions options;
    options.tolerance = kTight;
    return options;
}

RegressionDesign motor_cars(bool intercept = true) {
    return regression_design(read_frame(LRVB_DATA_DIR "/mtcars.csv", {.columns = {"mpg", "wt", "hp"}}), 0, intercept);
}

/// Row n as often as `counts` says.
RegressionDesign repeated(const RegressionDesign& design, const Vector& counts) {
    std::vector<Index> rows;
    for (Index n = 0; n < counts.size(); ++n) {
        for (Index i = 0; i < static_cast<Index>(counts[n]); ++i) rows.push_back(n);
    }
    RegressionDesign result = design;
    result.columns = design.columns(rows, Eigen::all);
    result.y = design.y(rows);
    return result;
}

RegressionDesign weighted(RegressionDesign design, const Vector& weights) {
    design.weights = weights;
    return design;
}

/// 0, 1, 2, 3, 0, 1, …
Vector counts(Index rows) {
    Vector result(rows);
    for (Index n = 0; n < rows; ++n) result[n] = static_cast<double>(n % 4);
    return result;
}

void expect_same(const RegressionDesign& left, const RegressionDesign& right) {
    const RegressionModel one(left);
    const RegressionModel other(right);
    const Optimum at_one = fit(one, tight());
    const Optimum at_other = fit(other, tight());
    EXPECT_NEAR(at_one.bound, at_other.bound, 1e-8);
    const LinearResponse response(one, at_one);
    const LinearResponse expected(other, at_other);
    Names names{"beta[wt]", "beta[hp]", "tau", "log_tau"};
    if (left.intercept) names.emplace_back("intercept");
    const Functionals asked = one.in_data_units(names);
    const Functionals wanted = other.in_data_units(names);
    const Vector sd = expected.sd(wanted);
    EXPECT_LT((response.mean(asked) - expected.mean(wanted)).cwiseQuotient(sd).cwiseAbs().maxCoeff(), 1e-8);
    EXPECT_LT(test::relative_error(response.covariance(asked), expected.covariance(wanted)), 1e-8);
    EXPECT_LT(test::relative_error(response.sensitivities(asked), expected.sensitivities(wanted)), 1e-7);
    EXPECT_NEAR(one.noise_variance(at_one.state), other.noise_variance(at_other.state),
                1e-8 * other.noise_variance(at_other.state));
}

TEST(RegressionWeights, WholeWeightsAreRepeatedRows) {
    for (const bool intercept : {true, false}) {
        const RegressionDesign design = motor_cars(intercept);
        const Vector all = counts(design.y.size());
        expect_same(weighted(design, all), repeated(design, all));
    }
}

TEST(RegressionWeights, WeightsOfOneAreNone) {
    const RegressionDesign design = motor_cars();
    expect_same(weighted(design, Vector::Ones(design.y.size())), design);
}

TEST(RegressionWeights, ARowWithoutWeightIsNotThere) {
    RegressionDesign design = motor_cars();
    Vector weights = Vector::Ones(design.y.size());
    weights[7] = 0.0;
    const RegressionDesign without = repeated(design, weights);
    // Wherever it lies: it is not even part of the automatic prior.
    design.y[7] = 1e6;
    design.columns(7, 0) = -1e6;
    expect_same(weighted(design, weights), without);
}

TEST(RegressionWeights, TheResponseToWeightsAndValuesEqualsRefits) {
    const RegressionDesign design = weighted(motor_cars(), counts(32).array() * 0.7 + 0.2);
    const RegressionModel model(std::make_shared<const RegressionDesign>(design));
    const LinearResponse response(model, fit(model, tight()));
    const Names names{"intercept", "beta[wt]", "beta[hp]", "tau", "log_tau"};
    const Functionals functionals = model.in_data_units(names);
    const Vector sd = response.sd(functionals);
    Matrix case_weights(design.y.size(), sd.size());
    Matrix leverage(design.y.size(), sd.size());
    response.case_weights(functionals, [&](const RowAnswers& rows) {
        case_weights.middleRows(rows.first, rows.answers.rows()) = rows.answers;
        EXPECT_EQ(rows.weights, design.weights);
    });
    response.leverage(functionals, [&](const RowAnswers& rows) {
        leverage.middleRows(rows.first, rows.answers.rows()) = rows.answers;
    });
    const auto means = [&](const RegressionDesign& changed) {
        const RegressionModel other(changed, model.prior());
        const Functionals::Resolved resolved = other.in_data_units(names).resolve(other.layout());
        return Vector(resolved.weights.transpose() * fit(other, tight()).state.mean + resolved.constants);
    };
    const double step = 1e-3;
    for (const Index row : {0, 9, 30}) {
        for (const bool by_weight : {true, false}) {
            RegressionDesign up = design;
            RegressionDesign down = design;
            (by_weight ? up.weights : up.y)[row] += step;
            (by_weight ? down.weights : down.y)[row] -= step;
            const Vector slope = (means(up) - means(down)) / (2.0 * step);
            const Vector answer = (by_weight ? case_weights : leverage).row(row);
            for (Index v = 0; v < sd.size(); ++v) {
                EXPECT_NEAR(answer[v], slope[v], 1e-5 * std::max(std::abs(slope[v]), 1e-2 * sd[v]))
                    << row << ", " << names[static_cast<std::size_t>(v)] << (by_weight ? ", weight" : ", value");
            }
        }
    }
}

TEST(RegressionWeights, WeightsThatCannotBeAreRefused) {
    const auto refusal = [](const Vector& weights) {
        RegressionDesign design = motor_cars();
        design.source = "a.csv";
        design.weights = weights;
        return message_of<std::runtime_error>([&] { const RegressionModel model(design); });
    };
    Vector weights = Vector::Ones(32);
    weights[4] = -1.0;
    EXPECT_TRUE(test::says(refusal(weights), {"a.csv", "row 5", "-1", "weight"}));
    weights.setZero();
    EXPECT_TRUE(test::says(refusal(weights), {"a.csv", "weight", "needs"}));
    weights.setConstant(1.0 / 32.0);
    EXPECT_TRUE(test::says(refusal(weights), {"a.csv", "1", "weight", "weights", "scale"}));
    EXPECT_THROW(RegressionModel(weighted(motor_cars(), Vector::Ones(3))), std::invalid_argument);
}

/// A table whose third column is the weights: 1, 2, 3, 1, …, but for two rows that have none.
class WeightedTable : public ::testing::Test {
  protected:
    WeightedTable() {
        const RegressionDesign cars = motor_cars();
        std::string all = "hp,w,mpg,wt\n";
        std::string fewer = all;
        for (Index n = 0; n < cars.y.size(); ++n) {
            const double weight = n == 3 || n == 20 ? 0.0 : 1.0 + static_cast<double>(n % 3);
            const std::string row =
                fmt::format("{},{},{},{}\n", cars.columns(n, 1), weight, cars.y[n], cars.columns(n, 0));
            all += row;
            if (weight > 0.0) fewer += row;
        }
        all_ = folder_.write("all.csv", all);
        fewer_ = folder_.write("fewer.csv", fewer);
    }

    static std::unique_ptr<FittedModel> fit(const std::string& path, const std::string& columns = "") {
        Settings settings{{"response", "mpg"}, {"weights", "w"}};
        if (!columns.empty()) settings.set("columns", columns);
        return find_kind("regression")->fit(FitRequest{path, settings, tight(), 1, {}});
    }

    TemporaryDirectory folder_;
    std::string all_;
    std::string fewer_;
};

TEST_F(WeightedTable, TheColumnOfWeightsIsNoPredictor) {
    const auto fitted = fit(all_);
    EXPECT_EQ(fitted->file().data.columns, (Names{"hp", "wt"}));
    EXPECT_EQ(fitted->file().data.weights, "w");
    EXPECT_EQ(fitted->file().data.rows, 30);
    EXPECT_NEAR(fitted->file().outcome.bound, fit(all_, "hp,wt")->file().outcome.bound, 1e-10);
}

TEST_F(WeightedTable, ASavedFitIsRestoredWithItsWeights) {
    const auto fitted = fit(all_);
    write_fit(folder_.path("fit.json"), fitted->file());
    const auto again = restore(read_fit(folder_.path("fit.json")), all_);
    const Posterior before = fitted->refit({.without_rows = {5}, .prior = {}});
    const Posterior after = again->refit({.without_rows = {5}, .prior = {}});
    EXPECT_EQ(before.mean, after.mean);
    EXPECT_GT((before.mean - fitted->posterior().mean).cwiseAbs().maxCoeff(), 1e-3);
    // The rows that have no weight need not be there.
    const auto same = restore(read_fit(folder_.path("fit.json")), fewer_);
    EXPECT_EQ(before.mean, same->refit({.without_rows = {5}, .prior = {}}).mean);
    EXPECT_EQ(again->file_row(3), 5);
    EXPECT_EQ(same->file_row(3), 4);
}

// All that is asked about rows is what it is without the two that have no weight.
TEST_F(WeightedTable, QuestionsAboutRowsCountThemAsTheirWeightsSay) {
    const auto with = fit(all_);
    const auto without = fit(fewer_);
    const std::vector<RobustSd> sds = robust_sds(*with);
    const std::vector<RobustSd> expected = robust_sds(*without);
    for (std::size_t v = 0; v < sds.size(); ++v) {
        EXPECT_NEAR(sds[v].sd_robust, expected[v].sd_robust, 1e-7 * expected[v].sd_robust) << sds[v].name;
    }
    LooOptions options;
    options.method = LooMethod::response;
    const Loo rows = leave_one_out(*with, options);
    EXPECT_NEAR(rows.elpd_loo, leave_one_out(*without, options).elpd_loo, 1e-6);
    EXPECT_EQ(rows.weights[3], 2.0);  // the file's fifth
    const RowInfluence influence(*with);
    const RowInfluence::Case worst = influence.most_influential(1).front();
    const RowInfluence::Case same = RowInfluence(*without).most_influential(1).front();
    EXPECT_EQ(worst.row, same.row);
    EXPECT_EQ(with->file_row(worst.row), same.row + 1 + (same.row >= 3 ? 1 : 0) + (same.row >= 19 ? 1 : 0));
    EXPECT_NEAR(worst.distance, same.distance, 1e-6 * same.distance);
}

TEST_F(WeightedTable, WhatIsNoWeightIsRefusedWithItsRow) {
    const auto refusal = [&](const std::string& text, Settings settings) {
        settings.set("response", "y");
        const std::string path = folder_.write("a.csv", text);
        const std::string message = message_of<std::runtime_error>([&] {
            find_kind("regression")->fit(FitRequest{path, settings, {}, 1, {}});
        });
        return message.starts_with(path) ? message.substr(path.size() + 2) : message;
    };
    EXPECT_TRUE(test::says(refusal("y,x,w\n1,1,1\n,2,1\n2,3,-2\n4,4,1\n", {{"weights", "w"}, {"drop-missing", "yes"}}),
                           {"'w'", "row 3", "-2", "weight", "correct"}));
    EXPECT_TRUE(test::says(refusal("y,x,w\n1,1,1\n2,2,b\n4,3,1\n", {{"weights", "w"}}),
                           {"'w'", "'b'", "--weights", "row 2", "NA", "weights", "missing", "correct"}));
    EXPECT_TRUE(test::says(refusal("y,x,w\n1,1,1\n2,2,2\n4,3,1\n", {{"weights", "y"}}),
                           {"--weights", "--response", "weights", "response"}));
    EXPECT_TRUE(test::says(refusal("y,x,w\n1,1,1\n2,2,2\n4,3,1\n", {{"weights", "w"}, {"factor", "w"}}),
                           {"--factor", "weights", "numbers", "leave"}));
}

}  // namespace
}  // namespace lrvb
