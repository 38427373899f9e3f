#include "cli/command.hpp"
#include "cli/prediction_file.hpp"

#include <fmt/format.h>

namespace lrvb::cli {

namespace {

int predict_rows(const Settings& settings) {
    const std::string path = settings.text("FIT");
    prepare_output(settings.text("output", "-"));
    const FitFile fit = read_fit(path);
    if (!fit.converged()) {
        throw std::runtime_error(fmt::format("{}: no prediction from a fit that did not converge: fit again", path));
    }
    PredictOptions options;
    options.drop_missing = settings.flag("drop-missing");
    if (settings.has("level")) {
        if (!fit.model->predicts_intervals()) {
            throw UsageError(
                fmt::format("--level: predictions of a {} have no intervals: leave it out", fit.model->kind()));
        }
        options.level = settings.number("level");
    }
    if ((settings.flag("link") || settings.flag("no-groups")) && !fit.model->predicts_by_group()) {
        throw UsageError(fmt::format("--{}: predictions of this {} have no such thing: leave it out",
                                     settings.flag("link") ? "link" : "no-groups", fit.model->kind()));
    }
    options.link = settings.flag("link");
    options.without_groups = settings.flag("no-groups");
    if (const std::string note = fit.model->prediction_note(); fit.correction && !note.empty()) {
        complain(note);
    }
    PredictionFile file(settings.text("output", "-"), format_of(settings));
    if (settings.flag("append")) {
        predict_beside(fit, data_of(settings), options, file);
    } else {
        fit.model->predict(fit, data_of(settings), options, file);
    }
    file.commit();
    return kSuccess;
}

}  // namespace

Command predict_command() {
    return {
        "predict",
        "Predict new rows from a fit",
        {fit_argument(),
         OptionInfo{"DATA", "New rows, with the columns of the fit: CSV, .npy, or -", OptionInfo::Type::file}.require(),
         level_option("Show lower and upper as well: an interval that holds a new response with this probability "
                      "(regressions)"),
         OptionInfo::flag("--link",
                          "On the scale of the linear predictor, instead of that of the response (regressions "
                          "by formula)"),
         OptionInfo::flag("--no-groups", "Without the effects of groups: of the fixed effects alone"),
         OptionInfo::flag("--append", "Write all columns and rows of DATA, and the predictions after them"),
         OptionInfo::choice("--format", {"csv", "json"}, "csv (default) or json"),
         OptionInfo::flag("--drop-missing", "Leave out rows with a missing value"), na_option(), memory_option(),
         output_option("Write to this file instead of standard output")},
        predict_rows};
}

}  // namespace lrvb::cli
