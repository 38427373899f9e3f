#pragma once

#include "formula/numbers.hpp"

#include <lrvb/base/document.hpp>
#include <lrvb/base/fields.hpp>
#include <lrvb/formula/design.hpp>

#include <optional>
#include <string>
#include <vector>

/// The groups of random terms.
namespace lrvb::detail {

struct RandomGroup {
    std::vector<std::string> columns;
    std::vector<std::vector<std::string>> column_levels;
    std::vector<std::vector<int>> cells;  // of several columns: which of their levels each level is, ascending
    std::vector<std::string> levels;

    /// By the columns' levels and the cells.
    void name_levels();

    Document document() const;
    /// Throws std::runtime_error for what no group can be.
    static RandomGroup read(const Fields& fields);
};

/// Throws std::runtime_error where two levels are called the same, as a:b with c and a with b:c are. Who has the rows
/// is asked for the cells of several columns.
RandomGroup learnt_group(const FrameNumbers& numbers, const RandomPart& random, const AskRows& ask);

/// The cells of several columns that occur, ascending; their levels are known.
std::vector<std::vector<int>> cells_of(const RandomGroup& group, const DataFrame& frame);

/// The level of each row, from 0; −1 where it has none of them.
std::vector<int> group_codes(const FrameNumbers& numbers, const RandomGroup& group);

/// The first name that comes a second time.
std::optional<std::string> repeated(const std::vector<std::string>& names);

}  // namespace lrvb::detail
