#pragma once

#include "base/block_tree.hpp"
#include "base/bytes.hpp"

#include <lrvb/model/row_model.hpp>

#include <string>
#include <string_view>
#include <utility>

namespace lrvb::detail {

/// What a tally kept of some rows; nothing of none.
struct Tallied {
    std::string bytes;
    const RowTally* tally = nullptr;

    void add(const Tallied& next) {
        if (bytes.empty() || next.bytes.empty()) {
            bytes += next.bytes;
        } else {
            bytes = tally->merge(std::move(bytes), next.bytes);
        }
    }
};

/// With the name of the tally, by which it is found again.
inline std::string written(const BlockTree<Tallied>& tree, const RowTally& tally) {
    ByteWriter writer;
    writer.text(tally.name).number(static_cast<Index>(tree.nodes().size()));
    for (const auto& node : tree.nodes()) writer.number(node.block).number(node.size).text(node.value.bytes);
    return writer.take();
}

inline BlockTree<Tallied> tallied_of(std::string_view bytes) {
    ByteReader reader(bytes);
    const RowTally& tally = find_row_tally(reader.text());
    BlockTree<Tallied> tree;
    const Index count = reader.index();
    for (Index i = 0; i < count; ++i) {
        BlockTree<Tallied>::Node node;
        node.block = reader.index();
        node.size = reader.index();
        node.value = {reader.text(), &tally};
        tree.append(std::move(node));
    }
    return tree;
}

}  // namespace lrvb::detail
