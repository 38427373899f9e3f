#pragma once

#include <lrvb/export.hpp>
#include <lrvb/model/distribution.hpp>
#include <lrvb/model/multilinear_model.hpp>
#include <lrvb/model/row_mixture.hpp>
#include <lrvb/model/rows.hpp>

#include <memory>
#include <string>
#include <vector>

namespace lrvb {

/// Declares a model. A variable is named and given a distribution, whose parameters may be variables declared before
/// it; data are observed under distributions in the same way. The builder expands every log density into monomials in
/// the statistics and merges equal ones, so that whole columns of data cost no more than their sums.
///
///     ModelBuilder builder;
///     auto mu = builder.add("mu", normal(0.0, 0.01));
///     auto tau = builder.add("tau", gamma(2.0, 0.1));
///     builder.observe_column(y, normal(mu, tau));
///     MultilinearModel model = builder.build();
///
/// Every call that observes may say of which rows, as its last argument, so that the model can be asked what each row
/// does (MultilinearModel::ask_rows, LinearResponse::case_weights and leverage):
///
///     Rows people = builder.rows("people", y.size());
///     builder.observe_column(y, normal(mu, tau), people.as("height"));
///
/// The rows are then kept, a column as its numbers and the one distribution that it has; a model that names none keeps
/// sums alone.
///
/// A construct that is not conditionally conjugate is refused where it is declared, and a variable whose conditional
/// cannot be normalised is refused by `build`: std::invalid_argument, in a sentence that names the variable and says
/// why. A refused call leaves the builder as it was.
class LRVB_EXPORT ModelBuilder {
  public:
    ModelBuilder();
    ~ModelBuilder();
    ModelBuilder(ModelBuilder&&) noexcept;
    ModelBuilder& operator=(ModelBuilder&&) noexcept;

    Hyperparameter hyperparameter(const std::string& name, double value);

    /// Declares rows of the data, counted from 0: a name for the set, and how many there are.
    Rows rows(const std::string& name, Index count);

    /// A variable that belongs to a row (the indicator of a mixture, a missing number) is declared with it: its prior
    /// and its entropy then count with that row, and only observations of that row may depend on it.
    template <Family F>
    Variable<F> add(const std::string& name, const Distribution<F>& distribution, const Row& row = {}) {
        const Index index = add_variable(name, distribution.family(), distribution.node(), row);
        return Variable<F>(index, model_tag(), distribution.family());
    }

    /// One observation. The argument of a normal may itself be an expression (a partly missing row, a difference); only
    /// what is a plain number in it is an input of its row.
    void observe(const Expression& value, const Distribution<family::Normal>& distribution, const Row& row = {});
    void observe(const VectorParameter& value, const Distribution<family::MvNormal>& distribution, const Row& row = {});

    /// One observation of any other kind: a number, or a vector (Dirichlet, Multinomial; Wishart as a half-vector).
    template <class F>
    void observe(double value, const Distribution<F>& distribution, const Row& row = {}) {
        observe(Vector::Constant(1, value), distribution, row);
    }
    template <class F>
    void observe(const Vector& value, const Distribution<F>& distribution, const Row& row = {}) {
        const F& family = distribution.family();
        const Vector statistics = family.statistic(value);  // refuses a bad value, which log_base does not expect
        const double base = log_base(family, value);
        if (row.is_named()) {
            observe_named(family, value.transpose(), {statistics, base, 1.0}, distribution.node(), row);
        } else {
            observe_statistics(F::name, {statistics, base, 1.0}, distribution.node());
        }
    }

