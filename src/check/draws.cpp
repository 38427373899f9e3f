#include <lrvb/check/draws.hpp>
#include <lrvb/family/random.hpp>

#include <cmath>
#include <numeric>
#include <stdexcept>
#include <utility>

namespace lrvb {

namespace {

// Far from those that made the draws.
constexpr std::uint64_t kStream = std::uint64_t{1} << 62;

}  // namespace

std::vector<Index> equally_weighted(const Check& check) {
    const Index count = check.values.cols();
    std::vector<Index> chosen(static_cast<std::size_t>(count));
    std::iota(chosen.begin(), chosen.end(), Index{0});
    if (check.chains > 0) return chosen;
    // Eigen's exp of −∞ is a little more than nothing.
    const Vector weights = check.log_weights.unaryExpr([](double weight) { return std::exp(weight); });
    const double total = weights.sum();
    if (!(total > 0.0 && std::isfinite(total))) {
        throw std::invalid_argument("no draw has a weight, so that none can be taken by it: take other draws");
    }
    Random random(check.seed, kStream);
    const double offset = random.uniform();
    Index at = 0;
    Index last = 0;  // that has a weight
    double below = weights[0];
    for (Index i = 0; i < count; ++i) {
        const double place = (static_cast<double>(i) + offset) / static_cast<double>(count) * total;
        // Rounding may leave the last places beyond all weights.
        while (below <= place && at + 1 < count) below += weights[++at];
        if (weights[at] > 0.0) last = at;
        chosen[static_cast<std::size_t>(i)] = last;
    }
    for (std::size_t i = chosen.size(); i-- > 1;) {
        const auto other = static_cast<std::size_t>(random.uniform() * static_cast<double>(i + 1));
        std::swap(chosen[i], chosen[other]);
    }
    return chosen;
}

}  // namespace lrvb
