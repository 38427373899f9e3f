#include "base/messages.hpp"
#include "cli/check_model.hpp"
#include "cli/command.hpp"
#include "cli/draws_file.hpp"
#include "cli/output.hpp"
#include "cli/progress.hpp"

#include <lrvb/check/check.hpp>

#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <stdexcept>
#include <system_error>

namespace lrvb::cli {

namespace {

// Empty where a heavy tail leaves no number.
std::string or_nothing(double value, const CheckedVariable& variable) {
    return variable.moments() != TailMoments::mean_and_sd && std::isnan(value) ? std::string() : exact(value);
}

std::string csv_text(const Check& check, const std::vector<Index>& chosen) {
    std::string text =
        csv_line({"variable", fmt::format("mean_{}", check.answer()), fmt::format("sd_{}", check.answer()),
                  "mean_exact", "sd_exact", "shift", "shift_se", "ratio", "ratio_se", "verdict"});
    for (const Index at : chosen) {
        const CheckedVariable& variable = check.variables[static_cast<std::size_t>(at)];
        text += csv_line({variable.name, exact(variable.mean_lrvb), exact(variable.sd_lrvb),
                          or_nothing(variable.shown_mean_exact(), variable),
                          or_nothing(variable.shown_sd_exact(), variable), or_nothing(variable.shown_shift(), variable),
                          exact(variable.shift_se), or_nothing(variable.shown_ratio(), variable),
                          exact(variable.ratio_se), variable.verdict_text()});
    }
    return text;
}

// `rest`: said below the table.
std::string table_text(const Check& check, const std::vector<Index>& chosen, const std::string& rest) {
    std::vector<std::vector<std::string>> table{{"variable", fmt::format("mean_{}", check.answer()),
                                                 fmt::format("sd_{}", check.answer()), "mean_exact", "sd_exact",
                                                 "shift", "ratio", "verdict"}};
    for (const Index at : chosen) {
        const CheckedVariable& variable = check.variables[static_cast<std::size_t>(at)];
        const double sd = variable.sd_exact;
        if (variable.moments() != TailMoments::mean_and_sd) {
            const bool has_mean = variable.moments() == TailMoments::mean;
            table.push_back({variable.name, rounded(variable.mean_lrvb, sd), rounded(variable.sd_lrvb, sd),
                             has_mean ? rounded(variable.mean_exact, sd) : kHeavyTail, kHeavyTail, "NA", "NA",
                             variable.verdict_text()});
            continue;
        }
        const bool fixed = std::isnan(variable.ratio);
        table.push_back({variable.name, rounded(variable.mean_lrvb, sd), rounded(variable.sd_lrvb, sd),
                         rounded(variable.mean_exact, sd), rounded(variable.sd_exact, sd),
                         fixed ? "NA" : decimals(variable.shift, 2), fixed ? "NA" : decimals(variable.ratio, 2),
                         variable.verdict});
    }
    const std::string below = fmt::format("{}\n\n{}{}\n{}: {}\n", detail::on_one_line(check.trust), aligned(table),
                                          rest, to_string(check.verdict), detail::on_one_line(check.message));
    if (check.integrated) return check.integrated->how + "\n" + below;
    const std::string method = check.method == CheckMethod::importance ? "importance sampling"
                               : check.method == CheckMethod::nuts     ? "the no-U-turn sampler"
                                                                       : "Metropolis-Hastings";
    return fmt::format("{} draws of the exact posterior by {}, effective sample size {:.0f}\n{}", check.draws, method,
                       check.ess, below);
}

// The fit, and DATA or else the file that it names.
Settings with_data(const Settings& settings, const FitFile& fit) {
    Settings result = settings;
    if (settings.has("DATA")) return result;
    const std::vector<std::string> files = dataset_of(fit.data).paths();
    for (const std::string& file : files) {
        std::error_code ignored;
        if (!std::filesystem::exists(file, ignored)) {
            throw std::runtime_error(
                fmt::format("the data that the fit names, '{}', are no file here: give them as DATA", file));
        }
        result.add("DATA", file);
    }
    return result;
}

int run_check(const Settings& settings) {
    require_model_check_options(settings);
    if (settings.flag("all") && settings.has("variables")) {
        throw UsageError("--all and --variables contradict each other");
    }
    const std::string method = settings.text("method", "auto");
    if (settings.has("seconds") &&
        (settings.flag("model") || method == "importance" || method == "mh" || method == "integration")) {
        throw UsageError("--seconds is for --method auto and nuts: leave it out, or take one of these");
    }
    const std::string output = settings.text("output");
    const std::string draws_path = settings.text("save-draws");
    if (settings.flag("correct") == output.empty()) throw UsageError("--correct and -o need each other");
    prepare_output(output);
    prepare_output(draws_path, "--save-draws");
    const DrawsFormat format_of_draws = draws_format(settings);
    const FitFile fit = read_fit(settings.text("FIT"));
    const Settings data = with_data(settings, fit);
    if (settings.flag("model")) {
        show_model_check(*restored(fit, data), settings);
        return kSuccess;
    }
    CheckOptions options;
    options.method = check_method(settings.text("method"));  // of none: auto
    if (settings.has("seconds")) options.seconds = settings.number("seconds");
    CheckLine line;
    options.progress = [&](const CheckProgress& progress) {
        line.show(progress);
        return true;
    };
    options.draws = settings.whole("draws", options.draws);
    options.seed = settings.seed();
    // Draws that made an answer cannot judge it.
    if (fit.correction && !settings.has("seed")) options.seed = fit.correction->seed + 1;
    options.threads = threads_of(settings);
    const std::vector<Index> chosen = fit.posterior.select(settings.list("variables"));
    Check check = lrvb::check(*restore(fit, data_of(data), options.threads), fit.posterior, options);
    check.of_response = !fit.correction;
    line.clear();
    if (!draws_path.empty()) save_draws(check, chosen, draws_path, format_of_draws);
    if (settings.flag("correct")) write_fit(output, corrected(fit, check));
    // A file on standard output is for the next program in the pipe: nothing else belongs there.
    if (draws_path == "-" || output == "-") return kSuccess;
    const Format format = format_of(settings);
    if (format == Format::json) {
        say(check.document(chosen).json(2) + "\n");
    } else if (format == Format::csv) {
        say(csv_text(check, chosen));
    } else if (settings.has("variables")) {
        say(table_text(check, chosen, ""));
    } else {
        const std::vector<Index> shown =
            settings.flag("all") ? chosen : foremost_variables(fit, check, chosen, kMostVariables);
        say(table_text(check, shown, rest_text(fit.posterior, shown.size(), chosen.size(), "lrvb check FIT")));
    }
    return kSuccess;
}

}  // namespace

Command check_command() {
    OptionInfo draws = OptionInfo::whole("--draws", 100, 10000000, "Draws of the exact posterior (default 4000)");
    draws.range = "100 to 10000000";
    OptionInfo data = fitted_data();
    data.required = false;
    data.help += " (default: the file that the fit names)";
    Command command{
        "check",
        "Compare a fit with the exact posterior, or, with --model, data from the model with the data",
        {fit_argument(), data, draws,
         OptionInfo::choice("--method", {"auto", "integration", "importance", "nuts", "mh"},
                            "auto (default): integration where the model has it, otherwise importance sampling, and "
                            "the no-U-turn sampler where that cannot tell; or one of them, or mh for "
                            "Metropolis-Hastings about the mode"),
         seconds_option("About how long --method auto or nuts may take (default 30)"),
         OptionInfo::choice("--format", {"table", "csv", "json", "npz"},
                            "table for people (default), csv or json for programs; npz is the format of --save-draws"),
         variables_option(), all_option("variables, not only the 40 that matter most"),
         seed_option("Seed of the draws (default 1)"), threads_option(), memory_option(),
         OptionInfo{"--save-draws",
                    "Write equally weighted draws of the exact posterior, and their log density lp__, to this file: "
                    "CSV, or a NumPy archive where its name ends in .npz",
                    OptionInfo::Type::output},
         OptionInfo::flag("--correct", "Write a fit file with the checked means, quantiles and covariances to -o"),
         output_option("The file of --correct")},
        run_check};
    for (OptionInfo& option : model_check_options()) command.options.push_back(std::move(option));
    return command;
}

}  // namespace lrvb::cli
