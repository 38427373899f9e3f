#include "kind/model/declarations.hpp"

#include "model/distribution_node.hpp"
#include "model/lowering.hpp"

#include <lrvb/bugs/words.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

namespace lrvb::detail::text {

namespace {

bool is_same(const NumberColumn& column) {
    return column.size() == 1 || (column.array() == column[0]).all();
}

}  // namespace

Declarations::Declarations(const Evaluator& evaluator, const std::vector<Piece>& pieces, const Centring& centring,
                           const CompileOptions& options)
    : terms(evaluator.graph()),
      usages(usages_of(evaluator.graph(), pieces)),
      evaluator_(evaluator),
      pieces_(pieces),
      centring_(centring),
      options_(options) {}

const bugs::Place& Declarations::place(const Piece& piece, std::size_t argument) const {
    const bugs::Expression& right = relation(piece).syntax->right;
    return argument < right.parts.size() ? right.parts[argument].place : right.place;
}

std::string Declarations::node_name(const Piece& piece, Index row) const {
    const bugs::Array& array = left_array(piece);
    const Index size = left_size(piece);
    if (size == 1) return array.element_name(left_element(piece, row));
    const std::vector<Index> first = array.indices(left_element(piece, row, 0));
    const std::vector<Index> last = array.indices(left_element(piece, row, size - 1));
    std::vector<std::string> parts;
    for (std::size_t d = 0; d < first.size(); ++d) {
        parts.push_back(first[d] == last[d] ? fmt::format("{}", first[d]) : fmt::format("{}:{}", first[d], last[d]));
    }
    return fmt::format("{}[{}]", array.name, fmt::join(parts, ","));
}

std::string Declarations::auxiliary_name(const Piece& piece, Index row, const std::string& suffix) {
    const std::string& array = left_array(piece).name;
    const std::string group = array + suffix;
    if (hidden.empty() || hidden.back() != group) hidden.push_back(group);
    return group + node_name(piece, row).substr(array.size());
}

// By the array where one relation defines all of it, otherwise by the node where it begins.
std::string Declarations::prior_name(const Piece& piece) const {
    const bugs::Array& array = left_array(piece);
    const auto own = static_cast<std::int32_t>(piece.relation);
    const bool all =
        std::ranges::all_of(array.relations, [&](std::int32_t one) { return one == own || one == bugs::Array::kNone; });
    return all ? array.name : array.element_name(relation(piece).left.at(0));
}

bool Declarations::is_constant(const Piece& piece, std::size_t argument) const {
    return std::ranges::all_of(piece.arguments[argument].elements, [](const Choice& choice) {
        return std::ranges::all_of(choice.alternatives, [](const Sum& sum) { return sum.is_constant(); });
    });
}

// 0 up to the first cut point, m between the m-th and the next, and M above the last of M.
void Declarations::find_intervals(bugs::Diagnostics& diagnostics) {
    for (const Piece& piece : pieces_) {
        if (!is_interval(piece)) continue;
        try {
            for (Index row = 0; row < piece.size(); ++row) add_interval(piece, row);
        } catch (const Refused& refused) {
            diagnostics.add(refused.place(), refused.what());
        }
    }
}

void Declarations::add_interval(const Piece& piece, Index row) {
    const std::size_t cuts = piece.arguments[1].elements.size();
    const double label = observed(piece, row);
    if (!(label >= 0.0 && label <= static_cast<double>(cuts) && label == std::floor(label))) {
        throw Refused(relation(piece).syntax->left.place,
                      fmt::format("{} is {:g} in the data, but a dinterval node must be a whole number from 0 to the "
                                  "number of its cut points, {}",
                                  node_name(piece, row), label, cuts));
    }
    const auto which = static_cast<std::size_t>(label);
    const double lower = which == 0 ? -HUGE_VAL : number(piece, 1, row, which - 1);
    const double upper = which == cuts ? HUGE_VAL : number(piece, 1, row, which);
    const Sum value = at_row(piece.sum(0), row);
    if (value.is_constant()) {
        const double known = value.constant()[0];
        if (known > lower && known <= upper) return;
        throw Refused(relation(piece).syntax->left.place,
                      fmt::format("{} says that its value is between {:g} and {:g}, but that is {:g} in the data",
                                  node_name(piece, row), lower, upper, known));
    }
    const bool is_node = piece.selectors.empty() && value.terms.size() == 1 && value.terms[0].factors.size() == 1 &&
                         value.terms[0].coefficient[0] == 1.0 && value.terms[0].factors[0].power == 1.0 &&
                         value.terms[0].factors[0].kind == Factor::Kind::node;
    if (!is_node) {
        throw Refused(place(piece, 0),
                      "the value of dinterval must be a node that is ~ dnorm, dexp or dweib, by itself");
    }
    const Factor& factor = value.terms[0].factors[0];
    intervals_[{factor.array, factor.element(0)}] = {lower, upper};
    const auto element = static_cast<std::size_t>(factor.element(0));
    interval_relations_.insert(static_cast<std::size_t>(graph().arrays()[factor.array].relations[element]));
}

std::pair<double, double> Declarations::bounds(const Piece& piece, Index row) const {
    const auto known = intervals_.find({relation(piece).left.array, left_element(piece, row)});
    if (known != intervals_.end()) return known->second;
    const auto bound = [&](const std::optional<Value>& value, double otherwise) {
        if (!value) return otherwise;
        const Choice& choice = value->only();
        if (choice.is_constant()) return choice.only().constant_at(row);
        throw Refused(
            relation(piece).syntax->truncation->place,
            fmt::format("the bounds of {} depend on other nodes: make them constants", node_name(piece, row)));
    };
    return {bound(piece.lower, -HUGE_VAL), bound(piece.upper, HUGE_VAL)};
}

bool Declarations::is_censored(const Piece& piece) const {
    if (piece.left == Piece::Left::unobserved && interval_relations_.contains(piece.relation)) return true;
    if (!piece.is_truncated || relation(piece).syntax->truncation->letter != 'I') return false;
    for (std::size_t a = 0; a < piece.arguments.size(); ++a) {
        if (!is_constant(piece, a)) return true;
    }
    return false;
}

double Declarations::number(const Piece& piece, std::size_t argument, Index row, std::size_t entry) const {
    const Sum& sum = piece.sum(argument, entry);
    bool constant = sum.is_constant();
    for (std::size_t c = 1; c < piece.combinations && constant; ++c) {
        const Sum& other = piece.sum(argument, entry, c);
        constant = other.is_constant() && other.constant_at(row) == sum.constant_at(row);
    }
    if (!constant) refuse_unknown(piece, argument);
    return sum.constant_at(row);
}

void Declarations::refuse_unknown(const Piece& piece, std::size_t argument) const {
    std::string word = "argument";
    if (const bugs::DistributionWord* known = bugs::find_distribution(distribution_name(piece))) {
        if (argument < known->arguments.size()) word = std::string(known->arguments[argument]);
    }
    const bool varies = distribution_name(piece) == "dbeta" && piece.left == Piece::Left::unobserved;
    throw Refused(
        place(piece, argument),
        fmt::format("the {} of {} must be a constant, since no prior here is conjugate to it: write a number, "
                    "or give it in the data{}",
                    word, distribution_name(piece),
                    varies ? "; probabilities that vary can be logit(p[i]) <- a[i] with a[i] ~ dnorm(mu, tau)" : ""));
}

Expression Declarations::argument(const Piece& piece, std::size_t argument, Index row, std::size_t combination,
                                  std::size_t entry) {
    const Sum& sum = piece.sum(argument, entry, combination);
    // What is written of a node that another stands for is no number of the other's prior.
    const bool is_prior = piece.left == Piece::Left::unobserved && !is_censored(piece) && !piece.is_centred;
    if (!is_prior || piece.combinations > 1 || !sum.is_constant() || !is_same(sum.constant())) {
        return terms.polynomial(sum, row, place(piece, argument));
    }
    const auto key = std::make_tuple(piece.relation, argument, entry);
    const auto known = hyperparameters_.find(key);
    const double written = sum.constant()[0];
    double value = written;
    if (known != hyperparameters_.end()) {
        // Pieces of one relation may have other numbers.
        if (known->second.second == written) return known->second.first;
        return value;
    }
    const bugs::DistributionWord* word = bugs::find_distribution(distribution_name(piece));
    std::string name = fmt::format(
        "{}: {}", prior_name(piece),
        word != nullptr && argument < word->arguments.size() ? word->arguments[argument] : std::string_view("number"));
    if (piece.arguments[argument].elements.size() > 1) name += fmt::format("[{}]", entry + 1);
    const bool taken = std::ranges::any_of(prior, [&](const PriorNumber& one) { return one.name == name; });
    if (taken || !std::isfinite(value)) return value;
    if (const auto other = options_.numbers.find(name); other != options_.numbers.end()) value = other->second;
    const Hyperparameter made = builder.hyperparameter(name, value);
    terms.set_tag(made.model());
    hyperparameters_.emplace(key, std::make_pair(made, written));
    const bool is_location = role_of(distribution_name(piece), argument) == Role::mean || !(value > 0.0);
    double unit = value > 0.0 ? value : std::max(1.0, std::abs(value));
    if (role_of(distribution_name(piece), argument) == Role::mean && distribution_name(piece) == "dnorm") {
        const Sum& precision = piece.sum(1);
        if (precision.is_constant() && precision.constant()[0] > 0.0) unit = 1.0 / std::sqrt(precision.constant()[0]);
    }
    prior.emplace_back(name, name, value, is_location ? PriorNumber::Role::location : PriorNumber::Role::positive,
                       unit);
    return made;
}

std::vector<std::optional<Expression>> Declarations::log_simplex(const Piece& piece, Index row,
                                                                 std::size_t combination) {
    std::vector<std::optional<Expression>> logs;
    double total = 0.0;
    bool constant = true;
    const std::vector<Choice>& entries = piece.arguments.front().elements;
    for (const Choice& entry : entries) {
        const Sum& sum = entry.alternatives[combination];
        constant = constant && sum.is_constant();
        if (sum.is_constant()) total += sum.constant_at(row);
    }
    for (const Choice& entry : entries) {
        const Sum& sum = entry.alternatives[combination];
        if (!constant) {
            logs.push_back(terms.log_probability(sum, row, place(piece, 0)));
            continue;
        }
        const double p = sum.constant_at(row);
        if (!(p >= 0.0) || !(total > 0.0) || !std::isfinite(total)) {
            throw Refused(place(piece, 0),
                          fmt::format("the probability {:g} of {} is none: they must not be negative, and one of them "
                                      "must be positive",
                                      p, node_name(piece, row)));
        }
        logs.push_back(p > 0.0 ? std::optional<Expression>(std::log(p / total)) : std::nullopt);
    }
    return logs;
}

std::vector<std::optional<Expression>> Declarations::log_odds(const Piece& piece, Index row, std::size_t combination) {
    const Sum p = at_row(piece.sum(0, 0, combination), row);
    if (p.is_constant()) {
        const double number = p.constant()[0];
        const auto log_of = [](double x) {
            return x > 0.0 ? std::optional<Expression>(std::log(x)) : std::optional<Expression>();
        };
        return {log_of(1.0 - number), log_of(number)};
    }
    Sum rest = p;
    const bool is_node = p.terms.size() == 1 && p.terms[0].factors.size() == 1 && p.terms[0].coefficient[0] == 1.0 &&
                         p.terms[0].factors[0].kind != Factor::Kind::function;
    if (!is_node) {
        throw Refused(place(piece, 0),
                      fmt::format("the probability of {} must be a dbeta node, or a constant", node_name(piece, row)));
    }
    Factor& factor = rest.terms[0].factors[0];
    factor.kind = factor.kind == Factor::Kind::node ? Factor::Kind::complement : Factor::Kind::node;
    return {terms.log_probability(rest, 0, place(piece, 0)), terms.log_probability(p, 0, place(piece, 0))};
}

SimplexParameter Declarations::simplex(const Piece& piece, Index row, std::size_t combination) {
    const std::vector<Choice>& entries = piece.arguments.front().elements;
    if (is_constant(piece, 0)) {
        Vector numbers(static_cast<Index>(entries.size()));
        for (std::size_t k = 0; k < entries.size(); ++k) {
            numbers[static_cast<Index>(k)] = entries[k].alternatives[combination].constant_at(row);
        }
        if (!(numbers.array() > 0.0).all()) {
            throw Refused(place(piece, 0),
                          fmt::format("a probability of {} is not positive: leave out labels that cannot be",
                                      node_name(piece, row)));
        }
        return SimplexParameter(Vector(numbers / numbers.sum()));
    }
    // All parts of one Dirichlet node, in order.
    std::int32_t variable = -1;
    for (std::size_t k = 0; k < entries.size(); ++k) {
        const Sum own = at_row(entries[k].alternatives[combination], row);
        const bool is_node = own.terms.size() == 1 && own.terms[0].factors.size() == 1 &&
                             own.terms[0].coefficient[0] == 1.0 && own.terms[0].factors[0].power == 1.0 &&
                             own.terms[0].factors[0].kind == Factor::Kind::node;
        if (is_node) {
            const Factor& factor = own.terms[0].factors[0];
            const Handle& handle = terms.at(factor.array, factor.element(0));
            const bool fits = handle.form == Form::part && (variable < 0 || variable == handle.variable) &&
                              handle.statistic == Atom::not_a_statistic - static_cast<std::int32_t>(k);
            if (fits) {
                variable = handle.variable;
                continue;
            }
        }
        throw Refused(place(piece, 0),
                      fmt::format("the probabilities of {} must be all parts of one ddirch node, or constants",
                                  node_name(piece, row)));
    }
    const auto size = static_cast<Index>(entries.size());
    return SimplexParameter(Variable<family::Dirichlet>(variable, terms.tag(), family::Dirichlet(size)));
}

MatrixParameter Declarations::matrix(const Piece& piece, std::size_t argument, Index row, std::size_t combination) {
    const Value& value = piece.arguments[argument];
    const auto count = static_cast<Index>(value.elements.size());
    const auto size = static_cast<Index>(std::llround(std::sqrt(static_cast<double>(count))));
    if (size * size != count) {
        throw Refused(place(piece, argument), fmt::format("this is no square matrix: it has {} entries", count));
    }
    std::vector<Sum> entries;
    for (const Choice& choice : value.elements) entries.push_back(at_row(choice.alternatives[combination], row));
    const auto entry = [&](Index i, Index j) -> const Sum& { return entries[static_cast<std::size_t>(i + j * size)]; };
    // A factor that all entries share: tau * R.
    const Product* first = nullptr;
    for (const Sum& sum : entries) {
        if (sum.terms.size() > 1) {
            throw Refused(place(piece, argument),
                          "an entry of this matrix is a sum: a precision matrix is a dwish node, a constant, or one of "
                          "these times a precision");
        }
        if (!sum.terms.empty() && first == nullptr) first = &sum.terms.front();
    }
    if (first == nullptr) throw Refused(place(piece, argument), "this matrix is zero: it must be positive definite");
    const auto handle_of = [&](const Factor& factor) -> const Handle& {
        return terms.at(factor.array, factor.element(0));
    };
    // Either all of it is one Wishart node, or constants.
    std::int32_t wishart = -1;
    Expression scale = 1.0;
    Matrix constants = Matrix::Zero(size, size);
    for (Index i = 0; i < size; ++i) {
        for (Index j = 0; j < size; ++j) {
            const Sum& sum = entry(i, j);
            Expression others = 1.0;
            std::string shared;
            bool has_matrix = false;
            for (const Product& term : sum.terms) {
                constants(i, j) = term.coefficient[0];
                for (const Factor& factor : term.factors) {
                    const bool is_node = factor.kind == Factor::Kind::node;
                    if (is_node && handle_of(factor).form == Form::matrix && !has_matrix) {
                        const Handle& own = handle_of(factor);
                        const bool fits = (wishart < 0 || wishart == own.variable) && factor.power == 1.0 &&
                                          own.statistic == static_cast<std::int32_t>(half_index(i, j, size));
                        if (!fits) {
                            throw Refused(place(piece, argument),
                                          "the entries of this matrix are not those of one dwish node in their order");
                        }
                        wishart = own.variable;
                        has_matrix = true;
                    } else {
                        others = others * terms.polynomial(Sum{{Product{NumberColumn::Ones(1), {factor}}}}, 0,
                                                           place(piece, argument));
                    }
                }
            }
            if (i == 0 && j == 0) scale = others;
        }
    }
    if (wishart >= 0) {
        if (!((constants.array() - constants(0, 0)).abs() < 1e-12 * std::abs(constants(0, 0))).all()) {
            throw Refused(place(piece, argument), "the entries of this matrix have different factors: use one for all");
        }
        const Variable<family::Wishart> variable(wishart, terms.tag(), family::Wishart(size));
        return lrvb::scaled(constants(0, 0) * scale, MatrixParameter(variable));
    }
    if (!((constants - constants.transpose()).array().abs() <= 1e-9 * constants.norm()).all()) {
        throw Refused(place(piece, argument), "this matrix is not symmetric: make it so");
    }
    return lrvb::scaled(scale, MatrixParameter(Matrix(0.5 * (constants + constants.transpose()))));
}

AnyDistribution Declarations::plain(const Piece& piece, Index row, std::size_t combination) {
    const std::string& name = distribution_name(piece);
    // One after the other, so that numbers of the prior stand in their order.
    std::vector<Expression> scalars;
    const bool is_plain = name != "dmnorm" && name != "dwish" && name != "ddirch" && name != "dcat" && name != "dmulti";
    for (std::size_t a = 0; a < piece.arguments.size() && is_plain; ++a) {
        if (name == "dbin" && a == 1) break;  // a size
        const bool is_shape = (a == 0 && (name == "dgamma" || name == "dweib" || name == "dchisqr")) || name == "dbeta";
        if (is_shape && !piece.sum(a, 0, combination).is_constant()) refuse_unknown(piece, a);
        scalars.push_back(argument(piece, a, row, combination));
    }
    const auto of = [&](std::size_t a) {
        return a < scalars.size() ? scalars[a] : argument(piece, a, row, combination);
    };
    const auto vector_of = [&](std::size_t a) {
        std::vector<Expression> entries;
        for (std::size_t e = 0; e < piece.arguments[a].elements.size(); ++e) {
            entries.push_back(argument(piece, a, row, combination, e));
        }
        return entries;
    };
    if (name == "dnorm" || name == "dlnorm") return normal(of(0), of(1));
    if (name == "dgamma") return gamma(of(0), of(1));
    if (name == "dexp") return exponential(of(0));
    if (name == "dweib") return exponential(of(1));  // of the time to the power of the shape
    if (name == "dchisqr") return gamma(0.5 * of(0), 0.5);
    if (name == "dbeta") return beta(of(0), of(1));
    if (name == "dmnorm") {
        const VectorParameter mean(vector_of(0));
        return mv_normal(mean, matrix(piece, 1, row, combination));
    }
    if (name == "dwish") return wishart(of(1), matrix(piece, 0, row, combination));
    if (name == "ddirch") return dirichlet(VectorParameter(vector_of(0)));
    if (name == "dbern") return bernoulli(of(0));
    if (name == "dbin") {
        const double trials = number(piece, 1, row);
        if (!(trials >= 0.0) || trials != std::floor(trials)) {
            throw Refused(place(piece, 1), fmt::format("the size of {} is {:g}, but must be a whole number",
                                                       node_name(piece, row), trials));
        }
        return binomial(static_cast<Index>(trials), of(0));
    }
    if (name == "dpois") return poisson(of(0));
    if (name == "dcat") return categorical(simplex(piece, row, combination));
    if (name == "dmulti") return multinomial(simplex(piece, row, combination));
    throw Refused(
        relation(piece).syntax->right.name_place,
        fmt::format("{} is not supported here: use dnorm, dmnorm, dgamma, dexp, dchisqr, dwish, dbeta, ddirch, "
                    "dbern, dbin, dcat, dmulti, dpois, dt, ddexp, dnegbin or dunif",
                    name));
}

namespace {

/// Labels by the logarithms of their probabilities.
class LogLabels final : public DistributionNode {
  public:
    explicit LogLabels(std::vector<Expression> logs) : logs_(std::move(logs)) {}
    ConditionalForm lower(const Lowering& lowering) const override {
        ConditionalForm form;
        for (const Expression& log : logs_) form.natural.push_back(lowering.lower(log));
        return form;
    }

