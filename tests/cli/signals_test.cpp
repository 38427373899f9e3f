#include "cli/signals.hpp"

#include <gtest/gtest.h>

#include <csignal>
#include <unistd.h>

namespace lrvb::cli {
namespace {

// A computation that never asks, and one that asks and goes on.
TEST(Signals, CtrlCEndsAComputationThatNeverAsks) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    const auto wait_for_ever = [] {
        leave_no_files_behind();
        const Interruption interruption;
        std::raise(SIGINT);
        while (Interruption::asked_for()) ::pause();
    };
    EXPECT_EXIT(wait_for_ever(), ::testing::KilledBySignal(SIGINT), "interrupted before all results were written");
    const auto go_on = [] {
        leave_no_files_behind();
        {
            const Interruption interruption;
            std::raise(SIGINT);
        }
        while (true) ::pause();
    };
    EXPECT_EXIT(go_on(), ::testing::KilledBySignal(SIGINT), "interrupted before all results were written");
}

TEST(Signals, AnInterruptionIsKnownUntilTheProgramEnds) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    const auto late = [] {
        leave_no_files_behind();
        {
            const Interruption interruption;
            std::raise(SIGINT);
        }
        if (Interruption::asked_for()) end_as_interrupted();
    };
    EXPECT_EXIT(late(), ::testing::KilledBySignal(SIGINT), "");
}

}  // namespace
}  // namespace lrvb::cli
