#include "bugs/matrix_functions.hpp"

#include "bugs/functions.hpp"

#include <Eigen/LU>
#include <fmt/format.h>

#include <cmath>

namespace lrvb::bugs {

namespace {

struct Shape {
    Index rows = 1;
    Index columns = 1;
};

Shape shape_of(const std::string& name, const std::vector<Index>& dims) {
    if (dims.size() > 2) {
        throw FunctionProblem{
            fmt::format("'{}' is asked of an array with {} dimensions: it takes matrices", name, dims.size())};
    }
    return {dims.empty() ? 1 : dims[0], dims.size() < 2 ? 1 : dims[1]};
}

struct ProductShapes {
    Shape left;
    Shape right;
};

ProductShapes product_shapes(const std::vector<Index>& a, const std::vector<Index>& b) {
    ProductShapes shapes{shape_of("%*%", a), shape_of("%*%", b)};
    const bool fits = shapes.left.columns == shapes.right.rows;
    if (!fits && a.size() < 2) std::swap(shapes.left.rows, shapes.left.columns);
    if (shapes.left.columns != shapes.right.rows && b.size() < 2) std::swap(shapes.right.rows, shapes.right.columns);
    if (shapes.left.columns != shapes.right.rows) {
        throw FunctionProblem{fmt::format("'%*%' cannot multiply {} × {} by {} × {}: the inner extents differ",
                                          shapes.left.rows, shapes.left.columns, shapes.right.rows,
                                          shapes.right.columns)};
    }
    return shapes;
}

std::vector<Index> without_ones(Shape shape) {
    if (shape.rows == 1 && shape.columns == 1) return {};
    if (shape.columns == 1) return {shape.rows};
    if (shape.rows == 1) return {shape.columns};
    return {shape.rows, shape.columns};
}

Shape square(const std::string& name, const std::vector<Index>& dims) {
    const Shape shape = shape_of(name, dims);
    if (shape.rows != shape.columns) {
        throw FunctionProblem{
            fmt::format("'{}' is asked of a {} × {} matrix: it takes square ones", name, shape.rows, shape.columns)};
    }
    return shape;
}

Matrix matrix_of(const Columns& columns, Index line, Shape shape) {
    const Vector values = columns.values.row(columns.values.rows() == 1 ? 0 : line).transpose();
    return Eigen::Map<const Matrix>(values.data(), shape.rows, shape.columns);
}

}  // namespace

bool is_matrix_function(const std::string& name) {
    return name == "%*%" || name == "t" || name == "inverse" || name == "logdet";
}

std::vector<Index> matrix_extents(const std::string& name, const std::vector<std::vector<Index>>& arguments) {
    if (name == "%*%") {
        const ProductShapes shapes = product_shapes(arguments[0], arguments[1]);
        return without_ones({shapes.left.rows, shapes.right.columns});
    }
    if (name == "t") {
        const Shape shape = shape_of(name, arguments[0]);
        return {shape.columns, shape.rows};
    }
    const Shape shape = square(name, arguments[0]);
    if (name == "logdet" || shape.rows == 1) return {};
    return {shape.rows, shape.columns};
}

Columns apply_matrix_function(const std::string& name, const std::vector<Columns>& arguments) {
    std::vector<std::vector<Index>> dims;
    Index lines = 1;
    for (const Columns& argument : arguments) {
        dims.push_back(argument.dims);
        lines = std::max(lines, argument.values.rows());
    }
    Columns result;
    result.dims = matrix_extents(name, dims);
    result.values.resize(lines, size_of(result.dims));
    for (Index line = 0; line < lines; ++line) {
        Matrix value;
        if (name == "%*%") {
            const ProductShapes shapes = product_shapes(dims[0], dims[1]);
            value = matrix_of(arguments[0], line, shapes.left) * matrix_of(arguments[1], line, shapes.right);
        } else {
            const Matrix matrix = matrix_of(arguments[0], line, shape_of(name, dims[0]));
            if (name == "t") {
                value = matrix.transpose();
            } else if (matrix.size() == 0) {
                value = Matrix::Zero(name == "logdet" ? 1 : 0, name == "logdet" ? 1 : 0);
            } else if (name == "logdet") {
                value = Matrix::Constant(1, 1, std::log(matrix.determinant()));
            } else {
                const Eigen::FullPivLU<Matrix> factor(matrix);
                if (!factor.isInvertible()) throw FunctionProblem{"'inverse' is asked of a matrix that has none"};
                value = factor.inverse();
                // Of a symmetric matrix the inverse is symmetric, to the last bit.
                if (matrix == matrix.transpose()) value = (0.5 * (value + value.transpose())).eval();
            }
        }
        result.values.row(line) = Eigen::Map<const Vector>(value.data(), value.size()).transpose();
    }
    return result;
}

}  // namespace lrvb::bugs
