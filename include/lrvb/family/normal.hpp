#pragma once

#include <lrvb/export.hpp>
#include <lrvb/family/family.hpp>

namespace lrvb::family {

/// Normal: T = (x, x²), η = (mean/variance, −1/(2 variance)), domain η₂ < 0. Standard: (mean, variance).
///
/// With μ the mean and s the sd, V = LLᵀ with L = [s 0; 2μs √2 s²]: x = μ + s z, and z, (z² − 1)/√2 are orthonormal.
/// (x, x²) is nearly collinear where |μ| ≫ s; everything here is computed from η, so nothing cancels.
class LRVB_EXPORT Normal {
  public:
    static constexpr std::string_view name = "Normal";

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

    bool operator==(const Normal&) const = default;
};

static_assert(Family<Normal>);

}  // namespace lrvb::family
