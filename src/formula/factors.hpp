#pragma once

#include "formula/column_uses.hpp"
#include "formula/numbers.hpp"

#include <lrvb/formula/design.hpp>

#include <string>
#include <vector>

/// Columns that are coded by their levels.
namespace lrvb::detail {

/// Which of those that a formula has standing alone, or by `.`, are factors.
std::vector<std::string> factors_alone(const DataFrame& frame, const std::vector<ColumnUse>& uses,
                                       const std::vector<std::string>& dot, const FormulaOptions& options);

/// Throws std::runtime_error for one level in all rows, too many, and as many as there are rows.
void require_factors(const DataFrame& frame, const std::vector<FormulaCoding::Factor>& factors);

void put_baselines_first(const DataFrame& frame, const std::vector<Baseline>& baselines,
                         std::vector<FormulaCoding::Factor>& factors);

/// The level of each row. Throws std::runtime_error, with the row, for one that is none of these.
std::vector<int> factor_codes(const FrameNumbers& numbers, const TermPart& part,
                              const std::vector<std::string>& levels);

}  // namespace lrvb::detail
