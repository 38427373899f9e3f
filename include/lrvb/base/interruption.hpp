#pragma once

#include <lrvb/export.hpp>

#include <functional>

/// How a long computation is asked to end, whatever it is at: work that may take long passes points of interruption,
/// within a few milliseconds of each other, and whoever called it is asked there. This is for callers that cannot wait
/// for the next iteration of a fit, such as an interpreter whose user presses Ctrl-C in the middle of a pass over the
/// rows; to end a fit with what it has so far, FitOptions::progress returns false.
namespace lrvb {

/// While it lasts, points of interruption that this thread passes call `ask`, at most every
/// `kInterruptionMilliseconds`. What that throws ends the computation, as any exception does, and comes out where it
/// was called. Scopes may be nested: the innermost is asked.
class LRVB_EXPORT InterruptionScope {
  public:
    explicit InterruptionScope(std::function<void()> ask);
    ~InterruptionScope();
    InterruptionScope(const InterruptionScope&) = delete;
    InterruptionScope& operator=(const InterruptionScope&) = delete;

    const std::function<void()>& ask() const { return ask_; }

  private:
    std::function<void()> ask_;
    const InterruptionScope* outer_;
};

constexpr int kInterruptionMilliseconds = 20;

/// Costs nothing where there is no scope.
LRVB_EXPORT void interruption_point();

}  // namespace lrvb
