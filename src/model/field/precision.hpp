#pragma once

#include "linalg/cholesky.hpp"
#include "model/field/structure.hpp"

#include <memory>
#include <vector>

/// P = scale AᵀWA + prior precision of a field, factored in two steps. With the factor that has the most coefficients
/// first (the *leading* one), its level i with the block D_i of P and the block B_i beside the positions N_i of the
/// rest,
///
///     P = [ D  B ; Bᵀ  R ],     W_i = D_i⁻¹B_i,     R − Σ_i B_iᵀ D_i⁻¹ B_i = Schur complement,
///
/// so that leading levels cost O(|N_i|²) each, and only the Schur complement fills in: its positions are the other
/// factors and, last, the fixed effects. It is dense where its pattern is nearly so, and otherwise sparse. Without
/// factors it is all there is.
namespace lrvb::detail {

/// Patterns and positions, shared by all factorisations of a field.
class PrecisionPlan {
  public:
    /// Throws FactorTooLarge.
    explicit PrecisionPlan(std::shared_ptr<const FieldStructure> structure);

    const FieldStructure& structure() const { return *structure_; }
    const FieldShape& shape() const { return structure_->shape(); }
    /// Multiplications of a factorisation with its selected inverse, about.
    double work() const { return work_; }

  private:
    friend class PrecisionFactor;
    friend class PrecisionInverse;

    /// In the rest, of a fixed effect or a coefficient of another factor.
    Index rest_of_fixed(Index j) const { return rest_ - shape().fixed + j; }
    Index rest_of(std::size_t f, Index level) const;
    void find_neighbours();
    void find_rest_pattern();

    std::shared_ptr<const FieldStructure> structure_;
    std::ptrdiff_t leading_ = -1;          // factor, or −1
    Index rest_ = 0;                       // coefficients that are not leading
    std::vector<Index> rest_offset_;       // of each factor
    std::vector<Index> position_of_rest_;  // in the field
    std::vector<std::int64_t> starts_;     // of the neighbours of each leading level: other factors' positions
    std::vector<int> neighbours_;          //   in the rest, ascending; the fixed effects come after them
    struct Source {                        // of those neighbours: where their blocks are
        int pair;
        int meeting;
        bool transposed;
        int effects;
    };
    std::vector<std::int64_t> source_starts_;
    std::vector<Source> sources_;
    bool dense_ = true;
    SparseMatrix rest_pattern_;  // lower, of a sparse one
    CholeskyPlan rest_plan_;
    std::vector<std::int64_t> clique_starts_;  // of each leading level, slots of its pairs in the pattern
    std::vector<int> clique_slots_;
    double work_ = 0.0;
};

/// The entries of S = P⁻¹ where P has entries: what traces, variances of coefficients and of rows' predictors need.
class PrecisionInverse;

class PrecisionFactor {
  public:
    explicit PrecisionFactor(std::shared_ptr<const PrecisionPlan> plan) : plan_(std::move(plan)) {}

    /// False where a pivot was not safely positive; then nothing else may be asked. `precisions` are the q × q
    /// prior precisions of each factor's effects.
    bool factorise(const FieldBlocks& blocks, double scale, const Vector& fixed_precision,
                   const std::vector<Matrix>& precisions);

    double log_determinant() const { return log_determinant_; }
    Matrix solve(const Matrix& right) const;
    /// Of Z standard normal, draws with covariance P⁻¹.
    Matrix root_solve(const Matrix& z) const;
    /// Must be outlived by the factor.
    PrecisionInverse inverse() const;

    const PrecisionPlan& plan() const { return *plan_; }

  private:
    friend class PrecisionInverse;

    Vector rest_solve(const Vector& right) const;

    std::shared_ptr<const PrecisionPlan> plan_;
    std::vector<double> lower_;  // L_i of D_i = L_iL_iᵀ, q × q each
    std::vector<double> whole_;  // W_i, q × (|N_i| + p) each, row by row: other factors' positions, then fixed effects
    Matrix dense_;               // Cholesky factor of the Schur complement, or
    std::unique_ptr<Cholesky> sparse_;
    double log_determinant_ = 0.0;
};

class PrecisionInverse {
  public:
    explicit PrecisionInverse(const PrecisionFactor& factor);

    /// p × p.
    Matrix fixed() const;
    /// q × q of a level.
    Matrix block(std::size_t f, Index level) const;
    /// Σ over levels of these.
    Matrix block_sum(std::size_t f) const;
    Vector diagonal() const;
    /// aᵀSa of row n.
    double row_variance(Index n) const;

  private:
    double rest(Index i, Index j) const;
    void leading_block(Index level, Matrix& own) const;

    const PrecisionPlan* plan_;
    Matrix dense_;  // of the rest, both triangles, or
    std::unique_ptr<SelectedInverse> sparse_;
    std::vector<double> own_;     // S_ii of leading levels, q × q each
    std::vector<double> beside_;  // S_iN of them, laid out as W_i
};

}  // namespace lrvb::detail
