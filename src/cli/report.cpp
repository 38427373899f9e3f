#include "base/messages.hpp"
#include "cli/command.hpp"
#include "cli/output.hpp"

#include <lrvb/check/check.hpp>
#include <lrvb/report/report.hpp>

#include <fmt/format.h>

namespace lrvb::cli {

namespace {

int write_report(const Settings& settings) {
    const std::string output = settings.text("output", "report.html");
    prepare_output(output);
    const FitFile fit = read_fit(settings.text("FIT"));
    ReportOptions options;
    options.fit_name = settings.text("FIT");
    options.program = LRVB_VERSION;
    const std::string title = settings.text("title");
    if (title.find_first_not_of(" \t\r\n") != std::string::npos) options.title = title;
    if (settings.has("check")) options.check = read_check(settings.text("check"), fit);
    if (settings.has("label")) {
        if (!settings.has("DATA")) throw UsageError("--label is a column of the data: give DATA as well");
        if (settings.text("DATA") == "-")
            throw UsageError("--label reads the data again: DATA is a file, not standard input");
        options.labels = read_labels(data_of(settings), settings.text("label"));
    }
    if (settings.text("DATA") != "-") options.data_name = data_of(settings).name();
    std::unique_ptr<FittedModel> fitted;
    if (settings.has("DATA")) fitted = fit.model->restore(fit, data_of(settings), threads_of(settings));
    detail::write_text(output, report_page(fit, fitted.get(), options));
    if (output != "-") say(detail::on_one_line(output) + ": open it in a browser\n");
    return kSuccess;
}

}  // namespace

Command report_command() {
    return {
        "report",
        "Write a page that shows a fit, and what its data and its prior do to it",
        {fit_argument(),
         OptionInfo{"DATA", "The data that was fitted: to show them, and what each row does", OptionInfo::Type::files},
         output_option("Write to this file (HTML, default report.html); - for standard output"),
         OptionInfo{"--title", "The title of the page (default: what the model is)"},
         OptionInfo{"--label", "A column of DATA, by name or number, that names its rows wherever one is named"},
         OptionInfo{"--check", "A comparison with the exact posterior, as 'lrvb check … --format json' prints it",
                    OptionInfo::Type::file},
         threads_option(), memory_option()},
        write_report};
}

}  // namespace lrvb::cli
