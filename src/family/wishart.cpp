#include "base/validate.hpp"
#include "family/special.hpp"

#include <lrvb/family/symmetric.hpp>
#include <lrvb/family/wishart.hpp>

#include <Eigen/Cholesky>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace lrvb::family {

namespace {

struct Unpacked {
    double smallest_shape;  // (ν − P + 1)/2, the shape of the last Bartlett diagonal: positive exactly in the domain
    Matrix scale;           // W
    double log_det_scale;
};

Matrix inverse_scale_of(const VectorView& natural, Index dimension) {
    return -2.0 * symmetric_from_trace_coefficients(natural.head(half_size(dimension)), dimension);
}

Unpacked unpack(const VectorView& natural, Index dimension) {
    const Eigen::LLT<Matrix> cholesky(inverse_scale_of(natural, dimension));
    const Matrix inverse = cholesky.solve(Matrix::Identity(dimension, dimension));
    const double log_det = -2.0 * cholesky.matrixLLT().diagonal().array().log().sum();
    return {natural[natural.size() - 1] + 1.0, 0.5 * (inverse + inverse.transpose()), log_det};
}

double degrees_of_freedom(double smallest_shape, Index dimension) {
    return 2.0 * smallest_shape + static_cast<double>(dimension - 1);
}

// (ν − i + 1)/2 for i = 1 … P: the shapes of the squared diagonal of the Bartlett factor.
Vector bartlett_shapes(double smallest_shape, Index dimension) {
    Vector shapes(dimension);
    for (Index i = 0; i < dimension; ++i) shapes[i] = smallest_shape + 0.5 * static_cast<double>(dimension - 1 - i);
    return shapes;
}

// log det E X − E log det X = Σ_i [log(ν/2) − ψ((ν − i + 1)/2)], free of W. Of the order of 1/ν, so nothing may cancel:
// ν/2 over shape_i is one plus ½(i − 1)/shape_i.
double log_det_gap(const Vector& shapes) {
    double gap = 0.0;
    for (Index i = 0; i < shapes.size(); ++i) {
        gap += std::log1p(0.5 * static_cast<double>(i) / shapes[i]) + detail::log_minus_digamma(shapes[i]);
    }
    return gap;
}

template <class Function>
double sum_over(const Vector& values, Function function) {
    double sum = 0.0;
    for (const double value : values) sum += function(value);
    return sum;
}

}  // namespace

Wishart::Wishart(Index dimension) : dimension_(dimension) {
    detail::require_at_least(name, "dimension", dimension, 1);
}

Index Wishart::size() const {
    return half_size(dimension_) + 1;
}

std::vector<std::string> Wishart::statistic_names(const std::string& variable) const {
    std::vector<std::string> names;
    for (Index i = 0; i < dimension_; ++i) {
        for (Index j = i; j < dimension_; ++j) names.push_back(detail::indexed(variable, {i, j}));
    }
    names.push_back("log_det_" + variable);
    return names;
}

std::vector<std::string> Wishart::standard_names() const {
    std::vector<std::string> names{"degrees_of_freedom"};
    for (Index i = 0; i < dimension_; ++i) {
        for (Index j = i; j < dimension_; ++j) names.push_back(detail::indexed("scale", {i, j}));
    }
    return names;
}

std::string Wishart::domain_error(const VectorView& natural) const {
    if (!natural.allFinite()) return "a natural parameter is not finite";
    const double smallest_shape = natural[size() - 1] + 1.0;
    if (!(smallest_shape > 0.0)) {
        return fmt::format("degrees of freedom {} are not above {}", degrees_of_freedom(smallest_shape, dimension_),
                           dimension_ - 1);
    }
    const Eigen::LLT<Matrix> cholesky(inverse_scale_of(natural, dimension_));
    return cholesky.info() == Eigen::Success ? std::string{} : "the inverse scale matrix is not positive definite";
}

Vector Wishart::mean(const VectorView& natural) const {
    const auto [smallest_shape, scale, log_det_scale] = unpack(natural, dimension_);
    const Matrix expected = degrees_of_freedom(smallest_shape, dimension_) * scale;
    const double log_det = 2.0 * expected.llt().matrixLLT().diagonal().array().log().sum();
    Vector result(size());
    result << half_vector(expected), log_det - log_det_gap(bartlett_shapes(smallest_shape, dimension_));
    return result;
}

