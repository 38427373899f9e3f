#include "check/labels.hpp"

#include <limits>
#include <utility>

namespace lrvb::detail {

LabelledDensity::LabelledDensity(const Model& model, const State& state, const ModelDensity& density,
                                 const NormalApproximation& approximation)
    : density_(density),
      centre_(approximation.mean),
      inverse_sd_(Vector(approximation.covariance.diagonal()).cwiseSqrt().cwiseInverse()) {
    const Exchangeable exchangeable = model.exchangeable();
    std::vector<std::vector<Index>> blocks;
    for (const std::vector<Index>& block : exchangeable.blocks) {
        std::vector<Index> coordinates;
        Vector held;
        for (const Index variable : block) {
            if (state.clamped[static_cast<std::size_t>(variable)]) {
                const Vector value = model.layout().segment(state.mean, variable);
                held.conservativeResize(held.size() + value.size());
                held.tail(value.size()) = value;
                continue;
            }
            const std::vector<Index> own = density.chart().coordinates_of(variable);
            coordinates.insert(coordinates.end(), own.begin(), own.end());
        }
        blocks.push_back(std::move(coordinates));
        held_.push_back(std::move(held));
    }
    blocks_ = std::move(blocks);
    for (const Index variable : exchangeable.further) {
        if (state.clamped[static_cast<std::size_t>(variable)]) {
            further_weights_.push_back(model.layout().segment(state.mean, variable));
        } else {
            further_ratios_.push_back(density.chart().coordinates_of(variable));
        }
    }
    if (!exchangeable.weights) return;
    if (state.clamped[static_cast<std::size_t>(*exchangeable.weights)]) {
        weights_ = model.layout().segment(state.mean, *exchangeable.weights);
    } else {
        ratios_ = density.chart().coordinates_of(*exchangeable.weights);
    }
}

// How much nearer to the centre the point is with these two blocks exchanged, squared.
double LabelledDensity::gain(const VectorView& point, std::size_t one, std::size_t other) const {
    if (held_[one] != held_[other]) return 0.0;
    if (weights_.size() > 0 && weights_[static_cast<Index>(one)] != weights_[static_cast<Index>(other)]) return 0.0;
    for (const Vector& held : further_weights_) {
        if (held[static_cast<Index>(one)] != held[static_cast<Index>(other)]) return 0.0;
    }
    if (!further_ratios_.empty()) return gain_with_further(point, one, other);
    const auto square = [&](Index at, double value) {
        const double off = (value - centre_[at]) * inverse_sd_[at];
        return off * off;
    };
    double sum = 0.0;
    for (std::size_t i = 0; i < blocks_[one].size(); ++i) {
        const Index left = blocks_[one][i];
        const Index right = blocks_[other][i];
        sum += square(left, point[left]) - square(left, point[right]);
        sum += square(right, point[right]) - square(right, point[left]);
    }
    if (ratios_.empty()) return sum;
    const std::size_t last = ratios_.size();
    const auto log_weight = [&](std::size_t k) { return k < last ? point[ratios_[k]] : 0.0; };
    const auto exchanged = [&](std::size_t k) { return log_weight(k == one ? other : k == other ? one : k); };
    for (std::size_t k = 0; k < last; ++k) {
        sum += square(ratios_[k], point[ratios_[k]]) - square(ratios_[k], exchanged(k) - exchanged(last));
    }
    return sum;
}

// Blocks and parts of weights overlap: the whole point is exchanged.
double LabelledDensity::gain_with_further(const VectorView& point, std::size_t one, std::size_t other) const {
    Vector exchanged = point;
    exchange(exchanged, one, other);
    const Vector before = (point - centre_).cwiseProduct(inverse_sd_);
    const Vector after = (exchanged - centre_).cwiseProduct(inverse_sd_);
    const double gained = before.squaredNorm() - after.squaredNorm();
    // Not for rounding.
    return gained > 1e-12 * before.squaredNorm() ? gained : 0.0;
}

bool LabelledDensity::is_exchanged(const VectorView& point) const {
    for (std::size_t one = 0; one < blocks_.size(); ++one) {
        for (std::size_t other = one + 1; other < blocks_.size(); ++other) {
            if (gain(point, one, other) > 0.0) return true;
        }
    }
    return false;
}

void LabelledDensity::exchange(Vector& point, std::size_t one, std::size_t other) const {
    for (std::size_t i = 0; i < blocks_[one].size(); ++i) std::swap(point[blocks_[one][i]], point[blocks_[other][i]]);
    if (!ratios_.empty()) exchange_parts(ratios_, point, one, other);
    for (const std::vector<Index>& ratios : further_ratios_) exchange_parts(ratios, point, one, other);
}

void LabelledDensity::exchange_parts(const std::vector<Index>& ratios, Vector& point, std::size_t one,
                                     std::size_t other) {
    const std::size_t last = ratios.size();
    Vector log_weights = Vector::Zero(static_cast<Index>(last) + 1);
    for (std::size_t k = 0; k < last; ++k) log_weights[static_cast<Index>(k)] = point[ratios[k]];
    std::swap(log_weights[static_cast<Index>(one)], log_weights[static_cast<Index>(other)]);
    for (std::size_t k = 0; k < last; ++k) {
        point[ratios[k]] = log_weights[static_cast<Index>(k)] - log_weights[static_cast<Index>(last)];
    }
}

Vector LabelledDensity::relabelled(Vector point) const {
    // Each exchange brings the point nearer, so that none comes back: but for rounding, which the limit is for.
    bool exchanged = true;
    for (int turn = 0; turn < 100 && exchanged; ++turn) {
        exchanged = false;
        for (std::size_t one = 0; one < blocks_.size(); ++one) {
            for (std::size_t other = one + 1; other < blocks_.size(); ++other) {
                if (!(gain(point, one, other) > 0.0)) continue;
                exchange(point, one, other);
                exchanged = true;
            }
        }
    }
    return point;
}

Vector LabelledDensity::evaluate(const Matrix& points, int threads) const {
    Vector values = density_.evaluate(points, threads);
    for (Index i = 0; i < points.cols(); ++i) {
        ++seen_;
        if (!is_exchanged(points.col(i))) continue;
        ++cut_;
        values[i] = -std::numeric_limits<double>::infinity();
    }
    return values;
}

double LabelledDensity::exchanged() const {
    return seen_ > 0 ? static_cast<double>(cut_) / static_cast<double>(seen_) : 0.0;
}

}  // namespace lrvb::detail
