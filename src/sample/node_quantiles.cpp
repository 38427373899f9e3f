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
    constexpr double kFarthest = 8.0;
    constexpr double kBeyond = 0.6;   // of the outermost probability that is asked for
    constexpr double kNothing = 9.0;  // sds beyond which there is no mass that a double tells
    double outermost = 0.0;
    for (const double probability : probabilities) {
        outermost = std::max(outermost, std::abs(normal_quantile(probability)) + kBeyond);
    }
    const Vector sds = variances.cwiseMax(0.0).cwiseSqrt();
    // Φ⁻¹ of the probability below a value, from the end where that is small, so that nothing cancels.
    const auto score_at = [&](double value) {
        double below = 0.0;
        double above = 0.0;
        for (Index k = 0; k < weights.size(); ++k) {
            const double away = value - means[k];
            const double distance = sds[k] > 0.0 ? std::abs(away) / sds[k] : kNothing;
            const double tail = distance < kNothing ? 0.5 * std::erfc(distance / std::numbers::sqrt2) : 0.0;
            below += weights[k] * (away >= 0.0 ? 1.0 - tail : tail);
            above += weights[k] * (away >= 0.0 ? tail : 1.0 - tail);
        }
        return below < above ? normal_quantile(std::clamp(below, 1e-300, 0.5))
                             : -normal_quantile(std::clamp(above, 1e-300, 0.5));
    };
    std::vector<double> z;
    std::vector<double> u;
    // Outwards, upwards first, as far as probabilities are asked for.
    for (const int side : {1, -1}) {
        for (int g = side > 0 ? 0 : 1; g <= kHalf; ++g) {
            const double value = mean + side * sd * kReach * g / kHalf;
            const double score = score_at(value);
            if (std::abs(score) > kFarthest) break;
            if (z.empty() || side * (score - z.back()) > 1e-9) {
                z.push_back(score);
                u.push_back(value);
            }
            if (side * score > outermost) break;
        }
        std::reverse(z.begin(), z.end());
        std::reverse(u.begin(), u.end());
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
    // Sorted by buckets first: only where a quantile is are turns sorted one by one.
    constexpr std::size_t kBuckets = 4096;
    double first = turns.front().first;
    double last = first;
    for (const auto& [place, rise] : turns) {
        first = std::min(first, place);
        last = std::max(last, place);
    }
    const double size = (last - first) / static_cast<double>(kBuckets);
    const auto bucket_of = [&](double place) {
        return std::min(kBuckets - 1, static_cast<std::size_t>(size > 0.0 ? (place - first) / size : 0.0));
    };
    const auto edge = [&](std::size_t bucket) { return first + size * static_cast<double>(bucket); };
    std::vector<double> rises(kBuckets, 0.0);
    std::vector<double> gains(kBuckets, 0.0);  // within the bucket, of the rises there
    for (const auto& [place, rise] : turns) {
        const std::size_t bucket = bucket_of(place);
        rises[bucket] += rise;
        gains[bucket] += rise * (edge(bucket + 1) - place);
    }
    std::vector<double> density(kBuckets + 1, 0.0);
    std::vector<double> below(kBuckets + 1, 0.0);
    for (std::size_t b = 0; b < kBuckets; ++b) {
        below[b + 1] = std::max(below[b], below[b] + density[b] * size + gains[b]);
        density[b + 1] = std::max(density[b] + rises[b], 0.0);
    }
    std::vector<std::vector<std::pair<double, double>>> inside(kBuckets);
    std::vector<bool> is_wanted(kBuckets, false);
    const auto bucket_at = [&](double wanted) {
        const auto above = std::lower_bound(below.begin() + 1, below.end(), wanted);
        return std::min(kBuckets - 1, static_cast<std::size_t>(above - below.begin()) - 1);
    };
    for (const double probability : probabilities) is_wanted[bucket_at(probability * below.back())] = true;
    for (const auto& turn : turns) {
        const std::size_t bucket = bucket_of(turn.first);
        if (is_wanted[bucket]) inside[bucket].push_back(turn);
    }
    for (std::vector<std::pair<double, double>>& own : inside) std::sort(own.begin(), own.end());
    Vector result(static_cast<Index>(probabilities.size()));
    for (std::size_t i = 0; i < probabilities.size(); ++i) {
        const double wanted = probabilities[i] * below.back();
        const std::size_t bucket = bucket_at(wanted);
        double here = below[bucket];
        double rate = density[bucket];
        double place = edge(bucket);
        double found = edge(bucket + 1);
        for (const auto& [next, rise] : inside[bucket]) {
            const double there = here + rate * (next - place);
            if (there >= wanted) break;
            here = there;
            place = next;
            rate = std::max(rate + rise, 0.0);
        }
        if (rate > 0.0) found = std::min(found, place + (wanted - here) / rate);
        result[static_cast<Index>(i)] = found;
    }
    return result;
}

}  // namespace lrvb::detail
