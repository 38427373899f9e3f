// What people do with predictions and labels: intervals, JSON, tables with predictions beside the data.

#include "../says.hpp"
#include "csv.hpp"
#include "program.hpp"

#include <algorithm>
#include <cmath>

namespace lrvb::testing {
namespace {

class Predictions : public ProgramTest {
  protected:
    void fit_cars() const {
        ASSERT_EQ(
            lrvb("fit regression $DATA/mtcars.csv --response mpg -c wt,hp --check never --quiet -o cars.json").code, 0);
    }
};

// Of least squares (R: predict(lm(mpg ~ wt + hp), interval = 'prediction', level = 0.9)) half of the first car's
// interval is t(0.95; 29) √(2.59341² + 0.53²) = 4.50; the prior is worth some rows more.
TEST_F(Predictions, HaveIntervalsOfANewResponse) {
    fit_cars();
    const Csv csv = parse_csv(lrvb("predict cars.json $DATA/mtcars.csv --level 0.9").out);
    EXPECT_EQ(csv.header, (std::vector<std::string>{"row", "mean", "mean_sd", "sd", "lower", "upper"}));
    ASSERT_EQ(csv.rows.size(), 32U);
    EXPECT_NEAR(csv.number(0, "upper") - csv.number(0, "mean"), 4.50, 0.30);
    EXPECT_NEAR(csv.number(0, "upper") + csv.number(0, "lower"), 2.0 * csv.number(0, "mean"), 1e-12);
    // Tails are heavier than a normal's.
    EXPECT_GT(csv.number(0, "upper") - csv.number(0, "mean"), 1.6449 * csv.number(0, "sd") * 0.99);
    const Csv wide = parse_csv(lrvb("predict cars.json $DATA/mtcars.csv --level 0.99").out);
    EXPECT_GT(wide.number(0, "upper"), csv.number(0, "upper"));
    EXPECT_EQ(wide.rows[0][1], csv.rows[0][1]);
}

TEST_F(Predictions, OfAMixtureHaveNone) {
    ASSERT_EQ(lrvb("fit mixture $DATA/old_faithful.csv -c eruptions -k 2 --check never --quiet -o fit.json").code, 0);
    const Result result = lrvb("predict fit.json $DATA/old_faithful.csv --level 0.9");
    EXPECT_EQ(result.code, 2);
    EXPECT_EQ(result.out, "");
    EXPECT_NE(result.err.find("predictions of a mixture have no intervals"), std::string::npos) << result.err;
}

const std::string kRows = "name;wt;hp;mean\n\"Mazda; \"\"RX4\"\"\";2.620;110;x\n\"308\";;93;y\n007;3.2;123;NA\n";

TEST_F(Predictions, StandBesideTheRowsOfTheDataAlsoWhereSomeWereDropped) {
    fit_cars();
    write("new.csv", kRows);
    const Result result = lrvb("predict cars.json new.csv --append --drop-missing");
    ASSERT_EQ(result.code, 0) << result.err;
    const Csv alone = parse_csv(lrvb("predict cars.json new.csv --drop-missing").out);
    ASSERT_EQ(alone.rows.size(), 2U);
    const auto predicted = [&](std::size_t row) {
        return alone.rows[row][1] + "," + alone.rows[row][2] + "," + alone.rows[row][3] + "\n";
    };
    // Fields as they are written, in a table of commas; "mean" is there already.
    EXPECT_EQ(result.out, "name,wt,hp,mean,predicted_mean,mean_sd,sd\n\"Mazda; \"\"RX4\"\"\",2.620,110,x," +
                              predicted(0) + "\"308\",,93,y,,,\n007,3.2,123,NA," + predicted(1));
    // Without leave to drop rows they are refused, as ever.
    const Result refused = lrvb("predict cars.json new.csv --append -o out.csv");
    EXPECT_EQ(refused.code, 1);
    EXPECT_NE(refused.err.find("row 2, column 'wt': the value is missing"), std::string::npos) << refused.err;
    EXPECT_FALSE(files().contains("out.csv"));
}

TEST_F(Predictions, CarryFieldsAsTheyAre) {
    fit_cars();
    const std::string text =
        "\"two\nlines\",\"=1+1\",wt,hp\n\"a\r\nb\t\"\"c\"\" \u200D\x1b[31m\",-,2.620,110\n\" x "
        "\",@home,3.2,93\n\"\",,3,90\n";
    write("new.csv", text);
    ASSERT_EQ(lrvb("predict cars.json new.csv --append -o out.csv").code, 0);
    const std::string out = read_text(work() / "out.csv");
    EXPECT_EQ(lrvb("predict cars.json new.csv --append").out, out);
    const Csv alone = parse_csv(lrvb("predict cars.json new.csv").out);
    const auto predicted = [&](std::size_t row) {
        return "," + alone.rows[row][1] + "," + alone.rows[row][2] + "," + alone.rows[row][3] + "\n";
    };
    EXPECT_EQ(out, "\"two\nlines\",=1+1,wt,hp,mean,mean_sd,sd\n\"a\r\nb\t\"\"c\"\" \u200D\x1b[31m\",-,2.620,110" +
                       predicted(0) + "\" x \",@home,3.2,93" + predicted(1) + "\"\",,3,90" + predicted(2));
}

TEST_F(Predictions, SayWhichLevelsThereAre) {
    fit_cars();
    for (const char* level : {"0.999999999", "95", "0"}) {
        const Result result = lrvb(std::string("predict cars.json $DATA/mtcars.csv --level ") + level);
        EXPECT_EQ(result.code, 2) << level;
        EXPECT_TRUE(test::says(result.err, {"--level", level, "0.000001", "0.999999", "lrvb predict --help"}));
    }
    EXPECT_EQ(lrvb("predict cars.json $DATA/mtcars.csv --level 0.999999").code, 0);
    // Both ends have names of their own.
    const Csv narrow = parse_csv(lrvb("summary cars.json --level 0.000001 --format csv").out);
    EXPECT_EQ(narrow.header[4], "q49.99995");
    EXPECT_EQ(narrow.header[5], "q50.00005");
}

TEST_F(Predictions, AreJsonForPrograms) {
    fit_cars();
    write("new.csv", kRows);
    const Csv csv = parse_csv(lrvb("predict cars.json new.csv --drop-missing --level 0.8").out);
    const nlohmann::json rows =
        lrvb("predict cars.json new.csv --drop-missing --level 0.8 --format json").json().at("rows");
    ASSERT_EQ(rows.size(), 2U);
    for (std::size_t i = 0; i < 2; ++i) {
        for (const std::string& name : csv.header)
            EXPECT_EQ(rows[i].at(name).get<double>(), csv.number(i, name)) << name;
    }
    const nlohmann::json beside =
        lrvb("predict cars.json new.csv --append --drop-missing --format json").json().at("rows");
    ASSERT_EQ(beside.size(), 3U);
    EXPECT_EQ(beside[0].at("name"), "Mazda; \"RX4\"");
    EXPECT_EQ(beside[0].at("wt"), 2.62);
    EXPECT_EQ(beside[1].at("name"), "308");
    EXPECT_TRUE(beside[1].at("wt").is_null());
    EXPECT_TRUE(beside[1].at("predicted_mean").is_null());
    EXPECT_EQ(beside[2].at("name"), "007");
    EXPECT_TRUE(beside[2].at("mean").is_null());
    EXPECT_EQ(beside[2].at("predicted_mean").get<double>(), csv.number(1, "mean"));
    // Two columns of one name are called by their numbers, as elsewhere.
    write("twice.csv", "a,wt,hp,a\n1,2,100,3\n");
    const nlohmann::json twice = lrvb("predict cars.json twice.csv --append --format json").json().at("rows")[0];
    EXPECT_EQ(twice.at("1"), 1);
    EXPECT_EQ(twice.at("4"), 3);
}

TEST_F(Predictions, BesideTheDataNeedAFileThatCanBeReadTwice) {
    fit_cars();
    write("new.csv", kRows);
    const std::string beside = lrvb("predict cars.json new.csv --append --drop-missing").out;
    EXPECT_EQ(shell("lrvb predict cars.json - --append --drop-missing < new.csv").out, beside);
    const Result pipe = shell("cat new.csv | lrvb predict cars.json - --append --drop-missing");
    EXPECT_EQ(pipe.code, 1);
    EXPECT_TRUE(test::says(pipe.err, {"lrvb: standard input", "pipe", "twice", "save"}));
}

TEST_F(Predictions, BesideASingleColumnCountItsBlankLines) {
    write("x.csv", "x\n1\n\n2\n3\n\n\n9\n8\n");
    ASSERT_EQ(lrvb("fit mixture x.csv -k 2 --drop-missing --check never --quiet -o fit.json --labels labels.csv").code,
              0);
    const Csv beside = parse_csv(lrvb("predict fit.json x.csv --append --drop-missing").out);
    const Csv labels = parse_csv(read_text(work() / "labels.csv"));
    ASSERT_EQ(beside.rows.size(), 8U);
    ASSERT_EQ(labels.rows.size(), 8U);
    const std::vector<std::string> xs{"1", "", "2", "3", "", "", "9", "8"};
    for (std::size_t i = 0; i < 8; ++i) {
        EXPECT_EQ(beside.rows[i][0], xs[i]);
        EXPECT_EQ(labels.rows[i][0], std::to_string(i + 1));
        for (std::size_t c = 1; c < 5; ++c) {
            EXPECT_EQ(labels.rows[i][c], beside.rows[i][c]);
            EXPECT_EQ(labels.rows[i][c].empty(), xs[i].empty());
        }
    }
}

TEST_F(Predictions, AreWrittenWithTheFitAsLabels) {
    const std::string fit = "fit mixture $DATA/old_faithful.csv -k 2 --check never ";
    ASSERT_EQ(lrvb(fit + "--quiet -o fit.json --labels labels.csv").code, 0);
    const std::string predicted = lrvb("predict fit.json $DATA/old_faithful.csv").out;
    EXPECT_EQ(read_text(work() / "labels.csv"), predicted);
    EXPECT_EQ(lrvb(fit + "--labels -").out, predicted);
    // Rows that came through a pipe, and weighted ones.
    EXPECT_EQ(shell("cat $DATA/old_faithful.csv | lrvb fit mixture - -k 2 --check never --labels -").out, predicted);
    write("weighted.csv", "x,w\n1,1\n2,2\n3,1\n9,1\n8,2\n7,1\n");
    ASSERT_EQ(
        lrvb("fit mixture weighted.csv -k 2 --weights w --check never --quiet -o w.json --labels w_labels.csv").code,
        0);
    EXPECT_EQ(read_text(work() / "w_labels.csv"), lrvb("predict w.json weighted.csv").out);
}

TEST_F(Predictions, AsLabelsAreRefusedBeforeTheFitWhereTheyCannotBeWritten) {
    write("data.csv", "x\n1\n2\n3\n9\n8\n7\n");
    for (const auto& [arguments, code, words] :
         {std::tuple("--labels none/labels.csv -o fit.json", 1, "none/labels.csv"),
          std::tuple("--labels data.csv -o fit.json", 2, "--labels data.csv would replace the input"),
          std::tuple("--labels same -o same", 2, "-o and --labels name the same file"),
          std::tuple("--labels - -o -", 2, "-o and --labels name the same file")}) {
        const Result result = lrvb(std::string("fit mixture data.csv -k 2 ") + arguments);
        EXPECT_EQ(result.code, code) << arguments;
        EXPECT_NE(result.err.find(words), std::string::npos) << result.err;
        EXPECT_EQ(files(), std::set<std::string>{"data.csv"}) << arguments;
    }
}

TEST_F(Predictions, AsLabelsAreNotWrittenOfAFitThatDidNotConverge) {
    write("labels.csv", "old\n");
    const Result result =
        lrvb("fit mixture $DATA/mixture3.csv -k 3 --max-iterations 1 --quiet -o fit.json --labels labels.csv");
    EXPECT_EQ(result.code, 3);
    EXPECT_NE(result.err.find("--labels labels.csv is not written: the fit did not converge"), std::string::npos)
        << result.err;
    EXPECT_EQ(read_text(work() / "labels.csv"), "old\n");
    // Nor of one that was interrupted.
    const Result interrupted = shell(
        "timeout --foreground --preserve-status -s INT -k 20 1 lrvb fit mixture $DATA/mixture3.csv -k 3 --restarts "
        "1000000 "
        "--quiet --labels labels.csv");
    EXPECT_EQ(interrupted.code, 130);
    EXPECT_EQ(read_text(work() / "labels.csv"), "old\n");
    EXPECT_EQ(files(), (std::set<std::string>{"fit.json", "labels.csv"}));
}

class Tables : public ProgramTest {};

TEST_F(Tables, SummaryAsCsvHasEveryColumnOfTheTable) {
    ASSERT_EQ(lrvb("fit regression $DATA/mtcars.csv --response mpg -c wt,hp --prior paper --quiet -o fit.json").code,
              0);
    for (const std::string& more : {std::string(), std::string(" $DATA/mtcars.csv --robust")}) {
        const std::string table = lrvb("summary fit.json" + more).out;
        const std::size_t from = table.find("variable");
        std::istringstream titles(table.substr(from, table.find('\n', from) - from));
        const Csv csv = parse_csv(lrvb("summary fit.json --format csv" + more).out);
        for (std::string title; titles >> title;) {
            EXPECT_NE(std::find(csv.header.begin(), csv.header.end(), title), csv.header.end()) << title;
        }
        ASSERT_EQ(csv.rows.size(), 6U);
        EXPECT_NEAR(csv.number(1, "ratio"), csv.number(1, "sd") / csv.number(1, "sd_mfvb"), 1e-15);
        EXPECT_EQ(csv.rows[1][csv.column("verdict")], "ok");
    }
}

TEST_F(Tables, CovarianceAsCsvHasRowNames) {
    ASSERT_EQ(lrvb("fit regression $DATA/mtcars.csv --response mpg -c wt,hp --check never --quiet -o fit.json").code,
              0);
    const Csv csv = parse_csv(lrvb("covariance fit.json --format csv").out);
    EXPECT_EQ(csv.header[0], "variable");
    ASSERT_EQ(csv.rows.size(), csv.header.size() - 1);
    for (std::size_t i = 0; i < csv.rows.size(); ++i) EXPECT_EQ(csv.rows[i][0], csv.header[i + 1]);
    EXPECT_NEAR(csv.number(1, "beta[hp]"), csv.number(2, "beta[wt]"), 1e-18);
}

std::size_t lines_of(const std::string& text) {
    return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

// Three components of six columns: 153 variables, and 7,650 effects of the prior.
TEST_F(Tables, LargeOnesShowWhatMattersAndSayHowToGetTheRest) {
    ASSERT_EQ(lrvb("simulate mixture --weights 1,1,1 --means '0,0,0,0,0,0;9,9,9,9,9,9;18,18,18,18,18,18' --sds "
                   "'1,1,1,1,1,1;1,1,1,1,1,1;1,1,1,1,1,1' -n 300 -o data.csv")
                  .code,
              0);
    const Result fit = lrvb("fit mixture data.csv -k 3 --check never -o fit.json");
    ASSERT_EQ(fit.code, 0) << fit.err;
    const std::string said =
        "\nthe 40 of 153 variables that matter most; 'lrvb summary FIT --all' shows all, --variables those that it "
        "names\n";
    EXPECT_NE(fit.out.find(said), std::string::npos) << fit.out;
    const std::string few = lrvb("summary fit.json").out;
    EXPECT_NE(few.find(said), std::string::npos) << few;
    const std::string all = lrvb("summary fit.json --all").out;
    EXPECT_EQ(all.find("that matter most"), std::string::npos);
    EXPECT_EQ(lines_of(all), lines_of(few) - 2 + 113);
    // Means, weights and variances, and no logarithm.
    for (const char* name : {"mu[", "pi[", "Sigma["})
        EXPECT_NE(few.find(std::string("\n") + name), std::string::npos) << name;
    EXPECT_EQ(few.find("log_"), std::string::npos);
    EXPECT_EQ(parse_csv(lrvb("summary fit.json --format csv").out).rows.size(), 153U);
    EXPECT_EQ(lrvb("summary fit.json --format json").json().at("variables").size(), 153U);
    EXPECT_EQ(lrvb("summary fit.json --all --variables mu").code, 2);

    const std::string strongest = lrvb("sensitivity fit.json").out;
    EXPECT_NE(strongest.find("\nthe 20 strongest of 7650; --all shows all"), std::string::npos) << strongest;
    EXPECT_LT(lines_of(strongest), 30U);
    EXPECT_GT(lines_of(lrvb("sensitivity fit.json --all").out), 7650U);
    const Csv csv = parse_csv(lrvb("sensitivity fit.json --format csv").out);
    EXPECT_EQ(csv.rows.size(), 7650U);
    const nlohmann::json effects = lrvb("sensitivity fit.json --format json").json().at("effects");
    ASSERT_EQ(effects.size(), 7650U);
    EXPECT_EQ(effects[0].at("variable"), csv.rows[0][0]);
    EXPECT_TRUE(effects[0].at("sd_derivative").is_null());
}

// Two components of four columns: 54 variables.
TEST_F(Tables, ThatOfACheckShowsFirstWhatIsOff) {
    ASSERT_EQ(
        lrvb("simulate mixture --weights 1,1 --means '0,0,0,0;9,9,9,9' --sds '1,1,1,1;1,1,1,1' -n 60 -o data.csv").code,
        0);
    ASSERT_EQ(lrvb("fit mixture data.csv -k 2 --check never --quiet -o fit.json").code, 0);
    const Result few = lrvb("check fit.json data.csv --method importance --draws 18000");
    ASSERT_EQ(few.code, 0) << few.err;
    EXPECT_NE(few.out.find("\nthe 40 of 54 variables that matter most; 'lrvb check FIT --all' shows all, --variables "
                           "those that it names\n"),
              std::string::npos)
        << few.out;
    const std::string all = lrvb("check fit.json data.csv --method importance --draws 18000 --all").out;
    EXPECT_EQ(all.find("that matter most"), std::string::npos);
    EXPECT_EQ(lines_of(all), lines_of(few.out) - 2 + 14);
    // What is left out is right, unless there is no room for all that is not.
    const nlohmann::json variables =
        lrvb("check fit.json data.csv --method importance --draws 18000 --format json").json().at("variables");
    ASSERT_EQ(variables.size(), 54U);
    std::size_t flagged = 0;
    std::size_t shown = 0;
    std::size_t before = 0;
    for (const nlohmann::json& variable : variables) {
        const bool is_fine = variable.at("verdict") == "ok";
        const std::size_t at = few.out.find("\n" + variable.at("name").get<std::string>() + " ");
        if (!is_fine) ++flagged;
        if (at == std::string::npos) continue;
        if (!is_fine) ++shown;
        EXPECT_GT(at, before) << variable.at("name");  // in the order of the file
        before = at;
    }
    EXPECT_GT(flagged, 0U);
    EXPECT_EQ(shown, std::min<std::size_t>(flagged, 40));
    EXPECT_EQ(parse_csv(lrvb("check fit.json data.csv --method importance --draws 18000 --format csv").out).rows.size(),
              54U);
    EXPECT_EQ(
        lines_of(lrvb("check fit.json data.csv --method importance --draws 1000 --variables Sigma,Lambda,mu").out),
        lines_of(few.out) + 6);
    EXPECT_EQ(lrvb("check fit.json data.csv --all --variables mu").code, 2);
    EXPECT_EQ(lrvb("check fit.json data.csv --all --model").code, 2);
}

}  // namespace
}  // namespace lrvb::testing
