#include "kind/model/clusters.hpp"
#include "kind/model/declarations.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <stdexcept>

namespace lrvb::detail::text {

namespace {

bool is_one_of(const std::string& name, std::initializer_list<const char*> names) {
    return std::ranges::any_of(names, [&](const char* one) { return name == one; });
}

class Declaring {
  public:
    explicit Declaring(Declarations& own) : own_(own) {}

    void declare(const Piece& piece, Index row) {
        const std::size_t array = own_.relation(piece).left.array;
        const Form form = own_.terms.at(array, own_.left_element(piece, row)).form;
        if (form == Form::summed_out) return;
        if (form == Form::clustered) {
            const std::size_t number = own_.terms.memberships.at({array, own_.left_element(piece, row)}).first;
            if (--own_.terms.clusters[number].waiting == 0) declare_cluster(own_, number);
            return;
        }
        if (form != Form::none) return;  // another needed it before its turn
        if (piece.left == Piece::Left::partly) {
            declare_partly(piece, row);
            return;
        }
        if (const Centring::Scale* scale = own_.centring().scale_of(array, own_.left_element(piece, row))) {
            declare_element(scale->array, scale->element);
        }
        const std::string& name = own_.distribution_name(piece);
        if (own_.is_censored(piece)) {
            declare_censored(piece, row);
            return;
        }
        if (is_one_of(name, {"dbin", "dpois", "dnegbin", "dmulti", "dlnorm", "dweib"})) {
            leave_out(piece, row);
            return;
        }
        if (is_one_of(name, {"dunif", "dexp", "dgamma"}) || piece.is_truncated) {
            if (declare_positive(piece, row) || declare_within_bounds(piece, row)) return;
        }
        if (piece.is_truncated) refuse_truncation(piece, row);
        if (name == "ddirch") {
            declare_dirichlet(piece, row);
            return;
        }
        if (name == "dflat") {
            // What rows under a link say of it is no part of the builder's model, in which it would be improper.
            const bool is_linked =
                std::ranges::any_of(own_.usages[array].uses, [](const Usage::Use& use) { return use.in_function; });
            add_node(piece, row, is_linked ? normal(0.0, kFlatPrecision) : flat(family::Normal{}));
            return;
        }
        if (name == "dscaled.gamma") {  // a precision, whose sd is half-t
            own_.number(piece, 0, row);
            own_.number(piece, 1, row);
            const Expression scale = own_.argument(piece, 0, row);
            add_node(piece, row, precision(half_t(own_.argument(piece, 1, row), scale)));
            return;
        }
        if (name == "dt" || name == "ddexp") {
            declare_student(piece, row);
            return;
        }
        const bool is_label = is_one_of(name, {"dbern", "dcat"});
        const std::optional<AnyDistribution> known =
            is_label && !own_.usages[array].is_used() ? label_or_nothing(piece, row) : own_.distribution(piece, row);
        if (!known) {
            leave_out(piece, row);
            return;
        }
        const AnyDistribution& distribution = *known;
        std::visit(
            [&]<class F>(const Distribution<F>& one) {
                if constexpr (Family<F>) add_node(piece, row, one);
            },
            distribution);
    }

  private:
    void declare_element(std::size_t array, Index element) {
        const bugs::Array& own = own_.graph().arrays()[array];
        const auto relation = static_cast<std::size_t>(own.relations[static_cast<std::size_t>(element)]);
        const std::uint32_t row = own.rows[static_cast<std::size_t>(element)];
        for (const Piece& piece : own_.pieces()) {
            if (piece.relation != relation || piece.left != Piece::Left::unobserved) continue;
            const auto found = std::ranges::lower_bound(piece.rows, row);
            if (found == piece.rows.end() || *found != row) continue;
            declare(piece, found - piece.rows.begin());
            return;
        }
    }

    // The distribution of a label that nothing depends on, where it is one that a factor can have.
    std::optional<AnyDistribution> label_or_nothing(const Piece& piece, Index row) {
        try {
            return own_.distribution(piece, row);
        } catch (const Refused&) {
            return std::nullopt;
        }
    }

    template <class F>
    void add_node(const Piece& piece, Index row, const Distribution<F>& distribution) {
        const Variable<F> variable = own_.builder.add(
            piece.is_centred ? own_.auxiliary_name(piece, row, ".scaled") : own_.node_name(piece, row), distribution);
        own_.terms.set_tag(variable.model());
        set_handles(piece, row, variable);
    }

