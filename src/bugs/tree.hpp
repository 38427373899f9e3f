#pragma once

#include <lrvb/bugs/syntax.hpp>

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

/// Walks over expressions that keep their own stack, so that the depth of an expression costs no stack of the thread.
namespace lrvb::bugs {

/// Calls `enter(node)` before the parts of a node, which are left out where it returns false, and `leave(node, parent)`
/// behind them; the parent of the root is null. `Node` is Expression or const Expression.
template <class Node, class Enter, class Leave>
void walk(Node& root, Enter enter, Leave leave) {
    struct Open {
        Node* node;
        std::size_t next;
        std::size_t end;
    };
    std::vector<Open> path;
    const auto open = [&](Node& node) {
        const bool goes_in = enter(node);
        path.push_back({&node, 0, goes_in ? node.parts.size() : 0});
    };
    open(root);
    while (!path.empty()) {
        Open& last = path.back();
        if (last.next < last.end) {
            open(last.node->parts[last.next++]);
            continue;
        }
        Node& node = *last.node;
        path.pop_back();
        leave(node, path.empty() ? nullptr : path.back().node);
    }
}

/// A result for each node from those of its parts: `leaf(node)` gives one at once, or nothing; then the parts have
/// theirs from left to right, and `combine(node, parts)` makes one of them.
template <class Result, class Leaf, class Combine>
Result folded(const Expression& root, Leaf leaf, Combine combine) {
    struct Open {
        const Expression* node;
        std::vector<Result> parts;
    };
    if (std::optional<Result> whole = leaf(root)) return std::move(*whole);
    std::vector<Open> path;
    path.push_back({&root, {}});
    while (true) {
        Open& last = path.back();
        if (last.parts.size() < last.node->parts.size()) {
            const Expression& part = last.node->parts[last.parts.size()];
            if (std::optional<Result> result = leaf(part)) {
                last.parts.push_back(std::move(*result));
            } else {
                path.push_back({&part, {}});
            }
            continue;
        }
        Result result = combine(*last.node, std::move(last.parts));
        path.pop_back();
        if (path.empty()) return result;
        path.back().parts.push_back(std::move(result));
    }
}

}  // namespace lrvb::bugs
