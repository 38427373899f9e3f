#pragma once

#include "cli/progress.hpp"

#include <lrvb/check/check.hpp>
#include <lrvb/kind/fit_file.hpp>

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>

/// What all fits have in common: where they are written, when they end, what is said of them.
namespace lrvb::cli {

struct FitCommandOptions {
    std::string output;
    std::uint64_t seed = FitOptions().seed;
    double tolerance = FitOptions().tolerance;
    int max_iterations = FitOptions().max_iterations;
    bool quiet = false;
    std::string check = "auto";

    /// -o, --seed, --tolerance, --max-iterations, --quiet.
    void add_to(CLI::App& command);
    FitOptions fit_options() const;
};

/// All cores, where none were asked for.
int threads_of(int asked);

/// Runs a fit with a progress line and Ctrl-C; `options`, of any kind with `progress`, are those that the fit uses.
template <class Options, class Fit>
auto watched(Index rows, const FitCommandOptions& common, Options& options, Fit fit) {
    const Interruption interruption;
    ProgressLine line(rows, common.tolerance, common.quiet);
    options.progress = [&](const Progress& progress) {
        line.show(progress);
        return !Interruption::asked_for();
    };
    return fit();
}

/// Whether a fit should be checked against its exact posterior: as asked, or where that takes about a second at most.
/// `work`: what one draw costs, in numbers looked at.
bool wants_check(const FitCommandOptions& common, double work);

/// Checks a converged fit, whose model this is, and records what came of it.
void check_fit(FitFile& fit, const Model& model, const Optimum& optimum, const Door& in_data_units,
               const FitCommandOptions& common, int threads);

/// Writes the fit file, prints the summary; the exit code. `check_tried`: whether the fit was to be checked, or was
/// left for want of time.
int finish_fit(FitFile fit, const FitCommandOptions& common, bool check_tried);

}  // namespace lrvb::cli
