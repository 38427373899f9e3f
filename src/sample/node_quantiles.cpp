#include "sample/node_quantiles.hpp"

#include "family/special.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>
#include <utility>

namespace lrvb::detail {

namespace {

std::size_t at(Index i) {
    return static_cast<std::size_t>(i);
}

double normal_probability(double z) {
    return 0.5 * std::erfc(-z / std::numbers::sqrt2);
}

/// u is linear in Φ⁻¹(p) between points whose Φ⁻¹(p) are z, ascending; beyond them it goes on along the last two.
double interpolated(const std::vector<double>& z, const std::vector<double>& u, double where) {
    if (u.size() == 1) return u.front();
    const auto above = std::lower_bound(z.begin(), z.end(), where);
    std::size_t right = static_cast<std::size_t>(above - z.begin());
    right = std::clamp<std::size_t>(right, 1, z.size() - 1);
    const double share = (where - z[right - 1]) / (z[right] - z[right - 1]);
    return u[right - 1] + share * (u[right] - u[right - 1]);
}

}  // namespace

Vector mixture_quantiles(const Vector& weights, const VectorView& means, const VectorView& variances, double mean,
                         double sd, const std::vector<double>& probabilities) {
    constexpr int kHalf = 64;
    constexpr double kReach = 8.0;
    std::vector<double> z;
    std::vector<double> u;
    const Vector sds = variances.cwiseMax(0.0).cwiseSqrt();
    for (int g = -kHalf; g <= kHalf; ++g) {
        const double value = mean + sd * kReach * g / kHalf;
        double below = 0.0;
        double above = 0.0;
        for (Index k = 0; k < weights.size(); ++k) {
            const double distance = sds[k] > 0.0 ? (value - means[k]) / sds[k] : (value >= means[k] ? 40.0 : -40.0);
            below += weights[k] * normal_probability(distance);
            above += weights[k] * normal_probability(-distance);
        }
        // From the end where it is small, so that nothing cancels.
        const double score = below < above ? normal_quantile(std::clamp(below, 1e-300, 0.5))
                                           : -normal_quantile(std::clamp(above, 1e-300, 0.5));
        if (!z.empty() && !(score > z.back() + 1e-9)) continue;
        if (std::abs(score) > 8.0) continue;
        z.push_back(score);
        u.push_back(value);
    }
    Vector result(static_cast<Index>(probabilities.size()));
    for (std::size_t i = 0; i < probabilities.size(); ++i) {
        result[static_cast<Index>(i)] = z.empty() ? mean : interpolated(z, u, normal_quantile(probabilities[i]));
    }
    return result;
}

Vector weighted_quantiles(const Vector& weights, const VectorView& values, const std::vector<double>& probabilities) {
    std::vector<Index> order(at(values.size()));
    std::iota(order.begin(), order.end(), Index{0});
    std::sort(order.begin(), order.end(), [&](Index a, Index b) { return values[a] < values[b]; });
    const double same = 1e-9 * (values.maxCoeff() - values.minCoeff());
    std::vector<double> z;
    std::vector<double> u;
    double before = 0.0;
    for (std::size_t i = 0; i < order.size();) {
        double weight = 0.0;
        double sum = 0.0;
        const double first = values[order[i]];
        for (; i < order.size() && values[order[i]] - first <= same; ++i) {
            weight += weights[order[i]];
            sum += weights[order[i]] * values[order[i]];
        }
        const double probability = before + 0.5 * weight;
        before += weight;
        if (!(weight > 0.0 && probability > 0.0 && probability < 1.0)) continue;
        const double score = normal_quantile(probability);
        if (!z.empty() && !(score > z.back())) continue;
        z.push_back(score);
        u.push_back(sum / weight);
    }
    Vector result(static_cast<Index>(probabilities.size()));
    for (std::size_t i = 0; i < probabilities.size(); ++i) {
        result[static_cast<Index>(i)] = interpolated(z, u, normal_quantile(probabilities[i]));
    }
    return result;
}

Vector spread_quantiles(const Vector& weights, const VectorView& values, const VectorView& widths,
                        const std::vector<double>& probabilities) {
    const double smallest = 1e-12 * (values.maxCoeff() - values.minCoeff()) + std::numeric_limits<double>::min();
    std::vector<std::pair<double, double>> turns;  // places, and by how much the density rises there
    turns.reserve(2 * at(values.size()));
    for (Index i = 0; i < values.size(); ++i) {
        if (!(weights[i] > 0.0)) continue;
        const double width = std::max(widths[i], smallest);
        turns.emplace_back(values[i] - 0.5 * width, weights[i] / width);
        turns.emplace_back(values[i] + 0.5 * width, -weights[i] / width);
    }
    std::sort(turns.begin(), turns.end());
    std::vector<double> below(turns.size(), 0.0);
    double density = 0.0;
    for (std::size_t t = 1; t < turns.size(); ++t) {
        density = std::max(density + turns[t - 1].second, 0.0);
        below[t] = below[t - 1] + density * (turns[t].first - turns[t - 1].first);
    }
    Vector result(static_cast<Index>(probabilities.size()));
    for (std::size_t i = 0; i < probabilities.size(); ++i) {
        const double wanted = probabilities[i] * below.back();
        const auto above = std::lower_bound(below.begin(), below.end(), wanted);
        const std::size_t right =
            std::clamp<std::size_t>(static_cast<std::size_t>(above - below.begin()), 1, below.size() - 1);
        const double gained = below[right] - below[right - 1];
        const double share = gained > 0.0 ? (wanted - below[right - 1]) / gained : 1.0;
        result[static_cast<Index>(i)] = turns[right - 1].first + share * (turns[right].first - turns[right - 1].first);
    }
    return result;
}

}  // namespace lrvb::detail
