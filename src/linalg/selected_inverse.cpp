#include "linalg/selected_inverse.hpp"

#include <algorithm>
#include <stdexcept>

namespace lrvb::detail {

SelectedInverse::SelectedInverse(const SparseLdl& factor)
    : factor_(factor), diagonal_(factor.pivots().size()), below_(factor.values().size(), 0.0) {
    if (factor.symbolic().is_dense()) {
        const Index size = factor.symbolic().size();
        const Matrix root = factor.dense().triangularView<Eigen::Lower>().solve(Matrix::Identity(size, size));
        dense_ = root.transpose() * root;
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
    if (dense_.size() > 0) return dense_(i, j);
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
