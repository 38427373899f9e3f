#include "kind/bins.hpp"

#include <algorithm>
#include <cmath>

namespace lrvb::detail {

namespace {

constexpr double kFewestBins = 10.0;
constexpr double kMostFineBins = 2000.0;

// The number below which this share of them lies.
double quantile(std::vector<double>& numbers, double share) {
    const auto at = static_cast<std::ptrdiff_t>(share * static_cast<double>(numbers.size() - 1));
    std::nth_element(numbers.begin(), numbers.begin() + at, numbers.end());
    return numbers[static_cast<std::size_t>(at)];
}

}  // namespace

Index Axis::bin(double x) const {
    const double place = std::floor((x - start) / step);
    return static_cast<Index>(std::clamp(place, 0.0, static_cast<double>(bins - 1)));
}

Axis axis(double smallest, double largest, Index bins) {
    const double step = (largest - smallest) / static_cast<double>(bins);
    if (step > 0.0 && std::isfinite(step)) return {smallest, step, bins};
    return {smallest - 0.5, 1.0, 1};  // one number only
}

Axis histogram_axis(double smallest, double largest, std::vector<double> sample, Index rows, Index most,
                    double narrowest) {
    const auto count = static_cast<double>(rows);
    double bins = std::sqrt(count);
    const double range = sample.empty() ? 0.0 : quantile(sample, 0.75) - quantile(sample, 0.25);
    if (range > 0.0) bins = std::max(bins, (largest - smallest) / (2.0 * range / std::cbrt(count)));
    bins = std::clamp(bins, kFewestBins, static_cast<double>(most));
    const double fine = std::min(2.0 * (largest - smallest) / narrowest, kMostFineBins);
    return axis(smallest, largest, static_cast<Index>(std::ceil(fine > bins ? fine : bins)));
}

Document count_of(double value) {
    const bool is_whole = value == std::floor(value) && value < 1e15;
    return is_whole ? Document(static_cast<std::int64_t>(value)) : Document(value);
}

Document cells_of(const PairBins& pair) {
    Document cells = Document::list();
    for (Index i = 0; i < pair.counts().rows(); ++i) {
        for (Index j = 0; j < pair.counts().cols(); ++j) {
            const double cell = pair.counts()(i, j);
            if (cell > 0.0) cells.push_back(Document::list({i, j, count_of(cell)}));
        }
    }
    return cells;
}

}  // namespace lrvb::detail
