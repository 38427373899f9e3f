#include <lrvb/query/sensitivity.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace lrvb {

namespace {

// Central differences of the sds of refits from the optimum: steps of 1 % are far above the error of a refit and far
// below what bends.
Matrix sd_slopes(const FittedModel& fitted, const std::vector<Index>& chosen, const std::vector<PriorNumber>& priors) {
    Matrix slopes(static_cast<Index>(chosen.size()), static_cast<Index>(priors.size()));
    for (std::size_t h = 0; h < priors.size(); ++h) {
        const double step = 1e-2 * priors[h].unit;
        const auto sds = [&](double value) { return fitted.refit({{}, {{priors[h].name, value}}}).sds(chosen); };
        slopes.col(static_cast<Index>(h)) = (sds(priors[h].value + step) - sds(priors[h].value - step)) / (2.0 * step);
    }
    return slopes;
}

std::vector<PriorEffect> effects_of(const FitFile& fit, const std::vector<Index>& chosen,
                                    const std::vector<PriorNumber>& priors, const Matrix* slopes_of_sds) {
    const Posterior& posterior = fit.posterior;
    if (!posterior.has_response()) {
        throw NotAnOptimum("the fit did not converge, so there is no response to ask: fit again, with another seed");
    }
    const Matrix slopes = posterior.sensitivities_of(chosen);
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
            effect.mean_slope = slopes(row, column);
            effect.sds_per_percent = effect.mean_slope * 0.01 * priors[h].value / sd;
            const bool is_location = priors[h].role == PriorNumber::Role::location;
            effect.weight = std::abs(effect.mean_slope * 0.01 * (is_location ? priors[h].unit : priors[h].value) / sd);
            if (slopes_of_sds != nullptr) {
                effect.sd_slope = (*slopes_of_sds)(row, column);
                effect.sd_percent = effect.sd_slope * priors[h].value / sd;
            }
            effects.push_back(std::move(effect));
        }
    }
    std::stable_sort(effects.begin(), effects.end(),
                     [](const PriorEffect& a, const PriorEffect& b) { return a.weight > b.weight; });
    return effects;
}

}  // namespace

std::vector<PriorNumber> prior_numbers(const FitFile& fit) {
    const std::vector<PriorNumber> known = fit.model->prior();
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
    return effects_of(fit, chosen, prior_numbers(fit), nullptr);
}

std::vector<PriorEffect> prior_effects(const FittedModel& fitted, const std::vector<Index>& chosen) {
    const std::vector<PriorNumber> priors = prior_numbers(fitted.file());
    const Matrix slopes = sd_slopes(fitted, chosen, priors);
    return effects_of(fitted.file(), chosen, priors, &slopes);
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
