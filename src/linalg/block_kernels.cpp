#include "linalg/block_kernels.hpp"

// Highway compiles this file once for every instruction set, and kernel_dispatch.hpp picks one at run time. The order
// of these lines matters.
// clang-format off
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "linalg/block_kernels.cpp"
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

void LinearScores(const double* columns, std::size_t rows, std::size_t count, const double* coefficients,
                  double* scores) {
    const Lanes d;
    const std::size_t lanes = hn::Lanes(d);
    // Four vectors of rows at a time, so that a coefficient is loaded once for all of them.
    for (std::size_t i = 0; i < rows; i += 4 * lanes) {
        Batch score0 = hn::Set(d, coefficients[0]);
        Batch score1 = score0;
        Batch score2 = score0;
        Batch score3 = score0;
        for (std::size_t s = 1; s < count; ++s) {
            const Batch coefficient = hn::Set(d, coefficients[s]);
            const double* column = columns + s * kBlockRows + i;
            score0 = hn::MulAdd(coefficient, hn::LoadU(d, column), score0);
            score1 = hn::MulAdd(coefficient, hn::LoadU(d, column + lanes), score1);
            score2 = hn::MulAdd(coefficient, hn::LoadU(d, column + 2 * lanes), score2);
            score3 = hn::MulAdd(coefficient, hn::LoadU(d, column + 3 * lanes), score3);
        }
        hn::StoreU(score0, d, scores + i);
        hn::StoreU(score1, d, scores + i + lanes);
        hn::StoreU(score2, d, scores + i + 2 * lanes);
        hn::StoreU(score3, d, scores + i + 3 * lanes);
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

double LogSum(const double* scores, const double* weights, std::size_t rows, std::size_t components) {
    const Lanes d;
    Batch sum = hn::Zero(d);
    Batch product = hn::Set(d, 1.0);
    constexpr int kFactors = 16;  // as in Softmax
    int factors = 0;
    for (std::size_t i = 0; i < rows; i += hn::Lanes(d)) {
        Batch largest = hn::LoadU(d, scores + i);
        for (std::size_t k = 1; k < components; ++k) {
            largest = hn::Max(largest, hn::LoadU(d, scores + k * kBlockRows + i));
        }
        Batch total = hn::Zero(d);
        for (std::size_t k = 0; k < components; ++k) {
            total = hn::Add(total, hn::Exp(d, hn::Sub(hn::LoadU(d, scores + k * kBlockRows + i), largest)));
        }
        const auto inside = hn::FirstN(d, rows - i);
        largest = hn::IfThenElseZero(inside, largest);
        total = hn::IfThenElse(inside, total, hn::Set(d, 1.0));
        if (weights != nullptr) {
            sum = hn::MulAdd(hn::LoadU(d, weights + i), hn::Add(largest, hn::Log(d, total)), sum);
            continue;
        }
        sum = hn::Add(sum, largest);
        product = hn::Mul(product, total);
        if (++factors == kFactors) {
            sum = hn::Add(sum, hn::Log(d, product));
            product = hn::Set(d, 1.0);
            factors = 0;
        }
    }
    return hn::GetLane(hn::SumOfLanes(d, hn::Add(sum, hn::Log(d, product))));
}

void AddWeightedSums(const double* responsibilities, const double* weights, const double* columns, std::size_t rows,
                     std::size_t count, double* sums) {
    const Lanes d;
    HWY_ALIGN double shares[kBlockRows];
    Batch total = hn::Zero(d);
    for (std::size_t i = 0; i < rows; i += hn::Lanes(d)) {
        Batch share = hn::LoadU(d, responsibilities + i);
        if (weights != nullptr) share = hn::Mul(share, hn::LoadU(d, weights + i));
        hn::StoreU(share, d, shares + i);
        total = hn::Add(total, share);
    }
    sums[0] += hn::GetLane(hn::SumOfLanes(d, total));
    for (std::size_t s = 1; s < count; ++s) {
        const double* column = columns + s * kBlockRows;
        Batch sum = hn::Zero(d);
        for (std::size_t i = 0; i < rows; i += hn::Lanes(d)) {
            sum = hn::MulAdd(hn::LoadU(d, shares + i), hn::LoadU(d, column + i), sum);
        }
        sums[s] += hn::GetLane(hn::SumOfLanes(d, sum));
    }
}

void Multiply(const double* columns, std::size_t count, const double* weights, std::size_t rows, double* weighted) {
    const Lanes d;
    for (std::size_t p = 0; p < count; ++p) {
        for (std::size_t i = 0; i < rows; i += hn::Lanes(d)) {
            const std::size_t at = p * kBlockRows + i;
            hn::StoreU(hn::Mul(hn::LoadU(d, columns + at), hn::LoadU(d, weights + i)), d, weighted + at);
        }
    }
}

// Tiles of four columns of A by two of B, summed in registers; columns beyond the last are the last again.
void AddProducts(const double* a, const double* b, std::size_t rows, std::size_t columns, double* sums) {
    const Lanes d;
    const auto column = [&](const double* of, std::size_t p) {
        return of + (p < columns ? p : columns - 1) * kBlockRows;
    };
    for (std::size_t q = 0; q < columns; q += 2) {
        const double* b0 = column(b, q);
        const double* b1 = column(b, q + 1);
        for (std::size_t p = q; p < columns; p += 4) {
            const double* a0 = column(a, p);
            const double* a1 = column(a, p + 1);
            const double* a2 = column(a, p + 2);
            const double* a3 = column(a, p + 3);
            Batch s00 = hn::Zero(d);
            Batch s10 = s00;
            Batch s20 = s00;
            Batch s30 = s00;
            Batch s01 = s00;
            Batch s11 = s00;
            Batch s21 = s00;
            Batch s31 = s00;
            for (std::size_t i = 0; i < rows; i += hn::Lanes(d)) {
                const Batch left = hn::LoadU(d, b0 + i);
                const Batch right = hn::LoadU(d, b1 + i);
                const Batch v0 = hn::LoadU(d, a0 + i);
                const Batch v1 = hn::LoadU(d, a1 + i);
                const Batch v2 = hn::LoadU(d, a2 + i);
                const Batch v3 = hn::LoadU(d, a3 + i);
                s00 = hn::MulAdd(v0, left, s00);
                s10 = hn::MulAdd(v1, left, s10);
                s20 = hn::MulAdd(v2, left, s20);
                s30 = hn::MulAdd(v3, left, s30);
                s01 = hn::MulAdd(v0, right, s01);
                s11 = hn::MulAdd(v1, right, s11);
                s21 = hn::MulAdd(v2, right, s21);
                s31 = hn::MulAdd(v3, right, s31);
            }
            const auto add = [&](std::size_t row, std::size_t at, Batch sum) {
                if (row < columns && at < columns) sums[at * columns + row] += hn::GetLane(hn::SumOfLanes(d, sum));
            };
            add(p, q, s00);
            add(p + 1, q, s10);
            add(p + 2, q, s20);
            add(p + 3, q, s30);
            add(p, q + 1, s01);
            add(p + 1, q + 1, s11);
            add(p + 2, q + 1, s21);
            add(p + 3, q + 1, s31);
        }
    }
}

}  // namespace HWY_NAMESPACE
}  // namespace lrvb::detail
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include "linalg/kernel_dispatch.hpp"

