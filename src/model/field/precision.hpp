#pragma once

#include "linalg/sparse_cholesky.hpp"
#include "model/field/structure.hpp"

#include <cstdint>
#include <memory>
#include <vector>

/// P = scale AᵀWA + prior precision of a field, factored in two steps. With the factor that has the most coefficients
/// first (the *leading* one), its level i with the block D_i of P and the block B_i beside the positions N_i of the
/// rest,
///
///     P = [ D  B ; Bᵀ  R ],     W_i = D_i⁻¹B_i,     R − Σ_i B_iᵀ D_i⁻¹ B_i = Schur complement,
///
/// A fixed effect whose column is a combination ZK of the columns of the leading effects, as the
/// intercept is beside (1 | g), has B = (D − Λ)K with Λ the prior precision of these, and its entries of the Schur
/// complement are Σ_i KᵀΛ D_i⁻¹B_i and its own prior: a sum, where the difference above would lose as many digits as
/// rows are more precise than Λ.
///
/// Leading levels cost O(|N_i|²) each, and only the Schur complement fills in: its positions are the other factors and,
/// last, the fixed effects. It is factored densely where its pattern is nearly full, or would fill up, and sparsely
/// otherwise. Without factors it is all there is.
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

    Index leading_levels() const;
    Index leading_effects() const;
    /// Positions N_i of a leading level: other factors' first, then the fixed effects.
    Index neighbour_count(Index level) const;
    void neighbours(Index level, std::vector<int>& positions) const;
    /// Where W_i begins.
    std::size_t place(Index level) const;
    void find_combined();
    void find_neighbours();
    void find_rest_pattern();
    /// visit(row, column, value) for the lower triangle of R, some positions more than once.
    template <class Visit>
    void visit_rest(const Visit& visit) const;

    std::shared_ptr<const FieldStructure> structure_;
    std::ptrdiff_t leading_ = -1;     // factor, or −1
    Index rest_ = 0;                  // coefficients that are not leading
    std::vector<Index> rest_offset_;  // of each factor but the leading one; the fixed effects are last
    struct Source {                   // a neighbour of a leading level: where its block is
        int pair;
        int meeting;
        int first;  // position in the rest
        int effects;
        bool transposed;  // the leading factor is the column of the block
    };
    std::vector<std::int64_t> source_starts_;  // of each leading level
    std::vector<Source> sources_;
    std::vector<std::int64_t> starts_;  // of each leading level, neighbours of other factors before it
    std::vector<int> neighbours_;       // these, ascending for each level
    struct Beside {                     // a leading level beside a position of the rest
        int level;
        int column;  // of the position in N_i
    };
    std::vector<std::int64_t> beside_starts_;          // of each position of another factor
    std::vector<Beside> besides_;                      // ascending levels
    std::vector<std::vector<int>> column_of_meeting_;  // of each pair with the leading factor, in N_i
    std::vector<bool> combined_;  // of the fixed effects: whether their columns are combinations ZK
    Matrix combinations_;         // K, a column for each of these
    bool dense_ = true;
    std::shared_ptr<const SparsePlan> rest_plan_;
    Index rest_entries_ = 0;
    std::vector<int> rest_slots_;  // of visit_rest's entries, and then of the pairs of each N_i, in a sparse pattern
    double work_ = 0.0;
};

class PrecisionInverse;
class RowDesign;

class PrecisionFactor {
  public:
    explicit PrecisionFactor(std::shared_ptr<const PrecisionPlan> plan) : plan_(std::move(plan)) {}

    /// False where a pivot was not safely positive; then nothing else may be asked. `precisions` are the q × q prior
    /// precisions of each factor's effects.
    bool factorise(const FieldBlocks& blocks, double scale, const Vector& fixed_precision,
                   const std::vector<Matrix>& precisions);

    double log_determinant() const { return log_determinant_; }
    /// How large the numbers are whose rounding it has: pivots of the Schur complement may be small differences.
    double log_determinant_magnitude() const { return log_determinant_magnitude_; }
    Matrix solve(const Matrix& right) const;
    /// Of Z standard normal, draws with covariance P⁻¹.
    Matrix root_solve(const Matrix& z) const;

    const PrecisionPlan& plan() const { return *plan_; }

  private:
    friend class PrecisionInverse;

    void subtract_products(Vector& diagonal);
    bool factorise_rest(std::vector<double>&& sparse_values, const Vector& diagonal);
    Vector gathered_rest(const Vector& x) const;
    void scatter(const Vector& rest, Eigen::Ref<Vector> x) const;

    std::shared_ptr<const PrecisionPlan> plan_;
    std::vector<double> lower_;   // L_i of D_i = L_iL_iᵀ, q × q each
    std::vector<double> beside_;  // W_i, q × |N_i| each, row by row
    std::vector<double> left_;    // K − W_i = D_i⁻¹ΛK of combined columns, which that difference would lose
    Matrix dense_;                // Cholesky factor of the Schur complement, or
    std::unique_ptr<SparseCholesky> sparse_;
    double log_determinant_ = 0.0;
    double log_determinant_magnitude_ = 0.0;
};

/// The entries of S = P⁻¹ where P has entries: what traces, variances of coefficients and of rows' predictors need.
/// About as dear as the factorisation, which must outlive it.
class PrecisionInverse {
  public:
    explicit PrecisionInverse(const PrecisionFactor& factor);

    /// p × p.
    Matrix fixed() const;
    /// q × q of a level.
    Matrix block(std::size_t f, Index level) const;
    /// The sum of these over the levels.
    Matrix block_sum(std::size_t f) const;
    Vector diagonal() const;
    /// aᵀSa of row n of the design.
    double row_variance(Index n) const;
    /// The same of rows begin … end − 1.
    void row_variances(const RowDesign& design, Index begin, Index end, double* variances) const;

  private:
    double rest(Index i, Index j) const { return sparse_ ? (*sparse_)(i, j) : dense_(i, j); }

    bool has_one_factor() const;
    /// Of a row with these fixed effects' columns and effects' values.
    double one_factor_variance(Index level, const double* fixed, const double* effects) const;
    void fill_beside();

    const PrecisionPlan* plan_;
    const PrecisionFactor* factor_;
    Matrix dense_;  // of the rest, both triangles, or
    std::unique_ptr<SelectedInverse> sparse_;
    std::vector<double> own_;       // S_ii of leading levels, q × q each
    std::vector<double> beside_;    // S_iN of them, laid out as W_i
    std::vector<int> combination_;  // of the fixed effects: which of the combined columns it is, or −1
    Index combinations_ = 0;
};

/// aᵀSa of combinations of coefficients, one a column, with the diagonal of S: single coefficients by it, those of one
/// level by its block of `inverse` (made where there is none), others by a solve each.
Vector combination_variances(const PrecisionFactor& factor, const Vector& diagonal, const SparseMatrix& combinations,
                             const PrecisionInverse* inverse = nullptr);

}  // namespace lrvb::detail
