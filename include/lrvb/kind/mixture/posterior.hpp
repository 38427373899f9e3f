#pragma once

#include <lrvb/kind/mixture/fit.hpp>
#include <lrvb/posterior/posterior.hpp>

namespace lrvb {

/// The posterior of a mixture: log_pi, pi (two components or more), mu, and log_tau, tau, sigma, or Lambda,
/// log_det_Lambda, Sigma. Where the fit has not converged there is no response in it.
///
/// Of two columns or more, names say the component by its number and the columns by their names: mu[1,waiting],
/// Sigma[1,eruptions,waiting]. A column has its number, from 1, where its name would not do: if it is empty, made of
/// digits, that of several columns, longer than 60 bytes, or holds a comma, a bracket, a double quote, or a character
/// that cannot be seen. `columns` are the names, those of the model's rows if there are none.
LRVB_EXPORT Posterior mixture_posterior(const MixtureFit& fit, const std::vector<std::string>& columns = {});

}  // namespace lrvb
