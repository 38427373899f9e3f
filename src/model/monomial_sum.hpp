#pragma once

#include "base/compensated_sum.hpp"

#include <lrvb/types.hpp>

#include <cstdint>
#include <span>
#include <vector>

namespace lrvb::detail {

/// Σ coefficient × Π statistics, with equal monomials merged as they come: what a million rows of data are folded into.
/// Monomials keep the order of their first appearance; coefficients are summed with compensation, so that a long column
/// loses no digits.
class MonomialSum {
  public:
    /// `statistics` are stacked positions in ascending order.
    void add(double coefficient, std::span<const std::uint32_t> statistics);

    std::size_t size() const { return sums_.size(); }
    double coefficient(std::size_t i) const { return sums_[i].value(); }
    std::span<const std::uint32_t> statistics(std::size_t i) const {
        return {pool_.data() + starts_[i], pool_.data() + starts_[i + 1]};
    }

  private:
    std::size_t slot_of(std::span<const std::uint32_t> statistics);
    void grow();

    std::vector<std::uint32_t> pool_;        // statistics of all monomials, end to end
    std::vector<std::size_t> starts_ = {0};  // monomial i is pool_[starts_[i], starts_[i + 1])
    std::vector<CompensatedSum> sums_;
    std::vector<std::uint32_t> table_;  // open addressing: monomial + 1, or 0 where free
};

}  // namespace lrvb::detail
