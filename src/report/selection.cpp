#include "report/selection.hpp"

#include <algorithm>

namespace lrvb::report {

namespace {

constexpr Index kMostSensitivities = 40'000;
constexpr Index kFewestPriors = 12;
constexpr Index kMostCorrelated = 450;
constexpr Index kMostRows = 2000;
constexpr Index kMostRowNumbers = 120'000;

std::string base_of(const std::string& name) {
    return name.substr(0, name.find('['));
}

bool is_shown(const FitFile& fit, const std::string& name) {
    const std::vector<std::string> bases = std::holds_alternative<MixtureRecord>(fit.model)
                                               ? std::vector<std::string>{"pi", "mu", "sigma", "Sigma"}
                                               : std::vector<std::string>{"intercept", "beta", "sigma"};
    return std::find(bases.begin(), bases.end(), base_of(name)) != bases.end();
}

}  // namespace

bool is_off_diagonal(const FitFile& fit, const std::string& name) {
    const std::string base = base_of(name);
    if (!std::holds_alternative<MixtureRecord>(fit.model)) return false;
    if (base != "Sigma" && base != "variance" && base != "inverse_scale") return false;
    const std::size_t last = name.rfind(',');
    if (last == std::string::npos) return false;
    const std::size_t before = name.find_last_of("[,", last - 1);
    return name.substr(before + 1, last - before - 1) != name.substr(last + 1, name.size() - last - 2);
}

Selection select(const FitFile& fit) {
    const Posterior& posterior = fit.posterior;
    const auto variable_name = [&](Index at) { return posterior.variables[static_cast<std::size_t>(at)].name; };
    Selection selection;
    for (Index v = 0; v < static_cast<Index>(posterior.variables.size()); ++v) {
        if (is_shown(fit, variable_name(v))) selection.variables.push_back(v);
    }
    for (Index h = 0; h < static_cast<Index>(posterior.hyperparameters.size()); ++h) selection.priors.push_back(h);

    const auto variables = static_cast<Index>(selection.variables.size());
    const auto priors = static_cast<Index>(selection.priors.size());
    const auto too_many = [&] {
        return selection.variables.size() * selection.priors.size() > static_cast<std::size_t>(kMostSensitivities);
    };
    if (too_many()) {
        std::erase_if(selection.priors, [&](Index h) {
            return is_off_diagonal(fit, posterior.hyperparameters[static_cast<std::size_t>(h)]);
        });
    }
    if (too_many()) {
        std::erase_if(selection.variables, [&](Index v) { return is_off_diagonal(fit, variable_name(v)); });
    }
    if (too_many()) {
        const Index fitting = kMostSensitivities / static_cast<Index>(selection.variables.size());
        const Index kept = std::min(static_cast<Index>(selection.priors.size()), std::max(kFewestPriors, fitting));
        selection.priors.resize(static_cast<std::size_t>(kept));
    }
    if (too_many()) {
        const Index fitting = kMostSensitivities / static_cast<Index>(selection.priors.size());
        selection.variables.resize(static_cast<std::size_t>(std::max<Index>(1, fitting)));
    }
    selection.variables_left_out = variables - static_cast<Index>(selection.variables.size());
    selection.priors_left_out = priors - static_cast<Index>(selection.priors.size());

    if (!posterior.has_response()) return selection;
    const std::vector<Posterior::Row> rows = posterior.summary(selection.variables, 0.9);
    for (std::size_t v = 0; v < rows.size(); ++v) {
        if (rows[v].sd > 0.0) selection.correlated.push_back(static_cast<Index>(v));
    }
    const auto most = static_cast<std::size_t>(kMostCorrelated);
    if (selection.correlated.size() > most) {
        std::erase_if(selection.correlated,
                      [&](Index v) { return is_off_diagonal(fit, rows[static_cast<std::size_t>(v)].name); });
    }
    selection.correlated.resize(std::min(selection.correlated.size(), most));
    return selection;
}

Index most_rows(const Selection& selection, Index inputs, Index columns) {
    const auto variables = static_cast<Index>(selection.variables.size());
    const Index numbers = variables * (inputs + 1) + 2 * (inputs + columns);  // the last are in double precision
    return std::clamp<Index>(kMostRowNumbers / numbers, 1, kMostRows);
}

}  // namespace lrvb::report
