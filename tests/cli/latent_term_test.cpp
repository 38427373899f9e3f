// rw2(t) by the program: against dense quadrature, and everything that a fit can be asked.

#include "csv.hpp"
#include "program.hpp"

#include <cmath>
#include <map>

namespace lrvb::testing {
namespace {

struct Expected {
    const char* name;
    double mean;
    double sd;
};

class LatentTerms : public ProgramTest {
  protected:
    std::map<std::string, std::pair<double, double>> values(const std::string& fit,
                                                            const std::string& variables) const {
        const Result summary = lrvb("summary " + fit + " --format csv --variables " + variables);
        if (summary.code != 0) return {};
        const Csv csv = parse_csv(summary.out);
        std::map<std::string, std::pair<double, double>> result;
        for (std::size_t i = 0; i < csv.rows.size(); ++i) {
            result[csv.rows[i][0]] = {csv.number(i, "mean"), csv.number(i, "sd")};
        }
        return result;
    }
    void expect(const std::string& fit, const std::vector<Expected>& all, double of_sd, double share) const {
        auto found = values(fit, "alpha,beta,sd,f");
        found.merge(values(fit, "sigma"));  // of normal rows
        for (const Expected& one : all) {
            ASSERT_TRUE(found.contains(one.name)) << one.name;
            const auto [mean, sd] = found.at(one.name);
            EXPECT_NEAR(mean, one.mean, of_sd * one.sd) << one.name;
            EXPECT_NEAR(sd, one.sd, share * one.sd) << one.name;
        }
    }
    void fit_sleep() const {
        ASSERT_EQ(
            lrvb("fit regression $DATA/sleepstudy.csv 'Reaction ~ rw2(Days) + (1 | Subject)' --quiet -o s.json").code,
            0);
    }
};

// Lindgren & Rue's matrix and its generalised inverse, the normal model of the rows written out, on a grid of 161 log
// sds by 80 log sigmas (NumPy).
TEST_F(LatentTerms, AreExactForNormalRows) {
    ASSERT_EQ(lrvb("fit regression $DATA/mtcars.csv 'mpg ~ rw2(wt)' --quiet -o m.json").code, 0);
    expect("m.json",
           {{"alpha", 20.200890, 0.497757},
            {"beta[wt]", -5.306815, 0.514291},
            {"sd[rw2(wt)]", 2.063280, 1.574906},
            {"sigma", 2.774380, 0.394730},
            {"f[rw2(wt),1.513]", 2.37874, 1.34075},
            {"f[rw2(wt),1.935]", 1.48573, 0.73231},
            {"f[rw2(wt),2.32]", 0.27089, 0.60685}},
           0.02, 0.01);
}

// By quadrature over log sd (28 nodes), and 40,000 draws at each by importance sampling (t with 8 degrees of freedom
// about the mode; at least 11,000 effective ones), in NumPy. A count at each of 20 times, most of them small.
TEST_F(LatentTerms, AreNearlyExactForFewCounts) {
    write("c.csv",
          "t,y\n0,3\n1,0\n2,2\n3,3\n4,7\n6,6\n7,4\n8,5\n9,4\n10,4\n13,0\n14,1\n15,3\n16,2\n17,2\n20,1\n21,1\n22,2\n23,"
          "1\n24,2\n");
    ASSERT_EQ(lrvb("fit regression c.csv 'y ~ rw2(t)' --family poisson --prior 'intercept ~ normal(0, 2.5)' --quiet -o "
                   "c.json")
                  .code,
              0);
    expect("c.json",
           {{"alpha", 0.8284, 0.1564},
            {"beta[t]", -0.04433, 0.02157},
            {"sd[rw2(t)]", 0.61631, 0.40173},
            {"f[rw2(t),0]", -0.6488, 0.3883},
            {"f[rw2(t),4]", 0.2053, 0.2170},
            {"f[rw2(t),13]", -0.0476, 0.3009},
            {"f[rw2(t),24]", -0.0105, 0.3719}},
           0.05, 0.05);
}

// The same quadrature over two log sds (20 × 12 nodes, 3,000 draws at each).
TEST_F(LatentTerms, AreNearlyExactForCountsOfGroups) {
    const int counts[] = {2, 4, 3, 0, 1,  2, 1, 0, 2, 1, 2, 1, 1, 2, 0, 3, 0, 2, 1, 0, 0, 1, 2, 0, 2, 2, 0, 0, 3, 0,
                          4, 0, 2, 0, 10, 1, 2, 1, 2, 0, 0, 2, 1, 1, 0, 0, 2, 2, 0, 3, 4, 2, 0, 0, 4, 1, 0, 0, 4, 1,
                          1, 3, 3, 0, 1,  0, 7, 1, 6, 0, 7, 1, 1, 3, 4, 1, 0, 0, 0, 2, 2, 0, 2, 1, 2, 4, 1, 0, 0, 1,
                          2, 0, 3, 2, 3,  0, 3, 0, 6, 0, 2, 0, 3, 0, 4, 0, 2, 1, 6, 1, 2, 1, 1, 1, 0, 3, 1, 0, 1, 0};
    std::string text = "t,g,y\n";
    for (int n = 0; n < 120; ++n) {
        text += std::to_string((7 * n + n / 12) % 15) + ",g" + std::to_string(n % 12) + "," +
                std::to_string(counts[n]) + "\n";
    }
    write("g.csv", text);
    ASSERT_EQ(lrvb("fit regression g.csv 'y ~ rw2(t) + (1 | g)' --family poisson --prior 'intercept ~ normal(0, 2.5)' "
                   "--quiet -o g.json")
                  .code,
              0);
    expect("g.json",
           {{"alpha", 0.1760, 0.2231},
            {"beta[t]", -0.09631, 0.01918},
            {"sd[rw2(t)]", 0.29794, 0.23078},
            {"sd[g,intercept]", 0.67520, 0.18974},
            {"f[rw2(t),0]", 0.1299, 0.1523},
            {"f[rw2(t),4]", 0.0167, 0.1124}},
           0.05, 0.05);
}

// The rows in another order, and times in another unit and from another origin.
TEST_F(LatentTerms, DoNotDependOnTheOrderOfRowsAndTheUnitOfTime) {
    std::string plain = "t,y\n";
    std::string moved = "t,y\n";
    for (int n = 0; n < 24; ++n) {
        for (std::string* text : {&plain, &moved}) {
            const int at = text == &plain ? n : (5 * n) % 24;
            const double t = 0.5 * ((7 * at) % 11) + (at % 3 == 0 ? 0.25 : 0.0);
            const double y = std::sin(t) + 0.3 * ((13 * at) % 7);
            char line[80];
            std::snprintf(line, sizeof line, "%.17g,%.17g\n", text == &plain ? t : 1e9 + 4.0 * t, y);
            *text += line;
        }
    }
    write("a.csv", plain);
    write("b.csv", moved);
    ASSERT_EQ(lrvb("fit regression a.csv 'y ~ rw2(t)' --quiet -o a.json").code, 0);
    ASSERT_EQ(lrvb("fit regression b.csv 'y ~ rw2(t)' --quiet -o b.json").code, 0);
    const auto one = values("a.json", "alpha,sd,sigma,f");
    const auto other = values("b.json", "alpha,sd,sigma,f");
    ASSERT_EQ(one.size(), other.size());
    for (const char* name : {"alpha", "sd[rw2(t)]", "sigma"}) {
        EXPECT_NEAR(other.at(name).first, one.at(name).first, 1e-5 * one.at(name).second) << name;
        EXPECT_NEAR(other.at(name).second, one.at(name).second, 1e-5 * one.at(name).second) << name;
    }
    EXPECT_NEAR(other.at("f[rw2(t),1000000002]").first, one.at("f[rw2(t),0.5]").first,
                1e-5 * one.at("f[rw2(t),0.5]").second);
    EXPECT_NEAR(values("b.json", "beta").at("beta[t]").second, values("a.json", "beta").at("beta[t]").second / 4.0,
                1e-7);
}

// Between two nodes the mean is on the line between theirs; beyond the last it goes on, and the walk's variance comes
// on top: the same walk with one node more has the same line, and of that node f, of which no row tells.
TEST_F(LatentTerms, PredictBetweenAndBeyondTheirNodes) {
    fit_sleep();
    write("new.csv", "Days,Subject\n3,308\n4,308\n3.25,308\n8,308\n9,308\n10,308\n12,308\n-2,308\n");
    const Csv csv = parse_csv(lrvb("predict s.json new.csv --link").out);
    ASSERT_EQ(csv.rows.size(), 8U);
    const auto mean = [&](std::size_t row) { return csv.number(row, "mean"); };
    const auto sd = [&](std::size_t row) { return csv.number(row, "mean_sd"); };
    EXPECT_NEAR(mean(2), 0.75 * mean(0) + 0.25 * mean(1), 1e-9);
    EXPECT_LT(sd(2), 0.75 * sd(0) + 0.25 * sd(1) + 1e-9);
    EXPECT_NEAR(mean(5), 2.0 * mean(4) - mean(3), 1e-9);
    EXPECT_NEAR(mean(6), 4.0 * mean(4) - 3.0 * mean(3), 1e-9);
    EXPECT_GT(sd(5), 1.1 * sd(4));
    EXPECT_GT(sd(6), 1.5 * sd(5));
    EXPECT_GT(sd(7), 1.5 * sd(4));
}

TEST_F(LatentTerms, AnswerEverythingThatAFitIsAsked) {
    fit_sleep();
    for (const char* command :
         {"check s.json $DATA/sleepstudy.csv", "check s.json $DATA/sleepstudy.csv --model",
          "loo s.json $DATA/sleepstudy.csv", "influence s.json $DATA/sleepstudy.csv",
          "leverage s.json $DATA/sleepstudy.csv", "sensitivity s.json", "summary s.json $DATA/sleepstudy.csv --robust",
          "report s.json $DATA/sleepstudy.csv -o s.html", "plot s.json $DATA/sleepstudy.csv -o s.svg",
          "covariance s.json --variables f,sd"}) {
        const Result result = lrvb(command);
        EXPECT_EQ(result.code, 0) << command << result.err;
    }
    EXPECT_NE(read_text(work() / "s.svg").find("rw2(Days)"), std::string::npos);
    EXPECT_NE(lrvb("check s.json $DATA/sleepstudy.csv").out.find("sd[rw2(Days)]"), std::string::npos);
}

TEST_F(LatentTerms, StandBesideEachOtherAndTheirLineOnce) {
    ASSERT_EQ(lrvb("fit regression $DATA/mtcars.csv 'mpg ~ wt + rw2(wt) + rw2(hp) + am' --quiet -o two.json").code, 0);
    const auto found = values("two.json", "beta,sd");
    EXPECT_EQ(found.size(), 5U);
    for (const char* name : {"beta[wt]", "beta[hp]", "beta[am]", "sd[rw2(wt)]", "sd[rw2(hp)]"}) {
        EXPECT_TRUE(found.contains(name)) << name;
    }
}

TEST_F(LatentTerms, HavePriorsInWords) {
    const std::string fit = "fit regression $DATA/sleepstudy.csv 'Reaction ~ rw2(Days)' ";
    EXPECT_NE(lrvb(fit + "--show-priors").out.find("sd[rw2(Days)] ~ half_t(2, 56.32875712523515)"), std::string::npos);
    const Result told = lrvb(fit + "--prior 'sd[rw2(Days)] ~ exponential(0.1)' --show-priors");
    EXPECT_NE(told.out.find("sd[rw2(Days)] ~ exponential(0.1)"), std::string::npos) << told.out << told.err;
    ASSERT_EQ(lrvb(fit + "--prior 'sd ~ half_normal(20)' --quiet -o p.json").code, 0);
    EXPECT_NE(lrvb("sensitivity p.json").out.find("sd[rw2(Days)]: scale"), std::string::npos);
}

TEST_F(LatentTerms, RefuseWhatTheyCannotBe) {
    const auto refused = [&](const std::string& formula, const std::string& data, const std::string& part) {
        const Result result = lrvb("fit regression " + data + " '" + formula + "' -o no.json");
        EXPECT_NE(result.code, 0) << formula;
        EXPECT_NE(result.err.find(part), std::string::npos) << formula << '\n' << result.err;
        EXPECT_FALSE(files().contains("no.json"));
    };
    const std::string sleep = "$DATA/sleepstudy.csv";
    refused("Reaction ~ rw3(Days)", sleep, "there is no function 'rw3' (did you mean rw2?)");
    refused("Reaction ~ rw2()", sleep, "rw2() takes one column, as in rw2(t)");
    refused("Reaction ~ rw2(Days, Subject)", sleep, "rw2() takes one column, as in rw2(t)");
    refused("Reaction ~ rw2(Days) + rw2( Days )", sleep, "rw2(Days) stands twice: leave it out once");
    refused("Reaction ~ rw2(Days) - Days", sleep, "do not take 'Days' away");
    refused("Reaction ~ rw2(Days):Subject", sleep, "has no part in a product of terms");
    refused("Reaction ~ (rw2(Days) | Subject)", sleep, "has no part in a random term");
    refused("Reaction ~ rw2(Reaction)", sleep, "the response 'Reaction' is also a term");
    refused("Reaction ~ rw2(Dayz)", sleep, "there is no column 'Dayz'");
    write("two.csv", "t,y\n1,1\n2,2\n1,3\n2,1\n");
    refused("y ~ rw2(t)", "two.csv", "rw2(t) needs at least three different values of 't', which has 2");
    write("one.csv", "t,y\n1,1\n1,2\n1,3\n");
    refused("y ~ rw2(t)", "one.csv", "rw2(t) needs at least three different values of 't', which has 1");
    write("text.csv", "t,y\na,1\nb,2\nc,3\na,1\n");
    refused("y ~ rw2(t)", "text.csv", "row 1, column 't': 'a' is not a number");
    write("na.csv", "t,y\n1,1\nNA,2\n3,3\n4,1\n5,2\n");
    refused("y ~ rw2(t)", "na.csv", "row 2, column 't': the value is missing");
    EXPECT_EQ(lrvb("fit regression na.csv 'y ~ rw2(t)' --drop-missing --quiet -o yes.json").code, 0);
}

TEST_F(LatentTerms, RefuseRowsThatTheyCannotPredict) {
    fit_sleep();
    write("none.csv", "Subject\n308\n");
    EXPECT_NE(lrvb("predict s.json none.csv").err.find("there is no column 'Days'"), std::string::npos);
    write("text.csv", "Subject,Days\n308,x\n");
    EXPECT_NE(lrvb("predict s.json text.csv").err.find("row 1, column 'Days': 'x' is not a number"), std::string::npos);
    write("far.csv", "Subject,Days\n308,1e300\n");
    EXPECT_NE(lrvb("predict s.json far.csv").err.find("too far from the values of the fit"), std::string::npos);
}

TEST_F(LatentTerms, RefuseFilesWhoseNodesAreNoNodes) {
    fit_sleep();
    ASSERT_EQ(shell("sed 's/\\[0.0,1.0,2.0,3.0,/[1.0,0.0,2.0,3.0,/' s.json > bad.json; sed "
                    "'s/\"term\":\"rw2(Days)\"/\"term\":\"rw2(Dogs)\"/' s.json > other.json")
                  .code,
              0);
    EXPECT_NE(lrvb("summary bad.json").err.find("holds numbers of 'rw2(Days)' that cannot be"), std::string::npos);
    EXPECT_NE(lrvb("summary other.json").err.find("latent"), std::string::npos);
}

}  // namespace
}  // namespace lrvb::testing
