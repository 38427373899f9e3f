#pragma once

#include "kind/model/symbolic.hpp"

#include <lrvb/bugs/graph.hpp>

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
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
    /// A deterministic relation in some rows of its plate.
    using Part = std::pair<std::size_t, bugs::Rows>;
    /// Thrown where a chain of deterministic nodes is deeper than is computed at once: this part comes first.
    struct Postponed {
        Part part;
    };

    std::optional<Value> value_of_leaf(const bugs::Expression& expression, const bugs::GraphRelation& relation,
                                       const bugs::Rows& rows) const;
    Value variable(const bugs::Expression& expression, const bugs::GraphRelation& relation,
                   const bugs::Rows& rows) const;
    Value call(const bugs::Expression& expression, const std::vector<Value>& arguments) const;
    Value computed(const Part& part) const;
    Value computed_by_chain(const Part& part) const;
    void keep(const Part& part, const Value& value) const;
    Value elementwise(const bugs::Expression& expression, const std::vector<Value>& arguments) const;
    Value subtracted(const Value& left, const Value& right, const bugs::Expression& expression) const;
    bool is_probability(const Sum& sum) const;

    const bugs::Graph& graph_;
    mutable std::map<std::size_t, Index> labels_;  // of a relation
    mutable std::map<Part, Value> deterministic_;
    mutable std::deque<Part> kept_;          // in the order in which they came
    mutable std::size_t kept_terms_ = 0;     // of all of them
    mutable std::map<Part, Value> pending_;  // parts of the chain that is being computed
    mutable int nesting_ = 0;
};

/// All places where the states of these rows differ, as groups; nothing where they do not.
void require_alike(const std::vector<std::int64_t>& classes);

}  // namespace lrvb::detail::text
