#pragma once

namespace lrvb::cli {

/// The program `lrvb`, with all kinds of model that are registered: every fault ends in a sentence on standard error
/// and an exit code.
int run_program(int argc, char** argv);

}  // namespace lrvb::cli
