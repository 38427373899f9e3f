#pragma once

#include <lrvb/posterior/posterior.hpp>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

/// A posterior that was found without draws: where most parameters have a known distribution given a few others, these
/// few are integrated over numerically,
///
///     p(x | y) = Σ_k w_k p(x | ψ_k, y),
///
/// so that means, sds, quantiles and covariances have no Monte Carlo error, but one of the rule, which is estimated.
namespace lrvb {

struct IntegrationOptions {
    /// Of the draws that stand beside the numbers.
    Index draws = 4000;
    std::uint64_t seed = 1;
    int threads = 1;
    /// By another rule than that of a fit, which it checks.
    bool other_nodes = false;
    /// Called now and then with the share that is done; returning false ends it with std::runtime_error.
    std::function<bool(double)> progress = {};
};

/// Of every variable of a posterior, in its order.
struct IntegratedPosterior {
    Vector mean;
    Vector sd;
    /// What the rule may be wrong by: a mean in sds, an sd as a share of itself.
    Vector mean_error;
    Vector sd_error;
    /// The part of these that is the standard error of draws, and no bound.
    Vector mean_noise;
    Vector sd_noise;
    /// Of variables whose mean or sd rests on a tail that the nodes do not reach; empty: of none.
    std::vector<TailMoments> tails;
    /// On the unbounded scale of each.
    Vector unbounded_mean;
    Vector unbounded_sd;
    /// At kQuantileProbabilities.
    std::vector<Vector> quantiles;
    /// Of all variables; empty where they are too many.
    Matrix covariance;

    /// How many ψ_k there are.
    Index nodes = 0;
    /// How it was found, in words: "the exact posterior, by integration over 2 variance parameters (114 nodes)".
    std::string how;
    /// Whether draws, weighted by the exact posterior, agree where the distribution given ψ is an approximation.
    bool is_confirmed = true;
    /// Whether the numbers can be relied on, and why or why not, in a sentence.
    bool reliable = false;
    std::string trust;

    /// Draws of the same posterior: stacked statistics of the model, one a column, and what they weigh.
    Matrix draws;
    Vector log_weights;
    /// log p(x, θ) at each, on the unbounded parameters.
    Vector log_density;
};

}  // namespace lrvb
