#pragma once

#include <lrvb/query/model_check.hpp>

#include <cstdint>
#include <vector>

/// Data drawn from the model, and statistics of them beside those of the data.
namespace lrvb::detail {

/// Streams that are no row's own.
constexpr std::uint64_t kOwnStreams = 0x9E3779B97F4A7C15U;

struct Replicated {
    std::vector<CheckedStatistic> statistics;
    /// Of a kind with FittedModel::column_marginals, the numbers of each column in order: all, or a million at even
    /// distances.
    std::vector<std::vector<double>> columns;
};

/// With parameters at these stacked statistics, one data set a column.
Replicated replicated(const FittedModel& fitted, const Matrix& statistics, std::uint64_t seed, int threads);

}  // namespace lrvb::detail
