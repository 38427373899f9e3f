#pragma once

#include "formula/syntax.hpp"

#include <functional>
#include <string>
#include <vector>

/// From what is written to terms, as R expands them.
namespace lrvb::detail {

/// What a term is a product of.
struct TermPart {
    enum class Kind { number, factor, polynomial };

    Kind kind = Kind::number;
    /// "log(x)", "poly(x,2)"; of a factor the column.
    std::string name;
    /// A number, or what a polynomial is of; of a factor nothing.
    const Expression* expression = nullptr;
    /// That of `.`, which no expression stands for: the column is the name.
    bool is_column = false;
    int degree = 1;
    bool raw = false;
    std::size_t place = 0;
};

/// Places of TermParts, ascending; the intercept has none.
using TermParts = std::vector<std::size_t>;

struct RandomPart {
    std::vector<std::string> columns;  // of the group
    bool intercept = true;
    std::vector<TermParts> terms;
    std::size_t place = 0;

    std::string name() const;
};

/// A latent term, such as rw2(t).
struct LatentPart {
    std::string word;    // "rw2"
    std::string name;    // "rw2(t)"
    std::string column;  // "t"
    std::size_t place = 0;
};

struct Expansion {
    std::vector<TermPart> parts;
    bool intercept = true;
    std::vector<TermParts> terms;  // by their order
    std::vector<const Expression*> offsets;
    std::vector<RandomPart> random;
    std::vector<LatentPart> latent;
};

/// What the frame knows.
struct ColumnRoles {
    /// Whether a column that stands alone is a factor.
    std::function<bool(const std::string&)> is_factor;
    /// What `.` is.
    std::vector<std::string> dot;
};

/// Points into the syntax. Throws FormulaError.
Expansion expanded(const FormulaSyntax& formula, const ColumnRoles& roles);

bool has_dot(const Expression& expression);

/// Those of the response: successes and failures of cbind, or one.
std::vector<const Expression*> response_parts(const FormulaSyntax& formula);

}  // namespace lrvb::detail
