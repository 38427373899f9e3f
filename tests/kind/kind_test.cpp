// The program with the kind of counts_kind.cpp, from the outside: every command, against closed forms. With A the
// prior's shape and all counts of a group, and B the prior's rate and all its exposures, the posterior of a rate is
// Gamma(A, B): mean A/B, variance A/B².

#include "../says.hpp"
#include "cli/csv.hpp"
#include "cli/program.hpp"
#include "cli/xml.hpp"

#include <cmath>
#include <map>

namespace lrvb::testing {
namespace {

using nlohmann::json;

struct Gamma {
    double shape = 0.0;
    double rate = 0.0;
    double mean() const { return shape / rate; }
    double sd() const { return std::sqrt(shape) / rate; }
};

const std::string kOptions = " --count visits --exposure hours --group place --prior-shape 2 --prior-rate 0.5";
const std::string kVisits =
    "visits,hours,place\n"
    "3,1,north\n"
    "0,0.5,south\n"
    "7,4,north\n"
    "2,2,south\n"
    "4,1.5,north\n";
const Gamma kNorth{16.0, 7.0};
const Gamma kSouth{4.0, 3.0};

class Counts : public ProgramTest {
  protected:
    void SetUp() override {
        write("visits.csv", kVisits);
        const Result result = lrvb("fit counts visits.csv -o fit.json" + kOptions);
        ASSERT_EQ(result.code, 0) << result.err;
        fitted_ = result.out;
    }
    static std::map<std::string, json> by_name(const json& parsed) {
        std::map<std::string, json> found;
        for (const json& variable : parsed.at("variables")) found[variable.at("name")] = variable;
        return found;
    }
    std::map<std::string, json> summary(const std::string& fit) const {
        return by_name(lrvb("summary " + fit + " --format json").json());
    }
    /// The program must end with bad input and one sentence that holds these words.
    void refused(const std::string& arguments, const std::vector<std::string>& words) const {
        const Result result = lrvb(arguments);
        EXPECT_EQ(result.code, 1) << arguments;
        EXPECT_EQ(result.err.rfind("lrvb: ", 0), 0U) << result.err;
        EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
        EXPECT_TRUE(test::says(result.err, words)) << arguments;
        EXPECT_EQ(result.out, "");
    }

