#include "kind/model/evaluator.hpp"

#include "base/messages.hpp"
#include "bugs/tree.hpp"

#include <lrvb/base/interruption.hpp>
#include <lrvb/bugs/words.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace lrvb::detail::text {

namespace {

constexpr double kMostTrials = 50.0;  // of a binomial node that is a label
constexpr Index kMostRanked = 100;
constexpr std::size_t kMostKeptRows = 2000;  // of a deterministic relation whose value is kept
constexpr std::size_t kMostKept = 1000;      // such values, and terms in all of them
constexpr std::size_t kMostKeptTerms = 1'000'000;
constexpr std::size_t kMostChainTerms = 15'000'000;  // of all nodes of a chain
constexpr int kDeepestNesting = 8;                   // of deterministic nodes that are computed within each other

std::vector<Index> whole_rows(std::size_t count) {
    std::vector<Index> rows(count);
    for (std::size_t n = 0; n < count; ++n) rows[n] = static_cast<Index>(n);
    return rows;
}

Index size_of(const std::vector<Index>& dims) {
    Index size = 1;
    for (const Index extent : dims) size *= extent;
    return size;
}

NumberColumn column_of(const bugs::Columns& columns, Index element) {
    return columns.values.col(element);
}

std::string inverse_link(const std::string& link) {
    return link == "log" ? "exp" : link == "logit" ? "ilogit" : link == "probit" ? "phi" : "icloglog";
}

Choice sum_of(const std::vector<Choice>& choices) {
    if (choices.empty()) return constant_choice(NumberColumn::Zero(1));
    Choice result = choices.front();
    for (std::size_t i = 1; i < choices.size(); ++i) {
        if (result.selectors.empty() && choices[i].selectors.empty()) {
            add_to(result.alternatives.front(), choices[i].only());
        } else {
            result = applied("+", {result, choices[i]});
        }
    }
    return result;
}

/// What a step makes too large is refused at its place.
template <class Step>
auto within_limits(const bugs::Place& place, Step step) {
    try {
        return step();
    } catch (const TooLarge& error) {
        throw Refused(place, error.what());
    }
}

}  // namespace

void require_alike(const std::vector<std::int64_t>& classes) {
    if (classes.empty()) return;
    if (std::ranges::all_of(classes, [&](std::int64_t one) { return one == classes.front(); })) return;
    std::map<std::int64_t, std::vector<Index>> groups;
    for (std::size_t n = 0; n < classes.size(); ++n) groups[classes[n]].push_back(static_cast<Index>(n));
    SplitRows split;
    for (auto& [name, rows] : groups) split.groups.push_back(std::move(rows));
    throw split;
}

Evaluator::Evaluator(const bugs::Graph& graph) : graph_(graph) {}

const std::string& Evaluator::distribution(std::size_t array, Index element) const {
    const bugs::Array& own = graph_.arrays()[array];
    const auto relation = static_cast<std::size_t>(own.relations[static_cast<std::size_t>(element)]);
    return graph_.relations()[relation].syntax->right.name;
}

Index Evaluator::labels(std::size_t array, Index element) const {
    const bugs::Array& own = graph_.arrays()[array];
    const auto at = static_cast<std::size_t>(element);
    const auto number = static_cast<std::size_t>(own.relations[at]);
    const bugs::GraphRelation& relation = graph_.relations()[number];
    const std::string& name = relation.syntax->right.name;
    if (name == "dbern") return 2;
    if (name == "dbin") {
        const bugs::Rows row{own.rows[at]};
        const bugs::Expression& argument = relation.syntax->right.parts[1];
        if (!graph_.is_known(argument, relation, &row)) return 0;
        const double size = graph_.values(argument, relation, &row).at(0);
        return size >= 1.0 && size <= kMostTrials && size == std::floor(size) ? static_cast<Index>(size) + 1 : 0;
    }
    if (name != "dcat") return 0;
    const auto known = labels_.find(number);
    if (known != labels_.end()) return known->second;
    const bugs::Expression& argument = relation.syntax->right.parts.front();
    const bugs::Rows row{own.rows[at]};
    Index count = 0;
    if (graph_.is_known(argument, relation, &row)) {
        count = graph_.values(argument, relation, &row).values.cols();
    } else if (argument.kind == bugs::Expression::Kind::variable) {
        count = size_of(graph_.reference(argument, relation, &row).dims);
    } else {
        count = static_cast<Index>(value(argument, relation, row).elements.size());
    }
    labels_.emplace(number, count);
    return count;
}

