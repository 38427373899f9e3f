#include "sample/expected_chart.hpp"

#include "family/special.hpp"
#include "linalg/positive_definite.hpp"
#include "sample/interval.hpp"

#include <lrvb/family/symmetric.hpp>

#include <cmath>

namespace lrvb::detail {

namespace {

struct Expect {
    const VectorView& natural;
    Matrix& jacobian;   // zero before
    Matrix& precision;  // likewise

    void operator()(const family::Normal& normal) const {
        const Vector standard = normal.standard(natural);
        jacobian << 1.0, 2.0 * standard[0];
        precision(0, 0) = 1.0 / standard[1];
    }
    void operator()(const family::MvNormal& normal) const {
        const Index dimension = normal.dimension();
        const Vector mean = normal.standard(natural).head(dimension);
        jacobian.topRows(dimension).setIdentity();
        Index at = dimension;
        for (Index i = 0; i < dimension; ++i) {
            for (Index j = i; j < dimension; ++j, ++at) {
                jacobian(at, i) += mean[j];
                jacobian(at, j) += mean[i];
            }
        }
        precision = -2.0 * symmetric_from_trace_coefficients(natural.tail(natural.size() - dimension), dimension);
    }
    // The score is shape − rate τ.
    void operator()(const family::Gamma& gamma) const {
        const Vector standard = gamma.standard(natural);
        jacobian << standard[0] / standard[1], 1.0;
        precision(0, 0) = standard[0];
    }
    // With W = LLᵀ, C = LB, Bartlett's B of independent entries: squares of the diagonal are χ² with ν, ν − 1, …
    // degrees of freedom, the others are standard normal. −½ tr(W⁻¹CCᵀ) has second derivatives −(W⁻¹)_ac δ_bd in C_ab
    // and C_cd.
    void operator()(const family::Wishart& wishart) const {
        const Index dimension = wishart.dimension();
        const Vector standard = wishart.standard(natural);
        const Matrix scale = symmetric_from_half(standard.tail(standard.size() - 1), dimension);
        const Matrix inverse = -2.0 * symmetric_from_trace_coefficients(natural.head(natural.size() - 1), dimension);
        const Matrix lower = PositiveDefinite(scale).factor();
        const auto at = [](Index a, Index b) { return a * (a + 1) / 2 + b; };
        for (Index b = 0; b < dimension; ++b) {
            const double degrees = standard[0] - static_cast<double>(b);
            const double root = std::sqrt(2.0) * std::exp(log_gamma_rise(0.5 * degrees, 0.5));  // E B_bb
            for (Index a = b; a < dimension; ++a) {
                const Index coordinate = at(a, b);
                // E C_qb, or E C_bb C_qb for a coordinate that is a logarithm.
                const Vector column = (a > b ? root : lower(b, b) * degrees) * lower.col(b);
                for (Index q = 0; q < dimension; ++q) jacobian(half_index(a, q, dimension), coordinate) += column[q];
                jacobian(half_index(a, a, dimension), coordinate) += column[a];
                for (Index c = b + 1; c < dimension; ++c) {
                    const double slope = a > b ? 1.0 : lower(b, b) * root;
                    precision(coordinate, at(c, b)) = precision(at(c, b), coordinate) = slope * inverse(a, c);
                }
            }
            jacobian(jacobian.rows() - 1, at(b, b)) = 2.0;
            precision(at(b, b), at(b, b)) = degrees * (1.0 + inverse(b, b) * lower(b, b) * lower(b, b));
        }
    }
    // The score is α − α_0 π.
    void operator()(const family::Dirichlet& dirichlet) const {
        const Vector alpha = dirichlet.standard(natural);
        const Index last = dirichlet.size() - 1;
        const double sum = alpha.sum();
        jacobian.topRows(last).setIdentity();
        jacobian.rowwise() -= alpha.head(last).transpose() / sum;
        precision = -alpha.head(last) * alpha.head(last).transpose();
        precision.diagonal() += sum * alpha.head(last);
        precision /= sum + 1.0;
    }
    void operator()(const family::Beta& beta) const {
        const Vector standard = beta.standard(natural);
        const double sum = standard.sum();
        jacobian << standard[1] / sum, -standard[0] / sum;
        precision(0, 0) = standard[0] * standard[1] / (sum + 1.0);
    }
    void operator()(const family::Bernoulli&) const {}
    void operator()(const family::Categorical&) const {}
    // The curvature of the bound itself, V⁻¹ − ∇²L.
    void operator()(const family::Point& point) const {
        jacobian(0, 0) = 1.0;
        precision(0, 0) = 1.0 / (point.unit() * point.unit());
    }
    // E of the slopes, and of the square of the score, over the nodes of q. With v the coordinate, y the number that it
    // stands for: the score is dy/dv ∂ log q/∂y + ∂ log(dy/dv)/∂v.
    void operator()(const family::Scale& scale) const {
        const auto [logs, weights] = scale.nodes(natural);
        const Interval interval = interval_of_log(scale);
        for (Index i = 0; i < logs.size(); ++i) {
            const IntervalPoint point = interval.at(interval.coordinate(logs[i]));
            const double slope = std::exp(point.log_slope);
            const double value = std::exp(logs[i]);
            const double score =
                slope * (natural[0] * value + natural[1] + scale.log_base_of_log(logs[i]).second) + point.bend;
            jacobian(0, 0) += weights[i] * value * slope;
            jacobian(1, 0) += weights[i] * slope;
            precision(0, 0) += weights[i] * score * score;
        }
    }
    void operator()(const family::TruncatedNormal& normal) const {
        const auto [values, weights] = normal.nodes(natural);
        const Interval interval = interval_of(normal);
        for (Index i = 0; i < values.size(); ++i) {
            const IntervalPoint point = interval.at(interval.coordinate(values[i]));
            const double slope = std::exp(point.log_slope);
            const double score = slope * (natural[0] + 2.0 * natural[1] * values[i]) + point.bend;
            jacobian(0, 0) += weights[i] * slope;
            jacobian(1, 0) += weights[i] * slope * 2.0 * values[i];
            precision(0, 0) += weights[i] * score * score;
        }
    }
};

}  // namespace

ExpectedChart expected_chart(const AnyFamily& family, const VectorView& natural, Index coordinates) {
    ExpectedChart result{Matrix::Zero(natural.size(), coordinates), Matrix::Zero(coordinates, coordinates)};
    std::visit(Expect{natural, result.jacobian, result.precision}, family);
    return result;
}

}  // namespace lrvb::detail
