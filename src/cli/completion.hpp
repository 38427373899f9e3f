#pragma once

#include <string>
#include <vector>

namespace lrvb::cli {

struct CompletedCommand {
    std::string path;  // "fit mixture"; empty for the program
    std::vector<std::string> subcommands;
    std::vector<std::string> options;
};

/// For bash, zsh or fish, from what the parser itself knows.
std::string completion_script(const std::string& shell, const std::vector<CompletedCommand>& commands);

}  // namespace lrvb::cli
