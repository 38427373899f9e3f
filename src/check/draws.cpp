#include "sample/resampling.hpp"

#include <lrvb/check/draws.hpp>
#include <lrvb/family/random.hpp>
#include <lrvb/sample/pareto.hpp>

#include <numeric>
#include <utility>

namespace lrvb {

namespace {

// Far from those that made the draws.
constexpr std::uint64_t kStream = std::uint64_t{1} << 62;

}  // namespace

std::vector<Index> equally_weighted(const Check& check) {
    const Index count = check.draw_of.empty() ? check.values.cols() : check.draws;
    std::vector<Index> chosen(static_cast<std::size_t>(count));
    std::iota(chosen.begin(), chosen.end(), Index{0});
    if (check.chains > 0) return chosen;
    const Vector weights = weights_of(check.log_weights);
    Random random(check.seed, kStream);
    chosen = detail::resampled(weights, count, random.uniform());
    for (std::size_t i = chosen.size(); i-- > 1;) {
        const auto other = static_cast<std::size_t>(random.uniform() * static_cast<double>(i + 1));
        std::swap(chosen[i], chosen[other]);
    }
    return chosen;
}

}  // namespace lrvb
