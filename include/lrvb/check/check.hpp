#pragma once

#include <lrvb/export.hpp>
#include <lrvb/kind/derived.hpp>
#include <lrvb/kind/fitted_model.hpp>
#include <lrvb/model/multilinear_model.hpp>
#include <lrvb/sample/importance.hpp>
#include <lrvb/sample/metropolis.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// A check beside every answer: the exact posterior of a fitted model, sampled around the linear response, and how far
/// the answer is from it.
///
/// Importance sampling takes the linear response itself, on unbounded parameters, as location and scale of its
/// proposals; where that is not enough, the no-U-turn sampler follows the posterior in the coordinates that the
/// response whitens; Metropolis–Hastings, the paper's method, takes the same scale about the mode. Every reported
/// variable is a function of a draw, so its exact mean and sd are those of the draws, with
///
///     shift = (mean_lrvb − mean_exact)/sd_exact,     ratio = sd_lrvb/sd_exact.
///
/// A kind that integrates its posterior over a few parameters (FittedModel::integrate) gives these numbers without
/// draws: then that is the check, and se is what the rule may be wrong by.
///
/// Both have a Monte Carlo standard error, se. Of n variables that are neither fixed nor auxiliary, with z = Φ⁻¹(1 −
/// 0.025/n), one is
///
///     off            where |shift| − z·se or |ratio − 1| − z·se is above 0.1: with a probability of 95 %, none is
///                    called off that is not;
///     ok             where |shift| + z·se is at most 0.2 and |ratio − 1| + z·se at most 0.15, and z·se of both 0.1;
///     not resolved   otherwise: these draws cannot tell.
///
/// k̂ cannot see where no draw goes: a component that can lose its rows falls back to its prior there, and the precision
/// between a few groups has nothing to hold it once they are alike. So Gibbs chains (Model::gibbs) leave from draws,
/// from states with components emptied and from precisions moved far out, and wherever they come to a place that the
/// draws do not cover, a part of the proposal is fitted there and all draws are made anew, each weighted against the
/// whole proposal. Draws are reliable where in the end chains find no such place, k̂ is below its threshold, for the
/// weights and for their products with squared distances of every variable, and no standard error of an sd is above
/// 7 %; auxiliary variables, those that may have no variance, and indicators of labels aside (VariableMeaning). A model
/// without a Gibbs step, or with too many rows for one, is judged by k̂ alone, but not where a component has fewer than
/// twenty rows.
///
/// What the check still cannot see: modes that neither draws nor chains reach. Of those that the fit knows
/// (FitFile::other_optima) it says so: then no check is ok or reliable, and neither is a variable whose mean or sd,
/// over all optima with their shares, is another. What can be exchanged, such as the components of a mixture, keeps its
/// labels: the posterior is cut to where no exchange of two brings a point nearer to the answer, in its sds.
namespace lrvb {

/// How far a check is.
struct CheckProgress {
    CheckMethod method = CheckMethod::importance;
    Index draws = 0;
    /// The share of its draws that are made.
    double done = 0.0;
    /// Variables of which draws so far can tell, of how many.
    Index resolved = 0;
    Index variables = 0;
};

struct CheckOptions {
    /// Absent: integration, of a kind that has it; otherwise importance sampling; where its draws do not tell of every
    /// variable, more of them, or the no-U-turn sampler, until they do or the time is up.
    std::optional<CheckMethod> method = {};
    Index draws = 4000;
    /// The time of a choice, and of the no-U-turn sampler, about: it is counted by work, so that every machine makes
    /// the same check.
    double seconds = 30.0;
    std::uint64_t seed = 1;
    int threads = 1;
    /// Called now and then; returning false ends the check with std::runtime_error.
    std::function<bool(const CheckProgress&)> progress = {};
};

/// Shift and sd may be off by a tenth.
constexpr double kCheckTolerance = 0.1;
/// Draws with a smaller effective sample size are not relied on.
constexpr double kCheckEss = 400.0;

/// The result, and the draws that it comes from.
struct LRVB_EXPORT Check : CheckResult {
    /// What the draws say of themselves: k̂ is below its threshold, or R̂ below 1.01 (1.05 for Metropolis–Hastings), and
    /// they are worth kCheckEss; also that nothing is `unseen`; of importance sampling that no sd hangs on a few of
    /// them, and of the no-U-turn sampler that not one move in a thousand diverged.
    bool reliable = false;

