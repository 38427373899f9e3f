#pragma once

#include <lrvb/model/model.hpp>

#include <functional>
#include <optional>

/// Where to begin with a few discrete variables.
///
/// A label holds what depends on it where that would be if it were the true one, so that ascent would not leave it.
/// Each is tried, held for some sweeps and then let go, and a fit goes on where the bound is best; but not always, so
/// that several starts see several optima.
namespace lrvb::detail {

struct LabelTrial {
    std::function<State()> begin;
    /// May throw ImproperConditional.
    std::function<void(State&)> sweep;
    std::function<double(const State&)> bound;
    double work_of_a_sweep = 0.0;
};

/// Empty where no variable is discrete, or so many are that one of them decides little.
std::optional<State> best_label_start(const Layout& layout, const LabelTrial& trial, Random& random);

/// Σ_j S_j(m_j).
double entropies(const Layout& layout, const State& state);

}  // namespace lrvb::detail
