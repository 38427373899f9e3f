#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

/// What is written, before anything is known of its meaning.
namespace lrvb::detail {

/// Operators of one rank stand in one chain, however many there are, so that the tree is no deeper than parentheses
/// are.
struct Expression {
    enum class Kind {
        number,
        column,
        dot,
        call,         // text(parts)
        argument,     // text = part, in a call
        parentheses,  // around one part
        sign,         // operators.front() before one part
        bar,          // parts with | or B (for ||) between them
        sum,          // + and -, also before the first
        product,      // * and /
        interaction,  // :
        power,        // ^, from the right
    };

    Kind kind = Kind::number;
    std::string text;
    double number = 0.0;
    std::vector<Expression> parts;
    /// Of a chain, those between its parts; of a sum, those before its parts.
    std::vector<char> operators;
    std::size_t begin = 0;  // in bytes of the formula
    std::size_t end = 0;
    /// Where the operators stand.
    std::vector<std::size_t> places;
};

struct FormulaSyntax {
    std::string text;
    Expression response;
    Expression right;
};

/// Throws FormulaError.
FormulaSyntax parse_formula(std::string text);

struct PriorSyntax {
    std::string target;
    std::size_t target_place = 0;
    bool has_indices = false;
    std::string indices;
    std::string distribution;
    std::size_t distribution_place = 0;
    std::vector<double> numbers;
    std::vector<std::size_t> number_places;
};

/// Throws FormulaError.
PriorSyntax parse_prior(const std::string& sentence);

/// Whether a name needs no backquotes.
bool is_plain_name(std::string_view name);

/// In the one form that all ways of writing it share, without spaces: "log(x+1)", "poly(x,2)".
std::string written(const Expression& expression);

/// Without the parentheses around it.
const Expression& unwrapped(const Expression& expression);

}  // namespace lrvb::detail
