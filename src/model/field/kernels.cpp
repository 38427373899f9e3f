#include "model/field/kernels.hpp"

// Highway compiles this file once for every instruction set, and picks one at run time. The order of these lines
// matters.
// clang-format off
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "model/field/kernels.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
#include <hwy/contrib/math/math-inl.h>
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace lrvb::detail {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using FieldLanes = hn::ScalableTag<double>;
using FieldBatch = hn::Vec<FieldLanes>;

void ExpectSoftplus(const double* means, const double* sds, std::size_t rows, const double* nodes,
                    const double* weights, std::size_t count, double* out) {
    const FieldLanes d;
    const FieldBatch one = hn::Set(d, 1.0);
    const FieldBatch zero = hn::Zero(d);
    for (std::size_t i = 0; i < rows; i += hn::Lanes(d)) {
        const FieldBatch mean = hn::LoadU(d, means + i);
        const FieldBatch sd = hn::LoadU(d, sds + i);
        FieldBatch sum0 = zero;
        FieldBatch sum1 = zero;
        FieldBatch sum2 = zero;
        FieldBatch sum3 = zero;
        FieldBatch sum4 = zero;
        for (std::size_t k = 0; k < count; ++k) {
            const FieldBatch weight = hn::Set(d, weights[k]);
            const FieldBatch x = hn::MulAdd(sd, hn::Set(d, nodes[k]), mean);
            // With e = exp(−|x|) nothing overflows, and nothing cancels on either side.
            const FieldBatch e = hn::Exp(d, hn::Neg(hn::Abs(x)));
            const FieldBatch larger = hn::Div(one, hn::Add(one, e));
            const FieldBatch smaller = hn::Mul(e, larger);
            const auto above = hn::Ge(x, zero);
            const FieldBatch first = hn::IfThenElse(above, larger, smaller);
            const FieldBatch second = hn::Mul(larger, smaller);
            const FieldBatch lean = hn::Sub(larger, smaller);
            const FieldBatch third = hn::Mul(second, hn::IfThenElse(above, hn::Neg(lean), lean));
            const FieldBatch fourth = hn::Mul(second, hn::NegMulAdd(hn::Set(d, 6.0), second, one));
            const FieldBatch value = hn::Add(hn::Max(x, zero), hn::Log1p(d, e));
            sum0 = hn::MulAdd(weight, value, sum0);
            sum1 = hn::MulAdd(weight, first, sum1);
            sum2 = hn::MulAdd(weight, second, sum2);
            sum3 = hn::MulAdd(weight, third, sum3);
            sum4 = hn::MulAdd(weight, fourth, sum4);
        }
        hn::StoreU(sum0, d, out + i);
        hn::StoreU(sum1, d, out + kFieldBlock + i);
        hn::StoreU(sum2, d, out + 2 * kFieldBlock + i);
        hn::StoreU(sum3, d, out + 3 * kFieldBlock + i);
        hn::StoreU(sum4, d, out + 4 * kFieldBlock + i);
    }
}

void ExpectTable(const double* table, std::size_t stride, std::size_t count, double first, double step, double mean,
                 double precision, double* out) {
    const FieldLanes d;
    const FieldBatch half = hn::Set(d, -0.5 * precision);
    const FieldBatch steps = hn::Set(d, step);
    const FieldBatch begin = hn::Set(d, first - mean);
    FieldBatch sum0 = hn::Zero(d);
    FieldBatch sum1 = sum0;
    FieldBatch sum2 = sum0;
    FieldBatch sum3 = sum0;
    FieldBatch sum4 = sum0;
    for (std::size_t k = 0; k < count; k += hn::Lanes(d)) {
        const FieldBatch x = hn::MulAdd(steps, hn::Iota(d, static_cast<double>(k)), begin);
        FieldBatch weight = hn::Exp(d, hn::Mul(half, hn::Mul(x, x)));
        const double* place = table + k;
        if (count - k >= hn::Lanes(d)) {
            sum0 = hn::MulAdd(weight, hn::LoadU(d, place), sum0);
            sum1 = hn::MulAdd(weight, hn::LoadU(d, place + stride), sum1);
            sum2 = hn::MulAdd(weight, hn::LoadU(d, place + 2 * stride), sum2);
            sum3 = hn::MulAdd(weight, hn::LoadU(d, place + 3 * stride), sum3);
            sum4 = hn::MulAdd(weight, hn::LoadU(d, place + 4 * stride), sum4);
        } else {
            const auto inside = hn::FirstN(d, count - k);
            weight = hn::IfThenElseZero(inside, weight);
            sum0 = hn::MulAdd(weight, hn::MaskedLoad(inside, d, place), sum0);
            sum1 = hn::MulAdd(weight, hn::MaskedLoad(inside, d, place + stride), sum1);
            sum2 = hn::MulAdd(weight, hn::MaskedLoad(inside, d, place + 2 * stride), sum2);
            sum3 = hn::MulAdd(weight, hn::MaskedLoad(inside, d, place + 3 * stride), sum3);
            sum4 = hn::MulAdd(weight, hn::MaskedLoad(inside, d, place + 4 * stride), sum4);
        }
    }
    out[0] = hn::GetLane(hn::SumOfLanes(d, sum0));
    out[1] = hn::GetLane(hn::SumOfLanes(d, sum1));
    out[2] = hn::GetLane(hn::SumOfLanes(d, sum2));
    out[3] = hn::GetLane(hn::SumOfLanes(d, sum3));
    out[4] = hn::GetLane(hn::SumOfLanes(d, sum4));
}

}  // namespace HWY_NAMESPACE
}  // namespace lrvb::detail
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lrvb::detail {

HWY_EXPORT(ExpectSoftplus);
HWY_EXPORT(ExpectTable);

void expect_softplus(const double* means, const double* sds, std::size_t rows, const double* nodes,
                     const double* weights, std::size_t count, double* out) {
    HWY_DYNAMIC_DISPATCH(ExpectSoftplus)(means, sds, rows, nodes, weights, count, out);
}

void expect_table(const double* table, std::size_t stride, std::size_t count, double first, double step, double mean,
                  double precision, double* out) {
    HWY_DYNAMIC_DISPATCH(ExpectTable)(table, stride, count, first, step, mean, precision, out);
}

}  // namespace lrvb::detail
#endif
