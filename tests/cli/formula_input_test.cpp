// What regressions by formula make of odd data and formulas: an answer or a clear refusal, and nothing half-written.

#include "program.hpp"

#include <map>
#include <set>
#include <string>
#include <vector>

namespace lrvb::testing {
namespace {

using nlohmann::json;

class FormulaInput : public ProgramTest {
  protected:
    void SetUp() override {
        write("a.csv",
              "y,x,z,g,h,c,n,s\n1.2,0,1,a,p,5,3,yes\n2.3,1,2,a,q,5,4,no\n3.1,2,3,b,p,5,1,yes\n2.2,3,4,b,q,5,0,no\n"
              "4.5,4,5,c,p,5,2,yes\n5.1,5,6,c,q,5,7,no\n3.3,6,7,d,p,5,2,yes\n6.1,7,8,d,q,5,1,no\n");
    }

    struct Case {
        std::string arguments;
        int code;
        std::string says;
    };

    void expect_refusals(const std::vector<Case>& cases) const {
        const std::set<std::string> before = files();
        for (const Case& one : cases) {
            const Result result = lrvb("fit regression " + one.arguments + " -o fit.json");
            EXPECT_EQ(result.code, one.code) << one.arguments << "\n" << result.err;
            EXPECT_NE(result.err.find(one.says), std::string::npos) << one.arguments << "\n" << result.err;
            EXPECT_EQ(files(), before) << one.arguments;
        }
    }

