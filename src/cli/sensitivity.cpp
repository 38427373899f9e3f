#include "base/messages.hpp"
#include "cli/command.hpp"
#include "cli/output.hpp"

#include <lrvb/query/sensitivity.hpp>

#include <fmt/format.h>

#include <cmath>

namespace lrvb::cli {

namespace {

constexpr double kMatters = 0.1;  // posterior sds, for a change of 10 %

std::string csv_text(const std::vector<PriorEffect>& effects) {
    std::string text = csv_line({"variable", "prior", "value", "mean_derivative", "sds_per_percent", "sd_derivative",
                                 "sd_percent_per_percent"});
    for (const PriorEffect& effect : effects) {
        text += csv_line({effect.variable, effect.prior.name, exact(effect.prior.value), exact(effect.mean_slope),
                          exact(effect.sds_per_percent), exact(effect.sd_slope), exact(effect.sd_percent)});
    }
    return text;
}

std::string sentence(const FitFile& fit, const std::vector<PriorEffect>& effects) {
    if (fit.posterior.hyperparameters.empty()) {
        return "The fit names no numbers of its prior, so none can be moved: declare them with names.";
    }
    if (effects.empty()) return "All of these variables were held fixed: no number of the prior moves them.";
    const double largest = 10.0 * effects.front().weight;
    if (!(largest > kMatters)) {
        return fmt::format(
            "The prior hardly matters: a change of 10 % in any of its numbers moves no mean by more than {:.2g} "
            "posterior sds.",
            largest);
    }
    const PriorEffect& first = effects.front();
    const bool is_location = first.prior.role == PriorNumber::Role::location;
    return fmt::format("The prior matters: {} {} moves {} by {:.2g} posterior sds.",
                       is_location ? "a tenth of the prior's sd more" : "10 % more", first.prior.name, first.variable,
                       largest);
}

// A location far from zero: three digits, or as many as its prior's sd has.
std::string located(double value, double sd) {
    return std::abs(value) > 100.0 * sd ? rounded(value, sd) : fmt::format("{:.3g}", value + 0.0);
}

std::string table_text(const std::vector<PriorEffect>& effects, bool has_sds) {
    std::vector<std::vector<std::string>> table{{"variable", "prior", "value", "d mean", "sds per 1 %"}};
    if (has_sds) table.front().insert(table.front().end(), {"d sd", "sd % per 1 %"});
    const auto shown = [](double value) { return fmt::format("{:.3g}", value + 0.0); };  // no −0
    for (const PriorEffect& effect : effects) {
        const bool is_location = effect.prior.role == PriorNumber::Role::location;
        const std::string value =
            is_location ? located(effect.prior.value, effect.prior.unit) : shown(effect.prior.value);
        table.push_back(
            {effect.variable, effect.prior.name, value, shown(effect.mean_slope), shown(effect.sds_per_percent)});
        if (has_sds) table.back().insert(table.back().end(), {shown(effect.sd_slope), shown(effect.sd_percent)});
    }
    return aligned(table);
}

int show_sensitivity(const Settings& settings) {
    const std::string output = settings.text("output");
    require_other_file(output, {settings.text("FIT"), settings.text("DATA")});
    const FitFile fit = read_fit(settings.text("FIT"));
    const std::vector<Index> chosen = fit.posterior.select(settings.list("variables"));
    const bool has_data = settings.has("DATA");
    const std::vector<PriorEffect> effects =
        has_data ? prior_effects(*restored(fit, settings), chosen) : prior_effects(fit, chosen);
    if (!output.empty()) {
        detail::write_text(output, csv_text(effects));
        if (output == "-") return kSuccess;
    }
    say(fmt::format("{}\n\n{}\n{}", detail::on_one_line(sentence(fit, effects)), table_text(effects, has_data),
                    has_data
                        ? "d mean is linear response, in closed form; d sd is the difference of two refits.\n"
                        : "d mean is linear response, in closed form. Give the data for what happens to the sds.\n"));
    return kSuccess;
}

}  // namespace

Command sensitivity_command() {
    return {"sensitivity",
            "Which numbers of the prior hold up the answer: d E[variable] / d prior",
            {fit_argument(),
             OptionInfo{"DATA", "The data that was fitted, for the sensitivity of the sds (by refits)",
                        OptionInfo::Type::file},
             variables_option(), output_option("Write to this file (CSV); - for standard output"), threads_option(),
             memory_option()},
            show_sensitivity};
}

}  // namespace lrvb::cli
