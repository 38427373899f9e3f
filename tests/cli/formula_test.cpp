// Regressions by formula from the outside: against exact posteriors, what can be asked of them, and what is refused.

#include "csv.hpp"
#include "program.hpp"
#include "schema.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <sstream>
#include <string>
#include <vector>

namespace lrvb::testing {
namespace {

using nlohmann::json;

struct Row {
    double mean = 0.0;
    double sd = 0.0;
    double low = 0.0;
    double high = 0.0;
};

class Formulas : public ProgramTest {
  protected:
    void fit(const std::string& arguments) const {
        const Result result = lrvb("fit regression " + arguments + " -o fit.json --quiet");
        ASSERT_EQ(result.code, 0) << result.err;
    }

    std::map<std::string, Row> summary(const std::string& file, const std::string& arguments = "") const {
        std::map<std::string, Row> rows;
        const Result result = lrvb("summary " + file + " --format json " + arguments);
        EXPECT_EQ(result.code, 0) << result.err;
        const json all = result.json();
        for (const json& variable : all.at("variables")) {
            rows[variable.at("name")] = {variable.at("mean"), variable.at("sd"), variable.at("q5"), variable.at("q95")};
        }
        return rows;
    }

    // Bayesian posteriors on a fine grid (tests/data/field/README.md): sds within 0.5 %, means within 0.01 sds.
    void expect_exact(const std::string& reference, const std::map<std::string, std::string>& names,
                      const std::string& factor) const {
        const json exact = json::parse(read_text(LRVB_SOURCE_DIR "/tests/data/field/" + reference));
        const std::map<std::string, Row> found = summary("fit.json");
        const auto expect = [&](const std::string& name, double mean, double sd) {
            ASSERT_TRUE(found.contains(name)) << name;
            EXPECT_NEAR(found.at(name).mean, mean, 0.01 * sd) << name;
            EXPECT_NEAR(found.at(name).sd, sd, 0.005 * sd) << name;
        };
        for (std::size_t i = 0; i < exact.at("names").size(); ++i) {
            const auto own = names.find(exact.at("names")[i]);
            if (own != names.end()) expect(own->second, exact.at("mean")[i], exact.at("sd")[i]);
        }
        for (std::size_t i = 0; i < exact.at("beta_names").size(); ++i) {
            expect(names.at(exact.at("beta_names")[i]), exact.at("beta_mean")[i], exact.at("beta_sd")[i]);
        }
        const std::map<std::string, Row> effects = summary("fit.json", "--variables u");
        ASSERT_EQ(effects.size(), exact.at("u_mean").size());
        std::vector<double> ours;
        std::vector<double> theirs;
        for (const auto& [name, row] : effects) {
            EXPECT_TRUE(name.starts_with("u[" + factor + ",")) << name;
            ours.push_back(row.mean);
        }
        for (const json& mean : exact.at("u_mean")) theirs.push_back(mean);
        std::sort(ours.begin(), ours.end());
        std::sort(theirs.begin(), theirs.end());
        for (std::size_t i = 0; i < ours.size(); ++i) EXPECT_NEAR(ours[i], theirs[i], 0.3) << i;
    }
};

TEST_F(Formulas, SixBatchesOfDyestuffHaveTheirExactPosterior) {
    fit("$DATA/dyestuff.csv 'Yield ~ 1 + (1 | Batch)'");
    expect_exact("field_dyestuff_default.json",
                 {{"sd_u0", "sd[Batch,intercept]"}, {"sd_e", "sigma"}, {"(Intercept)", "intercept"}}, "Batch");
}

TEST_F(Formulas, SleepstudyHasItsExactPosterior) {
    fit("$DATA/sleepstudy.csv 'Reaction ~ Days + (1 | Subject)'");
    expect_exact(
        "field_sleepstudy_ri_default.json",
        {{"sd_u0", "sd[Subject,intercept]"}, {"sd_e", "sigma"}, {"(Intercept)", "intercept"}, {"Days", "beta[Days]"}},
        "Subject");
}

// By the dense marginal likelihood of groups and importance sampling over the four variance parameters, outside of the
// program: 2,700 effective draws.
TEST_F(Formulas, SlopesByGroupHaveTheirExactPosterior) {
    fit("$DATA/sleepstudy.csv 'Reaction ~ Days + (Days | Subject)'");
    const std::map<std::string, Row> found = summary("fit.json");
    EXPECT_NEAR(found.at("intercept").mean, 251.42, 0.02);
    EXPECT_NEAR(found.at("intercept").sd, 8.22, 0.03);
    EXPECT_NEAR(found.at("beta[Days]").mean, 10.455, 0.02);
    EXPECT_NEAR(found.at("beta[Days]").sd, 1.648, 0.01);
    EXPECT_NEAR(found.at("sd[Subject,Days]").mean, 6.246, 0.03);
    EXPECT_NEAR(found.at("sd[Subject,intercept_at_means]").mean, 39.20, 0.15);
    EXPECT_NEAR(found.at("sigma").mean, 25.81, 0.03);
    EXPECT_EQ(found.count("cor[Subject,intercept,Days]"), 1U);
    EXPECT_EQ(summary("fit.json", "--variables u").count("u[Subject,308,Days]"), 1U);
}

// By quadrature of every effect and importance sampling of the rest: tests/data/field/field_epil_default.json.
TEST_F(Formulas, CountsWithAnEffectForEveryPatientAreRight) {
    fit("$DATA/epil.csv 'y ~ lbase * trt + lage + V4 + (1 | subject)' --family poisson --prior 'beta ~ normal(0, 10)' "
        "--prior 'intercept ~ normal(0, 10)' --prior 'sd ~ half_t(2, 1)'");
    const json exact = json::parse(read_text(LRVB_SOURCE_DIR "/tests/data/field/field_epil_default.json"));
    const std::map<std::string, Row> found = summary("fit.json");
    const std::vector<std::string> names{
        "intercept", "beta[lbase]", "beta[trt=progabide]", "beta[lbase:trt=progabide]", "beta[lage]", "beta[V4]"};
    for (std::size_t i = 0; i < names.size(); ++i) {
        const double sd = exact.at("beta_sd")[i];
        EXPECT_NEAR(found.at(names[i]).mean, exact.at("beta_mean")[i].get<double>(), 0.03 * sd) << names[i];
        EXPECT_NEAR(found.at(names[i]).sd, sd, 0.015 * sd) << names[i];
    }
    EXPECT_NEAR(found.at("sd[subject,intercept]").mean, exact.at("mean")[1].get<double>(), 0.002);
    EXPECT_NEAR(found.at("sd[subject,intercept]").sd, exact.at("sd")[1].get<double>(), 0.001);
}

// The between-group sum of squares is far below its expectation: nothing diverges, and the sd piles up near zero.
TEST_F(Formulas, AVarianceAtZeroIsAnOrdinaryOutcome) {
    write("flat.csv", "y,g\n1,a\n9,a\n5,a\n2,b\n8,b\n5,b\n0,c\n10,c\n5,c\n3,d\n7,d\n5,d\n");
    fit("flat.csv 'y ~ 1 + (1 | g)'");
    const std::map<std::string, Row> found = summary("fit.json");
    EXPECT_LT(found.at("sd[g,intercept]").low, 0.3);
    EXPECT_LT(found.at("sd[g,intercept]").mean, 2.5);
    EXPECT_NEAR(found.at("intercept").mean, 5.0, 0.05);
}

TEST_F(Formulas, TheFitFileKeepsToItsSchema) {
    fit("$DATA/cbpp.csv 'cbind(incidence, size - incidence) ~ factor(period) + (1 | herd)' --family binomial");
    const json file = json::parse(read_text(work() / "fit.json"));
    const json schema = json::parse(read_text(LRVB_SOURCE_DIR "/docs/fit.schema.json"));
    EXPECT_EQ(schema_error(schema, file, "fit"), "");
    EXPECT_EQ(file.at("correction").at("method"), "integration");
}

// Two paths to one posterior: nodes, and chains of the true joint density.
TEST_F(Formulas, TheNoUTurnSamplerAgreesWithTheIntegral) {
    fit("$DATA/cbpp.csv 'cbind(incidence, size - incidence) ~ factor(period) + (1 | herd)' --family binomial");
    const Result result = lrvb("check fit.json $DATA/cbpp.csv --method nuts --format json");
    ASSERT_EQ(result.code, 0) << result.err;
    const json found = result.json();
    for (const json& variable : found.at("variables")) {
        const std::string name = variable.at("name");
        if (name.starts_with("tau")) continue;  // whose tail has hardly a variance
        EXPECT_LT(std::abs(variable.at("shift").get<double>()), 0.12) << name;
        EXPECT_NEAR(variable.at("ratio").get<double>(), 1.0, 0.1) << name;
    }
}

TEST_F(Formulas, ThreadsChangeNoBit) {
    const std::string command =
        "fit regression $DATA/sleepstudy.csv 'Reaction ~ Days + (Days | Subject)' --quiet -o - --threads ";
    EXPECT_EQ(lrvb(command + "1").out, lrvb(command + "2").out);
}

TEST_F(Formulas, PredictionsKnowOldAndNewGroups) {
    fit("$DATA/sleepstudy.csv 'Reaction ~ Days + (1 | Subject)'");
    write("new.csv", "Days,Subject\n3,308\n3,999\n");
    const auto predicted = [&](const std::string& options) {
        const Result result = lrvb("predict fit.json new.csv --format json " + options);
        EXPECT_EQ(result.code, 0) << result.err;
        return result.json().at("rows");
    };
    const json groups = predicted("--level 0.9");
    const json without = predicted("--no-groups --level 0.9");
    const std::map<std::string, Row> found = summary("fit.json");
    const double fixed = found.at("intercept").mean + 3.0 * found.at("beta[Days]").mean;
    const auto at = [](const json& table, std::size_t row, const char* name) {
        return table[row].at(name).get<double>();
    };
    // What is not known of a new group is in its interval alone; its mean is that of the fixed effects.
    EXPECT_NEAR(at(groups, 1, "mean"), fixed, 1e-6);
    EXPECT_NEAR(at(without, 0, "mean"), fixed, 1e-6);
    EXPECT_NEAR(at(without, 1, "mean"), fixed, 1e-6);
    EXPECT_GT(at(groups, 1, "mean_sd"), 3.0 * at(without, 1, "mean_sd"));
    const double u = summary("fit.json", "--variables 'u[Subject,308,intercept]'").begin()->second.mean;
    EXPECT_NEAR(at(groups, 0, "mean"), fixed + u, 1e-6);
    EXPECT_LT(at(groups, 0, "sd"), at(groups, 1, "sd"));
    EXPECT_LT(at(groups, 1, "lower"), fixed - 1.4 * at(groups, 1, "sd"));
    EXPECT_EQ(lrvb("predict fit.json $DATA/dyestuff.csv").code, 1);
}

TEST_F(Formulas, PredictionsOfCountsAreOnBothScales) {
    fit("$DATA/epil.csv 'y ~ lbase + (1 | subject)' --family poisson --check never");
    write("new.csv", "lbase,subject\n0.5,1\n0.5,1000\n");
    const json link = lrvb("predict fit.json new.csv --format json --link").json().at("rows");
    const json response = lrvb("predict fit.json new.csv --format json").json().at("rows");
    for (std::size_t i = 0; i < 2; ++i) {
        const double mean = link[i].at("mean");
        const double sd = link[i].at("mean_sd");
        // Of a lognormal, but for what ψ adds.
        EXPECT_NEAR(response[i].at("mean").get<double>(), std::exp(mean + 0.5 * sd * sd), 0.03 * std::exp(mean)) << i;
    }
}

// Of five counts of zero the log rate has a long tail below: a normal would put the ends of its interval 0.21 and 0.27
// sds off, the mean rate at one and a half times the exact one, and its sd at more than four times.
TEST_F(Formulas, PredictionsOfASkewedPredictorAreThoseOfAGrid) {
    write("zeros.csv", "y\n0\n0\n0\n0\n0\n");
    fit("zeros.csv 'y ~ 1' --family poisson --prior 'intercept ~ normal(0, 3)' --exact");
    write("new.csv", "x\n1\n");
    constexpr double step = 0.001;
    double total = 0.0;
    double moments[4] = {0.0, 0.0, 0.0, 0.0};  // of η, η², exp(η), exp(2η)
    std::vector<double> below;
    for (double eta = -20.0; eta < 5.0; eta += step) {
        const double density = std::exp(-5.0 * std::exp(eta) - eta * eta / 18.0);
        total += density;
        below.push_back(total);
        const double values[4] = {eta, eta * eta, std::exp(eta), std::exp(2.0 * eta)};
        for (int i = 0; i < 4; ++i) moments[i] += density * values[i];
    }
    for (double& moment : moments) moment /= total;
    const double sd = std::sqrt(moments[1] - moments[0] * moments[0]);
    const auto quantile = [&](double p) {
        const auto place = std::lower_bound(below.begin(), below.end(), p * total) - below.begin();
        return -20.0 + step * static_cast<double>(place);
    };
    const json link = lrvb("predict fit.json new.csv --format json --link --level 0.9").json().at("rows")[0];
    EXPECT_NEAR(link.at("mean").get<double>(), moments[0], 0.05 * sd);
    EXPECT_NEAR(link.at("mean_sd").get<double>(), sd, 0.05 * sd);
    EXPECT_NEAR(link.at("lower").get<double>(), quantile(0.05), 0.1 * sd);
    EXPECT_NEAR(link.at("upper").get<double>(), quantile(0.95), 0.1 * sd);
    const json rate = lrvb("predict fit.json new.csv --format json").json().at("rows")[0];
    EXPECT_NEAR(rate.at("mean").get<double>(), moments[2], 0.15 * moments[2]);
    const double rate_sd = std::sqrt(moments[3] - moments[2] * moments[2]);
    EXPECT_NEAR(rate.at("mean_sd").get<double>(), rate_sd, 0.3 * rate_sd);
}

// The predictor of a row without groups at zero is the intercept, whose interval by integration has no noise: with four
// rows it has the tails of a Student t, which a normal is 0.3 sds short of at 99 %.
TEST_F(Formulas, IntervalsOfPredictorsAreThoseOfTheSummary) {
    write("four.csv", "g,x,y\na,-0.395,0.388\na,0.264,0.536\na,0.607,1.769\na,-0.972,-1.91\n");
    write("seven.csv", "g,x,y\na,0.3,1.2\na,-0.4,0.7\nb,0.1,-0.9\nb,1.1,-0.2\nb,-0.7,-1.6\nc,0.5,2.9\nc,-1,1.8\n");
    write("new.csv", "g,x\na,0\n");
    for (const char* arguments : {"four.csv 'y ~ x'", "seven.csv 'y ~ x + (1 | g)'"}) {
        fit(arguments);
        for (const auto& [level, allowed] : {std::pair{"0.5", 0.06}, std::pair{"0.9", 0.08}, std::pair{"0.99", 0.35}}) {
            const json row =
                lrvb(std::string("predict fit.json new.csv --link --no-groups --format json --level ") + level)
                    .json()
                    .at("rows")[0];
            const json intercept =
                lrvb(std::string("summary fit.json --variables intercept --format json --level ") + level)
                    .json()
                    .at("variables")[0];
            const double sd = intercept.at("sd").get<double>();
            EXPECT_NEAR(row.at("mean").get<double>(), intercept.at("mean").get<double>(), 1e-6 * sd);
            EXPECT_NEAR(row.at("mean_sd").get<double>(), sd, 1e-6 * sd);
            std::vector<double> ends;  // q25 and q75, q0.5 and q99.5, …
            for (const auto& [key, value] : intercept.items()) {
                if (key.front() == 'q') ends.push_back(value.get<double>());
            }
            ASSERT_EQ(ends.size(), 2U);
            EXPECT_NEAR(row.at("lower").get<double>(), ends[0], allowed * sd) << level;
            EXPECT_NEAR(row.at("upper").get<double>(), ends[1], allowed * sd) << level;
        }
    }
}

// Three groups leave their sd open above: the rate of a new one has no mean, but quantiles.
TEST_F(Formulas, ARateWithoutAMeanIsInfinite) {
    write("few.csv", "y,t,g\n0,1,a\n1,1,a\n40,1,b\n52,1,b\n900,1,c\n871,1,c\n");
    fit("few.csv 'y ~ 1 + offset(log(t)) + (1 | g)' --family poisson");
    write("new.csv", "t,g\n1,a\n100,new\n");
    const Result result = lrvb("predict fit.json new.csv --format json --level 0.9");
    ASSERT_EQ(result.code, 0) << result.err;
    const json rows = result.json().at("rows");
    EXPECT_LT(rows[0].at("mean").get<double>(), 3.0);
    EXPECT_EQ(rows[1].at("mean"), "Inf");
    EXPECT_EQ(rows[1].at("sd"), "Inf");
    EXPECT_GT(rows[1].at("upper").get<double>(), 1000.0 * rows[1].at("lower").get<double>());
}

// To first order for a row; a group of ten rows moves further, which --refit shows.
TEST_F(Formulas, InfluenceIsByRowAndByGroup) {
    fit("$DATA/sleepstudy.csv 'Reaction ~ Days + (1 | Subject)'");
    const Result groups = lrvb("influence fit.json $DATA/sleepstudy.csv --by Subject -o groups.csv --top 2 --refit");
    ASSERT_EQ(groups.code, 0) << groups.err;
    EXPECT_NE(groups.out.find("refitted"), std::string::npos);
    EXPECT_NE(groups.out.find("of 18"), std::string::npos) << groups.out;
    EXPECT_EQ(lrvb("influence fit.json $DATA/sleepstudy.csv --top 2 --refit").code, 0);
    const Result nowhere = lrvb("influence fit.json $DATA/sleepstudy.csv --by Nobody");
    EXPECT_EQ(nowhere.code, 1);
    EXPECT_NE(nowhere.err.find("Nobody"), std::string::npos) << nowhere.err;
}

// By a fit of a file without the batch.
TEST_F(Formulas, ARefitIsTheExactPosteriorOfTheRowsThatAreLeft) {
    const std::string model =
        "'Yield ~ 1 + (1 | Batch)' --prior 'intercept ~ normal(1500, 100)' --prior 'sd ~ half_t(3, 60)' "
        "--prior 'sigma ~ half_t(3, 60)'";
    fit("$DATA/dyestuff.csv " + model);
    const Result groups = lrvb("influence fit.json $DATA/dyestuff.csv --by Batch --top 6 --refit");
    ASSERT_EQ(groups.code, 0) << groups.err;
    const std::map<std::string, Row> before = summary("fit.json");
    std::map<std::string, double> shifts;
    std::istringstream lines(groups.out);
    for (std::string line; std::getline(lines, line);) {
        std::istringstream words(line);
        std::string batch;
        std::string rows;
        std::string what;
        double distance = 0.0;
        words >> batch >> rows >> what >> distance;
        if (batch != "E" || what != "refitted") continue;
        for (const char* name : {"intercept", "sd[Batch,intercept]", "sigma"}) words >> shifts[name];
    }
    ASSERT_EQ(shifts.size(), 3U) << groups.out;
    std::string left;
    std::istringstream all(read_text(LRVB_SOURCE_DIR "/data/dyestuff.csv"));
    for (std::string line; std::getline(all, line);) {
        if (line.find('E') == std::string::npos) left += line + "\n";
    }
    write("left.csv", left);
    fit("left.csv " + model);
    const std::map<std::string, Row> after = summary("fit.json");
    for (const auto& [name, shift] : shifts) {
        EXPECT_NEAR(shift, (after.at(name).mean - before.at(name).mean) / before.at(name).sd, 0.005) << name;
    }
    EXPECT_LT(shifts.at("sd[Batch,intercept]"), -0.3);
}

TEST_F(Formulas, ThePriorIsSaidInTheWordsThatItTakes) {
    const std::string command =
        "fit regression $DATA/sleepstudy.csv 'Reaction ~ Days + (Days | Subject)' --show-priors";
    const Result shown = lrvb(command);
    ASSERT_EQ(shown.code, 0) << shown.err;
    // s = sd(Reaction) = 56.3288, sd(Days) = 2.8803: half_t(2, s/sd(x)), normal(0, 2.5 s/sd(x)).
    EXPECT_NE(shown.out.find("sd[Subject,Days] ~ half_t(2, 19.5566"), std::string::npos) << shown.out;
    EXPECT_NE(shown.out.find("beta[Days] ~ normal(0, 48.8915"), std::string::npos) << shown.out;
    const Result told =
        lrvb(command + " --prior 'sd[Subject,Days] ~ half_cauchy(5)' --prior 'sigma ~ half_normal(30)'");
    EXPECT_NE(told.out.find("sd[Subject,Days] ~ half_t(1, 5)"), std::string::npos) << told.out;
    EXPECT_NE(told.out.find("sigma ~ half_normal(30)"), std::string::npos) << told.out;
}

// Comments and all digits included.
TEST_F(Formulas, TheShownPriorMakesTheSameFitToTheLastDigit) {
    const std::string command = "fit regression $DATA/sleepstudy.csv 'Reaction ~ Days + (1 | Subject)'";
    const Result shown = lrvb(command + " --show-priors");
    ASSERT_NE(shown.out.find("  # at the means of the columns"), std::string::npos) << shown.out;
    std::string again = command;
    std::istringstream lines(shown.out);
    for (std::string line; std::getline(lines, line);) again += " --prior '" + line + "'";
    ASSERT_EQ(lrvb(command + " --quiet -o one.json").code, 0);
    ASSERT_EQ(lrvb(again + " --quiet -o other.json").code, 0);
    const Result one = lrvb("summary one.json --format json");
    const Result other = lrvb("summary other.json --format json");
    EXPECT_EQ(one.out, other.out);
}

TEST_F(Formulas, EveryKindOfPriorFits) {
    for (const std::string prior :
         {"sd ~ half_t(3, 50)", "sd[Subject] ~ half_cauchy(20)", "sd ~ half_normal(50)", "sd ~ exponential(0.02)",
          "sd ~ uniform(0, 200)", "tau[Subject,intercept] ~ gamma(2, 100)", "sigma ~ uniform(0, 100)",
          "tau ~ gamma(1, 100)", "intercept ~ normal(250, 50)", "beta[Days] ~ normal(0, 2)"}) {
        fit("$DATA/sleepstudy.csv 'Reaction ~ Days + (1 | Subject)' --prior '" + prior + "'");
        const std::map<std::string, Row> found = summary("fit.json");
        EXPECT_NEAR(found.at("sigma").mean, 31.0, 2.0) << prior;
        EXPECT_GT(found.at("sd[Subject,intercept]").mean, 15.0) << prior;
    }
}

TEST_F(Formulas, WhatCannotBeIsRefusedWithItsPlace) {
    write("bad.csv", "y,n,x,g,z\n1,2,1,a,0\n0,2,2,b,0\n3,2,3,a,0\n1,2,4,b,0\n2.5,4,5,a,0\n1,2,6,b,0\n");
    struct Case {
        std::string arguments;
        int code;
        std::string says;
    };
    const std::vector<Case> cases{
        {"bad.csv 'y ~ '", 2, "missing"},
        {"bad.csv 'y ~ x + (1 | h)'", 2, "'h'"},
        {"bad.csv 'y ~ x + (1 | g'", 2, "("},
        {"bad.csv 'y ~ x' --response y", 2, "--response"},
        {"bad.csv", 2, "formula"},
        {"bad.csv 'y ~ x' --family binomial", 1, "cbind"},
        {"bad.csv 'y ~ x' --family bernoulli", 1, "row 3"},
        {"bad.csv 'cbind(y, n - y) ~ x' --family binomial", 1, "row 3"},
        {"bad.csv 'cbind(y, n - y) ~ x'", 2, "--family binomial"},
        {"bad.csv 'y ~ x' --family poisson", 1, "row 5"},
        {"bad.csv 'y ~ x' --family poisson --link logit", 2, "--link"},
        {"bad.csv 'y ~ x + I(2 * x)'", 1, "beta["},
        {"bad.csv 'y ~ x' --prior 'beta[w] ~ normal(0, 1)'", 2, "beta[w]"},
        {"bad.csv 'y ~ x' --prior 'beta ~ cauchy(1)'", 2, "cauchy"},
        {"bad.csv 'y ~ x' --prior 'beta ~ normal(0, -1)'", 2, "-1"},
        {"bad.csv 'y ~ x' --prior-mean 0", 2, "--prior"},
        {"bad.csv 'y ~ x + (1 | g)' --prior 'sigma ~ half_t(2, 1)' --prior 'tau ~ gamma(1, 1)'", 2, "tau"},
    };
    for (const Case& one : cases) {
        const Result result = lrvb("fit regression " + one.arguments + " -o fit.json");
        EXPECT_EQ(result.code, one.code) << one.arguments << "\n" << result.err;
        EXPECT_NE(result.err.find(one.says), std::string::npos) << one.arguments << "\n" << result.err;
        EXPECT_EQ(files(), std::set<std::string>{"bad.csv"}) << one.arguments;
    }
}

TEST_F(Formulas, ZeroColumnsAreLeftOutAndSaid) {
    write("cells.csv", "y,a,b\n1,p,s\n2,p,t\n3,q,s\n2,p,s\n1,q,s\n4,p,t\n");
    const Result result = lrvb("fit regression cells.csv 'y ~ a * b'");
    ASSERT_EQ(result.code, 0) << result.err;
    EXPECT_NE(result.out.find("left out"), std::string::npos) << result.out;
}

TEST_F(Formulas, OneGroupAndRowsOfTheirOwnAreSaid) {
    write("one.csv", "y,g,h\n1,a,1\n2,a,2\n4,a,3\n3,a,4\n");
    EXPECT_NE(lrvb("fit regression one.csv 'y ~ 1 + (1 | g)'").out.find("one group"), std::string::npos);
    EXPECT_NE(lrvb("fit regression one.csv 'y ~ 1 + (1 | h)'").out.find("every row is a group"), std::string::npos);
}

TEST_F(Formulas, DataOfOtherRowsAreNotThoseOfTheFit) {
    fit("$DATA/sleepstudy.csv 'Reaction ~ Days + (1 | Subject)'");
    shell("head -100 $DATA/sleepstudy.csv > some.csv");
    EXPECT_EQ(lrvb("influence fit.json some.csv").code, 1);
    EXPECT_EQ(lrvb("influence fit.json $DATA/sleepstudy.csv").code, 0);
    EXPECT_EQ(lrvb("sensitivity fit.json").code, 0);
    EXPECT_EQ(lrvb("covariance fit.json --variables beta,sd --correlation").code, 0);
    EXPECT_EQ(lrvb("check fit.json $DATA/sleepstudy.csv --model").code, 0);
}

}  // namespace
}  // namespace lrvb::testing
