#include "model/mixture_kernels.hpp"

// Highway compiles this file once for every instruction set, and picks one at run time. The order of these lines
// matters.
// clang-format off
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "model/mixture_kernels.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
#include <hwy/contrib/math/math-inl.h>
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace lrvb::detail {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using Lanes = hn::ScalableTag<double>;
using Batch = hn::Vec<Lanes>;

// Blocks are padded to kBlockRows, a multiple of every vector length, so whole vectors can be read and written.
HWY_INLINE Batch weights_at(Lanes d, const double* weights, std::size_t i) {
    return weights == nullptr ? hn::Set(d, 1.0) : hn::LoadU(d, weights + i);
}

void QuadraticScores(const double* x, std::size_t rows, std::size_t components, const double* theta, double* scores) {
    const Lanes d;
    for (std::size_t k = 0; k < components; ++k) {
        const Batch a = hn::Set(d, theta[3 * k]);
        const Batch b = hn::Set(d, theta[3 * k + 1]);
        const Batch c = hn::Set(d, theta[3 * k + 2]);
        double* out = scores + k * kBlockRows;
        for (std::size_t i = 0; i < rows; i += hn::Lanes(d)) {
            const Batch value = hn::LoadU(d, x + i);
            hn::StoreU(hn::MulAdd(hn::MulAdd(c, value, b), value, a), d, out + i);
        }
    }
}

SoftmaxSums Softmax(double* scores, const double* weights, std::size_t rows, std::size_t components) {
    const Lanes d;
    Batch log_sum = hn::Zero(d);
    Batch magnitude = hn::Zero(d);
    Batch product = hn::Set(d, 1.0);
    constexpr int kFactors = 16;  // far from overflow for any number of components that fits in a cache
    int factors = 0;
    for (std::size_t k = 0; k < components && rows < kBlockRows; ++k) {
        std::size_t i = (rows + hn::Lanes(d) - 1) / hn::Lanes(d) * hn::Lanes(d);
        for (; i < kBlockRows; i += hn::Lanes(d)) hn::StoreU(hn::Zero(d), d, scores + k * kBlockRows + i);
    }
    for (std::size_t i = 0; i < rows; i += hn::Lanes(d)) {
        Batch largest = hn::LoadU(d, scores + i);
        for (std::size_t k = 1; k < components; ++k) {
            largest = hn::Max(largest, hn::LoadU(d, scores + k * kBlockRows + i));
        }
        Batch total = hn::Zero(d);
        for (std::size_t k = 0; k < components; ++k) {
            double* place = scores + k * kBlockRows + i;
            const Batch term = hn::Exp(d, hn::Sub(hn::LoadU(d, place), largest));
            hn::StoreU(term, d, place);
            total = hn::Add(total, term);
        }
        const auto inside = hn::FirstN(d, rows - i);
        const Batch scale = hn::IfThenElseZero(inside, hn::Div(hn::Set(d, 1.0), total));
        for (std::size_t k = 0; k < components; ++k) {
            double* place = scores + k * kBlockRows + i;
            hn::StoreU(hn::Mul(hn::LoadU(d, place), scale), d, place);
        }
        largest = hn::IfThenElseZero(inside, largest);
        total = hn::IfThenElse(inside, total, hn::Set(d, 1.0));
        if (weights == nullptr) {
            // Totals lie between 1 and K: logarithms of their products are as good as sums of logarithms, and fewer.
            product = hn::Mul(product, total);
            if (++factors == kFactors) {
                log_sum = hn::Add(log_sum, hn::Log(d, product));
                product = hn::Set(d, 1.0);
                factors = 0;
            }
            log_sum = hn::Add(log_sum, largest);
            magnitude = hn::Add(magnitude, hn::Abs(largest));
        } else {
            const Batch weight = hn::LoadU(d, weights + i);
            log_sum = hn::MulAdd(weight, hn::Add(largest, hn::Log(d, total)), log_sum);
            magnitude = hn::MulAdd(weight, hn::Abs(largest), magnitude);
        }
    }
    log_sum = hn::Add(log_sum, hn::Log(d, product));
    return {hn::GetLane(hn::SumOfLanes(d, log_sum)), hn::GetLane(hn::SumOfLanes(d, magnitude))};
}

void AddMoments(const double* responsibilities, const double* weights, const double* x, std::size_t rows,
                std::size_t components, double* sums) {
    const Lanes d;
    for (std::size_t k = 0; k < components; ++k) {
        const double* r = responsibilities + k * kBlockRows;
        Batch zeroth = hn::Zero(d);
        Batch first = hn::Zero(d);
        Batch second = hn::Zero(d);
        for (std::size_t i = 0; i < rows; i += hn::Lanes(d)) {
            const Batch value = hn::LoadU(d, x + i);
            const Batch weighted = hn::Mul(hn::LoadU(d, r + i), weights_at(d, weights, i));
            const Batch times_x = hn::Mul(weighted, value);
            zeroth = hn::Add(zeroth, weighted);
            first = hn::Add(first, times_x);
            second = hn::MulAdd(times_x, value, second);
        }
        sums[3 * k] += hn::GetLane(hn::SumOfLanes(d, zeroth));
        sums[3 * k + 1] += hn::GetLane(hn::SumOfLanes(d, first));
        sums[3 * k + 2] += hn::GetLane(hn::SumOfLanes(d, second));
    }
}

void AddPairMoments(const double* responsibilities, const double* weights, const double* x, std::size_t rows,
                    std::size_t components, double* sums) {
    const Lanes d;
    for (std::size_t k = 0; k < components; ++k) {
        const double* left = responsibilities + k * kBlockRows;
        for (std::size_t l = k + 1; l < components; ++l, sums += 5) {
            const double* right = responsibilities + l * kBlockRows;
            Batch s0 = hn::Zero(d);
            Batch s1 = hn::Zero(d);
            Batch s2 = hn::Zero(d);
            Batch s3 = hn::Zero(d);
            Batch s4 = hn::Zero(d);
            for (std::size_t i = 0; i < rows; i += hn::Lanes(d)) {
                const Batch value = hn::LoadU(d, x + i);
                const Batch square = hn::Mul(value, value);
                Batch product = hn::Mul(hn::LoadU(d, left + i), hn::LoadU(d, right + i));
                if (weights != nullptr) product = hn::Mul(product, hn::LoadU(d, weights + i));
                const Batch times_square = hn::Mul(product, square);
                s0 = hn::Add(s0, product);
                s1 = hn::MulAdd(product, value, s1);
                s2 = hn::Add(s2, times_square);
                s3 = hn::MulAdd(times_square, value, s3);
                s4 = hn::MulAdd(times_square, square, s4);
            }
            sums[0] += hn::GetLane(hn::SumOfLanes(d, s0));
            sums[1] += hn::GetLane(hn::SumOfLanes(d, s1));
            sums[2] += hn::GetLane(hn::SumOfLanes(d, s2));
            sums[3] += hn::GetLane(hn::SumOfLanes(d, s3));
            sums[4] += hn::GetLane(hn::SumOfLanes(d, s4));
        }
    }
}

void Exponentials(double* values, std::size_t count) {
    const Lanes d;
    for (std::size_t i = 0; i + hn::Lanes(d) <= count; i += hn::Lanes(d)) {
        hn::StoreU(hn::Exp(d, hn::LoadU(d, values + i)), d, values + i);
    }
}

}  // namespace HWY_NAMESPACE
}  // namespace lrvb::detail
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace lrvb::detail {

HWY_EXPORT(QuadraticScores);
HWY_EXPORT(Softmax);
HWY_EXPORT(AddMoments);
HWY_EXPORT(AddPairMoments);
HWY_EXPORT(Exponentials);

void quadratic_scores(const double* x, std::size_t rows, std::size_t components, const double* theta, double* scores) {
    HWY_DYNAMIC_DISPATCH(QuadraticScores)(x, rows, components, theta, scores);
}

SoftmaxSums softmax(double* scores, const double* weights, std::size_t rows, std::size_t components) {
    return HWY_DYNAMIC_DISPATCH(Softmax)(scores, weights, rows, components);
}

void add_moments(const double* responsibilities, const double* weights, const double* x, std::size_t rows,
                 std::size_t components, double* sums) {
    HWY_DYNAMIC_DISPATCH(AddMoments)(responsibilities, weights, x, rows, components, sums);
}

void add_pair_moments(const double* responsibilities, const double* weights, const double* x, std::size_t rows,
                      std::size_t components, double* sums) {
    HWY_DYNAMIC_DISPATCH(AddPairMoments)(responsibilities, weights, x, rows, components, sums);
}

void exponentials(double* values, std::size_t count) {
    HWY_DYNAMIC_DISPATCH(Exponentials)(values, count);
}

}  // namespace lrvb::detail

#endif