Value Evaluator::value(const bugs::Expression& expression, const bugs::GraphRelation& relation,
                       const bugs::Rows& rows) const {
    return bugs::folded<Value>(
        expression, [&](const bugs::Expression& node) { return value_of_leaf(node, relation, rows); },
        [&](const bugs::Expression& node, const std::vector<Value>& arguments) {
            return within_limits(node.place, [&] { return call(node, arguments); });
        });
}

/// Of all but calls that are not known.
std::optional<Value> Evaluator::value_of_leaf(const bugs::Expression& expression, const bugs::GraphRelation& relation,
                                              const bugs::Rows& rows) const {
    using Kind = bugs::Expression::Kind;
    if (expression.kind == Kind::number) {
        return Value{{}, {constant_choice(NumberColumn::Constant(1, expression.number))}};
    }
    if (expression.kind == Kind::variable && graph_.is_ragged(expression, relation, &rows) && rows.size() > 1) {
        SplitRows split;
        for (const Index n : whole_rows(rows.size())) split.groups.push_back({n});
        throw split;
    }
    const std::vector<bool> known = graph_.known(expression, relation, &rows);
    if (known.size() > 1) require_alike(std::vector<std::int64_t>(known.begin(), known.end()));
    if (known.front()) {
        const bugs::Columns columns = graph_.values(expression, relation, &rows);
        Value result{columns.dims, {}};
        for (Index j = 0; j < columns.values.cols(); ++j) {
            result.elements.push_back(constant_choice(column_of(columns, j)));
        }
        return result;
    }
    if (expression.kind == Kind::variable) return variable(expression, relation, rows);
    if (expression.kind == Kind::call) return std::nullopt;
    throw Refused(expression.place, "this is not a value: write a number, a node or a function of them");
}

Value Evaluator::variable(const bugs::Expression& expression, const bugs::GraphRelation& relation,
                          const bugs::Rows& rows) const {
    using Kind = bugs::Expression::Kind;
    for (const bugs::Expression& part : expression.parts) {
        if (part.kind == Kind::empty || part.kind == Kind::range) continue;
        const std::vector<bool> known = graph_.known(part, relation, &rows);
        require_alike(std::vector<std::int64_t>(known.begin(), known.end()));
    }
    const bugs::Reference reference = graph_.reference(expression, relation, &rows);
    const auto count = static_cast<Index>(rows.size());
    Value result{reference.dims, {}};
    std::vector<Choice> indices;
    for (const bugs::Reference::VariableIndex& index : reference.variable_indices) {
        const Value of = value(*index.index, relation, rows);
        const bool whole = of.is_scalar() && std::ranges::all_of(of.only().alternatives,
                                                                 [](const Sum& sum) { return sum.is_constant(); });
        if (!whole) {
            throw Refused(
                index.index->place,
                fmt::format("an index of '{}' depends on a node that is not discrete: index by numbers, or by "
                            "a node that is ~ dcat or ~ dbern",
                            expression.name));
        }
        indices.push_back(of.only());
    }
    const std::vector<Choice> over = indices.empty() ? indices : aligned(indices);
    for (Index j = 0; j < reference.elements.cols(); ++j) {
        ElementColumn base;
        for (Index n = 0; n < reference.elements.rows(); ++n) base.push_back(reference.elements(n, j));
        if (indices.empty()) {
            result.elements.push_back(node(reference.array, base, count, expression.place));
            continue;
        }
        Choice marker{over.front().selectors, {}};
        std::vector<Choice> parts;
        for (std::size_t c = 0; c < over.front().alternatives.size(); ++c) {
            marker.alternatives.push_back(constant_sum(NumberColumn::Constant(1, static_cast<double>(c) + 1.0)));
            ElementColumn elements(static_cast<std::size_t>(count));
            std::vector<NumberColumn> labels_at;
            labels_at.reserve(over.size());
            for (const Choice& index : over) labels_at.push_back(index.alternatives[c].constant());
            for (Index n = 0; n < count; ++n) {
                Index element = base[base.size() == 1 ? 0 : static_cast<std::size_t>(n)];
                for (std::size_t v = 0; v < over.size(); ++v) {
                    const NumberColumn& at = labels_at[v];
                    const double label = at[at.size() == 1 ? 0 : n];
                    const bugs::Reference::VariableIndex& index = reference.variable_indices[v];
                    if (!(label >= 1.0 && label <= static_cast<double>(index.extent)) || label != std::floor(label)) {
                        throw Refused(
                            index.index->place,
                            fmt::format("this index can be {:g}, but that of '{}' goes from 1 to {}: give the "
                                        "discrete node as many labels, or shift it",
                                        label, expression.name, index.extent));
                    }
                    element += index.stride * (static_cast<Index>(label) - 1);
                }
                elements[static_cast<std::size_t>(n)] = element;
            }
            const bool same = std::ranges::all_of(elements, [&](Index one) { return one == elements.front(); });
            if (same) elements.resize(1);
            parts.push_back(node(reference.array, elements, count, expression.place));
        }
        parts.insert(parts.begin(), marker);
        const std::vector<Choice> whole = aligned(parts);
        Choice chosen{whole.front().selectors, {}};
        for (std::size_t c = 0; c < whole.front().alternatives.size(); ++c) {
            const auto which = static_cast<std::size_t>(whole.front().alternatives[c].constant()[0]);
            chosen.alternatives.push_back(whole[which].alternatives[c]);
        }
        result.elements.push_back(std::move(chosen));
    }
    return result;
}

