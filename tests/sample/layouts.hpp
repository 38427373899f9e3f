#pragma once

#include "linalg/positive_definite.hpp"
#include "support.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

/// Layouts of random effects whose exact posterior is an integral of low dimension: given its precisions, the rest of
/// it is normal.
namespace lrvb::test {

/// Means and sds of the unbounded coordinates.
struct ExactMoments {
    Vector mean;
    Vector sd;
};

/// Sums of values and their squares, weighted by the exponentials of log densities.
class WeightedMoments {
  public:
    explicit WeightedMoments(Index size) : sum_(Vector::Zero(size)), squares_(Vector::Zero(size)) {}

    /// Values with these means, and variances about them.
    void add(double log_density, const Vector& mean, const Vector& variance) {
        if (log_density > largest_) {
            const double shrink = std::exp(largest_ - log_density);
            sum_ *= shrink;
            squares_ *= shrink;
            weight_ *= shrink;
            largest_ = log_density;
        }
        const double weight = std::exp(log_density - largest_);
        sum_ += weight * mean;
        squares_ += weight * (mean.cwiseAbs2() + variance);
        weight_ += weight;
    }

    ExactMoments result() const {
        const Vector mean = sum_ / weight_;
        return {mean, (squares_ / weight_ - mean.cwiseAbs2()).cwiseSqrt()};
    }

  private:
    Vector sum_;
    Vector squares_;
    double weight_ = 0.0;
    double largest_ = -1e300;
};

/// y_ij ~ N(mu + b_i, 1/tau), b_i ~ N(0, 1/tau_b), as many rows in each group. Variables: mu, tau, tau_b, then b.
class OneWay {
  public:
    static constexpr double kPriorPrecision = 0.01;  // of mu
    static constexpr double kShape = 2.0;            // of both precisions, at rate 1

    OneWay(Index groups, Index rows, std::uint64_t seed) : rows_(static_cast<double>(rows)), means_(groups) {
        Random random(seed);
        ModelBuilder builder;
        const auto mu = builder.add("mu", normal(0.0, kPriorPrecision));
        const auto tau = builder.add("tau", gamma(kShape, 1.0));
        const auto tau_b = builder.add("tau_b", gamma(kShape, 1.0));
        for (Index g = 0; g < groups; ++g) {
            const auto b = builder.add(fmt::format("b[{}]", g + 1), normal(0.0, tau_b));
            const double effect = 1.0 + 0.7 * random.normal();
            Vector y(rows);
            for (Index i = 0; i < rows; ++i) {
                y[i] = effect + random.normal();
                builder.observe(y[i], normal(mu + b, tau));
            }
            means_[g] = y.mean();
            within_ += (y.array() - y.mean()).square().sum();
        }
        model_ = builder.build();
    }

    const MultilinearModel& model() const { return *model_; }

    /// By quadrature over the two log precisions, six sds to either side: with v = 1/tau_b + 1/(n tau) the means of the
    /// groups are N(mu, v).
    ExactMoments exact() const {
        const double groups = static_cast<double>(means_.size());
        const double grand = means_.mean();
        const double between = (means_.array() - grand).square().sum();
        const double tau_at = groups * (rows_ - 1.0) / within_;
        const double tau_b_at = 1.0 / (between / groups - 1.0 / (rows_ * tau_at));
        const double tau_sd = std::sqrt(2.0 / (groups * (rows_ - 1.0)));
        const double tau_b_sd = std::sqrt(2.0 / groups) * (1.0 + tau_b_at / (rows_ * tau_at));
        constexpr int kPoints = 60;
        const Index size = means_.size();
        WeightedMoments moments(3 + size);
        Vector mean(3 + size);
        Vector variance(3 + size);
        for (int i = -kPoints; i <= kPoints; ++i) {
            for (int j = -kPoints; j <= kPoints; ++j) {
                const double log_tau = std::log(tau_at) + 6.0 * tau_sd * i / kPoints;
                const double log_tau_b = std::log(tau_b_at) + 6.0 * tau_b_sd * j / kPoints;
                const double tau = std::exp(log_tau);
                const double tau_b = std::exp(log_tau_b);
                const double v = 1.0 / tau_b + 1.0 / (rows_ * tau);
                const double grand_variance = v / groups + 1.0 / kPriorPrecision;
                const double log_density = kShape * (log_tau + log_tau_b) - tau - tau_b +
                                           0.5 * groups * (rows_ - 1.0) * log_tau - 0.5 * tau * within_ -
                                           0.5 * (groups - 1.0) * std::log(v) - 0.5 * between / v -
                                           0.5 * std::log(grand_variance) - 0.5 * grand * grand / grand_variance;
                const double mu_precision = groups / v + kPriorPrecision;
                const double mu = groups * grand / v / mu_precision;
                // b = share (ȳ − mu) and noise.
                const double share = rows_ * tau / (rows_ * tau + tau_b);
                mean << mu, log_tau, log_tau_b, share * (means_.array() - mu).matrix();
                variance << 1.0 / mu_precision, 0.0, 0.0,
                    Vector::Constant(size, 1.0 / (rows_ * tau + tau_b) + share * share / mu_precision);
                moments.add(log_density, mean, variance);
            }
        }
        return moments.result();
    }

