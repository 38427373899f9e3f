#pragma once

#include <cstddef>

/// The inner loops of a pass over a block of rows, vectorised for the machine they run on. Per-component arrays stand
/// one after the other, `kBlockRows` apart; a block may be partly filled. Weights may be null: then every row counts
/// once.
namespace lrvb::detail {

constexpr std::size_t kBlockRows = 256;

/// scores[k][i] = a_k + b_k x_i + c_k x_i², with theta the triples (a_k, b_k, c_k).
void quadratic_scores(const double* x, std::size_t rows, std::size_t components, const double* theta, double* scores);

struct SoftmaxSums {
    double log_sum = 0.0;    // Σ w log Σ_k exp score
    double magnitude = 0.0;  // Σ w |largest score|: the size of what was added
};

/// Scores to responsibilities, in place; rows beyond `rows` get zero.
SoftmaxSums softmax(double* scores, const double* weights, std::size_t rows, std::size_t components);

/// Adds Σ w r_k x^p, p = 0 … 2, to sums[k][p].
void add_moments(const double* responsibilities, const double* weights, const double* x, std::size_t rows,
                 std::size_t components, double* sums);

/// Adds Σ w r_k r_l x^p, p = 0 … 4, to sums[pair][p], for the pairs k < l in order.
void add_pair_moments(const double* responsibilities, const double* weights, const double* x, std::size_t rows,
                      std::size_t components, double* sums);

/// exp of each number, in place: the floor that a pass is measured against.
void exponentials(double* values, std::size_t count);

}  // namespace lrvb::detail
