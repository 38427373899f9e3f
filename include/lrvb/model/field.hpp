#pragma once

#include <lrvb/export.hpp>
#include <lrvb/family/scale_prior.hpp>
#include <lrvb/likelihood/likelihood.hpp>
#include <lrvb/model/functionals.hpp>
#include <lrvb/model/row_model.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

/// The Gaussian field: regressions whose coefficients x (fixed effects β and the effects u of groups) are jointly
/// normal given a few variance parameters ψ.
///
///     y_n ~ Normal(η_n, σ²),     η_n = offset_n + α + Σ_j β_j (x_nj − x̄_j) + Σ_f z_nfᵀ u_f,level(n)
///     α ~ Normal,   β_j ~ Normal,   u_f,g ~ Normal(0, Σ_f) for each level g of factor f
///
/// α is the intercept at the centre of the columns, of which the prior speaks; the one at zero is α − Σ_j β_j x̄_j. With
/// weights a row counts w_n times; with precision weights it counts once, with the variance σ²/w_n.
///
/// **Random effects** are computed at the means of their columns too, where a factor has an intercept:
///
///     zᵀu = ũ_0 + Σ_e u_e (z_e − z̄_e),     ũ_0 = u_0 + Σ_e z̄_e u_e
///
/// The coefficients of the layout are (ũ_0, u_1, …), so that no origin of a column costs digits. The prior speaks of
/// them where FieldPrior::Factor::at_means says so, and is carried over exactly where it speaks of u_0.
///
/// **What is fitted.** With ψ at a point and q(x) = N(m, S), the bound is maximised over S:
///
///     F(ψ, m) = max_S { E_q log p(y, x | ψ) + entropy(q) } + log p(ψ)
///             = log p(y, m | ψ) − ½ log |P(ψ)/2π| + log p(ψ),        P(ψ) = τ XᵀWX + prior precision,  S = P⁻¹,  τ =
///             σ⁻²
///
/// for normal rows, so that F(ψ, m̂(ψ)) = log p(y | ψ) + log p(ψ) exactly: the fit is the top of the posterior of ψ, and
/// its response is Laplace's there with the field inside, Cov(x, x) = P⁻¹ + B Cov(ψ, ψ) Bᵀ, B = dm̂/dψ. The layout has a
/// family::Point for every ψ and every coefficient, and L = F + ½|ψ|² + ½|m|². `log_joint` is the true log p(y, x, ψ).
///
/// **ψ** is unbounded: logs of the sds (the logit of where the sd is between its bounds, for a uniform prior), atanh of
/// the canonical partial correlations of each factor's effects (of the correlation, where there are two), log σ.
/// Densities of ψ include the Jacobian; log p(ψ) goes down on both sides for every prior that is proper, so that a
/// variance at zero is no boundary. Gradients are analytic; ∂²F/∂ψ∂ψ is taken by central differences of ∂F/∂ψ (2
/// factorisations for each ψ), to about 1e-8 of it.
///
/// Inside, response and columns are centred (where there is an intercept) and scaled, effects' values scaled, and
/// residuals are counted from an estimate, so that neither an offset, nor a unit, nor a small residual costs digits.
/// Rows are folded into XᵀWX once; no iteration looks at them again. The factor with the most coefficients is
/// eliminated level by level, which fills in nothing; what is left (the other factors, and the fixed effects last) is
/// factored sparsely or densely, as its fill asks for. So one factor, or nested ones, are linear in the groups; two
/// large crossed factors fill in: FactorTooLarge where that would not fit in memory.
///
/// **Rows that are not normal**: binomial (logit, probit, cloglog), Poisson (log) and Student's t errors, with the link
/// of the mean in place of it. q(x) = N(m, S) is the best normal for given ψ; F(ψ, m) is a bound. Its gradients are
/// exact (envelope), ∂²F/∂ψ∂ψ and ∂²F/∂ψ∂m are differences of them with S solved again, and in ∂²F/∂m∂m the response of
/// S is kept within the groups of each factor (all fixed effects, where there are no factors and at most twelve of
/// them), so that it stays as sparse as P. What the bound misses is added group by group where it is integrated: see
/// `conditional`. ψ then has no log σ but for Student's t, which has log(ν − 1) besides; its density, not a mixture of
/// normals, is averaged, and may have two tops where rows contradict each other.
///
/// It can fail: a normal at one point misses what is skewed in ψ, with few groups most of all; FieldIntegral
/// (sample/field_integral.hpp) adds it up exactly.
namespace lrvb {

/// A random term such as (1 + Days | Subject).
struct FieldFactor {
    std::string name;                  // "Subject"
    std::vector<std::string> levels;   // "308", …
    std::vector<std::string> effects;  // "intercept", "Days"
    std::vector<int> level;            // of each row, from 0
    Matrix values;                     // rows × effects: the z_n; ones for an intercept
    /// Sizes of the blocks of correlated effects, in order; empty: all are correlated. (x || g) has blocks of one.
    std::vector<Index> blocks = {};
    /// Which effect is the intercept, whose values are ones; −1: none. The other effects are centred where there is
    /// one.
    Index intercept = -1;
};

/// Columns of a latent term, such as those of rw2(t): their coefficients are independent Normal(0, sd²), with one sd.
struct FieldTerm {
    std::string name;  // "rw2(t)"
    Index first = 0;   // column
    Index count = 0;
};

struct FieldData {
    std::shared_ptr<const Likelihood> likelihood = Likelihood::named("gaussian");
    std::string response = "y";  // what it is called
    Vector y;
    Vector trials;                   // binomial: of each row; empty: one
    Vector offset;                   // empty: zero
    Vector weights;                  // how often each row counts; empty: once
    bool precision_weights = false;  // of rows with a σ: the variance of row n is σ²/w_n, and it counts once
    bool intercept = true;
    std::vector<std::string> names;    // of the columns, without the intercept
    Matrix columns;                    // rows × fixed effects, without the intercept's ones
    std::vector<FieldTerm> terms;      // the last columns, in order; neither centred nor scaled
    std::vector<FieldFactor> factors;  // may be empty: a plain (generalised) linear model

