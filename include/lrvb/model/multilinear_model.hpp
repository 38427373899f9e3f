#pragma once

#include <lrvb/export.hpp>
#include <lrvb/model/row_model.hpp>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace lrvb {

namespace detail {
class JointCore;
class LabelledTerms;
class MonomialSum;
class MultilinearForm;
class Polynomials;
class RowTerms;
}  // namespace detail

/// A hyperparameter that a number which a variable's family holds depends on (the scale of a prior, a bound), and by
/// how much.
struct BaseDerivative {
    Index hyperparameter = 0;
    Index variable = 0;
    Index number = 0;
    double derivative = 0.0;
};

/// A conditionally conjugate model: its expected log joint is multilinear in the means of its variables (paper,
/// Appendix A.1),
///
///     L(m) = Σ_R G_R Π_{r∈R} m_r,     each monomial touching a variable at most once,
///
/// with data and constants folded into the coefficients G_R. Made by ModelBuilder::build, and immutable: copies share
/// their terms.
///
/// Labels that belong to single rows (ModelBuilder::observe_mixture, observe_chain) are maximised out, and add log Σ
/// exp of what is multilinear (row_mixture.hpp); what follows holds with them.
///
/// Where the observations named their rows, L(m) = … + Σ_n w_n ℓ_n(m, x_n), and each row can be asked what it does, be
/// weighted otherwise, or be dropped.
class LRVB_EXPORT MultilinearModel final : public RowModel {
  public:
    MultilinearModel(std::shared_ptr<const Layout> layout, std::shared_ptr<const detail::MultilinearForm> form,
                     Vector start_natural, std::vector<std::string> hyperparameters, Vector hyperparameter_values,
                     std::shared_ptr<const detail::Polynomials> hyperparameter_derivatives,
                     std::shared_ptr<const detail::RowTerms> rows = {},
                     std::shared_ptr<const detail::LabelledTerms> labelled = {},
                     std::vector<BaseDerivative> base_derivatives = {});

    const Layout& layout() const override { return *layout_; }
    std::uint64_t identity() const override { return identity_; }
    State start(Random& random) const override;
    Expansion sweep(State& state) const override;
    Expansion expand(const Vector& mean, Order order) const override;
    /// Looks at labelled rows once for many values.
    Vector log_joint(const Matrix& statistics, int threads) const override;
    /// Labels first, where there are labelled rows; then variable by variable: L is linear in the statistics of each,
    /// so its gradient there is a natural parameter. None where labelled rows have weights that are no whole numbers.
    std::optional<double> gibbs_work() const override;
    void gibbs(Vector& statistics, const std::vector<bool>& clamped, Random& random) const override;
    /// Labels of rows whose variables and priors are alike.
    Exchangeable exchangeable() const override { return exchangeable_; }
    const std::vector<std::string>& hyperparameters() const override { return hyperparameters_; }
    Vector hyperparameter_gradient(const Vector& mean, Index hyperparameter) const override;
    /// What each of them was declared as.
    const Vector& hyperparameter_values() const { return hyperparameter_values_; }

    /// Names of the continuous numbers that were observed of named rows, in the order of their first appearance: what
    /// Rows::as called them, or "y" ("y_2" where a row has one already); "y[1]", "y[2]" of a vector. Counts, labels,
    /// the parts of a Dirichlet observation and values that are expressions are none.
    std::vector<std::string> inputs() const override;

    /// As RowModel says; rows are numbered over all sets in order of their declaration. A row that has no such input
    /// answers 0 for it, and the input is NaN. The weight of a row also multiplies the entropies of the variables that
    /// belong to it (ModelBuilder::add), so that w rows are a row w times; once such a row is dropped, its variables
    /// are gone, and its answers to weights are NaN.
    ///
    /// Throws std::invalid_argument where no rows were named, and for values where no row has an input.
    void ask_rows(const State& state, const Matrix& directions, RowChange change,
                  const RowVisitor& visit) const override;
    /// Throws std::invalid_argument where no rows were named, and where variables belong to single rows: what such a
    /// row says of the others is not a density at a value of these.
    void row_log_likelihoods(const Matrix& statistics, int threads, const RowVisitor& visit) const override;

