#include "model/monomial_sum.hpp"

#include <algorithm>

namespace lrvb::detail {

namespace {

std::uint64_t hash_of(std::span<const std::uint32_t> statistics) {
    std::uint64_t hash = 0x9e3779b97f4a7c15ULL + statistics.size();
    for (const std::uint32_t statistic : statistics) {
        hash = (hash ^ statistic) * 0xff51afd7ed558ccdULL;
        hash ^= hash >> 32U;
    }
    return hash;
}

}  // namespace

void MonomialSum::add(double coefficient, std::span<const std::uint32_t> statistics) {
    sums_[slot_of(statistics)].add(coefficient);
}

std::size_t MonomialSum::slot_of(std::span<const std::uint32_t> statistics_of_term) {
    if (2 * (size() + 1) > table_.size()) grow();
    const std::size_t mask = table_.size() - 1;
    std::size_t position = hash_of(statistics_of_term) & mask;
    while (table_[position] != 0) {
        const std::size_t candidate = table_[position] - 1;
        if (std::ranges::equal(statistics(candidate), statistics_of_term)) return candidate;
        position = (position + 1) & mask;
    }
    table_[position] = static_cast<std::uint32_t>(size() + 1);
    pool_.insert(pool_.end(), statistics_of_term.begin(), statistics_of_term.end());
    starts_.push_back(pool_.size());
    sums_.emplace_back();
    return size() - 1;
}

void MonomialSum::grow() {
    table_.assign(std::max<std::size_t>(64, 2 * table_.size()), 0);
    const std::size_t mask = table_.size() - 1;
    for (std::size_t i = 0; i < size(); ++i) {
        std::size_t position = hash_of(statistics(i)) & mask;
        while (table_[position] != 0) position = (position + 1) & mask;
        table_[position] = static_cast<std::uint32_t>(i + 1);
    }
}

}  // namespace lrvb::detail
