#pragma once

#include "model/lowering.hpp"
#include "model/monomial_sum.hpp"

#include <lrvb/model/builder.hpp>

namespace lrvb {

class ModelBuilder::Implementation {
  public:
    Implementation();

    detail::Lowering lowering(std::string subject) const;
    /// Adds a lowered expression to the log joint and its derivatives to those of the hyperparameters; all or nothing.
    void accumulate(const Expression& lowered, const detail::Lowering& context);

    std::uint32_t tag;
    Layout layout;
    detail::MonomialSum log_joint;
    std::vector<std::string> hyperparameters;
    std::vector<detail::MonomialSum> hyperparameter_derivatives;
    std::vector<double> start_natural;
    std::vector<double> start_mean;
};

}  // namespace lrvb
