#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <stdexcept>

/// The program `lrvb`: one file a subcommand. Each adds its subcommand to the parser and leaves what to do in `run`, so
/// that nothing happens before the whole command line has been understood.
namespace lrvb::cli {

constexpr int kSuccess = 0;
constexpr int kBadInput = 1;
constexpr int kWrongUsage = 2;
constexpr int kNotConverged = 3;

/// A command line that cannot be meant, found after parsing.
class UsageError : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

using Run = std::function<int()>;

void add_fit_mixture(CLI::App& fit, Run& run);
void add_fit_regression(CLI::App& fit, Run& run);
void add_summary(CLI::App& program, Run& run);
void add_covariance(CLI::App& program, Run& run);
void add_leverage(CLI::App& program, Run& run);
void add_influence(CLI::App& program, Run& run);
void add_sensitivity(CLI::App& program, Run& run);
void add_check(CLI::App& program, Run& run);
void add_predict(CLI::App& program, Run& run);
void add_report(CLI::App& program, Run& run);
void add_reproduce(CLI::App& program, Run& run);
void add_simulate_mixture(CLI::App& simulate, Run& run);
void add_completion(CLI::App& program, Run& run);

}  // namespace lrvb::cli
