// How columns are taken, as the program says it: groups or numbers, missing values, baselines.

#include "../says.hpp"
#include "csv.hpp"
#include "program.hpp"

#include <cstdint>
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
        EXPECT_EQ(line(out, 3), groups);
        EXPECT_EQ(line(out, 4), number);
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

TEST_F(Columns, OffersCanBeTakenAsTheyArePrinted) {
    std::string text = "y,\"a,b\"\n";
    for (int n = 0; n < 20; ++n) text += std::to_string(n * n % 7) + ".5," + std::to_string(n % 3) + "\n";
    write("comma.csv", text);
    const std::string offer = "--factor '\"a,b\"'";
    EXPECT_EQ(line(lrvb("fit regression comma.csv --response y --check never").out, 2),
              "a,b: a number, 0 to 2, 3 values; " + offer + " takes it as groups");
    EXPECT_EQ(lrvb("fit regression comma.csv --response y --quiet " + offer).code, 0);
}

TEST_F(Columns, AMarkOfMissingValuesIsOfferedAndTaken) {
    const Result refused = lrvb("fit regression r_na.csv --response y");
    EXPECT_EQ(refused.code, 1);
    EXPECT_TRUE(test::says(refused.err, {"lrvb: r_na.csv", "row 51", "column 'age'", "'N/A'", "199", "200", "correct",
                                         "--na N/A --drop-missing", "--factor age"}));
    const Result fit = lrvb("fit regression r_na.csv --response y --na N/A --drop-missing -o fit.json");
    ASSERT_EQ(fit.code, 0) << fit.err;
    EXPECT_EQ(line(fit.out, 1), "1 row with missing values left out");
    EXPECT_EQ(line(fit.out, 4), "age: a number, 20 to 28, 9 values; --factor age takes it as groups");
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

// In every way of writing it, and in text as well.
TEST_F(Columns, AMarkThatIsANumberIsThatNumber) {
    write("marks.csv", "y,x,g\n1,1,a\n2.5,-999,b\n2,3,a\n4,-999.0,b\n3,2,a\n5,4,b\n6,6,-9.99e2\n4,5,b\n7,9,a\n");
    const Result fit = lrvb("fit regression marks.csv --response y --na=-999 --drop-missing --check never");
    ASSERT_EQ(fit.code, 0) << fit.err;
    EXPECT_EQ(line(fit.out, 1), "3 rows with missing values left out");
    const Result mixture = lrvb("fit mixture marks.csv -c x -k 1 --na=-999.00 --drop-missing --check never");
    EXPECT_EQ(line(mixture.out, 1), "2 rows with missing values left out") << mixture.err;
}

TEST_F(Columns, DecimalCommasAreNoGroups) {
    std::string text = "y;x\n";
    for (int n = 0; n < 20; ++n)
        text += std::to_string(n * n % 7) + ";" + (n == 0 ? "1\n" : std::to_string(n % 4) + ",5\n");
    write("commas.csv", text);
    const Result refused = lrvb("fit regression commas.csv --response y");
    EXPECT_EQ(refused.code, 1);
    EXPECT_TRUE(test::says(refused.err, {"lrvb: commas.csv", "row 2", "column 'x'", "'1,5'", "comma", "19", "20",
                                         "decimal points", "--factor x"}));
    EXPECT_EQ(lrvb("fit regression commas.csv --response y --factor x --quiet").code, 0);
    const std::string response = lrvb("fit regression commas.csv --response x").err;
    EXPECT_NE(response.find("because of its comma"), std::string::npos) << response;
    EXPECT_EQ(response.find("--factor"), std::string::npos) << response;
}

TEST_F(Columns, AnIdentifierOfManyValuesIsSaid) {
    std::string text = "y,subject\n";
    for (int n = 0; n < 240; ++n) text += std::to_string(n % 7) + ".5," + std::to_string(1 + n / 4) + "\n";
    write("subjects.csv", text);
    const Result fit = lrvb("fit regression subjects.csv --response y");
    ASSERT_EQ(fit.code, 0) << fit.err;
    EXPECT_EQ(line(fit.out, 3), "subject: a number, 1 to 60, 60 values; --factor subject takes it as groups");
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
    EXPECT_TRUE(test::says(bad.err, {"bad.csv", "row 2", "column 'w'", "-1", "zero", "correct"}));
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
    const Result result = lrvb("predict fit.json new.csv");
    EXPECT_EQ(result.code, 1);
    EXPECT_TRUE(
        test::says(result.err, {"lrvb: new.csv", "row 2", "column 'cyl'", "'5'", "'4', '6' and '8'", "correct"}));
}

TEST_F(Columns, NumbersOfOneValueAreOneGroupUnlessTheyAreQuoted) {
    std::string text = "y,c,q\n";
    std::string plain = "y,c,q\n";
    for (int n = 0; n < 24; ++n) {
        const std::string y = std::to_string(n * n % 7) + ".5,";
        const std::string quoted = n % 4 < 2 ? "\"1\"\n" : "\"1.0\"\n";
        text += y + (n % 3 == 0 ? "6" : n % 3 == 1 ? "4" : n % 2 == 0 ? "4.0" : "+4e0") + "," + quoted;
        plain += y + (n % 3 == 0 ? "6," : "4,") + quoted;
    }
    write("mixed.csv", text);
    write("plain.csv", plain);
    const std::string options = " --response y --factor c --baseline c=6.00 --check never -o fit.json";
    const std::string fit = lrvb("fit regression plain.csv" + options).out;
    const Result mixed = lrvb("fit regression mixed.csv" + options);
    ASSERT_EQ(mixed.code, 0) << mixed.err;
    EXPECT_EQ(mixed.out, fit);
    EXPECT_NE(fit.find("beta[c=4]"), std::string::npos) << fit;
    EXPECT_NE(fit.find("beta[q=1.0]"), std::string::npos) << fit;
    // Found again, and matched by value in new rows.
    EXPECT_EQ(lrvb("loo fit.json mixed.csv").code, 0);
    EXPECT_EQ(lrvb("predict fit.json mixed.csv").out, lrvb("predict fit.json plain.csv").out);
    write("new.csv", "c,q\n04.000,1\n40e-1,1\n");
    const Csv predicted = parse_csv(lrvb("predict fit.json new.csv").out);
    ASSERT_EQ(predicted.rows.size(), 2U);
    EXPECT_EQ(predicted.rows[0][1], predicted.rows[1][1]);
    // Of text that fits know as two levels, a third way of writing is neither.
    write("new.csv", "c,q\n4,1.00\n");
    EXPECT_EQ(lrvb("predict fit.json new.csv").code, 1);
}

// Two identifiers of 17 digits are one double.
TEST_F(Columns, LongIdentifiersAreNotOneGroup) {
    std::string text = "y,id\n";
    for (int n = 0; n < 12; ++n) {
        text += std::to_string(n * n % 7) + (n % 2 == 0 ? ".5,90071992547409920\n" : ".5,90071992547409921\n");
    }
    write("ids.csv", text);
    const Result fit = lrvb("fit regression ids.csv --response y --factor id --check never");
    ASSERT_EQ(fit.code, 0) << fit.err;
    EXPECT_NE(fit.out.find("beta[id=90071992547409921]"), std::string::npos) << fit.out;
}

TEST_F(Columns, AFactorOfOneValueIsRefusedHoweverItIsWritten) {
    write("one.csv", "y,c\n1,4\n2,4.0\n4,4\n");
    const Result fit = lrvb("fit regression one.csv --response y --factor c");
    EXPECT_EQ(fit.code, 1);
    EXPECT_NE(fit.err.find("column 'c' has the level '4' in every row"), std::string::npos) << fit.err;
}

TEST_F(Columns, ABaselineWithACommaStandsInQuotes) {
    std::string text = "y,g\n";
    for (int n = 0; n < 12; ++n) {
        text += std::to_string(n * n % 7) + ".5,\"p," + std::to_string(n % 3) + "\"\n";
    }
    write("groups.csv", text);
    const std::string fit = "fit regression groups.csv --response y --check never --baseline ";
    for (const char* baseline : {"'g=\"p,1\"'", "'\"g=p,1\"'"}) {
        const Result result = lrvb(fit + baseline);
        ASSERT_EQ(result.code, 0) << result.err;
        EXPECT_NE(result.out.find("beta[g=p,0]"), std::string::npos) << result.out;
        EXPECT_EQ(result.out.find("beta[g=p,1]"), std::string::npos) << result.out;
    }
    EXPECT_NE(lrvb(fit + "g=p,1").err.find("a level with a comma stands in quotes, as in 'size=\"6,5\"'"),
              std::string::npos);
    EXPECT_NE(lrvb(fit + "'\"g=p,1\",\"g=p,2\"'").err.find("column 'g' has two baselines: give one"),
              std::string::npos);
}

// What R's write.csv and pandas' to_csv put before the columns, and the same tables without it.
TEST_F(Columns, RowNamesAreLeftOutAndSaid) {
    std::string bare = "x,y,w\n";
    std::string pandas = ",x,y,w\n";
    std::string r = "\"\",\"x\",\"y\",\"w\"\n";
    std::string cars = "\"\",\"x\",\"y\",\"w\"\n";
    for (int n = 0; n < 30; ++n) {
        const std::string row = std::to_string(n * n % 13) + ".5," + std::to_string(n * n * n % 17) + ".25," +
                                std::to_string(1 + n % 2) + "\n";
        bare += row;
        pandas += std::to_string(n) + "," + row;
        r += "\"" + std::to_string(n + 1) + "\"," + row;
        cars += "\"Mazda " + std::to_string(n) + "\"," + row;
    }
    write("bare.csv", bare);
    write("pandas.csv", pandas);
    write("r.csv", r);
    write("cars.csv", cars);
    const std::string said =
        "the first column has no name, as row names have none, and is left out; to use it, give it a name in the file";
    for (const std::string file : {"pandas.csv", "r.csv", "cars.csv"}) {
        // The response by its number in the file, which counts the first column.
        for (const auto& [kind, other] :
             {std::pair("regression FILE --response y", "regression FILE --response y"),
              std::pair("regression FILE --response 3 --weights 4", "regression FILE --response 2 --weights 3"),
              std::pair("regression FILE --response y -c -x", "regression FILE --response y -c -x"),
              std::pair("mixture FILE -k 2 -c -w", "mixture FILE -k 2 -c -w"),
              std::pair("mixture FILE -k 2 --weights w", "mixture FILE -k 2 --weights 3"),
              std::pair("mixture FILE -k 1:2 --weights w", "mixture FILE -k 1:2 --weights 3")}) {
            const auto of = [](std::string command, const std::string& name) {
                return "fit " + command.replace(command.find("FILE"), 4, name) + " --check never";
            };
            const Result fit = lrvb(of(kind, file));
            ASSERT_EQ(fit.code, 0) << of(kind, file) << ": " << fit.err;
            EXPECT_EQ(line(fit.out, 2), said) << of(kind, file);
            std::string without = fit.out;
            without.erase(without.find(said), said.size() + 1);
            EXPECT_EQ(without, lrvb(of(other, "bare.csv")).out) << of(kind, file);
        }
        ASSERT_EQ(lrvb("fit regression " + file + " --response y --quiet -o fit.json").code, 0);
        EXPECT_EQ(lrvb("predict fit.json " + file).out, lrvb("predict fit.json bare.csv").out);
        EXPECT_EQ(lrvb("influence fit.json " + file).code, 0);
        EXPECT_NE(lrvb("fit regression " + file + " --response y --factor 1").err.find("give it a name in the file"),
                  std::string::npos);
    }
    // Who names it gets it, without a word.
    const Result chosen = lrvb("fit mixture pandas.csv -k 1 -c 1-3 --quiet -o chosen.json");
    ASSERT_EQ(chosen.code, 0) << chosen.err;
    EXPECT_EQ(read_json("chosen.json").at("data").at("columns"), nlohmann::json({"", "x", "y"}));
    EXPECT_FALSE(read_json("chosen.json").contains("notes"));
}

TEST_F(Columns, ColumnsThatNumberTheRowsAreSaid) {
    std::string text = "Unnamed: 0,\"no,1\",x,y\n";
    for (int n = 0; n < 20; ++n) {
        text += std::to_string(n) + "," + std::to_string(n + 1) + "," + (n == 5 ? "NA" : std::to_string(n * n % 13)) +
                ".5," + std::to_string(n * n * n % 17) + "\n";
    }
    write("index.csv", text.replace(text.find("NA.5"), 4, "NA"));
    const std::string unnamed =
        "Unnamed: 0: numbers the rows, as an index does, and is used all the same; -c '-Unnamed: 0' leaves it out";
    const std::string number =
        "no,1: numbers the rows, as an index does, and is used all the same; -c '-\"no,1\"' leaves it out";
    const Result mixture = lrvb("fit mixture index.csv --drop-missing -k 1 --check never");
    ASSERT_EQ(mixture.code, 0) << mixture.err;
    EXPECT_EQ(line(mixture.out, 3), unnamed);
    EXPECT_EQ(line(mixture.out, 4), number);
    const Result fit = lrvb("fit regression index.csv --drop-missing --response y -c -2 --check never");
    ASSERT_EQ(fit.code, 0) << fit.err;
    EXPECT_EQ(line(fit.out, 3), unnamed);
    for (const char* options : {"-c 'Unnamed: 0,x'", "-c '-Unnamed: 0,-\"no,1\"'"}) {
        const Result quiet = lrvb(std::string("fit mixture index.csv --drop-missing -k 1 --check never ") + options);
        ASSERT_EQ(quiet.code, 0) << quiet.err;
        EXPECT_EQ(quiet.out.find("numbers the rows"), std::string::npos) << options;
    }
}

// Covariances of so many columns are not kept as matrices: the file has what answers for them.
TEST_F(Columns, AMixtureOfManyColumnsIsReadAgain) {
    constexpr int columns = 1100;
    std::string rows;
    for (int j = 0; j < columns; ++j) rows += (j == 0 ? "c" : ",c") + std::to_string(j);
    rows += '\n';
    std::uint32_t random = 1;
    for (int n = 0; n < 30; ++n) {
        for (int j = 0; j < columns; ++j) {
            random = random * 1664525U + 1013904223U;
            rows += (j == 0 ? "" : ",") + std::to_string((random >> 20U) + (n < 12 ? 6000U : 0U));
        }
        rows += '\n';
    }
    write("wide.csv", rows);
    ASSERT_EQ(lrvb("fit mixture wide.csv -k 2 --covariance diagonal --check never -o fit.json --quiet").code, 0);
    const Result pi = lrvb("summary fit.json --variables pi --format json");
    ASSERT_EQ(pi.code, 0) << pi.err;
    // The larger component has 18 of the 30 rows, and the prior counts one of each.
    const nlohmann::json variables = pi.json().at("variables");
    EXPECT_NEAR(variables.at(0).at("mean").get<double>(), 19.0 / 32.0, 0.01);
    const Result covariance = lrvb("covariance fit.json --variables 'mu[1,c0],mu[1,c7]' --format csv");
    EXPECT_EQ(covariance.code, 0) << covariance.err;
}

}  // namespace
}  // namespace lrvb::testing
