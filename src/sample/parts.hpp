#pragma once

#include <lrvb/family/random.hpp>
#include <lrvb/sample/importance.hpp>

/// A proposal from points: a mixture of Student t's fitted to them by the EM algorithm, begun at k-means++ centres.
/// Scales of parts with few points are taken larger.
namespace lrvb::detail {

/// At most `most` parts, fewer where there are few points for each; shares add up to one. One point a column, two or
/// more.
std::vector<ProposalPart> parts_at(const Matrix& points, Index most, double dof, Random& random);

}  // namespace lrvb::detail
