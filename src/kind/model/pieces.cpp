#include "kind/model/pieces.hpp"

#include <lrvb/base/interruption.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <functional>

namespace lrvb::detail::text {

Role role_of(const std::string& distribution, std::size_t argument) {
    const bool is_normal =
        distribution == "dnorm" || distribution == "dt" || distribution == "ddexp" || distribution == "dlnorm";
    if (is_normal) return argument == 0 ? Role::mean : argument == 1 ? Role::precision : Role::other;
    if (distribution == "dmnorm") return argument == 0 ? Role::mean : Role::matrix;
    if (distribution == "dbern" || distribution == "dcat") return Role::probability;
    if (distribution == "dbin" || distribution == "dmulti" || distribution == "dnegbin") {
        return argument == 0 ? Role::probability : Role::other;
    }
    if (distribution == "dpois" || distribution == "dexp") return Role::rate;
    if (distribution == "dgamma" || distribution == "dweib") return argument == 1 ? Role::rate : Role::other;
    if (distribution == "dwish") return argument == 0 ? Role::matrix : Role::other;
    return Role::other;
}

namespace {

Piece evaluated(const Evaluator& evaluator, std::size_t number, const bugs::Rows& rows, Piece::Left left) {
    const bugs::GraphRelation& relation = evaluator.graph().relations()[number];
    Piece piece;
    piece.relation = number;
    piece.rows = rows;
    piece.left = left;
    std::vector<Choice> choices;
    for (const bugs::Expression& argument : relation.syntax->right.parts) {
        piece.arguments.push_back(evaluator.value(argument, relation, rows));
        for (Choice& choice : piece.arguments.back().elements) choices.push_back(std::move(choice));
    }
    choices = aligned(choices);
    auto next = choices.begin();
    for (Value& argument : piece.arguments) {
        for (Choice& choice : argument.elements) choice = std::move(*next++);
    }
    if (!piece.arguments.empty()) {
        piece.selectors = piece.arguments.front().elements.front().selectors;
        piece.combinations = piece.arguments.front().elements.front().alternatives.size();
    }
    if (const std::optional<bugs::Truncation>& truncation = relation.syntax->truncation) {
        piece.is_truncated = truncation->lower || truncation->upper;
        if (truncation->lower) piece.lower = evaluator.value(*truncation->lower, relation, rows);
        if (truncation->upper) piece.upper = evaluator.value(*truncation->upper, relation, rows);
    }
    return piece;
}

/// A node that is a sum of all before it makes of n rows n² terms.
constexpr std::size_t kMostTerms = 10'000'000;

std::size_t size_of_terms(const Piece& piece) {
    std::size_t size = 0;
    for (const Value& argument : piece.arguments) size += size_of_terms(argument);
    return size;
}

void add_pieces(const Evaluator& evaluator, std::size_t number, bugs::Rows rows, Piece::Left left,
                std::vector<Piece>& pieces, std::size_t& terms) {
    std::vector<bugs::Rows> waiting{std::move(rows)};
    while (!waiting.empty()) {
        interruption_point();
        const bugs::Rows own = std::move(waiting.back());
        waiting.pop_back();
        try {
            pieces.push_back(evaluated(evaluator, number, own, left));
            terms += size_of_terms(pieces.back());
            if (terms <= kMostTerms) continue;
            throw Refused(evaluator.graph().relations()[number].syntax->place,
                          fmt::format("the parameters of these nodes are sums with more than {} terms in all: write "
                                      "sums over many nodes by a chain of nodes with distributions",
                                      kMostTerms));
        } catch (const SplitRows& split) {
            for (auto group = split.groups.rbegin(); group != split.groups.rend(); ++group) {
                bugs::Rows part;
                for (const Index n : *group) part.push_back(own[static_cast<std::size_t>(n)]);
                waiting.push_back(std::move(part));
            }
        }
    }
}

}  // namespace

std::vector<Piece> pieces_of(const Evaluator& evaluator, bugs::Diagnostics& diagnostics) {
    const bugs::Graph& graph = evaluator.graph();
    std::vector<Piece> pieces;
    std::size_t terms = 0;
    for (std::size_t number = 0; number < graph.relations().size(); ++number) {
        const bugs::GraphRelation& relation = graph.relations()[number];
        if (!relation.is_stochastic()) continue;
        const bugs::Array& array = graph.arrays()[relation.left.array];
        std::vector<bugs::Rows> parts(3);
        for (Index row = 0; row < relation.rows(); ++row) {
            Index observed = 0;
            for (Index j = 0; j < relation.left.elements.cols(); ++j) {
                const auto at = static_cast<std::size_t>(relation.left.at(row, j));
                if (array.states[at] == bugs::State::observed) ++observed;
            }
            const auto left = observed == relation.left.elements.cols() ? Piece::Left::observed
                              : observed == 0                           ? Piece::Left::unobserved
                                                                        : Piece::Left::partly;
            parts[static_cast<std::size_t>(left)].push_back(static_cast<std::uint32_t>(row));
        }
        try {
            for (const auto left : {Piece::Left::observed, Piece::Left::unobserved, Piece::Left::partly}) {
                bugs::Rows& rows = parts[static_cast<std::size_t>(left)];
                if (!rows.empty()) add_pieces(evaluator, number, std::move(rows), left, pieces, terms);
            }
        } catch (const Refused& refused) {
            diagnostics.add(refused.place(), refused.what());
        } catch (const std::length_error&) {
            diagnostics.add(relation.syntax->place,
                            "too many combinations of labels choose here: let fewer discrete nodes meet");
        }
    }
    return pieces;
}

bool Usage::any(Role role, double power) const {
    return std::ranges::any_of(
        uses, [&](const Use& use) { return use.role == role && use.power == power && !use.in_function; });
}

bool Usage::only(Role role, double power) const {
    return std::ranges::all_of(
        uses, [&](const Use& use) { return use.role == role && use.power == power && !use.in_function; });
}

std::vector<Usage> usages_of(const bugs::Graph& graph, const std::vector<Piece>& pieces) {
    std::vector<Usage> usages(graph.arrays().size());
    const auto note = [&](std::size_t array, const Usage::Use& use) {
        std::vector<Usage::Use>& uses = usages[array].uses;
        const bool known = std::ranges::any_of(uses, [&](const Usage::Use& one) {
            return one.role == use.role && one.power == use.power && one.function == use.function;
        });
        if (!known) uses.push_back(use);
    };
    const std::function<void(const Sum&, const Usage::Use&)> look = [&](const Sum& sum, const Usage::Use& use) {
        for (const Product& term : sum.terms) {
            for (const Factor& factor : term.factors) {
                Usage::Use own = use;
                own.power = factor.power;
                if (factor.kind == Factor::Kind::function) {
                    if (!own.in_function) own.function = factor.function;
                    own.in_function = true;
                    for (const Sum& argument : factor.arguments) look(argument, own);
                } else {
                    note(factor.array, own);
                }
            }
        }
    };
    for (const Piece& piece : pieces) {
        const std::string& name = graph.relations()[piece.relation].syntax->right.name;
        if (name == "dinterval" && piece.left == Piece::Left::observed) continue;  // no more than bounds
        const auto all = [&](const Value& value, Role role) {
            for (const Choice& choice : value.elements) {
                for (const Selector& selector : choice.selectors) usages[selector.array].selects = true;
                for (const Sum& sum : choice.alternatives) look(sum, {role, 1.0, false, {}, piece.relation});
            }
        };
        for (std::size_t a = 0; a < piece.arguments.size(); ++a) all(piece.arguments[a], role_of(name, a));
        if (piece.lower) all(*piece.lower, Role::other);
        if (piece.upper) all(*piece.upper, Role::other);
    }
    return usages;
}

}  // namespace lrvb::detail::text
