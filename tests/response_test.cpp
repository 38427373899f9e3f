// The queries of LinearResponse, against the dense formula Σ̂ = (I − VH)⁻¹V and against each other.

#include "crossed_model.hpp"
#include "mixture_with_indicators.hpp"
#include "support.hpp"

#include <lrvb/testing/response_battery.hpp>

#include <Eigen/LU>

namespace lrvb {
namespace {

// V block by block from the families, H from the model, the inverse by LU: none of the response's own algebra.
Matrix dense_response(const Model& model, const Optimum& optimum) {
    const Layout& layout = model.layout();
    Matrix v = Matrix::Zero(layout.size(), layout.size());
    for (Index j = 0; j < layout.variable_count(); ++j) {
        v.block(layout[j].offset, layout[j].offset, layout[j].size, layout[j].size) =
            std::visit([&](const auto& family) { return family.covariance(layout.segment(optimum.state.natural, j)); },
                       layout[j].family);
    }
    const Expansion expansion = model.expand(optimum.state.mean, Order::hessian);
    const Matrix h = SparseMatrix(expansion.hessian.selfadjointView<Eigen::Lower>());
    return (Matrix::Identity(layout.size(), layout.size()) - v * h).partialPivLu().solve(v);
}

std::vector<Index> all_statistics(const Model& model) {
    std::vector<Index> all;
    for (Index s = 0; s < model.layout().size(); ++s) all.push_back(s);
    return all;
}

TEST(LinearResponse, EqualsTheFormulaOfThePaper) {
    const MultilinearModel crossed = test::crossed_model(9, 7);
    const Vector x = test::three_component_rows(60, 8);
    const example::Mixture mixture = example::mixture_model(x, 3);
    for (const MultilinearModel* model : {&crossed, &mixture.model}) {
        const Optimum optimum = fit(*model, model == &crossed ? FitOptions{} : mixture.ordered_start(x));
        ASSERT_TRUE(optimum.converged()) << optimum.message;
        const LinearResponse response(*model, optimum);
        const Matrix dense = dense_response(*model, optimum);
        const Vector sds = dense.diagonal().cwiseSqrt();
        const Matrix covariance = response.covariance(all_statistics(*model));
        // The floor is the rounding of the LU itself, which indicators of near certainty (sd 1e-20) are below.
        for (Index i = 0; i < sds.size(); ++i) {
            for (Index j = 0; j < sds.size(); ++j) {
                EXPECT_NEAR(covariance(i, j), dense(i, j), 1e-8 * sds[i] * sds[j] + 1e-13);
            }
        }
    }
}

TEST(LinearResponse, MarginalBlocksBySelectedInverseEqualThoseByColumns) {
    const MultilinearModel model = test::crossed_model(12, 10);
    const Optimum optimum = fit(model);
    const LinearResponse response(model, optimum);
    const std::vector<Matrix> blocks = response.marginal_covariances();
    const Matrix covariance = response.covariance(all_statistics(model));
    for (Index j = 0; j < model.layout().variable_count(); ++j) {
        const VariableInfo& variable = model.layout()[j];
        const Matrix expected = covariance.block(variable.offset, variable.offset, variable.size, variable.size);
        EXPECT_LT(test::relative_error(blocks[static_cast<std::size_t>(j)], expected), 1e-11) << variable.name;
    }
    EXPECT_LT(test::relative_error(response.marginal_sds(), covariance.diagonal().cwiseSqrt()), 1e-11);
}

TEST(LinearResponse, AnswersForLinearCombinationsAndCorrelations) {
    const MultilinearModel model = test::crossed_model(6, 5);
    const Optimum optimum = fit(model);
    const LinearResponse response(model, optimum);
    const Matrix covariance = response.covariance({"a[1]", "a[2]", "log_tau"});
    SparseMatrix weights(model.layout().size(), 2);
    weights.insert(model.layout().statistic("a[1]"), 0) = 1.0;
    weights.insert(model.layout().statistic("a[2]"), 0) = -1.0;
    weights.insert(model.layout().statistic("log_tau"), 1) = 2.0;
    const Matrix combined = response.covariance(weights);
    EXPECT_NEAR(combined(0, 0), covariance(0, 0) + covariance(1, 1) - 2.0 * covariance(0, 1), 1e-12);
    EXPECT_NEAR(combined(0, 1), 2.0 * (covariance(0, 2) - covariance(1, 2)), 1e-12);

    const Matrix correlation = response.correlation({"a[1]", "a[2]"});
    EXPECT_NEAR(correlation(0, 1), covariance(0, 1) / std::sqrt(covariance(0, 0) * covariance(1, 1)), 1e-12);
    const Matrix cross = response.covariance({"a[1]"}, {"a[2]", "log_tau"});
    EXPECT_NEAR(cross(0, 0), covariance(0, 1), 1e-13);
    EXPECT_NEAR(cross(0, 1), covariance(0, 2), 1e-13);
}

TEST(LinearResponse, DeltaMethodIsTheChainRule) {
    ModelBuilder builder;
    const auto tau = builder.add("tau", gamma(2.0, 1.0));
    const auto mu = builder.add("mu", normal(0.0, 0.1));
    builder.observe_column(Vector{{1.0, 2.0, 4.0, 3.5}}, normal(mu, tau));
    const MultilinearModel model = builder.build();
    const Optimum optimum = fit(model);
    const LinearResponse response(model, optimum);
    const double log_sd = response.sd({log(tau)})[0];
    const double sigma = std::exp(-0.5 * response.mean({log(tau)})[0]);
    // σ = exp(−½ log τ): sd σ = ½ σ sd(log τ).
    const auto to_sigma = [](const Vector& log_tau) { return Vector::Constant(1, std::exp(-0.5 * log_tau[0])); };
    EXPECT_NEAR(response.delta_sd({log(tau)}, to_sigma)[0], 0.5 * sigma * log_sd, 1e-10);
    // With a Jacobian, and of an expression with a constant: f(x) = x² at x = 3μ + 1.
    const auto square = [](const Vector& value) { return Vector::Constant(1, value[0] * value[0]); };
    const auto slope = [](const Vector& value) { return Matrix::Constant(1, 1, 2.0 * value[0]); };
    const double at = 3.0 * response.mean({mu})[0] + 1.0;
    const double expected = 2.0 * at * 3.0 * response.sd({mu})[0];
    EXPECT_NEAR(response.delta_sd({3.0 * mu + 1.0}, square, slope)[0], expected, 1e-10);
    EXPECT_NEAR(response.delta_sd({3.0 * mu + 1.0}, square)[0], expected, 1e-8);
}

TEST(LinearResponse, SensitivityIsTheSameByNameByHandleAndTogether) {
    ModelBuilder builder;
    const Hyperparameter location = builder.hyperparameter("location", 0.5);
    const Hyperparameter rate = builder.hyperparameter("rate", 1.5);
    const auto mu = builder.add("mu", normal(location, 1.0));
    const auto tau = builder.add("tau", gamma(2.0, rate));
    builder.observe_column(Vector{{1.0, 2.0, 4.0}}, normal(mu, tau));
    const MultilinearModel model = builder.build();
    const Optimum optimum = fit(model);
    const LinearResponse response(model, optimum);
    const Matrix all = response.sensitivities({mu, tau});
    EXPECT_EQ(response.sensitivity({mu, tau}, "rate"), Vector(all.col(1)));
    EXPECT_EQ(response.sensitivity({mu, tau}, location), Vector(all.col(0)));
    EXPECT_GT(all(0, 0), 0.0);  // a larger prior mean pulls the mean up
    EXPECT_LT(all(1, 1), 0.0);  // a larger prior rate pulls the precision down
}

TEST(LinearResponse, RefusesAFitThatDidNotConverge) {
    const MultilinearModel model = test::crossed_model(4, 4);
    FitOptions options;
    options.max_iterations = 1;
    const Optimum optimum = fit(model, options);
    EXPECT_THROW(LinearResponse(model, optimum), NotAnOptimum);
}

TEST(LinearResponse, RefusesAFixedPointThatIsNoMaximumAndNamesTheVariable) {
    // x and y enter only through their product: (0, 0) is a saddle of the bound when the coupling exceeds the priors.
    ModelBuilder builder;
    const auto x = builder.add("x", normal(0.0, 1.0));
    const auto y = builder.add("y", normal(0.0, 1.0));
    builder.add_term(3.0 * x * y);
    const MultilinearModel model = builder.build();
    FitOptions options;
    options.start(x, Vector{{0.0, 1.0}}).start(y, Vector{{0.0, 1.0}});
    Optimum optimum = fit(model, options);
    EXPECT_EQ(optimum.termination, Termination::not_a_maximum);
    EXPECT_NE(optimum.message.find("'y'"), std::string::npos) << optimum.message;
    // Even if someone insists that it converged.
    optimum.termination = Termination::converged;
    try {
        const LinearResponse response(model, optimum);
        FAIL() << "a saddle was accepted";
    } catch (const NotAnOptimum& refusal) {
        EXPECT_NE(std::string(refusal.what()).find("the pivot of variable '"), std::string::npos) << refusal.what();
    }
}

TEST(LinearResponse, RefusesTheOptimumOfAnotherModel) {
    const auto pair_model = [](double coupling, double y) {
        ModelBuilder builder;
        const auto a = builder.add("a", normal(0.0, 1.0));
        const auto b = builder.add("b", normal(coupling * a, 1.0));
        builder.observe(y, normal(b, 1.0));
        return builder.build();
    };
    const MultilinearModel first = pair_model(1.0, 2.0);
    const Optimum optimum = fit(first);
    const MultilinearModel coupled_otherwise = pair_model(0.0, 2.0);
    EXPECT_THROW(LinearResponse(coupled_otherwise, optimum), NotAnOptimum);
    const MultilinearModel larger = test::crossed_model(3, 3);
    EXPECT_THROW(LinearResponse(larger, optimum), std::invalid_argument);
    // A copy, or the same model built again, is the same model.
    const MultilinearModel again = pair_model(1.0, 2.0);
    const LinearResponse response(first, optimum);
    const LinearResponse response_again(again, optimum);
    EXPECT_LT(test::relative_error(response_again.covariance({"a", "b"}), response.covariance({"a", "b"})), 1e-12);
    // Nor is a tilted model the one it came from.
    const MultilinearModel tilted = first.tilted(Vector{{1.0, 0.0, 0.0, 0.0}});
    EXPECT_THROW(LinearResponse(tilted, optimum), NotAnOptimum);
}

TEST(LinearResponse, RefusesFunctionalsThatAreNone) {
    const MultilinearModel model = test::crossed_model(3, 3);
    const LinearResponse response(model, fit(model));
    EXPECT_THROW(response.sd({0.0, 1.0}), std::invalid_argument);
    EXPECT_NO_THROW(response.sd(std::vector<Index>{0, 1}));
    SparseMatrix weights(model.layout().size(), 1);
    weights.insert(0, 0) = std::nan("");
    weights.makeCompressed();
    EXPECT_THROW(response.sd(weights), std::invalid_argument);
    ModelBuilder other;
    const Hyperparameter foreign = other.hyperparameter("foreign", 1.0);
    EXPECT_THROW(response.sensitivity({"mu"}, foreign), std::invalid_argument);
}

TEST(ResponseBattery, RejectsASensitivityThatRefitsDoNotConfirm) {
    // The prior mean moves with the hyperparameter behind the model's back: declared is only half of its influence.
    const auto build = [](const Vector& alpha) {
        ModelBuilder builder;
        const Hyperparameter location = builder.hyperparameter("location", alpha[0]);
        const auto mu = builder.add("mu", normal(0.5 * location + 0.5 * alpha[0], 1.0));
        builder.observe(1.0, normal(mu, 1.0));
        return builder.build();
    };
    const testing::Report report = testing::check_sensitivity(build, Vector{{0.7}});
    EXPECT_FALSE(report.passed());
    EXPECT_NE(report.text().find("moving location"), std::string::npos) << report.text();
}

TEST(ResponseBattery, NoticesTheCurvatureOfACoarseDifference) {
    // Steps of one and two posterior sds are no derivative: the comparison has to see that.
    const Vector x = test::three_component_rows(60, 8);
    const example::Mixture mixture = example::mixture_model(x, 3);
    testing::ResponseCheckOptions options;
    options.fit = mixture.ordered_start(x);
    options.step = 1.0;
    EXPECT_FALSE(testing::check_covariance(mixture.model, {3}, options).passed());
    options.step = 2e-3;
    const testing::Report fine = testing::check_covariance(mixture.model, {3}, options);
    EXPECT_TRUE(fine.passed()) << fine.text();
}

}  // namespace
}  // namespace lrvb
