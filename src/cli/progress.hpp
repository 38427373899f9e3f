#pragma once

#include <lrvb/check/check.hpp>
#include <lrvb/fit/fit.hpp>

#include <chrono>
#include <functional>
#include <string>

/// What a user sees of a fit that takes its time.
namespace lrvb::cli {

/// Where progress goes.
struct ProgressOutput {
    using Clock = std::chrono::steady_clock;

    /// Whether a line can be written over.
    bool is_terminal = false;
    std::function<Clock::time_point()> now;
    std::function<void(const std::string&)> write;

    static ProgressOutput standard_error();
};

/// One line on a terminal, written over and over; elsewhere a line every ten seconds, and none for a fit that is done
/// before.
class ProgressLine {
  public:
    ProgressLine(double tolerance, bool quiet, ProgressOutput output = ProgressOutput::standard_error());
    ~ProgressLine();
    ProgressLine(const ProgressLine&) = delete;
    ProgressLine& operator=(const ProgressLine&) = delete;

    /// What an iteration looks at that does not say.
    void set_rows(Index rows) { rows_ = rows; }
    void show(const Progress& progress);

  private:
    using Clock = ProgressOutput::Clock;

    std::string text(const Progress& progress, double seconds) const;

    Index rows_ = 0;
    double tolerance_;
    bool quiet_;
    ProgressOutput output_;
    Clock::time_point start_;
    Clock::time_point last_shown_;
    int looks_ = 0;
    double rows_seen_ = 0.0;
    bool written_ = false;
};

/// What a check is at, on a terminal alone.
class CheckLine {
  public:
    explicit CheckLine(bool quiet = false, ProgressOutput output = ProgressOutput::standard_error());
    ~CheckLine() { clear(); }
    CheckLine(const CheckLine&) = delete;
    CheckLine& operator=(const CheckLine&) = delete;

    void show(const CheckProgress& progress);
    void clear();

  private:
    bool quiet_;
    ProgressOutput output_;
    ProgressOutput::Clock::time_point last_shown_;
    bool written_ = false;
};

}  // namespace lrvb::cli
