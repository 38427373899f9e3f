#include "cli/signals.hpp"

#include "base/unfinished.hpp"
#include "cli/command.hpp"

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <sys/time.h>
#include <unistd.h>

namespace lrvb::cli {

namespace {

volatile std::sig_atomic_t interrupted = 0;

using SignalHandler = void (*)(int);
SignalHandler before_interruption = SIG_DFL;

const char* volatile last_words = nullptr;
std::atomic<bool>* volatile shared_said = nullptr;
static_assert(std::atomic<bool>::is_always_lock_free);  // so that a signal may use it

extern "C" void end_program(int signal) {
    detail::remove_unfinished_files();
    const char* const words = last_words;
    if (signal == SIGTERM && words != nullptr) {
        std::atomic<bool>* const said = shared_said;
        if (said == nullptr || !said->exchange(true)) {
            const ssize_t ignored = ::write(STDERR_FILENO, words, std::strlen(words));
            static_cast<void>(ignored);
        }
        std::_Exit(kBadInput);
    }
    std::signal(signal, SIG_DFL);
    std::raise(signal);
}

// The work did not come to its end in time after Ctrl-C.
extern "C" void end_late(int) {
    detail::remove_unfinished_files();
    constexpr std::string_view line = "\nlrvb: interrupted before all results were written\n";
    const std::string_view words = line.substr(::isatty(STDERR_FILENO) == 1 ? 0 : 1);  // below a line of progress
    const ssize_t ignored = ::write(STDERR_FILENO, words.data(), words.size());
    static_cast<void>(ignored);
    std::signal(SIGINT, SIG_DFL);
    std::raise(SIGINT);
}

extern "C" void note_interrupt(int) {
    interrupted = 1;
    std::signal(SIGINT, end_program);
    std::signal(SIGALRM, end_late);
    constexpr suseconds_t patience = 600000;  // microseconds
    const itimerval timer{{0, 0}, {0, patience}};
    ::setitimer(ITIMER_REAL, &timer, nullptr);
}

// What whoever called us has ignored (nohup, say) stays ignored.
SignalHandler replace_handler(int signal, SignalHandler handler) {
    const SignalHandler before = std::signal(signal, handler);
    if (before == SIG_IGN) std::signal(signal, SIG_IGN);
    return before;
}

}  // namespace

void leave_no_files_behind() {
    for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGXCPU}) {
        replace_handler(signal, end_program);
    }
    std::signal(SIGXFSZ, SIG_IGN);
}

void say_when_terminated(const char* line, std::atomic<bool>* said) {
    last_words = nullptr;
    shared_said = said;
    last_words = line;
}

Interruption::Interruption() {
    interrupted = 0;
    before_interruption = replace_handler(SIGINT, note_interrupt);
}

Interruption::~Interruption() {
    std::signal(SIGINT, before_interruption);
}

bool Interruption::asked_for() {
    return interrupted != 0;
}

void end_as_interrupted() {
    std::fflush(nullptr);
    std::signal(SIGINT, SIG_DFL);
    std::raise(SIGINT);
    constexpr int code = 130;  // where it was blocked: what shells say of it
    std::_Exit(code);
}

}  // namespace lrvb::cli
