#include "linalg/semidefinite.hpp"

#include "linalg/lapack.hpp"

#include <cmath>

namespace lrvb::detail {

bool is_covariance(const Matrix& matrix) {
    constexpr double kRounding = 1e-6;
    constexpr double kNothing = 1e-150;  // whose square is no double: beside a variance that is none either
    const Index size = matrix.rows();
    if (size == 0) return true;
    const Vector variances = matrix.diagonal();
    if (!matrix.allFinite() || variances.minCoeff() < 0.0) return false;
    const Vector scale = (variances.array() > 0.0).select(variances.cwiseSqrt().cwiseInverse(), 0.0);
    Matrix correlations = matrix;
    for (Index j = 0; j < size; ++j) {
        for (Index i = j + 1; i < size; ++i) {
            const bool is_held = scale[i] == 0.0 || scale[j] == 0.0;
            if (is_held && std::abs(matrix(i, j)) > kNothing) return false;
            correlations(i, j) = scale[i] * matrix(i, j) * scale[j];
        }
        correlations(j, j) = 1.0 + kRounding;
    }
    return correlations.allFinite() && !cholesky_in_place(correlations).has_value();
}

}  // namespace lrvb::detail