  private:
    double rows_;
    Vector means_;
    double within_ = 0.0;
    std::optional<MultilinearModel> model_;
};

/// y_ij ~ N(a_i + b_j, 1/tau), a_i ~ N(mu, 1/tau_a), b_j ~ N(0, 1/tau_b), one row a cell. Variables: tau, tau_a, tau_b,
/// then mu, a and b.
class Crossed {
  public:
    static constexpr double kPriorPrecision = 0.01;
    static constexpr double kShape = 2.0;

    Crossed(Index size, std::uint64_t seed) : size_(size), table_(size, size) {
        Random random(seed);
        ModelBuilder builder;
        const auto tau = builder.add("tau", gamma(kShape, 1.0));
        const auto tau_a = builder.add("tau_a", gamma(kShape, 1.0));
        const auto tau_b = builder.add("tau_b", gamma(kShape, 1.0));
        const auto mu = builder.add("mu", normal(0.0, kPriorPrecision));
        const Vector rows = 0.8 * standard_normals(size, random);
        const Vector columns = 0.6 * standard_normals(size, random);
        std::vector<Variable<family::Normal>> a;
        std::vector<Variable<family::Normal>> b;
        for (Index i = 0; i < size; ++i) a.push_back(builder.add(fmt::format("a[{}]", i + 1), normal(mu, tau_a)));
        for (Index j = 0; j < size; ++j) b.push_back(builder.add(fmt::format("b[{}]", j + 1), normal(0.0, tau_b)));
        for (Index i = 0; i < size; ++i) {
            for (Index j = 0; j < size; ++j) {
                table_(i, j) = 2.0 + rows[i] + columns[j] + random.normal();
                const auto cell = a[static_cast<std::size_t>(i)] + b[static_cast<std::size_t>(j)];
                builder.observe(table_(i, j), normal(cell, tau));
            }
        }
        model_ = builder.build();
    }

    const MultilinearModel& model() const { return *model_; }

    /// By quadrature over the three log precisions on a grid about these means, six of these sds to either side, with a
    /// normal in all other variables at each of its points.
    ExactMoments exact(const Vector& at, const Vector& sd) const {
        constexpr int kPoints = 10;
        constexpr int kSide = 2 * kPoints + 1;
        const double size = static_cast<double>(size_);
        const Index normals = 1 + 2 * size_;
        WeightedMoments moments(3 + normals);
        Vector log_precisions(3);
        Vector mean(3 + normals);
        Vector variance = Vector::Zero(3 + normals);
        for (int k = 0; k < kSide * kSide * kSide; ++k) {
            const Eigen::Vector3i steps(k % kSide - kPoints, k / kSide % kSide - kPoints, k / kSide / kSide - kPoints);
            log_precisions = at + (6.0 / kPoints) * sd.cwiseProduct(steps.cast<double>());
            const Vector precisions = log_precisions.array().exp();
            const double tau = precisions[0];
            Matrix precision = Matrix::Zero(normals, normals);
            precision(0, 0) = kPriorPrecision + size * precisions[1];
            for (Index i = 1; i <= size_; ++i) {
                precision(i, i) = size * tau + precisions[1];
                precision(i, 0) = precision(0, i) = -precisions[1];
                precision(size_ + i, size_ + i) = size * tau + precisions[2];
                for (Index j = 1; j <= size_; ++j) precision(i, size_ + j) = precision(size_ + j, i) = tau;
            }
            Vector slope(normals);
            slope << 0.0, tau * table_.rowwise().sum(), tau * table_.colwise().sum().transpose();
            const detail::PositiveDefinite cholesky(precision);
            const Matrix covariance = cholesky.inverse();
            mean << log_precisions, covariance * slope;
            variance.tail(normals) = covariance.diagonal();
            const double log_density = kShape * log_precisions.sum() - precisions.sum() +
                                       0.5 * size * (size * log_precisions[0] + log_precisions[1] + log_precisions[2]) -
                                       0.5 * tau * table_.squaredNorm() - 0.5 * cholesky.log_determinant() +
                                       0.5 * slope.dot(mean.tail(normals));
            moments.add(log_density, mean, variance);
        }
        return moments.result();
    }

  private:
    Index size_;
    Matrix table_;
    std::optional<MultilinearModel> model_;
};

}  // namespace lrvb::test
