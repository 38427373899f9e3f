#include "formula/calls.hpp"

#include "base/messages.hpp"
#include "bugs/nearest.hpp"
#include "formula/term/latent_term.hpp"

#include <lrvb/formula/formula.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string_view>

namespace lrvb::detail {

namespace {

using Kind = Expression::Kind;

constexpr int kHighestDegree = 20;
constexpr std::array<std::string_view, 8> kNumberFunctions{"log", "log2",  "log10", "log1p",
                                                           "exp", "expm1", "sqrt",  "abs"};
constexpr std::array<std::string_view, 6> kOtherFunctions{"I", "poly", "scale", "factor", "C", "offset"};

std::optional<bool> flag_of(const Expression& expression) {
    if (expression.kind != Kind::column) return std::nullopt;
    if (expression.text == "TRUE" || expression.text == "T" || expression.text == "True") return true;
    if (expression.text == "FALSE" || expression.text == "F" || expression.text == "False") return false;
    return std::nullopt;
}

void require_first(const FormulaSyntax& formula, const Expression& call) {
    if (!call.parts.empty() && call.parts.front().kind != Kind::argument) return;
    throw FormulaError(fmt::format("{}() lacks what it is of, its first argument", call.text), formula.text,
                       call.begin);
}

bool flag_argument(const FormulaSyntax& formula, const Expression& argument) {
    const Expression& value = argument.kind == Kind::argument ? argument.parts.front() : argument;
    const std::optional<bool> flag = flag_of(value);
    if (flag) return *flag;
    throw FormulaError("this must be TRUE or FALSE", formula.text, value.begin);
}

[[noreturn]] void refuse_function(const FormulaSyntax& formula, const Expression& call) {
    std::vector<std::string_view> known(kNumberFunctions.begin(), kNumberFunctions.end());
    known.insert(known.end(), kOtherFunctions.begin(), kOtherFunctions.end());
    for (const LatentTermKind* kind : latent_term_kinds()) known.push_back(kind->word());
    const std::string nearest = bugs::nearest_name(call.text, known);
    refuse(formula,
           fmt::format("there is no function {}{}: there are {} and, as a response, cbind", shown(call.text),
                       nearest.empty() ? "" : fmt::format(" (did you mean {}?)", nearest), fmt::join(known, ", ")),
           call.begin);
}

}  // namespace

void refuse(const FormulaSyntax& formula, const std::string& sentence, std::size_t place) {
    throw FormulaError(sentence, formula.text, place);
}

bool is_number_function(const std::string& name) {
    return std::find(kNumberFunctions.begin(), kNumberFunctions.end(), name) != kNumberFunctions.end();
}

void require_arguments(const FormulaSyntax& formula, const Expression& call, std::size_t least, std::size_t most) {
    if (call.parts.size() < least) refuse(formula, fmt::format("{}() lacks an argument", call.text), call.begin);
    if (call.parts.size() > most) {
        refuse(formula, fmt::format("{}() takes no argument more than {}", call.text, most), call.parts[most].begin);
    }
    for (std::size_t i = 0; i < least; ++i) {
        if (call.parts[i].kind == Kind::argument) {
            refuse(formula, fmt::format("{}() has no argument called {}", call.text, shown(call.parts[i].text)),
                   call.parts[i].begin);
        }
    }
}

void require_numbers(const FormulaSyntax& formula, const Expression& expression) {
    switch (expression.kind) {
        case Kind::number:
        case Kind::column:
            return;
        case Kind::dot:
            refuse(formula, ". stands for terms, and has no place in arithmetic", expression.begin);
        case Kind::interaction:
            refuse(formula, ": joins terms, and has no place in arithmetic", expression.places.front());
        case Kind::bar:
            refuse(formula, "| has no place in arithmetic", expression.places.front());
        case Kind::argument:
            refuse(formula, fmt::format("arguments have no names here, such as {}", shown(expression.text)),
                   expression.begin);
        case Kind::call:
            require_number_call(formula, expression);
            return;
        default:
            for (const Expression& part : expression.parts) require_numbers(formula, part);
    }
}

void require_number_call(const FormulaSyntax& formula, const Expression& call) {
    if (call.text == "scale") {
        scale_call(formula, call);
        require_numbers(formula, call.parts.front());
    } else if (call.text == "I" || is_number_function(call.text)) {
        require_arguments(formula, call, 1, 1);
        require_numbers(formula, call.parts.front());
    } else if (is_latent_call(call) || call.text == "poly" || call.text == "factor" || call.text == "C" ||
               call.text == "offset" || call.text == "cbind") {
        refuse(formula, fmt::format("{}() has no place in arithmetic", call.text), call.begin);
    } else {
        refuse_function(formula, call);
    }
}

std::string factor_column(const FormulaSyntax& formula, const Expression& call) {
    require_arguments(formula, call, 1, 1);
    const Expression& argument = unwrapped(call.parts.front());
    if (argument.kind != Kind::column) {
        refuse(formula,
               fmt::format("{}() takes a column, and no more: its levels are sorted, and a baseline is chosen by "
                           "name",
                           call.text),
               argument.begin);
    }
    return argument.text;
}

bool is_latent_call(const Expression& expression) {
    return expression.kind == Kind::call && find_latent_term(expression.text) != nullptr;
}

const Expression& latent_column(const FormulaSyntax& formula, const Expression& call) {
    if (call.parts.size() != 1 || unwrapped(call.parts.front()).kind != Kind::column) {
        refuse(formula, fmt::format("{}() takes one column, as in {}(t)", call.text, call.text), call.begin);
    }
    return unwrapped(call.parts.front());
}

PolynomialCall polynomial_call(const FormulaSyntax& formula, const Expression& call) {
    require_first(formula, call);
    PolynomialCall result;
    for (std::size_t i = 1; i < call.parts.size(); ++i) {
        const Expression& argument = call.parts[i];
        const bool is_named = argument.kind == Kind::argument;
        const Expression& value = is_named ? argument.parts.front() : argument;
        if (is_named && argument.text == "raw") {
            result.raw = flag_argument(formula, argument);
        } else if (is_named ? argument.text == "degree" : i == 1) {
            const double degree = value.number;
            if (value.kind != Kind::number || degree < 1.0 || degree > kHighestDegree || degree != std::floor(degree)) {
                throw FormulaError(fmt::format("the degree of poly() is a whole number from 1 to {}", kHighestDegree),
                                   formula.text, value.begin);
            }
            result.degree = static_cast<int>(degree);
        } else {
            throw FormulaError("poly() takes what it is of, a degree, and raw = TRUE", formula.text, argument.begin);
        }
    }
    return result;
}

ScaleCall scale_call(const FormulaSyntax& formula, const Expression& call) {
    require_first(formula, call);
    ScaleCall result;
    for (std::size_t i = 1; i < call.parts.size(); ++i) {
        const Expression& argument = call.parts[i];
        const bool is_named = argument.kind == Kind::argument;
        if (is_named ? argument.text == "center" : i == 1) {
            result.centres = flag_argument(formula, argument);
        } else if (is_named ? argument.text == "scale" : i == 2) {
            result.scales = flag_argument(formula, argument);
        } else {
            throw FormulaError("scale() takes what it is of, and center and scale, which are TRUE or FALSE",
                               formula.text, argument.begin);
        }
    }
    return result;
}

}  // namespace lrvb::detail
