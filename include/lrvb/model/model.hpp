#pragma once

#include <lrvb/export.hpp>
#include <lrvb/family/random.hpp>
#include <lrvb/model/layout.hpp>
#include <lrvb/types.hpp>

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

/// The model concept: all that `fit` and `response` ask of a model.
///
/// A model has variables θ_j with variational factors q_j in exponential families, stacked as its `Layout` says. Under
/// the factorised q, the expected log joint E_q log p(x, θ) is a function L(m) of the stacked mean parameters alone,
/// with local variables (if the model has any) already maximised out. The evidence bound is F(m) = L(m) + Σ_j S_j(m_j),
/// with S_j the entropies; ∇S_j = −η_j and ∇²S_j = −V_j⁻¹. So the fixed point is η = ∇L(m), and −∇²F = V⁻¹ − ∇²L is
/// what the response inverts.
namespace lrvb {

/// Where an optimisation stands: the natural and the mean parameters of every q_j, stacked, m_j = ∇A_j(η_j). A clamped
/// variable is held at a value: its mean is the statistic of that value, its natural parameter has no meaning, and it
/// has neither variance nor entropy.
struct State {
    Vector natural;
    Vector mean;
    std::vector<bool> clamped;
};

enum class Order { value, gradient, hessian };

/// L at some means, with derivatives up to the order asked for.
struct Expansion {
    double value = 0.0;
    /// Σ|terms| of the sum that is `value`: its rounding error is a small multiple of 2⁻⁵³ times this.
    double magnitude = 0.0;
    Vector gradient;
    /// Σ|terms| of each entry of the gradient, likewise; empty where the model's sums cannot cancel.
    Vector gradient_magnitude;
    /// Lower triangle of ∇²L in the statistics, compressed. Where its pattern is the same at all means, as for most
    /// models, its factorisation is planned once; a model may leave out blocks that have become zero.
    SparseMatrix hessian;
};

/// log p(x, θ) at values, and the derivatives in their statistics, one a column.
struct JointGradients {
    Vector values;
    Matrix gradients;
};

/// Thrown by a sweep when an update leaves the domain of a variable's family: its conditional cannot be normalised.
class LRVB_EXPORT ImproperConditional : public std::domain_error {
  public:
    ImproperConditional(const std::string& variable, const std::string& reason);
};

/// Blocks of variables, all alike, that can change places (the components of a mixture) without changing the joint
/// density, where the parts of the weights change places with them.
struct Exchangeable {
    std::optional<Index> weights;            // the variable, a Dirichlet (or a Beta: its two logarithms are the parts)
    std::vector<std::vector<Index>> blocks;  // of variables
    /// More such variables, whose parts change places with the blocks as well: the rows of a transition matrix, which
    /// are of a block each at the same time, or the weights of several groups.
    std::vector<Index> further = {};
};

/// A fresh identity.
LRVB_EXPORT std::uint64_t next_model_identity();

class LRVB_EXPORT Model {
  public:
    virtual ~Model() = default;

    virtual const Layout& layout() const = 0;

    /// A number that no other model has, but copies share: what an optimum is recognised by. 0: unknown.
    virtual std::uint64_t identity() const { return 0; }

    /// A state to begin at, consistent (means belong to naturals) and random where the model has symmetries to break.
    virtual State start(Random& random) const = 0;

    /// One pass of coordinate ascent, η_j ← ∇_j L(m), m_j ← ∇A_j(η_j), over all variables that are not clamped. Never
    /// lowers F. Returns L at the means that it began at (to Order::value), which a model with data passes over anyway.
    /// Throws ImproperConditional.
    virtual Expansion sweep(State& state) const = 0;

    virtual Expansion expand(const Vector& mean, Order order) const = 0;

    /// The same at a state, for models whose sums need what the means have lost to rounding: where |Eμ| ≫ sd, the
    /// variance E[μ²] − (Eμ)² is in the naturals, but no longer in the means.
    virtual Expansion expand_at(const State& state, Order order) const { return expand(state.mean, order); }

    /// log p(x, θ) at values θ, each given by its stacked statistics T(θ) as a column: local variables are summed out,
    /// and densities are with respect to Lebesgue measure, as those of the families are. A value has no spread, so this
    /// is L itself at m = T(θ), which is the default; a model with many rows overrides it, to look at them once for
    /// many values. The same bits for any number of threads.
    ///
    /// Of variables whose family holds their prior as its base measure h (family::Scale), it lacks Σ log h(θ_j), as L
    /// does: add family::Scale::log_base, or draw in the coordinates of sample/unbounded.hpp, which do.
    virtual Vector log_joint(const Matrix& statistics, int threads) const;

    /// The same for each column, with the derivatives of L in the stacked statistics there: what a sampler's gradient
    /// is made of, by the chain rule. Local variables are summed out, so it is their conditional means that stand in
    /// it.
    virtual JointGradients log_joint_gradients(const Matrix& statistics, int threads) const;

    /// Variables that are jointly normal given all others, whatever these are, and quickly integrated out: then a
    /// sampler draws the others alone, and these from their conditional. By number, ascending; none by default.
    virtual std::vector<Index> integrable() const { return {}; }

    /// log ∫ p(x, θ) over the integrable variables, at values of the others, for each column; what stands in their
    /// place is not looked at. Where `gradients` are asked for, those in the statistics of the others, and zero in
    /// their own. −∞ where the conditional is no normal.
    virtual JointGradients integrated_joint(const Matrix& statistics, bool gradients, int threads) const;

    /// Draws the integrable variables from their conditional given the others.
    virtual void draw_integrable(Eigen::Ref<Vector> statistics, Random& random) const;

    /// What can be exchanged, so that a draw has labels to keep; nothing by default.
    virtual Exchangeable exchangeable() const { return {}; }

    /// Numbers that a call of `gibbs` looks at; nothing where the model has no such step, which is the default.
    virtual std::optional<double> gibbs_work() const { return std::nullopt; }

    /// One step of a Gibbs sampler, for exploring the exact posterior: every variable that is not clamped is drawn
    /// from its conditional given all others, local ones included (and forgotten again). `statistics` are the stacked
    /// T(θ) of values, before and after. Chains may run in several threads at once. Only where there is `gibbs_work`.
    virtual void gibbs(Vector& statistics, const std::vector<bool>& clamped, Random& random) const;

    /// Names of the hyperparameters α that the sensitivity can be asked for.
    virtual const std::vector<std::string>& hyperparameters() const = 0;

    /// ∂²L/∂m∂α at these means.
    virtual Vector hyperparameter_gradient(const Vector& mean, Index hyperparameter) const = 0;
};

}  // namespace lrvb
