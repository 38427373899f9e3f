#pragma once

#include <lrvb/types.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace lrvb::detail {

/// L⁻¹(m − m(η)), with zeros where that is no more than rounding of m.
template <class F>
Vector whitened_gap(const F& family, const Vector& mean, const Vector& natural, const Matrix& factor) {
    constexpr double kRounding = 4.0 * std::numeric_limits<double>::epsilon();
    Vector gap = factor.template triangularView<Eigen::Lower>().solve(mean - family.mean(natural));
    const Matrix inverse =
        factor.template triangularView<Eigen::Lower>().solve(Matrix::Identity(factor.rows(), factor.rows()));
    const Vector noise = kRounding * (inverse.cwiseAbs() * mean.cwiseAbs());
    for (Index c = 0; c < gap.size(); ++c) {
        if (std::abs(gap[c]) <= noise[c]) gap[c] = 0.0;
    }
    return gap;
}

/// The η whose mean is m, by Newton's method on the concave ηᵀm − A(η) from a natural parameter inside the domain: with
/// V = LLᵀ the step is L⁻ᵀL⁻¹(m − m(η)), halved until ηᵀm − A(η) has not fallen and the domain is not left.
template <class F>
Vector natural_of_mean(const F& family, const Vector& mean, Vector natural) {
    constexpr int kMostSteps = 200;
    double smallest = std::numeric_limits<double>::infinity();
    for (int step = 0; step < kMostSteps; ++step) {
        const Matrix factor = family.covariance_factor(natural);
        const Vector gap = whitened_gap(family, mean, natural, factor);
        const Vector change = factor.transpose().template triangularView<Eigen::Upper>().solve(gap);
        const double distance = gap.norm();
        if (!(distance > 1e-14) || !change.allFinite()) break;
        // Near the end Newton's steps shrink by squares until rounding stops them.
        if (distance < 1e-7 && !(distance < 0.5 * smallest)) break;
        smallest = std::min(smallest, distance);
        const double before = family.log_partition(natural);
        double length = 1.0;
        bool moved = false;
        for (int halvings = 0; halvings < 60 && !moved; ++halvings, length *= 0.5) {
            const Vector tried = natural + length * change;
            if (!family.domain_error(tried).empty()) continue;
            const double gained = length * change.dot(mean) - (family.log_partition(tried) - before);
            // The first-order gain is length · distance²; far from the end a part of it must be seen, where rounding of
            // A lets it be.
            const double rounding = 1e-14 * std::abs(before);
            if (distance > 1e-3 && !(gained + rounding > 1e-3 * length * distance * distance)) continue;
            natural = tried;
            moved = true;
        }
        if (!moved) break;
    }
    return natural;
}

}  // namespace lrvb::detail
