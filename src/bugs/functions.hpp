#pragma once

#include <lrvb/bugs/graph.hpp>

#include <string>
#include <vector>

/// The functions of the language on known numbers, over all rows at once.
namespace lrvb::bugs {

/// Why a function has no value for these arguments.
struct FunctionProblem {
    std::string sentence;
};

/// `name` is a first name of function_words(), other than length and dim. Arguments have one line or `rows` lines.
/// What has no value is NaN. Throws FunctionProblem where extents do not fit.
Columns apply_function(const std::string& name, const std::vector<Columns>& arguments);

/// The extents of the result. The values of the arguments are not looked at, but where `count` is asked for (rep).
std::vector<Index> extents_of(const std::string& name, const std::vector<std::vector<Index>>& arguments);

Index size_of(const std::vector<Index>& dims);
/// "one number", "3 elements" or "2 × 3".
std::string extents_text(const std::vector<Index>& dims);

/// The value whose link is x: exp for "log", and so on.
double inverse_link(const std::string& link, double x);

}  // namespace lrvb::bugs
