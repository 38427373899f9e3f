#include "linalg/positive_definite.hpp"

#include <Eigen/Cholesky>

namespace lrvb::detail {

PositiveDefinite::PositiveDefinite(const Matrix& matrix) {
    const Eigen::LLT<Matrix> cholesky(matrix);
    succeeded_ = cholesky.info() == Eigen::Success;
    factor_ = cholesky.matrixL();
}

double PositiveDefinite::log_determinant() const {
    return 2.0 * factor_.diagonal().array().log().sum();
}

Matrix PositiveDefinite::solve(const Matrix& right) const {
    Matrix result = right;
    factor_.triangularView<Eigen::Lower>().solveInPlace(result);
    factor_.triangularView<Eigen::Lower>().adjoint().solveInPlace(result);
    return result;
}

Vector PositiveDefinite::solve(const Vector& right) const {
    Vector result = right;
    factor_.triangularView<Eigen::Lower>().solveInPlace(result);
    factor_.triangularView<Eigen::Lower>().adjoint().solveInPlace(result);
    return result;
}

Matrix PositiveDefinite::inverse() const {
    return solve(Matrix(Matrix::Identity(factor_.rows(), factor_.rows())));
}

}  // namespace lrvb::detail
