#include "sample/resampling.hpp"

#include <cmath>
#include <stdexcept>

namespace lrvb::detail {

std::vector<Index> resampled(const Vector& weights, Index count, double offset) {
    const double total = weights.sum();
    if (!(total > 0.0 && std::isfinite(total))) {
        throw std::invalid_argument("no draw has a weight, so that none can be taken by it: take other draws");
    }
    std::vector<Index> chosen;
    chosen.reserve(static_cast<std::size_t>(count));
    Index at = 0;
    Index last = 0;  // that has a weight
    double below = weights[0];
    for (Index i = 0; i < count; ++i) {
        const double place = (static_cast<double>(i) + offset) / static_cast<double>(count) * total;
        // Rounding may leave the last places beyond all weights.
        while (below <= place && at + 1 < weights.size()) below += weights[++at];
        if (weights[at] > 0.0) last = at;
        chosen.push_back(last);
    }
    return chosen;
}

}  // namespace lrvb::detail
