#include "cli/command.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <stdexcept>
#include <unistd.h>

namespace lrvb::cli {

namespace {

// The experiments are a program of their own beside this one, so that building and starting lrvb does not wait for
// them.
int run_experiments(const Settings& settings) {
    std::error_code error;
    const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", error);
    const std::string program = (self.parent_path() / "lrvb-reproduce").string();
    std::vector<std::string> words{program, settings.text("EXPERIMENT", "all"), "-o", settings.text("output")};
    for (const char* key : {"simulations", "seed", "threads"}) {
        if (!settings.has(key)) continue;
        words.push_back(std::string("--") + key);
        words.push_back(settings.text(key));
    }
    std::vector<char*> arguments;
    arguments.reserve(words.size() + 1);
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    ::execv(program.c_str(), arguments.data());
    throw std::runtime_error(
        fmt::format("the experiments are a program of their own, {}, which cannot be run: {}; build it with 'make "
                    "reproduce'",
                    program, std::strerror(errno)));
}

}  // namespace

Command reproduce_command() {
    OptionInfo experiment = OptionInfo::choice("EXPERIMENT", {"figure1", "figure2", "theorems", "all"},
                                               "figure1, figure2, theorems, or all (default)");
    return {"reproduce",
            "Run the paper's experiments: figures, tables and data",
            {experiment,
             OptionInfo{"-o,--output", "Directory for the figures, the data and the page", OptionInfo::Type::output}
                 .require(),
             OptionInfo::whole("--simulations", 2, 1000000, "Of figure 1, in each setting (default 100)"),
             OptionInfo{"--seed", "Seed (default 2014)", OptionInfo::Type::seed},
             OptionInfo::whole("--threads", 1, 1024, "Threads (default: as many as there are cores)")},
            run_experiments};
}

}  // namespace lrvb::cli
