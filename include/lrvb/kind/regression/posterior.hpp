#pragma once

#include <lrvb/kind/regression/model.hpp>
#include <lrvb/posterior/posterior.hpp>

namespace lrvb {

/// The posterior of a regression: intercept (at zero), beta[…], log_tau, tau, sigma.
LRVB_EXPORT Posterior regression_posterior(const RegressionModel& model, const Optimum& optimum);

}  // namespace lrvb
