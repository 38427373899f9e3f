#pragma once

#include "kind/model/symbolic.hpp"

#include <lrvb/bugs/graph.hpp>

#include <map>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

/// From an expression of the text to what it means over rows of a plate. Deterministic nodes are put in by their own
/// expressions, so that what is left are numbers and stochastic nodes.
namespace lrvb::detail::text {

/// A construct that is refused, and where it stands; without a sentence where that follows from what was refused
/// before.
class Refused : public std::runtime_error {
  public:
    Refused(const bugs::Place& place, const std::string& sentence) : std::runtime_error(sentence), place_(place) {}
    const bugs::Place& place() const { return place_; }

  private:
    bugs::Place place_;
};

/// Thrown where rows mean different things (a value that is known in some and missing in others): each of these groups,
/// places among the rows that were asked for, is to be asked by itself.
struct SplitRows {
    std::vector<std::vector<Index>> groups;
};

class Evaluator {
  public:
    explicit Evaluator(const bugs::Graph& graph);

    /// `rows` of the relation's plate, in ascending order. Throws SplitRows and Refused.
    Value value(const bugs::Expression& expression, const bugs::GraphRelation& relation, const bugs::Rows& rows) const;
    /// What elements of an array stand for, one for each row.
    Choice node(std::size_t array, const ElementColumn& elements, Index rows, const bugs::Place& place) const;
    /// The value of a deterministic relation, its link undone.
    Value deterministic(std::size_t relation, const bugs::Rows& rows) const;

    /// The name of the distribution that an unobserved element has.
    const std::string& distribution(std::size_t array, Index element) const;
    /// How many labels a discrete element has; 0 where it is not discrete.
    Index labels(std::size_t array, Index element) const;

    const bugs::Graph& graph() const { return graph_; }

  private:
    Value variable(const bugs::Expression& expression, const bugs::GraphRelation& relation,
                   const bugs::Rows& rows) const;
    Value call(const bugs::Expression& expression, const bugs::GraphRelation& relation, const bugs::Rows& rows) const;
    Value elementwise(const bugs::Expression& expression, const std::vector<Value>& arguments) const;
    Value subtracted(const Value& left, const Value& right, const bugs::Expression& expression) const;
    bool is_probability(const Sum& sum) const;

    const bugs::Graph& graph_;
    mutable std::map<std::size_t, Index> labels_;  // of a relation
    mutable std::map<std::pair<std::size_t, bugs::Rows>, Value> deterministic_;
};

/// All places where the states of these rows differ, as groups; nothing where they do not.
void require_alike(const std::vector<int>& classes);

}  // namespace lrvb::detail::text
