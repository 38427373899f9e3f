#pragma once

#include <lrvb/export.hpp>
#include <lrvb/types.hpp>

#include <array>
#include <cstdint>

namespace lrvb {

/// A counter-based stream of random numbers (Philox4x32-10): the draw with number i of stream s under seed k is a pure
/// function of (k, s, i), so parallel work that gives each task its own stream draws the same numbers in any order.
class LRVB_EXPORT Random {
  public:
    explicit Random(std::uint64_t seed, std::uint64_t stream = 0);

    /// Uniform on the open interval (0, 1), in steps of 2^-52.
    double uniform();
    /// Standard normal.
    double normal();
    /// log of a Gamma(shape, rate 1) draw; finite also where the draw itself underflows (shape far below 1).
    double log_gamma(double shape);

  private:
    std::uint64_t next();

    std::array<std::uint32_t, 2> key_;
    std::array<std::uint32_t, 4> counter_;
    std::array<std::uint64_t, 2> block_{};
    int left_in_block_ = 0;
    double spare_normal_ = 0.0;
    bool has_spare_normal_ = false;
};

/// A vector of independent standard normals.
LRVB_EXPORT Vector standard_normals(Index size, Random& random);

}  // namespace lrvb
