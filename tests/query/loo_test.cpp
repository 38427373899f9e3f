// Rows left out, against closed forms, quadrature and refits without each of them.

#include "frames.hpp"

#include <Eigen/Cholesky>

#include <numbers>

namespace lrvb {
namespace {

using test::fit_of;
using test::frame_of;

LooOptions by(LooMethod method, Index draws = 4000) {
    LooOptions options;
    options.method = method;
    options.draws = draws;
    return options;
}

double log_normal(double x, double mean, double variance) {
    return -0.5 * std::log(2.0 * std::numbers::pi * variance) - 0.5 * (x - mean) * (x - mean) / variance;
}

double log_sum_exp(const Vector& values) {
    const double largest = values.maxCoeff();
    return largest + std::log((values.array() - largest).exp().sum());
}

/// A regression whose posterior is known but for τ: with a normal prior on the coefficients, y given τ is normal.
struct ExactRegression {
    Matrix x;  // [1, columns − centre]
    Vector y;
    Vector prior_mean;
    Vector prior_variance;
    double shape;
    double rate;

    // log p(y, log τ) but for a constant, of the rows that are kept.
    double log_joint(double log_tau, Index without) const {
        Matrix kept = x;
        Vector response = y;
        if (without >= 0) {
            kept.row(without).setZero();
            response[without] = 0.0;
        }
        const Vector residual = response - kept * prior_mean;
        Matrix covariance = kept * prior_variance.asDiagonal() * kept.transpose();
        covariance.diagonal().array() += std::exp(-log_tau);
        const Eigen::LLT<Matrix> factor(covariance);
        double value = -factor.matrixLLT().diagonal().array().log().sum() - 0.5 * residual.dot(factor.solve(residual));
        // The row that is not there has a 0 observed with the variance 1/τ.
        if (without >= 0) value -= 0.5 * log_tau;
        return value + shape * log_tau - rate * std::exp(log_tau) -
               (without >= 0 ? 0.5 * static_cast<double>(y.size() - 1) : 0.5 * static_cast<double>(y.size())) *
                   std::log(2.0 * std::numbers::pi);
    }

    /// log p(y_n | y_−n) = log ∫ p(y, τ) − log ∫ p(y_−n, τ), by the trapezoidal rule over log τ.
    double loo(Index row, double centre, double width) const {
        const Index count = 201;
        Vector all(count);
        Vector without(count);
        for (Index i = 0; i < count; ++i) {
            const double log_tau = centre + width * (2.0 * static_cast<double>(i) / (count - 1) - 1.0);
            all[i] = log_joint(log_tau, -1);
            without[i] = log_joint(log_tau, row);
        }
        return log_sum_exp(all) - log_sum_exp(without);
    }
};

// With the precision known, y_n given the others is normal: by hat values, or here by the precision matrix itself.
TEST(LeaveOneOut, IsExactByHatValuesWhereThePrecisionIsKnown) {
    Random random(4);
    const Index n = 20;
    const Matrix columns = test::random_matrix(n, 2, random);
    Vector y = Vector::Ones(n) + columns.col(0) + 0.5 * standard_normals(n, random);
    y[3] += 2.0;  // an outlier
    const auto fitted = fit_of("regression", frame_of({{"y", y}, {"a", columns.col(0)}, {"b", columns.col(1)}}),
                               {{"response", "y"},
                                {"prior-mean", "0"},
                                {"prior-variance", "1e8"},
                                {"prior-intercept-mean", "0"},
                                {"prior-intercept-variance", "1e8"},
                                {"prior-shape", "4e10"},
                                {"prior-rate", "1e10"}});  // σ = ½
    Matrix x(n, 3);
    x << Vector::Ones(n), columns;
    const Matrix inverse = (x.transpose() * x).llt().solve(Matrix::Identity(3, 3));
    const Vector residuals = y - x * (inverse * (x.transpose() * y));
    const Loo loo = leave_one_out(*fitted, by(LooMethod::response));
    double sum = 0.0;
    for (Index i = 0; i < n; ++i) {
        const double left = 1.0 - x.row(i) * inverse * x.row(i).transpose();
        const double expected = log_normal(residuals[i] / left, 0.0, 0.25 / left);
        EXPECT_NEAR(loo.elpd[i], expected, 1e-6 * (1.0 + std::abs(expected))) << i;
        sum += expected;
    }
    EXPECT_NEAR(loo.elpd_loo, sum, 1e-4);
    EXPECT_EQ(loo.parameters, 4);
}

class MtcarsLoo : public ::testing::Test {
  protected:
    MtcarsLoo() {
        const Vector mpg = test::read_column("mtcars.csv", "mpg");
        Matrix columns(mpg.size(), 2);
        columns << test::read_column("mtcars.csv", "wt"), test::read_column("mtcars.csv", "hp");
        fitted = fit_of("regression", frame_of({{"mpg", mpg}, {"wt", columns.col(0)}, {"hp", columns.col(1)}}),
                        {{"response", "mpg"}, {"prior-shape", "2.0001"}});
        const auto& model = dynamic_cast<const RegressionModel&>(fitted->model());
        const RegressionPrior& prior = model.prior();
        exact.y = mpg;
        exact.x.resize(mpg.size(), 3);
        exact.x << Vector::Ones(mpg.size()), columns.rowwise() - model.centre().transpose();
        exact.prior_mean = Vector{{prior.intercept_mean, prior.mean[0], prior.mean[1]}};
        exact.prior_variance = Vector{{prior.intercept_variance, prior.variance[0], prior.variance[1]}};
        exact.shape = prior.shape;
        exact.rate = prior.rate;
        const double log_tau = std::log(1.0 / 6.5);  // the residual variance is about 6.5
        expected.resize(mpg.size());
        for (Index i = 0; i < mpg.size(); ++i) expected[i] = exact.loo(i, log_tau, 2.5);
    }

