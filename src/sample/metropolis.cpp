#include "base/parallel.hpp"
#include "base/validate.hpp"
#include "linalg/positive_definite.hpp"
#include "sample/student.hpp"

#include <lrvb/sample/diagnostics.hpp>
#include <lrvb/sample/metropolis.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace lrvb {

namespace {

constexpr double kFewestAccepted = 0.1;
constexpr double kLargestRHat = 1.05;
constexpr double kFreshMoves = 0.1;  // of a random walk
constexpr Index kThinning = 10;
constexpr double kWantedAcceptance = 0.25;
// Streams: proposals and decisions of the chains of fresh draws, then those of the random walks.
constexpr std::uint64_t kProposals = std::uint64_t{1} << 50U;
constexpr std::uint64_t kDecisions = std::uint64_t{1} << 51U;
constexpr std::uint64_t kWalks = std::uint64_t{1} << 52U;

class Chains {
  public:
    Chains(const LogDensity& density, const NormalApproximation& proposal, const MetropolisOptions& options)
        : density_(density),
          options_(options),
          proposal_(proposal, options.dof),
          kept_(options.draws / options.chains) {}

    MetropolisSample run() {
        MetropolisSample sample = fresh_draws();
        if (sample.acceptance < kFewestAccepted || sample.r_hat > kLargestRHat) return random_walks();
        if (sample.reliable()) return sample;
        // Chains that waited long where the proposal is too thin.
        MetropolisSample walks = random_walks();
        return walks.r_hat < kLargestRHat && walks.ess > sample.ess ? walks : sample;
    }

  private:
    MetropolisSample empty() const {
        MetropolisSample sample;
        sample.chains = options_.chains;
        sample.points.resize(density_.dimension(), kept_ * options_.chains);
        sample.log_density.resize(kept_ * options_.chains);
        return sample;
    }

    void diagnose(MetropolisSample& sample) const {
        sample.ess = std::numeric_limits<double>::infinity();
        sample.r_hat = 1.0;
        for (Index i = 0; i < sample.points.rows(); ++i) {
            const Vector values = sample.points.row(i);
            const Matrix chains = sample.by_chain(values);
            const Matrix squares = (chains.array() - chains.mean()).square();
            sample.ess = std::min({sample.ess, effective_sample_size(chains), effective_sample_size(squares)});
            sample.r_hat = std::max(sample.r_hat, split_r_hat(chains));
        }
    }

    // −∞ for what is no number.
    Vector evaluate(const Matrix& points) const {
        Vector values = density_.evaluate(points, options_.threads);
        constexpr double infinity = std::numeric_limits<double>::infinity();
        for (double& value : values) {
            if (!(value < infinity)) value = -infinity;
        }
        return values;
    }

    MetropolisSample fresh_draws() const {
        const Index warmup = kept_ / 10 + 1;
        const Index length = warmup + kept_;
        Matrix points(density_.dimension(), length * options_.chains);
        Vector log_proposal(points.cols());
        detail::in_parallel(options_.threads, points.cols(), [&](Index i) {
            Random random(options_.seed, kProposals + static_cast<std::uint64_t>(i));
            points.col(i) = proposal_.draw(random);
            log_proposal[i] = proposal_.log_density(points.col(i));
        });
        const Vector log_density = evaluate(points);
        if (log_density.maxCoeff() == -std::numeric_limits<double>::infinity()) {
            throw std::invalid_argument(
                "metropolis_hastings: the density is zero, or not a number, at every proposal: the approximation is "
                "nowhere near it");
        }
        const Vector log_ratio = log_density - log_proposal;
        MetropolisSample sample = empty();
        Index accepted = 0;
        for (Index c = 0; c < options_.chains; ++c) {
            Random random(options_.seed, kDecisions + static_cast<std::uint64_t>(c));
            Index at = c * length;
            for (Index i = 1; i < length; ++i) {
                const Index next = c * length + i;
                // Written so that a chain leaves a place without a density at once.
                const bool stays = log_ratio[at] + std::log(random.uniform()) > log_ratio[next];
                if (!stays) at = next;
                if (i < warmup) continue;
                accepted += stays ? 0 : 1;
                sample.points.col(c * kept_ + i - warmup) = points.col(at);
                sample.log_density[c * kept_ + i - warmup] = log_density[at];
            }
        }
        sample.acceptance = static_cast<double>(accepted) / static_cast<double>(sample.points.cols());
        diagnose(sample);
        return sample;
    }

