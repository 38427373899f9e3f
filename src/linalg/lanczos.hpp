#pragma once

#include <lrvb/types.hpp>

#include <functional>

namespace lrvb::detail {

struct Eigenpair {
    double value;
    Vector vector;  // of length one
};

/// The largest eigenvalue of a symmetric operator on vectors of this size, which must be positive, and its vector, by
/// Lanczos' method: the best in the space of a start and what the operator makes of it again and again. The start is
/// random but always the same, so that no symmetry of the operator can hide the vector from it. Ends where the residual
/// is at most 1e-4 of the value, or after 60 products; at the latest the value is the best seen, and never too large.
Eigenpair largest_eigenpair(Index size, const std::function<Vector(const Vector&)>& times);

}  // namespace lrvb::detail
