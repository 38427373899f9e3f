#pragma once

#include <lrvb/check/check.hpp>
#include <lrvb/export.hpp>
#include <lrvb/kind/fitted_model.hpp>

#include <optional>
#include <string>
#include <vector>

/// Leave-one-out predictive densities log p(y_n | y_−n): how well the model says a row that it has not seen, from one
/// fit. A row of weight w_n is w_n rows, of which one is left out, or all where w_n < 1. With ℓ_n(θ) = log p(y_n | θ)
/// and v_n = min(w_n, 1), expectations under the posterior of all rows give it:
///
///     log p(y_n | y_−n) = log E exp((1 − v_n) ℓ_n) − log E exp(−v_n ℓ_n),
///
/// which for w_n ≥ 1 is −log E 1/p(y_n | θ).
///
/// **By linear response.** On unbounded parameters u the posterior is taken as normal, with the mean û and the
/// covariance Σ̂ of the linear response, and ℓ_n as the quadratic ℓ + aᵀz + ½zᵀBz in z, u = û + Rz with RRᵀ = Σ̂. Then
///
///     log E exp(t ℓ_n) = tℓ − ½ log det(I − tB) + ½ t² aᵀ(I − tB)⁻¹a.
///
/// Without the row the posterior has the mean û − v R(I + vB)⁻¹a and the covariance R(I + vB)⁻¹Rᵀ: to first order that
/// is −v_n dm/dw_n, the case weights, and the rest is what makes it exact where the likelihood is normal in its
/// parameters, by hat values h_n: −½ log(2πσ²/(1 − h_n)) − ½ e_n²/(σ²(1 − h_n)). a and B are central differences with
/// steps of 0.01 sds; D parameters take D² + D + 1 looks at the rows in one pass. It fails where I + vB is not positive
/// definite, so that nothing holds a parameter without the row, and is doubtful where dropping the row moves the
/// posterior by more than kLooReach sds.
///
/// **By draws** of the exact posterior: Pareto-smoothed importance sampling (PSIS-LOO; Vehtari, Gelman & Gabry 2017)
/// from the draws of a check, with k̂ for each row, doubtful above pareto_threshold.
///
///     elpd_loo = Σ_n w_n log p(y_n | y_−n),   se = √(W · variance of its terms), W = Σ_n w_n,
///     p_loo = Σ_n w_n (log p(y_n | y) − log p(y_n | y_−n)):
///
/// about the number of parameters where the model is right and the prior weak. Rows of weight 0 do not count.
namespace lrvb {

enum class LooMethod { response, draws };

struct LooOptions {
    /// Absent: draws where they take a few seconds at most, as `is_quick_by_draws` says.
    std::optional<LooMethod> method;
    Index draws = CheckOptions().draws;
    std::uint64_t seed = 1;
    int threads = 1;
};

/// Sds by which dropping a row may move the posterior.
constexpr double kLooReach = 1.0;
/// By linear response, at most so many free parameters.
constexpr Index kLooParameters = 120;

struct LRVB_EXPORT Loo {
    LooMethod method = LooMethod::response;
    /// One for each row: log p(y_n | y_−n), log p(y_n | y), and the weight.
    Vector elpd;
    Vector lpd;
    Vector weights;
    /// One for each row: of draws k̂; of linear response how far dropping the row moves the posterior, in sds, +∞ where
    /// there is no posterior without it.
    Vector k_hat;
    Vector reach;
    /// What is observed of each row, one row each.
    Matrix inputs;

    double elpd_loo = 0.0;
    double elpd_se = 0.0;
    double p_loo = 0.0;
    double p_loo_se = 0.0;
    /// Free parameters of the model.
    Index parameters = 0;
    /// Of draws: so many, and what they are worth.
    Index draws = 0;
    double ess = 0.0;

    bool is_doubtful(Index row) const;
    Index doubtful_rows() const;
    /// Whether the rows can be relied on, in a sentence.
    std::string trust() const;
};

/// Throws std::runtime_error for a model without rows, or whose rows have no likelihood by themselves, NotAnOptimum for
/// a fit without a response, std::invalid_argument where the method cannot do it: too many parameters, or draws that
/// are of no use.
LRVB_EXPORT Loo leave_one_out(const FittedModel& fitted, const LooOptions& options = {});
/// From the draws of a check of the same fit.
LRVB_EXPORT Loo leave_one_out(const FittedModel& fitted, const Check& check, int threads = 1);

/// Whether so many draws take a few seconds at most.
LRVB_EXPORT bool is_quick_by_draws(const FittedModel& fitted, Index draws);

}  // namespace lrvb
