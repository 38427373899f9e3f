#include "kind/model/symbolic.hpp"

#include "family/special.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <numbers>
#include <stdexcept>

namespace lrvb::detail::text {

namespace {

constexpr int kDeepestFunctions = 30;
constexpr std::size_t kMostTerms = 20'000;  // of a sum
constexpr std::size_t kLargest = 200'000;   // nodes and functions of a sum, those within functions too

void require_terms(std::size_t terms) {
    if (terms <= kMostTerms) return;
    throw TooLarge(
        fmt::format("this is a sum of {} products of nodes that are not known, which is more than {}: give "
                    "a part of it a distribution of its own",
                    terms, kMostTerms));
}

std::size_t size_of(const Sum& sum) {
    std::size_t size = 0;
    for (const Product& term : sum.terms) {
        for (const Factor& factor : term.factors) size += factor.size;
    }
    return size;
}

void require_size(std::size_t size) {
    if (size <= kLargest) return;
    throw TooLarge(
        fmt::format("this has more than {} functions and nodes when all deterministic nodes are put in: give "
                    "a part of it a distribution of its own",
                    kLargest));
}

NumberColumn combined(const NumberColumn& left, const NumberColumn& right,
                      const std::function<double(double, double)>& function) {
    if (left.size() == 1 && right.size() == 1) return NumberColumn::Constant(1, function(left[0], right[0]));
    const Index rows = std::max(left.size(), right.size());
    NumberColumn result(rows);
    for (Index n = 0; n < rows; ++n) {
        result[n] = function(left[left.size() == 1 ? 0 : n], right[right.size() == 1 ? 0 : n]);
    }
    return result;
}

NumberColumn product_of(const NumberColumn& left, const NumberColumn& right) {
    if (left.size() == 1) return left[0] * right;
    if (right.size() == 1) return right[0] * left;
    return left.cwiseProduct(right);
}

bool same_node(const Factor& left, const Factor& right) {
    return left.kind != Factor::Kind::function && left.kind == right.kind && left.array == right.array &&
           left.elements == right.elements;
}

Product multiplied(const Product& left, const Product& right) {
    Product result{product_of(left.coefficient, right.coefficient), left.factors};
    for (const Factor& factor : right.factors) {
        const auto found = std::find_if(result.factors.begin(), result.factors.end(),
                                        [&](const Factor& known) { return same_node(known, factor); });
        if (found == result.factors.end()) {
            result.factors.push_back(factor);
            continue;
        }
        found->power += factor.power;
        if (found->power == 0.0) result.factors.erase(found);
    }
    return result;
}

double number_function(const std::string& name, double x) {
    if (name == "exp") return std::exp(x);
    if (name == "log") return std::log(x);
    if (name == "sqrt") return std::sqrt(x);
    if (name == "abs") return std::abs(x);
    if (name == "logit") return std::log(x / (1.0 - x));
    if (name == "ilogit") return 1.0 / (1.0 + std::exp(-x));
    if (name == "phi") return 0.5 * std::erfc(-x / std::numbers::sqrt2);
    if (name == "cloglog") return std::log(-std::log1p(-x));
    if (name == "icloglog") return -std::expm1(-std::exp(x));
    if (name == "step") return x >= 0.0 ? 1.0 : 0.0;
    if (name == "round") return std::round(x);
    if (name == "trunc") return std::trunc(x);
    if (name == "sin") return std::sin(x);
    if (name == "cos") return std::cos(x);
    if (name == "!") return x == 0.0 ? 1.0 : 0.0;
    if (name == "loggam") return std::lgamma(x);
    if (name == "logfact") return std::lgamma(x + 1.0);
    throw std::logic_error("no function of a number: " + name);
}

std::function<double(double, double)> comparison(const std::string& name) {
    if (name == "equals" || name == "==") return [](double a, double b) { return a == b ? 1.0 : 0.0; };
    if (name == "!=") return [](double a, double b) { return a != b ? 1.0 : 0.0; };
    if (name == ">") return [](double a, double b) { return a > b ? 1.0 : 0.0; };
    if (name == ">=") return [](double a, double b) { return a >= b ? 1.0 : 0.0; };
    if (name == "<") return [](double a, double b) { return a < b ? 1.0 : 0.0; };
    if (name == "<=") return [](double a, double b) { return a <= b ? 1.0 : 0.0; };
    if (name == "&&") return [](double a, double b) { return a != 0.0 && b != 0.0 ? 1.0 : 0.0; };
    if (name == "||") return [](double a, double b) { return a != 0.0 || b != 0.0 ? 1.0 : 0.0; };
    if (name == "max") return [](double a, double b) { return std::max(a, b); };
    if (name == "min") return [](double a, double b) { return std::min(a, b); };
    return {};
}

// Names of functions of one number, as NodeFunction has them too where it can.
constexpr std::array<const char*, 17> kOfOne{"exp",   "log",    "sqrt",    "abs",      "logit", "ilogit",
                                             "phi",   "probit", "cloglog", "icloglog", "step",  "round",
                                             "trunc", "sin",    "cos",     "!",        "loggam"};

// exp(log x) is x.
std::optional<Sum> undone(const std::string& function, const Sum& argument) {
    if (argument.terms.size() != 1) return std::nullopt;
    const Product& term = argument.terms.front();
    if (term.factors.size() != 1 || term.factors.front().kind != Factor::Kind::function) return std::nullopt;
    const Factor& inner = term.factors.front();
    if (inner.power != 1.0 || term.coefficient.size() != 1 || term.coefficient[0] != 1.0) return std::nullopt;
    const std::array<std::pair<const char*, const char*>, 4> inverse{
        {{"exp", "log"}, {"ilogit", "logit"}, {"phi", "probit"}, {"icloglog", "cloglog"}}};
    for (const auto& [one, other] : inverse) {
        if ((function == one && inner.function == other) || (function == other && inner.function == one)) {
            return inner.arguments.front();
        }
    }
    return std::nullopt;
}

// Of max(0, min(1, p)), with p by a link: bounds that it cannot pass, so that p is all there is.
std::optional<Sum> unbounded(const std::string& function, const std::vector<Sum>& arguments) {
    if (arguments.size() != 2 || (function != "max" && function != "min")) return std::nullopt;
    const std::size_t bound = arguments[0].is_constant() ? 0 : 1;
    const Sum& other = arguments[1 - bound];
    if (!arguments[bound].is_constant() || other.terms.size() != 1) return std::nullopt;
    const Product& term = other.terms.front();
    const bool is_function = term.factors.size() == 1 && term.factors.front().kind == Factor::Kind::function &&
                             term.factors.front().power == 1.0 && (term.coefficient.array() == 1.0).all();
    if (!is_function) return std::nullopt;
    const std::string& name = term.factors.front().function;
    const bool is_probability = name == "ilogit" || name == "phi" || name == "icloglog";
    const NumberColumn limit = arguments[bound].constant();
    const bool passes = function == "max" ? (is_probability || name == "exp") && (limit.array() <= 0.0).all()
                                          : is_probability && (limit.array() >= 1.0).all();
    return passes ? std::optional<Sum>(other) : std::nullopt;
}

}  // namespace

bool Sum::is_constant() const {
    return std::ranges::all_of(terms, [](const Product& term) { return term.factors.empty(); });
}

NumberColumn Sum::constant() const {
    NumberColumn result = NumberColumn::Zero(1);
    for (const Product& term : terms) {
        result = combined(result, term.coefficient, [](double a, double b) { return a + b; });
    }
    return result;
}

double Sum::constant_at(Index row) const {
    double result = 0.0;
    for (const Product& term : terms) result += term.number(row);
    return result;
}

Sum constant_sum(const NumberColumn& column) {
    if ((column.array() == 0.0).all()) return {};
    return {{Product{column, {}}}};
}

Sum node_sum(std::size_t array, ElementColumn elements) {
    Factor factor;
    factor.array = array;
    factor.elements = std::move(elements);
    return {{Product{NumberColumn::Ones(1), {std::move(factor)}}}};
}

Sum function_sum(const std::string& function, std::vector<Sum> arguments) {
    Factor factor;
    factor.kind = Factor::Kind::function;
    factor.function = function;
    factor.arguments = std::move(arguments);
    for (const Sum& argument : factor.arguments) {
        factor.size += size_of(argument);
        for (const Product& term : argument.terms) {
            for (const Factor& inner : term.factors) factor.depth = std::max(factor.depth, inner.depth);
        }
    }
    require_size(factor.size);
    if (++factor.depth > kDeepestFunctions) {
        throw TooLarge(
            fmt::format("functions of nodes stand within each other more than {} times here: give one of "
                        "these nodes a distribution of its own",
                        kDeepestFunctions));
    }
    return {{Product{NumberColumn::Ones(1), {std::move(factor)}}}};
}

Choice constant_choice(const NumberColumn& column) {
    return {{}, {constant_sum(column)}};
}

void add_to(Sum& sum, const Sum& other) {
    for (const Product& term : other.terms) {
        const auto same = std::find_if(sum.terms.begin(), sum.terms.end(), [&](const Product& known) {
            return known.factors.size() == term.factors.size() && known.factors.size() <= 1 &&
                   (term.factors.empty() || (same_node(known.factors.front(), term.factors.front()) &&
                                             known.factors.front().power == term.factors.front().power));
        });
        if (same != sum.terms.end()) {
            same->coefficient = combined(same->coefficient, term.coefficient, std::plus<>());
            if ((same->coefficient.array() == 0.0).all()) sum.terms.erase(same);
        } else if (!(term.coefficient.array() == 0.0).all()) {
            sum.terms.push_back(term);
        }
    }
    require_terms(sum.terms.size());
}

Sum added(const Sum& left, const Sum& right) {
    Sum result = left;
    add_to(result, right);
    std::erase_if(result.terms, [](const Product& term) { return (term.coefficient.array() == 0.0).all(); });
    return result;
}

Sum scaled(const Sum& sum, const NumberColumn& by) {
    Sum result = sum;
    for (Product& term : result.terms) term.coefficient = product_of(term.coefficient, by);
    std::erase_if(result.terms, [](const Product& term) { return (term.coefficient.array() == 0.0).all(); });
    return result;
}

Sum multiplied(const Sum& left, const Sum& right) {
    require_terms(left.terms.size() * right.terms.size());
    require_size(left.terms.size() * size_of(right) + right.terms.size() * size_of(left));
    Sum result;
    for (const Product& one : left.terms) {
        for (const Product& other : right.terms) result.terms.push_back(multiplied(one, other));
    }
    return result;
}

Sum raised(const Sum& base, const Sum& exponent) {
    if (!exponent.is_constant()) return function_sum("^", {base, exponent});
    const NumberColumn powers = exponent.constant();
    if (base.is_constant()) {
        return constant_sum(combined(base.constant(), powers, [](double x, double p) { return std::pow(x, p); }));
    }
    const bool same = powers.size() == 1 || (powers.array() == powers[0]).all();
    if (!same) return function_sum("^", {base, exponent});
    const double power = powers[0];
    if (power == 0.0) return constant_sum(NumberColumn::Ones(1));
    if (power == 1.0) return base;
    if (base.terms.size() == 1) {
        const Product& term = base.terms.front();
        const bool is_whole = power == std::floor(power);
        if (is_whole || (term.coefficient.array() > 0.0).all()) {
            Sum result = base;
            Product& own = result.terms.front();
            own.coefficient = term.coefficient.unaryExpr([&](double c) { return std::pow(c, power); });
            for (Factor& factor : own.factors) factor.power *= power;
            return result;
        }
    }
    if (power == std::floor(power) && power > 1.0 && power <= 4.0) {
        Sum result = base;
        for (int i = 1; i < static_cast<int>(power); ++i) result = multiplied(result, base);
        return result;
    }
    return function_sum("^", {base, exponent});
}

namespace {

Sum one_less(const Sum& sum) {
    return added(constant_sum(NumberColumn::Constant(1, 1.0)), scaled(sum, NumberColumn::Constant(1, -1.0)));
}

// Whether it is step(…), a product of such, or one less that: 0 or 1.
bool is_truth(const Sum& sum) {
    const auto is_step = [](const Factor& factor) {
        return factor.kind == Factor::Kind::function && factor.function == "step" && factor.power == 1.0;
    };
    const auto has_number = [](const Product& term, double number) {
        return (term.coefficient.array() == number).all();
    };
    const auto is_steps = [&](const Product& term) {
        return !term.factors.empty() && std::ranges::all_of(term.factors, is_step);
    };
    if (sum.terms.size() == 1) return has_number(sum.terms[0], 1.0) && is_steps(sum.terms[0]);
    if (sum.terms.size() != 2) return false;
    const std::size_t rest = sum.terms[0].factors.empty() ? 1 : 0;
    const Product& number = sum.terms[1 - rest];
    return number.factors.empty() && has_number(number, 1.0) && has_number(sum.terms[rest], -1.0) &&
           is_steps(sum.terms[rest]);
}

// Comparisons of what is not known, and what is made of them, by step(x), which is one where x ≥ 0.
std::optional<Sum> by_steps(const std::string& function, const std::vector<Sum>& arguments) {
    const auto is_at_least = [](const Sum& left, const Sum& right) {
        return function_sum("step", {added(left, scaled(right, NumberColumn::Constant(1, -1.0)))});
    };
    if (function == ">=") return is_at_least(arguments[0], arguments[1]);
    if (function == "<=") return is_at_least(arguments[1], arguments[0]);
    if (function == ">") return one_less(is_at_least(arguments[1], arguments[0]));
    if (function == "<") return one_less(is_at_least(arguments[0], arguments[1]));
    if (!is_truth(arguments[0])) return std::nullopt;
    if (function == "!") return one_less(arguments[0]);
    if (function == "ifelse") {
        return added(multiplied(arguments[0], arguments[1]), multiplied(one_less(arguments[0]), arguments[2]));
    }
    if ((function != "&&" && function != "||") || !is_truth(arguments[1])) return std::nullopt;
    if (function == "&&") return multiplied(arguments[0], arguments[1]);
    return one_less(multiplied(one_less(arguments[0]), one_less(arguments[1])));
}

}  // namespace

bool is_elementwise(const std::string& function) {
    const bool is_operator = function == "+" || function == "-" || function == "*" || function == "/" ||
                             function == "^" || function == "ifelse";
    return is_operator || comparison(function) || std::find(kOfOne.begin(), kOfOne.end(), function) != kOfOne.end() ||
           function == "logfact";
}

Sum applied(const std::string& function, const std::vector<Sum>& arguments) {
    const NumberColumn minus = NumberColumn::Constant(1, -1.0);
    if (function == "+") return arguments.size() == 1 ? arguments[0] : added(arguments[0], arguments[1]);
    if (function == "-") {
        if (arguments.size() == 1) return scaled(arguments[0], minus);
        return added(arguments[0], scaled(arguments[1], minus));
    }
    if (function == "*") return multiplied(arguments[0], arguments[1]);
    if (function == "/") return multiplied(arguments[0], raised(arguments[1], constant_sum(minus)));
    if (function == "^") return raised(arguments[0], arguments[1]);
    if (function == "sqrt") return raised(arguments[0], constant_sum(NumberColumn::Constant(1, 0.5)));
    const bool constant = std::ranges::all_of(arguments, [](const Sum& sum) { return sum.is_constant(); });
    if (function == "ifelse" && arguments[0].is_constant()) {
        const NumberColumn condition = arguments[0].constant();
        const NumberColumn yes = condition.unaryExpr([](double c) { return c != 0.0 ? 1.0 : 0.0; });
        return added(scaled(arguments[1], yes), scaled(arguments[2], NumberColumn(1.0 - yes.array())));
    }
    if (const auto compare = comparison(function); compare && constant) {
        NumberColumn result = arguments[0].constant();
        for (std::size_t i = 1; i < arguments.size(); ++i) {
            result = combined(result, arguments[i].constant(), compare);
        }
        return constant_sum(result);
    }
    if (std::optional<Sum> truth = by_steps(function, arguments)) return *truth;
    if (std::optional<Sum> inside = unbounded(function, arguments)) return *inside;
    if (arguments.size() == 1 && constant && function != "probit") {
        return constant_sum(arguments[0].constant().unaryExpr([&](double x) { return number_function(function, x); }));
    }
    if (arguments.size() == 1) {
        if (std::optional<Sum> inner = undone(function, arguments[0])) return *inner;
    }
    return function_sum(function, arguments);
}

std::size_t size_of_terms(const Value& value) {
    std::size_t size = 1;
    for (const Choice& choice : value.elements) {
        for (const Sum& sum : choice.alternatives) {
            for (const Product& term : sum.terms) size += 1 + term.factors.size();
        }
    }
    return size;
}

std::vector<Choice> aligned(const std::vector<Choice>& choices) {
    std::vector<Selector> all;
    for (const Choice& choice : choices) {
        for (const Selector& selector : choice.selectors) {
            const bool known = std::ranges::any_of(all, [&](const Selector& one) { return one.same_as(selector); });
            if (!known) all.push_back(selector);
        }
    }
    if (all.empty()) return choices;
    Index combinations = 1;
    for (const Selector& selector : all) combinations *= selector.labels;
    if (combinations > 100000) throw std::length_error("too many combinations of labels");
    std::vector<Choice> result;
    for (const Choice& choice : choices) {
        Choice one{all, {}};
        for (Index c = 0; c < combinations; ++c) {
            Index own = 0;
            Index stride = 1;
            for (const Selector& selector : choice.selectors) {
                Index rest = c;
                for (const Selector& known : all) {
                    if (known.same_as(selector)) break;
                    rest /= known.labels;
                }
                own += stride * (rest % selector.labels);
                stride *= selector.labels;
            }
            one.alternatives.push_back(choice.alternatives[static_cast<std::size_t>(own)]);
        }
        result.push_back(std::move(one));
    }
    return result;
}

Choice applied(const std::string& function, const std::vector<Choice>& arguments) {
    const std::vector<Choice> over = aligned(arguments);
    Choice result{over.front().selectors, {}};
    for (std::size_t c = 0; c < over.front().alternatives.size(); ++c) {
        std::vector<Sum> sums;
        sums.reserve(over.size());
        for (const Choice& choice : over) sums.push_back(choice.alternatives[c]);
        result.alternatives.push_back(applied(function, sums));
    }
    return result;
}

namespace {

NumberColumn gathered(const NumberColumn& column, const std::vector<Index>& rows) {
    if (column.size() == 1) return column;
    NumberColumn result(static_cast<Index>(rows.size()));
    for (std::size_t n = 0; n < rows.size(); ++n) result[static_cast<Index>(n)] = column[rows[n]];
    return result;
}

ElementColumn gathered(const ElementColumn& column, const std::vector<Index>& rows) {
    if (column.size() == 1) return column;
    ElementColumn result(rows.size());
    for (std::size_t n = 0; n < rows.size(); ++n) result[n] = column[static_cast<std::size_t>(rows[n])];
    return result;
}

}  // namespace

Sum gathered(const Sum& sum, const std::vector<Index>& rows) {
    Sum result = sum;
    for (Product& term : result.terms) {
        term.coefficient = gathered(term.coefficient, rows);
        for (Factor& factor : term.factors) {
            if (factor.kind == Factor::Kind::function) {
                for (Sum& argument : factor.arguments) argument = gathered(argument, rows);
            } else {
                factor.elements = gathered(factor.elements, rows);
            }
        }
    }
    return result;
}

Value gathered(const Value& value, const std::vector<Index>& rows) {
    Value result = value;
    for (Choice& choice : result.elements) {
        for (Selector& selector : choice.selectors) selector.elements = gathered(selector.elements, rows);
        for (Sum& sum : choice.alternatives) sum = gathered(sum, rows);
    }
    return result;
}

Sum at_row(const Sum& sum, Index row) {
    Sum result;
    for (const Product& term : sum.terms) {
        const double number = term.number(row);
        if (number == 0.0) continue;
        Product one{NumberColumn::Constant(1, number), term.factors};
        for (Factor& factor : one.factors) {
            if (factor.kind == Factor::Kind::function) {
                for (Sum& argument : factor.arguments) argument = at_row(argument, row);
            } else {
                factor.elements = {factor.element(row)};
            }
        }
        result.terms.push_back(std::move(one));
    }
    return result;
}

bool same(const Sum& left, const Sum& right) {
    // A single one stands for all.
    const auto same_columns = [](const auto& one, const auto& other) {
        const auto rows = std::max(std::size(one), std::size(other));
        for (std::size_t n = 0; n < static_cast<std::size_t>(rows); ++n) {
            const auto at = [n](const auto& column) {
                return *(column.begin() + (std::size(column) == 1 ? 0 : static_cast<std::ptrdiff_t>(n)));
            };
            if (at(one) != at(other)) return false;
        }
        return true;
    };
    const auto same_factor = [&](const Factor& one, const Factor& other) {
        return one.kind == other.kind && one.array == other.array && same_columns(one.elements, other.elements) &&
               one.power == other.power && one.function == other.function &&
               std::ranges::equal(one.arguments, other.arguments, same);
    };
    return std::ranges::equal(left.terms, right.terms, [&](const Product& one, const Product& other) {
        return same_columns(one.coefficient, other.coefficient) &&
               std::ranges::equal(one.factors, other.factors, same_factor);
    });
}

void visit_factors(const Sum& sum, const std::function<void(const Factor&)>& visit) {
    for (const Product& term : sum.terms) {
        for (const Factor& factor : term.factors) {
            visit(factor);
            for (const Sum& argument : factor.arguments) visit_factors(argument, visit);
        }
    }
}

}  // namespace lrvb::detail::text
