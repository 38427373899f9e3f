#pragma once

#include "formula/syntax.hpp"

#include <string>
#include <vector>

namespace lrvb::detail {

/// The columns of each group behind | of a random term: g, g:h, or g/h, which is both g and g:h. Throws FormulaError.
std::vector<std::vector<std::string>> groups_of(const FormulaSyntax& formula, const Expression& behind);

}  // namespace lrvb::detail
