#pragma once

#include <lrvb/export.hpp>
#include <lrvb/family/family.hpp>

namespace lrvb::family {

/// Dirichlet of K parts: T = (log p_1, …, log p_K), η_k = α_k − 1, domain α_k > 0. Standard: (α_1, …, α_K). The density
/// is with respect to Lebesgue measure on (p_1, …, p_{K−1}).
///
/// m_k = ψ(α_k) − ψ(α_0), V = diag(ψ'(α)) − ψ'(α_0) 11ᵀ with α_0 = Σα. The Cholesky factor of a diagonal minus a
/// rank-one matrix is closed: with e_k = 1/ψ'(α_k) and R_k = 1/ψ'(α_0) − Σ_{j<k} e_j, L_kk² = R_{k+1}/(e_k R_k) and
/// L_ik = −1/(R_k L_kk) below it. Every 1/ψ'(a) is written a − d(a), so that the R_k do not cancel. Accurate for
/// weights from 1e-3 to 1e9.
class LRVB_EXPORT Dirichlet {
  public:
    static constexpr std::string_view name = "Dirichlet";

    explicit Dirichlet(Index parts);

    Index size() const { return parts_; }
    Index rank() const { return parts_; }
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

    bool operator==(const Dirichlet&) const = default;

  private:
    Index parts_;
};

static_assert(Family<Dirichlet>);

}  // namespace lrvb::family
