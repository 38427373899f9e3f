#pragma once

#include <lrvb/export.hpp>
#include <lrvb/likelihood/likelihood.hpp>
#include <lrvb/model/expression.hpp>
#include <lrvb/model/functionals.hpp>
#include <lrvb/model/multilinear_model.hpp>
#include <lrvb/model/row_model.hpp>
#include <lrvb/model/rows.hpp>

#include <initializer_list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

/// Normal variables that are jointly normal given the rest, as one block.
///
/// A model that ModelBuilder declares gives every variable a factor of its own. Where a mean, slopes and group effects
/// are normal given a few precisions, that loses what they know of each other, and the precisions come out too large:
/// in growth curves by twelve sds. Joined, they have one q(x) = N(m, S). The log joint is quadratic in x,
///
///     log p = c(θ) + h(θ)ᵀx − ½ xᵀP(θ)x,     c, h and P multilinear in the statistics of the others,
///
/// so with t the stacked means of the others and S at its best, S = P(t)⁻¹, the bound is
///
///     F(t, m) = c(t) + h(t)ᵀm − ½ mᵀP(t)m − ½ log|P(t)| + (d/2) log 2π + Σ entropies of the others.
///
/// The layout has the other variables as the base has them, in its order, and after them every coefficient of x as a
/// family::Point, by its name. The expected log joint is F without the entropies, plus ½Σ(m_i/u_i)²: see
/// family/point.hpp. Units u_i are one but for coefficients with sds above a thousand. So fit, response, sensitivity,
/// influence and samplers take it like any model, and Cov(x) = S + B Cov(t) Bᵀ, B = dm/dt, is what the response gives.
/// At values, `log_joint` is the log joint itself.
///
///     ∂F/∂t_a = ∂(c + hᵀm − ½mᵀPm)/∂t_a − ½ tr(S P_a)                  P_a = ∂P/∂t_a
///     ∂²F/∂t_a∂t_b = … + ½ tr(S P_a S P_b) − ½ tr(S P_ab)              ∂²F/∂m∂m = −P
///
/// **Rows under a link** (PredictorRows): binomial rows with logit, probit or cloglog link, and Poisson rows with log
/// link, whose predictor η_n = a_nᵀx + o_n is linear in joined variables. They add Σ_n w_n E ℓ_n(η_n), with
/// η_n ~ N(a_nᵀm + o_n, a_nᵀSa_n) under q, and S is at its best where S⁻¹ = P(t) + Aᵀ diag(−w_n E ℓ_n'') A. Gradients
/// are exact by the envelope theorem, and the Hessian by implicit differentiation, the response of S whole.
///
/// S is dense: d³ operations a step. It can fail: a normal at one point misses what is skewed in the others; P(t) may
/// not be positive definite at odd means, where F is −∞.
namespace lrvb {

/// As many coefficients can be joined: half a second a step.
constexpr Index kMostJoined = 2000;
/// So many statistics of others may multiply what is quadratic in x, since all of them respond to each other: weights
/// of Student errors, one a row.
constexpr Index kMostScales = 3000;

/// So many are integrated out for every draw of the others: a tenth of a millisecond.
constexpr Index kMostIntegrated = 100;

/// Rows whose distribution is about a linear predictor under a link.
struct PredictorRows {
    /// Without parameters of its own: Likelihood::named("binomial", "logit"), …, or "poisson".
    std::shared_ptr<const Likelihood> likelihood = Likelihood::named("binomial");
    Vector y;
    Vector trials;  // empty: one for each row; none for counts
    /// One a row: Σ constant × joined variable (entries of an MvNormal variable included) + constant.
    std::vector<Expression> predictors;
    /// Which rows of the model these are, as for ModelBuilder::observe; may be none. Their numbers are counts, so none
    /// of them is an input.
    RowRange rows;
};

/// The variables of the base, as numbers of its layout in ascending order, that can be joined: all Normal and MvNormal
/// ones, but for those that belong to a row, and for as few as possible by a greedy choice without which no product of
/// variables has more than two of them. Variables in predictors are kept before others. Where more than kMostJoined
/// coefficients could be joined, or kMostScales would not be kept, those are left out that do least: alone in products
/// with others first; maybe all. None of a model with labelled rows (row_mixture.hpp).
LRVB_EXPORT std::vector<Index> joinable(const MultilinearModel& base, const std::vector<PredictorRows>& rows = {});

namespace detail {
class JointCore;
}

class LRVB_EXPORT JointModel final : public RowModel {
  public:
    /// Joins what can be joined.
    explicit JointModel(const MultilinearModel& base, const std::vector<PredictorRows>& rows = {});
    /// `joined` are numbers of variables in the base's layout (AnyVariable::index).
    ///
    /// Throws std::invalid_argument for variables that cannot be joined, with the product that forbids it; for more
    /// than kMostJoined coefficients or kMostScales scales; and for predictors that are not linear in joined variables,
    /// or responses that they cannot have, with the row.
    JointModel(const MultilinearModel& base, const std::vector<Index>& joined,
               const std::vector<PredictorRows>& rows = {});
    JointModel(const MultilinearModel& base, std::initializer_list<Index> joined,
               const std::vector<PredictorRows>& rows = {})
        : JointModel(base, std::vector<Index>(joined), rows) {}
    ~JointModel() override;
    JointModel(const JointModel&);
    JointModel& operator=(const JointModel&);

