#pragma once

#include <lrvb/kind/mixture/fit.hpp>
#include <lrvb/posterior/posterior.hpp>

namespace lrvb {

/// The posterior of a mixture: log_pi, pi (two components or more), mu, and log_tau, tau, sigma, or Lambda,
/// log_det_Lambda, Sigma. Where the fit has not converged there is no response in it.
LRVB_EXPORT Posterior mixture_posterior(const MixtureFit& fit);

}  // namespace lrvb
