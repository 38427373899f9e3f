#include "kind/mixture/row_kernels.hpp"

// clang-format off
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kind/mixture/row_kernels.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace lrvb::detail {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

void UnivariateRowAnswers(const UnivariateRows& block, const double* polynomials, std::size_t directions,
                          bool derivative, double* out) {
    const hn::ScalableTag<double> d;
    using Batch = hn::Vec<decltype(d)>;
    const Batch two = hn::Set(d, 2.0);
    for (std::size_t i = 0; i < block.rows; i += hn::Lanes(d)) {
        const Batch x = hn::LoadU(d, block.x + i);
        Batch mean_slope = hn::Zero(d);
        for (std::size_t k = 0; k < block.components && derivative; ++k) {
            const Batch y = hn::Sub(x, hn::Set(d, block.origins[k]));
            const Batch share = hn::LoadU(d, block.responsibilities + k * kBlockRows + i);
            mean_slope = hn::MulAdd(share, hn::Mul(hn::Set(d, 2.0 * block.squares[k]), y), mean_slope);
        }
        const double* triple = polynomials;
        for (std::size_t direction = 0; direction < directions; ++direction) {
            Batch sum = hn::Zero(d);
            for (std::size_t k = 0; k < block.components; ++k, triple += 3) {
                const Batch y = hn::Sub(x, hn::Set(d, block.origins[k]));
                const Batch share = hn::LoadU(d, block.responsibilities + k * kBlockRows + i);
                const Batch b = hn::Set(d, triple[1]);
                const Batch c = hn::Set(d, triple[2]);
                const Batch value = hn::MulAdd(hn::MulAdd(c, y, b), y, hn::Set(d, triple[0]));
                if (!derivative) {
                    sum = hn::MulAdd(share, value, sum);
                    continue;
                }
                const Batch off = hn::Sub(hn::Mul(hn::Set(d, 2.0 * block.squares[k]), y), mean_slope);
                const Batch slope = hn::MulAdd(hn::Mul(two, c), y, b);
                sum = hn::MulAdd(share, hn::MulAdd(off, value, slope), sum);
            }
            hn::StoreU(sum, d, out + direction * kBlockRows + i);
        }
    }
}

}  // namespace HWY_NAMESPACE
}  // namespace lrvb::detail
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include "linalg/kernel_dispatch.hpp"

namespace lrvb::detail {

LRVB_KERNEL(UnivariateRowAnswers);

void univariate_row_answers(const UnivariateRows& block, const double* polynomials, std::size_t directions,
                            bool derivative, double* out) {
    LRVB_CALL_KERNEL(UnivariateRowAnswers)(block, polynomials, directions, derivative, out);
}

}  // namespace lrvb::detail

#endif
