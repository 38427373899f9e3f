#pragma once

#include "model/polynomials.hpp"

#include <lrvb/model/likelihood.hpp>
#include <lrvb/model/row_model.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

/// What every named row adds to L, kept by what it is made of. A row of a column has
///
///     ℓ_n(m, x_n) = Σ_s T_s(x_n) φ_s(m) + φ_0(m) + log h(x_n),
///
/// with polynomials φ of the means that all rows of the column share, the natural parameters and the log normaliser of
/// their distribution. So a column keeps its numbers and a handful of polynomials, and a question with directions D,
///
///     Dᵀ ∂²L/∂m∂w_n = Σ_s T_s(x_n) Dᵀ∇φ_s + Dᵀ∇φ_0,     Dᵀ ∂²L/∂m∂x_n = w_n Σ_s T_s'(x_n) Dᵀ∇φ_s,
///
/// costs a table of Dᵀ∇φ once, and a small product a row.
namespace lrvb::detail {

using RowMajorMatrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// A question about rows, at some means.
struct RowQuestion {
    const Polynomials& polynomials;
    const Vector& mean;
    const Matrix& directions;
    RowChange change;
    const Vector& weights;  // of all rows; empty: all are one
};

/// Rows in ascending order, each with the change of its weight.
using WeightChanges = std::vector<std::pair<Index, double>>;

/// Where changed rows are folded into: sums of monomials of L and of its derivatives in the hyperparameters.
struct RowFold {
    const Polynomials& polynomials;
    MonomialSum& sum;
    std::vector<MonomialSum>& derivatives;

    void add(std::size_t polynomial, double factor) {
        if (factor != 0.0) polynomials.add_to(sum, derivatives, polynomial, factor);
    }
    void add_constant(double constant) { sum.add(constant, {}); }
};

/// What one call of `observe…`, or several of one kind, told of its rows.
class RowBlock {
  public:
    virtual ~RowBlock() = default;

    /// Dᵀ∇φ, a row for each polynomial that all rows of the block share.
    virtual RowMajorMatrix table(const RowQuestion& question) const = 0;
    /// Adds the answers of its rows among those of the chunk, as if they weighed one, and fills in their inputs.
    virtual void answer(const RowQuestion& question, const RowMajorMatrix& table, RowAnswers& chunk) const = 0;
    /// φ at these means, one a column: a row for each polynomial that all rows of the block share.
    virtual RowMajorMatrix values(const Polynomials& polynomials, const Matrix& means) const = 0;
    /// Adds ℓ_n at the means, of its rows among those of the chunk, and fills in their inputs.
    virtual void evaluate(const Polynomials& polynomials, const Matrix& means, const RowMajorMatrix& values,
                          RowAnswers& chunk) const = 0;
    /// Adds Σ_n change_n ℓ_n.
    virtual void fold(const WeightChanges& changes, RowFold& fold) const = 0;
};

/// Rows observed under a distribution: a column with polynomials that its rows share, or single rows, each with its
/// own. Without a kind there are no values: all that a row has is φ_0.
class ObservedRows final : public RowBlock {
  public:
    /// A column: consecutive rows, one a row of `values`. The polynomials φ_1, …, φ_S, φ_0 are numbered from
    /// `polynomial`. `inputs` are where the numbers of a row stand among the inputs of the model; none: they cannot
    /// move.
    ObservedRows(const AnyObserved& kind, std::vector<std::int32_t> inputs, Index first, const Matrix& values,
                 std::uint32_t polynomial);
    /// Single rows, none yet.
    ObservedRows(const std::optional<AnyObserved>& kind, std::vector<std::int32_t> inputs)
        : kind_(kind), inputs_(std::move(inputs)) {}

    /// Whether a single row of this shape belongs here.
    bool takes(const std::optional<AnyObserved>& kind, const std::vector<std::int32_t>& inputs) const {
        return kind_ == kind && inputs_ == inputs;
    }
    void add(Index row, const Matrix& value, std::uint32_t polynomial);
    /// Brings single rows into order, which the questions rely on.
    void sort();

    RowMajorMatrix table(const RowQuestion& question) const override;
    void answer(const RowQuestion& question, const RowMajorMatrix& table, RowAnswers& chunk) const override;
    RowMajorMatrix values(const Polynomials& polynomials, const Matrix& means) const override;
    void evaluate(const Polynomials& polynomials, const Matrix& means, const RowMajorMatrix& shared,
                  RowAnswers& chunk) const override;
    void fold(const WeightChanges& changes, RowFold& fold) const override;

