// Signals, and the files that are or are not there afterwards.

#include "../says.hpp"
#include "program.hpp"

#include <cstdint>

namespace {

using lrvb::testing::ProgramTest;
using lrvb::testing::read_text;
using lrvb::testing::Result;

class Interruption : public ProgramTest {
  protected:
    // More starts than anyone would wait for, and one Ctrl-C. In the foreground, since timeout would otherwise
    // interrupt twice, itself and its group.
    Result interrupted_fit(const std::string& arguments) const {
        return shell(
            "timeout --foreground --preserve-status -s INT -k 20 1 lrvb fit mixture $DATA/mixture3.csv -k 3 "
            "--restarts 1000000 --quiet " +
            arguments);
    }

    // Files that only a process that writes them has.
    bool has_unfinished_files() const {
        for (const std::string& name : files()) {
            if (name.ends_with(".tmp")) return true;
        }
        return false;
    }
};

TEST_F(Interruption, KeepsTheFitThatWasThereAndSaysSo) {
    ASSERT_EQ(lrvb("fit mixture $DATA/mixture3.csv -k 3 --quiet -o fit.json").code, 0);
    const std::string before = read_text(work() / "fit.json");
    const Result result = interrupted_fit("-o fit.json");
    EXPECT_EQ(result.code, 130);
    EXPECT_TRUE(lrvb::test::says(result.err, {"lrvb: interrupted", "converged", "fit.json", "stays"}));
    EXPECT_EQ(read_text(work() / "fit.json"), before);
    EXPECT_EQ(files(), std::set<std::string>{"fit.json"});
}

TEST_F(Interruption, WritesTheUnfinishedFitWhereThereWasNoneAndSaysSo) {
    const Result result = interrupted_fit("-o fit.json");
    EXPECT_EQ(result.code, 130);
    EXPECT_TRUE(lrvb::test::says(result.err, {"lrvb: interrupted", "converged", "fit.json holds"}));
    EXPECT_EQ(lrvb("summary fit.json --format json").json().at("converged"), false);
}

// Ctrl-C at any time ends with its code, and leaves the old file or the whole new one: while the columns are read, in a
// long iteration, while covariances are made, while the file is written. Many groups, so that each of these takes long.
TEST_F(Interruption, IsNeverASuccessAndLeavesNothingHalfWritten) {
    std::string rows = "y,x,g\n";
    std::uint32_t random = 1;
    const auto draw = [&] {
        random = random * 1664525U + 1013904223U;
        return static_cast<double>(random >> 8U) / 16777216.0;
    };
    for (int n = 0; n < 80000; ++n) {
        const double x = draw();
        rows += std::to_string(2.0 * x + draw()) + "," + std::to_string(x) + ",g" + std::to_string(n / 4) + "\n";
    }
    write("groups.csv", rows);
    for (const std::string seconds : {"0.1", "0.2", "0.4", "0.6", "0.8", "1.1", "1.5", "2"}) {
        write("fit.json", "before");
        const Result result = shell("timeout --foreground --preserve-status -s INT -k 20 " + seconds +
                                    " lrvb fit regression groups.csv 'y ~ x + (x | g)' -o fit.json --quiet");
        const std::string after = read_text(work() / "fit.json");
        const bool is_whole = after.ends_with("}\n");
        EXPECT_TRUE(after == "before" || is_whole) << seconds;
        EXPECT_TRUE(result.code == 130 || (result.code == 0 && is_whole)) << seconds << ": " << result.code;
        EXPECT_FALSE(has_unfinished_files()) << seconds;
    }
}

TEST_F(Interruption, EndsAFitThatStillWaitsForItsDataAtOnce) {
    const Result result = shell(
        "mkfifo data.csv; sleep 20 > data.csv & timeout --foreground --preserve-status -s INT -k 10 0.5 lrvb fit "
        "mixture data.csv -k 2 -o fit.json; code=$?; kill $!; exit $code");
    EXPECT_EQ(result.code, 130);
    EXPECT_EQ(files(), std::set<std::string>{"data.csv"});
}

TEST_F(Interruption, LeavesNoFileThatIsBeingWritten) {
    // Written for longer than anyone waits.
    const std::string simulation = "lrvb simulate mixture --weights 1 --means 0 --sds 1 -n 1000000000 -o data.csv";
    for (const auto& [signal, code] : {std::pair("TERM", 143), std::pair("HUP", 129)}) {
        const Result result = shell(simulation + " & sleep 0.5; ls; kill -" + signal + " $!; wait $!");
        EXPECT_NE(result.out.find(".tmp"), std::string::npos) << "nothing was being written";
        EXPECT_EQ(result.code, code);
        EXPECT_TRUE(files().empty()) << signal;
    }
    // A shell's background jobs ignore Ctrl-C.
    EXPECT_EQ(shell("timeout --foreground --preserve-status -s INT -k 20 0.5 " + simulation).code, 130);
    EXPECT_TRUE(files().empty()) << "INT";
}

TEST_F(Interruption, OfAReaderLeavesNoFileBehindEither) {
    // The page of draws is being written when whoever reads standard output has gone: SIGPIPE.
    const Result result = shell("lrvb simulate mixture --weights 1 --means 0 --sds 1 -n 1000000 | head -2 > /dev/null");
    EXPECT_EQ(result.code, 0);
    EXPECT_FALSE(has_unfinished_files());
}

TEST_F(Interruption, AFileSizeLimitIsSaidAndLeavesNoFile) {
    const Result result =
        shell("ulimit -f 100; lrvb simulate mixture --weights 1 --means 0 --sds 1 -n 1000000 -o data.csv");
    EXPECT_EQ(result.code, 1);
    EXPECT_NE(result.err.find("data.csv: cannot write the file: File too large"), std::string::npos) << result.err;
    EXPECT_TRUE(files().empty());
}

TEST_F(Interruption, LeftOversOfKilledRunsGoWithTheNextOneAndNothingElseDoes) {
    // A process that is gone, and one that lives.
    const Result dead = shell("sh -c 'echo $$'");
    const std::string gone = dead.out.substr(0, dead.out.find('\n'));
    const std::string alive = std::to_string(::getpid());
    const std::string left_over = "fit.json.lrvb-" + gone + "-0.tmp";
    const std::set<std::string> others = {
        "fit.json.lrvb-" + alive + "-0.tmp",    "fit.json.lrvb-x-0.tmp",          "fit.json.tmp",
        "fit.json.lrvb-" + gone + "-0.tmp.bak", "fit.json.lrvb-" + gone + ".tmp", "other.json.lrvb-" + gone + "-0.tmp"};
    write(left_over, "{");
    for (const std::string& name : others) write(name, "{");
    ASSERT_EQ(lrvb("fit mixture $DATA/mixture3.csv -k 2 --quiet -o fit.json").code, 0);
    std::set<std::string> expected = others;
    expected.insert("fit.json");
    EXPECT_EQ(files(), expected);
}

TEST_F(Interruption, ALeftOverThatSomebodyHoldsStays) {
    const Result dead = shell("sh -c 'echo $$'");
    const std::string name = "fit.json.lrvb-" + dead.out.substr(0, dead.out.find('\n')) + "-0.tmp";
    write(name, "{");
    // As a process of another container or machine would, whose number says nothing here.
    ASSERT_EQ(shell("flock " + name + " lrvb fit mixture $DATA/mixture3.csv -k 2 --quiet -o fit.json").code, 0);
    EXPECT_TRUE(files().contains(name));
}

}  // namespace
