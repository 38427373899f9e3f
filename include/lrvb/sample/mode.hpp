#pragma once

#include <lrvb/export.hpp>
#include <lrvb/sample/log_density.hpp>

/// The mode of a density, and the Laplace approximation there: the neighbour that users know.
///
/// In coordinates whitened by an approximation, θ = mean + Cz with CCᵀ its covariance, the target is nearly a standard
/// normal, so quasi-Newton steps (BFGS, from the identity) need few iterations. Gradients and the Hessian are central
/// differences with steps of 0.001 and 0.01 of these sds: all points of a difference, and all lengths of a line search,
/// are asked for at once.
///
/// The mode is the one uphill from the approximation. A density on other parameters has another mode: this is that of
/// the unbounded ones, Jacobian included.
namespace lrvb {

struct ModeOptions {
    int max_iterations = 200;
    /// Largest last step, in sds of the approximation.
    double tolerance = 1e-5;
    int threads = 1;
    /// Whether the covariance is wanted: its differences are quadratic in the dimension.
    bool covariance = true;
};

struct Mode {
    Vector point;
    double log_density = 0.0;
    /// (−∇² log density)⁻¹; empty where it is not positive definite, or not wanted.
    Matrix covariance;
    bool converged = false;
    int iterations = 0;
};

/// Throws std::invalid_argument for an approximation whose covariance is not positive definite, or whose mean has no
/// density.
LRVB_EXPORT Mode find_mode(const LogDensity& density, const NormalApproximation& approximation,
                           const ModeOptions& options = {});

}  // namespace lrvb
