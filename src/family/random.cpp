#include "family/gamma_draw.hpp"

#include <lrvb/family/random.hpp>

#include <Random123/philox.h>

#include <cmath>
#include <numbers>

namespace lrvb {

Random::Random(std::uint64_t seed, std::uint64_t stream)
    : key_{static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32U)},
      counter_{0, 0, static_cast<std::uint32_t>(stream), static_cast<std::uint32_t>(stream >> 32U)} {}

std::uint64_t Random::next() {
    if (left_in_block_ == 0) {
        const r123::Philox4x32::ctr_type counter{{counter_[0], counter_[1], counter_[2], counter_[3]}};
        const r123::Philox4x32::key_type key{{key_[0], key_[1]}};
        const r123::Philox4x32::ctr_type bits = r123::Philox4x32()(counter, key);
        block_[0] = (std::uint64_t{bits[1]} << 32U) | bits[0];
        block_[1] = (std::uint64_t{bits[3]} << 32U) | bits[2];
        if (++counter_[0] == 0) ++counter_[1];
        left_in_block_ = 2;
    }
    return block_[static_cast<std::size_t>(--left_in_block_)];
}

double Random::uniform() {
    return (static_cast<double>(next() >> 12U) + 0.5) * 0x1p-52;
}

double Random::normal() {
    if (has_spare_normal_) {
        has_spare_normal_ = false;
        return spare_normal_;
    }
    const double radius = std::sqrt(-2.0 * std::log(uniform()));
    const double angle = 2.0 * std::numbers::pi * uniform();
    spare_normal_ = radius * std::sin(angle);
    has_spare_normal_ = true;
    return radius * std::cos(angle);
}

// A shape below one is drawn at shape + 1 and multiplied by U^(1/shape), in logs.
double Random::log_gamma(double shape) {
    if (shape < 1.0) {
        const double boost = std::log(uniform()) / shape;
        return log_gamma(shape + 1.0) + boost;
    }
    return std::log(detail::gamma_draw(shape, *this));
}

namespace detail {

// Marsaglia and Tsang (2000). Their squeeze decides most draws without a logarithm.
double gamma_draw(double shape, Random& random) {
    const double d = shape - 1.0 / 3.0;
    const double c = 1.0 / std::sqrt(9.0 * d);
    for (;;) {
        const double x = random.normal();
        const double cube_root = 1.0 + c * x;
        if (cube_root <= 0.0) continue;
        const double v = cube_root * cube_root * cube_root;
        const double u = random.uniform();
        const double square = x * x;
        if (u < 1.0 - 0.0331 * square * square) return d * v;
        if (std::log(u) < 0.5 * square + d * (1.0 - v + std::log(v))) return d * v;
    }
}

}  // namespace detail

Vector standard_normals(Index size, Random& random) {
    Vector draws(size);
    for (Index i = 0; i < size; ++i) draws[i] = random.normal();
    return draws;
}

}  // namespace lrvb
