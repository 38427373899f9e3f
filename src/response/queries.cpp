#include "response/queries.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace lrvb::detail {

namespace {

constexpr Index kTogether = 64;      // columns that are solved for at a time
constexpr Index kSelectedFrom = 32;  // columns that make a selected inverse worth its while
constexpr Index kSeveralVariables = -1;

// The one variable that a column weighs; any, where it weighs none.
Index only_variable(const Curvature& curvature, const SparseMatrix& weights, Index column) {
    Index variable = kSeveralVariables;
    for (SparseMatrix::InnerIterator entry(weights, column); entry; ++entry) {
        const Index own = curvature.variable_of(entry.row());
        if (variable != kSeveralVariables && variable != own) return kSeveralVariables;
        variable = own;
    }
    return std::max<Index>(variable, 0);
}

double quadratic(const Matrix& block, Index offset, const SparseMatrix& weights, Index column) {
    double sum = 0.0;
    for (SparseMatrix::InnerIterator a(weights, column); a; ++a) {
        for (SparseMatrix::InnerIterator b(weights, column); b; ++b) {
            sum += a.value() * block(a.row() - offset, b.row() - offset) * b.value();
        }
    }
    return sum;
}

// variances[c] = w_cᵀ Σ̂ w_c for these columns, by a solve each.
void solve_variances(const Curvature& curvature, const SparseMatrix& weights, const std::vector<Index>& columns,
                     Vector& variances) {
    const Index count = static_cast<Index>(columns.size());
    for (Index begin = 0; begin < count; begin += kTogether) {
        Matrix chunk = Matrix::Zero(weights.rows(), std::min(kTogether, count - begin));
        for (Index i = 0; i < chunk.cols(); ++i) {
            chunk.col(i) = Vector(weights.col(columns[static_cast<std::size_t>(begin + i)]));
        }
        const Matrix response = curvature.respond_to_all(chunk);
        for (Index i = 0; i < chunk.cols(); ++i) {
            variances[columns[static_cast<std::size_t>(begin + i)]] = chunk.col(i).dot(response.col(i));
        }
    }
}

}  // namespace

void require_maximum(const Layout& layout, const Curvature& curvature) {
    if (!curvature.failed_variable()) return;
    throw NotAnOptimum(
        fmt::format("no response at a point that is not a maximum of the bound: the pivot of variable '{}' failed; try "
                    "other starts, or give that variable a stronger prior",
                    layout[*curvature.failed_variable()].name));
}

Matrix responses(const Curvature& curvature, const SparseMatrix& columns) {
    Matrix result(columns.rows(), columns.cols());
    for (Index begin = 0; begin < columns.cols(); begin += kTogether) {
        const Index count = std::min(kTogether, columns.cols() - begin);
        const Matrix chunk = columns.middleCols(begin, count);
        result.middleCols(begin, count) = curvature.respond_to_all(chunk);
    }
    return result;
}

Matrix covariance(const Curvature& curvature, const SparseMatrix& left, const SparseMatrix& right) {
    // Solve for the side with fewer columns.
    if (left.cols() < right.cols()) return covariance(curvature, right, left).transpose();
    Matrix result(left.cols(), right.cols());
    for (Index begin = 0; begin < right.cols(); begin += kTogether) {
        const Index count = std::min(kTogether, right.cols() - begin);
        const Matrix chunk = right.middleCols(begin, count);
        result.middleCols(begin, count) = left.transpose() * curvature.respond_to_all(chunk);
    }
    return result;
}

Matrix covariance(const Curvature& curvature, const SparseMatrix& weights) {
    const Matrix product = covariance(curvature, weights, weights);
    return 0.5 * (product + product.transpose());
}

Vector variances(const Curvature& curvature, const SparseMatrix& weights) {
    Vector result(weights.cols());
    std::vector<Index> single;
    std::vector<Index> others;
    std::vector<Index> variables(static_cast<std::size_t>(weights.cols()));
    for (Index c = 0; c < weights.cols(); ++c) {
        const Index variable = only_variable(curvature, weights, c);
        variables[static_cast<std::size_t>(c)] = variable;
        (variable == kSeveralVariables ? others : single).push_back(c);
    }
    if (static_cast<Index>(single.size()) < kSelectedFrom) {
        solve_variances(curvature, weights, single, result);
    } else {
        const std::vector<Matrix> blocks = curvature.marginal_blocks();
        for (const Index c : single) {
            const Index variable = variables[static_cast<std::size_t>(c)];
            result[c] = quadratic(blocks[static_cast<std::size_t>(variable)], curvature.offset(variable), weights, c);
        }
    }
    solve_variances(curvature, weights, others, result);
    return result.cwiseMax(0.0);  // rounding may leave that of something clamped at −1e-30
}

Matrix mean_field_covariance(const Curvature& curvature, const SparseMatrix& weights) {
    Matrix result(weights.cols(), weights.cols());
    for (Index c = 0; c < weights.cols(); ++c) {
        result.col(c) = weights.transpose() * curvature.mean_field(Vector(weights.col(c)));
    }
    return result;
}

Vector mean_field_variances(const Curvature& curvature, const SparseMatrix& weights) {
    Vector result(weights.cols());
    for (Index c = 0; c < weights.cols(); ++c) result[c] = curvature.mean_field_variance(weights, c);
    return result;
}

FlatDirection flattest_direction(const Curvature& curvature) {
    Eigenpair flattest = curvature.flattest();
    FlatDirection result{flattest.value, std::move(flattest.vector), 0};
    const Vector sds = curvature.mean_field_sds();
    double most = 0.0;
    for (Index i = 0; i < sds.size(); ++i) {
        if (!(sds[i] > 0.0) || !(std::abs(result.direction[i]) / sds[i] > most)) continue;
        most = std::abs(result.direction[i]) / sds[i];
        result.statistic = i;
    }
    if (result.direction.size() > 0 && result.direction[result.statistic] < 0.0) result.direction *= -1.0;
    return result;
}

}  // namespace lrvb::detail
