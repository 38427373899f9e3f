#include "base/parallel.hpp"

#include <lrvb/sample/field_integral.hpp>

#include <Eigen/Cholesky>
#include <Eigen/LU>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <utility>

// The nodes of a FieldIntegral that are a lattice, and e between them.
namespace lrvb {

namespace {

constexpr double kNone = -std::numeric_limits<double>::infinity();

std::size_t at(Index i) {
    return static_cast<std::size_t>(i);
}

/// Weights of the four points about a place between the second and the third (Catmull and Rom's cubic): exact for
/// quadratics.
std::array<double, 4> cubic_weights(double t) {
    return {0.5 * t * (-1.0 + t * (2.0 - t)), 0.5 * (2.0 + t * t * (-5.0 + 3.0 * t)),
            0.5 * t * (1.0 + t * (4.0 - 3.0 * t)), 0.5 * t * t * (-1.0 + t)};
}

}  // namespace

/// e at places of the lattice, by their integer coordinates.
struct FieldIntegral::Lattice {
    using Place = std::vector<int>;
    std::map<Place, double> values;
    std::map<Place, std::shared_ptr<const FieldConditional>> conditionals;  // where they are kept
    Vector top;
    Matrix axes;  // a step along each
    double highest = kNone;

    Vector psi(const Place& place) const {
        Vector result = top;
        for (std::size_t j = 0; j < place.size(); ++j) result += place[j] * axes.col(static_cast<Index>(j));
        return result;
    }
};

struct FieldIntegral::Piece {
    Matrix inverse_axes;  // of the lattice, in steps
    std::map<std::vector<int>, bool> places;
    Vector top;
    double highest = kNone;
    Matrix psi;
    Vector weights;  // exp(e − highest)
    std::vector<bool> coarse;
    std::vector<std::shared_ptr<const FieldConditional>> conditionals;
    double log_volume = 0.0;  // of a step
    Matrix cell;
    Matrix fine;
    Vector fine_weights;
    Matrix fresh;  // half a step from each node along all axes
    Vector fresh_weights;

