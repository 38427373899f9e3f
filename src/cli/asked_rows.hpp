#pragma once

#include "cli/restored.hpp"
#include "report/contents.hpp"

namespace lrvb::cli {

/// What the rows of a fit do to the selected variables. Of more rows than a report can hold, half of those kept are the
/// most influential, as 'lrvb influence' finds them, and half lie at even distances among the others. Memory does not
/// grow with the rows.
report::AskedRows asked_rows(const Restored& restored, const FittedData& data, const report::Selection& selection);

}  // namespace lrvb::cli
