#pragma once

#include <lrvb/export.hpp>
#include <lrvb/kind/fit_file.hpp>
#include <lrvb/sample/importance.hpp>
#include <lrvb/sample/metropolis.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

/// A check beside every answer: the exact posterior of a fitted model, sampled around the linear response, and how far
/// the answer is from it.
///
/// Importance sampling takes the linear response itself, on unbounded parameters, as location and scale of its
/// proposals; Metropolis–Hastings takes the same scale about the mode. Every reported variable is a function of a draw,
/// so its exact mean and sd are those of the draws, with
///
///     shift = (mean_lrvb − mean_exact)/sd_exact,     ratio = sd_lrvb/sd_exact.
///
/// Both have a Monte Carlo standard error, se. Of n variables that are not fixed, with z = Φ⁻¹(1 − 0.025/n), one is
///
///     off            where |shift| − z·se or |ratio − 1| − z·se is above 0.1: with a probability of 95 %, none is
///                    called off that is not;
///     not resolved   where it is not off, but z·se of either is above 0.1, so that these draws cannot tell;
///     ok             otherwise.
///
/// What the check cannot see: modes that the proposal does not reach. The components of a mixture keep their labels:
/// the posterior is cut to where no exchange of two components brings a point nearer to the answer, in its sds.
namespace lrvb {

enum class CheckMethod { importance, metropolis };

struct CheckOptions {
    CheckMethod method = CheckMethod::importance;
    Index draws = 4000;
    std::uint64_t seed = 1;
    int threads = 1;
};

/// Shift and sd may be off by a tenth.
constexpr double kCheckTolerance = 0.1;
/// Draws that are worth fewer independent ones than this are not relied on.
constexpr double kCheckEss = 400.0;

struct CheckedVariable {
    std::string name;
    double mean_lrvb = 0.0;
    double sd_lrvb = 0.0;
    double mean_exact = 0.0;
    double sd_exact = 0.0;
    double shift = 0.0;  // 0 where the variable is fixed
    double ratio = 0.0;  // NaN where the variable is fixed
    /// Monte Carlo standard errors of the two.
    double shift_se = 0.0;  // 0 where the variable is fixed
    double ratio_se = 0.0;  // NaN where the variable is fixed
    /// "ok", "sd off by -15%" (the answer's is too small), "mean off by +0.30 sd" (too large), both with a comma,
    /// "not resolved: ±0.31 sd" or "not resolved: sd ±15%" (z standard errors), "fixed", or "not checked".
    std::string verdict;
};

enum class CheckVerdict {
    ok,        ///< nothing is off, and the draws can tell
    off,       ///< a variable is off
    doubtful,  ///< the draws are not reliable, or too few to tell of every variable
    unchecked  ///< the draws are of no use
};

LRVB_EXPORT std::string_view to_string(CheckVerdict verdict);

struct LRVB_EXPORT Check {
    CheckOptions options;
    /// In the order of the posterior.
    std::vector<CheckedVariable> variables;
    CheckVerdict verdict = CheckVerdict::unchecked;
    /// One sentence each: whether the draws can be trusted, and what they say.
    std::string trust;
    std::string message;
    /// What the draws say of themselves: k̂ is below its threshold, or R̂ below 1.05, and they are worth kCheckEss.
    bool reliable = false;

    /// Of Metropolis–Hastings the smallest, over the coordinates and the variables, of a mean or a variance.
    double ess = 0.0;
    /// Of importance sampling; NaN otherwise.
    double k_hat = 0.0;
    int rounds = 0;
    /// Of Metropolis–Hastings; NaN otherwise.
    double acceptance = 0.0;
    double r_hat = 0.0;
    bool random_walk = false;
    int chains = 0;
    /// The share of a mixture's proposals that were left out, since they had components exchanged.
    double exchanged = 0.0;

    /// The reported variables at every draw: variables × draws.
    Matrix values;
    Vector log_density;
    /// Of importance sampling; empty otherwise.
    Vector log_proposal;
    /// Their exponentials add up to one.
    Vector log_weights;
};

/// Statistics of a model by their names, in the units of the data: what `in_data_units` of a model gives.
using Door = std::function<Functionals(const std::vector<std::string>&)>;

/// Checks the posterior of an optimum. Throws NotAnOptimum where it has not converged.
LRVB_EXPORT Check check_posterior(const Model& model, const Optimum& optimum, const Posterior& posterior,
                                  const Door& in_data_units, const CheckOptions& options = {});

/// Checks a fit file against its data: the rows in the order of the fit, its weights last. Throws NotAnOptimum for a
/// fit that did not converge, std::runtime_error for data that are not those of the fit.
LRVB_EXPORT Check check_mixture(const FitFile& fit, const std::shared_ptr<RowSource>& rows,
                                const CheckOptions& options = {});
LRVB_EXPORT Check check_regression(const FitFile& fit, const RegressionDesign& design,
                                   const CheckOptions& options = {});

/// What a fit file keeps of it.
LRVB_EXPORT CheckRecord record_check(const Check& check);

/// The fit with the checked means and covariances in place of its own, marked so. Variational parameters, mean-field
/// covariances and sensitivities stay. Throws std::invalid_argument where the check's draws are not reliable.
LRVB_EXPORT FitFile corrected(const FitFile& fit, const Check& check);

}  // namespace lrvb
