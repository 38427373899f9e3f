#pragma once

#include <lrvb/export.hpp>
#include <lrvb/posterior/covariance.hpp>
#include <lrvb/posterior/variable.hpp>
#include <lrvb/response/covariance.hpp>
#include <lrvb/response/linear_response.hpp>

#include <memory>
#include <optional>
#include <string>
#include <vector>

/// The posterior as people read it: named variables with means, sds, quantiles and covariances, in the units of the
/// data.
///
/// It holds the statistics T of a model, with their means m and covariances C (by linear response, and by mean field),
/// and the variables that are reported. A variable is a statistic, or a smooth function of a block of parameters such
/// as σ = τ^(−1/2): its mean under q is a function of the means m of the block, and with g the gradient of that
/// function, Cov(x, y) = g_xᵀ C g_y, and whatever moves m moves the reported mean along g. Intervals are taken on a
/// scale where the variable is unbounded, u ~ Normal(centre, hᵀCh), and carried to its own by an increasing or
/// decreasing transform of u; or, where the posterior was corrected by draws, they are the quantiles of these
/// (<lrvb/posterior/quantiles.hpp>).
///
/// Covariances answer for what is asked: up to kDenseStatistics they are matrices, beyond that a factorisation, and
/// memory stays linear in the size of the model. Nothing here knows of a model: what a fit file holds is enough.
namespace lrvb {

/// Up to so many statistics all covariances are kept.
constexpr Index kDenseStatistics = 2000;

enum class Method { linear_response, mean_field };

struct LRVB_EXPORT Posterior {
    std::vector<std::string> statistics;
    Vector mean;
    /// By linear response; null where there is none, because the fit did not converge to a maximum.
    std::shared_ptr<const Covariance> covariance;
    std::shared_ptr<const Covariance> mean_field_covariance;
    /// d mean / d hyperparameter, one column each; empty where there is no response.
    std::vector<std::string> hyperparameters;
    Matrix sensitivities;

    std::vector<PosteriorVariable> variables;

    /// Sds of all variables, and on their unbounded scales: kept where covariances are not matrices.
    struct Marginals {
        Vector sd;
        Vector unbounded_sd;
        Vector mean_field_sd;
        Vector mean_field_unbounded_sd;
    };
    std::optional<Marginals> marginals;

    bool has_response() const { return covariance != nullptr; }

    /// Positions of the variables of these names, in the order asked for; indices can be given as numbers too
    /// ("mu[1,2]" for "mu[1,waiting]"), those of an entry of a symmetric matrix in either order, and a name without its
    /// index ("mu") stands for all of its group, as one with the first of them ("u[Subject]") for all that begin so.
    /// None asked for means all, but for variables that are local. Throws std::invalid_argument for what is not there.
    std::vector<Index> select(const std::vector<std::string>& names) const;

    /// Covariance of variables, by position; NaN beside one that has no sd. Throws NotAnOptimum where a response is
    /// asked for and there is none.
    Matrix covariance_of(const std::vector<Index>& chosen, Method method) const;

    struct Row {
        std::string name;
        /// NaN where a heavy tail leaves none.
        double mean = 0.0;
        /// By linear response; NaN where there is none, and so for the quantiles; NaN where a heavy tail leaves none.
        double sd = 0.0;
        double mean_field_sd = 0.0;
        double lower = 0.0;
        double upper = 0.0;
        /// The quantiles that mean field gives, about the same centre.
        double mean_field_lower = 0.0;
        double mean_field_upper = 0.0;
        double median = 0.0;
        TailMoments moments = TailMoments::mean_and_sd;

        /// The mean, or the median where there is no mean.
        double centre() const { return moments == TailMoments::none ? median : mean; }
        /// The sd, or that of a normal with these quantiles at `level` where there is no sd.
        double width(double level) const;
    };
    /// `level`: the probability between the two quantiles.
    std::vector<Row> summary(const std::vector<Index>& chosen, double level) const;
    /// The sds of the chosen variables by linear response, as in the summary.
    Vector sds(const std::vector<Index>& chosen) const;

