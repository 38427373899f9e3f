#pragma once

#include <lrvb/bugs/graph.hpp>

#include <string>
#include <vector>

/// %*%, t, inverse and logdet of known numbers, row by row.
namespace lrvb::bugs {

bool is_matrix_function(const std::string& name);

/// A vector is a column, or a row where only that fits. Extents of 1 at the end are left out. Throws FunctionProblem.
std::vector<Index> matrix_extents(const std::string& name, const std::vector<std::vector<Index>>& arguments);

Columns apply_matrix_function(const std::string& name, const std::vector<Columns>& arguments);

}  // namespace lrvb::bugs
