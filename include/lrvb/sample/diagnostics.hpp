#pragma once

#include <lrvb/export.hpp>
#include <lrvb/types.hpp>

/// Whether chains can be believed (Vehtari, Gelman, Simpson, Carpenter & Bürkner 2021). A chain a column, all of the
/// same length, at least eight draws.
namespace lrvb {

/// How many independent draws would give the mean as well: every chain is cut in two, and autocorrelations are added up
/// as long as sums of neighbouring pairs are positive and fall (Geyer).
LRVB_EXPORT double effective_sample_size(const Matrix& chains);

/// Split R̂ of the rank-normalised draws, and of their distances from the median: the larger. 1 where chains agree in
/// location and in spread; above 1.05 they had better run longer.
LRVB_EXPORT double split_r_hat(const Matrix& chains);

}  // namespace lrvb
