#pragma once

#include <lrvb/export.hpp>
#include <lrvb/model/distribution.hpp>
#include <lrvb/model/multilinear_model.hpp>

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

    template <Family F>
    Variable<F> add(const std::string& name, const Distribution<F>& distribution) {
        const Index index = add_variable(name, distribution.family(), distribution.node());
        return Variable<F>(index, model_tag(), distribution.family());
    }

    /// One observation. The argument of a normal may itself be an expression (a partly missing row, a difference).
    void observe(const Expression& value, const Distribution<family::Normal>& distribution);
    void observe(const VectorParameter& value, const Distribution<family::MvNormal>& distribution);

    /// One observation of any other kind: a number, or a vector (Dirichlet, Multinomial; Wishart as a half-vector).
    template <class F>
    void observe(double value, const Distribution<F>& distribution) {
        observe(Vector::Constant(1, value), distribution);
    }
    template <class F>
    void observe(const Vector& value, const Distribution<F>& distribution) {
        const F& family = distribution.family();
        const Vector statistics = family.statistic(value);  // refuses a bad value, which log_base does not expect
        observe_statistics(F::name, statistics, log_base(family, value), 1.0, distribution.node());
    }

    /// Independent observations of one distribution, one an entry.
    template <class F>
    void observe_column(const Vector& values, const Distribution<F>& distribution) {
        observe_rows(values, distribution);
    }
    /// Independent observations of one distribution, one a row.
    template <class F>
    void observe_rows(const Matrix& rows, const Distribution<F>& distribution) {
        const F& family = distribution.family();
        Vector statistics = Vector::Zero(family.size());
        double base = 0.0;
        for (Index n = 0; n < rows.rows(); ++n) {
            const Vector row = rows.row(n);
            try {
                statistics += family.statistic(row);
            } catch (const std::invalid_argument& error) {
                refuse_row(n, error.what());
            }
            base += log_base(family, row);
        }
        observe_statistics(F::name, statistics, base, static_cast<double>(rows.rows()), distribution.node());
    }

    /// A column of normal responses with a design matrix: y ~ Normal(X coefficients, precision), row by row. Costs XᵀX,
    /// then no more than its non-zero entries.
    void observe_linear(const Vector& y, const Matrix& design, const VectorParameter& coefficients,
                        const Expression& precision);
    void observe_linear(const Vector& y, const SparseMatrix& design, const VectorParameter& coefficients,
                        const Expression& precision);

    /// A column of counts with exposures: counts ~ Poisson(rate · exposure), row by row.
    void observe_counts(const Vector& counts, const Vector& exposures, const Expression& rate);

    /// Adds E_q of the expression to the expected log joint: a raw multilinear term.
    void add_term(const Expression& log_density);

    MultilinearModel build() const;

  private:
    class Implementation;

    template <class F>
    static double log_base(const F& family, const Vector& value) {
        if constexpr (requires { family.log_base(value); }) return family.log_base(value);
        return 0.0;
    }

    Implementation& implementation() const;
    std::uint32_t model_tag() const;
    Index add_variable(const std::string& name, const AnyFamily& family, const detail::DistributionNode& node);
    void observe_statistics(std::string_view family, const Vector& statistics, double log_base, double count,
                            const detail::DistributionNode& node);
    void observe_gram(const Vector& y, const SparseMatrix& gram, const Vector& projection,
                      const VectorParameter& coefficients, const Expression& precision);
    [[noreturn]] static void refuse_row(Index row, const std::string& reason);

    std::unique_ptr<Implementation> implementation_;
};

}  // namespace lrvb
