#pragma once

#include <lrvb/base/document.hpp>
#include <lrvb/data/dataset.hpp>
#include <lrvb/data/row_source.hpp>
#include <lrvb/export.hpp>

namespace lrvb {

/// What a page can draw of rows of numbers, for FittedModel::picture: histograms of the columns, and the rows as points
/// or, where they are many, as counts of pairs of columns. Reads the rows twice and keeps few of them. Of `data` it
/// takes the columns, the number of rows, and whether the source has a column of weights after them. Bins of histograms
/// are no wider than half of `narrowest`, of each column, where it is given: the sd of what the page draws over them.
///
///     {"histograms": [{"name", "start", "step", "counts"}], "pairs": {"columns", "bins": […]}, "points": {"values"}}
LRVB_EXPORT Document picture_of(RowSource& source, const DataRecord& data, const Vector& narrowest = {});
/// The same where the ends of the columns are known from an earlier reading: once.
LRVB_EXPORT Document picture_of(RowSource& source, const DataRecord& data, const ColumnSummary& summary,
                                const Vector& narrowest = {});

}  // namespace lrvb
