#pragma once

#include <lrvb/types.hpp>

#include <fmt/format.h>

#include <cmath>
#include <initializer_list>
#include <stdexcept>
#include <string>
#include <string_view>

/// Preconditions by name, with uniform messages: who asked, which argument, its value, what it must be.
namespace lrvb::detail {

inline void require_size(std::string_view who, std::string_view argument, Index size, Index expected) {
    if (size == expected) return;
    throw std::invalid_argument(fmt::format("{}: {} has {} entries, but must have {}", who, argument, size, expected));
}

inline void require_finite(std::string_view who, std::string_view argument, double value) {
    if (std::isfinite(value)) return;
    throw std::invalid_argument(fmt::format("{}: {} is {}, but must be a finite number", who, argument, value));
}

inline void require_finite(std::string_view who, std::string_view argument, const VectorView& values) {
    for (Index i = 0; i < values.size(); ++i) {
        if (!std::isfinite(values[i])) require_finite(who, fmt::format("{}[{}]", argument, i + 1), values[i]);
    }
}

inline void require_positive(std::string_view who, std::string_view argument, double value) {
    if (std::isfinite(value) && value > 0.0) return;
    throw std::invalid_argument(fmt::format("{}: {} is {}, but must be positive and finite", who, argument, value));
}

inline void require_at_least(std::string_view who, std::string_view argument, Index value, Index least) {
    if (value >= least) return;
    throw std::invalid_argument(fmt::format("{}: {} is {}, but must be at least {}", who, argument, value, least));
}

/// E log p for random p that add up to one: finite, with exponentials that add up to less than one. Returns how much
/// less.
inline double require_means_of_log_parts(std::string_view who, const VectorView& mean) {
    require_finite(who, "mean parameter", mean);
    // The largest first: it may be next to one.
    Index largest = 0;
    double gap = -std::expm1(mean.maxCoeff(&largest));
    for (Index k = 0; k < mean.size(); ++k) {
        if (k != largest) gap -= std::exp(mean[k]);
    }
    if (gap > 0.0) return gap;
    throw std::invalid_argument(
        fmt::format("{}: the exponentials of the means of the logs add up to {}, but must add up to less than one", who,
                    1.0 - gap));
}

/// "mu[1]" with index {2} is "mu[1,2]"; "beta" with {3} is "beta[3]". Indices are given from 0 and shown from 1.
inline std::string indexed(const std::string& variable, std::initializer_list<Index> indices) {
    const bool has_index = !variable.empty() && variable.back() == ']';
    std::string name = has_index ? variable.substr(0, variable.size() - 1) : variable;
    char separator = has_index ? ',' : '[';
    for (const Index index : indices) {
        name += fmt::format("{}{}", separator, index + 1);
        separator = ',';
    }
    return name + ']';
}

}  // namespace lrvb::detail
