#include "base/validate.hpp"

#include <lrvb/family/mv_normal.hpp>
#include <lrvb/family/symmetric.hpp>

#include <Eigen/Cholesky>

#include <cmath>
#include <numbers>

namespace lrvb::family {

namespace {

struct Unpacked {
    Vector mean;
    Matrix covariance;
};

Matrix precision_of(const VectorView& natural, Index dimension) {
    const Index halves = half_size(dimension);
    return -2.0 * symmetric_from_trace_coefficients(natural.tail(halves), dimension);
}

Unpacked unpack(const VectorView& natural, Index dimension) {
    const Matrix precision = precision_of(natural, dimension);
    const Matrix inverse = precision.llt().solve(Matrix::Identity(dimension, dimension));
    const Matrix covariance = 0.5 * (inverse + inverse.transpose());
    return {covariance * natural.head(dimension), covariance};
}

double log_determinant(const Matrix& positive_definite) {
    return 2.0 * positive_definite.llt().matrixLLT().diagonal().array().log().sum();
}

}  // namespace

MvNormal::MvNormal(Index dimension) : dimension_(dimension) {
    detail::require_at_least(name, "dimension", dimension, 1);
}

Index MvNormal::size() const {
    return dimension_ + half_size(dimension_);
}

std::vector<std::string> MvNormal::statistic_names(const std::string& variable) const {
    std::vector<std::string> names;
    for (Index i = 0; i < dimension_; ++i) names.push_back(detail::indexed(variable, {i}));
    for (Index i = 0; i < dimension_; ++i) {
        for (Index j = i; j < dimension_; ++j) {
            const std::string left = names[static_cast<std::size_t>(i)];
            names.push_back(i == j ? left + "^2" : left + "*" + names[static_cast<std::size_t>(j)]);
        }
    }
    return names;
}

std::vector<std::string> MvNormal::standard_names() const {
    std::vector<std::string> names;
    for (Index i = 0; i < dimension_; ++i) names.push_back(detail::indexed("mean", {i}));
    for (Index i = 0; i < dimension_; ++i) {
        for (Index j = i; j < dimension_; ++j) names.push_back(detail::indexed("covariance", {i, j}));
    }
    return names;
}

std::string MvNormal::domain_error(const VectorView& natural) const {
    if (!natural.allFinite()) return "a natural parameter is not finite";
    const Eigen::LLT<Matrix> cholesky(precision_of(natural, dimension_));
    return cholesky.info() == Eigen::Success ? std::string{} : "the precision matrix is not positive definite";
}

Vector MvNormal::mean(const VectorView& natural) const {
    const auto [mean, covariance] = unpack(natural, dimension_);
    Vector result(size());
    result << mean, half_vector(covariance + mean * mean.transpose());
    return result;
}

Vector MvNormal::natural_from_mean(const VectorView& mean) const {
    detail::require_size(name, "mean parameter", mean.size(), size());
    const Vector first = mean.head(dimension_);
    const Matrix second = symmetric_from_half(mean.tail(half_size(dimension_)), dimension_);
    Vector standard(size());
    standard << first, half_vector(second - first * first.transpose());
    return natural_from_standard(standard);
}

Vector MvNormal::natural_from_standard(const VectorView& standard) const {
    detail::require_size(name, "standard parameter", standard.size(), size());
    detail::require_finite(name, "standard parameter", standard);
    const Matrix covariance = symmetric_from_half(standard.tail(half_size(dimension_)), dimension_);
    const Eigen::LLT<Matrix> cholesky(covariance);
    if (cholesky.info() != Eigen::Success) {
        throw std::invalid_argument(fmt::format("{}: the covariance matrix is not positive definite", name));
    }
    const Matrix inverse = cholesky.solve(Matrix::Identity(dimension_, dimension_));
    const Matrix precision = 0.5 * (inverse + inverse.transpose());
    Vector natural(size());
    natural << precision * standard.head(dimension_), -0.5 * trace_coefficients(precision);
    return natural;
}

Vector MvNormal::standard(const VectorView& natural) const {
    const auto [mean, covariance] = unpack(natural, dimension_);
    Vector result(size());
    result << mean, half_vector(covariance);
    return result;
}

double MvNormal::log_partition(const VectorView& natural) const {
    const Vector linear = natural.head(dimension_);
    const Matrix precision = precision_of(natural, dimension_);
    const double log_two_pi = std::log(2.0 * std::numbers::pi);
    return 0.5 * (linear.dot(precision.llt().solve(linear)) + static_cast<double>(dimension_) * log_two_pi -
                  log_determinant(precision));
}

double MvNormal::entropy(const VectorView& natural) const {
    const double log_two_pi = std::log(2.0 * std::numbers::pi);
    return 0.5 *
           (static_cast<double>(dimension_) * (1.0 + log_two_pi) - log_determinant(precision_of(natural, dimension_)));
}

Matrix MvNormal::covariance(const VectorView& natural) const {
    const Matrix factor = covariance_factor(natural);
    return factor * factor.transpose();
}

Matrix MvNormal::covariance_factor(const VectorView& natural) const {
    const auto [mean, covariance] = unpack(natural, dimension_);
    const Matrix root = covariance.llt().matrixL();
    Matrix factor = Matrix::Zero(size(), size());
    factor.topLeftCorner(dimension_, dimension_) = root;
    for (Index i = 0; i < dimension_; ++i) {
        for (Index j = i; j < dimension_; ++j) {
            const Index row = dimension_ + half_index(i, j, dimension_);
            factor.row(row).head(dimension_) = mean[i] * root.row(j) + mean[j] * root.row(i);
            for (Index a = 0; a <= i; ++a) {
                for (Index b = a; b <= j; ++b) {
                    const double direct = root(i, a) * root(j, b);
                    factor(row, dimension_ + half_index(a, b, dimension_)) =
                        a == b ? std::numbers::sqrt2 * direct : direct + root(i, b) * root(j, a);
                }
            }
        }
    }
    return factor;
}

Vector MvNormal::sample(const VectorView& natural, Random& random) const {
    const auto [mean, covariance] = unpack(natural, dimension_);
    const Matrix root = covariance.llt().matrixL();
    return statistic(mean + root * standard_normals(dimension_, random));
}

Vector MvNormal::statistic(const VectorView& value) const {
    detail::require_size(name, "value", value.size(), dimension_);
    detail::require_finite(name, "value", value);
    Vector result(size());
    result << value, half_vector(value * value.transpose());
    return result;
}

StatisticProduct MvNormal::product(Index i, Index j) const {
    if (i >= dimension_ || j >= dimension_) return StatisticProduct::none();
    return StatisticProduct::of(dimension_ + half_index(i, j, dimension_));
}

Vector MvNormal::reference_natural() const {
    Vector natural(size());
    natural << Vector::Zero(dimension_), -0.5 * trace_coefficients(Matrix::Identity(dimension_, dimension_));
    return natural;
}

}  // namespace lrvb::family