    /// Calls of observe_mixture and observe_chain, in their order: number of labels, and of rows.
    std::vector<std::pair<Index, Index>> labelled() const;
    /// P(z_n = k) of one of them at these means (or at a value of all variables), a row a row: what the indicators of a
    /// row have as their q.
    Matrix label_probabilities(const Vector& mean, Index labelled) const;

    /// How many threads passes over labelled rows may take; the answers have the same bits for any number.
    void set_threads(int threads);

    /// Number of named rows, over all sets.
    Index rows() const;
    /// The sets of rows in order of declaration: name and number of rows.
    std::vector<std::pair<std::string, Index>> row_sets() const;

    /// The same model with w_n in the place of the row's weight, one before: 0 is as if it had not been observed, 2 as
    /// if twice. Several rows at once cost one copy of the terms. A row with variables of its own can only be dropped
    /// (0) or taken back (1), since a fit does not weigh entropies; these variables then stay in the layout, at the
    /// reference of their family, and add nothing to the bound. A variable that loses all that made it proper is
    /// refused by the fit, as ever.
    MultilinearModel reweighted(const std::vector<Index>& rows, const Vector& weights) const;
    MultilinearModel reweighted(Index row, double weight) const;
    /// The model without the row.
    MultilinearModel without_row(Index row) const { return reweighted(row, 0.0); }

    /// The model with tᵀT(θ) added to its log joint: the perturbation whose response is the covariance.
    MultilinearModel tilted(const Vector& tilt) const;

    /// The model with step · ∂L/∂α added to its log joint, α a hyperparameter: to first order, the model declared with
    /// α + step; where its density is linear in α, as that of a Gamma is in shape and rate, that model itself but for a
    /// constant.
    MultilinearModel stepped(Index hyperparameter, double step) const;

    /// Number of monomials of degree two and more: what an iteration costs, but for labelled rows.
    std::size_t term_count() const;
    /// Numbers that a look at L takes: monomials, and the features of labelled rows.
    double work() const;

  private:
    friend class detail::JointCore;  // which reads what it is made of

    void set_aside(const std::vector<std::pair<Index, double>>& changes, const Vector& weights,
                   detail::MonomialSum& change) const;
    void require_hyperparameter(const char* function, Index hyperparameter) const;
    void add_base_gradient(const BaseDerivative& own, const Vector& mean, Vector& gradient) const;
    std::shared_ptr<const Layout> moved_layout(Index hyperparameter, double step) const;
    [[noreturn]] static void refuse_without_rows();
    void find_exchangeable();
    State plain_start(Random& random) const;
    double bound_on_sample(const State& state, const Expansion& labelled) const;
    /// Coordinate ascent where `point` is (m, counts of labels), or m alone.
    void ascend(State& state, Vector& point) const;
    void find_natural(const VariableInfo& variable, const Vector& point, Vector& natural) const;
    std::string cancellation(Index variable, const Vector& natural, const Vector& mean) const;

    std::uint64_t identity_ = next_model_identity();
    std::shared_ptr<const Layout> layout_;
    std::shared_ptr<const detail::MultilinearForm> form_;  // L
    Vector start_natural_;
    std::vector<std::string> hyperparameters_;
    Vector hyperparameter_values_;
    std::shared_ptr<const detail::Polynomials> hyperparameter_derivatives_;  // ∂L/∂α, one each
    std::shared_ptr<const detail::RowTerms> rows_;                           // none where no rows were named
    std::shared_ptr<const detail::LabelledTerms> labelled_;                  // none where there are none
    Vector weights_;                                                         // of the rows; empty: all are one
    Exchangeable exchangeable_;
    int threads_ = 1;
    std::vector<BaseDerivative> base_derivatives_;
};

}  // namespace lrvb
