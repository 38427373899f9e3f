#pragma once

#include <lrvb/export.hpp>
#include <lrvb/family/family.hpp>

namespace lrvb::family {

/// Beta: T = (log x, log(1 − x)), η = (a − 1, b − 1), domain a, b > 0. Standard: (a, b).
///
/// The Dirichlet of two parts, seen from its first.
class LRVB_EXPORT Beta {
  public:
    static constexpr std::string_view name = "Beta";

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

    bool operator==(const Beta&) const = default;
};

static_assert(Family<Beta>);

}  // namespace lrvb::family
