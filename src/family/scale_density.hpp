#pragma once

#include <lrvb/family/scale_prior.hpp>

#include <string>

namespace lrvb::detail {

/// log p of a prior at t = log sd, with the Jacobian of t; its derivatives in t and in the numbers of the prior, and
/// those of the slope in these. Of a uniform one between its bounds, as if these did not move.
struct ScaleDensity {
    double value = 0.0;
    double slope = 0.0;
    double curvature = 0.0;
    double by_first = 0.0;
    double by_second = 0.0;
    double slope_by_first = 0.0;
    double slope_by_second = 0.0;
};
ScaleDensity scale_density(const ScalePrior& prior, double t);

/// The same for x = lower + exp(ψ), in ψ: of a prior of x that is cut off below `lower`, which is zero but for a gamma
/// prior. Without `curvature`, `by_first` and `by_second`.
ScaleDensity density_above(const ScalePrior& prior, double lower, double psi);

/// Refuses one that makes no sense.
void require_scale_prior(const ScalePrior& prior, const std::string& of);

}  // namespace lrvb::detail
