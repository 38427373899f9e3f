#include "base/parallel.hpp"
#include "base/validate.hpp"

#include <lrvb/sample/model_density.hpp>

#include <algorithm>

namespace lrvb {

namespace {

constexpr Index kPoints = 64;  // a task; and at most so many are not worth waking a thread for

// Fills the statistics of a range of points; returns their log Jacobians.
Vector fill(const UnboundedChart& chart, const Matrix& points, int threads, Matrix& statistics) {
    Vector log_jacobians(points.cols());
    detail::in_parallel(threads, (points.cols() + kPoints - 1) / kPoints, [&](Index task) {
        for (Index i = task * kPoints; i < std::min(points.cols(), (task + 1) * kPoints); ++i) {
            log_jacobians[i] = chart.statistics(points.col(i), statistics.col(i));
        }
    });
    return log_jacobians;
}

}  // namespace

Vector ModelDensity::evaluate(const Matrix& points, int threads) const {
    detail::require_size("evaluate", "a point", points.rows(), dimension());
    Matrix values(model_->layout().size(), points.cols());
    const Vector log_jacobians = fill(chart_, points, threads, values);
    return model_->log_joint(values, threads) + log_jacobians;
}

DensityGradients ModelDensity::evaluate_gradients(const Matrix& points, int threads) const {
    detail::require_size("evaluate_gradients", "a point", points.rows(), dimension());
    Matrix values(model_->layout().size(), points.cols());
    const Vector log_jacobians = fill(chart_, points, threads, values);
    JointGradients joint = model_->log_joint_gradients(values, threads);
    DensityGradients result{joint.values + log_jacobians, Matrix(dimension(), points.cols())};
    for (Index i = 0; i < points.cols(); ++i) {
        result.gradients.col(i) = chart_.pulled_back(points.col(i), joint.gradients.col(i));
    }
    return result;
}

Matrix ModelDensity::statistics(const Matrix& points, int threads) const {
    detail::require_size("statistics", "a point", points.rows(), dimension());
    Matrix values(model_->layout().size(), points.cols());
    fill(chart_, points, threads, values);
    return values;
}

}  // namespace lrvb