    template <class F>
    void set_handles(const Piece& piece, Index row, const Variable<F>& variable) {
        const std::size_t array = own_.relation(piece).left.array;
        const Index size = own_.left_size(piece);
        for (Index e = 0; e < size; ++e) {
            Handle& handle = own_.terms.at(array, own_.left_element(piece, row, e));
            handle.variable = static_cast<std::int32_t>(variable.index());
            if constexpr (std::is_same_v<F, family::Normal>) {
                handle.form = Form::number;
            } else if constexpr (std::is_same_v<F, family::MvNormal>) {
                handle.form = Form::number;
                handle.statistic = static_cast<std::int32_t>(e);
            } else if constexpr (std::is_same_v<F, family::TruncatedNormal>) {
                handle.form = Form::bounded;
            } else if constexpr (std::is_same_v<F, family::Gamma> || std::is_same_v<F, family::Scale>) {
                handle.form = Form::positive;
            } else if constexpr (std::is_same_v<F, family::Wishart>) {
                const Index dimension = variable.family().dimension();
                handle.form = Form::matrix;
                handle.statistic = static_cast<std::int32_t>(half_index(e % dimension, e / dimension, dimension));
            } else if constexpr (std::is_same_v<F, family::Beta>) {
                handle.form = Form::probability;
                handle.statistic = Atom::not_a_statistic;
            } else if constexpr (std::is_same_v<F, family::Dirichlet>) {
                handle.form = Form::part;
                handle.statistic = Atom::not_a_statistic - static_cast<std::int32_t>(e);
            } else if constexpr (std::is_same_v<F, family::Bernoulli>) {
                handle.form = Form::indicator;
            } else {
                handle.form = Form::label;
            }
        }
    }

    // 1/sqrt of a number that may be a hyperparameter.
    static Expression root_of_inverse(const Expression& precision) {
        Constant number = 0.0;
        for (const Expression::Term& term : precision.terms()) number += term.coefficient;
        const double value = 1.0 / std::sqrt(number.value());
        return {{{number.mapped(value, -0.5 * value / number.value()), {}}}, precision.model()};
    }

    double bound(const std::optional<Value>& value, Index row, double otherwise) const {
        if (!value) return otherwise;
        const Sum& sum = value->only().only();
        if (!sum.is_constant()) return std::nan("");
        const NumberColumn column = sum.constant();
        return column[column.size() == 1 ? 0 : row];
    }

    // What the prior says of a positive number; nothing where it says it of no such number.
    std::optional<PositivePrior> positive_prior(const Piece& piece, Index row) {
        const std::string& name = own_.distribution_name(piece);
        const bool from_zero = bound(piece.lower, row, -HUGE_VAL) == 0.0 && !piece.upper;
        if (name == "dunif" && !piece.is_truncated && own_.number(piece, 0, row) >= 0.0) {
            const Expression lower = own_.argument(piece, 0, row);
            return uniform_sd(lower, own_.argument(piece, 1, row));
        }
        if (name == "dexp" && !piece.is_truncated && own_.is_constant(piece, 0)) {
            return exponential_sd(own_.argument(piece, 0, row));
        }
        if (name == "dgamma" && !piece.is_truncated && own_.is_constant(piece, 1) &&
            own_.number(piece, 0, row) == 1.0) {
            return exponential_sd(own_.argument(piece, 1, row));
        }
        if (name == "dnorm" && from_zero && own_.number(piece, 0, row) == 0.0 && own_.is_constant(piece, 1)) {
            return half_normal(root_of_inverse(own_.argument(piece, 1, row)));
        }
        if (name == "dt" && from_zero && own_.number(piece, 0, row) == 0.0 && own_.is_constant(piece, 1)) {
            const Expression scale = root_of_inverse(own_.argument(piece, 1, row));
            return half_t(own_.argument(piece, 2, row), scale);
        }
        return std::nullopt;
    }

