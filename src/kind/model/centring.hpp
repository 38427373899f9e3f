#pragma once

#include "kind/model/pieces.hpp"

#include <map>
#include <utility>
#include <vector>

/// Effects that are written as standard normals times their sd,
///
///     theta[i] <- mu + tau * eta[i],   eta[i] ~ dnorm(0, c):
///
/// a product of two nodes, of which one is positive. Given tau, x[i] = tau eta[i] ~ dnorm(0, c tau⁻²) is a normal
/// effect like any other, so x stands for eta in the model, and eta = x / tau is derived from these. The factor may be
/// a power of its node: the sd, the root of a variance or of one over a precision.
namespace lrvb::detail::text {

class Centring {
  public:
    /// Nothing is centred.
    Centring() = default;
    /// Finds such effects, and writes the pieces with x in the place of eta.
    Centring(const Evaluator& evaluator, std::vector<Piece>& pieces);

    /// What an effect is multiplied by: a power of a node.
    struct Scale {
        std::size_t array = 0;
        Index element = 0;
        double power = 1.0;
    };
    /// Null where the element stands for itself.
    const Scale* scale_of(std::size_t array, Index element) const;
    /// A row of a sum as it is written, eta[i] in it as x[i] / tau.
    Sum written(const Sum& row) const;

  private:
    std::map<std::pair<std::size_t, Index>, Scale> scales_;
};

}  // namespace lrvb::detail::text
