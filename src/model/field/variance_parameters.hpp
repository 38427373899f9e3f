#pragma once

#include "family/scale_density.hpp"

#include <lrvb/model/field.hpp>

#include <string>
#include <vector>

/// From ψ to the prior precisions of a field, and the prior density of ψ. All in inner units, in which every sd is one
/// of the data's divided by a unit: a shift of its log, which changes no density of ψ.
///
/// Of a factor with q effects, ψ has q scales and then, for rows i = 2 … q, columns l < i, z_il = atanh w_il, canonical
/// partial correlations. With C the Cholesky factor of the correlations,
///
///     C_il = w_il Π_{m<l} √(1 − w_im²),   C_ii = Π_{m<i} √(1 − w_im²),   Σ = M Mᵀ,  M = diag(sd) C,
///     d(correlations) = Π_il (1 − w_il²)^{(q − 1 − l)/2} dw,   dw = (1 − w²) dz.
namespace lrvb::detail {

/// The covariance of a factor's effects at some ψ.
struct EffectCovariance {
    Matrix root;                    // M
    Matrix precision;               // Λ = Σ⁻¹
    double log_determinant = 0.0;   // of Σ
    std::vector<Matrix> by_psi;     // dΛ/dψ_j
    Vector log_determinant_by_psi;  // d log|Σ|/dψ_j
    Matrix covariance() const { return root * root.transpose(); }
};

/// One factor's part of ψ.
class EffectParameters {
  public:
    /// `units` turn inner sds into the data's.
    EffectParameters(FieldPrior::Factor prior, Vector units, const std::string& name);

    Index effects() const { return units_.size(); }
    Index size() const { return effects() * (effects() + 1) / 2; }
    /// Where in this part the partial correlation of effects i > l stands.
    Index correlation(Index i, Index l) const { return effects() + i * (i - 1) / 2 + l; }
    bool is_huang_wand() const { return huang_wand_; }
    const FieldPrior::Factor& prior() const { return prior_; }

    EffectCovariance covariance(const VectorView& psi) const;
    /// M alone.
    Matrix root(const VectorView& psi) const;
    /// log of an inner sd, and its derivative in its ψ.
    double log_sd(const VectorView& psi, Index effect, double* slope = nullptr) const;
    /// Back: the ψ at these inner sds, without correlations; inside of the bounds.
    Vector from_sds(const Vector& sds) const;

    /// log p(ψ); adds its gradient.
    double log_prior(const VectorView& psi, Eigen::Ref<Vector> gradient) const;
    /// The derivative of that gradient in a number of the prior: `first` or `second` of an effect's. Huang & Wand's
    /// degrees of freedom are `first` of effect 0.
    Vector gradient_by(const VectorView& psi, Index effect, bool second) const;

  private:
    double huang_wand_density(const VectorView& psi, Eigen::Ref<Vector> gradient) const;

    FieldPrior::Factor prior_;
    Vector units_;
    bool huang_wand_ = false;
};

}  // namespace lrvb::detail
