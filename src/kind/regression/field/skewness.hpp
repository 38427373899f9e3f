#pragma once

#include "kind/regression/field/variables.hpp"

#include <lrvb/kind/kind.hpp>

#include <utility>
#include <vector>

namespace lrvb::detail {

/// Coefficients at some draws of a posterior, as many sds from their means: a row for each of
/// FieldVariables::coefficients(). Empty where there are very many of these.
Matrix standardised_draws(const CorrectionDraws& draws, const FieldVariables& variables);

/// Whether these may be such draws: each row has mean 0 and sd 1, but for rounding, or is zero.
bool are_standardised(const Matrix& draws);

/// How skewed combinations of coefficients are, as such draws tell it.
class Skewness {
  public:
    /// Zero where there are no draws. `draws` is kept by reference.
    Skewness(const FieldVariables& variables, const Matrix& draws, const Posterior& posterior);

    /// Of a combination of statistics, each with its factor: the L-skewness λ₃/λ₂ of its values at the draws, which a
    /// few of these that are far out do not make up, less what as many draws of a normal would show of it.
    double of(const std::vector<std::pair<Index, double>>& combination) const;

  private:
    const Matrix& draws_;
    std::vector<Index> place_;  // of a statistic among the coefficients
    Vector sds_;
};

}  // namespace lrvb::detail
