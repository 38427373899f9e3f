#pragma once

#include <lrvb/export.hpp>
#include <lrvb/types.hpp>

/// Whether chains can be believed (Vehtari, Gelman, Simpson, Carpenter & Bürkner 2021). A chain a column, all of the
/// same length, at least eight draws.
namespace lrvb {

/// How many independent draws would give the mean as well: every chain is cut in two, and autocorrelations are added up
/// as long as sums of neighbouring pairs are positive and fall (Geyer).
LRVB_EXPORT double effective_sample_size(const Matrix& chains);

/// The same for where most draws are: of the rank-normalised draws.
LRVB_EXPORT double bulk_ess(const Matrix& chains);

/// The same for a quantile: of the draws that are at or below it.
LRVB_EXPORT double quantile_ess(const Matrix& chains, double probability);

/// The smaller one of those for 5 % and 95 %.
LRVB_EXPORT double tail_ess(const Matrix& chains);

/// Standard errors, by chance of the draws, of the mean and of the sd that they have. The latter to first order, with
/// the effective sample size of squared distances from the mean.
LRVB_EXPORT double mean_error(const Matrix& chains);
LRVB_EXPORT double sd_error(const Matrix& chains);
/// And of a quantile: half the distance of the draws between which it is with the probability that a normal is within
/// one sd. As many independent draws as its effective sample size would have Beta(ess p + 1, ess (1 − p) + 1) of
/// themselves below it.
LRVB_EXPORT double quantile_error(const Matrix& chains, double probability);

/// Split R̂ of the rank-normalised draws, and of their distances from the median: the larger. 1 where chains agree in
/// location and in spread; above 1.05 they had better run longer.
LRVB_EXPORT double split_r_hat(const Matrix& chains);

}  // namespace lrvb
