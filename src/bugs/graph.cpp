#include "base/messages.hpp"
#include "bugs/functions.hpp"
#include "bugs/resolver.hpp"

#include <lrvb/bugs/graph.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <stdexcept>

namespace lrvb::bugs {

namespace {

using lrvb::detail::shown;

void add_to(Table& table, Array array) {
    const Index known = array.count(State::data);
    table.is_all_known.push_back(known == array.size() ? 1 : 0);
    table.places.emplace(array.name, table.arrays.size());
    table.arrays.push_back(std::move(array));
}

Array array_of(const DataArray& data) {
    Array array;
    array.name = data.name;
    array.dims = data.dims;
    array.values = data.values;
    array.levels = data.levels;
    array.states.reserve(data.values.size());
    for (const double value : data.values) array.states.push_back(std::isnan(value) ? State::undefined : State::data);
    return array;
}

/// Every name that a block uses or defines.
std::set<std::string> names_in(const Block& block) {
    std::set<std::string> names;
    for (const Relation& relation : block.relations) {
        names.insert(relation.left.name);
        const Uses uses = uses_of(relation, block);
        for (const std::vector<Use>* list : {&uses.shape, &uses.value}) {
            for (const Use& use : *list) names.insert(use.variable->name);
        }
    }
    return names;
}

}  // namespace

std::vector<Index> Array::indices(Index element) const {
    std::vector<Index> result;
    for (const Index extent : dims) {
        result.push_back(element % extent + 1);
        element /= extent;
    }
    return result;
}

std::string Array::element_name(Index element) const {
    if (dims.empty()) return name;
    std::string text = name;
    char separator = '[';
    for (const Index index : indices(element)) {
        text += fmt::format("{}{}", separator, index);
        separator = ',';
    }
    return text + ']';
}

Index Array::count(State state) const {
    return static_cast<Index>(std::count(states.begin(), states.end(), state));
}

class Graph::Implementation {
  public:
    Implementation(Syntax syntax, Data data, const GraphOptions& options)
        : syntax_(std::make_unique<Syntax>(std::move(syntax))), data_(std::move(data)), options_(options) {
        Diagnostics problems(syntax_->source);
        find_unused();
        if (syntax_->data) compute_data(problems);
        problems.require_none();
        const std::set<std::string> names = names_in(syntax_->model);
        Table known;
        for (const DataArray& array : data_.arrays()) {
            if (!names.contains(array.name)) continue;
            Array own = array_of(array);
            // What the data block computed is known, also where it is no number.
            if (const auto infinite = infinite_.find(array.name); infinite != infinite_.end()) {
                for (const std::size_t element : infinite->second) own.states[element] = State::data;
            }
            add_to(known, std::move(own));
        }
        declare(known, names, problems);
        std::set<std::string> infinite;
        for (const auto& [name, elements] : infinite_) infinite.insert(name);
        Resolver resolver(syntax_->model, std::move(known), std::move(infinite), problems, options_);
        resolver.run();
        if (!problems.empty()) hint_at_ranges(problems);
        problems.require_none();
        take(resolver);
        Diagnostics notes(syntax_->source);
        note_single_rounds(notes);
        note_standard_deviations(notes);
        notes_ = notes.take();
    }

    const Relation* block_begin() const { return syntax_->model.relations.data(); }

    Evaluator evaluator(const GraphRelation& relation, const Rows* rows) const {
        return {table_, *relation.plate, rows, options_.most};
    }

    /// Problems of an expression, as errors of the model.
    template <class Call>
    auto said(Call call) const {
        try {
            return call();
        } catch (const EvaluationProblem& problem) {
            Diagnostics problems(syntax_->source);
            problems.add(problem.place, problem.sentence);
            throw ModelError(problems.take());
        } catch (const RaggedRows& ragged) {
            Diagnostics problems(syntax_->source);
            problems.add(ragged.place, "this has different numbers of elements in different rounds of the loop");
            throw ModelError(problems.take());
        }
    }

    std::unique_ptr<Syntax> syntax_;  // relations point into it
    Data data_;
    GraphOptions options_;
    Table table_;
    std::vector<GraphRelation> relations_;
    std::vector<Step> steps_;
    std::vector<Diagnostic> notes_;
    std::vector<std::string> unused_;
    /// By the name of an array, elements that the data block computed, and that are no finite numbers.
    std::map<std::string, std::vector<std::size_t>> infinite_;

  private:
    void find_unused() {
        std::set<std::string> names = names_in(syntax_->model);
        if (syntax_->data) names.merge(names_in(*syntax_->data));
        for (const Declaration& declaration : syntax_->declarations) {
            for (const Expression& extent : declaration.dimensions) {
                for (const Use& use : uses_of(extent, {})) names.insert(use.variable->name);
            }
        }
        for (const DataArray& array : data_.arrays()) {
            if (!names.contains(array.name)) unused_.push_back(array.name);
        }
    }

