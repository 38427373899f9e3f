#include "base/parallel.hpp"

#include <lrvb/base/interruption.hpp>

#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/task_arena.h>

namespace lrvb::detail {

void in_parallel(int threads, Index count, const std::function<void(Index)>& body) {
    if (threads == 1 || count == 1) {
        for (Index i = 0; i < count; ++i) {
            interruption_point();
            body(i);
        }
        return;
    }
    using oneapi::tbb::global_control;
    const global_control allowed(global_control::max_allowed_parallelism, static_cast<std::size_t>(threads));
    oneapi::tbb::task_arena arena(threads);
    const auto interruptible = [&](Index i) {
        interruption_point();
        body(i);
    };
    arena.execute([&] { oneapi::tbb::parallel_for(Index{0}, count, interruptible); });
}

}  // namespace lrvb::detail
