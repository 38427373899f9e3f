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

struct Expansion {
    std::vector<TermPart> parts;
    bool intercept = true;
    std::vector<TermParts> terms;  // by their order
    std::vector<const Expression*> offsets;
    std::vector<RandomPart> random;
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

/// How a formula uses a column that it names.
struct ColumnUse {
    std::string name;
    std::size_t place = 0;      // where it is first named
    bool is_alone = false;      // as a term: a factor if it is text
    bool is_number = false;     // within arithmetic, or the response
    bool is_group = false;      // factor(), C(), behind |
    bool is_held = false;       // in the response, an offset or a group: `.` has no such column
    bool is_predictor = false;  // on the right side
};

std::vector<ColumnUse> column_uses(const FormulaSyntax& formula);

/// The columns of what is left of a formula, each once, the response's first: what was taken away needs none.
std::vector<std::string> needed_columns(const FormulaSyntax& formula, const Expansion& expansion, bool with_response);

bool has_dot(const Expression& expression);

/// Those of the response: successes and failures of cbind, or one.
std::vector<const Expression*> response_parts(const FormulaSyntax& formula);

/// The functions of numbers that there are: "log", ….
bool is_number_function(const std::string& name);

/// What a call of poly() or scale() says besides what it is of.
struct PolynomialCall {
    int degree = 1;
    bool raw = false;
};
PolynomialCall polynomial_call(const FormulaSyntax& formula, const Expression& call);
struct ScaleCall {
    bool centres = true;
    bool scales = true;
};
ScaleCall scale_call(const FormulaSyntax& formula, const Expression& call);

}  // namespace lrvb::detail