    // An sd, a variance, or a precision whose prior is not a Gamma's.
    bool declare_positive(const Piece& piece, Index row) {
        const std::size_t array = own_.relation(piece).left.array;
        const Usage& usage = own_.usages[array];
        const std::string& name = own_.distribution_name(piece);
        const auto enters = [&](double power) {
            return usage.any(Role::precision, power) || usage.any(Role::rate, power) || usage.any(Role::matrix, power);
        };
        Form form = Form::none;
        if (enters(-2.0)) {
            form = Form::precision_of_sd;
        } else if (enters(-1.0)) {
            form = Form::precision_of_variance;
        } else if (enters(1.0) && (name == "dunif" || piece.is_truncated)) {
            form = Form::positive;
        } else {
            return false;
        }
        const std::optional<PositivePrior> prior = positive_prior(piece, row);
        if (!prior) {
            const std::string what = form == Form::precision_of_sd         ? "standard deviation"
                                     : form == Form::precision_of_variance ? "variance"
                                                                           : "precision";
            throw Refused(
                own_.relation(piece).syntax->right.place,
                fmt::format("{} is a {}, which cannot have this prior: give it dunif(a, b), dexp(rate), dt(0, "
                            "tau, k) T(0, ), dnorm(0, tau) T(0, ), or give the precision dgamma(shape, rate)",
                            own_.node_name(piece, row), what));
        }
        const std::string variable_name =
            form == Form::positive ? own_.node_name(piece, row) : own_.auxiliary_name(piece, row, ".precision");
        const Variable<family::Scale> variable =
            own_.builder.add(variable_name, form == Form::precision_of_sd         ? precision(*prior)
                                            : form == Form::precision_of_variance ? precision_of_variance(*prior)
                                                                                  : positive(*prior));
        own_.terms.set_tag(variable.model());
        own_.terms.at(array, own_.left_element(piece, row)) = {static_cast<std::int32_t>(variable.index()), 0, form};
        return true;
    }

    // A probability, or a location within constant bounds.
    bool declare_within_bounds(const Piece& piece, Index row) {
        const std::size_t array = own_.relation(piece).left.array;
        const Usage& usage = own_.usages[array];
        const std::string& name = own_.distribution_name(piece);
        if (name != "dunif" && name != "dnorm") return false;
        const std::string node = own_.node_name(piece, row);
        if (name == "dunif" && piece.is_truncated) return false;
        if (name == "dunif") {
            const double lower = own_.number(piece, 0, row);
            const double upper = own_.number(piece, 1, row);
            const bool is_probability = std::ranges::any_of(
                usage.uses, [](const Usage::Use& use) { return use.role == Role::probability && !use.in_function; });
            const bool is_unit = lower == 0.0 && upper == 1.0;
            if (is_unit && (is_probability || !usage.is_used())) {
                add_node(piece, row, beta(1.0, 1.0));
                return true;
            }
            if (is_probability && lower >= 0.0 && upper <= 1.0) {
                throw Refused(
                    own_.relation(piece).syntax->right.place,
                    fmt::format("{} is a probability, for which only dunif(0, 1) is conjugate, not dunif({:g}, "
                                "{:g}): use dunif(0, 1) or dbeta(a, b)",
                                node, lower, upper));
            }
            const Expression from = own_.argument(piece, 0, row);
            add_node(piece, row, uniform(from, own_.argument(piece, 1, row)));
            return true;
        }
        const double lower = bound(piece.lower, row, -HUGE_VAL);
        const double upper = bound(piece.upper, row, HUGE_VAL);
        const bool constant = own_.is_constant(piece, 0) && own_.is_constant(piece, 1);
        if (!constant || !piece.selectors.empty() || std::isnan(lower) || std::isnan(upper)) {
            throw Refused(
                own_.relation(piece).syntax->truncation->place,
                fmt::format("{} is truncated, and its mean, precision or bounds depend on nodes: its normaliser "
                            "is then conjugate to nothing; make them constants, or leave out the truncation",
                            node));
        }
        const Expression mean = own_.argument(piece, 0, row);
        add_node(piece, row, truncated_normal(mean, own_.argument(piece, 1, row), lower, upper));
        return true;
    }

