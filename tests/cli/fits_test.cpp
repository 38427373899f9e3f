// Does the model fit, and which one: 'summary --robust', 'loo' and 'compare' as the program prints them.

#include "csv.hpp"
#include "program.hpp"

#include <algorithm>
#include <cmath>

namespace lrvb::testing {
namespace {

using nlohmann::json;

class Fits : public ProgramTest {
  protected:
    void fit(const std::string& arguments) const {
        const Result result = lrvb("fit " + arguments + " --quiet");
        ASSERT_EQ(result.code, 0) << arguments << ": " << result.err;
    }
};

TEST_F(Fits, RobustSdsAreInEveryFormat) {
    fit("regression $DATA/mtcars.csv -c wt --response mpg -o fit.json");
    const json parsed = lrvb("summary fit.json $DATA/mtcars.csv --robust --format json").json();
    const Csv csv = parse_csv(lrvb("summary fit.json $DATA/mtcars.csv --robust --format csv").out);
    ASSERT_EQ(csv.rows.size(), parsed.at("variables").size());
    for (std::size_t i = 0; i < csv.rows.size(); ++i) {
        EXPECT_EQ(csv.number(i, "sd_robust"), parsed["variables"][i].at("sd_robust").get<double>());
        EXPECT_EQ(csv.number(i, "sd_robust_se"), parsed["variables"][i].at("sd_robust_se").get<double>());
        EXPECT_GT(csv.number(i, "sd_robust"), 0.0);
    }
    EXPECT_TRUE(parsed.at("robust_warnings").empty());
    const Result table = lrvb("summary fit.json $DATA/mtcars.csv --robust --variables beta");
    EXPECT_NE(table.out.find("sd_robust"), std::string::npos);
    EXPECT_NE(table.out.find("against the rows: ok"), std::string::npos);
    // Without being asked for, nothing changes.
    EXPECT_EQ(lrvb("summary fit.json").out.find("sd_robust"), std::string::npos);
}

TEST_F(Fits, RobustSdsNeedTheData) {
    fit("regression $DATA/mtcars.csv -c wt --response mpg -o fit.json");
    for (const char* arguments : {"summary fit.json --robust", "summary fit.json $DATA/mtcars.csv"}) {
        const Result result = lrvb(arguments);
        EXPECT_EQ(result.code, 2) << arguments;
        EXPECT_NE(result.err.find("--robust and DATA need each other"), std::string::npos) << result.err;
    }
    const Result other = lrvb("summary fit.json $DATA/old_faithful.csv --robust");
    EXPECT_EQ(other.code, 1);
}

TEST_F(Fits, LooPrintsTheSameInEveryFormatAndByRow) {
    fit("mixture $DATA/old_faithful.csv -k 2 -o fit.json");
    for (const std::string method : {"psis", "response"}) {
        const std::string command = "loo fit.json $DATA/old_faithful.csv --method " + method;
        const json parsed = lrvb(command + " --format json --rows").json();
        EXPECT_EQ(parsed.at("n"), 272);
        EXPECT_EQ(parsed.at("parameters"), 11);
        EXPECT_EQ(parsed.at("method"), method);
        EXPECT_EQ(parsed.at("doubtful_rows"), 0);
        const Csv summary = parse_csv(lrvb(command + " --format csv").out);
        EXPECT_EQ(summary.number(0, "estimate"), parsed.at("elpd_loo").get<double>());
        EXPECT_EQ(summary.number(1, "estimate"), parsed.at("p_loo").get<double>());
        const Csv rows = parse_csv(lrvb(command + " --format csv --rows").out);
        ASSERT_EQ(rows.rows.size(), 272U);
        double sum = 0.0;
        for (std::size_t i = 0; i < rows.rows.size(); ++i) {
            sum += rows.number(i, "elpd_loo");
            EXPECT_EQ(rows.number(i, "elpd_loo"), parsed["rows"][i].at("elpd_loo").get<double>());
        }
        EXPECT_NEAR(sum, parsed.at("elpd_loo").get<double>(), 1e-8);
        EXPECT_EQ(rows.header[1], "eruptions");
        EXPECT_EQ(rows.header.back(), method == "psis" ? "k_hat" : "reach");
        const Result table = lrvb(command);
        EXPECT_NE(table.out.find("ok: every row can be relied on"), std::string::npos) << table.out;
    }
}

TEST_F(Fits, LooSaysWhatIsWrongWithRows) {
    write("far.csv", "y,x\n1,1\n2.5,2\n3,3\n4.5,4\n5,5\n6.5,6\n40,30\n");
    fit("regression far.csv --response y -o fit.json");
    const std::string by_response = lrvb("loo fit.json far.csv --method response").out;
    EXPECT_NE(
        by_response.find("doubtful: 1 of 7 rows cannot be relied on (dropping it moves the posterior by more than "
                         "1 sd): see them with --rows, and refit without it\n"),
        std::string::npos)
        << by_response;
}

TEST_F(Fits, LooGoesToAFile) {
    fit("mixture $DATA/old_faithful.csv -k 2 -o fit.json");
    EXPECT_EQ(lrvb("loo fit.json $DATA/old_faithful.csv --format csv --rows -o rows.csv").out, "");
    EXPECT_EQ(parse_csv(read_text(work() / "rows.csv")).rows.size(), 272U);
    EXPECT_EQ(lrvb("loo fit.json $DATA/old_faithful.csv -o fit.json").code, 2);
}

TEST_F(Fits, CompareFindsTheDataThatTheFitsName) {
    const std::string data = LRVB_DATA_DIR "/old_faithful.csv";
    fit("mixture " + data + " -k 1 -o one.json");
    fit("mixture " + data + " -k 2 -o two.json");
    const json named = lrvb("compare one.json two.json --format json").json();
    const json given = lrvb("compare one.json two.json --data $DATA/old_faithful.csv --format json").json();
    EXPECT_EQ(named, given);
    EXPECT_EQ(named.at("fits")[0].at("fit"), "two.json");
    EXPECT_NEAR(named["fits"][0].at("log_labellings").get<double>(), std::log(2.0), 1e-12);
    EXPECT_LT(named["fits"][1].at("difference").get<double>(), -50.0);
    const Csv csv = parse_csv(lrvb("compare one.json two.json --format csv").out);
    EXPECT_EQ(csv.number(1, "difference"), named["fits"][1].at("difference").get<double>());
    const Result table = lrvb("compare one.json two.json");
    EXPECT_NE(table.out.find("two.json predicts best, by more than two standard errors"), std::string::npos);
    EXPECT_NE(table.out.find("log K! added"), std::string::npos);
}

TEST_F(Fits, CompareRefusesFitsOfOtherData) {
    fit("mixture $DATA/old_faithful.csv -c eruptions -k 1 -o eruptions.json");
    fit("mixture $DATA/old_faithful.csv -k 1 -o both.json");
    fit("regression $DATA/mtcars.csv -c wt --response mpg -o cars.json");
    const Result columns = lrvb("compare eruptions.json both.json --data $DATA/old_faithful.csv");
    EXPECT_EQ(columns.code, 1);
    EXPECT_NE(
        columns.err.find("eruptions.json and both.json are fits of other data (eruptions and eruptions, waiting)"),
        std::string::npos)
        << columns.err;
    const Result files = lrvb("compare eruptions.json cars.json --data $DATA/old_faithful.csv");
    EXPECT_EQ(files.code, 1);
    EXPECT_NE(files.err.find("cars.json"), std::string::npos) << files.err;
    const Result alone = lrvb("compare both.json --data $DATA/old_faithful.csv");
    EXPECT_EQ(alone.code, 2);
    EXPECT_NE(alone.err.find("give two or more"), std::string::npos) << alone.err;
}

// Rows with a missing value in a column of only one of the two: not the same rows.
TEST_F(Fits, CompareRefusesFitsThatDroppedOtherRows) {
    write("data.csv", "y,a,b\n1,2,3\n2,3,\n4,4,1\n3,6,2\n6,5,9\n5,8,4\n");
    fit("regression data.csv -c a --response y --drop-missing -o a.json");
    fit("regression data.csv -c b --response y --drop-missing -o b.json");
    const Result result = lrvb("compare a.json b.json");
    EXPECT_EQ(result.code, 1);
    EXPECT_NE(result.err.find("6 and 5 rows"), std::string::npos) << result.err;
}

TEST_F(Fits, CheckOfTheModelIsTheSameInEveryFormat) {
    fit("regression $DATA/mtcars.csv -c wt,hp --response mpg -o fit.json");
    const json parsed = lrvb("check fit.json $DATA/mtcars.csv --model --format json").json();
    const Csv csv = parse_csv(lrvb("check fit.json $DATA/mtcars.csv --model --format csv").out);
    ASSERT_EQ(csv.rows.size(), 8U);  // five of the response, three of its residuals
    for (std::size_t i = 0; i < csv.rows.size(); ++i) {
        EXPECT_EQ(csv.number(i, "observed"), parsed["statistics"][i].at("observed").get<double>());
        EXPECT_EQ(csv.number(i, "p"), parsed["statistics"][i].at("p").get<double>());
    }
    // R: summary(lm(mpg ~ wt + hp)) has 0.8268 and 2.593.
    EXPECT_NEAR(parsed.at("response").at("r2").get<double>(), 0.8268, 1e-3);
    EXPECT_NEAR(parsed.at("response").at("residual_sd").get<double>(), 2.593, 0.01);
    EXPECT_EQ(parsed["response"].at("points").at("row").size(), 32U);
    const Result table = lrvb("check fit.json $DATA/mtcars.csv --model");
    EXPECT_NE(table.out.find("R2 0.827 (classical"), std::string::npos) << table.out;
    EXPECT_EQ(lrvb("check fit.json $DATA/mtcars.csv --model --threads 1").out, table.out);
    EXPECT_NE(lrvb("check fit.json $DATA/mtcars.csv --model --seed 2").out, table.out);
}

TEST_F(Fits, CheckFindsTheDataThatTheFitNames) {
    const std::string data = LRVB_DATA_DIR "/old_faithful.csv";
    fit("mixture " + data + " -k 2 -o fit.json");
    for (const char* options : {"--model", ""}) {
        EXPECT_EQ(lrvb(std::string("check fit.json ") + options).out,
                  lrvb("check fit.json " + data + " " + options).out);
    }
    ASSERT_EQ(shell("lrvb fit mixture - -k 2 --quiet -o piped.json < " + data).code, 0);
    const Result piped = lrvb("check piped.json --model");
    EXPECT_EQ(piped.code, 1);
    EXPECT_NE(piped.err.find("'standard input', are no file here: give them as DATA"), std::string::npos) << piped.err;
}

TEST_F(Fits, CheckOfTheModelRefusesWhatIsOfTheApproximation) {
    fit("mixture $DATA/old_faithful.csv -k 2 -o fit.json");
    for (const char* options : {"--correct -o other.json", "--save-draws draws.csv", "--variables mu"}) {
        const Result result = lrvb(std::string("check fit.json $DATA/old_faithful.csv --model ") + options);
        EXPECT_EQ(result.code, 2) << options;
        EXPECT_NE(result.err.find("leave out --model"), std::string::npos) << result.err;
    }
    EXPECT_EQ(lrvb("check fit.json $DATA/old_faithful.csv --replicates 100").code, 2);
    EXPECT_EQ(files(), std::set<std::string>{"fit.json"});
}

TEST_F(Fits, ARangeIsFittedComparedAndWritten) {
    const Result table = lrvb("fit mixture $DATA/old_faithful.csv -k 1:3 -o fit_{k}.json");
    ASSERT_EQ(table.code, 0) << table.err;
    EXPECT_EQ(files(), (std::set<std::string>{"fit_1.json", "fit_2.json", "fit_3.json"}));
    EXPECT_NE(table.out.find("3 fits of 272 rows"), std::string::npos) << table.out;
    EXPECT_NE(table.out.find("predicts best"), std::string::npos) << table.out;
    EXPECT_NE(table.out.find("log K! added"), std::string::npos) << table.out;
    // As 'lrvb compare' has it of the files.
    const json compared = lrvb("compare fit_1.json fit_2.json fit_3.json --format json").json();
    for (const json& one : compared.at("fits")) {
        char elpd[32];
        std::snprintf(elpd, sizeof elpd, "%.2f", one.at("elpd_loo").get<double>());
        EXPECT_NE(table.out.find(elpd), std::string::npos) << elpd << "\n" << table.out;
    }
    ASSERT_EQ(lrvb("fit mixture $DATA/old_faithful.csv -k 1:2 --quiet -o best.json").out, "");
    EXPECT_EQ(json::parse(read_text(work() / "best.json")).at("model").at("components"), 2);
}

TEST_F(Fits, ARangeOfOneIsATableOfOne) {
    const Result table = lrvb("fit mixture $DATA/old_faithful.csv -k 2:2 --check never -o fit_{k}.json");
    ASSERT_EQ(table.code, 0) << table.err;
    EXPECT_EQ(files(), std::set<std::string>{"fit_2.json"});
    EXPECT_EQ(table.out.rfind("1 fit of 272 rows, each row left out by", 0), 0U) << table.out;
    EXPECT_EQ(table.out.find("NA"), std::string::npos) << table.out;
    EXPECT_EQ(table.out.find("predicts best"), std::string::npos) << table.out;
    const json loo = lrvb("loo fit_2.json $DATA/old_faithful.csv --format json").json();
    char elpd[32];
    std::snprintf(elpd, sizeof elpd, "%.2f", loo.at("elpd_loo").get<double>());
    EXPECT_NE(table.out.find(elpd), std::string::npos) << elpd << "\n" << table.out;
}

TEST_F(Fits, ARangeReadsAPipeOnce) {
    const Result result = shell("cat $DATA/old_faithful.csv | lrvb fit mixture - -k 1:3 --check never");
    EXPECT_EQ(result.code, 0) << result.err;
    EXPECT_NE(result.out.find("3 fits of 272 rows"), std::string::npos) << result.out;
}

TEST_F(Fits, ARangeThatIsNoneIsRefusedInASentence) {
    for (const char* range : {"8:1", "0:3", "1:", ":3", "1:x", "1:1000"}) {
        const Result result = lrvb(std::string("fit mixture $DATA/old_faithful.csv -k ") + range + " -o fit.json");
        EXPECT_EQ(result.code, 2) << range;
        EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
        EXPECT_TRUE(files().empty());
    }
}

TEST_F(Fits, ARangeThatIsInterruptedKeepsTheFilesThatWereThere) {
    fit("mixture $DATA/mixture3.csv -k 3 -o fit.json");
    const std::string before = read_text(work() / "fit.json");
    const Result result = shell(
        "timeout --foreground --preserve-status -s INT -k 20 1 lrvb fit mixture $DATA/mixture3.csv -k 2:3 "
        "--restarts 1000000 --quiet -o fit.json");
    EXPECT_EQ(result.code, 130);
    EXPECT_NE(result.err.find("nothing was written"), std::string::npos) << result.err;
    EXPECT_EQ(read_text(work() / "fit.json"), before);
    EXPECT_EQ(files(), std::set<std::string>{"fit.json"});
}

}  // namespace
}  // namespace lrvb::testing
