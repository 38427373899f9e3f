#include "base/validate.hpp"
#include "linalg/positive_definite.hpp"
#include "sample/expected_chart.hpp"
#include "sample/interval.hpp"

#include <lrvb/family/symmetric.hpp>
#include <lrvb/sample/unbounded.hpp>

#include <cmath>
#include <numbers>

namespace lrvb {

namespace {

using Stacked = Eigen::Ref<Vector>;

// Coordinates of a family; 0 where it is discrete.
struct SizeOf {
    Index operator()(const family::Normal&) const { return 1; }
    Index operator()(const family::MvNormal& normal) const { return normal.dimension(); }
    Index operator()(const family::Gamma&) const { return 1; }
    Index operator()(const family::Wishart& wishart) const { return half_size(wishart.dimension()); }
    Index operator()(const family::Dirichlet& dirichlet) const { return dirichlet.size() - 1; }
    Index operator()(const family::Beta&) const { return 1; }
    Index operator()(const family::Bernoulli&) const { return 0; }
    Index operator()(const family::Categorical&) const { return 0; }
    Index operator()(const family::Point&) const { return 1; }
    Index operator()(const family::Scale&) const { return 1; }
    Index operator()(const family::TruncatedNormal&) const { return 1; }
};

// log(1/(1 + exp(−u))).
double log_logistic(double u) {
    return u > 0.0 ? -std::log1p(std::exp(-u)) : u - std::log1p(std::exp(u));
}

// The lower triangle of a Wishart's coordinates.
Matrix lower_factor(const VectorView& u, Index dimension) {
    Matrix factor = Matrix::Zero(dimension, dimension);
    Index at = 0;
    for (Index i = 0; i < dimension; ++i) {
        for (Index j = 0; j < i; ++j) factor(i, j) = u[at++];
        factor(i, i) = std::exp(u[at++]);
    }
    return factor;
}

// From coordinates to statistics; returns the log Jacobian.
struct ToStatistics {
    const Eigen::Map<const Vector>& u;
    Eigen::Map<Vector>& t;

    double operator()(const family::Normal&) const {
        t[0] = u[0];
        t[1] = u[0] * u[0];
        return 0.0;
    }
    double operator()(const family::MvNormal&) const {
        const Index dimension = u.size();
        t.head(dimension) = u;
        Index at = dimension;
        for (Index i = 0; i < dimension; ++i) {
            for (Index j = i; j < dimension; ++j) t[at++] = u[i] * u[j];
        }
        return 0.0;
    }
    double operator()(const family::Gamma&) const {
        t[0] = std::exp(u[0]);
        t[1] = u[0];
        return u[0];
    }
    double operator()(const family::Wishart& wishart) const {
        const Index dimension = wishart.dimension();
        const Matrix factor = lower_factor(u, dimension);
        double log_jacobian = static_cast<double>(dimension) * std::numbers::ln2;
        double log_det = 0.0;
        Index at = -1;  // of the diagonal
        for (Index i = 0; i < dimension; ++i) {
            at += i + 1;
            log_jacobian += static_cast<double>(dimension - i + 1) * u[at];
            log_det += 2.0 * u[at];
        }
        t.head(t.size() - 1) = half_vector(factor * factor.transpose());
        t[t.size() - 1] = log_det;
        return log_jacobian;
    }
    double operator()(const family::Dirichlet& dirichlet) const {
        const Index last = dirichlet.size() - 1;
        t.head(last) = u;
        t[last] = 0.0;
        const double largest = t.maxCoeff();
        t.array() -= largest + std::log((t.array() - largest).exp().sum());
        return t.sum();
    }
    double operator()(const family::Beta&) const {
        t[0] = log_logistic(u[0]);
        t[1] = log_logistic(-u[0]);
        return t[0] + t[1];
    }
    double operator()(const family::Bernoulli&) const { return 0.0; }
    double operator()(const family::Categorical&) const { return 0.0; }
    double operator()(const family::Point&) const {
        t[0] = u[0];
        return 0.0;
    }
    // With the base measure: h(x) dx = h(x) x d log x.
    double operator()(const family::Scale& scale) const {
        const detail::IntervalPoint point = detail::interval_of_log(scale).at(u[0]);
        t[0] = std::exp(point.value);
        t[1] = point.value;
        return scale.log_base_of_log(point.value).first + point.log_slope;
    }
    double operator()(const family::TruncatedNormal& normal) const {
        const detail::IntervalPoint point = detail::interval_of(normal).at(u[0]);
        t[0] = point.value;
        t[1] = point.value * point.value;
        return point.log_slope;
    }
};

// From derivatives in statistics to those in coordinates, with the log Jacobian's.
struct PullBack {
    const VectorView& u;
    const VectorView& gradient;
    Stacked& result;

