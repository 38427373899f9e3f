#include "kind/mixture/starts.hpp"

#include "kind/mixture/data.hpp"

#include <Eigen/Eigenvalues>

#include <algorithm>
#include <cmath>
#include <limits>

namespace lrvb::detail {

namespace {

constexpr double kNarrowest = 0.05;     // width of a random centre, in sds of the data
constexpr double kSmallestRatio = 1.5;  // of one nested scale to the next
constexpr double kLargestRatio = 8.0;
constexpr double kPerturbation = 0.3;    // share of the random responsibilities in a perturbed optimum
constexpr double kSplitSharpness = 2.0;  // logits a sd of the component that is split

Index any_index(Index count, Random& random) {
    return std::min(count - 1, static_cast<Index>(random.uniform() * static_cast<double>(count)));
}

double log_uniform(double lowest, double highest, Random& random) {
    return lowest * std::pow(highest / lowest, random.uniform());
}

Matrix random_responsibilities(Index rows, Index components, Random& random) {
    Matrix result(rows, components);
    for (Index n = 0; n < rows; ++n) {
        for (Index k = 0; k < components; ++k) result(n, k) = -std::log(random.uniform());
        result.row(n) /= result.row(n).sum();
    }
    return result;
}

// Those of round components with these centres and widths.
Matrix round_responsibilities(const Matrix& rows, const Matrix& centres, const Vector& widths) {
    Matrix scores(rows.rows(), centres.rows());
    for (Index k = 0; k < centres.rows(); ++k) {
        const double inverse = 1.0 / widths[k];
        scores.col(k) = (-0.5 * inverse * inverse) * (rows.rowwise() - centres.row(k)).rowwise().squaredNorm();
        scores.col(k).array() += static_cast<double>(rows.cols()) * std::log(inverse);
    }
    return tempered_responsibilities(scores, 1.0);
}

Matrix overlapping_centres(const Matrix& rows, Index components, Random& random) {
    Matrix centres(components, rows.cols());
    Vector widths(components);
    const double common = log_uniform(kNarrowest, 1.0, random);
    for (Index k = 0; k < components; ++k) {
        centres.row(k) = rows.row(any_index(rows.rows(), random));
        widths[k] = log_uniform(common, 1.0, random);
    }
    return round_responsibilities(rows, centres, widths);
}

// Every second one is about the middle of all rows, the others about a row.
Matrix nested_scales(const Matrix& rows, Index components, Random& random) {
    const bool in_the_middle = random.uniform() < 0.5;
    const Index row = any_index(rows.rows(), random);
    const Vector centre = in_the_middle ? Vector(rows.colwise().mean().transpose()) : Vector(rows.row(row).transpose());
    const double ratio = log_uniform(kSmallestRatio, kLargestRatio, random);
    Vector widths(components);
    for (Index k = 0; k < components; ++k) widths[k] = 2.0 * std::pow(ratio, -static_cast<double>(k));
    return round_responsibilities(rows, centre.transpose().replicate(components, 1), widths);
}

// How a component's rows stand along its longest axis, or how far from its centre: mean 0 and sd 1.
Vector split_coordinate(const Matrix& rows, const Vector& responsibilities, bool into_shells) {
    const double size = std::max(responsibilities.sum(), std::numeric_limits<double>::min());
    const Eigen::RowVectorXd mean = responsibilities.transpose() * rows / size;
    const Matrix off = rows.rowwise() - mean;
    Matrix covariance = off.transpose() * responsibilities.asDiagonal() * off / size;
    covariance.diagonal().array() += 1e-12;
    const Eigen::SelfAdjointEigenSolver<Matrix> axes(covariance);
    Vector coordinate;
    if (into_shells) {
        const Matrix whitened =
            off * axes.eigenvectors() * axes.eigenvalues().cwiseMax(1e-12).cwiseSqrt().cwiseInverse().asDiagonal();
        coordinate = whitened.rowwise().norm();
    } else {
        coordinate = off * axes.eigenvectors().col(rows.cols() - 1);
    }
    coordinate.array() -= responsibilities.dot(coordinate) / size;
    const double variance = responsibilities.dot(coordinate.cwiseAbs2()) / size;
    return coordinate / std::sqrt(std::max(variance, std::numeric_limits<double>::min()));
}

}  // namespace

Matrix tempered_responsibilities(const Matrix& scores, double temperature) {
    Matrix result = scores;
    for (Index n = 0; n < scores.rows(); ++n) {
        const double largest = scores.row(n).maxCoeff();
        result.row(n) = ((scores.row(n).array() - largest) / temperature).exp().matrix();
        result.row(n) /= result.row(n).sum();
    }
    return result;
}

Matrix start_responsibilities(StartKind kind, const Matrix& rows, Index components, Random& random) {
    switch (kind) {
        case StartKind::partition:
            return cluster(rows, components, random);
        case StartKind::nested:
            return nested_scales(rows, components, random);
        case StartKind::centres:
            return overlapping_centres(rows, components, random);
        case StartKind::random:
        case StartKind::annealed:
        case StartKind::moved:
            break;
    }
    return random_responsibilities(rows.rows(), components, random);
}

std::vector<Move> draw_moves(Index components, std::size_t count, Random& random) {
    std::vector<Move> moves;
    const auto all = static_cast<std::size_t>(2 * components * (components - 1) + components);
    if (all <= 4 * count) {
        for (Index removed = 0; removed < components; ++removed) {
            for (Index split = 0; split < components; ++split) {
                for (const bool into_shells : {false, true}) {
                    if (removed != split || into_shells) moves.push_back({removed, split, into_shells});
                }
            }
        }
        for (std::size_t i = moves.size(); i > 1; --i) {
            std::swap(moves[i - 1], moves[static_cast<std::size_t>(any_index(static_cast<Index>(i), random))]);
        }
    }
    while (all > 4 * count && moves.size() < count) {
        moves.push_back({any_index(components, random), any_index(components, random), random.uniform() < 0.5});
    }
    if (moves.size() > count) moves.resize(count);
    return moves;
}

Matrix moved_responsibilities(const Move& move, const Matrix& rows, const Matrix& scores, Random& random) {
    if (move.removed == move.split) {
        return (1.0 - kPerturbation) * tempered_responsibilities(scores, 1.0) +
               kPerturbation * random_responsibilities(scores.rows(), scores.cols(), random);
    }
    Matrix others = scores;
    others.col(move.removed).setConstant(-std::numeric_limits<double>::infinity());
    Matrix result = tempered_responsibilities(others, 1.0);
    split_in_two(rows, move.split, move.removed, move.into_shells, result);
    return result;
}

void split_in_two(const Matrix& rows, Index split, Index into, bool into_shells, Matrix& responsibilities) {
    const Vector coordinate = split_coordinate(rows, responsibilities.col(split), into_shells);
    for (Index n = 0; n < rows.rows(); ++n) {
        const double share = 1.0 / (1.0 + std::exp(-kSplitSharpness * coordinate[n]));
        responsibilities(n, into) = share * responsibilities(n, split);
        responsibilities(n, split) *= 1.0 - share;
    }
}

}  // namespace lrvb::detail
