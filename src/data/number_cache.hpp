#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace lrvb::detail {

/// Numbers that are kept for as long as they are few enough.
class NumberCache {
  public:
    /// `expected` numbers, where that is known: then there is no need to find out that they are too many.
    NumberCache(std::size_t bytes, std::size_t expected, bool wanted)
        : most_(bytes / sizeof(double)), is_kept_(wanted && expected <= most_) {
        if (is_kept_) numbers_.reserve(expected);
    }

    bool is_kept() const { return is_kept_; }

    void add(const double* numbers, std::size_t count) {
        if (!is_kept_) return;
        if (count > most_ - numbers_.size()) {
            is_kept_ = false;
            numbers_ = {};
            return;
        }
        grow(numbers_.size() + count);
        numbers_.insert(numbers_.end(), numbers, numbers + count);
    }

    std::vector<double> taken() { return std::move(numbers_); }

  private:
    // By halves of the most there can be: while all is copied to a place twice as large, half of that place is still
    // without memory, and old and new together take no more than what is allowed.
    void grow(std::size_t size) {
        if (size <= numbers_.capacity()) return;
        std::size_t capacity = most_;
        while (capacity / 2 > size && capacity / 2 > 0) capacity /= 2;
        numbers_.reserve(capacity);
    }

    std::size_t most_;
    bool is_kept_;
    std::vector<double> numbers_;
};

}  // namespace lrvb::detail
