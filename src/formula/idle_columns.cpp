#include <lrvb/formula/design.hpp>

#include <Eigen/Cholesky>

#include <algorithm>
#include <cmath>

namespace lrvb {

namespace {

constexpr double kCollinear = 1e-9;  // what is left of a column, beside all of it
constexpr double kSuspected = 1e-5;  // the square of what products can tell

/// Columns about their means and of length one, where they have one.
struct Standardised {
    Matrix columns;
    std::vector<bool> is_zero;
    std::vector<bool> is_constant;

    Standardised(const Matrix& given, bool intercept) : columns(given) {
        for (Index j = 0; j < columns.cols(); ++j) {
            const double largest = given.rows() > 0 ? given.col(j).cwiseAbs().maxCoeff() : 0.0;
            is_zero.push_back(!(largest > 0.0));
            is_constant.push_back(false);
            if (is_zero.back()) continue;
            columns.col(j) /= largest;
            if (intercept) {
                is_constant.back() = (given.col(j).array() == given(0, j)).all();
                if (is_constant.back()) {
                    columns.col(j).setZero();
                    continue;
                }
                columns.col(j).array() -= columns.col(j).mean();
                columns.col(j).array() -= columns.col(j).mean();
            }
            columns.col(j).normalize();
        }
    }
};

/// How much of a column no combination of the kept ones gives, in several rounds: what one leaves is computed anew from
/// the rows, so that nothing cancels.
double remainder_of(const Matrix& kept, const Vector& column, const Eigen::LDLT<Matrix>& products) {
    Vector rest = column;
    for (int round = 0; round < 4; ++round) rest -= kept * products.solve(kept.transpose() * rest);
    return rest.norm();
}

}  // namespace

std::vector<Index> IdleColumns::all() const {
    std::vector<Index> result = zero;
    result.insert(result.end(), constant.begin(), constant.end());
    result.insert(result.end(), collinear.begin(), collinear.end());
    std::sort(result.begin(), result.end());
    return result;
}

IdleColumns idle_columns(const Matrix& columns, bool intercept) {
    IdleColumns result;
    const Standardised standardised(columns, intercept);
    const Matrix& unit = standardised.columns;
    const Index count = unit.cols();
    // Cholesky's method in the order of the columns, leaving out those of which nothing is left.
    const Matrix products = unit.transpose() * unit;
    Matrix factor = Matrix::Zero(count, count);
    std::vector<Index> kept;
    for (Index j = 0; j < count; ++j) {
        if (standardised.is_zero[static_cast<std::size_t>(j)]) {
            result.zero.push_back(j);
            continue;
        }
        if (standardised.is_constant[static_cast<std::size_t>(j)]) {
            result.constant.push_back(j);
            continue;
        }
        const auto size = static_cast<Index>(kept.size());
        Vector row = products.col(j)(kept);
        factor.topLeftCorner(size, size).triangularView<Eigen::Lower>().solveInPlace(row);
        double square = 1.0 - row.squaredNorm();
        if (square < kSuspected) {
            const Matrix before = unit(Eigen::all, kept);
            const Matrix inner = before.transpose() * before;
            const double rest = remainder_of(before, unit.col(j), Eigen::LDLT<Matrix>(inner));
            if (!(rest > kCollinear)) {
                result.collinear.push_back(j);
                continue;
            }
            square = rest * rest;
        }
        factor.row(size).head(size) = row.transpose();
        factor(size, size) = std::sqrt(square);
        kept.push_back(j);
    }
    return result;
}

}  // namespace lrvb
