#pragma once

#include <lrvb/lrvb.hpp>

#include <gtest/gtest.h>

#include <charconv>
#include <cmath>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

/// What several tests need: bundled data, random matrices, relative comparison.
namespace lrvb::test {

/// A column of a bundled CSV file, by its header.
inline Vector read_column(const std::string& file, const std::string& column) {
    std::ifstream stream(std::string(LRVB_DATA_DIR) + "/" + file);
    const auto split = [](const std::string& line) {
        std::vector<std::string> fields;
        std::istringstream parts(line);
        for (std::string field; std::getline(parts, field, ',');) fields.push_back(field);
        return fields;
    };
    std::string line;
    std::getline(stream, line);
    const std::vector<std::string> header = split(line);
    const auto at = std::find(header.begin(), header.end(), column) - header.begin();
    std::vector<double> values;
    while (std::getline(stream, line)) values.push_back(std::stod(split(line).at(static_cast<std::size_t>(at))));
    return Eigen::Map<const Vector>(values.data(), static_cast<Index>(values.size()));
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

/// Largest |a − b| over the entries, relative to the largest |b|.
inline double relative_error(const Matrix& a, const Matrix& b) {
    return (a - b).cwiseAbs().maxCoeff() / b.cwiseAbs().maxCoeff();
}

}  // namespace lrvb::test
