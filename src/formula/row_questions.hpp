#pragma once

#include "base/block_sums.hpp"
#include "formula/groups.hpp"
#include "formula/numbers.hpp"

#include <lrvb/data/frame.hpp>
#include <lrvb/formula/design.hpp>

#include <string>
#include <string_view>
#include <vector>

/// What a formula learns of rows, which may be with others: questions and answers are bytes, and answers of those who
/// have neighbouring rows are merged. Sums are taken in the one order of BlockTree.
namespace lrvb::detail {

std::string answer_formula(const DataFrame& frame, const RowBlocks& blocks, std::string_view asked);
std::string merge_formula_answers(const std::string& left, const std::string& right);

/// The cells of several columns that occur, ascending. The columns' levels are known.
std::vector<std::vector<int>> ask_cells(const AskRows& ask, const RandomGroup& group);

/// What a call of scale() or poly() learns of all rows; the calls that it is of are learnt already.
Vector ask_numbers(const AskRows& ask, const DataFrame& frame, const FormulaSyntax& formula,
                   const std::vector<Learnt>& learnt, const Expression& call);

/// What idle_columns asks.
std::string answer_columns(const Matrix& columns, const RowBlocks& blocks, std::string_view asked);
std::string merge_column_answers(const std::string& left, const std::string& right);

}  // namespace lrvb::detail
