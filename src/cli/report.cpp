#include "base/files.hpp"
#include "cli/asked_rows.hpp"
#include "cli/check_file.hpp"
#include "cli/command.hpp"
#include "cli/data_picture.hpp"
#include "cli/fit_command.hpp"
#include "cli/output.hpp"
#include "cli/prior_parameters.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <memory>

namespace lrvb::cli {

namespace {

struct Options {
    std::string fit;
    std::string data;
    std::string check;
    std::string title;
    std::string output = "report.html";
    int threads = 0;
};

// A mean by two sds of the prior, and one is trusted. Every other number has a bound that it must not reach: a
// correlation keeps nine tenths of the way to it, and the rest, counted from the least that it can be, go from a
// quarter to four times.
report::PriorRange range_of(const FitFile& fit, const std::string& name) {
    const double value = prior_value(fit, name);
    const double unit = unit_of(fit, name, value);
    constexpr double kAnything = std::numeric_limits<double>::infinity();
    if (is_location(name)) {
        return {"location",         value,        -kAnything,  kAnything, value - 2.0 * unit,
                value + 2.0 * unit, value - unit, value + unit};
    }
    if (report::is_off_diagonal(fit, name)) {
        const double reach = 0.9 * (unit - std::abs(value));
        return {"off_diagonal",     value, -unit, unit, value - reach, value + reach, value - 0.5 * reach,
                value + 0.5 * reach};
    }
    const double least = value - unit;  // of degrees of freedom; zero of all others
    return {"positive",        value, least, kAnything, least + 0.25 * unit, least + 4.0 * unit, least + 0.5 * unit,
            least + 2.0 * unit};
}

int write_report(const Options& options) {
    if (options.output.empty()) throw UsageError("-o needs the name of a file");
    require_other_file(options.output, {options.fit, options.data, options.check});
    report::Gathered gathered;
    gathered.fit = read_fit(options.fit);
    gathered.fit_name = options.fit;
    const bool is_blank = options.title.find_first_not_of(" \t\r\n") == std::string::npos;
    if (!is_blank) gathered.title = options.title;
    const FitFile& fit = gathered.fit;
    gathered.selection = report::select(fit);
    for (const Index h : gathered.selection.priors) {
        gathered.priors.push_back(range_of(fit, fit.posterior.hyperparameters[static_cast<std::size_t>(h)]));
    }
    gathered.comparison = options.check.empty() ? recorded_check(fit) : read_check(options.check, fit);
    if (!options.data.empty()) {
        const FittedData data = open_fitted(fit, options.data);
        if (data.source) gathered.picture = picture_of(fit, *data.source);
        if (fit.posterior.has_response()) {
            const std::unique_ptr<Restored> restored = restore(fit, data, threads_of(options.threads));
            gathered.rows = asked_rows(*restored, data, gathered.selection);
        }
    }
    const report::Json contents = report::contents_of(gathered);
    detail::write_text(options.output, report::page(contents.at("title").get<std::string>(), contents));
    if (options.output != "-") fmt::print("{}: open it in a browser\n", options.output);
    return kSuccess;
}

}  // namespace

void add_report(CLI::App& program, Run& run) {
    const auto options = std::make_shared<Options>();
    CLI::App* command =
        program.add_subcommand("report", "Write a page that shows a fit, and what its data and its prior do to it");
    add_fit_argument(*command, options->fit);
    command->add_option("DATA", options->data, "The data that was fitted: to show them, and what each row does");
    command->add_option("-o,--output", options->output,
                        "Write to this file (HTML, default report.html); - for standard output");
    command->add_option("--title", options->title, "The title of the page (default: what the model is)");
    command->add_option("--check", options->check,
                        "A comparison with the exact posterior, as 'lrvb check … --format json' prints it");
    add_threads(*command, options->threads);
    command->callback([options, &run] { run = [options] { return write_report(*options); }; });
}

}  // namespace lrvb::cli
