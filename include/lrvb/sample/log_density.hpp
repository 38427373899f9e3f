#pragma once

#include <lrvb/export.hpp>
#include <lrvb/types.hpp>

/// All that the samplers ask of a target: a log density on unbounded parameters, up to a constant, and its gradient.
namespace lrvb {

class LRVB_EXPORT LogDensity {
  public:
    virtual ~LogDensity() = default;

    virtual Index dimension() const = 0;

    /// The log density at many points, one a column: samplers ask for as many at once as they can, so that a density
    /// with much data looks at it once. −∞ or NaN where the density is zero or a number overflows. One call at a time:
    /// it is the density that works in parallel. The same bits for any number of threads.
    virtual Vector evaluate(const Matrix& points, int threads) const = 0;
};

/// Log densities at points, and their gradients, one a column.
struct DensityGradients {
    Vector values;
    Matrix gradients;
};

/// A density that also says how it changes, for samplers that follow it.
class LRVB_EXPORT SmoothDensity : public LogDensity {
  public:
    /// As `evaluate`. A gradient means nothing where the value is not finite.
    virtual DensityGradients evaluate_gradients(const Matrix& points, int threads) const = 0;
};

/// A normal distribution, as an approximation to a density.
struct NormalApproximation {
    Vector mean;
    Matrix covariance;
};

}  // namespace lrvb
