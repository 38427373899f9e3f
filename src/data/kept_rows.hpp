#pragma once

#include <lrvb/data/frame.hpp>

#include <vector>

namespace lrvb::detail {

/// Leaves these rows, counted from 0 and in ascending order, of the table. Levels that none of them has are gone, and
/// the rows keep their numbers in the file. `DataFrame::dropped` stays what it is.
void keep_rows(DataFrame& frame, const std::vector<Index>& kept);

}  // namespace lrvb::detail
