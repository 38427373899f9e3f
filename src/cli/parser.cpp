// The one unit that knows the library for command lines.

#include "cli/parser.hpp"

#include "cli/completion.hpp"
#include "cli/manual.hpp"
#include "cli/options.hpp"
#include "cli/output.hpp"

#include <lrvb/formula/formula.hpp>

#include <fast_float/fast_float.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>

namespace lrvb::cli {

namespace {

using Type = OptionInfo::Type;

// The subcommand that was understood so far: whose help to point to.
std::string deepest(const CLI::App& app) {
    const std::vector<CLI::App*> chosen = app.get_subcommands();
    return chosen.empty() ? app.get_name() : fmt::format("{} {}", app.get_name(), deepest(*chosen.front()));
}

int wrong_usage(const CLI::App& program, const std::string& message) {
    complain(fmt::format("{}; see '{} --help'", message, deepest(program)));
    return kWrongUsage;
}

std::string first_line(std::string text) {
    text = text.substr(0, text.find('\n'));
    while (!text.empty() && (text.back() == '.' || text.back() == ' ')) text.pop_back();
    return text;
}

std::string type_name(const OptionInfo& option) {
    if (!option.value.empty()) return option.value;
    switch (option.type) {
        case Type::whole:
            return "INT";
        case Type::range:
            return "INT[:INT]";
        case Type::number:
            return "FLOAT";
        case Type::seed:
            return "UINT";
        case Type::choice:
            return fmt::format("{}", fmt::join(option.choices, "|"));
        case Type::text:
        case Type::list:
        case Type::texts:
        case Type::file:
        case Type::files:
        case Type::output:
        case Type::flag:
            break;
    }
    return "TEXT";
}

// The whole text as a number; nothing where it is none.
std::optional<double> number_in(const std::string& text) {
    double value = 0.0;
    const char* const end = text.data() + text.size();
    const auto [next, error] = fast_float::from_chars(text.data(), end, value);
    return error == std::errc() && next == end ? std::optional(value) : std::nullopt;
}

std::string seed_error(const std::string& text) {
    std::uint64_t value = 0;
    const char* const end = text.data() + text.size();
    const auto [next, error] = std::from_chars(text.data(), end, value);
    if (error == std::errc() && next == end) return {};
    return fmt::format("'{}' is not a whole number from 0 to {}", text, std::numeric_limits<std::uint64_t>::max());
}

std::string range_error(const OptionInfo& option, const std::string& text) {
    const std::optional<double> value = number_in(text);
    const bool whole = option.type != Type::number;
    if (!value || !std::isfinite(*value) || (whole && text.find_first_not_of("+-0123456789") != std::string::npos)) {
        return fmt::format("'{}' is not a {}number", text, whole ? "whole " : "");
    }
    if (*value >= option.least && *value <= option.most) return {};
    const bool says_both = !option.range.ends_with(" or more");
    return fmt::format("{} is out of range: it must be {}", text,
                       says_both || *value < option.least ? option.range : fmt::format("at most {}", option.most));
}

// Of both ends; whether there are two, and which is larger, is Settings::range's to say.
std::string ends_error(const OptionInfo& option, const std::string& text) {
    const std::size_t colon = text.find(':');
    if (colon == std::string::npos) return range_error(option, text);
    for (const std::string& end : {text.substr(0, colon), text.substr(colon + 1)}) {
        if (end.empty()) continue;
        if (std::string error = range_error(option, end); !error.empty()) return error;
    }
    return {};
}

std::string empty_error(const std::string& text) {
    return text.empty() ? "it is empty: give the name of a file" : std::string();
}

std::string choice_error(const std::vector<std::string>& choices, const std::string& text) {
    if (std::ranges::find(choices, text) != choices.end()) return {};
    return fmt::format("'{}' is not one of {}", text, fmt::join(choices, ", "));
}

// Of arguments that are left over.
std::string extra_error(const std::vector<std::string>& left) {
    const auto option =
        std::ranges::find_if(left, [](const std::string& text) { return text.size() > 1 && text.starts_with('-'); });
    if (option != left.end()) return fmt::format("there is no option '{}'", *option);
    return fmt::format("the argument '{}' is not expected", left.back());
}

void add_option(CLI::App& command, const OptionInfo& option, Settings& settings) {
    const std::string key = option.key();
    CLI::Option* added = nullptr;
    if (option.type == Type::flag) {
        added = command.add_flag_callback(
            option.name, [&settings, key] { settings.set(key, "true"); }, option.help);
    } else if (option.type == Type::list) {
        added = command.add_option_function<std::vector<std::string>>(
            option.name,
            [&settings, key](const std::vector<std::string>& values) {
                settings.set(key, fmt::format("{}", fmt::join(values, ",")));
            },
            option.help);
        added->type_name(type_name(option))->allow_extra_args(false);  // one value each time
    } else if (option.type == Type::texts || option.type == Type::files) {
        added = command.add_option_function<std::vector<std::string>>(
            option.name,
            [&settings, key](const std::vector<std::string>& values) {
                for (const std::string& value : values) settings.add(key, value);
            },
            option.help);
        added->type_name(type_name(option))->allow_extra_args(!option.name.starts_with('-'));
    } else {
        added = command.add_option_function<std::string>(
            option.name, [&settings, key](const std::string& value) { settings.set(key, value); }, option.help);
        added->type_name(type_name(option));
    }
    if (option.type == Type::whole || option.type == Type::number) {
        added->check(
            CLI::Validator([option](const std::string& text) { return range_error(option, text); }, option.range));
    } else if (option.type == Type::range) {
        added->check(
            CLI::Validator([option](const std::string& text) { return ends_error(option, text); }, option.range));
    } else if (option.type == Type::file || option.type == Type::files || option.type == Type::output) {
        added->check(CLI::Validator(empty_error, ""));
    } else if (option.type == Type::seed) {
        added->check(CLI::Validator(seed_error, ""));
    } else if (option.type == Type::choice) {
        added->check(CLI::Validator(
            [choices = option.choices](const std::string& text) { return choice_error(choices, text); }, ""));
    }
    if (option.required) added->required();
    if (!option.group.empty()) added->group(option.group);
}

// 'lrvb help fit mixture' is 'lrvb fit mixture --help'.
int show_help(const CLI::App& program, const std::vector<std::string>& topic) {
    const CLI::App* app = &program;
    for (const std::string& name : topic) {
        const std::vector<const CLI::App*> found =
            app->get_subcommands([&](const CLI::App* command) { return command->get_name() == name; });
        if (found.empty()) throw UsageError(fmt::format("there is no command '{}'", name));
        app = found.front();
    }
    // Not app->help(), which would show that of the subcommand 'help'.
    const std::string name = topic.empty() ? "lrvb" : fmt::format("lrvb {}", fmt::join(topic, " "));
    say(app->get_formatter()->make_help(app, name, CLI::AppFormatMode::Normal));
    return kSuccess;
}

void list_commands(const CLI::App& app, const std::string& path, std::vector<CompletedCommand>& commands) {
    CompletedCommand command{path, {}, {}};
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

ManualCommand described(const CLI::App& app, const std::string& path) {
    const CLI::Formatter formatter;
    ManualCommand command{path, app.get_description(), "", {}};
    const std::string usage = first_line(formatter.make_usage(&app, "lrvb"));
    const std::string before = "Usage: lrvb ";
    if (usage.starts_with(before)) command.usage = usage.substr(before.size());
    const auto add = [&](const CLI::Option* option, const std::string& heading) {
        std::string value = formatter.make_option_opts(option);
        if (!value.empty()) value.erase(0, 1);  // the space behind the name
        command.options.push_back({formatter.make_option_name(option, option->get_positional()), value,
                                   formatter.make_option_desc(option), heading});
    };
    for (const CLI::Option* option : app.get_options()) {
        if (option->get_positional()) add(option, "");
    }
    for (const std::string& group : app.get_groups()) {
        for (const CLI::Option* option : app.get_options()) {
            if (option->nonpositional() && option->get_group() == group) add(option, group == "Options" ? "" : group);
        }
    }
    return command;
}

// The program itself, and what can be run: no words that only begin a command.
void describe_commands(const CLI::App& app, const std::string& path, std::vector<ManualCommand>& commands) {
    const std::vector<const CLI::App*> subcommands = app.get_subcommands([](const CLI::App*) { return true; });
    if (path.empty() || subcommands.empty()) commands.push_back(described(app, path));
    for (const CLI::App* subcommand : subcommands) {
        describe_commands(*subcommand, path.empty() ? subcommand->get_name() : path + " " + subcommand->get_name(),
                          commands);
    }
}

class Parser {
  public:
    Parser(const std::vector<Group>& groups, const std::vector<Command>& commands)
        : program_("Posterior means in milliseconds, with error bars that hold", "lrvb") {
        program_.set_version_flag("-V,--version", std::string("lrvb ") + LRVB_VERSION, "Print the version and exit");
        program_.require_subcommand(1);
        for (const Command& command : commands) add(groups, command);
        CLI::App* completion =
            program_.add_subcommand("completion", "Print a completion script: source it in your shell");
        completion->add_option("SHELL", shell_, "bash, zsh or fish")
            ->required()
            ->check(CLI::Validator(
                [](const std::string& text) {
                    return choice_error({"bash", "zsh", "fish"}, text);
                },
                ""))
            ->type_name("bash|zsh|fish");
        completion->callback([this] {
            run_ = [this] {
                std::vector<CompletedCommand> known;
                list_commands(program_, "", known);
                say(completion_script(shell_, known));
                return kSuccess;
            };
        });
        program_.add_subcommand("man", "Print the manual page: lrvb man | man -l -")->callback([this] {
            run_ = [this] {
                std::vector<ManualCommand> known;
                describe_commands(program_, "", known);
                say(manual_page(LRVB_VERSION, known));
                return kSuccess;
            };
        });
        CLI::App* help = program_.add_subcommand("help", "Show the help of the program, or of a command");
        help->add_option("COMMAND", topic_, "The command, such as 'fit mixture'");
        help->callback([this] { run_ = [this] { return show_help(program_, topic_); }; });
    }

    int run(int argc, char** argv) {
        try {
            program_.parse(argc, argv);
            return run_();
        } catch (const CLI::Success& asked) {  // --help and --version
            return program_.exit(asked);
        } catch (const CLI::ParseError& error) {
            const std::vector<std::string> left = program_.remaining(true);
            const bool unknown = dynamic_cast<const CLI::RequiredError*>(&error) != nullptr && !left.empty();
            if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr && !left.empty()) {
                return wrong_usage(program_, extra_error(left));
            }
            return wrong_usage(program_, unknown ? fmt::format("'{}' is no command or option", left.front())
                                                 : first_line(error.what()));
        } catch (const FormulaError& error) {
            complain(error.sentence(), error.picture());
            return kWrongUsage;
        } catch (const FormulaDataError& error) {
            complain(error.sentence(), error.picture());
            return kBadInput;
        } catch (const UsageError& error) {
            return wrong_usage(program_, error.what());
        }
    }

  private:
    void add(const std::vector<Group>& groups, const Command& command) {
        CLI::App* parent = &program_;
        std::string name = command.name;
        const std::size_t space = name.find(' ');
        if (space != std::string::npos) {
            parent = group_of(groups, name.substr(0, space));
            name = name.substr(space + 1);
        }
        CLI::App* added = parent->add_subcommand(name, command.help);
        for (const OptionInfo& option : command.options) add_option(*added, option, settings_);
        added->callback([this, &command] {
            run_ = [this, &command] {
                guard_files(command.options, settings_);
                return command.run(settings_);
            };
        });
    }

    CLI::App* group_of(const std::vector<Group>& groups, const std::string& name) {
        for (CLI::App* known : program_.get_subcommands([&](const CLI::App* app) { return app->get_name() == name; })) {
            return known;
        }
        std::string help;
        for (const Group& group : groups) {
            if (group.name == name) help = group.help;
        }
        CLI::App* added = program_.add_subcommand(name, help);
        added->require_subcommand(1);
        return added;
    }

    CLI::App program_;
    Settings settings_;
    std::string shell_;
    std::vector<std::string> topic_;
    std::function<int()> run_;
};

}  // namespace

int parse_and_run(int argc, char** argv, const std::vector<Group>& groups, const std::vector<Command>& commands) {
    return Parser(groups, commands).run(argc, argv);
}

}  // namespace lrvb::cli
