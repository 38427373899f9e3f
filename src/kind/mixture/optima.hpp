#pragma once

#include <lrvb/fit/fit.hpp>
#include <lrvb/kind/mixture/model.hpp>

/// What else the tournament of a mixture found on a sample of the rows: optima that may share the posterior with the
/// best.
///
/// On all N rows two optima's log densities differ by Σd, d = log p(x | other) − log p(x | best), which a sample of n
/// estimates by D = Σwd, with the standard error √Σ(wd)². Where D + 3 se is below −10 the other one's share of the
/// posterior is not worth a look at all rows; otherwise nobody can tell from the sample, and it is carried on.
namespace lrvb::detail {

/// Whether the rows of a sample say that a state's share is not worth a look at all rows. Takes a pass over the sample.
bool is_ruled_out(const MixtureModel& sample, const State& best, const State& other);

}  // namespace lrvb::detail
