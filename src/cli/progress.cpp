#include "cli/progress.hpp"

#include <fmt/format.h>

#include <cmath>
#include <csignal>
#include <cstdio>
#include <unistd.h>

namespace lrvb::cli {

namespace {

volatile std::sig_atomic_t interrupted = 0;

using Handler = void (*)(int);
Handler before = SIG_DFL;

extern "C" void on_interrupt(int) {
    interrupted = 1;
    std::signal(SIGINT, SIG_DFL);
}

}  // namespace

Interruption::Interruption() {
    interrupted = 0;
    before = std::signal(SIGINT, on_interrupt);
    if (before == SIG_IGN) std::signal(SIGINT, SIG_IGN);
}

Interruption::~Interruption() {
    std::signal(SIGINT, before);
}

bool Interruption::asked_for() {
    return interrupted != 0;
}

ProgressLine::ProgressLine(double tolerance, bool quiet)
    : tolerance_(tolerance), visible_(!quiet && ::isatty(STDERR_FILENO) == 1) {}

ProgressLine::~ProgressLine() {
    if (written_) fmt::print(stderr, "\r\x1b[K");
}

void ProgressLine::show(const Progress& progress) {
    ++looks_;
    rows_seen_ += static_cast<double>(progress.rows > 0 ? progress.rows : rows_);
    if (!visible_) return;
    const Clock::time_point now = Clock::now();
    const std::chrono::duration<double> elapsed = now - start_;
    if (now - last_shown_ < std::chrono::milliseconds(100)) return;
    last_shown_ = now;
    const double rate = rows_seen_ / std::max(elapsed.count(), 1e-9);
    std::string line = fmt::format("{} {}, pass {}: bound {:.6g}", progress.stage, progress.iteration, progress.passes,
                                   progress.bound);
    if (std::isfinite(progress.step)) {
        line += fmt::format(", step {:.1e} sds", progress.step);
        // Newton's steps square: from s to the tolerance in about log2(log tolerance / log s) more.
        if (progress.step < 0.5 && progress.step > tolerance_) {
            const double left = std::ceil(std::log2(std::log(tolerance_) / std::log(progress.step)));
            line += fmt::format(", about {:.1f} s left", std::max(left, 1.0) * elapsed.count() / looks_);
        }
    }
    line += fmt::format(", {:.3g} rows/s, {:.1f} s", rate, elapsed.count());
    fmt::print(stderr, "\r\x1b[K{}", line.substr(0, 100));
    std::fflush(stderr);
    written_ = true;
}

}  // namespace lrvb::cli
