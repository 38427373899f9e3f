#include "base/validate.hpp"
#include "linalg/positive_definite.hpp"

#include <lrvb/sample/mode.hpp>

#include <cmath>
#include <limits>

namespace lrvb {

namespace {

constexpr double kGradientStep = 1e-3;
constexpr double kHessianStep = 1e-2;
constexpr Index kLengths = 12;  // of a line search: 2, 1, ½, …

class ModeSearch {
  public:
    ModeSearch(const LogDensity& density, const NormalApproximation& approximation, const ModeOptions& options)
        : density_(density), options_(options), centre_(approximation.mean) {
        const detail::PositiveDefinite cholesky(approximation.covariance);
        if (!cholesky.succeeded()) {
            throw std::invalid_argument("find_mode: the covariance is not a positive definite matrix");
        }
        factor_ = cholesky.factor();
    }

    Mode run() {
        const Index dimension = centre_.size();
        Vector at = Vector::Zero(dimension);
        double value = evaluate(at)[0];
        if (!std::isfinite(value)) {
            throw std::invalid_argument("find_mode: the density at the approximation's mean is zero or not a number");
        }
        Vector gradient = gradient_at(at);
        Matrix inverse = Matrix::Identity(dimension, dimension);  // of −∇²
        Mode mode;
        while (mode.iterations < options_.max_iterations) {
            const Vector direction = inverse * gradient;
            mode.converged = std::sqrt(std::max(0.0, gradient.dot(direction))) <= options_.tolerance;
            if (mode.converged) break;
            ++mode.iterations;
            const Vector step = best_step(at, direction, value);
            if (step.size() == 0) break;  // rounding hides where up is
            at += step;
            const Vector next = gradient_at(at);
            update(inverse, step, gradient - next);
            gradient = next;
        }
        mode.point = centre_ + factor_ * at;
        mode.log_density = value;
        if (!options_.covariance) return mode;
        const detail::PositiveDefinite curvature(-hessian_at(at, value));
        if (curvature.succeeded()) {
            const Matrix whitened = curvature.inverse();
            mode.covariance = factor_ * whitened * factor_.transpose();
        }
        return mode;
    }

  private:
    Vector evaluate(const Matrix& whitened) const {
        return density_.evaluate((factor_ * whitened).colwise() + centre_, options_.threads);
    }

    Vector gradient_at(const Vector& at) const {
        const Index dimension = at.size();
        Matrix points = at.replicate(1, 2 * dimension);
        for (Index i = 0; i < dimension; ++i) {
            points(i, i) += kGradientStep;
            points(i, dimension + i) -= kGradientStep;
        }
        const Vector values = evaluate(points);
        return (values.head(dimension) - values.tail(dimension)) / (2.0 * kGradientStep);
    }

    // The best of many lengths, if one is better than staying; nothing where none is.
    Vector best_step(const Vector& at, const Vector& direction, double& value) const {
        Matrix steps(at.size(), kLengths);
        double length = 2.0;
        for (Index i = 0; i < kLengths; ++i, length *= 0.5) steps.col(i) = length * direction;
        const Vector values = evaluate(steps.colwise() + at);
        Index best = -1;
        for (Index i = 0; i < kLengths; ++i) {
            if (!(values[i] > value)) continue;
            value = values[i];
            best = i;
        }
        return best < 0 ? Vector() : Vector(steps.col(best));
    }

    // BFGS: the inverse curvature that maps the fall of the gradient to the step.
    static void update(Matrix& inverse, const Vector& step, const Vector& fall) {
        const double product = step.dot(fall);
        if (!(product > 1e-12 * step.norm() * fall.norm())) return;
        const Matrix identity = Matrix::Identity(step.size(), step.size());
        const Matrix left = identity - step * fall.transpose() / product;
        inverse = Matrix(left * inverse * left.transpose()) + step * step.transpose() / product;
    }

    Matrix hessian_at(const Vector& at, double value) const {
        const Index dimension = at.size();
        const Index pairs = dimension * (dimension - 1) / 2;
        const double h = kHessianStep;
        Matrix points = at.replicate(1, 2 * dimension + 4 * pairs);
        Index column = 0;
        for (Index i = 0; i < dimension; ++i) {
            points(i, column++) += h;
            points(i, column++) -= h;
            for (Index j = 0; j < i; ++j) {
                for (const double a : {h, -h}) {
                    for (const double b : {h, -h}) {
                        points(i, column) += a;
                        points(j, column++) += b;
                    }
                }
            }
        }
        const Vector values = evaluate(points);
        Matrix hessian(dimension, dimension);
        column = 0;
        for (Index i = 0; i < dimension; ++i) {
            hessian(i, i) = (values[column] - 2.0 * value + values[column + 1]) / (h * h);
            column += 2;
            for (Index j = 0; j < i; ++j, column += 4) {
                hessian(i, j) = hessian(j, i) =
                    (values[column] - values[column + 1] - values[column + 2] + values[column + 3]) / (4.0 * h * h);
            }
        }
        return hessian;
    }

    const LogDensity& density_;
    const ModeOptions& options_;
    Vector centre_;
    Matrix factor_;
};

}  // namespace

Mode find_mode(const LogDensity& density, const NormalApproximation& approximation, const ModeOptions& options) {
    detail::require_size("find_mode", "mean", approximation.mean.size(), density.dimension());
    detail::require_finite("find_mode", "mean", approximation.mean);
    detail::require_size("find_mode", "rows of the covariance", approximation.covariance.rows(), density.dimension());
    detail::require_positive("find_mode", "tolerance", options.tolerance);
    return ModeSearch(density, approximation, options).run();
}

}  // namespace lrvb
