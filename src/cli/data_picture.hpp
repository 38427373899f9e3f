#pragma once

#include "report/contents.hpp"

#include <lrvb/data/row_source.hpp>

namespace lrvb::cli {

/// Histograms of the columns of a fitted mixture, and its rows as points or, where they are many, as counts of pairs of
/// columns. Reads the rows two or three times and keeps few of them.
report::DataPicture picture_of(const FitFile& fit, RowSource& source);

}  // namespace lrvb::cli
