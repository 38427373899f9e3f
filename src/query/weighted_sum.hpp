#pragma once

#include <lrvb/types.hpp>

#include <cmath>
#include <limits>

namespace lrvb::detail {

/// Σ w t over the rows that count, and its standard error √(W · variance of the terms), W = Σ w: what the same rows
/// written out w times have. NaN where no variance can be known.
struct WeightedSum {
    WeightedSum(const Vector& terms, const Vector& weights) {
        double total = 0.0;
        for (Index n = 0; n < terms.size(); ++n) {
            if (!(weights[n] > 0.0)) continue;
            total += weights[n];
            sum += weights[n] * terms[n];
        }
        if (!(total > 1.0)) return;
        const double mean = sum / total;
        double squares = 0.0;
        for (Index n = 0; n < terms.size(); ++n) {
            if (weights[n] > 0.0) squares += weights[n] * (terms[n] - mean) * (terms[n] - mean);
        }
        error = std::sqrt(squares * total / (total - 1.0));
    }

    double sum = 0.0;
    double error = std::numeric_limits<double>::quiet_NaN();
};

}  // namespace lrvb::detail
