#pragma once

#include <lrvb/base/fields.hpp>
#include <lrvb/family/any_family.hpp>
#include <lrvb/kind/fit_file.hpp>

#include <optional>

namespace lrvb::detail {

/// Refuses, by `fields`, a fit file whose parts no fit could have: names twice or unknown, numbers outside of their
/// domain, covariances that are none, records that contradict each other. What it cannot see is a lie that is told
/// everywhere alike.
void require_sound(const FitFile& fit, const Fields& fields);

/// Columns whose names differ: before variables are named by them.
void require_sound_columns(const DataRecord& data, const Fields& fields);

/// The family of that name that has so many statistics; nothing where there is none.
std::optional<AnyFamily> family_of(const std::string& name, Index size);
/// What a file calls a family: its name, and the numbers that it holds, if any: "Scale half_t 1 5 sd".
std::string family_text(const AnyFamily& family);
/// The same of a record, with what its family is besides.
std::optional<AnyFamily> family_of(const ParameterRecord& record);

/// The families that the parameters say they are of, and numbers that are theirs: before anything is computed of them.
void require_sound_parameters(const std::vector<ParameterRecord>& parameters, const Fields& fields);

}  // namespace lrvb::detail
