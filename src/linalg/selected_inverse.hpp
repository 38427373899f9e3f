#pragma once

#include "linalg/sparse_ldl.hpp"

#include <vector>

namespace lrvb::detail {

/// The entries of A⁻¹ on the pattern of its factor (Takahashi, Fagan and Chin 1973): with Z = A⁻¹ and A = LDLᵀ,
///
///     Z = D⁻¹L⁻¹ + (I − Lᵀ) Z,
///
/// read from the last column to the first, gives each entry of Z on the pattern of L from later ones on it. The cost is
/// that of the factorisation; the full inverse is never formed. Every entry of A's own pattern is among those computed.
class SelectedInverse {
  public:
    explicit SelectedInverse(const SparseLdl& factor);

    /// (A⁻¹)_ij, by positions in A. The entry must be on the pattern of A or of its factor.
    double operator()(Index i, Index j) const;

  private:
    const SparseLdl& factor_;
    std::vector<double> diagonal_;
    std::vector<double> below_;  // on the pattern of L
    std::vector<Matrix> roots_;  // where the factor is dense, the inverse of each part's: A⁻¹ = RᵀR
};

}  // namespace lrvb::detail