    std::unique_ptr<FittedModel> fitted;
    ExactRegression exact;
    Vector expected;
};

// Against quadrature, for all 32 rows.
TEST_F(MtcarsLoo, ByLinearResponseIsNearTheExactOneForEveryRow) {
    const Loo loo = leave_one_out(*fitted, by(LooMethod::response));
    RecordProperty("largest_error", fmt::format("{:.4f}", (loo.elpd - expected).cwiseAbs().maxCoeff()));
    RecordProperty("elpd_error", fmt::format("{:.4f}", loo.elpd_loo - expected.sum()));
    EXPECT_LT((loo.elpd - expected).cwiseAbs().maxCoeff(), 0.25);
    EXPECT_NEAR(loo.elpd_loo, expected.sum(), 0.5);
}

// The same by 20,000 draws, whose Monte Carlo error is up to 0.03 for the rows that move most.
TEST_F(MtcarsLoo, ByDrawsIsTheExactOneForEveryRow) {
    const Loo loo = leave_one_out(*fitted, by(LooMethod::draws, 20000));
    RecordProperty("largest_error", fmt::format("{:.4f}", (loo.elpd - expected).cwiseAbs().maxCoeff()));
    RecordProperty("elpd_error", fmt::format("{:.4f}", loo.elpd_loo - expected.sum()));
    EXPECT_LT((loo.elpd - expected).cwiseAbs().maxCoeff(), 0.05);
    EXPECT_NEAR(loo.elpd_loo, expected.sum(), 0.05);
    EXPECT_EQ(loo.doubtful_rows(), 0);
    EXPECT_NEAR(loo.p_loo, 4.0, 2.0);
}

// Against refits without each row, with the predictive density of each by quadrature over the refit's log τ.
TEST_F(MtcarsLoo, IsWhatRefitsWithoutEachRowPredict) {
    const Loo loo = leave_one_out(*fitted, by(LooMethod::response));
    double largest = 0.0;
    double sum = 0.0;
    for (Index i = 0; i < expected.size(); ++i) {
        const Posterior refit = fitted->refit({{i}, {}});
        const std::vector<Index> chosen = refit.select({"intercept", "beta", "log_tau"});
        const Matrix covariance = refit.covariance_of(chosen, Method::linear_response);
        Vector x(3);
        x << 1.0, exact.x.row(i).tail(2).transpose() + dynamic_cast<const RegressionModel&>(fitted->model()).centre();
        Vector mean(4);
        for (Index v = 0; v < 4; ++v)
            mean[v] = refit.variables[static_cast<std::size_t>(chosen[static_cast<std::size_t>(v)])].mean;
        const double spread = x.dot(covariance.topLeftCorner(3, 3) * x);
        Vector terms(161);
        for (Index k = 0; k < terms.size(); ++k) {
            const double z = 0.1 * static_cast<double>(k - 80);
            const double log_tau = mean[3] + z * std::sqrt(covariance(3, 3));
            terms[k] = log_normal(exact.y[i], x.dot(mean.head(3)), spread + std::exp(-log_tau)) +
                       log_normal(z, 0.0, 1.0) + std::log(0.1);
        }
        const double predicted = log_sum_exp(terms);
        largest = std::max(largest, std::abs(loo.elpd[i] - predicted));
        sum += predicted;
    }
    RecordProperty("largest_error", fmt::format("{:.4f}", largest));
    RecordProperty("elpd_error", fmt::format("{:.4f}", loo.elpd_loo - sum));
    EXPECT_LT(largest, 0.25);
    EXPECT_NEAR(loo.elpd_loo, sum, 0.5);
}

// All 272 rows, two columns. The predictive density of a refit is the mean over 2000 antithetic draws of its linear
// response; its Monte Carlo error is about 0.01 for the rows that move most.
TEST(LeaveOneOut, OfOldFaithfulIsWhatRefitsWithoutEachRowPredict) {
    Matrix rows(272, 2);
    rows << test::read_column("old_faithful.csv", "eruptions"), test::read_column("old_faithful.csv", "waiting");
    const auto fitted =
        fit_of("mixture", frame_of({{"eruptions", rows.col(0)}, {"waiting", rows.col(1)}}), {{"components", "2"}});
    const auto& model = dynamic_cast<const MixtureModel&>(fitted->model());
    MixtureSpecification specification;
    specification.components = 2;
    specification.prior = model.prior();
    specification.standardisation = {model.centre(), model.scale()};
    const std::vector<std::string> names{"log_pi[1]",         "log_pi[2]",        "mu[1,1]",       "mu[1,2]",
                                         "mu[2,1]",           "mu[2,2]",          "Lambda[1,1,1]", "Lambda[1,1,2]",
                                         "Lambda[1,2,2]",     "Lambda[2,1,1]",    "Lambda[2,1,2]", "Lambda[2,2,2]",
                                         "log_det_Lambda[1]", "log_det_Lambda[2]"};
    Random random(7);
    const Matrix half = test::random_matrix(11, 1000, random);
    Matrix z(11, 2000);
    z << half, -half;
    Vector expected(272);
    for (Index n = 0; n < 272; ++n) {
        Matrix others(271, 2);
        others << rows.topRows(n), rows.bottomRows(271 - n);
        const MixtureModel changed(std::make_shared<TableSource>(others), specification);
        FitOptions options;
        options.initial = fitted->optimum().state;
        options.first_sweeps = 0;
        const Optimum optimum = fit(changed, options);
        ASSERT_TRUE(optimum.converged()) << n;
        const ModelDensity density(changed, optimum.state);
        const NormalApproximation normal = density.chart().approximation(LinearResponse(changed, optimum));
        const Matrix root = normal.covariance.llt().matrixL();
        const Functionals::Resolved resolved = changed.in_data_units(names).resolve(changed.layout());
        const Matrix at =
            (resolved.weights.transpose() * density.statistics((root * z).colwise() + normal.mean)).colwise() +
            resolved.constants;
        Vector terms(at.cols());
        for (Index s = 0; s < at.cols(); ++s) {
            Vector parts(2);
            for (Index k = 0; k < 2; ++k) {
                const double d1 = rows(n, 0) - at(2 + 2 * k, s);
                const double d2 = rows(n, 1) - at(3 + 2 * k, s);
                const Index l = 6 + 3 * k;
                parts[k] = at(k, s) + 0.5 * at(12 + k, s) - std::log(2.0 * std::numbers::pi) -
                           0.5 * (at(l, s) * d1 * d1 + 2.0 * at(l + 1, s) * d1 * d2 + at(l + 2, s) * d2 * d2);
            }
            terms[s] = log_sum_exp(parts);
        }
        expected[n] = log_sum_exp(terms) - std::log(static_cast<double>(at.cols()));
    }
    const Loo response = leave_one_out(*fitted, by(LooMethod::response));
    const Loo draws = leave_one_out(*fitted, by(LooMethod::draws, 8000));
    RecordProperty("response_largest_error", fmt::format("{:.4f}", (response.elpd - expected).cwiseAbs().maxCoeff()));
    RecordProperty("response_elpd_error", fmt::format("{:.4f}", response.elpd_loo - expected.sum()));
    RecordProperty("draws_largest_error", fmt::format("{:.4f}", (draws.elpd - expected).cwiseAbs().maxCoeff()));
    RecordProperty("draws_elpd_error", fmt::format("{:.4f}", draws.elpd_loo - expected.sum()));
    EXPECT_LT((response.elpd - expected).cwiseAbs().maxCoeff(), 0.15);
    EXPECT_NEAR(response.elpd_loo, expected.sum(), 0.5);
    EXPECT_LT((draws.elpd - expected).cwiseAbs().maxCoeff(), 0.15);
    EXPECT_NEAR(draws.elpd_loo, expected.sum(), 0.5);
    EXPECT_EQ(draws.doubtful_rows(), 0);
}

// y ~ Normal(mu, 1), mu ~ Normal(0, 4): without one of the two rows that a row of weight 2 is, or all of one of weight
// ½, the posterior is normal as well.
TEST(LeaveOneOut, DropsOneOfTheRowsThatAWeightStandsFor) {
    const Vector y{{1.0, -0.5, 2.0, 0.3}};
    ModelBuilder builder;
    const auto mu = builder.add("mu", normal(0.0, 0.25));
    builder.observe_column(y, normal(mu, 1.0), builder.rows("people", 4));
    const auto model = std::make_shared<const MultilinearModel>(
        builder.build().reweighted(std::vector<Index>{1, 2, 3}, Vector{{2.0, 0.5, 0.0}}));
    const Loo loo = leave_one_out(*fitted_model(model, fit(*model)), by(LooMethod::response));
    const Vector weights{{1.0, 2.0, 0.5, 0.0}};
    double sum = 0.0;
    for (Index n = 0; n < 3; ++n) {
        const double left_out = std::min(weights[n], 1.0);
        const double precision = 0.25 + weights.sum() - left_out;
        const double mean = (weights.dot(y) - left_out * y[n]) / precision;
        const double expected = log_normal(y[n], mean, 1.0 + 1.0 / precision);
        EXPECT_NEAR(loo.elpd[n], expected, 1e-7) << n;
        sum += weights[n] * expected;
    }
    EXPECT_NEAR(loo.elpd_loo, sum, 1e-6);
}

TEST(LeaveOneOut, OfWeightsEqualsThatOfRowsWrittenOut) {
    const Vector y{{1.0, -0.5, 2.0, 0.3}};
    const auto loo_of = [](const Vector& values, const std::vector<Index>& which, const Vector& weights) {
        ModelBuilder builder;
        const auto mu = builder.add("mu", normal(0.0, 0.25));
        builder.observe_column(values, normal(mu, 1.0), builder.rows("people", values.size()));
        const auto model = std::make_shared<const MultilinearModel>(builder.build().reweighted(which, weights));
        return leave_one_out(*fitted_model(model, fit(*model)), by(LooMethod::response));
    };
    const Loo weighted = loo_of(y, {1, 2}, Vector{{3.0, 2.0}});
    const Loo written = loo_of(Vector{{1.0, -0.5, -0.5, -0.5, 2.0, 2.0, 0.3}}, {0}, Vector{{1.0}});
    EXPECT_NEAR(weighted.elpd_loo, written.elpd_loo, 1e-9);
    EXPECT_NEAR(weighted.elpd_se, written.elpd_se, 1e-9);
    EXPECT_NEAR(weighted.p_loo, written.p_loo, 1e-9);
    EXPECT_NEAR(weighted.p_loo_se, written.p_loo_se, 1e-9);
}

// Gamma–Poisson: y_n given the others is negative binomial.
TEST(LeaveOneOut, OfCountsIsNegativeBinomial) {
    const std::vector<double> counts{3, 5, 2, 4, 6, 3, 4};
    ModelBuilder builder;
    const auto rate = builder.add("rate", gamma(2.0, 0.5));
    const Rows rows = builder.rows("days", 7);
    for (Index i = 0; i < 7; ++i) {
        builder.observe(counts[static_cast<std::size_t>(i)], poisson(rate, 1.0), rows[i]);
    }
    const auto model = std::make_shared<const MultilinearModel>(builder.build());
    const auto fitted = fitted_model(model, fit(*model));
    const Loo draws = leave_one_out(*fitted, by(LooMethod::draws, 20000));
    const Loo response = leave_one_out(*fitted, by(LooMethod::response));
    const double total = 27.0;
    for (Index n = 0; n < 7; ++n) {
        const double y = counts[static_cast<std::size_t>(n)];
        const double a = 2.0 + total - y;
        const double b = 0.5 + 6.0;
        const double expected = std::lgamma(a + y) - std::lgamma(a) - std::lgamma(y + 1.0) +
                                a * std::log(b / (b + 1.0)) - y * std::log(b + 1.0);
        EXPECT_NEAR(draws.elpd[n], expected, 0.01) << n;
        EXPECT_NEAR(response.elpd[n], expected, 0.02) << n;
    }
}

// The rows of a declared regression are those of the regression kind, in the same units.
TEST(LeaveOneOut, RowsOfADeclaredRegressionHaveTheirDensities) {
    Random random(5);
    const Matrix x = test::random_matrix(6, 2, random);
    const Vector y = standard_normals(6, random);
    ModelBuilder builder;
    std::vector<Variable<family::Normal>> b{builder.add("b1", normal(0.0, 1.0)), builder.add("b2", normal(0.0, 1.0))};
    const auto tau = builder.add("tau", gamma(2.0, 1.0));
    builder.observe_linear(y, x, b, tau, builder.rows("rows", 6));
    const MultilinearModel model = builder.build();
    // (b, b²) of each coefficient, then (τ, log τ).
    Matrix statistics(6, 2);
    statistics.col(0) << 0.5, 0.25, -1.0, 1.0, 2.0, std::log(2.0);
    statistics.col(1) << -0.2, 0.04, 0.7, 0.49, 0.3, std::log(0.3);
    model.row_log_likelihoods(statistics, 1, [&](const RowAnswers& rows) {
        ASSERT_EQ(rows.answers.rows(), 6);
        for (Index n = 0; n < 6; ++n) {
            EXPECT_NEAR(rows.answers(n, 0), log_normal(y[n], 0.5 * x(n, 0) - x(n, 1), 0.5), 1e-12);
            EXPECT_NEAR(rows.answers(n, 1), log_normal(y[n], -0.2 * x(n, 0) + 0.7 * x(n, 1), 1.0 / 0.3), 1e-12);
            EXPECT_EQ(rows.inputs(n, 0), y[n]);
        }
    });
}

// log p(x, θ) − log p(θ) adds up over the rows: what is fitted is what is left out.
TEST(LeaveOneOut, RowsOfAMixtureAddUpToItsLikelihood) {
    Matrix rows(60, 3);
    Random random(9);
    rows << test::random_matrix(60, 2, random), Vector::LinSpaced(60, 0.0, 2.0);
    MixtureSpecification specification;
    specification.components = 2;
    specification.weighted = true;
    const MixtureFit fit = fit_mixture(std::make_shared<TableSource>(rows), specification);
    ASSERT_TRUE(fit.optimum.converged());
    Matrix doubled = rows;
    doubled.col(2) *= 2.0;
    MixtureSpecification same = specification;
    same.prior = fit.model->prior();
    same.standardisation = {fit.model->centre(), fit.model->scale()};
    const MixtureModel twice(std::make_shared<TableSource>(doubled), same);
    const ModelDensity density(*fit.model, fit.optimum.state);
    const NormalApproximation normal = density.chart().approximation(LinearResponse(*fit.model, fit.optimum));
    const Matrix statistics = density.statistics(normal.mean);
    double sum = 0.0;
    fit.model->row_log_likelihoods(statistics, 1,
                                   [&](const RowAnswers& some) { sum += some.weights.dot(some.answers.col(0)); });
    EXPECT_NEAR(sum, twice.log_joint(statistics, 1)[0] - fit.model->log_joint(statistics, 1)[0], 1e-9 * std::abs(sum));
}

TEST(LeaveOneOut, VariablesThatBelongToARowAreRefusedInASentence) {
    ModelBuilder builder;
    const auto mu = builder.add("mu", normal(0.0, 1.0));
    const Rows rows = builder.rows("rows", 2);
    for (Index i = 0; i < 2; ++i) {
        const auto own = builder.add(fmt::format("own[{}]", i + 1), normal(mu, 1.0), rows[i]);
        builder.observe(1.0, normal(own, 1.0), rows[i]);
    }
    const auto model = std::make_shared<const MultilinearModel>(builder.build());
    try {
        leave_one_out(*fitted_model(model, fit(*model)));
        FAIL();
    } catch (const std::runtime_error& error) {
        EXPECT_NE(std::string(error.what()).find("own[1]"), std::string::npos) << error.what();
    }
}

}  // namespace
}  // namespace lrvb
