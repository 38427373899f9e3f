#include "bugs/evaluator.hpp"

#include "base/messages.hpp"
#include "bugs/functions.hpp"
#include "bugs/tree.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace lrvb::bugs {

namespace {

using lrvb::detail::shown;

bool is_whole(double value) {
    return std::isfinite(value) && value == std::floor(value) && std::abs(value) < 1e15;
}

Columns number_columns(double value) {
    return {{}, Matrix::Constant(1, 1, value)};
}

}  // namespace

const Array* Table::find(std::string_view name) const {
    const auto found = places.find(std::string(name));
    return found == places.end() ? nullptr : &arrays[found->second];
}

bool Evaluator::is_loop_index(std::string_view name) const {
    return std::find(plate_.indices.begin(), plate_.indices.end(), name) != plate_.indices.end();
}

Rows Evaluator::row_numbers() const {
    if (rows_ != nullptr) return *rows_;
    Rows all(static_cast<std::size_t>(plate_.rows));
    std::iota(all.begin(), all.end(), 0U);
    return all;
}

/// "for i = 3, j = 2".
std::string Evaluator::row_text(Index row) const {
    if (plate_.indices.empty()) return "";
    const std::size_t number =
        rows_ == nullptr ? static_cast<std::size_t>(row) : (*rows_)[static_cast<std::size_t>(row)];
    std::string text = " for ";
    for (std::size_t i = 0; i < plate_.indices.size(); ++i) {
        text += fmt::format("{}{} = {}", i > 0 ? ", " : "", lrvb::detail::printable(plate_.indices[i]),
                            plate_.values[i][number]);
    }
    return text;
}

void Evaluator::require_size(Index rows, Index columns, const Place& place) const {
    if (static_cast<double>(rows) * static_cast<double>(columns) <= static_cast<double>(most_)) return;
    throw EvaluationProblem{place, fmt::format("this has more than {} numbers: shorten it", most_)};
}

Columns Evaluator::values(const Expression& expression) const {
    try {
        return values_at_once(expression);
    } catch (const RaggedRows&) {
        Columns result;
        Index row = 0;
        for (const std::uint32_t number : row_numbers()) {
            const Rows one{number};
            Columns part = Evaluator(table_, plate_, &one, most_).values_at_once(expression);
            if (row == 0) {
                result.dims = part.dims;
                require_size(rows(), part.values.cols(), expression.place);
                result.values.resize(rows(), part.values.cols());
            }
            if (part.values.cols() != result.values.cols()) throw RaggedRows{expression.place};
            result.values.row(row++) = part.values.row(0);
        }
        return result;
    }
}

Columns Evaluator::values_at_once(const Expression& expression) const {
    return folded<Columns>(
        expression, [&](const Expression& node) { return values_of_leaf(node); },
        [&](const Expression& node, std::vector<Columns> parts) {
            return node.kind == Expression::Kind::range ? range(node, parts) : call(node, parts);
        });
}

/// Of all but ranges and calls, which are made of their parts.
std::optional<Columns> Evaluator::values_of_leaf(const Expression& expression) const {
    switch (expression.kind) {
        case Expression::Kind::number:
            return number_columns(expression.number);
        case Expression::Kind::range:
            return std::nullopt;
        case Expression::Kind::call:
            return values_of_extents(expression);
        case Expression::Kind::empty:
            throw EvaluationProblem{expression.place, "a value is missing here"};
        case Expression::Kind::variable:
            break;
    }
    for (std::size_t i = plate_.indices.size(); i-- > 0;) {
        if (plate_.indices[i] != expression.name) continue;
        if (expression.has_brackets) {
            throw EvaluationProblem{expression.place, fmt::format("{} is the index of a loop: it has no indices itself",
                                                                  shown(expression.name))};
        }
        return loop_column(i);
    }
    const Reference found = reference(expression);
    require_values(found, expression);
    const Array& array = table_.arrays[found.array];
    Columns result;
    result.dims = found.dims;
    result.values.resize(found.elements.rows(), found.elements.cols());
    for (Index j = 0; j < found.elements.cols(); ++j) {
        for (Index i = 0; i < found.elements.rows(); ++i) {
            result.values(i, j) = array.values[static_cast<std::size_t>(found.elements(i, j))];
        }
    }
    return result;
}

