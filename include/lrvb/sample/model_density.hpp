#pragma once

#include <lrvb/export.hpp>
#include <lrvb/sample/unbounded.hpp>
#include <lrvb/sample/whitening.hpp>

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
///
/// Discrete variables z_j that are independent given the rest (indicators, switches) are summed out: L is linear in the
/// statistics of each, so with g_j = ∂L/∂z_j, which no other of them enters,
///
///     log Σ_z p(x, θ, z) = L(θ, 0) + Σ_j A_j(g_j(θ)),     and its gradient is that of L at z_j = ∇A_j(g_j).
///
/// Variables that are jointly normal given the rest (Model::integrable) are integrated out, so that few coordinates are
/// left, and none of them has a funnel in it: a group's sd and its effects would be one. Beside these, or where they
/// depend on each other, discrete variables are summed over all combinations of their labels, as long as there are few.
namespace lrvb {

/// What a density does with variables that are jointly normal given the rest.
enum class JointNormals {
    integrated_out,  ///< where the model can
    coordinates,     ///< like all others
};

class LRVB_EXPORT ModelDensity final : public SmoothDensity {
  public:
    /// What the state has clamped stays where it is. The model must outlive the density. Throws as UnboundedChart does,
    /// and std::invalid_argument where discrete variables depend on each other and have too many combinations.
    ModelDensity(const Model& model, const State& state, JointNormals normals = JointNormals::integrated_out);
    ModelDensity(const Model&& model, const State& state, JointNormals normals = JointNormals::integrated_out) = delete;

    Index dimension() const override { return chart_.dimension(); }
    Vector evaluate(const Matrix& points, int threads) const override;
    DensityGradients evaluate_gradients(const Matrix& points, int threads) const override;

    const UnboundedChart& chart() const { return chart_; }

    /// Coordinates that make the density about round, from a fit, in memory that is linear in the model: by the
    /// curvature that is expected under it (UnboundedChart::expected_precision). Discrete variables are summed out of
    /// that too, as far as each is tied to few others. Throws std::invalid_argument where the state is no strict
    /// maximum of the bound, and FactorTooLarge where the factor would not fit in memory.
    Whitening whitening(const State& state) const;

    /// The stacked statistics of the variables at each point, one a column. Discrete variables, and those that are
    /// integrated out, which points do not have, are drawn given the others: the same at the same place among the
    /// columns, for the same seed.
    Matrix statistics(const Matrix& points, int threads = 1, std::uint64_t seed = 1) const;

    /// Points with labels, one a column: the stacked statistics, the point that each belongs to, and the log of the
    /// share of its label given the point.
    struct Enumerated {
        Matrix statistics;
        std::vector<Index> point;
        std::vector<double> log_shares;
    };
    /// How many combinations of labels there are where all of these can be enumerated: a single label, or those that
    /// are summed over together. 0 otherwise.
    Index enumerable() const;
    /// Every point with every combination of labels whose share is not below `least`. What is integrated out is drawn.
    Enumerated enumerated(const Matrix& points, double least, int threads = 1, std::uint64_t seed = 1) const;

  private:
    /// The log joint at statistics, without their Jacobians; with gradients where these are asked for, in the
    /// statistics of the coordinates.
    JointGradients joint(Matrix& statistics, bool gradients, int threads) const;
    /// The same for every combination of labels: column c of point i at i times their number, and c.
    JointGradients at_labels(const Matrix& statistics, bool gradients, int threads) const;
    /// What is left when the discrete ones are summed out, and their statistics in its gradient.
    void sum_out(JointGradients& joint, Matrix& statistics) const;
    void draw_labels(Eigen::Ref<Vector> statistics, const VectorView& logs, Random& random) const;

    const Model* model_;
    bool integrates_;
    UnboundedChart chart_;
    Matrix labels_;  // statistics of the discrete variables for each combination, one a column; none where each is
                     // summed out by itself
};

/// How many log joints the density of a point adds up: one for each combination of labels beside normals that are
/// integrated out.
LRVB_EXPORT double density_evaluations(const Model& model, const State& state);

}  // namespace lrvb
