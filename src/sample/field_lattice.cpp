#include "base/parallel.hpp"

#include <lrvb/sample/field_integral.hpp>

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

// From the top outwards, a shell at a time: the neighbours, along the axes, of what has not dropped too far.
void FieldIntegral::fill_lattice(const Vector& top, const Matrix& axes) {
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
        if (static_cast<Index>(lattice.values.size()) > options_.most_nodes) {
            sample(top, axes);
            return;
        }
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
        if (value > lattice.highest - options_.drop) kept.push_back(place);
    }
    correct(lattice, kept);
    psi_.resize(dimension, static_cast<Index>(kept.size()));
    weights_.resize(psi_.cols());
    for (Index k = 0; k < psi_.cols(); ++k) {
        psi_.col(k) = lattice.psi(kept[at(k)]);
        weights_[k] = std::exp(lattice.values.at(kept[at(k)]) - lattice.highest);
        coarse_.push_back(std::accumulate(kept[at(k)].begin(), kept[at(k)].end(), 0) % 2 == 0);
        if (keeps) conditionals_.push_back(lattice.conditionals.at(kept[at(k)]));
    }
    const double volume = std::abs(lattice.axes.determinant());
    log_evidence_ = lattice.highest + std::log(weights_.sum() * volume);
    weights_ /= weights_.sum();
    k_hat_ = kNone;
    ess_ = static_cast<double>(psi_.cols());

    // Between them, on a finer lattice, by cubics along each axis.
    constexpr std::array<int, 6> kFiner{1, 16, 8, 4, 3, 2};
    const int finer = dimension <= 5 ? kFiner[at(dimension)] : 1;
    Index cells = 1;
    for (Index j = 0; j < dimension; ++j) cells *= finer;
    cell_ = lattice.axes / finer;
    fine_.resize(dimension, psi_.cols() * cells);
    fine_weights_.resize(fine_.cols());
    const double missing = lattice.highest - options_.drop - 3.0;
    detail::in_parallel(options_.threads, psi_.cols(), [&](Index k) {
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
        for (Index c = 0; c < cells; ++c) {
            Vector point = psi_.col(k);
            shrinking = near;
            std::size_t size = shrinking.size();
            Index rest = c;
            // Axis by axis, the first running fastest: five values become one.
            for (Index j = 0; j < dimension; ++j, rest /= finer) {
                const double offset = (static_cast<double>(rest % finer) + 0.5) / finer - 0.5;
                point += offset * lattice.axes.col(j);
                const int first = offset < 0.0 ? 0 : 1;
                const std::array<double, 4> weights = cubic_weights(offset < 0.0 ? 1.0 + offset : offset);
                size /= kSide;
                for (std::size_t i = 0; i < size; ++i) {
                    double sum = 0.0;
                    for (int w = 0; w < 4; ++w) sum += weights[at(w)] * shrinking[i * kSide + at(first + w)];
                    shrinking[i] = sum;
                }
            }
            fine_.col(k * cells + c) = point;
            fine_weights_[k * cells + c] = std::exp(std::min(shrinking[0] - lattice.highest, 2.0));
        }
    });
    fine_weights_ /= fine_weights_.sum();
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
