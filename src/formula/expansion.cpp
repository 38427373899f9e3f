#include "formula/expansion.hpp"

#include "base/messages.hpp"
#include "formula/calls.hpp"
#include "formula/grouping.hpp"
#include "formula/term/latent_term.hpp"

#include <lrvb/formula/formula.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <unordered_map>
#include <unordered_set>

namespace lrvb::detail {

namespace {

using Kind = Expression::Kind;

constexpr std::size_t kMostTerms = 20'000;

struct TermHash {
    std::size_t operator()(const TermParts& term) const {
        std::size_t hash = term.size();
        for (const std::size_t part : term) hash = hash * 0x9E3779B97F4A7C15U + part + 1;
        return hash;
    }
};

/// Terms in order of appearance, each once, and what was said of the intercept.
struct TermSet {
    std::vector<TermParts> terms;
    std::unordered_set<TermParts, TermHash> known;
    std::optional<bool> intercept;

    void add(const TermParts& term) {
        if (known.insert(term).second) terms.push_back(term);
    }
    void remove(const TermSet& other) {
        for (const TermParts& term : other.terms) known.erase(term);
        std::erase_if(terms, [&](const TermParts& term) { return !known.contains(term); });
    }
};

TermParts joined(const TermParts& left, const TermParts& right) {
    TermParts result;
    std::set_union(left.begin(), left.end(), right.begin(), right.end(), std::back_inserter(result));
    return result;
}

class Expander {
  public:
    Expander(const FormulaSyntax& formula, const ColumnRoles& roles) : formula_(formula), roles_(roles) {}

    Expansion run() {
        const Expression& right = formula_.right;
        if (right.kind == Kind::bar) {
            refuse("| stands in parentheses of its own, as in (1 | group)", right.places.front());
        }
        require_response();
        TermSet terms;
        add_addends(right, true, terms);
        require_lines(terms);
        result_.intercept = terms.intercept.value_or(true);
        result_.terms = by_order(std::move(terms.terms));
        refuse_response();
        require_different_effects();
        if (!result_.intercept && result_.terms.empty() && result_.random.empty() && result_.latent.empty() &&
            !has_dot(right)) {
            refuse("nothing is left to explain the response: give it an intercept or a term", right.begin);
        }
        result_.parts = std::move(parts_);
        return std::move(result_);
    }

  private:
    [[noreturn]] void refuse(const std::string& sentence, std::size_t place) const {
        detail::refuse(formula_, sentence, place);
    }

    void require_response() const {
        const Expression& response = unwrapped(formula_.response);
        const bool is_pair = response.kind == Kind::call && response.text == "cbind";
        if (is_pair && response.parts.size() != 2) {
            refuse("cbind() as a response takes two arguments, successes and failures", response.begin);
        }
        for (const Expression* part : response_parts(formula_)) require_numbers(formula_, *part);
    }

    static std::vector<TermParts> by_order(std::vector<TermParts> terms) {
        std::stable_sort(terms.begin(), terms.end(),
                         [](const TermParts& a, const TermParts& b) { return a.size() < b.size(); });
        return terms;
    }

    /// A side of a formula, or what stands before |: addends, some of which are no terms.
    void add_addends(const Expression& side, bool is_whole, TermSet& terms) {
        if (side.kind != Kind::sum) {
            add_addend(side, '+', side.begin, is_whole, terms);
            return;
        }
        for (std::size_t i = 0; i < side.parts.size(); ++i) {
            add_addend(side.parts[i], side.operators[i], side.places[i], is_whole, terms);
        }
    }

