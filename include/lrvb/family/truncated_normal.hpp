#pragma once

#include <lrvb/export.hpp>
#include <lrvb/family/family.hpp>

#include <limits>
#include <utility>

namespace lrvb::family {

/// A normal that is held between two bounds, either of which may be infinite: T = (x, x²) as Normal's,
/// q(x) = exp(η₁ x + η₂ x² − A(η)) for lower < x < upper. Standard: (precision times mean, precision) of the normal
/// that is cut, η = (first, −second/2); with both bounds finite the precision may be zero (a uniform density, or an
/// exponential one) or negative.
///
/// Densities are with respect to Lebesgue measure on the interval. Where both bounds are 38 sds away from the mean, all
/// is Normal's, to the last digit; otherwise A, m and V are integrals by panels, relative to the top of the density, to
/// about 1e-14 of themselves. V = LLᵀ from deviations, which do not cancel where |mean| ≫ sd.
///
/// Domain: η₂ < 0 where a bound is infinite.
class LRVB_EXPORT TruncatedNormal {
  public:
    static constexpr std::string_view name = "TruncatedNormal";

    /// Throws std::invalid_argument where lower is not below upper.
    TruncatedNormal(double lower, double upper);

    double lower() const { return lower_; }
    double upper() const { return upper_; }

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

    /// E g(x) over q: nodes x_i and weights that add up to one.
    std::pair<Vector, Vector> nodes(const VectorView& natural) const;
    /// ∂m/∂(lower, upper) with η held, a column each.
    Matrix mean_by_bounds(const VectorView& natural) const;

    bool operator==(const TruncatedNormal&) const = default;

  private:
    struct Moments;
    class Density;
    bool is_plain(const VectorView& natural) const;
    Density density(const VectorView& natural) const;
    Moments moments(const VectorView& natural) const;

    double lower_;
    double upper_;
};

static_assert(Family<TruncatedNormal>);

}  // namespace lrvb::family
