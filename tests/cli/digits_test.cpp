// Numbers for people: as many digits as they are worth, however large or small.

#include "program.hpp"

#include <algorithm>
#include <cmath>
#include <iomanip>
#include <map>
#include <vector>

namespace lrvb::testing {
namespace {

using nlohmann::json;

class Digits : public ProgramTest {
  protected:
    /// The cells of a table, by the name in the first column.
    static std::map<std::string, std::vector<std::string>> table(const std::string& text) {
        std::map<std::string, std::vector<std::string>> rows;
        std::istringstream lines(text);
        for (std::string line; std::getline(lines, line);) {
            std::istringstream cells(line);
            std::string name;
            cells >> name;
            for (std::string cell; cells >> cell;) rows[name].push_back(cell);
        }
        return rows;
    }
    /// All lines of the table have one width.
    static bool is_aligned(const std::string& text) {
        std::istringstream lines(text.substr(text.find("variable")));
        std::set<std::size_t> widths;
        for (std::string line; std::getline(lines, line) && !line.empty();) widths.insert(line.size());
        return widths.size() == 1;
    }
    json fit_file() const { return json::parse(read_text(work() / "fit.json")); }
};

TEST_F(Digits, MeansOfTimestampsAreToldApart) {
    for (const std::string sign : {"", "-"}) {
        ASSERT_EQ(shell("sed 's/^1/" + sign + "1/' " LRVB_SOURCE_DIR "/tests/data/ts.csv > ts.csv").code, 0);
        ASSERT_EQ(lrvb("fit mixture ts.csv -k 2 --quiet -o fit.json").code, 0);
        const Result shown = lrvb("summary fit.json --variables mu");
        const Result exact = lrvb("summary fit.json --variables mu --format json");
        EXPECT_TRUE(is_aligned(shown.out)) << shown.out;
        auto cells = table(shown.out);
        const json all = exact.json();
        for (const json& variable : all.at("variables")) {
            const std::vector<std::string>& row = cells.at(variable.at("name"));
            EXPECT_NEAR(std::stod(row.at(0)), variable.at("mean").get<double>(), 5.1e-4) << shown.out;
            EXPECT_EQ(row.at(0).find('e'), std::string::npos) << row.at(0);
            const auto q5 = static_cast<std::size_t>(row.size() - 3);
            EXPECT_NEAR(std::stod(row.at(q5)), variable.at("q5").get<double>(), 5.1e-4) << shown.out;
        }
        const Result checked = lrvb("check fit.json ts.csv --variables mu");
        EXPECT_NEAR(std::stod(table(checked.out).at("mu[2]").at(0)) - std::stod(table(checked.out).at("mu[1]").at(0)),
                    100.0, 5.0)
            << checked.out;
        const Result sensitivity = lrvb("sensitivity fit.json --variables mu");
        EXPECT_EQ(sensitivity.out.find("1.7e+09"), std::string::npos) << sensitivity.out;
    }
}

// A hundred numbers about 1 with an sd of 1e-11: their mean has one of 1e-12.
TEST_F(Digits, AMeanHasAllDigitsDownToASmallSd) {
    std::ostringstream text;
    text << "x\n" << std::setprecision(17);
    for (int i = 0; i < 100; ++i) text << 1.0 + 1e-11 * std::sin(37.0 * i) << '\n';
    write("x.csv", text.str());
    ASSERT_EQ(lrvb("fit mixture x.csv -k 1 --check never --quiet -o fit.json").code, 0);
    const Result shown = lrvb("summary fit.json --variables mu");
    EXPECT_TRUE(is_aligned(shown.out)) << shown.out;
    const std::vector<std::string> row = table(shown.out).at("mu[1]");
    EXPECT_EQ(row.at(0).size(), std::string("1.000000000000000").size()) << shown.out;
    EXPECT_NE(row.at(1).find("e-1"), std::string::npos) << shown.out;
}

TEST_F(Digits, AHugeBoundHasFewDigits) {
    ASSERT_EQ(lrvb("fit mixture $DATA/old_faithful.csv -c eruptions -k 2 --quiet -o fit.json").code, 0);
    json fit = fit_file();
    bool found = false;
    for (auto& [section, entries] : fit.items()) {
        for (const char* name : {"bound", "elbo"}) {
            if (!entries.is_object() || !entries.contains(name)) continue;
            entries[name] = -1e300;
            found = true;
        }
    }
    ASSERT_TRUE(found);
    write("fit.json", fit.dump());
    const Result shown = lrvb("summary fit.json --variables mu");
    EXPECT_NE(shown.out.find("bound -1.0000e+300, "), std::string::npos) << shown.out.substr(0, 400) << shown.err;
}

TEST_F(Digits, WhatIsHeldIsShownAsItIs) {
    write("at.json", R"({"means": [1700000000.5, 1700000100.25]})");
    const std::string data = LRVB_SOURCE_DIR "/tests/data/ts.csv";
    ASSERT_EQ(lrvb("fit mixture " + data + " -k 2 --fix means --at at.json --quiet -o fit.json").code, 0);
    const Result shown = lrvb("summary fit.json --variables mu");
    EXPECT_EQ(table(shown.out).at("mu[1]").at(0), "1700000000.5") << shown.out;
    EXPECT_EQ(table(shown.out).at("mu[2]").at(0), "1700000100.25") << shown.out;
}

TEST_F(Digits, PreciseDataAreNotShownAsWideAsTheirPrior) {
    const std::string data = LRVB_SOURCE_DIR "/tests/data/";
    const Result regression = lrvb("fit regression " + data + "t.csv --response y");
    EXPECT_NEAR(std::stod(table(regression.out).at("sigma").at(0)), 0.038, 0.002) << regression.out;
    EXPECT_EQ(regression.out.find("warning"), std::string::npos) << regression.out;
    const Result mixture = lrvb("fit mixture " + data + "m_narrow.csv -k 2");
    EXPECT_NEAR(std::stod(table(mixture.out).at("sigma[1]").at(0)), 0.001, 1.5e-4) << mixture.out;
    EXPECT_NEAR(std::stod(table(mixture.out).at("sigma[2]").at(0)), 0.001, 1.5e-4) << mixture.out;
    EXPECT_EQ(mixture.out.find("warning"), std::string::npos) << mixture.out;
    const Result paper = lrvb("fit regression " + data + "t.csv --response y --prior paper -o fit.json");
    EXPECT_NE(paper.out.find("warning: sigma depends on the prior: with rate 0.05 instead of 0.1"), std::string::npos)
        << paper.out;
    EXPECT_EQ(fit_file().at("warnings").size(), 1);
}

}  // namespace
}  // namespace lrvb::testing
