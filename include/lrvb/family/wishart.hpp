#pragma once

#include <lrvb/export.hpp>
#include <lrvb/family/family.hpp>

namespace lrvb::family {

/// Wishart of dimension P: T = (half-vector of X, log det X), η = (coefficients of −½ tr(W⁻¹X), (ν − P − 1)/2), domain
/// W positive definite and ν > P − 1. Standard: (degrees of freedom ν, half-vector of the scale matrix W), E X = νW.
///
/// With W = CCᵀ and X = CMCᵀ, M ~ Wishart(ν, I): the entries of M are uncorrelated, Var M_ii = 2ν, Var M_ij = ν,
/// Cov(M_ii, log det M) = 2, Var log det M = Σ_i ψ'((ν − i + 1)/2). For P = 1 it is Gamma(ν/2, rate 1/(2W)).
class LRVB_EXPORT Wishart {
  public:
    static constexpr std::string_view name = "Wishart";

    explicit Wishart(Index dimension);

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

    bool operator==(const Wishart&) const = default;

  private:
    Index dimension_;
};

static_assert(Family<Wishart>);

}  // namespace lrvb::family
