#include "cli/completion.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace lrvb::cli {

namespace {

// zsh runs the same script through bashcompinit.
std::string bash_script(const std::vector<CompletedCommand>& commands) {
    std::string cases;
    std::vector<std::string> groups;
    for (const CompletedCommand& command : commands) {
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

std::string fish_script(const std::vector<CompletedCommand>& commands) {
    std::string text = "complete -c lrvb -n __fish_use_subcommand -f\n";
    for (const CompletedCommand& command : commands) {
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

std::string completion_script(const std::string& shell, const std::vector<CompletedCommand>& commands) {
    if (shell == "fish") return fish_script(commands);
    return (shell == "zsh" ? "autoload -U +X bashcompinit && bashcompinit\n" : "") + bash_script(commands);
}

}  // namespace lrvb::cli
