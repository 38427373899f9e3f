#pragma once

#include <lrvb/bugs/diagnostics.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

/// A model as it is written, in the dialect of BUGS that JAGS reads (docs/bugs.md). It knows no data: names are names.
///
/// Operators bind as in JAGS, which has them from R; from the tightest:
///
///     ^            from the right: a^b^c is a^(b^c), and the exponent may have a sign
///     - (sign)     -x^2 is -(x^2)
///     :            -1:3 is (-1):3, 1:n-1 is (1:n)-1
///     %*%
///     * /
///     + -
///     > >= < <= == !=   one of them only
///     !
///     &&
///     ||
///
/// Failures: ModelError, with all that is wrong of the text. Parentheses and brackets deeper than 50 and expressions
/// deeper than 1,000 operators are refused, so that a text from anywhere costs little.
namespace lrvb::bugs {

struct LRVB_EXPORT Expression {
    enum class Kind {
        number,
        variable,  ///< name, or name[parts]
        call,      ///< name(parts); operators are called by their sign: "+", "-" (one part or two), "%*%", "!", …
        range,     ///< parts[0]:parts[1]
        empty,     ///< an index that is left out, as in x[,1]
    };

    Kind kind = Kind::number;
    /// Of a variable or what is called. Functions and distributions have their first name: "pow" is "^", "dbinom" is
    /// "dbin" (words.hpp).
    std::string name;
    double number = 0.0;
    /// Indices of a variable, arguments of what is called, ends of a range.
    std::vector<Expression> parts;
    /// Whether a variable has brackets: `x[]` has, with one empty index.
    bool has_brackets = false;
    Place place;       ///< the whole
    Place name_place;  ///< the name, or the operator's sign

    Expression() = default;
    Expression(const Expression& other);
    Expression(Expression&& other) noexcept = default;
    Expression& operator=(const Expression& other);
    Expression& operator=(Expression&& other) noexcept;
    /// Copies and destroys by a loop: the depth of an expression costs no stack.
    ~Expression();

    bool is_call(const char* which) const { return kind == Kind::call && name == which; }
};

/// for (index in range) { … }
struct Loop {
    std::string index;
    Place index_place;
    Expression range;
};

/// T(lower, upper), or I(lower, upper); either may be left out.
struct Truncation {
    char letter = 'T';
    std::optional<Expression> lower;
    std::optional<Expression> upper;
    Place place;
};

struct Relation {
    bool is_stochastic = false;  ///< ~; otherwise <-
    /// A variable: what is defined.
    Expression left;
    /// The function on the left, "log", "logit", "probit" or "cloglog"; none if empty.
    std::string link;
    Place link_place;
    /// The distribution as a call, or the value.
    Expression right;
    std::optional<Truncation> truncation;
    /// The loops around it, outermost first, as places in Block::loops.
    std::vector<std::size_t> loops;
    Place place;
};

/// What stands between the braces of model { } or data { }.
struct Block {
    std::vector<Loop> loops;
    std::vector<Relation> relations;
};

/// var name[dimensions], …;
struct Declaration {
    std::string name;
    std::vector<Expression> dimensions;
    Place place;
};

struct Syntax {
    Source source;
    std::vector<Declaration> declarations;
    std::optional<Block> data;
    Block model;
};

/// Throws ModelError. `name` is what messages call the text: a file's path.
LRVB_EXPORT Syntax parse_model(std::string text, std::string name);

/// Reads a file, "-" for standard input. Throws ModelError, and std::runtime_error for one that cannot be read.
LRVB_EXPORT Syntax read_model(const std::string& path);

/// An expression in one form for all ways of writing it, with parentheses where they are needed: "a + b * c[i, 1:2]".
LRVB_EXPORT std::string written(const Expression& expression);
LRVB_EXPORT std::string written(const Relation& relation);

}  // namespace lrvb::bugs
