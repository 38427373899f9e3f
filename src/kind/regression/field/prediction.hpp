#pragma once

#include "kind/regression/field/variables.hpp"

#include <lrvb/formula/design.hpp>

#include <optional>
#include <vector>

/// Predictions of a regression by formula, row by row.
///
/// The predictor of a row is a combination of coefficients, η with mean μ and variance v under the posterior. Given ψ,
/// which is a mixture over some ψ_k, it is normal, or of the shape of a Gamma where it is skewed, a few normals
/// p_j Normal(m_j, s_j²); its mean is a line in ψ and its variance log-linear in ψ, so that over all ψ_k it has μ and
/// v. (Without draws that tell of these it is the same for every ψ_k.) Of a group that the fit did not have zᵀu with u
/// ~ Normal(0, Σ_f(ψ)) comes on top, and with ψ also σ goes:
///
///     p(η) = Σ_k w_k Σ_j p_j Normal(μ_k + √v_k m_j, v_k s_j² + Σ_f zᵀΣ_f(ψ_k)z),    p(y) = Σ_k w_k ∫ p(y | η, ψ_k) p(η
///     | ψ_k) dη
///
/// so that intervals carry what is not known of coefficients, of variances, of new groups and of a new response.
namespace lrvb::detail {

/// The variance parameters as some values that count so much, in the units of the data.
struct FieldNodes {
    Matrix psi;  // one a column
    Vector weights;
};

/// How a predictor is distributed, in its own sds: for each sd of each of ψ what its mean goes up by, and the logarithm
/// of its variance given ψ; and how skewed it is given ψ. Without slopes it does not depend on ψ.
struct PredictorShape {
    Vector mean_slopes = {};
    Vector log_variance_slopes = {};
    double l_skewness = 0.0;  // between −1 and 1
};

/// A row to be predicted: its predictor without new groups, and what these have.
struct FieldRow {
    double mean = 0.0;
    double variance = 0.0;
    PredictorShape shape = {};
    std::vector<std::pair<Index, Vector>> new_groups = {};  // the factor, and z
    std::vector<std::pair<Index, double>> beyond = {};      // the term, and its variance beyond its nodes over sd²
};

/// The mean and the sds are infinite where a few of the nodes make them up: an exponential of a variance that may be
/// anything has none.
struct FieldPrediction {
    double mean = 0.0;
    double mean_sd = 0.0;  // of the mean response, or of the predictor
    double sd = 0.0;       // of a new response
    double lower = 0.0;    // of a new response; of a binomial one, of its probability
    double upper = 0.0;
};

/// Normals that make up a distribution of mean 0 and variance 1.
struct StandardShape {
    Vector shares;
    Vector means;
    Vector variances;
};

/// The shape of a Gamma, or of one that is turned round, with this L-skewness τ₃ = λ₃/λ₂ (Hosking 1990): of
/// g(z) = (P⁻¹(k, Φ(z)) − k)/√k at z = −4, −3.5, …, 4, normals at g(z) that count as φ(z) and are as wide as these are
/// apart, moved and scaled to mean 0 and variance 1. A normal where τ₃ is zero.
StandardShape gamma_shape(double l_skewness);

class FieldPredictor {
  public:
    FieldPredictor(const FormulaShape& shape, const FieldVariables& variables, FieldNodes nodes);

    /// On the scale of the response, or on that of the link. `level`: the probability between lower and upper.
    FieldPrediction predict(const FieldRow& row, bool on_link, std::optional<double> level) const;

  private:
    struct Mixture;
    Mixture predictor_of(const FieldRow& row, bool with_noise) const;
    /// Mean and sds of a new response.
    void add_moments(const Mixture& predictor, FieldPrediction& result) const;
    /// Where the response does not exceed a value with this probability.
    double response_quantile(const Mixture& predictor, double p) const;
    FieldPrediction on_link(const Mixture& mixture, std::optional<double> level) const;

    FormulaShape shape_;
    const FieldVariables& variables_;
    FieldNodes nodes_;
    Matrix standard_psi_;        // of the nodes, in sds from their mean
    std::vector<Vector> theta_;  // of each node
};

}  // namespace lrvb::detail