    /// d mean / d hyperparameter of the chosen variables: one row each.
    Matrix sensitivities_of(const std::vector<Index>& chosen) const;

    /// Gradients of the chosen variables, one a column over the statistics.
    SparseMatrix gradients(const std::vector<Index>& chosen) const;
    /// The same on their unbounded scales.
    SparseMatrix unbounded_gradients(const std::vector<Index>& chosen) const;

    /// All variables at every draw (variables × draws), from the model's statistics at every draw, in the order of
    /// `statistics`. Throws std::invalid_argument for a variable that does not know its value at a draw.
    Matrix values_at(const Matrix& statistics_at_draws) const;
    /// How many of the statistics, the last ones, are variables that a correction added to those of the model.
    Index derived_statistics = 0;
    Index model_statistics() const { return static_cast<Index>(statistics.size()) - derived_statistics; }
};

/// Statistics, means and covariances of these functionals of a fit; no variables yet.
LRVB_EXPORT Posterior posterior_of(const Model& model, const Optimum& optimum, std::vector<std::string> statistics,
                                   const Functionals& functionals);

/// The covariance of statistics, a column of weights over the stacked ones each, from a factorisation.
LRVB_EXPORT std::shared_ptr<const Covariance> response_covariance(FactoredCovariance factored,
                                                                  const SparseMatrix& statistics);

/// The same of mean field, whose blocks are those of the variables: a matrix where there are few.
LRVB_EXPORT std::shared_ptr<const Covariance> mean_field_covariance(const Layout& layout, const State& state,
                                                                    const SparseMatrix& statistics);

/// Of a corrected posterior whose covariances are no matrices: those of the linear response, with the exact sds of its
/// marginals in place of these.
LRVB_EXPORT std::shared_ptr<const Covariance> with_exact_sds(const Posterior& posterior, const Vector& response_sds);

/// Keeps the marginals, once all variables are there, where covariances are not matrices.
LRVB_EXPORT void keep_marginals(Posterior& posterior);

/// A variable whose interval is taken on another scale: u ~ Normal(centre, variance along the gradient there).
LRVB_EXPORT PosteriorVariable transformed_variable(VariableMeaning meaning, double mean, Gradient gradient,
                                                   const Transform& transform, double centre,
                                                   Gradient unbounded_gradient);
/// A variable that is unbounded: a statistic, or a combination of some.
LRVB_EXPORT PosteriorVariable unbounded_variable(VariableMeaning meaning, double mean, const Gradient& gradient);
/// One with few values, whose interval at level 0.9 has these ends; `sd` is about its own.
LRVB_EXPORT PosteriorVariable interval_variable(VariableMeaning meaning, double mean, const Gradient& gradient,
                                                double lower, double upper, double sd);
/// Its interval is taken on the log scale.
LRVB_EXPORT PosteriorVariable positive_variable(VariableMeaning meaning, double mean, const Gradient& gradient);

/// The derivative in the means m of something whose derivative in the natural parameters is h: V⁻¹h, since dm = V dη.
LRVB_EXPORT Vector by_means(const AnyFamily& family, const VectorView& natural, const Vector& by_natural);

/// log τ, τ and σ = τ^(−1/2) of a Gamma(a, b) variable of the model, whose statistics stand in the posterior at `tau`
/// and `log_tau`: appended in this order. All intervals are those of log τ, and σ has the mean √b Γ(a − ½)/Γ(a).
LRVB_EXPORT void add_precision(Posterior& posterior, VariableMeaning log_meaning, VariableMeaning meaning,
                               VariableMeaning sd_meaning, Index tau, Index log_tau, const Layout& layout,
                               const State& state, Index variable);

/// log π_k and π_k of a Dirichlet or Beta variable, whose statistics log π stand in the posterior from `first` on: all
/// of the logarithms, then all of the weights. Intervals are those of logit π.
LRVB_EXPORT void add_weights(Posterior& posterior, std::vector<VariableMeaning> log_meanings,
                             std::vector<VariableMeaning> meanings, Index first, const Layout& layout,
                             const State& state, Index variable);

}  // namespace lrvb
