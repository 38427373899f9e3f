#include "cli/command.hpp"
#include "cli/output.hpp"

#include <fmt/format.h>

namespace lrvb::cli {

namespace {

int show_summary(const Settings& settings) {
    SummaryOptions options;
    options.format = format_of(settings);
    options.variables = settings.list("variables");
    if (settings.has("level")) options.level = settings.number("level");
    say(summary_text(read_fit(settings.text("FIT")), options));
    return kSuccess;
}

}  // namespace

Command summary_command() {
    return {"summary",
            "Show means, sds and intervals of a fit",
            {fit_argument(), format_option(), variables_option(),
             OptionInfo::number("--level", 1e-6, 1.0 - 1e-6, "between 0 and 1",
                                "Probability of the intervals (default 0.9)")},
            show_summary};
}

}  // namespace lrvb::cli
