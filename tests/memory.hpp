#pragma once

#include <fstream>
#include <limits>
#include <string>

/// Defined under a sanitizer, where memory is not the program's own.
#if defined(__SANITIZE_ADDRESS__)
#define LRVB_MEMORY_IS_NOT_OURS
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define LRVB_MEMORY_IS_NOT_OURS
#endif
#endif

namespace lrvb::test {

/// The most memory since the process began; infinite where the system does not say. (The resource usage of an exec'd
/// process would count what forked it, too.)
inline double peak_megabytes() {
    std::ifstream status("/proc/self/status");
    for (std::string word; status >> word;) {
        double kilobytes = 0.0;
        if (word == "VmHWM:" && status >> kilobytes) return kilobytes / 1024.0;
    }
    return std::numeric_limits<double>::infinity();
}

}  // namespace lrvb::test
