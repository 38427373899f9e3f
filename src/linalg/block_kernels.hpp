#pragma once

#include <cstddef>

/// Inner loops over a block of rows, vectorised for the machine they run on: what all mixtures share. Arrays of a
/// column, or of a component, stand one after the other, `kBlockRows` apart; a block may be partly filled, and is zero
/// beyond. Weights may be null: then every row counts once.
namespace lrvb::detail {

constexpr std::size_t kBlockRows = 256;

/// scores = coefficients_0 + Σ_s coefficients_s columns_s, s = 1, …: the first coefficient is the constant, and the
/// first column, which is one, is not read.
void linear_scores(const double* columns, std::size_t rows, std::size_t count, const double* coefficients,
                   double* scores);

struct SoftmaxSums {
    double log_sum = 0.0;    // Σ w log Σ_k exp score
    double magnitude = 0.0;  // Σ w |largest score|: the size of what was added
};

/// Scores to responsibilities, in place; rows beyond `rows` get zero.
SoftmaxSums softmax(double* scores, const double* weights, std::size_t rows, std::size_t components);

/// Σ w log Σ_k exp score, and nothing else: the scores stay as they are.
double log_sum(const double* scores, const double* weights, std::size_t rows, std::size_t components);

/// Adds Σ w r and Σ w r columns_s to sums[0] and sums[s], s = 1, …; the first column, which is one, is not read.
void add_weighted_sums(const double* responsibilities, const double* weights, const double* columns, std::size_t rows,
                       std::size_t count, double* sums);

/// weighted = weights · columns, column by column.
void multiply(const double* columns, std::size_t count, const double* weights, std::size_t rows, double* weighted);

/// Adds the lower triangle of AᵀB, for A and B of `columns` columns whose product is symmetric, to sums (by columns).
void add_products(const double* a, const double* b, std::size_t rows, std::size_t columns, double* sums);

}  // namespace lrvb::detail
