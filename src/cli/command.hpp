#pragma once

#include <lrvb/kind/options.hpp>

#include <functional>
#include <string>
#include <vector>

/// The program `lrvb`: one file a command. Each declares its options as a kind of model does and gets what was written
/// as Settings; only parser.cpp knows how a command line is taken apart.
namespace lrvb::cli {

constexpr int kSuccess = 0;
constexpr int kBadInput = 1;
constexpr int kWrongUsage = 2;
constexpr int kNotConverged = 3;

struct Command {
    std::string name;  // "summary", or "fit mixture"
    std::string help;
    std::vector<OptionInfo> options;
    /// The exit code.
    std::function<int(const Settings&)> run;
};

/// One for each kind of model.
std::vector<Command> fit_commands();
std::vector<Command> simulate_commands();
Command summary_command();
Command covariance_command();
Command check_command();
Command loo_command();
Command compare_command();
Command predict_command();
Command leverage_command();
Command influence_command();
Command sensitivity_command();
Command report_command();
Command plot_command();
Command reproduce_command();

}  // namespace lrvb::cli
