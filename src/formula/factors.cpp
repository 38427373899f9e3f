#include "formula/factors.hpp"

#include "base/messages.hpp"
#include "data/csv_record.hpp"
#include "formula/levels.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <unordered_map>

namespace lrvb::detail {

namespace {

[[noreturn]] void refuse_data(const DataFrame& frame, const std::string& sentence) {
    throw std::runtime_error(fmt::format("{}: {}", frame.name, sentence));
}

bool contains(const std::vector<std::string>& names, const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
}

/// Whether a column that was read as text, since it groups elsewhere in the formula, holds numbers all the same.
bool holds_numbers(const FrameColumn& column) {
    if (column.quoted) return false;
    return std::all_of(column.levels.begin(), column.levels.end(), [](const std::string& level) {
        double number = 0.0;
        return parse_number(level, number) == NumberKind::number;
    });
}

/// Text that is the same in every row: all such columns at once.
void require_levels(const DataFrame& frame, const std::vector<FormulaCoding::Factor>& factors) {
    std::vector<std::string> names;
    std::string text;
    for (const FormulaCoding::Factor& factor : factors) {
        if (factor.levels.size() != 1) continue;
        names.push_back(shown(factor.column));
        text = shown(factor.levels.front());
    }
    if (names.size() > 1) {
        refuse_data(frame, fmt::format("columns {} have one level in every row, which tells nothing: leave them out",
                                       enumerated(names)));
    }
    if (!names.empty()) {
        refuse_data(frame, fmt::format("column {} has the level {} in every row, which tells nothing: leave it out",
                                       names.front(), text));
    }
}

void require_factor(const DataFrame& frame, const FormulaCoding::Factor& factor) {
    const std::size_t count = factor.levels.size();
    const bool is_identifier = static_cast<Index>(count) == frame.rows && count > 1;
    if (!is_identifier && count <= kMostFactorLevels) return;
    refuse_data(frame, fmt::format("column {} groups, with {}, too many for a factor: leave it out, correct it if it "
                                   "should hold numbers, or make it a random term, (1 | {})",
                                   shown(factor.column),
                                   is_identifier ? "another value in every row" : fmt::format("{} levels", count),
                                   printable(formula_name(factor.column))));
}

}  // namespace

std::vector<std::string> factors_alone(const DataFrame& frame, const std::vector<ColumnUse>& uses,
                                       const std::vector<std::string>& dot, const FormulaOptions& options) {
    std::unordered_map<std::string, ColumnUse> alone;
    for (const std::string& name : dot) alone.emplace(name, ColumnUse{.name = name});
    for (const ColumnUse& use : uses) {
        if (use.is_alone || alone.contains(use.name)) alone.insert_or_assign(use.name, use);
    }
    std::vector<std::string> result;
    for (const FrameColumn& column : frame.columns) {
        const auto use = alone.find(column.name);
        if (use == alone.end()) continue;
        const bool told_factor = contains(options.factors, column.name);
        const bool told_number = contains(options.numbers, column.name);
        const bool for_group = use->second.is_group && column.told == FrameColumn::Told::text;
        const bool is_number = !column.is_text() || told_number || (for_group && holds_numbers(column));
        if (told_factor || !is_number) result.push_back(column.name);
    }
    return result;
}

void require_factors(const DataFrame& frame, const std::vector<FormulaCoding::Factor>& factors) {
    require_levels(frame, factors);
    for (const FormulaCoding::Factor& factor : factors) require_factor(frame, factor);
}

void put_baselines_first(const DataFrame& frame, const std::vector<Baseline>& baselines,
                         std::vector<FormulaCoding::Factor>& factors) {
    for (const Baseline& baseline : baselines) {
        const auto factor = std::find_if(factors.begin(), factors.end(), [&](const FormulaCoding::Factor& known) {
            return known.column == baseline.column;
        });
        if (factor == factors.end()) {
            refuse_data(frame, fmt::format("column {} is no factor of the regression, so that it has no baseline: "
                                           "leave the baseline out",
                                           shown(baseline.column)));
        }
        const std::optional<std::size_t> place = LevelIndex(factor->levels).find(baseline.level);
        if (!place) {
            refuse_data(frame, fmt::format("column {} has no level {} that could be its baseline: its levels are {}",
                                           shown(baseline.column), shown(baseline.level), shown(factor->levels)));
        }
        const auto level = factor->levels.begin() + static_cast<std::ptrdiff_t>(*place);
        std::rotate(factor->levels.begin(), level, level + 1);
    }
}

/// Codes of a factor, all of whose levels must be known.
std::vector<int> factor_codes(const FrameNumbers& numbers, const TermPart& part,
                              const std::vector<std::string>& levels) {
    const DataFrame& frame = numbers.frame();
    const FrameColumn& column = numbers.column(part.name, part.place);
    std::vector<int> codes = level_codes(column, levels);
    const auto unknown = std::find(codes.begin(), codes.end(), -1);
    if (unknown != codes.end()) {
        const Index row = unknown - codes.begin();
        throw std::runtime_error(
            fmt::format("{}, column {}: the level {} did not occur in the data of the fit, which "
                        "had {}: correct it, leave the row out, or fit again with rows that have it",
                        frame.row_name(row), shown(column.name), shown(text_at(column, row)), shown(in_order(levels))));
    }
    return codes;
}

}  // namespace lrvb::detail
