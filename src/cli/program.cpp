#include "cli/program.hpp"

#include "base/output_guard.hpp"
#include "cli/output.hpp"
#include "cli/parser.hpp"
#include "cli/signals.hpp"

#include <lrvb/bugs/diagnostics.hpp>
#include <lrvb/data/csv.hpp>

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <new>
#include <system_error>

namespace lrvb::cli {

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
    commands.push_back(plot_command());
    for (Command& command : simulate_commands()) commands.push_back(std::move(command));
    commands.push_back(reproduce_command());
    return commands;
}

namespace {

void complain_of_output(const std::string& reason) {
    complain(fmt::format("standard output cannot be written: {}; choose another place", reason));
}

}  // namespace

int run_program(int argc, char** argv) {
    leave_no_files_behind();
    const detail::OutputGuard guard;
    try {
        const int code = parse_and_run(
            argc, argv, {{"fit", "Fit a model to data"}, {"simulate", "Draw data from a model"}}, all_commands());
        // What was in the buffer, or what was lost before.
        if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return code;
        complain_of_output(std::strerror(errno));
    } catch (const MissingValue& error) {
        complain(fmt::format("{} with --drop-missing", error.what()));
    } catch (const std::bad_alloc&) {
        complain("there is not enough memory for this: use a smaller model, or fewer columns");
    } catch (const std::system_error& error) {
        if (std::ferror(stdout) != 0) {
            complain_of_output(error.code().message());
        } else {
            complain(error.what());
        }
    } catch (const bugs::ModelError& error) {
        constexpr std::size_t most = 20;
        std::size_t said = 0;
        for (const bugs::Diagnostic& one : error.diagnostics()) {
            if (said++ == most) break;
            complain(fmt::format("{}:{}:{}: {}", one.file, one.line, one.column, one.sentence), one.picture);
        }
        if (error.diagnostics().size() > most) {
            complain(fmt::format("and {} more", error.diagnostics().size() - most));
        }
    } catch (const std::exception& error) {
        complain(error.what());
    }
    return kBadInput;
}

}  // namespace lrvb::cli
