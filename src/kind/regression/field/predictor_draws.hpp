#pragma once

#include "kind/regression/field/prediction.hpp"
#include "kind/regression/field/variables.hpp"

#include <lrvb/kind/kind.hpp>

#include <utility>
#include <vector>

namespace lrvb::detail {

/// Coefficients and ψ at some draws of a posterior, as many sds from their means: a row for each of
/// FieldVariables::coefficients(), and for each of ψ. Empty where there are very many coefficients.
struct StandardisedDraws {
    Matrix coefficients;
    Matrix psi;
};

StandardisedDraws standardised_draws(const CorrectionDraws& draws, const FieldVariables& variables);

/// Whether these may be such draws: each row has mean 0 and sd 1, but for rounding, or is zero.
bool are_standardised(const Matrix& draws);

/// How combinations of coefficients are distributed, as such draws η_s, ψ_s tell it: a least-squares line in ψ for
/// their means, a log-linear variance of what is left (a Gamma regression of its squares, drawn towards none by what as
/// many draws would show of none), and the L-skewness of what is left of that.
class PredictorDraws {
  public:
    /// `draws` are kept by reference.
    PredictorDraws(const FieldVariables& variables, const StandardisedDraws& draws, const Posterior& posterior);

    /// Of a combination of statistics, each with its factor; that of a normal where there are no draws.
    PredictorShape shape_of(const std::vector<std::pair<Index, double>>& combination) const;

  private:
    Vector log_variance_slopes(Eigen::ArrayXd& rest) const;

    const StandardisedDraws& draws_;
    std::vector<Index> place_;  // of a statistic among the coefficients
    Vector sds_;
    Matrix lines_;      // 1 and ψ, a row a draw
    Matrix fitted_;     // (XᵀX)⁻¹Xᵀ of these
    Matrix precision_;  // XᵀX without the ones, centred
};

}  // namespace lrvb::detail
