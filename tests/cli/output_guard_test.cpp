// No output of a command replaces one of its inputs, by whatever path or link. The commands and their output options
// are those that the program itself declares.

#include "cli/program.hpp"
#include "program.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

namespace lrvb::testing {
namespace {

struct Call {
    std::string arguments;
    std::vector<std::string> inputs;  // which these arguments read or name
};

// Every command with output options stands here: those without inputs with an empty list.
std::map<std::string, std::vector<Call>> calls() {
    const std::vector<Call> with_data{{"fit.json d.csv", {"fit.json", "d.csv"}},
                                      {"fit.json @list.txt", {"list.txt", "d.csv"}},
                                      {"- d.csv < fit.json", {"fit.json"}}};
    return {
        {"fit mixture",
         {{"d.csv -k 1 -c x", {"d.csv"}},
          {"@list.txt -k 1 -c x", {"list.txt", "d.csv"}},
          {"'d*.csv' -k 1 -c x", {"d.csv"}},
          {"/dev/stdin -k 1 -c x < d.csv", {"d.csv"}},
          {"d.csv -k 1 -c x --fix means --at values.json", {"values.json"}}}},
        {"fit regression", {{"d.csv 'y ~ x'", {"d.csv"}}, {"- 'y ~ x' < d.csv", {"d.csv"}}}},
        {"fit model", {{"m.bug m.json", {"m.bug", "m.json"}}, {"m.bug - < m.json", {"m.json"}}}},
        {"simulate mixture", {{"-k 2", {}}}},
        {"check",
         {{"fit.json", {"fit.json", "d.csv"}},
          {"list_fit.json", {"list.txt", "d.csv"}},
          {"model_fit.json m.json", {"m.bug", "m.json"}}}},
        {"loo", with_data},
        {"predict", with_data},
        {"leverage", with_data},
        {"influence", with_data},
        {"sensitivity", {{"fit.json", {"fit.json", "d.csv"}}}},
        {"report", {{"fit.json", {"fit.json", "d.csv"}}, {"fit.json --check check.json", {"check.json"}}}},
        {"plot", {{"fit.json", {"fit.json", "d.csv"}}}},
        {"reproduce", {{"theorems", {}}}},
    };
}

class OutputGuardTest : public ProgramTest {
  protected:
    void SetUp() override {
        std::string rows = "x,y\n";
        for (int i = 0; i < 30; ++i) rows += std::to_string(i % 7) + "," + std::to_string((i * i) % 11) + "\n";
        write("d.csv", rows);
        write("list.txt", "d.csv\n");
        write("values.json", R"({"means": [[3]]})");
        write("m.bug", "model { for (i in 1:N) { y[i] ~ dnorm(mu, 1) } mu ~ dnorm(0, 0.01) }");
        write("m.json", R"({"N": 3, "y": [1, 2, 4]})");
        const auto make = [&](const std::string& arguments) {
            const Result result = lrvb(arguments);
            ASSERT_EQ(result.code, 0) << arguments << result.err;
        };
        make("fit regression d.csv 'y ~ x' --check never -o fit.json --quiet");
        make("fit mixture @list.txt -k 1 -c x --check never -o list_fit.json --quiet");
        make("fit model m.bug m.json --check never -o model_fit.json --quiet");
        make("check fit.json d.csv --format json > check.json");
    }
};

TEST_F(OutputGuardTest, RefusesToReplaceAnInputByAnyOutputOptionOfAnyCommand) {
    const std::map<std::string, std::vector<Call>> known = calls();
    int options = 0;
    for (const cli::Command& command : cli::all_commands()) {
        for (const OptionInfo& option : command.options) {
            if (option.type != OptionInfo::Type::output) continue;
            ++options;
            ASSERT_TRUE(known.contains(command.name)) << "add calls of '" << command.name << "' to this test";
            std::string name = option.name.substr(0, option.name.find(','));
            if (command.name == "check" && name == "-o") name = "--correct -o";
            for (const Call& call : known.at(command.name)) {
                for (const std::string& input : call.inputs) {
                    const std::string before = read_text(work() / input);
                    ASSERT_EQ(shell("ln -sf " + input + " symbolic && ln -f " + input + " hard").code, 0);
                    const std::string outputs[] = {input, "../work/" + input, "symbolic", "hard",
                                                   "\"$PWD/" + input + '"'};
                    for (const std::string& output : outputs) {
                        const std::string line = command.name + " " + name + " " + output + " " + call.arguments;
                        const Result result = lrvb(line);
                        EXPECT_EQ(result.code, 2) << line;
                        EXPECT_NE(result.err.find("would replace the input"), std::string::npos) << line << result.err;
                        EXPECT_EQ(read_text(work() / input), before) << line;
                    }
                }
            }
        }
    }
    EXPECT_GE(options, 14);
}

TEST_F(OutputGuardTest, RefusesTheFitOfARangeThatWouldReplaceAnInput) {
    shell("cp d.csv d2.csv");
    const Result result = lrvb("fit mixture d2.csv -k 1:2 -c x -o 'd{k}.csv'");
    EXPECT_EQ(result.code, 2);
    EXPECT_NE(result.err.find("-o d2.csv would replace the input"), std::string::npos) << result.err;
}

TEST_F(OutputGuardTest, RefusesTheDefaultReportWhereItIsTheData) {
    shell("cp d.csv report.html");
    ASSERT_EQ(lrvb("fit regression report.html 'y ~ x' --check never -o other.json --quiet").code, 0);
    const Result result = lrvb("report other.json");
    EXPECT_EQ(result.code, 2);
    EXPECT_NE(result.err.find("report.html would replace the input"), std::string::npos) << result.err;
}

TEST_F(OutputGuardTest, RefusesStandardOutputThatGoesToAnInput) {
    for (const std::string line :
         {"predict fit.json d.csv >> d.csv", "summary fit.json >> fit.json", "summary - < fit.json >> fit.json",
          "fit mixture @list.txt -k 1 -c x -o - >> d.csv"}) {
        const std::string input = line.substr(line.rfind(' ') + 1);
        const std::string before = read_text(work() / input);
        const Result result = lrvb(line);
        EXPECT_EQ(result.code, 2) << line;
        EXPECT_NE(result.err.find("standard output"), std::string::npos) << line << result.err;
        EXPECT_EQ(read_text(work() / input), before) << line;
    }
}

// The fit names its data as they were called where it was made.
TEST_F(OutputGuardTest, RefusesToReplaceTheDataBesideAFitInAnotherFolder) {
    shell("mkdir elsewhere");
    for (const std::string line : {"report ../fit.json -o ../d.csv", "plot ../fit.json -o ../d.csv",
                                   "report ../list_fit.json -o ../list.txt", "report ../list_fit.json -o ../d.csv"}) {
        const std::string input = line.substr(line.rfind('/') + 1);
        const std::string before = read_text(work() / input);
        const Result result = shell("cd elsewhere && lrvb " + line);
        EXPECT_EQ(result.code, 2) << line;
        EXPECT_NE(result.err.find("would replace the input"), std::string::npos) << line << result.err;
        EXPECT_EQ(read_text(work() / input), before) << line;
    }
}

TEST_F(OutputGuardTest, RefusesTwoOutputsThatALinkToNothingMakesOne) {
    shell("ln -s new.csv link.csv");
    const Result result = lrvb("check fit.json --correct -o link.csv --save-draws new.csv");
    EXPECT_EQ(result.code, 2);
    EXPECT_NE(result.err.find("name the same file"), std::string::npos) << result.err;
}

TEST_F(OutputGuardTest, WritesOverFilesThatAreNoInputs) {
    ASSERT_EQ(lrvb("fit regression d.csv 'y ~ x' --check never -o fit.json --quiet").code, 0);
    ASSERT_EQ(lrvb("check fit.json --correct -o corrected.json --save-draws draws.csv").code, 0);
    ASSERT_EQ(lrvb("check fit.json --correct -o corrected.json --save-draws draws.csv").code, 0);
}

}  // namespace
}  // namespace lrvb::testing
