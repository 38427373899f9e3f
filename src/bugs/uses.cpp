#include "bugs/uses.hpp"

#include "bugs/tree.hpp"

#include <algorithm>

namespace lrvb::bugs {

namespace {

void collect(const Expression& expression, const std::vector<std::string>& loop_indices, std::vector<Use>& uses) {
    const auto enter = [](const Expression&) { return true; };
    walk(expression, enter, [&](const Expression& node, const Expression* parent) {
        if (node.kind != Expression::Kind::variable) return;
        if (std::find(loop_indices.begin(), loop_indices.end(), node.name) != loop_indices.end()) return;
        const bool is_extent = parent != nullptr && (parent->is_call("length") || parent->is_call("dim"));
        uses.push_back({&node, is_extent});
    });
}

}  // namespace

bool Uses::has(const std::string& name) const {
    const auto is_it = [&](const Use& use) { return use.variable->name == name; };
    return std::any_of(shape.begin(), shape.end(), is_it) || std::any_of(value.begin(), value.end(), is_it);
}

std::vector<Use> uses_of(const Expression& expression, const std::vector<std::string>& loop_indices) {
    std::vector<Use> uses;
    collect(expression, loop_indices, uses);
    return uses;
}

Uses uses_of(const Relation& relation, const Block& block) {
    Uses result;
    std::vector<std::string> indices;
    for (const std::size_t loop : relation.loops) {
        collect(block.loops[loop].range, indices, result.shape);
        indices.push_back(block.loops[loop].index);
    }
    for (const Expression& index : relation.left.parts) collect(index, indices, result.shape);
    if (relation.is_stochastic) {
        for (const Expression& argument : relation.right.parts) collect(argument, indices, result.value);
        if (relation.truncation && relation.truncation->lower) {
            collect(*relation.truncation->lower, indices, result.value);
        }
        if (relation.truncation && relation.truncation->upper) {
            collect(*relation.truncation->upper, indices, result.value);
        }
    } else {
        collect(relation.right, indices, result.value);
    }
    return result;
}

}  // namespace lrvb::bugs
