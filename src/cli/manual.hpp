#pragma once

#include <string>
#include <vector>

namespace lrvb::cli {

struct ManualOption {
    std::string name;   // "-o,--output", or "DATA"
    std::string value;  // "TEXT REQUIRED"
    std::string help;
    std::string group;  // the heading above it; empty for none
};

struct ManualCommand {
    std::string path;  // "fit mixture"; empty for the program
    std::string help;
    std::string usage;  // "[OPTIONS] DATA"
    std::vector<ManualOption> options;
};

/// The manual page lrvb(1) in roff, from what the parser itself knows: what `--help` says of every command.
std::string manual_page(const std::string& version, const std::vector<ManualCommand>& commands);

}  // namespace lrvb::cli
