#pragma once

#include "kind/regression/columns.hpp"

#include <lrvb/data/frame.hpp>
#include <lrvb/formula/design.hpp>
#include <lrvb/model/field.hpp>

#include <array>
#include <optional>
#include <string>
#include <vector>

/// What a response can be, family by family.
namespace lrvb::detail {

/// The two values of a bernoulli response that is not written as 0 and 1: the failure and the success.
using ResponseLevels = std::array<std::string, 2>;

/// Those of a column of text, or of any column where `success` names one of its values; nothing where the response is
/// numbers as they are. Without `success` the first by their order is the failure, as in R. Throws std::runtime_error
/// for text of another family, and for a column that has not two values; UsageError for a `success` without a
/// bernoulli family.
std::optional<ResponseLevels> response_levels(const DataFrame& frame, const TableFacts& facts, Index response,
                                              const Likelihood& likelihood, const std::string& success);

/// Makes the column 0 and 1. Throws std::runtime_error, with the row, for another value.
void code_response(DataFrame& frame, Index response, const ResponseLevels& levels);

/// What is said of them.
std::string response_note(const std::string& response, const ResponseLevels& levels);

/// Refuses cbind(successes, failures) of another family.
void require_trials(bool has_trials, const Likelihood& likelihood);

/// Refuses, with the row, what a response of the family cannot be.
void require_response(const FormulaDesign& design, const DataFrame& frame, const Likelihood& likelihood);

/// A normal response that looks like another, by its different values, 21 at most, and its mean.
void add_response_warnings(const FieldData& data, const std::vector<double>& values, double mean,
                           std::vector<std::string>& warnings);

}  // namespace lrvb::detail
