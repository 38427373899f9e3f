#pragma once

#include <lrvb/posterior/posterior.hpp>

#include <string>
#include <vector>

/// Reported variables as functions of a draw.
namespace lrvb::detail {

/// The names among the posterior's statistics that are statistics of a model: those of a corrected posterior hold
/// derived variables as well.
std::vector<std::string> model_statistics(const Posterior& posterior);

/// All variables of the posterior at every draw (variables × draws), from the statistics of these names at every draw:
/// pi is exp log_pi, sigma exp(−½ log_tau), and Sigma the inverse of Lambda. Throws std::invalid_argument for a
/// variable that is none of these.
Matrix reported_values(const Posterior& posterior, const std::vector<std::string>& names, const Matrix& statistics);

}  // namespace lrvb::detail
