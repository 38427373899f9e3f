#include "linalg/selected_inverse.hpp"

#include <algorithm>
#include <stdexcept>

namespace lrvb::detail {

namespace {

// The inverse of a lower triangle, in its place, by halves: [A 0; B C]⁻¹ = [A⁻¹ 0; −C⁻¹BA⁻¹ C⁻¹].
void invert(Eigen::Ref<Matrix> lower) {
    const Index size = lower.rows();
    if (size <= 64) {
        const Matrix inverse = lower.triangularView<Eigen::Lower>().solve(Matrix::Identity(size, size));
        lower = inverse;
        return;
    }
    const Index half = size / 2;
    const Index rest = size - half;
    invert(lower.topLeftCorner(half, half));
    invert(lower.bottomRightCorner(rest, rest));
    const Matrix right =
        lower.bottomLeftCorner(rest, half) * lower.topLeftCorner(half, half).triangularView<Eigen::Lower>();
    lower.bottomLeftCorner(rest, half) = -(lower.bottomRightCorner(rest, rest).triangularView<Eigen::Lower>() * right);
}

}  // namespace

SelectedInverse::SelectedInverse(const SparseLdl& factor)
    : factor_(factor), diagonal_(factor.pivots().size()), below_(factor.values().size(), 0.0) {
    if (factor.symbolic().is_dense()) {
        for (const Matrix& part : factor.dense()) {
            roots_.push_back(part.triangularView<Eigen::Lower>());
            invert(roots_.back());
        }
        return;
    }
    const std::vector<int>& starts = factor.symbolic().column_starts();
    const std::vector<int>& rows = factor.rows();
    const std::vector<double>& values = factor.values();
    const std::size_t n = diagonal_.size();
    std::vector<int> place(n, -1);  // of row i in the column at hand, or −1

    for (std::size_t j = n; j-- > 0;) {
        const auto begin = static_cast<std::size_t>(starts[j]);
        const auto end = static_cast<std::size_t>(starts[j + 1]);
        for (std::size_t p = begin; p < end; ++p) place[static_cast<std::size_t>(rows[p])] = static_cast<int>(p);
        // Z_ij = −Σ_k Z_ik L_kj over the pattern of column j; Z_ik is on the pattern of column min(i, k).
        for (std::size_t p = begin; p < end; ++p) {
            const auto k = static_cast<std::size_t>(rows[p]);
            below_[p] -= diagonal_[k] * values[p];
            for (auto q = static_cast<std::size_t>(starts[k]); q < static_cast<std::size_t>(starts[k + 1]); ++q) {
                const int at = place[static_cast<std::size_t>(rows[q])];
                if (at < 0) continue;
                below_[static_cast<std::size_t>(at)] -= below_[q] * values[p];
                below_[p] -= below_[q] * values[static_cast<std::size_t>(at)];
            }
        }
        double own = 1.0 / factor.pivots()[j];
        for (std::size_t p = begin; p < end; ++p) own -= values[p] * below_[p];
        diagonal_[j] = own;
        for (std::size_t p = begin; p < end; ++p) place[static_cast<std::size_t>(rows[p])] = -1;
    }
}

double SelectedInverse::operator()(Index i, Index j) const {
    if (!roots_.empty()) {
        const auto [part, row] = factor_.symbolic().dense_place(i);
        const auto [same, column] = factor_.symbolic().dense_place(j);
        if (part != same) return 0.0;
        const Matrix& root = roots_[static_cast<std::size_t>(part)];
        const Index below = root.rows() - std::max(row, column);  // above it, one of the two is zero
        return root.col(row).tail(below).dot(root.col(column).tail(below));
    }
    const std::vector<int>& permuted_of = factor_.symbolic().permuted_of();
    int row = permuted_of[static_cast<std::size_t>(i)];
    int column = permuted_of[static_cast<std::size_t>(j)];
    if (row == column) return diagonal_[static_cast<std::size_t>(row)];
    if (row < column) std::swap(row, column);
    const std::vector<int>& starts = factor_.symbolic().column_starts();
    const auto begin = factor_.rows().begin() + starts[static_cast<std::size_t>(column)];
    const auto end = factor_.rows().begin() + starts[static_cast<std::size_t>(column) + 1];
    const auto found = std::lower_bound(begin, end, row);  // rows are ascending: they were filled row by row
    if (found == end || *found != row) throw std::logic_error("selected inverse: the entry is not on the pattern");
    return below_[static_cast<std::size_t>(found - factor_.rows().begin())];
}

}  // namespace lrvb::detail
