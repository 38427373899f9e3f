#pragma once

#include "linalg/cholesky.hpp"
#include "linalg/lanczos.hpp"

#include <lrvb/model/model.hpp>

#include <memory>
#include <optional>
#include <vector>

/// The curvature of the bound, whitened. With V_j = L_j L_jᵀ and H = ∇²L,
///
///     Σ̂ = (V⁻¹ − H)⁻¹ = L (I − LᵀHL)⁻¹ Lᵀ,
///
/// and I − LᵀHL is positive definite exactly when the fixed point is a strict local maximum of the bound. Newton's step
/// and the linear response are both read off its factorisation.
///
/// The L_j are lower trapezoidal, so statistic s of a variable touches the whitened coordinates 0 … s only. Coordinates
/// that no term of H reaches (all quadratic statistics of a normal target, say) are those of the identity, and are left
/// out of the factorisation: what is left of a variable is its *active* part.
namespace lrvb::detail {

/// Which entries I − LᵀHL has and how it is factored: depends on the Hessian's pattern and on what is clamped, not on
/// values.
class CurvatureStructure {
  public:
    CurvatureStructure(const Layout& layout, const std::vector<bool>& clamped, const SparseMatrix& hessian_pattern);

    /// Whether a Hessian has the pattern that this is for.
    bool describes(const SparseMatrix& hessian) const;

  private:
    friend class Curvature;

    struct HessianEntry {
        int value;  // position in the Hessian's values
        int row;    // within the variables of the block
        int column;
    };
    /// H between two variables, the later one first.
    struct Block {
        Index row_variable;
        Index column_variable;
        std::size_t first_entry;
        std::size_t end_entry;
        Index row_shift;  // of its rows in each of its columns, behind the diagonal block
    };

    void collect_blocks(const Layout& layout, const SparseMatrix& hessian_pattern);
    void lay_out(const Layout& layout);

    std::vector<bool> clamped_;
    std::vector<int> hessian_starts_;
    std::vector<int> hessian_rows_;
    std::vector<Block> blocks_;
    std::vector<HessianEntry> entries_;
    std::vector<Index> active_;         // number of active coordinates of each variable
    std::vector<Index> active_offset_;  // where they start; one more entry at the end
    SparseMatrix pattern_;              // lower triangle of I − LᵀHL on the active coordinates
    CholeskyPlan plan_;
};

class Curvature {
  public:
    /// Factors at this point. Ask `failed_variable` before anything else. With a shift s it is of (1 + s)I − LᵀHL, for
    /// steps away from where I − LᵀHL is indefinite: `respond` alone takes account of it.
    Curvature(std::shared_ptr<const CurvatureStructure> structure, const Layout& layout, const Vector& natural,
              const SparseMatrix& hessian, double shift = 0.0);

    /// The variable whose pivot was not positive; empty where the point is a strict local maximum.
    std::optional<Index> failed_variable() const { return failed_variable_; }

    /// Σ̂ g; with a shift ((1 + s)V⁻¹ − H)⁻¹ g.
    Vector respond(const Vector& gradient) const { return response_to(gradient); }
    /// The same for many, a column each.
    Matrix respond_to_all(const Matrix& gradients) const { return response_to(gradients); }

    /// max_j ‖L_jᵀ g_j‖: how far ascent would move the variables, in their mean-field sds.
    double largest_whitened(const Vector& gradient) const;
    /// The most that this could be for a gradient with entries of these sizes and any signs.
    double largest_whitened_bound(const Vector& magnitude) const;

    Index size() const { return size_; }

    /// V c: the mean-field covariance with a combination of statistics.
    Vector mean_field(const Vector& combination) const;

    /// cᵀ V c for a column of weights, at the cost of the variables that it weighs.
    double mean_field_variance(const SparseMatrix& weights, Index column) const;
    /// The standard deviations that mean field gives the statistics.
    Vector mean_field_sds() const;

    /// The diagonal blocks of Σ̂, one a variable, by a selected inverse.
    std::vector<Matrix> marginal_blocks() const;

    /// The smallest eigenvalue of I − LᵀHL, and L times its eigenvector: where the bound is flattest, and along what.
    Eigenpair flattest() const;
    /// The variable that a statistic belongs to.
    Index variable_of(Index statistic) const;
    /// Where a variable's statistics start.
    Index offset(Index variable) const { return offsets_[static_cast<std::size_t>(variable)]; }

    double smallest_pivot() const { return factorisation_->smallest_pivot(); }

  private:
    auto own(const Vector& stacked, std::size_t j) const { return stacked.segment(offsets_[j], factors_[j].rows()); }
    auto own(Vector& stacked, std::size_t j) const { return stacked.segment(offsets_[j], factors_[j].rows()); }
    std::vector<double> assemble(const SparseMatrix& hessian) const;
    template <class Stacked>
    Stacked whiten(const Stacked& stacked, Stacked& active) const;
    template <class Stacked>
    Stacked response_to(const Stacked& gradients) const;
    Vector unwhitened(const Vector& active) const;

    std::shared_ptr<const CurvatureStructure> structure_;
    std::vector<Index> offsets_;   // of each variable in the stacked vectors
    std::vector<Matrix> factors_;  // L_j; without columns where clamped
    Index size_;
    double shift_;
    std::unique_ptr<Cholesky> factorisation_;
    std::optional<Index> failed_variable_;
};

}  // namespace lrvb::detail
