#pragma once

#include <lrvb/kind/fit_file.hpp>

#include <string>
#include <vector>

/// What of a fit goes into a report, which must not outgrow a browser.
namespace lrvb::report {

struct Selection {
    /// Positions in the posterior's variables: of a mixture pi, mu, and sigma or Sigma; of a regression intercept, beta
    /// and sigma.
    std::vector<Index> variables;
    Index variables_left_out = 0;
    /// Positions in the posterior's hyperparameters.
    std::vector<Index> priors;
    Index priors_left_out = 0;
    /// Positions in `variables` of those whose correlations are shown; none without a response.
    std::vector<Index> correlated;
};

/// An entry off the diagonal of a mixture's matrix, as "Sigma[1,2,3]" and "variance[2,3]" are.
bool is_off_diagonal(const FitFile& fit, const std::string& name);

/// Where there are too many of them, first the entries off the diagonal of matrices are left out, then the last numbers
/// of the prior, then the last variables.
Selection select(const FitFile& fit);

/// Rows that can be asked about the variables, of so many numbers that can be moved and so many beside them.
Index most_rows(const Selection& selection, Index inputs, Index columns);

}  // namespace lrvb::report
