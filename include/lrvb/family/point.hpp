#pragma once

#include <lrvb/export.hpp>
#include <lrvb/family/family.hpp>

namespace lrvb::family {

/// Point: T = x, η = x, A = η²/2, V = 1, any η. Standard: (value).
///
/// The place of something whose spread is elsewhere, such as a parameter at which a bound is taken that has been
/// maximised over the rest. Formally a normal of unit variance, with its density taken with respect to the standard
/// normal (and not to Lebesgue measure, as those of other families): so its entropy is −η²/2, and with
/// L = F + ½|x|² the bound is L + Σ_j S_j = F itself, its curvature −∇²F what the response inverts, and neither depends
/// on the unit variance.
class LRVB_EXPORT Point {
  public:
    static constexpr std::string_view name = "Point";

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
};

static_assert(Family<Point>);

}  // namespace lrvb::family
