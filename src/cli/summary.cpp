#include "cli/command.hpp"
#include "cli/output.hpp"

#include <fmt/format.h>

namespace lrvb::cli {

namespace {

int show_summary(const Settings& settings) {
    SummaryOptions options;
    options.format = format_of(settings);
    options.variables = settings.list("variables");
    options.all = settings.flag("all");
    if (options.all && !options.variables.empty()) throw UsageError("--all and --variables contradict each other");
    if (settings.has("level")) options.level = settings.number("level");
    if (settings.flag("robust") != settings.has("DATA")) {
        throw UsageError("--robust and DATA need each other: 'lrvb summary FIT DATA --robust'");
    }
    const FitFile fit = read_fit(settings.text("FIT"));
    if (settings.flag("robust")) options.robust = robust_sds(*restored(fit, settings), options.variables);
    say(summary_text(fit, options));
    return kSuccess;
}

}  // namespace

Command summary_command() {
    return {"summary",
            "Show means, sds and intervals of a fit",
            {fit_argument(),
             OptionInfo{"DATA", "The data that was fitted, for --robust: CSV, .npy, or -", OptionInfo::Type::files},
             format_option(), variables_option(), all_option("variables, not only the 40 that matter most"),
             level_option("Probability of the intervals (default 0.9)"),
             OptionInfo::flag("--robust",
                              "Show sd_robust as well: what the rows of DATA say of the sds if the model is wrong"),
             threads_option(), memory_option()},
            show_summary};
}

}  // namespace lrvb::cli
