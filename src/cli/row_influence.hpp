#pragma once

#include "cli/restored.hpp"

#include <string>
#include <vector>

/// What dropping a row does to the means of some variables: each in posterior sds, and all of them in one number, the
/// distance √(δᵀ C⁻¹ δ) of their change δ in the metric of their covariance C.
namespace lrvb::cli {

class RowInfluence {
  public:
    /// Of the variables of these names, as Posterior::select knows them; none: one for each parameter, since with all
    /// of them each would be counted several times. Those that are held do not move, and are left out.
    RowInfluence(const Restored& restored, const std::vector<std::string>& names);

    /// Positions in the posterior; none where all of them are held.
    const std::vector<Index>& variables() const { return variables_; }
    const Functionals& functionals() const { return functionals_; }

    /// What dropping each row does to the means, to first order, from its case weights: one row a row.
    static Matrix changes(const RowAnswers& case_weights);
    /// Such changes in posterior sds.
    Matrix shifts(const Matrix& changes) const;
    /// How far each of them goes.
    Vector distances(const Matrix& changes) const;

  private:
    std::vector<Index> variables_;
    Functionals functionals_;
    Vector sds_;
    Matrix root_;  // R with R Rᵀ = C⁻¹
};

}  // namespace lrvb::cli
