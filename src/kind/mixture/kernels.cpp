#include "kind/mixture/kernels.hpp"

// Highway compiles this file once for every instruction set, and picks one at run time. The order of these lines
// matters.
// clang-format off
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kind/mixture/kernels.cpp"
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

void Centre(const double* x, std::size_t rows, std::size_t columns, const double* origin, double* y) {
    const Lanes d;
    for (std::size_t p = 0; p < columns; ++p) {
        const Batch centre = hn::Set(d, origin[p]);
        for (std::size_t i = p * kBlockRows; i < p * kBlockRows + rows; i += hn::Lanes(d)) {
            hn::StoreU(hn::Sub(hn::LoadU(d, x + i), centre), d, y + i);
        }
    }
}

void DiagonalScores(const double* x, std::size_t rows, std::size_t columns, const double* origin, double constant,
                    const double* squares, double* scores) {
    const Lanes d;
    for (std::size_t p = 0; p < columns; ++p) {
        const Batch centre = hn::Set(d, origin[p]);
        const Batch square = hn::Set(d, squares[p]);
        for (std::size_t i = 0; i < rows; i += hn::Lanes(d)) {
            const Batch y = hn::Sub(hn::LoadU(d, x + p * kBlockRows + i), centre);
            const Batch before = p == 0 ? hn::Set(d, constant) : hn::LoadU(d, scores + i);
            hn::StoreU(hn::MulAdd(hn::Mul(square, y), y, before), d, scores + i);
        }
    }
}

// Four vectors of rows at a time, so that a coefficient is loaded once for all of them.
void FullScores(const double* y, std::size_t rows, std::size_t columns, double constant, const double* squares,
                double* scores) {
    const Lanes d;
    const std::size_t lanes = hn::Lanes(d);
    for (std::size_t i = 0; i < rows; i += 4 * lanes) {
        Batch score0 = hn::Set(d, constant);
        Batch score1 = score0;
        Batch score2 = score0;
        Batch score3 = score0;
        const double* square = squares;
        for (std::size_t p = 0; p < columns; ++p) {
            Batch sum0 = hn::Zero(d);
            Batch sum1 = sum0;
            Batch sum2 = sum0;
            Batch sum3 = sum0;
            for (std::size_t q = p; q < columns; ++q, ++square) {
                const Batch coefficient = hn::Set(d, *square);
                const double* column = y + q * kBlockRows + i;
                sum0 = hn::MulAdd(coefficient, hn::LoadU(d, column), sum0);
                sum1 = hn::MulAdd(coefficient, hn::LoadU(d, column + lanes), sum1);
                sum2 = hn::MulAdd(coefficient, hn::LoadU(d, column + 2 * lanes), sum2);
                sum3 = hn::MulAdd(coefficient, hn::LoadU(d, column + 3 * lanes), sum3);
            }
            const double* column = y + p * kBlockRows + i;
            score0 = hn::MulAdd(sum0, hn::LoadU(d, column), score0);
            score1 = hn::MulAdd(sum1, hn::LoadU(d, column + lanes), score1);
            score2 = hn::MulAdd(sum2, hn::LoadU(d, column + 2 * lanes), score2);
            score3 = hn::MulAdd(sum3, hn::LoadU(d, column + 3 * lanes), score3);
        }
        hn::StoreU(score0, d, scores + i);
        hn::StoreU(score1, d, scores + i + lanes);
        hn::StoreU(score2, d, scores + i + 2 * lanes);
        hn::StoreU(score3, d, scores + i + 3 * lanes);
    }
}

