#include "model/joint/core.hpp"
#include "model/label_starts.hpp"

#include <cmath>
#include <limits>

namespace lrvb::detail {

void JointCore::refuse_precision(const Layout& layout) {
    throw ImproperConditional(layout[layout.variable_count() - 1].name,
                              "the precision of the joined variables is not positive definite");
}

Expansion JointCore::value_at(const JointAt& at) const {
    Expansion result;
    if (!at.fine) {
        result.value = -std::numeric_limits<double>::infinity();
        return result;
    }
    const auto [sum, magnitude] = value(at);
    const double square = 0.5 * at.x.cwiseQuotient(units).squaredNorm();
    result.value = sum + square;
    result.magnitude = magnitude + square;
    return result;
}

State JointCore::start(Random& random) const {
    const auto size = static_cast<double>(coefficients());
    const LabelTrial trial{
        [&] { return plain_start(random); }, [&](State& state) { sweep(state); },
        [&](const State& state) { return value_at(*at(state.mean)).value + entropies(layout, state); },
        inner.work() + size * size * size};
    const std::optional<State> best = best_label_start(layout, trial, random);
    return best ? *best : plain_start(random);
}

State JointCore::plain_start(Random& random) const {
    const State begin = inner.plain_start(random);
    State state;
    state.natural = begin.natural.head(layout.size());
    state.mean = begin.mean.head(layout.size());
    state.clamped.assign(static_cast<std::size_t>(layout.variable_count()), false);
    if (predictors) {
        const Vector phi = form.phi(state.mean.head(others()));
        Matrix precision;
        form.precision(phi, precision);
        state.mean.tail(coefficients()) = predictors->guess(precision, form.force(phi));
    }
    const std::shared_ptr<const JointAt> there = at(state.mean);
    if (there->fine) state.mean.tail(coefficients()) = improved(there, state.clamped)->x;
    state.natural.tail(coefficients()) = state.mean.tail(coefficients()).cwiseQuotient(units.cwiseAbs2());
    return state;
}

// (m, S) given the others, and then each of the others with these held.
Expansion JointCore::sweep(State& state) const {
    const std::shared_ptr<const JointAt> begin = at(state.mean);
    if (!begin->fine) refuse_precision(layout);
    Expansion entry = value_at(*begin);
    const std::shared_ptr<const JointAt> there = improved(begin, state.clamped);
    Vector statistics = extended(there->t, there->x, &there->covariance);
    Vector natural;
    const auto other_variables = static_cast<Index>(base_variables.size());
    for (Index j = 0; j < other_variables; ++j) {
        if (state.clamped[static_cast<std::size_t>(j)]) continue;
        const VariableInfo& variable = layout[j];
        natural.resize(variable.size);
        inner_form().block_gradient(statistics, variable.offset, natural);
        std::visit(
            [&](const auto& family) {
                const std::string error = family.domain_error(natural);
                if (!error.empty()) throw ImproperConditional(variable.name, error);
                statistics.segment(variable.offset, variable.size) = family.mean(natural);
            },
            variable.family);
        state.natural.segment(variable.offset, variable.size) = natural;
    }
    state.mean.head(others()) = statistics.head(others());
    for (Index i = 0; i < coefficients(); ++i) {
        if (state.clamped[static_cast<std::size_t>(other_variables + i)]) continue;
        state.mean[others() + i] = there->x[i];
        state.natural[others() + i] = there->x[i] / (units[i] * units[i]);
    }
    return entry;
}

}  // namespace lrvb::detail
