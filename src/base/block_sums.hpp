#pragma once

#include "base/block_tree.hpp"
#include "base/bytes.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// Sums of vectors over rows, as messages, in the one order of BlockTree: who has some of the rows sums these, and the
/// sums of neighbours are merged.
namespace lrvb::detail {

/// Which super-blocks rows in memory are of. They follow each other; one may have lost all of its rows.
struct RowBlocks {
    Index first = 0;               // the number of the first
    std::vector<Index> starts{0};  // where each begins, and the number of rows

    RowBlocks() = default;
    /// Rows first_row … first_row + rows − 1 of all, of which the first begins a super-block.
    explicit RowBlocks(Index rows, Index first_row = 0) : first(first_row / kSuperBlock) {
        for (Index end = 0; end < rows;) starts.push_back(end = std::min(rows, end + kSuperBlock));
    }

    Index rows() const { return starts.back(); }
    Index count() const { return static_cast<Index>(starts.size()) - 1; }
    Index begin(Index block) const { return starts[static_cast<std::size_t>(block)]; }
    Index end(Index block) const { return starts[static_cast<std::size_t>(block) + 1]; }

    /// These rows alone, ascending.
    RowBlocks kept(const std::vector<Index>& rows) const {
        RowBlocks result = *this;
        for (Index& start : result.starts) start = std::lower_bound(rows.begin(), rows.end(), start) - rows.begin();
        return result;
    }
};

struct BlockSum {
    Vector values;
    void add(const BlockSum& next) { values += next.values; }
};

inline std::string bytes_of(const BlockTree<BlockSum>& tree) {
    ByteWriter writer;
    for (const auto& node : tree.nodes()) writer.number(node.block).number(node.size).vector(node.value.values);
    return writer.take();
}

inline BlockTree<BlockSum> block_sums_of(std::string_view bytes) {
    BlockTree<BlockSum> tree;
    for (ByteReader reader(bytes); !reader.at_end();) {
        BlockTree<BlockSum>::Node node;
        node.block = reader.index();
        node.size = reader.index();
        node.value.values = reader.vector();
        tree.append(std::move(node));
    }
    return tree;
}

/// `sum(begin, end)`, a Vector, of the rows of each block.
template <class Sum>
std::string block_sums(const RowBlocks& blocks, const Sum& sum) {
    BlockTree<BlockSum> tree;
    for (Index b = 0; b < blocks.count(); ++b) {
        tree.append(blocks.first + b, BlockSum{sum(blocks.begin(b), blocks.end(b))});
    }
    return bytes_of(tree);
}

inline std::string merged_block_sums(std::string_view left, std::string_view right) {
    BlockTree<BlockSum> tree = block_sums_of(left);
    tree.append(block_sums_of(right));
    return bytes_of(tree);
}

inline Vector total_of(std::string_view bytes) {
    return block_sums_of(bytes).take().values;
}

}  // namespace lrvb::detail
