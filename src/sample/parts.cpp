#include "sample/parts.hpp"

#include "sample/student.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace lrvb::detail {

namespace {

constexpr double kPointsACoordinate = 4.0;  // that a part of its own takes
constexpr int kSteps = 8;
constexpr double kFloor = 1e-10;  // of a part's variance in a coordinate, in that of all points

// Distances count in the sds of all points.
Vector spreads(const Matrix& points) {
    const Matrix centred = points.colwise() - points.rowwise().mean();
    const Vector variance = centred.rowwise().squaredNorm() / static_cast<double>(points.cols());
    return variance.cwiseMax(std::numeric_limits<double>::min());
}

// The nearest centre of each point, from centres that are far apart.
Matrix first_memberships(const Matrix& points, const Vector& variance, Index parts, Random& random) {
    const Matrix scaled = variance.cwiseSqrt().cwiseInverse().asDiagonal() * points;
    const Index count = points.cols();
    Vector nearest = Vector::Constant(count, std::numeric_limits<double>::infinity());
    Matrix memberships = Matrix::Zero(count, parts);
    std::vector<Index> own(static_cast<std::size_t>(count), 0);
    Index centre = std::min(count - 1, static_cast<Index>(random.uniform() * static_cast<double>(count)));
    for (Index j = 0; j < parts; ++j) {
        for (Index i = 0; i < count; ++i) {
            const double distance = (scaled.col(i) - scaled.col(centre)).squaredNorm();
            if (!(distance < nearest[i])) continue;
            nearest[i] = distance;
            own[static_cast<std::size_t>(i)] = j;
        }
        double left = random.uniform() * nearest.sum();
        for (centre = 0; centre + 1 < count && left >= nearest[centre]; ++centre) left -= nearest[centre];
    }
    for (Index i = 0; i < count; ++i) memberships(i, own[static_cast<std::size_t>(i)]) = 1.0;
    return memberships;
}

// Parts from memberships; `pull` has them times the precision of the part's Student t at each point.
std::vector<ProposalPart> maximised(const Matrix& points, const Vector& variance, const Matrix& memberships,
                                    const Matrix& pull) {
    const double dimension = static_cast<double>(points.rows());
    std::vector<ProposalPart> parts;
    for (Index j = 0; j < memberships.cols(); ++j) {
        const double size = memberships.col(j).sum();
        if (size < 2.0 || (size < dimension && memberships.cols() > 1)) continue;
        ProposalPart part;
        part.share = size;
        part.scale.mean = points * pull.col(j) / pull.col(j).sum();
        const Matrix about = points.colwise() - part.scale.mean;
        // Few points make a scale too small; and none may be singular.
        part.scale.covariance =
            (1.0 + 2.0 * dimension / size) * about * (pull.col(j) / size).asDiagonal() * about.transpose();
        const Vector own = part.scale.covariance.diagonal();
        part.scale.covariance.diagonal() += kFloor * variance;
        if (size < kPointsACoordinate * dimension) part.scale.covariance.diagonal() += 0.3 * own;
        parts.push_back(std::move(part));
    }
    double sum = 0.0;
    for (const ProposalPart& part : parts) sum += part.share;
    for (ProposalPart& part : parts) part.share /= sum;
    return parts;
}

}  // namespace

std::vector<ProposalPart> parts_at(const Matrix& points, Index most, double dof, Random& random) {
    const double dimension = static_cast<double>(points.rows());
    const Vector variance = spreads(points);
    const Index affordable = static_cast<Index>(static_cast<double>(points.cols()) / (kPointsACoordinate * dimension));
    const Matrix first = first_memberships(points, variance, std::clamp<Index>(affordable, 1, most), random);
    std::vector<ProposalPart> parts = maximised(points, variance, first, first);
    for (int step = 0; step < kSteps && !parts.empty(); ++step) {
        const Index size = static_cast<Index>(parts.size());
        Matrix memberships(points.cols(), size);
        Matrix pull(points.cols(), size);
        for (Index j = 0; j < size; ++j) {
            const ProposalPart& part = parts[static_cast<std::size_t>(j)];
            const StudentProposal student(part.scale, dof);
            const Eigen::RowVectorXd distances = student.squared_distances(points);
            for (Index i = 0; i < points.cols(); ++i) {
                memberships(i, j) = std::log(part.share) + student.log_density_at(distances[i]);
                pull(i, j) = (dof + dimension) / (dof + distances[i]);
            }
        }
        for (Index i = 0; i < points.cols(); ++i) {
            memberships.row(i) = (memberships.row(i).array() - memberships.row(i).maxCoeff()).exp();
            memberships.row(i) /= memberships.row(i).sum();
        }
        parts = maximised(points, variance, memberships, pull.cwiseProduct(memberships));
    }
    return parts;
}

}  // namespace lrvb::detail
