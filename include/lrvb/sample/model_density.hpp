#pragma once

#include <lrvb/export.hpp>
#include <lrvb/sample/unbounded.hpp>

/// The exact posterior of a model, as a log density on unbounded parameters:
///
///     log p(x, θ(u)) + log |dθ/du|,
///
/// with local variables (the indicators of a mixture) summed out. Normalising constants are all there, so its integral
/// is the evidence p(x): for a mixture, the part of it that belongs to the modes that are integrated over.
///
/// Nothing of the model is written a second time: the expected log joint L(m) at the statistics of a value is the log
/// joint at that value, so what is fitted is what is sampled. Its gradient is Jᵀ∇L(T(θ)) + ∇log |J|, J = dT/du, from
/// the gradient that the fit follows.
namespace lrvb {

class LRVB_EXPORT ModelDensity final : public SmoothDensity {
  public:
    /// What the state has clamped stays where it is. The model must outlive the density. Throws as UnboundedChart does.
    ModelDensity(const Model& model, const State& state) : model_(&model), chart_(model.layout(), state) {}
    ModelDensity(const Model&& model, const State& state) = delete;

    Index dimension() const override { return chart_.dimension(); }
    Vector evaluate(const Matrix& points, int threads) const override;
    DensityGradients evaluate_gradients(const Matrix& points, int threads) const override;

    const UnboundedChart& chart() const { return chart_; }

    /// The stacked statistics of the variables at each point, one a column.
    Matrix statistics(const Matrix& points, int threads = 1) const;

  private:
    const Model* model_;
    UnboundedChart chart_;
};

}  // namespace lrvb
