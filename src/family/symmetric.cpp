#include <lrvb/family/symmetric.hpp>

#include <utility>

namespace lrvb {

namespace {

template <class Visit>
void for_each_half(Index dimension, Visit visit) {
    Index position = 0;
    for (Index i = 0; i < dimension; ++i) {
        for (Index j = i; j < dimension; ++j) visit(position++, i, j);
    }
}

}  // namespace

Index half_size(Index dimension) {
    return dimension * (dimension + 1) / 2;
}

Index half_index(Index i, Index j, Index dimension) {
    if (i > j) std::swap(i, j);
    return i * dimension - i * (i - 1) / 2 + (j - i);
}

Vector half_vector(const Matrix& symmetric) {
    Vector half(half_size(symmetric.rows()));
    for_each_half(symmetric.rows(), [&](Index position, Index i, Index j) { half[position] = symmetric(i, j); });
    return half;
}

Matrix symmetric_from_half(const VectorView& half, Index dimension) {
    Matrix symmetric(dimension, dimension);
    for_each_half(dimension, [&](Index position, Index i, Index j) {
        symmetric(i, j) = half[position];
        symmetric(j, i) = half[position];
    });
    return symmetric;
}

Vector trace_coefficients(const Matrix& symmetric) {
    Vector coefficients(half_size(symmetric.rows()));
    for_each_half(symmetric.rows(), [&](Index position, Index i, Index j) {
        coefficients[position] = i == j ? symmetric(i, i) : symmetric(i, j) + symmetric(j, i);
    });
    return coefficients;
}

Matrix symmetric_from_trace_coefficients(const VectorView& coefficients, Index dimension) {
    Matrix symmetric = symmetric_from_half(coefficients, dimension);
    symmetric.diagonal() *= 2.0;
    return 0.5 * symmetric;
}

}  // namespace lrvb
