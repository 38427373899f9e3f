#pragma once

#include <lrvb/family/any_family.hpp>
#include <lrvb/types.hpp>

/// What a factor q of the fit says of the unbounded coordinates u of its variable (lrvb/sample/unbounded.hpp).
namespace lrvb::detail {

struct ExpectedChart {
    /// E_q dT/du: statistics × coordinates.
    Matrix jacobian;
    /// −E_q ∇²_u log q(u), the covariance of the score, with the Jacobian of u in q: positive definite.
    Matrix precision;
};

/// Of a family that is not discrete.
ExpectedChart expected_chart(const AnyFamily& family, const VectorView& natural, Index coordinates);

}  // namespace lrvb::detail
