#pragma once

#include <lrvb/model/row_model.hpp>

/// What queries keep of rows.
namespace lrvb::detail {

/// Sums for robust sds.
const RowTally& robust_tally();
/// The furthest cases.
const RowTally& influence_tally();

}  // namespace lrvb::detail
