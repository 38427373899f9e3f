#pragma once

#include "likelihood/row_likelihood.hpp"

#include <fmt/format.h>

#include <optional>
#include <string>

/// What likelihoods of counts have in common.
namespace lrvb::detail {

inline std::optional<std::string> count_refusal(double y) {
    if (y >= 0.0 && is_whole(y)) return std::nullopt;
    return fmt::format("is {}, but counts are whole and not negative: choose another --family", y);
}

inline void require_counts(const Vector& y) {
    for (Index n = 0; n < y.size(); ++n) {
        require_row(y[n] >= 0.0 && is_whole(y[n]), n, "the count is", y[n], "a whole number and not negative");
        require_row(y[n] <= kLargestCount, n, "the count is", y[n], "at most 1e12: fit the logarithm of larger ones");
    }
}

}  // namespace lrvb::detail