  private:
    std::vector<Expression> logs_;
};

}  // namespace

Distribution<family::Categorical> labels_by_logs(std::vector<Expression> logs) {
    const auto size = static_cast<Index>(logs.size());
    return {family::Categorical(size), std::make_shared<const LogLabels>(std::move(logs))};
}

AnyDistribution Declarations::possible_labels(const Piece& piece, Index row, std::size_t combination) {
    std::vector<Expression> logs;
    for (const std::optional<Expression>& log : log_simplex(piece, row, combination)) {
        logs.push_back(log.value_or(Expression(0.0)));
    }
    const auto size = static_cast<Index>(logs.size());
    const auto node = std::make_shared<const LogLabels>(std::move(logs));
    if (distribution_name(piece) == "dcat") return Distribution<family::Categorical>(family::Categorical(size), node);
    return Distribution<likelihood::Multinomial>(likelihood::Multinomial{size}, node);
}

AnyDistribution Declarations::chosen(const Piece& piece, Index row, std::size_t selector, std::size_t offset,
                                     std::size_t stride) {
    if (selector == piece.selectors.size()) return plain(piece, row, offset);
    const Selector& own = piece.selectors[selector];
    std::vector<AnyDistribution> components;
    for (Index k = 0; k < own.labels; ++k) {
        components.push_back(chosen(piece, row, selector + 1, offset + static_cast<std::size_t>(k) * stride,
                                    stride * static_cast<std::size_t>(own.labels)));
    }
    const Handle& handle = terms.at(own.array, own.element(row));
    return std::visit(
        [&]<class F>(const Distribution<F>&) -> AnyDistribution {
            std::vector<Distribution<F>> alike;
            for (const AnyDistribution& component : components) alike.push_back(std::get<Distribution<F>>(component));
            if (handle.form == Form::indicator) return mixture(variable(handle, family::Bernoulli{}), alike);
            if (handle.form == Form::label) return mixture(variable(handle, family::Categorical(own.labels)), alike);
            throw Refused(relation(piece).syntax->place,
                          fmt::format("{} chooses here, but is no label that was declared",
                                      graph().arrays()[own.array].element_name(own.element(row))));
        },
        components.front());
}

AnyDistribution Declarations::distribution(const Piece& piece, Index row) {
    if (!piece.selectors.empty()) {
        const Selector& first = piece.selectors.front();
        const auto found = terms.memberships.find({first.array, first.element(row)});
        if (found != terms.memberships.end()) return clustered(piece, row, found->second.first);
    }
    return chosen(piece, row, 0, 0, 1);
}

Rows Declarations::rows(std::size_t array, const std::vector<Index>& elements) {
    const std::string& name = graph().arrays()[array].name;
    const int number = ++row_sets_[name];
    const Rows result =
        builder.rows(number == 1 ? name : fmt::format("{}#{}", name, number), static_cast<Index>(elements.size()));
    for (const Index element : elements) {
        observed_rows.push_back({static_cast<std::uint32_t>(array), static_cast<std::uint32_t>(element)});
    }
    return result.as(name);
}

}  // namespace lrvb::detail::text
