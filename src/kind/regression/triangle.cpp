#include "kind/regression/triangle.hpp"

#include "base/messages.hpp"

#include <Eigen/QR>

#include <algorithm>
#include <cmath>

namespace lrvb::detail {

namespace {

[[noreturn]] void refuse_collinear(const RegressionDesign& design, const Matrix& triangle, Index column) {
    const Index first = design.intercept ? 1 : 0;
    // The weights of the columns before it, all of them independent.
    const Vector weights =
        triangle.topLeftCorner(column, column).triangularView<Eigen::Upper>().solve(triangle.col(column).head(column));
    std::vector<std::string> others;
    for (Index j = first; j < column; ++j) {
        const bool takes_part = std::abs(weights[j]) > 1e-6 * weights.cwiseAbs().maxCoeff();
        if (takes_part) others.push_back(design.names[static_cast<std::size_t>(j - first)]);
    }
    std::string remedy = "leave one of them out";
    if (triangle.cols() - 1 > design.y.size()) {
        remedy = fmt::format("there are more coefficients ({}) than rows ({}): leave columns out, or give more rows",
                             triangle.cols() - 1, design.y.size());
    }
    refuse_design(design, fmt::format("column {} is collinear: it is a linear combination of {} {}{}: {}",
                                      shown(design.names[static_cast<std::size_t>(column - first)]),
                                      others.size() == 1 ? "column" : "columns", shown(others),
                                      design.intercept ? ", up to a constant" : "", remedy));
}

}  // namespace

Matrix triangle_of(const RegressionDesign& design, const Standardised& units) {
    const Index first = design.intercept ? 1 : 0;
    const Index size = first + design.columns.cols() + 1;
    const Index capacity = std::max<Index>(1024, 2 * size);
    Matrix triangle = Matrix::Zero(size, size);
    Matrix stacked(size + capacity, size);
    for (Index begin = 0; begin < design.y.size(); begin += capacity) {
        const Index count = std::min(capacity, design.y.size() - begin);
        stacked.resize(size + count, size);
        stacked.topRows(size) = triangle;
        if (design.intercept) stacked.col(0).tail(count).setOnes();
        for (Index j = 0; j < design.columns.cols(); ++j) {
            const Standardisation& unit = units.columns[static_cast<std::size_t>(j)];
            stacked.col(first + j).tail(count) =
                (design.columns.col(j).segment(begin, count).array() - unit.centre) / unit.scale;
        }
        stacked.col(size - 1).tail(count) =
            (design.y.segment(begin, count).array() - units.response.centre) / units.response.scale;
        if (design.weights.size() > 0) {
            stacked.bottomRows(count).array().colwise() *= design.weights.segment(begin, count).array().sqrt();
        }
        const Eigen::HouseholderQR<Eigen::Ref<Matrix>> decomposition(stacked);
        triangle = stacked.topRows(size).triangularView<Eigen::Upper>();
    }
    return triangle;
}

void require_independent(const RegressionDesign& design, const Standardised& units, const Matrix& triangle) {
    double rounded_by = 0.0;
    for (const Standardisation& unit : units.columns) rounded_by = std::max(rounded_by, unit.rounded_by);
    const double tolerance = std::clamp(16.0 * rounded_by, 1e-10, 1e-3);
    for (Index j = 0; j + 1 < triangle.cols(); ++j) {
        const double left = std::abs(triangle(j, j));
        if (!(left > tolerance * triangle.col(j).norm())) refuse_collinear(design, triangle, j);
    }
}

}  // namespace lrvb::detail
