#include "cli/command.hpp"
#include "cli/fit_range.hpp"
#include "cli/output.hpp"
#include "cli/prediction_file.hpp"
#include "cli/progress.hpp"
#include "cli/signals.hpp"

#include <lrvb/check/check.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <optional>
#include <system_error>

namespace lrvb::cli {

namespace {

CheckWish wish_of(const Settings& settings) {
    if (settings.flag("exact")) {
        if (settings.given("check"))
            throw UsageError("--exact always compares with the exact posterior: leave out --check");
        return CheckWish::exact;
    }
    const std::string word = settings.text("check", "auto");
    return word == "always" ? CheckWish::always : word == "never" ? CheckWish::never : CheckWish::quick;
}

void show(const FittedModel& fitted, bool left_for_time) {
    const FitFile& fit = fitted.file();
    if (fit.data.dropped > 0) {
        say(fmt::format("{} row{} with missing values left out\n", fit.data.dropped, fit.data.dropped == 1 ? "" : "s"));
    }
    say(summary_text(fit, {}));
    if (!left_for_time) return;
    say(fitted.work_of_integration()
            ? "\nat one point of the variance parameters: --exact adds up over all of them, which takes a while\n"
            : "\nnot compared with the exact posterior, which would take a while: see 'lrvb check'\n");
}

std::vector<std::string> files_read(const Kind& kind, const Settings& settings) {
    std::vector<std::string> keys{"DATA"};
    const std::vector<OptionInfo> options = kind.options().value();
    for (const OptionInfo& option : options) {
        if (option.type == OptionInfo::Type::file) keys.push_back(option.key());
    }
    return files_of(settings, keys);
}

bool is_there(const std::string& output) {
    std::error_code ignored;
    return output != "-" && std::filesystem::is_regular_file(output, ignored);
}

std::string after_interruption(const std::string& output, bool keeps_old) {
    if (output.empty()) return "interrupted before the fit converged";
    if (keeps_old) return fmt::format("interrupted before the fit converged: {} stays as it was", output);
    return fmt::format("interrupted before the fit converged: {} holds it as far as it came, and says so",
                       output == "-" ? "standard output" : output);
}

// Where a table of the rows goes, if the kind has one and it was asked for.
struct TableOutput {
    std::string option;
    std::string path;
};

TableOutput table_output(const Kind& kind, const Settings& settings) {
    const std::optional<OptionInfo> option = kind.table_option();
    if (!option) return {};
    TableOutput result{option->name, settings.text(option->key())};
    if (result.path.empty()) return result;
    require_other_file(result.path, files_read(kind, settings), result.option);
    if (same_file(result.path, settings.text("output"))) {
        throw UsageError(fmt::format("-o and {} name the same file: choose another for one of them", result.option));
    }
    return result;
}

FitRequest request_of(const Settings& settings) {
    FitRequest request{data_of(settings), settings, {}, threads_of(settings), {}};
    request.options.seed = settings.seed();
    if (settings.has("tolerance")) request.options.tolerance = settings.number("tolerance");
    request.options.max_iterations = static_cast<int>(settings.whole("max-iterations", request.options.max_iterations));
    return request;
}

// What `fit` makes of the request, with a line of progress and Ctrl-C.
template <class Fit>
auto with_progress(FitRequest request, const Settings& settings, Fit fit) {
    // Before there is a fit that could be kept, Ctrl-C ends the program: also where it waits for a pipe.
    std::optional<Interruption> interruption;
    ProgressLine line(request.options.tolerance, settings.flag("quiet"));
    request.on_rows = [&](Index rows) {
        line.set_rows(rows);
        if (!interruption) interruption.emplace();
    };
    request.options.progress = [&](const Progress& progress) {
        if (!interruption) interruption.emplace();
        line.show(progress);
        return !Interruption::asked_for();
    };
    return fit(request);
}

// Files appear when all fits are there, so that Ctrl-C leaves what was there before.
int fit_all(const Kind& kind, const OptionInfo& option, const Settings& settings) {
    const auto [first, last] = settings.range(option.key());
    if (const TableOutput table = table_output(kind, settings); !table.path.empty()) {
        throw UsageError(fmt::format("{} is of one fit: choose one {}, or use 'lrvb predict' on the fits of a range",
                                     table.option, option.short_key()));
    }
    for (const std::string name : {"exact", "seconds"}) {
        if (settings.has(name))
            throw UsageError(fmt::format("--{} is of one fit: choose one {}", name, option.short_key()));
    }
    const std::vector<std::string> outputs = range_outputs(settings.text("output"), option, first, last);
    for (const std::string& output : outputs) require_other_file(output, files_read(kind, settings));
    const FitRequest all = request_of(settings);
    FittedRange range = with_progress(all, settings, [&](const FitRequest& request) {
        FittedRange fits = fit_range(kind, request, wish_of(settings));
        fits.is_cancelled = fits.is_cancelled || Interruption::asked_for();  // while they were compared
        return fits;
    });
    if (range.is_cancelled) {
        complain(
            fmt::format("interrupted at {} = {}: nothing was written", option.short_key(), range.fits.back().number));
        end_as_interrupted();
    }
    for (RangeFit& one : range.fits) {
        FitFile& file = one.fit.fitted->file();
        file.program = LRVB_VERSION;
        file.data.na = all.data.na();
        if (!file.converged()) file.warnings.insert(file.warnings.begin(), file.outcome.message);
    }
    return show_range(range, outputs, settings.flag("quiet"));
}

int fit_kind(const Kind& kind, const Settings& settings) {
    require_shared_rows(kind);
    if (const std::optional<OptionInfo> option = range_option(kind, settings)) {
        return fit_all(kind, *option, settings);
    }
    if (settings.flag("show-priors")) {
        for (const std::string& line : kind.priors(request_of(settings))) say(line + "\n");
        return kSuccess;
    }
    const std::string output = settings.text("output");
    require_other_file(output, files_read(kind, settings));
    const TableOutput table = table_output(kind, settings);
    const FitRequest request = request_of(settings);
    const CheckWish wish = wish_of(settings);
    std::optional<double> seconds;
    if (settings.has("seconds") && wish == CheckWish::never) {
        throw UsageError("--seconds is the time of the comparison, and --check never has none: leave one of them out");
    }
    if (settings.has("seconds")) seconds = settings.number("seconds");
    const CheckedFit fit = with_progress(request, settings, [&](const FitRequest& whole) {
        CheckLine line(settings.flag("quiet"));
        try {
            return fit_and_check(kind, whole, wish, seconds, [&](const CheckProgress& progress) {
                line.show(progress);
                return !Interruption::asked_for();
            });
        } catch (const std::runtime_error&) {
            if (!Interruption::asked_for()) throw;
            complain("interrupted while the fit was compared with the exact posterior: nothing was written");
            end_as_interrupted();
        }
    });
    FitFile& file = fit.fitted->file();
    if (Interruption::asked_for() && file.outcome.termination != Termination::cancelled) {  // after the last iteration
        complain("interrupted when the fit was made: nothing was written");
        end_as_interrupted();
    }
    file.program = LRVB_VERSION;
    file.data.na = request.data.na();
    if (!file.converged()) file.warnings.insert(file.warnings.begin(), file.outcome.message);
    const bool cancelled = file.outcome.termination == Termination::cancelled;
    const bool keeps_old = cancelled && is_there(output);
    // The table is there when the fit is: written before, and named after.
    std::optional<PredictionFile> rows;
    if (!table.path.empty() && file.converged()) fit.fitted->predict_rows(rows.emplace(table.path, Format::csv));
    if (!output.empty() && !keeps_old) write_fit(output, file);
    if (rows) rows->commit();
    // What stands on standard output is for the next program in the pipe: nothing else belongs there.
    if (!settings.flag("quiet") && output != "-" && table.path != "-") {
        show(*fit.fitted, !fit.check_tried && file.converged() && wish == CheckWish::quick);
    }
    if (file.converged()) return kSuccess;
    if (!table.path.empty())
        complain(fmt::format("{} {} is not written: the fit did not converge", table.option, table.path));
    if (cancelled) {
        complain(after_interruption(output, keeps_old));
        end_as_interrupted();
    }
    complain(fmt::format("the fit did not converge: {}", file.outcome.message));
    return kNotConverged;
}

}  // namespace

std::vector<Command> fit_commands() {
    std::vector<Command> commands;
    for (const std::unique_ptr<const Kind>& kind : kinds()) {
        const std::optional<std::vector<OptionInfo>> own = kind->options();
        if (!own) continue;
        Command command;
        command.name = fmt::format("fit {}", kind->name());
        command.help = kind->help();
        std::vector<OptionInfo>& options = command.options;
        const std::optional<OptionInfo> files = kind->several_files();
        const auto is_argument = [](const OptionInfo& option) { return !option.name.starts_with('-'); };
        if (files) {  // what they belong to comes first
            std::ranges::copy_if(*own, std::back_inserter(options), is_argument);
            options.push_back(*files);
        } else {
            options.push_back(
                OptionInfo{"DATA", "The data: a CSV file with a header, a NumPy file (.npy), or - for standard input",
                           OptionInfo::Type::file}
                    .require());
        }
        if (kind->chooses_columns()) {
            options.push_back({"-c,--columns",
                               "Columns to use, by name or number, separated by commas; 1-4 is a range, -a leaves out "
                               "a (default: all)"});
        }
        if (!files) {
            options.push_back(
                OptionInfo::flag("--drop-missing", "Leave out rows with a missing value in a used column"));
        }
        options.push_back(na_option());
        std::ranges::copy_if(*own, std::back_inserter(options),
                             [&](const OptionInfo& option) { return !files || !is_argument(option); });
        if (kind->shows_priors()) {
            options.push_back(
                OptionInfo::flag("--show-priors", "Print the prior, as --prior takes it, and fit nothing"));
        }
        options.push_back(output_option("Write the fit to this file (JSON); - for standard output"));
        if (const std::optional<OptionInfo> table = kind->table_option()) options.push_back(*table);
        options.push_back(seed_option("Seed of the random starts (default 1)"));
        options.push_back(OptionInfo::number("--tolerance", 1e-15, 1e-4, "between 1e-15 and 1e-4",
                                             "Largest last step, in posterior sds (default 1e-8)"));
        options.push_back(
            OptionInfo::whole("--max-iterations", 1, 1e9, "Sweeps and Newton steps at most (default 10000)"));
        options.push_back(
            OptionInfo::choice("--check", {"auto", "always", "never"},
                               "Compare with the exact posterior: auto (default: where it is quick), always, never"));
        options.push_back(OptionInfo::flag(
            "--exact",
            "Give means, sds, quantiles and covariances of the exact posterior, by its draws or by integration"));
        options.push_back(
            seconds_option("About how long the comparison may take (default: 1; 30 with --exact or --check always)"));
        options.push_back(OptionInfo::flag("--quiet", "Print no progress and no summary"));
        options.push_back(threads_option());
        options.push_back(memory_option());
        command.run = [&kind = *kind](const Settings& settings) { return fit_kind(kind, settings); };
        commands.push_back(std::move(command));
    }
    return commands;
}

std::vector<Command> simulate_commands() {
    std::vector<Command> commands;
    for (const std::unique_ptr<const Kind>& kind : kinds()) {
        std::optional<std::vector<OptionInfo>> options = kind->simulation_options();
        if (!options) continue;
        options->push_back(seed_option("Seed (default 1)"));
        options->push_back(output_option("Write to this file instead of standard output"));
        commands.push_back({fmt::format("simulate {}", kind->name()), std::string(kind->simulation_help()),
                            std::move(*options), [&kind = *kind](const Settings& settings) {
                                LineFile file(settings.text("output", "-"));
                                kind.simulate(settings, [&](const std::string& text) { file.add(text); });
                                file.commit();
                                return kSuccess;
                            }});
    }
    return commands;
}

}  // namespace lrvb::cli
