#pragma once

#include "formula/syntax.hpp"

#include <string>

/// What may be called in a formula, and with what. All refuse with a FormulaError, which marks the place.
namespace lrvb::detail {

[[noreturn]] void refuse(const FormulaSyntax& formula, const std::string& sentence, std::size_t place);

/// The functions of numbers that there are: "log", ….
bool is_number_function(const std::string& name);

/// As many as that, the first ones without a name.
void require_arguments(const FormulaSyntax& formula, const Expression& call, std::size_t least, std::size_t most);
/// Arithmetic, of columns and numbers.
void require_numbers(const FormulaSyntax& formula, const Expression& expression);
/// A call that makes numbers of numbers.
void require_number_call(const FormulaSyntax& formula, const Expression& call);

/// The column of factor() or C().
std::string factor_column(const FormulaSyntax& formula, const Expression& call);

/// Whether this is a call of a latent term, such as rw2(t).
bool is_latent_call(const Expression& expression);
/// Its column, alone.
const Expression& latent_column(const FormulaSyntax& formula, const Expression& call);

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
