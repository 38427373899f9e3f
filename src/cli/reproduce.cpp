#include "reproduce/reproduce.hpp"

#include "base/files.hpp"
#include "cli/command.hpp"
#include "cli/fit_command.hpp"
#include "cli/output.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <unistd.h>

namespace lrvb::cli {

namespace {

struct Options {
    std::string what = "all";
    std::string directory;
    Index simulations = 100;
    std::uint64_t seed = 2014;
    int threads = 0;
};

int run_experiments(const Options& options) {
    std::error_code error;
    std::filesystem::create_directories(options.directory, error);
    if (error) {
        throw std::runtime_error(
            fmt::format("{}: cannot make the directory: {}; choose another place", options.directory, error.message()));
    }
    reproduce::Options experiment;
    experiment.directory = options.directory;
    experiment.simulations = options.simulations;
    experiment.seed = options.seed;
    experiment.threads = threads_of(options.threads);
    const bool visible = ::isatty(STDERR_FILENO) == 1;
    if (visible) {
        experiment.progress = [](const std::string& what, double part) {
            constexpr int kWidth = 40;
            const auto filled = static_cast<std::size_t>(kWidth * part);
            fmt::print(stderr, "\r\x1b[K{:<22} [{}{}] {:3.0f} %", what, std::string(filled, '#'),
                       std::string(kWidth - filled, '.'), 100.0 * part);
            std::fflush(stderr);
        };
    }
    std::string page =
        fmt::format("# The paper, reproduced\n\nGiordano & Broderick (2014), by `lrvb reproduce {} --seed {}`.\n\n",
                    options.what, options.seed);
    if (options.what == "figure1" || options.what == "all") page += reproduce::figure1(experiment);
    if (options.what == "figure2" || options.what == "all") page += reproduce::figure2(experiment);
    if (options.what == "theorems" || options.what == "all") page += reproduce::theorems(experiment);
    if (visible) fmt::print(stderr, "\r\x1b[K");
    const std::string path = options.directory + "/index.md";
    detail::write_text(path, page);
    fmt::print("{}\nwritten to {}\n", page, path);
    return kSuccess;
}

}  // namespace

void add_reproduce(CLI::App& program, Run& run) {
    const auto options = std::make_shared<Options>();
    CLI::App* command = program.add_subcommand("reproduce", "Run the paper's experiments: figures, tables and data");
    command->add_option("EXPERIMENT", options->what, "figure1, figure2, theorems, or all (default)")
        ->check(CLI::IsMember({"figure1", "figure2", "theorems", "all"}).description(""))
        ->type_name("figure1|figure2|theorems|all");
    command->add_option("-o,--output", options->directory, "Directory for the figures, the data and the page")
        ->required();
    command->add_option("--simulations", options->simulations, "Of figure 1, in each setting (default 100)")
        ->check(CLI::Range(Index{2}, Index{1000000}).description("2 or more"));
    add_seed(*command, options->seed, "Seed (default 2014)");
    add_threads(*command, options->threads);
    command->callback([options, &run] { run = [options] { return run_experiments(*options); }; });
}

}  // namespace lrvb::cli