    /// Columns that are fixed effects.
    Index slopes() const { return terms.empty() ? columns.cols() : terms.front().first; }
    double weight(Index n) const { return weights.size() > 0 ? weights[n] : 1.0; }
    /// The weight is the one times the other.
    double count(Index n) const { return precision_weights ? (weight(n) > 0.0 ? 1.0 : 0.0) : weight(n); }
    double precision(Index n) const { return precision_weights && weight(n) > 0.0 ? weight(n) : 1.0; }
    double total_weight() const {
        return weights.size() > 0 && !precision_weights ? weights.sum() : static_cast<double>(y.size());
    }
    double offset_of(Index n) const { return offset.size() > 0 ? offset[n] : 0.0; }
};

/// Normal rows that are with others, by shares: who has some of them answers what FieldModel asks (bytes, as those of a
/// RowTeam), and what comes back is the same whoever has which.
class LRVB_EXPORT FieldRows {
  public:
    virtual ~FieldRows() = default;
    /// Names, levels and effects; none of the rows.
    virtual std::shared_ptr<const FieldData> outline() const = 0;
    /// The answers of all, merged.
    virtual std::string ask(const std::string& asked) const = 0;
};

/// Priors of a field, in the data's units.
struct LRVB_EXPORT FieldPrior {
    double intercept_mean = 0.0;  // of α, the intercept at the centre of the columns
    double intercept_sd = 1.0;
    Vector mean;  // of the slopes; of columns of terms it is not read
    Vector sd;
    std::vector<ScalePrior> terms = {};  // of each term's sd
    ScalePrior sigma;                    // of rows that have one
    /// Of each parameter of the likelihood; empty: as the likelihood has them.
    std::vector<ScalePrior> parameters = {};
    struct Factor {
        std::vector<ScalePrior> sd;  // of each effect
        /// Two and more effects: Huang & Wand's prior of the covariance matrix (2013), with the auxiliaries integrated
        /// out, for each block: p(Σ) ∝ |Σ|^{−(ν+2q)/2} Π_k (ν (Σ⁻¹)_kk + 1/A_k²)^{−(ν+q)/2}. Every sd is then
        /// half_t(ν, A_k), with one ν; every correlation is uniform for ν = 2. Otherwise sds are independent of each
        /// other and of a correlation matrix that is uniform (LKJ's with 1).
        bool huang_wand = true;
        /// Whether the prior of the intercept's block speaks of its effects at the means of their columns (ũ_0, u_1,
        /// …), rather than of u_0 at zero. Huang & Wand's always does, where there is an intercept; a uniform prior of
        /// an sd never.
        bool at_means = true;
        /// Those means; absent: of the rows. So that a prior stays where it is when rows change.
        std::optional<Vector> centre = {};
    };
    std::vector<Factor> factors;
    /// Where α is the intercept; absent: at the (weighted) means of the columns. So that a prior stays where it is when
    /// rows change.
    std::optional<Vector> centre;

