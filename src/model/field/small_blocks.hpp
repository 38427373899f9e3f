#pragma once

#include "linalg/cholesky.hpp"

#include <lrvb/types.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

/// The blocks of a level's effects: a few rows and columns, row by row.
namespace lrvb::detail {

// A = LLᵀ in place for a small matrix, row by row, lower triangle.
inline bool small_cholesky(double* a, Index q) {
    for (Index j = 0; j < q; ++j) {
        const double diagonal = a[j * q + j];
        double pivot = diagonal;
        for (Index k = 0; k < j; ++k) pivot -= a[j * q + k] * a[j * q + k];
        if (!is_safely_positive(pivot / std::max(diagonal, std::numeric_limits<double>::min()), 1.0)) return false;
        const double root = std::sqrt(pivot);
        a[j * q + j] = root;
        for (Index i = j + 1; i < q; ++i) {
            double sum = a[i * q + j];
            for (Index k = 0; k < j; ++k) sum -= a[i * q + k] * a[j * q + k];
            a[i * q + j] = sum / root;
        }
    }
    return true;
}

// L⁻¹B and L⁻ᵀB in place, B of q rows.
inline void small_forward(const double* lower, Index q, double* b, Index columns) {
    for (Index i = 0; i < q; ++i) {
        for (Index k = 0; k < i; ++k) {
            const double entry = lower[i * q + k];
            for (Index c = 0; c < columns; ++c) b[i * columns + c] -= entry * b[k * columns + c];
        }
        const double inverse = 1.0 / lower[i * q + i];
        for (Index c = 0; c < columns; ++c) b[i * columns + c] *= inverse;
    }
}

inline void small_backward(const double* lower, Index q, double* b, Index columns) {
    for (Index i = q; i-- > 0;) {
        for (Index k = i + 1; k < q; ++k) {
            const double entry = lower[k * q + i];
            for (Index c = 0; c < columns; ++c) b[i * columns + c] -= entry * b[k * columns + c];
        }
        const double inverse = 1.0 / lower[i * q + i];
        for (Index c = 0; c < columns; ++c) b[i * columns + c] *= inverse;
    }
}

}  // namespace lrvb::detail
