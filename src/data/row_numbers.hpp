#pragma once

#include <lrvb/types.hpp>

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
