// What weights of a regression's rows mean: --weights counts rows, --precision-weights divides their variance.

#include "program.hpp"

namespace {

using lrvb::testing::ProgramTest;
using lrvb::testing::Result;

class Weights : public ProgramTest {
  protected:
    std::map<std::string, nlohmann::json> variables(const std::string& arguments) const {
        const Result fit = lrvb("fit regression " + arguments + " -o fit.json --quiet");
        EXPECT_EQ(fit.code, 0) << fit.err;
        std::map<std::string, nlohmann::json> result;
        const nlohmann::json summary = lrvb("summary fit.json --format json").json();
        for (const auto& variable : summary.at("variables")) {
            result[variable.at("name")] = variable;
        }
        return result;
    }

    void refuses(const std::string& arguments, int code, const std::string& sentence) const {
        const Result result = lrvb("fit regression " + arguments);
        EXPECT_EQ(result.code, code) << arguments;
        EXPECT_NE(result.err.find(sentence), std::string::npos) << result.err;
    }
};

// lm(mpg ~ wt, mtcars, weights = cyl) in R 4.2: 35.4976 (1.9790), -4.90861 (0.556191), sigma 7.36895, R² 0.7219. The
// posterior sds are those of a t with 30 degrees of freedom, 1.035 times these, and the prior moves means by little.
TEST_F(Weights, OfPrecisionAreThoseOfLm) {
    auto found = variables("$DATA/mtcars.csv 'mpg ~ wt' --precision-weights cyl");
    EXPECT_NEAR(found["intercept"]["mean"].get<double>(), 35.4976, 0.03 * 1.979);
    EXPECT_NEAR(found["intercept"]["sd"].get<double>(), 1.035 * 1.9790, 0.04 * 1.979);
    EXPECT_NEAR(found["beta[wt]"]["mean"].get<double>(), -4.90861, 0.03 * 0.5562);
    EXPECT_NEAR(found["beta[wt]"]["sd"].get<double>(), 1.035 * 0.556191, 0.04 * 0.5562);
    EXPECT_NEAR(found["sigma"]["mean"].get<double>(), 7.369, 0.4);
    EXPECT_NEAR(found["R2"]["mean"].get<double>(), 0.7219, 0.05);
    // hatvalues of the same, 0.0528032 for the first row.
    const std::string rows = lrvb("leverage fit.json $DATA/mtcars.csv | sed -n 2p").out;
    EXPECT_NEAR(std::stod(rows.substr(rows.rfind(',') + 1)), 0.0528032, 2e-4);
    const Result check = lrvb("check fit.json --model");
    EXPECT_NE(check.out.find("R2 0.722"), std::string::npos) << check.out;
}

TEST_F(Weights, SayWhatTheyAre) {
    const std::string counted = lrvb("fit regression $DATA/mtcars.csv 'mpg ~ wt' --weights cyl").out;
    EXPECT_NE(counted.find("weights: column cyl counts rows (a weight of 3 is 3 rows); for precisions use "
                           "--precision-weights\n"),
              std::string::npos)
        << counted;
    const std::string precise = lrvb("fit regression $DATA/mtcars.csv 'mpg ~ wt' --precision-weights cyl").out;
    EXPECT_NE(precise.find("weights: column cyl gives precisions (the variance of a row is sigma^2/weight"),
              std::string::npos)
        << precise;
}

TEST_F(Weights, AreTheSameByColumnsAsByFormula) {
    auto one = variables("$DATA/mtcars.csv --response mpg -c wt --precision-weights cyl");
    auto other = variables("$DATA/mtcars.csv 'mpg ~ wt' --precision-weights cyl");
    EXPECT_EQ(one["sigma"]["mean"], other["sigma"]["mean"]);
}

TEST_F(Weights, OfSharesAreNumbersOfTrials) {
    write("b.csv", "p,n,s,f,x\n0.2,10,2,8,1.5\n0.5,20,10,10,2\n0.25,8,2,6,1\n0.75,12,9,3,3\n0.9,10,9,1,3.5\n");
    auto counts = variables("b.csv 'cbind(s,f) ~ x' --family binomial --check never");
    auto shares = variables("b.csv 'p ~ x' --family binomial --precision-weights n --check never");
    for (const std::string name : {"intercept", "beta[x]"}) {
        EXPECT_NEAR(shares[name]["mean"].get<double>(), counts[name]["mean"].get<double>(), 1e-9) << name;
    }
    EXPECT_EQ(lrvb("loo fit.json b.csv").code, 0);  // the data are those of the fit
    refuses("b.csv 'x ~ p' --family binomial --precision-weights n", 1,
            "row 1: the response 'x' is 1.5, which is no share");
    refuses("b.csv 'p ~ s' --family binomial --precision-weights x", 1, "must be whole");
    refuses("b.csv 'cbind(s,f) ~ x' --family binomial --precision-weights n", 2, "says the trials already");
}

TEST_F(Weights, AndOffsetsBeyondNumbersAreRefusedInASentence) {
    write("w.csv", "y,x,w,v\n1,2,1,1\n2,1,1e300,1\n3,5,1,1e-200\n4,3,1,1\n5,7,1,1\n");
    refuses("w.csv 'y ~ x' --weights w", 1,
            "row 2, column 'w': the weight is 1e+300, but a row counts at most 1e12 times");
    refuses("w.csv 'y ~ x' --family poisson --weights w", 1, "a row counts at most 1e12 times");
    refuses("w.csv 'y ~ x' --precision-weights w", 1,
            "row 2, column 'w': the weight is 1e+300, but must be from 1e-100");
    refuses("w.csv 'y ~ x' --precision-weights v", 1, "row 3, column 'v': the weight is 1e-200");
    refuses("w.csv 'y ~ x + offset(1e200*v)'", 1, "the offset runs from 1 to 1e+200, beyond what can be squared");
    refuses("w.csv 'y ~ x + offset(1e200*v)' --family student", 1, "beyond what can be squared");
    refuses("w.csv 'y ~ x + offset(1000*x)' --family poisson", 1, "write offset(log(exposure))");
    refuses("w.csv 'cbind(v, y) ~ x + offset(1e9*y)' --family binomial", 1, "whole and not negative");
}

TEST_F(Weights, ThatCannotBeMeantAreRefused) {
    const std::string cars = "$DATA/mtcars.csv ";
    refuses(cars + "'carb ~ wt' --family poisson --precision-weights cyl", 2, "poisson rows have no precision");
    refuses(cars + "'am ~ wt' --family bernoulli --precision-weights cyl", 2, "bernoulli rows have no precision");
    refuses(cars + "'mpg ~ wt' --weights cyl --precision-weights hp", 2, "give one of them");
    refuses(cars + "'mpg ~ cyl' --precision-weights cyl", 2, "the formula has that column too");
    refuses(cars + "--response mpg -c wt --prior paper --precision-weights cyl", 2, "needs priors that are sentences");
}

}  // namespace
