#pragma once

#include <hwy/highway.h>

#include <cstddef>
#include <cstdint>

/// A kernel that Highway has compiled for several instruction sets, for the best of those that this machine has.
/// Highway's own dispatch does the same, but its library calibrates a timer whenever a program starts, which is half of
/// what starting takes.
///
///     LRVB_KERNEL(Centre);                       once, where HWY_ONCE is set
///     LRVB_CALL_KERNEL(Centre)(x, rows, …);
#ifdef HWY_CHOOSE_TARGET_LIST
#define LRVB_KERNELS(name) HWY_CHOOSE_TARGET_LIST(name)
#else
#define LRVB_KERNELS(name) &HWY_STATIC_DISPATCH(name)
#endif
#define LRVB_KERNEL(name)                       \
    static decltype(&HWY_STATIC_DISPATCH(name)) \
        const name##Kernels[HWY_MAX_DYNAMIC_TARGETS + 2] = {nullptr, LRVB_KERNELS(name), HWY_CHOOSE_FALLBACK(name)}
#define LRVB_CALL_KERNEL(name) (*name##Kernels[::lrvb::detail::best_kernel(HWY_CHOSEN_TARGET_MASK_TARGETS)])

namespace lrvb::detail {

/// The instruction sets of this machine, as places of a table of kernels.
std::int64_t kernels_that_run();

/// The first of the `compiled` kernels that runs here; the last of a table, without extensions, always does.
inline std::size_t best_kernel(std::int64_t compiled) {
    return hwy::Num0BitsBelowLS1Bit_Nonzero64(static_cast<std::uint64_t>(kernels_that_run() & compiled));
}

}  // namespace lrvb::detail