    void add_addend(const Expression& addend, char sign, std::size_t place, bool is_whole, TermSet& terms) {
        const Expression& meant = unwrapped(addend);
        if (meant.kind == Kind::bar) {
            if (!is_whole) refuse("a random term stands within another: join it by + outside of it", addend.begin);
            if (sign == '-') refuse("a random term cannot be taken away: leave it out", place);
            add_random(meant);
            return;
        }
        if (meant.kind == Kind::call && meant.text == "offset") {
            if (!is_whole) refuse("an offset has no part in a random term: join it by + outside of it", addend.begin);
            if (sign == '-') refuse("an offset cannot be taken away: leave it out, or negate what it is of", place);
            require_arguments(formula_, meant, 1, 1);
            require_numbers(formula_, meant.parts.front());
            result_.offsets.push_back(&meant.parts.front());
            return;
        }
        if (is_latent_call(meant)) {
            if (!is_whole) {
                refuse(fmt::format("{}() has no part in a random term: join it by + outside of it", meant.text),
                       addend.begin);
            }
            if (sign == '-') refuse(fmt::format("{}() cannot be taken away: leave it out", meant.text), place);
            add_latent(meant, terms);
            return;
        }
        if (meant.kind == Kind::sum && addend.kind == Kind::parentheses && sign == '+') {
            add_addends(meant, is_whole, terms);
            return;
        }
        TermSet others = expand(addend);
        if (sign == '-') {
            terms.remove(others);
            if (others.intercept) terms.intercept = !*others.intercept;
            return;
        }
        for (const TermParts& term : others.terms) terms.add(term);
        if (others.intercept) terms.intercept = others.intercept;
        require_few(terms, addend.begin);
    }

    void add_latent(const Expression& call, TermSet& terms) {
        const Expression& column = latent_column(formula_, call);
        LatentPart part{call.text, written(call), column.text, call.begin};
        for (const LatentPart& known : result_.latent) {
            if (known.name == part.name)
                refuse(fmt::format("{} stands twice: leave it out once", part.name), part.place);
        }
        if (roles_.is_factor(column.text)) {
            refuse(fmt::format("{} needs numbers, but {} is a factor: leave it out there, or take another term",
                               part.name, shown(column.text)),
                   column.begin);
        }
        if (find_latent_term(call.text)->has_line()) terms.add({part_of(column)});
        result_.latent.push_back(std::move(part));
    }

    /// A term whose prior leaves a line free has that line among the fixed effects.
    void require_lines(const TermSet& terms) const {
        for (const LatentPart& part : result_.latent) {
            if (!find_latent_term(part.word)->has_line()) continue;
            const auto line = places_.find("c:" + part.column);
            if (line != places_.end() && terms.known.contains({line->second})) continue;
            refuse(fmt::format("{} is a line and what departs from it: do not take {} away", part.name,
                               shown(part.column)),
                   part.place);
        }
    }

    void require_few(const TermSet& terms, std::size_t place) const {
        if (terms.terms.size() <= kMostTerms) return;
        refuse(fmt::format("these are more than {} terms, too many", kMostTerms), place);
    }

    /// What stands in a product, of which 1 is the empty part.
    static std::vector<TermParts> factors_of(const TermSet& set) {
        std::vector<TermParts> result = set.terms;
        if (set.intercept.value_or(false)) result.insert(result.begin(), TermParts());
        return result;
    }

    void add_joined(const TermSet& left, const TermSet& right, TermSet& result, std::size_t place) const {
        for (const TermParts& a : factors_of(left)) {
            for (const TermParts& b : factors_of(right)) {
                TermParts both = joined(a, b);
                if (both.empty()) {
                    result.intercept = true;
                } else {
                    result.add(both);
                }
            }
            require_few(result, place);
        }
    }

    static void add_all(const TermSet& from, TermSet& result) {
        for (const TermParts& term : from.terms) result.add(term);
        if (from.intercept) result.intercept = from.intercept;
    }

    TermSet expand(const Expression& expression) {
        switch (expression.kind) {
            case Kind::parentheses:
                return expand(expression.parts.front());
            case Kind::number:
                return number(expression);
            case Kind::dot:
                return dot(expression);
            case Kind::column:
            case Kind::call:
                return single(part_of(expression));
            case Kind::sum:
                return sum(expression);
            case Kind::product:
                return product(expression);
            case Kind::interaction: {
                TermSet result = expand(expression.parts.front());
                for (std::size_t i = 1; i < expression.parts.size(); ++i) {
                    TermSet next;
                    add_joined(result, expand(expression.parts[i]), next, expression.places[i - 1]);
                    result = std::move(next);
                }
                return result;
            }
            case Kind::power:
                return power(expression);
            case Kind::sign:
                refuse("a sign stands here before a part of a term: arithmetic stands in I(), as in I(-x)",
                       expression.begin);
            case Kind::bar:
                refuse("a random term is joined to others by + alone, in parentheses of its own, as in x + (1 | group)",
                       expression.places.front());
            case Kind::argument:
                break;
        }
        refuse("this is no term", expression.begin);
    }

    TermSet single(std::size_t part) const {
        TermSet result;
        result.add({part});
        return result;
    }

