#pragma once

#include "model/labelled/rows.hpp"

/// Labels that are independent of each other: score_nk = Σ_s c_ks f_ns,
///
///     log Z = Σ_n w_n log Σ_k exp score_nk,   Cov = Σ_n w_n (diag r_n − r_n r_nᵀ) ⊗ f_n f_nᵀ,
///
/// of which the second is kept by pairs of labels, M_kl = Σ_n w_n r_nk r_nl f_n f_nᵀ: the derivative of the counts of k
/// along a direction d is Σ_l M_kl (d_k − d_l). Rows that belong to one label for certain are in none of these sums.
/// Where labels are many and rows few (the place of a change point), the responsibilities are differentiated instead.
///
/// A pass takes blocks of rows, a few tasks of so many blocks at a time; their sums are added up in the order of the
/// rows, so that the bits do not depend on the number of threads.
namespace lrvb::detail {

class MixtureRows final : public LabelledRows {
  public:
    using LabelledRows::LabelledRows;

    Index size() const override { return components() * feature_count(); }
    LabelSums sums(const LabelPoint& point) const override;
    LabelSums sums_along(const LabelPoint& point, const Matrix& directions, Matrix& along) const override;
    using LabelledRows::values;
    Vector values(const Matrix& coefficients, const Vector& weights, int threads) const override;
    Vector drawn(const LabelPoint& point, Random& random) const override;
    void probabilities(const LabelPoint& point, Matrix& into) const override;
    Vector counts_of(const std::vector<Index>& labels, double weight) const override;
    std::shared_ptr<const LabelledRows> sampled(Index most, Random& random) const override;

    Index owner(Index coefficient) const override { return coefficient / feature_count(); }
    Index part(Index coefficient) const override { return coefficient / feature_count(); }
    std::vector<Index> exchanged(Index one, Index other) const override;
    bool all_occur() const override { return components() == labels_; }

    void answer(const RowQuestion& question, const RowMajorMatrix& table, RowAnswers& chunk) const override;
    void evaluate(const Polynomials& polynomials, const Matrix& means, const RowMajorMatrix& values,
                  RowAnswers& chunk) const override;

  private:
    struct Work;

    Index components() const { return static_cast<Index>(possible_.size()); }
    /// Loads a block and makes scores of it.
    void score(const Vector& coefficients, const Vector& weights, Index begin, std::size_t size, Work& work) const;
    void add_pairs(std::size_t size, Work& work, double* sums) const;
    /// Value and magnitude, counts, and pairs where they are asked for: a sum for each.
    std::vector<double> pass(const LabelPoint& point, bool with_pairs) const;
    /// Whether pairs of labels cost less than derivatives of the responsibilities along so many directions.
    bool is_better_by_pairs(Index directions) const;
    Matrix along_by_rows(const LabelPoint& point, const Matrix& directions) const;
    LabelSums finished(const LabelPoint& point, const std::vector<double>& sums) const;
};

}  // namespace lrvb::detail
