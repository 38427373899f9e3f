#pragma once

#include <lrvb/family/any_family.hpp>

/// Unbounded coordinates v of a number y between bounds, either of which may be infinite.
namespace lrvb::detail {

struct IntervalPoint {
    double value = 0.0;      // y
    double log_slope = 0.0;  // log dy/dv
    double bend = 0.0;       // its derivative in v
};

/// y = lower + (upper − lower) logistic(v) between two bounds; beside one, y = bound ± exp(v), or ± log(1 + exp(v)),
/// which is y itself far from the bound, where `is_logarithm` says that one is a natural unit; v without any.
struct Interval {
    double lower;
    double upper;
    bool is_logarithm;

    IntervalPoint at(double v) const;
    /// v of a y, one next to the bounds where y is at them.
    double coordinate(double y) const;
};

Interval interval_of_log(const family::Scale& scale);
Interval interval_of(const family::TruncatedNormal& normal);

}  // namespace lrvb::detail
