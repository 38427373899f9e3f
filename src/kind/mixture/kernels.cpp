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

HWY_EXPORT(Centre);
HWY_EXPORT(DiagonalScores);
HWY_EXPORT(FullScores);
HWY_EXPORT(Softmax);
HWY_EXPORT(LogSum);
HWY_EXPORT(AddDiagonalMoments);
HWY_EXPORT(AddPairMoments);
HWY_EXPORT(Multiply);
HWY_EXPORT(AddProducts);
HWY_EXPORT(Exponentials);

void centre(const double* x, std::size_t rows, std::size_t columns, const double* origin, double* y) {
    HWY_DYNAMIC_DISPATCH(Centre)(x, rows, columns, origin, y);
}

void diagonal_scores(const double* x, std::size_t rows, std::size_t columns, const double* origin, double constant,
                     const double* squares, double* scores) {
    HWY_DYNAMIC_DISPATCH(DiagonalScores)(x, rows, columns, origin, constant, squares, scores);
}

void full_scores(const double* y, std::size_t rows, std::size_t columns, double constant, const double* squares,
                 double* scores) {
    HWY_DYNAMIC_DISPATCH(FullScores)(y, rows, columns, constant, squares, scores);
}

SoftmaxSums softmax(double* scores, const double* weights, std::size_t rows, std::size_t components) {
    return HWY_DYNAMIC_DISPATCH(Softmax)(scores, weights, rows, components);
}

double log_sum(const double* scores, const double* weights, std::size_t rows, std::size_t components) {
    return HWY_DYNAMIC_DISPATCH(LogSum)(scores, weights, rows, components);
}

void add_diagonal_moments(const double* responsibilities, const double* weights, const double* x, std::size_t rows,
                          std::size_t columns, const double* origin, double* sums) {
    HWY_DYNAMIC_DISPATCH(AddDiagonalMoments)(responsibilities, weights, x, rows, columns, origin, sums);
}

void add_pair_moments(const double* responsibilities, const double* weights, const double* x, std::size_t rows,
                      std::size_t components, const double* origins, double* sums) {
    HWY_DYNAMIC_DISPATCH(AddPairMoments)(responsibilities, weights, x, rows, components, origins, sums);
}

void multiply(const double* columns, std::size_t count, const double* weights, std::size_t rows, double* weighted) {
    HWY_DYNAMIC_DISPATCH(Multiply)(columns, count, weights, rows, weighted);
}

void add_products(const double* a, const double* b, std::size_t rows, std::size_t columns, double* sums) {
    HWY_DYNAMIC_DISPATCH(AddProducts)(a, b, rows, columns, sums);
}

void exponentials(double* values, std::size_t count) {
    HWY_DYNAMIC_DISPATCH(Exponentials)(values, count);
}

}  // namespace lrvb::detail

#endif
