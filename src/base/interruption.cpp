#include <lrvb/base/interruption.hpp>

#include <chrono>
#include <utility>

namespace lrvb {

namespace {

using Clock = std::chrono::steady_clock;

// Of this thread alone: those that it shares its work with ask nobody.
thread_local const InterruptionScope* innermost_scope = nullptr;
thread_local Clock::time_point last_asked;

}  // namespace

InterruptionScope::InterruptionScope(std::function<void()> ask) : ask_(std::move(ask)), outer_(innermost_scope) {
    innermost_scope = this;
}

InterruptionScope::~InterruptionScope() {
    innermost_scope = outer_;
}

void interruption_point() {
    if (innermost_scope == nullptr) return;
    const Clock::time_point now = Clock::now();
    if (now - last_asked < std::chrono::milliseconds(kInterruptionMilliseconds)) return;
    last_asked = now;
    innermost_scope->ask()();
}

}  // namespace lrvb
