#pragma once

#include "data/rows_digest.hpp"

#include <lrvb/data/row_source.hpp>

#include <fmt/format.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

namespace lrvb::detail {

/// Rows that are read anew in every round, from a file that is larger than memory or from whoever makes them: a round
/// that comes to the last of them, or to an end before or behind it, ends in an error where they are not those of the
/// first.
class WatchedRows final : public RowSource {
  public:
    /// `checksum` is that of RowsChecksum.
    WatchedRows(std::shared_ptr<RowSource> source, Index rows, std::string checksum)
        : source_(std::move(source)), rows_(rows), expected_(std::move(checksum)), checksum_(source_->columns()) {}

    Index columns() const override { return source_->columns(); }
    std::string name() const override { return source_->name(); }
    std::string column_name(Index column) const override { return source_->column_name(column); }
    void rewind() override {
        source_->rewind();
        checksum_ = RowsChecksum(columns());
        read_ = 0;
    }
    Index read(double* rows, Index capacity) override {
        const Index count = source_->read(rows, capacity);
        if (capacity == 0) return count;
        if (count == 0 ? read_ < rows_ : read_ + count > rows_) {
            throw std::runtime_error(
                fmt::format("{}: has {} rows than the {} that it had at first: let nothing change it while it is read",
                            name(), count == 0 ? "fewer" : "more", rows_));
        }
        if (count == 0) return count;
        read_ += count;
        checksum_.add(rows, count);
        if (read_ == rows_ && RowsChecksum::text(checksum_.take()) != expected_) {
            throw std::runtime_error(
                fmt::format("{}: the rows are not those that were read at first: let nothing change them while they "
                            "are in use, or fit them again",
                            name()));
        }
        return count;
    }

  private:
    std::shared_ptr<RowSource> source_;
    Index rows_;
    std::string expected_;
    RowsChecksum checksum_;  // of this round; taken at its last row
    Index read_ = 0;
};

}  // namespace lrvb::detail
