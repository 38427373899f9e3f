#pragma once

#include <lrvb/types.hpp>

#include <vector>

/// Quantiles of distributions that are known by weighted places: of an integral by nodes.
namespace lrvb::detail {

/// Of Σ_k w_k N(m_k, v_k), whose mean and sd these are: its distribution function on a grid about its mean, and that
/// turned round.
Vector mixture_quantiles(const Vector& weights, const VectorView& means, const VectorView& variances, double mean,
                         double sd, const std::vector<double>& probabilities);

/// Of weighted values, those that are about the same as one.
Vector weighted_quantiles(const Vector& weights, const VectorView& values, const std::vector<double>& probabilities);

/// Of values that are spread evenly over widths about them: the distribution function is made of straight pieces.
Vector spread_quantiles(const Vector& weights, const VectorView& values, const VectorView& widths,
                        const std::vector<double>& probabilities);

}  // namespace lrvb::detail
