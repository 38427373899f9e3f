#pragma once

#include "linalg/block_kernels.hpp"

/// The inner loops of a pass over a block of rows, vectorised for the machine they run on; see
/// linalg/block_kernels.hpp for what a block is.
namespace lrvb::detail {

/// y = x − origin, column by column.
void centre(const double* x, std::size_t rows, std::size_t columns, const double* origin, double* y);

/// scores = constant + Σ_p squares_p (x_p − origin_p)².
void diagonal_scores(const double* x, std::size_t rows, std::size_t columns, const double* origin, double constant,
                     const double* squares, double* scores);

/// scores = constant + Σ_{p≤q} squares_pq y_p y_q, for rows that are centred already.
void full_scores(const double* y, std::size_t rows, std::size_t columns, double constant, const double* squares,
                 double* scores);

/// Adds Σ w r, Σ w r y_p and Σ w r y_p², y = x − origin, to sums[0], sums[1 + p] and sums[1 + columns + p].
void add_diagonal_moments(const double* responsibilities, const double* weights, const double* x, std::size_t rows,
                          std::size_t columns, const double* origin, double* sums);

/// Adds Σ w r_k r_l y^i, i = 0 … 4, y = x − origins[pair], to sums[pair][i], for the pairs k < l in order.
void add_pair_moments(const double* responsibilities, const double* weights, const double* x, std::size_t rows,
                      std::size_t components, const double* origins, double* sums);

/// How many values of a block are above `least`.
std::size_t count_above(const double* values, std::size_t rows, double least);

/// Of the rows whose responsibility is above `least`, no more than half of a block: w r, one after the other, and
/// y = x − origin, column by column. What is beyond them is anything.
void select_shares(const double* responsibilities, const double* weights, const double* x, std::size_t rows,
                   std::size_t columns, const double* origin, double least, double* shares, double* y);

struct PairRows {
    std::size_t count = 0;  // that are selected
    double skipped = 0.0;   // Σ w r_k r_l max(1, |y_p|, y_p²)² of the others
};

/// The rows of a block whose w r_k r_l is not below `least`: these products, one after the other, and y = x − origin,
/// column by column, `kBlockRows` apart.
PairRows select_pair(const double* left, const double* right, const double* weights, const double* x,
                     std::size_t columns, const double* origin, double least, double* products, double* y);

/// exp of each number, in place: the floor that a pass is measured against.
void exponentials(double* values, std::size_t count);

}  // namespace lrvb::detail
