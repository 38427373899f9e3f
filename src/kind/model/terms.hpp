#pragma once

#include "kind/model/evaluator.hpp"

#include <lrvb/model/expression.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

/// From sums over nodes to expressions in the builder's variables.
namespace lrvb::detail::text {

/// What a node is in the builder's model.
enum class Form : std::uint8_t {
    none,
    number,                 ///< Normal, or an entry of MvNormal
    bounded,                ///< normal within constant bounds
    positive,               ///< Gamma, or a positive number with a prior of another shape
    precision_of_sd,        ///< an sd, by the precision that it stands for
    precision_of_variance,  ///< a variance, likewise
    probability,            ///< Beta
    part,                   ///< of Dirichlet
    zero,                   ///< a part of Dirichlet that cannot be
    one,                    ///< a part of Dirichlet beside which there is no other
    matrix,                 ///< an entry of Wishart
    indicator,              ///< Bernoulli
    label,                  ///< Categorical
    clustered,              ///< a label that others depend on, which share one Categorical with it
    summed_out,             ///< a label of a row
    left_out,               ///< nothing depends on it
};

struct Handle {
    std::int32_t variable = -1;
    std::int32_t statistic = 0;
    Form form = Form::none;
};

class Terms {
  public:
    explicit Terms(const bugs::Graph& graph);

    Handle& at(std::size_t array, Index element) { return handles_[array][static_cast<std::size_t>(element)]; }
    const Handle& at(std::size_t array, Index element) const {
        return handles_[array][static_cast<std::size_t>(element)];
    }
    void set_tag(std::uint32_t tag) { tag_ = tag; }
    std::uint32_t tag() const { return tag_; }

    /// A polynomial in the variables. Throws Refused, at this place, for what is none.
    Expression polynomial(const Sum& sum, Index row, const bugs::Place& place) const;
    /// log of a probability: a constant times powers of probabilities; nothing where it is zero.
    std::optional<Expression> log_probability(const Sum& sum, Index row, const bugs::Place& place) const;
    /// An atom of a node as it is.
    Expression atom(const Handle& handle) const;

    /// How many parts a Dirichlet variable has.
    std::map<std::int32_t, Index> simplex_sizes;
    /// Those that have fewer parts than their nodes, since some cannot be.
    std::set<std::int32_t> reduced;

    /// Labels that are one (clusters.hpp).
    struct Cluster {
        std::int32_t variable = -1;
        std::vector<Index> counts;                          // labels of each member
        std::vector<std::pair<std::size_t, Index>> pieces;  // with the row: where each is defined
        std::vector<std::vector<Index>> states;             // labels of all members, from 0; those that can be
        bool is_certain = false;                            // there is one state, and no variable
        std::size_t waiting = 0;                            // members whose turn to be declared has not come
    };
    std::vector<Cluster> clusters;
    /// By array and element: the cluster, and which member it is.
    std::map<std::pair<std::size_t, Index>, std::pair<std::size_t, std::size_t>> memberships;
    std::size_t member(std::size_t array, Index element) const { return memberships.at({array, element}).second; }

    std::string name(const Factor& factor, Index row) const;
    /// The distribution of a node, for messages: "tau ~ dgamma".
    std::string described(const Factor& factor, Index row) const;

  private:
    Expression power(const Factor& factor, Index row, const bugs::Place& place) const;

    const bugs::Graph& graph_;
    std::vector<std::vector<Handle>> handles_;
    std::uint32_t tag_ = 0;
};

}  // namespace lrvb::detail::text
