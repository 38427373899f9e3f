#pragma once

#include <lrvb/posterior/posterior.hpp>

#include <functional>

/// Functions of several normal numbers at one point of the variance parameters: ICC, R², a correlation of three
/// effects.
///
///     E f(v), sd f(v), E t⁻¹(f(v)), sd t⁻¹(f(v)),     v ~ Normal(m, C),
///
/// with t the transform on whose unbounded scale f is next to normal. f at m would not do: R² of a slope that may be
/// zero is a square about its least value, where its derivative says nothing. By averages over 512 places, in pairs
/// about m, which are the same in every call (a Kronecker sequence): to about 0.02 sds.
///
/// Assumptions: f is finite at every v. Where C is zero the moments are those of a constant.
namespace lrvb::detail {

struct FunctionMoments {
    double mean = 0.0;
    double sd = 0.0;
    double unbounded_mean = 0.0;
    double unbounded_sd = 0.0;
};

/// `covariance` is of as many numbers as `mean`.
FunctionMoments function_moments(const std::function<double(const Vector&)>& function, const Vector& mean,
                                 const Matrix& covariance, const Transform& transform);

}  // namespace lrvb::detail
