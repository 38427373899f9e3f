#pragma once

#include "kind/declared/record.hpp"
#include "kind/model/compiler.hpp"
#include "kind/model/node_values.hpp"

#include <lrvb/posterior/posterior.hpp>

#include <optional>
#include <string>
#include <vector>

/// What is reported of a model in BUGS: stochastic nodes as those of a declared model, and deterministic nodes as
/// functions of these.
namespace lrvb::detail {

/// Of the inverse of a matrix: its mean over the inverse of the matrix's mean, and its sd over that by derivatives.
struct InverseFactors {
    double mean = 1.0;
    double sd = 1.0;
};

class ModelVariables {
  public:
    /// `hidden` are groups that nobody wrote. With `monitor`, the summary shows these alone; otherwise small arrays.
    ModelVariables(const Layout& layout, const std::vector<DerivedNode>& derived,
                   const std::vector<std::string>& hidden, const std::vector<std::string>& monitor);

    std::vector<std::string> names() const { return declared_.names(); }
    SparseMatrix weights() const { return declared_.weights(); }
    const std::vector<Index>& stacked() const { return declared_.stacked(); }
    /// In the order of the posterior.
    std::vector<VariableMeaning> meanings() const;

    Posterior posterior(const CompiledModel& compiled, const Model& model, const Optimum& optimum) const;

  private:
    std::optional<InverseFactors> factors_of(const NodeFunction& function, const Layout& layout,
                                             const State& state) const;
    std::vector<NodeLabel> labels_of(const NodeFunction& function, const Layout& layout, const State& state) const;
    std::optional<BetaValues> beta_values(const NodeFunction& function, const Layout& layout, const State& state,
                                          const Posterior& posterior) const;

    DeclaredVariables declared_;
    std::vector<VariableMeaning> derived_;
    std::vector<std::string> functions_;
};

}  // namespace lrvb::detail
