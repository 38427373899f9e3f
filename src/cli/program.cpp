#include "cli/program.hpp"

#include "cli/parser.hpp"

#include <lrvb/data/csv.hpp>

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <new>

namespace lrvb::cli {

namespace {

std::vector<Command> all_commands() {
    std::vector<Command> commands = fit_commands();
    commands.push_back(summary_command());
    commands.push_back(covariance_command());
    commands.push_back(check_command());
    commands.push_back(loo_command());
    commands.push_back(compare_command());
    commands.push_back(predict_command());
    commands.push_back(leverage_command());
    commands.push_back(influence_command());
    commands.push_back(sensitivity_command());
    commands.push_back(report_command());
    for (Command& command : simulate_commands()) commands.push_back(std::move(command));
    commands.push_back(reproduce_command());
    return commands;
}

}  // namespace

int run_program(int argc, char** argv) {
    try {
        const int code = parse_and_run(
            argc, argv, {{"fit", "Fit a model to data"}, {"simulate", "Draw data from a model"}}, all_commands());
        if (std::fflush(stdout) == 0) return code;
        fmt::print(stderr, "lrvb: standard output cannot be written: {}; choose another place\n", std::strerror(errno));
    } catch (const MissingValue& error) {
        fmt::print(stderr, "lrvb: {} with --drop-missing\n", error.what());
    } catch (const std::bad_alloc&) {
        fmt::print(stderr, "lrvb: there is not enough memory for this: use a smaller model, or fewer columns\n");
    } catch (const std::exception& error) {
        fmt::print(stderr, "lrvb: {}\n", error.what());
    }
    return kBadInput;
}

}  // namespace lrvb::cli
