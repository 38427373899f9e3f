#pragma once

#include "model/labelled/features.hpp"
#include "model/row_terms.hpp"

#include <lrvb/family/random.hpp>

#include <memory>
#include <vector>

/// Rows with labels that are summed out. Their part of L is log Z(c), a function of the coefficients c = φ(m) alone: of
/// the scores, which are linear in the features of a row, and of what chooses the labels. Its gradient are the expected
/// counts G, G_ks = Σ_n w_n r_nk f_ns, and its Hessian is their covariance under the labels' q.
namespace lrvb::detail {

struct LabelSums {
    double value = 0.0;      // log Z, with log h
    double magnitude = 0.0;  // Σ|terms|
    Vector counts;           // ∂log Z/∂c
    Vector magnitudes;       // what Σ|terms| of the counts does not exceed
};

/// Where sums are asked for.
struct LabelPoint {
    const Vector& coefficients;
    const Vector& weights;  // of the model's rows; empty: all are one
    int threads = 1;
};

class LabelledRows : public RowBlock {
  public:
    /// `features` of rows that are those of numbers `order` (empty: all) of a call, whose rows are numbered from
    /// `first` in the model; −1: they have no names. `labels` of the call, of which those in `possible` can occur.
    /// Polynomials of the coefficients are numbered from `polynomial`.
    LabelledRows(Features features, Index first, std::vector<Index> order, Index labels, std::vector<Index> possible,
                 std::uint32_t polynomial);

    Index labels() const { return labels_; }
    Index rows() const { return features_.rows(); }
    const Features& features() const { return features_; }
    std::uint32_t polynomial() const { return polynomial_; }
    /// The number of its i-th row among those of the call.
    Index row_of(Index i) const { return order_.empty() ? i : order_[static_cast<std::size_t>(i)]; }
    const std::vector<Index>& possible() const { return possible_; }

    /// How many coefficients there are: those of the features for each possible label come first, label by label.
    virtual Index size() const = 0;
    virtual LabelSums sums(const LabelPoint& point) const = 0;
    /// The same, and the derivatives of the counts where the coefficients move along directions, one a column.
    virtual LabelSums sums_along(const LabelPoint& point, const Matrix& directions, Matrix& along) const = 0;
    /// log Z at coefficients, one a column.
    virtual Vector values(const Matrix& coefficients, const Vector& weights, int threads) const = 0;
    /// Counts of labels that are drawn.
    virtual Vector drawn(const LabelPoint& point, Random& random) const = 0;
    /// P(z_n = k), in the rows of the call that these are.
    virtual void probabilities(const LabelPoint& point, Matrix& into) const = 0;
    /// Counts of labels that are given for its rows, by their place among the possible ones, each row weighted so.
    virtual Vector counts_of(const std::vector<Index>& labels, double weight) const = 0;
    /// Some of the rows, no more than so many where that can be.
    virtual std::shared_ptr<const LabelledRows> sampled(Index most, Random& random) const = 0;
    virtual bool is_chain() const { return false; }

    /// Whom a coefficient belongs to where labels change places: the label that has it, and the label whose weight it
    /// is a part of; −1: none.
    virtual Index owner(Index coefficient) const = 0;
    virtual Index part(Index coefficient) const = 0;
    /// Where each coefficient goes when two labels are exchanged.
    virtual std::vector<Index> exchanged(Index one, Index other) const = 0;
    /// Whether all labels can occur, and follow each other.
    virtual bool all_occur() const = 0;

    /// Whether all weights are whole, so that labels can be drawn for each copy.
    virtual bool has_whole_weights(const Vector& weights) const;
    /// Σ w over its rows.
    double total_weight(const Vector& weights) const;

    // Their part of what is asked of named rows.
    RowMajorMatrix table(const RowQuestion& question) const override;
    RowMajorMatrix values(const Polynomials& polynomials, const Matrix& means) const override;
    void fold(const WeightChanges&, RowFold&) const override {}

  protected:
    Index feature_count() const { return features_.count(); }
    double weight_of(const Vector& weights, Index i) const {
        return first_ < 0 || weights.size() == 0 ? 1.0 : weights[first_ + row_of(i)];
    }
    /// The weights of `size` rows from `begin`; false where all are one.
    bool load_weights(const Vector& weights, Index begin, std::size_t size, double* block) const;
    /// Σ w log h.
    double log_base(const Vector& weights) const;
    /// Bounds of Σ|terms| for the counts of features: Σ r|f| ≤ √(Σ r · Σ f²).
    void bound_magnitudes(LabelSums& sums) const;
    /// Its rows among those of the chunk: `begin` to `end`.
    std::pair<Index, Index> rows_in(const RowAnswers& chunk) const;
    Index place_in(const RowAnswers& chunk, Index i) const { return first_ + row_of(i) - chunk.first; }

    Features features_;
    Index first_;
    std::vector<Index> order_;
    Index labels_;
    std::vector<Index> possible_;
    std::uint32_t polynomial_;
    Vector square_sums_;
};

}  // namespace lrvb::detail