    // All chains take each step together. Before draws are kept, the scale is tuned for a quarter of the steps to be
    // accepted, and the shape is taken from the draws of all chains at half of the time.
    MetropolisSample random_walks() const {
        const Index dimension = density_.dimension();
        const Index chains = options_.chains;
        const Index warmup = std::max<Index>(2000, kept_);
        std::vector<Random> random;
        for (Index c = 0; c < chains; ++c) random.emplace_back(options_.seed, kWalks + static_cast<std::uint64_t>(c));
        Matrix points(dimension, chains);
        for (Index c = 0; c < chains; ++c) points.col(c) = proposal_.draw(random[static_cast<std::size_t>(c)]);
        Vector log_density = evaluate(points);
        Matrix factor = proposal_.factor();
        double log_scale = std::log(2.38 / std::sqrt(static_cast<double>(dimension)));
        Matrix seen(dimension, (warmup / 2) * chains);
        MetropolisSample sample = empty();
        sample.random_walk = true;
        Index accepted = 0;
        Matrix proposed(dimension, chains);
        std::vector<bool> is_fresh(static_cast<std::size_t>(chains));
        for (Index step = 0; step < warmup + kept_ * kThinning; ++step) {
            for (Index c = 0; c < chains; ++c) {
                Random& own = random[static_cast<std::size_t>(c)];
                const bool fresh = own.uniform() < kFreshMoves;
                is_fresh[static_cast<std::size_t>(c)] = fresh;
                const Vector shape = factor.triangularView<Eigen::Lower>() * standard_normals(dimension, own);
                proposed.col(c) = fresh ? proposal_.draw(own) : Vector(points.col(c) + std::exp(log_scale) * shape);
            }
            const Vector values = evaluate(proposed);
            for (Index c = 0; c < chains; ++c) {
                const bool fresh = is_fresh[static_cast<std::size_t>(c)];
                double log_ratio = values[c] - log_density[c];
                if (fresh) {
                    log_ratio += proposal_.log_density(points.col(c)) - proposal_.log_density(proposed.col(c));
                }
                // NaN where neither place has a density: then it moves.
                const bool stays = std::log(random[static_cast<std::size_t>(c)].uniform()) > log_ratio;
                if (!stays) {
                    points.col(c) = proposed.col(c);
                    log_density[c] = values[c];
                }
                if (step >= warmup) {
                    accepted += stays ? 0 : 1;
                } else if (!fresh) {
                    const double rate = 1.0 / std::pow(1.0 + static_cast<double>(step % (warmup / 2)) / 20.0, 0.7);
                    log_scale += rate * ((stays ? 0.0 : 1.0) - kWantedAcceptance) / static_cast<double>(chains);
                }
            }
            if (step < warmup / 2) seen.middleCols(step * chains, chains) = points;
            if (step + 1 == warmup / 2) reshape(seen.rightCols(seen.cols() / 2), factor, log_scale);
            if (step < warmup || (step - warmup) % kThinning != 0) continue;
            const Index at = (step - warmup) / kThinning;
            for (Index c = 0; c < chains; ++c) {
                sample.points.col(c * kept_ + at) = points.col(c);
                sample.log_density[c * kept_ + at] = log_density[c];
            }
        }
        sample.acceptance = static_cast<double>(accepted) / static_cast<double>(kept_ * kThinning * chains);
        diagnose(sample);
        return sample;
    }

    // The covariance of what was seen, if it is one.
    static void reshape(const Matrix& seen, Matrix& factor, double& log_scale) {
        const Matrix centred = seen.colwise() - seen.rowwise().mean();
        const detail::PositiveDefinite cholesky(centred * centred.transpose() / static_cast<double>(seen.cols()));
        if (!cholesky.succeeded()) return;
        factor = cholesky.factor();
        log_scale = std::log(2.38 / std::sqrt(static_cast<double>(factor.rows())));
    }

    const LogDensity& density_;
    const MetropolisOptions& options_;
    detail::StudentProposal proposal_;
    Index kept_;
};

}  // namespace

MetropolisSample metropolis_hastings(const LogDensity& density, const NormalApproximation& proposal,
                                     const MetropolisOptions& options) {
    detail::require_at_least("metropolis_hastings", "chains", options.chains, 1);
    detail::require_at_least("metropolis_hastings", "draws", options.draws, Index{25} * options.chains);
    detail::require_at_least("metropolis_hastings", "threads", options.threads, 1);
    detail::require_size("metropolis_hastings", "mean", proposal.mean.size(), density.dimension());
    return Chains(density, proposal, options).run();
}

}  // namespace lrvb
