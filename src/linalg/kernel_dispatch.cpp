#include "linalg/kernel_dispatch.hpp"

#if HWY_ARCH_X86
#include <cpuid.h>
#endif

namespace lrvb::detail {

namespace {

#if HWY_ARCH_X86

// A bit of ECX, for what __builtin_cpu_supports does not know in every compiler.
bool has_bit(unsigned leaf, unsigned bit) {
    unsigned a = 0;
    unsigned b = 0;
    unsigned c = 0;
    unsigned d = 0;
    return __get_cpuid(leaf, &a, &b, &c, &d) != 0 && ((c >> bit) & 1U) != 0;
}

std::int64_t instruction_sets() {
    constexpr unsigned f16c = 29;
    constexpr unsigned lzcnt = 5;
    __builtin_cpu_init();
    std::int64_t sets = 0;
    if (!__builtin_cpu_supports("ssse3")) return sets;
    sets |= HWY_SSSE3;
    if (!(__builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("aes") && __builtin_cpu_supports("pclmul"))) {
        return sets;
    }
    sets |= HWY_SSE4;
    if (!(__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi") &&
          __builtin_cpu_supports("bmi2") && has_bit(1, f16c) && has_bit(0x80000001U, lzcnt))) {
        return sets;
    }
    sets |= HWY_AVX2;
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl")) {
        sets |= HWY_AVX3;
    }
    return sets;
}

#else

// What the compiler was told that every machine has.
std::int64_t instruction_sets() {
    return HWY_STATIC_TARGET;
}

#endif

}  // namespace

std::int64_t kernels_that_run() {
    static const std::int64_t kernels = HWY_CHOSEN_TARGET_SHIFT(instruction_sets()) | HWY_CHOSEN_TARGET_MASK_SCALAR;
    return kernels;
}

}  // namespace lrvb::detail