    /// Independent observations of one distribution, one an entry.
    template <class F>
    void observe_column(const Vector& values, const Distribution<F>& distribution, const Rows& rows = {}) {
        observe_rows(values, distribution, rows);
    }
    /// Independent observations of one distribution, one a row.
    template <class F>
    void observe_rows(const Matrix& values, const Distribution<F>& distribution, const Rows& rows = {}) {
        const F& family = distribution.family();
        Vector statistics = Vector::Zero(family.size());
        double base = 0.0;
        for (Index n = 0; n < values.rows(); ++n) {
            const Vector row = values.row(n);
            try {
                statistics += family.statistic(row);
            } catch (const std::invalid_argument& error) {
                refuse_row(n, error.what());
            }
            base += log_base(family, row);
        }
        const Sums sums{statistics, base, static_cast<double>(values.rows())};
        if (rows.is_named()) {
            observe_named(family, values, sums, distribution.node(), rows);
        } else {
            observe_statistics(F::name, sums, distribution.node());
        }
    }

    /// A column of normal responses with a design matrix: y ~ Normal(X coefficients, precision), row by row. Costs XᵀX,
    /// then no more than its non-zero entries.
    void observe_linear(const Vector& y, const Matrix& design, const VectorParameter& coefficients,
                        const Expression& precision, const Rows& rows = {});
    void observe_linear(const Vector& y, const SparseMatrix& design, const VectorParameter& coefficients,
                        const Expression& precision, const Rows& rows = {});

    /// A column of counts with exposures: counts ~ Poisson(rate · exposure), row by row.
    void observe_counts(const Vector& counts, const Vector& exposures, const Expression& rate, const Rows& rows = {});

    /// Rows with a label each, which is summed out (row_mixture.hpp): every column is what the label of the row says of
    /// it, and given the label they are independent. The weight of a row multiplies all of it.
    ///
    ///     builder.observe_mixture(pi, {column(y, {normal(mu[0], tau[0]), normal(mu[1], tau[1])})}, people);
    ///
    /// Latent classes have a column for each answer, column(x.col(j), {bernoulli(p[0][j]), bernoulli(p[1][j])}).
    /// Variables that belong to rows (`add` with a row) cannot enter.
    void observe_mixture(const LabelWeights& weights, const std::vector<LabelledColumn>& columns,
                         const RowRange& rows = {});

    /// The same where labels are chains: rows are sequences, end to end, of the given lengths; the first of each has a
    /// label by `initial`, and every other by the row of `transitions` that the label before it names. The weight of a
    /// row multiplies what its columns say: 0 is as if they had not been observed. Columns may differ by row only
    /// through their numbers.
    void observe_chain(const LabelWeights& initial, const std::vector<LabelWeights>& transitions,
                       const std::vector<LabelledColumn>& columns, const std::vector<Index>& lengths,
                       const RowRange& rows = {});

    /// Adds E_q of the expression to the expected log joint: a raw multilinear term; of a row, what it says.
    void add_term(const Expression& log_density, const Row& row = {});

    MultilinearModel build() const;

  private:
    class Implementation;
    class LabelledCall;

    /// What a column is to its distribution: sums over its rows of their statistics and logs of base densities, and
    /// their number.
    struct Sums {
        const Vector& statistics;
        double log_base;
        double count;
    };

    template <class F>
    static double log_base(const F& family, const Vector& value) {
        if constexpr (requires { family.log_base(value); }) return family.log_base(value);
        return 0.0;
    }

    Implementation& implementation() const;
    std::uint32_t model_tag() const;
    Index add_variable(const std::string& name, const AnyFamily& family, const detail::DistributionNode& node,
                       const Row& row);
    void observe_statistics(std::string_view family, const Sums& sums, const detail::DistributionNode& node);
    void observe_named(const AnyObserved& kind, const Matrix& values, const Sums& sums,
                       const detail::DistributionNode& node, const RowRange& rows);
    template <class Design>
    void observe_design(const Vector& y, const Design& design, const SparseMatrix& gram, const SparseMatrix& pairs,
                        const VectorParameter& coefficients, const Expression& precision, const Rows& named);
    [[noreturn]] static void refuse_row(Index row, const std::string& reason);

    std::unique_ptr<Implementation> implementation_;
};

}  // namespace lrvb
