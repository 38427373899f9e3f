#pragma once

#include <lrvb/export.hpp>
#include <lrvb/model/expression.hpp>
#include <lrvb/model/model.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// Finds the fixed point η = ∇L(m) of a model: a maximum of the bound F(m) = L(m) + Σ_j S_j(m_j).
///
/// Coordinate ascent gets near, Newton finishes: with g = ∇L − η the gradient of F in the means, the step is
///
///     Δm = Σ̂ g,     Δη = (I − HV)⁻¹ g = g + HΔm,
///
/// from the same factorisation that the response uses. F is the judge: a Newton step that would lower it, or leave the
/// domain of a family, is halved. Where no such step keeps F, or where −∇²F = V⁻¹ − H is not positive definite and
/// ascent no longer gains (or was not asked for: first_sweeps = 0), the step is that of a shifted curvature
/// (Levenberg's),
///
///     Δm = ((1 + s)V⁻¹ − H)⁻¹ g,     Δη = (g + HΔm)/(1 + s),
///
/// with s growing until the matrix is positive definite and F rises; if that takes too much of it, ascent goes on. The
/// next s is smaller where F rose by what its second derivative foretold, and larger where it rose by much less.
///
/// Converged means: the Newton decrement λ = √(gᵀΣ̂g) at the state that is returned is at most the tolerance. By
/// Cauchy–Schwarz |Δm_i| ≤ λ sd_i, so no mean, nor any linear combination of means, would move by more than λ of its
/// own LRVB standard deviation. Bound, trace, step and curvature are those of that state; the step itself is left.
namespace lrvb {

namespace detail {
class Curvature;
}

/// Optima whose bounds are within so many nats of the best share the posterior with it: e^−10 is 1 in 20,000.
constexpr double kOtherOptimum = 10.0;

enum class Termination {
    converged,        ///< the step is below the tolerance, at a strict local maximum of the bound
    iteration_limit,  ///< max_iterations were spent
    stalled,          ///< rounding hides where the optimum is: centre and scale the data
    not_a_maximum,    ///< a fixed point, but the bound is flat or rises in some direction
    improper,         ///< an update left the domain of a variable's family
    cancelled         ///< the progress callback said so
};

LRVB_EXPORT std::string_view to_string(Termination termination);

/// What a progress callback is told: at the start (iteration 0), and after every sweep and every Newton step.
struct Progress {
    int restart = 0;
    /// "start", "ascent" or "newton"; before these, where a start is sought on part of the data, "tournament" (one
    /// start of many) and "sample" (the winner, on more rows).
    std::string_view stage;
    int iteration = 0;
    double bound = 0.0;
    double step = 0.0;  // in posterior sds; infinite until Newton's factorisation has succeeded once
    /// Of a model that streams its data: passes over all rows so far, and the rows that this iteration looked at.
    Index passes = 0;
    Index rows = 0;
};

struct LRVB_EXPORT FitOptions {
    /// Largest step, in posterior sds, of a converged fit.
    double tolerance = 1e-8;
    /// Sweeps and Newton steps together, for each start.
    int max_iterations = 10000;
    /// Sweeps before Newton is first tried; 0 for a start that is already near.
    int first_sweeps = 4;
    /// Number of random starts; the best bound wins.
    int restarts = 1;
    std::uint64_t seed = 1;
    /// Begins at this state, such as the optimum of a model nearby, instead of at random; one start only. Naturals
    /// count, and the means of what it has clamped, which stays clamped.
    std::optional<State> initial;
    /// Called after every iteration; returning false cancels.
    std::function<bool(const Progress&)> progress;

    /// Holds a variable at a value (a number, a vector, the half-vector of a matrix, a label counted from 0).
    FitOptions& clamp(const AnyVariable& variable, const Vector& value);
    FitOptions& clamp(const AnyVariable& variable, double value);
    /// Starts a variable at these standard parameters instead of at random.
    FitOptions& start(const AnyVariable& variable, const Vector& standard);

    std::vector<std::pair<AnyVariable, Vector>> clamped;
    std::vector<std::pair<AnyVariable, Vector>> starts;
};

/// The result of a fit.
struct LRVB_EXPORT Optimum {
    /// Natural and mean parameters of every variable, stacked as the model's layout says.
    State state;
    double bound = 0.0;
    /// The bound at the winning start, and after each of its iterations.
    std::vector<double> trace;
    int sweeps = 0;
    /// Shifted ones among them.
    int newton_steps = 0;
    /// The Newton decrement at the state: no mean would move by more than this many posterior sds. Infinite where it is
    /// not a maximum.
    double step = 0.0;
    /// Where it converged, what that step would lead to: of order `step`² from the optimum, but nobody has looked
    /// there. A start for a fit that goes on, to a smaller tolerance or with more data.
    State next;
    Termination termination = Termination::iteration_limit;
    /// One sentence: how it ended, and what to do if it did not converge.
    std::string message;
    /// The bound that each start ended at, in order, and how it ended.
    std::vector<double> restart_bounds;
    std::vector<Termination> restart_terminations;
    /// Optima at other places that share the posterior with this one: of the other starts that converged within
    /// kOtherOptimum nats of it, one for each place (labels aside), the best first. States and bounds; their curvature
    /// may be missing.
    std::vector<Optimum> others;
    /// The factorisation at the optimum, where it converged: the response needs no other.
    std::shared_ptr<const detail::Curvature> curvature;
    /// Of the model that it is the optimum of.
    std::uint64_t model_identity = 0;

    bool converged() const { return termination == Termination::converged; }

    /// Standard parameters of a variable: (mean, variance), (shape, rate), … Empty where it is clamped.
    Vector standard(const Model& model, const AnyVariable& variable) const;
};

/// Throws std::invalid_argument for options that make no sense, and std::logic_error if the bound falls during ascent,
/// which means that the model's sweep is wrong. Every other outcome is in the result.
LRVB_EXPORT Optimum fit(const Model& model, const FitOptions& options = {});

}  // namespace lrvb
