#include "base/validate.hpp"
#include "family/special.hpp"
#include "sample/autocovariance.hpp"

#include <lrvb/sample/diagnostics.hpp>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <vector>

namespace lrvb {

namespace {

constexpr Index kFewLags = 64;

Matrix halves(const Matrix& chains) {
    const Index half = chains.rows() / 2;
    Matrix result(half, 2 * chains.cols());
    result << chains.topRows(half), chains.bottomRows(half);
    return result;
}

double variance_of(const Vector& values) {
    return (values.array() - values.mean()).square().sum() / static_cast<double>(values.size() - 1);
}

struct Variances {
    double within = 0.0;
    double total = 0.0;
};

Variances variances_of(const Matrix& chains) {
    Variances result;
    for (Index c = 0; c < chains.cols(); ++c) result.within += variance_of(chains.col(c));
    result.within /= static_cast<double>(chains.cols());
    const double draws = static_cast<double>(chains.rows());
    result.total = result.within * (draws - 1.0) / draws + variance_of(chains.colwise().mean());
    return result;
}

// Each draw becomes the normal quantile of its rank among all; draws that are equal share theirs.
Matrix rank_normalised(const Matrix& chains) {
    const Index count = chains.size();
    std::vector<Index> order(static_cast<std::size_t>(count));
    std::iota(order.begin(), order.end(), Index{0});
    const auto at = [&](Index i) { return chains.data()[order[static_cast<std::size_t>(i)]]; };
    std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) { return chains.data()[a] < chains.data()[b]; });
    Matrix result(chains.rows(), chains.cols());
    for (Index begin = 0; begin < count;) {
        Index end = begin + 1;
        while (end < count && at(end) == at(begin)) ++end;
        const double rank = 0.5 * static_cast<double>(begin + 1 + end);
        const double probability = (rank - 0.375) / (static_cast<double>(count) + 0.25);
        const double quantile = detail::central_quantile(2.0 * probability - 1.0);
        for (; begin < end; ++begin) result.data()[order[static_cast<std::size_t>(begin)]] = quantile;
    }
    return result;
}

double r_hat(const Matrix& chains) {
    const Variances variances = variances_of(chains);
    return variances.total > 0.0 ? std::sqrt(variances.total / variances.within) : 1.0;
}

double median_of(const Matrix& values) {
    std::vector<double> sorted(values.data(), values.data() + values.size());
    const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2);
    std::nth_element(sorted.begin(), middle, sorted.end());
    return *middle;
}

Vector ascending(const Matrix& chains) {
    Vector values = Eigen::Map<const Vector>(chains.data(), chains.size());
    std::sort(values.begin(), values.end());
    return values;
}

// The draw that a share of all draws is at or below.
double quantile_of(const Vector& sorted, double probability) {
    const double place = std::floor(probability * static_cast<double>(sorted.size() - 1));
    return sorted[std::clamp<Index>(static_cast<Index>(place), 0, sorted.size() - 1)];
}

void require_probability(std::string_view who, double probability) {
    if (probability > 0.0 && probability < 1.0) return;
    throw std::invalid_argument(fmt::format("{}: probability is {}; it must be between 0 and 1", who, probability));
}

void require_chains(std::string_view who, const Matrix& chains) {
    detail::require_at_least(who, "number of chains", chains.cols(), 1);
    detail::require_at_least(who, "draws of a chain", chains.rows(), 8);
    if (!chains.allFinite()) throw std::invalid_argument(fmt::format("{}: a draw is not a finite number", who));
}

}  // namespace

double effective_sample_size(const Matrix& chains) {
    require_chains("effective_sample_size", chains);
    const Matrix split = halves(chains);
    const Matrix centred = split.rowwise() - split.colwise().mean();
    const Index draws = split.rows();
    const Variances variances = variances_of(split);
    const double count = static_cast<double>(split.size());
    if (!(variances.total > 0.0)) return count;
    Vector all;  // of chains that mix badly, whose lags are many
    const auto correlation = [&](Index lag) {
        if (lag >= kFewLags && all.size() == 0) all = detail::autocovariances(centred);
        const double sum_of_products =
            lag < kFewLags ? centred.topRows(draws - lag).cwiseProduct(centred.bottomRows(draws - lag)).sum()
                           : all[lag];
        const double covariance = sum_of_products / count;
        const double within = variances.within * static_cast<double>(draws - 1) / static_cast<double>(draws);
        return 1.0 - (within - covariance) / variances.total;
    };
    // τ = −1 + 2 Σ (ρ_2t + ρ_2t+1).
    double sum = 0.0;
    double before = 1.0 + correlation(1);
    for (Index lag = 0; lag + 1 < draws; lag += 2) {
        const double pair = lag == 0 ? before : std::min(before, correlation(lag) + correlation(lag + 1));
        if (!(pair > 0.0)) break;
        sum += pair;
        before = pair;
    }
    const double time = std::max(2.0 * sum - 1.0, 1.0 / std::log10(count));
    return count / time;
}

double bulk_ess(const Matrix& chains) {
    require_chains("bulk_ess", chains);
    return effective_sample_size(rank_normalised(chains));
}

double quantile_ess(const Matrix& chains, double probability) {
    require_chains("quantile_ess", chains);
    require_probability("quantile_ess", probability);
    const double limit = quantile_of(ascending(chains), probability);
    const Matrix below = (chains.array() <= limit).cast<double>();
    return effective_sample_size(below);
}

double tail_ess(const Matrix& chains) {
    return std::min(quantile_ess(chains, 0.05), quantile_ess(chains, 0.95));
}

double mean_error(const Matrix& chains) {
    const double ess = effective_sample_size(chains);
    return std::sqrt(variance_of(Eigen::Map<const Vector>(chains.data(), chains.size())) / ess);
}

double sd_error(const Matrix& chains) {
    require_chains("sd_error", chains);
    const Vector squares = (chains.reshaped().array() - chains.mean()).square();
    const Matrix by_chain = Eigen::Map<const Matrix>(squares.data(), chains.rows(), chains.cols());
    const double variance = squares.mean();
    if (!(variance > 0.0)) return 0.0;
    return 0.5 * mean_error(by_chain) / std::sqrt(variance);
}

double quantile_error(const Matrix& chains, double probability) {
    const double ess = quantile_ess(chains, probability);
    constexpr double kBelow = 0.15865525393145707;  // Φ(−1)
    const auto share = [&](double level) {
        return detail::beta_quantile(ess * probability + 1.0, ess * (1.0 - probability) + 1.0, level);
    };
    const Vector sorted = ascending(chains);
    return 0.5 * (quantile_of(sorted, share(1.0 - kBelow)) - quantile_of(sorted, share(kBelow)));
}

double split_r_hat(const Matrix& chains) {
    require_chains("split_r_hat", chains);
    const Matrix split = halves(chains);
    const Matrix folded = (split.array() - median_of(split)).abs();
    return std::max(r_hat(rank_normalised(split)), r_hat(rank_normalised(folded)));
}

}  // namespace lrvb
