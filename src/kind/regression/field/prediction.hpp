#pragma once

#include "kind/regression/field/variables.hpp"

#include <lrvb/formula/design.hpp>

#include <optional>
#include <vector>

/// Predictions of a regression by formula, row by row.
///
/// The predictor of a row is a combination of coefficients, η with mean μ, variance v and skewness γ under the
/// posterior, which two normals p_j Normal(m_j, s²) have (one, where γ is zero), and of a group that the fit did not
/// have zᵀu with u ~ Normal(0, Σ_f(ψ)) on top; ψ, with which also σ goes, is a mixture over some ψ_k:
///
///     p(η) = Σ_k w_k Σ_j p_j Normal(m_j, s² + Σ_f zᵀΣ_f(ψ_k)z),     p(y) = Σ_k w_k ∫ p(y | η, ψ_k) p(η | ψ_k) dη
///
/// so that intervals carry what is not known of coefficients, of variances, of new groups and of a new response.
namespace lrvb::detail {

/// The variance parameters as some values that count so much, in the units of the data.
struct FieldNodes {
    Matrix psi;  // one a column
    Vector weights;
};

/// A row to be predicted: its predictor without new groups, and what these have.
struct FieldRow {
    double mean = 0.0;
    double variance = 0.0;
    double skewness = 0.0;
    std::vector<std::pair<Index, Vector>> new_groups = {};  // the factor, and z
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

/// A distribution of mean 0, variance 1 and some skewness γ as two normals of one variance, with the kurtosis that a
/// Gamma of that skewness has: of the variance ρ lies between them, at a and −b, where ab = ρ, ρ(a − b) = γ and the
/// excess of the kurtosis is γ²/ρ − 2ρ² = 3γ²/2.
struct TwoNormals {
    double shares[2] = {1.0, 0.0};
    double means[2] = {0.0, 0.0};
    double variance = 1.0;
};
TwoNormals two_normals(double skewness);

class FieldPredictor {
  public:
    FieldPredictor(const FormulaShape& shape, const FieldVariables& variables, FieldNodes nodes);

    /// On the scale of the response, or on that of the link. `level`: the probability between lower and upper.
    FieldPrediction predict(const FieldRow& row, bool on_link, std::optional<double> level) const;

  private:
    struct Mixture;
    Mixture predictor_of(const FieldRow& row, bool with_noise) const;
    FieldPrediction counts(const Mixture& predictor, std::optional<double> level) const;
    FieldPrediction on_link(const Mixture& mixture, std::optional<double> level) const;
    double response_at(double eta) const;

    FormulaShape shape_;
    const FieldVariables& variables_;
    FieldNodes nodes_;
    Vector sigma_;
    Vector nu_;
};

}  // namespace lrvb::detail
