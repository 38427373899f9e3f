#pragma once

#include <lrvb/types.hpp>

#include <algorithm>

namespace lrvb::detail {

/// So many rows at a time, where each has so many answers: what fits into some megabytes.
inline Index rows_at_once(Index answers) {
    constexpr Index kNumbers = Index{1} << 21;
    return std::clamp<Index>(kNumbers / std::max<Index>(1, answers), 64, 4096);
}

}  // namespace lrvb::detail
