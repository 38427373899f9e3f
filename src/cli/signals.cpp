#include "cli/signals.hpp"

#include "base/unfinished.hpp"
#include "cli/command.hpp"

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sys/time.h>
#include <unistd.h>

namespace lrvb::cli {

namespace {

constexpr int kInterrupted = 130;             // what shells say of a program that Ctrl-C ended
constexpr ::suseconds_t kPatience = 700'000;  // microseconds from Ctrl-C to the end, whatever is at work

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

// Behind a line of progress, on a line of its own.
const char* volatile unanswered = "";

// The computation did not come to a place where it asks: nothing is half done that matters, so it ends here.
extern "C" void end_unanswered(int) {
    const char* const line = unanswered;
    const ssize_t ignored = ::write(STDERR_FILENO, line, std::strlen(line));
    static_cast<void>(ignored);
    end_program(SIGINT);
    std::_Exit(kInterrupted);
}

extern "C" void note_interrupt(int) {
    interrupted = 1;
    std::signal(SIGINT, end_program);
    ::itimerval patience{};
    patience.it_value.tv_usec = kPatience;
    static_cast<void>(::setitimer(ITIMER_REAL, &patience, nullptr));  // a system call: safe in a handler
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
    unanswered = ::isatty(STDERR_FILENO) != 0 ? "\nlrvb: interrupted before the fit was complete\n"
                                              : "lrvb: interrupted before the fit was complete\n";
    std::signal(SIGALRM, end_unanswered);
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
    std::_Exit(kInterrupted);  // where it was blocked
}

}  // namespace lrvb::cli
