#pragma once

#include <lrvb/family/any_family.hpp>
#include <lrvb/posterior/variable.hpp>

#include <optional>

/// Intervals of variables whose factor q is skewed on the scale where it is unbounded.
///
/// A Gamma factor of shape a has a log x that is skewed to the left, by ψ''(a)/ψ'(a)^1.5, and a normal that is cut next
/// to its mean is skewed on any scale. So u ~ Normal(centre, (slope sd)²) gets the 5 % and 95 % quantiles that it has
/// under q, stretched about E_q u as the linear response stretches the sd:
///
///     centre = E_q u + r ((u₅ + u₉₅)/2 − E_q u),      slope = (u₉₅ − u₅)/(2 · 1.645 sd_q)
///
/// with sd_q the mean-field sd of the statistic along which u moves, and r how many times that its posterior sd is.
namespace lrvb::detail {

struct SkewedScale {
    double mean = 0.0;    // E_q u
    double middle = 0.0;  // of the two quantiles
    double slope = 0.0;   // of u, along the statistic

    double centre(double stretch) const { return mean + stretch * (middle - mean); }
};

/// log x of a Gamma or a Scale variable, along its second statistic, log x. Empty for other families, and where there
/// is nothing between the quantiles.
std::optional<SkewedScale> skewed_logarithm(const AnyFamily& family, const VectorView& natural);

/// The logarithm of a diagonal entry of a Wishart matrix with this mean, which is a Gamma variable of shape ν/2, along
/// itself.
std::optional<SkewedScale> skewed_diagonal(const family::Wishart& family, const VectorView& natural, double mean);

/// logit p of p ~ Beta(a, b), along log p.
std::optional<SkewedScale> skewed_logit(double a, double b);

/// u of a normal that is cut, x = transformed(transform, u), along x.
std::optional<SkewedScale> skewed_cut(const family::TruncatedNormal& family, const VectorView& natural,
                                      const Transform& transform);

}  // namespace lrvb::detail
