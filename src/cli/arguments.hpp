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

}  // namespace lrvb::cli
