#pragma once

#include "cli/command.hpp"

#include <string>
#include <vector>

namespace lrvb::cli {

/// A word before commands: "fit" of "fit mixture".
struct Group {
    std::string name;
    std::string help;
};

/// Understands a command line and runs its command; the exit code. Adds `help`, `completion` and `man`. Throws what the
/// command throws, but for UsageError, which is said here.
int parse_and_run(int argc, char** argv, const std::vector<Group>& groups, const std::vector<Command>& commands);

}  // namespace lrvb::cli