Choice Evaluator::node(std::size_t array, const ElementColumn& elements, Index rows, const bugs::Place& place) const {
    const bugs::Array& own = graph_.arrays()[array];
    // Known, unobserved, or deterministic by one relation.
    std::vector<std::int64_t> classes;
    classes.reserve(elements.size());
    for (const Index element : elements) {
        const auto at = static_cast<std::size_t>(element);
        const bugs::State state = own.states[at];
        if (bugs::is_known(state)) {
            classes.push_back(-1);
        } else if (state == bugs::State::unobserved) {
            const Index count = labels(array, element);
            const bool from_zero = count > 0 && distribution(array, element) != "dcat";
            classes.push_back(count > 0 ? static_cast<std::int64_t>(-3 - 2 * count - (from_zero ? 1 : 0)) : -2);
        } else if (state == bugs::State::deterministic) {  // by its relation, and where it stands in a chain
            const std::int64_t relation = own.relations[at];
            const std::uint32_t depth = graph_.relations()[static_cast<std::size_t>(relation)].depth(own.rows[at]);
            classes.push_back(relation + static_cast<std::int64_t>(graph_.relations().size()) * depth);
        } else {
            throw Refused(place, fmt::format("{} is never defined: define it, or give it in the data",
                                             own.element_name(element)));
        }
    }
    require_alike(classes);
    const std::int64_t kind = classes.front();
    if (kind == -1) {
        NumberColumn column(static_cast<Index>(elements.size()));
        for (std::size_t n = 0; n < elements.size(); ++n) {
            const double value = own.values[static_cast<std::size_t>(elements[n])];
            if (std::isnan(value)) {
                throw Refused(place, fmt::format("{} is not a number: look at what it is computed from",
                                                 own.element_name(elements[n])));
            }
            column[static_cast<Index>(n)] = value;
        }
        return constant_choice(column);
    }
    if (kind == -2) return {{}, {node_sum(array, elements)}};
    if (kind < -2) {
        Selector selector{array, elements, labels(array, elements.front()), 1.0};
        selector.first = distribution(array, elements.front()) == "dcat" ? 1.0 : 0.0;
        Choice result{{selector}, {}};
        for (Index k = 0; k < selector.labels; ++k) {
            result.alternatives.push_back(
                constant_sum(NumberColumn::Constant(1, selector.first + static_cast<double>(k))));
        }
        return result;
    }
    // Each row of the other plate once.
    const std::size_t relation = static_cast<std::size_t>(kind) % graph_.relations().size();
    bugs::Rows other;
    for (const Index element : elements) other.push_back(own.rows[static_cast<std::size_t>(element)]);
    bugs::Rows unique = other;
    std::sort(unique.begin(), unique.end());
    unique.erase(std::unique(unique.begin(), unique.end()), unique.end());
    std::vector<Index> from;
    for (const std::uint32_t row : other) {
        from.push_back(std::lower_bound(unique.begin(), unique.end(), row) - unique.begin());
    }
    Value whole;
    try {
        whole = deterministic(relation, unique);
    } catch (const SplitRows& split) {
        std::vector<std::int64_t> group(unique.size(), 0);
        for (std::size_t g = 0; g < split.groups.size(); ++g) {
            for (const Index n : split.groups[g]) group[static_cast<std::size_t>(n)] = static_cast<std::int64_t>(g);
        }
        std::vector<std::int64_t> own_groups;
        own_groups.reserve(from.size());
        for (const Index n : from) own_groups.push_back(group[static_cast<std::size_t>(n)]);
        require_alike(own_groups);
        throw;  // cannot be: rows that are alike have one group
    }
    // Which entry of the part on the left it is.
    const bugs::Reference& left = graph_.relations()[relation].left;
    std::vector<std::int64_t> entries;
    for (std::size_t n = 0; n < elements.size(); ++n) {
        const Index row = other[n];
        Index entry = 0;
        while (entry + 1 < left.elements.cols() && left.at(row, entry) != elements[n]) ++entry;
        entries.push_back(entry);
    }
    require_alike(entries);
    const Index entry = whole.is_scalar() ? 0 : entries.front();
    Value result{{}, {whole.elements[static_cast<std::size_t>(entry)]}};
    const bool one_row = elements.size() == 1 && rows != 1;
    if (unique.size() == elements.size() && std::ranges::is_sorted(other) && !one_row) return result.only();
    return gathered(result, from).only();
}

