#include "linalg/dense_cholesky.hpp"

#include "linalg/lapack.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace lrvb::detail {

namespace {

// A⁻¹ = L⁻ᵀL⁻¹, an entry at a time.
class DenseSelectedInverse : public SelectedInverse {
  public:
    explicit DenseSelectedInverse(const DenseCholesky& factor) : plan_(factor.plan()) {
        roots_.reserve(factor.factors().size());
        for (const Matrix& part : factor.factors()) {
            roots_.push_back(part);
            invert_lower_in_place(roots_.back());
        }
    }

    double operator()(Index i, Index j) const override {
        const auto [part, row] = plan_.place(i);
        const auto [same, column] = plan_.place(j);
        if (part != same) return 0.0;
        const Matrix& root = roots_[static_cast<std::size_t>(part)];
        const Index below = root.rows() - std::max(row, column);  // above it, one of the two is zero
        return root.col(row).tail(below).dot(root.col(column).tail(below));
    }

  private:
    const DensePlan& plan_;
    std::vector<Matrix> roots_;  // L⁻¹ of each part
};

}  // namespace

std::uint64_t dense_bytes(const std::vector<Part>& parts) {
    std::uint64_t bytes = 0;
    for (const Part& part : parts) bytes += sizeof(double) * part.size() * part.size();
    return bytes;
}

DensePlan::DensePlan(std::vector<Part> parts, const SparseMatrix& lower_pattern)
    : parts_(std::move(parts)), places_(static_cast<std::size_t>(lower_pattern.rows())) {
    for (std::size_t p = 0; p < parts_.size(); ++p) {
        for (std::size_t i = 0; i < parts_[p].size(); ++i) {
            places_[static_cast<std::size_t>(parts_[p][i])] = {static_cast<int>(p), static_cast<int>(i)};
        }
    }
    entries_.reserve(static_cast<std::size_t>(lower_pattern.nonZeros()));
    for (int column = 0; column < lower_pattern.outerSize(); ++column) {
        for (SparseMatrix::InnerIterator entry(lower_pattern, column); entry; ++entry) {
            entries_.emplace_back(static_cast<int>(entry.row()), column);
        }
    }
}

DenseCholesky::DenseCholesky(std::shared_ptr<const DensePlan> plan) : plan_(std::move(plan)) {}

std::optional<Index> DenseCholesky::factorise(const std::vector<double>& lower_values) {
    const std::vector<Part>& parts = plan_->parts();
    factors_.resize(parts.size());
    for (std::size_t p = 0; p < parts.size(); ++p) {
        factors_[p].setZero(static_cast<Index>(parts[p].size()), static_cast<Index>(parts[p].size()));
    }
    for (std::size_t e = 0; e < lower_values.size(); ++e) {
        const DensePlan::Place row = plan_->place(plan_->entries()[e].first);
        const DensePlan::Place column = plan_->place(plan_->entries()[e].second);
        factors_[static_cast<std::size_t>(row.part)](row.row, column.row) = lower_values[e];
    }
    for (std::size_t p = 0; p < parts.size(); ++p) {
        Matrix& factor = factors_[p];
        const Vector diagonal = factor.diagonal();
        const std::optional<Index> failed = cholesky_in_place(factor);
        const Index done = failed.value_or(factor.rows());
        for (Index i = 0; i < done; ++i) {
            if (!is_safely_positive(factor(i, i) * factor(i, i), diagonal[i])) {
                return parts[p][static_cast<std::size_t>(i)];
            }
        }
        if (failed) return parts[p][static_cast<std::size_t>(*failed)];
    }
    return std::nullopt;
}

template <class Map>
Matrix DenseCholesky::by_parts(const Matrix& x, Map map) const {
    Matrix result(x.rows(), x.cols());
    for (std::size_t p = 0; p < factors_.size(); ++p) {
        const Part& part = plan_->parts()[p];
        Matrix own = x(part, Eigen::all);
        map(factors_[p], own);
        result(part, Eigen::all) = own;
    }
    return result;
}

Matrix DenseCholesky::solve(const Matrix& right_hand_sides) const {
    return by_parts(right_hand_sides, [](const Matrix& factor, Matrix& own) { cholesky_solve_in_place(factor, own); });
}

Matrix DenseCholesky::root_times(const Matrix& x) const {
    return by_parts(x, [](const Matrix& factor, Matrix& own) {
        own = Matrix(factor.triangularView<Eigen::Lower>().transpose() * own);
    });
}

Matrix DenseCholesky::root_solve(const Matrix& z) const {
    return by_parts(z, [](const Matrix& factor, Matrix& own) {
        factor.triangularView<Eigen::Lower>().transpose().solveInPlace(own);
    });
}

Matrix DenseCholesky::root_transposed_solve(const Matrix& g) const {
    return by_parts(g,
                    [](const Matrix& factor, Matrix& own) { factor.triangularView<Eigen::Lower>().solveInPlace(own); });
}

double DenseCholesky::smallest_pivot() const {
    double smallest = std::numeric_limits<double>::infinity();
    for (const Matrix& factor : factors_) smallest = std::min(smallest, factor.diagonal().cwiseAbs2().minCoeff());
    return smallest;
}

std::unique_ptr<SelectedInverse> DenseCholesky::selected_inverse() const {
    return std::make_unique<DenseSelectedInverse>(*this);
}

}  // namespace lrvb::detail
