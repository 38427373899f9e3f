#include "cli/fit_command.hpp"

#include "cli/command.hpp"
#include "cli/output.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <thread>

namespace lrvb::cli {

void FitCommandOptions::add_to(CLI::App& command) {
    command.add_option("-o,--output", output, "Write the fit to this file (JSON); - for standard output");
    add_seed(command, seed, "Seed of the random starts (default 1)");
    command.add_option("--tolerance", tolerance, "Largest last step, in posterior sds (default 1e-8)")
        ->check(CLI::Range(1e-15, 1e-4).description("between 1e-15 and 1e-4"));
    command.add_option("--max-iterations", max_iterations, "Sweeps and Newton steps at most (default 10000)")
        ->check(CLI::Range(1, 1000000000).description("1 or more"));
    command
        .add_option("--check", check,
                    "Compare with the exact posterior: auto (default: where it is quick), always, never")
        ->check(CLI::IsMember({"auto", "always", "never"}).description(""))
        ->type_name("auto|always|never");
    command.add_flag("--quiet", quiet, "Print no progress and no summary");
}

FitOptions FitCommandOptions::fit_options() const {
    FitOptions options;
    options.seed = seed;
    options.tolerance = tolerance;
    options.max_iterations = max_iterations;
    return options;
}

int threads_of(int asked) {
    if (asked > 0) return asked;
    return static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
}

bool wants_check(const FitCommandOptions& common, double work) {
    constexpr double kSecond = 3e8;  // numbers looked at in about a second
    if (common.check == "auto") return work * static_cast<double>(CheckOptions().draws) <= kSecond;
    return common.check == "always";
}

void check_fit(FitFile& fit, const Model& model, const Optimum& optimum, const Door& in_data_units,
               const FitCommandOptions& common, int threads) {
    CheckOptions options;
    options.seed = common.seed;
    options.threads = threads;
    try {
        fit.check = record_check(check_posterior(model, optimum, fit.posterior, in_data_units, options));
    } catch (const std::invalid_argument& error) {  // a posterior that draws do not reach: the fit stands without
        fit.warnings.push_back(fmt::format("not compared with the exact posterior: {}", error.what()));
    }
}

int finish_fit(FitFile fit, const FitCommandOptions& common, bool check_tried) {
    fit.program = LRVB_VERSION;
    if (!fit.converged()) {
        fit.warnings.insert(fit.warnings.begin(), fit.outcome.message);
    }
    if (!common.output.empty()) write_fit(common.output, fit);
    // A fit on standard output is for the next program in the pipe: nothing else belongs there.
    if (!common.quiet && common.output != "-") {
        if (fit.data.dropped > 0) {
            fmt::print("{} row{} with missing values left out\n", fit.data.dropped, fit.data.dropped == 1 ? "" : "s");
        }
        fmt::print("{}", summary_text(fit, {}));
        if (!check_tried && fit.converged() && common.check == "auto") {
            fmt::print("\nnot compared with the exact posterior, which would take a while: see 'lrvb check'\n");
        }
    }
    if (fit.converged()) return kSuccess;
    fmt::print(stderr, "lrvb: the fit did not converge: {}\n", fit.outcome.message);
    return kNotConverged;
}

}  // namespace lrvb::cli
