#pragma once

#include <lrvb/export.hpp>
#include <lrvb/query/loo.hpp>

#include <string>
#include <vector>

/// Which of several models of the same rows: by how well each says rows that it has not seen.
///
/// Fits are compared by elpd_loo, row by row: with d_n the difference of two fits' terms w_n log p(y_n | y_−n),
///
///     elpd_difference = Σ_n d_n,   se_difference = √(N · variance of the d_n),
///
/// which is mostly much smaller than the se of either, since both find the same rows difficult. A difference of less
/// than about two of its standard errors, or of less than four, says nothing; with few rows, or outliers, the standard
/// error is itself too small.
///
/// The bound is on log p(y): with labels that can be exchanged (the K components of a mixture) a fit sits in one of K!
/// modes of the same shape, so log K! is added. It depends on the prior much more than elpd does, and is low by what
/// the factorisation costs.
///
/// What is compared must be of the same rows and of the same observed numbers: mixtures of the same columns,
/// regressions of the same response on any columns.
namespace lrvb {

struct ComparedFit {
    /// Its place among those given, from 0.
    std::size_t fit = 0;
    Loo loo;
    /// To the best, which has 0: never positive.
    double elpd_difference = 0.0;
    double se_difference = 0.0;
    /// With the log of the number of labellings added.
    double bound = 0.0;
    double log_labellings = 0.0;
};

/// The best first. All by the same method: draws where they are quick for each of the fits, unless the options say
/// otherwise. `names` are what messages call the fits. Throws std::runtime_error for fits of other rows or other
/// numbers, std::invalid_argument for fewer than two fits or another number of names, and what leave_one_out throws.
LRVB_EXPORT std::vector<ComparedFit> compare_fits(const std::vector<const FittedModel*>& fits,
                                                  const std::vector<std::string>& names,
                                                  const LooOptions& options = {});

/// What the table says, in a sentence: which is best, and which cannot be told from it.
LRVB_EXPORT std::string comparison_message(const std::vector<ComparedFit>& compared,
                                           const std::vector<std::string>& names);

/// log of how many labellings of the same shape a fit has: log K! for a mixture whose components can be exchanged.
LRVB_EXPORT double log_labellings(const FittedModel& fitted);

}  // namespace lrvb
