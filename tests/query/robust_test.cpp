// Sds by the rows: against the sandwich of least squares, the bootstrap, and the sds of models that are right.

#include "frames.hpp"

#include <Eigen/Cholesky>

namespace lrvb {
namespace {

using test::fit_of;
using test::frame_of;

const RobustSd& of(const std::vector<RobustSd>& sds, const std::string& name) {
    const auto found = std::ranges::find_if(sds, [&](const RobustSd& one) { return one.name == name; });
    EXPECT_NE(found, sds.end()) << name;
    return *found;
}

// HC0 of White (1980): (XᵀX)⁻¹ Xᵀ diag(e²) X (XᵀX)⁻¹.
TEST(RobustSds, AreTheSandwichOfLeastSquaresWhereThePriorIsFlat) {
    const Vector mpg = test::read_column("mtcars.csv", "mpg");
    Matrix x(mpg.size(), 3);
    x << Vector::Ones(mpg.size()), test::read_column("mtcars.csv", "wt"), test::read_column("mtcars.csv", "hp");
    const Matrix inverse = (x.transpose() * x).llt().solve(Matrix::Identity(3, 3));
    const Vector residuals = mpg - x * (inverse * (x.transpose() * mpg));
    const Matrix sandwich = inverse * x.transpose() * residuals.cwiseAbs2().asDiagonal() * x * inverse;

    const auto fitted = fit_of("regression", frame_of({{"mpg", mpg}, {"wt", x.col(1)}, {"hp", x.col(2)}}),
                               {{"response", "mpg"},
                                {"prior-mean", "0"},
                                {"prior-variance", "1e12"},
                                {"prior-intercept-mean", "0"},
                                {"prior-intercept-variance", "1e12"},
                                {"prior-shape", "1"},
                                {"prior-rate", "1"}});
    const std::vector<std::string> names{"intercept", "beta[wt]", "beta[hp]"};
    EXPECT_LT(test::relative_error(robust_covariance(*fitted, names), sandwich), 1e-6);
    const std::vector<RobustSd> sds = robust_sds(*fitted, names);
    for (Index j = 0; j < 3; ++j) {
        const double expected = std::sqrt(sandwich(j, j));
        EXPECT_NEAR(sds[static_cast<std::size_t>(j)].sd_robust, expected, 1e-6 * expected);
    }
}

// Two components of which one row in ten is spread three times as wide, fitted as normals. The bootstrap refits 400
// times with multinomial weights; its sds have a Monte Carlo error of 3.5 % and, of log precisions, some more; 4 of
// these.
TEST(RobustSds, AreThoseOfTheBootstrapOfAMisspecifiedMixture) {
    const Index n = 2000;
    Random random(11);
    Matrix rows(n, 2);
    for (Index i = 0; i < n; ++i) {
        const double centre = random.uniform() < 0.4 ? -10.0 : 10.0;
        const double spread = random.uniform() < 0.1 ? 3.0 : 1.0;
        rows.row(i) << centre + spread * random.normal(), 1.0;
    }
    const Dataset data = frame_of({{"x", rows.col(0)}, {"w", rows.col(1)}});
    const auto fitted = fit_of("mixture", data, {{"components", "2"}, {"weights", "w"}});
    const std::vector<std::string> names{"pi[1]", "mu[1]", "mu[2]", "log_tau[1]", "log_tau[2]"};
    const std::vector<RobustSd> sds = robust_sds(*fitted, names);

    const auto& model = dynamic_cast<const MixtureModel&>(fitted->model());
    MixtureSpecification specification;
    specification.components = 2;
    specification.weighted = true;
    specification.prior = model.prior();
    specification.standardisation = {model.centre(), model.scale()};
    const int count = 400;
    Matrix draws(count, static_cast<Index>(names.size()));
    for (int b = 0; b < count; ++b) {
        Matrix sample = rows;
        sample.col(1).setZero();
        for (Index i = 0; i < n; ++i) sample(static_cast<Index>(random.uniform() * static_cast<double>(n)), 1) += 1.0;
        MixtureFit refit;
        const auto changed = std::make_shared<MixtureModel>(std::make_shared<TableSource>(sample), specification);
        FitOptions options;
        options.initial = fitted->optimum().state;
        options.first_sweeps = 0;
        refit.model = changed;
        refit.optimum = fit(*changed, options);
        ASSERT_TRUE(refit.optimum.converged());
        const Posterior posterior = mixture_posterior(refit);
        const std::vector<Index> chosen = posterior.select(names);
        for (std::size_t v = 0; v < chosen.size(); ++v) {
            draws(b, static_cast<Index>(v)) = posterior.variables[static_cast<std::size_t>(chosen[v])].mean;
        }
    }
    for (std::size_t v = 0; v < names.size(); ++v) {
        const Eigen::ArrayXd centred =
            draws.col(static_cast<Index>(v)).array() - draws.col(static_cast<Index>(v)).mean();
        const double variance = centred.square().mean();
        const double error = 0.5 * std::sqrt((centred.square() - variance).square().mean() / count) / variance;
        const double ratio = sds[v].sd_robust / std::sqrt(variance);
        RecordProperty(names[v], fmt::format("{:.3f}", ratio));
        EXPECT_NEAR(std::log(ratio), 0.0, 4.0 * error) << names[v];
    }
    // What the model says of the precisions is far off, and is said to be.
    EXPECT_GT(of(sds, "log_tau[1]").ratio(), 1.5);
    ASSERT_EQ(robust_warnings(sds).size(), 1U);
    EXPECT_NE(robust_warnings(sds)[0].find("the rows vary more than the model says"), std::string::npos);
    EXPECT_NE(robust_warnings(sds)[0].find("log_tau[1]"), std::string::npos);
    EXPECT_EQ(robust_warnings(sds)[0].find("mu[1]"), std::string::npos);
}

void expect_near_one(const std::vector<RobustSd>& sds) {
    for (const RobustSd& one : sds) {
        EXPECT_NEAR(std::log(one.ratio()), 0.0, 4.0 * one.sd_robust_se / one.sd_robust) << one.name;
    }
    EXPECT_TRUE(robust_warnings(sds).empty());
}

TEST(RobustSds, AgreeWithThePosteriorWhereARegressionIsRight) {
    Random random(3);
    const Matrix x = test::random_matrix(2000, 2, random);
    const Vector y = x.col(0) - 2.0 * x.col(1) + standard_normals(2000, random);
    expect_near_one(
        robust_sds(*fit_of("regression", frame_of({{"y", y}, {"a", x.col(0)}, {"b", x.col(1)}}), {{"response", "y"}})));
}

TEST(RobustSds, AgreeWithThePosteriorWhereAMixtureIsRight) {
    expect_near_one(
        robust_sds(*fit_of("mixture", frame_of({{"x", test::three_component_rows(4000, 5)}}), {{"components", "3"}})));
}

TEST(RobustSds, AFewRowsOfTheRightModelAreNoReasonToWarn) {
    int warned = 0;
    for (std::uint64_t seed = 1; seed <= 100; ++seed) {
        Random random(seed);
        const Matrix x = test::random_matrix(12, 2, random);
        const Vector y = x.col(0) + standard_normals(12, random);
        const auto fitted =
            fit_of("regression", frame_of({{"y", y}, {"a", x.col(0)}, {"b", x.col(1)}}), {{"response", "y"}});
        warned += robust_warnings(robust_sds(*fitted)).empty() ? 0 : 1;
    }
    EXPECT_EQ(warned, 0);
}

TEST(RobustSds, SpreadThatGrowsWithAColumnIsAReasonToWarn) {
    Random random(8);
    const Vector x = standard_normals(1000, random);
    Vector y(x.size());
    for (Index i = 0; i < x.size(); ++i) y[i] = x[i] + std::abs(x[i]) * std::abs(x[i]) * random.normal();
    const std::vector<std::string> warnings =
        robust_warnings(robust_sds(*fit_of("regression", frame_of({{"y", y}, {"x", x}}), {{"response", "y"}})));
    ASSERT_EQ(warnings.size(), 1U);
    EXPECT_NE(warnings[0].find("beta[x]"), std::string::npos);
}

// Σ w² ψ²: with all rows at weight 2 twice what the same rows written out twice have.
TEST(RobustSds, ARowOfWeightTwoIsOneRowThatCountsTwice) {
    const Vector x = test::three_component_rows(300, 2);
    Vector twice(600);
    twice << x, x;
    const Settings settings{{"components", "3"}, {"prior", "paper"}};
    Settings weighted = settings;
    weighted.set("weights", "w");
    const auto heavy =
        robust_sds(*fit_of("mixture", frame_of({{"x", x}, {"w", Vector::Constant(300, 2.0)}}), weighted), {"mu"});
    const auto repeated = robust_sds(*fit_of("mixture", frame_of({{"x", twice}}), settings), {"mu"});
    for (std::size_t v = 0; v < heavy.size(); ++v) {
        EXPECT_NEAR(heavy[v].sd_robust, std::sqrt(2.0) * repeated[v].sd_robust, 1e-6 * heavy[v].sd_robust);
    }
}

TEST(RobustSds, OfWhatIsHeldThereAreNone) {
    const Vector x = test::three_component_rows(300, 2);
    const std::string path = ::testing::TempDir() + "/lrvb_robust_weights.json";
    std::ofstream(path) << R"({"weights": [0.3, 0.4, 0.3]})";
    const auto fitted =
        fit_of("mixture", frame_of({{"x", x}}), {{"components", "3"}, {"fix", "weights"}, {"at", path}});
    const std::vector<RobustSd> sds = robust_sds(*fitted, {"pi"});
    ASSERT_EQ(sds.size(), 3U);
    EXPECT_EQ(sds[0].sd_robust, 0.0);
    EXPECT_TRUE(std::isnan(sds[0].ratio()));
    EXPECT_FALSE(sds[0].is_far());
}

// A row that was observed twice is one unit: the scores of both add up before they are squared.
TEST(RobustSds, AllThatWasObservedOfARowMovesTogether) {
    const Vector first{{1.0, -0.5, 2.0, 0.3}};
    ModelBuilder builder;
    const auto mu = builder.add("mu", normal(0.0, 1e-12));
    const Rows people = builder.rows("people", 4);
    builder.observe_column(first, normal(mu, 1.0), people);
    builder.observe_column(first, normal(mu, 1.0), people);
    const auto model = std::make_shared<const MultilinearModel>(builder.build());
    const auto fitted = fitted_model(model, fit(*model));
    // Each row moves the mean by 2(y − ȳ)/8.
    const double expected = std::sqrt((first.array() - first.mean()).square().sum()) / 4.0;
    EXPECT_NEAR(robust_sds(*fitted)[0].sd_robust, expected, 1e-9);
}

TEST(RobustSds, AModelWithoutRowsIsRefused) {
    ModelBuilder builder;
    const auto mu = builder.add("mu", normal(0.0, 1.0));
    builder.observe(2.0, normal(mu, 1.0));
    const auto model = std::make_shared<const MultilinearModel>(builder.build());
    EXPECT_THROW(robust_sds(*fitted_model(model, fit(*model))), std::runtime_error);
}

}  // namespace
}  // namespace lrvb
