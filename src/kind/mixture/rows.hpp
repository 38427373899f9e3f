#pragma once

#include "kind/mixture/pass.hpp"

#include <lrvb/model/row_model.hpp>

#include <vector>

/// What each row of a mixture does to the gradient of the expected log joint. A row's part of it is Σ_k r_k ∇ρ_k, and
/// along a direction the gradient ∇ρ_k is a polynomial v_k in y = x − origin_k, quadratic as ρ_k is. So the weight of a
/// row, and a number x_p of it, have the derivatives
///
///     Σ_k r_k v_k,     w Σ_k r_k (∂v_k/∂x_p + (∂ρ_k/∂x_p − Σ_l r_l ∂ρ_l/∂x_p) v_k).
namespace lrvb::detail {

/// What a visitor is given at once, but for the last of them.
inline constexpr Index kAnsweredRows = 1 << 14;

/// `polynomials`: for each component, features × directions, about the origin of its score.
void ask_mixture_rows(RowSource& source, Index rows, const RowFormat& format, const MixtureScores& scores,
                      const std::vector<Matrix>& polynomials, RowChange change, int threads, const RowVisitor& visit);

/// log Σ_k exp ρ_k of every row for each of some sets of scores, in the units of the data. A row of weight 0 has
/// whatever its inner centre has.
void mixture_row_log_likelihoods(RowSource& source, Index rows, const RowFormat& format,
                                 const std::vector<MixtureScores>& scores, int threads, const RowVisitor& visit);

}  // namespace lrvb::detail
