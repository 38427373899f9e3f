#pragma once

#include "cli/command.hpp"

#include <vector>

namespace lrvb::cli {

/// Of all kinds of model that are registered.
std::vector<Command> all_commands();

/// The program `lrvb`, with all kinds of model that are registered: every fault ends in a sentence on standard error
/// and an exit code.
int run_program(int argc, char** argv);

}  // namespace lrvb::cli