void AddDiagonalMoments(const double* responsibilities, const double* weights, const double* x, std::size_t rows,
                        std::size_t columns, const double* origin, double* sums) {
    const Lanes d;
    for (std::size_t p = 0; p < columns; ++p) {
        const Batch centre = hn::Set(d, origin[p]);
        Batch zeroth = hn::Zero(d);
        Batch first = hn::Zero(d);
        Batch second = hn::Zero(d);
        for (std::size_t i = 0; i < rows; i += hn::Lanes(d)) {
            const Batch y = hn::Sub(hn::LoadU(d, x + p * kBlockRows + i), centre);
            const Batch weighted = hn::Mul(hn::LoadU(d, responsibilities + i), weights_at(d, weights, i));
            const Batch times_y = hn::Mul(weighted, y);
            zeroth = hn::Add(zeroth, weighted);
            first = hn::Add(first, times_y);
            second = hn::MulAdd(times_y, y, second);
        }
        if (p == 0) sums[0] += hn::GetLane(hn::SumOfLanes(d, zeroth));
        sums[1 + p] += hn::GetLane(hn::SumOfLanes(d, first));
        sums[1 + columns + p] += hn::GetLane(hn::SumOfLanes(d, second));
    }
}

void AddPairMoments(const double* responsibilities, const double* weights, const double* x, std::size_t rows,
                    std::size_t components, const double* origins, double* sums) {
    const Lanes d;
    for (std::size_t k = 0; k < components; ++k) {
        const double* left = responsibilities + k * kBlockRows;
        for (std::size_t l = k + 1; l < components; ++l, sums += 5, ++origins) {
            const double* right = responsibilities + l * kBlockRows;
            const Batch centre = hn::Set(d, *origins);
            Batch s0 = hn::Zero(d);
            Batch s1 = hn::Zero(d);
            Batch s2 = hn::Zero(d);
            Batch s3 = hn::Zero(d);
            Batch s4 = hn::Zero(d);
            for (std::size_t i = 0; i < rows; i += hn::Lanes(d)) {
                const Batch value = hn::Sub(hn::LoadU(d, x + i), centre);
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

std::size_t CountAbove(const double* values, std::size_t rows, double least) {
    const Lanes d;
    std::size_t count = 0;
    for (std::size_t i = 0; i < rows; i += hn::Lanes(d)) {
        count += hn::CountTrue(d, hn::Gt(hn::LoadU(d, values + i), hn::Set(d, least)));
    }
    return count;
}

void SelectShares(const double* responsibilities, const double* weights, const double* x, std::size_t rows,
                  std::size_t columns, const double* origin, double least, double* shares, double* y) {
    const Lanes d;
    std::size_t count = 0;
    for (std::size_t i = 0; i < rows; i += hn::Lanes(d)) {
        const Batch responsibility = hn::LoadU(d, responsibilities + i);
        const auto selected = hn::Gt(responsibility, hn::Set(d, least));
        if (hn::AllFalse(d, selected)) continue;
        for (std::size_t p = 0; p < columns; ++p) {
            const Batch centred = hn::Sub(hn::LoadU(d, x + p * kBlockRows + i), hn::Set(d, origin[p]));
            hn::CompressStore(centred, selected, d, y + p * kBlockRows + count);
        }
        count += hn::CompressStore(hn::Mul(responsibility, weights_at(d, weights, i)), selected, d, shares + count);
    }
}

// Rows are selected by their numbers, and copied one by one: an instruction that stores the selected lanes of a vector
// is slow on some machines, where it took most of this function's time.
PairRows SelectPair(const double* left, const double* right, const double* weights, const double* x,
                    std::size_t columns, const double* origin, double least, double* products, double* y) {
    const Lanes d;
    const std::size_t lanes = hn::Lanes(d);
    const Batch one = hn::Set(d, 1.0);
    HWY_ALIGN double all_products[kBlockRows];
    std::uint16_t chosen[kBlockRows + 1];
    Batch skipped = hn::Zero(d);
    std::size_t count = 0;
    for (std::size_t i = 0; i < kBlockRows; i += lanes) {
        const Batch shares = hn::Mul(weights_at(d, weights, i), hn::LoadU(d, left + i));
        const Batch product = hn::Mul(shares, hn::LoadU(d, right + i));
        const auto some = hn::Ne(product, hn::Zero(d));
        const auto is_small = hn::Lt(product, hn::Set(d, least));
        const auto lost = hn::And(is_small, some);
        if (!hn::AllFalse(d, lost)) {
            Batch largest = one;
            for (std::size_t p = 0; p < columns; ++p) {
                const Batch centred = hn::Sub(hn::LoadU(d, x + p * kBlockRows + i), hn::Set(d, origin[p]));
                largest = hn::Max(largest, hn::Max(hn::Abs(centred), hn::Mul(centred, centred)));
            }
            skipped = hn::Add(skipped, hn::IfThenElseZero(lost, hn::Mul(product, hn::Mul(largest, largest))));
        }
        const auto selected = hn::AndNot(is_small, some);
        if (hn::AllFalse(d, selected)) continue;
        hn::StoreU(product, d, all_products + i);
        std::uint8_t bits[8] = {};
        hn::StoreMaskBits(d, selected, bits);
        for (std::size_t lane = 0; lane < lanes; ++lane) {
            chosen[count] = static_cast<std::uint16_t>(i + lane);
            count += (bits[lane / 8] >> (lane % 8)) & 1U;
        }
    }
    for (std::size_t p = 0; p < columns; ++p) {
        for (std::size_t c = 0; c < count; ++c) y[p * kBlockRows + c] = x[p * kBlockRows + chosen[c]] - origin[p];
    }
    for (std::size_t c = 0; c < count; ++c) products[c] = all_products[chosen[c]];
    return {count, hn::GetLane(hn::SumOfLanes(d, skipped))};
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

#include "linalg/kernel_dispatch.hpp"

namespace lrvb::detail {

LRVB_KERNEL(Centre);
LRVB_KERNEL(DiagonalScores);
LRVB_KERNEL(FullScores);
LRVB_KERNEL(AddDiagonalMoments);
LRVB_KERNEL(AddPairMoments);
LRVB_KERNEL(CountAbove);
LRVB_KERNEL(SelectShares);
LRVB_KERNEL(SelectPair);
LRVB_KERNEL(Exponentials);

void centre(const double* x, std::size_t rows, std::size_t columns, const double* origin, double* y) {
    LRVB_CALL_KERNEL(Centre)(x, rows, columns, origin, y);
}

void diagonal_scores(const double* x, std::size_t rows, std::size_t columns, const double* origin, double constant,
                     const double* squares, double* scores) {
    LRVB_CALL_KERNEL(DiagonalScores)(x, rows, columns, origin, constant, squares, scores);
}

void full_scores(const double* y, std::size_t rows, std::size_t columns, double constant, const double* squares,
                 double* scores) {
    LRVB_CALL_KERNEL(FullScores)(y, rows, columns, constant, squares, scores);
}

void add_diagonal_moments(const double* responsibilities, const double* weights, const double* x, std::size_t rows,
                          std::size_t columns, const double* origin, double* sums) {
    LRVB_CALL_KERNEL(AddDiagonalMoments)(responsibilities, weights, x, rows, columns, origin, sums);
}

void add_pair_moments(const double* responsibilities, const double* weights, const double* x, std::size_t rows,
                      std::size_t components, const double* origins, double* sums) {
    LRVB_CALL_KERNEL(AddPairMoments)(responsibilities, weights, x, rows, components, origins, sums);
}

std::size_t count_above(const double* values, std::size_t rows, double least) {
    return LRVB_CALL_KERNEL(CountAbove)(values, rows, least);
}

void select_shares(const double* responsibilities, const double* weights, const double* x, std::size_t rows,
                   std::size_t columns, const double* origin, double least, double* shares, double* y) {
    LRVB_CALL_KERNEL(SelectShares)(responsibilities, weights, x, rows, columns, origin, least, shares, y);
}

PairRows select_pair(const double* left, const double* right, const double* weights, const double* x,
                     std::size_t columns, const double* origin, double least, double* products, double* y) {
    return LRVB_CALL_KERNEL(SelectPair)(left, right, weights, x, columns, origin, least, products, y);
}

void exponentials(double* values, std::size_t count) {
    LRVB_CALL_KERNEL(Exponentials)(values, count);
}

}  // namespace lrvb::detail

#endif
