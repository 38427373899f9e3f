#include "kind/regression/meanings.hpp"

#include <lrvb/kind/regression/posterior.hpp>

namespace lrvb {

namespace detail {

std::vector<VariableMeaning> regression_meanings(bool intercept, const std::vector<std::string>& slopes) {
    std::vector<VariableMeaning> result;
    const auto add = [&](const std::string& group, Role role, const FromDraw& from_draw) -> VariableMeaning& {
        VariableMeaning& meaning = result.emplace_back();
        meaning.group = group;
        meaning.role = role;
        meaning.from_draw = from_draw;
        return meaning;
    };
    if (intercept) {
        VariableMeaning& meaning = add("intercept", Role::coefficient, FromDraw::statistic(0));
        meaning.is_parameter = meaning.is_shown = true;
    }
    for (const std::string& slope : slopes) {
        VariableMeaning& meaning =
            add("beta", Role::coefficient, FromDraw::statistic(static_cast<Index>(result.size())));
        meaning.indices = {slope};
        meaning.is_parameter = meaning.is_shown = true;
    }
    const auto tau = static_cast<Index>(result.size());
    add("log_tau", Role::logarithm, FromDraw::statistic(tau + 1)).is_parameter = true;
    add("tau", Role::precision, FromDraw::statistic(tau));
    add("sigma", Role::scale, FromDraw::of(Transform::exponential, tau + 1, -0.5)).is_shown = true;
    for (VariableMeaning& meaning : result) meaning.panel = meaning.name();  // every column has a unit of its own
    return result;
}

}  // namespace detail

Posterior regression_posterior(const RegressionModel& model, const Optimum& optimum) {
    std::vector<VariableMeaning> meanings = detail::regression_meanings(model.has_intercept(), model.names());
    const auto tau = static_cast<Index>(meanings.size()) - 3;
    std::vector<std::string> names;
    for (Index i = 0; i < tau; ++i) names.push_back(meanings[static_cast<std::size_t>(i)].name());
    names.emplace_back("tau");
    names.emplace_back("log_tau");
    const Functionals functionals = model.in_data_units(names);
    Posterior posterior = posterior_of(model, optimum, std::move(names), functionals);
    for (Index i = 0; i < tau; ++i) {
        VariableMeaning& meaning = meanings[static_cast<std::size_t>(i)];
        posterior.variables.push_back(unbounded_variable(std::move(meaning), posterior.mean[i], {{i, 1.0}}));
    }
    const auto last = static_cast<std::size_t>(tau);
    add_precision(posterior, std::move(meanings[last]), std::move(meanings[last + 1]), std::move(meanings[last + 2]),
                  tau, tau + 1, model.layout(), optimum.state, model.layout().variable("tau"));
    keep_marginals(posterior);
    return posterior;
}

}  // namespace lrvb
