// What the program says of fits of models that were declared in C++: all that their files hold, and for the rest where
// to ask.

#include "../says.hpp"
#include "program.hpp"
#include "schema.hpp"

#include <algorithm>
#include <cmath>

namespace lrvb::testing {
namespace {

using nlohmann::json;

class DeclaredFiles : public ProgramTest {
  protected:
    static void SetUpTestSuite() {
        std::string pattern = (std::filesystem::temp_directory_path() / "lrvb_declared_XXXXXX").string();
        folder = ::mkdtemp(pattern.data());
        const std::string command = std::string(LRVB_DECLARED_FITS) + " " + folder + " > " + folder + "/said.json";
        ASSERT_EQ(std::system(command.c_str()), 0);
        said = json::parse(read_text(folder + "/said.json"));
    }
    static void TearDownTestSuite() { std::filesystem::remove_all(folder); }

    static std::string fit(const std::string& name) { return folder + "/" + name + ".json"; }

    void expect_refusal(const std::string& arguments, const std::vector<std::string>& words) const {
        const Result result = lrvb(arguments);
        EXPECT_EQ(result.code, 1) << arguments;
        EXPECT_EQ(result.out, "") << arguments;
        EXPECT_EQ(result.err.rfind("lrvb: ", 0), 0U) << result.err;
        EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
        EXPECT_TRUE(test::says(result.err, words)) << arguments;
    }

    static std::string folder;
    static json said;
};

std::string DeclaredFiles::folder;
json DeclaredFiles::said;

TEST_F(DeclaredFiles, FollowThePublishedSchema) {
    const json schema = json::parse(read_text(LRVB_SOURCE_DIR "/docs/fit.schema.json"));
    for (const char* name : {"declared", "stopped", "large"}) {
        EXPECT_EQ(schema_error(schema, json::parse(read_text(fit(name))), "fit"), "") << name;
    }
}

TEST_F(DeclaredFiles, AnswerWhatNeedsNoData) {
    const Result summary = lrvb("summary " + fit("declared"));
    EXPECT_EQ(summary.code, 0);
    EXPECT_EQ(summary.out.rfind("6 rows, a declared model, ", 0), 0U) << summary.out;
    const json covariance = lrvb("covariance " + fit("declared") + " --variables mu,log_tau --format json").json();
    EXPECT_GT(covariance.at("matrix")[0][0].get<double>(), 0.0);
    const Result sensitivity = lrvb("sensitivity " + fit("declared"));
    EXPECT_EQ(sensitivity.code, 0);
    EXPECT_NE(sensitivity.out.find("location"), std::string::npos) << sensitivity.out;
    const Result report = lrvb("report " + fit("declared") + " -o report.html");
    EXPECT_EQ(report.code, 0) << report.err;
    EXPECT_NE(read_text(work() / "report.html").find("A declared model"), std::string::npos);
}

TEST_F(DeclaredFiles, SayWhereToAskWhatNeedsTheirData) {
    const std::vector<std::string> there{"declared in C++", "data", "restore", "program"};
    write("rows.csv", "height\n4\n5\n");
    for (const char* command : {"check ", "influence ", "leverage ", "sensitivity ", "report "}) {
        expect_refusal(command + fit("declared") + " rows.csv", there);
    }
    expect_refusal("predict " + fit("declared") + " rows.csv", {"C++", "predictions", "variable"});
    EXPECT_FALSE(files().contains("report.html"));
}

TEST_F(DeclaredFiles, AreNoKindThatTheProgramFits) {
    write("rows.csv", "height\n4\n5\n");
    const Result result = lrvb("fit declared rows.csv");
    EXPECT_EQ(result.code, 2);
    EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
}

TEST_F(DeclaredFiles, ThatDidNotConvergeSaySo) {
    const json summary = lrvb("summary " + fit("stopped") + " --format json").json();
    EXPECT_EQ(summary.at("converged"), false);
    EXPECT_TRUE(summary.at("variables")[0].at("sd").is_null());
    EXPECT_EQ(lrvb("covariance " + fit("stopped")).code, 1);
    EXPECT_EQ(lrvb("covariance " + fit("stopped") + " --method mfvb").code, 0);
    EXPECT_EQ(lrvb("sensitivity " + fit("stopped")).code, 1);
    EXPECT_EQ(lrvb("report " + fit("stopped")).code, 0);
}

TEST_F(DeclaredFiles, OfTenThousandVariablesAreSummarisedByTheirGlobals) {
    const Result summary = lrvb("summary " + fit("large"));
    EXPECT_EQ(summary.code, 0);
    EXPECT_NE(summary.out.find("\nnot shown: effect (10000); --variables shows them\n"), std::string::npos);
    EXPECT_LT(std::count(summary.out.begin(), summary.out.end(), '\n'), 12);
    const json some = lrvb("summary " + fit("large") + " --variables mu,tau,effect[77] --format json").json();
    ASSERT_EQ(some.at("variables").size(), 3U);
    for (std::size_t v = 0; v < 3; ++v) {
        const json& row = some.at("variables")[v];
        const double sd = said.at("sd")[v];
        EXPECT_NEAR(row.at("mean"), said.at("mean")[v], 1e-9 * sd) << row;
        EXPECT_NEAR(row.at("sd"), sd, 1e-9 * sd) << row;
    }
    const Result all = lrvb("summary " + fit("large") + " --variables effect --format csv");
    EXPECT_EQ(std::count(all.out.begin(), all.out.end(), '\n'), 10001);
}

TEST_F(DeclaredFiles, OfTenThousandVariablesAnswerForCovariances) {
    const json answer = lrvb("covariance " + fit("large") + " --variables mu,tau,effect[77] --format json").json();
    for (std::size_t i = 0; i < 3; ++i) {
        for (std::size_t j = 0; j < 3; ++j) {
            const double scale = said.at("sd")[i].get<double>() * said.at("sd")[j].get<double>();
            EXPECT_NEAR(answer.at("matrix")[i][j], said.at("covariance")[i][j], 1e-9 * scale) << i << j;
        }
    }
    EXPECT_EQ(lrvb("covariance " + fit("large") + " --format csv").code, 0);
}

TEST_F(DeclaredFiles, OfTenThousandVariablesHaveAReportOfTheirGlobals) {
    EXPECT_EQ(lrvb("report " + fit("large") + " -o report.html").code, 0);
    EXPECT_LT(std::filesystem::file_size(work() / "report.html"), 1000000U);
}

}  // namespace
}  // namespace lrvb::testing