Value Evaluator::deterministic(std::size_t relation, const bugs::Rows& rows) const {
    const Part part{relation, rows};
    for (const std::map<Part, Value>* known : {&deterministic_, &pending_}) {
        const auto found = known->find(part);
        if (found != known->end()) return found->second;
    }
    if (nesting_ == 0) return computed_by_chain(part);
    if (nesting_ >= kDeepestNesting) throw Postponed{part};
    return computed(part);
}

/// A chain of deterministic nodes, x[i] <- x[i-1] + 1, is computed from its beginning on, a few nodes at a time, so
/// that its length costs no stack.
Value Evaluator::computed_by_chain(const Part& part) const {
    struct Forget {
        std::map<Part, Value>& pending;
        ~Forget() { pending.clear(); }
    } forget{pending_};
    std::vector<Part> waiting{part};
    std::size_t terms = 0;
    while (true) {
        const Part own = waiting.back();
        interruption_point();
        try {
            Value value = computed(own);
            waiting.pop_back();
            // A product has a factor, and of so many nodes the last one comes here.
            terms += kDeepestNesting * (size_of_terms(value) / 2);
            if (terms > kMostChainTerms) {
                throw Refused(graph_.relations()[own.first].syntax->place,
                              fmt::format("the nodes of this chain are sums with more than {} terms in all: give the "
                                          "nodes of the chain a distribution, or shorten it",
                                          kMostChainTerms));
            }
            if (waiting.empty()) return value;
            pending_.insert_or_assign(own, std::move(value));
        } catch (const Postponed& postponed) {
            waiting.push_back(postponed.part);
        }
    }
}

Value Evaluator::computed(const Part& part) const {
    struct Nested {
        int& depth;
        explicit Nested(int& of) : depth(of) { ++depth; }
        ~Nested() { --depth; }
    } nested(nesting_);
    const bugs::GraphRelation& own = graph_.relations()[part.first];
    Value result = value(own.syntax->right, own, part.second);
    if (!own.syntax->link.empty()) {
        for (Choice& choice : result.elements) {
            choice = within_limits(own.syntax->link_place, [&] {
                return applied(inverse_link(own.syntax->link), std::vector<Choice>{choice});
            });
        }
    }
    keep(part, result);
    return result;
}

void Evaluator::keep(const Part& part, const Value& value) const {
    if (part.second.size() > kMostKeptRows) return;
    if (!deterministic_.emplace(part, value).second) return;
    kept_.push_back(part);
    kept_terms_ += size_of_terms(value);
    while (kept_.size() > kMostKept || (kept_terms_ > kMostKeptTerms && kept_.size() > 1)) {
        const auto oldest = deterministic_.find(kept_.front());
        kept_terms_ -= size_of_terms(oldest->second);
        deterministic_.erase(oldest);
        kept_.pop_front();
    }
}

