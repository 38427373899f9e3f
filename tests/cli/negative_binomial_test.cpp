// --family negative_binomial, from the outside: its posterior, what it reports, and what the other commands say of it.

#include "program.hpp"

#include <cmath>
#include <map>
#include <string>

namespace lrvb::testing {
namespace {

using nlohmann::json;

class NegativeBinomial : public ProgramTest {
  protected:
    json fit(const std::string& arguments) const {
        const Result result =
            lrvb("fit regression $DATA/epil.csv " + arguments + " --family negative_binomial -o fit.json");
        EXPECT_EQ(result.code, 0) << result.err;
        return lrvb("summary fit.json --format json").json().at("variables");
    }
    static json variable_of(const json& list, const std::string& name) {
        for (const json& one : list) {
            if (one.at("name") == name) return one;
        }
        throw std::runtime_error(name);
    }
    static void expect(const json& list, const std::string& name, double mean, double sd) {
        const json one = variable_of(list, name);
        EXPECT_NEAR(one.at("mean").get<double>(), mean, 0.03 * sd) << name;
        EXPECT_NEAR(one.at("sd").get<double>(), sd, 0.03 * sd) << name;
    }
};

// 120,000 draws of JAGS (dnegbin, effective sizes from 23,000 up) under the same prior: intercept ~ normal(log(mean y),
// 2.5) at the means of the columns, slopes ~ normal(0, 2.5/sd(x)), 1/sqrt(phi) ~ half_normal(1).
TEST_F(NegativeBinomial, OfRowsWithoutGroupsHasTheExactPosterior) {
    const json found = fit("'y ~ lbase * trt + lage + V4'");
    expect(found, "intercept", 1.92636, 0.07722);
    expect(found, "beta[lbase]", 0.90099, 0.08743);
    expect(found, "beta[trt=progabide]", -0.28676, 0.10244);
    expect(found, "beta[lage]", 0.55511, 0.24385);
    expect(found, "beta[V4]", -0.14866, 0.11522);
    expect(found, "beta[lbase:trt=progabide]", 0.35702, 0.13442);
    expect(found, "1/sqrt(phi)", 0.61597, 0.04375);
    // phi has no mean: counts may be Poisson.
    const json phi = variable_of(found, "phi");
    EXPECT_TRUE(phi.at("mean").is_null());
    EXPECT_TRUE(phi.at("sd").is_null());
    EXPECT_NEAR(phi.at("q5").get<double>(), 2.10131, 0.03 * 0.38336);
    EXPECT_NEAR(phi.at("q95").get<double>(), 3.35205, 0.05 * 0.38336);
}

// The same with an effect of every patient (effective sizes from 4,200 up).
TEST_F(NegativeBinomial, OfGroupsHasTheExactPosterior) {
    const json found = fit("'y ~ lbase * trt + lage + V4 + (1 | subject)'");
    expect(found, "intercept", 1.83995, 0.11471);
    expect(found, "beta[lbase]", 0.88123, 0.14039);
    expect(found, "beta[trt=progabide]", -0.34079, 0.15807);
    expect(found, "beta[lage]", 0.46719, 0.37162);
    expect(found, "beta[V4]", -0.11679, 0.08793);
    expect(found, "beta[lbase:trt=progabide]", 0.34133, 0.21522);
    expect(found, "sd[subject,intercept]", 0.50832, 0.07125);
    expect(found, "1/sqrt(phi)", 0.37466, 0.04414);
}

TEST_F(NegativeBinomial, TakesPriorsOfItsParameterAsTheyAreShown) {
    const std::string formula = "'y ~ lbase + (1 | subject)'";
    const Result shown = lrvb("fit regression $DATA/epil.csv " + formula + " --family negative_binomial --show-priors");
    EXPECT_NE(shown.out.find("1/sqrt(phi) ~ half_normal(1)"), std::string::npos) << shown.out;
    const json automatic = fit(formula + " --check never");
    const json written = fit(formula + " --check never --prior '1/sqrt(phi) ~ half_normal(1)'");
    EXPECT_EQ(variable_of(automatic, "1/sqrt(phi)").at("mean"), variable_of(written, "1/sqrt(phi)").at("mean"));
    const json narrow = fit(formula + " --check never --prior '1/sqrt(phi) ~ half_normal(0.01)'");
    EXPECT_LT(variable_of(narrow, "1/sqrt(phi)").at("mean").get<double>(), 0.03);
    const Result refused = lrvb("fit regression $DATA/epil.csv " + formula +
                                " --family negative_binomial --prior '1/sqrt(phi) ~ normal(0, 1)' -o no.json");
    EXPECT_EQ(refused.code, 2);
    EXPECT_NE(refused.err.find("half_normal"), std::string::npos) << refused.err;
}

// Centred at the logarithm of the mean rate: another unit of the exposure moves the intercept, and nothing else.
TEST_F(NegativeBinomial, DoesNotDependOnTheUnitOfTheExposure) {
    std::string hours = "y,x,t\n";
    std::string seconds = hours;
    for (int n = 0; n < 40; ++n) {
        const int y = (n * 7) % 11 + (n % 3 == 0 ? 6 : 0);
        const double t = 1.0 + 0.25 * (n % 5);
        const std::string start = std::to_string(y) + "," + std::to_string(n % 4) + ",";
        hours += start + std::to_string(t) + "\n";
        seconds += start + std::to_string(3600.0 * t) + "\n";
    }
    write("hours.csv", hours);
    write("seconds.csv", seconds);
    std::map<std::string, json> found;
    for (const std::string name : {"hours", "seconds"}) {
        const Result result = lrvb("fit regression " + name +
                                   ".csv 'y ~ x + offset(log(t))' --family negative_binomial "
                                   "--check never -o fit.json");
        ASSERT_EQ(result.code, 0) << result.err;
        found[name] = lrvb("summary fit.json --format json").json().at("variables");
    }
    for (const char* name : {"beta[x]", "1/sqrt(phi)"}) {
        const json one = variable_of(found["hours"], name);
        EXPECT_NEAR(variable_of(found["seconds"], name).at("mean").get<double>(), one.at("mean").get<double>(),
                    1e-6 * one.at("sd").get<double>())
            << name;
    }
    EXPECT_NEAR(variable_of(found["hours"], "intercept").at("mean").get<double>() -
                    variable_of(found["seconds"], "intercept").at("mean").get<double>(),
                std::log(3600.0), 1e-6);
}

// Counts that may be Poisson: phi has a tail without end. By a grid of intercept, slope and log 1/sqrt(phi), outside of
// the program.
TEST_F(NegativeBinomial, OfCountsThatMayBePoissonIsKeptAndLeavesRowsOut) {
    write("few.csv",
          "y,x\n1,-0.226\n2,-0.315\n1,-0.348\n1,0.154\n2,-1.691\n3,-1.744\n2,0.634\n4,0.579\n1,0.632\n4,0.248\n3,-1."
          "090\n4,-0.550\n2,-0.282\n6,0.020\n6,-0.433\n5,-1.377\n2,1.594\n1,0.619\n2,-1.199\n5,0.396\n");
    const Result fit = lrvb("fit regression few.csv 'y ~ x' --family negative_binomial -o fit.json");
    ASSERT_EQ(fit.code, 0) << fit.err;
    const json found = lrvb("summary fit.json --format json").json().at("variables");
    EXPECT_NEAR(variable_of(found, "beta[x]").at("mean").get<double>(), -0.09716, 0.03 * 0.177);
    EXPECT_NEAR(variable_of(found, "1/sqrt(phi)").at("mean").get<double>(), 0.25473, 0.03 * 0.17407);
    EXPECT_NEAR(variable_of(found, "1/sqrt(phi)").at("sd").get<double>(), 0.17407, 0.03 * 0.17407);
    const Result loo = lrvb("loo fit.json few.csv --format json");
    ASSERT_EQ(loo.code, 0) << loo.err;
    EXPECT_NEAR(loo.json().at("elpd_loo").get<double>(), -39.424, 0.1);
    const Result nuts = lrvb("check fit.json few.csv --method nuts --draws 1000");
    EXPECT_EQ(nuts.code, 0) << nuts.err;
}

TEST_F(NegativeBinomial, OfLargeCountsConverges) {
    std::string text = "y,x,g\n";
    for (int n = 0; n < 25; ++n) {
        const int y = 10000 + 2500 * ((n * 7) % 5 - 2) + 600 * (n % 3) + 37 * n;
        text += std::to_string(y) + "," + std::to_string(n % 4) + "," + std::to_string(n / 5) + "\n";
    }
    write("large.csv", text);
    const Result fit = lrvb("fit regression large.csv 'y ~ x + (1 | g)' --family negative_binomial -o fit.json");
    EXPECT_EQ(fit.code, 0) << fit.err;
    EXPECT_NE(fit.out.find(", converged"), std::string::npos) << fit.out;
}

TEST_F(NegativeBinomial, IsPredictedCheckedAndComparedAsOtherFamiliesAre) {
    fit("'y ~ lbase + (1 | subject)'");
    const json rows = lrvb("predict fit.json $DATA/epil.csv --level 0.9 --format json").json().at("rows");
    const json& first = rows.at(0);
    const double mean = first.at("mean").get<double>();
    EXPECT_GT(std::pow(first.at("sd").get<double>(), 2), mean);  // more than a Poisson count varies
    EXPECT_LE(first.at("lower").get<double>(), mean);
    EXPECT_GE(first.at("upper").get<double>(), mean);
    for (const char* command :
         {"check fit.json $DATA/epil.csv", "check fit.json $DATA/epil.csv --model", "loo fit.json $DATA/epil.csv",
          "influence fit.json $DATA/epil.csv --top 3", "leverage fit.json $DATA/epil.csv", "sensitivity fit.json",
          "summary fit.json $DATA/epil.csv --robust", "report fit.json $DATA/epil.csv -o report.html",
          "plot fit.json $DATA/epil.csv -o plot.svg"}) {
        const Result result = lrvb(command);
        EXPECT_EQ(result.code, 0) << command << ": " << result.err;
    }
    const Result refused = lrvb("fit regression $DATA/mtcars.csv 'wt ~ qsec' --family negative_binomial -o no.json");
    EXPECT_EQ(refused.code, 1);
    EXPECT_NE(refused.err.find("row 1: the response 'wt' is 2.62, but counts are whole"), std::string::npos)
        << refused.err;
}

}  // namespace
}  // namespace lrvb::testing
