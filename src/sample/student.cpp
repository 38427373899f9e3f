#include "sample/student.hpp"

#include "base/validate.hpp"
#include "linalg/positive_definite.hpp"

#include <cmath>
#include <numbers>

namespace lrvb::detail {

StudentProposal::StudentProposal(const NormalApproximation& approximation, double dof)
    : location_(approximation.mean), dof_(dof) {
    require_positive("Student proposal", "dof", dof);
    require_finite("Student proposal", "mean", approximation.mean);
    const Index dimension = location_.size();
    require_at_least("Student proposal", "dimension", dimension, 1);
    require_size("Student proposal", "rows of the covariance", approximation.covariance.rows(), dimension);
    require_size("Student proposal", "columns of the covariance", approximation.covariance.cols(), dimension);
    const PositiveDefinite cholesky(approximation.covariance);
    if (!cholesky.succeeded() || !approximation.covariance.allFinite()) {
        throw std::invalid_argument("Student proposal: the covariance is not a positive definite matrix");
    }
    factor_ = cholesky.factor();
    const double size = static_cast<double>(dimension);
    constant_ = std::lgamma(0.5 * (dof + size)) - std::lgamma(0.5 * dof) -
                0.5 * size * std::log(dof * std::numbers::pi) - factor_.diagonal().array().log().sum();
}

Vector StudentProposal::draw(Random& random) const {
    const Vector shape = factor_.triangularView<Eigen::Lower>() * standard_normals(location_.size(), random);
    return location_ + stretch(random) * shape;
}

// √(ν/χ²_ν).
double StudentProposal::stretch(Random& random) const {
    const double log_chi_square = std::numbers::ln2 + random.log_gamma(0.5 * dof_);
    return std::exp(0.5 * (std::log(dof_) - log_chi_square));
}

void StudentProposal::draw(std::uint64_t seed, std::uint64_t first, Eigen::Ref<Matrix> points) const {
    for (Index i = 0; i < points.cols(); ++i) {
        Random random(seed, first + static_cast<std::uint64_t>(i));
        for (double& entry : points.col(i)) entry = random.normal();
        points.col(i) *= stretch(random);
    }
    points = factor_.triangularView<Eigen::Lower>() * points;
    points.colwise() += location_;
}

Eigen::RowVectorXd StudentProposal::squared_distances(const Eigen::Ref<const Matrix>& points) const {
    Matrix whitened = points.colwise() - location_;
    factor_.triangularView<Eigen::Lower>().solveInPlace(whitened);
    return whitened.colwise().squaredNorm();
}

double StudentProposal::squared_distance(const VectorView& point) const {
    const Vector whitened = factor_.triangularView<Eigen::Lower>().solve(point - location_);
    return whitened.squaredNorm();
}

double StudentProposal::log_density(const VectorView& point) const {
    return log_density_at(squared_distance(point));
}

double StudentProposal::log_density_at(double squared_distance) const {
    const double size = static_cast<double>(location_.size());
    return constant_ - 0.5 * (dof_ + size) * std::log1p(squared_distance / dof_);
}

}  // namespace lrvb::detail
