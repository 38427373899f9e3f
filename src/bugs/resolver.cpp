#include "bugs/resolver.hpp"

#include "base/messages.hpp"
#include "bugs/components.hpp"
#include "bugs/functions.hpp"
#include "bugs/nearest.hpp"

#include <lrvb/bugs/words.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

// Which relations there are, where they stand and what they define. What they compute is in folding.cpp.
namespace lrvb::bugs {

namespace {

using lrvb::detail::shown;

/// The round of a loop: "for i = 3".
std::string round_text(const Plate& plate, std::size_t row) {
    std::string text;
    for (std::size_t i = 0; i < plate.indices.size(); ++i) {
        text += fmt::format("{}{} = {}", i > 0 ? ", " : " for ", lrvb::detail::printable(plate.indices[i]),
                            plate.values[i][row]);
    }
    return text;
}

}  // namespace

Resolver::Resolver(const Block& block, Table known, std::set<std::string> infinite, Diagnostics& problems,
                   const GraphOptions& options)
    : table(std::move(known)),
      block_(block),
      problems_(problems),
      options_(options),
      placed_(block.relations.size()),
      infinite_(std::move(infinite)),
      plates_(std::make_unique<Plates>(block_, table, options.most)) {
    for (std::size_t i = 0; i < block.relations.size(); ++i) {
        uses_.push_back(uses_of(block.relations[i], block));
        definers_[block.relations[i].left.name].push_back(i);
    }
    for (const Array& array : table.arrays) known_counts_.push_back(array.count(State::data));
}

void Resolver::run() {
    find_undefined();
    for (const std::vector<std::size_t>& component : components_of(dependencies())) {
        place(component);
        waiting_.push_back(component);
        compute_waiting();
    }
}

void Resolver::break_relation(std::size_t which) {
    broken_.insert(written_as(which).left.name);
}

void Resolver::find_undefined() {
    for (std::size_t i = 0; i < block_.relations.size(); ++i) {
        for (const std::vector<Use>* uses : {&uses_[i].shape, &uses_[i].value}) {
            for (const Use& use : *uses) {
                const std::string& name = use.variable->name;
                if (definers_.contains(name) || table.places.contains(name)) continue;
                if (!broken_.contains(name)) say_undefined(use, written_as(i));
                broken_.insert(name);
            }
        }
    }
}

void Resolver::say_undefined(const Use& use, const Relation& relation) {
    const std::string& name = use.variable->name;
    const auto is_loop = [&](const Loop& loop) { return loop.index == name; };
    if (std::any_of(block_.loops.begin(), block_.loops.end(), is_loop)) {
        problems_.add(
            use.variable->name_place,
            fmt::format("{} is the index of a loop that this place is not in: move the relation into the loop",
                        shown(name)));
        return;
    }
    std::vector<std::string_view> names;
    for (const Array& array : table.arrays) names.push_back(array.name);
    for (const auto& [defined, by] : definers_) names.push_back(defined);
    for (const std::size_t loop : relation.loops) names.push_back(block_.loops[loop].index);
    std::sort(names.begin(), names.end());
    const std::string near = name.size() > 1 ? nearest_name(name, names) : "";
    problems_.add(use.variable->name_place,
                  fmt::format("{} is used here but never defined, and is not in the data: {}", shown(name),
                              near.empty() ? "define it by <- or ~, or give it as data"
                                           : fmt::format("did you mean {}?", shown(near))));
}

std::vector<std::vector<std::size_t>> Resolver::dependencies() const {
    std::vector<std::vector<std::size_t>> result(block_.relations.size());
    for (std::size_t i = 0; i < result.size(); ++i) {
        std::set<std::string_view> seen;
        for (const std::vector<Use>* uses : {&uses_[i].shape, &uses_[i].value}) {
            for (const Use& use : *uses) {
                if (asks_known_extent(use)) continue;
                if (!seen.insert(use.variable->name).second) continue;
                const auto found = definers_.find(use.variable->name);
                if (found == definers_.end()) continue;
                result[i].insert(result[i].end(), found->second.begin(), found->second.end());
            }
        }
    }
    return result;
}

/// length(y) of data needs nothing that defines y.
bool Resolver::asks_known_extent(const Use& use) const {
    return use.is_extent && table.places.contains(use.variable->name);
}

void Resolver::place(const std::vector<std::size_t>& component) {
    for (const std::size_t which : component) {
        const auto is_broken = [&](const Use& use) { return broken_.contains(use.variable->name); };
        const Uses& uses = uses_[which];
        if (std::any_of(uses.shape.begin(), uses.shape.end(), is_broken) ||
            std::any_of(uses.value.begin(), uses.value.end(), is_broken)) {
            break_relation(which);
        }
    }
    for (const std::size_t which : component) {
        try {
            place(which, component);
        } catch (const EvaluationProblem& problem) {
            problems_.add(problem.place, problem.sentence);
            break_relation(which);
        } catch (const RaggedRows& ragged) {
            problems_.add(ragged.place,
                          "the left side has different numbers of elements in different rounds of the loop: "
                          "write a loop over its elements");
            break_relation(which);
        }
    }
    for (const std::size_t which : component) allocate_if_whole(written_as(which).left.name);
}

/// Finds the plate and the elements on the left; the latter at once where the array's extents are known.
void Resolver::place(std::size_t which, const std::vector<std::size_t>& component) {
    const Relation& relation = written_as(which);
    for (const Use& use : uses_[which].shape) {
        const std::string& name = use.variable->name;
        if (broken_.contains(name)) return;
        if (asks_known_extent(use)) continue;
        const auto defines_it = [&](std::size_t other) { return written_as(other).left.name == name; };
        if (std::none_of(component.begin(), component.end(), defines_it)) continue;
        throw EvaluationProblem{use.variable->place,
                                fmt::format("which elements there are depends on {}, which depends on this relation: "
                                            "write numbers or data here",
                                            shown(name))};
    }
    placed_[which].plate = plates_->of(relation.loops);
    placed_[which].is_empty = placed_[which].plate->rows == 0;
    if (relation.is_stochastic) {  // before anything is made of them
        const Array* given = table.find(relation.left.name);
        require_few_nodes(which, placed_[which].plate->rows - (given == nullptr ? 0 : given->size()));
    }
    if (placed_[which].is_empty || table.places.contains(relation.left.name)) return;
    find_indices(which);
}

/// Throws where so many nodes more were too many.
void Resolver::require_few_nodes(std::size_t which, Index more) const {
    const Index count = unknown_count_ + std::max<Index>(0, more);
    if (count <= static_cast<Index>(options_.most_nodes)) return;
    throw EvaluationProblem{
        written_as(which).left.place,
        fmt::format("with {} the model has {} nodes that are not in the data, which is more than {}: give their values "
                    "as data, or shorten the loop",
                    shown(written_as(which).left.name), count, options_.most_nodes)};
}

void Resolver::check_few_nodes(std::size_t which) {
    try {
        require_few_nodes(which, 0);
    } catch (const EvaluationProblem& problem) {
        problems_.add(problem.place, problem.sentence);
        break_relation(which);
    }
}

/// The indices on the left of an array whose extents come from them.
void Resolver::find_indices(std::size_t which) {
    const Relation& relation = written_as(which);
    const Evaluator evaluator(table, *placed_[which].plate, nullptr, options_.most);
    for (const Expression& index : relation.left.parts) {
        if (index.kind == Expression::Kind::empty) {
            throw EvaluationProblem{
                relation.left.place,
                fmt::format("the extent of {} is not known: write the range, as in {}[1:n], or "
                            "declare it by var before the model",
                            shown(relation.left.name), lrvb::detail::printable(relation.left.name))};
        }
        Columns values = evaluator.values(index);
        for (Index j = 0; j < values.values.cols(); ++j) {
            for (Index i = 0; i < values.values.rows(); ++i) {
                const double value = values.values(i, j);
                if (std::isfinite(value) && value == std::floor(value) && value >= 1.0 &&
                    value <= static_cast<double>(options_.most)) {
                    continue;
                }
                const bool is_large = value > static_cast<double>(options_.most);
                throw EvaluationProblem{
                    index.place,
                    fmt::format(
                        "the index of {} is {}{}, but {}", shown(relation.left.name), value,
                        values.values.rows() == 1 ? "" : round_text(*placed_[which].plate, static_cast<std::size_t>(i)),
                        is_large ? fmt::format("may not be more than {}", options_.most)
                                 : "must be a whole number from 1 on")};
            }
        }
        placed_[which].indices.push_back(std::move(values));
    }
}

/// `x <- y` and `x ~ dmnorm(m, P)` without indices: x is as the right side is.
bool Resolver::infer_from_right(std::size_t which) {
    const Relation& relation = written_as(which);
    const Expression* like = &relation.right;
    if (relation.is_stochastic) {
        const DistributionWord* word = find_distribution(relation.right.name);
        const bool is_array = word != nullptr && word->is_multivariate && !relation.right.parts.empty();
        if (!is_array) return false;
        like = &relation.right.parts[0];
    }
    if (uses_[which].has(relation.left.name)) return false;
    for (const Use& use : uses_[which].value) {
        if (!table.places.contains(use.variable->name)) return false;
    }
    try {
        const Evaluator evaluator(table, *placed_[which].plate, nullptr, options_.most);
        allocate(relation.left.name, evaluator.dims(*like), relation.left.name_place);
        return true;
    } catch (const RaggedRows&) {
        return false;
    } catch (const EvaluationProblem&) {
        return false;  // it is said when the right side is computed
    }
}

/// Once all relations that define an array are placed, its extents are known.
void Resolver::allocate_if_whole(const std::string& name) {
    const std::vector<std::size_t>& definers = definers_.at(name);
    if (broken_.contains(name)) return;
    const auto is_open = [&](std::size_t which) { return placed_[which].plate == nullptr; };
    if (std::any_of(definers.begin(), definers.end(), is_open)) return;
    const auto is_done = [&](std::size_t which) {
        return placed_[which].is_empty || placed_[which].relation != kNotPlaced;
    };
    if (std::all_of(definers.begin(), definers.end(), is_done)) return;
    const auto first =
        std::find_if(definers.begin(), definers.end(), [&](std::size_t which) { return !placed_[which].is_empty; });
    if (!table.places.contains(name)) {
        const Expression& left = written_as(*first).left;
        const bool is_inferred = !left.has_brackets && definers.size() == 1 && infer_from_right(*first);
        std::vector<Index> dims(left.parts.size(), 1);
        for (const std::size_t which : definers) {
            if (is_inferred || placed_[which].is_empty) continue;
            const Expression& other = written_as(which).left;
            if (other.parts.size() != dims.size()) {
                problems_.add(other.place,
                              fmt::format("{} has {} ind{} here, but {} at {}: give it the same number everywhere",
                                          shown(name), other.parts.size(), other.parts.size() == 1 ? "ex" : "ices",
                                          dims.size(), problems_.source().position(left.place)));
                broken_.insert(name);
                return;
            }
            for (std::size_t d = 0; d < dims.size(); ++d) {
                const Matrix& values = placed_[which].indices[d].values;
                if (values.size() > 0) dims[d] = std::max(dims[d], static_cast<Index>(values.maxCoeff()));
            }
        }
        if (!is_inferred) {
            try {
                allocate(name, std::move(dims), left.name_place);
            } catch (const EvaluationProblem& problem) {
                problems_.add(problem.place, problem.sentence);
                broken_.insert(name);
                return;
            }
        }
    }
    for (const std::size_t which : definers) {
        placed_[which].indices.clear();
        if (!placed_[which].is_empty) define(which);
    }
}

void Resolver::allocate(const std::string& name, std::vector<Index> dims, const Place& place) {
    double size = 1.0;
    for (const Index extent : dims) size *= static_cast<double>(extent);
    if (size == 0.0) {
        throw EvaluationProblem{
            place, fmt::format("{} would have no elements: in a:b, b must not be less than a", shown(name))};
    }
    if (size > static_cast<double>(options_.most)) {
        throw EvaluationProblem{
            place, fmt::format("{} has {} elements, which is more than {}", shown(name), size, options_.most)};
    }
    Array array;
    array.name = name;
    array.dims = std::move(dims);
    array.place = place;
    const auto count = static_cast<std::size_t>(size);
    array.states.assign(count, State::undefined);
    array.values.assign(count, std::numeric_limits<double>::quiet_NaN());
    table.places.emplace(name, table.arrays.size());
    table.arrays.push_back(std::move(array));
    table.is_all_known.push_back(0);
    known_counts_.push_back(0);
}

void Resolver::define(std::size_t which) {
    const Relation& relation = written_as(which);
    GraphRelation made;
    made.syntax = &relation;
    made.plate = placed_[which].plate;
    try {
        made.left = Evaluator(table, *made.plate, nullptr, options_.most).reference(relation.left);
    } catch (const EvaluationProblem& problem) {
        problems_.add(problem.place, problem.sentence);
        break_relation(which);
        return;
    } catch (const RaggedRows&) {
        problems_.add(relation.left.place,
                      "the left side has different numbers of elements in different rounds of the loop: write a loop "
                      "over its elements");
        break_relation(which);
        return;
    }
    if (made.left.elements.cols() == 0) {
        problems_.add(relation.left.place, no_elements(relation.left, "the left side of a relation"));
        break_relation(which);
        return;
    }
    placed_[which].relation = relations.size();
    relations.push_back(std::move(made));
    const Reference& left = relations.back().left;
    Array& array = table.arrays[left.array];
    if (array.relations.empty()) {
        array.relations.assign(array.states.size(), Array::kNone);
        array.rows.assign(array.states.size(), 0);
    }
    for (Index row = 0; row < relations.back().rows(); ++row) {
        for (Index j = 0; j < left.elements.cols(); ++j) {
            const Index element = left.at(row, j);
            const auto e = static_cast<std::size_t>(element);
            if (array.relations[e] != Array::kNone) {
                say_defined_twice(which, element, static_cast<std::uint32_t>(row));
                break_relation(which);
                return;
            }
            if (!relation.is_stochastic && array.states[e] == State::data) {
                problems_.add(relation.left.place,
                              fmt::format("{} is given as data, but is defined by <- here: remove it from the data, or "
                                          "give the relation another name",
                                          shown(array.element_name(element))));
                break_relation(which);
                return;
            }
            array.relations[e] = static_cast<std::int32_t>(which);
            array.rows[e] = static_cast<std::uint32_t>(row);
        }
    }
    if (!relation.is_stochastic) return;
    for (Index row = 0; row < relations.back().rows(); ++row) {
        for (Index j = 0; j < left.elements.cols(); ++j) {
            const Index element = left.at(row, j);
            const bool is_given = array.states[static_cast<std::size_t>(element)] == State::data;
            if (is_given && std::isnan(array.values[static_cast<std::size_t>(element)])) {
                problems_.add(relation.left.place,
                              fmt::format("{} is not a number: look at what the data block computes it from",
                                          shown(array.element_name(element))));
                break_relation(which);
                return;
            }
            set_state(left.array, element, is_given ? State::observed : State::unobserved);
        }
    }
    check_few_nodes(which);
}

void Resolver::say_defined_twice(std::size_t which, Index element, std::uint32_t row) {
    const Relation& relation = written_as(which);
    const Array& array = *table.find(relation.left.name);
    const auto e = static_cast<std::size_t>(element);
    const auto other = static_cast<std::size_t>(array.relations[e]);
    const std::string name = shown(array.element_name(element));
    const std::vector<std::string>& indices = placed_[which].plate->indices;
    if (other != which) {
        const bool is_transformed = relation.is_stochastic && !written_as(other).is_stochastic;  // as in WinBUGS
        problems_.add(
            relation.left.place,
            fmt::format("{} is defined twice, here and at {}: every node has one relation; {}", name,
                        problems_.source().position(written_as(other).left.place),
                        is_transformed ? "what is computed from data by <- goes into a block data { … } before "
                                         "the model, and has its ~ here"
                                       : "remove one, or give one another name"));
        return;
    }
    (void)row;
    if (indices.empty()) {
        problems_.add(relation.left.place, fmt::format("{} is defined twice by this relation", name));
        return;
    }
    std::string missing;
    for (const std::string& index : indices) {
        const std::vector<Use> uses = uses_of(relation.left, {});
        const bool is_used =
            std::any_of(uses.begin(), uses.end(), [&](const Use& use) { return use.variable->name == index; });
        if (!is_used) missing += (missing.empty() ? "" : ", ") + index;
    }
    problems_.add(
        relation.left.place,
        missing.empty()
            ? fmt::format("{} is defined more than once by the rounds of this loop", name)
            : fmt::format("{} is defined in every round of the loop over {}: write an index, as in {}[{}], or "
                          "move the relation out of the loop",
                          name, lrvb::detail::printable(missing), lrvb::detail::printable(relation.left.name),
                          lrvb::detail::printable(missing)));
}

void Resolver::set_state(std::size_t array, Index element, State state) {
    State& current = table.arrays[array].states[static_cast<std::size_t>(element)];
    const auto is_unknown = [](State one) { return one == State::unobserved || one == State::deterministic; };
    unknown_count_ += (is_unknown(state) ? 1 : 0) - (is_unknown(current) ? 1 : 0);
    known_counts_[array] += (bugs::is_known(state) ? 1 : 0) - (bugs::is_known(current) ? 1 : 0);
    current = state;
    table.is_all_known[array] = known_counts_[array] == table.arrays[array].size() ? 1 : 0;
}

}  // namespace lrvb::bugs