    std::map<std::string, double> means(const std::string& file) const {
        const Result result = lrvb("summary " + file + " --format json");
        EXPECT_EQ(result.code, 0) << result.err;
        std::map<std::string, double> rows;
        const json all = result.json();
        for (const json& variable : all.at("variables")) rows[variable.at("name")] = variable.at("mean");
        return rows;
    }
};

// Data are no wrong usage: 1, with a mark under the place in the formula where there is one.
TEST_F(FormulaInput, DataThatAFormulaCannotDoWithAreBadInput) {
    expect_refusals({
        {"a.csv 'y ~ log(x)'", 1, "row 1: log(x) is not a finite number, as x is 0"},
        {"a.csv 'y ~ log(x)'", 1, "  y ~ log(x)\n      ^"},
        {"a.csv 'y ~ sqrt(x - 3)'", 1, "row 1"},
        {"a.csv 'y ~ I(1 / x)'", 1, "row 1"},
        {"a.csv 'log(x) ~ z'", 1, "row 1"},
        {"a.csv 'y ~ exp(x * 1000)'", 1, "row 2"},
        {"a.csv 'y ~ poly(c, 2)'", 1, "too few for a polynomial"},
        {"a.csv 'y ~ poly(x, 9)'", 1, "too few for a polynomial"},
        {"a.csv 'y ~ scale(c)'", 1, "one value in every row"},
        {"a.csv 'n ~ x + offset(log(x))' --family poisson", 1, "row 1"},
        {"a.csv 'y ~ x + offset(g)'", 1, "'a' is not a number, but must be here"},
        {"a.csv 'y ~ log(g)'", 1, "'a' is not a number, but must be here"},
    });
    EXPECT_EQ(lrvb("fit regression a.csv 'y ~ log(z)' -o fit.json --quiet").code, 0);
    write("new.csv", "z\n1\n-1\n");
    const Result predicted = lrvb("predict fit.json new.csv");
    EXPECT_EQ(predicted.code, 1);
    EXPECT_NE(predicted.err.find("row 2"), std::string::npos) << predicted.err;
}

TEST_F(FormulaInput, WhatTellsNothingIsRefused) {
    write("cells.csv", "y,a,b\n1,p,u\n2,p,u\n3,q,u\n4,q,u\n5,q,v\n4.5,q,v\n");
    write("same.csv", "y,x\n5,1\n5,2\n5,3\n");
    write("one.csv", "y,x,g\n1,2,a\n");
    write("huge.csv", "y,x\n1,1e308\n2,-1e308\n3,1e308\n4,2\n");
    write("wide.csv", "y,x\n1e200,1\n2,2\n3,4\n4,2\n");
    expect_refusals({
        {"a.csv 'y ~ x + z'", 1, "combination"},
        {"a.csv 'y ~ c'", 1, "the same in every row"},
        {"a.csv 'y ~ factor(c)'", 1, "in every row"},
        {"a.csv 'y ~ factor(x)'", 1, "another value in every row"},
        {"a.csv 'y ~ x * z * n * g * h'", 1, "64 coefficients for 8 rows"},
        {"a.csv 'y ~ g:h'", 1, "9 coefficients for 8 rows"},
        {"cells.csv 'y ~ a * b'", 1, "0 + a:b"},
        {"cells.csv 'y ~ a:b'", 1, "0 + a:b"},
        {"same.csv 'y ~ x'", 1, "same.csv: the response 'y' is 5 in every row"},
        {"same.csv 'y ~ x' --family student", 1, "is 5 in every row"},
        {"one.csv 'y ~ 1'", 1, "one row alone"},
        {"one.csv 'y ~ 1 + (1 | g)'", 1, "one row alone"},
        {"huge.csv 'y ~ x'", 1, "'x' go beyond what can be squared"},
        {"wide.csv 'y ~ x'", 1, "'y' go beyond what can be squared"},
    });
    EXPECT_EQ(lrvb("fit regression cells.csv 'y ~ 0 + a:b'").code, 0);
}

TEST_F(FormulaInput, RowsAndWeightsThatAreNotThereAreRefused) {
    write("missing.csv", "y,x,g\n1,2,a\n,3,a\n4,5,b\n2,NA,b\n");
    write("none.csv", "y,x\nNA,2\nNA,3\n");
    write("header.csv", "y,x\n");
    write("weights.csv", "y,x,w,v,t\n1,1,0,1,a\n2,2,0,-1,b\n3,3,0,1,c\n5,1,0,1,c\n");
    expect_refusals({
        {"missing.csv 'y ~ x'", 1, "row 2, column 'y'"},
        {"none.csv 'y ~ x' --drop-missing", 1, "none is left"},
        {"header.csv 'y ~ x'", 1, "no rows"},
        {"nowhere.csv 'y ~ x'", 1, "cannot open"},
        {"weights.csv 'y ~ x' --weights w", 1, "column 'w': every row has the weight 0"},
        {"weights.csv 'y ~ x' --weights v", 1, "row 2, column 'v': the weight is -1"},
        {"weights.csv 'y ~ x' --weights t", 1, "'a' is not a number"},
        {"weights.csv 'y ~ x' --weights y", 2, "the formula has that column too"},
        {"weights.csv 'y ~ x' --weights nowhere", 1, "nowhere"},
    });
}

TEST_F(FormulaInput, ResponsesThatAFamilyHasNotAreRefusedWithTheirRow) {
    write("pairs.csv", "s,f,x\n1,2,1\n2,-1,2\n3,4,3\n");
    write("halves.csv", "s,f,x\n1,2,1\n2,1.5,2\n3,4,3\n");
    expect_refusals({
        {"pairs.csv 'cbind(s, f) ~ x' --family binomial", 1, "row 2: the response 'cbind(s,f)' has -1 failures"},
        {"halves.csv 'cbind(s, f) ~ x' --family binomial", 1, "row 2: the response 'cbind(s,f)' has 1.5 failures"},
        {"halves.csv 'cbind(s, f) ~ x'", 2, "--family binomial"},
        {"halves.csv 'cbind(s, f) ~ x' --family bernoulli", 2, "--family binomial"},
        {"a.csv 'y ~ x' --family poisson", 1, "row 1: the response 'y' is 1.2"},
        {"a.csv 'y ~ x' --family bernoulli", 1, "row 1: the response 'y' is 1.2"},
        {"a.csv 's ~ x'", 1, "row 1, column 's': 'yes' is not a number, but the response of a gaussian family must be"},
        {"a.csv 's ~ x'", 1, "--family bernoulli takes one of two values"},
        {"a.csv 's ~ x' --family poisson", 1, "of a poisson family must be"},
        {"a.csv 'g ~ x' --family bernoulli", 1, "'a', 'b', 'c' and 'd', but a bernoulli response has two values"},
        {"a.csv 's ~ x' --family bernoulli --success maybe", 1, "no value 'maybe' that could be a success"},
        {"a.csv 's ~ x' --success yes", 2, "--family bernoulli"},
        {"a.csv 'log(z) ~ x' --family bernoulli --success 1", 2, "--success"},
    });
}

// The same as 0 and 1 written out, in the fit and in what is asked of it with the data.
TEST_F(FormulaInput, TextIsABernoulliResponse) {
    shell(
        "awk -F, 'BEGIN { OFS = \",\" } NR == 1 { print \"mpg,wt,gears,manual,two\" } NR > 1 { print $2, $7, $11, "
        "($10 == 1 ? \"manual\" : \"automatic\"), $10 + 1 }' $DATA/mtcars.csv > cars.csv");
    shell(
        "awk -F, 'BEGIN { OFS = \",\" } NR == 1 { print \"wt,manual\" } NR > 1 { print $2, ($4 == \"manual\" ? 1 : 0) "
        "}' cars.csv > numbers.csv");
    ASSERT_EQ(lrvb("fit regression numbers.csv 'manual ~ wt' --family bernoulli -o numbers.json --quiet").code, 0);
    const Result text = lrvb("fit regression cars.csv 'manual ~ wt' --family bernoulli -o text.json");
    ASSERT_EQ(text.code, 0) << text.err;
    EXPECT_NE(text.out.find("manual: 'manual' is 1 and 'automatic' is 0; --success automatic turns it round"),
              std::string::npos)
        << text.out;
    const std::map<std::string, double> expected = means("numbers.json");
    EXPECT_EQ(means("text.json"), expected);
    ASSERT_EQ(
        lrvb("fit regression cars.csv 'manual ~ wt' --family bernoulli --success automatic -o other.json --quiet").code,
        0);
    EXPECT_NEAR(means("other.json").at("beta[wt]"), -expected.at("beta[wt]"), 1e-6);
    ASSERT_EQ(lrvb("fit regression cars.csv 'two ~ wt' --family bernoulli --success 2 -o two.json --quiet").code, 0);
    EXPECT_EQ(means("two.json"), expected);
    for (const std::string fit : {"text.json", "two.json"}) {
        const Result influence = lrvb("influence " + fit + " cars.csv --top 2 --refit");
        EXPECT_EQ(influence.code, 0) << influence.err;
    }
    ASSERT_EQ(lrvb("fit regression cars.csv --response manual -c wt --family bernoulli -o short.json --quiet").code, 0);
    EXPECT_EQ(means("short.json"), expected);
}

TEST_F(FormulaInput, AResponseWithoutNoiseHasThatOfRounding) {
    std::string text = "y,a,b\n";
    for (int n = 0; n < 16; ++n) {
        const int a = 1 + n / 4;
        const int b = a % 2 == 0 ? 1 : 3;
        text += std::to_string(0.5 * a + 0.25 * b) + "," + std::to_string(a) + "," + std::to_string(b) + "\n";
    }
    write("exact.csv", text);
    const Result fit = lrvb("fit regression exact.csv 'y ~ a + b' -o fit.json");
    ASSERT_EQ(fit.code, 0) << fit.err;
    EXPECT_NE(fit.out.find("the formula explains y but for rounding"), std::string::npos) << fit.out;
    const json summary = lrvb("summary fit.json --format json").json();
    std::map<std::string, json> found;
    for (const json& one : summary.at("variables")) found[one.at("name")] = one;
    EXPECT_NEAR(found.at("beta[a]").at("mean").get<double>(), 0.5, 1e-9);
    EXPECT_NEAR(found.at("beta[b]").at("mean").get<double>(), 0.25, 1e-9);
    EXPECT_LT(found.at("sigma").at("mean").get<double>(), 1e-6);
    EXPECT_GT(found.at("beta[a]").at("sd").get<double>(), 0.0);
}

TEST_F(FormulaInput, OddFormulasAreAnsweredOrRefused) {
    expect_refusals({
        {"a.csv 'y ~ (1 | g) + (x | g)'", 2, "(0 + x | group)"},
        {"a.csv 'y ~ 0'", 2, "nothing is left"},
        {"a.csv 'y ~'", 2, "missing"},
        {"a.csv '~ x'", 2, "response is missing"},
        {"a.csv 'y ~ y'", 2, "also a term"},
        {"a.csv 'y ~ x + (1 | nowhere)'", 2, "'nowhere'"},
        {"a.csv 'y ~ 1e400'", 2, "1e400"},
        {"a.csv 'y ~ x' 'z ~ x'", 2, "z ~ x"},
        {"a.csv 'y ~ x' --baseline g=b", 1, "--baseline"},
        {"a.csv 'y ~ g' --baseline g=zz", 1, "'zz'"},
        {"a.csv 'y ~ x' --factor g --numeric g", 2, "--numeric"},
        {"a.csv 'y ~ x' --factor zz", 2, "--factor zz: the formula has no such column, only 'y' and 'x'"},
        {"a.csv 'y ~ x' --numeric x,g", 2, "--numeric g: the formula has no such column"},
        {"a.csv 'y ~ x' --prior 'sd ~ half_t(3, 1)'", 2, "'sd'"},
    });
    write("separate.csv", "y,x\n0,1\n0,2\n0,3\n1,4\n1,5\n1,6\n");
    write("zeros.csv", "y,x\n0,1\n0,2\n0,3\n0,4\n");
    for (const std::string arguments : {"a.csv 'y ~ (1 | g) + (0 + x | g)'", "a.csv 'y ~ x + (1 | c)'",
                                        "a.csv 'y ~ (1 | x)'", "a.csv 'y ~ x + (g | h)'", "a.csv 'y ~ x + (z | g/h)'",
                                        "a.csv 'y ~ x + (c | g)'", "separate.csv 'y ~ x' --family bernoulli",
                                        "zeros.csv 'y ~ x' --family bernoulli", "zeros.csv 'y ~ x' --family poisson"}) {
        const Result result = lrvb("fit regression " + arguments);
        EXPECT_EQ(result.code, 0) << arguments << result.err;
        EXPECT_EQ(result.out.find("nan"), std::string::npos) << result.out;
    }
}

// A fit that was integrated is no linear response.
TEST_F(FormulaInput, AnIntegratedFitIsJudgedByItsName) {
    ASSERT_EQ(lrvb("fit regression $DATA/dyestuff.csv 'Yield ~ 1 + (1 | Batch)' -o fit.json --quiet").code, 0);
    const std::string check = "check fit.json $DATA/dyestuff.csv --method nuts ";
    const Result table = lrvb(check);
    EXPECT_NE(table.out.find("mean_fit"), std::string::npos) << table.out;
    EXPECT_EQ(table.out.find("mean_lrvb"), std::string::npos) << table.out;
    EXPECT_TRUE(lrvb(check + "--format csv").out.starts_with("variable,mean_fit,sd_fit,mean_exact,"));
    // JSON keeps its keys, whatever is judged.
    ASSERT_EQ(shell("lrvb " + check + "--format json > check.json").code, 0);
    EXPECT_TRUE(json::parse(read_text(work() / "check.json")).at("variables")[0].contains("sd_lrvb"));
    EXPECT_EQ(lrvb("report fit.json $DATA/dyestuff.csv --check check.json -o report.html").code, 0);
}

}  // namespace
}  // namespace lrvb::testing
