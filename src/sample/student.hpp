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
    /// Draws, a column each, column i with the random numbers of stream first + i.
    void draw(std::uint64_t seed, std::uint64_t first, Eigen::Ref<Matrix> points) const;
    /// Of the point from the location, in the scale.
    double squared_distance(const VectorView& point) const;
    /// Of points, a column each.
    Eigen::RowVectorXd squared_distances(const Eigen::Ref<const Matrix>& points) const;
    /// The log density at that distance.
    double log_density_at(double squared_distance) const;
    const Vector& location() const { return location_; }
    /// C of the scale CCᵀ.
    const Matrix& factor() const { return factor_; }

  private:
    double stretch(Random& random) const;

    Vector location_;
    Matrix factor_;
    double dof_;
    double constant_;
};

}  // namespace lrvb::detail
