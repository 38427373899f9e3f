// Predictions: the interval of a new response, rows beside their predictions, and those of the rows that were fitted.

#include <lrvb/lrvb.hpp>

#include <boost/math/distributions/gamma.hpp>
#include <boost/math/distributions/normal.hpp>
#include <boost/math/distributions/students_t.hpp>
#include <boost/math/special_functions/digamma.hpp>
#include <boost/math/special_functions/trigamma.hpp>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

namespace lrvb {
namespace {

constexpr double kNothing = std::numeric_limits<double>::quiet_NaN();

double normal_quantile(double level) {
    return boost::math::quantile(boost::math::normal(), 0.5 * (1.0 + level));
}

/// Whatever was written, as it came.
struct Kept final : TableSink, BesideSink {
    void header(const std::vector<std::string>& own) override { names = own; }
    void row(Index row, const Vector& numbers) override {
        rows.push_back(row);
        values.push_back(numbers);
    }
    void header(const std::vector<std::string>& own, const std::vector<std::string>& beside) override {
        columns = own;
        names = beside;
    }
    void row(const std::vector<TextField>& own, const Vector* beside) override {
        fields.push_back(own);
        values.push_back(beside == nullptr ? Vector() : *beside);
    }

    std::vector<std::string> columns;
    std::vector<std::string> names;
    std::vector<Index> rows;
    std::vector<std::vector<TextField>> fields;
    std::vector<Vector> values;
};

// Boost's quantiles of Student's t: without uncertainty of the mean it is one, of 2·shape degrees of freedom.
TEST(PredictiveInterval, OfAKnownMeanIsThatOfStudentsT) {
    for (const double shape : {0.5, 1.5, 18.0, 1e3, 1e6}) {
        for (const double level : {1e-6, 0.1, 0.5, 0.9, 0.999, 1.0 - 1e-6}) {
            const double rate = 3.0 * shape;
            const double t = boost::math::quantile(
                boost::math::complement(boost::math::students_t(2.0 * shape), 0.5 * (1.0 - level)));
            const double width = PredictiveInterval({shape, rate}, level).half_width(0.0);
            EXPECT_NEAR(width / (t * std::sqrt(3.0)), 1.0, 1e-9) << shape << ", " << level;
        }
    }
}

TEST(PredictiveInterval, OfAKnownNoiseIsThatOfANormal) {
    for (const double shape : {1e9, 1e12, 1e300}) {
        for (const double level : {0.1, 0.9, 0.999}) {
            const double width = PredictiveInterval({shape, 4.0 * shape}, level).half_width(1.5);
            EXPECT_NEAR(width, normal_quantile(level) * 2.5, 1e-7) << shape << ", " << level;
        }
    }
}

// Quadrature over the quantiles of the Gamma, which are Boost's: the mean over p of P(|y − μ| ≤ d | τ(p)).
TEST(PredictiveInterval, HoldsItsLevelByQuadrature) {
    constexpr int points = 40'000;
    for (const double shape : {2.0, 18.0}) {
        for (const double mean_sd : {0.1, 1.0, 5.0}) {
            const NoisePrecision noise{shape, 2.0 * shape};
            const double width = PredictiveInterval(noise, 0.9).half_width(mean_sd);
            const boost::math::gamma_distribution<> gamma(shape, 1.0 / noise.rate);
            double inside = 0.0;
            for (int i = 0; i < points; ++i) {
                const double tau = boost::math::quantile(gamma, (i + 0.5) / points);
                inside += std::erf(width / std::sqrt(2.0 * (mean_sd * mean_sd + 1.0 / tau))) / points;
            }
            EXPECT_NEAR(inside, 0.9, 2e-6) << shape << ", " << mean_sd;
        }
    }
}

// ψ and ψ' of the shape, from Boost.
TEST(PredictiveInterval, KnowsTheGammaByItsLogarithm) {
    for (const double shape : {0.3, 2.0, 18.0, 1e6}) {
        const double sd = std::sqrt(boost::math::trigamma(shape));
        const NoisePrecision noise = noise_precision(boost::math::digamma(shape) - std::log(0.7), sd);
        EXPECT_NEAR(noise.shape / shape, 1.0, 1e-9);
        EXPECT_NEAR(noise.rate / 0.7, 1.0, 1e-8);
    }
}

TEST(PredictiveInterval, RefusesWhatCannotBe) {
    EXPECT_THROW(noise_precision(0.0, 0.0), std::invalid_argument);
    EXPECT_THROW(noise_precision(kNothing, 1.0), std::invalid_argument);
    EXPECT_THROW(PredictiveInterval({0.0, 1.0}, 0.9), std::invalid_argument);
    EXPECT_THROW(PredictiveInterval({1e-3, 1.0}, 0.9), std::invalid_argument);
    EXPECT_THROW(PredictiveInterval({2.0, -1.0}, 0.9), std::invalid_argument);
    EXPECT_THROW(PredictiveInterval({2.0, 1.0}, 1.0), std::invalid_argument);
    EXPECT_THROW(PredictiveInterval({2.0, 1.0}, 0.9).half_width(-1.0), std::invalid_argument);
}

// Coefficients and noise from the prior, rows and a new row from the model: an interval of a posterior that is right
// holds the new response in 90 % of the cases, whatever the sizes are. Here within four Monte Carlo errors.
TEST(PredictiveInterval, CoversNewResponsesOfTheModel) {
    constexpr int cases = 10'000;
    constexpr Index rows = 10;
    Random random(11);
    RegressionPrior prior;
    prior.intercept_variance = 1.0;
    prior.mean = Vector::Zero(2);
    prior.variance = Vector::Ones(2);
    prior.shape = 3.0;
    prior.rate = 3.0;
    prior.centre = Vector::Zero(2);
    int covered = 0;
    int within_two_sds = 0;
    for (int i = 0; i < cases; ++i) {
        const Vector coefficients{{random.normal(), random.normal(), random.normal()}};
        const double noise = 1.0 / std::sqrt(std::exp(random.log_gamma(prior.shape)) / prior.rate);
        RegressionDesign design;
        design.response = "y";
        design.names = {"a", "b"};
        design.terms = {{"a"}, {"b"}};
        design.columns.resize(rows, 2);
        for (double& value : design.columns.reshaped()) value = random.normal();
        design.y = (design.columns * coefficients.tail(2)).array() + coefficients[0];
        for (double& value : design.y) value += noise * random.normal();
        Matrix row(1, 2);
        row << random.normal(), random.normal();
        const double response = coefficients[0] + row.row(0).dot(coefficients.tail(2)) + noise * random.normal();

        const RegressionModel model(design, prior);
        const Optimum optimum = fit(model);
        const LinearResponse linear(model, optimum);
        const RegressionPosterior posterior{model.has_intercept(), model.centre(), linear.mean(model.coefficients()),
                                            linear.covariance(model.coefficients()),
                                            model.noise_variance(optimum.state)};
        const RegressionPrediction prediction = predict(posterior, row);
        const Functionals log_tau = model.in_data_units({"log_tau"});
        const NoisePrecision precision =
            noise_precision(linear.mean(log_tau)[0], std::sqrt(linear.covariance(log_tau)(0, 0)));
        const double off = std::abs(response - prediction.mean[0]);
        covered += off <= PredictiveInterval(precision, 0.9).half_width(prediction.mean_sd[0]) ? 1 : 0;
        within_two_sds += off <= 2.0 * prediction.sd[0] ? 1 : 0;
    }
    const double share = static_cast<double>(covered) / cases;
    fmt::print("covered {:.4f} of 0.9, and two sds {:.4f}\n", share, static_cast<double>(within_two_sds) / cases);
    EXPECT_NEAR(share, 0.9, 4.0 * std::sqrt(0.09 / cases));
}

DataFrame two_groups() {
    DataFrame frame;
    frame.name = "groups";
    frame.rows = 40;
    Vector x(40);
    FrameColumn names{"component", {}, {"a", "b"}, {}};
    for (Index n = 0; n < 40; ++n) {
        x[n] = static_cast<double>(n % 2) * 5.0 + std::sin(static_cast<double>(n));
        names.codes.push_back(static_cast<std::uint32_t>(n % 2));
    }
    x[7] = kNothing;
    x[39] = kNothing;
    frame.columns.push_back({"x", x, {}, {}});
    frame.columns.push_back(std::move(names));
    return frame;
}

std::unique_ptr<FittedModel> fitted_groups(const DataFrame& frame) {
    return find_kind("mixture")->fit(
        FitRequest{frame, {{"components", "2"}, {"columns", "x"}, {"drop-missing", "true"}}, {}, 1, {}});
}

TEST(Predictions, StandBesideAllRowsOfTheData) {
    const DataFrame frame = two_groups();
    const auto fitted = fitted_groups(frame);
    Kept alone;
    fitted->file().model->predict(fitted->file(), frame, {.drop_missing = true}, alone);
    Kept beside;
    predict_beside(fitted->file(), frame, {.drop_missing = true}, beside);
    EXPECT_EQ(beside.columns, (std::vector<std::string>{"x", "component"}));
    // The data have a column of that name already.
    EXPECT_EQ(beside.names, (std::vector<std::string>{"predicted_component", "p[1]", "p[2]", "log_density"}));
    ASSERT_EQ(beside.values.size(), 40U);
    EXPECT_EQ(beside.values[7].size(), 0);
    EXPECT_EQ(beside.values[39].size(), 0);
    EXPECT_EQ(beside.fields[7][0].text, "NA");
    EXPECT_EQ(beside.fields[7][1].text, "b");
    for (std::size_t i = 0; i < alone.rows.size(); ++i) {
        EXPECT_EQ(beside.values[static_cast<std::size_t>(alone.rows[i] - 1)], alone.values[i]) << i;
    }
}

TEST(Predictions, OfTheRowsThatWereFittedAreThoseOfTheFile) {
    const DataFrame frame = two_groups();
    const auto fitted = fitted_groups(frame);
    Kept again;
    fitted->file().model->predict(fitted->file(), frame, {.drop_missing = true}, again);
    Kept own;
    fitted->predict_rows(own);
    ASSERT_EQ(own.rows.size(), 40U);
    std::size_t next = 0;
    for (std::size_t i = 0; i < 40; ++i) {
        EXPECT_EQ(own.rows[i], static_cast<Index>(i + 1));
        if (i == 7 || i == 39) {
            EXPECT_EQ(own.values[i].size(), 0);
        } else {
            EXPECT_EQ(own.values[i], again.values[next++]) << i;
        }
    }
    EXPECT_EQ(own.names, again.names);
}

TEST(Predictions, OfFittedRowsAreRefusedWhereAKindHasNone) {
    DataFrame frame;
    frame.rows = 6;
    frame.columns.push_back({"y", Vector{{1.0, 2.1, 2.9, 4.2, 5.0, 5.9}}, {}, {}});
    frame.columns.push_back({"x", Vector{{1.0, 2.0, 3.0, 4.0, 5.0, 6.0}}, {}, {}});
    const auto fitted = find_kind("regression")->fit(FitRequest{frame, {{"response", "y"}}, {}, 1, {}});
    Kept none;
    EXPECT_THROW(fitted->predict_rows(none), std::logic_error);
}

// A component with fewer rows than the prior is worth; one of 154 rows in thirty columns is none.
TEST(PriorShare, WarnsOfAComponentThatIsThePriorsByItsShareOfThePrecision) {
    const auto warning = [](Index columns, Index few) {
        Random random(5);
        DataFrame frame;
        frame.rows = few + 400;
        for (Index p = 0; p < columns; ++p) {
            Vector x(frame.rows);
            for (Index n = 0; n < frame.rows; ++n) x[n] = random.normal() + (n < few ? 0.0 : 8.0);
            frame.columns.push_back({fmt::format("x{}", p + 1), x, {}, {}});
        }
        const auto fitted =
            find_kind("mixture")->fit(FitRequest{frame, {{"components", "2"}, {"restarts", "1"}}, {}, 1, {}});
        std::string found;
        for (const std::string& one : fitted->warnings()) {
            if (one.find("depends on the prior") != std::string::npos) found += one;
        }
        return found;
    };
    // Of the variance: twice the prior's shape, 2.0001, of as much and 8 or 13 rows.
    EXPECT_EQ(
        warning(1, 8),
        "component 1 has about 8.0 rows, and depends on the prior, which has 33% of the posterior precision of its "
        "variance: use fewer components, or look at these rows");
    EXPECT_EQ(warning(1, 13), "");
    // Of the covariance: dof 5.0002 of as much and 10 rows.
    EXPECT_NE(warning(2, 10).find("has 33% of the posterior precision of its covariance"), std::string::npos)
        << warning(2, 10);
    EXPECT_EQ(warning(30, 154), "");
}

TEST(ForemostVariables, AreThoseThatPeopleLookAtMeansFirst) {
    Random random(9);
    DataFrame frame;
    frame.rows = 300;
    for (Index p = 0; p < 4; ++p) {
        Vector x(frame.rows);
        for (Index n = 0; n < frame.rows; ++n) x[n] = random.normal() + 7.0 * static_cast<double>(n % 3);
        frame.columns.push_back({fmt::format("x{}", p + 1), x, {}, {}});
    }
    const auto fitted = find_kind("mixture")->fit(FitRequest{frame, {{"components", "3"}}, {}, 1, {}});
    FitFile& file = fitted->file();
    const std::vector<Index> all = file.posterior.select({});
    const auto groups = [&](std::size_t most) {
        std::map<std::string, int> counts;
        for (const Index at : foremost_variables(file, all, most)) {
            ++counts[file.posterior.variables[static_cast<std::size_t>(at)].meaning.group];
        }
        return counts;
    };
    EXPECT_EQ(foremost_variables(file, all, all.size()), all);
    // Twelve means, three weights, twelve variances, and then covariances.
    EXPECT_EQ(groups(12), (std::map<std::string, int>{{"mu", 12}}));
    EXPECT_EQ(groups(15), (std::map<std::string, int>{{"mu", 12}, {"pi", 3}}));
    EXPECT_EQ(groups(30), (std::map<std::string, int>{{"mu", 12}, {"pi", 3}, {"Sigma", 15}}));
    // In the order of the posterior.
    const std::vector<Index> some = foremost_variables(file, all, 30);
    EXPECT_TRUE(std::is_sorted(some.begin(), some.end()));

    // What a check calls off comes before what it does not.
    CheckResult check;
    for (const PosteriorVariable& variable : file.posterior.variables) {
        CheckedVariable& checked = check.variables.emplace_back();
        checked.name = variable.name;
        checked.verdict = variable.meaning.role == Role::covariance ? "sd off by -20%" : "ok";
    }
    file.check = check;
    EXPECT_EQ(groups(12), (std::map<std::string, int>{{"Sigma", 12}}));

    // In a table of the check these come before all else: first what is off, then of what it cannot tell.
    for (std::size_t v = 0; v < check.variables.size(); ++v) {
        const std::string& group = file.posterior.variables[v].meaning.group;
        std::string& verdict = check.variables[v].verdict;
        verdict = group == "log_pi" ? "not resolved: sd ±15%" : group == "log_det_Lambda" ? "sd off by -20%" : "ok";
    }
    const auto of_check = [&](std::size_t most) {
        std::vector<std::string> names;
        for (const Index at : foremost_variables(file, check, all, most))
            names.push_back(file.posterior.variables[static_cast<std::size_t>(at)].name);
        return names;
    };
    EXPECT_EQ(of_check(2), (std::vector<std::string>{"log_det_Lambda[1]", "log_det_Lambda[2]"}));
    EXPECT_EQ(of_check(4),
              (std::vector<std::string>{"log_pi[1]", "log_det_Lambda[1]", "log_det_Lambda[2]", "log_det_Lambda[3]"}));
    EXPECT_EQ(of_check(7), (std::vector<std::string>{"log_pi[1]", "log_pi[2]", "log_pi[3]", "mu[1,x1]",
                                                     "log_det_Lambda[1]", "log_det_Lambda[2]", "log_det_Lambda[3]"}));
    EXPECT_EQ(foremost_variables(file, check, all, all.size()), all);
}

TEST(Selection, EntriesOfAMatrixThatHasBothOrdersAreKeptApart) {
    Posterior posterior;
    const auto add = [&](std::vector<std::string> indices, std::vector<std::string> names) {
        PosteriorVariable& variable = posterior.variables.emplace_back();
        variable.meaning.group = "A";
        variable.meaning.indices = std::move(indices);
        variable.meaning.index_names = std::move(names);
        variable.meaning.role = Role::off_diagonal;
        variable.name = variable.meaning.name();
    };
    add({"1", "2"}, {"a", "b"});
    add({"2", "1"}, {"b", "a"});
    add({"1", "3"}, {"a", "c"});
    EXPECT_EQ(posterior.select({"A[1,2]", "A[b,a]", "A[2,1]"}), (std::vector<Index>{0, 1, 1}));
    EXPECT_EQ(posterior.select({"A[3,1]", "A[c,a]", "A[a,c]"}), (std::vector<Index>{2, 2, 2}));
    EXPECT_THROW(posterior.select({"A[3,2]"}), std::invalid_argument);
}

}  // namespace
}  // namespace lrvb