    void compute_data(Diagnostics& problems) {
        const std::set<std::string> names = names_in(*syntax_->data);
        Table known;
        for (const DataArray& array : data_.arrays()) {
            if (names.contains(array.name)) add_to(known, array_of(array));
        }
        declare(known, names, problems);
        Resolver resolver(*syntax_->data, std::move(known), {}, problems, options_);
        resolver.run();
        if (!problems.empty()) return;
        for (const Array& array : resolver.table.arrays) {
            if (array.count(State::constant) == 0) continue;
            for (std::size_t i = 0; i < array.states.size(); ++i) {
                const bool is_infinite = array.states[i] == State::constant && !std::isfinite(array.values[i]);
                if (is_infinite) infinite_[array.name].push_back(i);
            }
            data_.add({array.name, array.dims, array.values, "data block", {}});
        }
    }

    /// Extents by `var`, of arrays that have none from the data.
    void declare(Table& known, const std::set<std::string>& names, Diagnostics& problems) {
        Table all;
        for (const Declaration& declaration : syntax_->declarations) {
            for (const Expression& extent : declaration.dimensions) {
                for (const Use& use : uses_of(extent, {})) {
                    const DataArray* data = data_.find(use.variable->name);
                    if (data != nullptr && !all.places.contains(data->name)) add_to(all, array_of(*data));
                }
            }
        }
        const Plate plate;
        for (const Declaration& declaration : syntax_->declarations) {
            try {
                std::vector<Index> dims = extents_by(declaration, Evaluator(all, plate, nullptr, options_.most));
                const Array* given = known.find(declaration.name);
                if (given != nullptr) {
                    require_same(declaration, dims, *given);
                } else if (names.contains(declaration.name) && !declaration.dimensions.empty()) {
                    declare(known, declaration, std::move(dims));
                }
            } catch (const EvaluationProblem& problem) {
                problems.add(problem.place, problem.sentence);
            }
        }
    }

    static std::vector<Index> extents_by(const Declaration& declaration, const Evaluator& evaluator) {
        std::vector<Index> dims;
        for (const Expression& extent : declaration.dimensions) {
            for (const Use& use : uses_of(extent, {})) {
                if (evaluator.table().places.contains(use.variable->name)) continue;
                throw EvaluationProblem{use.variable->name_place,
                                        fmt::format("{} is not in the data: an extent by var is a number, or data",
                                                    shown(use.variable->name))};
            }
            const Columns value = evaluator.values(extent);
            const bool is_extent =
                value.is_scalar() && value.at(0) >= 1.0 && value.at(0) == std::floor(value.at(0)) && value.at(0) < 1e15;
            if (!is_extent) {
                throw EvaluationProblem{extent.place,
                                        fmt::format("an extent of {} is {}, but must be a whole number from "
                                                    "1 on",
                                                    shown(declaration.name), value.at(0))};
            }
            dims.push_back(static_cast<Index>(value.at(0)));
        }
        return dims;
    }

    static void require_same(const Declaration& declaration, const std::vector<Index>& dims, const Array& given) {
        const bool is_one = size_of(dims) == 1 && given.size() == 1;
        if (dims == given.dims || is_one) return;
        throw EvaluationProblem{declaration.place,
                                fmt::format("{} is declared as {}, but is {} in the data: correct one of them",
                                            shown(declaration.name), extents_text(dims), extents_text(given.dims))};
    }

    static std::string extents_text(const std::vector<Index>& dims) {
        if (dims.empty()) return "one number";
        std::string text;
        for (const Index extent : dims) text += fmt::format("{}{}", text.empty() ? "" : " × ", extent);
        return text;
    }

    void declare(Table& known, const Declaration& declaration, std::vector<Index> dims) {
        double size = 1.0;
        for (const Index extent : dims) size *= static_cast<double>(extent);
        if (size > static_cast<double>(options_.most)) {
            throw EvaluationProblem{declaration.place, fmt::format("{} has {} elements, which is more than {}",
                                                                   shown(declaration.name), size, options_.most)};
        }
        Array array;
        array.name = declaration.name;
        array.dims = std::move(dims);
        array.place = declaration.place;
        array.states.assign(static_cast<std::size_t>(size), State::undefined);
        array.values.assign(static_cast<std::size_t>(size), std::nan(""));
        add_to(known, std::move(array));
    }

    /// Relations in the order of the text, and everything that speaks of them by their numbers.
    void take(Resolver& resolver) {
        table_ = std::move(resolver.table);
        relations_ = std::move(resolver.relations);
        std::sort(relations_.begin(), relations_.end(),
                  [](const GraphRelation& a, const GraphRelation& b) { return a.syntax < b.syntax; });
        std::vector<std::size_t> numbers(syntax_->model.relations.size(), 0);
        for (std::size_t i = 0; i < relations_.size(); ++i) {
            numbers[static_cast<std::size_t>(relations_[i].syntax - block_begin())] = i;
        }
        for (Array& array : table_.arrays) {
            array.relations.resize(array.states.size(), Array::kNone);
            array.rows.resize(array.states.size(), 0);
            for (std::int32_t& number : array.relations) {
                if (number == Array::kNone) continue;
                number = static_cast<std::int32_t>(numbers[static_cast<std::size_t>(number)]);
            }
        }
        for (Step& step : resolver.steps) step.relation = numbers[step.relation];
        steps_ = std::move(resolver.steps);
    }

