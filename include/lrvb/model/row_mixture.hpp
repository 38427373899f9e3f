#pragma once

#include <lrvb/export.hpp>
#include <lrvb/model/distribution.hpp>
#include <lrvb/model/expression.hpp>
#include <lrvb/types.hpp>

#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

/// Labels that belong to one row each, summed out of a model: what ModelBuilder::observe_mixture and observe_chain are
/// told.
///
///     auto pi = builder.add("pi", dirichlet({1.0, 1.0}));
///     auto mu = …, tau = …;                                       // two of each
///     builder.observe_mixture(pi, {column(y, {normal(mu[0], tau[0]), normal(mu[1], tau[1])})}, people);
///
/// says of every row n that a label z_n ~ Categorical(pi) is drawn, and that y_n has the distribution of that label; of
/// several columns, that they are independent given the label. With the conditional forms of the labels lowered to
/// polynomials φ of the means, which all rows share,
///
///     score_nk = E log π_k + Σ_s T_s(x_n) φ_sk(m) + φ_0k(m),      L = … + Σ_n w_n [log Σ_k exp score_nk + log h(x_n)],
///
/// which is L with q(z_n) at its best, the responsibilities; at a value of all other variables it is the exact log
/// likelihood with z_n summed out. A million rows take the memory of their numbers and of their statistics.
///
/// In a chain the label of a row depends on that of the row before it (a hidden Markov model):
///
///     z_1 ~ Categorical(initial),  z_t ~ Categorical(transition row z_{t−1}),  columns given z_t,
///
/// and L has the logarithm of the forward sum over all paths: q(z_1, …, z_T) is one factor, at its best.
///
/// All labels of a column have distributions of one kind. A number that is NaN was not observed, and says nothing; of
/// a vector (MvNormal, Multinomial, …) all numbers are there, or none.
namespace lrvb {

/// The probabilities of the labels.
class LRVB_EXPORT LabelWeights {
  public:
    /// A Dirichlet variable, or constants.
    LabelWeights(const SimplexParameter& weights);
    LabelWeights(const Variable<family::Dirichlet>& weights) : LabelWeights(SimplexParameter(weights)) {}
    LabelWeights(std::initializer_list<double> weights) : LabelWeights(SimplexParameter(weights)) {}
    /// Two labels: the first with probability 1 − p, the second with p, a Beta variable.
    LabelWeights(const Variable<family::Beta>& p);
    /// The same, for a Beta variable or a number.
    static LabelWeights bernoulli(const Expression& p);
    /// The logarithm of each probability, an expression in statistics (log(pi, 0)) or a number; none: the label never
    /// occurs. For what the others cannot say, as rows of a transition matrix with zeros in them.
    static LabelWeights logs(std::vector<std::optional<Expression>> log_probabilities);
    /// One of several for each row: row n has alternatives[chosen[n]], counted from 0. All have equally many labels.
    static LabelWeights chosen(const std::vector<LabelWeights>& alternatives, std::vector<Index> chosen);

    Index labels() const { return labels_; }

  private:
    friend class ModelBuilder;
    struct Alternative {
        std::vector<std::optional<Expression>> logs;
        std::optional<Expression> probability;  // of the second of two labels, where that is what was given
    };

    LabelWeights() = default;

    Index labels_ = 0;
    std::vector<Alternative> alternatives_;
    std::vector<Index> chosen_;  // none: the first for all
};

/// Numbers of the rows, and what each label says of them. Made by the functions below.
class LRVB_EXPORT LabelledColumn {
  public:
    /// A distribution of a row's statistics T: what a label's φ are.
    using Components = std::vector<std::shared_ptr<const detail::DistributionNode>>;

    LabelledColumn(const AnyObserved& kind, Matrix values, Components components)
        : kind_(kind), values_(std::move(values)), components_(std::move(components)) {}

    /// The same column, with a name for its numbers among the inputs of the rows.
    LabelledColumn as(const std::string& input) const;

    Index rows() const { return values_.rows(); }
    Index labels() const { return static_cast<Index>(components_.size()); }

  private:
    friend class ModelBuilder;
    friend LRVB_EXPORT LabelledColumn linear_column(const Vector& y, const Matrix& design,
                                                    const std::vector<VectorParameter>& coefficients,
                                                    const std::vector<Expression>& precisions);

    AnyObserved kind_;
    Matrix values_;
    Matrix design_;
    bool is_linear_ = false;  // a normal column with a design
    Components components_;
    std::string input_;
};

/// A value a row (one number, or a row of a matrix), and one distribution a label.
template <class F>
LabelledColumn column(const Matrix& values, const std::vector<Distribution<F>>& labels) {
    LabelledColumn::Components nodes;
    for (const Distribution<F>& label : labels) {
        if (!(label.family() == labels.front().family())) detail::refuse_unlike_components();
        nodes.push_back(label.shared_node());
    }
    if (labels.empty()) detail::refuse_no_components();
    return {labels.front().family(), values, std::move(nodes)};
}
template <class F>
LabelledColumn column(const Matrix& values, std::initializer_list<Distribution<F>> labels) {
    return column(values, std::vector<Distribution<F>>(labels));
}

/// A normal with a design: y_n ~ Normal(Σ_j design_nj coefficients[k]_j, precisions[k]) where the label is k. Entries
/// of the coefficients may be shared by labels, and may be numbers.
LRVB_EXPORT LabelledColumn linear_column(const Vector& y, const Matrix& design,
                                         const std::vector<VectorParameter>& coefficients,
                                         const std::vector<Expression>& precisions);

/// Counts with exposures: count_n ~ Poisson(rates[k] · exposure_n) where the label is k.
LRVB_EXPORT LabelledColumn count_column(const Vector& counts, const Vector& exposures,
                                        const std::vector<Expression>& rates);

/// Successes in trials that differ by row: success_n ~ Binomial(trials_n, probabilities[k]) where the label is k.
LRVB_EXPORT LabelledColumn trial_column(const Vector& successes, const Vector& trials,
                                        const std::vector<Expression>& probabilities);

}  // namespace lrvb