    // Parts whose weight is zero cannot be.
    void declare_dirichlet(const Piece& piece, Index row) {
        const std::size_t array = own_.relation(piece).left.array;
        const Index size = own_.left_size(piece);
        if (static_cast<Index>(piece.arguments[0].elements.size()) != size) {
            throw Refused(own_.place(piece, 0),
                          fmt::format("{} has {} entries, but there are {} weights: give one each",
                                      own_.node_name(piece, row), size, piece.arguments[0].elements.size()));
        }
        std::vector<Expression> weights;
        std::vector<Index> kept;
        for (Index e = 0; e < size; ++e) {
            const auto entry = static_cast<std::size_t>(e);
            if (own_.number(piece, 0, row, entry) == 0.0) {
                own_.terms.at(array, own_.left_element(piece, row, e)).form = Form::zero;
                continue;
            }
            kept.push_back(e);
            weights.push_back(own_.argument(piece, 0, row, 0, entry));
        }
        if (kept.empty()) {
            throw Refused(own_.place(piece, 0), fmt::format("all weights of {} are zero: give at least one of them a "
                                                            "positive number",
                                                            own_.node_name(piece, row)));
        }
        if (kept.size() == 1 && own_.number(piece, 0, row, static_cast<std::size_t>(kept.front())) > 0.0) {
            own_.terms.at(array, own_.left_element(piece, row, kept.front())).form = Form::one;
            return;
        }
        const bool is_reduced = static_cast<Index>(kept.size()) < size;  // its parts are others than the node's
        const std::string name = is_reduced ? own_.auxiliary_name(piece, row, ".parts") : own_.node_name(piece, row);
        const Variable<family::Dirichlet> variable = own_.builder.add(name, dirichlet(VectorParameter(weights)));
        own_.terms.set_tag(variable.model());
        if (is_reduced) own_.terms.reduced.insert(static_cast<std::int32_t>(variable.index()));
        own_.terms.simplex_sizes[static_cast<std::int32_t>(variable.index())] = static_cast<Index>(kept.size());
        for (std::size_t k = 0; k < kept.size(); ++k) {
            Handle& handle = own_.terms.at(array, own_.left_element(piece, row, kept[k]));
            handle = {static_cast<std::int32_t>(variable.index()), Atom::not_a_statistic - static_cast<std::int32_t>(k),
                      Form::part};
        }
    }

    // A normal whose precision has a Gamma factor of its own.
    void declare_student(const Piece& piece, Index row) {
        const std::string node = own_.node_name(piece, row);
        if (own_.distribution_name(piece) == "ddexp") {  // a normal whose variance is exponential
            const double rate = own_.number(piece, 1, row);
            const Variable<family::Scale> precision = own_.builder.add(
                own_.auxiliary_name(piece, row, ".weight"), precision_of_variance(exponential_sd(0.5 * rate * rate)));
            own_.terms.set_tag(precision.model());
            set_handles(piece, row, own_.builder.add(node, normal(own_.argument(piece, 0, row), precision)));
            return;
        }
        const double df = own_.number(piece, 2, row);
        if (!(df > 0.0)) throw Refused(own_.place(piece, 2), "the degrees of freedom must be positive");
        const Variable<family::Gamma> weight =
            own_.builder.add(own_.auxiliary_name(piece, row, ".weight"), gamma(0.5 * df, 0.5 * df));
        own_.terms.set_tag(weight.model());
        const Expression mean = own_.argument(piece, 0, row);
        const Expression precision = own_.argument(piece, 1, row) * weight;
        const Variable<family::Normal> variable = own_.builder.add(node, normal(mean, precision));
        set_handles(piece, row, variable);
    }

    // Entries of a vector that are missing: variables of their own row.
    void declare_partly(const Piece& piece, Index row) {
        if (own_.distribution_name(piece) != "dmnorm") {
            throw Refused(own_.relation(piece).syntax->left.place,
                          fmt::format("{} is missing in part, which only a dmnorm node can be: give all of it, or none",
                                      own_.node_name(piece, row)));
        }
        const std::size_t array = own_.relation(piece).left.array;
        const bugs::Array& left = own_.left_array(piece);
        for (Index e = 0; e < own_.left_size(piece); ++e) {
            const Index element = own_.left_element(piece, row, e);
            if (left.states[static_cast<std::size_t>(element)] != bugs::State::unobserved) continue;
            const Variable<family::Normal> variable =
                own_.builder.add(left.element_name(element), flat(family::Normal{}));
            own_.terms.set_tag(variable.model());
            own_.terms.at(array, element) = {static_cast<std::int32_t>(variable.index()), 0, Form::number};
        }
    }

    // A normal one is a variable between its bounds; a lifetime that nobody sees adds the logarithm of how likely it is
    // to last so long, which observe_nodes does.
    void declare_censored(const Piece& piece, Index row) {
        const std::string& name = own_.distribution_name(piece);
        const auto [lower, upper] = own_.bounds(piece, row);
        const std::size_t array = own_.relation(piece).left.array;
        if (name == "dnorm") {
            if (piece.is_truncated && own_.usages[array].is_used()) refuse_unnormalised(piece, row);
            add_node(piece, row, flat(family::TruncatedNormal(lower, upper)));
            return;
        }
        const bool is_lifetime = name == "dexp" || name == "dweib";
        if (is_lifetime && !std::isfinite(upper) && !own_.usages[array].is_used()) {
            own_.terms.at(array, own_.left_element(piece, row)).form = Form::left_out;
            return;
        }
        throw Refused(own_.relation(piece).syntax->place,
                      fmt::format("{} ~ {} is censored, which only dnorm nodes can be, and dexp and dweib nodes from "
                                  "below on which nothing depends",
                                  own_.node_name(piece, row), name));
    }

