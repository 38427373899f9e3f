#pragma once

#include <lrvb/export.hpp>
#include <lrvb/family/family.hpp>
#include <lrvb/family/scale_prior.hpp>

#include <utility>

namespace lrvb::detail {
struct LineRule;
}

namespace lrvb::family {

/// A positive number x, a precision most of all, with the prior of a scale as its base measure: T = (x, log x) as
/// Gamma's, q(x) = h(x) exp(η₁ x + η₂ log x − A(η)), h the density of x where y = x^(−1/2) (the sd of a precision), 1/x
/// (its variance) or x itself has the prior. Standard: (shape, rate) of the Gamma density that h is multiplied by,
/// η = (−rate, shape − 1).
///
/// With one such factor for each precision, that is the best factor of all: conjugacy asks of a prior only that the
/// likelihood depends on x by x and log x.
///
/// Densities are with respect to h(x) dx, so that the prior is in the family, not in the model's expected log joint L:
/// S = A − ηᵀm = −E log(q/h) is the entropy with the prior, and F = L + ΣS the bound. A log joint at values lacks h
/// too; the samplers' coordinates (sample/unbounded.hpp) bring it in.
///
/// A, m and V are integrals over log x, taken by panels to about 1e-14 of themselves, relative to the top of the
/// density, so that narrow ones (shapes of 1e12) keep their digits, as do those that a bound cuts. V = LLᵀ from the
/// deviations of x and of x − 1 − log x, which do not cancel. `natural_from_mean` is Newton's method on
/// ηᵀm − A(η).
///
/// Domain: where h(x) x^η₂ exp(η₁ x) can be integrated with x² times it: η₁ < 0 (a rate that is positive) where x has
/// no upper bound, as where an sd may be zero; η₂ > −df/2 for half_t sds, whose tail is a power.
///
/// Where bounds of a uniform prior hold x, T of a value outside of them is refused.
class LRVB_EXPORT Scale {
  public:
    static constexpr std::string_view name = "Scale";

    /// What has the prior: the sd x^(−1/2), the variance 1/x, x itself.
    enum class Of { sd, variance, value };

    /// Throws std::invalid_argument for a prior that makes no sense, and for ScalePrior::gamma_precision, which is the
    /// family Gamma.
    explicit Scale(const ScalePrior& prior, Of of = Of::sd);

    const ScalePrior& prior() const { return prior_; }
    Of of() const { return of_; }

    Index size() const { return 2; }
    Index rank() const { return 2; }
    std::vector<std::string> statistic_names(const std::string& variable) const;
    std::vector<std::string> standard_names() const;
    std::string domain_error(const VectorView& natural) const;

    Vector mean(const VectorView& natural) const;
    Vector natural_from_mean(const VectorView& mean) const;
    Vector natural_from_standard(const VectorView& standard) const;
    Vector standard(const VectorView& natural) const;

    double log_partition(const VectorView& natural) const;
    double entropy(const VectorView& natural) const;
    Matrix covariance(const VectorView& natural) const;
    Matrix covariance_factor(const VectorView& natural) const;

    Vector sample(const VectorView& natural, Random& random) const;
    Vector statistic(const VectorView& value) const;
    StatisticProduct product(Index i, Index j) const;
    Vector reference_natural() const;

    /// log h at a value.
    double log_base(const VectorView& value) const;
    /// Of log x: log of the density h(x) x of u = log x, and its derivative in u.
    std::pair<double, double> log_base_of_log(double u) const;
    /// Bounds of log x; infinite where there are none.
    std::pair<double, double> bounds_of_log() const { return {lower_, upper_}; }
    /// E g(log x) over q: nodes u_i and weights that add up to one.
    std::pair<Vector, Vector> nodes(const VectorView& natural) const;
    /// ∂m/∂(first, second number of the prior) with η held, a column each.
    Matrix mean_by_prior(const VectorView& natural) const;
    /// The same family with other numbers in its prior.
    Scale with_numbers(double first, double second) const;

    bool operator==(const Scale&) const = default;

  private:
    struct Moments;
    class Density;
    Density density(const VectorView& natural) const;
    Moments moments(const VectorView& natural) const;

    ScalePrior prior_;
    Of of_;
    double power_;  // y = x^power
    double lower_;  // of log x
    double upper_;
};

static_assert(Family<Scale>);

}  // namespace lrvb::family
