#include "bugs/uses.hpp"

#include <algorithm>

namespace lrvb::bugs {

namespace {

void collect(const Expression& expression, const std::vector<std::string>& loop_indices, bool is_extent,
             std::vector<Use>& uses) {
    const bool asks_extent = expression.is_call("length") || expression.is_call("dim");
    for (const Expression& part : expression.parts) {
        collect(part, loop_indices, asks_extent && part.kind == Expression::Kind::variable, uses);
    }
    if (expression.kind != Expression::Kind::variable) return;
    const bool is_index = std::find(loop_indices.begin(), loop_indices.end(), expression.name) != loop_indices.end();
    if (!is_index) uses.push_back({&expression, is_extent});
}

}  // namespace

bool Uses::has(const std::string& name) const {
    const auto is_it = [&](const Use& use) { return use.variable->name == name; };
    return std::any_of(shape.begin(), shape.end(), is_it) || std::any_of(value.begin(), value.end(), is_it);
}

std::vector<Use> uses_of(const Expression& expression, const std::vector<std::string>& loop_indices) {
    std::vector<Use> uses;
    collect(expression, loop_indices, false, uses);
    return uses;
}

Uses uses_of(const Relation& relation, const Block& block) {
    Uses result;
    std::vector<std::string> indices;
    for (const std::size_t loop : relation.loops) {
        collect(block.loops[loop].range, indices, false, result.shape);
        indices.push_back(block.loops[loop].index);
    }
    for (const Expression& index : relation.left.parts) collect(index, indices, false, result.shape);
    if (relation.is_stochastic) {
        for (const Expression& argument : relation.right.parts) collect(argument, indices, false, result.value);
        if (relation.truncation && relation.truncation->lower) {
            collect(*relation.truncation->lower, indices, false, result.value);
        }
        if (relation.truncation && relation.truncation->upper) {
            collect(*relation.truncation->upper, indices, false, result.value);
        }
    } else {
        collect(relation.right, indices, false, result.value);
    }
    return result;
}

}  // namespace lrvb::bugs
