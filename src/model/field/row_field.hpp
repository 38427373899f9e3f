#pragma once

#include "model/field/core.hpp"
#include "model/field/inner.hpp"

#include <mutex>

/// A field whose rows are not normal: what FieldModel says of it, by the best normal q(x) given ψ.
///
///     F(ψ, m) = max_S F(ψ, m, S)        gradients by the envelope theorem
///     ∂²F/∂m∂m = −(Q − Σ_g H_g M_g H_gᵀ)   S follows m within groups only (inner.hpp), which keeps Q's pattern
///     ∂²F/∂ψ∂m, ∂²F/∂ψ∂ψ                 by fourth-order differences of the gradients, with S solved again: exact
namespace lrvb::detail {

class RowField {
  public:
    explicit RowField(const FieldCore& core);

    /// The bound at a ψ and a mean.
    struct At {
        Vector psi;
        PsiPoint point;
        FieldGiven given;
        FieldInner inner;
        double bound = 0.0;  // log p(ψ) and all constants included
    };
    /// The best mean too. Throws std::domain_error where there is none.
    At top(const VectorView& psi, const FieldInner* near, double close = FieldInnerProblem::kClose) const;
    At at(const VectorView& psi, const Vector& mean, const FieldInner* near) const;
    /// From the reference; the last one is kept.
    std::shared_ptr<const At> at(const VectorView& psi, const Vector& mean) const;
    FieldGiven given(const PsiPoint& point, const VectorView& psi) const;

    FieldCore::Evidence evidence(const VectorView& psi, bool gradient, const FieldInner* near) const;
    Vector psi_gradient(const At& at) const;
    /// The same with q held as it is and ψ elsewhere.
    Vector held_gradient(const At& at, const VectorView& psi) const;
    Matrix held_curvature(const At& at) const;

    Expansion expand(const Vector& mean, Order order) const;
    Expansion sweep(State& state) const;
    /// Of the coefficients that are free; F never falls.
    Vector moved_free(const At& here, const std::vector<bool>& clamped) const;
    double log_joint(const VectorView& psi, const VectorView& x, Vector* gradient) const;
    Vector fixed_sd_gradient(const Vector& mean, Index fixed) const;

    const FieldInnerProblem& problem() const { return *problem_; }
    const FieldInner* reference() const { return reference_.get(); }
    /// σ in inner units, where there is one, and the parameters of the likelihood.
    Vector theta(const VectorView& psi) const;

    std::unique_ptr<FieldConditional> conditional(const std::shared_ptr<const FieldCore>& core, const VectorView& psi,
                                                  const FieldConditional* near) const;

    void ask_rows(const State& state, const Matrix& directions, RowChange change, const RowVisitor& visit) const;
    void row_log_likelihoods(const Matrix& statistics, int threads, const RowVisitor& visit) const;
    void replicate_rows(const Matrix& statistics, std::uint64_t seed, int threads, const ReplicateVisitor& visit) const;

    /// Where fits begin.
    Vector guess() const;
    /// Other tops of rows with Student errors, which the field does not have.
    const std::vector<FieldRival>& rivals() const { return rivals_; }

  private:
    friend class RowConditional;

    double full_bound(const At& at) const;
    /// Adds what the rows add, by σ and the parameters of the likelihood.
    void add_parameter_gradient(const VectorView& psi, const Vector& theta, const Vector& by_theta,
                                Vector& gradient) const;
    void find_rivals();
    std::vector<Vector> lines(const FieldGiven& given) const;
    void add_spread(const At& at, FieldCore::Squares& squares, FieldCore::Spread& spread) const;

    const FieldCore& core_;
    std::shared_ptr<const FieldInnerProblem> problem_;
    std::shared_ptr<const FieldInner> reference_;
    std::vector<FieldRival> rivals_;
    double constant_ = 0.0;  // of the units of the response
    mutable std::mutex mutex_;
    mutable std::shared_ptr<const At> last_;
};

}  // namespace lrvb::detail
