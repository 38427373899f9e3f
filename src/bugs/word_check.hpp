#pragma once

#include <lrvb/bugs/syntax.hpp>

namespace lrvb::bugs {

/// What can be said of names without data: functions and distributions that do not exist, or get too few or too many
/// arguments; functions on the left that are no links; indices of loops that are defined. Names of functions and
/// distributions become their first names.
void check_words(Syntax& syntax, Diagnostics& problems);

}  // namespace lrvb::bugs
