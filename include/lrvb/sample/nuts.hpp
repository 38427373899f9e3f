#pragma once

#include <lrvb/export.hpp>
#include <lrvb/sample/log_density.hpp>
#include <lrvb/sample/whitening.hpp>

#include <cstdint>
#include <functional>
#include <limits>

/// The no-U-turn sampler (Hoffman & Gelman 2014; multinomial, with the generalised criterion of Betancourt 2017), in
/// the coordinates that an approximation whitens:
///
///     u = centre + L z,     LLᵀ its covariance,     ∇_z log p = Lᵀ ∇_u log p,
///
/// dense, or from a sparse precision: then a step costs a gradient and two sparse triangular solves at any dimension.
///
/// As far as the approximation is right, the target is a standard normal in z, whatever its dimension: a move then
/// needs a few steps, and the sampler has nothing to learn but the length of a step, by dual averaging before draws are
/// kept. Where draws say that it is not right, since moves are long or chains disagree, the draws of all chains,
/// pooled, take the place of the approximation and the chains begin again; of a sparse one they change the scales only.
///
/// A move follows z' = r, r' = ∇ log p(z) forwards and backwards by steps, 2^depth of them, until it turns. A step of
/// length ε goes about the standard normal exactly, and is pushed before and after by what the target has besides:
///
///     r ← r + ½ε(∇ log p(z) + z),     (z, r) ← (z cos ε + r sin ε, r cos ε − z sin ε),     r ← r + ½ε(∇ log p(z) + z).
///
/// It preserves volume and can be gone back, as a leapfrog step, but of a normal target it loses no energy, so that
/// steps can be of more than a radian in any dimension (Shahbaba, Lan, Johnson & Neal 2014). A trajectory has turned,
/// with ρ the sum of the momenta between two ends, less half of each end's, where r₋·ρ ≤ 0 or r₊·ρ ≤ 0; and one of two
/// points where r₋·r₊ ≤ 0, since a quarter of a turn about a normal is an independent draw. A draw is one of the points
/// of the trajectory, with probabilities proportional to exp(log p − ½|r|²), favouring the later half.
///
/// A step whose energy grows by more than a thousand is a *divergence*: there the density bends more than steps can
/// follow, and nothing that is beyond is seen. Draws with divergences are biased, and the sample says how many had one.
namespace lrvb {

/// Draws times coordinates, at most, since all draws are kept: 1 GiB.
constexpr Index kMostNutsNumbers = Index{1} << 27;

struct NutsOptions {
    /// All chains together.
    Index draws = 4000;
    int chains = 4;
    /// Moves of each chain before draws are kept.
    Index warmup = 300;
    /// What the length of the steps is tuned for: the mean probability of accepting a point of a trajectory.
    double acceptance = 0.8;
    /// A move takes at most 2^max_depth steps.
    int max_depth = 10;
    /// How often the draws may take the place of the approximation.
    int refinements = 2;
    /// No more gradients than these, all chains together: the draws are those that every chain has by then.
    Index gradients = std::numeric_limits<Index>::max();
    /// Of points that mean the same, as the components of a mixture in any order do, the one that a draw is told by.
    /// Chains may go anywhere; what they are judged by, and return, is this.
    std::function<Vector(const Vector& point)> representative = {};
    std::uint64_t seed = 1;
    /// Changes no bit of the answer.
    int threads = 1;
    /// Called now and then with the share of the work that is done; returning false ends it with
    /// std::runtime_error.
    std::function<bool(double done)> progress = {};
};

struct NutsSample {
    /// One draw a column, chain by chain, draws/chains of each, or fewer where gradients ran out: none where that was
    /// before each chain had eight.
    Matrix points;
    Vector log_density;
    int chains = 0;
    /// The mean probability of accepting a point, over the moves that were kept.
    double acceptance = 0.0;
    /// Moves that were kept and met a divergence, or were cut at 2^max_depth steps.
    Index divergences = 0;
    Index cut = 0;
    /// All gradients that were asked for, and those of the moves that were kept.
    Index gradients = 0;
    Index kept_gradients = 0;
    int refinements = 0;
    /// Over the coordinates: the smallest effective sample size, in bulk and in the tails, and the largest R̂.
    double ess = 0.0;
    double r_hat = 0.0;

    /// The chains agree (R̂ below 1.01), are worth a hundred draws each, and not one move in a thousand diverged.
    bool reliable() const {
        return points.cols() > 0 && r_hat < 1.01 && ess >= 100.0 * chains && 1000 * divergences < points.cols();
    }

    /// A function of the draws, given in the order of `points`, as one column a chain.
    Matrix by_chain(const VectorView& values) const {
        return Eigen::Map<const Matrix>(values.data(), values.size() / chains, chains);
    }
};

/// Throws std::invalid_argument where no place near the centre has a density, and for more than kMostNutsNumbers.
LRVB_EXPORT NutsSample no_u_turn(const SmoothDensity& density, const Whitening& whitening,
                                 const NutsOptions& options = {});
/// The same about a dense covariance. Throws std::invalid_argument where it is not positive definite.
LRVB_EXPORT NutsSample no_u_turn(const SmoothDensity& density, const NormalApproximation& approximation,
                                 const NutsOptions& options = {});

}  // namespace lrvb
