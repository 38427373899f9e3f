#pragma once

#include <lrvb/query/model_check.hpp>

#include <vector>

namespace lrvb::detail {

/// Of the numbers of a column, in order.
ColumnCheck column_check(ColumnMarginal marginal, const std::vector<double>& sorted);

}  // namespace lrvb::detail
