#include "likelihood/expectation_kernels.hpp"

// Highway compiles this file once for every instruction set, and picks one at run time. The order of these lines
// matters.
// clang-format off
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "likelihood/expectation_kernels.cpp"
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
    const FieldBatch six = hn::Set(d, 6.0);
    const std::size_t half = count / 2;
    for (std::size_t i = 0; i < rows; i += hn::Lanes(d)) {
        // About −|mean|, where nothing overflows: g(x) = x + g(−x), and the rule is symmetric. Two nodes ±t share an
        // exponential, a quotient and a logarithm: with M = exp(−|mean|), u = M exp(t sd) and v = M exp(−t sd),
        // g(x) + g(x') = log((1 + u)(1 + v)).
        const FieldBatch mean = hn::LoadU(d, means + i);
        const FieldBatch sd = hn::LoadU(d, sds + i);
        const auto above = hn::Ge(mean, zero);
        const FieldBatch middle = hn::Exp(d, hn::Neg(hn::Abs(mean)));
        FieldBatch value = zero;
        FieldBatch below = zero;  // E 1/(1 + e⁻ˣ), and one minus that
        FieldBatch beyond = zero;
        FieldBatch sum2 = zero;
        FieldBatch sum3 = zero;
        FieldBatch sum4 = zero;
        if (count % 2 == 1) {
            const FieldBatch weight = hn::Set(d, weights[half]);
            const FieldBatch q = hn::Div(one, hn::Add(one, middle));
            const FieldBatch p = hn::Mul(middle, q);
            const FieldBatch second = hn::Mul(p, q);
            value = hn::Mul(weight, hn::Log1p(d, middle));
            below = hn::Mul(weight, p);
            beyond = hn::Mul(weight, q);
            sum2 = hn::Mul(weight, second);
            sum3 = hn::Mul(weight, hn::Mul(second, hn::Sub(q, p)));
            sum4 = hn::Mul(weight, hn::Mul(second, hn::NegMulAdd(six, second, one)));
        }
        for (std::size_t k = count - half; k < count; ++k) {
            const FieldBatch weight = hn::Set(d, weights[k]);
            const FieldBatch stretch = hn::Exp(d, hn::Mul(sd, hn::Set(d, nodes[k])));
            const FieldBatch u = hn::Mul(middle, stretch);
            const FieldBatch v = hn::Div(middle, stretch);
            const FieldBatch left = hn::Add(one, u);
            const FieldBatch right = hn::Add(one, v);
            const FieldBatch both = hn::Mul(left, right);
            const FieldBatch inverse = hn::Div(one, both);
            const FieldBatch q = hn::Mul(inverse, right);
            const FieldBatch r = hn::Mul(inverse, left);
            const FieldBatch p = hn::Mul(u, q);
            const FieldBatch o = hn::Mul(v, r);
            const FieldBatch second = hn::Mul(p, q);
            const FieldBatch other = hn::Mul(o, r);
            value = hn::MulAdd(weight, hn::Log(d, both), value);
            below = hn::MulAdd(weight, hn::Add(p, o), below);
            beyond = hn::MulAdd(weight, hn::Add(q, r), beyond);
            sum2 = hn::MulAdd(weight, hn::Add(second, other), sum2);
            const FieldBatch third = hn::MulAdd(second, hn::Sub(q, p), hn::Mul(other, hn::Sub(r, o)));
            sum3 = hn::MulAdd(weight, third, sum3);
            const FieldBatch fourth =
                hn::MulAdd(second, hn::NegMulAdd(six, second, one), hn::Mul(other, hn::NegMulAdd(six, other, one)));
            sum4 = hn::MulAdd(weight, fourth, sum4);
        }
        hn::StoreU(hn::Add(hn::Max(mean, zero), value), d, out + i);
        hn::StoreU(hn::IfThenElse(above, beyond, below), d, out + kFieldBlock + i);
        hn::StoreU(sum2, d, out + 2 * kFieldBlock + i);
        hn::StoreU(hn::IfThenElse(above, hn::Neg(sum3), sum3), d, out + 3 * kFieldBlock + i);
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

#include "linalg/kernel_dispatch.hpp"

namespace lrvb::detail {

LRVB_KERNEL(ExpectSoftplus);
LRVB_KERNEL(ExpectTable);

void expect_softplus(const double* means, const double* sds, std::size_t rows, const double* nodes,
                     const double* weights, std::size_t count, double* out) {
    LRVB_CALL_KERNEL(ExpectSoftplus)(means, sds, rows, nodes, weights, count, out);
}

void expect_table(const double* table, std::size_t stride, std::size_t count, double first, double step, double mean,
                  double precision, double* out) {
    LRVB_CALL_KERNEL(ExpectTable)(table, stride, count, first, step, mean, precision, out);
}

}  // namespace lrvb::detail
#endif
