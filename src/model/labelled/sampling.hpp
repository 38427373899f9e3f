#pragma once

#include <lrvb/family/random.hpp>
#include <lrvb/types.hpp>

#include <algorithm>
#include <numeric>
#include <vector>

namespace lrvb::detail {

/// A label by its probability, where probability(k) is that of k; rounding goes to the last.
template <class Probability>
std::size_t drawn_label(std::size_t labels, Probability probability, Random& random) {
    double left = random.uniform();
    std::size_t k = 0;
    while (k + 1 < labels && left >= probability(k)) left -= probability(k++);
    return k;
}

/// No more than `most` of the numbers below `count`, drawn without replacement, in order.
inline std::vector<Index> some_of(Index count, Index most, Random& random) {
    std::vector<Index> chosen;
    if (count <= most) {
        chosen.resize(static_cast<std::size_t>(count));
        std::iota(chosen.begin(), chosen.end(), Index{0});
        return chosen;
    }
    // One from each of `most` strata of equal size: as good, and in order.
    for (Index i = 0; i < most; ++i) {
        const Index begin = i * count / most;
        const Index end = (i + 1) * count / most;
        const auto step = static_cast<Index>(random.uniform() * static_cast<double>(end - begin));
        chosen.push_back(std::min(end - 1, begin + step));
    }
    return chosen;
}

}  // namespace lrvb::detail
