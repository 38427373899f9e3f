#include "cli/command.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <memory>

/// Completion scripts, made from the parser itself, so that they know what the program knows.
namespace lrvb::cli {

namespace {

struct Command {
    std::string path;  // "fit mixture"; empty for the program
    std::vector<std::string> subcommands;
    std::vector<std::string> options;
};

void list_commands(const CLI::App& app, const std::string& path, std::vector<Command>& commands) {
    Command command{path, {}, {}};
    for (const CLI::Option* option : app.get_options()) {
        for (const std::string& name : option->get_lnames()) command.options.push_back("--" + name);
        for (const std::string& name : option->get_snames()) command.options.push_back("-" + name);
    }
    const std::vector<const CLI::App*> subcommands = app.get_subcommands([](const CLI::App*) { return true; });
    for (const CLI::App* subcommand : subcommands) command.subcommands.push_back(subcommand->get_name());
    commands.push_back(std::move(command));
    for (const CLI::App* subcommand : subcommands) {
        list_commands(*subcommand, path.empty() ? subcommand->get_name() : path + " " + subcommand->get_name(),
                      commands);
    }
}

// zsh runs the same script through bashcompinit.
std::string bash_script(const std::vector<Command>& commands) {
    std::string cases;
    std::vector<std::string> groups;
    for (const Command& command : commands) {
        cases += fmt::format("        '{}') words='{}' ;;\n", command.path,
                             fmt::join(command.subcommands.empty() ? command.options : command.subcommands, " "));
        if (!command.path.empty()) groups.push_back(fmt::format("'{}'", command.path));
    }
    return fmt::format(R"(_lrvb() {{
    local current="${{COMP_WORDS[COMP_CWORD]}}" path='' words='' candidate word
    for word in "${{COMP_WORDS[@]:1:COMP_CWORD-1}}"; do
        candidate="${{path:+$path }}$word"
        case "$candidate" in {}) path="$candidate" ;; esac
    done
    case "$path" in
{}    esac
    if [[ "$current" == -* || "$words" != -* ]]; then
        COMPREPLY=($(compgen -W "$words" -- "$current"))
    else
        COMPREPLY=()
    fi
}}
complete -o default -F _lrvb lrvb
)",
                       fmt::join(groups, "|"), cases);
}

std::string fish_script(const std::vector<Command>& commands) {
    std::string text = "complete -c lrvb -n __fish_use_subcommand -f\n";
    for (const Command& command : commands) {
        std::string condition = "__fish_use_subcommand";
        if (!command.path.empty()) {
            condition = "true";
            std::size_t begin = 0;
            while (begin < command.path.size()) {
                const std::size_t end = std::min(command.path.find(' ', begin), command.path.size());
                condition +=
                    fmt::format("; and __fish_seen_subcommand_from {}", command.path.substr(begin, end - begin));
                begin = end + 1;
            }
        }
        for (const std::string& subcommand : command.subcommands) {
            text += fmt::format("complete -c lrvb -n '{}' -f -a {}\n", condition, subcommand);
        }
        for (const std::string& option : command.options) {
            const bool is_long = option.starts_with("--");
            text += fmt::format("complete -c lrvb -n '{}' {} {}\n", condition, is_long ? "-l" : "-s",
                                option.substr(is_long ? 2 : 1));
        }
    }
    return text;
}

}  // namespace

void add_completion(CLI::App& program, Run& run) {
    const auto shell = std::make_shared<std::string>();
    CLI::App* command = program.add_subcommand("completion", "Print a completion script: source it in your shell");
    command->add_option("SHELL", *shell, "bash, zsh or fish")
        ->required()
        ->check(CLI::IsMember({"bash", "zsh", "fish"}).description(""))
        ->type_name("bash|zsh|fish");
    command->callback([shell, &program, &run] {
        run = [shell, &program] {
            std::vector<Command> commands;
            list_commands(program, "", commands);
            if (*shell == "fish") {
                fmt::print("{}", fish_script(commands));
            } else {
                if (*shell == "zsh") fmt::print("autoload -U +X bashcompinit && bashcompinit\n");
                fmt::print("{}", bash_script(commands));
            }
            return kSuccess;
        };
    });
}

}  // namespace lrvb::cli
