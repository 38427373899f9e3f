#include "query/column_check.hpp"

#include "family/special.hpp"
#include "kind/bins.hpp"
#include "query/quantiles.hpp"

#include <fmt/format.h>

#include <cmath>
#include <numbers>
#include <stdexcept>

namespace lrvb {

namespace {

constexpr Index kMostBins = 400;

// P(column ≤ x), or, of the upper tail, P(column > x).
double marginal_tail(const ColumnMarginal& marginal, double x, bool upper) {
    const double sign = upper ? 1.0 : -1.0;
    double result = 0.0;
    for (Index k = 0; k < marginal.weights.size(); ++k) {
        const double z = (x - marginal.means[k]) / marginal.sds[k];
        result += 0.5 * marginal.weights[k] * std::erfc(sign * z / std::numbers::sqrt2);
    }
    return result;
}

}  // namespace

namespace detail {

ColumnCheck column_check(ColumnMarginal marginal, const std::vector<double>& sorted) {
    ColumnCheck result;
    result.rows = static_cast<Index>(sorted.size());
    result.quantiles =
        quantile_plot(sorted, [&](double probability) { return marginal_quantile(marginal, probability); });
    const Axis axis =
        histogram_axis(sorted.front(), sorted.back(), sorted, result.rows, kMostBins, marginal.sds.minCoeff());
    Histogram histogram(axis);
    for (const double x : sorted) histogram.add(x, 1.0);
    result.start = axis.start;
    result.step = axis.step;
    result.counts = histogram.counts();
    result.expected.resize(axis.bins);
    for (Index bin = 0; bin < axis.bins; ++bin) {
        const double low = axis.start + axis.step * static_cast<double>(bin);
        const double high = low + axis.step;
        const bool upper = marginal_tail(marginal, low, false) > 0.5;
        const double share = std::abs(marginal_tail(marginal, high, upper) - marginal_tail(marginal, low, upper));
        result.expected[bin] = share * static_cast<double>(result.rows);
    }
    result.marginal = std::move(marginal);
    return result;
}

}  // namespace detail

double marginal_quantile(const ColumnMarginal& marginal, double probability) {
    if (!(probability > 0.0 && probability < 1.0)) {
        throw std::invalid_argument(
            fmt::format("marginal_quantile: probability is {}, but must lie between 0 and 1", probability));
    }
    // It lies between those of the components.
    const double z = detail::normal_quantile(probability);
    const Eigen::ArrayXd own = marginal.means.array() + z * marginal.sds.array();
    double low = own.minCoeff();
    double high = own.maxCoeff();
    const bool upper = probability > 0.5;
    for (;;) {
        const double middle = low + 0.5 * (high - low);
        if (!(middle > low && middle < high)) return middle;
        const bool is_below = upper ? marginal_tail(marginal, middle, true) > 1.0 - probability
                                    : marginal_tail(marginal, middle, false) < probability;
        (is_below ? low : high) = middle;
    }
}

}  // namespace lrvb