Columns Evaluator::loop_column(std::size_t loop) const {
    const std::vector<double>& all = plate_.values[loop];
    Columns result;
    result.values.resize(rows(), 1);
    for (Index i = 0; i < rows(); ++i) {
        const std::size_t number =
            rows_ == nullptr ? static_cast<std::size_t>(i) : (*rows_)[static_cast<std::size_t>(i)];
        result.values(i, 0) = all[number];
    }
    return result;
}

void Evaluator::require_values(const Reference& found, const Expression& variable) const {
    const Array& array = table_.arrays[found.array];
    if (!found.variable_indices.empty()) {
        throw EvaluationProblem{variable.place, fmt::format("{} must be known here, but its index is a variable of the "
                                                            "model",
                                                            shown(variable.name))};
    }
    if (table_.is_all_known[found.array] != 0) return;
    for (Index j = 0; j < found.elements.cols(); ++j) {
        for (Index i = 0; i < found.elements.rows(); ++i) {
            const auto element = static_cast<std::size_t>(found.elements(i, j));
            if (bugs::is_known(array.states[element])) continue;
            const std::string name = array.element_name(static_cast<Index>(element));
            const bool is_undefined = array.states[element] == State::undefined;
            throw EvaluationProblem{
                variable.place,
                fmt::format("{} must be known here, but {}", shown(name),
                            is_undefined
                                ? "has no value: it is NA, or nothing defines it"
                                : "it is a variable of the model: only data and what is computed from them can "
                                  "stand here")};
        }
    }
}

/// How many numbers it has in every row. Throws RaggedRows where rows differ.
Index Evaluator::length_of_range(const Expression& expression, const Columns& from, const Columns& to) const {
    if (!from.is_scalar() || !to.is_scalar()) {
        throw EvaluationProblem{expression.place, "the ends of a range are single numbers"};
    }
    const Index lines = std::max(from.values.rows(), to.values.rows());
    const auto length = [&](Index i) { return to.at(i) - from.at(i) + 1.0; };
    for (Index i = 0; i < lines; ++i) {
        if (!is_whole(from.at(i)) || !is_whole(to.at(i))) {
            const bool is_from = !is_whole(from.at(i));
            const double end = is_from ? from.at(i) : to.at(i);
            const bool is_large = std::isfinite(end) && end == std::floor(end);
            throw EvaluationProblem{expression.parts[is_from ? 0 : 1].place,
                                    fmt::format("the end of a range is {}, but must be {}{}", end,
                                                is_large ? "smaller" : "a whole number", row_text(i))};
        }
        if (length(i) != length(0)) throw RaggedRows{expression.place};
    }
    const double count = lines == 0 ? 0.0 : std::max(0.0, length(0));
    if (count > static_cast<double>(most_)) require_size(1, static_cast<Index>(1e15), expression.place);
    return static_cast<Index>(count);
}

Columns Evaluator::range(const Expression& expression, const std::vector<Columns>& ends) const {
    const Columns& from = ends[0];
    const Index size = length_of_range(expression, from, ends[1]);
    const Index lines = std::max(from.values.rows(), ends[1].values.rows());
    require_size(lines, size, expression.place);
    Columns result;
    result.dims = {size};
    result.values.resize(lines, size);
    for (Index j = 0; j < size; ++j) {
        for (Index i = 0; i < lines; ++i) result.values(i, j) = from.at(i) + static_cast<double>(j);
    }
    return result;
}

/// length(x) and dim(x), which ask for no values.
std::optional<Columns> Evaluator::values_of_extents(const Expression& call) const {
    const bool is_length = call.name == "length";
    if (!is_length && call.name != "dim") return std::nullopt;
    const std::vector<Index> extents = dims(call.parts[0]);
    if (is_length) return number_columns(static_cast<double>(size_of(extents)));
    Columns result;
    result.dims = {std::max<Index>(1, static_cast<Index>(extents.size()))};
    result.values = Matrix::Ones(1, result.dims[0]);
    for (std::size_t i = 0; i < extents.size(); ++i) {
        result.values(0, static_cast<Index>(i)) = static_cast<double>(extents[i]);
    }
    return result;
}

