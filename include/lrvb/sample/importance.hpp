#pragma once

#include <lrvb/export.hpp>
#include <lrvb/sample/log_density.hpp>

#include <cstdint>
#include <functional>
#include <vector>

/// Importance sampling: draws from a proposal that is near the target, weighted by how much more of the target than of
/// the proposal there is at each.
///
/// The proposal is a multivariate Student t with the location and the scale of an approximation. Its tails are heavier
/// than a normal's, so a scale that is somewhat too small still leaves weights with a variance. Weights are
/// Pareto-smoothed. Where k̂ is above 0.3, or fewer than one draw in twenty carries the weight, a further round takes
/// its location and scale from the weighted draws, and is the answer unless its own k̂ is above the threshold and not
/// the lowest.
///
/// A target that one normal does not describe gets a proposal of several parts, g = Σ_j s_j t_j, each a Student t of
/// its own. Part j makes S s_j of the S draws, and every draw is weighted against the whole proposal, p(θ)/g(θ) (the
/// balance heuristic), whichever part it came from: so no weight is large where any part goes. Between rounds, parts
/// are refitted by a step of the EM algorithm on the weighted draws (population Monte Carlo), and share the draws by
/// how much of the target, or of the variance of anything that is wanted, is theirs.
///
/// It can fail: in some dozens of dimensions few draws carry all the weight, which k̂ and the effective sample size
/// tell; and of several modes it sees only those that the proposal reaches, which nothing tells. For mixtures that is
/// as wanted, one labelling of the components, while these are apart.
namespace lrvb {

struct ImportanceOptions {
    Index draws = 4000;
    /// Degrees of freedom of the Student t.
    double dof = 7.0;
    /// At most so many rounds: a second and third only where the one before was poor.
    int rounds = 3;
    /// A round in which so large a share of the draws carries the weight is not poor.
    double enough = 0.05;
    /// Functions of points whose variances are wanted, one a row: parts share the draws by these. The coordinates,
    /// where there are none.
    std::function<Matrix(const Matrix& points)> functions = {};
    std::uint64_t seed = 1;
    /// Changes no bit of the answer: every draw has a random stream of its own.
    int threads = 1;
};

/// A part of a proposal: a Student t with this location and scale, and its share of the draws.
struct ProposalPart {
    double share = 1.0;
    NormalApproximation scale;
};

struct ImportanceSample {
    Matrix points;        // one draw a column
    Vector log_density;   // of the target, as it gives it; −∞ where it gave no number
    Vector log_proposal;  // normalised
    Vector log_weights;   // Pareto-smoothed; their exponentials add up to one
    double k_hat = 0.0;
    double ess = 0.0;
    /// log ∫ of the target: the log evidence, where the target is a joint density.
    double log_integral = 0.0;
    int rounds = 0;
    /// What the draws were made of.
    std::vector<ProposalPart> proposal;

    /// k̂ is below the threshold for so many draws.
    bool reliable() const;
};

/// Throws std::invalid_argument for a covariance that is not positive definite, and for a density that is zero, or not
/// a number, at every draw.
LRVB_EXPORT ImportanceSample importance_sample(const LogDensity& density, const NormalApproximation& approximation,
                                               const ImportanceOptions& options = {});

/// The same with a proposal of several parts, whose shares add up to one; `first_stream` sets its random numbers apart
/// from those of other samples with the same seed.
LRVB_EXPORT ImportanceSample importance_sample(const LogDensity& density, std::vector<ProposalPart> proposal,
                                               const ImportanceOptions& options = {}, int first_stream = 0);

/// log g of points, one a column.
LRVB_EXPORT Vector log_proposal_at(const std::vector<ProposalPart>& proposal, const Matrix& points, double dof,
                                   int threads = 1);

/// Mean and covariance of weighted points, one a column.
LRVB_EXPORT NormalApproximation weighted_moments(const Matrix& points, const Vector& log_weights);

}  // namespace lrvb
