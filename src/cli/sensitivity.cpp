#include "base/messages.hpp"
#include "cli/command.hpp"
#include "cli/output.hpp"

#include <lrvb/query/sensitivity.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace lrvb::cli {

namespace {

constexpr double kMatters = 0.1;          // posterior sds, for a change of 10 %
constexpr std::size_t kMostEffects = 20;  // of a table for people

std::string csv_text(const std::vector<PriorEffect>& effects) {
    std::string text = csv_line({"variable", "prior", "value", "mean_derivative", "sds_per_percent", "sd_derivative",
                                 "sd_percent_per_percent"});
    for (const PriorEffect& effect : effects) {
        text +=
            csv_line({effect.variable, effect.prior.shown_name(), exact(effect.prior.value), exact(effect.mean_slope),
                      exact(effect.sds_per_percent), exact(effect.sd_slope), exact(effect.sd_percent)});
    }
    return text;
}

std::string json_text(const std::vector<PriorEffect>& effects) {
    Document list = Document::list();
    for (const PriorEffect& effect : effects) {
        Document entry;
        entry["variable"] = effect.variable;
        entry["prior"] = effect.prior.shown_name();
        entry["value"] = effect.prior.value;
        entry["mean_derivative"] = effect.mean_slope;
        entry["sds_per_percent"] = effect.sds_per_percent;
        entry["sd_derivative"] = effect.sd_slope;
        entry["sd_percent_per_percent"] = effect.sd_percent;
        list.push_back(std::move(entry));
    }
    return Document{{"effects", std::move(list)}}.json(2) + "\n";
}

std::string sentence(const FitFile& fit, const std::vector<PriorEffect>& effects) {
    if (fit.posterior.hyperparameters.empty()) {
        return "The fit names no numbers of its prior, so none can be moved.";
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
                       is_location ? "a tenth of the prior's sd more" : "10 % more", first.prior.shown_name(),
                       first.variable, largest);
}

// A location far from zero: three digits, or as many as its prior's sd has.
std::string located(double value, double sd) {
    return std::abs(value) > 100.0 * sd ? rounded(value, sd) : fmt::format("{:.3g}", value + 0.0);
}

// Those that matter most stand first.
std::string table_text(const std::vector<PriorEffect>& effects, bool has_sds, std::size_t most) {
    std::vector<std::vector<std::string>> table{{"variable", "prior", "value", "d mean", "sds per 1 %"}};
    if (has_sds) table.front().insert(table.front().end(), {"d sd", "sd % per 1 %"});
    const auto shown = [](double value) { return fmt::format("{:.3g}", value + 0.0); };  // no −0
    for (std::size_t i = 0; i < std::min(most, effects.size()); ++i) {
        const PriorEffect& effect = effects[i];
        const bool is_location = effect.prior.role == PriorNumber::Role::location;
        const std::string value =
            is_location ? located(effect.prior.value, effect.prior.unit) : shown(effect.prior.value);
        table.push_back({effect.variable, effect.prior.shown_name(), value, shown(effect.mean_slope),
                         shown(effect.sds_per_percent)});
        if (has_sds) table.back().insert(table.back().end(), {shown(effect.sd_slope), shown(effect.sd_percent)});
    }
    std::string text = aligned(table);
    if (effects.size() > most) {
        text += fmt::format("\nthe {} strongest of {}; --all shows all, --variables those of some variables\n", most,
                            effects.size());
    }
    return text;
}

std::string how_text(const FitFile& fit, bool has_data) {
    const bool is_integrated = fit.correction && fit.correction->method == to_string(CheckMethod::integration);
    if (has_data && is_integrated) return "d mean and d sd are the difference of two integrals.\n";
    if (has_data) return "d mean is linear response, in closed form; d sd is the difference of two refits.\n";
    if (is_integrated) {
        return "d mean is linear response, in closed form, at one point of the variance parameters. Give the data for "
               "what the integral says, and for what happens to the sds.\n";
    }
    return "d mean is linear response, in closed form. Give the data for what happens to the sds.\n";
}

int show_sensitivity(const Settings& settings) {
    const std::string output = settings.text("output");
    prepare_output(output);
    const FitFile fit = read_fit(settings.text("FIT"));
    const std::vector<Index> chosen = fit.posterior.select(settings.list("variables"));
    const bool has_data = settings.has("DATA");
    const std::vector<PriorEffect> effects =
        has_data ? prior_effects(*restored(fit, settings), chosen) : prior_effects(fit, chosen);
    if (!output.empty()) {
        detail::write_text(output, csv_text(effects));
        if (output == "-") return kSuccess;
    }
    if (const Format format = format_of(settings); format != Format::table) {
        say(format == Format::csv ? csv_text(effects) : json_text(effects));
        return kSuccess;
    }
    const std::size_t most = settings.flag("all") ? effects.size() : kMostEffects;
    say(fmt::format("{}\n\n{}\n{}", detail::on_one_line(sentence(fit, effects)), table_text(effects, has_data, most),
                    how_text(fit, has_data)));
    return kSuccess;
}

}  // namespace

Command sensitivity_command() {
    return {"sensitivity",
            "How sensitive the means are to the prior: d E[variable] / d number of the prior",
            {fit_argument(),
             OptionInfo{"DATA", "The data that was fitted, for the sensitivity of the sds (by refits)",
                        OptionInfo::Type::files},
             format_option(), variables_option(), all_option("effects, not only the 20 strongest"),
             output_option("Write to this file (CSV); - for standard output"), threads_option(), memory_option()},
            show_sensitivity};
}

}  // namespace lrvb::cli
