#pragma once

#include <lrvb/types.hpp>

#include <string>
#include <vector>

/// Lists on the command line.
namespace lrvb::cli {

/// "a,b" is a and b; a comma within brackets, as in mu[1,2], separates nothing. Empty text is an empty list.
std::vector<std::string> split(const std::string& text, char separator = ',');

/// Numbers; throws UsageError with the option's name for what is not a finite number.
Vector numbers(const std::string& option, const std::string& text);

/// One number.
double single(const std::string& option, const std::string& text);

/// A number for every column: as many as there are columns, or one for all.
Vector for_columns(const std::string& option, const std::string& text, Index columns);

/// Throws UsageError for a value that is zero or less.
void require_positive(const std::string& option, double value);

}  // namespace lrvb::cli
