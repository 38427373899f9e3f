#pragma once

#include "base/block_tree.hpp"

#include <lrvb/kind/mixture/sums.hpp>

#include <cstddef>
#include <vector>

namespace lrvb::detail {

/// The sums of a block of rows: vectors of numbers that are added one by one. One that is empty is all zeros.
struct PassBlock {
    std::vector<std::vector<double>> parts;

    void add(const PassBlock& next) {
        if (parts.size() < next.parts.size()) parts.resize(next.parts.size());
        for (std::size_t i = 0; i < next.parts.size(); ++i) {
            const std::vector<double>& more = next.parts[i];
            std::vector<double>& own = parts[i];
            if (own.empty()) {
                own = more;
                continue;
            }
            for (std::size_t j = 0; j < more.size(); ++j) own[j] += more[j];
        }
    }
};

}  // namespace lrvb::detail

namespace lrvb {

class MixtureSums::Implementation {
  public:
    detail::BlockTree<detail::PassBlock> tree;
};

}  // namespace lrvb
