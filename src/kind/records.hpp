#pragma once

#include <lrvb/base/fields.hpp>
#include <lrvb/kind/fit_file.hpp>

/// Each record of a fit file, to a document and back.
namespace lrvb::detail {

Document to_document(const DataRecord& record);
Document to_document(const OptionsRecord& record);
Document to_document(const OutcomeRecord& record);
Document to_document(const CheckResult& check);
Document to_document(const CorrectionRecord& record);
Document to_document(const ParameterRecord& record);
Document to_document(const Posterior& posterior);
Document to_document(const SparseMatrix& lower);

DataRecord data_record(const Fields& fields);
OptionsRecord options_record(const Fields& fields);
OutcomeRecord outcome_record(const Fields& fields);
CheckResult check_result(const Fields& fields, const Posterior& posterior);
CorrectionRecord correction_record(const Fields& fields);
ParameterRecord parameter_record(const Fields& fields);
/// The list `other_optima` of a file.
std::vector<OtherOptimum> other_optima(const Fields& file, const Posterior& posterior);
Posterior posterior_record(const Fields& fields);
SparseMatrix lower_triangle_record(const Fields& fields, Index size);

}  // namespace lrvb::detail
