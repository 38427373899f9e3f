#pragma once

#include "kind/regression/standardised.hpp"

namespace lrvb::detail {

/// The triangle R of a QR decomposition of [1 X' y'], standardised, its rows times the roots of their weights, found
/// block by block: the triangle so far stands on top of each block.
Matrix triangle_of(const RegressionDesign& design, const Standardised& units);

/// Refuses a column that is a linear combination of those before it, with their names.
void require_independent(const RegressionDesign& design, const Standardised& units, const Matrix& triangle);

}  // namespace lrvb::detail
