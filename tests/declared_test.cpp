// Models declared with ModelBuilder as fits: their posteriors against closed forms, and all that can be asked of a fit,
// live and from its file.

#include "data_files.hpp"
#include "grouped_model.hpp"
#include "memory.hpp"
#include "support.hpp"

#include <lrvb/check/check.hpp>
#include <lrvb/kind/declared.hpp>
#include <lrvb/kind/fit_file.hpp>
#include <lrvb/query/influence.hpp>
#include <lrvb/query/sensitivity.hpp>
#ifdef LRVB_WITH_REPORT
#include <lrvb/report/report.hpp>
#endif

#include <Eigen/Cholesky>
#include <boost/math/special_functions/digamma.hpp>
#include <boost/math/special_functions/gamma.hpp>
#include <boost/math/special_functions/trigamma.hpp>
#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <numeric>
#include <unistd.h>

namespace lrvb {
namespace {

using boost::math::digamma;
using boost::math::trigamma;

constexpr Index kAllRows = -1;

struct Moments {
    double mean;
    double sd;
};

// A model whose posterior is known, with all rows or without one of them.
struct Known {
    std::string name;
    std::function<MultilinearModel(Index without)> build;
    std::map<std::string, Moments> exact;
    Index rows;
};

const Vector kHeights{{4.1, 5.3, 3.9, 6.0, 5.2, 4.7}};
constexpr double kPriorPrecision = 0.04;
constexpr double kNoise = 2.0;

Vector without_entry(const Vector& values, Index without) {
    if (without == kAllRows) return values;
    Vector result(values.size() - 1);
    result << values.head(without), values.tail(values.size() - without - 1);
    return result;
}

// Normal data of known precision: μ | y ~ Normal((κ·location + τΣy)/Λ, 1/Λ), Λ = κ + nτ.
Known heights() {
    const auto build = [](Index without) {
        const Vector y = without_entry(kHeights, without);
        ModelBuilder builder;
        const auto mu = builder.add("mu", normal(builder.hyperparameter("location", 0.5),
                                                 builder.hyperparameter("precision", kPriorPrecision)));
        const Rows people = builder.rows("people", y.size());
        builder.observe_column(y, normal(mu, kNoise), people.as("height"));
        return builder.build();
    };
    const double precision = kPriorPrecision + kNoise * 6.0;
    return {"heights",
            build,
            {{"mu", {(kPriorPrecision * 0.5 + kNoise * kHeights.sum()) / precision, 1.0 / std::sqrt(precision)}}},
            6};
}

// μ ~ N(0, 1/0.01), θ_g ~ N(μ, 1/4), y ~ N(θ_g, 1): a joint normal, whose precision matrix is written down here.
Known groups() {
    Random random(3);
    Vector y(12);
    for (Index n = 0; n < 12; ++n) y[n] = 1.0 + 0.5 * static_cast<double>(n / 3) + random.normal();
    const auto build = [y](Index without) {
        ModelBuilder builder;
        const auto mu = builder.add("mu", normal(0.0, 0.01));
        const Rows rows = builder.rows("rows", without == kAllRows ? 12 : 11);
        Index next = 0;
        for (Index g = 0; g < 4; ++g) {
            const auto theta = builder.add(fmt::format("theta[{}]", g + 1), normal(mu, 4.0));
            for (Index n = 3 * g; n < 3 * g + 3; ++n) {
                if (n != without) builder.observe(y[n], normal(theta, 1.0), rows[next++]);
            }
        }
        return builder.build();
    };
    Matrix precision = Matrix::Zero(5, 5);
    Vector pull = Vector::Zero(5);
    precision(0, 0) = 0.01 + 4.0 * 4.0;
    for (Index g = 1; g <= 4; ++g) {
        precision(g, g) = 4.0 + 3.0;
        precision(0, g) = precision(g, 0) = -4.0;
        pull[g] = y.segment(3 * (g - 1), 3).sum();
    }
    const Matrix covariance = precision.llt().solve(Matrix::Identity(5, 5));
    const Vector mean = covariance * pull;
    Known known{"groups", build, {{"mu", {mean[0], std::sqrt(covariance(0, 0))}}}, 12};
    for (Index g = 1; g <= 4; ++g) {
        known.exact[fmt::format("theta[{}]", g)] = {mean[g], std::sqrt(covariance(g, g))};
    }
    return known;
}

// Gamma(2, 3) and counts 12 over exposures 6.5: Gamma(14, 9.5).
Known counts() {
    const auto build = [](Index without) {
        const Vector seen = without_entry(Vector{{3.0, 0.0, 2.0, 7.0}}, without);
        const Vector exposures = without_entry(Vector{{1.0, 0.5, 2.0, 3.0}}, without);
        ModelBuilder builder;
        const auto rate =
            builder.add("rate", gamma(builder.hyperparameter("shape", 2.0), builder.hyperparameter("prior_rate", 3.0)));
        builder.observe_counts(seen, exposures, rate, builder.rows("weeks", seen.size()));
        return builder.build();
    };
    return {"counts",
            build,
            {{"rate", {14.0 / 9.5, std::sqrt(14.0) / 9.5}},
             {"log_rate", {digamma(14.0) - std::log(9.5), std::sqrt(trigamma(14.0))}}},
            4};
}

// Beta(2, 3) and 8 of 22: Beta(10, 17). The sd of p itself is a first-order one, and not compared.
Known shares() {
    const auto build = [](Index without) {
        ModelBuilder builder;
        const auto p = builder.add("p", beta(2.0, 3.0));
        const Rows rows = builder.rows("days", without == kAllRows ? 2 : 1);
        Index next = 0;
        if (without != 0) builder.observe(3.0, binomial(10, p), rows[next++]);
        if (without != 1) builder.observe(5.0, binomial(12, p), rows[next++]);
        return builder.build();
    };
    constexpr double nothing = std::numeric_limits<double>::quiet_NaN();
    return {"shares",
            build,
            {{"p", {10.0 / 27.0, nothing}},
             {"log_p", {digamma(10.0) - digamma(27.0), std::sqrt(trigamma(10.0) - trigamma(27.0))}},
             {"log1m_p", {digamma(17.0) - digamma(27.0), std::sqrt(trigamma(17.0) - trigamma(27.0))}}},
            2};
}

// Dirichlet(1, 2, 3) and counts (4, 2, 9): Dirichlet(5, 4, 12).
Known parts() {
    const auto build = [](Index) {
        ModelBuilder builder;
        const auto pi = builder.add("pi", dirichlet(Vector{{1.0, 2.0, 3.0}}));
        builder.observe(Vector{{4.0, 2.0, 9.0}}, multinomial(pi));
        return builder.build();
    };
    constexpr double nothing = std::numeric_limits<double>::quiet_NaN();
    Known known{"parts", build, {}, 0};
    const Vector alpha{{5.0, 4.0, 12.0}};
    for (Index k = 0; k < 3; ++k) {
        known.exact[fmt::format("pi[{}]", k + 1)] = {alpha[k] / 21.0, nothing};
        known.exact[fmt::format("log_pi[{}]", k + 1)] = {digamma(alpha[k]) - digamma(21.0),
                                                         std::sqrt(trigamma(alpha[k]) - trigamma(21.0))};
    }
    return known;
}

// Wishart(5, (2I)⁻¹) and 20 rows of known mean 0: Wishart(25, S), S = (2I + Σxxᵀ)⁻¹, with mean 25 S and
// Var W_ij = 25 (S_ij² + S_ii S_jj).
Known precisions() {
    Random random(5);
    const Matrix x = test::random_matrix(20, 2, random) * Matrix{{1.0, 0.6}, {0.0, 0.8}};
    const auto build = [x](Index without) {
        Matrix kept(without == kAllRows ? 20 : 19, 2);
        for (Index n = 0, next = 0; n < 20; ++n) {
            if (n != without) kept.row(next++) = x.row(n);
        }
        ModelBuilder builder;
        const auto w = builder.add("W", wishart(5.0, Matrix(2.0 * Matrix::Identity(2, 2))));
        builder.observe_rows(kept, mv_normal(Vector{{0.0, 0.0}}, w), builder.rows("rows", kept.rows()));
        return builder.build();
    };
    const Matrix inverse = 2.0 * Matrix::Identity(2, 2) + x.transpose() * x;
    const Matrix s = inverse.llt().solve(Matrix::Identity(2, 2));
    Known known{"precisions", build, {}, 20};
    for (Index i = 0; i < 2; ++i) {
        for (Index j = i; j < 2; ++j) {
            known.exact[fmt::format("W[{},{}]", i + 1, j + 1)] = {
                25.0 * s(i, j), std::sqrt(25.0 * (s(i, j) * s(i, j) + s(i, i) * s(j, j)))};
        }
    }
    return known;
}

std::vector<Index> all_of(const Posterior& posterior) {
    std::vector<Index> all(posterior.variables.size());
    std::iota(all.begin(), all.end(), Index{0});
    return all;
}

std::shared_ptr<const MultilinearModel> shared(MultilinearModel model) {
    return std::make_shared<const MultilinearModel>(std::move(model));
}

std::unique_ptr<FittedModel> fitted_of(const std::shared_ptr<const MultilinearModel>& model) {
    return fitted_model(model, fit(*model));
}

// Through a file and back.
FitFile saved(const FitFile& file) {
    const TemporaryDirectory folder;
    const std::string path = folder.path("fit.json");
    write_fit(path, file);
    return read_fit(path);
}

std::string sentence_of(const std::function<void()>& action) {
    try {
        action();
    } catch (const std::exception& error) {
        return error.what();
    }
    return {};
}

class Declared : public ::testing::TestWithParam<Known> {
  protected:
    std::shared_ptr<const MultilinearModel> model = shared(GetParam().build(kAllRows));
    std::unique_ptr<FittedModel> fitted = fitted_of(model);
};

TEST_P(Declared, MeansAndSdsAreThoseOfTheClosedForm) {
    for (const auto& [name, exact] : GetParam().exact) {
        const Posterior::Row row = fitted->posterior().summary(fitted->posterior().select({name}), 0.9).front();
        EXPECT_NEAR(row.mean, exact.mean, 1e-7 * std::abs(exact.mean)) << name;
        if (std::isnan(exact.sd)) continue;
        EXPECT_NEAR(row.sd, exact.sd, 1e-6 * exact.sd) << name;
    }
}

TEST_P(Declared, AFileSaysWhatTheFitSaid) {
    const FitFile again = saved(fitted->file());
    const Posterior& before = fitted->posterior();
    const Posterior& after = again.posterior;
    const std::vector<Posterior::Row> live = before.summary(all_of(before), 0.9);
    const std::vector<Posterior::Row> read = after.summary(all_of(after), 0.9);
    ASSERT_EQ(read.size(), live.size());
    for (std::size_t v = 0; v < live.size(); ++v) {
        EXPECT_EQ(read[v].name, live[v].name);
        EXPECT_EQ(read[v].mean, live[v].mean) << live[v].name;
        EXPECT_EQ(read[v].sd, live[v].sd) << live[v].name;
        EXPECT_EQ(read[v].lower, live[v].lower) << live[v].name;
        EXPECT_EQ(read[v].mean_field_upper, live[v].mean_field_upper) << live[v].name;
        EXPECT_EQ(after.variables[v].meaning.role, before.variables[v].meaning.role) << live[v].name;
        EXPECT_EQ(after.variables[v].meaning.is_parameter, before.variables[v].meaning.is_parameter) << live[v].name;
    }
    EXPECT_EQ(after.covariance_of(all_of(after), Method::linear_response),
              before.covariance_of(all_of(before), Method::linear_response));
    EXPECT_FALSE(again.program.empty());
}

TEST_P(Declared, DrawsOfTheExactPosteriorAgreeWithTheClosedForm) {
    const Check result = check(*restore(saved(fitted->file()), model));
    EXPECT_EQ(result.verdict, CheckVerdict::ok) << result.message;
    for (const CheckedVariable& variable : result.variables) {
        const auto exact = GetParam().exact.find(variable.name);
        if (exact == GetParam().exact.end()) continue;
        EXPECT_NEAR(variable.mean_exact, exact->second.mean, 5.0 * variable.shift_se * variable.sd_exact)
            << variable.name;
    }
}

TEST_P(Declared, ACorrectedFitHasTheMeansOfTheDrawsAndIsRestoredAsBefore) {
    const Check draws = check(*fitted);
    const FitFile again = saved(corrected(fitted->file(), draws));
    ASSERT_TRUE(again.correction);
    for (std::size_t v = 0; v < draws.variables.size(); ++v) {
        const CheckedVariable& exact = draws.variables[v];
        const auto at = static_cast<Index>(v);
        EXPECT_NEAR(again.posterior.variables[v].mean, exact.mean_exact, 1e-10 * exact.sd_exact) << exact.name;
        EXPECT_NEAR(again.posterior.sds({at})[0], exact.sd_exact, 1e-6 * exact.sd_exact) << exact.name;
    }
    const auto restored = restore(again, model);
    for (std::size_t v = 0; v < draws.variables.size(); ++v) {
        EXPECT_NEAR(restored->posterior().variables[v].mean, fitted->posterior().variables[v].mean, 1e-12);
    }
}

// Against a model that was declared without the row.
TEST_P(Declared, DroppingARowIsAFitWithoutIt) {
    if (GetParam().rows == 0) {
        EXPECT_EQ(sentence_of([&] { RowInfluence{*fitted}; }),
                  "the model of this fit was told of no rows: name them where they are observed");
        return;
    }
    const auto restored = restore(saved(fitted->file()), model);
    const RowInfluence influence(*restored);
    const RowInfluence::Case furthest = influence.most_influential(1).front();
    const RowInfluence::Case refitted = influence.refitted(furthest);
    const auto smaller = fitted_of(shared(GetParam().build(furthest.row)));
    const Vector sds = fitted->posterior().sds(influence.variables());
    for (std::size_t v = 0; v < influence.variables().size(); ++v) {
        const auto at = static_cast<std::size_t>(influence.variables()[v]);
        const double change = smaller->posterior().variables[at].mean - fitted->posterior().variables[at].mean;
        EXPECT_NEAR(refitted.shifts[static_cast<Index>(v)], change / sds[static_cast<Index>(v)], 1e-6)
            << fitted->posterior().variables[at].name;
    }
}

#ifdef LRVB_WITH_REPORT
TEST_P(Declared, AReportShowsItsVariables) {
    const auto restored = restore(saved(fitted->file()), model);
    const std::string page = report_page(restored->file(), restored.get());
    for (const PosteriorVariable& variable : restored->posterior().variables) {
        const bool is_there = page.find("\"name\":\"" + variable.name + "\"") != std::string::npos;
        EXPECT_EQ(is_there, variable.meaning.is_shown) << variable.name;
    }
    EXPECT_EQ(page.find("\"rows\":null") == std::string::npos, GetParam().rows > 0);
}
#endif

INSTANTIATE_TEST_SUITE_P(Models, Declared,
                         ::testing::Values(heights(), groups(), counts(), shares(), parts(), precisions()),
                         [](const auto& instance) { return instance.param.name; });

// m = (κ·location + τΣy)/Λ and sd = Λ^(−1/2), Λ = κ + nτ.
TEST(DeclaredFits, PriorsMoveMeansAndSdsAsTheClosedFormSays) {
    const auto fitted = fitted_of(shared(heights().build(kAllRows)));
    const double precision = kPriorPrecision + 6.0 * kNoise;
    const double mean = fitted->posterior().variables[0].mean;
    std::map<std::string, PriorEffect> effects;
    for (const PriorEffect& effect : prior_effects(*fitted, {0})) effects[effect.prior.name] = effect;
    ASSERT_EQ(effects.size(), 2U);
    EXPECT_NEAR(effects["location"].mean_slope, kPriorPrecision / precision, 1e-9);
    EXPECT_NEAR(effects["location"].sd_slope, 0.0, 1e-9);
    EXPECT_NEAR(effects["precision"].mean_slope, (0.5 - mean) / precision, 1e-9);
    EXPECT_NEAR(effects["precision"].sd_slope, -0.5 * std::pow(precision, -1.5), 1e-9);
}

// Gamma(shape + 12, rate + 6.5): sd = √a/b.
TEST(DeclaredFits, PriorsOfARateMoveItsSdAsTheClosedFormSays) {
    const auto fitted = fitted_of(shared(counts().build(kAllRows)));
    const std::vector<Index> rate = fitted->posterior().select({"rate"});
    for (const PriorEffect& effect : prior_effects(*fitted, rate)) {
        const bool is_shape = effect.prior.name == "shape";
        const double slope = is_shape ? 0.5 / (std::sqrt(14.0) * 9.5) : -std::sqrt(14.0) / (9.5 * 9.5);
        EXPECT_NEAR(effect.sd_slope, slope, 1e-4 * std::abs(slope)) << effect.prior.name;
    }
}

// Against models declared with the other number; a location enters squared, so that only small steps are alike.
TEST(DeclaredFits, AStepOfAHyperparameterIsTheModelDeclaredWithIt) {
    const auto model_of = [](double location, double rate) {
        ModelBuilder builder;
        const auto mu = builder.add("mu", normal(builder.hyperparameter("location", location), 0.04));
        const auto tau = builder.add("tau", gamma(2.0, builder.hyperparameter("rate", rate)));
        builder.observe_column(kHeights, normal(mu, tau));
        return builder.build();
    };
    const MultilinearModel model = model_of(0.5, 1.0);
    const Vector stepped_rate = fit(model.stepped(1, 0.7)).state.mean;
    EXPECT_LT(test::relative_error(stepped_rate, fit(model_of(0.5, 1.7)).state.mean), 1e-7);
    const Vector stepped_location = fit(model.stepped(0, 1e-3)).state.mean;
    EXPECT_LT(test::relative_error(stepped_location, fit(model_of(0.501, 1.0)).state.mean), 1e-7);
    EXPECT_EQ(sentence_of([&] { static_cast<void>(model.stepped(2, 0.1)); }),
              "stepped: hyperparameter 2 is not one of the model's 2");
}

TEST(DeclaredFits, TheWrongModelIsRefused) {
    const FitFile file = saved(fitted_of(shared(heights().build(kAllRows)))->file());
    // The same variables, other data.
    ModelBuilder builder;
    const auto mu = builder.add("mu", normal(0.5, 0.04));
    builder.observe_column(Vector{{1.0, 2.0}}, normal(mu, 2.0));
    EXPECT_THROW(static_cast<void>(restore(file, shared(builder.build()))), NotAnOptimum);
    // Other variables.
    EXPECT_EQ(sentence_of([&] { static_cast<void>(restore(file, shared(groups().build(kAllRows)))); }),
              "the fit has 6 rows, but the model was told of 12: declare the model that was fitted");
    EXPECT_EQ(sentence_of([&] { static_cast<void>(restore(file, shared(parts().build(kAllRows)))); }),
              "the parameters of the fit file are not those of its model: mu is another");
    // A family of as many numbers under the same name.
    ModelBuilder other;
    const auto positive = other.add("mu", gamma(2.0, 1.0));
    other.observe_counts(Vector{{3.0}}, Vector{{1.0}}, positive);
    EXPECT_NE(sentence_of([&] { static_cast<void>(restore(file, shared(other.build()))); }), "");
    EXPECT_EQ(sentence_of([&] { static_cast<void>(restore(file, std::shared_ptr<const MultilinearModel>())); }),
              "restore: there is no model");
}

TEST(DeclaredFits, AFileWithoutItsModelSaysWhereItsDataAre) {
    const FitFile file = saved(fitted_of(shared(heights().build(kAllRows)))->file());
    EXPECT_EQ(sentence_of([&] { static_cast<void>(restore(file, Dataset("data.csv"))); }),
              "the model of this fit was declared in C++, and its data are there: restore it in the program that "
              "declared it");
}

TEST(DeclaredFits, AFitThatDidNotConvergeIsKeptButNotAsked) {
    ModelBuilder builder;
    const auto mu = builder.add("mu", normal(0.0, 0.04));
    const auto tau = builder.add("tau", gamma(2.0, 1.0));
    builder.observe_column(kHeights, normal(mu, tau));
    const auto model = shared(builder.build());
    FitOptions options;
    options.max_iterations = 1;
    options.first_sweeps = 1;
    const auto fitted = fitted_model(model, fit(*model, options));
    ASSERT_FALSE(fitted->file().converged());
    const FitFile again = saved(fitted->file());
    const Posterior::Row row = again.posterior.summary({0}, 0.9).front();
    EXPECT_TRUE(std::isnan(row.sd));
    EXPECT_GT(row.mean_field_sd, 0.0);
    EXPECT_THROW(static_cast<void>(again.posterior.covariance_of({0}, Method::linear_response)), NotAnOptimum);
    EXPECT_EQ(sentence_of([&] { static_cast<void>(restore(again, model)); }),
              "the fit did not converge, so there is no response to ask: fit again");
    EXPECT_THROW(static_cast<void>(check(*fitted)), NotAnOptimum);
    EXPECT_THROW(static_cast<void>(prior_effects(again, {0})), NotAnOptimum);
}

TEST(DeclaredFits, ADerivedNameThatIsTakenIsAnother) {
    ModelBuilder builder;
    const auto mu = builder.add("mu", normal(0.0, 0.04));
    const auto tau = builder.add("tau", gamma(2.0, 1.0));
    const auto shift = builder.add("log_tau", normal(0.0, 1.0));
    builder.observe_column(kHeights, normal(mu + shift, tau));
    const auto fitted = fitted_of(shared(builder.build()));
    const FitFile again = saved(corrected(fitted->file(), check(*fitted)));
    std::vector<std::string> names;
    for (const PosteriorVariable& variable : again.posterior.variables) names.push_back(variable.name);
    EXPECT_EQ(names, (std::vector<std::string>{"mu", "log__tau", "tau", "log_tau"}));
    EXPECT_EQ(again.posterior.statistics, (std::vector<std::string>{"mu", "tau", "log__tau", "log_tau"}));
    EXPECT_EQ(again.posterior.variables[1].meaning.role, Role::logarithm);
    EXPECT_EQ(again.posterior.variables[3].meaning.role, Role::location);
}

// k is 0 with odds 0.2 N(1; 0, 2) to 0.8 N(1; 3, 1), μ being integrated out.
TEST(DeclaredFits, LabelsAreSummedOutOfDrawsAndDrawnGivenTheRest) {
    ModelBuilder builder;
    const auto k = builder.add("k", categorical(Vector{{0.2, 0.8}}));
    const auto mu = builder.add("mu", normal(0.0, 1.0));
    builder.observe(1.0, mixture(k, {normal(mu, 1.0), normal(3.0, 1.0)}));
    const auto fitted = fitted_of(shared(builder.build()));
    const Posterior posterior = saved(fitted->file()).posterior;
    EXPECT_NEAR(posterior.variables[0].mean + posterior.variables[1].mean, 1.0, 1e-12);
    const Check checked = check(*fitted);
    const double first = 0.2 * std::exp(-0.25) / std::numbers::sqrt2;
    const double second = 0.8 * std::exp(-2.0);
    const double exact = first / (first + second);
    EXPECT_NEAR(checked.variables[0].mean_exact, exact, 4.0 * std::sqrt(exact * (1.0 - exact) / checked.ess));
    EXPECT_NEAR(checked.variables[0].sd_exact, std::sqrt(exact * (1.0 - exact)), 0.02);
}

TEST(DeclaredFits, DataOfOtherRowsAreRefused) {
    const auto model = shared(heights().build(kAllRows));
    DataRecord data;
    data.rows = 7;
    EXPECT_EQ(sentence_of([&] { static_cast<void>(fitted_model(model, fit(*model), data)); }),
              "fitted_model: the data have 7 rows, but the model was told of 6: name all of them, or none");
}

// ---- large models -----------------------------------------------------------------------------------------------

// The a with ψ'(a) = variance, by bisection.
double shape_with(double variance) {
    double least = 1e-3;
    double most = 1e9;
    for (int i = 0; i < 200; ++i) {
        const double middle = std::sqrt(least * most);
        (trigamma(middle) > variance ? least : most) = middle;
    }
    return least;
}

// Both sides of kDenseStatistics: μ, the two precisions with their logarithms, and the effects.
class DeclaredSizes : public ::testing::TestWithParam<Index> {};

TEST_P(DeclaredSizes, SavedAnswersEqualTheLinearResponse) {
    const Index effects = GetParam() - 5;
    const bench::Grouped grouped = bench::grouped_model(bench::simulate_groups(effects, 3, 11));
    const auto model = shared(grouped.model);
    const Optimum optimum = fit(*model);
    const LinearResponse response(*model, optimum);
    const FitFile again = saved(fitted_model(model, optimum)->file());
    const Posterior& posterior = again.posterior;
    ASSERT_EQ(static_cast<Index>(posterior.statistics.size()), GetParam());
    EXPECT_EQ(posterior.covariance->matrix() != nullptr, GetParam() <= kDenseStatistics);
    EXPECT_EQ(again.hessian.has_value(), GetParam() > kDenseStatistics);

    const std::vector<std::string> names{"mu", "tau_group", "log_tau", "effect[1]", "effect[77]"};
    const std::vector<Index> chosen = posterior.select(names);
    const Functionals asked(names);
    const Matrix expected = response.covariance(asked);
    EXPECT_LT(test::relative_error(posterior.covariance_of(chosen, Method::linear_response), expected), 1e-9);
    EXPECT_LT(test::relative_error(posterior.covariance_of(chosen, Method::mean_field),
                                   response.mean_field_covariance(asked)),
              1e-9);
    EXPECT_LT(test::relative_error(posterior.sds(chosen), response.sd(asked)), 1e-9);
    const std::vector<Posterior::Row> rows = posterior.summary(chosen, 0.9);
    for (std::size_t v = 0; v < rows.size(); ++v) {
        EXPECT_NEAR(rows[v].mean_field_sd, response.mean_field_sd(asked)[static_cast<Index>(v)], 1e-9) << names[v];
    }
    // The interval of a precision has the skewness of its Gamma factor, stretched about E log τ as its sd is.
    const Posterior::Row tau = posterior.summary(posterior.select({"tau"}), 0.9).front();
    const double mean = response.mean(Functionals(std::vector<std::string>{"log_tau"}))[0];
    const double mean_field_sd = response.mean_field_sd(asked)[2];
    const double shape = shape_with(mean_field_sd * mean_field_sd);
    const double rate = std::exp(digamma(shape) - mean);
    const double lower = std::log(boost::math::gamma_p_inv(shape, 0.05) / rate);
    const double upper = std::log(boost::math::gamma_p_inv(shape, 0.95) / rate);
    const double stretch = std::sqrt(expected(2, 2)) / mean_field_sd;
    const double centre = mean + stretch * (0.5 * (lower + upper) - mean);
    EXPECT_NEAR(tau.lower, std::exp(centre - 0.5 * stretch * (upper - lower)), 1e-6 * tau.lower);
    EXPECT_NEAR(tau.upper, std::exp(centre + 0.5 * stretch * (upper - lower)), 1e-6 * tau.upper);
}

INSTANTIATE_TEST_SUITE_P(Statistics, DeclaredSizes, ::testing::Values(1900, 2000, 2001, 2100),
                         [](const auto& instance) { return std::to_string(instance.param); });

TEST(LargeDeclared, OnlyGlobalsAreSelectedUnlessLocalsAreAskedFor) {
    const bench::Grouped grouped = bench::grouped_model(bench::simulate_groups(2100, 3, 11));
    const auto fitted = fitted_of(shared(grouped.model));
    const Posterior& posterior = saved(fitted->file()).posterior;
    EXPECT_EQ(posterior.select({}).size(), 5U);
    EXPECT_EQ(posterior.select({"effect"}).size(), 2100U);
    EXPECT_EQ(posterior.select({"effect[7]"}).size(), 1U);
    // Of so many there are the draws of one sampler, if it has the time.
    CheckOptions options;
    options.method = CheckMethod::importance;
    EXPECT_EQ(sentence_of([&] { static_cast<void>(check(*fitted, options)); }),
              "the model has 2103 free parameters, and only the no-U-turn sampler draws more than 2000: leave out "
              "--method, or check a smaller model of the same kind");
    options.method.reset();
    options.seconds = 0.01;
    EXPECT_EQ(sentence_of([&] { static_cast<void>(check(*fitted, options)); }),
              "the no-U-turn sampler comes to no draws in 0.01 seconds: give it more (--seconds)");
}

#ifdef LRVB_WITH_REPORT
TEST(LargeDeclared, AReportLeavesLocalsOut) {
    const bench::Grouped grouped = bench::grouped_model(bench::simulate_groups(2100, 3, 11));
    const auto fitted = fitted_of(shared(grouped.model));
    const std::string page = report_page(fitted->file(), fitted.get());
    EXPECT_EQ(page.find("\"name\":\"effect[1]\""), std::string::npos);
    EXPECT_NE(page.find("\"name\":\"tau_group\""), std::string::npos);
    EXPECT_NE(page.find("\"variables_left_out\":2100"), std::string::npos);
}
#endif

TEST(LargeDeclared, ADamagedHessianIsRefusedInASentence) {
    const bench::Grouped grouped = bench::grouped_model(bench::simulate_groups(2100, 3, 11));
    const TemporaryDirectory folder;
    const std::string path = folder.path("fit.json");
    write_fit(path, fitted_of(shared(grouped.model))->file());
    std::ifstream stream(path);
    const std::string text((std::istreambuf_iterator<char>(stream)), std::istreambuf_iterator<char>());
    const auto refusal = [&](const std::string& from, const std::string& to) {
        std::string damaged = text;
        const std::size_t at = damaged.find(from);
        EXPECT_NE(at, std::string::npos) << from;
        damaged.replace(at, from.size(), to);
        return sentence_of([&] { static_cast<void>(parse_fit(damaged, "fit.json")); });
    };
    const auto damage = [](const std::string& reason) {
        return "fit.json is no fit file of lrvb, or it is damaged: " + reason + "; make it again with 'lrvb fit'";
    };
    EXPECT_EQ(refusal("\"hessian\": {\"size\":4206", "\"hessian\": {\"size\":4207"),
              damage("hessian.size is not 4206, the number of statistics of the parameters"));
    EXPECT_EQ(refusal("\"hessian\": {\"size\":4206,\"row\":[", "\"hessian\": {\"size\":4206,\"row\":[1e9,"),
              damage("hessian.row has 10503 entries, not 10502"));
    EXPECT_EQ(refusal("\"marginals\":{\"sd\":", "\"marginals\":{\"ds\":"), damage("posterior.marginals has no sds"));
}

// An MvNormal "a" has the entries a[1] and a[2].
TEST(DeclaredModel, TwoVariablesOfOneNameAreRefused) {
    ModelBuilder builder;
    const auto a = builder.add("a", mv_normal(Vector::Zero(2), Matrix(Matrix::Identity(2, 2))));
    const auto b = builder.add("a[1]", normal(0.0, 1.0));
    builder.observe(1.0, normal(a[0] + b, 1.0));
    const auto model = std::make_shared<const MultilinearModel>(builder.build());
    try {
        fitted_model(model, fit(*model));
        FAIL() << "not refused";
    } catch (const std::invalid_argument& error) {
        EXPECT_EQ(std::string(error.what()),
                  "two variables of the model would be reported as 'a[1]': rename one of them");
    }
}

// 100,000 groups of ten rows, fitted, saved and read back: what a model of 1e5 variables must answer.
class LargeFit : public ::testing::Test {
  protected:
    static constexpr const char* kPath = "LRVB_TEST_LARGE_FIT";

