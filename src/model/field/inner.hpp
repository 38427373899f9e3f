#pragma once

#include "likelihood/row_likelihood.hpp"
#include "model/field/precision.hpp"
#include "model/field/row_design.hpp"

#include <memory>
#include <optional>
#include <vector>

/// The best normal q(x) = N(m, S) of a field whose rows are not normal, given ψ: the maximum of
///
///     F(m, S) = E_q log p(x | ψ) + Σ_n w_n E_q ℓ_n(a_nᵀx) + entropy(q),       Q = S⁻¹ = P + Aᵀ diag(d) A,  d = −w E
///     ℓ''
///
/// at the top. S is kept as d, for which F = −½(m − m₀)ᵀP(m − m₀) + ½ log |P| − ½ log |Q| + Σ f_n(μ_n, v_n) + ½ Σ d_n
/// v_n with v_n = a_nᵀSa_n: one number a row, and a bound for whatever d.
///
/// A step is Newton's in m and, by groups, in S. With E_i a basis of symmetric q × q matrices and B = Σ b_i E_i the
/// change of S on a level's own effects,
///
///     w_n = (z_nᵀE_iz_n)_i,   N_g = ½ tr(Q_gg E_i Q_gg E_j),   M_g = (N_g − ¼ Σ ℓ''''w wᵀ)⁻¹,   H_g = Σ_n ½ ℓ'''_n a_n
///     w_nᵀ b_g = M_g (H_gᵀ δ + r_g),   r_g = Σ ½ (d_n + E ℓ''_n) w_n,   (Q − Σ_g H_g M_g H_gᵀ) δ = ∇_m F + Σ_g H_g M_g
///     r_g
///
/// by conjugate gradients preconditioned with Q. What S does elsewhere follows a step later. A step that would lower F
/// is halved. Without factors the fixed effects, if they are few, are the one group.
///
/// Separation holds nothing up, as P is positive definite. It can fail where no q has a finite bound.
namespace lrvb::detail {

/// What ψ says of the field.
struct FieldGiven {
    Vector mean;                     // m₀
    Vector fixed_precision;          // P: of the fixed effects,
    std::vector<Matrix> precisions;  //   and of each factor's effects
    double log_determinant = 0.0;    // of P
    Vector theta;                    // of the likelihood
};

/// q, and what was computed on the way to it.
struct FieldInner {
    Vector mean;
    Vector weights;  // d
    FieldBlocks blocks;
    std::shared_ptr<const PrecisionFactor> factor;    // of Q
    std::shared_ptr<const PrecisionInverse> inverse;  // S where Q has entries
    Vector predictors;                                // μ, v and the terms there
    Vector variances;
    LikelihoodTerms terms;
    double bound = 0.0;
    int steps = 0;
    bool converged = false;
};

/// M_g and L_g of all levels.
class LocalResponse;

class FieldInnerProblem {
  public:
    static constexpr double kClose = 1e-9;

    FieldInnerProblem(std::shared_ptr<const PrecisionPlan> plan, std::shared_ptr<const RowDesign> design,
                      std::shared_ptr<const RowLikelihood> likelihood);

    const RowLikelihood& likelihood() const { return *likelihood_; }
    const RowDesign& design() const { return *design_; }
    const FieldShape& shape() const { return design_->shape(); }
    int threads() const { return threads_; }

    /// The top, from a near one where there is one, to within `close` sds. Throws std::domain_error where there is
    /// none.
    FieldInner top(const FieldGiven& given, const FieldInner* near = nullptr, double close = kClose) const;
    /// The same over S alone.
    FieldInner top_at(const FieldGiven& given, const Vector& mean, const FieldInner* near = nullptr) const;

    /// ∇_m F.
    Vector gradient(const FieldGiven& given, const FieldInner& at) const;
    /// P x.
    Vector prior_times(const FieldGiven& given, const VectorView& x) const;

    /// Q − Σ_g H_g M_g H_gᵀ, with H_g kept to the fixed effects and the level's own, so that it has Q's pattern: what Q
    /// is once S may follow m. As blocks beside P. Of several factors, nested ones most of all, what H_g is without may
    /// be what kept it positive definite; then S follows row by row.
    FieldBlocks responding_blocks(const FieldGiven& given, const FieldInner& at) const;

    /// What log p(y | ψ) exceeds the bound by, about, a force that moves the mean, and what Q is by local posteriors:
    /// see correction.cpp.
    struct Correction {
        double log_evidence = 0.0;
        Vector force;
        FieldBlocks blocks;
    };
    Correction correction(const FieldGiven& given, const FieldInner& at) const;

    bool factorise(const FieldGiven& given, FieldInner& at) const;

  private:
    /// Subtracts Σ_g H_g M_g H_gᵀ of a grouping; with `bounded`, of no group more than most of what its rows say of its
    /// effects, which log-concave rows never unsay.
    void respond(const LocalResponse& response, std::size_t grouping, const FieldInner& at, bool bounded,
                 FieldBlocks& blocks) const;
    Vector response_of_rows(const FieldInner& at) const;
    /// Blocks to take in place of these, where these leave the fixed effects much less sure than rows one by one do.
    std::optional<FieldBlocks> sound(const FieldGiven& given, const FieldInner& at, const FieldBlocks& blocks) const;
    void start(const FieldGiven& given, FieldInner& at) const;
    /// F and everything that belongs to a mean and weights; false where there is no such q, or no finite bound.
    bool evaluate(const FieldGiven& given, FieldInner& at) const;
    FieldInner climb(const FieldGiven& given, FieldInner at, bool move_mean, double enough) const;

    std::shared_ptr<const PrecisionPlan> plan_;
    std::shared_ptr<const RowDesign> design_;
    std::shared_ptr<const RowLikelihood> likelihood_;
    int threads_ = 1;
};

/// Of each group: M, and rows with their w. Groups are the levels of each factor, or all fixed effects.
class LocalResponse {
  public:
    LocalResponse(const FieldInnerProblem& problem, const FieldGiven& given, const FieldInner& at);

    /// b_g for all groups, and Σ over the factors of w_nᵀ b of each row: how v follows predictors that move by `moved`,
    /// with the residuals r of S where they are asked for.
    Vector variance_change(const Vector& moved, bool with_residuals) const;
    /// Σ_g H_g M_g H_gᵀ x for x with these predictors, as what is multiplied by Aᵀ.
    Vector pull(const Vector& moved, bool with_residuals) const;

    /// visit(group's first position, effects, M of the products); of factor f.
    const std::vector<std::vector<Matrix>>& responses() const { return responses_; }
    static Index products(Index effects) { return effects * (effects + 1) / 2; }
    /// w of z: squares and doubled products.
    static void weigh(const double* z, Index effects, double* w);
    /// The number of groupings: factors, or one for the fixed effects, or none.
    std::size_t groupings() const { return responses_.size(); }
    Index effects(std::size_t grouping) const;
    const double* values(std::size_t grouping, Index row) const;
    const RowGroups& groups(std::size_t grouping) const;
    /// Q_gg, or without the prior what rows add to it.
    Matrix precision(std::size_t grouping, Index group, bool with_prior = true) const;

  private:
    const FieldInnerProblem& problem_;
    const FieldGiven& given_;
    const FieldInner& at_;
    bool by_fixed_ = false;
    RowGroups all_;
    std::vector<std::vector<Matrix>> responses_;
};

}  // namespace lrvb::detail
