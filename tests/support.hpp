#pragma once

#include "csv.hpp"

#include <lrvb/lrvb.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

/// What several tests need: bundled data, random matrices, relative comparison.
namespace lrvb::test {

/// A column of a bundled CSV file, by its header.
inline Vector read_column(const std::string& file, const std::string& column) {
    return example::read_column(LRVB_DATA_DIR "/" + file, column);
}

inline Matrix random_matrix(Index rows, Index columns, Random& random) {
    Matrix matrix(rows, columns);
    for (Index j = 0; j < columns; ++j) {
        for (Index i = 0; i < rows; ++i) matrix(i, j) = random.normal();
    }
    return matrix;
}

/// A positive definite matrix with correlations of all sizes.
inline Matrix random_precision(Index dimension, Random& random) {
    const Matrix root = random_matrix(dimension, dimension, random);
    return root * root.transpose() / static_cast<double>(dimension) + 0.3 * Matrix::Identity(dimension, dimension);
}

/// Rows of a three-component mixture with some overlap.
inline Vector three_component_rows(Index rows, std::uint64_t seed) {
    Random random(seed);
    Vector x(rows);
    for (double& value : x) {
        const double u = random.uniform();
        const double z = random.normal();
        value = u < 0.3 ? -3.0 + 0.7 * z : (u < 0.7 ? 0.5 + z : 4.0 + 0.8 * z);
    }
    return x;
}

/// Largest |a − b| over the entries, relative to the largest |b|.
inline double relative_error(const Matrix& a, const Matrix& b) {
    return (a - b).cwiseAbs().maxCoeff() / b.cwiseAbs().maxCoeff();
}

}  // namespace lrvb::test
