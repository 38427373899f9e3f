// Whether the model fits: replicated data against closed forms, p over data from the model, and models that are wrong.

#include "frames.hpp"

#include <Eigen/Cholesky>

#include <filesystem>
#include <numbers>

namespace lrvb {
namespace {

using test::fit_of;
using test::frame_of;

const CheckedStatistic& of(const ModelCheck& check, const std::string& column, DataStatistic statistic,
                           bool of_residuals = false) {
    for (const CheckedStatistic& one : check.statistics) {
        if (one.column == column && one.statistic == statistic && one.of_residuals == of_residuals) return one;
    }
    throw std::invalid_argument("no such statistic");
}

Settings flat_prior() {
    return {{"response", "y"},
            {"prior-mean", "0"},
            {"prior-variance", "1e12"},
            {"prior-intercept-mean", "0"},
            {"prior-intercept-variance", "1e12"},
            {"prior-shape", "1"},
            {"prior-rate", "1"}};
}

// With a flat prior of the coefficients and τ ~ Gamma(1, 1), 1/τ has the posterior mean b/(a − 1), a = 1 + (n − p)/2
// and b = 1 + RSS/2; the mean of a replicate has that over n for its noise, and once more for the intercept.
TEST(ModelChecks, TheMeanOfReplicatesOfARegressionIsThatOfItsClosedForm) {
    const Vector y = test::read_column("mtcars.csv", "mpg");
    const auto n = static_cast<double>(y.size());
    Matrix x(y.size(), 2);
    x << Vector::Ones(y.size()), test::read_column("mtcars.csv", "wt");
    const Vector residuals = y - x * (x.transpose() * x).llt().solve(x.transpose() * y);
    const double noise = (1.0 + 0.5 * residuals.squaredNorm()) / (0.5 * (n - 2.0));
    const auto fitted = fit_of("regression", frame_of({{"y", y}, {"wt", x.col(1)}}), flat_prior());
    for (const ParameterDraws draws : {ParameterDraws::exact, ParameterDraws::response}) {
        ModelCheckOptions options;
        options.draws = draws;
        options.replicates = 4000;
        const CheckedStatistic mean = of(check_model_fit(*fitted, options), "y", DataStatistic::mean);
        const double sd = std::sqrt(2.0 * noise / n);
        EXPECT_NEAR(mean.observed, y.mean(), 1e-12);
        EXPECT_NEAR(mean.replicated, y.mean(), 4.0 * sd / std::sqrt(4000.0));
        // Of linear response 1/τ has the mean of a lognormal, which is within a percent of this one.
        EXPECT_NEAR(mean.sd, sd, 0.06 * sd);
        // The central 90 % of what is almost normal.
        EXPECT_NEAR(mean.upper - mean.lower, 2.0 * 1.645 * sd, 0.1 * sd * 2.0 * 1.645);
        EXPECT_GT(mean.p, 0.9);
        EXPECT_EQ(check_model_fit(*fitted, options).draws, draws);
    }
}

TEST(ModelChecks, ResidualSdAndR2AreThoseOfLeastSquares) {
    const Vector y = test::read_column("mtcars.csv", "mpg");
    Matrix x(y.size(), 3);
    x << Vector::Ones(y.size()), test::read_column("mtcars.csv", "wt"), test::read_column("mtcars.csv", "hp");
    const Matrix inverse = (x.transpose() * x).llt().solve(Matrix::Identity(3, 3));
    const Vector residuals = y - x * (inverse * (x.transpose() * y));
    const Vector hat = (x * inverse * x.transpose()).diagonal();
    const double left = residuals.squaredNorm();
    const double sd = std::sqrt(left / static_cast<double>(y.size() - 3));

    const auto fitted = fit_of("regression", frame_of({{"y", y}, {"wt", x.col(1)}, {"hp", x.col(2)}}), flat_prior());
    const ResponseCheck check = check_model_fit(*fitted).response.value();
    EXPECT_NEAR(check.r2, 1.0 - left / (y.array() - y.mean()).square().sum(), 1e-8);
    EXPECT_NEAR(check.residual_sd, sd, 1e-6 * sd);
    const Vector standardised = residuals.array() / (sd * (1.0 - hat.array()).sqrt());
    EXPECT_LT(test::relative_error(check.residuals, residuals), 1e-6);
    EXPECT_LT(test::relative_error(check.standardised, standardised), 1e-6);
    // All of 32 rows, in order, against normal quantiles at (i − ½)/n.
    std::vector<double> sorted(standardised.begin(), standardised.end());
    std::ranges::sort(sorted);
    ASSERT_EQ(check.quantiles.data.size(), y.size());
    EXPECT_NEAR(check.quantiles.data[0], sorted.front(), 1e-6);
    EXPECT_NEAR(check.quantiles.data[31], sorted.back(), 1e-6);
    EXPECT_NEAR(0.5 * std::erfc(-check.quantiles.model[0] / std::numbers::sqrt2), 0.5 / 32.0, 1e-12);
    EXPECT_NEAR(check.quantiles.model[0], -check.quantiles.model[31], 1e-12);
}

TEST(ModelChecks, GroupsOfManyRowsHoldEveryRowOnce) {
    Random random(4);
    const Vector x = standard_normals(5000, random);
    const Vector y = 2.0 * x + standard_normals(5000, random);
    const ResponseCheck check =
        check_model_fit(*fit_of("regression", frame_of({{"y", y}, {"x", x}}), {{"response", "y"}})).response.value();
    ASSERT_EQ(check.groups.size(), 50U);
    for (std::size_t g = 1; g < check.groups.size(); ++g) {
        EXPECT_GE(check.groups[g].lowest, check.groups[g - 1].highest);
    }
    EXPECT_EQ(check.groups.front().lowest, check.fitted.minCoeff());
    EXPECT_EQ(check.groups.back().highest, check.fitted.maxCoeff());
    double largest = 0.0;
    for (const ResponseCheck::Group& group : check.groups) {
        largest = std::max(largest, group.max);
        EXPECT_NEAR(group.band, 1.645, 0.05);  // the noise is 1
    }
    EXPECT_EQ(largest, check.residuals.maxCoeff());
    // Four standard errors of a share of 5000.
    EXPECT_NEAR(check.coverage, 0.9, 4.0 * std::sqrt(0.09 / 5000.0));
    // Thinned by quantiles: the ends are there.
    EXPECT_LE(check.quantiles.data.size(), 200);
    EXPECT_EQ(check.quantiles.data[0], check.standardised.minCoeff());
    EXPECT_EQ(check.quantiles.data[check.quantiles.data.size() - 1], check.standardised.maxCoeff());
}

// A mixture that is held at 0.3 N(−1, 0.25) + 0.7 N(2, 1), and rows from it.
class HeldMixture : public ::testing::Test {
  protected:
    HeldMixture() : path_(std::filesystem::temp_directory_path() / "lrvb_held_mixture.json") {
        std::ofstream(path_) << R"({"weights": [0.3, 0.7], "means": [-1, 2], "precisions": [4, 1]})";
    }
    ~HeldMixture() override { std::filesystem::remove(path_); }

