#pragma once

#include <lrvb/export.hpp>

#include <cstdint>
#include <stdexcept>

/// How much memory a factorisation may take. The factor of a sparse curvature can be far larger than the curvature
/// itself: crossed factors fill it in. Its size is known before any of it is allocated, and one that would not fit is
/// refused instead of bringing the machine to its knees.
namespace lrvb {

/// The factorisation that a fit or a response needs would not fit: the message says how large it would be, of how many
/// coordinates, and what to do.
class LRVB_EXPORT FactorTooLarge : public std::length_error {
  public:
    using std::length_error::length_error;
};

/// The most bytes that one factor may take; three quarters of the machine's memory unless it has been set.
LRVB_EXPORT std::uint64_t factor_memory_limit();
/// Sets it for the whole process, where the machine is shared or a container allows less; 0 for what it was at first.
LRVB_EXPORT void set_factor_memory_limit(std::uint64_t bytes);

}  // namespace lrvb