// log det E X − E log det X is one decreasing function of ν: Newton in the log of the smallest shape.
Vector Wishart::natural_from_mean(const VectorView& mean) const {
    detail::require_size(name, "mean parameter", mean.size(), size());
    detail::require_finite(name, "mean parameter", mean);
    const Matrix expected = symmetric_from_half(mean.head(size() - 1), dimension_);
    const Eigen::LLT<Matrix> cholesky(expected);
    if (cholesky.info() != Eigen::Success) {
        throw std::invalid_argument(fmt::format("{}: the mean matrix is not positive definite", name));
    }
    const double log_det = 2.0 * cholesky.matrixLLT().diagonal().array().log().sum();
    const double gap = log_det - mean[size() - 1];
    detail::require_positive(name, "log det of the mean less mean of the log det", gap);

    const double dimension = static_cast<double>(dimension_);
    double smallest_shape = 0.25 * dimension * (dimension + 1.0) / gap;
    for (int iteration = 0; iteration < 100; ++iteration) {
        const double half_dof = 0.5 * degrees_of_freedom(smallest_shape, dimension_);
        const Vector shapes = bartlett_shapes(smallest_shape, dimension_);
        const double value = log_det_gap(shapes);
        double slope = 0.0;  // of the value in log(smallest_shape)
        for (const double shape : shapes) {
            slope -=
                smallest_shape * (detail::trigamma_excess(shape) / shape + (half_dof - shape) / (half_dof * shape));
        }
        const double step = std::log(gap / value) * value / slope;
        smallest_shape *= std::exp(std::clamp(step, -2.0, 2.0));
        if (std::abs(step) <= 1e-15) break;
    }
    const double dof = degrees_of_freedom(smallest_shape, dimension_);
    const Matrix inverse_scale = dof * cholesky.solve(Matrix::Identity(dimension_, dimension_));
    Vector natural(size());
    natural << -0.5 * trace_coefficients(inverse_scale), smallest_shape - 1.0;
    return natural;
}

Vector Wishart::natural_from_standard(const VectorView& standard) const {
    detail::require_size(name, "standard parameter", standard.size(), size());
    detail::require_finite(name, "standard parameter", standard);
    const double smallest_shape = 0.5 * (standard[0] - static_cast<double>(dimension_ - 1));
    if (!(smallest_shape > 0.0)) {
        throw std::invalid_argument(fmt::format("{}: degrees of freedom are {}, but must be above {} for dimension {}",
                                                name, standard[0], dimension_ - 1, dimension_));
    }
    const Matrix scale = symmetric_from_half(standard.tail(size() - 1), dimension_);
    const Eigen::LLT<Matrix> cholesky(scale);
    if (cholesky.info() != Eigen::Success) {
        throw std::invalid_argument(fmt::format("{}: the scale matrix is not positive definite", name));
    }
    const Matrix inverse_scale = cholesky.solve(Matrix::Identity(dimension_, dimension_));
    Vector natural(size());
    natural << -0.5 * trace_coefficients(inverse_scale), smallest_shape - 1.0;
    return natural;
}

Vector Wishart::standard(const VectorView& natural) const {
    const auto [smallest_shape, scale, log_det_scale] = unpack(natural, dimension_);
    Vector result(size());
    result << degrees_of_freedom(smallest_shape, dimension_), half_vector(scale);
    return result;
}

double Wishart::log_partition(const VectorView& natural) const {
    const auto [smallest_shape, scale, log_det_scale] = unpack(natural, dimension_);
    const double dimension = static_cast<double>(dimension_);
    const double half_dof = 0.5 * degrees_of_freedom(smallest_shape, dimension_);
    const double log_gammas =
        sum_over(bartlett_shapes(smallest_shape, dimension_), [](double shape) { return detail::log_gamma(shape); });
    return half_dof * (log_det_scale + dimension * std::numbers::ln2) +
           0.25 * dimension * (dimension - 1.0) * std::log(std::numbers::pi) + log_gammas;
}

// By the Bartlett decomposition M = BBᵀ: b_i = B_ii² ~ Gamma((ν − i + 1)/2, rate ½), B_ij ~ Normal(0, 1) below the
// diagonal, all independent, and the map from them to M has Jacobian Π b_i^((P − i)/2). Then X = CMCᵀ has Jacobian
// det(W)^((P + 1)/2).
double Wishart::entropy(const VectorView& natural) const {
    const auto [smallest_shape, scale, log_det_scale] = unpack(natural, dimension_);
    const double dimension = static_cast<double>(dimension_);
    const Vector shapes = bartlett_shapes(smallest_shape, dimension_);
    double sum = 0.25 * dimension * (dimension - 1.0) * std::log(2.0 * std::numbers::pi * std::numbers::e) +
                 0.5 * (dimension + 1.0) * log_det_scale;
    for (Index i = 0; i < dimension_; ++i) {
        const double power = 0.5 * static_cast<double>(dimension_ - 1 - i);
        sum += detail::gamma_entropy(shapes[i]) + std::numbers::ln2;
        sum += power * (detail::digamma(shapes[i]) + std::numbers::ln2);
    }
    return sum;
}

