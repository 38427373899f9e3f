#pragma once

#include "linalg/cholesky.hpp"

#include <cstdint>

/// Sparse A = Pᵀ L D Lᵀ P, L unit lower triangular, in a fill-reducing order. How much L fills in is counted before any
/// of it is laid out, in time nearly linear in A's own entries (Gilbert, Ng and Peyton 1994).
namespace lrvb::detail {

/// Order, elimination tree and columns of L. Positions are of 32 bits, counts of entries of 64.
class SparsePlan {
  public:
    /// Throws FactorTooLarge where A has more entries than can be ordered.
    explicit SparsePlan(const SparseMatrix& lower_pattern);

    Index size() const { return static_cast<Index>(original_of_.size()); }
    /// Non-zeros of L below the diagonal.
    std::int64_t fill() const { return column_starts_.back(); }
    /// What the factor takes.
    std::uint64_t bytes() const;
    /// Multiplications of a factorisation.
    double work() const;

    const std::vector<std::int64_t>& column_starts() const { return column_starts_; }
    /// Position in the factor, of position in A.
    int permuted_of(Index position) const { return permuted_of_[static_cast<std::size_t>(position)]; }

  private:
    friend class SparseCholesky;

    void order(const SparseMatrix& lower_pattern);
    void permute(const SparseMatrix& lower_pattern);
    void find_tree();
    std::vector<int> postorder() const;
    void count();

    std::vector<int> original_of_;  // position in A, of position in the factor, and back
    std::vector<int> permuted_of_;
    // Upper triangle of the permuted matrix by columns; entry e of A's lower triangle stands at slot_of_[e].
    std::vector<int> upper_starts_;
    std::vector<int> upper_rows_;
    std::vector<int> slot_of_;
    std::vector<int> parent_;  // in the elimination tree
    std::vector<std::int64_t> column_starts_;
};

class SparseCholesky : public Cholesky {
  public:
    explicit SparseCholesky(std::shared_ptr<const SparsePlan> plan);

    std::optional<Index> factorise(const std::vector<double>& lower_values) override;
    Matrix solve(const Matrix& right_hand_sides) const override;
    Matrix root_times(const Matrix& x) const override;
    Matrix root_solve(const Matrix& z) const override;
    Matrix root_transposed_solve(const Matrix& g) const override;
    double smallest_pivot() const override;
    std::unique_ptr<SelectedInverse> selected_inverse() const override;

    const SparsePlan& plan() const { return *plan_; }
    const std::vector<int>& rows() const { return rows_; }
    const std::vector<double>& values() const { return values_; }
    const std::vector<double>& pivots() const { return pivots_; }

  private:
    Vector permuted(const VectorView& x) const;
    Vector unpermuted(const Vector& x) const;
    void solve_lower(Vector& x) const;
    void solve_lower_transposed(Vector& x) const;

    std::shared_ptr<const SparsePlan> plan_;
    std::vector<int> rows_;
    std::vector<double> values_;
    std::vector<double> pivots_;
};

}  // namespace lrvb::detail
