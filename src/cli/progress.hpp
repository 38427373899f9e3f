#pragma once

#include <lrvb/fit/fit.hpp>

#include <chrono>

/// What a user sees of a fit that takes its time, and how it is stopped.
namespace lrvb::cli {

/// While it lives, Ctrl-C asks for an end instead of making one; a second Ctrl-C ends the program.
class Interruption {
  public:
    Interruption();
    ~Interruption();
    Interruption(const Interruption&) = delete;
    Interruption& operator=(const Interruption&) = delete;

    static bool asked_for();
};

/// One line on the terminal, written over and over: nothing where standard error is no terminal.
class ProgressLine {
  public:
    ProgressLine(double tolerance, bool quiet);
    ~ProgressLine();
    ProgressLine(const ProgressLine&) = delete;
    ProgressLine& operator=(const ProgressLine&) = delete;

    /// What an iteration looks at that does not say.
    void set_rows(Index rows) { rows_ = rows; }
    void show(const Progress& progress);

  private:
    using Clock = std::chrono::steady_clock;

    Index rows_ = 0;
    double tolerance_;
    bool visible_;
    Clock::time_point start_ = Clock::now();
    Clock::time_point last_shown_{};
    int looks_ = 0;
    double rows_seen_ = 0.0;
    bool written_ = false;
};

}  // namespace lrvb::cli
