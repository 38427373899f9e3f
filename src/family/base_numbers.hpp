#pragma once

#include <lrvb/family/any_family.hpp>

/// The numbers that a family itself holds: those of the prior of a Scale, the bounds of a TruncatedNormal. Two of each;
/// of other families none.
namespace lrvb::detail {

/// ∂m/∂number with η held, a column each.
Matrix mean_by_numbers(const AnyFamily& family, const VectorView& natural);

/// The family with a number moved.
AnyFamily with_number_moved(const AnyFamily& family, Index number, double by);

}  // namespace lrvb::detail
