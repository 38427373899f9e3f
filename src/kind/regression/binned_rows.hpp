#pragma once

#include <lrvb/base/document.hpp>
#include <lrvb/kind/regression/model.hpp>

namespace lrvb::detail {

/// The rows of a regression as counts, for a picture of them all: for each term, by its column (of a factor, by its
/// levels from 0) and by what is left of the response when the other terms have explained their part,
/// y − Σ_l β_l (x_l − x̄_l) over the columns l of the others; and the responses by their fitted values. A row counts as
/// often as its weight says.
///
///     {"binned": {"terms": [{"x_start", "x_step", "y_start", "y_step", "cells": [[i, j, count]]}], "fitted": {…}}}
///
/// Nothing where a page can draw them one by one; of many terms the first.
Document binned_rows(const RegressionDesign& design, const RegressionPosterior& coefficients);

}  // namespace lrvb::detail
