#include "sample/interval.hpp"

#include "family/special.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace lrvb::detail {

IntervalPoint Interval::at(double v) const {
    const bool below = std::isfinite(lower);
    const bool above = std::isfinite(upper);
    if (!below && !above) return {v, 0.0, 0.0};
    if (below && above) {
        const double share = 1.0 / (1.0 + std::exp(-v));
        const double rest = 1.0 / (1.0 + std::exp(v));
        const double length = upper - lower;
        const double value = v < 0.0 ? lower + length * share : upper - length * rest;
        return {value, std::log(length) - softplus(v) - softplus(-v), rest - share};
    }
    // From the bound away.
    const double distance = is_logarithm ? softplus(v) : std::exp(v);
    const double value = below ? lower + distance : upper - distance;
    if (is_logarithm) return {value, -softplus(-v), 1.0 / (1.0 + std::exp(v))};
    return {value, v, 1.0};
}

double Interval::coordinate(double y) const {
    const bool below = std::isfinite(lower);
    const bool above = std::isfinite(upper);
    if (!below && !above) return y;
    constexpr double kEpsilon = std::numeric_limits<double>::epsilon();
    if (below && above) {
        const double least = kEpsilon * std::max({upper - lower, std::abs(lower), std::abs(upper)});
        return std::log(std::max(y - lower, least)) - std::log(std::max(upper - y, least));
    }
    const double bound = below ? lower : upper;
    const double distance = std::max(below ? y - bound : bound - y, kEpsilon * std::max(1e-300, std::abs(bound)));
    if (!is_logarithm) return std::log(distance);
    return distance > 30.0 ? distance : std::log(std::expm1(distance));
}

Interval interval_of_log(const family::Scale& scale) {
    const auto [lower, upper] = scale.bounds_of_log();
    return {lower, upper, true};
}

Interval interval_of(const family::TruncatedNormal& normal) {
    return {normal.lower(), normal.upper(), false};
}

}  // namespace lrvb::detail
