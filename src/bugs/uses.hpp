#pragma once

#include <lrvb/bugs/syntax.hpp>

#include <string>
#include <vector>

namespace lrvb::bugs {

/// A name that a relation uses, which is no index of its loops.
struct Use {
    const Expression* variable = nullptr;
    /// length(x) and dim(x) ask for extents alone.
    bool is_extent = false;
};

struct Uses {
    /// In bounds of loops and in indices on the left: what decides which elements there are.
    std::vector<Use> shape;
    /// In the value, the parameters and the bounds of a truncation. Those in indices come before what they are
    /// indices of.
    std::vector<Use> value;

    bool has(const std::string& name) const;
};

Uses uses_of(const Relation& relation, const Block& block);

/// The same for an expression alone.
std::vector<Use> uses_of(const Expression& expression, const std::vector<std::string>& loop_indices);

}  // namespace lrvb::bugs
