#include "cli/progress.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <unistd.h>
#include <utility>

namespace lrvb::cli {

ProgressOutput ProgressOutput::standard_error() {
    // Progress that cannot be written is no reason to stop: nothing is thrown.
    return {::isatty(STDERR_FILENO) == 1, [] { return Clock::now(); },
            [](const std::string& text) {
                std::fputs(text.c_str(), stderr);
                std::fflush(stderr);
            }};
}

ProgressLine::ProgressLine(double tolerance, bool quiet, ProgressOutput output)
    : tolerance_(tolerance), quiet_(quiet), output_(std::move(output)), start_(output_.now()), last_shown_(start_) {}

ProgressLine::~ProgressLine() {
    if (written_ && output_.is_terminal) output_.write("\r\x1b[K");
}

void ProgressLine::show(const Progress& progress) {
    ++looks_;
    rows_seen_ += static_cast<double>(progress.rows > 0 ? progress.rows : rows_);
    if (quiet_) return;
    const Clock::time_point now = output_.now();
    const Clock::duration pause = output_.is_terminal ? Clock::duration(std::chrono::milliseconds(100))
                                                      : Clock::duration(std::chrono::seconds(10));
    if (now - last_shown_ < pause) return;
    last_shown_ = now;
    const std::string line = text(progress, std::chrono::duration<double>(now - start_).count());
    output_.write(output_.is_terminal ? "\r\x1b[K" + line.substr(0, 100) : "lrvb: " + line + "\n");
    written_ = true;
}

std::string ProgressLine::text(const Progress& progress, double seconds) const {
    std::string line = fmt::format("{} {}, pass {}: bound {:.6g}", progress.stage, progress.iteration, progress.passes,
                                   progress.bound);
    if (std::isfinite(progress.step)) {
        line += fmt::format(", step {:.1e} sds", progress.step);
        // Newton's steps square: from s to the tolerance in about log2(log tolerance / log s) more.
        if (progress.step < 0.5 && progress.step > tolerance_) {
            const double left = std::ceil(std::log2(std::log(tolerance_) / std::log(progress.step)));
            line += fmt::format(", about {:.1f} s left", std::max(left, 1.0) * seconds / looks_);
        }
    }
    if (rows_ > 0 && !output_.is_terminal) line += fmt::format(", {} rows", rows_);
    return line + fmt::format(", {:.3g} rows/s, {:.1f} s", rows_seen_ / std::max(seconds, 1e-9), seconds);
}

CheckLine::CheckLine(bool quiet, ProgressOutput output)
    : quiet_(quiet), output_(std::move(output)), last_shown_(output_.now()) {}

void CheckLine::show(const CheckProgress& progress) {
    const ProgressOutput::Clock::time_point now = output_.now();
    if (quiet_ || !output_.is_terminal || now - last_shown_ < std::chrono::milliseconds(100)) return;
    last_shown_ = now;
    written_ = true;
    output_.write(fmt::format(
        "\r\x1b[K{} draws of the exact posterior ({}): {:.0f}%, {} of {} variables resolved so far", progress.draws,
        to_string(progress.method), 100.0 * progress.done, progress.resolved, progress.variables));
}

void CheckLine::clear() {
    if (written_) output_.write("\r\x1b[K");
    written_ = false;
}

}  // namespace lrvb::cli
