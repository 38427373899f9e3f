#pragma once

#include <lrvb/types.hpp>

#include <optional>

namespace lrvb::detail {

/// A = LLᵀ for a dense symmetric matrix, from its lower triangle to L in its place; what is above the diagonal is left
/// as it was. Empty on success, otherwise the first pivot that is not positive. Vectorised for the machine it runs on:
/// the library is compiled for any.
std::optional<Index> cholesky_in_place(Matrix& a);

}  // namespace lrvb::detail
