#pragma once

#include <lrvb/kind/kind.hpp>

#include <string>
#include <vector>

/// What of a fit goes into a report, which must not outgrow a browser.
namespace lrvb::report {

struct Selection {
    /// Positions in the posterior's variables, of those that people look at.
    std::vector<Index> variables;
    Index variables_left_out = 0;
    /// Positions in the posterior's hyperparameters.
    std::vector<Index> priors;
    Index priors_left_out = 0;
    /// Positions in `variables` of those whose correlations are shown; none without a response.
    std::vector<Index> correlated;
};

/// `numbers` are those of the prior, in the order of the hyperparameters. Where there are too many of them, first the
/// entries off the diagonal of matrices are left out, then the last numbers of the prior, then the last variables.
Selection select(const FitFile& fit, const std::vector<PriorNumber>& numbers);

/// How many rows can be asked about the variables, of so many numbers that can be moved and so many beside them.
Index most_rows(const Selection& selection, Index inputs, Index columns);

}  // namespace lrvb::report
