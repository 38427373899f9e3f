#pragma once

#include <lrvb/types.hpp>

#include <cstddef>
#include <stdexcept>
#include <utility>
#include <vector>

/// Sums that do not depend on who took them. Rows fall into super-blocks of kSuperBlock rows by their number, and the
/// sums of these are added along a binary tree over their numbers, neighbours first:
///
///     ((b0 + b1) + (b2 + b3)) + ((b4 + b5) + …
///
/// What is known of blocks a … b−1 is kept as the largest parts of that tree that lie within them, 2 log₂(b − a) at
/// most. Those of neighbours are joined to those of both together, and the result is the same to the last bit in
/// whatever order that is done: by one thread, several, or many machines.
namespace lrvb::detail {

inline constexpr Index kSuperBlock = Index{1} << 16;  // rows

/// `Value` has `void add(const Value& next)`, which need not be associative.
template <class Value>
class BlockTree {
  public:
    struct Node {
        Index block = 0;  // the first, a multiple of `size`
        Index size = 1;   // blocks, a power of two
        Value value;
    };

    BlockTree() = default;

    /// The next block.
    void append(Index block, Value value) { push({block, 1, std::move(value)}); }

    /// What is known of the blocks that follow.
    void append(BlockTree next) {
        for (Node& node : next.nodes_) push(std::move(node));
    }

    bool empty() const { return nodes_.empty(); }
    const std::vector<Node>& nodes() const { return nodes_; }

    /// From `nodes`, in order. Throws std::invalid_argument where these are none.
    void append(Node node) {
        if (node.size < 1 || (node.size & (node.size - 1)) != 0 || node.block < 0 || node.block % node.size != 0) {
            throw std::invalid_argument("BlockTree: a node that is none");
        }
        push(std::move(node));
    }

    /// Of all blocks, those of the tree from the left. There must be some.
    Value total() const {
        Value result = nodes_.front().value;
        for (std::size_t i = 1; i < nodes_.size(); ++i) result.add(nodes_[i].value);
        return result;
    }

    /// The same without a copy, where they are no longer needed.
    Value take() {
        Value result = std::move(nodes_.front().value);
        for (std::size_t i = 1; i < nodes_.size(); ++i) result.add(nodes_[i].value);
        nodes_.clear();
        return result;
    }

  private:
    void push(Node node) {
        if (!nodes_.empty() && nodes_.back().block + nodes_.back().size != node.block) {
            throw std::invalid_argument("BlockTree: blocks that do not follow each other");
        }
        nodes_.push_back(std::move(node));
        while (nodes_.size() > 1) {
            Node& left = nodes_[nodes_.size() - 2];
            const Node& right = nodes_.back();
            if (left.size != right.size || left.block % (2 * left.size) != 0) return;
            left.value.add(right.value);
            left.size *= 2;
            nodes_.pop_back();
        }
    }

    std::vector<Node> nodes_;
};

}  // namespace lrvb::detail
