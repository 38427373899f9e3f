#include "data_files.hpp"
#include "joint_models.hpp"
#include "says.hpp"
#include "support.hpp"

#include <cmath>

/// Joined models against exact posteriors, and as declared ones: files, checks, influence.
namespace lrvb {
namespace {

using test::Grouped;
using test::GrowthCurves;
using test::OneWay;

/// How far a mean is from the exact one, in exact sds, and the ratio of the sds.
struct Distance {
    double shift = 0.0;
    double ratio = 0.0;
};

Distance distance(const LinearResponse& response, const std::string& name, double exact_mean, double exact_sd) {
    const Functionals asked(std::vector<std::string>{name});
    return {(response.mean(asked)[0] - exact_mean) / exact_sd, response.sd(asked)[0] / exact_sd};
}

FieldData growth_field(const GrowthCurves& data) {
    FieldData field;
    field.y = Vector(data.y.size());
    field.names = {"x"};
    field.columns.resize(data.y.size(), 1);
    FieldFactor intercepts{"g", {}, {"intercept"}, {}, Matrix::Ones(data.y.size(), 1)};
    for (Index g = 0; g < data.groups; ++g) {
        intercepts.levels.push_back(std::to_string(g));
        for (Index j = 0; j < 5; ++j) {
            field.y[g * 5 + j] = data.y(g, j);
            field.columns(g * 5 + j, 0) = data.times[j];
            intercepts.level.push_back(static_cast<int>(g));
        }
    }
    FieldFactor slopes = intercepts;
    slopes.name = "h";
    slopes.effects = {"x"};
    slopes.values = field.columns;
    field.factors = {intercepts, slopes};
    return field;
}

// The exact posterior: the same model as a field, integrated over its three sds, which is exact for normal rows. With a
// factor each, variables put the precision of the intercepts far off; joined, they are where they should be.
TEST(JointTruth, GrowthCurvesHaveTheExactPrecisions) {
    GrowthCurves data(5);
    data.times = Vector{{8.0, 15.0, 22.0, 29.0, 36.0}};
    Random random(1);
    for (Index g = 0; g < data.groups; ++g) {
        const double alpha = 106.0 + 14.0 * random.normal();
        const double beta = 6.2 + 0.5 * random.normal();
        for (Index j = 0; j < 5; ++j) data.y(g, j) = alpha + beta * data.times[j] + 6.0 * random.normal();
    }
    FieldPrior prior;
    prior.intercept_mean = 0.0;
    prior.intercept_sd = 1000.0;
    prior.mean = Vector::Zero(1);
    prior.sd = Vector::Constant(1, 1000.0);
    prior.centre = Vector::Zero(1);
    const ScalePrior scale = ScalePrior::gamma_precision(0.001, 0.001);
    prior.sigma = scale;
    prior.factors = {{{scale}, false}, {{scale}, false}};
    const FieldModel field(growth_field(data), prior);
    const FieldIntegral integral(field);
    const FieldMarginals exact = integral.marginals(
        field.in_data_units({"log_sigma", "log_sd[g,intercept]", "log_sd[h,x]", "intercept", "beta[x]", "u[h,0,x]"}));

    const MultilinearModel base = data.base();
    const JointModel model(base);
    EXPECT_EQ(model.coefficient_count(), 62);
    const Optimum optimum = fit(model);
    ASSERT_TRUE(optimum.converged()) << optimum.message;
    const LinearResponse response(model, optimum);
    const std::vector<std::string> logs = {"log_tau_c", "log_tau_alpha", "log_tau_beta"};
    for (std::size_t i = 0; i < logs.size(); ++i) {
        const auto at = static_cast<Index>(i);
        const Distance own = distance(response, logs[i], -2.0 * exact.mean[at], 2.0 * exact.sd[at]);
        EXPECT_LT(std::abs(own.shift), 0.25) << logs[i];
        EXPECT_NEAR(own.ratio, 1.0, 0.1) << logs[i];
    }
    for (const auto& [name, at] : {std::pair<std::string, Index>{"alpha_c", 3}, {"beta_c", 4}}) {
        const Distance own = distance(response, name, exact.mean[at], exact.sd[at]);
        EXPECT_LT(std::abs(own.shift), 0.02) << name;
        EXPECT_NEAR(own.ratio, 0.98, 0.03) << name;
    }

    const Optimum separate = fit(base);
    ASSERT_TRUE(separate.converged()) << separate.message;
    const Distance apart =
        distance(LinearResponse(base, separate), "log_tau_alpha", -2.0 * exact.mean[1], 2.0 * exact.sd[1]);
    EXPECT_GT(std::abs(apart.shift), 10.0);
}

FieldData grouped_field(const Grouped& data) {
    FieldData field;
    field.likelihood = data.likelihood;
    field.y = data.y;
    if (data.trials != 1.0) field.trials = Vector::Constant(data.y.size(), data.trials);
    field.names = {"x"};
    field.columns = data.x;
    FieldFactor factor{"g", {}, {"intercept"}, {}, Matrix::Ones(data.y.size(), 1)};
    for (Index g = 0; g < data.groups; ++g) {
        factor.levels.push_back(std::to_string(g));
        for (Index i = 0; i < data.size; ++i) factor.level.push_back(static_cast<int>(g));
    }
    field.factors = {factor};
    return field;
}

FieldPrior grouped_prior() {
    FieldPrior prior;
    prior.intercept_mean = 0.5;
    prior.intercept_sd = 1.0 / std::sqrt(0.1);
    prior.mean = Vector::Zero(1);
    prior.sd = Vector::Constant(1, 2.0);
    prior.centre = Vector::Zero(1);
    prior.factors = {{{ScalePrior::gamma_precision(2.0, 1.0)}, false}};
    return prior;
}

// At one point the field has the same bound, with log sd in the place of tau: E tau = exp(−2 log sd), and one mean.
TEST(JointTruth, RowsUnderALinkAgreeWithTheFieldAtOnePoint) {
    for (const std::string link : {"logit", "probit", "cloglog", "log"}) {
        const Grouped data(link, 11, 15, 6, link == "log" ? 1.0 : 3.0);
        const JointModel model = data.model();
        const Optimum optimum = fit(model);
        ASSERT_TRUE(optimum.converged()) << optimum.message;
        const FieldModel field(grouped_field(data), grouped_prior());
        const Optimum other = fit(field);
        ASSERT_TRUE(other.converged()) << other.message;
        const Functionals asked =
            field.in_data_units({"log_sd[g,intercept]", "intercept", "beta[x]", "u[g,3,intercept]"});
        const Vector expected = LinearResponse(field, other).mean(asked);
        const Vector own = LinearResponse(model, optimum).mean({"tau", "a", "b", "u[4]"});
        EXPECT_NEAR(own[0], std::exp(-2.0 * expected[0]), 1e-5 * own[0]);
        for (Index i = 1; i < 4; ++i) EXPECT_NEAR(own[i], expected[i], 1e-6);
    }
}

// The exact posterior by the field's integral, whose nodes are corrected for what the bound misses (field.md: within
// .05 of an sd, and .02 of sds).
TEST(JointTruth, RowsUnderALinkComeNearTheExactPosterior) {
    Grouped data("logit", 12, 40, 20, 1.0);
    for (Index n = 0; n < data.x.size(); ++n) data.x[n] = n % 2 == 0 ? -0.5 : 0.5;
    const JointModel model = data.model();
    const Optimum optimum = fit(model);
    ASSERT_TRUE(optimum.converged()) << optimum.message;
    const LinearResponse response(model, optimum);
    const FieldModel field(grouped_field(data), grouped_prior());
    const FieldIntegral integral(field);
    const FieldMarginals exact =
        integral.marginals(field.in_data_units({"log_sd[g,intercept]", "intercept", "beta[x]", "u[g,3,intercept]"}));
    const Distance scale = distance(response, "log_tau", -2.0 * exact.mean[0], 2.0 * exact.sd[0]);
    EXPECT_LT(std::abs(scale.shift), 0.3);
    EXPECT_NEAR(scale.ratio, 1.0, 0.1);
    const std::vector<std::string> names = {"a", "b", "u[4]"};
    for (std::size_t i = 0; i < names.size(); ++i) {
        const auto at = static_cast<Index>(i) + 1;
        const Distance own = distance(response, names[i], exact.mean[at], exact.sd[at]);
        EXPECT_LT(std::abs(own.shift), 0.1) << names[i];
        EXPECT_NEAR(own.ratio, 1.0, 0.06) << names[i];
    }
}

std::shared_ptr<const JointModel> shared(JointModel model) {
    return std::make_shared<const JointModel>(std::move(model));
}

// Through a file and back, compared with its exact posterior by draws, and without a row as declared without it.
TEST(JointDeclared, IsSavedCheckedAndAskedLikeAnyDeclaredModel) {
    const OneWay data(21, 12, 5);
    const auto model = shared(JointModel(data.base()));
    const auto fitted = fitted_model(model, fit(*model));
    const Posterior& posterior = fitted->posterior();
    const Posterior::Row mu = posterior.summary(posterior.select({"mu"}), 0.9).front();
    // S of mu is smaller than its variance, by what the precisions are uncertain.
    EXPECT_LT(mu.mean_field_sd, mu.sd);
    EXPECT_GT(mu.mean_field_sd, 0.9 * mu.sd);

    const TemporaryDirectory folder;
    write_fit(folder.path("fit.json"), fitted->file());
    const auto restored = restore(read_fit(folder.path("fit.json")), model);
    const Posterior::Row again = restored->posterior().summary(restored->posterior().select({"mu"}), 0.9).front();
    EXPECT_EQ(again.sd, mu.sd);
    EXPECT_EQ(again.mean_field_sd, mu.mean_field_sd);

    const Check result = check(*restored);
    for (const CheckedVariable& variable : result.variables) {
        if (variable.name != "mu" && variable.name != "log_tau") continue;
        EXPECT_LT(std::abs(variable.shift), 0.1) << variable.name;
    }

    const RowInfluence influence(*restored);
    const RowInfluence::Case furthest = influence.most_influential(1).front();
    const RowInfluence::Case refitted = influence.refitted(furthest);
    const JointModel without = model->without_row(furthest.row);
    const Posterior smaller = declared_posterior(without, fit(without));
    const Vector sds = posterior.sds(influence.variables());
    for (std::size_t v = 0; v < influence.variables().size(); ++v) {
        const auto at = static_cast<std::size_t>(influence.variables()[v]);
        const double change = smaller.variables[at].mean - posterior.variables[at].mean;
        EXPECT_NEAR(refitted.shifts[static_cast<Index>(v)], change / sds[static_cast<Index>(v)], 1e-6);
    }
}

// Multiplied by a power of two, all numbers are the same but for the unit, however large.
TEST(JointDeclared, LargeUnitsLoseNoDigits) {
    const auto fitted_in = [](double unit) {
        OneWay data(22);
        data.y *= unit;
        data.prior << 0.0, 0.01 / (unit * unit), 2.0, unit * unit, 2.0, 1.5 * unit * unit;
        const auto model = shared(JointModel(data.base()));
        return fitted_model(model, fit(*model));
    };
    const auto plain = fitted_in(1.0);
    for (const double unit : {std::exp2(20.0), std::exp2(40.0), std::exp2(-30.0)}) {
        const auto large = fitted_in(unit);
        ASSERT_TRUE(large->file().converged()) << large->file().outcome.message;
        const TemporaryDirectory folder;
        write_fit(folder.path("fit.json"), large->file());
        const FitFile again = read_fit(folder.path("fit.json"));
        for (const std::string name : {"mu", "u[3]"}) {
            const Posterior::Row expected = plain->posterior().summary(plain->posterior().select({name}), 0.9).front();
            const Posterior::Row own = again.posterior.summary(again.posterior.select({name}), 0.9).front();
            EXPECT_NEAR(own.mean / unit, expected.mean, 1e-7 * expected.sd) << name;
            EXPECT_NEAR(own.sd / unit, expected.sd, 1e-7 * expected.sd) << name;
            EXPECT_NEAR(own.mean_field_sd / unit, expected.mean_field_sd, 1e-7 * expected.sd) << name;
        }
    }
}

TEST(Joinable, LeavesOutAsFewAsProductsAsk) {
    // y_ij ~ N(loading_j factor_i, tau): of the two kinds the fewer stay out.
    ModelBuilder builder;
    const auto tau = builder.add("tau", gamma(2.0, 2.0));
    const auto mu = builder.add("mu", normal(0.0, 1.0));
    std::vector<Variable<family::Normal>> loadings;
    std::vector<Variable<family::Normal>> factors;
    for (Index j = 0; j < 2; ++j) loadings.push_back(builder.add(test::indexed_name("loading", j), normal(0.0, 1.0)));
    for (Index i = 0; i < 5; ++i) factors.push_back(builder.add(test::indexed_name("factor", i), normal(mu, 1.0)));
    for (const auto& loading : loadings) {
        for (const auto& factor : factors) builder.observe(0.3, normal(loading * factor, tau));
    }
    const MultilinearModel base = builder.build();
    EXPECT_EQ(joinable(base), (std::vector<Index>{1, 4, 5, 6, 7, 8}));
    const JointModel model(base);
    EXPECT_EQ(model.other_count(), 2 + 2 * 2);
    try {
        const JointModel both(base, {loadings[0].index(), factors[0].index()});
        ADD_FAILURE() << "loadings and factors were joined";
    } catch (const std::invalid_argument& error) {
        EXPECT_EQ(
            std::string(error.what()),
            "the joined variables are not jointly normal given the others: the log joint has tau * loading[1]^2 * "
            "factor[1]^2, of degree 4 in them; leave out one of its variables (joinable says which can be joined)");
    }
    EXPECT_THROW(JointModel(base, {tau.index()}), std::invalid_argument);
    EXPECT_THROW(JointModel(base, {99}), std::invalid_argument);
    EXPECT_THROW(JointModel(base, std::vector<Index>{}), std::invalid_argument);
}

TEST(Joinable, RefusesPredictorsThatAreNotLinear) {
    ModelBuilder builder;
    const auto tau = builder.add("tau", gamma(2.0, 2.0));
    const auto a = builder.add("a", normal(0.0, 1.0));
    const auto b = builder.add("b", normal(0.0, tau));
    const MultilinearModel base = builder.build();
    const auto refusal = [&](const std::vector<Expression>& predictors, const Vector& y) {
        PredictorRows rows;
        rows.y = y;
        rows.predictors = predictors;
        try {
            const JointModel model(base, {rows});
        } catch (const std::invalid_argument& error) {
            return std::string(error.what());
        }
        return std::string();
    };
    EXPECT_TRUE(test::says(refusal({a + b, a * b}, Vector{{0.0, 1.0}}), {"row 2", "predictor", "variables"}));
    EXPECT_TRUE(test::says(refusal({a + b, Expression(tau)}, Vector{{0.0, 1.0}}), {"row 2", "predictor", "variables"}));
    EXPECT_TRUE(test::says(refusal({a + b, a - b}, Vector{{0.0, 2.0}}), {"row 2", "2", "0", "1", "response"}));
    EXPECT_TRUE(test::says(refusal({a + b}, Vector{{0.0, 1.0}}), {"2", "0", "1", "trials", "numbers", "give"}));
}

}  // namespace
}  // namespace lrvb
