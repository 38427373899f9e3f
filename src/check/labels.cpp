#include "check/labels.hpp"

#include <lrvb/kind/mixture/model.hpp>

#include <limits>

namespace lrvb::detail {

LabelledDensity::LabelledDensity(const Model& model, const State& state, const ModelDensity& density,
                                 const NormalApproximation& approximation)
    : density_(density),
      centre_(approximation.mean),
      inverse_sd_(approximation.covariance.diagonal().cwiseSqrt().cwiseInverse()) {
    const auto* mixture = dynamic_cast<const MixtureModel*>(&model);
    if (mixture == nullptr || mixture->components() == 1) return;
    // The weights are the first variable; then come the components, one after the other.
    for (std::size_t j = 1; j < state.clamped.size(); ++j) {
        if (state.clamped[j]) return;
    }
    components_ = mixture->components();
    if (state.clamped[0]) {
        weights_ = model.layout().segment(state.mean, 0);
    } else {
        ratios_ = components_ - 1;
    }
    own_ = (density.dimension() - ratios_) / components_;
}

// How much nearer to the centre the point is with these two components exchanged, squared.
double LabelledDensity::gain(const VectorView& point, Index one, Index other) const {
    if (weights_.size() > 0 && weights_[one] != weights_[other]) return 0.0;
    const auto square = [&](Index at, double value) {
        const double off = (value - centre_[at]) * inverse_sd_[at];
        return off * off;
    };
    double sum = 0.0;
    const Index left = ratios_ + one * own_;
    const Index right = ratios_ + other * own_;
    for (Index i = 0; i < own_; ++i) {
        sum += square(left + i, point[left + i]) - square(left + i, point[right + i]);
        sum += square(right + i, point[right + i]) - square(right + i, point[left + i]);
    }
    if (ratios_ == 0) return sum;
    const auto log_weight = [&](Index k) { return k < ratios_ ? point[k] : 0.0; };
    const auto exchanged = [&](Index k) { return log_weight(k == one ? other : k == other ? one : k); };
    for (Index k = 0; k < ratios_; ++k) sum += square(k, point[k]) - square(k, exchanged(k) - exchanged(ratios_));
    return sum;
}

bool LabelledDensity::is_exchanged(const VectorView& point) const {
    for (Index one = 0; one < components_; ++one) {
        for (Index other = one + 1; other < components_; ++other) {
            if (gain(point, one, other) > 0.0) return true;
        }
    }
    return false;
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
