#pragma once

#include <lrvb/types.hpp>

#include <memory>
#include <optional>
#include <utility>
#include <vector>

/// Sparse A = Pᵀ L D Lᵀ P for symmetric positive definite A, in two phases: the symbolic one (fill-reducing order,
/// elimination tree, pattern of L) depends on A's pattern only and is shared by all factorisations of that pattern; the
/// numeric one stops at the first pivot that is not positive and says which it was. L is unit lower triangular.
///
/// Where the pattern is nearly full, or falls apart into few parts that are, or where a factor would fill up, there is
/// nothing to gain from it, and the factorisation is a dense blocked Cholesky of each part, in A's own order.
namespace lrvb::detail {

class SymbolicLdl {
  public:
    /// `lower_pattern` is the lower triangle of A, diagonal included; its values are not read.
    explicit SymbolicLdl(const SparseMatrix& lower_pattern);

    Index size() const { return static_cast<Index>(original_of_.size()); }
    bool is_dense() const { return is_dense_; }
    /// Non-zeros of L below the diagonal.
    Index fill() const { return static_cast<Index>(column_starts_.back()); }

    /// Position in A, of position in the factor, and back.
    const std::vector<int>& original_of() const { return original_of_; }
    const std::vector<int>& permuted_of() const { return permuted_of_; }

    const std::vector<int>& column_starts() const { return column_starts_; }

    /// Where a position in A stands, where the pattern is dense: its part, and its place there.
    std::pair<int, int> dense_place(Index position) const {
        return {part_of_[static_cast<std::size_t>(position)], place_of_[static_cast<std::size_t>(position)]};
    }

  private:
    friend class SparseLdl;

    /// What stands apart from the rest of A: positions in A, ascending.
    using Part = std::vector<int>;

    void find_parts(const SparseMatrix& lower_pattern);
    bool parts_are_nearly_full(const SparseMatrix& lower_pattern) const;
    bool factor_fills_up() const;
    void make_dense(const SparseMatrix& lower_pattern);
    void order(const SparseMatrix& lower_pattern);
    void permute(const SparseMatrix& lower_pattern);
    void eliminate();

    bool is_dense_ = false;
    std::vector<Part> parts_;
    std::vector<int> part_of_;  // of each position in A, and its place there
    std::vector<int> place_of_;
    std::vector<int> dense_rows_;  // row and column of A's entries, where it is dense
    std::vector<int> dense_columns_;
    std::vector<int> original_of_;
    std::vector<int> permuted_of_;
    // Upper triangle of the permuted matrix by columns; entry e of A's lower triangle stands at slot_of_[e].
    std::vector<int> upper_starts_;
    std::vector<int> upper_rows_;
    std::vector<int> slot_of_;
    std::vector<int> parent_;
    std::vector<int> column_starts_;
};

class SparseLdl {
  public:
    explicit SparseLdl(std::shared_ptr<const SymbolicLdl> symbolic);

    /// Factors the matrix whose lower triangle has the symbolic pattern and these values. Empty on success, otherwise
    /// the position in A of the first pivot that was not safely positive.
    std::optional<Index> factorise(const double* lower_values);

    Vector solve(const Vector& right_hand_side) const;

    /// The smallest pivot: positive, and tends to zero as A turns singular.
    double smallest_pivot() const;

    const SymbolicLdl& symbolic() const { return *symbolic_; }
    const std::vector<int>& rows() const { return rows_; }
    const std::vector<double>& values() const { return values_; }
    const std::vector<double>& pivots() const { return pivots_; }
    /// The Cholesky factors of the parts, where the pattern is dense.
    const std::vector<Matrix>& dense() const { return dense_; }

  private:
    std::optional<Index> factorise_dense(const double* lower_values);

    std::shared_ptr<const SymbolicLdl> symbolic_;
    std::vector<int> rows_;
    std::vector<double> values_;
    std::vector<double> pivots_;
    std::vector<Matrix> dense_;
};

}  // namespace lrvb::detail
