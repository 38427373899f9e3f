#pragma once

#include "kind/mixture/components.hpp"

#include <lrvb/family/random.hpp>
#include <lrvb/model/row_model.hpp>

#include <vector>

/// Rows that a mixture draws: a component by its weight, then x = μ + L⁻ᵀz with Λ = LLᵀ and z standard normal.
namespace lrvb::detail {

/// A mixture at a value of its parameters, in the units of the data.
class DrawnMixture {
  public:
    DrawnMixture() = default;
    DrawnMixture(const MixtureComponents::Point& point, const RowFormat& format);

    /// A row into `out`, every `stride` numbers one.
    void draw(Random& random, double* out, Index stride) const;

  private:
    Vector until_;               // the weights of the components up to each, added up
    Matrix locations_;           // one column a component
    std::vector<Matrix> roots_;  // L⁻ᵀ of each; of diagonal covariances one column, the sds
    bool full_ = false;
};

/// Every row of the source again from each of the mixtures, in order. Throws FractionalWeight for a weight that is no
/// whole number.
void replicate_mixture_rows(RowSource& source, Index rows, const RowFormat& format,
                            const std::vector<DrawnMixture>& mixtures, std::uint64_t seed, int threads,
                            const ReplicateVisitor& visit);

}  // namespace lrvb::detail
