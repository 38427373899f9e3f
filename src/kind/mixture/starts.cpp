#include "kind/mixture/starts.hpp"

#include "kind/mixture/data.hpp"

#include <Eigen/Eigenvalues>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

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

// A row drawn by weight.
Index any_row(const std::vector<Index>& among, const Vector& weights, Random& random) {
    double left = random.uniform() * weights(among).sum();
    for (const Index n : among) {
        left -= weights[n];
        if (left < 0.0) return n;
    }
    return among.back();
}

// Of some rows one and its neighbours, up to a share of their weight that is drawn from one row's to all in equal steps
// of its logarithm: any row, or of several the one that has the shortest way to the last of them, and then the most
// weight. So a value that many rows repeat, a row that weighs much and a place where rows are dense are found, as
// narrow as they are.
std::vector<Index> dense_spot(const Matrix& rows, const Vector& weights, const std::vector<Index>& among,
                              Random& random) {
    constexpr int kCandidates = 8;
    const double share = log_uniform(0.5 / static_cast<double>(among.size()), 1.0, random);
    const double wanted = share * weights(among).sum();
    const int candidates = random.uniform() < 0.5 ? 1 : kCandidates;
    std::vector<Index> densest;
    double shortest = std::numeric_limits<double>::infinity();
    double heaviest = 0.0;
    for (int i = 0; i < candidates; ++i) {
        const Index centre = any_row(among, weights, random);
        std::vector<std::pair<double, Index>> ways;
        ways.reserve(among.size());
        for (const Index n : among) ways.emplace_back((rows.row(n) - rows.row(centre)).squaredNorm(), n);
        std::sort(ways.begin(), ways.end());
        std::vector<Index> spot;
        double weight = 0.0;
        double way = 0.0;
        for (const auto& [square, n] : ways) {
            if (weight >= wanted && square > way) break;
            spot.push_back(n);
            weight += weights[n];
            way = square;
        }
        if (way > shortest || (way == shortest && weight <= heaviest)) continue;
        shortest = way;
        heaviest = weight;
        densest = std::move(spot);
    }
    return densest;
}

// Some components have a dense spot each, the others a partition of the rest.
Matrix spots_and_rest(const Matrix& rows, const Vector& weights, Index components, Random& random) {
    Matrix result = Matrix::Zero(rows.rows(), components);
    std::vector<Index> rest(static_cast<std::size_t>(rows.rows()));
    std::iota(rest.begin(), rest.end(), Index{0});
    const Index spots = 1 + any_index(std::max<Index>(components - 1, 1), random);
    for (Index k = 0; k < spots && !rest.empty(); ++k) {
        for (const Index n : dense_spot(rows, weights, rest, random)) result(n, k) = 1.0;
        std::erase_if(rest, [&](Index n) { return result(n, k) > 0.0; });
    }
    if (rest.empty() || spots == components) return result;
    const Matrix parts = cluster(rows(rest, Eigen::all), components - spots, random);
    result(rest, Eigen::seq(spots, components - 1)) = parts;
    return result;
}

