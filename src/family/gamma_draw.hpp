#pragma once

#include <lrvb/family/random.hpp>

namespace lrvb::detail {

/// A Gamma(shape, rate 1) draw, of shapes from one on, where no draw underflows.
double gamma_draw(double shape, Random& random);

}  // namespace lrvb::detail
