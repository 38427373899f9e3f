#pragma once

#include <lrvb/query/fit_range.hpp>

#include <string>
#include <vector>

/// What `lrvb fit` prints and writes of a range of fits.
namespace lrvb::cli {

/// The files of -o: one, or, where {k} (or what the option is called) stands in the name, one for each number.
std::vector<std::string> range_outputs(const std::string& output, const OptionInfo& option, Index first, Index last);

/// Writes what converged to its file, all or the best, and prints the table. The exit code.
int show_range(const FittedRange& range, const std::vector<std::string>& outputs, bool quiet);

}  // namespace lrvb::cli