    const Layout& layout() const override;
    std::uint64_t identity() const override;
    /// The others where the base starts them, x at its best given these.
    State start(Random& random) const override;
    /// (m, S) given the others, and then each of these with (m, S) held: F never falls.
    Expansion sweep(State& state) const override;
    Expansion expand(const Vector& mean, Order order) const override;
    Vector log_joint(const Matrix& statistics, int threads) const override;
    JointGradients log_joint_gradients(const Matrix& statistics, int threads) const override;
    /// All of x, unless there are rows under a link or more than kMostIntegrated coefficients: given values θ of the
    /// others it is N(P⁻¹h, P⁻¹), and with m = P⁻¹h
    ///
    ///     log ∫ p dx = c + hᵀm − ½ mᵀPm − ½ log|P| + (d/2) log 2π,
    ///
    /// which is F(θ, m) without entropies.
    std::vector<Index> integrable() const override;
    JointGradients integrated_joint(const Matrix& statistics, bool gradients, int threads) const override;
    void draw_integrable(Eigen::Ref<Vector> statistics, Random& random) const override;
    /// x at once, and then the others one by one; none where there are rows under a link.
    std::optional<double> gibbs_work() const override;
    void gibbs(Vector& statistics, const std::vector<bool>& clamped, Random& random) const override;
    const std::vector<std::string>& hyperparameters() const override;
    Vector hyperparameter_gradient(const Vector& mean, Index hyperparameter) const override;
    const Vector& hyperparameter_values() const;

    std::vector<std::string> inputs() const override;
    void ask_rows(const State& state, const Matrix& directions, RowChange change,
                  const RowVisitor& visit) const override;
    void row_log_likelihoods(const Matrix& statistics, int threads, const RowVisitor& visit) const override;

    /// As MultilinearModel has them.
    Index rows() const;
    std::vector<std::pair<std::string, Index>> row_sets() const;
    JointModel reweighted(const std::vector<Index>& rows, const Vector& weights) const;
    JointModel reweighted(Index row, double weight) const;
    JointModel without_row(Index row) const { return reweighted(row, 0.0); }
    JointModel stepped(Index hyperparameter, double step) const;
    /// The model with tᵀT(θ) added, over its own layout: of a coefficient that is t x.
    JointModel tilted(const Vector& tilt) const;

    /// The layout of the base, whose names the coefficients have.
    const Layout& base_layout() const;
    /// Numbers of the joined variables in it, ascending.
    const std::vector<Index>& joined() const;
    /// How many statistics the others have: the coefficients stand behind them, in the order of the base.
    Index other_count() const;
    Index coefficient_count() const;
    /// Where a statistic of the base stands here; −1 for x² and the like of joined variables.
    Index position(Index base_statistic) const;
    /// Expressions in the base's variables, linear in statistics that have a position, as functionals of this layout.
    Functionals functionals(const std::vector<Expression>& expressions) const;

    /// What mean field says: S_ii of every coefficient, and the variances under q of the statistics of the others.
    /// Stacked as the layout.
    Vector mean_field_variances(const State& state) const;
    /// S at these means, the covariance of all coefficients given the others. Throws std::domain_error where P(t)
    /// cannot be factored.
    Matrix conditional_covariance(const Vector& mean) const;

    /// Numbers looked at in one evaluation of the log joint, about; with x integrated out where it is integrable.
    double work() const;

  private:
    explicit JointModel(std::shared_ptr<const detail::JointCore> core);

    std::shared_ptr<const detail::JointCore> core_;
};

}  // namespace lrvb