    /// Of importance sampling.
    int rounds = 0;
    /// Of its proposal: more than one where chains found what a single Student t did not cover.
    int parts = 0;
    /// Where draws do not go, in words; empty where chains found no such place.
    std::string unseen;
    /// Where chains do not have the same mass, in words: in a tail of a variable, which some of them miss.
    std::string apart;
    /// k̂ of weights times squared distances from the mean, for every variable: whether few draws make up its variance.
    /// −∞ where the variable is fixed or auxiliary; of chains, whose draws all weigh the same, also where it is
    /// bounded.
    std::vector<double> variance_k_hat;
    /// The same of distances from the mean: whether few draws make up its mean.
    std::vector<double> mean_k_hat;
    /// What the posterior along its precisions says of the moments of every variable, beyond the draws; empty where
    /// that was not asked.
    std::vector<TailMoments> tails;
    /// Of Metropolis–Hastings.
    bool random_walk = false;
    /// Of chains.
    int chains = 0;
    /// Of the no-U-turn sampler.
    Index divergences = 0;
    Index gradients = 0;
    /// Variables that the draws can tell of, and how many times as many draws could tell of all.
    Index resolved = 0;
    double more = 1.0;
    /// The share of the proposals that were left out, since they had components exchanged.
    double exchanged = 0.0;

    /// The draws, on the unbounded parameters of ModelDensity, one a column.
    Matrix points;
    /// The reported variables at every draw: variables × draws.
    Matrix values;
    Vector log_density;
    /// Of importance sampling; empty otherwise.
    Vector log_proposal;
    /// Of draws with every label of theirs: which draw a column belongs to. Empty where every column is a draw.
    std::vector<Index> draw_of;
    /// Their exponentials add up to one.
    Vector log_weights;

    /// Of integration, the numbers that need no draws; those above are made beside them.
    std::optional<IntegratedPosterior> integrated = {};
};

/// Checks the posterior of a fit. Throws NotAnOptimum where it has not converged.
LRVB_EXPORT Check check(const FittedModel& fitted, const CheckOptions& options = {});
/// The same of a model declared with ModelBuilder, in one call: of its variables as `declared_posterior` reports them,
/// and of `derived` quantities besides.
///
///     const Check checked = check(model, fit(model), {sd_of("sigma", tau)});
LRVB_EXPORT Check check(const MultilinearModel& model, const Optimum& optimum,
                        const std::vector<DerivedQuantity>& derived = {}, const CheckOptions& options = {});
/// The same of another posterior of this fit: a corrected one, which is compared with draws, as integration may have
/// made it.
LRVB_EXPORT Check check(const FittedModel& fitted, const Posterior& posterior, const CheckOptions& options = {});

/// The same of an optimum; `statistics` are the model's statistics in the posterior, in the units of the data.
LRVB_EXPORT Check check_posterior(const Model& model, const Optimum& optimum, const Posterior& posterior,
                                  const Functionals& statistics, const CheckOptions& options = {});

/// The fit with the checked means, quantiles and covariances in place of its own, marked so. Variational parameters,
/// mean-field covariances and sensitivities stay. Throws std::invalid_argument where the check's draws are not
/// reliable, and where another optimum shares the posterior.
LRVB_EXPORT FitFile corrected(const FitFile& fit, const Check& check);

/// What 'lrvb check FIT DATA --format json' printed of this fit, read back. Throws std::runtime_error for what is no
/// such file, and for that of another fit.
LRVB_EXPORT CheckResult read_check(const std::string& path, const FitFile& fit);

/// When a fit is checked by itself.
enum class CheckWish {
    quick,   ///< where it takes about a second at most; where that is an integration, its numbers are the answer
    always,  ///< however long importance sampling takes, and half a minute of the no-U-turn sampler where it is needed
    exact,   ///< as always, and the answer is corrected by the draws
    never
};

/// A fit, what can be seen of it without sampling among its warnings (a flat direction, what the prior decides, what
/// its kind knows), and its check, where it is wished for and it converged. `seconds`: the time of the check; absent:
/// about one for a quick one, and that of CheckOptions otherwise; `progress` as there. Throws what Kind::fit throws,
/// and what `corrected` throws for an exact one.
struct CheckedFit {
    std::unique_ptr<FittedModel> fitted;
    /// Whether a check was tried: a posterior that draws do not reach gets a warning instead.
    bool check_tried = false;
};
LRVB_EXPORT CheckedFit fit_and_check(const Kind& kind, const FitRequest& request, CheckWish wish = CheckWish::quick,
                                     std::optional<double> seconds = {},
                                     const std::function<bool(const CheckProgress&)>& progress = {});

/// The rest of it, of a fit that is there already, such as that of a declared model: its file gets the warnings and the
/// check, whose seed, threads and progress `options` have. Whether a check was tried. Throws what `corrected` throws
/// for an exact one.
LRVB_EXPORT bool check_fit(FittedModel& fitted, CheckWish wish = CheckWish::quick, CheckOptions options = {},
                           std::optional<double> seconds = {});

/// A direction that is nearly flat, in a sentence with the variable and the remedy; empty where there is none.
LRVB_EXPORT std::string flat_direction(const FittedModel& fitted);

}  // namespace lrvb
