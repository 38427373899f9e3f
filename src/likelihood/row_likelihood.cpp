#include "likelihood/row_likelihood.hpp"

#include "base/parallel.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

namespace lrvb::detail {

namespace {

constexpr Index kTaskRows = 16 * static_cast<Index>(kFieldBlock);

}  // namespace

void require_row(bool fine, Index row, const char* what, double value, const std::string& must) {
    if (fine) return;
    throw std::invalid_argument(fmt::format("row {}: {} {}, but must be {}", row + 1, what, value, must));
}

bool is_whole(double value) {
    return value == std::floor(value);
}

// Counts of arrivals within a time that is cut by gammas while it is long (Ahrens and Dieter 1974).
double draw_poisson(double rate, Random& random) {
    double count = 0.0;
    while (rate > 30.0) {
        const double shape = std::floor(0.875 * rate);
        const double arrival = std::exp(random.log_gamma(shape));
        // The rest are uniform below that arrival.
        if (arrival > rate) return count + draw_binomial(shape - 1.0, rate / arrival, random);
        count += shape;
        rate -= arrival;
    }
    double product = random.uniform();
    for (const double least = std::exp(-rate); product > least; product *= random.uniform()) count += 1.0;
    return count;
}

double draw_binomial(double trials, double chance, Random& random) {
    double successes = 0.0;
    for (double i = 0.0; i < trials; i += 1.0) successes += random.uniform() < chance ? 1.0 : 0.0;
    return successes;
}

void LikelihoodTerms::resize(Index rows) {
    value.resize(rows);
    first.resize(rows);
    second.resize(rows);
    third.resize(rows);
    fourth.resize(rows);
}

RowLikelihood::RowLikelihood(std::shared_ptr<const Likelihood> likelihood, LikelihoodRows rows)
    : likelihood_(std::move(likelihood)), rows_(std::move(rows)) {
    const Index count = rows_.y.size();
    if (rows_.weights.size() == 0) rows_.weights = Vector::Ones(count);
    for (Index n = 0; n < count; ++n) {
        require_row(std::isfinite(rows_.y[n]), n, "the response is", rows_.y[n], "a finite number");
        require_row(std::isfinite(rows_.weights[n]) && rows_.weights[n] >= 0.0, n, "the weight is", rows_.weights[n],
                    "finite and not negative");
        require_row(std::isfinite(offset_of(n)), n, "the offset is", offset_of(n), "finite");
    }
    if (rows_.precisions.size() == 0) return;
    roots_.resize(count);
    for (Index n = 0; n < count; ++n) {
        const double precision = rows_.precisions[n];
        if (precision == 0.0) rows_.weights[n] = 0.0;
        roots_[n] = precision > 0.0 ? std::sqrt(precision) : 1.0;
    }
}

std::shared_ptr<const RowLikelihood> RowLikelihood::reweighted(const Vector& weights) const {
    LikelihoodRows rows = rows_;
    rows.weights = weights;
    return likelihood_->rows(std::move(rows));
}

void RowLikelihood::add_parameter_gradient(Index, double, double, double, const Prepared&, const std::array<double, 3>&,
                                           Vector&) const {}

void RowLikelihood::fill(Index first, Index count, const double* means, const double* variances,
                         const Prepared& prepared, Block& out) const {
    std::array<double, kFieldBlock> mu{};
    std::array<double, kFieldBlock> v{};
    for (Index i = 0; i < count; ++i) {
        const auto at = static_cast<std::size_t>(i);
        mu[at] = means[i] + offset_of(first + i);
        v[at] = variances != nullptr ? variances[i] : 0.0;
    }
    block(first, count, mu.data(), v.data(), prepared, out);
}

template <class Take>
void RowLikelihood::visit(const Vector& means, const Vector& variances, const Vector& theta, int threads,
                          const Take& take) const {
    const Prepared prepared = prepare(theta);
    const Index tasks = (rows() + kTaskRows - 1) / kTaskRows;
    in_parallel(threads, tasks, [&](Index task) {
        Block g;
        const Index end = std::min(rows(), (task + 1) * kTaskRows);
        for (Index first = task * kTaskRows; first < end; first += static_cast<Index>(kFieldBlock)) {
            const Index count = std::min<Index>(kFieldBlock, end - first);
            fill(first, count, means.data() + first, variances.size() > 0 ? variances.data() + first : nullptr,
                 prepared, g);
            for (Index i = 0; i < count; ++i) take(first + i, g.data() + i);
        }
    });
}

void RowLikelihood::terms(const Vector& means, const Vector& variances, const Vector& theta, int threads,
                          LikelihoodTerms& out) const {
    out.resize(rows());
    visit(means, variances, theta, threads, [&](Index n, const double* g) {
        const double w = weights()[n];
        // A row that does not count may be anywhere.
        const bool counts = w != 0.0;
        out.value[n] = counts ? w * g[0] : 0.0;
        out.first[n] = counts ? w * g[kFieldBlock] : 0.0;
        out.second[n] = counts ? w * g[2 * kFieldBlock] : 0.0;
        out.third[n] = counts ? w * g[3 * kFieldBlock] : 0.0;
        out.fourth[n] = counts ? w * g[4 * kFieldBlock] : 0.0;
    });
}

Vector RowLikelihood::log_likelihoods(Index first, const Vector& predictors, const Vector& theta) const {
    const Prepared prepared = prepare(theta);
    Vector result(predictors.size());
    Block g;
    for (Index begin = 0; begin < result.size(); begin += static_cast<Index>(kFieldBlock)) {
        const Index count = std::min<Index>(kFieldBlock, result.size() - begin);
        fill(first + begin, count, predictors.data() + begin, nullptr, prepared, g);
        for (Index i = 0; i < count; ++i) result[begin + i] = g[static_cast<std::size_t>(i)];
    }
    return result;
}

RowLikelihood::RowSlopes RowLikelihood::by_weight(const Vector& means, const Vector& variances, const Vector& theta,
                                                  int threads) const {
    RowSlopes result{Vector(rows()), Vector(rows()), Vector(rows())};
    visit(means, variances, theta, threads, [&](Index n, const double* g) {
        result.value[n] = g[0];
        result.by_mean[n] = g[kFieldBlock];
        result.by_variance[n] = 0.5 * g[2 * kFieldBlock];
    });
    return result;
}

RowLikelihood::RowSlopes RowLikelihood::by_response(const Vector& means, const Vector& variances, const Vector& theta,
                                                    int threads) const {
    RowSlopes result{Vector(rows()), Vector(rows()), Vector(rows())};
    const Prepared prepared = prepare(theta);
    in_parallel(threads, (rows() + kTaskRows - 1) / kTaskRows, [&](Index task) {
        for (Index n = task * kTaskRows; n < std::min(rows(), (task + 1) * kTaskRows); ++n) {
            const double w = weights()[n];
            const std::array<double, 3> slope = response_slope(n, means[n] + offset_of(n), variances[n], prepared);
            result.value[n] = w * slope[0];
            result.by_mean[n] = w * slope[1];
            result.by_variance[n] = 0.5 * w * slope[2];
        }
    });
    return result;
}

Vector RowLikelihood::parameter_gradient(const Vector& means, const Vector& variances, const Vector& theta,
                                         const LikelihoodTerms& terms) const {
    Vector gradient = Vector::Zero(theta.size());
    if (theta.size() == 0) return gradient;
    const Prepared prepared = prepare(theta);
    for (Index n = 0; n < rows(); ++n) {
        const double w = weights()[n];
        if (w == 0.0) continue;
        add_parameter_gradient(n, w, means[n] + offset_of(n), variances.size() > 0 ? variances[n] : 0.0, prepared,
                               {terms.value[n] / w, terms.first[n] / w, terms.second[n] / w}, gradient);
    }
    return gradient;
}

double RowLikelihood::expected(Index row, double predictor) const {
    return trials(row) * likelihood_->mean(predictor + offset_of(row));
}

}  // namespace lrvb::detail
