#include "cli/arguments.hpp"
#include "cli/command.hpp"
#include "cli/output.hpp"

#include <fmt/format.h>

#include <memory>

namespace lrvb::cli {

void add_summary(CLI::App& program, Run& run) {
    struct Options {
        std::string path;
        std::string variables;
        SummaryOptions summary;
    };
    const auto options = std::make_shared<Options>();
    CLI::App* command = program.add_subcommand("summary", "Show means, sds and intervals of a fit");
    add_fit_argument(*command, options->path);
    add_format(*command, options->summary.format);
    add_variables(*command, options->variables);
    command->add_option("--level", options->summary.level, "Probability of the intervals (default 0.9)")
        ->check(CLI::Range(1e-6, 1.0 - 1e-6).description("between 0 and 1"));
    command->callback([options, &run] {
        run = [options] {
            options->summary.variables = split(options->variables);
            fmt::print("{}", summary_text(read_fit(options->path), options->summary));
            return kSuccess;
        };
    });
}

}  // namespace lrvb::cli
