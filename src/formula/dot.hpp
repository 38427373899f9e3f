#pragma once

#include "formula/column_uses.hpp"

#include <string>
#include <vector>

namespace lrvb::detail {

/// What `.` is in a file with these columns: those that are not the response's, an offset's, a group's or the weights.
std::vector<std::string> dot_columns(const FormulaSyntax& syntax, const std::vector<std::string>& names,
                                     const std::string& weights);

[[noreturn]] void refuse_column(const FormulaSyntax& syntax, const ColumnUse& column,
                                const std::vector<std::string>& names);

}  // namespace lrvb::detail
