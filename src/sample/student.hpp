#pragma once

#include <lrvb/family/random.hpp>
#include <lrvb/sample/log_density.hpp>

namespace lrvb::detail {

/// A multivariate Student t: location + √(ν/χ²_ν) C z with CCᵀ the scale matrix.
class StudentProposal {
  public:
    /// Throws std::invalid_argument where the scale is not positive definite.
    StudentProposal(const NormalApproximation& approximation, double dof);

    Vector draw(Random& random) const;
    /// Normalised.
    double log_density(const VectorView& point) const;
    /// Of the point from the location, in the scale.
    double squared_distance(const VectorView& point) const;
    /// The log density at that distance.
    double log_density_at(double squared_distance) const;
    const Vector& location() const { return location_; }
    /// C of the scale CCᵀ.
    const Matrix& factor() const { return factor_; }

  private:
    Vector location_;
    Matrix factor_;
    double dof_;
    double constant_;
};

}  // namespace lrvb::detail
