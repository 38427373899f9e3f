#include "cli/command.hpp"
#include "cli/output.hpp"

#include <lrvb/report/plot.hpp>

#include <fmt/format.h>

namespace lrvb::cli {

namespace {

int write_plot(const Settings& settings) {
    const std::string name = settings.text("figure", "intervals");
    const Figure figure = figure_named(name);
    if (needs_data(figure) && !settings.has("DATA")) {
        throw UsageError(
            fmt::format("--figure {0} needs the data that was fitted: 'lrvb plot FIT DATA --figure {0}'", name));
    }
    if (figure == Figure::fit && settings.has("variables")) {
        throw UsageError("--figure fit draws columns, not variables: choose them with -c");
    }
    if (figure != Figure::fit && settings.has("columns")) {
        throw UsageError(
            fmt::format("-c chooses columns for --figure fit: choose for --figure {} with --variables", name));
    }
    const std::string output = settings.text("output", "-");
    prepare_output(output);
    PlotOptions options;
    options.variables = settings.list("variables");
    options.columns = settings.list("columns");
    const std::string title = settings.text("title");
    if (title.find_first_not_of(" \t\r\n") != std::string::npos) options.title = title;
    options.width = static_cast<int>(settings.whole("width", options.width));
    options.height = static_cast<int>(settings.whole("height", options.height));
    if (settings.has("level")) options.level = settings.number("level");
    const FitFile fit = read_fit(settings.text("FIT"));
    std::unique_ptr<FittedModel> fitted;
    if (figure == Figure::influence) fitted = restored(fit, settings);
    if (figure == Figure::fit) fitted = fit.model->restore(fit, data_of(settings), threads_of(settings));
    try {
        detail::write_text(output, plot_svg(fit, fitted.get(), figure, options));
    } catch (const NotAnOptimum& error) {
        throw std::runtime_error(fmt::format("{}: {}", settings.text("FIT"), error.what()));
    }
    return kSuccess;
}

}  // namespace

Command plot_command() {
    return {
        "plot",
        "Draw a picture of a fit, as an SVG file",
        {fit_argument(),
         OptionInfo{"DATA", "The data that was fitted, for the figures fit and influence: CSV, .npy, or -",
                    OptionInfo::Type::files},
         OptionInfo::choice("--figure", figure_names(),
                            "intervals (default), fit over the data, correlation, or influence of the rows"),
         output_option("Write to this file (SVG); - for standard output (default)"),
         OptionInfo{"--variables",
                    "Variables to draw, separated by commas; mu stands for every mu[…] (default: those of the report)"},
         OptionInfo{"-c,--columns",
                    "Columns to draw with --figure fit, separated by commas: of a mixture one or two, "
                    "of a regression any (default: the first two; the first six)"},
         OptionInfo{"--title", "The title of the picture (default: what the model is)"},
         OptionInfo::whole("--width", 240, 20'000, "Its width in pixels (default 720)"),
         OptionInfo::whole("--height", 1, 20'000, "Its height in pixels (default: what the figure needs)"),
         level_option("Probability of intervals and bands (default 0.9)"), threads_option(), memory_option()},
        write_plot};
}

}  // namespace lrvb::cli
