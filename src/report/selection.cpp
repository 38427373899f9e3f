#include "report/selection.hpp"

#include <algorithm>

namespace lrvb::report {

namespace {

constexpr Index kMostSensitivities = 40'000;
constexpr Index kFewestPriors = 12;
constexpr Index kMostCorrelated = 450;
constexpr std::size_t kSomeLocal = 50;
constexpr Index kMostRows = 2000;
constexpr Index kMostRowNumbers = 120'000;

bool is_off_diagonal(const PosteriorVariable& variable) {
    return variable.meaning.role == Role::off_diagonal;
}

}  // namespace

Selection select(const FitFile& fit, const std::vector<PriorNumber>& numbers) {
    const Posterior& posterior = fit.posterior;
    const auto variable = [&](Index at) -> const PosteriorVariable& {
        return posterior.variables[static_cast<std::size_t>(at)];
    };
    Selection selection;
    Index local = 0;
    for (Index v = 0; v < static_cast<Index>(posterior.variables.size()); ++v) {
        const VariableMeaning& meaning = variable(v).meaning;
        if (!meaning.is_shown) continue;
        if (meaning.is_local) {
            ++local;
        } else {
            selection.variables.push_back(v);
        }
    }
    if (selection.variables.empty()) {  // all are local: the first of them
        for (Index v = 0; v < static_cast<Index>(posterior.variables.size()); ++v) {
            if (!variable(v).meaning.is_shown || selection.variables.size() == kSomeLocal) continue;
            selection.variables.push_back(v);
            --local;
        }
    }
    for (Index h = 0; h < static_cast<Index>(numbers.size()); ++h) selection.priors.push_back(h);

    const auto variables = static_cast<Index>(selection.variables.size());
    const auto priors = static_cast<Index>(selection.priors.size());
    const auto too_many = [&] {
        return selection.variables.size() * selection.priors.size() > static_cast<std::size_t>(kMostSensitivities);
    };
    if (too_many()) {
        std::erase_if(selection.priors, [&](Index h) {
            return numbers[static_cast<std::size_t>(h)].role == PriorNumber::Role::off_diagonal;
        });
    }
    if (too_many()) {
        std::erase_if(selection.variables, [&](Index v) { return is_off_diagonal(variable(v)); });
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
    selection.variables_left_out = local + variables - static_cast<Index>(selection.variables.size());
    selection.priors_left_out = priors - static_cast<Index>(selection.priors.size());

    if (!posterior.has_response()) return selection;
    const Vector sds = posterior.sds(selection.variables);
    for (Index v = 0; v < sds.size(); ++v) {
        if (sds[v] > 0.0) selection.correlated.push_back(v);
    }
    const auto most = static_cast<std::size_t>(kMostCorrelated);
    if (selection.correlated.size() > most) {
        std::erase_if(selection.correlated, [&](Index v) {
            return is_off_diagonal(variable(selection.variables[static_cast<std::size_t>(v)]));
        });
    }
    selection.correlated.resize(std::min(selection.correlated.size(), most));
    return selection;
}

Index most_rows(const Selection& selection, Index inputs, Index columns) {
    const auto variables = static_cast<Index>(selection.variables.size());
    const Index numbers = variables * (inputs + 1) + 2 * (inputs + columns);  // the last are in double precision
    return std::clamp<Index>(kMostRowNumbers / std::max<Index>(1, numbers), 1, kMostRows);
}

}  // namespace lrvb::report
