// Optima that share the posterior, from the outside: tests/data/mirrored.csv holds 150 rows and their mirror images:
// two narrow groups far out and a wide one between them, of which two normals fit one narrow group and all the rest, on
// either side with the same bound.

#include "program.hpp"
#include "schema.hpp"

#include <cmath>

namespace lrvb::testing {
namespace {

using nlohmann::json;

class OtherOptima : public ProgramTest {
  protected:
    OtherOptima() { std::filesystem::copy(LRVB_SOURCE_DIR "/tests/data/mirrored.csv", work() / "mirrored.csv"); }

    Result fit(const std::string& arguments) const {
        return lrvb("fit mixture mirrored.csv -k 2 -o fit.json " + arguments);
    }
    json file() const { return json::parse(read_text(work() / "fit.json")); }
};

constexpr const char* kSaid = "another optimum holds about 50% of the posterior: mu[1] -";

TEST_F(OtherOptima, AreSaidWithEverySeedAndTheVerdictIsNotOk) {
    for (const char* seed : {"1", "2", "3"}) {
        const Result result = fit(std::string("--seed ") + seed);
        ASSERT_EQ(result.code, 0) << result.err;
        EXPECT_NE(result.out.find(std::string("warning: ") + kSaid), std::string::npos) << result.out;
        EXPECT_NE(result.out.find("optima that share the posterior"), std::string::npos) << result.out;
        // Of either, among the means of both.
        EXPECT_NE(result.out.find("-9.831"), std::string::npos);
        EXPECT_NE(result.out.find("-20.007"), std::string::npos);
        const json check = file().at("check");
        const std::string verdict = check.at("verdict");
        EXPECT_TRUE(verdict == "doubtful" || verdict == "off") << verdict;
        EXPECT_NE(result.out.find("against the exact posterior: " + verdict + ": " + kSaid), std::string::npos);
        for (const json& one : check.at("verdicts")) EXPECT_NE(one, "ok");
    }
}

TEST_F(OtherOptima, AreInTheFileWithBoundsAndShares) {
    ASSERT_EQ(fit("--quiet").code, 0);
    const json fit = file();
    const json schema = json::parse(read_text(LRVB_SOURCE_DIR "/docs/fit.schema.json"));
    EXPECT_EQ(schema_error(schema, fit, "fit"), "");
    ASSERT_EQ(fit.at("other_optima").size(), 1U);
    const json& other = fit.at("other_optima").front();
    EXPECT_NEAR(other.at("share").get<double>(), 0.5, 1e-6);
    EXPECT_NEAR(other.at("bound").get<double>(), fit.at("outcome").at("bound").get<double>(), 1e-6);
    EXPECT_EQ(other.at("variables").size(), fit.at("posterior").at("variables").size());

    const json summary = lrvb("summary fit.json --variables mu --format json").json();
    const json& there = summary.at("other_optima").front().at("variables");
    ASSERT_EQ(there.size(), 2U);
    const double here = summary.at("variables")[1].at("mean");
    EXPECT_NEAR(there[0].at("mean").get<double>(), -here, 1e-6);
    EXPECT_NEAR(there[0].at("sd").get<double>(), summary.at("variables")[1].at("sd").get<double>(), 1e-6);
}

TEST_F(OtherOptima, AreSaidWithoutACheckAndByALaterOne) {
    const Result plain = fit("--check never");
    ASSERT_EQ(plain.code, 0);
    EXPECT_NE(plain.out.find(std::string("warning: ") + kSaid), std::string::npos) << plain.out;
    for (const char* method : {"importance", "mh"}) {
        const Result result = lrvb(std::string("check fit.json mirrored.csv --format json --method ") + method);
        ASSERT_EQ(result.code, 0) << result.err;
        const json check = result.json();
        EXPECT_NE(check.at("verdict"), "ok");
        EXPECT_NE(check.at("message").get<std::string>().find(kSaid), std::string::npos);
        EXPECT_NE(check.at("trust").get<std::string>().find("kept to this optimum"), std::string::npos);
    }
}

TEST_F(OtherOptima, AreNotCorrectedAway) {
    ASSERT_EQ(fit("--quiet").code, 0);
    const Result result = lrvb("check fit.json mirrored.csv --correct -o better.json");
    EXPECT_EQ(result.code, 1);
    EXPECT_NE(result.err.find("cannot be corrected"), std::string::npos) << result.err;
    EXPECT_NE(result.err.find(kSaid), std::string::npos) << result.err;
    EXPECT_EQ(files().count("better.json"), 0U);
}

TEST_F(OtherOptima, AreInTheReport) {
    ASSERT_EQ(fit("--quiet --check never").code, 0);
    const Result result = lrvb("report fit.json mirrored.csv -o -");
    ASSERT_EQ(result.code, 0) << result.err;
    EXPECT_NE(result.out.find("\"other_optima\":[{\"bound\":-1118."), std::string::npos);
}

// Three groups at -20, 0 and 20: the mirrored fits are 46 nats below a narrow component within a wide one.
TEST_F(OtherOptima, GiveWayToTheOneThatIsBetterThanBoth) {
    std::filesystem::copy(LRVB_SOURCE_DIR "/tests/data/sym20.csv", work() / "sym20.csv");
    for (const char* seed : {"1", "2", "3"}) {
        const Result result = lrvb(std::string("fit mixture sym20.csv -k 2 --quiet -o fit.json --seed ") + seed);
        ASSERT_EQ(result.code, 0) << result.err;
        const json fit = file();
        EXPECT_FALSE(fit.contains("other_optima"));
        EXPECT_GT(fit.at("outcome").at("bound").get<double>(), -1450.0);
        const json summary = lrvb("summary fit.json --variables mu --format json").json();
        for (const json& mu : summary.at("variables")) EXPECT_NEAR(mu.at("mean").get<double>(), 0.0, 0.1);
    }
}

TEST_F(OtherOptima, AreNotListedWhereThereIsNone) {
    const Result result = lrvb("fit mixture $DATA/old_faithful.csv -k 2 -o fit.json");
    ASSERT_EQ(result.code, 0) << result.err;
    EXPECT_EQ(result.out.find("optim"), std::string::npos) << result.out;
    EXPECT_FALSE(file().contains("other_optima"));
    EXPECT_EQ(file().at("check").at("verdict"), "ok");
}

TEST_F(OtherOptima, ThatAreDamagedAreRefused) {
    ASSERT_EQ(fit("--quiet").code, 0);
    const json good = file();
    const auto refused = [&](const json& fit) {
        write("bad.json", fit.dump());
        const Result result = lrvb("summary bad.json");
        EXPECT_EQ(result.code, 1);
        EXPECT_NE(result.err.find("other_optima"), std::string::npos) << result.err;
    };
    json bad = good;
    bad["other_optima"][0]["share"] = 1.5;
    refused(bad);
    bad = good;
    bad["other_optima"][0]["variables"][0]["name"] = "nobody";
    refused(bad);
    bad = good;
    bad["other_optima"][0]["variables"][0]["sd"] = -1.0;
    refused(bad);
    // A reader that finds none of them reads the fit of before.
    bad = good;
    bad.erase("other_optima");
    bad["version"]["minor"] = 2;
    write("old.json", bad.dump());
    EXPECT_EQ(lrvb("summary old.json").code, 0);
}

}  // namespace
}  // namespace lrvb::testing
