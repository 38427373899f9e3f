#include "joint_models.hpp"
#include "support.hpp"

#include <lrvb/testing/density_battery.hpp>
#include <lrvb/testing/model_battery.hpp>
#include <lrvb/testing/response_battery.hpp>

#include <Eigen/Cholesky>
#include <Eigen/LU>

#include <cmath>
#include <numbers>

namespace lrvb {
namespace {

using test::crossed_base;
using test::GrowthCurves;
using test::OneWay;
using test::student_base;
using test::wishart_base;

/// All that any model must do: derivatives, sweeps, the density of samplers, covariances and weights of rows by refits.
void expect_sound(const JointModel& model) {
    const Optimum optimum = fit(model);
    ASSERT_TRUE(optimum.converged()) << optimum.message;
    const testing::Report at_optimum = testing::check_model(model, optimum.state);
    EXPECT_TRUE(at_optimum.passed()) << at_optimum.text();
    const testing::Report density = testing::check_gradients(model, optimum.state);
    EXPECT_TRUE(density.passed()) << density.text();
    const Index last = model.layout().size() - 1;
    const testing::Report covariance =
        testing::check_covariance(model, {0, model.other_count() - 1, model.other_count(), last},
                                  [&](const Vector& tilt) { return model.tilted(tilt); });
    EXPECT_TRUE(covariance.passed()) << covariance.text();
    const testing::Report weights = testing::check_case_weights(
        model, {0, 3, model.rows() - 1}, [&](Index row, double weight) { return model.reweighted(row, weight); });
    EXPECT_TRUE(weights.passed()) << weights.text();
}

TEST(JointModel, OneWayLayoutPassesTheBatteries) {
    OneWay data(1);
    expect_sound(JointModel(data.base()));
    data.column = Vector::LinSpaced(data.y.size(), -1.0, 1.0);
    expect_sound(JointModel(data.base()));
}

TEST(JointModel, CrossedEffectsPassTheBatteries) {
    expect_sound(JointModel(crossed_base(2)));
}

TEST(JointModel, EffectsWithAWishartPrecisionPassTheBatteries) {
    expect_sound(JointModel(wishart_base(3)));
}

TEST(JointModel, StudentErrorsPassTheBatteries) {
    expect_sound(JointModel(student_base(4)));
}

TEST(JointModel, GrowthCurvesPassTheBatteries) {
    expect_sound(JointModel(GrowthCurves(5, 6).base(1.0)));
}

TEST(JointModel, RespondsToThePriorLikeARefit) {
    const OneWay data(6);
    const testing::Report report =
        testing::check_sensitivity([&](const Vector& alpha) { return JointModel(data.base(alpha)); }, data.prior);
    EXPECT_TRUE(report.passed()) << report.text();
}

// Numbers that families themselves hold, beside those that stand in the log joint.
TEST(JointModel, RespondsToPriorsOnSdsLikeARefit) {
    const OneWay data(17);
    expect_sound(JointModel(test::one_way_with_scales(data, Vector{{1.0, 1.5}})));
    const testing::Report report = testing::check_sensitivity(
        [&](const Vector& scales) { return JointModel(test::one_way_with_scales(data, scales)); }, Vector{{1.0, 1.5}});
    EXPECT_TRUE(report.passed()) << report.text();
}

TEST(JointModel, RespondsToMovedNumbersLikeARefit) {
    OneWay data(7);
    const JointModel model(data.base());
    EXPECT_EQ(model.inputs(), std::vector<std::string>{"y"});
    const testing::Report report = testing::check_leverage(model, {0, 5, 31}, [&](Index row, Index, double by) {
        OneWay moved = data;
        moved.y[row] += by;
        return JointModel(moved.base());
    });
    EXPECT_TRUE(report.passed()) << report.text();
}

// With constant precisions the posterior is normal: mean, covariance and evidence in closed form.
TEST(JointModel, IsExactForANormalPosterior) {
    Random random(8);
    const Index n = 12;
    const Matrix design = test::random_matrix(n, 3, random);
    const Vector y = design * Vector::LinSpaced(3, -1.0, 1.0) + standard_normals(n, random);
    ModelBuilder builder;
    std::vector<Variable<family::Normal>> beta;
    for (Index j = 0; j < 3; ++j) beta.push_back(builder.add(test::indexed_name("beta", j), normal(0.2, 0.5)));
    builder.observe_linear(y, design, VectorParameter(beta), 1.7);
    const JointModel model(builder.build());
    EXPECT_EQ(model.other_count(), 0);
    const Optimum optimum = fit(model);
    ASSERT_TRUE(optimum.converged()) << optimum.message;

    const Matrix precision = 1.7 * design.transpose() * design + 0.5 * Matrix::Identity(3, 3);
    const Matrix covariance = precision.inverse();
    const Vector mean = covariance * (1.7 * design.transpose() * y + Vector::Constant(3, 0.1));
    EXPECT_LT(test::relative_error(optimum.state.mean, mean), 1e-10);
    EXPECT_LT(
        test::relative_error(LinearResponse(model, optimum).covariance({"beta[1]", "beta[2]", "beta[3]"}), covariance),
        1e-10);
    // y ~ N(0.2 X1, I/1.7 + XXᵀ/0.5).
    const Matrix marginal = Matrix::Identity(n, n) / 1.7 + 2.0 * design * design.transpose();
    const Vector away = y - design * Vector::Constant(3, 0.2);
    const double evidence = -0.5 * (static_cast<double>(n) * std::log(2.0 * std::numbers::pi) +
                                    std::log(marginal.determinant()) + away.dot(marginal.inverse() * away));
    EXPECT_NEAR(optimum.bound, evidence, 1e-9 * std::abs(evidence));
}

// E_q log p + the entropies, written out for the one-way layout with any S, is largest at the model's S, and there it
// is the model's bound.
TEST(JointModel, BoundIsTheLargestOverAllCovariances) {
    const OneWay data(9, 4, 3);
    const JointModel model(data.base());
    const Optimum optimum = fit(model);
    const Layout& layout = model.layout();
    const Index d = model.coefficient_count();
    const double tau = optimum.state.mean[layout.statistic("tau")];
    const double log_tau = optimum.state.mean[layout.statistic("log_tau")];
    const double tau_u = optimum.state.mean[layout.statistic("tau_u")];
    const double log_tau_u = optimum.state.mean[layout.statistic("log_tau_u")];
    const Vector m = optimum.state.mean.tail(d);  // mu, u[1], …
    double entropies = 0.0;
    for (const Index j : {layout.variable("tau"), layout.variable("tau_u")}) {
        entropies += family::Gamma().entropy(layout.segment(optimum.state.natural, j));
    }
    const double log_two_pi = std::log(2.0 * std::numbers::pi);
    const auto elbo = [&](const Matrix& s) {
        const auto square = [&](const Vector& a, double offset) {
            return std::pow(a.dot(m) - offset, 2) + a.dot(s * a);
        };
        double sum = 0.5 * (std::log(0.01) - log_two_pi - 0.01 * square(Vector::Unit(d, 0), 0.0));
        for (Index g = 0; g < data.groups; ++g) {
            const Vector u = Vector::Unit(d, 1 + g);
            sum += 0.5 * (log_tau_u - log_two_pi - tau_u * square(u, 0.0));
            for (Index i = 0; i < data.size; ++i) {
                sum += 0.5 * (log_tau - log_two_pi - tau * square(u + Vector::Unit(d, 0), data.y[g * data.size + i]));
            }
        }
        const auto log_gamma = [](double shape, double rate, double x, double log_x) {
            return shape * std::log(rate) - std::lgamma(shape) + (shape - 1.0) * log_x - rate * x;
        };
        sum += log_gamma(2.0, 1.0, tau, log_tau) + log_gamma(2.0, 1.5, tau_u, log_tau_u) + entropies;
        return sum + 0.5 * (std::log(s.determinant()) + static_cast<double>(d) * (1.0 + log_two_pi));
    };
    const Matrix s = model.conditional_covariance(optimum.state.mean);
    EXPECT_NEAR(elbo(s), optimum.bound, 1e-9);
    Random random(10);
    for (int i = 0; i < 20; ++i) {
        const Matrix root = Matrix::Identity(d, d) + 0.05 * test::random_matrix(d, d, random);
        EXPECT_LT(elbo(root * s * root.transpose()), optimum.bound);
    }
}

// At values it is the log joint itself, which the base gives at the same values.
TEST(JointModel, LogJointAtValuesIsThatOfTheBase) {
    for (const MultilinearModel& base : {OneWay(11).base(), wishart_base(12), student_base(13)}) {
        const JointModel model(base);
        Random random(14);
        const State start = base.start(random);
        Vector values(base.layout().size());
        for (Index j = 0; j < base.layout().variable_count(); ++j) {
            base.layout().segment(values, j) = std::visit(
                [&](const auto& family) { return family.sample(base.layout().segment(start.natural, j), random); },
                base.layout()[j].family);
        }
        Vector own(model.layout().size());
        for (Index s = 0; s < values.size(); ++s) {
            if (model.position(s) >= 0) own[model.position(s)] = values[s];
        }
        const double expected = base.log_joint(values, 1)[0];
        EXPECT_NEAR(model.log_joint(own, 1)[0], expected, 1e-11 * std::abs(expected));
        Matrix of_base;
        Matrix of_model;
        base.row_log_likelihoods(values, 1, [&](const RowAnswers& rows) { of_base = rows.answers; });
        model.row_log_likelihoods(own, 1, [&](const RowAnswers& rows) { of_model = rows.answers; });
        EXPECT_LT(test::relative_error(of_model, of_base), 1e-11);
    }
}

TEST(JointModel, KeepsTheNamesOfTheBase) {
    const JointModel model(wishart_base(15, 2));
    EXPECT_EQ(model.layout().statistic_names(),
              (std::vector<std::string>{"lambda[1,1]", "lambda[1,2]", "lambda[2,2]", "log_det_lambda", "tau", "log_tau",
                                        "mu[1]", "mu[2]", "b[1,1]", "b[1,2]", "b[2,1]", "b[2,2]"}));
    EXPECT_EQ(model.other_count(), 6);
    EXPECT_EQ(model.coefficient_count(), 6);
}

// Theory (field.md): with Gamma priors E tau = exp(mode of log tau), and Var log tau is Laplace's + ψ'(a) − 1/a, so the
// field with the same priors, whose parameters are log sds, says the same.
TEST(JointModel, AgreesWithTheFieldAtOnePoint) {
    OneWay data(16, 12, 4);
    data.column = Vector::LinSpaced(data.y.size(), -1.0, 1.0);
    const JointModel model(data.base());
    const Optimum optimum = fit(model);
    const LinearResponse response(model, optimum);

    FieldData field;
    field.y = data.y;
    field.names = {"x"};
    field.columns = data.column;
    FieldFactor factor{"g", {}, {"intercept"}, {}, Matrix::Ones(data.y.size(), 1)};
    for (Index g = 0; g < data.groups; ++g) {
        factor.levels.push_back(std::to_string(g));
        for (Index i = 0; i < data.size; ++i) factor.level.push_back(static_cast<int>(g));
    }
    field.factors = {factor};
    FieldPrior prior;
    prior.intercept_mean = 0.0;
    prior.intercept_sd = 10.0;
    prior.mean = Vector::Zero(1);
    prior.sd = Vector::Constant(1, 2.0);
    prior.sigma = ScalePrior::gamma_precision(2.0, 1.0);
    prior.factors = {{{ScalePrior::gamma_precision(2.0, 1.5)}, false}};
    const FieldModel other(field, prior);
    const Optimum other_optimum = fit(other);
    const LinearResponse other_response(other, other_optimum);
    const Functionals logs = other.in_data_units({"log_sigma", "log_sd[g,intercept]", "intercept", "beta[x]"});
    const Vector log_sds = other_response.mean(logs);
    const Matrix covariance = other_response.covariance(logs);
    const Vector means = response.mean({"tau", "tau_u", "mu", "beta"});
    EXPECT_NEAR(means[0], std::exp(-2.0 * log_sds[0]), 1e-6 * means[0]);
    EXPECT_NEAR(means[1], std::exp(-2.0 * log_sds[1]), 1e-6 * means[1]);
    EXPECT_NEAR(means[2], log_sds[2], 1e-7);
    EXPECT_NEAR(means[3], log_sds[3], 1e-7);
    const Vector sds = response.sd({"log_tau", "log_tau_u", "mu", "beta"});
    const auto excess = [&](const char* name) {
        const double shape =
            family::Gamma().standard(model.layout().segment(optimum.state.natural, model.layout().variable(name)))[0];
        // ψ'(a) by its series from 20 on.
        double sum = 0.0;
        double a = shape;
        for (; a < 20.0; a += 1.0) sum += 1.0 / (a * a);
        sum += 1.0 / a + 0.5 / (a * a) + 1.0 / (6.0 * a * a * a) - 1.0 / (30.0 * std::pow(a, 5));
        return sum - 1.0 / shape;
    };
    EXPECT_NEAR(sds[0] * sds[0], 4.0 * covariance(0, 0) + excess("tau"), 1e-5 * sds[0] * sds[0]);
    EXPECT_NEAR(sds[1] * sds[1], 4.0 * covariance(1, 1) + excess("tau_u"), 1e-5 * sds[1] * sds[1]);
    EXPECT_NEAR(sds[2] * sds[2], covariance(2, 2), 1e-5 * covariance(2, 2));
    EXPECT_NEAR(sds[3] * sds[3], covariance(3, 3), 1e-5 * covariance(3, 3));
}

}  // namespace
}  // namespace lrvb
