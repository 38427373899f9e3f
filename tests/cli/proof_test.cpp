// Fits that check themselves, warnings that need no draws, and the paper reproduced.

#include "program.hpp"

#include <cmath>
#include <numbers>
#include <string>
#include <vector>

namespace lrvb::testing {
namespace {

using nlohmann::json;

class Proof : public ProgramTest {
  protected:
    json fit_file(const std::string& name = "fit.json") const { return json::parse(read_text(work() / name)); }

    bool warns(const std::string& part) const {
        const json fit = fit_file();
        for (const json& warning : fit.at("warnings")) {
            if (warning.get<std::string>().find(part) != std::string::npos) return true;
        }
        return false;
    }
};

TEST_F(Proof, ASmallFitIsComparedWithItsExactPosterior) {
    const Result result = lrvb("fit mixture $DATA/mixture3.csv -k 3 --prior paper -o fit.json");
    ASSERT_EQ(result.code, 0) << result.err;
    EXPECT_NE(result.out.find("sd_exact"), std::string::npos);
    EXPECT_NE(result.out.find("against the exact posterior: off"), std::string::npos);
    const json fit = fit_file();
    EXPECT_EQ(fit.at("check").at("verdict"), "off");
    EXPECT_LT(fit.at("check").at("k_hat").get<double>(), 0.7);
    const json summary = lrvb("summary fit.json --format json --variables mu").json();
    for (const json& variable : summary.at("variables")) {
        EXPECT_NEAR(variable.at("sd").get<double>() / variable.at("sd_exact").get<double>(), 0.96, 0.06);
    }
    // The same numbers as the command gives.
    const json check = lrvb("check fit.json $DATA/mixture3.csv --format json").json();
    const json& first = check.at("variables")[0];
    EXPECT_NEAR(first.at("sd_exact").get<double>(), fit.at("check").at("sd")[0].get<double>(), 1e-9);
    EXPECT_EQ(first.at("verdict"), fit.at("check").at("verdicts")[0]);
}

TEST_F(Proof, TheCheckIsMadeAsAsked) {
    ASSERT_EQ(lrvb("fit mixture $DATA/old_faithful.csv -k 2 --check never -o fit.json").code, 0);
    EXPECT_FALSE(fit_file().contains("check"));
    ASSERT_EQ(lrvb("simulate mixture --weights 1,1 --means 0,6 --sds 1,1 -n 60000 -o data.csv").code, 0);
    const Result large = lrvb("fit mixture data.csv -k 2 -o fit.json");
    EXPECT_NE(large.out.find("which would take a while: see 'lrvb check'"), std::string::npos) << large.out;
    EXPECT_FALSE(fit_file().contains("check"));
    ASSERT_EQ(lrvb("fit mixture data.csv -k 2 --check always -o fit.json").code, 0);
    EXPECT_EQ(fit_file().at("check").at("verdict"), "ok");
    ASSERT_EQ(lrvb("fit regression $DATA/mtcars.csv --response mpg -c wt,hp --prior paper -o fit.json").code, 0);
    EXPECT_TRUE(fit_file().contains("check"));
    // What is integrated needs none.
    ASSERT_EQ(lrvb("fit regression $DATA/mtcars.csv --response mpg -c wt,hp -o fit.json").code, 0);
    EXPECT_FALSE(fit_file().contains("check"));
    EXPECT_TRUE(fit_file().contains("correction"));
    EXPECT_EQ(lrvb("fit mixture data.csv -k 2 --check perhaps").code, 2);
    // A fit with nothing to draw says so, and not that it would take a while.
    write("at.json", R"({"weights": [0.35, 0.65], "means": [2.0, 4.3], "precisions": [17.0, 5.0]})");
    const Result held =
        lrvb("fit mixture $DATA/old_faithful.csv -c eruptions -k 2 --fix weights,means,precisions --at at.json");
    EXPECT_NE(held.out.find("every variable is fixed: there is nothing to draw"), std::string::npos) << held.out;
    EXPECT_EQ(held.out.find("take a while"), std::string::npos) << held.out;
}

// A third of the rows are outliers of the others, or the others of these: a fit is at one of the places.
TEST_F(Proof, AnotherPlaceForAMeanIsSeen) {
    const std::vector<double> y{-0.32, -0.46, 9.76, 1.36, 6.41, 8.57, -0.26, 6.02};
    std::string listed;
    for (const double value : y) listed += (listed.empty() ? "" : ", ") + std::to_string(value);
    write("data.json", R"({"N": 8, "y": [)" + listed + "]}");
    write("model.bug",
          "model { for (i in 1:N) { o[i] ~ dbern(0.1); y[i] ~ dnorm(mu, t[o[i] + 1]) }\n"
          "  t[1] <- 1; t[2] <- 0.01; mu ~ dnorm(0, 0.001) }");
    ASSERT_EQ(lrvb("fit model model.bug data.json -o fit.json").code, 0);
    double sum = 0.0;
    double first = 0.0;
    double second = 0.0;
    for (double mu = -40.0; mu < 40.0; mu += 0.001) {
        double log_density = -0.0005 * mu * mu;
        for (const double value : y) {
            const double square = (value - mu) * (value - mu);
            log_density += std::log(0.9 * std::exp(-0.5 * square) + 0.1 * 0.1 * std::exp(-0.005 * square));
        }
        sum += std::exp(log_density);
        first += mu * std::exp(log_density);
        second += mu * mu * std::exp(log_density);
    }
    const double mean = first / sum;
    const double sd = std::sqrt(second / sum - mean * mean);
    EXPECT_GT(sd, 1.3);
    const json check = fit_file().at("check");
    EXPECT_EQ(check.at("verdict"), "off");
    EXPECT_NEAR(check.at("sd")[0].get<double>(), sd, 0.1 * sd);
    ASSERT_EQ(lrvb("fit model model.bug data.json --exact -o fit.json").code, 0);
    const json exact = lrvb("summary fit.json --format json").json().at("variables")[0];
    EXPECT_NEAR(exact.at("mean").get<double>(), mean, 0.1 * sd);
    EXPECT_NEAR(exact.at("sd").get<double>(), sd, 0.1 * sd);
}

// By enumeration of where the mean may change: given that, the two means are normal. All labels are tried before a fit
// goes on, also where the means are one block.
TEST_F(Proof, AChangeOfAMeanIsFoundWhereItIs) {
    const std::vector<double> y{0.1, -0.3, 0.4, 0.2, 2.1, 1.8, 2.5};
    std::string listed;
    for (const double value : y) listed += (listed.empty() ? "" : ", ") + std::to_string(value);
    write("data.json", R"({"N": 7, "y": [)" + listed + "]}");
    write("model.bug",
          "model { for (i in 1:N) { y[i] ~ dnorm(m[1 + step(i - k - 0.5)], 4); p[i] <- 1 / N }\n"
          "  k ~ dcat(p[]); for (j in 1:2) { m[j] ~ dnorm(0, 0.5) } }");
    const double count = static_cast<double>(y.size());
    double evidence = 0.0;
    double first = 0.0;  // of the mean before the change
    for (std::size_t k = 1; k <= y.size(); ++k) {
        double log_joint = -std::log(count);
        double mean_before = 0.0;
        for (const bool is_before : {true, false}) {
            double precision = 0.5;
            double weighted = 0.0;
            for (std::size_t i = 0; i < y.size(); ++i) {
                if ((i < k) != is_before) continue;
                precision += 4.0;
                weighted += 4.0 * y[i];
                log_joint += 0.5 * std::log(4.0 / (2.0 * std::numbers::pi)) - 2.0 * y[i] * y[i];
            }
            log_joint += 0.5 * std::log(0.5 / precision) + 0.5 * weighted * weighted / precision;
            if (is_before) mean_before = weighted / precision;
        }
        evidence += std::exp(log_joint);
        first += mean_before * std::exp(log_joint);
    }
    for (const char* option : {"", "--factorised"}) {
        ASSERT_EQ(lrvb(std::string("fit model model.bug data.json -o fit.json ") + option).code, 0);
        const double bound = fit_file().at("outcome").at("bound").get<double>();
        EXPECT_LT(bound, std::log(evidence));
        EXPECT_GT(bound, std::log(evidence) - 0.1) << option;
        const json variables = lrvb("summary fit.json --format json --variables m").json().at("variables");
        EXPECT_NEAR(variables[0].at("mean").get<double>(), first / evidence, 0.02);
    }
}

TEST_F(Proof, AFitThatIsNotIntegratedSaysSo) {
    std::string rows = "y,x,g\n";
    for (int n = 0; n < 1200; ++n) {
        rows += (n * n % 7 < 3 ? "1," : "0,") + std::to_string(n % 13) + ",g" + std::to_string(n % 41) + "\n";
    }
    write("data.csv", rows);
    const Result fit = lrvb("fit regression data.csv 'y ~ x + (x | g)' --family bernoulli -o fit.json");
    ASSERT_EQ(fit.code, 0) << fit.err;
    EXPECT_NE(fit.out.find("at one point of the variance parameters: --exact"), std::string::npos) << fit.out;
    EXPECT_FALSE(fit_file().contains("correction"));
}

TEST_F(Proof, WarningsNeedNoDraws) {
    ASSERT_EQ(lrvb("fit mixture $DATA/mixture3.csv -k 3 --check never --quiet -o fit.json").code, 0);
    EXPECT_TRUE(warns("overlap strongly"));
    EXPECT_TRUE(warns("mu[1]"));
    ASSERT_EQ(lrvb("fit mixture $DATA/old_faithful.csv -c eruptions -k 2 --quiet -o fit.json").code, 0);
    EXPECT_EQ(fit_file().at("warnings").size(), 0U);
    std::string rows = "x\n100\n101\n";
    for (int i = 0; i < 60; ++i) rows += std::to_string(std::sin(7.0 * i)) + "\n";
    write("few.csv", rows);
    ASSERT_EQ(lrvb("fit mixture few.csv -k 2 --quiet -o fit.json").code, 0);
    EXPECT_TRUE(warns("component 2 has about 2.0 rows")) << fit_file().at("warnings");
}

TEST_F(Proof, TheTheoremsHold) {
    const Result result = lrvb("reproduce theorems -o out");
    ASSERT_EQ(result.code, 0) << result.err;
    std::istringstream lines(read_text(work() / "out" / "theorems.csv"));
    std::string line;
    std::getline(lines, line);
    int count = 0;
    for (; std::getline(lines, line); ++count) {
        EXPECT_LT(std::stod(line.substr(line.find(',') + 1)), 1e-10) << line;
    }
    EXPECT_EQ(count, 4);
    EXPECT_NE(read_text(work() / "out" / "index.md").find("## Theorems"), std::string::npos);
}

TEST_F(Proof, TheFiguresAreDrawnAndTheSameForAnyNumberOfThreads) {
    ASSERT_EQ(lrvb("reproduce figure1 --simulations 4 --threads 1 -o one").code, 0);
    ASSERT_EQ(lrvb("reproduce figure1 --simulations 4 --threads 2 -o two").code, 0);
    for (const char* file : {"figure1_easy.csv", "figure1_easy.svg", "figure1_overlapping.csv"}) {
        EXPECT_EQ(read_text(work() / "one" / file), read_text(work() / "two" / file)) << file;
    }
    // In the easy setting linear response is near the draws for every parameter of every simulation.
    std::istringstream lines(read_text(work() / "one" / "figure1_easy.csv"));
    std::string line;
    std::getline(lines, line);
    int count = 0;
    for (; std::getline(lines, line); ++count) {
        std::vector<double> numbers;
        std::istringstream fields(line);
        std::string field;
        std::getline(fields, field, ',');
        std::getline(fields, field, ',');
        while (std::getline(fields, field, ',')) numbers.push_back(std::stod(field));
        EXPECT_NEAR(numbers[2] / numbers[0], 1.0, 0.08) << line;
    }
    EXPECT_EQ(count, 36);
    ASSERT_EQ(lrvb("reproduce figure2 -o one").code, 0);
    EXPECT_NE(read_text(work() / "one" / "figure2.svg").find("<circle"), std::string::npos);
    EXPECT_EQ(lrvb("reproduce figure3 -o one").code, 2);
    EXPECT_EQ(lrvb("reproduce theorems -o /dev/null/x").code, 1);
}

}  // namespace
}  // namespace lrvb::testing