    /// On the data's own scale, with s = sd(y), 1 on a link's scale: intercept ~ Normal(mean y, (2.5 s)²), coefficients
    /// ~ Normal(0, (2.5 s/sd(x))²); σ ~ half_t(2, s); sds of effects ~ half_t(2, s/sd(z)), s for an intercept, by Huang
    /// & Wand; sds of terms ~ half_t(2, s). Sds are those with n − 1. With precision weights the scale of σ, the sd at
    /// weight one, is s times the root of their geometric mean. Throws as FieldModel does.
    static FieldPrior automatic(const FieldData& data);
    static FieldPrior automatic(const FieldRows& rows);
};

/// A standard deviation, a correlation, … of a field, as people read it.
struct FieldVariance {
    enum class Kind { sd, correlation, sigma, parameter };
    std::string name;  // "sd[Subject,Days]", "cor[Subject,intercept,Days]", "sigma"
    Kind kind = Kind::sd;
    Index factor = -1;  // terms are counted behind the factors; or which parameter of the likelihood
    Index row = -1;     // effect
    Index column = -1;  // the other effect of a correlation
};

/// The field given ψ: what a node of an integral over ψ is made of. For normal rows all of it is exact.
class LRVB_EXPORT FieldConditional {
  public:
    virtual ~FieldConditional() = default;
    /// log p(y | ψ) + log p(ψ); where rows are not normal the bound on it, and what that misses, group by group.
    virtual double log_density() const = 0;
    /// The bound on it: itself where rows are normal. What far nodes are judged by, where corrections cannot be
    /// trusted.
    virtual double bound() const { return log_density(); }
    /// E(x | ψ, y), coefficients in the inner units of the layout, without ψ.
    virtual const Vector& mean() const = 0;
    /// Var(x_i | ψ, y) of all of them, by a selected inverse.
    virtual Vector variances() const = 0;
    /// Of combinations of them, one a column: by a selected inverse too where a column is of the effects of one level.
    virtual Vector variances(const SparseMatrix& combinations) const = 0;
    /// Cov(x | ψ, y) times vectors over the coefficients.
    virtual Matrix covariance_times(const Matrix& x) const = 0;
    /// Deviations from the mean, of independent standard normals: one draw a column.
    virtual Matrix root_times(const Matrix& standard_normals) const = 0;
    /// log |Cov(x | ψ, y)⁻¹|.
    virtual double log_determinant() const = 0;
};

/// A top of e(ψ) = log p(y | ψ) + log p(ψ), or of its bound.
struct FieldMode {
    Vector psi;
    Matrix axes;            // one sd along each axis of −∇²e, a column each; shorter where that is flat
    double log_mass = 0.0;  // of the normal there, up to a constant
};

/// Another top of a field whose rows have Student errors, given about the same ψ: other rows are its outliers.
struct FieldRival {
    Vector coefficients;  // inner units
    double share = 0.0;   // of the posterior, beside the top that the field has
};

namespace detail {
class FieldCore;
}

class LRVB_EXPORT FieldModel final : public RowModel {
  public:
    /// An absent prior is the automatic one. Keeps the data, so that its rows can be asked.
    ///
    /// Throws std::runtime_error, with the column and the remedy, for data that cannot be fitted: no rows with weight,
    /// a weight that is negative or not finite, a number that is not finite, a constant column beside an intercept, a
    /// column of zeros, a response that the family cannot have; std::invalid_argument for a prior or a shape
    /// that makes no sense.
    explicit FieldModel(std::shared_ptr<const FieldData> data, const std::optional<FieldPrior>& prior = {});
    explicit FieldModel(const FieldData& data, const std::optional<FieldPrior>& prior = {});
    /// Of normal rows that are with others, where they are asked what each does (ask_rows, tally_rows). What needs all
    /// of them in one process brings them here.
    explicit FieldModel(std::shared_ptr<const FieldRows> rows, const std::optional<FieldPrior>& prior = {});
    ~FieldModel() override;
    FieldModel(const FieldModel&);
    FieldModel& operator=(const FieldModel&);

    const Layout& layout() const override;
    std::uint64_t identity() const override;
    /// The top of log p(y | ψ) + log p(ψ), or near it.
    State start(Random& random) const override;
    Expansion sweep(State& state) const override;
    Expansion expand(const Vector& mean, Order order) const override;
    Vector log_joint(const Matrix& statistics, int threads) const override;
    JointGradients log_joint_gradients(const Matrix& statistics, int threads) const override;

