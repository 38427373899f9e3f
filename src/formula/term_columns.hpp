#pragma once

#include "formula/expansion.hpp"

#include <lrvb/types.hpp>

#include <functional>
#include <string>
#include <vector>

/// From terms to columns: how factors are coded (<lrvb/formula/design.hpp> has the rule), their names and numbers.
namespace lrvb::detail {

/// A term whose factors know how they are coded.
struct CodedTerm {
    TermParts parts;
    std::vector<bool> is_full;  // of each part: an indicator for every level; of numbers nothing
};

std::vector<CodedTerm> coded_terms(const std::vector<TermPart>& parts, const std::vector<TermParts>& terms,
                                   bool intercept);

/// Of each part of the formula, how many columns it has by itself: levels of a factor, powers of a polynomial.
using PartLevels = std::function<const std::vector<std::string>&(const TermPart&)>;

std::vector<std::string> column_names(const std::vector<TermPart>& parts, const std::vector<CodedTerm>& terms,
                                      const PartLevels& levels);

/// How many there would be, which may be more than fit anywhere.
double column_count(const std::vector<TermPart>& parts, const std::vector<CodedTerm>& terms, const PartLevels& levels);

/// What a part is in every row.
struct PartValues {
    std::vector<int> codes;  // of a factor
    Matrix numbers;          // of others
};

void fill_columns(const std::vector<TermPart>& parts, const std::vector<CodedTerm>& terms, const PartLevels& levels,
                  const std::function<const PartValues&(std::size_t)>& values, Eigen::Ref<Matrix> columns);

}  // namespace lrvb::detail
