#pragma once

#include "model/field/structure.hpp"

#include <lrvb/types.hpp>

#include <memory>
#include <vector>

/// The rows of a field's A as loops over them want them: by rows, in inner units, and sorted by level. What is summed
/// for a level, or for two that meet, is summed in the order of the rows by one thread: the same bits for any number of
/// them.
namespace lrvb::detail {

/// Rows in groups: those of group g are rows[starts[g]] … rows[starts[g + 1] − 1], ascending.
struct RowGroups {
    std::vector<Index> starts;
    std::vector<Index> rows;

    RowGroups() = default;
    RowGroups(const std::vector<int>& group, std::size_t groups);
    Index count() const { return static_cast<Index>(starts.size()) - 1; }
};

using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

class RowDesign {
  public:
    explicit RowDesign(std::shared_ptr<const FieldStructure> structure);

    const FieldStructure& structure() const { return *structure_; }
    const FieldShape& shape() const { return structure_->shape(); }
    Index rows() const { return fixed_.rows(); }
    const RowMajor& fixed() const { return fixed_; }
    const RowMajor& effects(std::size_t f) const { return effects_[f]; }
    const RowGroups& groups(std::size_t f) const { return groups_[f]; }
    int level(Index n, std::size_t f) const {
        return structure_->design().data().factors[f].level[static_cast<std::size_t>(n)];
    }

    /// A x.
    Vector predictors(const VectorView& x, int threads) const;
    /// Aᵀ values.
    Vector transposed(const Vector& values, int threads) const;
    /// Aᵀ diag(weights) A.
    FieldBlocks fold(const Vector& weights, int threads) const;

  private:
    std::shared_ptr<const FieldStructure> structure_;
    RowMajor fixed_;
    std::vector<RowMajor> effects_;
    std::vector<RowGroups> groups_;
    std::vector<RowGroups> meetings_;  // of the pairs of factors
};

}  // namespace lrvb::detail
