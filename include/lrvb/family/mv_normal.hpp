#pragma once

#include <lrvb/export.hpp>
#include <lrvb/family/family.hpp>

namespace lrvb::family {

/// Multivariate normal of dimension P: T = (x, half-vector of xxᵀ), η = (Λμ, coefficients of −½ tr(Λ xxᵀ)), domain Λ
/// positive definite. Standard: (mean, half-vector of the covariance matrix).
///
/// With Σ = CCᵀ and x = μ + Cz, the functions z_a, (z_a² − 1)/√2 and z_a z_b (a < b) are orthonormal, and T is linear
/// in them: their coefficients are the columns of L.
class LRVB_EXPORT MvNormal {
  public:
    static constexpr std::string_view name = "MvNormal";

    explicit MvNormal(Index dimension);

    Index size() const;
    Index rank() const { return size(); }
    Index dimension() const { return dimension_; }
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

    bool operator==(const MvNormal&) const = default;

  private:
    Index dimension_;
};

static_assert(Family<MvNormal>);

}  // namespace lrvb::family
