#pragma once

#include "kind/regression/standardised.hpp"

#include <lrvb/kind/regression/model.hpp>

namespace lrvb::detail {

/// That of RegressionPrior::automatic, from what is known of the rows.
RegressionPrior automatic_prior(const RegressionDesign& design, const Standardised& units, const Matrix& triangle);

/// Throws std::invalid_argument for a prior that is none, or of other columns.
void require_prior(const RegressionPrior& prior, const RegressionDesign& design);

}  // namespace lrvb::detail