bool Evaluator::is_probability(const Sum& sum) const {
    if (sum.terms.size() != 1) return false;
    const Product& term = sum.terms.front();
    if (term.factors.size() != 1 || term.coefficient.size() != 1 || term.coefficient[0] != 1.0) return false;
    const Factor& factor = term.factors.front();
    if (factor.kind == Factor::Kind::function || factor.power != 1.0) return false;
    const std::string& name = distribution(factor.array, factor.elements.front());
    if (name == "dbeta" || name == "ddirch") return true;
    if (name != "dunif") return false;
    const bugs::Array& own = graph_.arrays()[factor.array];
    const auto at = static_cast<std::size_t>(factor.elements.front());
    const bugs::GraphRelation& relation = graph_.relations()[static_cast<std::size_t>(own.relations[at])];
    const bugs::Rows row{own.rows[at]};
    const std::vector<bugs::Expression>& bounds = relation.syntax->right.parts;
    return std::ranges::all_of(bounds,
                               [&](const bugs::Expression& bound) { return graph_.is_known(bound, relation, &row); }) &&
           graph_.values(bounds[0], relation, &row).at(0) == 0.0 &&
           graph_.values(bounds[1], relation, &row).at(0) == 1.0;
}

// 1 − p stays what it is, so that its logarithm can be taken.
Value Evaluator::subtracted(const Value& left, const Value& right, const bugs::Expression& expression) const {
    if (left.is_scalar() && right.is_scalar() && left.only().is_constant() && right.only().selectors.empty()) {
        const NumberColumn from = left.only().only().constant();
        const Sum& sum = right.only().only();
        if ((from.array() == 1.0).all() && is_probability(sum)) {
            Sum result = sum;
            Factor& factor = result.terms.front().factors.front();
            factor.kind = factor.kind == Factor::Kind::node ? Factor::Kind::complement : Factor::Kind::node;
            return {{}, {Choice{{}, {result}}}};
        }
    }
    return elementwise(expression, {left, right});
}

Value Evaluator::elementwise(const bugs::Expression& expression, const std::vector<Value>& arguments) const {
    Value result;
    for (const Value& argument : arguments) {
        if (!argument.is_scalar() || result.dims.empty()) {
            if (argument.elements.size() > 1 && result.elements.size() > 1 &&
                argument.elements.size() != result.elements.size()) {
                throw Refused(expression.place, "the two sides have different lengths: make them alike");
            }
        }
        if (argument.elements.size() >= result.elements.size()) result = argument;
    }
    for (std::size_t e = 0; e < result.elements.size(); ++e) {
        std::vector<Choice> parts;
        for (const Value& argument : arguments) {
            if (!argument.is_scalar() && argument.elements.size() != result.elements.size()) {
                throw Refused(expression.place, "the two sides have different lengths: make them alike");
            }
            parts.push_back(argument.elements[argument.is_scalar() ? 0 : e]);
        }
        result.elements[e] = applied(expression.name, parts);
    }
    return result;
}

