// Linear regression from a table: factors, the refusals, and that units, offsets and the folding of the rows change
// nothing.

#include "data_files.hpp"
#include "says.hpp"
#include "support.hpp"

#include <lrvb/data/frame.hpp>
#include <lrvb/kind/regression/model.hpp>
#include <lrvb/testing/density_battery.hpp>
#include <lrvb/testing/model_battery.hpp>
#include <lrvb/testing/response_battery.hpp>

#include <Eigen/Cholesky>
#include <Eigen/QR>
#include <fmt/format.h>

namespace lrvb {
namespace {

using Names = std::vector<std::string>;

DataFrame frame_of(const std::string& text, const FrameOptions& options = {}) {
    const TemporaryDirectory directory;
    DataFrame frame = read_frame(directory.write("a.csv", text), options);
    frame.name = "a.csv";
    return frame;
}

RegressionDesign mtcars(const Names& columns, bool intercept = true, const Names& text = {}) {
    const std::string path = LRVB_DATA_DIR "/mtcars.csv";
    return regression_design(read_frame(path, {.columns = columns, .text = text}), 0, intercept);
}

RegressionDesign mpg_by_weight_and_power(bool intercept = true) {
    return mtcars({"mpg", "wt", "hp"}, intercept);
}

RegressionDesign plain_design(const Matrix& columns, const Vector& y, bool intercept = true) {
    RegressionDesign design{.source = "a.csv",
                            .response = "y",
                            .terms = {},
                            .intercept = intercept,
                            .names = {},
                            .columns = columns,
                            .y = y};
    for (Index j = 0; j < columns.cols(); ++j) design.names.push_back(fmt::format("x{}", j + 1));
    return design;
}

/// The design matrix with its ones, where there is an intercept.
Matrix with_ones(const RegressionDesign& design) {
    if (!design.intercept) return design.columns;
    Matrix x(design.columns.rows(), design.columns.cols() + 1);
    x << Vector::Ones(design.columns.rows()), design.columns;
    return x;
}

Names all_names(const RegressionModel& model) {
    Names names;
    if (model.has_intercept()) names.push_back("intercept");
    for (const std::string& name : model.names()) names.push_back(fmt::format("beta[{}]", name));
    names.insert(names.end(), {"tau", "log_tau"});
    return names;
}

struct Answer {
    Optimum optimum;
    Vector mean;
    Matrix covariance;
    Matrix sensitivities;
};

Answer answer_of(const RegressionModel& model, double tolerance = 1e-8) {
    FitOptions options;
    options.tolerance = tolerance;
    Answer answer;
    answer.optimum = fit(model, options);
    EXPECT_TRUE(answer.optimum.converged()) << answer.optimum.message;
    const LinearResponse response(model, answer.optimum);
    const Functionals asked = model.in_data_units(all_names(model));
    answer.mean = response.mean(asked);
    answer.covariance = response.covariance(asked);
    answer.sensitivities = response.sensitivities(asked);
    return answer;
}

Vector sds(const Matrix& covariance) {
    return covariance.diagonal().cwiseSqrt();
}

/// Largest difference of the means, in sds.
double difference_in_sds(const Vector& a, const Vector& b, const Vector& sd) {
    return (a - b).cwiseQuotient(sd).cwiseAbs().maxCoeff();
}

/// Hardly anything: the likelihood alone speaks.
RegressionPrior vague(const RegressionDesign& design) {
    RegressionPrior prior = RegressionPrior::automatic(design);
    prior.intercept_variance *= 1e8;
    prior.variance *= 1e8;
    prior.shape = 1e-8;
    prior.rate *= 1e-8;
    return prior;
}

TEST(RegressionModel, IsLeastSquaresUnderAVaguePrior) {
    for (const bool intercept : {true, false}) {
        const RegressionDesign design = mpg_by_weight_and_power(intercept);
        const Answer answer = answer_of(RegressionModel(design, vague(design)));
        const Matrix x = with_ones(design);
        const Vector least_squares = x.colPivHouseholderQr().solve(design.y);
        const Index count = x.cols();
        EXPECT_LT(test::relative_error(answer.mean.head(count), least_squares), 1e-6);

        // Each q(β_j) adds 1/E τ to E‖y − Xβ‖², so that E τ = N/(RSS + p/E τ), which is (N − p)/RSS; and the response
        // turns it into (XᵀX)⁻¹/E τ: the standard errors of every textbook.
        const double rows = static_cast<double>(design.y.size());
        const double residual = (design.y - x * least_squares).squaredNorm();
        const double precision = (rows - static_cast<double>(count)) / residual;
        EXPECT_NEAR(answer.mean[count] / precision, 1.0, 1e-6);
        const Matrix expected = (x.transpose() * x).llt().solve(Matrix::Identity(count, count)) / precision;
        EXPECT_LT(
            test::relative_error(sds(answer.covariance).head(count).cwiseQuotient(sds(expected)), Vector::Ones(count)),
            1e-6);
        EXPECT_LT(test::relative_error(answer.covariance.topLeftCorner(count, count), expected), 1e-6);
    }
}

// The same model in data units, declared by hand, with the automatic prior written out.
TEST(RegressionModel, IsTheGeneralModelOnItsOwnUnits) {
    const RegressionDesign design = mpg_by_weight_and_power();
    const RegressionModel model(design);
    const RegressionPrior& prior = model.prior();
    const Answer answer = answer_of(model);

    ModelBuilder builder;
    std::vector<Variable<family::Normal>> beta;
    beta.push_back(builder.add("alpha", normal(prior.intercept_mean, 1.0 / prior.intercept_variance)));
    beta.push_back(builder.add("wt", normal(prior.mean[0], 1.0 / prior.variance[0])));
    beta.push_back(builder.add("hp", normal(prior.mean[1], 1.0 / prior.variance[1])));
    const auto tau = builder.add("tau", gamma(prior.shape, prior.rate));
    Matrix x = with_ones(design);
    x.rightCols(2).rowwise() -= design.columns.colwise().mean();
    builder.observe_linear(design.y, x, beta, tau);
    const MultilinearModel general = builder.build();
    const Optimum optimum = fit(general);
    ASSERT_TRUE(optimum.converged()) << optimum.message;
    const LinearResponse response(general, optimum);
    const std::vector<Expression> asked = {beta[0] - model.centre()[0] * beta[1] - model.centre()[1] * beta[2], beta[1],
                                           beta[2], tau, log(tau)};
    EXPECT_LT(difference_in_sds(answer.mean, response.mean(asked), response.sd(asked)), 1e-7);
    EXPECT_LT(test::relative_error(sds(answer.covariance), response.sd(asked)), 1e-9);
    EXPECT_LT(test::relative_error(answer.covariance, response.covariance(asked)), 1e-9);
    EXPECT_NEAR(answer.optimum.bound, optimum.bound, 1e-9 * std::abs(optimum.bound));
}

TEST(RegressionModel, AutomaticPriorIsThatOfTheStandardisedData) {
    const RegressionDesign design = mpg_by_weight_and_power();
    const RegressionPrior prior = RegressionPrior::automatic(design);
    const auto variance = [](const Vector& x) { return (x.array() - x.mean()).square().mean(); };
    const double of_response = variance(design.y);
    EXPECT_DOUBLE_EQ(prior.intercept_mean, design.y.mean());
    EXPECT_NEAR(prior.intercept_variance, 100.0 * of_response, 1e-9);
    for (Index j = 0; j < 2; ++j) {
        EXPECT_EQ(prior.mean[j], 0.0);
        const double expected = 100.0 * of_response / variance(design.columns.col(j));
        EXPECT_NEAR(prior.variance[j], expected, 1e-12 * expected);
    }
    EXPECT_EQ(prior.shape, 2.0001);
    EXPECT_NEAR(prior.rate, 0.1 * of_response, 1e-12);
}

TEST(RegressionModel, DoesNotDependOnUnitsAndOffsets) {
    const RegressionDesign design = mpg_by_weight_and_power();
    const Answer original = answer_of(RegressionModel(design));
    double worst = 0.0;
    for (const double unit : {1e-8, 1e-3, 1e4, 1e8}) {
        for (const double offset : {0.0, 1e9}) {
            RegressionDesign other = design;
            other.columns.col(0) = (design.columns.col(0).array() + offset) * unit;
            other.columns.col(1) = (design.columns.col(1).array() - offset) / unit;
            other.y = (design.y.array() + offset) * 1e3;
            const Answer moved = answer_of(RegressionModel(other));
            const Vector units{{1e3 / unit, 1e3 * unit, 1e-6, 1.0}};  // of the slopes, τ and log τ
            const Vector expected = sds(original.covariance).tail(4).cwiseProduct(units);
            const Vector actual = sds(moved.covariance).tail(4);
            const double error = (actual - expected).cwiseQuotient(expected).cwiseAbs().maxCoeff();
            EXPECT_LT(error, 1e-6) << "unit " << unit << ", offset " << offset;
            worst = std::max(worst, error);
            Vector means = original.mean.tail(4).cwiseProduct(units);
            means[3] -= 2.0 * std::log(1e3);
            EXPECT_LT(difference_in_sds(moved.mean.tail(4), means, expected), 1e-6);
        }
    }
    fmt::print("largest relative error of an sd in other units: {:.1e}\n", worst);
}

// A residual of 1e-7 of the response: least squares inside keeps digits that sums of squares would lose.
TEST(RegressionModel, SurvivesAnAlmostPerfectFit) {
    Random random(3);
    const Matrix columns = test::random_matrix(1000, 2, random);
    const Vector noise = test::random_matrix(1000, 1, random);
    const Vector y = 2.0 * columns.col(0) - columns.col(1) + 1e-7 * noise;
    const RegressionDesign design = plain_design(columns, y);
    const Answer answer = answer_of(RegressionModel(design, vague(design)));
    const Matrix x = with_ones(design);
    const Vector of_noise = x.colPivHouseholderQr().solve(noise);
    const Vector expected = Vector{{0.0, 2.0, -1.0}} + 1e-7 * of_noise;
    EXPECT_LT(difference_in_sds(answer.mean.head(3), expected, sds(answer.covariance).head(3)), 1e-3);
    const Matrix inverse_gram = (x.transpose() * x).llt().solve(Matrix::Identity(3, 3));
    EXPECT_LT(test::relative_error(answer.covariance.topLeftCorner(3, 3), inverse_gram / answer.mean[3]), 1e-6);
}

TEST(RegressionModel, FitsNearlyCollinearColumns) {
    Random random(4);
    Matrix columns = test::random_matrix(200, 2, random);
    const Vector y = columns.col(0) + test::random_matrix(200, 1, random);
    for (const double apart : {1e-3, 1e-6, 1e-9}) {
        Matrix close = columns;
        close.col(1) = columns.col(0) + apart * columns.col(1);
        const Answer answer = answer_of(RegressionModel(plain_design(close, y)));
        EXPECT_TRUE(answer.mean.allFinite());
        EXPECT_GT(sds(answer.covariance).minCoeff(), 0.0);
    }
}

TEST(RegressionModel, PassesTheModelBattery) {
    const RegressionModel model(mpg_by_weight_and_power());
    const Optimum optimum = fit(model);
    const testing::Report report = testing::check_model(model, optimum.state);
    EXPECT_TRUE(report.passed()) << report.text();
    const testing::Report gradients = testing::check_gradients(model, optimum.state);
    EXPECT_TRUE(gradients.passed()) << gradients.text();
}

/// The numbers of a prior in the order of the hyperparameters, and back.
Vector packed(const RegressionPrior& prior, bool intercept) {
    std::vector<double> numbers;
    if (intercept) numbers.insert(numbers.end(), {prior.intercept_mean, prior.intercept_variance});
    for (Index j = 0; j < prior.mean.size(); ++j) numbers.insert(numbers.end(), {prior.mean[j], prior.variance[j]});
    numbers.insert(numbers.end(), {prior.shape, prior.rate});
    return Eigen::Map<const Vector>(numbers.data(), static_cast<Index>(numbers.size()));
}

RegressionPrior unpacked(const Vector& numbers, bool intercept) {
    RegressionPrior prior;
    const Index first = intercept ? 2 : 0;
    if (intercept) {
        prior.intercept_mean = numbers[0];
        prior.intercept_variance = numbers[1];
    }
    const Index count = (numbers.size() - first - 2) / 2;
    prior.mean.resize(count);
    prior.variance.resize(count);
    for (Index j = 0; j < count; ++j) {
        prior.mean[j] = numbers[first + 2 * j];
        prior.variance[j] = numbers[first + 2 * j + 1];
    }
    prior.shape = numbers[numbers.size() - 2];
    prior.rate = numbers[numbers.size() - 1];
    return prior;
}

TEST(RegressionModel, SensitivitiesEqualRefitsInTheUnitsOfThePrior) {
    for (const bool intercept : {true, false}) {
        const RegressionDesign design = mpg_by_weight_and_power(intercept);
        // A prior that matters.
        RegressionPrior prior = RegressionPrior::automatic(design);
        prior.intercept_mean = 18.0;
        prior.intercept_variance = 4.0;
        prior.mean = Vector{{-3.0, -0.05}};
        prior.variance = Vector{{1.0, 1e-3}};
        prior.rate = 12.0;
        const RegressionModel model(design, prior);
        const Answer answer = answer_of(model, 1e-11);
        const Vector numbers = packed(prior, intercept);
        ASSERT_EQ(static_cast<Index>(model.hyperparameters().size()), numbers.size());
        const Vector sd = sds(answer.covariance);
        for (Index h = 0; h < numbers.size(); ++h) {
            const auto refitted = [&](double change) {
                Vector moved = numbers;
                moved[h] += change;
                return answer_of(RegressionModel(design, unpacked(moved, intercept)), 1e-11).mean;
            };
            const Vector slope = testing::detail::refit_derivative(refitted, 2e-3 * std::abs(numbers[h]));
            const Vector error = (answer.sensitivities.col(h) - slope).cwiseQuotient(sd);
            EXPECT_LT(error.cwiseAbs().maxCoeff(), 1e-6 * slope.cwiseQuotient(sd).cwiseAbs().maxCoeff())
                << model.hyperparameters()[static_cast<std::size_t>(h)];
        }
    }
    EXPECT_EQ(RegressionModel(mpg_by_weight_and_power()).hyperparameters(),
              (Names{"intercept_mean", "intercept_variance", "mean[wt]", "variance[wt]", "mean[hp]", "variance[hp]",
                     "shape", "rate"}));
}

TEST(RegressionModel, FoldsManyRows) {
    Random random(5);
    const Matrix columns = test::random_matrix(20000, 5, random);
    const Vector truth{{1.0, -2.0, 0.5, 0.0, 3.0}};
    const Vector y = ((columns * truth).array() + 4.0).matrix() + test::random_matrix(20000, 1, random);
    const RegressionDesign design = plain_design(columns, y);
    const Answer answer = answer_of(RegressionModel(design, vague(design)));
    const Matrix x = with_ones(design);
    const Vector least_squares = x.householderQr().solve(y);
    EXPECT_LT(test::relative_error(answer.mean.head(6), least_squares), 1e-8);
    const Matrix inverse_gram = (x.transpose() * x).llt().solve(Matrix::Identity(6, 6));
    EXPECT_LT(test::relative_error(answer.covariance.topLeftCorner(6, 6), inverse_gram / answer.mean[6]), 1e-8);
}

TEST(RegressionModel, FitsTheInterceptAlone) {
    const Vector y{{1.0, 2.0, 4.0}};
    const RegressionDesign design = plain_design(Matrix(3, 0), y);
    const Answer answer = answer_of(RegressionModel(design, vague(design)));
    EXPECT_NEAR(answer.mean[0], y.mean(), 1e-6);
}

TEST(RegressionModel, PredictsWithTheVarianceOfTheCoefficientsAndTheNoise) {
    for (const double offset : {0.0, 1e9}) {
        RegressionDesign design = mpg_by_weight_and_power();
        design.columns.array() += offset;
        const RegressionModel model(design);
        const Optimum optimum = fit(model);
        const LinearResponse response(model, optimum);
        const RegressionPosterior posterior{model.has_intercept(), model.centre(), response.mean(model.coefficients()),
                                            response.covariance(model.coefficients()),
                                            model.noise_variance(optimum.state)};
        const RegressionPrediction prediction = predict(posterior, design.columns);
        // By hand, in the original units, at the first car.
        const RegressionModel original(mpg_by_weight_and_power());
        const Optimum at = fit(original);
        const LinearResponse of_original(original, at);
        const Functionals asked = original.in_data_units({"intercept", "beta[wt]", "beta[hp]"});
        const Vector row{{1.0, 2.62, 110.0}};
        EXPECT_NEAR(prediction.mean[0], row.dot(of_original.mean(asked)), 1e-6);
        const double variance = row.dot(of_original.covariance(asked) * row);
        EXPECT_NEAR(prediction.mean_sd[0], std::sqrt(variance), 1e-6);
        // E[1/τ] of a Gamma(a, b) is b/(a − 1) = (a/E τ)/(a − 1), and a = 2.0001 + 32/2 here.
        const double mean_precision = of_original.mean(original.in_data_units({"tau"}))[0];
        const double noise = 18.0001 / 17.0001 / mean_precision;
        EXPECT_NEAR(posterior.noise_variance, noise, 1e-5 * noise);
        EXPECT_NEAR(prediction.sd[0], std::sqrt(variance + noise), 1e-5);
    }
}

TEST(RegressionDesign, CodesFactorsByTreatment) {
    const DataFrame frame = frame_of("y,species,x\n1,b,7\n2,a,8\n3,c,9\n4,b,6\n");
    const RegressionDesign design = regression_design(frame, 0);
    EXPECT_EQ(design.names, (Names{"species=b", "species=c", "x"}));
    EXPECT_EQ(design.columns, (Matrix{{1, 0, 7}, {0, 0, 8}, {0, 1, 9}, {1, 0, 6}}));
    EXPECT_EQ(design.y, (Vector{{1, 2, 3, 4}}));
    EXPECT_EQ(design.terms, (std::vector<RegressionTerm>{{"species", {"a", "b", "c"}}, {"x", {}}}));
}

TEST(RegressionDesign, SortsLevelsThatAreNumbersAsSuch) {
    const DataFrame frame = frame_of("y,g\n1,10\n2,9\n3,10\n4,9\n", {.text = {"g"}});
    EXPECT_EQ(regression_design(frame, 0).terms, (std::vector<RegressionTerm>{{"g", {"9", "10"}}}));
}

TEST(RegressionDesign, PutsTheBaselineFirst) {
    const DataFrame frame = frame_of("y,s,x\n1,b,7\n2,a,8\n3,c,9\n4,b,6\n");
    const RegressionDesign design = regression_design(frame, 0, true, {{"s", "b"}});
    EXPECT_EQ(design.terms[0].levels, (Names{"b", "a", "c"}));
    EXPECT_EQ(design.columns, (Matrix{{0, 0, 7}, {1, 0, 8}, {0, 1, 9}, {0, 0, 6}}));
    const auto refusal = [&](const Baseline& baseline) {
        return message_of<std::runtime_error>([&] { regression_design(frame, 0, true, {baseline}); });
    };
    EXPECT_TRUE(test::says(refusal({"s", "d"}), {"a.csv", "'s'", "'d'", "'a'", "'b'", "'c'", "baseline", "level"}));
    EXPECT_TRUE(test::says(refusal({"x", "7"}), {"a.csv", "'x'", "baseline", "leave"}));
}

// With a factor alone and a vague prior, the intercept is the mean of the first group, and the rest are differences.
TEST(RegressionDesign, CoefficientsOfAFactorAreDifferencesOfGroupMeans) {
    const RegressionDesign design = mtcars({"mpg", "cyl"}, true, {"cyl"});
    const RegressionModel model(design, vague(design));
    EXPECT_EQ(model.names(), (Names{"cyl=6", "cyl=8"}));
    const Answer answer = answer_of(model);
    const Vector cyl = test::read_column("mtcars.csv", "cyl");
    const auto group_mean = [&](double which) {
        const Eigen::ArrayXd in_group = (cyl.array() == which).cast<double>();
        return (design.y.array() * in_group).sum() / in_group.sum();
    };
    EXPECT_NEAR(answer.mean[0], group_mean(4.0), 1e-5);
    EXPECT_NEAR(answer.mean[1], group_mean(6.0) - group_mean(4.0), 1e-5);
    EXPECT_NEAR(answer.mean[2], group_mean(8.0) - group_mean(4.0), 1e-5);
}

TEST(RegressionDesign, CodesNewRowsAsThoseOfTheFit) {
    const std::vector<RegressionTerm> terms = {{"g", {"10", "9", "x"}}, {"z", {}}};
    const DataFrame rows = frame_of("z,other,g\n1,p,9\n2,q,10\n", {.text = {"g"}});
    EXPECT_EQ(design_matrix(rows, terms), (Matrix{{1, 0, 1}, {0, 0, 2}}));
    const auto refusal = [&](const std::string& text, const FrameOptions& options) {
        return message_of<std::runtime_error>([&] { design_matrix(frame_of(text, options), terms); });
    };
    EXPECT_TRUE(test::says(refusal("z,g\n1,9\n,9\n3,new\n", {.text = {"g"}, .missing = Missing::drop}),
                           {"a.csv", "'g'", "'new'", "'10'", "'9'", "'x'", "row 3", "level", "correct"}));
    EXPECT_TRUE(test::says(refusal("z,g\n1,9\nb,9\n", {.text = {"g"}}),
                           {"a.csv", "'z'", "'b'", "row 2", "NA", "missing", "numbers", "correct"}));
    EXPECT_TRUE(test::says(refusal("z,g\n1,9\n", {}), {"a.csv", "'g'", "text", "numbers", "read"}));
    EXPECT_TRUE(test::says(message_of<std::invalid_argument>([&] { design_matrix(frame_of("g,a\nx,1\n"), terms); }),
                           {"a.csv", "'z'", "add"}));
}

std::string refusal_of(const std::string& text, bool intercept = true, const FrameOptions& options = {}) {
    return message_of<std::runtime_error>(
        [&] { const RegressionModel model(regression_design(frame_of(text, options), 0, intercept)); });
}

TEST(RegressionDesign, RefusesTextThatIsNoFactor) {
    EXPECT_TRUE(test::says(refusal_of("y,s\n1,a\n2,a\n"), {"a.csv", "'s'", "'a'", "text", "leave"}));
    EXPECT_TRUE(test::says(refusal_of("y,s,t\n1,a,b\n2,a,b\n"), {"a.csv", "'s'", "'t'", "text", "leave"}));
    EXPECT_TRUE(test::says(refusal_of("y,s\n1,a\n2,b\n3,c\n"), {"a.csv", "'s'", "text", "numbers", "leave"}));
    std::string many = "y,s\n";
    for (int n = 0; n < 2002; ++n) many += fmt::format("{},t{}\n", n, n % 1001);
    EXPECT_TRUE(test::says(refusal_of(many), {"a.csv", "'s'", "1001", "levels", "text", "leave"}));
    EXPECT_TRUE(test::says(refusal_of("y,x\n1,1\nb,2\n"), {"a.csv", "'y'", "'b'", "response", "text", "correct"}));
    EXPECT_THROW(regression_design(frame_of("y,g=b,g\n1,1,a\n2,2,b\n3,4,b\n"), 0), std::invalid_argument);
}

TEST(RegressionModel, RefusesDataThatCannotBeFitted) {
    EXPECT_TRUE(test::says(refusal_of("y,x\n1,2\n"), {"a.csv", "needs"}));
    EXPECT_TRUE(test::says(refusal_of("y,x\n1,2\n1,3\n1,4\n"), {"a.csv", "'y'", "1", "response", "take"}));
    EXPECT_TRUE(test::says(refusal_of("y,x\n1,2\n2,2\n4,2\n"), {"a.csv", "'x'", "2", "leave"}));
    EXPECT_EQ(refusal_of("y,x\n1,2\n2,2\n4,2\n", false), "no exception");
    EXPECT_TRUE(test::says(refusal_of("y,x\n1,0\n2,0\n4,0\n", false), {"a.csv", "'x'", "0", "leave"}));
    EXPECT_TRUE(
        test::says(refusal_of("y,x,u,z\n1,2,1,5\n2,2,3,5\n4,2,2,5\n"), {"a.csv", "'x'", "'z'", "2", "5", "leave"}));
    EXPECT_TRUE(test::says(refusal_of("y,x,z\n1,0,0\n2,0,0\n4,0,0\n", false), {"a.csv", "'x'", "'z'", "0", "leave"}));
    EXPECT_TRUE(test::says(refusal_of("y,x\n1,1e200\n2,3e200\n"), {"a.csv", "'x'", "1e+200", "1", "change"}));
    EXPECT_EQ(refusal_of("y,x\n1,NA\n2,1\n4,3\n7,5\n", true, {.missing = Missing::drop}), "no exception");
}

TEST(RegressionModel, NamesCollinearColumns) {
    EXPECT_TRUE(
        test::says(refusal_of("y,a,b,c,sum\n1,1,2,9,5\n2,3,1,2,6\n4,2,2,4,6\n7,5,9,1,16\n1,4,1,3,7\n5,1,1,1,4\n"),
                   {"a.csv", "'sum'", "'a'", "'b'", "collinear", "leave"}));
    EXPECT_TRUE(test::says(refusal_of("y,a,b\n1,1,20\n2,3,60\n4,2,40\n", false),
                           {"a.csv", "'b'", "'a'", "collinear", "leave"}));
    EXPECT_TRUE(test::says(refusal_of("y,a,b,c\n1,1,2,9\n2,3,1,2\n4,2,2,4\n"),
                           {"a.csv", "'c'", "'a'", "'b'", "4", "3", "collinear", "leave"}));
    // Two factors that say the same.
    EXPECT_TRUE(test::says(refusal_of("y,g,h\n1,a,u\n2,a,u\n4,b,v\n7,b,v\n"),
                           {"a.csv", "'h=v'", "'g=b'", "collinear", "leave"}));
}

// The sum of two columns is only exact up to rounding, which an offset makes large.
TEST(RegressionModel, FindsCollinearColumnsInAnyUnit) {
    Random random(6);
    const Matrix source = test::random_matrix(300, 3, random);
    for (const double offset : {0.0, 1e3, 1e9}) {
        for (const double unit : {1e-8, 1.0, 1e8}) {
            Matrix columns = source;
            columns.col(0).array() += offset;
            columns.col(2) = unit * (0.1 * columns.col(0) - 3.0 * columns.col(1));
            EXPECT_THROW(RegressionModel(plain_design(columns, source.col(2))), std::runtime_error)
                << "offset " << offset << ", unit " << unit;
        }
    }
}

TEST(RegressionModel, RefusesPriorsAndNamesThatMakeNoSense) {
    const RegressionDesign design = mpg_by_weight_and_power();
    const auto refuses = [&](const auto& spoil) {
        RegressionPrior prior = RegressionPrior::automatic(design);
        spoil(prior);
        EXPECT_THROW(RegressionModel(design, prior), std::invalid_argument);
    };
    refuses([](RegressionPrior& prior) { prior.mean = Vector::Zero(3); });
    refuses([](RegressionPrior& prior) { prior.variance[1] = 0.0; });
    refuses([](RegressionPrior& prior) { prior.intercept_variance = -1.0; });
    refuses([](RegressionPrior& prior) { prior.shape = 0.0; });
    refuses([](RegressionPrior& prior) { prior.rate = std::nan(""); });
    EXPECT_TRUE(
        test::says(message_of<std::invalid_argument>(
                       [&] { static_cast<void>(RegressionModel(design).in_data_units({"beta[cyl]"})); }),
                   {"'beta[cyl]'", "'intercept'", "'beta[column]'", "'tau'", "'log_tau'", "'wt'", "'hp'", "ask"}));
    EXPECT_THROW(RegressionModel(plain_design(Matrix(3, 0), Vector{{1, 2, 3}}, false)), std::invalid_argument);
}

}  // namespace
}  // namespace lrvb
