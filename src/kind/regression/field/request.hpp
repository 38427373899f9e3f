#pragma once

#include "kind/regression/field/record.hpp"

namespace lrvb::detail {

/// Whether a request is for a regression by formula: it has one, or says something that only these have.
bool is_by_formula(const Settings& settings);

std::unique_ptr<FittedModel> fit_by_formula(const FitRequest& request);

/// The prior that it would have, as sentences.
std::vector<std::string> priors_by_formula(const FitRequest& request);

}  // namespace lrvb::detail
