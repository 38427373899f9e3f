#pragma once

#include <atomic>

/// How the program is stopped from outside.
namespace lrvb::cli {

/// From now on no signal that ends the program leaves a half-written file behind. A file that grows beyond what the
/// system allows is refused where it is written.
void leave_no_files_behind();

/// What SIGTERM says, and then ends the program with the code of bad input: null, which is the default, says nothing.
/// The text must stay where it is. Processes that share `said` say it once: the first that is ended.
void say_when_terminated(const char* line, std::atomic<bool>* said = nullptr);

/// While it lives, Ctrl-C asks for an end instead of making one; a second Ctrl-C ends the program, and so does the
/// first one, where the work has not come to its end within 0.6 seconds of it.
class Interruption {
  public:
    Interruption();
    ~Interruption();
    Interruption(const Interruption&) = delete;
    Interruption& operator=(const Interruption&) = delete;

    static bool asked_for();
};

/// Ends the program as Ctrl-C does where nobody catches it, so that a script that called it ends as well.
[[noreturn]] void end_as_interrupted();

}  // namespace lrvb::cli
