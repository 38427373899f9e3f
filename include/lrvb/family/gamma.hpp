#pragma once

#include <lrvb/export.hpp>
#include <lrvb/family/family.hpp>

namespace lrvb::family {

/// Gamma: T = (x, log x), η = (−rate, shape − 1), domain rate > 0, shape > 0. Standard: (shape, rate).
///
/// m = (a/b, ψ(a) − log b), V = [a/b² 1/b; 1/b ψ'(a)], L = [√a/b 0; 1/√a √((aψ'(a) − 1)/a)]. For large a the last entry
/// uses the series of aψ'(a) − 1, which cancels. Accurate for shapes from 1e-3 to 1e12.
class LRVB_EXPORT Gamma {
  public:
    static constexpr std::string_view name = "Gamma";

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

    bool operator==(const Gamma&) const = default;
};

static_assert(Family<Gamma>);

}  // namespace lrvb::family
