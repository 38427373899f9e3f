#pragma once

#include <lrvb/family/random.hpp>
#include <lrvb/sample/model_density.hpp>
#include <lrvb/testing/report.hpp>

#include <algorithm>
#include <cmath>
#include <string>

/// The battery for densities that samplers follow: that a gradient is the derivative of what is evaluated.
///
///   value      evaluate and evaluate_gradients say the same
///   gradient   ∂ log p/∂u_i against central differences of the value, fourth order
///
/// Of a model, at random points about a state: that is Jᵀ∇L(T(θ)) + ∇log |J| of every family that it has, with what is
/// summed out.
///
///     testing::Report report = testing::check_gradients(model, optimum.state);
///     EXPECT_TRUE(report.passed()) << report.text();
namespace lrvb::testing {

struct GradientCheckOptions {
    double step = 1e-3;
    double tolerance = 1e-5;
    /// About the state of a model.
    int points = 5;
    /// How far they are from it, in each coordinate, as sds of a normal.
    double distance = 0.3;
    std::uint64_t seed = 1;
};

inline Report check_gradient(const SmoothDensity& density, const Vector& point,
                             const GradientCheckOptions& options = {}) {
    Report report("density");
    const DensityGradients there = density.evaluate_gradients(point, 1);
    report.expect_near("value", "log density", there.values[0], density.evaluate(point, 1)[0],
                       1e-9 * std::max(1.0, std::abs(there.values[0])));
    const double noise = 1e-13 * std::abs(there.values[0]) / options.step;
    for (Index i = 0; i < point.size(); ++i) {
        Matrix around = point.replicate(1, 4);
        around.row(i).array() += Eigen::Array4d(-2.0, -1.0, 1.0, 2.0).transpose() * options.step;
        const Vector values = density.evaluate(around, 1);
        const double quotient = (values[0] - 8.0 * values[1] + 8.0 * values[2] - values[3]) / (12.0 * options.step);
        report.expect_near("gradient", "coordinate " + std::to_string(i), there.gradients(i, 0), quotient,
                           options.tolerance * std::max(1.0, std::abs(quotient)) + noise);
    }
    return report;
}

/// The posterior of a model, at random points about a state, with variables that are jointly normal as coordinates and
/// integrated out: one report, of the first point that fails or of the last.
inline Report check_gradients(const Model& model, const State& state, const GradientCheckOptions& options = {}) {
    Report report("density");
    Random random(options.seed);
    for (const JointNormals normals : {JointNormals::coordinates, JointNormals::integrated_out}) {
        if (normals == JointNormals::integrated_out && model.integrable().empty()) break;
        const ModelDensity density(model, state, normals);
        const Vector centre = density.chart().point(state.mean);
        for (int i = 0; i < options.points && report.passed(); ++i) {
            const Vector away = standard_normals(centre.size(), random);
            report = check_gradient(density, centre + options.distance * away, options);
        }
    }
    return report;
}

}  // namespace lrvb::testing