    /// The numbers of the prior, in the data's units: "intercept: mean", "intercept: sd" (of α), "beta[Days]: mean",
    /// "beta[Days]: sd", "sd[Subject,intercept]: df", "…: scale", "…: rate", "…: shape", "sigma: scale", … and, by
    /// Huang & Wand, "sd[Subject]: df" for all effects of a factor. The bounds of a uniform prior are
    /// not among them.
    const std::vector<std::string>& hyperparameters() const override;
    Vector hyperparameter_gradient(const Vector& mean, Index hyperparameter) const override;

    std::vector<std::string> inputs() const override;
    void ask_rows(const State& state, const Matrix& directions, RowChange change,
                  const RowVisitor& visit) const override;
    std::string tally_rows(const State& state, const Matrix& directions, RowChange change, const RowTally& tally,
                           const std::string& asked) const override;
    void row_log_likelihoods(const Matrix& statistics, int threads, const RowVisitor& visit) const override;
    void replicate_rows(const Matrix& statistics, std::uint64_t seed, int threads,
                        const ReplicateVisitor& visit) const override;

    /// Without its rows where others have them.
    const FieldData& data() const;
    /// With them: brought here, once, where others have them.
    const FieldData& data_with_rows() const;
    /// Σ w: how often rows count together.
    double total_weight() const;
    /// The geometric mean of precision weights; one without them.
    double precision_unit() const;
    /// Its centre included.
    const FieldPrior& prior() const;

    /// ψ stands first in the layout, then the coefficients: fixed effects, those of terms, and those of each factor,
    /// level by level.
    Index variance_count() const;
    Index coefficient_count() const;
    /// The position of u[factor, level, effect] in the layout.
    Index effect_position(Index factor, Index level, Index effect) const;

    /// By name, in the units of the data: "intercept" and "u[Subject,308,intercept]" (at zero), "beta[Days]",
    /// "u[Subject,308,Days]", and "log_sd[Subject,Days]", "atanh_cor[Subject,intercept,Days]" (of factors with two
    /// effects), "log_sigma", "log_nu_minus_one". What is at the means of the columns ends in "_at_means".
    Functionals in_data_units(const std::vector<std::string>& names) const;
    /// Of all coefficients in the order of the layout, α for the intercept and ũ_0 for those of groups: Functionals of
    /// them in the units of the data.
    Functionals coefficients() const;
    /// What is added to each ψ in the units of the data: the log of its unit; zero for what has none.
    Vector psi_shift() const;
    /// x̄: where α is the intercept; zeros without one.
    const Vector& centre() const;

    /// The sds and correlations of each factor at zero, σ (and ν), in the units of the data, as functions of ψ.
    const std::vector<FieldVariance>& variances() const;
    Vector variance_values(const VectorView& psi) const;
    /// d values / d ψ.
    Matrix variance_jacobian(const VectorView& psi) const;

    /// What mean field says: S_ii of every coefficient, and of every ψ one over the curvature with q(x) held. Stacked
    /// as the layout.
    Vector mean_field_variances(const State& state) const;

    /// The field given ψ. Where rows are not normal: the best normal, its mean and its log density corrected group by
    /// group (by a rule in one or two effects, to second order in more, and over all fixed effects without factors),
    /// its covariance with the response of S. Throws std::domain_error where P(ψ) cannot be factored. `near`: that of
    /// this model at another ψ, from which the best normal is sought, to within 1e-5 sds.
    std::unique_ptr<FieldConditional> conditional(const VectorView& psi, const FieldConditional* near = nullptr) const;
    /// log p(y | ψ) + log p(ψ), or the bound on it where rows are not normal, −∞ where it cannot be had; and its
    /// gradient where asked for.
    double log_density(const VectorView& psi, Vector* gradient = nullptr) const;
    /// The same with what a bound misses, as a conditional has it; and whether that is anything.
    double corrected_log_density(const VectorView& psi) const;
    bool has_corrections() const;
    /// Its tops, by Newton's method from several starts: the best first, and those that hold at least a ten-thousandth
    /// of what that one holds. None where there is no ψ.
    const std::vector<FieldMode>& modes(int threads = 1) const;
    /// Tops that integrals do not reach; of rows with Student errors alone.
    std::vector<FieldRival> rivals() const;
    /// Multiplications of one conditional, about.
    double work() const;

  private:
    std::shared_ptr<const detail::FieldCore> core_;
};

}  // namespace lrvb
