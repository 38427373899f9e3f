#pragma once

#include "linalg/cholesky.hpp"

#include <cstdint>

namespace lrvb::detail {

/// What the dense factors of these parts take.
std::uint64_t dense_bytes(const std::vector<Part>& parts);

/// Which entry of A goes where in its dense parts.
class DensePlan {
  public:
    DensePlan(std::vector<Part> parts, const SparseMatrix& lower_pattern);

    const std::vector<Part>& parts() const { return parts_; }
    Index size() const { return static_cast<Index>(places_.size()); }

    struct Place {
        int part;
        int row;  // there
    };
    Place place(Index position) const { return places_[static_cast<std::size_t>(position)]; }

    /// Row and column of each entry, in A.
    const std::vector<std::pair<int, int>>& entries() const { return entries_; }

  private:
    std::vector<Part> parts_;
    std::vector<Place> places_;
    std::vector<std::pair<int, int>> entries_;
};

/// A dense Cholesky of each part.
class DenseCholesky : public Cholesky {
  public:
    explicit DenseCholesky(std::shared_ptr<const DensePlan> plan);

    std::optional<Index> factorise(const std::vector<double>& lower_values) override;
    Matrix solve(const Matrix& right_hand_sides) const override;
    Matrix root_times(const Matrix& x) const override;
    Matrix root_solve(const Matrix& z) const override;
    Matrix root_transposed_solve(const Matrix& g) const override;
    double smallest_pivot() const override;
    std::unique_ptr<SelectedInverse> selected_inverse() const override;

    const DensePlan& plan() const { return *plan_; }
    /// L of each part, below and on the diagonal.
    const std::vector<Matrix>& factors() const { return factors_; }

  private:
    // Applies `map` to the rows of each part.
    template <class Map>
    Matrix by_parts(const Matrix& x, Map map) const;

    std::shared_ptr<const DensePlan> plan_;
    std::vector<Matrix> factors_;
};

}  // namespace lrvb::detail
