#pragma once

#include <lrvb/export.hpp>
#include <lrvb/sample/model_density.hpp>

/// One labelling of a mixture's components.
namespace lrvb::detail {

/// The density of a mixture, cut to the labels of its fit: zero wherever exchanging two components brings a point
/// nearer to the centre of the approximation, in its sds. Components that are held, or of different weights that are
/// held, cannot be exchanged; and of other models nothing is cut.
class LRVB_EXPORT LabelledDensity final : public LogDensity {
  public:
    LabelledDensity(const Model& model, const State& state, const ModelDensity& density,
                    const NormalApproximation& approximation);

    Index dimension() const override { return density_.dimension(); }
    Vector evaluate(const Matrix& points, int threads) const override;

    /// The share of all points so far that were cut.
    double exchanged() const;

  private:
    bool is_exchanged(const VectorView& point) const;
    double gain(const VectorView& point, Index one, Index other) const;

    const ModelDensity& density_;
    Vector centre_;
    Vector inverse_sd_;
    Index components_ = 1;
    Index ratios_ = 0;  // log(π_k/π_K), before the components' own coordinates
    Index own_ = 0;     // of one component
    Vector weights_;    // that are held
    mutable Index seen_ = 0;
    mutable Index cut_ = 0;
};

}  // namespace lrvb::detail
