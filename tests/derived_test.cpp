// Derived quantities of declared models, checks of these in one call, and of posteriors that were put together by hand.

#include <lrvb/check/check.hpp>
#include <lrvb/fit/fit.hpp>
#include <lrvb/kind/declared.hpp>
#include <lrvb/kind/derived.hpp>
#include <lrvb/model/builder.hpp>

#include <boost/math/special_functions/gamma.hpp>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

namespace lrvb {
namespace {

const PosteriorVariable& find(const Posterior& posterior, const std::string& name) {
    for (const PosteriorVariable& variable : posterior.variables) {
        if (variable.name == name) return variable;
    }
    throw std::logic_error("no variable " + name);
}

const CheckedVariable& find(const Check& check, const std::string& name) {
    for (const CheckedVariable& variable : check.variables) {
        if (variable.name == name) return variable;
    }
    throw std::logic_error("no variable " + name);
}

double sd(const Posterior& posterior, const std::string& name) {
    return posterior.sds(posterior.select({name}))[0];
}

const Vector kValues{{0.8, -1.9, 0.4, 2.6, -0.7, 1.5, -0.2, 0.9}};

// With the mean known, τ ~ Gamma(a, b) exactly: σ = τ^(−1/2) has the mean √b Γ(a − ½)/Γ(a) and the second moment b/(a −
// 1).
TEST(Derived, TheSdOfAPrecisionHasItsMeanAndSd) {
    ModelBuilder builder;
    const auto tau = builder.add("tau", gamma(2.0, 1.0));
    builder.observe_column(kValues, normal(0.0, tau));
    const MultilinearModel model = builder.build();
    const Optimum optimum = fit(model);
    const std::vector<DerivedQuantity> derived{sd_of("sigma", tau), sd_of("half", 4.0 * Expression(tau))};
    const Posterior posterior = declared_posterior(model, optimum, derived);
    const double a = 2.0 + 0.5 * static_cast<double>(kValues.size());
    const double b = 1.0 + 0.5 * kValues.squaredNorm();
    const double mean = std::sqrt(b) * boost::math::tgamma_delta_ratio(a - 0.5, 0.5);
    const double exact_sd = std::sqrt(b / (a - 1.0) - mean * mean);
    EXPECT_NEAR(find(posterior, "sigma").mean, mean, 1e-12);
    EXPECT_NEAR(sd(posterior, "sigma"), exact_sd, 0.05 * exact_sd);  // the delta method's error
    // Of an expression, to second order.
    EXPECT_NEAR(find(posterior, "half").mean, 0.5 * mean, 0.005 * mean);
    EXPECT_NEAR(sd(posterior, "half"), 0.5 * exact_sd, 0.05 * exact_sd);

    const Check checked = check(model, optimum, derived);
    EXPECT_TRUE(checked.reliable);
    EXPECT_NEAR(find(checked, "sigma").mean_exact, mean, 5.0 * exact_sd / std::sqrt(checked.ess));
    EXPECT_NEAR(find(checked, "sigma").sd_exact, exact_sd, 0.1 * exact_sd);
    EXPECT_NEAR(find(checked, "half").mean_exact, 0.5 * find(checked, "sigma").mean_exact, 1e-12);
}

TEST(Derived, TheSdOfAScaleHasItsMeanUnderQ) {
    ModelBuilder builder;
    const auto tau = builder.add("tau", precision(half_cauchy(2.0)));
    builder.observe_column(kValues, normal(0.0, tau));
    const MultilinearModel model = builder.build();
    const Optimum optimum = fit(model);
    const Posterior posterior = declared_posterior(model, optimum, {sd_of("sigma", tau)});
    // By the trapezoidal rule in log σ.
    double total = 0.0;
    double first = 0.0;
    double second = 0.0;
    for (double t = -20.0; t < 20.0; t += 1e-3) {
        const double sigma = std::exp(t);
        const double n = static_cast<double>(kValues.size());
        const double weight =
            sigma / (1.0 + sigma * sigma / 4.0) * std::exp(-n * t - 0.5 * kValues.squaredNorm() / (sigma * sigma));
        total += weight;
        first += weight * sigma;
        second += weight * sigma * sigma;
    }
    const double mean = first / total;
    const double exact_sd = std::sqrt(second / total - mean * mean);
    EXPECT_NEAR(find(posterior, "sigma").mean, mean, 1e-10);
    EXPECT_NEAR(sd(posterior, "sigma"), exact_sd, 0.1 * exact_sd);
}

// A Wishart posterior in closed form: of two columns that are known to have mean zero, Λ ~ Wishart(ν, W). Exact moments
// of the correlation by the check's draws, and the mean of Σ = W⁻¹/(ν − 3).
TEST(Derived, SdsAndCorrelationsOfAWishart) {
    Matrix rows(60, 2);
    for (Index n = 0; n < rows.rows(); ++n) {
        const double x = std::sin(1.7 * static_cast<double>(n));
        rows.row(n) << x, 0.8 * x + 0.5 * std::cos(2.9 * static_cast<double>(n));
    }
    ModelBuilder builder;
    const auto lambda = builder.add("Lambda", wishart(3.0, Matrix::Identity(2, 2)));
    builder.observe_rows(rows, mv_normal(Vector::Zero(2), lambda));
    const MultilinearModel model = builder.build();
    const Optimum optimum = fit(model);
    const std::vector<DerivedQuantity> derived = sds_and_correlations(lambda);
    const Posterior posterior = declared_posterior(model, optimum, derived);
    const Matrix inverse_scale = Matrix::Identity(2, 2) + rows.transpose() * rows;
    const double dof = 63.0;
    const double correlation = inverse_scale(0, 1) / std::sqrt(inverse_scale(0, 0) * inverse_scale(1, 1));
    EXPECT_NEAR(find(posterior, "sd[1]").mean, std::sqrt(inverse_scale(0, 0) / (dof - 2.5)), 2e-3);
    EXPECT_NEAR(find(posterior, "cor[1,2]").mean, correlation, 0.01);
    EXPECT_NEAR(sd(posterior, "cor[1,2]"), (1.0 - correlation * correlation) / std::sqrt(dof - 2.0), 0.01);
    const Check checked = check(model, optimum, derived);
    ASSERT_TRUE(checked.reliable);
    for (const std::string name : {"sd[1]", "sd[2]", "cor[1,2]"}) {
        EXPECT_NEAR(find(checked, name).mean_exact, find(posterior, name).mean, 0.1 * find(checked, name).sd_exact)
            << name;
        EXPECT_NEAR(find(checked, name).sd_exact, sd(posterior, name), 0.1 * find(checked, name).sd_exact) << name;
    }
}

// Of Dirichlet parts and of any function: p₁/(p₁ + p₂) of a Dirichlet(α) is Beta(α₁, α₂).
TEST(Derived, FunctionsOfProbabilities) {
    ModelBuilder builder;
    const auto p = builder.add("p", dirichlet({1.0, 1.0, 1.0}));
    builder.observe(Vector{{30.0, 50.0, 20.0}}, multinomial(p));
    const MultilinearModel model = builder.build();
    const Optimum optimum = fit(model);
    const std::vector<DerivedQuantity> derived{
        probability("first", p[0]),
        derived_quantity(
            "share", {p[0], p[1]}, [](const Vector& x) { return x[0] / (x[0] + x[1]); }, Transform::logistic),
        derived_quantity("sum", p[0] + p[1])};
    const Posterior posterior = declared_posterior(model, optimum, derived);
    const double a = 31.0;
    const double b = 51.0;
    const double mean = a / (a + b);
    const double exact_sd = std::sqrt(mean * (1.0 - mean) / (a + b + 1.0));
    EXPECT_NEAR(find(posterior, "share").mean, mean, 0.02 * exact_sd);
    EXPECT_NEAR(sd(posterior, "share"), exact_sd, 0.02 * exact_sd);
    EXPECT_NEAR(find(posterior, "first").mean, 31.0 / 103.0, 0.001);
    EXPECT_NEAR(find(posterior, "sum").mean, 82.0 / 103.0, 0.001);
}

TEST(Derived, WhatCannotBeIsRefused) {
    ModelBuilder builder;
    const auto tau = builder.add("tau", gamma(2.0, 1.0));
    builder.observe_column(kValues, normal(0.0, tau));
    const MultilinearModel model = builder.build();
    const Optimum optimum = fit(model);
    ModelBuilder other;
    const auto foreign = other.add("x", gamma(1.0, 1.0));
    EXPECT_THROW(declared_posterior(model, optimum, {sd_of("sigma", foreign)}), std::invalid_argument);
    EXPECT_THROW(declared_posterior(model, optimum, {sd_of("tau", tau)}), std::invalid_argument);
    EXPECT_THROW(declared_posterior(model, optimum, {derived_quantity("constant", Expression(1.0))}),
                 std::invalid_argument);
    EXPECT_THROW(declared_posterior(model, optimum,
                                    {derived_quantity("bad", {tau}, [](const Vector& x) { return std::log(-x[0]); })}),
                 std::invalid_argument);
}

// Posteriors that were put together by hand, with variables of names that mixtures have too.
Posterior by_hand(const MultilinearModel& model, const Optimum& optimum, const std::string& name,
                  bool knows_its_draws) {
    Posterior posterior = posterior_of(model, optimum, {name, "log_" + name}, Functionals(std::vector<Index>{0, 1}));
    VariableMeaning meaning;
    meaning.group = name;
    if (knows_its_draws) meaning.from_draw = FromDraw::statistic(0);
    posterior.variables.push_back(unbounded_variable(meaning, posterior.mean[0], {{0, 1.0}}));
    return posterior;
}

TEST(CheckByHand, NamesAreOnlyNames) {
    for (const std::string name : {"Lambda", "pi", "sigma", "tau", "Sigma", "mu"}) {
        ModelBuilder builder;
        const auto x = builder.add(name, gamma(2.0, 1.0));
        builder.observe_column(kValues, normal(0.0, x));
        const MultilinearModel model = builder.build();
        const Optimum optimum = fit(model);
        const Check checked =
            check_posterior(model, optimum, by_hand(model, optimum, name, true), Functionals(std::vector<Index>{0, 1}));
        EXPECT_TRUE(checked.reliable) << name;
        EXPECT_EQ(checked.variables.front().name, name);
        // One that does not know its value at a draw is refused in a sentence, whatever it is called.
        EXPECT_THROW(check_posterior(model, optimum, by_hand(model, optimum, name, false),
                                     Functionals(std::vector<Index>{0, 1})),
                     std::invalid_argument)
            << name;
        // And in one call.
        EXPECT_TRUE(check(model, optimum).reliable) << name;
    }
}

TEST(CheckByHand, MatricesAndWeightsOfSuchNamesAreChecked) {
    Matrix rows(30, 2);
    for (Index n = 0; n < rows.rows(); ++n) {
        rows.row(n) << std::sin(1.7 * static_cast<double>(n)), std::cos(2.9 * static_cast<double>(n));
    }
    ModelBuilder builder;
    const auto lambda = builder.add("Lambda", wishart(3.0, Matrix::Identity(2, 2)));
    const auto pi = builder.add("pi", dirichlet({1.0, 1.0}));
    const auto sigma = builder.add("sigma", normal(0.0, 1.0));
    builder.observe_rows(rows, mv_normal({sigma, 0.0}, lambda));
    builder.observe(Vector{{3.0, 5.0}}, multinomial(pi));
    const MultilinearModel model = builder.build();
    const Optimum optimum = fit(model);
    const Check checked = check(model, optimum);
    EXPECT_TRUE(checked.reliable);
    EXPECT_GT(find(checked, "Lambda[1,2]").sd_exact, 0.0);
}

// An inverse without the statistics that it is of is a rule that says nothing.
TEST(CheckByHand, RulesThatSayNothingAreRefused) {
    ModelBuilder builder;
    const auto x = builder.add("Lambda", gamma(2.0, 1.0));
    builder.observe_column(kValues, normal(0.0, x));
    const MultilinearModel model = builder.build();
    const Optimum optimum = fit(model);
    const auto checked_with = [&](const FromDraw& rule) {
        Posterior posterior = by_hand(model, optimum, "Lambda", true);
        posterior.variables.front().meaning.from_draw = rule;
        check_posterior(model, optimum, posterior, Functionals(std::vector<Index>{0, 1}));
    };
    FromDraw empty_inverse;
    empty_inverse.dimension = 1;
    EXPECT_THROW(checked_with(empty_inverse), std::invalid_argument);
    FromDraw short_inverse = FromDraw::statistic(0);
    short_inverse.dimension = 2;
    EXPECT_THROW(checked_with(short_inverse), std::invalid_argument);
    EXPECT_THROW(checked_with(FromDraw::statistic(7)), std::invalid_argument);
    EXPECT_THROW(checked_with(FromDraw::statistic(-1)), std::invalid_argument);
    FromDraw entry = FromDraw::statistic(0);
    entry.dimension = 1;
    entry.row = 3;
    EXPECT_THROW(checked_with(entry), std::invalid_argument);
}

}  // namespace
}  // namespace lrvb
