#pragma once

#include "fit/curvature.hpp"

#include <lrvb/response/covariance.hpp>

/// What can be asked of a factored curvature: LinearResponse, which has a model, and FactoredCovariance, which has
/// none, give the same answers. Weights have a column over the stacked statistics for each question.
namespace lrvb::detail {

/// Throws NotAnOptimum where it is not the curvature at a strict local maximum.
void require_maximum(const Layout& layout, const Curvature& curvature);

/// Σ̂ times the columns.
Matrix responses(const Curvature& curvature, const SparseMatrix& columns);
Matrix covariance(const Curvature& curvature, const SparseMatrix& left, const SparseMatrix& right);
Matrix covariance(const Curvature& curvature, const SparseMatrix& weights);
Vector variances(const Curvature& curvature, const SparseMatrix& weights);

Matrix mean_field_covariance(const Curvature& curvature, const SparseMatrix& weights);
Vector mean_field_variances(const Curvature& curvature, const SparseMatrix& weights);

FlatDirection flattest_direction(const Curvature& curvature);

}  // namespace lrvb::detail
