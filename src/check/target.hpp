#pragma once

#include "check/explore.hpp"
#include "check/labels.hpp"
#include "sample/ridge.hpp"

#include <lrvb/check/check.hpp>
#include <lrvb/sample/model_density.hpp>
#include <lrvb/sample/whitening.hpp>

#include <limits>

/// What a check is made of: draws of the posterior, and what they say.
namespace lrvb::detail {

constexpr double kNothing = std::numeric_limits<double>::quiet_NaN();

struct Target {
    const Model& model;
    const Optimum& optimum;
    const ModelDensity& density;
    const LabelledDensity& labelled;
    /// Without a covariance where there are very many coordinates.
    const NormalApproximation& approximation;
    const Whitening& whitening;
    ValuesAt values_at;
    /// The reported variables at stacked statistics.
    ValuesAt values_of_statistics;
    const Posterior& posterior;
    std::vector<Index> watched;  // variables of the posterior that tell whether draws are all there is
    /// Along the precisions, where these are few and the model is small.
    std::vector<Ridge> ridges = {};
    /// Variables whose moments the ridges know.
    std::vector<Index> of_ridges = {};
};

/// A model with a single precision is known along all of it: its ridge. Null otherwise.
inline const Ridge* only_ridge(const Target& target) {
    return target.ridges.size() == 1 ? &target.ridges.front() : nullptr;
}

/// Sets the ridges of a target; `most_gradients`: no more of these for all of them.
void find_ridges(Target& target, Index most_gradients, int threads);

/// Whether a variable tells of draws if they are all there is. Not those that nobody wrote, nor those that may have no
/// variance, nor indicators of labels: one that hardly ever is has its variance from few draws, however good these are.
inline bool is_telling(const VariableMeaning& meaning) {
    const bool is_label = meaning.role == Role::weight && !meaning.is_parameter && !meaning.is_shown;
    return !meaning.is_auxiliary && !meaning.may_be_infinite && !is_label;
}

/// Makes the draws of a check that has its method, number and seed, and says what they say of themselves. `gradients`:
/// no more of them, for a sampler that follows them. `progress` as that of NutsOptions.
void draw(const Target& target, int threads, Index gradients, const std::function<bool(double)>& progress,
          Check& check);

/// What is to be done where draws are too few by a factor, in words; +∞ where more of them would not do.
using Advice = std::function<std::string(const Check& check, double factor)>;
std::string more_draws(const Check& check, double factor);

/// Values of a variable at draws. Those that do not count, and those that are no numbers, are as at the next draw that
/// does, so that moments and quantiles are about those of the others.
Eigen::ArrayXd counted_values(const Vector& values, const Eigen::ArrayXd& weights);

/// Compares the answer with the draws.
void compare(const Posterior& posterior, const Advice& advice, Check& check);

/// Refuses a fit that shares its posterior with other optima, which draws about one of them cannot correct.
void require_one_optimum(const FitFile& fit);

/// Numbers looked at in about a second: time is counted by work, so that the same check is made on any machine.
constexpr double kWorkOfASecond = 6e8;

/// k̂ of weights times squared distances z of a variable from its mean.
double variance_k_hat(const Vector& log_ratios, const Eigen::ArrayXd& z);
/// The same of another power of these distances.
double moment_k_hat(const Vector& log_ratios, const Eigen::ArrayXd& z, double power);

}  // namespace lrvb::detail
