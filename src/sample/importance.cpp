#include "base/parallel.hpp"
#include "base/validate.hpp"
#include "sample/student.hpp"

#include <lrvb/sample/importance.hpp>
#include <lrvb/sample/pareto.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace lrvb {

namespace {

constexpr std::uint64_t kRoundStreams = std::uint64_t{1} << 40U;  // streams of one round
// A round is good enough where k̂ is so low that sds, too, have small errors (they are averages of squares, whose tail
// is twice as heavy), and where this share of the draws carries the weight.
constexpr double kComfortableKHat = 0.3;
constexpr double kFewestDraws = 0.05;
constexpr double kInflation = 1.5;  // of the weighted covariance: what is not seen yet is further out

ImportanceSample one_round(const LogDensity& density, const detail::StudentProposal& proposal,
                           const ImportanceOptions& options, int round) {
    ImportanceSample sample;
    sample.points.resize(density.dimension(), options.draws);
    sample.log_proposal.resize(options.draws);
    detail::in_parallel(options.threads, options.draws, [&](Index i) {
        Random random(options.seed, static_cast<std::uint64_t>(round) * kRoundStreams + static_cast<std::uint64_t>(i));
        sample.points.col(i) = proposal.draw(random);
        sample.log_proposal[i] = proposal.log_density(sample.points.col(i));
    });
    sample.log_density = density.evaluate(sample.points, options.threads);
    constexpr double infinity = std::numeric_limits<double>::infinity();
    for (double& value : sample.log_density) {
        if (!(value < infinity)) value = -infinity;
    }
    const Vector ratios = sample.log_density - sample.log_proposal;
    if (ratios.maxCoeff() == -infinity) {
        throw std::invalid_argument(
            "importance_sample: the density is zero, or not a number, at every draw: the approximation is nowhere near "
            "it");
    }
    const double largest = ratios.maxCoeff();
    sample.log_integral = largest + std::log((ratios.array() - largest).exp().mean());
    ParetoSmoothed smoothed = pareto_smooth(ratios);
    sample.log_weights = std::move(smoothed.log_weights);
    sample.k_hat = smoothed.k_hat;
    sample.ess = smoothed.ess;
    return sample;
}

// The weighted moments, as far as the effective draws can bear them: where these are few, the covariance is drawn
// towards the one before, doubled.
NormalApproximation adapted(const ImportanceSample& sample, const NormalApproximation& before) {
    NormalApproximation moments = weighted_moments(sample.points, sample.log_weights);
    const double trusted = sample.ess / (sample.ess + 5.0 * static_cast<double>(before.mean.size()));
    moments.covariance = kInflation * trusted * moments.covariance + (1.0 - trusted) * 2.0 * before.covariance;
    return moments;
}

}  // namespace

bool ImportanceSample::reliable() const {
    return k_hat < pareto_threshold(points.cols());
}

NormalApproximation weighted_moments(const Matrix& points, const Vector& log_weights) {
    const Vector weights = log_weights.array().exp();
    NormalApproximation moments;
    moments.mean = points * weights / weights.sum();
    const Matrix centred = points.colwise() - moments.mean;
    moments.covariance = centred * (weights / weights.sum()).asDiagonal() * centred.transpose();
    return moments;
}

ImportanceSample importance_sample(const LogDensity& density, const NormalApproximation& approximation,
                                   const ImportanceOptions& options) {
    detail::require_at_least("importance_sample", "draws", options.draws, 100);
    detail::require_at_least("importance_sample", "rounds", options.rounds, 1);
    detail::require_at_least("importance_sample", "threads", options.threads, 1);
    detail::require_size("importance_sample", "mean", approximation.mean.size(), density.dimension());
    NormalApproximation current = approximation;
    ImportanceSample best;
    for (int round = 0; round < options.rounds; ++round) {
        ImportanceSample sample = one_round(density, detail::StudentProposal(current, options.dof), options, round);
        const bool good =
            sample.k_hat < kComfortableKHat && sample.ess >= kFewestDraws * static_cast<double>(options.draws);
        if (!good && round + 1 < options.rounds) current = adapted(sample, current);
        // Not simply the lowest k̂: draws that happened to miss a tail have it low, and sds too small.
        if (round == 0 || sample.reliable() || sample.k_hat < best.k_hat) best = std::move(sample);
        best.rounds = round + 1;
        if (good) break;
    }
    return best;
}

}  // namespace lrvb
