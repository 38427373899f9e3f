#include "query/quantiles.hpp"

#include "family/special.hpp"

#include <cmath>
#include <numbers>
#include <numeric>

namespace lrvb::detail {

namespace {

constexpr Index kMostQuantiles = 200;

}  // namespace

std::vector<Index> quantile_places(Index count) {
    std::vector<Index> places;
    if (count <= kMostQuantiles) {
        places.resize(static_cast<std::size_t>(count));
        std::iota(places.begin(), places.end(), Index{0});
        return places;
    }
    const auto n = static_cast<double>(count);
    const double end = -normal_quantile(0.5 / n);
    for (Index i = 0; i < kMostQuantiles; ++i) {
        const double z = end * (2.0 * static_cast<double>(i) / static_cast<double>(kMostQuantiles - 1) - 1.0);
        const double share = 0.5 * std::erfc(-z / std::numbers::sqrt2);
        const auto place = std::clamp<Index>(static_cast<Index>(std::lround(n * share - 0.5)), 0, count - 1);
        if (places.empty() || place > places.back()) places.push_back(place);
    }
    return places;
}

}  // namespace lrvb::detail
