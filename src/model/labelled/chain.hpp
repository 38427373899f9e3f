#pragma once

#include "model/labelled/rows.hpp"

/// Labels that are chains: rows are sequences, end to end. With emissions e_t(k) = w_t Σ_s c_ks f_ts, log weights of
/// the first labels and of the transitions as further coefficients,
///
///     Z = Σ_paths exp[c_first(z_1) + Σ_t c_step(z_{t−1}, z_t) + Σ_t e_t(z_t)]    for each sequence,
///
/// by the forward recursion, scaled at every step; the expected counts (of features by label, of first labels, of
/// steps) by the backward one, and their derivatives along directions by differentiating both. A step that never occurs
/// has no coefficient. The weight of a row multiplies its emission: 0 is as if the row had not been observed.
///
/// Fails (log Z = −∞) where every path has a probability below what doubles hold within one step.
namespace lrvb::detail {

class ChainRows final : public LabelledRows {
  public:
    /// Which first labels and which steps (from, to) can occur, in the order of their coefficients.
    struct Steps {
        std::vector<Index> first;
        std::vector<std::pair<Index, Index>> steps;
    };

    ChainRows(Features features, Index first, Index labels, std::vector<Index> lengths, Steps steps,
              std::uint32_t polynomial);

    Index size() const override {
        return labels_ * feature_count() + static_cast<Index>(steps_.first.size() + steps_.steps.size());
    }
    LabelSums sums(const LabelPoint& point) const override;
    LabelSums sums_along(const LabelPoint& point, const Matrix& directions, Matrix& along) const override;
    using LabelledRows::values;
    Vector values(const Matrix& coefficients, const Vector& weights, int threads) const override;
    Vector drawn(const LabelPoint& point, Random& random) const override;
    void probabilities(const LabelPoint& point, Matrix& into) const override;
    Vector counts_of(const std::vector<Index>& labels, double weight) const override;
    std::shared_ptr<const LabelledRows> sampled(Index most, Random& random) const override;
    bool is_chain() const override { return true; }
    /// A row's label is drawn once, whatever its columns weigh.
    bool has_whole_weights(const Vector&) const override { return true; }

    Index owner(Index coefficient) const override;
    Index part(Index coefficient) const override;
    std::vector<Index> exchanged(Index one, Index other) const override;
    bool all_occur() const override {
        return static_cast<Index>(steps_.first.size()) == labels_ &&
               static_cast<Index>(steps_.steps.size()) == labels_ * labels_;
    }

    /// As for other rows, and then for every row and label how the probability of the label moves along the
    /// directions, and, as a last column, that probability.
    RowMajorMatrix table(const RowQuestion& question) const override;
    void answer(const RowQuestion& question, const RowMajorMatrix& table, RowAnswers& chunk) const override;
    void evaluate(const Polynomials&, const Matrix&, const RowMajorMatrix&, RowAnswers&) const override {}

  private:
    struct Chances;   // of first labels and steps, at coefficients
    struct Sequence;  // what the recursions made of one
    struct Partial;

    Chances chances(const VectorView& coefficients) const;
    /// The emissions of a sequence, as exp(e − largest) with the sum of what was taken out.
    double emissions(const VectorView& coefficients, const Vector& weights, const Matrix& features, Index begin,
                     Matrix& chances) const;
    Sequence forward(const LabelPoint& point, const Chances& chances, std::size_t number) const;
    void backward(const Chances& chances, Sequence& sequence) const;
    void add_counts(const LabelPoint& point, const Chances& chances, const Sequence& sequence, Partial& partial) const;
    /// Adds derivatives of the counts along some of the directions; those of the label probabilities go to `moved`,
    /// labels × directions for every row, where that is not null.
    void add_along(const LabelPoint& point, const Chances& chances, const Sequence& sequence,
                   const Eigen::Ref<const Matrix>& directions, Eigen::Ref<Matrix> along,
                   std::vector<Matrix>* moved) const;
    Vector counts_with(const std::vector<Index>& labels, const Vector& weights, double factor) const;

    std::vector<Index> lengths_;
    std::vector<Index> begins_;  // of the sequences
    Steps steps_;
    std::vector<std::pair<std::size_t, std::size_t>> tasks_;  // sequences from, to
};

}  // namespace lrvb::detail
