#pragma once

#include <lrvb/types.hpp>

#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/task_arena.h>

namespace lrvb::detail {

/// body(0) … body(count − 1), in any order, by so many threads: also by more than there are cores, as asked.
template <class Body>
void in_parallel(int threads, Index count, Body body) {
    if (threads == 1 || count == 1) {
        for (Index i = 0; i < count; ++i) body(i);
        return;
    }
    using oneapi::tbb::global_control;
    const global_control allowed(global_control::max_allowed_parallelism, static_cast<std::size_t>(threads));
    oneapi::tbb::task_arena arena(threads);
    arena.execute([&] { oneapi::tbb::parallel_for(Index{0}, count, body); });
}

}  // namespace lrvb::detail
