#pragma once

#include <lrvb/export.hpp>
#include <lrvb/sample/model_density.hpp>

#include <vector>

/// One labelling of what can be exchanged.
namespace lrvb::detail {

/// The density of a model, cut to the labels of its fit: zero wherever exchanging two of its blocks (the components of
/// a mixture) brings a point nearer to the centre of the approximation, in its sds. Blocks with
/// different values that are held, or of different weights that are, cannot be exchanged; and of models without such
/// blocks nothing is cut.
class LRVB_EXPORT LabelledDensity final : public LogDensity {
  public:
    LabelledDensity(const Model& model, const State& state, const ModelDensity& density,
                    const NormalApproximation& approximation);

    Index dimension() const override { return density_.dimension(); }
    Vector evaluate(const Matrix& points, int threads) const override;

    /// The point with blocks exchanged until no exchange brings it nearer to the centre.
    Vector relabelled(Vector point) const;

    /// The share of all points so far that were cut.
    double exchanged() const;

  private:
    bool is_exchanged(const VectorView& point) const;
    void exchange(Vector& point, std::size_t one, std::size_t other) const;
    double gain(const VectorView& point, std::size_t one, std::size_t other) const;
    double gain_with_further(const VectorView& point, std::size_t one, std::size_t other) const;
    /// The coordinates of weights with two parts exchanged.
    static void exchange_parts(const std::vector<Index>& ratios, Vector& point, std::size_t one, std::size_t other);

    const ModelDensity& density_;
    Vector centre_;
    Vector inverse_sd_;
    std::vector<std::vector<Index>> blocks_;  // their coordinates; none where nothing can be exchanged
    std::vector<Vector> held_;                // of each block, the statistics of what is clamped
    std::vector<Index> ratios_;               // log(π_k/π_K)
    Vector weights_;                          // that are held
    std::vector<std::vector<Index>> further_ratios_;
    std::vector<Vector> further_weights_;
    mutable Index seen_ = 0;
    mutable Index cut_ = 0;
};

}  // namespace lrvb::detail
