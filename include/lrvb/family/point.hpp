#pragma once

#include <lrvb/export.hpp>
#include <lrvb/family/family.hpp>

namespace lrvb::family {

/// Point of a unit u, one unless it is said: T = x, η = x/u², A = u²η²/2, V = u², any η. Standard: (value), and the
/// unit where it is not one.
///
/// The place of something whose spread is elsewhere, such as a parameter at which a bound is taken that has been
/// maximised over the rest. Formally a normal of variance u², with its density taken with respect to that about zero
/// (and not to Lebesgue measure, as those of other families): so its entropy is −x²/(2u²), and with
/// L = F + Σ x²/(2u²) the bound is L + Σ_j S_j = F itself, its curvature −∇²F what the response inverts, and neither
/// depends on u. A unit of about the size of the sd of x keeps the digits of that curvature where x is large.
class LRVB_EXPORT Point {
  public:
    static constexpr std::string_view name = "Point";

    /// Throws std::invalid_argument for a unit that is not positive.
    explicit Point(double unit = 1.0);

    double unit() const { return unit_; }

    Index size() const { return 1; }
    Index rank() const { return 1; }
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

    bool operator==(const Point&) const = default;

  private:
    double unit_;
};

static_assert(Family<Point>);

}  // namespace lrvb::family
