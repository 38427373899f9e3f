#pragma once

#include <lrvb/model/model.hpp>

#include <optional>

namespace lrvb::detail {

/// The state with these naturals, or nothing where they leave a family's domain. What is clamped stays.
inline std::optional<State> state_at(const Layout& layout, const State& from, const Vector& natural) {
    State state = from;
    for (Index j = 0; j < layout.variable_count(); ++j) {
        if (from.clamped[static_cast<std::size_t>(j)]) continue;
        const VectorView own = natural.segment(layout[j].offset, layout[j].size);
        const bool inside = std::visit(
            [&](const auto& family) {
                if (!family.domain_error(own).empty()) return false;
                layout.segment(state.mean, j) = family.mean(own);
                return true;
            },
            layout[j].family);
        if (!inside) return std::nullopt;
        layout.segment(state.natural, j) = own;
    }
    return state;
}

}  // namespace lrvb::detail