    bool covers(const Vector& psi_in) const {
        const Vector steps = inverse_axes * (psi_in - top);
        std::vector<int> place(at(steps.size()));
        for (Index j = 0; j < steps.size(); ++j) {
            if (!(std::abs(steps[j]) < 1e6)) return false;
            place[at(j)] = static_cast<int>(std::lround(steps[j]));
        }
        return places.contains(place);
    }
};

// From the top outwards, a shell at a time: the neighbours, along the axes, of what has not dropped too far.
bool FieldIntegral::fill_lattice(const Vector& top, const Matrix& axes, std::vector<Piece>& pieces) const {
    const Index dimension = top.size();
    Lattice lattice;
    lattice.top = top;
    lattice.axes = options_.step * axes;
    const bool keeps = keeps_conditionals();
    // Places, each after one that is beside it.
    std::vector<std::pair<Lattice::Place, Lattice::Place>> frontier{{Lattice::Place(at(dimension), 0), {}}};
    while (!frontier.empty()) {
        Vector found(static_cast<Index>(frontier.size()));
        std::vector<std::shared_ptr<const FieldConditional>> conditionals(frontier.size());
        detail::in_parallel(options_.threads, found.size(), [&](Index i) {
            const auto& [place, from] = frontier[at(i)];
            if (!keeps) {
                found[i] = model_->log_density(lattice.psi(place));
                return;
            }
            const FieldConditional* near = from.empty() ? nullptr : lattice.conditionals.at(from).get();
            try {
                conditionals[at(i)] = model_->conditional(lattice.psi(place), near);
                found[i] = conditionals[at(i)]->bound();
            } catch (const std::domain_error&) {
                found[i] = kNone;
            }
            if (!std::isfinite(found[i])) found[i] = kNone;
        });
        for (std::size_t i = 0; i < frontier.size(); ++i) {
            lattice.values.emplace(frontier[i].first, found[static_cast<Index>(i)]);
            if (keeps) lattice.conditionals.emplace(frontier[i].first, std::move(conditionals[i]));
            lattice.highest = std::max(lattice.highest, found[static_cast<Index>(i)]);
        }
        if (static_cast<Index>(lattice.values.size()) > options_.most_nodes) return false;
        std::vector<std::pair<Lattice::Place, Lattice::Place>> next;
        for (const auto& [place, from] : frontier) {
            if (!(lattice.values.at(place) > lattice.highest - options_.drop)) continue;
            for (std::size_t j = 0; j < at(dimension); ++j) {
                for (const int side : {-1, 1}) {
                    Lattice::Place beside = place;
                    beside[j] += side;
                    if (!lattice.values.contains(beside)) next.emplace_back(std::move(beside), place);
                }
            }
        }
        std::sort(next.begin(), next.end());
        const auto same = [](const auto& one, const auto& other) { return one.first == other.first; };
        next.erase(std::unique(next.begin(), next.end(), same), next.end());
        frontier = std::move(next);
    }

    std::vector<Lattice::Place> kept;
    for (const auto& [place, value] : lattice.values) {
        if (!(value > lattice.highest - options_.drop)) continue;
        const Vector psi = lattice.psi(place);
        // What another lattice has is counted there.
        if (std::none_of(pieces.begin(), pieces.end(), [&](const Piece& other) { return other.covers(psi); })) {
            kept.push_back(place);
        }
    }
    if (kept.empty()) return true;
    correct(lattice, kept);
    Piece piece;
    piece.top = top;
    piece.highest = lattice.highest;
    piece.inverse_axes = lattice.axes.inverse();
    piece.log_volume = std::log(std::abs(lattice.axes.determinant()));
    piece.psi.resize(dimension, static_cast<Index>(kept.size()));
    piece.weights.resize(piece.psi.cols());
    for (Index k = 0; k < piece.psi.cols(); ++k) {
        const Lattice::Place& place = kept[at(k)];
        piece.places.emplace(place, true);
        piece.psi.col(k) = lattice.psi(place);
        piece.weights[k] = std::exp(lattice.values.at(place) - lattice.highest);
        piece.coarse.push_back(std::accumulate(place.begin(), place.end(), 0) % 2 == 0);
        if (keeps) piece.conditionals.push_back(lattice.conditionals.at(place));
    }
    interpolate(lattice, kept, piece);
    pieces.push_back(std::move(piece));
    return true;
}

// One about each top that no other reaches.
bool FieldIntegral::fill_lattices() {
    std::vector<Piece> pieces;
    for (const FieldMode& mode : model_->modes(options_.threads)) {
        const auto covers = [&](const Piece& piece) { return piece.covers(mode.psi); };
        if (std::any_of(pieces.begin(), pieces.end(), covers)) continue;
        if (!options_.other_nodes) {
            if (!fill_lattice(mode.psi, mode.axes, pieces)) return false;
            continue;
        }
        // Half a step off the top, along the columns of the Cholesky factor.
        const Matrix covariance = mode.axes * mode.axes.transpose();
        const Matrix axes = covariance.llt().matrixL();
        const Vector half = Vector::Constant(mode.psi.size(), 0.5 * options_.step);
        if (!fill_lattice(mode.psi + axes * half, axes, pieces)) return false;
    }
    join(pieces);
    return true;
}

void FieldIntegral::join(std::vector<Piece>& pieces) {
    double highest = kNone;
    Index nodes = 0;
    Index fine = 0;
    first_nodes_.clear();
    tops_.clear();
    cells_.clear();
    shares_.clear();
    coarse_.clear();
    conditionals_.clear();
    for (const Piece& piece : pieces) {
        highest = std::max(highest, piece.highest + piece.log_volume);
        nodes += piece.psi.cols();
        fine += piece.fine.cols();
    }
    const Index dimension = pieces.front().psi.rows();
    psi_.resize(dimension, nodes);
    weights_.resize(nodes);
    fine_.resize(dimension, fine);
    fine_weights_.resize(fine);
    fresh_psi_.resize(dimension, nodes);
    fresh_expected_.resize(nodes);
    Index node = 0;
    Index cell = 0;
    for (Piece& piece : pieces) {
        const double scale = std::exp(piece.highest + piece.log_volume - highest);
        first_nodes_.push_back(node);
        tops_.push_back(piece.top);
        cells_.push_back(piece.cell);
        psi_.middleCols(node, piece.psi.cols()) = piece.psi;
        weights_.segment(node, piece.psi.cols()) = scale * piece.weights;
        shares_.push_back(scale * piece.weights.sum());
        fine_.middleCols(cell, piece.fine.cols()) = piece.fine;
        fine_weights_.segment(cell, piece.fine.cols()) = scale * piece.fine_weights;
        fresh_psi_.middleCols(node, piece.psi.cols()) = piece.fresh;
        fresh_expected_.segment(node, piece.psi.cols()) = scale * piece.fresh_weights;
        coarse_.insert(coarse_.end(), piece.coarse.begin(), piece.coarse.end());
        conditionals_.insert(conditionals_.end(), piece.conditionals.begin(), piece.conditionals.end());
        node += piece.psi.cols();
        cell += piece.fine.cols();
    }
    const double total = weights_.sum();
    log_evidence_ = highest + std::log(total);
    weights_ /= total;
    for (double& share : shares_) share /= total;
    fine_weights_ /= fine_weights_.sum();
    k_hat_ = kNone;
    ess_ = static_cast<double>(nodes);
    weigh_fresh(pieces, highest);
}

// By e itself. Where each takes a search, half of very many have to do.
void FieldIntegral::weigh_fresh(const std::vector<Piece>& pieces, double highest) {
    constexpr Index kMany = 300;
    const bool is_dear = model_->has_corrections() && nodes() > kMany;
    fresh_weights_ = Vector::Zero(nodes());
    detail::in_parallel(options_.threads, nodes(), [&](Index k) {
        if (is_dear && !coarse_[at(k)]) {
            fresh_expected_[k] = 0.0;
            return;
        }
        double value = kNone;
        try {
            const FieldConditional* near = conditionals_.empty() ? nullptr : conditionals_[at(k)].get();
            value = near == nullptr ? model_->corrected_log_density(fresh_psi_.col(k))
                                    : model_->conditional(fresh_psi_.col(k), near)->log_density();
        } catch (const std::domain_error&) {
        }
        if (!std::isfinite(value)) return;
        fresh_weights_[k] = std::exp(value + pieces[at(piece_of_node(k))].log_volume - highest);
    });
    fresh_expected_ /= fresh_expected_.sum();
    fresh_weights_ /= fresh_weights_.sum();
}

// Between nodes, on a finer lattice, by cubics along each axis.
void FieldIntegral::interpolate(const Lattice& lattice, const std::vector<std::vector<int>>& kept, Piece& piece) const {
    const Index dimension = piece.psi.rows();
    constexpr std::array<int, 6> kFiner{1, 16, 8, 4, 3, 2};
    const int finer = dimension <= 5 ? kFiner[at(dimension)] : 1;
    Index cells = 1;
    for (Index j = 0; j < dimension; ++j) cells *= finer;
    piece.cell = lattice.axes / finer;
    piece.fine.resize(dimension, piece.psi.cols() * cells);
    piece.fine_weights.resize(piece.fine.cols());
    piece.fresh.resize(dimension, piece.psi.cols());
    piece.fresh_weights.resize(piece.psi.cols());
    const double missing = lattice.highest - options_.drop - 3.0;
    detail::in_parallel(options_.threads, piece.psi.cols(), [&](Index k) {
        const Lattice::Place& place = kept[at(k)];
        // All values that cells of this node may need, two to either side.
        constexpr int kSide = 5;
        Index block = 1;
        for (Index j = 0; j < dimension; ++j) block *= kSide;
        std::vector<double> near(at(block));
        Lattice::Place beside(place.size());
        for (Index b = 0; b < block; ++b) {
            Index rest = b;
            for (std::size_t j = 0; j < place.size(); ++j, rest /= kSide) {
                beside[j] = place[j] + static_cast<int>(rest % kSide) - 2;
            }
            const auto value = lattice.values.find(beside);
            near[at(b)] = value == lattice.values.end() ? missing : std::max(value->second, missing - 20.0);
        }
        std::vector<double> shrinking;
        Vector offsets(dimension);
        // Axis by axis, the first running fastest: five values become one.
        const auto weight_there = [&] {
            shrinking = near;
            std::size_t size = shrinking.size();
            for (const double offset : offsets) {
                const int first = offset < 0.0 ? 0 : 1;
                const std::array<double, 4> weights = cubic_weights(offset < 0.0 ? 1.0 + offset : offset);
                size /= kSide;
                for (std::size_t i = 0; i < size; ++i) {
                    double sum = 0.0;
                    for (int w = 0; w < 4; ++w) sum += weights[at(w)] * shrinking[i * kSide + at(first + w)];
                    shrinking[i] = sum;
                }
            }
            return std::exp(std::min(shrinking[0] - lattice.highest, 2.0));
        };
        for (Index c = 0; c < cells; ++c) {
            Index rest = c;
            for (Index j = 0; j < dimension; ++j, rest /= finer) {
                offsets[j] = (static_cast<double>(rest % finer) + 0.5) / finer - 0.5;
            }
            piece.fine.col(k * cells + c) = piece.psi.col(k) + lattice.axes * offsets;
            piece.fine_weights[k * cells + c] = weight_there();
        }
        offsets.setConstant(0.5);
        piece.fresh.col(k) = piece.psi.col(k) + lattice.axes * offsets;
        piece.fresh_weights[k] = weight_there();
    });
}

// Where rows are not normal, the lattice reaches as far as the bound does, but its nodes weigh what they do with what
// the bound misses. The shell about them is moved along with the top.
void FieldIntegral::correct(Lattice& lattice, const std::vector<std::vector<int>>& kept) const {
    if (!model_->has_corrections()) return;
    Vector found(static_cast<Index>(kept.size()));
    detail::in_parallel(options_.threads, found.size(), [&](Index i) {
        const auto own = lattice.conditionals.find(kept[at(i)]);
        found[i] = own == lattice.conditionals.end() ? model_->corrected_log_density(lattice.psi(kept[at(i)]))
                                                     : own->second->log_density();
    });
    double shift = 0.0;
    for (std::size_t i = 0; i < kept.size(); ++i) {
        if (lattice.values.at(kept[i]) == lattice.highest) shift = found[static_cast<Index>(i)] - lattice.highest;
    }
    for (auto& [place, value] : lattice.values) value += shift;
    for (std::size_t i = 0; i < kept.size(); ++i) lattice.values[kept[i]] = found[static_cast<Index>(i)];
    lattice.highest = found.maxCoeff();
}

}  // namespace lrvb
