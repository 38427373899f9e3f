#pragma once

#include "model/field/smooth_function.hpp"

#include <lrvb/family/random.hpp>
#include <lrvb/types.hpp>

#include <array>
#include <optional>

/// What rows that are not normal add to the bound of a field: with η ~ N(μ, v) the predictor of a row, without its
/// offset, f(μ, v) = w E ℓ(η), and since ∂f/∂v = ½ ∂²f/∂μ²
///
///     f_μ = w E ℓ',   f_v = ½ w E ℓ'',   f_μμ = w E ℓ'',   f_μv = ½ w E ℓ''',   f_vv = ¼ w E ℓ''''
///
///     logit, probit, cloglog   y successes of t trials; constants are the logarithms of binomial coefficients
///     poisson                  counts with logarithmic link: E exp(η) = exp(μ + v/2)
///     student                  log t_ν((y − η)/σ) − log σ. Its ℓ'' is positive for rows far out, so that ℓ is not
///     concave:
///                              the density itself is averaged, not a mixture of normals with its scales held.
///
/// At v = 0 all of this is ℓ and its derivatives themselves.
namespace lrvb::detail {

enum class RowKind { logit, probit, cloglog, poisson, student };

/// What Student rows are about besides the predictor.
struct RowScale {
    double sigma = 1.0;
    double nu = 4.0;
};

/// w E ℓ, w E ℓ', …, one entry a row.
struct LikelihoodTerms {
    Vector value;
    Vector first;
    Vector second;
    Vector third;
    Vector fourth;

    void resize(Index rows);
};

class RowLikelihood {
  public:
    /// Empty: one trial, no offset, a weight of one. Throws std::invalid_argument, with the row counted from 1, for
    /// counts that are negative or not whole, successes above trials, and weights that are negative.
    RowLikelihood(RowKind kind, Vector y, Vector trials, Vector offset, Vector weights);

    /// Of Student rows: the squared scale of row n is σ²/precisions[n].
    void set_precisions(const Vector& precisions);

    RowKind kind() const { return kind_; }
    Index rows() const { return y_.size(); }
    const Vector& y() const { return y_; }
    const Vector& weights() const { return weights_; }
    /// Empty where there is none.
    const Vector& offset() const { return offset_; }
    bool has_scale() const { return kind_ == RowKind::student; }

    /// The variances may be empty: then they are zero. The same bits for any number of threads.
    void terms(const Vector& means, const Vector& variances, const RowScale& scale, int threads,
               LikelihoodTerms& out) const;

    /// Σ_n of w E ∂ℓ/∂log σ and w E ∂ℓ/∂ν, from the terms there.
    struct ScaleGradient {
        double log_sigma = 0.0;
        double nu = 0.0;
    };
    ScaleGradient scale_gradient(const Vector& means, const Vector& variances, const RowScale& scale,
                                 const LikelihoodTerms& terms) const;

    /// Entry n of it, as if the row weighed one.
    ScaleGradient row_scale_gradient(Index row, double mean, double variance, const RowScale& scale, double value,
                                     double first, double second) const;

    /// ℓ of some rows with these predictors, as if each weighed one.
    Vector log_likelihoods(Index first, const Vector& predictors, const RowScale& scale) const;

    /// What a row's part in the bound changes by with its weight, and with its response: a function of (μ, v), and its
    /// derivatives in these.
    struct RowSlopes {
        Vector value;
        Vector by_mean;
        Vector by_variance;
    };
    RowSlopes by_weight(const Vector& means, const Vector& variances, const RowScale& scale, int threads) const;
    RowSlopes by_response(const Vector& means, const Vector& variances, const RowScale& scale, int threads) const;

    /// What is drawn again of a row with this predictor, and what it is about.
    double draw(Index row, double predictor, const RowScale& scale, Random& random) const;
    double expected(Index row, double predictor) const;

    /// A sensible predictor of the row on its own: the link of its response, pulled away from the ends.
    double guess(Index row) const;

  private:
    /// E ℓ and so on of rows first … first + rows − 1, each as if it weighed one: `means` and `variances` begin there.
    void block(Index first, Index rows, const double* means, const double* variances, const RowScale& scale,
               double constant, std::array<double, kOrders * kFieldBlock>& out) const;
    template <class Take>
    void visit(const Vector& means, const Vector& variances, const RowScale& scale, int threads,
               const Take& take) const;

    RowKind kind_;
    Vector y_;
    Vector trials_;
    Vector offset_;
    Vector weights_;
    Vector roots_;       // of the precisions of Student rows; empty: one
    Vector constants_;   // of ℓ, that depend on the data alone
    Vector log_counts_;  // of Poisson rows
    std::optional<NormalExpectation> expectation_;
};

}  // namespace lrvb::detail
