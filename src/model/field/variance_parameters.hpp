#pragma once

#include "family/scale_density.hpp"

#include <lrvb/model/field.hpp>

#include <string>
#include <vector>

/// From ψ to the prior precisions of a field, and the prior density of ψ. All in inner units, in which every sd is one
/// of the data's divided by a unit: a shift of its log, which changes no density of ψ.
///
/// Of a factor with q effects, ψ has q scales and then, for rows i = 2 … q, columns l < i of the same block,
/// z_il = atanh w_il, canonical partial correlations. With C the Cholesky factor of the correlations of a block,
///
///     C_il = w_il Π_{m<l} √(1 − w_im²),   C_ii = Π_{m<i} √(1 − w_im²),   Σ = M Mᵀ,  M = diag(sd) C,
///     d(correlations) = Π_il (1 − w_il²)^{(q − 1 − l)/2} dw,   dw = (1 − w²) dz.
///
/// **Three intercepts of a group.** The field has it at the means of all columns, ũ_0 (FieldModel). ψ has it at the
/// means of those of its block, where no sd of the block has a uniform prior (whose bounds are those of the sd at
/// zero). A prior may speak of it at zero, u_0: then, with s_0 its sd and s̃_0 the one that ψ has, of a block of b,
///
///     p(ψ) = p(sds at zero, correlations) (s̃_0/s_0)^{b+1},     as dΣ is the same for both.
namespace lrvb::detail {

/// The covariance of a factor's effects at some ψ.
struct EffectCovariance {
    Matrix root;                    // a square root: M, with its intercept at the means
    Matrix precision;               // Λ = Σ⁻¹
    double log_determinant = 0.0;   // of Σ
    std::vector<Matrix> by_psi;     // dΛ/dψ_j
    Vector log_determinant_by_psi;  // d log|Σ|/dψ_j
    Matrix covariance() const { return root * root.transpose(); }
};

/// What of a factor tells how its ψ make its covariance.
struct EffectShape {
    std::vector<Index> blocks;  // sizes; empty: one
    Index intercept = -1;
    Vector centre;  // of the effects' columns, in the units of the data; empty: zeros
};

/// One block of correlated effects.
class EffectBlock {
  public:
    /// `units` turn inner sds into the data's; `at_zero` makes the intercept's effect at zero of the effects that ψ
    /// has, in inner units, where the prior speaks of that one; empty otherwise.
    EffectBlock(FieldPrior::Factor prior, Vector units, Index intercept, Vector at_zero, const std::string& name);

    Index effects() const { return units_.size(); }
    Index size() const { return effects() * (effects() + 1) / 2; }
    Index correlation(Index i, Index l) const { return effects() + i * (i - 1) / 2 + l; }
    bool is_huang_wand() const { return huang_wand_; }

    EffectCovariance covariance(const VectorView& psi) const;
    Matrix root(const VectorView& psi) const;
    double log_sd(const VectorView& psi, Index effect, double* slope = nullptr) const;
    Vector from_sds(const Vector& sds) const;
    double log_prior(const VectorView& psi, Eigen::Ref<Vector> gradient) const;
    Vector gradient_by(const VectorView& psi, Index effect, bool second) const;

  private:
    double huang_wand_density(const VectorView& psi, Eigen::Ref<Vector> gradient) const;
    double correlation_density(const VectorView& psi, Eigen::Ref<Vector> gradient) const;
    /// log of the sd of which a prior speaks, and its gradient.
    double prior_log_sd(const VectorView& psi, Index effect, Vector& gradient) const;

    FieldPrior::Factor prior_;
    Vector units_;
    Index intercept_ = -1;
    Vector at_zero_;
    bool huang_wand_ = false;
};

/// One factor's part of ψ.
class EffectParameters {
  public:
    /// `units` turn inner sds into the data's.
    EffectParameters(FieldPrior::Factor prior, Vector units, const EffectShape& shape, const std::string& name);

    Index effects() const { return units_.size(); }
    Index size() const { return size_; }
    /// Where in this part the partial correlation of effects i > l stands; −1 for effects of two blocks.
    Index correlation(Index i, Index l) const;
    /// Whether the sd of an effect has Huang & Wand's prior, with others.
    bool is_huang_wand(Index effect) const { return blocks_[block_of(effect)].is_huang_wand(); }
    const FieldPrior::Factor& prior() const { return prior_; }
    /// Whether the ψ of the intercept's sd is that at the means of other columns.
    bool psi_at_means() const { return psi_at_means_; }
    /// Whether the prior speaks of that one.
    bool prior_at_means() const { return prior_at_means_; }
    /// Whether the partial correlations of an effect's block are plain ones.
    bool is_plain_correlation(Index effect) const { return blocks_[block_of(effect)].effects() == 2; }

    /// Of the effects at the means.
    EffectCovariance covariance(const VectorView& psi) const;
    /// A square root of the covariance of the effects at zero.
    Matrix root_at_zero(const VectorView& psi) const;
    /// What makes these of the effects at the means.
    const Matrix& to_zero() const { return to_zero_; }
    /// log of an inner sd that is one of ψ, and its derivative in its ψ.
    double log_sd(const VectorView& psi, Index effect, double* slope = nullptr) const;
    /// Back: the ψ at these inner sds, without correlations; inside of the bounds.
    Vector from_sds(const Vector& sds) const;
    /// The ψ at this covariance of the effects at the means, not too near the ends.
    Vector from_covariance(const Matrix& covariance) const;

    /// log p(ψ); adds its gradient.
    double log_prior(const VectorView& psi, Eigen::Ref<Vector> gradient) const;
    /// The derivative of that gradient in a number of the prior: `first` or `second` of an effect's. Huang & Wand's
    /// degrees of freedom are `first` of effect 0.
    Vector gradient_by(const VectorView& psi, Index effect, bool second) const;

  private:
    std::size_t block_of(Index effect) const;
    Vector own(std::size_t block, const VectorView& psi) const { return psi(places_[block]); }

    FieldPrior::Factor prior_;
    Vector units_;
    Index size_ = 0;
    std::vector<EffectBlock> blocks_;
    std::vector<Index> firsts_;               // of each block's effects
    std::vector<std::vector<Index>> places_;  // of each block's ψ
    bool psi_at_means_ = false;
    bool prior_at_means_ = false;
    Matrix to_means_;  // from the effects that ψ has to those at the means
    Matrix to_zero_;   // from these to those at zero
};

/// What an effect is called: "intercept_at_means" of an intercept that is there.
std::string effect_name(const std::string& effect, bool at_means);

/// Of a factor of data whose columns are centred there.
EffectShape effect_shape(const FieldFactor& factor, const Vector& centre);

}  // namespace lrvb::detail
