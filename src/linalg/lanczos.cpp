#include "linalg/lanczos.hpp"

#include "linalg/lapack.hpp"

#include <algorithm>
#include <cmath>

namespace lrvb::detail {

namespace {

constexpr Index kBasis = 20;  // vectors kept at a time: memory stays linear in the size
constexpr int kCycles = 3;
constexpr double kResidual = 1e-4;
constexpr double kInvariant = 1e-13;  // of the value: nothing new is left to find

struct Ritz {
    Eigenpair pair;
    double residual;
};

// The best in the Krylov space of a start.
Ritz best_in_cycle(const Vector& start, const std::function<Vector(const Vector&)>& times) {
    const Index most = std::min(kBasis, start.size());
    Matrix basis(start.size(), most);
    basis.col(0) = start;
    Vector diagonal(most);
    Vector below(most);  // the last is what leads out of the space
    for (Index k = 0;; ++k) {
        Vector next = times(basis.col(k));
        diagonal[k] = basis.col(k).dot(next);
        // Against all before, and twice: rounding would bring found vectors back in.
        for (int i = 0; i < 2; ++i) {
            const Vector along = basis.leftCols(k + 1).transpose() * next;
            next.noalias() -= basis.leftCols(k + 1) * along;
        }
        below[k] = next.norm();
        Vector values = diagonal.head(k + 1);
        const Matrix vectors = tridiagonal_eigenvectors(values, below.head(k));
        const double value = values[k];
        const double residual = below[k] * std::abs(vectors(k, k));
        const bool is_invariant = !(below[k] > kInvariant * value);
        if (k + 1 == most || is_invariant || residual <= kResidual * value) {
            const Vector vector = basis.leftCols(k + 1) * vectors.col(k);
            return {{value, vector.normalized()}, k + 1 == start.size() || is_invariant ? 0.0 : residual};
        }
        basis.col(k + 1) = next / below[k];
    }
}

}  // namespace

Eigenpair largest_eigenpair(Index size, const std::function<Vector(const Vector&)>& times) {
    // Fractions of multiples of the golden ratio: no pattern that a direction could be orthogonal to.
    constexpr double kGolden = 0.6180339887498949;
    Vector start(size);
    for (Index i = 0; i < size; ++i) {
        const double multiple = kGolden * static_cast<double>(i + 1);
        start[i] = multiple - std::floor(multiple) - 0.5;
    }
    start.normalize();
    for (int cycle = 1;; ++cycle) {
        Ritz best = best_in_cycle(start, times);
        if (best.residual <= kResidual * best.pair.value || cycle == kCycles) return best.pair;
        start = std::move(best.pair.vector);
    }
}

}  // namespace lrvb::detail
