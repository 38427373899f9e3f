#pragma once

#include <fmt/format.h>

#include <cstdio>
#include <string>

namespace lrvb::cli {

/// A sentence on standard error. Where that cannot be written nobody can be told, and the exit code has to say it all.
inline void complain(const std::string& sentence) {
    std::fputs(fmt::format("lrvb: {}\n", sentence).c_str(), stderr);
}

}  // namespace lrvb::cli