    static Vector rows(Index count, std::uint64_t seed) {
        Random random(seed, 77);
        Vector x(count);
        for (double& value : x) {
            value = random.uniform() < 0.3 ? -1.0 + 0.5 * random.normal() : 2.0 + random.normal();
        }
        return x;
    }
    std::unique_ptr<FittedModel> fitted(const Vector& x) const {
        return fit_of(
            "mixture", frame_of({{"x", x}}),
            {{"components", "2"}, {"restarts", "1"}, {"fix", "weights,means,precisions"}, {"at", path_.string()}});
    }

  private:
    std::filesystem::path path_;
};

TEST_F(HeldMixture, MeanAndSdOfItsReplicatesAreThoseOfTheMixture) {
    const Index n = 500;
    ModelCheckOptions options;
    options.replicates = 4000;
    const ModelCheck check = check_model_fit(*fitted(rows(n, 1)), options);
    const double mean = 0.3 * -1.0 + 0.7 * 2.0;
    const double variance = 0.3 * (0.25 + 1.0) + 0.7 * (1.0 + 4.0) - mean * mean;
    const double error = std::sqrt(variance / static_cast<double>(n));
    const CheckedStatistic& of_mean = of(check, "x", DataStatistic::mean);
    EXPECT_NEAR(of_mean.replicated, mean, 4.0 * error / std::sqrt(4000.0));
    EXPECT_NEAR(of_mean.sd, error, 4.0 * error / std::sqrt(8000.0));
    EXPECT_NEAR(of(check, "x", DataStatistic::sd).replicated, std::sqrt(variance), 0.005 * std::sqrt(variance));
}

// Parameters that are known leave nothing that a replicate could share with the data: p is uniform. Kolmogorov–Smirnov
// at one in a thousand.
TEST_F(HeldMixture, PIsUniformOverDataFromTheModel) {
    constexpr int kSets = 200;
    ModelCheckOptions options;
    options.replicates = 400;
    for (const DataStatistic statistic : {DataStatistic::mean, DataStatistic::max, DataStatistic::skewness}) {
        std::vector<double> values;
        for (std::uint64_t seed = 1; seed <= kSets; ++seed) {
            options.exact.seed = seed;
            values.push_back(of(check_model_fit(*fitted(rows(60, seed)), options), "x", statistic).p);
        }
        std::ranges::sort(values);
        double distance = 0.0;
        for (std::size_t i = 0; i < values.size(); ++i) {
            distance = std::max({distance, std::abs(values[i] - static_cast<double>(i) / kSets),
                                 std::abs(values[i] - static_cast<double>(i + 1) / kSets)});
        }
        EXPECT_LT(distance, 1.95 / std::sqrt(kSets)) << to_string(statistic);
    }
}

TEST(ModelChecks, DataFromTheModelFitsIt) {
    int unusual = 0;
    for (std::uint64_t seed = 1; seed <= 60; ++seed) {
        Random random(seed);
        const Vector x = standard_normals(100, random);
        const Vector y = x + standard_normals(100, random);
        const auto fitted = fit_of("regression", frame_of({{"y", y}, {"x", x}}), {{"response", "y"}});
        unusual += check_model_fit(*fitted).fits() ? 0 : 1;
    }
    // One in twenty at most, and three of its standard errors.
    EXPECT_LE(unusual, 8);
}

TEST(ModelChecks, SkewedErrorsAreSaidToBeSkewed) {
    Random random(5);
    const Vector x = standard_normals(300, random);
    Vector y = 20.0 * x;
    for (double& value : y) value -= std::log(random.uniform());  // exponential
    const ModelCheck check =
        check_model_fit(*fit_of("regression", frame_of({{"y", y}, {"x", x}}), {{"response", "y"}}));
    // The response itself hides it: it is what the column makes it.
    EXPECT_FALSE(of(check, "y", DataStatistic::skewness).is_unusual);
    const CheckedStatistic& residuals = of(check, "y", DataStatistic::skewness, true);
    EXPECT_TRUE(residuals.is_unusual);
    EXPECT_LT(residuals.p, 0.005);
    EXPECT_NE(residuals.words().find("the residuals of y are more skewed to the right than the model produces"),
              std::string::npos);
    EXPECT_FALSE(check.fits());
    EXPECT_NE(check.message().find("the model does not fit"), std::string::npos);
}

TEST(ModelChecks, AnOutlierIsALargerMaximumThanTheModelProduces) {
    Random random(6);
    Vector x = standard_normals(400, random);
    x[17] = 9.0;
    const ModelCheck check = check_model_fit(*fit_of("mixture", frame_of({{"x", x}}), {{"components", "1"}}));
    const CheckedStatistic& largest = of(check, "x", DataStatistic::max);
    EXPECT_EQ(largest.observed, 9.0);
    EXPECT_TRUE(largest.is_unusual);
    EXPECT_NE(largest.words().find("have a larger maximum than the model produces"), std::string::npos);
    EXPECT_FALSE(of(check, "x", DataStatistic::mean).is_unusual);
}

TEST(ModelChecks, ThreadsChangeNoBit) {
    const Vector rows = test::three_component_rows(3000, 2);
    const auto fitted =
        fit_of("mixture", frame_of({{"x", rows}, {"z", rows.reverse().cwiseAbs()}}), {{"components", "2"}});
    ModelCheckOptions options;
    options.draws = ParameterDraws::response;
    const std::string one = check_model_fit(*fitted, options).document().json();
    options.exact.threads = 4;
    EXPECT_EQ(check_model_fit(*fitted, options).document().json(), one);
    options.exact.seed = 2;
    EXPECT_NE(check_model_fit(*fitted, options).document().json(), one);
}

// The same model, whose rows are drawn from the same streams.
TEST(ModelChecks, ARowOfWeightTwoIsTwoRows) {
    Random random(7);
    const Vector x = standard_normals(50, random);
    Vector weights = Vector::Ones(50);
    std::vector<double> written;
    for (Index i = 0; i < x.size(); ++i) {
        weights[i] = static_cast<double>(i % 3);
        for (Index t = 0; t < i % 3; ++t) written.push_back(x[i]);
    }
    ModelCheckOptions options;
    options.draws = ParameterDraws::response;
    const ModelCheck weighted = check_model_fit(
        *fit_of("mixture", frame_of({{"x", x}, {"w", weights}}), {{"components", "1"}, {"weights", "w"}}), options);
    const Vector all = Eigen::Map<const Vector>(written.data(), static_cast<Index>(written.size()));
    const ModelCheck plain =
        check_model_fit(*fit_of("mixture", frame_of({{"x", all}}), {{"components", "1"}}), options);
    ASSERT_EQ(weighted.statistics.size(), plain.statistics.size());
    for (std::size_t i = 0; i < plain.statistics.size(); ++i) {
        EXPECT_NEAR(weighted.statistics[i].observed, plain.statistics[i].observed, 1e-12);
        EXPECT_NEAR(weighted.statistics[i].replicated, plain.statistics[i].replicated, 1e-7);
    }
    EXPECT_EQ(weighted.columns.front().rows, all.size());
}

TEST(ModelChecks, OtherWeightsAreRefused) {
    Random random(7);
    const auto fitted =
        fit_of("mixture", frame_of({{"x", standard_normals(50, random)}, {"w", Vector::Constant(50, 0.5)}}),
               {{"components", "1"}, {"weights", "w"}});
    try {
        check_model_fit(*fitted);
        FAIL() << "a weight of a half was drawn";
    } catch (const std::runtime_error& error) {
        EXPECT_NE(std::string(error.what()).find("row 1 has the weight 0.5"), std::string::npos) << error.what();
    }
}

TEST(ModelChecks, AKindThatDrawsNoRowsIsRefusedInASentence) {
    ModelBuilder builder;
    const auto mean = builder.add("mean", normal(0.0, 1.0));
    builder.observe_column(Vector{{1.0, 2.0, 3.0}}, normal(mean, 1.0), builder.rows("rows", 3).as("y"));
    const auto model = std::make_shared<MultilinearModel>(builder.build());
    const auto fitted = fitted_model(model, fit(*model));
    EXPECT_THROW(check_model_fit(*fitted), std::runtime_error);
}

TEST(ModelChecks, QuantilesOfAMarginalInvertItsDistributionFunction) {
    const ColumnMarginal one{"x", Vector{{1.0}}, Vector{{3.0}}, Vector{{2.0}}};
    EXPECT_NEAR(marginal_quantile(one, 0.975), 3.0 + 2.0 * 1.959963984540054, 1e-12);
    const ColumnMarginal two{"x", Vector{{0.25, 0.75}}, Vector{{-10.0, 5.0}}, Vector{{0.01, 3.0}}};
    for (const double p : {1e-9, 0.1, 0.25, 0.5, 0.9, 1.0 - 1e-9}) {
        const double x = marginal_quantile(two, p);
        const double below = 0.25 * 0.5 * std::erfc((-10.0 - x) / 0.01 / std::numbers::sqrt2) +
                             0.75 * 0.5 * std::erfc((5.0 - x) / 3.0 / std::numbers::sqrt2);
        EXPECT_NEAR(below, p, 1e-9 * p + 1e-15) << p;
    }
}

TEST(ModelChecks, CountsAndExpectedOnesAreOfAllRows) {
    const Vector x = test::read_column("old_faithful.csv", "eruptions");
    const ModelCheck check = check_model_fit(*fit_of("mixture", frame_of({{"x", x}}), {{"components", "2"}}));
    const ColumnCheck& column = check.columns.at(0);
    EXPECT_EQ(column.counts.sum(), 272.0);
    // But for what the model has beyond the ends.
    double within = 0.0;
    for (Index k = 0; k < 2; ++k) {
        const double unit = 1.0 / (column.marginal.sds[k] * std::numbers::sqrt2);
        const double low = (x.minCoeff() - column.marginal.means[k]) * unit;
        const double high = (x.maxCoeff() - column.marginal.means[k]) * unit;
        within += 0.5 * column.marginal.weights[k] * (std::erf(high) - std::erf(low));
    }
    EXPECT_NEAR(column.expected.sum(), 272.0 * within, 1e-9);
    // As fine as Freedman and Diaconis ask for: quartiles 2.1627 and 4.4543.
    EXPECT_LE(column.step, 2.0 * (4.4543 - 2.1627) / std::cbrt(272.0));
    EXPECT_EQ(column.quantiles.data[0], x.minCoeff());
    // On the line, within the error of a quantile.
    for (Index i = 20; i + 20 < column.quantiles.data.size(); ++i) {
        EXPECT_NEAR(column.quantiles.model[i], column.quantiles.data[i], 0.45);
    }
}

}  // namespace
}  // namespace lrvb
