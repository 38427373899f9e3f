#include "kind/model/terms.hpp"

#include <fmt/format.h>

#include <cmath>

namespace lrvb::detail::text {

Terms::Terms(const bugs::Graph& graph) : graph_(graph) {
    for (const bugs::Array& array : graph.arrays()) {
        const bool has_nodes = array.count(bugs::State::unobserved) > 0;
        handles_.emplace_back(has_nodes ? static_cast<std::size_t>(array.size()) : 0);
    }
}

std::string Terms::name(const Factor& factor, Index row) const {
    return graph_.arrays()[factor.array].element_name(factor.element(row));
}

std::string Terms::described(const Factor& factor, Index row) const {
    const bugs::Array& array = graph_.arrays()[factor.array];
    const auto relation = static_cast<std::size_t>(array.relations[static_cast<std::size_t>(factor.element(row))]);
    return fmt::format("{} ~ {}", name(factor, row), graph_.relations()[relation].syntax->right.name);
}

namespace {

std::string_view remedy_for(std::string_view function) {
    if (function == "exp") {
        return "a log link is understood where it alone is the mean of dpois, or the rate of dexp or dweib, and no "
               "other node stands beside a link: bring that into the predictor, log(mu) <- … + a with a ~ dnorm(m, "
               "t); elsewhere give exp(…) a name and a prior of its own, such as tau ~ dgamma(a, b)";
    }
    if (function == "ilogit" || function == "phi" || function == "icloglog") {
        return "a link is understood where it alone is the probability of dbern or dbin, and no discrete node chooses; "
               "elsewhere give the probability a prior of its own, p ~ dbeta(a, b)";
    }
    if (function == "logit" || function == "probit" || function == "cloglog") {
        return "begin at the other side: give the logit a prior, a ~ dnorm(m, t), and write logit(p) <- a";
    }
    if (function == "inverse") {
        return "a precision matrix is a dwish node: give it that prior, and take the covariances from its inverse";
    }
    if (function == "step" || function == "==" || function == ">" || function == "<" || function == ">=" ||
        function == "<=") {
        return "let a dcat node choose instead, with a label for each place where it may change";
    }
    return "write what is here as a sum of products of nodes";
}

}  // namespace

Expression Terms::atom(const Handle& handle) const {
    return {Atom{handle.variable, handle.statistic}, tag_};
}

Expression Terms::power(const Factor& factor, Index row, const bugs::Place& place) const {
    if (factor.kind == Factor::Kind::function) {
        std::string inside;
        for (const Sum& argument : factor.arguments) {
            visit_factors(argument, [&](const Factor& inner) {
                if (inside.empty() && inner.kind != Factor::Kind::function) inside = described(inner, row);
            });
        }
        const std::string function = factor.function.substr(0, factor.function.find(':'));
        throw Refused(place,
                      fmt::format("{} enters by {}, so the model is not conditionally conjugate in it: {}", inside,
                                  function == "^" ? "a power that is no constant, or of a sum" : function + "(…)",
                                  remedy_for(function)));
    }
    const Handle& handle = at(factor.array, factor.element(row));
    const auto refuse = [&](const std::string& reason) {
        throw Refused(place, fmt::format("{} {}", described(factor, row), reason));
    };
    const double p = factor.power;
    if (factor.kind == Factor::Kind::complement) {
        refuse("enters as 1 - " + name(factor, row) +
               ", but of a probability only its logarithms are conjugate: use it in dbern, dbin, dcat or dmulti");
    }
    switch (handle.form) {
        case Form::zero:
            return 0.0;
        case Form::one:
            return 1.0;
        case Form::positive:
        case Form::matrix:
            if (p == 1.0) return atom(handle);
            refuse(fmt::format("enters to the power {:g}, but is conjugate only as it is: {}", p,
                               p == -2.0 ? "give its prior to the precision, tau ~ dgamma(…), and take the sd from it"
                               : p == -1.0 ? "give its prior to the precision, and take the variance from it"
                                           : "write the model with the node that has this prior"));
            break;
        case Form::precision_of_sd:
            if (p == -2.0) return atom(handle);
            refuse(
                fmt::format("is a standard deviation, and can be used as the precision pow({0}, -2) alone, but "
                            "enters to the power {1:g}: write the rest of the model by that precision",
                            name(factor, row), p));
            break;
        case Form::precision_of_variance:
            if (p == -1.0) return atom(handle);
            refuse(
                fmt::format("is a variance, and can be used as the precision 1 / {0} alone, but enters to the power "
                            "{1:g}: write the rest of the model by that precision",
                            name(factor, row), p));
            break;
        case Form::number:
        case Form::bounded:
        case Form::indicator: {
            if (!(p == std::floor(p) && p >= 1.0 && p <= 4.0)) {
                refuse(
                    fmt::format("enters to the power {:g}, so the model is not conditionally conjugate in it: a normal "
                                "node enters means linearly",
                                p));
            }
            Expression result = atom(handle);
            for (int i = 1; i < static_cast<int>(p); ++i) result = result * atom(handle);
            return result;
        }
        case Form::probability:
        case Form::part:
            if (p == 1.0) return atom(handle);
            refuse(
                "enters to a power, but of a probability only its logarithms are conjugate: use it in dbern, dbin, "
                "dcat or dmulti");
            break;
        case Form::label:
        case Form::clustered:
        case Form::summed_out:
            refuse("is a label, and has no value to compute with: use it as an index");
            break;
        case Form::none:
        case Form::left_out:
            throw Refused(place, "");  // what it is was refused before
    }
    return 0.0;
}

Expression Terms::polynomial(const Sum& sum, Index row, const bugs::Place& place) const {
    Expression result;
    for (const Product& term : sum.terms) {
        const double number = term.number(row);
        if (number == 0.0) continue;
        Expression product = number;
        for (const Factor& factor : term.factors) product = product * power(factor, row, place);
        result += product;
    }
    return result;
}

std::optional<Expression> Terms::log_probability(const Sum& sum, Index row, const bugs::Place& place) const {
    const Sum own = at_row(sum, row);
    if (own.terms.empty()) return std::nullopt;
    if (own.terms.size() > 1) {
        const Factor* first = nullptr;
        for (const Product& term : own.terms) {
            if (!term.factors.empty() && first == nullptr) first = &term.factors.front();
        }
        if (first != nullptr && first->kind == Factor::Kind::function) first = nullptr;
        throw Refused(place,
                      fmt::format("this probability is a sum{}, whose logarithm is not conjugate to anything: a "
                                  "probability is a dbeta or ddirch node, a product of such nodes, or a constant",
                                  first == nullptr ? "" : " with " + described(*first, 0)));
    }
    const Product& term = own.terms.front();
    const double number = term.number(0);
    if (!(number > 0.0)) {
        throw Refused(place, fmt::format("this probability has the factor {:g}, but must be positive", number));
    }
    Expression result = std::log(number);
    for (const Factor& factor : term.factors) {
        if (factor.kind == Factor::Kind::function) static_cast<void>(power(factor, 0, place));  // refuses
        const Handle& handle = at(factor.array, factor.element(0));
        const bool is_complement = factor.kind == Factor::Kind::complement;
        if (handle.form == Form::zero || handle.form == Form::one) {
            if (is_complement == (handle.form == Form::zero)) continue;  // the factor is one
            return std::nullopt;
        }
        if (handle.form == Form::probability) {
            result += factor.power * Expression(Atom{handle.variable, is_complement ? 1 : 0}, tag_);
        } else if (handle.form == Form::part && !is_complement) {
            result += factor.power * Expression(Atom{handle.variable, Atom::not_a_statistic - handle.statistic}, tag_);
        } else {
            throw Refused(place, fmt::format("{} enters a probability, which is conjugate to dbeta and ddirch nodes "
                                             "alone: give it such a prior, or use logit(p) <- …",
                                             described(factor, 0)));
        }
    }
    return result;
}

}  // namespace lrvb::detail::text
