#pragma once

#include "formula/expansion.hpp"

#include <string>
#include <vector>

/// What a formula does with the columns that it names.
namespace lrvb::detail {

/// How a formula uses a column that it names.
struct ColumnUse {
    std::string name;
    std::size_t place = 0;      // where it is first named
    bool is_alone = false;      // as a term: a factor if it is text
    bool is_number = false;     // within arithmetic, or the response
    bool is_group = false;      // factor(), C(), behind |
    bool is_latent = false;     // in a latent term, which needs all of its values
    bool is_held = false;       // in the response, an offset or a group: `.` has no such column
    bool is_predictor = false;  // on the right side
};

std::vector<ColumnUse> column_uses(const FormulaSyntax& formula);

/// The columns of what is left of a formula, each once, the response's first: what was taken away needs none.
std::vector<std::string> needed_columns(const FormulaSyntax& formula, const Expansion& expansion, bool with_response);

}  // namespace lrvb::detail
