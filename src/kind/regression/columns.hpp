#pragma once

#include <lrvb/kind/options.hpp>
#include <lrvb/kind/regression/design.hpp>

#include <string>
#include <vector>

/// How the columns of a table are taken as parts of a regression, and what is said where they could be taken otherwise.
///
/// Of a column that nobody decided about (--factor, --numeric):
///
///     text, more than half of whose values are numbers   is refused: one "?" would make groups of all the numbers
///     text, more than half of whose values are numbers
///     but for their commas, as 0,25                      is refused
///     text, some of whose values are numbers             is a factor, and said
///     numbers in quotes (FrameColumn::quoted)            are a factor, and said
///     whole numbers, at most 1000 different ones, that
///     occur twice or more on average                     are numbers, and said: they may be groups
///     all else                                           is what it looks like
namespace lrvb::detail {

/// The column of weights, which is then no longer one of the table's. Throws std::runtime_error, with the row, for what
/// is no weight.
Vector taken_weights(DataFrame& frame, Index place);

/// Rows of weight zero are as if they were not there: neither are levels that they alone have. Where no row has weight
/// nothing is left out, and the model says so. Returns how many were.
Index leave_out_weightless(DataFrame& frame, Vector& weights);

/// Refuses, with row and remedy, what is neither clearly numbers nor clearly text. Where a formula is written, which
/// refuses text in arithmetic itself, with the place, that is left to it.
void require_clear_columns(const DataFrame& frame, Index response, bool is_written = false);

/// A sentence for each column of the design that could have been taken otherwise; the frame's columns are its terms.
std::vector<std::string> column_notes(const DataFrame& frame, const RegressionDesign& design);

/// Those of its columns that number the rows, as an index does.
std::vector<std::string> counting_columns(const DataFrame& frame, const RegressionDesign& design);

/// Where the response does not look like a normal one: two values, or small counts.
std::vector<std::string> response_warnings(const RegressionDesign& design);

/// --baseline: "cyl=6". Throws std::runtime_error, with those that exist, for a column or a level that is not there.
std::vector<Baseline> baselines_of(const Settings& settings, const DataFrame& frame);

}  // namespace lrvb::detail
