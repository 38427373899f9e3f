#include "cli/command.hpp"

#include <lrvb/data/csv.hpp>

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <new>

namespace {

using lrvb::cli::Run;

// The subcommand that was understood so far: whose help to point to.
std::string deepest(const CLI::App& app) {
    const std::vector<CLI::App*> chosen = app.get_subcommands();
    return chosen.empty() ? app.get_name() : fmt::format("{} {}", app.get_name(), deepest(*chosen.front()));
}

int wrong_usage(const CLI::App& program, const std::string& message) {
    fmt::print(stderr, "lrvb: {}; see '{} --help'\n", message, deepest(program));
    return lrvb::cli::kWrongUsage;
}

std::string first_line(std::string text) {
    text = text.substr(0, text.find('\n'));
    while (!text.empty() && (text.back() == '.' || text.back() == ' ')) text.pop_back();
    return text;
}

// 'lrvb help fit mixture' is 'lrvb fit mixture --help'.
void add_help(CLI::App& program, std::vector<std::string>& topic, Run& run) {
    CLI::App* help = program.add_subcommand("help", "Show the help of the program, or of a command");
    help->add_option("COMMAND", topic, "The command, such as 'fit mixture'");
    help->callback([&program, &topic, &run] {
        run = [&program, &topic] {
            const CLI::App* app = &program;
            for (const std::string& name : topic) {
                const std::vector<const CLI::App*> found =
                    app->get_subcommands([&](const CLI::App* command) { return command->get_name() == name; });
                if (found.empty()) throw lrvb::cli::UsageError(fmt::format("there is no command '{}'", name));
                app = found.front();
            }
            // Not app->help(), which would show that of the subcommand 'help'.
            const std::string name = topic.empty() ? "lrvb" : fmt::format("lrvb {}", fmt::join(topic, " "));
            fmt::print("{}", app->get_formatter()->make_help(app, name, CLI::AppFormatMode::Normal));
            return lrvb::cli::kSuccess;
        };
    });
}

CLI::App& add_group(CLI::App& program, const std::string& name, const std::string& description) {
    CLI::App* group = program.add_subcommand(name, description);
    group->require_subcommand(1);
    return *group;
}

int run_program(int argc, char** argv) {
    CLI::App program("Posterior means in milliseconds, with error bars that hold", "lrvb");
    program.set_version_flag("--version", std::string("lrvb ") + LRVB_VERSION);
    program.require_subcommand(1);
    Run run;
    std::vector<std::string> topic;
    CLI::App& fit = add_group(program, "fit", "Fit a model to data");
    lrvb::cli::add_fit_mixture(fit, run);
    lrvb::cli::add_fit_regression(fit, run);
    lrvb::cli::add_summary(program, run);
    lrvb::cli::add_covariance(program, run);
    lrvb::cli::add_check(program, run);
    lrvb::cli::add_predict(program, run);
    lrvb::cli::add_leverage(program, run);
    lrvb::cli::add_influence(program, run);
    lrvb::cli::add_sensitivity(program, run);
    lrvb::cli::add_report(program, run);
    CLI::App& simulate = add_group(program, "simulate", "Draw data from a model");
    lrvb::cli::add_simulate_mixture(simulate, run);
    lrvb::cli::add_reproduce(program, run);
    lrvb::cli::add_completion(program, run);
    add_help(program, topic, run);
    try {
        program.parse(argc, argv);
        return run();
    } catch (const CLI::Success& asked) {  // --help and --version
        return program.exit(asked);
    } catch (const CLI::ParseError& error) {
        const std::vector<std::string> left = program.remaining(true);
        const bool unknown = dynamic_cast<const CLI::RequiredError*>(&error) != nullptr && !left.empty();
        return wrong_usage(
            program, unknown ? fmt::format("'{}' is no command or option", left.front()) : first_line(error.what()));
    } catch (const lrvb::cli::UsageError& error) {
        return wrong_usage(program, error.what());
    }
}

}  // namespace

int main(int argc, char** argv) {
    try {
        const int code = run_program(argc, argv);
        if (std::fflush(stdout) == 0) return code;
        fmt::print(stderr, "lrvb: standard output cannot be written: {}; choose another place\n", std::strerror(errno));
    } catch (const lrvb::MissingValue& error) {
        fmt::print(stderr, "lrvb: {} with --drop-missing\n", error.what());
    } catch (const std::bad_alloc&) {
        fmt::print(stderr, "lrvb: there is not enough memory for this: use fewer columns or components\n");
    } catch (const std::exception& error) {
        fmt::print(stderr, "lrvb: {}\n", error.what());
    }
    return lrvb::cli::kBadInput;
}
