#pragma once

#include <lrvb/bugs/graph.hpp>
#include <lrvb/kind/kind.hpp>
#include <lrvb/model/joint_model.hpp>
#include <lrvb/model/multilinear_model.hpp>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

/// From the resolved graph of a model's text to a model that can be fitted.
///
/// Stochastic relations become calls of ModelBuilder, plates as columns wherever the builder has them. Deterministic
/// nodes are put into the relations that use them, and reported as functions of the posterior's statistics.
namespace lrvb::detail {

struct CompileOptions {
    /// Every normal node has a factor of its own.
    bool factorised = false;
    /// Nodes to report besides the small ones, by array or element.
    std::vector<std::string> monitor = {};
    /// Other values for numbers of the prior.
    std::map<std::string, double> numbers = {};
    int threads = 1;
};

/// A deterministic node as NodeFunction reads it.
struct DerivedNode {
    std::string group;
    std::vector<std::string> indices;
    std::string function;
};

/// An observed node.
struct ObservedNode {
    std::uint32_t array = 0;
    std::uint32_t element = 0;
};

struct CompiledModel {
    std::shared_ptr<const MultilinearModel> base;
    /// Null where nothing is joined.
    std::shared_ptr<const JointModel> joint;
    /// The nodes of the model's rows, by their numbers.
    std::vector<ObservedNode> rows;
    std::vector<PriorNumber> prior;
    std::vector<DerivedNode> derived;
    /// Auxiliary variables that nobody wrote, by their groups.
    std::vector<std::string> hidden;
    std::vector<std::string> notes;
    /// How many rows are under a link.
    Index linked_rows = 0;

    const RowModel& model() const;
    Index row_count() const { return static_cast<Index>(rows.size()); }
    double work_of_a_draw() const;
    std::shared_ptr<const RowModel> without_rows(const std::vector<Index>& dropped) const;
};

/// Throws bugs::ModelError, with all constructs that are refused.
CompiledModel compiled(const bugs::Graph& graph, const CompileOptions& options);

}  // namespace lrvb::detail
