// Fit files of version 1.1, as the program before wrote them: every command says of them what it said then. The files
// and what that program printed are in tests/data/fit_1_1.

#include "program.hpp"
#include "schema.hpp"

#include <cmath>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

namespace lrvb::testing {
namespace {

constexpr double kDigits = 1e-9;  // of a number, since another order of the same sums rounds otherwise

struct OldFit {
    std::string name;
    std::string data;
    std::string new_rows;
};

void PrintTo(const OldFit& fit, std::ostream* stream) {
    *stream << fit.name;
}

class OldFiles : public ProgramTest, public ::testing::WithParamInterface<OldFit> {
  protected:
    OldFiles() {
        for (const char* folder : {LRVB_SOURCE_DIR "/tests/data/fit_1_1", LRVB_DATA_DIR}) {
            for (const auto& entry : std::filesystem::directory_iterator(folder)) {
                std::filesystem::copy(entry.path(), work() / entry.path().filename());
            }
        }
    }

    std::string file() const { return GetParam().name + ".json"; }

    // Numbers are compared as numbers, everything between them as it is.
    void expect_as_then(const std::string& command, const std::string& arguments) const {
        const Result result = lrvb(command + " " + arguments);
        EXPECT_EQ(result.code, 0) << result.err;
        const std::string then = read_text(work() / (GetParam().name + "." + command + ".txt"));
        ASSERT_FALSE(then.empty());
        const char* now = result.out.c_str();
        const char* before = then.c_str();
        while (*now != '\0' && *before != '\0') {
            char* now_end = nullptr;
            char* before_end = nullptr;
            const double is = std::strtod(now, &now_end);
            const double was = std::strtod(before, &before_end);
            // A word may begin as "inf" does.
            if (now_end != now && before_end != before && std::isfinite(is) && std::isfinite(was)) {
                ASSERT_LE(std::abs(is - was), kDigits * std::abs(was) + 1e-12) << command << ": " << before;
                now = now_end;
                before = before_end;
            } else {
                ASSERT_EQ(*now++, *before++) << command << ": " << before;
            }
        }
        EXPECT_EQ(std::string(now), std::string(before)) << command;
    }
};

TEST_P(OldFiles, AreOfVersionOneOneAndFollowTheSchema) {
    const nlohmann::json fit = nlohmann::json::parse(read_text(work() / file()));
    EXPECT_EQ(fit.at("version").at("minor"), 1);
    const nlohmann::json schema = nlohmann::json::parse(read_text(LRVB_SOURCE_DIR "/docs/fit.schema.json"));
    EXPECT_EQ(schema_error(schema, fit, "fit"), "");
}

TEST_P(OldFiles, AreSummarisedAsThen) {
    expect_as_then("summary", file() + " --format json");
}
TEST_P(OldFiles, HaveTheCovarianceThatTheyHad) {
    expect_as_then("covariance", file() + " --format json");
}
TEST_P(OldFiles, AreCheckedAsThen) {
    expect_as_then("check", file() + " " + GetParam().data + " --format json --seed 1");
}
// Those of the corrected fit are counted in the sds that it shows, which then were those of the response.
TEST_P(OldFiles, HaveTheInfluentialRowsThatTheyHad) {
    expect_as_then("influence", file() + " " + GetParam().data + " --top 5");
}
TEST_P(OldFiles, AreAsSensitiveAsThen) {
    expect_as_then("sensitivity", file() + " --all");
}
TEST_P(OldFiles, PredictAsThen) {
    expect_as_then("predict", file() + " " + GetParam().new_rows);
}

// The page has changed since; the means of what it shows have not.
TEST_P(OldFiles, AreReportedWithTheMeansThatTheyHad) {
    const Result result = lrvb("report " + file() + " " + GetParam().data + " -o -");
    ASSERT_EQ(result.code, 0) << result.err;
    const nlohmann::json then =
        nlohmann::json::parse(read_text(work() / (GetParam().name + ".summary.txt"))).at("variables");
    std::map<std::string, double> means;
    for (const nlohmann::json& variable : then) means[variable.at("name")] = variable.at("mean");
    const std::string start = "\"variables\":";  // of the page, not of the check in it
    const std::size_t to = result.out.find(",\"variables_left_out\"");
    const std::size_t from = result.out.rfind(start, to) + start.size();
    const nlohmann::json shown = nlohmann::json::parse(result.out.substr(from, to - from));
    EXPECT_GE(shown.size(), 3U);
    for (const nlohmann::json& variable : shown) {
        const double mean = means.at(variable.at("name"));
        EXPECT_NEAR(variable.at("mean"), mean, kDigits * std::abs(mean)) << variable.at("name");
    }
}

INSTANTIATE_TEST_SUITE_P(Version11, OldFiles,
                         ::testing::Values(OldFit{"mixture", "old_faithful.csv", "new_eruptions.csv"},
                                           OldFit{"mixture_corrected", "old_faithful.csv", "new_eruptions.csv"},
                                           OldFit{"regression", "mtcars.csv", "new_cars.csv"}),
                         [](const auto& instance) { return instance.param.name; });

}  // namespace
}  // namespace lrvb::testing
