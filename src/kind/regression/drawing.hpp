#pragma once

#include <lrvb/kind/drawing.hpp>
#include <lrvb/kind/regression/model.hpp>

namespace lrvb::detail {

/// The rows along each term, less what the others explain of them, with the fitted line and its band, or the means of
/// levels with their intervals.
Drawing drawing_by_terms(const RegressionDesign& design, const RegressionPosterior& coefficients,
                         const DrawingOptions& options);

}  // namespace lrvb::detail
