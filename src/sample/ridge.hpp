#pragma once

#include <lrvb/posterior/variable.hpp>
#include <lrvb/sample/importance.hpp>
#include <lrvb/sample/log_density.hpp>

#include <functional>
#include <optional>
#include <vector>

/// A posterior along one coordinate ψ, such as a log precision, by Laplace approximations of the others x at nodes of
/// ψ:
///
///     log p(ψ) ≈ log p(x̂(ψ), ψ) + ½ d log 2π − ½ log det A(ψ),     x̂(ψ) the mode of x given ψ,  A = −∇²_x log p there.
///
/// Effects of groups narrow as their precision grows: one normal, or chains in one scale, miss the neck of that funnel
/// and the far tails of ψ. The nodes reach as far as the second moments of all functions need.
///
/// Assumptions: x given ψ has one mode, and is about normal. The proposal and the chart below are exact for any target,
/// and only less efficient where it is not. The moments of a function are judged by a few draws of these normals.
namespace lrvb::detail {

struct RidgeNode {
    Vector point;       // ψ, and x̂ there
    Vector slope;       // of the point along ψ
    Matrix covariance;  // A⁻¹
    double log_mass = 0.0;
};

struct RidgeOptions {
    /// Functions of points whose moments are wanted, a row each.
    std::function<Matrix(const Matrix& points)> functions;
    /// Coordinates that stay where the approximation has them.
    std::vector<Index> held = {};
    /// A side with a probability below this is beyond what draws show.
    double reach = 0.0025;
    Index most_gradients = 100000;
    int threads = 1;
};

class Ridge {
  public:
    Index coordinate() const { return coordinate_; }
    const std::vector<Index>& others() const { return others_; }
    const std::vector<RidgeNode>& nodes() const { return nodes_; }
    /// Probabilities of the nodes.
    const Vector& weights() const { return weights_; }
    /// Of every function: whether its integrals have fallen off at both ends of the ridge.
    const std::vector<TailMoments>& moments() const { return moments_; }
    /// Of every function: the share of its variance along the ridge that is beyond the reach of draws.
    const Vector& far_shares() const { return far_shares_; }
    /// A Student t about every node, with shares for the mass and for the variance of all functions that have one.
    std::vector<ProposalPart> proposal() const;

  private:
    friend class RidgeWalk;
    Index coordinate_ = 0;
    std::vector<Index> others_;
    std::vector<RidgeNode> nodes_;  // ascending in ψ
    Vector weights_;
    /// What each node adds to the variance of a function; empty where that is not finite.
    Eigen::ArrayXd variance_along(Index function) const;

    Matrix means_;  // functions × nodes, about their start
    Matrix squares_;
    std::vector<TailMoments> moments_;
    Vector far_shares_;
};

/// Nothing where a mode is not found, where the posterior does not fall off, or where it would take too many gradients.
std::optional<Ridge> ridge_along(const SmoothDensity& density, Index coordinate,
                                 const NormalApproximation& approximation, const RidgeOptions& options);

/// The same density in coordinates that follow ridges: x_i = m_i(ψ) + s_i(ψ) z_i, with the modes and the sds of the
/// nodes interpolated. Effects that the data say little of are non-centred by that, others are not. Of several ridges,
/// the changes of modes and of log sds add up.
class RidgeDensity final : public SmoothDensity {
  public:
    RidgeDensity(const SmoothDensity& density, std::vector<Ridge> ridges, const NormalApproximation& approximation);

    Index dimension() const override { return density_->dimension(); }
    Vector evaluate(const Matrix& points, int threads) const override;
    DensityGradients evaluate_gradients(const Matrix& points, int threads) const override;

    /// Points of the density, and the other way.
    Matrix points(const Matrix& own) const;
    /// An approximation in these coordinates.
    NormalApproximation approximation() const;

  private:
    /// Cubics through a row of values at nodes, straight lines beyond them.
    struct Curves {
        Vector places;
        Matrix values;  // a row a coordinate
        Matrix slopes;
        void at(double place, Vector& value, Vector& slope) const;
    };
    struct Axis {
        Index coordinate;
        Curves modes;
        Curves log_sds;
    };
    struct Frame {  // at one point
        Vector centre;
        Vector log_sd;
        Matrix centre_slopes;  // a column an axis
        Matrix log_sd_slopes;
    };
    Frame frame_at(const VectorView& own) const;

    const SmoothDensity* density_;
    std::vector<Axis> axes_;
    std::vector<bool> is_axis_;
    Vector centre_;
    Vector log_sd_;
    NormalApproximation approximation_;
};

}  // namespace lrvb::detail