    std::string fitted_;
};

TEST_F(Counts, AFitPrintsItsHeadlineItsRatesAndItsCheck) {
    EXPECT_EQ(fitted_.find("5 rows, 2 rates, 1 pass, bound "), 0U) << fitted_;
    EXPECT_NE(fitted_.find("rate[north]"), std::string::npos);
    EXPECT_NE(fitted_.find("against the exact posterior: ok: "), std::string::npos);
}

// The evidence of a Poisson with a Gamma rate, in closed form: Γ(A)/Γ(a) bᵃ/Bᴬ Π eʸ/y! for each group.
TEST_F(Counts, TheBoundIsTheLogEvidence) {
    const auto log_evidence = [](const Gamma& posterior, const std::vector<std::pair<double, double>>& rows) {
        double sum = std::lgamma(posterior.shape) - std::lgamma(2.0) + 2.0 * std::log(0.5) -
                     posterior.shape * std::log(posterior.rate);
        for (const auto& [y, e] : rows) sum += y * std::log(e) - std::lgamma(y + 1.0);
        return sum;
    };
    const double expected = log_evidence(kNorth, {{3, 1}, {7, 4}, {4, 1.5}}) + log_evidence(kSouth, {{0, 0.5}, {2, 2}});
    EXPECT_NEAR(lrvb("summary fit.json --format json").json().at("elbo"), expected, 1e-10);
}

TEST_F(Counts, ASummaryHasTheMomentsOfTheGammasInEveryFormat) {
    const auto variables = summary("fit.json");
    const Csv csv = parse_csv(lrvb("summary fit.json --format csv --variables rate").out);
    const std::string table = lrvb("summary fit.json --variables rate").out;
    ASSERT_EQ(csv.rows.size(), 2U);
    ASSERT_EQ(variables.size(), 4U);
    for (const auto& [name, gamma, row] :
         {std::tuple{"rate[north]", kNorth, 0U}, std::tuple{"rate[south]", kSouth, 1U}}) {
        const json& own = variables.at(name);
        EXPECT_NEAR(own.at("mean"), gamma.mean(), 1e-12);
        EXPECT_NEAR(own.at("sd"), gamma.sd(), 1e-12);
        EXPECT_NEAR(own.at("sd_mfvb"), gamma.sd(), 1e-12);
        EXPECT_EQ(own.at("verdict"), "ok");
        EXPECT_EQ(csv.rows[row][0], name);
        EXPECT_EQ(csv.number(row, "mean"), own.at("mean"));
        EXPECT_EQ(csv.number(row, "q95"), own.at("q95"));
        EXPECT_NE(table.find(name), std::string::npos);
    }
    EXPECT_EQ(table.find("log_rate"), std::string::npos);
}

TEST_F(Counts, CovariancesAreThoseOfARateAndItsLogarithm) {
    const json parsed = lrvb("covariance fit.json --format json").json();
    EXPECT_EQ(parsed.at("names"), json({"rate[north]", "log_rate[north]", "rate[south]", "log_rate[south]"}));
    EXPECT_NEAR(parsed.at("matrix")[0][0], 16.0 / 49.0, 1e-12);
    EXPECT_NEAR(parsed.at("matrix")[0][1], 1.0 / 7.0, 1e-12);  // Cov(x, log x) = 1/B
    EXPECT_NEAR(parsed.at("matrix")[0][2], 0.0, 1e-15);
    EXPECT_NE(lrvb("covariance fit.json --correlation").out.find("rate[south]"), std::string::npos);
}

TEST_F(Counts, BothChecksFindNothingOff) {
    for (const std::string method : {"importance", "mh"}) {
        const json parsed = lrvb("check fit.json visits.csv --format json --method " + method).json();
        EXPECT_EQ(parsed.at("verdict"), "ok") << method;
        EXPECT_EQ(parsed.at("variables").size(), 4U);
    }
}

// 4,000 draws tell a mean to within 0.1 sd, which is more than six of its standard errors.
TEST_F(Counts, ACorrectedFitIsSummarisedPredictsAndIsAskedOn) {
    ASSERT_EQ(lrvb("check fit.json visits.csv --correct -o corrected.json").code, 0);
    const auto variables = summary("corrected.json");
    const double mean = variables.at("rate[north]").at("mean");
    const double sd = variables.at("rate[north]").at("sd");
    EXPECT_NEAR(mean, kNorth.mean(), 0.1 * kNorth.sd());
    EXPECT_NE(mean, kNorth.mean());
    EXPECT_NE(lrvb("summary corrected.json").out.find("corrected by 4000 draws"), std::string::npos);

    write("new.csv", "hours,place\n2,north\n");
    const Result predicted = lrvb("predict corrected.json new.csv");
    EXPECT_EQ(predicted.err, "");
    const Csv csv = parse_csv(predicted.out);
    EXPECT_NEAR(csv.number(0, "mean"), 2.0 * mean, 1e-12);
    EXPECT_NEAR(csv.number(0, "sd"), std::sqrt(4.0 * sd * sd + 2.0 * mean), 1e-12);

    EXPECT_EQ(lrvb("check corrected.json visits.csv --format json --seed 2").json().at("verdict"), "ok");
    const std::string before = lrvb("influence fit.json visits.csv -o -").out;
    EXPECT_EQ(lrvb("influence corrected.json visits.csv -o -").out, before);
    EXPECT_EQ(lrvb("report corrected.json visits.csv").code, 0);
}

// The derivative of A/B in the weight of a row is (y − e·mean)/B.
TEST_F(Counts, InfluenceIsTheDerivativeInTheWeightOfEveryRow) {
    const Csv csv = parse_csv(lrvb("influence fit.json visits.csv -o -").out);
    EXPECT_EQ(csv.header,
              (std::vector<std::string>{"row", "visits", "hours", "distance", "rate[north]", "rate[south]"}));
    const Csv data = parse_csv(kVisits);
    ASSERT_EQ(csv.rows.size(), 5U);
    for (std::size_t n = 0; n < 5; ++n) {
        const bool is_north = data.rows[n][2] == "north";
        const Gamma& own = is_north ? kNorth : kSouth;
        const double y = data.number(n, "visits");
        const double e = data.number(n, "hours");
        EXPECT_EQ(csv.number(n, "visits"), y);
        EXPECT_EQ(csv.number(n, "hours"), e);
        const double shift = -(y - e * own.mean()) / own.rate / own.sd();
        EXPECT_NEAR(csv.number(n, is_north ? "rate[north]" : "rate[south]"), shift, 1e-10);
        EXPECT_NEAR(csv.number(n, is_north ? "rate[south]" : "rate[north]"), 0.0, 1e-12);
        EXPECT_NEAR(csv.number(n, "distance"), std::abs(shift), 1e-10);
    }
}

// Without row 3 north is Gamma(9, 3): its mean moves from 16/7 to 3.
TEST_F(Counts, ARefitWithoutARowIsThatOfTheGammaWithoutIt) {
    const Result result = lrvb("influence fit.json visits.csv --refit --top 1");
    EXPECT_NE(result.out.find("the 1 most influential of 5 rows"), std::string::npos);
    char expected[20];
    std::snprintf(expected, sizeof expected, "%.3f", (3.0 - kNorth.mean()) / kNorth.sd());
    const std::string line = result.out.substr(result.out.find("refitted"));
    EXPECT_NE(line.find(expected), std::string::npos) << result.out;
    // The only row of a group can go as well: then the prior speaks.
    write("alone.csv", kVisits + "5,2,west\n");
    ASSERT_EQ(lrvb("fit counts alone.csv --quiet -o alone.json" + kOptions).code, 0);
    const Result alone = lrvb("influence alone.json alone.csv --refit --variables 'rate[west]' --top 1");
    std::snprintf(expected, sizeof expected, "%.3f", (2.0 / 0.5 - 7.0 / 2.5) / (std::sqrt(7.0) / 2.5));
    EXPECT_NE(alone.out.find(expected), std::string::npos) << alone.out;
}

TEST_F(Counts, ThereIsNoLeverageOfCounts) {
    refused("leverage fit.json visits.csv", {"leverage", "continuous", "'lrvb influence'"});
}

// Derivatives of A/B and of √A/B in shape and rate.
TEST_F(Counts, SensitivitiesAreTheDerivativesOfTheMoments) {
    for (const std::string data : {"", " visits.csv"}) {
        const Csv csv = parse_csv(lrvb("sensitivity fit.json" + data + " --variables rate -o -").out);
        ASSERT_EQ(csv.rows.size(), 4U);
        for (std::size_t i = 0; i < 4; ++i) {
            const Gamma& own = csv.rows[i][0] == "rate[north]" ? kNorth : kSouth;
            const bool is_shape = csv.rows[i][1] == "shape";
            EXPECT_NEAR(csv.number(i, "mean_derivative"), is_shape ? 1.0 / own.rate : -own.mean() / own.rate, 1e-10);
            if (data.empty()) {
                EXPECT_EQ(csv.rows[i][csv.column("sd_derivative")], "NA");
            } else {
                EXPECT_NEAR(csv.number(i, "sd_derivative"),
                            is_shape ? 0.5 / std::sqrt(own.shape) / own.rate : -own.sd() / own.rate, 1e-5);
            }
        }
    }
    EXPECT_NE(lrvb("sensitivity fit.json visits.csv").out.find("The prior matters: "), std::string::npos);
}

// Of a rate with mean M and variance V and an exposure e: M e, e √V and √(V e² + M e).
TEST_F(Counts, PredictionsOfNewRowsFollowFromTheRates) {
    write("new.csv", "place,hours,who\nsouth,3,a\nnorth,NA,b\nnorth,0.25,c\n");
    const Csv csv = parse_csv(lrvb("predict fit.json new.csv --drop-missing").out);
    EXPECT_EQ(csv.header, (std::vector<std::string>{"row", "mean", "mean_sd", "sd"}));
    ASSERT_EQ(csv.rows.size(), 2U);
    EXPECT_EQ(csv.rows[0][0], "1");
    EXPECT_EQ(csv.rows[1][0], "3");
    for (const auto& [row, own, e] : {std::tuple{0U, kSouth, 3.0}, std::tuple{1U, kNorth, 0.25}}) {
        EXPECT_NEAR(csv.number(row, "mean"), e * own.mean(), 1e-12);
        EXPECT_NEAR(csv.number(row, "mean_sd"), e * own.sd(), 1e-12);
        EXPECT_NEAR(csv.number(row, "sd"), std::sqrt(std::pow(e * own.sd(), 2) + e * own.mean()), 1e-12);
    }
}

TEST_F(Counts, RowsWithMissingValuesAreRefusedOrKeepTheNumbersOfTheOthers) {
    write("holes.csv",
          "visits,hours,place\n3,1,north\nNA,1,north\n7,4,north\n2,2,south\n9,1,\n0,0.5,south\n4,1.5,north\n");
    refused("fit counts holes.csv" + kOptions,
            {"holes.csv", "'visits'", "--drop-missing", "row 2", "2", "missing", "fill"});
    ASSERT_EQ(lrvb("fit counts holes.csv --drop-missing -o holes.json" + kOptions).code, 0);
    EXPECT_NEAR(summary("holes.json").at("rate[north]").at("mean"), kNorth.mean(), 1e-12);
    const Csv csv = parse_csv(lrvb("influence holes.json holes.csv -o -").out);
    ASSERT_EQ(csv.rows.size(), 5U);
    EXPECT_EQ(csv.rows[1][0], "3");
    EXPECT_EQ(csv.rows[4][0], "7");
}

TEST_F(Counts, AReportIsWrittenWithDataAndWithout) {
    for (const std::string data : {"", " visits.csv"}) {
        const Result result = lrvb("report fit.json" + data + " -o page.html");
        EXPECT_EQ(result.code, 0) << result.err;
        const std::string page = read_text(work() / "page.html");
        EXPECT_NE(page.find("<title>Rates of visits</title>"), std::string::npos);
        EXPECT_NE(page.find("Counts of visits with a Gamma rate for each place"), std::string::npos);
    }
}

TEST_F(Counts, PicturesOfAKindThatDrawsNothingOfItsOwnHaveItsHistograms) {
    const XmlElement picture = XmlReader::read(lrvb("plot fit.json visits.csv --figure fit").out);
    EXPECT_EQ(picture.of_class("panel").size(), 2U);
    const XmlElement one = XmlReader::read(lrvb("plot fit.json visits.csv --figure fit -c hours").out);
    ASSERT_EQ(one.of_class("panel").size(), 1U);
    const XmlAxis up(*one.of_class("up").at(0));
    double rows = 0.0;
    for (const XmlElement* bar : one.of_class("bin")) rows += up.value(bar->number("y"));
    EXPECT_NEAR(rows, 5.0, 1e-3);
    for (const std::string figure : {"intervals", "correlation", "influence"}) {
        const Result result = lrvb("plot fit.json visits.csv --figure " + figure);
        EXPECT_EQ(result.code, 0) << result.err;
        EXPECT_EQ(XmlReader::read(result.out).name, "svg");
    }
}

TEST_F(Counts, AFitThroughPipesIsTheSame) {
    const Result piped = shell("lrvb fit counts - -o -" + kOptions + " < visits.csv | lrvb summary - --format csv");
    EXPECT_EQ(piped.code, 0) << piped.err;
    EXPECT_EQ(piped.out, lrvb("summary fit.json --format csv").out);
}

// All counts under one rate, and no exposures: A = 2 + 16, B = 0.5 + 5.
TEST_F(Counts, ExposuresAndGroupsMayBeLeftOut) {
    const Result result = lrvb("fit counts visits.csv --count 1 --prior-shape 2 --prior-rate 0.5 -o plain.json");
    EXPECT_EQ(result.out.find("5 rows, one rate, "), 0U);
    const Gamma all{18.0, 5.5};
    EXPECT_NEAR(summary("plain.json").at("rate").at("mean"), all.mean(), 1e-12);
    const Csv csv = parse_csv(lrvb("predict plain.json visits.csv").out);
    ASSERT_EQ(csv.rows.size(), 5U);
    EXPECT_NEAR(csv.number(4, "sd"), std::sqrt(all.sd() * all.sd() + all.mean()), 1e-12);
    EXPECT_EQ(lrvb("check plain.json visits.csv --format json").json().at("verdict"), "ok");
    EXPECT_EQ(lrvb("report plain.json visits.csv").code, 0);
}

// More statistics than are kept as matrices: the file keeps a Hessian, and answers from it.
TEST_F(Counts, AThousandGroupsAndMoreAreSavedAndLoaded) {
    std::string text = "y,group\n";
    for (int g = 0; g < 1200; ++g) text += std::to_string(g % 7) + "," + std::to_string(g) + "\n";
    write("many.csv", text);
    ASSERT_EQ(lrvb("fit counts many.csv --count y --group group --prior-shape 2 --prior-rate 3 --check never --quiet "
                   "-o many.json")
                  .code,
              0);
    const json parsed = lrvb("covariance many.json --variables 'rate[40],log_rate[40]' --format json").json();
    EXPECT_NEAR(parsed.at("matrix")[0][0], (2.0 + 5.0) / 16.0, 1e-10);  // 40 mod 7 is 5
    EXPECT_NEAR(parsed.at("matrix")[0][1], 1.0 / 4.0, 1e-10);
    const Csv csv = parse_csv(lrvb("influence many.json many.csv --variables 'rate[40]' -o -").out);
    EXPECT_NEAR(csv.number(40, "rate[40]"), -(5.0 - 7.0 / 4.0) / std::sqrt(7.0), 1e-10);
}

TEST_F(Counts, HelpAndCompletionKnowTheKind) {
    const Result help = lrvb("help fit counts");
    EXPECT_EQ(help.code, 0);
    for (const std::string word : {"Fit rates of counts with exposures", "--count TEXT REQUIRED", "--exposure",
                                   "--prior-shape NUMBER", "--drop-missing", "--tolerance"}) {
        EXPECT_NE(help.out.find(word), std::string::npos) << word;
    }
    EXPECT_EQ(help.out.find("--columns"), std::string::npos) << "every column has an option of its own";
    EXPECT_EQ(lrvb("fit counts --help").out, help.out);
    EXPECT_NE(lrvb("fit --help").out.find("counts"), std::string::npos);
    for (const std::string name : {"bash", "zsh", "fish"}) {
        EXPECT_NE(lrvb("completion " + name).out.find("exposure"), std::string::npos);
    }
    const Result completed = shell(
        "bash -c 'source <(lrvb completion bash); COMP_WORDS=(lrvb fit counts --exp); COMP_CWORD=3; _lrvb; echo "
        "\"${COMPREPLY[*]}\"'");
    EXPECT_EQ(completed.out, "--exposure\n") << completed.err;
}

TEST_F(Counts, BadInputEndsInASentence) {
    refused("fit counts visits.csv --count nothing",
            {"visits.csv", "'nothing'", "'visits'", "'hours'", "'place'", "1", "3", "numbers", "give"});
    refused("fit counts visits.csv --count hours", {"visits.csv", "'hours'", "row 2", "0.5", "0", "correct"});
    refused("fit counts visits.csv --count place", {"visits.csv", "'place'", "'south'", "text", "numbers"});
    write("negative.csv", "y,e\n1,1\n-1,1\n");
    refused("fit counts negative.csv --count y", {"negative.csv", "'y'", "row 2", "-1", "0", "correct"});
    write("zero.csv", "y,e\n1,1\n2,0\n");
    refused("fit counts zero.csv --count y --exposure e", {"zero.csv", "'e'", "row 2", "0", "correct"});
    write("new.csv", "hours,place\n1,north\n1,east\n");
    refused("predict fit.json new.csv", {"new.csv", "'place'", "'east'", "row 2", "correct"});
    write("other.csv", "visits,hours,place\n3,1,north\n0,0.5,south\n7,4,north\n2,2,south\n5,1.5,north\n");
    refused("check fit.json other.csv", {"other.csv", "visits.csv", "5 rows", "numbers", "give"});
}

TEST_F(Counts, WrongUsagePointsToTheHelp) {
    const auto wrong = [&](const std::string& arguments, const std::vector<std::string>& words) {
        const Result result = lrvb(arguments);
        EXPECT_EQ(result.code, 2) << arguments;
        EXPECT_EQ(result.err.rfind("lrvb: ", 0), 0U) << result.err;
        EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
        EXPECT_TRUE(test::says(result.err, words)) << arguments;
        EXPECT_TRUE(test::says(result.err, {"lrvb fit counts --help"}));
    };
    wrong("fit counts visits.csv", {"--count", "required"});
    wrong("fit counts visits.csv --count visits --prior-rate 0", {"--prior-rate", "0", "positive"});
    wrong("fit counts visits.csv --count visits -o visits.csv", {"-o", "visits.csv", "replace", "another name"});
    EXPECT_EQ(lrvb("fit counts visits.csv --count visits -c hours").code, 2);
}

TEST_F(Counts, ADamagedFileIsRefused) {
    json fit = json::parse(read_text(work() / "fit.json"));
    fit["model"].erase("prior");
    write("damaged.json", fit.dump());
    const Result result = lrvb("summary damaged.json");
    EXPECT_EQ(result.code, 1);
    EXPECT_NE(result.err.find("model.prior"), std::string::npos) << result.err;
    fit = json::parse(read_text(work() / "fit.json"));
    fit["parameters"].erase(0);
    write("damaged.json", fit.dump());
    EXPECT_NE(lrvb("summary damaged.json").err.find("must be 2 rates"), std::string::npos);
    fit["model"]["type"] = "tides";
    write("tides.json", fit.dump());
    refused("summary tides.json", {"tides.json", "'tides'", "program that wrote it"});
}

}  // namespace
}  // namespace lrvb::testing
