#pragma once

#include <lrvb/export.hpp>
#include <lrvb/types.hpp>

/// Pareto smoothing of importance weights (Vehtari, Simpson, Gelman, Yao & Gabry 2024), and k̂, which says whether they
/// can be trusted.
///
/// The largest M = min(S/5, 3√S) of S importance ratios are fitted by a generalised Pareto distribution above the
/// largest of the others, u:  P(r − u > x) = (1 + k x/σ)^(−1/k),  by the estimator of Zhang & Stephens (2009), with k
/// drawn towards ½ as if by ten more observations. The ratios of a proposal have a mean if k < 1 and a variance if
/// k < ½; the M largest weights are then replaced by the expected order statistics of the fit, none above the largest
/// ratio that was seen.
///
/// Estimates from S draws are reliable while k̂ is below min(1 − 1/log10 S, 0.7); above 1 no number of draws helps. The
/// fit sees only the draws: a mode that the proposal never visits leaves no trace in k̂.
namespace lrvb {

struct ParetoSmoothed {
    /// Normalised: their exponentials add up to one.
    Vector log_weights;
    /// −∞ where the largest ratios are all the same, so that there is no tail; +∞ where fewer than five of them are
    /// positive, or where they span more than numbers do.
    double k_hat = 0.0;
    /// 1/Σw²: so many independent draws from the target would do as well.
    double ess = 0.0;
};

/// Log ratios of target to proposal, up to a constant; −∞ is a ratio of zero. Throws std::invalid_argument for a ratio
/// that is NaN or +∞, and where all are zero.
LRVB_EXPORT ParetoSmoothed pareto_smooth(const Vector& log_ratios);

/// Below this k̂, estimates from so many draws are reliable: min(1 − 1/log10 S, 0.7).
LRVB_EXPORT double pareto_threshold(Index draws);

/// The exponentials of log weights, exactly zero for −∞: a vectorised exponential may leave the smallest of numbers
/// there, and a draw without density would count as one that has some.
LRVB_EXPORT Vector weights_of(const Vector& log_weights);

struct ParetoFit {
    double k = 0.0;
    double sigma = 0.0;
};

/// The generalised Pareto distribution of positive values in ascending order, by Zhang & Stephens; `k` as estimated,
/// without a prior's help, +∞ where the values span more than numbers do.
LRVB_EXPORT ParetoFit fit_pareto(const Vector& ascending);

}  // namespace lrvb