    // An effect within bounds, whose density BUGS would not divide by what is between them.
    [[noreturn]] void refuse_unnormalised(const Piece& piece, Index row) const {
        throw Refused(
            own_.relation(piece).syntax->truncation->place,
            fmt::format("{} has bounds, its mean or precision depends on nodes, and other nodes depend on it: "
                        "I(,) is understood of censored data alone; make its parameters constants, or leave "
                        "out the bounds",
                        own_.node_name(piece, row)));
    }

    void leave_out(const Piece& piece, Index row) {
        const std::size_t array = own_.relation(piece).left.array;
        const std::string node = own_.node_name(piece, row);
        if (own_.usages[array].is_used()) {
            const std::string& name = own_.distribution_name(piece);
            const bool is_count = name != "dlnorm" && name != "dweib";
            throw Refused(
                own_.relation(piece).syntax->left.place,
                fmt::format("{} ~ {} is not observed, and other nodes depend on it: there is no family for "
                            "such a node; {}",
                            node, name,
                            is_count ? "observe it, or sum it out"
                                     : "give it dgamma where it is a precision, and dunif, dexp or dt(0, tau, "
                                       "k) T(0, ) where it is a standard deviation"));
        }
        for (Index e = 0; e < own_.left_size(piece); ++e) {
            own_.terms.at(array, own_.left_element(piece, row, e)).form = Form::left_out;
        }
        if (row == 0) {
            own_.notes.push_back(
                piece.size() == 1
                    ? fmt::format("{} is missing and nothing depends on it: it is left out", node)
                    : fmt::format("{} and {} more are missing and nothing depends on them: they are left out", node,
                                  piece.size() - 1));
        }
    }

    [[noreturn]] void refuse_truncation(const Piece& piece, Index row) const {
        const std::string node = own_.node_name(piece, row);
        throw Refused(own_.relation(piece).syntax->truncation->place,
                      fmt::format("{0} ~ {1} has bounds, which is understood of a standard deviation that enters as "
                                  "pow({0}, -2), of a variance or a precision, and of dnorm nodes with constant "
                                  "parameters; {0} is used otherwise: leave the bounds out, or, of a location, use "
                                  "dnorm(…) T(a, b) or dunif(a, b)",
                                  node, own_.distribution_name(piece)));
    }

    Declarations& own_;
};

}  // namespace

void declare_nodes(Declarations& declarations, bugs::Diagnostics& diagnostics) {
    const bugs::Graph& graph = declarations.graph();
    struct At {
        std::uint32_t piece = 0;
        std::uint32_t row = 0;
        bool is_here = false;
    };
    std::vector<std::vector<At>> where(graph.relations().size());
    for (std::size_t p = 0; p < declarations.pieces().size(); ++p) {
        const Piece& piece = declarations.pieces()[p];
        if (piece.left == Piece::Left::observed) continue;
        std::vector<At>& own = where[piece.relation];
        own.resize(static_cast<std::size_t>(graph.relations()[piece.relation].rows()));
        for (std::size_t n = 0; n < piece.rows.size(); ++n) {
            own[piece.rows[n]] = {static_cast<std::uint32_t>(p), static_cast<std::uint32_t>(n), true};
        }
    }
    Declaring declaring(declarations);
    for (const bugs::Step& step : graph.steps()) {
        const bugs::GraphRelation& relation = graph.relations()[step.relation];
        const std::vector<At>& own = where[step.relation];
        if (own.empty()) continue;
        const auto declare = [&](std::size_t row) {
            if (!own[row].is_here) return;
            declaring.declare(declarations.pieces()[own[row].piece], own[row].row);
        };
        try {
            if (step.is_all) {
                for (std::size_t row = 0; row < own.size(); ++row) declare(row);
            } else {
                for (const std::uint32_t row : step.rows) declare(row);
            }
        } catch (const Refused& refused) {
            if (*refused.what() != '\0') diagnostics.add(refused.place(), refused.what());
        } catch (const std::invalid_argument& error) {
            diagnostics.add(relation.syntax->right.place, error.what());
        }
    }
}

}  // namespace lrvb::detail::text
