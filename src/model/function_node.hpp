#pragma once

#include "model/distribution_node.hpp"

#include <memory>
#include <utility>

namespace lrvb::detail {

/// A node that is a function from the lowering to the conditional form; the parameters are what it captured.
template <class Function>
class FunctionNode final : public DistributionNode {
  public:
    explicit FunctionNode(Function function) : function_(std::move(function)) {}
    ConditionalForm lower(const Lowering& lowering) const override { return function_(lowering); }

  private:
    Function function_;
};

template <class Function>
std::shared_ptr<const DistributionNode> make_node(Function function) {
    return std::make_shared<FunctionNode<Function>>(std::move(function));
}

}  // namespace lrvb::detail
