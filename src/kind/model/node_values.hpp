#pragma once

#include "kind/model/node_function.hpp"

#include <cmath>
#include <utility>
#include <vector>

/// What values a deterministic node has, where derivatives do not tell: it jumps, it depends on labels, or on a
/// probability that is next to 0 or 1.
namespace lrvb::detail {

/// Some of the statistics that a function looks at: those of a label.
struct NodeLabel {
    std::vector<std::pair<Index, Index>> slots;  // among the statistics, and which of its values each stands for
    Vector probabilities;
};

/// Values of a function in ascending order, and what each weighs.
struct NodeValues {
    std::vector<std::pair<double, double>> values;
    Vector along;  // covariances with the statistics

    double mean() const {
        double sum = 0.0;
        for (const auto& [value, weight] : values) sum += weight * value;
        return sum;
    }
    double sd() const {
        const double middle = mean();
        double sum = 0.0;
        for (const auto& [value, weight] : values) sum += weight * (value - middle) * (value - middle);
        const double result = std::sqrt(sum);
        return result > 1e-12 * std::abs(middle) ? result : 0.0;  // not of rounding
    }
    /// The first below which, with itself, there is so much.
    double quantile(double probability) const {
        double before = 0.0;
        for (const auto& [value, weight] : values) {
            before += weight;
            if (before >= probability * (1.0 - 1e-12)) return value;
        }
        return values.back().first;
    }
};

/// Of a function of a Beta node: under q, whose mean is reported, and stretched as the linear response says.
struct BetaValues {
    NodeValues plain;
    NodeValues stretched;
};

/// One label alone has few states, which are all taken; otherwise draws are: labels as q has them, the other statistics
/// from the normal that they are, nearly. `at` are the means of the statistics, and `covariance` theirs.
NodeValues node_values(const NodeFunction& function, const Vector& at, const std::vector<NodeLabel>& labels,
                       const Matrix& covariance);

/// Of a function of p ~ Beta(a, b), whose logit is stretched about its mean. `entries` says of each of the function's
/// statistics whether it is log p (0) or log(1 − p) (1).
NodeValues beta_node_values(const NodeFunction& function, const std::vector<Index>& entries, double a, double b,
                            double stretch);

}  // namespace lrvb::detail
