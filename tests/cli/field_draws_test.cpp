// Predictions, shares of the variance and quantiles of regressions by formula, against draws of the no-U-turn sampler.

#include "csv.hpp"
#include "program.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace lrvb::testing {
namespace {

using nlohmann::json;

double mean_of(const std::vector<double>& values) {
    double sum = 0.0;
    for (const double value : values) sum += value;
    return sum / static_cast<double>(values.size());
}

double sd_of(const std::vector<double>& values) {
    const double mean = mean_of(values);
    double squares = 0.0;
    for (const double value : values) squares += (value - mean) * (value - mean);
    return std::sqrt(squares / static_cast<double>(values.size() - 1));
}

double quantile_of(std::vector<double> values, double p) {
    std::sort(values.begin(), values.end());
    return values[static_cast<std::size_t>(p * static_cast<double>(values.size() - 1))];
}

class FieldDraws : public ProgramTest {
  protected:
    using Columns = std::map<std::string, std::vector<double>>;

    // Draws of the no-U-turn sampler, which knows neither nodes nor normals.
    Columns draws(const std::string& data, const std::string& variables, int count = 10000) const {
        const Result result = lrvb("check fit.json " + data + " --method nuts --draws " + std::to_string(count) +
                                   " --variables " + variables + " --save-draws draws.csv");
        EXPECT_EQ(result.code, 0) << result.err;
        const Csv csv = parse_csv(read_text(work() / "draws.csv"));
        Columns columns;
        for (std::size_t j = 0; j < csv.header.size(); ++j) {
            for (const std::vector<std::string>& row : csv.rows) columns[csv.header[j]].push_back(std::stod(row[j]));
        }
        return columns;
    }

    struct Bounds {
        double mean;  // in sds
        double sd;    // a share
        double end;   // of an interval, in sds
    };

    void expect_predicted(const json& row, const std::vector<double>& mean, const std::vector<double>& value,
                          const Bounds& bounds, const std::string& what) const {
        const double sd = sd_of(mean);
        EXPECT_NEAR(row.at("mean").get<double>(), mean_of(mean), bounds.mean * sd) << what;
        EXPECT_NEAR(row.at("mean_sd").get<double>() / sd, 1.0, bounds.sd) << what;
        const double width = sd_of(value);
        EXPECT_NEAR(row.at("lower").get<double>(), quantile_of(value, 0.05), bounds.end * width) << what;
        EXPECT_NEAR(row.at("upper").get<double>(), quantile_of(value, 0.95), bounds.end * width) << what;
    }

    // Normals from a fixed place: by the sum of twelve uniforms no tail is needed beyond 0.95.
    double normal() {
        double sum = -6.0;
        for (int i = 0; i < 12; ++i) {
            state_ = state_ * 6364136223846793005U + 1442695040888963407U;
            sum += static_cast<double>(state_ >> 11U) / 9007199254740992.0;
        }
        return sum;
    }

