#pragma once

#include "kind/fields.hpp"

#include <lrvb/kind/fit_file.hpp>

/// Each record of a fit file to JSON and back. Reading checks sizes against each other, so that what is read can be
/// used without another look.
namespace lrvb::detail {

Json to_json(const MixtureRecord& record);
Json to_json(const RegressionRecord& record);
Json to_json(const DataRecord& record);
Json to_json(const OptionsRecord& record);
Json to_json(const OutcomeRecord& record);
Json to_json(const CheckRecord& record);
Json to_json(const CorrectionRecord& record);
Json to_json(const ParameterRecord& record);
Json to_json(const Posterior& posterior);

MixtureRecord mixture_record(const Fields& fields);
RegressionRecord regression_record(const Fields& fields);
DataRecord data_record(const Fields& fields);
OptionsRecord options_record(const Fields& fields);
OutcomeRecord outcome_record(const Fields& fields);
CheckRecord check_record(const Fields& fields, Index variables);
CorrectionRecord correction_record(const Fields& fields);
ParameterRecord parameter_record(const Fields& fields);
Posterior posterior_record(const Fields& fields);

}  // namespace lrvb::detail
