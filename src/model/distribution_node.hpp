#pragma once

#include "model/lowering.hpp"

namespace lrvb::detail {

/// A distribution with its parameters as the user wrote them.
class DistributionNode {
  public:
    virtual ~DistributionNode() = default;
    virtual ConditionalForm lower(const Lowering& lowering) const = 0;
};

}  // namespace lrvb::detail