  private:
    std::uint64_t state_ = 1;
};

// Nothing but zeros: given its sd the intercept is far from normal. Expected numbers by quadrature in two dimensions,
// the group effects by one in a third.
TEST_F(FieldDraws, AResponseOfZerosAloneHasTheInterceptOfQuadrature) {
    std::string text = "g,y\n";
    for (int i = 0; i < 40; ++i) text += std::to_string(i / 5) + ",0\n";
    write("zeros.csv", text);
    struct Expected {
        const char* link;
        double mean, sd, q5, q95, sd_q5, sd_q95;
    };
    for (const Expected& expected : {Expected{"logit", -4.693, 1.277, -7.006, -2.859, 0.052, 2.132},
                                     Expected{"probit", -3.712, 1.282, -6.129, -2.011, 0.048, 1.969},
                                     Expected{"cloglog", -4.726, 1.267, -7.026, -2.916, 0.051, 2.104}}) {
        const Result result =
            lrvb(std::string("fit regression zeros.csv 'y ~ 1 + (1 | g)' --family bernoulli --link ") + expected.link +
                 " --quiet -o fit.json");
        ASSERT_EQ(result.code, 0) << result.err;
        std::map<std::string, json> found;
        const json summary = lrvb("summary fit.json --format json").json();
        for (const json& variable : summary.at("variables")) found[variable.at("name")] = variable;
        const json& intercept = found.at("intercept");
        EXPECT_NEAR(intercept.at("mean").get<double>(), expected.mean, 0.06 * expected.sd) << expected.link;
        EXPECT_NEAR(intercept.at("sd").get<double>() / expected.sd, 1.0, 0.05) << expected.link;
        EXPECT_NEAR(intercept.at("q5").get<double>(), expected.q5, 0.12 * expected.sd) << expected.link;
        EXPECT_NEAR(intercept.at("q95").get<double>(), expected.q95, 0.06 * expected.sd) << expected.link;
        const json& spread = found.at("sd[g,intercept]");
        EXPECT_NEAR(std::log(spread.at("q5").get<double>() / expected.sd_q5), 0.0, 0.1) << expected.link;
        EXPECT_NEAR(std::log(spread.at("q95").get<double>() / expected.sd_q95), 0.0, 0.1) << expected.link;
    }
}

// Counts in groups within groups, with an effect for every row: each explains a part of what the others do. F is
// concave in the coefficients, so that there is a maximum; and their sds are those of mean field, and somewhat more.
TEST_F(FieldDraws, CountsInNestedGroupsConverge) {
    std::string text = "loc,brood,row,h,y\n";
    for (int i = 0; i < 144; ++i) {
        const int loc = i / 12;
        const int brood = i / 3;
        const double h = normal();
        const double rate =
            std::exp(0.3 - 0.5 * h + 2.0 * std::sin(2.3 * loc) + 0.6 * std::cos(1.7 * brood) + 0.5 * normal());
        text += std::to_string(loc) + "," + std::to_string(brood) + "," + std::to_string(i) + "," + std::to_string(h) +
                "," + std::to_string(static_cast<int>(rate + 0.5)) + "\n";
    }
    write("counts.csv", text);
    for (const char* formula : {"y ~ h + (1 | loc) + (1 | brood) + (1 | row)", "y ~ h + (1 | loc) + (1 | brood)",
                                "y ~ h + (1 | loc/brood)"}) {
        const Result result = lrvb(std::string("fit regression counts.csv '") + formula +
                                   "' --family poisson --check never --quiet -o fit.json");
        ASSERT_EQ(result.code, 0) << formula << ": " << result.err;
        const json summary = lrvb("summary fit.json --format json").json();
        for (const json& variable : summary.at("variables")) {
            if (variable.at("name") != "intercept" && variable.at("name") != "beta[h]") continue;
            EXPECT_GE(variable.at("sd").get<double>(), 0.999 * variable.at("sd_mfvb").get<double>()) << formula;
            EXPECT_LE(variable.at("sd").get<double>(), 1.5 * variable.at("sd_mfvb").get<double>()) << formula;
        }
    }
}

// The same where places differ less: what a level of one factor does to those of the other must not be left out, or
// nothing is known of the intercept (sds of 0.94 and 0.66, where the sampler has 0.35).
TEST_F(FieldDraws, TheInterceptOfNestedCountsIsThatOfTheSampler) {
    std::string text = "loc,brood,h,y\n";
    for (int i = 0; i < 144; ++i) {
        const int loc = i / 12;
        const int brood = i / 3;
        const double h = normal();
        const double rate =
            std::exp(-0.3 - 0.5 * h + 1.4 * std::sin(2.3 * loc) + 0.9 * std::cos(1.7 * brood) + 0.3 * normal());
        text += std::to_string(loc) + "," + std::to_string(brood) + "," + std::to_string(h) + "," +
                std::to_string(static_cast<int>(rate + 0.5)) + "\n";
    }
    write("counts.csv", text);
    ASSERT_EQ(lrvb("fit regression counts.csv 'y ~ h + (1 | loc) + (1 | brood)' --family poisson --exact --quiet "
                   "-o fit.json")
                  .code,
              0);
    const json check = lrvb("check fit.json counts.csv --method nuts --variables intercept,beta --format json").json();
    const json summary = lrvb("summary fit.json --variables intercept,beta --format json").json();
    for (std::size_t v = 0; v < 2; ++v) {
        const json& exact = check.at("variables")[v];
        const json& found = summary.at("variables")[v];
        ASSERT_EQ(exact.at("name"), found.at("name"));
        const double sd = exact.at("sd_exact").get<double>();
        EXPECT_NEAR(found.at("mean").get<double>(), exact.at("mean_exact").get<double>(), 0.1 * sd);
        EXPECT_NEAR(found.at("sd").get<double>() / sd, 1.0, 0.08);
        EXPECT_NEAR(found.at("sd_lrvb").get<double>() / sd, 1.0, 0.15);
    }
}

// As the sd grows the likelihood of groups of one outcome goes to a constant, and the posterior has the tail of its
// prior: sd⁻³ of half_t(2, 1), so that E sd² is infinite; a group with both outcomes takes one more power.
TEST_F(FieldDraws, AnSdThatNothingBoundsIsSaidToHaveNone) {
    std::string pure = "g,y\n";
    std::string mixed = "g,y\n";
    for (int i = 0; i < 40; ++i) {
        pure += std::to_string(i / 2) + (i % 4 < 2 ? ",0\n" : ",1\n");
        mixed += std::to_string(i / 2) + (i % 4 < 2 || i == 39 ? ",0\n" : ",1\n");
    }
    write("pure.csv", pure);
    write("mixed.csv", mixed);
    const auto warned = [&](const std::string& arguments) {
        const Result result = lrvb("fit regression " + arguments + " --check never -o fit.json");
        EXPECT_EQ(result.code, 0) << result.err;
        return result.out + result.err;
    };
    const std::string formula = " 'y ~ 1 + (1 | g)' --family ";
    EXPECT_NE(
        warned("pure.csv" + formula + "bernoulli").find("sd[g,intercept] has no finite sd: no group of g has both"),
        std::string::npos);
    EXPECT_NE(warned("pure.csv" + formula + "bernoulli --prior 'sd ~ half_cauchy(1)'").find("has no finite mean"),
              std::string::npos);
    EXPECT_NE(warned("mixed.csv" + formula + "bernoulli --prior 'sd ~ half_cauchy(1)'").find("only 1 of g has both"),
              std::string::npos);
    // Two groups, of which an intercept that may be anything takes one.
    write("two.csv", "g,y\na,1\na,2\na,1.5\nb,4\nb,5\nb,4.5\n");
    EXPECT_NE(warned("two.csv 'y ~ 1 + (1 | g)' --prior 'sd ~ half_cauchy(1)' --prior 'intercept ~ normal(0, 1e5)'")
                  .find("sd[g,intercept] has no finite sd: g has 2 groups"),
              std::string::npos);
    for (const char* bounded :
         {"mixed.csv 'y ~ 1 + (1 | g)' --family bernoulli", "pure.csv 'y ~ 1 + (1 | g)' --family poisson",
          "pure.csv 'y ~ 1 + (1 | g)' --family bernoulli --prior 'sd ~ half_normal(1)'", "mixed.csv 'y ~ 1 + (1 | g)'",
          "two.csv 'y ~ 1 + (1 | g)'", "two.csv 'y ~ 1 + (1 | g)' --prior 'sd ~ half_cauchy(1)'"}) {
        EXPECT_EQ(warned(bounded).find("has no finite"), std::string::npos) << bounded;
    }
}

// Far out, where sds of groups are large, local posteriors lose what rows know: such nodes take the best normal. The
// numbers are those of six million draws from the prior, weighted by the likelihood (900,000 effective), outside of the
// program.
TEST_F(FieldDraws, CountsOfZerosAloneWithSlopesAreThoseOfASampler) {
    write("zero.csv", "y,x,g\n0,1,a\n0,2,a\n0,3,b\n0,4,b\n0,5,c\n0,6,c\n");
    ASSERT_EQ(lrvb("fit regression zero.csv 'y ~ x + (x || g)' --family poisson -o fit.json").code, 0);
    ASSERT_EQ(lrvb("summary fit.json").code, 0);
    const Result fit = lrvb("fit regression zero.csv 'y ~ x + (x | g)' --family poisson -o fit.json");
    ASSERT_EQ(fit.code, 0) << fit.err;
    for (const json& variable : lrvb("summary fit.json --format json").json().at("variables")) {
        if (variable.at("sd").is_null()) continue;  // a heavy tail
        const double sd = variable.at("sd").get<double>();
        if (variable.at("name") == "intercept") {
            EXPECT_NEAR(sd, 3.554, 0.05 * 3.554);
            EXPECT_NEAR(variable.at("mean").get<double>(), -3.435, 0.05 * 3.554);
        } else if (variable.at("name") == "beta[x]") {
            EXPECT_NEAR(sd, 0.898, 0.05 * 0.898);
        }
    }
}

TEST_F(FieldDraws, PredictionsOfNormalRowsAreThoseOfDraws) {
    ASSERT_EQ(lrvb("fit regression $DATA/sleepstudy.csv 'Reaction ~ Days + (Days | Subject)' -o fit.json --quiet").code,
              0);
    const Columns own = draws("$DATA/sleepstudy.csv", "intercept,beta,sd,cor,sigma,u");
    write("new.csv", "Days,Subject\n9,308\n0,new\n9,new\n");
    const auto predicted = [&](const std::string& options) {
        return lrvb("predict fit.json new.csv --format json --level 0.9 " + options).json().at("rows");
    };
    const json response = predicted("");
    const json link = predicted("--link");
    const json without = predicted("--no-groups");
    const std::vector<double> days{9.0, 0.0, 9.0};
    for (std::size_t i = 0; i < days.size(); ++i) {
        std::vector<double> fixed;
        std::vector<double> eta;
        std::vector<double> y;
        std::vector<double> y_fixed;
        for (std::size_t s = 0; s < own.at("sigma").size(); ++s) {
            fixed.push_back(own.at("intercept")[s] + days[i] * own.at("beta[Days]")[s]);
            double group = own.at("u[Subject,308,intercept]")[s] + days[i] * own.at("u[Subject,308,Days]")[s];
            if (i > 0) {
                const double cor = own.at("cor[Subject,intercept,Days]")[s];
                const double first = normal();
                group = own.at("sd[Subject,intercept]")[s] * first +
                        days[i] * own.at("sd[Subject,Days]")[s] * (cor * first + std::sqrt(1.0 - cor * cor) * normal());
            }
            eta.push_back(fixed.back() + group);
            y.push_back(eta.back() + own.at("sigma")[s] * normal());
            y_fixed.push_back(fixed.back() + own.at("sigma")[s] * normal());
        }
        // Of 10,000 draws, worth some half of them: four standard errors of a mean and an sd, and of a quantile at 5 %.
        const Bounds bounds{0.05, 0.03, 0.1};
        const std::string what = "row " + std::to_string(i);
        expect_predicted(response[i], eta, y, bounds, what + " response");
        EXPECT_NEAR(response[i].at("sd").get<double>() / sd_of(y), 1.0, 0.04) << what;
        expect_predicted(link[i], eta, eta, bounds, what + " link");
        expect_predicted(without[i], fixed, y_fixed, bounds, what + " without groups");
    }
}

TEST_F(FieldDraws, PredictionsOfSharesAreThoseOfDraws) {
    ASSERT_EQ(lrvb("fit regression $DATA/cbpp.csv 'cbind(incidence, size - incidence) ~ factor(period) + (1 | herd)' "
                   "--family binomial -o fit.json --quiet")
                  .code,
              0);
    const Columns own = draws("$DATA/cbpp.csv", "intercept,beta,sd,u", 40000);
    write("new.csv", "period,herd\n4,1\n4,new\n");
    const auto predicted = [&](const std::string& options) {
        return lrvb("predict fit.json new.csv --format json --level 0.9 " + options).json().at("rows");
    };
    const json response = predicted("");
    const json link = predicted("--link");
    const json without = predicted("--no-groups");
    for (std::size_t i = 0; i < 2; ++i) {
        std::vector<double> fixed;
        std::vector<double> eta;
        std::vector<double> probability;
        for (std::size_t s = 0; s < own.at("intercept").size(); ++s) {
            const double all = own.at("intercept")[s] + own.at("beta[period=4]")[s];
            const double group = i == 0 ? own.at("u[herd,1,intercept]")[s] : own.at("sd[herd,intercept]")[s] * normal();
            fixed.push_back(1.0 / (1.0 + std::exp(-all)));
            eta.push_back(all + group);
            probability.push_back(1.0 / (1.0 + std::exp(-eta.back())));
        }
        // The predictor is taken as normal given the variance, which it is not quite: an end is off by a tenth of an
        // sd, and a standard error of a quantile of so many draws is 0.02.
        const Bounds bounds{0.05, 0.05, 0.12};
        const std::string what = "row " + std::to_string(i);
        expect_predicted(response[i], probability, probability, bounds, what + " response");
        expect_predicted(link[i], eta, eta, bounds, what + " link");
        expect_predicted(without[i], fixed, fixed, bounds, what + " without groups");
    }
}

// Nakagawa, Johnson & Schielzeth (2017), draw by draw from the variables that they are made of.
TEST_F(FieldDraws, SharesOfTheVarianceAreWhatTheirDefinitionsSay) {
    ASSERT_EQ(lrvb("fit regression $DATA/sleepstudy.csv 'Reaction ~ Days + (Days | Subject)' -o fit.json --quiet").code,
              0);
    const Columns own = draws("$DATA/sleepstudy.csv", "beta,sd,cor,sigma,ICC,R2_marginal,R2_conditional");
    // Days are 0 to 9, as often as each other: mean square 28.5, variance 8.25, mean 4.5.
    std::vector<double> icc;
    for (std::size_t s = 0; s < own.at("sigma").size(); ++s) {
        const double a = own.at("sd[Subject,intercept]")[s];
        const double b = own.at("sd[Subject,Days]")[s];
        const double groups = a * a + 2.0 * 4.5 * a * b * own.at("cor[Subject,intercept,Days]")[s] + 28.5 * b * b;
        const double rest = std::pow(own.at("sigma")[s], 2);
        const double fixed = 8.25 * std::pow(own.at("beta[Days]")[s], 2);
        icc.push_back(groups / (groups + rest));
        EXPECT_NEAR(own.at("ICC[Subject]")[s], icc.back(), 1e-9);
        EXPECT_NEAR(own.at("R2_marginal")[s], fixed / (fixed + groups + rest), 1e-9);
        EXPECT_NEAR(own.at("R2_conditional")[s], (fixed + groups) / (fixed + groups + rest), 1e-9);
    }
    const json shown = lrvb("summary fit.json --variables ICC --format json").json();
    EXPECT_NEAR(shown.at("variables")[0].at("mean").get<double>(), mean_of(icc), 0.04 * sd_of(icc));
}

TEST_F(FieldDraws, SharesOfCountsHaveTheVarianceOfTheirLink) {
    ASSERT_EQ(
        lrvb("fit regression $DATA/epil.csv 'y ~ lbase + (1 | subject)' --family poisson -o fit.json --quiet").code, 0);
    const Columns own = draws("$DATA/epil.csv", "beta,sd,ICC,R2_marginal,R2_conditional");
    const Csv rows = parse_csv(read_text(LRVB_DATA_DIR "/epil.csv"));
    double count = 0.0;
    double mean = 0.0;
    double square = 0.0;
    const auto n = static_cast<double>(rows.rows.size());
    for (std::size_t i = 0; i < rows.rows.size(); ++i) {
        count += rows.number(i, "y") / n;
        mean += rows.number(i, "lbase") / n;
        square += std::pow(rows.number(i, "lbase"), 2) / n;
    }
    const double rest = std::log1p(1.0 / count);
    for (std::size_t s = 0; s < own.at("ICC[subject]").size(); ++s) {
        const double groups = std::pow(own.at("sd[subject,intercept]")[s], 2);
        const double fixed = (square - mean * mean) * std::pow(own.at("beta[lbase]")[s], 2);
        EXPECT_NEAR(own.at("ICC[subject]")[s], groups / (groups + rest), 1e-9);
        EXPECT_NEAR(own.at("R2_marginal")[s], fixed / (fixed + groups + rest), 1e-9);
        EXPECT_NEAR(own.at("R2_conditional")[s], (fixed + groups) / (fixed + groups + rest), 1e-9);
    }
}

// At one point, where R2 is next to zero and its derivative says nothing of it: against importance sampling, and within
// its bounds however far out.
TEST_F(FieldDraws, OnePointQuantilesStayWithinTheirBounds) {
    write("few.csv",
          "g,y,x\n1,1,.17\n1,0,.22\n1,1,.98\n2,0,.56\n2,1,.35\n2,1,.12\n3,1,.77\n3,0,.61\n3,1,.44\n4,1,.27\n"
          "4,0,.81\n4,1,.07\n");
    ASSERT_EQ(lrvb("fit regression few.csv 'y ~ x' --family bernoulli --check never -o fit.json --quiet").code, 0);
    const json checked = lrvb("check fit.json few.csv --draws 20000 --format json").json();
    for (const json& variable : checked.at("variables")) {
        EXPECT_LT(std::abs(variable.at("shift").get<double>()), 0.1) << variable;
        EXPECT_NEAR(variable.at("ratio").get<double>(), 1.0, 0.12) << variable;
    }
    for (const std::string model :
         {"'y ~ x + (x | g)' --family bernoulli", "'y ~ x + (1 | g)' --family student", "'y ~ x + (x | g)'"}) {
        ASSERT_EQ(lrvb("fit regression few.csv " + model + " --check never -o fit.json --quiet").code, 0) << model;
        const json all = lrvb("summary fit.json --level 0.999 --format json").json();
        for (const json& variable : all.at("variables")) {
            const std::string name = variable.at("name");
            const double low = variable.at("q0.05");
            const double high = variable.at("q99.95");
            EXPECT_LT(low, high) << name;
            if (name.starts_with("sd") || name == "sigma") {
                EXPECT_GT(low, 0.0) << name;
            }
            if (name.starts_with("cor")) {
                EXPECT_GT(low, -1.0) << name;
                EXPECT_LT(high, 1.0) << name;
            }
            if (name.starts_with("ICC") || name.starts_with("R2")) {
                EXPECT_GE(low, 0.0) << name;
                EXPECT_LE(high, 1.0) << name;
            }
        }
    }
}

}  // namespace
}  // namespace lrvb::testing
