#pragma once

#include <lrvb/model/likelihood.hpp>

#include <string>
#include <vector>

/// What is known of a kind of data besides its parameters: statistics of a value, and how they move with it.
namespace lrvb::detail {

/// Whether the numbers of a value can move by themselves. Counts and labels cannot; nor can the parts of a Dirichlet
/// observation, which add up to one.
bool can_move(const AnyObserved& kind);

/// Names of the numbers of a value: "y"; "y[1]", "y[2]" of a vector; "y[1,2]" of a matrix.
std::vector<std::string> input_names(const AnyObserved& kind, const std::string& base);

Index statistic_count(const AnyObserved& kind);
Vector statistic(const AnyObserved& kind, const VectorView& value);
/// The part of the log density that no parameter touches.
double log_base(const AnyObserved& kind, const VectorView& value);

/// ∂T_s/∂x_p, a row for each statistic and a column for each number, of a kind that can move.
Matrix statistic_derivative(const AnyObserved& kind, const VectorView& value);

}  // namespace lrvb::detail