    TermSet number(const Expression& expression) const {
        if (expression.number != 0.0 && expression.number != 1.0) {
            refuse(
                "a number among the terms is 0 or 1, without and with an intercept: arithmetic stands in I(), as in "
                "I(2 * x)",
                expression.begin);
        }
        TermSet result;
        result.intercept = expression.number == 1.0;
        return result;
    }

    TermSet dot(const Expression& expression) {
        TermSet result;
        for (const std::string& column : roles_.dot) {
            TermPart part;
            part.kind = roles_.is_factor(column) ? TermPart::Kind::factor : TermPart::Kind::number;
            part.name = column;
            part.is_column = true;
            part.place = expression.begin;
            result.add({place_of(part)});
        }
        return result;
    }

    TermSet sum(const Expression& expression) {
        TermSet result;
        for (std::size_t i = 0; i < expression.parts.size(); ++i) {
            const Expression& part = expression.parts[i];
            const Expression& meant = unwrapped(part);
            if (meant.kind == Kind::call && meant.text == "offset") {
                refuse("an offset has no part in a product of terms: join it by + to all of them", part.begin);
            }
            const TermSet next = expand(part);
            if (expression.operators[i] == '-') {
                result.remove(next);
                if (next.intercept) result.intercept = !*next.intercept;
            } else {
                add_all(next, result);
            }
            require_few(result, part.begin);
        }
        return result;
    }

    TermSet product(const Expression& expression) {
        TermSet result = expand(expression.parts.front());
        for (std::size_t i = 1; i < expression.parts.size(); ++i) {
            const TermSet right = expand(expression.parts[i]);
            TermSet next;
            add_all(result, next);
            if (expression.operators[i - 1] == '*') {
                add_all(right, next);
                add_joined(result, right, next, expression.places[i - 1]);
            } else {
                // a/b is a + a:b, and (a + b)/c is a + b + a:b:c.
                TermSet all;
                TermParts together;
                for (const TermParts& term : result.terms) together = joined(together, term);
                if (!together.empty()) all.add(together);
                add_joined(all, right, next, expression.places[i - 1]);
            }
            result = std::move(next);
        }
        return result;
    }

    TermSet power(const Expression& expression) {
        TermSet result = expand(expression.parts.front());
        for (std::size_t i = 1; i < expression.parts.size(); ++i) {
            const Expression& exponent = unwrapped(expression.parts[i]);
            const double times = exponent.number;
            if (exponent.kind != Kind::number || times < 1.0 || times > 100.0 || times != std::floor(times)) {
                refuse(
                    "the power of terms is a whole number from 1, which says how many of them a term may have: "
                    "arithmetic stands in I(), as in I(x^2)",
                    expression.places[i - 1]);
            }
            const TermSet base = result;
            for (int k = 1; k < static_cast<int>(times); ++k) {
                const std::size_t before = result.terms.size();
                TermSet next;
                add_all(result, next);
                add_joined(result, base, next, expression.places[i - 1]);
                result = std::move(next);
                if (result.terms.size() == before) break;
            }
        }
        return result;
    }

    void add_random(const Expression& bar) {
        if (bar.parts.size() != 2) refuse("a random term has one |", bar.places[1]);
        TermSet terms;
        const Expression& effects = bar.parts[0];
        if (has_dot(effects)) refuse("name the columns of a random term: . is for the other terms", effects.begin);
        add_addends(effects, false, terms);
        const bool intercept = terms.intercept.value_or(true);
        const std::vector<TermParts> ordered = by_order(std::move(terms.terms));
        if (!intercept && ordered.empty()) {
            refuse("the random term has no effect: write (1 | group) for one of each group", effects.begin);
        }
        for (const std::vector<std::string>& columns : groups_of(formula_, bar.parts[1])) {
            if (bar.operators.front() == '|') {
                result_.random.push_back({columns, intercept, ordered, bar.begin});
                continue;
            }
            // Each on its own: a factor has all its levels, which are correlated, as lme4 has it.
            if (intercept) result_.random.push_back({columns, true, {}, bar.begin});
            for (const TermParts& term : ordered) result_.random.push_back({columns, false, {term}, bar.begin});
        }
    }

