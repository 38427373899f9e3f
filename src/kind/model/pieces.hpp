#pragma once

#include "kind/model/evaluator.hpp"

#include <lrvb/bugs/graph.hpp>

#include <optional>
#include <vector>

/// The stochastic relations of a model, in parts that mean the same in all of their rows.
namespace lrvb::detail::text {

struct Piece {
    enum class Left { observed, unobserved, partly };

    std::size_t relation = 0;
    bugs::Rows rows;  // of its plate, in ascending order
    Left left = Left::observed;
    /// All over the same selectors, one alternative for each combination of their labels.
    std::vector<Value> arguments;
    std::vector<Selector> selectors;
    std::size_t combinations = 1;
    std::optional<Value> lower;  // of a truncation
    std::optional<Value> upper;
    bool is_truncated = false;
    bool is_centred = false;  // its nodes stand for others (centring.hpp)

    const Sum& sum(std::size_t argument, std::size_t entry = 0, std::size_t combination = 0) const {
        return arguments[argument].elements[entry].alternatives[combination];
    }
    Index size() const { return static_cast<Index>(rows.size()); }
};

/// What an argument is to its distribution: what decides how a node there can be represented.
enum class Role { mean, precision, probability, rate, matrix, other };
Role role_of(const std::string& distribution, std::size_t argument);

/// All pieces, relation by relation. What is refused goes to `diagnostics`.
std::vector<Piece> pieces_of(const Evaluator& evaluator, bugs::Diagnostics& diagnostics);

/// How nodes of an array enter the arguments of distributions.
struct Usage {
    struct Use {
        Role role = Role::other;
        double power = 1.0;
        bool in_function = false;
        std::string function;  // the outermost one
        std::size_t relation = 0;
    };
    std::vector<Use> uses;
    bool selects = false;  // it is discrete, and chooses

    bool is_used() const { return selects || !uses.empty(); }
    /// Whether it has this use, outside of functions.
    bool any(Role role, double power) const;
    /// Whether all uses are this one.
    bool only(Role role, double power) const;
};

/// For each array.
std::vector<Usage> usages_of(const bugs::Graph& graph, const std::vector<Piece>& pieces);

}  // namespace lrvb::detail::text
