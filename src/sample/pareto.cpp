#include "base/validate.hpp"
#include "sample/pareto_tail.hpp"

#include <lrvb/sample/pareto.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

namespace lrvb {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr Index kShortestTail = 5;

void require_ratios(const Vector& log_ratios) {
    detail::require_at_least("pareto_smooth", "number of ratios", log_ratios.size(), 1);
    for (Index i = 0; i < log_ratios.size(); ++i) {
        if (std::isnan(log_ratios[i]) || log_ratios[i] == kInfinity) {
            throw std::invalid_argument(
                fmt::format("pareto_smooth: log ratio {} is {}, but must be finite, or −∞ for a ratio of zero", i + 1,
                            log_ratios[i]));
        }
    }
    if (log_ratios.maxCoeff() == -kInfinity) {
        throw std::invalid_argument("pareto_smooth: all ratios are zero, so no draw is one of the target's");
    }
}

// The quantile of the generalised Pareto distribution.
double quantile(const ParetoFit& fit, double probability) {
    const double exponential = -std::log1p(-probability);
    return std::abs(fit.k) < 1e-12 ? fit.sigma * exponential : fit.sigma * std::expm1(fit.k * exponential) / fit.k;
}

void normalise(ParetoSmoothed& result) {
    const double largest = result.log_weights.maxCoeff();
    const Vector weights = (result.log_weights.array() - largest).exp();
    result.log_weights.array() -= largest + std::log(weights.sum());
    result.ess = weights.sum() * weights.sum() / weights.squaredNorm();
}

}  // namespace

Vector weights_of(const Vector& log_weights) {
    return (log_weights.array() == -kInfinity).select(0.0, log_weights.array().exp());
}

double pareto_threshold(Index draws) {
    return std::min(1.0 - 1.0 / std::log10(static_cast<double>(draws)), 0.7);
}

// The posterior mean of θ = −k/σ over a grid of quantiles of its prior, by the profile likelihood; k follows from it.
ParetoFit fit_pareto(const Vector& ascending) {
    const Index count = ascending.size();
    detail::require_at_least("fit_pareto", "number of values", count, kShortestTail);
    const Index grid = 30 + static_cast<Index>(std::sqrt(static_cast<double>(count)));
    const double quartile = ascending[static_cast<Index>(std::floor(static_cast<double>(count) / 4.0 + 0.5)) - 1];
    const double largest = ascending[count - 1];
    const auto mean_log = [&](double theta) { return (-theta * ascending.array()).log1p().mean(); };
    Vector theta(grid);
    Vector likelihood(grid);
    for (Index j = 0; j < grid; ++j) {
        const double at = static_cast<double>(j) + 0.5;
        theta[j] = 1.0 / largest + (1.0 - std::sqrt(static_cast<double>(grid) / at)) / (3.0 * quartile);
        const double k = mean_log(theta[j]);
        likelihood[j] = static_cast<double>(count) * (std::log(-theta[j] / k) - k - 1.0);
    }
    const Vector weights = (likelihood.array() - likelihood.maxCoeff()).exp();
    const double best = theta.dot(weights) / weights.sum();
    const double k = mean_log(best);
    // Where the grid overflowed, the values span more than numbers do.
    if (!std::isfinite(k)) return {kInfinity, kInfinity};
    return {k, -k / best};
}

namespace {

// The tail of ratios, and the distribution fitted to it.
struct Tail {
    std::vector<Index> order;  // the places of its ratios, ascending
    double cutoff = 0.0;       // the largest ratio below it
    ParetoFit fit;             // with ten more observations; k is −∞ or +∞ where there is nothing to fit

    bool is_fitted() const { return std::isfinite(fit.k); }
};

// Of log ratios whose largest is zero.
Tail tail_of(const Vector& log_ratios) {
    const Index count = log_ratios.size();
    const double draws = static_cast<double>(count);
    const Index size =
        std::min(static_cast<Index>(std::ceil(std::min(0.2 * draws, 3.0 * std::sqrt(draws)))), count - 1);
    Tail tail;
    tail.fit.k = kInfinity;
    if (size < kShortestTail) return tail;
    std::vector<Index> order(static_cast<std::size_t>(count));
    std::iota(order.begin(), order.end(), Index{0});
    const auto is_before = [&](Index a, Index b) {
        return log_ratios[a] < log_ratios[b] || (log_ratios[a] == log_ratios[b] && a < b);
    };
    const auto first = order.end() - size;
    std::nth_element(order.begin(), first - 1, order.end(), is_before);
    std::sort(first, order.end(), is_before);
    tail.order.assign(first, order.end());
    const auto at = [&](Index rank) { return log_ratios[tail.order[static_cast<std::size_t>(rank)]]; };
    const double log_cutoff = log_ratios[*(first - 1)];
    if (at(size - kShortestTail) == -kInfinity) return tail;
    if (log_cutoff == at(size - 1)) {
        tail.fit.k = -kInfinity;
        return tail;
    }
    tail.cutoff = std::exp(log_cutoff);
    Vector excess(size);
    // A tail with ties at the cutoff would have a logarithm of zero in its likelihood.
    for (Index i = 0; i < size; ++i) {
        excess[i] = std::max(std::exp(at(i)) - tail.cutoff, std::numeric_limits<double>::min());
    }
    tail.fit = fit_pareto(excess);
    tail.fit.k = (tail.fit.k * static_cast<double>(size) + 0.5 * 10.0) / (static_cast<double>(size) + 10.0);
    return tail;
}

}  // namespace

double detail::pareto_k_hat(const Vector& log_ratios) {
    require_ratios(log_ratios);
    return tail_of(log_ratios.array() - log_ratios.maxCoeff()).fit.k;
}

ParetoSmoothed pareto_smooth(const Vector& log_ratios) {
    require_ratios(log_ratios);
    ParetoSmoothed result;
    result.log_weights = log_ratios.array() - log_ratios.maxCoeff();
    const Tail tail = tail_of(result.log_weights);
    result.k_hat = tail.fit.k;
    const double size = static_cast<double>(tail.order.size());
    for (std::size_t i = 0; i < tail.order.size() && tail.is_fitted(); ++i) {
        const double smoothed = quantile(tail.fit, (static_cast<double>(i) + 0.5) / size) + tail.cutoff;
        result.log_weights[tail.order[i]] = std::min(0.0, std::log(smoothed));
    }
    normalise(result);
    return result;
}

}  // namespace lrvb
