#include "base/files.hpp"
#include "cli/arguments.hpp"
#include "cli/command.hpp"
#include "cli/fit_command.hpp"
#include "cli/output.hpp"
#include "cli/prior_parameters.hpp"
#include "cli/restored.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

namespace lrvb::cli {

namespace {

struct Options {
    std::string fit;
    std::string data;
    std::string variables;
    int threads = 0;
    std::string output;
};

constexpr double kMatters = 0.1;  // posterior sds, for a change of 10 %
constexpr double kNothing = std::numeric_limits<double>::quiet_NaN();

// How a variable answers to a number of the prior.
struct Effect {
    std::string variable;
    std::string prior;
    double value = 0.0;
    double mean_slope = 0.0;       // d mean / d value, by linear response
    double sds_per_percent = 0.0;  // change of the mean, in posterior sds, for 1 % more
    double weight = 0.0;           // the same for sorting, with a prior mean moved by 1 % of the prior's sd
    double sd_slope = kNothing;    // d sd / d value, by the difference of two refits
    double sd_percent = kNothing;  // change of the sd, in percent of itself, for 1 % more
};

// Central differences of the sds of refits from the optimum: steps of 1 % are far above the error of a refit and far
// below what bends.
Matrix sd_slopes(const Restored& restored, const std::vector<Index>& chosen, const Vector& values) {
    const std::vector<std::string>& names = restored.file().posterior.hyperparameters;
    Matrix slopes(static_cast<Index>(chosen.size()), values.size());
    for (Index h = 0; h < values.size(); ++h) {
        const double step = 1e-2 * unit_of(restored.file(), names[static_cast<std::size_t>(h)], values[h]);
        const auto sds = [&](double value) {
            const Posterior posterior = restored.refit({{}, {{names[static_cast<std::size_t>(h)], value}}});
            Vector result(static_cast<Index>(chosen.size()));
            const std::vector<Posterior::Row> rows = posterior.summary(chosen, 0.9);
            for (std::size_t v = 0; v < rows.size(); ++v) result[static_cast<Index>(v)] = rows[v].sd;
            return result;
        };
        slopes.col(h) = (sds(values[h] + step) - sds(values[h] - step)) / (2.0 * step);
    }
    return slopes;
}

std::vector<Effect> effects_of(const FitFile& fit, const std::vector<Index>& chosen, const Matrix* slopes_of_sds) {
    const Posterior& posterior = fit.posterior;
    const Vector values = prior_values(fit);
    const std::vector<Posterior::Row> rows = posterior.summary(chosen, 0.9);
    std::vector<Effect> effects;
    for (std::size_t v = 0; v < chosen.size(); ++v) {
        const PosteriorVariable& variable = posterior.variables[static_cast<std::size_t>(chosen[v])];
        const double sd = rows[v].sd;
        if (!(sd > 0.0)) continue;  // what is held does not move
        for (Index h = 0; h < values.size(); ++h) {
            Effect effect;
            effect.variable = variable.name;
            effect.prior = posterior.hyperparameters[static_cast<std::size_t>(h)];
            effect.value = values[h];
            for (const auto& [at, slope] : variable.gradient)
                effect.mean_slope += slope * posterior.sensitivities(at, h);
            effect.sds_per_percent = effect.mean_slope * 0.01 * values[h] / sd;
            const double unit = is_location(effect.prior) ? unit_of(fit, effect.prior, values[h]) : values[h];
            effect.weight = std::abs(effect.mean_slope * 0.01 * unit / sd);
            if (slopes_of_sds != nullptr) {
                effect.sd_slope = (*slopes_of_sds)(static_cast<Index>(v), h);
                effect.sd_percent = effect.sd_slope * values[h] / sd;
            }
            effects.push_back(std::move(effect));
        }
    }
    std::stable_sort(effects.begin(), effects.end(),
                     [](const Effect& a, const Effect& b) { return a.weight > b.weight; });
    return effects;
}

int show(const Options& options) {
    require_other_file(options.output, {options.fit, options.data});
    std::unique_ptr<Restored> restored;
    FitFile fit;
    if (options.data.empty()) {
        fit = read_fit(options.fit);
    } else {
        restored = restore(options.fit, options.data, threads_of(options.threads));
        fit = restored->file();
    }
    if (!fit.posterior.has_response()) {
        throw std::runtime_error(
            options.fit + ": the fit did not converge, so there is no response to ask: fit again, with another seed");
    }
    const std::vector<Index> chosen = fit.posterior.select(split(options.variables));
    std::optional<Matrix> slopes;
    if (restored) slopes = sd_slopes(*restored, chosen, prior_values(fit));
    const std::vector<Effect> effects = effects_of(fit, chosen, slopes ? &*slopes : nullptr);

    if (!options.output.empty()) {
        std::string text = csv_line({"variable", "prior", "value", "mean_derivative", "sds_per_percent",
                                     "sd_derivative", "sd_percent_per_percent"});
        for (const Effect& effect : effects) {
            text += csv_line({effect.variable, effect.prior, exact(effect.value), exact(effect.mean_slope),
                              exact(effect.sds_per_percent), exact(effect.sd_slope), exact(effect.sd_percent)});
        }
        detail::write_text(options.output, text);
        if (options.output == "-") return kSuccess;
    }
    const double largest = effects.empty() ? 0.0 : 10.0 * effects.front().weight;
    if (largest > kMatters) {
        const bool location = is_location(effects.front().prior);
        fmt::print("The prior matters: {} {} moves {} by {:.2g} posterior sds.\n\n",
                   location ? "a tenth of the prior's sd more" : "10 % more", effects.front().prior,
                   effects.front().variable, largest);
    } else {
        fmt::print(
            "The prior hardly matters: a change of 10 % in any of its numbers moves no mean by more than {:.2g} "
            "posterior sds.\n\n",
            largest);
    }
    std::vector<std::vector<std::string>> table{{"variable", "prior", "value", "d mean", "sds per 1 %"}};
    if (slopes) table.front().insert(table.front().end(), {"d sd", "sd % per 1 %"});
    const auto shown = [](double value) { return fmt::format("{:.3g}", value + 0.0); };  // no −0
    for (const Effect& effect : effects) {
        table.push_back({effect.variable, effect.prior, shown(effect.value), shown(effect.mean_slope),
                         shown(effect.sds_per_percent)});
        if (slopes) table.back().insert(table.back().end(), {shown(effect.sd_slope), shown(effect.sd_percent)});
    }
    fmt::print("{}\n", aligned(table));
    fmt::print("{}", slopes
                         ? "d mean is linear response, in closed form; d sd is the difference of two refits.\n"
                         : "d mean is linear response, in closed form. Give the data for what happens to the sds.\n");
    return kSuccess;
}

}  // namespace

void add_sensitivity(CLI::App& program, Run& run) {
    const auto options = std::make_shared<Options>();
    CLI::App* command =
        program.add_subcommand("sensitivity", "Which numbers of the prior hold up the answer: d E[variable] / d prior");
    add_fit_argument(*command, options->fit);
    command->add_option("DATA", options->data, "The data that was fitted, for the sensitivity of the sds (by refits)");
    add_variables(*command, options->variables);
    command->add_option("-o,--output", options->output, "Write to this file (CSV); - for standard output");
    add_threads(*command, options->threads);
    command->callback([options, &run] { run = [options] { return show(*options); }; });
}

}  // namespace lrvb::cli