    /// Where something is wrong anyway, 1:N-1 may be why.
    void hint_at_ranges(Diagnostics& problems) const {
        for (const Loop& loop : syntax_->model.loops) {
            if (const std::string hint = hint_at_range(loop.range); !hint.empty()) problems.add(loop.range.place, hint);
        }
    }

    /// Normal distributions have precisions in BUGS, and sds elsewhere.
    void note_standard_deviations(Diagnostics& notes) const {
        for (const GraphRelation& relation : relations_) {
            const Expression& right = relation.syntax->right;
            if (!relation.is_stochastic() || (right.name != "dnorm" && right.name != "dlnorm")) continue;
            const Expression& precision = right.parts[1];
            const bool is_sd = precision.kind == Expression::Kind::variable &&
                               (precision.name.starts_with("sigma") || precision.name.starts_with("sd"));
            if (!is_sd) continue;
            notes.add(precision.place,
                      fmt::format("the second parameter of {} is a precision, one over the variance: if "
                                  "{} is a standard deviation, write pow({}, -2)",
                                  right.name, shown(precision.name), written(precision)));
        }
    }

    void note_single_rounds(Diagnostics& notes) const {
        for (const Loop& loop : syntax_->model.loops) {
            const bool is_number = loop.range.kind == Expression::Kind::number;
            const Array* array = loop.range.kind == Expression::Kind::variable ? table_.find(loop.range.name) : nullptr;
            const bool is_single = is_number || (array != nullptr && array->size() == 1);
            if (!is_single) continue;
            const std::string bound = written(loop.range);
            notes.add(loop.range.place,
                      fmt::format("this loop has one round, for {} = {}: write 1:{} for all from 1 on",
                                  lrvb::detail::printable(loop.index), lrvb::detail::printable(bound),
                                  lrvb::detail::printable(bound)));
        }
    }
};

Graph::Graph(Syntax syntax, Data data, const GraphOptions& options)
    : implementation_(std::make_unique<Implementation>(std::move(syntax), std::move(data), options)) {}
Graph::~Graph() = default;
Graph::Graph(Graph&&) noexcept = default;
Graph& Graph::operator=(Graph&&) noexcept = default;

const Syntax& Graph::syntax() const {
    return *implementation_->syntax_;
}
const Data& Graph::data() const {
    return implementation_->data_;
}
const std::vector<Array>& Graph::arrays() const {
    return implementation_->table_.arrays;
}
const Array* Graph::find(std::string_view name) const {
    return implementation_->table_.find(name);
}
const std::vector<GraphRelation>& Graph::relations() const {
    return implementation_->relations_;
}
const std::vector<Step>& Graph::steps() const {
    return implementation_->steps_;
}
const std::vector<Diagnostic>& Graph::notes() const {
    return implementation_->notes_;
}
const std::vector<std::string>& Graph::unused_data() const {
    return implementation_->unused_;
}

bool Graph::is_loop_index(std::string_view name, const GraphRelation& relation) const {
    return implementation_->evaluator(relation, nullptr).is_loop_index(name);
}

std::vector<bool> Graph::known(const Expression& expression, const GraphRelation& relation, const Rows* rows) const {
    return implementation_->said([&] { return implementation_->evaluator(relation, rows).known(expression); });
}

bool Graph::is_known(const Expression& expression, const GraphRelation& relation, const Rows* rows) const {
    return implementation_->said([&] { return implementation_->evaluator(relation, rows).is_known(expression); });
}

Columns Graph::values(const Expression& expression, const GraphRelation& relation, const Rows* rows) const {
    return implementation_->said([&] {
        Columns values = implementation_->evaluator(relation, rows).values(expression);
        if (!values.values.hasNaN()) return values;
        throw EvaluationProblem{
            expression.place,
            fmt::format("{} is not a number here: look at what it is computed from", shown(written(expression)))};
    });
}

Reference Graph::reference(const Expression& variable, const GraphRelation& relation, const Rows* rows) const {
    if (variable.kind != Expression::Kind::variable || is_loop_index(variable.name, relation)) {
        throw std::invalid_argument(fmt::format("bugs::Graph::reference: {} is no array", written(variable)));
    }
    return implementation_->said([&] { return implementation_->evaluator(relation, rows).reference(variable); });
}

std::vector<Index> Graph::dims(const Expression& expression, const GraphRelation& relation, const Rows* rows) const {
    return implementation_->said([&] { return implementation_->evaluator(relation, rows).dims(expression); });
}

bool Graph::is_ragged(const Expression& variable, const GraphRelation& relation, const Rows* rows) const {
    return implementation_->said([&] {
        try {
            implementation_->evaluator(relation, rows).dims(variable);
            return false;
        } catch (const RaggedRows&) {
            return true;
        }
    });
}

}  // namespace lrvb::bugs
