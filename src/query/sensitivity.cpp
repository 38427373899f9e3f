#include <lrvb/query/sensitivity.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <optional>
#include <set>

namespace lrvb {

namespace {

/// Of the chosen variables, in each number of the prior.
struct Slopes {
    Matrix of_means;
    Matrix of_sds;  // empty where they are not known
    Vector sds;     // that these are slopes of
};

template <class Sds>
Matrix central_differences(const std::vector<PriorNumber>& priors, double share, Index size, const Sds& at) {
    Matrix slopes(size, static_cast<Index>(priors.size()));
    for (std::size_t h = 0; h < priors.size(); ++h) {
        const double step = share * priors[h].unit;
        slopes.col(static_cast<Index>(h)) =
            (at(priors[h].name, priors[h].value + step) - at(priors[h].name, priors[h].value - step)) / (2.0 * step);
    }
    return slopes;
}

// Of the sds of refits from the optimum: steps of 1 % are far above the error of a refit and far below what bends.
Slopes slopes_by_response(const FittedModel& fitted, const std::vector<Index>& chosen,
                          const std::vector<PriorNumber>& priors) {
    const auto sds_at = [&](const std::string& name, double value) {
        return fitted.refit({{}, {{name, value}}}).sds(chosen);
    };
    return {fitted.shown().sensitivities_of(chosen),
            central_differences(priors, 1e-2, static_cast<Index>(chosen.size()), sds_at),
            fitted.posterior().sds(chosen)};
}

// Of exact means and sds, where those that are shown were integrated. Nodes move with the prior, which steps of 10 %
// are far above.
std::optional<Slopes> slopes_by_integrals(const FittedModel& fitted, const std::vector<Index>& chosen,
                                          const std::vector<PriorNumber>& priors) {
    const auto count = static_cast<Index>(chosen.size());
    const auto moments_at = [&](const std::string& name, double value) -> Vector {
        const std::optional<Moments> there = fitted.refitted_moments({{}, {{name, value}}});
        if (!there) return {};
        Vector both(2 * count);
        both << there->means(chosen), there->sds(chosen);
        return both;
    };
    if (priors.empty() || moments_at(priors.front().name, priors.front().value).size() == 0) return std::nullopt;
    const Matrix slopes = central_differences(priors, 0.1, 2 * count, moments_at);
    return Slopes{slopes.topRows(count), slopes.bottomRows(count), fitted.shown().sds(chosen)};
}

// Of a posterior as it is shown.
std::vector<PriorEffect> effects_of(const Posterior& posterior, const std::vector<Index>& chosen,
                                    const std::vector<PriorNumber>& priors, const Slopes& slopes) {
    const Vector sds = posterior.sds(chosen);
    std::vector<PriorEffect> effects;
    for (std::size_t v = 0; v < chosen.size(); ++v) {
        const auto row = static_cast<Index>(v);
        const double sd = sds[row];
        if (!(sd > 0.0)) continue;
        for (std::size_t h = 0; h < priors.size(); ++h) {
            const auto column = static_cast<Index>(h);
            PriorEffect effect;
            effect.variable = posterior.variables[static_cast<std::size_t>(chosen[v])].name;
            effect.prior = priors[h];
            effect.mean_slope = slopes.of_means(row, column);
            effect.sds_per_percent = effect.mean_slope * 0.01 * priors[h].value / sd;
            const bool is_location = priors[h].role == PriorNumber::Role::location;
            effect.weight = std::abs(effect.mean_slope * 0.01 * (is_location ? priors[h].unit : priors[h].value) / sd);
            if (slopes.of_sds.size() > 0) {
                effect.sd_slope = slopes.of_sds(row, column);
                effect.sd_percent = effect.sd_slope * priors[h].value / slopes.sds[row];
            }
            effects.push_back(std::move(effect));
        }
    }
    std::stable_sort(effects.begin(), effects.end(),
                     [](const PriorEffect& a, const PriorEffect& b) { return a.weight > b.weight; });
    return effects;
}

void require_response(const Posterior& posterior) {
    if (posterior.has_response()) return;
    throw NotAnOptimum("the fit did not converge, so there is no response to ask: fit again, with another seed");
}

// What halving the numbers of one group does at most.
struct Halving {
    PriorNumber number;
    Index variable = -1;
    double sds = 0.0;
    std::set<Index> moved;  // variables that move by more than is ordinary
};

// "--prior-inverse-scale" for "inverse_scale", where the kind of the model can be told it.
std::string option_of(const FitFile& fit, const std::string& group) {
    const Kind* kind = find_kind(fit.model->kind());
    const std::optional<std::vector<OptionInfo>> options = kind == nullptr ? std::nullopt : kind->options();
    if (!options) return {};
    std::string key = "prior-" + group;
    std::replace(key.begin(), key.end(), '_', '-');
    const bool has = std::any_of(options->begin(), options->end(), [&](const auto& one) { return one.key() == key; });
    return has ? "--" + key : std::string();
}

std::string sentence_of(const FitFile& fit, const Halving& halving) {
    const PriorNumber& number = halving.number;
    const std::string& name = fit.posterior.variables[static_cast<std::size_t>(halving.variable)].name;
    const std::size_t others = halving.moved.size() - 1;
    const std::string who =
        others == 0 ? fmt::format("{} depends", name)
                    : fmt::format("{} and {} other variable{} depend", name, others, others == 1 ? "" : "s");
    const std::string option = option_of(fit, number.group);
    return fmt::format(
        "{} on the prior: with {} {:.3g} instead of {:.3g} the mean of {} would move by about {:.2g} posterior sds; "
        "{}look at 'lrvb sensitivity'",
        who, number.shown_name(), number.value - 0.5 * number.unit, number.value, name, halving.sds,
        option.empty() ? "" : fmt::format("set it by {}, or ", option));
}

// Of these variables, group by group of the prior's numbers, what moves by more than half a posterior sd.
std::vector<Halving> halvings(const FitFile& fit, const std::vector<Index>& variables) {
    constexpr double kDecides = 0.5;  // posterior sds
    const Posterior& posterior = fit.posterior;
    std::vector<Halving> groups;
    if (variables.empty()) return groups;
    const SparseMatrix gradients = posterior.gradients(variables);
    const Vector sds = posterior.sds(variables);
    for (const PriorNumber& number : fit.model->prior(fit.data)) {
        const auto known = std::find(posterior.hyperparameters.begin(), posterior.hyperparameters.end(), number.name);
        if (number.role != PriorNumber::Role::positive || known == posterior.hyperparameters.end()) continue;
        const Index at = known - posterior.hyperparameters.begin();
        const Vector slopes = gradients.transpose() * posterior.sensitivities.col(at);
        for (Index i = 0; i < slopes.size(); ++i) {
            if (!(sds[i] > 0.0)) continue;
            const double moved = std::abs(slopes[i]) * number.unit * std::numbers::ln2 / sds[i];
            if (!(moved > kDecides)) continue;
            auto group = std::find_if(groups.begin(), groups.end(),
                                      [&](const Halving& one) { return one.number.group == number.group; });
            if (group == groups.end()) group = groups.insert(groups.end(), Halving{number, -1, 0.0, {}});
            const Index variable = variables[static_cast<std::size_t>(i)];
            group->moved.insert(variable);
            if (moved <= group->sds) continue;
            group->number = number;
            group->variable = variable;
            group->sds = moved;
        }
    }
    return groups;
}

}  // namespace

std::vector<std::string> prior_warnings(const FitFile& fit) {
    constexpr std::size_t kMost = 3;
    const Posterior& posterior = fit.posterior;
    if (!posterior.has_response()) return {};
    std::vector<Index> shown;
    std::vector<Index> others;
    for (const Index at : posterior.select({})) {
        const VariableMeaning& meaning = posterior.variables[static_cast<std::size_t>(at)].meaning;
        if (meaning.is_shown) {
            shown.push_back(at);
        } else if (meaning.is_parameter) {
            others.push_back(at);
        }
    }
    // A precision matrix can depend on the prior where its inverse, which people look at, does not.
    std::vector<Halving> groups = halvings(fit, shown);
    for (Halving& hidden : halvings(fit, others)) {
        const bool is_said = std::any_of(groups.begin(), groups.end(),
                                         [&](const Halving& one) { return one.number.group == hidden.number.group; });
        if (!is_said) groups.push_back(std::move(hidden));
    }
    std::stable_sort(groups.begin(), groups.end(), [](const Halving& a, const Halving& b) { return a.sds > b.sds; });
    groups.resize(std::min(groups.size(), kMost));
    std::vector<std::string> result;
    result.reserve(groups.size());
    for (const Halving& group : groups) result.push_back(sentence_of(fit, group));
    return result;
}

std::vector<PriorNumber> prior_numbers(const FitFile& fit) {
    const std::vector<PriorNumber> known = fit.model->prior(fit.data);
    std::vector<PriorNumber> result;
    for (const std::string& name : fit.posterior.hyperparameters) {
        const auto found =
            std::find_if(known.begin(), known.end(), [&](const PriorNumber& number) { return number.name == name; });
        if (found == known.end()) {
            throw std::runtime_error(fmt::format("the fit has no prior parameter '{}': fit again", name));
        }
        result.push_back(*found);
    }
    return result;
}

std::vector<PriorEffect> prior_effects(const FitFile& fit, const std::vector<Index>& chosen) {
    require_response(fit.posterior);
    return effects_of(fit.posterior, chosen, prior_numbers(fit), {fit.posterior.sensitivities_of(chosen), {}, {}});
}

std::vector<PriorEffect> prior_effects(const FittedModel& fitted, const std::vector<Index>& chosen) {
    require_response(fitted.shown());
    const std::vector<PriorNumber> priors = prior_numbers(fitted.file());
    const std::optional<Slopes> exact = slopes_by_integrals(fitted, chosen, priors);
    return effects_of(fitted.shown(), chosen, priors, exact ? *exact : slopes_by_response(fitted, chosen, priors));
}

PriorRange prior_range(const PriorNumber& number) {
    constexpr double kAnything = std::numeric_limits<double>::infinity();
    const double value = number.value;
    const double unit = number.unit;
    switch (number.role) {
        case PriorNumber::Role::location:
            return {number, -kAnything, kAnything, value - 2.0 * unit, value + 2.0 * unit, value - unit, value + unit};
        case PriorNumber::Role::off_diagonal: {
            const double reach = 0.9 * (unit - std::abs(value));
            return {number, -unit, unit, value - reach, value + reach, value - 0.5 * reach, value + 0.5 * reach};
        }
        case PriorNumber::Role::positive:
            break;
    }
    const double least = value - unit;
    return {number, least, kAnything, least + 0.25 * unit, least + 4.0 * unit, least + 0.5 * unit, least + 2.0 * unit};
}

}  // namespace lrvb
