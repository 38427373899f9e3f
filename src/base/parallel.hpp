#pragma once

#include <lrvb/types.hpp>

#include <functional>

namespace lrvb::detail {

/// body(0) … body(count − 1), in any order, by so many threads: also by more than there are cores, as asked.
/// Each is a point of interruption (<lrvb/base/interruption.hpp>) where the calling thread comes to it.
void in_parallel(int threads, Index count, const std::function<void(Index)>& body);

}  // namespace lrvb::detail
