// How columns are taken, as the program says it: groups or numbers, missing values, baselines.

#include "csv.hpp"
#include "program.hpp"

#include <string>

namespace lrvb::testing {
namespace {

class Columns : public ProgramTest {
  protected:
    Columns() {
        std::string text = "y,subject,cyl\n";
        for (int n = 0; n < 12; ++n) {
            text += std::to_string(n * n % 5 + n) + ".5," + std::to_string(308 + n % 3) + ",\"" +
                    std::to_string(4 + 2 * (n / 3 % 3)) + "\"\n";
        }
        write("quoted.csv", text);
        std::filesystem::copy(LRVB_SOURCE_DIR "/tests/data/r_na.csv", work() / "r_na.csv");
    }

    nlohmann::json read_json(const std::string& name) const { return nlohmann::json::parse(read_text(work() / name)); }

    static std::string line(const std::string& text, int number) {
        std::size_t begin = 0;
        for (int i = 1; i < number; ++i) begin = text.find('\n', begin) + 1;
        return text.substr(begin, text.find('\n', begin) - begin);
    }
};

TEST_F(Columns, TheFirstLinesOfFitAndSummarySayHowColumnsWereTaken) {
    const Result fit = lrvb("fit regression quoted.csv --response y -o fit.json");
    ASSERT_EQ(fit.code, 0) << fit.err;
    const std::string groups =
        "cyl: groups 4, 6 and 8 (baseline 4), as its numbers are quoted; --numeric cyl takes it as a number";
    const std::string number = "subject: a number, 308 to 310, 3 values; --factor subject takes it as groups";
    const Result summary = lrvb("summary fit.json");
    for (const std::string& out : {fit.out, summary.out}) {
        EXPECT_EQ(line(out, 2), groups);
        EXPECT_EQ(line(out, 3), number);
    }
    EXPECT_EQ(lrvb("summary fit.json --format json").json().at("notes").at(1), number);
}

TEST_F(Columns, OptionsDecideAndMayBeRepeated) {
    for (const char* options : {"--factor subject,cyl", "--factor subject --factor cyl", "--factor=subject,3"}) {
        const Result fit = lrvb(std::string("fit regression --response y ") + options + " quoted.csv -o fit.json");
        ASSERT_EQ(fit.code, 0) << fit.err;
        EXPECT_EQ(fit.out.find("takes it as"), std::string::npos) << options;
        EXPECT_NE(fit.out.find("beta[subject=309]"), std::string::npos) << options;
    }
    for (const char* command : {"influence fit.json quoted.csv", "loo fit.json quoted.csv", "check fit.json quoted.csv",
                                "summary fit.json quoted.csv --robust", "report fit.json quoted.csv"}) {
        const Result result = lrvb(command);
        EXPECT_EQ(result.code, 0) << command << ": " << result.err;
    }
    EXPECT_EQ(lrvb("fit regression quoted.csv --response y --factor subject --numeric subject").code, 2);
}

TEST_F(Columns, AMarkOfMissingValuesIsOfferedAndTaken) {
    const Result refused = lrvb("fit regression r_na.csv --response y");
    EXPECT_EQ(refused.code, 1);
    EXPECT_EQ(
        refused.err,
        "lrvb: r_na.csv: row 51, column 'age': 'N/A' is not a number, but 199 of the column's 200 values are: "
        "correct it; --na N/A --drop-missing leaves out such rows, and --factor age takes the column as groups\n");
    const Result fit = lrvb("fit regression r_na.csv --response y --na N/A --drop-missing -o fit.json");
    ASSERT_EQ(fit.code, 0) << fit.err;
    EXPECT_EQ(line(fit.out, 1), "1 row with missing values left out");
    EXPECT_EQ(line(fit.out, 3), "age: a number, 20 to 28, 9 values; --factor age takes it as groups");
    // What means a missing value is in the file, also for those who come later.
    const Result influence = lrvb("influence fit.json r_na.csv");
    EXPECT_EQ(influence.code, 0) << influence.err;
    const Csv predicted = parse_csv(lrvb("predict fit.json r_na.csv --drop-missing").out);
    EXPECT_EQ(predicted.rows.size(), 199U);
    const Result missing = lrvb("predict fit.json r_na.csv");
    EXPECT_EQ(missing.code, 1);
    EXPECT_NE(missing.err.find("row 51, column 'age': the value is missing"), std::string::npos) << missing.err;
    write("new.csv", "age\n21\n?\n");
    EXPECT_EQ(parse_csv(lrvb("predict fit.json new.csv --na '?' --drop-missing").out).rows.size(), 1U);
    EXPECT_EQ(lrvb("predict fit.json new.csv").code, 1);
}

TEST_F(Columns, PicturesFindTheRowsThatAMarkLeftOut) {
    for (const std::string kind : {"regression r_na.csv --response y", "mixture r_na.csv -k 1"}) {
        ASSERT_EQ(lrvb("fit " + kind + " --na N/A --drop-missing --quiet -o fit.json").code, 0) << kind;
        for (const char* command : {"report fit.json r_na.csv", "plot fit.json r_na.csv --figure fit -o fit.svg"}) {
            const Result result = lrvb(command);
            EXPECT_EQ(result.code, 0) << kind << ", " << command << ": " << result.err;
        }
    }
}

TEST_F(Columns, AnIdentifierOfManyValuesIsSaid) {
    std::string text = "y,subject\n";
    for (int n = 0; n < 240; ++n) text += std::to_string(n % 7) + ".5," + std::to_string(1 + n / 4) + "\n";
    write("subjects.csv", text);
    const Result fit = lrvb("fit regression subjects.csv --response y");
    ASSERT_EQ(fit.code, 0) << fit.err;
    EXPECT_EQ(line(fit.out, 2), "subject: a number, 1 to 60, 60 values; --factor subject takes it as groups");
}

TEST_F(Columns, MixturesKnowMarksOfMissingValuesToo) {
    ASSERT_EQ(lrvb("fit mixture r_na.csv -k 1 --quiet").code, 1);
    ASSERT_EQ(lrvb("fit mixture r_na.csv -k 1 --na N/A,20 --drop-missing --quiet -o fit.json").code, 0);
    EXPECT_EQ(lrvb("summary fit.json --format json").json().at("n"), 176);
    const Result influence = lrvb("influence fit.json r_na.csv");
    EXPECT_EQ(influence.code, 0) << influence.err;
}

TEST_F(Columns, WeightsOfARegressionReachEveryCommand) {
    ASSERT_EQ(lrvb("fit regression $DATA/mtcars.csv -c wt --response mpg --weights carb --quiet -o fit.json").code, 0);
    EXPECT_EQ(read_json("fit.json").at("data").at("weights"), "carb");
    EXPECT_EQ(read_json("fit.json").at("data").at("total_weight"), 90.0);
    for (const char* command : {"influence fit.json $DATA/mtcars.csv", "leverage fit.json $DATA/mtcars.csv",
                                "loo fit.json $DATA/mtcars.csv", "check fit.json $DATA/mtcars.csv",
                                "summary fit.json $DATA/mtcars.csv --robust", "report fit.json $DATA/mtcars.csv"}) {
        const Result result = lrvb(command);
        EXPECT_EQ(result.code, 0) << command << ": " << result.err;
    }
    // Predictions need no weights.
    write("new.csv", "wt\n3\n");
    EXPECT_EQ(lrvb("predict fit.json new.csv").code, 0);
    write("bad.csv", "y,x,w\n1,1,1\n2,2,-1\n4,3,1\n");
    const Result bad = lrvb("fit regression bad.csv --response y --weights w");
    EXPECT_EQ(bad.code, 1);
    EXPECT_EQ(bad.err, "lrvb: bad.csv: row 2, column 'w': the weight is -1, but must be zero or more: correct it\n");
}

// Rows of weights 0, 1, 2 and 3, and the same written out.
TEST_F(Columns, WeightsSayWhatRowsWrittenOutSay) {
    std::string weighted = "y,x,w\n";
    std::string written = "y,x\n";
    for (int n = 0; n < 40; ++n) {
        const std::string row = std::to_string((n * n + 3 * n) % 11) + ".25," + std::to_string(n % 8) + ".5";
        weighted += row + "," + std::to_string(n % 4) + "\n";
        for (int copy = 0; copy < n % 4; ++copy) written += row + "\n";
    }
    write("weighted.csv", weighted);
    write("written.csv", written);
    ASSERT_EQ(lrvb("fit regression weighted.csv --response y --weights w --quiet -o weighted.json").code, 0);
    ASSERT_EQ(lrvb("fit regression written.csv --response y --quiet -o written.json").code, 0);
    const nlohmann::json one = lrvb("loo weighted.json weighted.csv --method response --format json").json();
    const nlohmann::json other = lrvb("loo written.json written.csv --method response --format json").json();
    for (const char* number : {"elpd_loo", "elpd_loo_se", "p_loo", "p_loo_se"}) {
        EXPECT_NEAR(one.at(number).get<double>(), other.at(number).get<double>(), 1e-6) << number;
    }
    const nlohmann::json model = lrvb("check weighted.json weighted.csv --model --format json").json();
    const nlohmann::json rows = model.at("response").at("points").at("row");
    ASSERT_EQ(rows.size(), 30U);
    EXPECT_EQ(rows.at(0), 2);  // the first weighs nothing
    EXPECT_EQ(rows.at(3), 6);
}

TEST_F(Columns, AnUnknownLevelIsNamedWithItsRowAndTheKnownOnes) {
    ASSERT_EQ(lrvb("fit regression quoted.csv --response y -c cyl --baseline cyl=6 --quiet -o fit.json").code, 0);
    write("new.csv", "cyl\n4\n5\n");
    EXPECT_EQ(
        lrvb("predict fit.json new.csv").err,
        "lrvb: new.csv: row 2, column 'cyl': the level '5' did not occur in the data of the fit, which had '6', '4' "
        "and '8': correct it, leave the row out, or fit again with rows that have it\n");
}

}  // namespace
}  // namespace lrvb::testing
