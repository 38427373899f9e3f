#pragma once

#include "base/block_tree.hpp"
#include "base/bytes.hpp"
#include "data/row_numbers.hpp"

#include <lrvb/data/dataset.hpp>
#include <lrvb/data/row_team.hpp>

#include <bit>
#include <cstdint>
#include <string>
#include <utility>

namespace lrvb::detail {

static_assert(kShareRows == kSuperBlock);

struct BlockHash {
    std::uint64_t hash = 0;
    void add(const BlockHash& next) { hash = (std::rotl(hash, 5) ^ next.hash) * 0x9E3779B97F4A7C15U; }
};

/// A checksum of rows that many can take together: that of Checksum for each super-block of rows, and of these along
/// the tree over them. Of rows that are no more than one super-block it is Checksum's own.
class RowsChecksum {
  public:
    explicit RowsChecksum(Index width, Index first_row = 0) : width_(width), row_(first_row) {}

    void add(const double* rows, Index count) {
        while (count > 0) {
            const Index some = std::min(count, kSuperBlock - row_ % kSuperBlock);
            block_.add(rows, some * width_);
            row_ += some;
            is_open_ = true;
            if (row_ % kSuperBlock == 0) close();
            rows += some * width_;
            count -= some;
        }
    }

    BlockTree<BlockHash> take() {
        if (is_open_) close();
        return std::move(tree_);
    }

    /// As Checksum::text.
    static std::string text(const BlockTree<BlockHash>& tree);

  private:
    void close() {
        tree_.append((row_ - 1) / kSuperBlock, BlockHash{block_.bits()});
        block_ = Checksum();
        is_open_ = false;
    }

    Index width_;
    Index row_;
    bool is_open_ = false;
    Checksum block_;
    BlockTree<BlockHash> tree_;
};

/// What Dataset::rows asks a team: the checksum, and which columns number the rows. `file_rows` are those of
/// DataRows, or none.
struct RowsDigest {
    std::string checksum;
    RowNumbers numbers;
};

RowsDigest ask_digest(RowTeam& team, Index columns);

/// Rows of a team, whose columns are chosen already: the last is that of the weights, if there are any.
DataRows rows_of_team(const std::shared_ptr<TeamRows>& rows, const RowSelection& selection);

}  // namespace lrvb::detail
