#include "posterior/parts.hpp"

#include <lrvb/posterior/posterior.hpp>

namespace lrvb {

Posterior regression_posterior(const RegressionModel& model, const Optimum& optimum) {
    std::vector<std::string> names;
    if (model.has_intercept()) names.emplace_back("intercept");
    for (const std::string& column : model.names()) {
        std::string name = "beta[";
        name += column;
        name += ']';
        names.push_back(std::move(name));
    }
    const Index tau = static_cast<Index>(names.size());
    names.emplace_back("tau");
    names.emplace_back("log_tau");
    Posterior posterior = detail::posterior_of(model, optimum, names, model.in_data_units(names));
    for (Index i = 0; i < tau; ++i) {
        posterior.variables.push_back(
            detail::unbounded_variable(names[static_cast<std::size_t>(i)], posterior.mean[i], {{i, 1.0}}));
    }
    detail::add_precision(posterior, {"log_tau", "tau", "sigma"}, tau, tau + 1, model.layout(), optimum.state,
                          model.layout().variable("tau"));
    return posterior;
}

}  // namespace lrvb
