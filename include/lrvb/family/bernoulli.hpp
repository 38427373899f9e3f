#pragma once

#include <lrvb/export.hpp>
#include <lrvb/family/family.hpp>

namespace lrvb::family {

/// Bernoulli: T = (x), x ∈ {0, 1}, η = logit p, any real. Standard: (p).
///
/// V = p(1 − p), computed as σ(η)σ(−η), so that it keeps its digits where p is next to one.
class LRVB_EXPORT Bernoulli {
  public:
    static constexpr std::string_view name = "Bernoulli";

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

    bool operator==(const Bernoulli&) const = default;
};

static_assert(Family<Bernoulli>);

}  // namespace lrvb::family
