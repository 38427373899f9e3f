#pragma once

#include <lrvb/query/model_check.hpp>

namespace lrvb::detail {

/// Of a response all of whose rows have whole weights.
ResponseCheck response_check(const FittedResponse& response);

}  // namespace lrvb::detail
