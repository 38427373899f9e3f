#pragma once

#include "base/bytes.hpp"

#include <lrvb/types.hpp>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace lrvb::detail {

/// Which columns number the rows of the file, as an index does: 0, 1, 2, … or 1, 2, 3, …
class RowNumbers {
  public:
    explicit RowNumbers(Index columns)
        : from_zero_(static_cast<std::size_t>(columns), true), from_one_(from_zero_), any_(columns > 0) {}

    /// One number a column; the row is that of the file, from 1.
    void add(const double* numbers, Index file_row) {
        const auto row = static_cast<double>(file_row);
        ++rows_;
        any_ = false;
        for (std::size_t j = 0; j < from_one_.size(); ++j) {
            from_zero_[j] = from_zero_[j] && numbers[j] == row - 1.0;
            from_one_[j] = from_one_[j] && numbers[j] == row;
            any_ = any_ || from_zero_[j] || from_one_[j];
        }
    }

    /// Once none does there is no need to go on.
    bool any_counts() const { return any_; }

    /// What is known of the rows that follow these.
    void add(const RowNumbers& next) {
        rows_ += next.rows_;
        any_ = false;
        for (std::size_t j = 0; j < from_one_.size(); ++j) {
            from_zero_[j] = from_zero_[j] && next.from_zero_[j];
            from_one_[j] = from_one_[j] && next.from_one_[j];
            any_ = any_ || from_zero_[j] || from_one_[j];
        }
    }

    std::string bytes() const {
        ByteWriter writer;
        writer.number(rows_).number(static_cast<Index>(from_one_.size()));
        for (std::size_t j = 0; j < from_one_.size(); ++j) {
            writer.number(static_cast<bool>(from_zero_[j])).number(static_cast<bool>(from_one_[j]));
        }
        return writer.take();
    }
    static RowNumbers of_bytes(std::string_view bytes) {
        ByteReader reader(bytes);
        const Index rows = reader.index();
        RowNumbers result(reader.index());
        result.rows_ = rows;
        result.any_ = false;
        for (std::size_t j = 0; j < result.from_one_.size(); ++j) {
            result.from_zero_[j] = reader.number<bool>();
            result.from_one_[j] = reader.number<bool>();
            result.any_ = result.any_ || result.from_zero_[j] || result.from_one_[j];
        }
        return result;
    }

    /// Not of a few rows, of which it says nothing.
    bool counts(Index column) const {
        constexpr Index least = 10;
        const auto j = static_cast<std::size_t>(column);
        return rows_ >= least && (from_zero_[j] || from_one_[j]);
    }

  private:
    std::vector<bool> from_zero_;
    std::vector<bool> from_one_;
    bool any_;
    Index rows_ = 0;
};

}  // namespace lrvb::detail
