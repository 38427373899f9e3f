// The automatic prior beside precise data, and the warning where a prior decides.

#include "kind/mixture/narrow.hpp"
#include "support.hpp"

#include <lrvb/check/check.hpp>
#include <lrvb/data/table.hpp>
#include <lrvb/kind/regression/model.hpp>
#include <lrvb/query/sensitivity.hpp>

#include <Eigen/Cholesky>
#include <fmt/format.h>

#include <map>

namespace lrvb {
namespace {

/// Normal rows, component by component: so many of each, about its mean and with its sd.
struct Part {
    Index rows = 0;
    double mean = 0.0;
    double sd = 0.0;
};

Vector drawn(const std::vector<Part>& parts, std::uint64_t seed) {
    Random random(seed);
    std::vector<double> values;
    for (const Part& part : parts) {
        for (Index i = 0; i < part.rows; ++i) values.push_back(part.mean + part.sd * random.normal());
    }
    return Eigen::Map<const Vector>(values.data(), static_cast<Index>(values.size()));
}

double sd_of(const Vector& values) {
    return std::sqrt((values.array() - values.mean()).square().mean());
}

DataFrame frame_of(const std::vector<std::pair<std::string, Vector>>& columns) {
    DataFrame frame;
    frame.rows = columns.front().second.size();
    for (const auto& [name, values] : columns) {
        frame.columns.push_back({.name = name, .numbers = values, .levels = {}, .codes = {}});
    }
    return frame;
}

std::unique_ptr<FittedModel> fitted(const std::string& kind, const Dataset& data, const Settings& settings,
                                    int threads = 1) {
    CheckedFit fit = fit_and_check(*find_kind(kind), FitRequest{data, settings, {}, threads, {}}, CheckWish::never);
    EXPECT_TRUE(fit.fitted->file().converged()) << fit.fitted->file().outcome.message;
    return std::move(fit.fitted);
}

Posterior::Row row_of(const FittedModel& fit, const std::string& name) {
    return fit.posterior().summary(fit.posterior().select({name}), 0.9).front();
}

/// Warnings that say what the prior decides.
std::vector<std::string> decided(const FittedModel& fit) {
    std::vector<std::string> found;
    for (const std::string& warning : fit.file().warnings) {
        if (warning.find(" on the prior: with ") != std::string::npos) found.push_back(warning);
    }
    return found;
}

MixturePrior automatic(const Vector& values, Index components = 2) {
    MixtureSpecification specification;
    specification.components = components;
    return MixtureModel(std::make_shared<TableSource>(Matrix(values)), specification).prior();
}

// The sds of the components' own rows, whose labels are known, are what a prior that decides nothing leaves.
TEST(AutomaticPrior, NarrowComponentsKeepTheirWidth) {
    for (const double sd : {0.02, 1e-3, 1e-5}) {
        const Vector x = drawn({{100, 0.0, sd}, {100, 1.0, sd}}, 3);
        const auto fit = fitted("mixture", frame_of({{"x", x}}), {{"components", "2"}});
        for (Index k = 0; k < 2; ++k) {
            const Posterior::Row row = row_of(*fit, fmt::format("sigma[{}]", k + 1));
            EXPECT_NEAR(row.mean, sd_of(x.segment(100 * k, 100)), 0.5 * row.sd) << sd;
        }
        EXPECT_EQ(decided(*fit), std::vector<std::string>()) << sd;
    }
}

TEST(AutomaticPrior, NarrowComponentsKeepTheirWidthBesideAWideOne) {
    const Vector x = drawn({{100, 0.0, 1e-3}, {100, 1.0, 2e-3}, {100, 8.0, 1.0}}, 5);
    const auto fit = fitted("mixture", frame_of({{"x", x}}), {{"components", "3"}});
    for (Index k = 0; k < 3; ++k) {
        const Posterior::Row row = row_of(*fit, fmt::format("sigma[{}]", k + 1));
        EXPECT_NEAR(row.mean, sd_of(x.segment(100 * k, 100)), 0.5 * row.sd) << k;
    }
    EXPECT_EQ(decided(*fit), std::vector<std::string>());
}

TEST(AutomaticPrior, ComponentsAreNarrowInSeveralColumns) {
    const Vector x = drawn({{150, 0.0, 1e-3}, {150, 1.0, 1e-3}}, 7);
    const Vector y = drawn({{150, 5.0, 0.2}, {150, -5.0, 0.2}}, 8);
    const auto diagonal =
        fitted("mixture", frame_of({{"x", x}, {"y", y}}), {{"components", "2"}, {"covariance", "diagonal"}});
    const auto full = fitted("mixture", frame_of({{"x", x}, {"y", y}}), {{"components", "2"}});
    for (Index k = 0; k < 2; ++k) {
        const Posterior::Row sigma = row_of(*diagonal, fmt::format("sigma[{},1]", k + 1));
        EXPECT_NEAR(sigma.mean, sd_of(x.segment(150 * k, 150)), 0.6 * sigma.sd) << k;
        const Posterior::Row variance = row_of(*full, fmt::format("Sigma[{},1,1]", k + 1));
        EXPECT_NEAR(std::sqrt(variance.mean), sd_of(x.segment(150 * k, 150)), 5e-5) << k;
    }
    EXPECT_EQ(decided(*diagonal), std::vector<std::string>());
    EXPECT_EQ(decided(*full), std::vector<std::string>());
}

TEST(AutomaticPrior, UnitsChangeNothing) {
    const Vector x = drawn({{100, 0.0, 1e-3}, {80, 1.0, 3e-3}, {60, 2.0, 0.5}}, 11);
    const double rate = automatic(x).rate[0];
    EXPECT_LT(rate, 1e-4);
    EXPECT_NEAR(automatic(1e-6 * x).rate[0] / (1e-12 * rate), 1.0, 1e-9);
    EXPECT_NEAR(automatic(1e6 * x).rate[0] / (1e12 * rate), 1.0, 1e-9);
    EXPECT_NEAR(automatic(-x).rate[0] / rate, 1.0, 1e-9);
    // At 1e9 numbers are a ten-millionth apart, a ten-thousandth of the narrowest sd.
    EXPECT_NEAR(automatic((x.array() + 1e9).matrix()).rate[0] / rate, 1.0, 1e-3);
}

TEST(AutomaticPrior, IsThePapersOnStandardisedColumnsOfOrdinaryData) {
    for (const char* column : {"eruptions", "waiting"}) {
        const Vector x = test::read_column("old_faithful.csv", column);
        EXPECT_NEAR(automatic(x).rate[0] / (0.1 * sd_of(x) * sd_of(x)), 1.0, 1e-12) << column;
    }
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        for (const Index rows : {20, 200, 2000}) {
            const Vector x = drawn({{rows, 0.0, 1.0}}, seed);
            const Vector integers = (2.0 * x).array().round();
            EXPECT_NEAR(automatic(x).rate[0] / (0.1 * sd_of(x) * sd_of(x)), 1.0, 1e-12) << rows << " " << seed;
            EXPECT_NEAR(automatic(integers).rate[0] / (0.1 * sd_of(integers) * sd_of(integers)), 1.0, 1e-12) << rows;
        }
    }
}

TEST(AutomaticPrior, ZerosThatAreHalfOfTheDataAreNoNarrowComponent) {
    Vector x = drawn({{100, 0.0, 0.0}, {100, 5.0, 1.0}}, 4);
    EXPECT_NEAR(automatic(x).rate[0] / (0.1 * sd_of(x) * sd_of(x)), 1.0, 1e-12);
    for (double& value : x) value = value == 0.0 ? 0.0 : std::exp(value);
    EXPECT_GT(automatic(x).rate[0], 0.0);
    const auto fit = fitted("mixture", frame_of({{"x", x}}), {{"components", "2"}});
    EXPECT_TRUE(std::isfinite(row_of(*fit, "sigma[1]").mean));
    EXPECT_EQ(detail::narrow_share(Vector::Zero(100), Vector::Ones(100), 100.0), 1.0);
    const Vector two = drawn({{100, 0.0, 0.0}, {100, 1.0, 0.0}}, 4);
    EXPECT_EQ(detail::narrow_share(two, Vector::Ones(200), 200.0), 1.0);
}

// Values k/10, half of them computed as k × 0.1: 1.2000000000000002 beside 1.2 is the same value.
TEST(AutomaticPrior, ValuesThatDifferInTheirLastDigitsAreEqual) {
    Vector exact(200);
    Vector computed(200);
    Random random(3);
    for (Index n = 0; n < 200; ++n) {
        const double k = std::round(10.0 + 6.0 * random.normal());
        exact[n] = k / 10.0;
        computed[n] = n % 2 == 0 ? k / 10.0 : k * 0.1;
    }
    ASSERT_NE(exact, computed);
    EXPECT_NEAR(automatic(computed).rate[0] / automatic(exact).rate[0], 1.0, 1e-9);
}

TEST(AutomaticPrior, WeightsThatAreAllTheSameAndNotWholeChangeNothing) {
    Matrix rows(160, 2);
    Random random(4);
    for (Index n = 0; n < 160; ++n) rows.row(n) << (n < 80 ? 0.001 : 1.0) * random.normal(), 1.0;
    MixtureSpecification specification;
    specification.components = 2;
    specification.weighted = true;
    const auto rate = [&] { return MixtureModel(std::make_shared<TableSource>(rows), specification).prior().rate[0]; };
    const double whole = rate();
    rows.col(1).setConstant(1.0001);
    EXPECT_NEAR(rate() / whole, 1.0, 1e-6);
}

TEST(AutomaticPrior, IntegersWithNarrowComponentsAreSeenAsSuch) {
    const Vector x = drawn({{100, 1000.0, 2.0}, {100, 2000.0, 2.0}}, 9).array().round();
    const auto fit = fitted("mixture", frame_of({{"x", x}}), {{"components", "2"}});
    const Posterior::Row row = row_of(*fit, "sigma[1]");
    EXPECT_NEAR(row.mean, sd_of(x.head(100)), row.sd);
}

TEST(AutomaticPrior, AWeightIsAsManyRowsAndThreadsAndSeedsAreNothing) {
    const Vector x = drawn({{60, 0.0, 1e-3}, {60, 1.0, 1e-3}}, 13);
    Matrix weighted(x.size(), 2);
    weighted << x, Vector::Constant(x.size(), 2.0);
    Vector twice(2 * x.size());
    twice << x, x;
    MixtureSpecification specification;
    specification.components = 2;
    specification.weighted = true;
    const double rate = MixtureModel(std::make_shared<TableSource>(weighted), specification).prior().rate[0];
    EXPECT_NEAR(rate / automatic(twice).rate[0], 1.0, 1e-9);

    const auto one = fitted("mixture", frame_of({{"x", x}}), {{"components", "2"}}, 1);
    const auto two = fitted("mixture", frame_of({{"x", x}}), {{"components", "2"}}, 2);
    EXPECT_EQ(one->file().model->document().json(), two->file().model->document().json());
}

RegressionDesign line(Index rows, double noise, std::uint64_t seed) {
    Random random(seed);
    RegressionDesign design;
    design.response = "y";
    design.names = {"x"};
    design.columns.resize(rows, 1);
    design.y.resize(rows);
    for (Index i = 0; i < rows; ++i) {
        design.columns(i, 0) = static_cast<double>(i);
        design.y[i] = 3.0 + 2.0 * static_cast<double>(i) + noise * random.normal();
    }
    return design;
}

double noise_of(const RegressionModel& model) {
    const Optimum optimum = fit(model);
    EXPECT_TRUE(optimum.converged()) << optimum.message;
    return std::sqrt(model.noise_variance(optimum.state));
}

// RSS/(N − p) is what a prior that decides nothing leaves: the line of this design takes away two of its hundred rows.
TEST(AutomaticPrior, APreciseRegressionKeepsItsNoise) {
    for (const double noise : {1.0, 0.04, 1e-4, 1e-7}) {
        const RegressionDesign design = line(100, noise, 2);
        Matrix x(100, 2);
        x << Vector::Ones(100), (design.columns.col(0).array() - 49.5).matrix();
        const Vector residual = design.y - x * Vector((x.transpose() * x).ldlt().solve(x.transpose() * design.y));
        EXPECT_NEAR(noise_of(RegressionModel(design)) / std::sqrt(residual.squaredNorm() / 98.0), 1.0, 0.03) << noise;
    }
}

TEST(AutomaticPrior, APerfectRegressionEndsWithAFiniteNoise) {
    for (const Index rows : {3, 10, 1000}) {
        const double noise = noise_of(RegressionModel(line(rows, 0.0, 1)));
        EXPECT_GT(noise, 0.0) << rows;
        EXPECT_LT(noise, 1e-10 * static_cast<double>(rows)) << rows;
    }
}

TEST(AutomaticPrior, OfAnOrdinaryRegressionItIsThatOfTheStandardisedResponse) {
    const RegressionDesign design = line(50, 40.0, 6);
    const double square = sd_of(design.y) * sd_of(design.y);
    EXPECT_NEAR(RegressionPrior::automatic(design).rate / (0.1 * square), 1.0, 1e-12);
}

TEST(PriorWarnings, NameTheNumberTheVariableAndTheOption) {
    const Vector x = drawn({{100, 0.0, 1e-3}, {100, 1.0, 1e-3}}, 3);
    const auto mixture = fitted("mixture", frame_of({{"x", x}}), {{"components", "2"}, {"prior", "paper"}});
    ASSERT_EQ(decided(*mixture).size(), 1);
    const std::string said = decided(*mixture).front();
    EXPECT_NE(said.find("sigma["), std::string::npos) << said;
    EXPECT_NE(said.find("and 1 other variable depend on the prior: with rate 0.05 instead of 0.1"), std::string::npos)
        << said;
    EXPECT_NE(said.find("set it by --prior-rate"), std::string::npos) << said;

    const RegressionDesign design = line(100, 0.04, 2);
    const DataFrame frame = frame_of({{"x", design.columns.col(0)}, {"y", design.y}});
    const auto regression = fitted("regression", frame, {{"response", "y"}, {"prior", "paper"}});
    ASSERT_EQ(decided(*regression).size(), 1);
    EXPECT_NE(decided(*regression).front().find("sigma depends on the prior: with rate 0.05"), std::string::npos);
    EXPECT_EQ(regression->file().model->prior_name(), "paper");
    EXPECT_EQ(decided(*fitted("regression", frame, {{"response", "y"}})), std::vector<std::string>());
}

// The number in the sentence against a refit: a step of a hundredth of log 2 is a hundredth of it.
TEST(PriorWarnings, SayWhatARefitSays) {
    const Vector x = drawn({{100, 0.0, 1e-3}, {100, 1.0, 1e-3}}, 3);
    const auto fit = fitted("mixture", frame_of({{"x", x}}), {{"components", "2"}, {"prior", "paper"}});
    const double rate = 0.1;
    double most = 0.0;
    for (const Index at : fit->posterior().select({"sigma"})) {
        const Posterior less = fit->refit({{}, {{"rate", rate * std::pow(2.0, -0.01)}}});
        const auto i = static_cast<std::size_t>(at);
        const double moved = less.variables[i].mean - fit->posterior().variables[i].mean;
        most = std::max(most, 100.0 * std::abs(moved) / fit->posterior().sds({at})[0]);
    }
    const std::string expected = fmt::format("by about {:.2g} posterior sds", most);
    EXPECT_NE(decided(*fit).front().find(expected), std::string::npos) << decided(*fit).front() << expected;
}

TEST(PriorWarnings, AreThereForAComponentWithHardlyARow) {
    Vector x = drawn({{100, 0.0, 1.0}, {100, 10.0, 1.0}}, 21);
    x[0] = 40.0;
    const auto fit = fitted("mixture", frame_of({{"x", x}}), {{"components", "3"}});
    EXPECT_GE(decided(*fit).size(), 2);
    EXPECT_LE(decided(*fit).size(), 3);
    for (const std::string& warning : decided(*fit)) EXPECT_NE(warning.find("[3]"), std::string::npos) << warning;
}

// The columns are as wide as ordinary ones, and their difference is not: the prior's scale decides the precisions.
TEST(PriorWarnings, SeeWhatIsNarrowBetweenTheColumns) {
    const Vector x = drawn({{300, 0.0, 1.0}}, 31);
    const Vector y = x + drawn({{300, 0.0, 1e-3}}, 32);
    const auto fit = fitted("mixture", frame_of({{"x", x}, {"y", y}}), {{"components", "1"}});
    ASSERT_FALSE(decided(*fit).empty());
    EXPECT_NE(decided(*fit).front().find("Lambda[1,"), std::string::npos) << decided(*fit).front();
    EXPECT_NE(decided(*fit).front().find("--prior-inverse-scale"), std::string::npos) << decided(*fit).front();
}

TEST(PriorWarnings, AreNotThereForOrdinaryData) {
    const std::string data = LRVB_DATA_DIR "/";
    const std::string faithful = data + "old_faithful.csv";
    EXPECT_EQ(decided(*fitted("mixture", faithful, {{"components", "2"}})), std::vector<std::string>());
    EXPECT_EQ(decided(*fitted("mixture", faithful, {{"components", "2"}, {"covariance", "diagonal"}})),
              std::vector<std::string>());
    for (const char* prior : {"auto", "paper"}) {
        const Settings settings{{"components", "2"}, {"columns", "eruptions"}, {"prior", prior}};
        EXPECT_EQ(decided(*fitted("mixture", faithful, settings)), std::vector<std::string>());
    }
    EXPECT_EQ(decided(*fitted("mixture", data + "mixture3.csv", {{"components", "3"}})), std::vector<std::string>());
    EXPECT_EQ(decided(*fitted("regression", data + "mtcars.csv", {{"response", "mpg"}, {"columns", "wt,hp"}})),
              std::vector<std::string>());
}

}  // namespace
}  // namespace lrvb
