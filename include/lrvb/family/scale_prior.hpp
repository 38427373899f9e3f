#pragma once

namespace lrvb {

/// The prior of a standard deviation, or of another positive number, in its own units.
struct ScalePrior {
    enum class Kind {
        half_t,           ///< (degrees of freedom, scale); half-Cauchy with one degree
        half_normal,      ///< (scale)
        exponential,      ///< (rate)
        uniform,          ///< (lower, upper)
        gamma_precision,  ///< (shape, rate) of 1/sd²
        gamma,            ///< (shape, rate)
    };
    Kind kind = Kind::half_t;
    double first = 2.0;
    double second = 1.0;

    static ScalePrior half_t(double df, double scale) { return {Kind::half_t, df, scale}; }
    static ScalePrior half_normal(double scale) { return {Kind::half_normal, scale, 0.0}; }
    static ScalePrior exponential(double rate) { return {Kind::exponential, rate, 0.0}; }
    static ScalePrior uniform(double lower, double upper) { return {Kind::uniform, lower, upper}; }
    static ScalePrior gamma_precision(double shape, double rate) { return {Kind::gamma_precision, shape, rate}; }
    static ScalePrior gamma(double shape, double rate) { return {Kind::gamma, shape, rate}; }

    bool operator==(const ScalePrior&) const = default;
};

}  // namespace lrvb
