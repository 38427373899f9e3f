#pragma once

#include "likelihood/normal_expectation.hpp"

#include <lrvb/family/random.hpp>
#include <lrvb/likelihood/likelihood.hpp>
#include <lrvb/types.hpp>

#include <array>
#include <memory>

/// What rows add to the bound of a field: with η ~ N(μ, v) the predictor of a row, without its offset, f(μ, v) = w E
/// ℓ(η), and since ∂f/∂v = ½ ∂²f/∂μ²
///
///     f_μ = w E ℓ',   f_v = ½ w E ℓ'',   f_μμ = w E ℓ'',   f_μv = ½ w E ℓ''',   f_vv = ¼ w E ℓ''''
///
/// At v = 0 all of this is ℓ and its derivatives themselves. θ is σ, where the likelihood has one, and then its
/// parameters.
namespace lrvb::detail {

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
    virtual ~RowLikelihood() = default;
    RowLikelihood(const RowLikelihood&) = delete;
    RowLikelihood& operator=(const RowLikelihood&) = delete;

    const Likelihood& likelihood() const { return *likelihood_; }
    Index rows() const { return rows_.y.size(); }
    const Vector& y() const { return rows_.y; }
    const Vector& weights() const { return rows_.weights; }
    /// Empty where there is none.
    const Vector& offset() const { return rows_.offset; }
    /// The same rows with other weights.
    std::shared_ptr<const RowLikelihood> reweighted(const Vector& weights) const;

    /// The variances may be empty: then they are zero. The same bits for any number of threads.
    void terms(const Vector& means, const Vector& variances, const Vector& theta, int threads,
               LikelihoodTerms& out) const;

    /// Σ_n w E ∂ℓ/∂log σ, where there is a σ, and Σ_n w E ∂ℓ/∂θ_j of each parameter, from the terms there.
    Vector parameter_gradient(const Vector& means, const Vector& variances, const Vector& theta,
                              const LikelihoodTerms& terms) const;

    /// ℓ of some rows with these predictors, as if each weighed one.
    Vector log_likelihoods(Index first, const Vector& predictors, const Vector& theta) const;

    /// What a row's part in the bound changes by with its weight, and with its response: a function of (μ, v), and its
    /// derivatives in these.
    struct RowSlopes {
        Vector value;
        Vector by_mean;
        Vector by_variance;
    };
    RowSlopes by_weight(const Vector& means, const Vector& variances, const Vector& theta, int threads) const;
    RowSlopes by_response(const Vector& means, const Vector& variances, const Vector& theta, int threads) const;

    /// What is drawn again of a row with this predictor, and what it is about.
    virtual double draw(Index row, double predictor, const Vector& theta, Random& random) const = 0;
    double expected(Index row, double predictor) const;

    /// A sensible predictor of the row on its own: the link of its response, pulled away from the ends.
    virtual double guess(Index row) const = 0;

  protected:
    /// Throws std::invalid_argument, with the row counted from 1, for numbers that are not finite, negative weights and
    /// what the likelihood refuses.
    RowLikelihood(std::shared_ptr<const Likelihood> likelihood, LikelihoodRows rows);

    using Block = std::array<double, kOrders * kFieldBlock>;
    /// θ, and what a likelihood computes of it once for all rows.
    struct Prepared {
        Vector theta;
        Vector numbers = {};
    };
    virtual Prepared prepare(const Vector& theta) const { return {theta}; }
    /// E ℓ and its derivatives of rows first … first + count − 1, each as if it weighed one: of predictors with their
    /// offset, of these means and variances, which are readable up to kFieldBlock.
    virtual void block(Index first, Index count, const double* means, const double* variances, const Prepared& prepared,
                       Block& out) const = 0;
    /// Adds weight times what a row adds to parameter_gradient, from E ℓ, E ℓ' and E ℓ'' of a row that weighs one;
    /// `mean` with the offset.
    virtual void add_parameter_gradient(Index row, double weight, double mean, double variance,
                                        const Prepared& prepared, const std::array<double, 3>& terms,
                                        Vector& gradient) const;
    /// E ∂ℓ/∂y, and its first two derivatives in μ, of a row that weighs one; `mean` with the offset.
    virtual std::array<double, 3> response_slope(Index row, double mean, double variance,
                                                 const Prepared& prepared) const = 0;

    double trials(Index row) const { return rows_.trials.size() > 0 ? rows_.trials[row] : 1.0; }
    double offset_of(Index row) const { return rows_.offset.size() > 0 ? rows_.offset[row] : 0.0; }
    /// Of σ: that of the row is σ over this.
    double root_precision(Index row) const { return roots_.size() > 0 ? roots_[row] : 1.0; }
    bool has_precisions() const { return roots_.size() > 0; }

  private:
    template <class Take>
    void visit(const Vector& means, const Vector& variances, const Vector& theta, int threads, const Take& take) const;
    void fill(Index first, Index count, const double* means, const double* variances, const Prepared& prepared,
              Block& out) const;

    std::shared_ptr<const Likelihood> likelihood_;
    LikelihoodRows rows_;
    Vector roots_;  // of the precisions
};

/// Refuses the parameters of a row: throws std::invalid_argument.
void require_row(bool fine, Index row, const char* what, double value, const std::string& must);
bool is_whole(double value);
/// Beyond, nothing is left of a sum of log likelihoods but rounding.
constexpr double kLargestCount = 1e12;

/// A Poisson count, and of trials with this chance the successes.
double draw_poisson(double rate, Random& random);
double draw_binomial(double trials, double chance, Random& random);

}  // namespace lrvb::detail