    // A child that runs a death test is told where the file is, so that its memory is that of reading alone.
    void SetUp() override {
        if (const char* known = std::getenv(kPath)) {
            path = known;
            return;
        }
        path = (std::filesystem::temp_directory_path() / fmt::format("lrvb_large_{}.json", ::getpid())).string();
        owns_file = true;
        const bench::Grouped grouped = bench::grouped_model(bench::simulate_groups(100000, 10, 2024));
        model = shared(grouped.model);
        optimum = fit(*model);
        write_fit(path, fitted_model(model, optimum)->file());
        ::setenv(kPath, path.c_str(), 1);
    }
    void TearDown() override {
        if (!owns_file) return;
        ::unsetenv(kPath);
        std::filesystem::remove(path);
    }

    std::string path;
    bool owns_file = false;
    std::shared_ptr<const MultilinearModel> model;
    Optimum optimum;
};

TEST_F(LargeFit, AHundredThousandVariablesAreSavedReadAndAnsweredRight) {
    const FitFile file = read_fit(path);
    const Posterior& posterior = file.posterior;
    EXPECT_EQ(posterior.variables.size(), 100005U);
    EXPECT_EQ(posterior.summary(posterior.select({}), 0.9).size(), 5U);
    const LinearResponse response(*model, optimum);
    const std::vector<std::string> names{"mu", "log_tau_group", "tau", "effect[1]", "effect[50000]", "effect[100000]"};
    const std::vector<Index> chosen = posterior.select(names);
    const Functionals asked(names);
    const Matrix covariance = posterior.covariance_of(chosen, Method::linear_response);
    EXPECT_LT(test::relative_error(covariance, response.covariance(asked)), 1e-9);
    EXPECT_LT(test::relative_error(posterior.sds(chosen), response.sd(asked)), 1e-9);
    const Vector mean = response.mean(asked);
    for (std::size_t v = 0; v < chosen.size(); ++v) {
        EXPECT_EQ(posterior.variables[static_cast<std::size_t>(chosen[v])].mean, mean[static_cast<Index>(v)]);
    }
    const auto restored = restore(file, model);
    EXPECT_LT(test::relative_error(restored->response().covariance(restored->functionals(chosen)), covariance), 1e-9);
}

#ifndef LRVB_MEMORY_IS_NOT_OURS
void answer_within(const std::string& path, double megabytes) {
    const FitFile file = read_fit(path);
    const Posterior& posterior = file.posterior;
    const std::vector<Index> chosen = posterior.select({"mu", "tau_group", "tau", "effect[1]", "effect[100000]"});
    const bool answered = posterior.covariance_of(chosen, Method::linear_response).allFinite() &&
                          posterior.summary(all_of(posterior), 0.9).size() == 100005;
    const double peak = test::peak_megabytes();
    fmt::print(stderr, "{}, peak memory {:.0f} MB\n", answered ? "answered" : "failed", peak);
    std::exit(answered && peak < megabytes ? 0 : 1);
}

// Measured: 340 MB; a covariance matrix would be 80 GB.
TEST_F(LargeFit, AHundredThousandVariablesAreReadAndAskedInUnder450Megabytes) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    EXPECT_EXIT(answer_within(path, 450.0), ::testing::ExitedWithCode(0), "answered");
}
#endif

}  // namespace
}  // namespace lrvb