/// An empty range may be an argument of c(…) alone.
void Evaluator::require_elements(const Expression& call, std::size_t argument, Index size) const {
    if (size > 0 || call.name == "c") return;
    throw EvaluationProblem{call.parts[argument].place, no_elements(call.parts[argument], shown(call.name))};
}

Columns Evaluator::call(const Expression& expression, const std::vector<Columns>& arguments) const {
    for (std::size_t i = 0; i < arguments.size(); ++i) require_elements(expression, i, arguments[i].values.cols());
    try {
        require_size_of(expression, arguments);
        return apply_function(expression.name, arguments);
    } catch (const FunctionProblem& problem) {
        throw EvaluationProblem{expression.place, problem.sentence};
    }
}

/// Before it is made.
void Evaluator::require_size_of(const Expression& call, const std::vector<Columns>& arguments) const {
    Index lines = 1;
    for (const Columns& argument : arguments) lines = std::max(lines, argument.values.rows());
    if (call.name == "rep") {
        double count = arguments[1].values.row(0).cwiseAbs().sum();
        if (arguments[1].is_scalar()) count *= static_cast<double>(arguments[0].values.cols());
        const bool is_small = count * static_cast<double>(lines) <= static_cast<double>(most_);
        if (!is_small)
            throw EvaluationProblem{call.place, fmt::format("this has more than {} numbers: shorten it", most_)};
        return;
    }
    std::vector<std::vector<Index>> extents;
    extents.reserve(arguments.size());
    for (const Columns& argument : arguments) extents.push_back(argument.dims);
    require_size(lines, size_of(extents_of(call.name, extents)), call.place);
}

std::size_t Evaluator::array_of(const Expression& variable) const {
    const auto found = table_.places.find(variable.name);
    if (found != table_.places.end()) return found->second;
    throw EvaluationProblem{variable.name_place,
                            fmt::format("{} is used here, but is not known yet", shown(variable.name))};
}

std::string no_elements(const Expression& empty, const std::string& where) {
    return fmt::format("{} has no elements, but {} needs at least one: {}", shown(written(empty)), where,
                       empty.kind == Expression::Kind::range ? "in a:b, b must not be less than a"
                                                             : "look at its indices and at the data");
}

std::string hint_at_range(const Expression& range) {
    const bool is_sum = range.is_call("-") || range.is_call("+");
    if (!is_sum || range.parts.size() != 2 || range.parts[0].kind != Expression::Kind::range) return "";
    const Expression& inner = range.parts[0];
    return fmt::format("this is ({}) {} {}: write {}:({} {} {}) if the last bound is meant", written(inner), range.name,
                       written(range.parts[1]), written(inner.parts[0]), written(inner.parts[1]), range.name,
                       written(range.parts[1]));
}

Evaluator::Position Evaluator::position(const Expression& index, const Expression& variable, Index extent,
                                        std::size_t number) const {
    Position result;
    if (index.kind == Expression::Kind::empty) {
        if (extent == 0) throw EvaluationProblem{variable.place, no_elements(variable, "this place")};
        require_size(1, extent, variable.place);
        result.values.dims = {extent};
        result.values.values.resize(1, extent);
        for (Index j = 0; j < extent; ++j) result.values.values(0, j) = static_cast<double>(j + 1);
        return result;
    }
    if (!is_known(index)) {
        result.variable = &index;
        result.is_dropped = true;
        result.values = number_columns(1.0);
        if (size_of(dims(index)) != 1) {
            throw EvaluationProblem{index.place, "an index that is a variable of the model must be a single one"};
        }
        return result;
    }
    result.values = values_at_once(index);
    if (result.values.values.cols() == 0) {
        throw EvaluationProblem{index.place, no_elements(index, fmt::format("an index of {}", shown(variable.name)))};
    }
    result.is_dropped = result.values.dims.empty();
    const Matrix& values = result.values.values;
    for (Index j = 0; j < values.cols(); ++j) {
        for (Index i = 0; i < values.rows(); ++i) {
            if (values(i, j) >= 1.0 && values(i, j) <= static_cast<double>(extent) && is_whole(values(i, j))) continue;
            const bool has_one = table_.find(variable.name)->dims.size() < 2;
            const std::string which = has_one ? "index" : fmt::format("{}. index", number + 1);
            const std::string rounds = values.rows() == 1 && rows() != 1 ? "" : row_text(i);
            if (!is_whole(values(i, j))) {
                throw EvaluationProblem{index.place, fmt::format("the {} of {} is {}, but must be a whole number{}",
                                                                 which, shown(variable.name), values(i, j), rounds)};
            }
            const std::string hint = hint_at_range(index);
            throw EvaluationProblem{
                index.place, fmt::format("the {} of {} is {}{}, but goes from 1 to {}{}{}", which, shown(variable.name),
                                         values(i, j), rounds, extent, hint.empty() ? "" : ": ", hint)};
        }
    }
    return result;
}

