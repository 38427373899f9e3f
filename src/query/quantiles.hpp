#pragma once

#include <lrvb/query/model_check.hpp>

#include <algorithm>
#include <utility>
#include <vector>

/// Quantiles of numbers that are in order. The quantile of p is at the place p (n − 1), between two of them on the line
/// that joins them.
namespace lrvb::detail {

/// Numbers in order, each as often as its row counts: what they would be if they were written out.
class RepeatedNumbers {
  public:
    void add(double number, Index times) {
        if (times > 0) numbers_.emplace_back(number, times);
    }
    void sort() {
        std::sort(numbers_.begin(), numbers_.end());
        for (std::size_t i = 1; i < numbers_.size(); ++i) numbers_[i].second += numbers_[i - 1].second;
    }
    /// Once they are sorted.
    std::size_t size() const { return numbers_.empty() ? 0 : static_cast<std::size_t>(numbers_.back().second); }
    double operator[](std::size_t place) const {
        return std::upper_bound(numbers_.begin(), numbers_.end(), static_cast<Index>(place),
                                [](Index at, const std::pair<double, Index>& number) { return at < number.second; })
            ->first;
    }

  private:
    std::vector<std::pair<double, Index>> numbers_;  // with how many there are up to it
};

template <class Sorted>
double quantile_of(const Sorted& sorted, double probability) {
    const double place = probability * static_cast<double>(sorted.size() - 1);
    const auto below = static_cast<std::size_t>(place);
    const std::size_t above = std::min(below + 1, sorted.size() - 1);
    return sorted[below] + (place - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

/// The places, from 0, of some of n sorted numbers: all, or those at even distances on a normal scale.
std::vector<Index> quantile_places(Index count);

/// The numbers at these places, beside the model's quantiles of (place + ½)/n.
template <class Sorted, class ModelQuantile>
QuantilePlot quantile_plot(const Sorted& sorted, ModelQuantile model_quantile) {
    const auto count = static_cast<Index>(sorted.size());
    const std::vector<Index> places = quantile_places(count);
    QuantilePlot plot;
    plot.model.resize(static_cast<Index>(places.size()));
    plot.data.resize(plot.model.size());
    for (std::size_t i = 0; i < places.size(); ++i) {
        const double probability = (static_cast<double>(places[i]) + 0.5) / static_cast<double>(count);
        plot.model[static_cast<Index>(i)] = model_quantile(probability);
        plot.data[static_cast<Index>(i)] = sorted[static_cast<std::size_t>(places[i])];
    }
    return plot;
}

}  // namespace lrvb::detail
