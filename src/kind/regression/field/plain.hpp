#pragma once

#include "kind/regression/field/record.hpp"

#include <lrvb/kind/regression/model.hpp>

/// A regression by formula that adds up columns and does nothing else, such as y ~ x + g: it is shown term by term.
namespace lrvb::detail {

/// Its terms; none where rows are not normal, or a coefficient is of something other than a column: an interaction, a
/// group, what is computed of a column.
std::optional<std::vector<RegressionTerm>> plain_terms(const FieldRecord& record);

RegressionDesign plain_design(std::vector<RegressionTerm> terms, const FieldData& data);

/// With the covariance of a posterior of this record's statistics, and these means of them.
RegressionPosterior plain_coefficients(const FieldRecord& record, const Posterior& posterior, const Vector& means);

}  // namespace lrvb::detail
