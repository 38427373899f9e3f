#include "family/special.hpp"

#include <lrvb/posterior/quantiles.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <vector>

namespace lrvb {

namespace {

constexpr Index kCount = static_cast<Index>(kQuantileProbabilities.size());
// Whose line with the outermost quantile goes on beyond it: the one next to that hangs on too few draws.
constexpr Index kInner = 3;
static_assert(kQuantileProbabilities[kInner] == 0.005);

// Φ⁻¹ of the probabilities.
const Vector& normal_quantiles() {
    static const Vector quantiles = [] {
        Vector z(kCount);
        for (Index i = 0; i < kCount; ++i) {
            z[i] = detail::normal_quantile(kQuantileProbabilities[static_cast<std::size_t>(i)]);
        }
        return z;
    }();
    return quantiles;
}

// On the line through two points; the nearer of them where the other is at infinity, as a weight of one is.
double on_line(double z, double z_left, double u_left, double z_right, double u_right) {
    const double share = (z - z_left) / (z_right - z_left);
    if (!std::isfinite(u_left) || !std::isfinite(u_right)) return share < 0.5 ? u_left : u_right;
    return (1.0 - share) * u_left + share * u_right;
}

// Draws in ascending order, with the normal quantiles of the probabilities at which they stand.
struct Ranked {
    std::vector<double> u;
    std::vector<double> z;
    double sd = 0.0;
};

Ranked ranked(const Transform& transform, const Vector& values, const Vector& log_weights) {
    const Vector unbounded = unbounded_values(transform, values);
    std::vector<std::pair<double, double>> draws;  // u, weight
    double total = 0.0;
    for (Index i = 0; i < values.size(); ++i) {
        const double weight = std::exp(log_weights[i]);
        if (!(weight > 0.0) || std::isnan(unbounded[i])) continue;
        draws.emplace_back(unbounded[i], weight);
        total += weight;
    }
    if (draws.empty()) throw std::invalid_argument("draw_quantiles: no draw has a weight: take other draws");
    std::sort(draws.begin(), draws.end());
    Ranked result;
    double before = 0.0;
    double finite = 0.0;
    double mean = 0.0;
    double squares = 0.0;
    for (const auto& [u, weight] : draws) {
        const double probability = (before + 0.5 * weight) / total;
        before += weight;
        // A weight that is lost among the others is at neither end.
        if (!(probability > 0.0 && probability < 1.0)) continue;
        result.u.push_back(u);
        result.z.push_back(detail::normal_quantile(probability));
        if (!std::isfinite(u)) continue;
        finite += weight;
        const double step = u - mean;
        mean += step * weight / finite;
        squares += weight * step * (u - mean);
    }
    if (finite > 0.0) result.sd = std::sqrt(squares / finite);
    return result;
}

double quantile_among(const Ranked& draws, double z) {
    const auto above = std::lower_bound(draws.z.begin(), draws.z.end(), z);
    if (above == draws.z.begin()) return draws.u.front() + draws.sd * (z - draws.z.front());
    if (above == draws.z.end()) return draws.u.back() + draws.sd * (z - draws.z.back());
    const auto right = static_cast<std::size_t>(above - draws.z.begin());
    return on_line(z, draws.z[right - 1], draws.u[right - 1], draws.z[right], draws.u[right]);
}

}  // namespace

Vector draw_quantiles(const Transform& transform, const Vector& values, const Vector& log_weights) {
    if (values.size() != log_weights.size()) {
        throw std::invalid_argument(fmt::format("draw_quantiles: there are {} values, but {} weights: give one each",
                                                values.size(), log_weights.size()));
    }
    const Ranked draws = ranked(transform, values, log_weights);
    Vector quantiles(kCount);
    for (Index i = 0; i < kCount; ++i) {
        quantiles[i] = transformed(transform, quantile_among(draws, normal_quantiles()[i]));
        // Rounding of the transform leaves them in order.
        if (i > 0) quantiles[i] = std::max(quantiles[i], quantiles[i - 1]);
    }
    return quantiles;
}

double quantile_at(const Transform& transform, const Vector& quantiles, double probability) {
    if (quantiles.size() != kCount) {
        throw std::invalid_argument(
            fmt::format("quantile_at: there are {} quantiles, but must be {}", quantiles.size(), kCount));
    }
    if (!(probability > 0.0 && probability < 1.0)) {
        throw std::invalid_argument(
            fmt::format("quantile_at: the probability is {}, but must lie between 0 and 1", probability));
    }
    const Vector& zs = normal_quantiles();
    const Vector u = unbounded_values(transform, quantiles);
    const double z = detail::normal_quantile(probability);
    const auto along = [&](Index left, Index right) {
        return transformed(transform, on_line(z, zs[left], u[left], zs[right], u[right]));
    };
    if (z <= zs[0]) return along(0, kInner);
    if (z >= zs[kCount - 1]) return along(kCount - 1 - kInner, kCount - 1);
    const Index right = std::upper_bound(zs.begin(), zs.end(), z) - zs.begin();
    return along(right - 1, right);
}

}  // namespace lrvb