Reference Evaluator::reference(const Expression& variable) const {
    Reference result;
    result.array = array_of(variable);
    const Array& array = table_.arrays[result.array];
    if (!variable.has_brackets) {
        result.dims = array.dims;
        result.elements.resize(1, array.size());
        for (Index j = 0; j < array.size(); ++j) result.elements(0, j) = j;
        return result;
    }
    const std::vector<Index> extents = array.dims.empty() ? std::vector<Index>{1} : array.dims;
    if (variable.parts.size() != extents.size()) {
        throw EvaluationProblem{
            variable.place, fmt::format("{} has {} ind{}, but {} here: write {}[{}]", shown(variable.name),
                                        extents.size(), extents.size() == 1 ? "ex" : "ices", variable.parts.size(),
                                        lrvb::detail::printable(variable.name), std::string(extents.size() - 1, ','))};
    }
    result.elements = IndexMatrix::Zero(1, 1);
    Index stride = 1;
    for (std::size_t d = 0; d < extents.size(); ++d) {
        const Position here = position(variable.parts[d], variable, extents[d], d);
        if (here.variable != nullptr) result.variable_indices.push_back({here.variable, stride, extents[d]});
        if (!here.is_dropped) result.dims.push_back(here.values.values.cols());
        const Index lines = std::max(result.elements.rows(), here.values.values.rows());
        const Index inner = result.elements.cols();
        require_size(lines, inner * here.values.values.cols(), variable.place);
        IndexMatrix elements(lines, inner * here.values.values.cols());
        for (Index k = 0; k < here.values.values.cols(); ++k) {
            for (Index j = 0; j < inner; ++j) {
                for (Index i = 0; i < lines; ++i) {
                    const Index base = result.elements(result.elements.rows() == 1 ? 0 : i, j);
                    elements(i, k * inner + j) = base + stride * (static_cast<Index>(here.values.at(i, k)) - 1);
                }
            }
        }
        result.elements = std::move(elements);
        stride *= extents[d];
    }
    return result;
}

std::vector<Index> Evaluator::dims(const Expression& expression) const {
    using Extents = std::vector<Index>;
    return folded<Extents>(
        expression, [&](const Expression& node) { return dims_of_leaf(node); },
        [&](const Expression& node, const std::vector<Extents>& arguments) {
            for (std::size_t i = 0; i < arguments.size(); ++i) require_elements(node, i, size_of(arguments[i]));
            try {
                return extents_of(node.name, arguments);
            } catch (const FunctionProblem& problem) {
                throw EvaluationProblem{node.place, problem.sentence};
            }
        });
}

