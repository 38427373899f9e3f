#include "model/labelled/start.hpp"

#include <algorithm>
#include <cmath>

namespace lrvb::detail {

namespace {

constexpr int kMoves = 5;  // of the centres

Index drawn_by(const Vector& weights, Random& random) {
    double left = random.uniform() * weights.sum();
    Index i = 0;
    while (i + 1 < weights.size() && left >= weights[i]) left -= weights[i++];
    return i;
}

Vector squared_distances(const Matrix& places, const Eigen::RowVectorXd& centre) {
    return (places.rowwise() - centre).rowwise().squaredNorm();
}

std::vector<Index> nearest(const Matrix& places, const Matrix& centres) {
    std::vector<Index> result(static_cast<std::size_t>(places.rows()));
    for (Index n = 0; n < places.rows(); ++n) {
        (centres.rowwise() - places.row(n)).rowwise().squaredNorm().minCoeff(&result[static_cast<std::size_t>(n)]);
    }
    return result;
}

std::vector<Index> clusters(const Matrix& places, Index labels, Random& random) {
    Matrix centres(labels, places.cols());
    Vector distances = Vector::Constant(places.rows(), 1.0);
    for (Index k = 0; k < labels; ++k) {
        centres.row(k) = places.row(drawn_by(distances, random));
        const Vector to_this = squared_distances(places, centres.row(k));
        distances = k == 0 ? to_this : Vector(distances.cwiseMin(to_this));
        if (!(distances.sum() > 0.0)) distances.setOnes();
    }
    std::vector<Index> assigned = nearest(places, centres);
    for (int move = 0; move < kMoves; ++move) {
        Matrix sums = Matrix::Zero(labels, places.cols());
        Vector sizes = Vector::Zero(labels);
        for (Index n = 0; n < places.rows(); ++n) {
            sums.row(assigned[static_cast<std::size_t>(n)]) += places.row(n);
            sizes[assigned[static_cast<std::size_t>(n)]] += 1.0;
        }
        for (Index k = 0; k < labels; ++k) {
            if (sizes[k] > 0.0) centres.row(k) = sums.row(k) / sizes[k];
        }
        assigned = nearest(places, centres);
    }
    return assigned;
}

// What is missing is in the middle.
void standardise(Matrix& places) {
    for (Index c = 0; c < places.cols(); ++c) {
        const Eigen::Array<bool, Eigen::Dynamic, 1> missing = places.col(c).array().isNaN();
        const double count = std::max(1.0, static_cast<double>(places.rows() - missing.count()));
        const double mean = missing.select(0.0, places.col(c).array()).sum() / count;
        places.col(c) = missing.select(0.0, places.col(c).array() - mean);
        const double sd = std::sqrt(places.col(c).squaredNorm() / count);
        if (sd > 0.0) places.col(c) /= sd;
    }
}

std::vector<Index> random_labels(Index rows, Index labels, Random& random) {
    std::vector<Index> result(static_cast<std::size_t>(rows));
    for (Index& label : result) {
        label = std::min(labels - 1, static_cast<Index>(random.uniform() * static_cast<double>(labels)));
    }
    return result;
}

}  // namespace

bool has_few_rows(const LabelledTerms& sample) {
    return std::ranges::any_of(sample.parts(), [](const auto& part) { return part->rows() < 2 * part->labels(); });
}

void cluster_counts(const LabelledTerms& sample, int attempt, Random& random, Vector& extended) {
    if (attempt % 3 == 1 && has_few_rows(sample)) {
        Expansion unused;
        sample.fill_counts(extended, Vector(), 1, unused);
        return;
    }
    std::size_t part = 0;
    for (const Index parts : sample.calls()) {
        const std::size_t end = part + static_cast<std::size_t>(parts);
        // The parts of a call share its labels, so their rows are clustered together.
        const Index labels = sample.parts()[part]->labels();
        std::vector<Matrix> pieces;
        Index rows = 0;
        for (std::size_t p = part; p < end; ++p) {
            pieces.push_back(sample.parts()[p]->features().places());
            rows += pieces.back().rows();
        }
        Matrix places(rows, pieces.front().cols());
        Index at = 0;
        for (const Matrix& piece : pieces) {
            places.middleRows(at, piece.rows()) = piece;
            at += piece.rows();
        }
        standardise(places);
        const std::vector<Index> assigned = attempt % 3 == 2 || places.cols() == 0 || rows < 2 * labels
                                                ? random_labels(rows, labels, random)
                                                : clusters(places, labels, random);
        auto label = assigned.begin();
        for (; part < end; ++part) {
            const LabelledRows& own = *sample.parts()[part];
            const std::vector<Index>& possible = own.possible();
            std::vector<Index> among;
            for (Index n = 0; n < own.rows(); ++n, ++label) {
                const auto found = std::ranges::find(possible, *label);
                const auto fallback = static_cast<std::ptrdiff_t>(static_cast<std::size_t>(n) % possible.size());
                among.push_back(found == possible.end() ? fallback : found - possible.begin());
            }
            extended.segment(sample.first_count(part), own.size()) = own.counts_of(among, sample.scale(part));
        }
    }
}

}  // namespace lrvb::detail
