#pragma once

#include "base/block_sums.hpp"
#include "kind/regression/field/prior.hpp"
#include "model/field/variance_parameters.hpp"

#include <lrvb/formula/design.hpp>
#include <lrvb/posterior/posterior.hpp>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

/// What is reported of a regression by formula.
///
///     shown        intercept, beta[…], sd[g,e], cor[g,e,f], sd[rw2(t)], sigma, parameters of the likelihood, ICC[g],
///     R2_marginal, R2_conditional
///                  sd[g,intercept_at_means]: of the intercepts of groups at the means of the columns of their slopes
///     on demand    f[rw2(t),time] (the curve of a term at its nodes), coef[rw2(t),k] (its coefficients), u[g,level,e],
///     u[g,level,intercept_at_means], alpha (the intercept at the means of the columns), tau = 1/sigma², tau[g,e] =
///     1/sd²
///                  where the prior is a gamma of it, and ψ itself,
///                  in the units of the data: log_sd[…], atanh_cor[…], log_sigma, …
///
/// With V_f the mean over the rows of zᵀΣ_f z, the variance that factor f adds to a row, V = Var(Xβ) over the rows, and
/// d that of a response given its predictor, on the link's scale (Likelihood::link_variance),
///
///     ICC[f] = V_f/(Σ V_f + d),   R2_marginal = V/(V + Σ V_f + d),   R2_conditional = (V + Σ V_f)/(V + Σ V_f + d)
///
/// (Nakagawa, Johnson & Schielzeth 2017). A latent term adds to Σ V_f its sd² times the mean of Σ_k B_k² over the rows.
///
/// The mean of an sd at one point is that of a lognormal, exp(ψ + ½ Var ψ).
namespace lrvb::detail {

/// What ICC and R² need of the rows.
struct FieldMoments {
    Matrix columns;               // population covariance of the fixed columns
    Vector terms;                 // of each term the mean of Σ_k B_k²
    std::vector<Matrix> effects;  // of each factor the mean of z zᵀ, with z as the field has it: at the means
    double response = 0.0;        // mean of all responses, of families without a σ; else NaN
};

/// Of all rows, wherever they are: `ask` gives the merged answers of those who have them. The rows of `outline` are
/// looked at where a family needs them, which has them here.
FieldMoments moments_of(const FieldData& outline, const AskRows& ask);
/// Sums over the rows of some of them, by super-blocks.
std::string answer_moments(const FieldData& data, const RowBlocks& blocks, std::string_view asked);

/// The response's covariance of some of a posterior's statistics, by their places.
Matrix covariance_of_statistics(const Posterior& posterior, const std::vector<Index>& places);

class FieldVariables {
  public:
    FieldVariables(FormulaShape shape, const FieldPrior& prior, FieldMoments moments);

    /// Statistics of the posterior: alpha, intercept, beta, ψ, u.
    const std::vector<std::string>& statistics() const { return statistics_; }
    Index first_slope() const { return shape_.intercept ? 2 : 0; }
    Index first_psi() const { return first_slope() + static_cast<Index>(shape_.slopes.size()); }
    Index psi_count() const { return psi_count_; }
    Index first_effect() const { return first_psi() + psi_count_; }
    /// The statistics that a predictor is a combination of: alpha, slopes and effects.
    std::vector<Index> coefficients() const;
    /// Whether a statistic is one of those that R² is a function of.
    bool is_of_shares(Index statistic) const;
    /// The sd of a term at ψ.
    double term_sd(std::size_t term, const Vector& psi) const;

    std::vector<VariableMeaning> meanings() const;
    /// Whether a variable is a function of ψ alone, and not one of its statistics.
    bool is_of_psi(const FromDraw& rule) const;
    /// The statistics of a model of this shape.
    Functionals functionals(const FieldModel& model) const;
    /// The one-point posterior.
    Posterior posterior(const FieldModel& model, const Optimum& optimum) const;

    /// Σ_f at ψ, in the data's units, of the effects at the means: a row has zᵀΣ_f z, with the centre taken from z.
    Matrix effect_covariance(Index factor, const Vector& psi) const;
    const Vector& effect_centre(std::size_t factor) const { return effect_centre_[factor]; }
    /// Whether the prior of a factor's intercepts speaks of them at zero, where ψ has them at the means.
    bool is_at_zero(std::size_t factor) const;
    bool are_correlated(std::size_t factor, Index effect, Index other) const;
    /// Of the statistics u: "intercept_at_means" where that is another than the intercept.
    std::vector<std::string> effect_names(std::size_t factor) const;
    double sigma(const Vector& psi) const;
    /// σ, where there is one, and the parameters of the likelihood.
    Vector theta(const Vector& psi) const;

  private:
    struct Scale {  // an sd, and its ψ
        std::string index;
        Index factor = 0;
        Index effect = 0;
        Index psi = 0;
        bool is_log = true;  // ψ is log sd
    };

    Index psi_of(Index factor) const { return factor_psi_[static_cast<std::size_t>(factor)]; }
    bool is_centred(std::size_t factor) const { return (effect_centre_[factor].array() != 0.0).any(); }
    Vector own(Index factor, const Vector& psi) const;
    bool has_shares() const;
    /// ICC of each factor, R2_marginal, R2_conditional: of slopes and ψ, stacked.
    Vector shares(const Vector& slopes_and_psi) const;
    std::vector<std::string> share_names() const;
    bool is_parameter(const std::string& group) const;
    /// Which moments a power of a parameter has.
    TailMoments moments_of(const std::string& group) const;

    FormulaShape shape_;
    FieldMoments moments_;
    std::vector<std::shared_ptr<const EffectParameters>> effects_;  // of each factor
    std::vector<Vector> effect_centre_;
    std::shared_ptr<const EffectParameters> sigma_;
    std::vector<Index> factor_psi_;
    std::vector<std::shared_ptr<const EffectParameters>> terms_;
    std::vector<Index> term_psi_;
    Index sigma_psi_ = -1;
    std::vector<Index> parameter_psi_;  // of the likelihood
    Index psi_count_ = 0;
    std::vector<std::string> statistics_;
    std::vector<std::string> psi_groups_;
    std::vector<std::vector<std::string>> psi_indices_;
    std::vector<bool> psi_is_log_;
    std::vector<bool> has_precision_;
    std::vector<std::pair<Index, Index>> psi_effects_;  // factor and effect; −1 of what is of none
};

}  // namespace lrvb::detail
