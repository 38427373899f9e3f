#include "kind/mixture/drawn.hpp"

#include "sample/resampling.hpp"

#include <lrvb/family/symmetric.hpp>
#include <lrvb/sample/pareto.hpp>

#include <Eigen/Cholesky>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <stdexcept>
#include <unordered_map>

namespace lrvb::detail {

namespace {

constexpr Index kMostDraws = 400;
constexpr Index kFewestDraws = 100;
constexpr Index kMostNumbers = 100000;

Index precisions_of(const MixtureStatistics& statistics) {
    const Index columns = statistics.columns();
    return statistics.is_full() ? columns * (columns + 1) / 2 : columns;
}

Index numbers_of(const MixtureStatistics& statistics) {
    return (statistics.has_weights() ? statistics.components() : 0) +
           statistics.components() * (statistics.columns() + precisions_of(statistics));
}

// What the numbers of a draw are, in their order.
std::vector<VariableMeaning> meanings_of(const MixtureStatistics& statistics) {
    std::vector<VariableMeaning> result;
    const Index columns = statistics.columns();
    for (Index k = 0; k < statistics.components() && statistics.has_weights(); ++k) {
        result.push_back(statistics.of_component("pi", k));
    }
    for (Index k = 0; k < statistics.components(); ++k) {
        for (Index p = 0; p < columns; ++p) result.push_back(statistics.of_column("mu", k, p));
        for (Index p = 0; p < columns && !statistics.is_full(); ++p) {
            result.push_back(statistics.of_column("tau", k, p));
        }
        for (Index q = 0; q < columns && statistics.is_full(); ++q) {
            for (Index p = q; p < columns; ++p) result.push_back(statistics.of_entry("Lambda", k, q, p));
        }
    }
    return result;
}

}  // namespace

MixtureDraws::MixtureDraws(const MixtureStatistics& statistics, Matrix numbers)
    : components_(statistics.components()), numbers_(std::move(numbers)) {
    const Index columns = statistics.columns();
    const Index own = columns + precisions_of(statistics);
    const Index weights = numbers_.rows() - components_ * own;
    parts_.reserve(static_cast<std::size_t>(numbers_.cols() * components_));
    for (Index s = 0; s < numbers_.cols(); ++s) {
        for (Index k = 0; k < components_; ++k) {
            const Vector of_component = numbers_.col(s).segment(weights + k * own, own);
            const Vector half = of_component.tail(own - columns);
            Matrix precision = statistics.is_full() ? Matrix(columns, columns) : Matrix(half.asDiagonal());
            Index at = 0;
            for (Index q = 0; q < columns && statistics.is_full(); ++q) {
                for (Index p = q; p < columns; ++p) precision(p, q) = precision(q, p) = half[at++];
            }
            const Eigen::LLT<Matrix> factor(precision);
            const double weight = weights > 0 ? numbers_(k, s) : 1.0;
            if (factor.info() != Eigen::Success || !(weight >= 0.0) || !(weight <= 1.0)) {
                throw std::invalid_argument("a draw that is none of a mixture");
            }
            const Matrix root = factor.matrixU();
            const double log_root = root.diagonal().array().log().sum();
            const double constant = 0.5 * static_cast<double>(columns) * std::log(2.0 * std::numbers::pi);
            parts_.push_back({std::log(weight) + log_root - constant, of_component.head(columns), root});
        }
    }
}

MixtureDraws MixtureDraws::of(const CorrectionDraws& draws, const MixtureStatistics& statistics) {
    std::unordered_map<std::string, Index> rows;
    for (std::size_t i = 0; i < draws.posterior.variables.size(); ++i) {
        rows.emplace(draws.posterior.variables[i].meaning.numbered_name(), static_cast<Index>(i));
    }
    const Index size = numbers_of(statistics);
    const Index count = std::clamp(kMostNumbers / size, kFewestDraws, kMostDraws);
    const std::vector<Index> chosen =
        resampled(weights_of(draws.log_weights), std::min(count, draws.values.cols()), 0.5);
    Matrix numbers(size, static_cast<Index>(chosen.size()));
    Index at = 0;
    for (const VariableMeaning& meaning : meanings_of(statistics)) {
        const Index row = rows.at(meaning.numbered_name());
        for (std::size_t i = 0; i < chosen.size(); ++i) {
            numbers(at, static_cast<Index>(i)) = draws.values(row, chosen[i]);
        }
        ++at;
    }
    return MixtureDraws(statistics, std::move(numbers));
}

MixtureDraws MixtureDraws::read(const Fields& fields, const std::string& key, const MixtureStatistics& statistics) {
    const auto count = static_cast<Index>(fields.length(key));
    if (count == 0) fields.refuse("model." + key, "is empty");
    try {
        return MixtureDraws(statistics, fields.matrix(key, count, numbers_of(statistics)).transpose());
    } catch (const std::invalid_argument&) {
        fields.refuse("model." + key,
                      "holds a draw whose weights are no probabilities, or whose precisions are not "
                      "positive definite");
    }
}

Document MixtureDraws::document() const {
    return Document(Matrix(numbers_.transpose()));
}

// So far that no double holds the densities, a row belongs to whom it does in its direction.
Vector MixtureDraws::far_away(const Vector& row) const {
    const Vector direction = row / row.cwiseAbs().maxCoeff();
    Vector result = Vector::Zero(components_);
    for (Index s = 0; s < numbers_.cols(); ++s) {
        Vector distances(components_);
        for (Index k = 0; k < components_; ++k) {
            distances[k] = (parts_[static_cast<std::size_t>(s * components_ + k)].root * direction).squaredNorm();
        }
        Index nearest = 0;
        distances.minCoeff(&nearest);
        result[nearest] += 1.0 / static_cast<double>(numbers_.cols());
    }
    return result;
}

MixtureModel::Prediction MixtureDraws::predict(const Matrix& rows, RowsAre rows_are) const {
    const auto draws = static_cast<double>(numbers_.cols());
    MixtureModel::Prediction result{Matrix::Zero(rows.rows(), components_), Vector(rows.rows())};
    Matrix terms(components_, numbers_.cols());
    for (Index n = 0; n < rows.rows(); ++n) {
        for (std::size_t i = 0; i < parts_.size(); ++i) {
            const Component& part = parts_[i];
            const Vector scaled = part.root * (rows.row(n).transpose() - part.location);
            const double term = part.log_scale - 0.5 * scaled.squaredNorm();
            terms.data()[i] = std::isnan(term) ? -std::numeric_limits<double>::infinity() : term;
        }
        const double largest = terms.maxCoeff();
        result.log_density[n] = largest;
        if (!std::isfinite(largest)) {
            result.responsibilities.row(n) = far_away(rows.row(n));
            continue;
        }
        double sum = 0.0;
        for (Index s = 0; s < terms.cols(); ++s) {
            const double highest = terms.col(s).maxCoeff();
            const Vector own = (terms.col(s).array() - highest).exp();
            const double height = std::exp(highest - largest);
            if (rows_are == RowsAre::fitted) {
                result.responsibilities.row(n) += own.transpose() / own.sum() / draws;
            } else {
                result.responsibilities.row(n) += own.transpose() * height;
            }
            sum += own.sum() * height;
        }
        if (rows_are == RowsAre::new_ones) result.responsibilities.row(n) /= sum;
        result.log_density[n] += std::log(sum / draws);
    }
    return result;
}

}  // namespace lrvb::detail
