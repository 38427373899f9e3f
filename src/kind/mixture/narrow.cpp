#include "kind/mixture/narrow.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

namespace lrvb::detail {

namespace {

constexpr double kFewest = 8.0;           // rows of the smallest window
constexpr double kSmallest = 0.05;        // of all rows, the smallest window
constexpr double kAsDense = 0.7;          // of the densest window
constexpr double kWidest = 0.9;           // of all rows, the largest window
constexpr double kNarrower = 33.0;        // times, in variance
constexpr double kDenser = 2.0;           // times, than the peak of a normal
constexpr double kRounded = 0.1;          // of all rows
constexpr double kWeightRounding = 1e-9;  // so that weights that are all 1.1 say what those that are all 1 do

// Different values in ascending order, with the weight of each.
struct Places {
    std::vector<double> at;
    std::vector<double> weight;
    double total = 0.0;
    double rounded = 0.0;  // of it, what is at places of several values

    std::size_t size() const { return at.size(); }
};

Places places_of(const Vector& values, const Vector& weights, double rounding) {
    std::vector<Index> order(static_cast<std::size_t>(values.size()));
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<Index>(i);
    std::sort(order.begin(), order.end(), [&](Index a, Index b) { return values[a] < values[b]; });
    Places places;
    bool several = false;  // values at this place
    const auto leave = [&] {
        if (several) places.rounded += places.weight.back();
        several = false;
    };
    for (const Index i : order) {
        if (places.at.empty() || values[i] - places.at.back() > rounding) {
            leave();
            places.at.push_back(values[i]);
            places.weight.push_back(0.0);
        }
        several = several || values[i] != places.at.back();
        places.weight.back() += weights[i];
        places.total += weights[i];
    }
    leave();
    return places;
}

// What the least of the sums of `gaps` gaps among `count` values is to their mean, by Wilson and Hilferty's
// approximation; from below by P(Gamma(g) < x) <= x^g/g!, where that fails.
double least_by_chance(double gaps, double count) {
    const double probability = std::min(0.5, 0.5 * gaps / count);
    const double root = 1.0 - 1.0 / (9.0 * gaps) - std::sqrt(-2.0 * std::log(probability)) / (3.0 * std::sqrt(gaps));
    const double bound = std::exp((std::log(probability) + std::lgamma(gaps + 1.0)) / gaps) / gaps;
    return std::max(root > 0.0 ? root * root * root : 0.0, bound);
}

struct Window {
    double density = 0.0;  // times that of the peak of a standard normal
    double width = 0.0;
};

Window densest(const Places& places, const std::vector<double>& by_chance, double rows) {
    Window best;
    std::size_t end = 0;
    double weight = 0.0;
    for (std::size_t begin = 0; begin < places.size(); ++begin) {
        if (end <= begin) {  // what weights of very different sizes leave when one is taken away again is no weight
            end = begin;
            weight = 0.0;
        }
        while (end < places.size() && weight < rows) weight += places.weight[end++];
        if (weight < rows || end == begin) break;
        Window window;
        const std::size_t gaps = end - begin - 1;
        if (gaps > 0) {
            window.width = (places.at[end - 1] - places.at[begin]) * (1.0 + 1.0 / static_cast<double>(gaps));
        } else {
            const double before = begin > 0 ? places.at[begin] - places.at[begin - 1] : HUGE_VAL;
            const double after = end < places.size() ? places.at[end] - places.at[begin] : HUGE_VAL;
            window.width = std::min(before, after);
        }
        window.density = weight / places.total * std::sqrt(2.0 * std::numbers::pi) / window.width *
                         by_chance[std::max<std::size_t>(1, gaps)];
        if (window.density > best.density) best = window;
        weight -= places.weight[begin];
    }
    return best;
}

}  // namespace

double narrow_share(const Vector& values, const Vector& weights, double rows, double rounding) {
    // Values a few units of the last place apart are equal where many are so, and close by chance where few are.
    Places places = places_of(values, weights, rounding);
    if (places.rounded < kRounded * places.total) places = places_of(values, weights, 0.0);
    if (places.size() < 3 || !(places.total >= 2.0 * kFewest)) return 1.0;
    const auto count = static_cast<double>(places.size());
    std::vector<double> by_chance(places.size(), 1.0);
    for (std::size_t g = 1; g < by_chance.size(); ++g) by_chance[g] = least_by_chance(static_cast<double>(g), count);

    std::vector<Window> windows;
    const double smallest = std::max(kFewest, kSmallest * places.total);
    for (double size = smallest; size <= kWidest * places.total; size *= std::numbers::sqrt2) {
        windows.push_back(densest(places, by_chance, size * (1.0 - kWeightRounding)));
    }
    double largest = 0.0;
    for (const Window& window : windows) largest = std::max(largest, window.density);
    if (!(largest > kDenser)) return 1.0;
    double variance = 0.0;
    for (const Window& window : windows) {
        const double near = std::min(1.0, window.density / (kAsDense * largest));
        variance = std::max(variance, window.width * window.width / 12.0 * std::pow(near, 6.0));
    }
    const double apart = 2e-16 * rows * rows;
    return std::min(1.0, std::max({kNarrower * variance, std::pow(kDenser / largest, 6.0), apart}));
}

}  // namespace lrvb::detail