    void operator()(const family::Normal&) const { result[0] = gradient[0] + 2.0 * u[0] * gradient[1]; }
    void operator()(const family::MvNormal&) const {
        const Index dimension = u.size();
        result = gradient.head(dimension);
        Index at = dimension;
        for (Index i = 0; i < dimension; ++i) {
            for (Index j = i; j < dimension; ++j, ++at) {
                result[i] += gradient[at] * u[j];
                result[j] += gradient[at] * u[i];
            }
        }
    }
    void operator()(const family::Gamma&) const { result[0] = std::exp(u[0]) * gradient[0] + gradient[1] + 1.0; }
    void operator()(const family::Wishart& wishart) const {
        // d tr(GΛ) = 2 tr((GC)ᵀ dC).
        const Index dimension = wishart.dimension();
        const Matrix factor = lower_factor(u, dimension);
        const Index last = gradient.size() - 1;
        const Matrix slope = 2.0 * symmetric_from_trace_coefficients(gradient.head(last), dimension) * factor;
        Index at = 0;
        for (Index i = 0; i < dimension; ++i) {
            for (Index j = 0; j < i; ++j) result[at++] = slope(i, j);
            result[at++] = slope(i, i) * factor(i, i) + 2.0 * gradient[last] + static_cast<double>(dimension - i + 1);
        }
    }
    void operator()(const family::Dirichlet& dirichlet) const {
        const Index last = dirichlet.size() - 1;
        Vector weights = Vector::Zero(last + 1);
        weights.head(last) = u;
        weights = (weights.array() - weights.maxCoeff()).exp();
        weights /= weights.sum();
        const double sum = gradient.sum() + static_cast<double>(last + 1);
        result = gradient.head(last) + Vector::Ones(last) - sum * weights.head(last);
    }
    void operator()(const family::Beta&) const {
        const double p = std::exp(log_logistic(u[0]));
        const double q = std::exp(log_logistic(-u[0]));
        result[0] = q * (gradient[0] + 1.0) - p * (gradient[1] + 1.0);
    }
    void operator()(const family::Bernoulli&) const {}
    void operator()(const family::Categorical&) const {}
    void operator()(const family::Point&) const { result[0] = gradient[0]; }
    void operator()(const family::Scale& scale) const {
        const detail::IntervalPoint point = detail::interval_of_log(scale).at(u[0]);
        const double by_log =
            std::exp(point.value) * gradient[0] + gradient[1] + scale.log_base_of_log(point.value).second;
        result[0] = by_log * std::exp(point.log_slope) + point.bend;
    }
    void operator()(const family::TruncatedNormal& normal) const {
        const detail::IntervalPoint point = detail::interval_of(normal).at(u[0]);
        result[0] = (gradient[0] + 2.0 * point.value * gradient[1]) * std::exp(point.log_slope) + point.bend;
    }
};

// Coordinates at the means of the statistics, and their derivatives in these.
struct FromMeans {
    VectorView mean;
    Vector& centre;
    Matrix& jacobian;  // coordinates × statistics