    std::size_t part_of(const Expression& expression) {
        TermPart part;
        part.place = expression.begin;
        part.expression = &expression;
        if (expression.kind == Kind::column) {
            part.name = expression.text;
            if (roles_.is_factor(expression.text)) part.kind = TermPart::Kind::factor;
        } else if (expression.text == "factor" || expression.text == "C") {
            part.kind = TermPart::Kind::factor;
            part.name = factor_column(formula_, expression);
        } else if (expression.text == "poly") {
            const PolynomialCall call = polynomial_call(formula_, expression);
            require_numbers(formula_, expression.parts.front());
            part.kind = TermPart::Kind::polynomial;
            part.name = written(expression);
            part.expression = &expression;
            part.degree = call.degree;
            part.raw = call.raw;
        } else if (expression.text == "offset") {
            refuse("an offset has no part in a product of terms: join it by + to all of them", expression.begin);
        } else if (is_latent_call(expression)) {
            refuse(fmt::format("{}() has no part in a product of terms: join it by + to the others", expression.text),
                   expression.begin);
        } else if (expression.text == "cbind") {
            refuse("cbind() is for the response alone", expression.begin);
        } else {
            require_number_call(formula_, expression);
            part.name = written(expression);
        }
        return place_of(part);
    }

    std::size_t place_of(const TermPart& part) {
        // A column and an expression may be written alike where the column is called "log(x)".
        const bool is_plain = part.is_column || (part.expression != nullptr && part.expression->kind == Kind::column);
        const std::string key = fmt::format("{}{}",
                                            part.kind == TermPart::Kind::factor ? "f:"
                                            : is_plain                          ? "c:"
                                                                                : "e:",
                                            part.name);
        const auto [known, is_new] = places_.try_emplace(key, parts_.size());
        if (is_new) parts_.push_back(part);
        return known->second;
    }

    void refuse_response() const {
        for (const Expression* response : response_parts(formula_)) {
            const bool is_column = response->kind == Kind::column;
            const std::string name = is_column ? response->text : written(*response);
            for (const TermParts& term : result_.terms) {
                for (const std::size_t place : term) {
                    const TermPart& part = parts_[place];
                    const bool is_plain = part.is_column || part.expression->kind == Kind::column;
                    if (part.name != name || (is_plain != is_column && part.kind == TermPart::Kind::number)) continue;
                    refuse(fmt::format("the response {} is also a term: leave it out there", shown(name)), part.place);
                }
            }
            for (const LatentPart& part : result_.latent) {
                if (!is_column || part.column != name) continue;
                refuse(fmt::format("the response {} is also a term: leave it out there", shown(name)), part.place);
            }
        }
    }

    /// An effect of a group that is in two random terms would have two names that are one.
    void require_different_effects() const {
        std::unordered_set<std::string> seen;
        for (const RandomPart& random : result_.random) {
            std::vector<std::string> effects;
            if (random.intercept) effects.emplace_back();
            for (const TermParts& term : random.terms) {
                std::string name;
                for (const std::size_t part : term) name += fmt::format("{}:", part);
                effects.push_back(name);
            }
            std::string group;
            for (const std::string& column : random.columns) group += fmt::format("{}\n{}", column.size(), column);
            for (const std::string& effect : effects) {
                if (seen.insert(fmt::format("{}|{}", effect, group)).second) continue;
                refuse(fmt::format("{} of {} is in two random terms: leave it out of one, as in (0 + x | group)",
                                   effect.empty() ? "the intercept" : "an effect", shown(random.name())),
                       random.place);
            }
        }
    }

    const FormulaSyntax& formula_;
    const ColumnRoles& roles_;
    std::vector<TermPart> parts_;
    std::unordered_map<std::string, std::size_t> places_;
    Expansion result_;
};

}  // namespace

std::string RandomPart::name() const {
    std::string result;
    for (const std::string& column : columns) result += (result.empty() ? "" : ":") + column;
    return result;
}

bool has_dot(const Expression& expression) {
    return expression.kind == Kind::dot || std::any_of(expression.parts.begin(), expression.parts.end(),
                                                       [](const Expression& part) { return has_dot(part); });
}

std::vector<const Expression*> response_parts(const FormulaSyntax& formula) {
    const Expression& response = unwrapped(formula.response);
    if (response.kind != Kind::call || response.text != "cbind") return {&response};
    std::vector<const Expression*> result;
    for (const Expression& part : response.parts) result.push_back(&unwrapped(part));
    return result;
}

Expansion expanded(const FormulaSyntax& formula, const ColumnRoles& roles) {
    return Expander(formula, roles).run();
}

}  // namespace lrvb::detail
