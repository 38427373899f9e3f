#include "cli/check_model.hpp"

#include "base/messages.hpp"
#include "cli/output.hpp"

#include <lrvb/query/model_check.hpp>

#include <fmt/format.h>

namespace lrvb::cli {

namespace {

std::string column_text(const CheckedStatistic& one) {
    return one.of_residuals ? fmt::format("{}, residuals", one.column) : one.column;
}

std::string csv_text(const ModelCheck& check) {
    std::string text =
        csv_line({"column", "residuals", "statistic", "observed", "replicated", "lower", "upper", "p", "unusual"});
    for (const CheckedStatistic& one : check.statistics) {
        text += csv_line({one.column, one.of_residuals ? "true" : "false", std::string(to_string(one.statistic)),
                          exact(one.observed), exact(one.replicated), exact(one.lower), exact(one.upper), exact(one.p),
                          one.is_unusual ? "true" : "false"});
    }
    return text;
}

std::string table_text(const ModelCheck& check) {
    std::vector<std::vector<std::string>> table{{"column", "statistic", "observed", "replicated", "q5", "q95", "p"}};
    for (const CheckedStatistic& one : check.statistics) {
        table.push_back({column_text(one), std::string(to_string(one.statistic)), rounded(one.observed, one.sd),
                         rounded(one.replicated, one.sd), rounded(one.lower, one.sd), rounded(one.upper, one.sd),
                         decimals(one.p, 3)});
    }
    std::string text = fmt::format("{} data sets drawn from the model, with parameters from {}\n\n{}\n",
                                   check.replicates, check.source(), aligned(table));
    if (check.response) {
        text += fmt::format(
            "R2 {:.3f} (classical, at the posterior means), residual sd {}; {:.1f}% of the rows within their {:.0f}% "
            "predictive bands\n",
            check.response->r2, rounded(check.response->residual_sd, 0.1 * check.response->residual_sd),
            100.0 * check.response->coverage, 100.0 * kModelCheckLevel);
    }
    if (check.fits()) return text + fmt::format("model: ok: {}\n", check.message());
    for (const CheckedStatistic& one : check.statistics) {
        if (one.is_unusual) text += fmt::format("model: does not fit: {}\n", detail::on_one_line(one.words()));
    }
    return text;
}

}  // namespace

std::vector<OptionInfo> model_check_options() {
    OptionInfo replicates = OptionInfo::whole("--replicates", 20, 1000000,
                                              "Data sets that --model draws (default 1000; fewer of many rows)");
    replicates.range = "20 to 1000000";
    return {OptionInfo::flag("--model",
                             "Check the model instead: whether data drawn from it look like the data that was fitted"),
            replicates};
}

void require_model_check_options(const Settings& settings) {
    if (!settings.flag("model")) {
        if (settings.has("replicates")) throw UsageError("--replicates needs --model");
        return;
    }
    for (const char* option : {"correct", "save-draws", "variables", "all", "output"}) {
        if (!settings.given(option)) continue;
        throw UsageError(
            fmt::format("--{} is of the comparison with the exact posterior: leave out --model, or that", option));
    }
}

void show_model_check(const FittedModel& fitted, const Settings& settings) {
    ModelCheckOptions options;
    if (settings.has("method") || settings.has("draws")) options.draws = ParameterDraws::exact;
    options.exact.method = check_method(settings.text("method"));
    if (settings.has("seconds")) options.exact.seconds = settings.number("seconds");
    options.exact.draws = settings.whole("draws", options.exact.draws);
    options.exact.seed = settings.seed();
    options.exact.threads = threads_of(settings);
    if (settings.has("replicates")) options.replicates = settings.whole("replicates", 0);
    const ModelCheck check = check_model_fit(fitted, options);
    const Format format = format_of(settings);
    if (format == Format::json) {
        say(check.document().json(2) + "\n");
    } else {
        say(format == Format::csv ? csv_text(check) : table_text(check));
    }
}

}  // namespace lrvb::cli
