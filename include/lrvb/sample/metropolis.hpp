#pragma once

#include <lrvb/export.hpp>
#include <lrvb/sample/log_density.hpp>

#include <cstdint>

/// Metropolis–Hastings, as in the paper: every proposal is a fresh draw g from one distribution, a Student t with the
/// mode of the target as location and the scale of an approximation, accepted with probability
///
///     min(1, [p(θ')/g(θ')] / [p(θ)/g(θ)]).
///
/// All proposals are evaluated at once. Where that fails — fewer than a tenth are accepted, or chains disagree — the
/// chains begin again with random-walk moves, nine in ten, of a scale that is tuned before draws are kept; one move in
/// ten remains a fresh draw, which carries chains between regions. Draws of such chains are thinned by ten. Where fresh
/// draws agree but are worth fewer than four hundred, random walks are tried too, and the draws that are worth more are
/// kept.
namespace lrvb {

struct MetropolisOptions {
    /// All chains together.
    Index draws = 4000;
    int chains = 4;
    /// Degrees of freedom of the Student t.
    double dof = 7.0;
    std::uint64_t seed = 1;
    /// Changes no bit of the answer.
    int threads = 1;
};

struct MetropolisSample {
    /// One draw a column, chain by chain, draws/chains of each.
    Matrix points;
    Vector log_density;
    int chains = 0;
    /// Of the moves that were kept.
    double acceptance = 0.0;
    /// Whether the chains fell back on random-walk moves.
    bool random_walk = false;
    /// Over the coordinates: the smallest effective sample size, of the mean and of the variance, and the largest
    /// split R̂.
    double ess = 0.0;
    double r_hat = 0.0;

    /// The chains agree (R̂ below 1.05) and are worth four hundred draws.
    bool reliable() const { return r_hat < 1.05 && ess >= 400.0; }

    /// A function of the draws, given in the order of `points`, as one column a chain.
    Matrix by_chain(const VectorView& values) const {
        return Eigen::Map<const Matrix>(values.data(), values.size() / chains, chains);
    }
};

/// `proposal` has the mode as its mean. Throws std::invalid_argument for a covariance that is not positive definite,
/// and where no proposal has a density.
LRVB_EXPORT MetropolisSample metropolis_hastings(const LogDensity& density, const NormalApproximation& proposal,
                                                 const MetropolisOptions& options = {});

}  // namespace lrvb
