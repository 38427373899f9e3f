#pragma once

#include <lrvb/export.hpp>
#include <lrvb/posterior/variable.hpp>

#include <array>

/// Quantiles of a variable that are those of draws, not of a normal: what a corrected posterior reports.
///
/// They are kept at fixed probabilities p, finer in the tails. Between these, the variable on its unbounded scale, u,
/// is taken as linear in z = Φ⁻¹(p), so that one that is normal there has its quantiles exactly; beyond the outermost,
/// u goes on along the line through the quantiles at 0.0005 and 0.005, or 0.995 and 0.9995.
///
/// Of weighted draws u₁ ≤ u₂ ≤ …, whose weights add up to one, u_i stands at p = w₁ + … + w_{i−1} + w_i/2. Between
/// draws u is linear in z as well, and beyond the outermost it goes on as a normal with their sd would.
///
/// What it cannot do: a quantile further out than the draws reach is a guess, and its Monte Carlo error grows towards
/// the tails: with n draws' worth, about √(p(1 − p)/n) in p.
namespace lrvb {

inline constexpr std::array<double, 45> kQuantileProbabilities{
    0.0005, 0.001, 0.0025, 0.005, 0.01, 0.015, 0.02, 0.025, 0.03, 0.04,  0.05, 0.06,  0.08,   0.1,   0.125,
    0.15,   0.2,   0.25,   0.3,   0.35, 0.4,   0.45, 0.5,   0.55, 0.6,   0.65, 0.7,   0.75,   0.8,   0.85,
    0.875,  0.9,   0.92,   0.94,  0.95, 0.96,  0.97, 0.975, 0.98, 0.985, 0.99, 0.995, 0.9975, 0.999, 0.9995};

/// The quantiles of weighted draws of a variable at these probabilities, in its own units. A draw without weight does
/// not count. Throws std::invalid_argument where none counts.
LRVB_EXPORT Vector draw_quantiles(const Transform& transform, const Vector& values, const Vector& log_weights);

/// The quantile at any probability between 0 and 1, from those.
LRVB_EXPORT double quantile_at(const Transform& transform, const Vector& quantiles, double probability);

}  // namespace lrvb
