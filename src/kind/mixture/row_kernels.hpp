#pragma once

#include "kind/mixture/kernels.hpp"

namespace lrvb::detail {

/// A block of rows of one column.
struct UnivariateRows {
    const double* x;
    const double* responsibilities;
    std::size_t rows;
    std::size_t components;
    const double* origins;
    const double* squares;
};

/// With v_dk(y) = a + by + cy² for the triples (a, b, c) of direction d and component k, and y = x − origin_k:
/// out[d] = Σ_k r_k v_dk, or of its derivative in x, responsibilities included.
void univariate_row_answers(const UnivariateRows& block, const double* polynomials, std::size_t directions,
                            bool derivative, double* out);

}  // namespace lrvb::detail
