#pragma once

#include <lrvb/export.hpp>

namespace lrvb {

/// Makes what queries keep of rows (RowTally) known in this process. Whoever has rows for others calls it first, and so
/// do those.
LRVB_EXPORT void register_query_tallies();

}  // namespace lrvb