namespace lrvb::detail {

LRVB_KERNEL(LinearScores);
LRVB_KERNEL(Softmax);
LRVB_KERNEL(LogSum);
LRVB_KERNEL(AddWeightedSums);
LRVB_KERNEL(Multiply);
LRVB_KERNEL(AddProducts);

void linear_scores(const double* columns, std::size_t rows, std::size_t count, const double* coefficients,
                   double* scores) {
    LRVB_CALL_KERNEL(LinearScores)(columns, rows, count, coefficients, scores);
}

SoftmaxSums softmax(double* scores, const double* weights, std::size_t rows, std::size_t components) {
    return LRVB_CALL_KERNEL(Softmax)(scores, weights, rows, components);
}

double log_sum(const double* scores, const double* weights, std::size_t rows, std::size_t components) {
    return LRVB_CALL_KERNEL(LogSum)(scores, weights, rows, components);
}

void add_weighted_sums(const double* responsibilities, const double* weights, const double* columns, std::size_t rows,
                       std::size_t count, double* sums) {
    LRVB_CALL_KERNEL(AddWeightedSums)(responsibilities, weights, columns, rows, count, sums);
}

void multiply(const double* columns, std::size_t count, const double* weights, std::size_t rows, double* weighted) {
    LRVB_CALL_KERNEL(Multiply)(columns, count, weights, rows, weighted);
}

void add_products(const double* a, const double* b, std::size_t rows, std::size_t columns, double* sums) {
    LRVB_CALL_KERNEL(AddProducts)(a, b, rows, columns, sums);
}

}  // namespace lrvb::detail

#endif
