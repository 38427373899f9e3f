// What is shown of a long fit, by a clock that the test moves.

#include "cli/progress.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <limits>
#include <string>
#include <vector>

namespace lrvb::cli {
namespace {

class ProgressShown : public ::testing::Test {
  protected:
    ProgressOutput output(bool is_terminal) {
        return {is_terminal, [this] { return ProgressOutput::Clock::time_point(now); },
                [this](const std::string& text) { written.push_back(text); }};
    }

    // An iteration every second.
    void iterate(ProgressLine& line, int from, int to) {
        for (int i = from; i <= to; ++i) {
            now = std::chrono::seconds(i);
            Progress progress;
            progress.stage = "ascent";
            progress.iteration = i;
            progress.passes = 2 * i;
            progress.bound = -1234.5;
            progress.step = std::numeric_limits<double>::infinity();  // before Newton
            line.show(progress);
        }
    }

    std::chrono::seconds now{0};
    std::vector<std::string> written;
};

TEST_F(ProgressShown, IsALineEveryTenSecondsWhereThereIsNoTerminal) {
    ProgressLine line(1e-8, false, output(false));
    line.set_rows(300);
    iterate(line, 1, 35);
    ASSERT_EQ(written.size(), 3U);
    EXPECT_EQ(written[0], "lrvb: ascent 10, pass 20: bound -1234.5, 300 rows, 300 rows/s, 10.0 s\n");
    EXPECT_EQ(written[1], "lrvb: ascent 20, pass 40: bound -1234.5, 300 rows, 300 rows/s, 20.0 s\n");
    EXPECT_EQ(written[2], "lrvb: ascent 30, pass 60: bound -1234.5, 300 rows, 300 rows/s, 30.0 s\n");
}

TEST_F(ProgressShown, IsNothingForAShortFitWithoutATerminal) {
    {
        ProgressLine line(1e-8, false, output(false));
        iterate(line, 1, 9);
    }
    EXPECT_TRUE(written.empty());
}

TEST_F(ProgressShown, IsNothingWhereItIsToBeQuiet) {
    for (const bool is_terminal : {false, true}) {
        ProgressLine line(1e-8, true, output(is_terminal));
        iterate(line, 1, 30);
    }
    EXPECT_TRUE(written.empty());
}

TEST_F(ProgressShown, IsOneLineOnATerminalThatGoesAwayAtTheEnd) {
    {
        ProgressLine line(1e-8, false, output(true));
        iterate(line, 1, 3);
    }
    ASSERT_EQ(written.size(), 4U);
    for (const std::string& text : written) {
        EXPECT_EQ(text.substr(0, 4), "\r\x1b[K");
        EXPECT_EQ(text.find('\n'), std::string::npos);
    }
    EXPECT_EQ(written.back(), "\r\x1b[K");
}

}  // namespace
}  // namespace lrvb::cli
