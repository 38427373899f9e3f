#pragma once

#include <lrvb/model/model.hpp>

#include <cmath>

namespace lrvb::detail {

/// Σ S_j over the variables that are not clamped, and Σ|S_j|: what F has beyond L.
struct Entropy {
    double value = 0.0;
    double magnitude = 0.0;
};

inline Entropy entropy_of(const Layout& layout, const State& state) {
    Entropy sum;
    for (Index j = 0; j < layout.variable_count(); ++j) {
        if (state.clamped[static_cast<std::size_t>(j)]) continue;
        const double own = std::visit(
            [&](const auto& family) { return family.entropy(layout.segment(state.natural, j)); }, layout[j].family);
        sum.value += own;
        sum.magnitude += std::abs(own);
    }
    return sum;
}

}  // namespace lrvb::detail