  private:
    bool is_column() const { return rows_.empty(); }
    Index statistics() const;
    Index count() const { return static_cast<Index>(is_column() ? count_ : static_cast<Index>(rows_.size())); }
    VectorView value(Index i) const { return Eigen::Map<const Vector>(values_.data() + i * width_, width_); }
    /// The positions in the block of the model's rows `begin` to `end`.
    std::pair<Index, Index> positions(Index begin, Index end) const;
    RowMajorMatrix table_of(const RowQuestion& question, std::uint32_t polynomial) const;
    void answer_rows(RowChange change, const RowMajorMatrix& table, Index begin, Index end, Index at,
                     RowAnswers& chunk) const;
    void copy_inputs(Index position, Index at, RowAnswers& chunk) const;
    /// coefficients += factor · (T, 1), and base likewise.
    void add_coefficients(Index position, double factor, Vector& coefficients, double& base) const;

    std::optional<AnyObserved> kind_;
    std::vector<std::int32_t> inputs_;
    Index width_ = 0;             // numbers of a row
    std::vector<double> values_;  // row after row
    Index first_ = 0;             // of a column
    Index count_ = 0;
    std::vector<Index> rows_;                 // of single rows, ascending
    std::vector<std::uint32_t> polynomials_;  // where the polynomials begin: of all rows, or of each
};

/// Rows of a regression, y_n ~ Normal(x_n β, 1/τ):
///
///     ℓ_n = y_n² φ_a + φ_b + Σ_j y_n x_nj φ_j + Σ_{j≥k} x_nj x_nk φ_jk,
///
/// φ_a = −½τ, φ_b = ½(log τ − log 2π), φ_j = τβ_j and φ_jk = −τβ_jβ_k (half of it where j = k), for the pairs that
/// meet in a row.
class LinearRows final : public RowBlock {
  public:
    using Design = std::variant<RowMajorMatrix, Eigen::SparseMatrix<double, Eigen::RowMajor>>;

    /// `pairs`: its pattern is that of the pairs (j, k), j ≥ k, by columns. The polynomials, in the order above and in
    /// that of the pattern, are numbered from `polynomial`.
    LinearRows(std::int32_t input, Index first, Vector y, Design design, const SparseMatrix& pairs,
               std::uint32_t polynomial);

    RowMajorMatrix table(const RowQuestion& question) const override;
    void answer(const RowQuestion& question, const RowMajorMatrix& table, RowAnswers& chunk) const override;
    RowMajorMatrix values(const Polynomials& polynomials, const Matrix& means) const override;
    void evaluate(const Polynomials& polynomials, const Matrix& means, const RowMajorMatrix& values,
                  RowAnswers& chunk) const override;
    void fold(const WeightChanges& changes, RowFold& fold) const override;

  private:
    using Entries = std::vector<std::pair<Index, double>>;  // what is not zero in a row

    Index polynomial_count() const { return 2 + pairs_.cols() + pairs_.nonZeros(); }
    void read_row(Index n, Entries& entries) const;
    Index pair(Index row, Index column) const;
    /// Calls visit(polynomial counted from 0, its coefficient in ℓ_n).
    template <class Visit>
    void visit_coefficients(double y, const Entries& entries, Visit visit) const;

    std::int32_t input_;
    Index first_;
    Vector y_;
    Design design_;
    SparseMatrix pairs_;
    std::uint32_t polynomial_;
};

/// All rows of a model.
class RowTerms {
  public:
    std::vector<std::pair<std::string, Index>> sets;  // name, number of rows
    Index count = 0;
    std::vector<std::string> inputs;
    Polynomials polynomials;
    std::vector<std::shared_ptr<const RowBlock>> blocks;
    /// Variables that belong to a row: (row, variable), rows ascending.
    std::vector<std::pair<Index, Index>> own;

    /// As RowModel::ask_rows. No weights: all are one.
    void ask(const Layout& layout, const Vector& mean, const Matrix& directions, RowChange change,
             const Vector& weights, const RowVisitor& visit) const;
    /// As RowModel::row_log_likelihoods, of rows that have no variables of their own.
    void evaluate(const Matrix& means, const Vector& weights, const RowVisitor& visit) const;
    void fold(const WeightChanges& changes, MonomialSum& sum, std::vector<MonomialSum>& derivatives) const;
    /// "row 3 of 'schools'", counted from 1 within its set.
    std::string describe(Index row) const;
};

}  // namespace lrvb::detail
