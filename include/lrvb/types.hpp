#pragma once

#include <Eigen/Core>
#include <Eigen/SparseCore>

namespace lrvb {

using Index = Eigen::Index;
using Vector = Eigen::VectorXd;
using Matrix = Eigen::MatrixXd;
using SparseMatrix = Eigen::SparseMatrix<double>;

/// A read-only vector argument that also takes segments and columns without a copy.
using VectorView = Eigen::Ref<const Vector>;

}  // namespace lrvb