    void operator()(const family::Normal&) const { first(); }
    void operator()(const family::MvNormal&) const { first(); }
    void operator()(const family::Gamma&) const {
        centre[0] = mean[1];
        jacobian(0, 1) = 1.0;
    }
    void operator()(const family::Wishart& wishart) const {
        const Index dimension = wishart.dimension();
        const Index last = mean.size() - 1;
        const Matrix expected = symmetric_from_half(mean.head(last), dimension);
        const Matrix factor = detail::PositiveDefinite(expected).factor();
        const double log_det = 2.0 * factor.diagonal().array().log().sum();
        const double log_scale = 0.5 * (mean[last] - log_det) / static_cast<double>(dimension);
        const auto read = [&](const Matrix& lower, const auto& diagonal, auto write) {
            Index at = 0;
            for (Index i = 0; i < dimension; ++i) {
                for (Index j = 0; j < i; ++j) write(at++, std::exp(log_scale) * lower(i, j));
                write(at++, diagonal(i));
            }
        };
        read(
            factor, [&](Index i) { return std::log(factor(i, i)) + log_scale; },
            [&](Index at, double value) { centre[at] = value; });
        // dC = CΦ(C⁻¹ dΛ C⁻ᵀ), Φ the lower triangle with half the diagonal.
        for (Index p = 0; p < dimension; ++p) {
            for (Index q = p; q < dimension; ++q) {
                Matrix change = Matrix::Zero(dimension, dimension);
                change(p, q) = change(q, p) = 1.0;
                factor.triangularView<Eigen::Lower>().solveInPlace(change);
                Matrix whitened = change.transpose();
                factor.triangularView<Eigen::Lower>().solveInPlace(whitened);
                Matrix half = whitened.triangularView<Eigen::Lower>();
                half.diagonal() *= 0.5;
                const Matrix moved = factor * half;
                const Index column = half_index(p, q, dimension);
                read(
                    moved, [&](Index i) { return moved(i, i) / factor(i, i); },
                    [&](Index at, double value) { jacobian(at, column) = value; });
            }
        }
    }
    void operator()(const family::Dirichlet& dirichlet) const {
        const Index last = dirichlet.size() - 1;
        for (Index k = 0; k < last; ++k) difference(k, k, last);
    }
    void operator()(const family::Beta&) const { difference(0, 0, 1); }
    void operator()(const family::Bernoulli&) const {}
    void operator()(const family::Categorical&) const {}
    void operator()(const family::Point&) const { first(); }
    void operator()(const family::Scale& scale) const { inside(detail::interval_of_log(scale), 1); }
    void operator()(const family::TruncatedNormal& normal) const { inside(detail::interval_of(normal), 0); }