/// Of all but calls whose extents follow from those of their arguments.
std::optional<std::vector<Index>> Evaluator::dims_of_leaf(const Expression& expression) const {
    using Extents = std::vector<Index>;
    switch (expression.kind) {
        case Expression::Kind::number:
        case Expression::Kind::empty:
            return Extents{};
        case Expression::Kind::variable:
            if (is_loop_index(expression.name)) return Extents{};
            return expression.has_brackets ? reference(expression).dims : table_.arrays[array_of(expression)].dims;
        case Expression::Kind::range:
            return Extents{
                length_of_range(expression, values_at_once(expression.parts[0]), values_at_once(expression.parts[1]))};
        case Expression::Kind::call:
            break;
    }
    if (expression.is_call("rep")) return values_at_once(expression).dims;
    if (expression.is_call("length")) return Extents{};
    if (!expression.is_call("dim")) return std::nullopt;
    return Extents{static_cast<Index>(std::max<std::size_t>(1, dims(expression.parts[0]).size()))};
}

void Evaluator::each_dims(const Expression& expression,
                          const std::function<void(const std::vector<Index>&)>& visit) const {
    std::optional<std::vector<Index>> whole;
    try {
        whole = dims(expression);
    } catch (const RaggedRows&) {
        for (const std::uint32_t row : row_numbers()) {
            const Rows one{row};
            visit(Evaluator(table_, plate_, &one, most_).dims(expression));
        }
    }
    if (whole) visit(*whole);
}

bool Evaluator::is_known(const Expression& expression) const {
    const std::vector<bool> rows_known = known(expression);
    return std::find(rows_known.begin(), rows_known.end(), false) == rows_known.end();
}

std::vector<bool> Evaluator::known(const Expression& expression) const {
    std::vector<bool> result{true};
    std::vector<const Expression*> waiting{&expression};
    while (!waiting.empty()) {
        const Expression& node = *waiting.back();
        waiting.pop_back();
        if (node.is_call("length") || node.is_call("dim")) continue;
        if (node.kind != Expression::Kind::variable) {
            for (std::size_t i = node.parts.size(); i-- > 0;) waiting.push_back(&node.parts[i]);
            continue;
        }
        const std::vector<bool> rows_known = known_variable(node);
        if (rows_known.size() == 1) {
            if (!rows_known.front()) return {false};
            continue;
        }
        if (result.size() < rows_known.size()) result.resize(rows_known.size(), result.front());
        for (std::size_t i = 0; i < result.size(); ++i) result[i] = result[i] && rows_known[i];
    }
    return result;
}

std::vector<bool> Evaluator::known_variable(const Expression& variable) const {
    if (is_loop_index(variable.name)) return {true};
    std::vector<bool> result{true};
    for (const Expression& index : variable.parts) {
        const std::vector<bool> rows_known = known(index);
        if (result.size() < rows_known.size()) result.resize(rows_known.size(), result.front());
        for (std::size_t i = 0; i < result.size(); ++i) {
            result[i] = result[i] && rows_known[rows_known.size() == 1 ? 0 : i];
        }
    }
    const std::size_t place = array_of(variable);
    if (table_.is_all_known[place] != 0) return result;
    const Rows numbers = row_numbers();
    if (result.size() == 1 && result.front()) {
        // All at once where that can be done.
        try {
            const Reference found = reference(variable);
            const std::vector<State>& states = table_.arrays[place].states;
            if (found.elements.rows() == 0) return result;
            result.assign(static_cast<std::size_t>(found.elements.rows()), true);
            for (Index j = 0; j < found.elements.cols(); ++j) {
                for (Index i = 0; i < found.elements.rows(); ++i) {
                    if (bugs::is_known(states[static_cast<std::size_t>(found.elements(i, j))])) continue;
                    result[static_cast<std::size_t>(i)] = false;
                }
            }
            return result;
        } catch (const RaggedRows&) {
            result.assign(numbers.size(), true);
        }
    }
    if (result.size() == 1) return result;
    Rows some;
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        if (result[i]) some.push_back(numbers[i]);
    }
    if (some.empty()) return {false};
    std::unordered_map<Index, std::size_t> slots;
    for (std::size_t i = 0; i < numbers.size(); ++i) slots.emplace(numbers[i], i);
    const std::vector<State>& states = table_.arrays[place].states;
    Evaluator(table_, plate_, &some, most_).visit_elements(variable, [&](Index row, Index element) {
        if (!bugs::is_known(states[static_cast<std::size_t>(element)])) result[slots.at(row)] = false;
    });
    return result;
}

}  // namespace lrvb::bugs