Matrix fewer_parts(const Matrix& rows, Index components, Random& random) {
    Matrix result = Matrix::Zero(rows.rows(), components);
    const Index parts = 1 + any_index(std::max<Index>(components - 1, 1), random);
    result.leftCols(parts) = cluster(rows, parts, random);
    return result;
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

struct PrincipalAxes {
    Matrix directions;  // the longest last
    Vector variances;
};

// Of Σ w off offᵀ. Where there are more columns than rows, by the products of the rows: linear in the columns.
PrincipalAxes principal_axes(const Matrix& off, const Vector& weights) {
    if (off.cols() <= off.rows()) {
        const Matrix covariance = off.transpose() * weights.asDiagonal() * off;
        const Eigen::SelfAdjointEigenSolver<Matrix> axes(covariance);
        return {axes.eigenvectors(), axes.eigenvalues().cwiseMax(0.0)};
    }
    const Matrix scaled = weights.cwiseSqrt().asDiagonal() * off;
    const Eigen::SelfAdjointEigenSolver<Matrix> axes(Matrix(scaled * scaled.transpose()));
    const double largest = axes.eigenvalues().maxCoeff();
    Index first = 0;  // those before are rounding
    while (first + 1 < axes.eigenvalues().size() && axes.eigenvalues()[first] < 1e-10 * largest) ++first;
    const Index count = axes.eigenvalues().size() - first;
    PrincipalAxes result;
    result.variances = axes.eigenvalues().tail(count).cwiseMax(0.0);
    result.directions = scaled.transpose() * axes.eigenvectors().rightCols(count);
    for (Index i = 0; i < count; ++i) result.directions.col(i).normalize();
    return result;
}

// How a component's rows stand along its longest axis, or how far from its centre: mean 0 and sd 1.
Vector split_coordinate(const Matrix& rows, const Vector& responsibilities, bool into_shells) {
    const double size = std::max(responsibilities.sum(), std::numeric_limits<double>::min());
    const Eigen::RowVectorXd mean = responsibilities.transpose() * rows / size;
    const Matrix off = rows.rowwise() - mean;
    const PrincipalAxes axes = principal_axes(off, responsibilities / size);
    const Matrix along = off * axes.directions;
    Vector coordinate;
    if (into_shells) {
        constexpr double least = 1e-12;
        const Vector scales = (axes.variances.array() + least).inverse();
        const Vector all = off.rowwise().squaredNorm();
        Vector beyond = all - along.rowwise().squaredNorm();  // the axes found
        for (Index n = 0; n < all.size(); ++n) {
            if (beyond[n] < 1e-10 * all[n]) beyond[n] = 0.0;  // rounding
        }
        coordinate = (along.cwiseAbs2() * scales + beyond / least).cwiseSqrt();
    } else {
        coordinate = along.col(along.cols() - 1);
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

Matrix start_responsibilities(StartKind kind, const Matrix& rows, const Vector& weights, Index components,
                              Random& random) {
    switch (kind) {
        case StartKind::partition:
            return cluster(rows, components, random);
        case StartKind::nested:
            return nested_scales(rows, components, random);
        case StartKind::centres:
            return overlapping_centres(rows, components, random);
        case StartKind::spots:
            return spots_and_rest(rows, weights, components, random);
        case StartKind::fewer:
            return fewer_parts(rows, components, random);
        case StartKind::random:
        case StartKind::annealed:
        case StartKind::moved:
            break;
    }
    return random_responsibilities(rows.rows(), components, random);
}

std::vector<Move> draw_moves(Index components, std::size_t count, Random& random) {
    using Way = Move::Way;
    std::vector<Move> moves;
    const auto all = static_cast<std::size_t>(2 * components * components);
    const bool are_few = all <= 4 * count;
    for (Index removed = 0; removed < components && are_few; ++removed) {
        moves.push_back({Way::nowhere, removed, removed});
        moves.push_back({Way::at_random, removed, removed});
        for (Index split = 0; split < components; ++split) {
            if (split == removed) continue;
            moves.push_back({Way::along_axis, removed, split});
            moves.push_back({Way::into_shell, removed, split});
        }
    }
    for (std::size_t i = moves.size(); i > 1; --i) {
        std::swap(moves[i - 1], moves[static_cast<std::size_t>(any_index(static_cast<Index>(i), random))]);
    }
    if (are_few && moves.size() > count) moves.resize(count);
    const auto spots = are_few ? std::max(count / 3, count - moves.size()) : count / 3;
    while (!are_few && moves.size() + spots < count) {
        constexpr std::array kWays{Way::along_axis, Way::into_shell, Way::at_random};
        const Index removed = any_index(components, random);
        const Index split = any_index(components, random);
        const bool can_split = split != removed;
        moves.push_back(
            {can_split ? kWays[static_cast<std::size_t>(any_index(3, random))] : Way::nowhere, removed, split});
    }
    for (std::size_t i = 0; i < spots; ++i) {
        const Index removed = any_index(components, random);
        moves.push_back({Way::to_spot, removed, removed});
    }
    return moves;
}

std::vector<Move> spot_moves(const Matrix& scores) {
    const Vector sizes = tempered_responsibilities(scores, 1.0).colwise().sum();
    Index smallest = 0;
    sizes.minCoeff(&smallest);
    std::vector<Move> moves;
    for (Index split = 0; split < sizes.size(); ++split) {
        if (split != smallest) moves.push_back({Move::Way::to_spot, smallest, split});
    }
    return moves;
}

Matrix moved_responsibilities(const Move& move, const Matrix& rows, const Vector& weights, const Matrix& scores,
                              Random& random) {
    using Way = Move::Way;
    if (move.way == Way::at_random) {
        return (1.0 - kPerturbation) * tempered_responsibilities(scores, 1.0) +
               kPerturbation * random_responsibilities(scores.rows(), scores.cols(), random);
    }
    Matrix others = scores;
    others.col(move.removed).setConstant(-std::numeric_limits<double>::infinity());
    Matrix result = tempered_responsibilities(others, 1.0);
    if (move.way == Way::nowhere) return result;
    if (move.way == Way::to_spot) {
        std::vector<Index> among;
        for (Index n = 0; n < rows.rows(); ++n) {
            const bool is_among = move.split == move.removed || result(n, move.split) > 0.5;
            if (is_among) among.push_back(n);
        }
        if (among.empty()) return result;
        for (const Index n : dense_spot(rows, weights, among, random)) {
            result.row(n).setZero();
            result(n, move.removed) = 1.0;
        }
        return result;
    }
    split_in_two(rows, move.split, move.removed, move.way == Way::into_shell, result);
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