Matrix Wishart::covariance(const VectorView& natural) const {
    const auto [smallest_shape, scale, log_det_scale] = unpack(natural, dimension_);
    const double dof = degrees_of_freedom(smallest_shape, dimension_);
    const Index last = size() - 1;
    Matrix covariance(size(), size());
    for (Index i = 0; i < dimension_; ++i) {
        for (Index j = i; j < dimension_; ++j) {
            const Index row = half_index(i, j, dimension_);
            for (Index k = 0; k < dimension_; ++k) {
                for (Index l = k; l < dimension_; ++l) {
                    covariance(row, half_index(k, l, dimension_)) =
                        dof * (scale(i, k) * scale(j, l) + scale(i, l) * scale(j, k));
                }
            }
            covariance(row, last) = covariance(last, row) = 2.0 * scale(i, j);
        }
    }
    covariance(last, last) = sum_over(bartlett_shapes(smallest_shape, dimension_), detail::trigamma);
    return covariance;
}

Matrix Wishart::covariance_factor(const VectorView& natural) const {
    const auto [smallest_shape, scale, log_det_scale] = unpack(natural, dimension_);
    const double dof = degrees_of_freedom(smallest_shape, dimension_);
    const Matrix root = scale.llt().matrixL();
    const Index last = size() - 1;
    const double diagonal_sd = std::sqrt(2.0 * dof);
    const double off_diagonal_sd = std::sqrt(dof);

    Matrix factor = Matrix::Zero(size(), size());
    for (Index i = 0; i < dimension_; ++i) {
        for (Index j = i; j < dimension_; ++j) {
            const Index row = half_index(i, j, dimension_);
            for (Index a = 0; a <= i; ++a) {
                for (Index b = a; b <= j; ++b) {
                    const double direct = root(i, a) * root(j, b);
                    factor(row, half_index(a, b, dimension_)) =
                        a == b ? diagonal_sd * direct : off_diagonal_sd * (direct + root(i, b) * root(j, a));
                }
            }
        }
        factor(last, half_index(i, i, dimension_)) = 2.0 / diagonal_sd;
    }
    // Var log det M − Σ_i Cov(M_ii, log det M)²/Var M_ii = Σ_i [ψ'(shape_i) − 2/ν], term by term without cancellation.
    const Vector shapes = bartlett_shapes(smallest_shape, dimension_);
    double residual = 0.0;
    for (Index i = 0; i < dimension_; ++i) {
        residual += (detail::trigamma_excess(shapes[i]) + static_cast<double>(i) / dof) / shapes[i];
    }
    factor(last, last) = std::sqrt(residual);
    return factor;
}

Vector Wishart::sample(const VectorView& natural, Random& random) const {
    const auto [smallest_shape, scale, log_det_scale] = unpack(natural, dimension_);
    const Vector shapes = bartlett_shapes(smallest_shape, dimension_);
    Matrix bartlett = Matrix::Zero(dimension_, dimension_);
    double log_det = log_det_scale;
    for (Index i = 0; i < dimension_; ++i) {
        const double log_square = random.log_gamma(shapes[i]) + std::numbers::ln2;
        log_det += log_square;
        bartlett(i, i) = std::exp(0.5 * log_square);
        for (Index j = 0; j < i; ++j) bartlett(i, j) = random.normal();
    }
    const Matrix root = scale.llt().matrixL();
    const Matrix half = root * bartlett;
    Vector result(size());
    result << half_vector(half * half.transpose()), log_det;
    return result;
}

Vector Wishart::statistic(const VectorView& value) const {
    detail::require_size(name, "value (a half-vector)", value.size(), size() - 1);
    detail::require_finite(name, "value", value);
    const Eigen::LLT<Matrix> cholesky(symmetric_from_half(value, dimension_));
    if (cholesky.info() != Eigen::Success) {
        throw std::invalid_argument(fmt::format("{}: value is not a positive definite matrix", name));
    }
    Vector result(size());
    result << value, 2.0 * cholesky.matrixLLT().diagonal().array().log().sum();
    return result;
}

StatisticProduct Wishart::product(Index, Index) const {
    return StatisticProduct::none();
}

Vector Wishart::reference_natural() const {
    Vector standard(size());
    const double dof = static_cast<double>(dimension_) + 1.0;
    standard << dof, half_vector(Matrix::Identity(dimension_, dimension_) / dof);
    return natural_from_standard(standard);
}

}  // namespace lrvb::family