  private:
    void inside(const detail::Interval& interval, Index statistic) const {
        centre[0] = interval.coordinate(mean[statistic]);
        jacobian(0, statistic) = std::exp(-interval.at(centre[0]).log_slope);
    }
    void first() const {
        centre = mean.head(centre.size());
        jacobian.leftCols(centre.size()).setIdentity();
    }
    void difference(Index at, Index left, Index right) const {
        centre[at] = mean[left] - mean[right];
        jacobian(at, left) = 1.0;
        jacobian(at, right) = -1.0;
    }
};

}  // namespace

UnboundedChart::UnboundedChart(const Layout& layout, const State& state) : layout_(layout), mean_(state.mean) {
    detail::require_size("UnboundedChart", "state", state.mean.size(), layout.size());
    detail::require_size("UnboundedChart", "clamped", static_cast<Index>(state.clamped.size()),
                         layout.variable_count());
    for (Index j = 0; j < layout.variable_count(); ++j) {
        if (state.clamped[static_cast<std::size_t>(j)]) continue;
        const Index size = std::visit(SizeOf{}, layout[j].family);
        if (size == 0) {
            discrete_.push_back(j);
            layout.segment(mean_, j).setZero();
            continue;
        }
        parts_.push_back({j, dimension_, size});
        dimension_ += size;
    }
    if (dimension_ == 0) {
        throw std::invalid_argument(fmt::format("every variable is {}: there is nothing to draw",
                                                discrete_.empty() ? "fixed" : "discrete or fixed"));
    }
}

std::vector<Index> UnboundedChart::coordinates_of(Index variable) const {
    std::vector<Index> result;
    for (const Part& part : parts_) {
        for (Index i = 0; i < part.size && part.variable == variable; ++i) result.push_back(part.offset + i);
    }
    return result;
}

double UnboundedChart::statistics(const VectorView& point, Eigen::Ref<Vector> stacked) const {
    detail::require_size("statistics", "point", point.size(), dimension_);
    detail::require_size("statistics", "stacked", stacked.size(), layout_.size());
    stacked = mean_;
    double log_jacobian = 0.0;
    for (const Part& part : parts_) {
        const VariableInfo& info = layout_[part.variable];
        const Eigen::Map<const Vector> own(point.data() + part.offset, part.size);
        Eigen::Map<Vector> segment(stacked.data() + info.offset, info.size);
        log_jacobian += std::visit(ToStatistics{own, segment}, info.family);
    }
    return log_jacobian;
}

Vector UnboundedChart::pulled_back(const VectorView& point, const VectorView& gradient) const {
    detail::require_size("pulled_back", "point", point.size(), dimension_);
    detail::require_size("pulled_back", "gradient", gradient.size(), layout_.size());
    Vector result(dimension_);
    for (const Part& part : parts_) {
        const VariableInfo& info = layout_[part.variable];
        const VectorView own = point.segment(part.offset, part.size);
        const VectorView slope = gradient.segment(info.offset, info.size);
        Eigen::Ref<Vector> segment = result.segment(part.offset, part.size);
        std::visit(PullBack{own, slope, segment}, info.family);
    }
    return result;
}

Vector UnboundedChart::point(const VectorView& stacked) const {
    detail::require_size("point", "stacked", stacked.size(), layout_.size());
    Vector result(dimension_);
    Vector centre;
    Matrix unused;
    for (const Part& part : parts_) {
        const VariableInfo& info = layout_[part.variable];
        centre.resize(part.size);
        unused.resize(part.size, info.size);
        std::visit(FromMeans{stacked.segment(info.offset, info.size), centre, unused}, info.family);
        result.segment(part.offset, part.size) = centre;
    }
    return result;
}

NormalApproximation UnboundedChart::approximation(const LinearResponse& response) const {
    NormalApproximation result{Vector(dimension_), {}};
    std::vector<Eigen::Triplet<double>> entries;
    for (const Part& part : parts_) {
        const VariableInfo& info = layout_[part.variable];
        Vector centre(part.size);
        Matrix jacobian = Matrix::Zero(part.size, info.size);
        std::visit(FromMeans{mean_.segment(info.offset, info.size), centre, jacobian}, info.family);
        result.mean.segment(part.offset, part.size) = centre;
        for (Index s = 0; s < info.size; ++s) {
            for (Index i = 0; i < part.size; ++i) {
                if (jacobian(i, s) == 0.0) continue;
                entries.emplace_back(static_cast<int>(info.offset + s), static_cast<int>(part.offset + i),
                                     jacobian(i, s));
            }
        }
    }
    SparseMatrix weights(layout_.size(), dimension_);
    weights.setFromTriplets(entries.begin(), entries.end());
    result.covariance = response.covariance(Functionals(weights));
    return result;
}

SparseMatrix UnboundedChart::expected_precision(const State& state, const SparseMatrix& hessian) const {
    detail::require_size("expected_precision", "state", state.natural.size(), layout_.size());
    detail::require_size("expected_precision", "hessian", hessian.rows(), layout_.size());
    std::vector<Eigen::Triplet<double>> own;
    std::vector<Eigen::Triplet<double>> slopes;
    const auto add = [](std::vector<Eigen::Triplet<double>>& entries, Index row, Index column, const Matrix& block) {
        for (Index j = 0; j < block.cols(); ++j) {
            for (Index i = 0; i < block.rows(); ++i) {
                entries.emplace_back(static_cast<int>(row + i), static_cast<int>(column + j), block(i, j));
            }
        }
    };
    for (const Part& part : parts_) {
        const VariableInfo& info = layout_[part.variable];
        const VectorView natural = state.natural.segment(info.offset, info.size);
        const detail::ExpectedChart expected = detail::expected_chart(info.family, natural, part.size);
        add(slopes, info.offset, part.offset, expected.jacobian);
        add(own, part.offset, part.offset, expected.precision);
    }
    SparseMatrix jacobian(layout_.size(), dimension_);
    jacobian.setFromTriplets(slopes.begin(), slopes.end());
    SparseMatrix precision(dimension_, dimension_);
    precision.setFromTriplets(own.begin(), own.end());
    const SparseMatrix both = hessian.selfadjointView<Eigen::Lower>();
    const SparseMatrix moved = both * jacobian;
    const SparseMatrix coupling = SparseMatrix(jacobian.transpose()) * moved;
    precision -= coupling;
    return precision.triangularView<Eigen::Lower>();
}

}  // namespace lrvb