Value Evaluator::call(const bugs::Expression& expression, const std::vector<Value>& arguments) const {
    const std::string& name = expression.name;
    const auto whole = [&](Choice choice) { return Value{{}, {std::move(choice)}}; };
    if (name == "-" && arguments.size() == 2) return subtracted(arguments[0], arguments[1], expression);
    if (name == "sd" || name == "var" || name == "max" || name == "min") {
        std::vector<Choice> all;
        for (const Value& argument : arguments) {
            all.insert(all.end(), argument.elements.begin(), argument.elements.end());
        }
        const bool is_plain = std::ranges::all_of(all, [](const Choice& choice) { return choice.selectors.empty(); });
        const bool is_elementwise_too = arguments.size() == 2 && all.size() == 2;  // max(0, p)
        if (is_plain && all.size() > 1 && !(is_elementwise_too && name.starts_with('m'))) {
            std::vector<Sum> sums;
            sums.reserve(all.size());
            for (const Choice& choice : all) sums.push_back(choice.only());
            const Sum of_all = function_sum(fmt::format("{}:{}", name == "var" ? "sd" : name, all.size()), sums);
            const Sum two = constant_sum(NumberColumn::Constant(1, 2.0));
            return whole(Choice{{}, {name == "var" ? raised(of_all, two) : of_all}});
        }
    }
    if (is_elementwise(name)) return elementwise(expression, arguments);
    if (name == "sum" || name == "mean") {
        std::vector<Choice> all;
        for (const Value& argument : arguments) {
            all.insert(all.end(), argument.elements.begin(), argument.elements.end());
        }
        const Choice total = sum_of(all);
        if (name == "sum") return whole(total);
        const double count = static_cast<double>(all.size());
        return whole(applied("*", {total, constant_choice(NumberColumn::Constant(1, 1.0 / count))}));
    }
    if (name == "rank") {
        const std::vector<Choice>& all = arguments[0].elements;
        if (static_cast<Index>(all.size()) > kMostRanked) {
            throw Refused(expression.place,
                          fmt::format("rank of {} nodes that are not known: it is reported of {} at most", all.size(),
                                      kMostRanked));
        }
        Value result{arguments[0].dims, {}};
        for (std::size_t i = 0; i < all.size(); ++i) {
            std::vector<Choice> before{constant_choice(NumberColumn::Ones(1))};
            for (std::size_t j = 0; j < all.size(); ++j) {
                if (j != i) before.push_back(applied("<", std::vector<Choice>{all[j], all[i]}));
            }
            result.elements.push_back(sum_of(before));
        }
        return result;
    }
    if (name == "inprod") {
        if (arguments[0].elements.size() != arguments[1].elements.size()) {
            throw Refused(expression.place, fmt::format("inprod of {} and {} numbers: give vectors of one length",
                                                        arguments[0].elements.size(), arguments[1].elements.size()));
        }
        std::vector<Choice> all;
        for (std::size_t i = 0; i < arguments[0].elements.size(); ++i) {
            all.push_back(applied("*", {arguments[0].elements[i], arguments[1].elements[i]}));
        }
        return whole(sum_of(all));
    }
    if (name == "c") {
        Value result;
        for (const Value& argument : arguments) {
            result.elements.insert(result.elements.end(), argument.elements.begin(), argument.elements.end());
        }
        result.dims = {static_cast<Index>(result.elements.size())};
        return result;
    }
    if (name == "t") {
        const Value& of = arguments[0];
        const Index height = of.dims.empty() ? 1 : of.dims[0];
        const Index width = of.dims.size() < 2 ? 1 : of.dims[1];
        Value result{{width, height}, {}};
        for (Index j = 0; j < height; ++j) {
            for (Index i = 0; i < width; ++i) {
                result.elements.push_back(of.elements[static_cast<std::size_t>(j + i * height)]);
            }
        }
        return result;
    }
    if (name == "%*%") {
        const Value& left = arguments[0];
        const Value& right = arguments[1];
        const auto extent = [](const Value& value, std::size_t d) {
            return value.dims.size() > d ? value.dims[d] : Index{1};
        };
        // A vector is a column, or on the left of a column of the same length a row.
        Index height = extent(left, 0);
        Index inner = extent(left, 1);
        if (left.dims.size() < 2 && extent(right, 0) == height && height > 1) {
            inner = height;
            height = 1;
        }
        const Index width = extent(right, 1);
        if (inner != extent(right, 0)) {
            throw Refused(expression.place, fmt::format("%*% of {} columns and {} rows: they must be equally many",
                                                        inner, extent(right, 0)));
        }
        Value result{{}, {}};
        if (width > 1) {
            result.dims = {height, width};
        } else if (height > 1) {
            result.dims = {height};
        }
        for (Index j = 0; j < width; ++j) {
            for (Index i = 0; i < height; ++i) {
                std::vector<Choice> all;
                for (Index k = 0; k < inner; ++k) {
                    all.push_back(applied("*", {left.elements[static_cast<std::size_t>(i + k * height)],
                                                right.elements[static_cast<std::size_t>(k + j * inner)]}));
                }
                result.elements.push_back(sum_of(all));
            }
        }
        return result;
    }
    if (name == "inverse" && arguments[0].dims.size() == 2) {
        const Value& of = arguments[0];
        Value result{of.dims, {}};
        std::vector<Sum> sums;
        for (const Choice& choice : of.elements) {
            if (!choice.selectors.empty()) throw Refused(expression.place, "a discrete node chooses what is inverted");
            sums.push_back(choice.only());
        }
        const Index size = of.dims[0];
        for (Index j = 0; j < size; ++j) {
            for (Index i = 0; i < size; ++i) {
                result.elements.push_back(
                    Choice{{}, {function_sum(fmt::format("inverse:{}:{}:{}", size, i, j), sums)}});
            }
        }
        return result;
    }
    throw Refused(expression.place,
                  fmt::format("{} of a node that is not known is not supported: use it on constants and data", name));
}

}  // namespace lrvb::detail::text
