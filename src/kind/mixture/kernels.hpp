#pragma once

#include <cstddef>

/// The inner loops of a pass over a block of rows, vectorised for the machine they run on. Arrays of a column, or of a
/// component, stand one after the other, `kBlockRows` apart; a block may be partly filled, and is zero beyond. Weights
/// may be null: then every row counts once.
namespace lrvb::detail {

constexpr std::size_t kBlockRows = 256;

/// y = x − origin, column by column.
void centre(const double* x, std::size_t rows, std::size_t columns, const double* origin, double* y);

/// scores = constant + Σ_p squares_p (x_p − origin_p)².
void diagonal_scores(const double* x, std::size_t rows, std::size_t columns, const double* origin, double constant,
                     const double* squares, double* scores);

/// scores = constant + Σ_{p≤q} squares_pq y_p y_q, for rows that are centred already.
void full_scores(const double* y, std::size_t rows, std::size_t columns, double constant, const double* squares,
                 double* scores);

struct SoftmaxSums {
    double log_sum = 0.0;    // Σ w log Σ_k exp score
    double magnitude = 0.0;  // Σ w |largest score|: the size of what was added
};

/// Scores to responsibilities, in place; rows beyond `rows` get zero.
SoftmaxSums softmax(double* scores, const double* weights, std::size_t rows, std::size_t components);

/// Σ w log Σ_k exp score, and nothing else: the scores stay as they are.
double log_sum(const double* scores, const double* weights, std::size_t rows, std::size_t components);

/// Adds Σ w r, Σ w r y_p and Σ w r y_p², y = x − origin, to sums[0], sums[1 + p] and sums[1 + columns + p].
void add_diagonal_moments(const double* responsibilities, const double* weights, const double* x, std::size_t rows,
                          std::size_t columns, const double* origin, double* sums);

/// Adds Σ w r_k r_l y^i, i = 0 … 4, y = x − origins[pair], to sums[pair][i], for the pairs k < l in order.
void add_pair_moments(const double* responsibilities, const double* weights, const double* x, std::size_t rows,
                      std::size_t components, const double* origins, double* sums);

/// weighted = weights · columns, column by column.
void multiply(const double* columns, std::size_t count, const double* weights, std::size_t rows, double* weighted);

/// Adds the lower triangle of AᵀB, for A and B of `columns` columns whose product is symmetric, to sums (by columns).
void add_products(const double* a, const double* b, std::size_t rows, std::size_t columns, double* sums);

/// exp of each number, in place: the floor that a pass is measured against.
void exponentials(double* values, std::size_t count);

}  // namespace lrvb::detail
