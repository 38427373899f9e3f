#include "base/messages.hpp"
#include "bugs/components.hpp"
#include "bugs/functions.hpp"
#include "bugs/resolver.hpp"
#include "bugs/shapes.hpp"

#include <lrvb/base/interruption.hpp>
#include <lrvb/bugs/words.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

// The part of the resolver that computes what is known, in an order in which everything is defined before it is used.
namespace lrvb::bugs {

namespace {

using lrvb::detail::shown;

std::string_view s_of(Index count) {
    return count == 1 ? "" : "s";
}

Rows all_rows(Index count) {
    Rows rows(static_cast<std::size_t>(count));
    std::iota(rows.begin(), rows.end(), 0U);
    return rows;
}

/// Rows whose value follows from what is known already; none where that cannot be said yet.
std::vector<bool> known_before(const Evaluator& evaluator, const Expression& expression) {
    try {
        return evaluator.known(expression);
    } catch (const EvaluationProblem&) {
        return {};
    } catch (const RaggedRows&) {
        return {};
    }
}

}  // namespace

/// Components wait until their arrays are allocated, which may be by a later one: alpha[1] <- 0 and alpha[2] ~
/// dnorm(…).
void Resolver::compute_waiting() {
    std::vector<std::vector<std::size_t>> still;
    for (const std::vector<std::size_t>& component : waiting_) {
        const auto is_broken = [&](std::size_t which) { return broken_.contains(written_as(which).left.name); };
        if (std::any_of(component.begin(), component.end(), is_broken)) {
            for (const std::size_t which : component) break_relation(which);
        } else if (!is_ready(component)) {
            still.push_back(component);
        } else {
            compute(component);
        }
    }
    waiting_ = std::move(still);
}

bool Resolver::is_ready(const std::vector<std::size_t>& component) const {
    return std::all_of(component.begin(), component.end(), [&](std::size_t which) {
        return placed_[which].is_empty || placed_[which].relation != kNotPlaced;
    });
}

void Resolver::compute(const std::vector<std::size_t>& component) {
    const std::size_t only = component.front();
    if (component.size() > 1 || uses_[only].has(written_as(only).left.name)) {
        compute_by_rows(component);
        return;
    }
    if (placed_[only].is_empty) return;
    if (!check_uses(only)) {
        break_relation(only);
        return;
    }
    check_extents(only);
    if (broken_.contains(written_as(only).left.name)) return;
    steps.push_back({only, {}, true});
    if (!written_as(only).is_stochastic) fold(only, nullptr);
}

/// Whether all that a relation uses is there; what is not is said.
bool Resolver::check_uses(std::size_t which) {
    bool is_good = true;
    const GraphRelation& relation = graph_relation(which);
    for (const Use& use : uses_[which].value) {
        try {
            check_defined(use, relation);
        } catch (const EvaluationProblem& problem) {
            problems_.add(problem.place, problem.sentence);
            is_good = false;
        } catch (const RaggedRows& ragged) {
            problems_.add(ragged.place, "this has different numbers of elements in different rounds of the loop");
            is_good = false;
        }
        if (!is_good) break;  // those around it would be said for the same reason
    }
    return is_good;
}

void Resolver::check_defined(const Use& use, const GraphRelation& relation) {
    const Evaluator evaluator(table, *relation.plate, nullptr, options_.most);
    const std::string& name = use.variable->name;
    const Array* known = table.find(name);
    if (known == nullptr) {  // the loops that would define it are empty
        throw EvaluationProblem{
            use.variable->place,
            fmt::format("{} is used here, but the loops that define it have no rounds", shown(name))};
    }
    const Array& array = *known;
    if (use.is_extent) {
        evaluator.dims(*use.variable);
        return;
    }
    if (relation.is_stochastic() && infinite_.contains(name)) require_finite(use, evaluator);
    const bool has_holes = std::find(array.states.begin(), array.states.end(), State::undefined) != array.states.end();
    if (!has_holes && !use.variable->has_brackets) return;
    bool is_said = false;
    evaluator.visit_elements(*use.variable, [&](Index, Index element) {
        const auto e = static_cast<std::size_t>(element);
        const bool is_defined = !array.relations.empty() && array.relations[e] != Array::kNone;
        if (is_said || array.states[e] != State::undefined || is_defined) return;
        is_said = true;
        const bool is_data = array.relations.empty();
        throw EvaluationProblem{
            use.variable->place,
            is_data
                ? fmt::format("{} is NA in the data, and no relation says what it may be: give its value, or a "
                              "distribution by ~",
                              shown(array.element_name(element)))
                : fmt::format("{} is used here but never defined: other elements of {} are; define it by <- or ~, or "
                              "give it as data",
                              shown(array.element_name(element)), shown(name))};
    });
}

/// A constant without a finite value, such as 0 * log(0), may be there as long as no distribution needs it.
void Resolver::require_finite(const Use& use, const Evaluator& evaluator) const {
    const Array& array = *table.find(use.variable->name);
    evaluator.visit_elements(*use.variable, [&](Index, Index element) {
        const auto e = static_cast<std::size_t>(element);
        if (!bugs::is_known(array.states[e]) || std::isfinite(array.values[e])) return;
        const bool is_computed = !array.relations.empty() && array.relations[e] != Array::kNone;
        const std::string origin =
            is_computed
                ? fmt::format(
                      "what it is computed from at {}",
                      problems_.source().position(written_as(static_cast<std::size_t>(array.relations[e])).right.place))
                : std::string("the data block");
        throw EvaluationProblem{
            use.variable->place,
            fmt::format("{} is {}: look at {}", shown(array.element_name(element)),
                        std::isnan(array.values[e]) ? std::string("not a number")
                                                    : fmt::format("{}, which is no finite number", array.values[e]),
                        origin)};
    });
}

/// Whether the left side has as many elements as the right.
void Resolver::check_extents(std::size_t which) {
    const Relation& relation = written_as(which);
    const GraphRelation& graph = graph_relation(which);
    const Index left = size_of(graph.left.dims);
    if (relation.is_stochastic) {
        const DistributionWord* word = find_distribution(relation.right.name);
        if (word != nullptr && !word->is_multivariate && left != 1) {
            problems_.add(
                relation.left.place,
                fmt::format("{} is a distribution of one number, but the left side has {} elements: write a loop, "
                            "for (i in 1:{}) {{ {}[i] ~ … }}",
                            shown(relation.right.name), left, left, lrvb::detail::printable(relation.left.name)));
            break_relation(which);
            return;
        }
    }
    try {
        const Evaluator evaluator(table, *graph.plate, nullptr, options_.most);
        if (relation.is_stochastic) {
            require_shapes(relation, graph.left.dims, evaluator);
            return;
        }
        const Index right = size_of(evaluator.dims(relation.right));
        if (right == left) return;
        if (right == 0) throw EvaluationProblem{relation.right.place, no_elements(relation.right, "the left side")};
        problems_.add(
            relation.left.place,
            fmt::format("the left side has {} element{}, but the right side has {}: {}", left, s_of(left), right,
                        right == 1 ? "write a loop over its elements, or rep(…) on the right"
                                   : "write as many on the left, as in x[1:n]"));
    } catch (const EvaluationProblem& problem) {
        problems_.add(problem.place, problem.sentence);
    } catch (const RaggedRows&) {
        return;  // each row is looked at when it is computed
    }
    break_relation(which);
}

/// Computes a deterministic relation where it is known; elsewhere its elements depend on variables of the model.
void Resolver::fold(std::size_t which, const Rows* rows) {
    const Relation& relation = written_as(which);
    const GraphRelation& graph = graph_relation(which);
    try {
        const Evaluator evaluator(table, *graph.plate, rows, options_.most);
        const std::vector<bool> known = evaluator.known(relation.right);
        const Rows asked = rows == nullptr ? all_rows(graph.rows()) : *rows;
        Rows known_rows;
        for (std::size_t i = 0; i < asked.size(); ++i) {
            if (known[known.size() == 1 ? 0 : i]) {
                known_rows.push_back(asked[i]);
                continue;
            }
            for (Index j = 0; j < graph.left.elements.cols(); ++j) {
                set_state(graph.left.array, graph.left.at(asked[i], j), State::deterministic);
            }
        }
        require_few_nodes(which, 0);
        if (known_rows.empty()) return;
        const bool is_all = known_rows.size() == static_cast<std::size_t>(graph.rows());
        const Columns values =
            Evaluator(table, *graph.plate, is_all ? nullptr : &known_rows, options_.most).values(relation.right);
        assign(graph, known_rows, values);
    } catch (const EvaluationProblem& problem) {
        problems_.add(problem.place, problem.sentence);
        break_relation(which);
    } catch (const RaggedRows& ragged) {
        problems_.add(ragged.place, "this has different numbers of elements in different rounds of the loop");
        break_relation(which);
    }
}

void Resolver::assign(const GraphRelation& graph, const Rows& rows, const Columns& values) {
    const Relation& relation = *graph.syntax;
    if (values.values.cols() != graph.left.elements.cols()) {
        throw EvaluationProblem{
            relation.left.place,
            fmt::format("the left side has {} element{}, but the right side has {}", graph.left.elements.cols(),
                        s_of(graph.left.elements.cols()), values.values.cols())};
    }
    Array& array = table.arrays[graph.left.array];
    for (Index j = 0; j < values.values.cols(); ++j) {
        for (std::size_t i = 0; i < rows.size(); ++i) {
            const Index element = graph.left.at(rows[i], j);
            const double value = inverse_link(relation.link, values.at(static_cast<Index>(i), j));
            if (!std::isfinite(value)) infinite_.insert(relation.left.name);
            array.values[static_cast<std::size_t>(element)] = value;
            set_state(graph.left.array, element, State::constant);
        }
    }
}

/// Whether something that no row knows is used.
bool Resolver::is_never_known(std::size_t which, const std::vector<std::size_t>& component) const {
    const GraphRelation& relation = relations[placed_[which].relation];
    const Evaluator evaluator(table, *relation.plate, nullptr, options_.most);
    for (const Use& use : uses_[which].value) {
        const auto defines_it = [&](std::size_t other) {
            return written_as(other).left.name == use.variable->name && !written_as(other).is_stochastic;
        };
        if (use.is_extent || std::any_of(component.begin(), component.end(), defines_it)) continue;
        const std::vector<Use> inner = uses_of(*use.variable, relation.plate->indices);
        const auto is_within = [&](const Use& part) {
            return std::any_of(component.begin(), component.end(), [&](std::size_t other) {
                return written_as(other).left.name == part.variable->name && !written_as(other).is_stochastic;
            });
        };
        if (std::any_of(inner.begin(), inner.end(), is_within)) continue;
        const std::vector<bool> known = evaluator.known(*use.variable);
        if (std::find(known.begin(), known.end(), true) == known.end()) return true;
    }
    return false;
}

/// Relations that use each other: rows are taken in an order that follows their elements.
void Resolver::compute_by_rows(const std::vector<std::size_t>& component) {
    std::vector<std::size_t> offsets;
    std::size_t count = 0;
    std::map<std::int32_t, std::size_t> slots;  // relations of this component
    for (const std::size_t which : component) {
        slots.emplace(static_cast<std::int32_t>(which), offsets.size());
        offsets.push_back(count);
        if (!placed_[which].is_empty) count += static_cast<std::size_t>(graph_relation(which).rows());
    }
    offsets.push_back(count);
    std::vector<std::pair<std::size_t, std::size_t>> edges;  // from what is used to who uses it
    bool is_good = true;
    for (std::size_t slot = 0; slot < component.size(); ++slot) {
        const std::size_t which = component[slot];
        if (placed_[which].is_empty) continue;
        if (!check_uses(which)) {
            is_good = false;
            continue;
        }
        const GraphRelation& relation = graph_relation(which);
        const Evaluator evaluator(table, *relation.plate, nullptr, options_.most);
        std::vector<bool> is_known;  // rows that are computed from data alone, and wait for nothing
        const auto add_edges = [&](const Use& use) {
            const Array& array = *table.find(use.variable->name);
            if (use.is_extent || array.relations.empty()) return;
            evaluator.visit_elements(*use.variable, [&](Index row, Index element) {
                if (!is_known.empty() && is_known[is_known.size() == 1 ? 0 : static_cast<std::size_t>(row)]) return;
                const auto e = static_cast<std::size_t>(element);
                const auto found = slots.find(array.relations[e]);
                if (found == slots.end()) return;
                if (edges.size() > 20 * options_.most) {
                    throw EvaluationProblem{use.variable->place, "too many elements depend on each other here"};
                }
                edges.emplace_back(offsets[found->second] + array.rows[e],
                                   offsets[slot] + static_cast<std::size_t>(row));
            });
        };
        try {
            if (!written_as(which).is_stochastic) is_known = known_before(evaluator, written_as(which).right);
            for (const Use& use : uses_[which].value) add_edges(use);
        } catch (const EvaluationProblem& problem) {
            problems_.add(problem.place, problem.sentence);
            is_good = false;
        }
        check_extents(which);
        is_good = is_good && !broken_.contains(written_as(which).left.name);
    }
    const auto break_all = [&] {
        for (const std::size_t which : component) break_relation(which);
    };
    if (!is_good) {
        break_all();
        return;
    }
    std::sort(edges.begin(), edges.end());
    edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
    std::vector<std::size_t> open(count, 0);  // what is not yet defined, of each row
    for (const auto& [from, to] : edges) ++open[to];
    std::vector<bool> is_computed(component.size(), false);
    for (std::size_t slot = 0; slot < component.size(); ++slot) {
        const std::size_t which = component[slot];
        if (placed_[which].is_empty || written_as(which).is_stochastic) continue;
        is_computed[slot] = !is_never_known(which, component);
        if (is_computed[slot]) continue;
        const Reference& left = graph_relation(which).left;
        for (Index row = 0; row < graph_relation(which).rows(); ++row) {
            for (Index j = 0; j < left.elements.cols(); ++j) {
                set_state(left.array, left.at(row, j), State::deterministic);
            }
        }
        check_few_nodes(which);
    }
    std::vector<std::size_t> level;
    for (std::size_t node = 0; node < count; ++node) {
        if (open[node] == 0) level.push_back(node);
    }
    std::size_t done = 0;
    std::vector<std::uint32_t> depths(count, 0);
    const auto is_unknown_value = [&](std::size_t node) {
        const auto slot =
            static_cast<std::size_t>(std::upper_bound(offsets.begin(), offsets.end(), node) - offsets.begin()) - 1;
        if (written_as(component[slot]).is_stochastic) return false;
        const Reference& left = graph_relation(component[slot]).left;
        const Index element = left.at(static_cast<Index>(node - offsets[slot]));
        return table.arrays[left.array].states[static_cast<std::size_t>(element)] == State::deterministic;
    };
    while (!level.empty()) {
        lrvb::interruption_point();
        done += level.size();
        std::sort(level.begin(), level.end());
        std::vector<std::size_t> next;
        for (std::size_t i = 0; i < level.size();) {
            const auto above = std::upper_bound(offsets.begin(), offsets.end(), level[i]);
            const auto slot = static_cast<std::size_t>(above - offsets.begin()) - 1;
            Step step{component[slot], {}, false};
            for (; i < level.size() && level[i] < offsets[slot + 1]; ++i) {
                step.rows.push_back(static_cast<std::uint32_t>(level[i] - offsets[slot]));
            }
            if (is_computed[slot]) fold(component[slot], &step.rows);
            step.is_all = step.rows.size() == offsets[slot + 1] - offsets[slot];
            if (step.is_all) step.rows.clear();
            steps.push_back(std::move(step));
        }
        for (const std::size_t node : level) {
            const std::uint32_t below = is_unknown_value(node) ? depths[node] + 1 : 0;
            auto edge = std::lower_bound(edges.begin(), edges.end(), std::make_pair(node, std::size_t{0}));
            for (; edge != edges.end() && edge->first == node; ++edge) {
                depths[edge->second] = std::max(depths[edge->second], below);
                if (--open[edge->second] == 0) next.push_back(edge->second);
            }
        }
        level = std::move(next);
    }
    if (done == count) {
        keep_depths(component, offsets, depths);
        return;
    }
    std::vector<bool> is_left(count);
    for (std::size_t node = 0; node < count; ++node) is_left[node] = open[node] > 0;
    say_circle(component, offsets, edges, is_left);
    break_all();
}

void Resolver::keep_depths(const std::vector<std::size_t>& component, const std::vector<std::size_t>& offsets,
                           const std::vector<std::uint32_t>& depths) {
    for (std::size_t slot = 0; slot < component.size(); ++slot) {
        const std::size_t which = component[slot];
        if (placed_[which].is_empty || written_as(which).is_stochastic) continue;
        const auto first = depths.begin() + static_cast<std::ptrdiff_t>(offsets[slot]);
        const auto last = depths.begin() + static_cast<std::ptrdiff_t>(offsets[slot + 1]);
        const std::uint32_t deepest = *std::max_element(first, last);
        if (deepest == 0) continue;
        graph_relation(which).depths.assign(first, last);
        if (deepest < options_.longest_chain) continue;
        problems_.add(written_as(which).left.place,
                      fmt::format("{} is computed by a chain of {} nodes, each from the one before, which is more than "
                                  "{}: write its values without the chain, or shorten the loop",
                                  shown(written_as(which).left.name), deepest + 1, options_.longest_chain));
        break_relation(which);
    }
}

void Resolver::say_circle(const std::vector<std::size_t>& component, const std::vector<std::size_t>& offsets,
                          const std::vector<std::pair<std::size_t, std::size_t>>& edges,
                          const std::vector<bool>& is_left) {
    std::vector<std::vector<std::size_t>> used(is_left.size());  // of each row, what it uses
    for (const auto& [from, to] : edges) used[to].push_back(from);
    const std::vector<std::size_t> circle = circle_in(used, is_left);
    if (circle.empty()) return;
    const auto relation_of = [&](std::size_t node) {
        const auto above = std::upper_bound(offsets.begin(), offsets.end(), node);
        return static_cast<std::size_t>(above - offsets.begin()) - 1;
    };
    const auto name_of = [&](std::size_t node) {
        const std::size_t slot = relation_of(node);
        const GraphRelation& relation = graph_relation(component[slot]);
        const Array& array = table.arrays[relation.left.array];
        if (relation.left.elements.cols() > 1) return array.name;
        return array.element_name(relation.left.at(static_cast<Index>(node - offsets[slot])));
    };
    const Relation& first = written_as(component[relation_of(circle.front())]);
    if (circle.size() == 1) {
        problems_.add(
            first.left.place,
            fmt::format("{} is defined by itself: relations are no assignments; give the new value a name of its "
                        "own",
                        shown(name_of(circle.front()))));
        return;
    }
    constexpr std::size_t most = 6;
    std::string chain;
    for (std::size_t i = 0; i < std::min(circle.size(), most); ++i) {
        chain += fmt::format("{} <- ", lrvb::detail::printable(name_of(circle[i])));
    }
    if (circle.size() > most) chain += fmt::format("… ({} more) <- ", circle.size() - most);
    chain += lrvb::detail::printable(name_of(circle.front()));
    problems_.add(first.left.place,
                  fmt::format("{} depends on itself: {}; a model has no circles: one of these must not use the next",
                              shown(name_of(circle.front())), chain));
}

}  // namespace lrvb::bugs
