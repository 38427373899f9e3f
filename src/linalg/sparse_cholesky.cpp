#include "linalg/sparse_cholesky.hpp"

#include "linalg/lapack.hpp"

#include <lrvb/base/interruption.hpp>

#include <Eigen/OrderingMethods>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <utility>

namespace lrvb::detail {

namespace {

constexpr std::size_t kRowsAtOnce = 256;  // between points of interruption

// Loops over std::vector, whose positions are unsigned.
constexpr std::size_t at(std::int64_t i) {
    return static_cast<std::size_t>(i);
}

// The entries of A⁻¹ on the pattern of its factor (Takahashi, Fagan and Chin 1973): with Z = A⁻¹ and A = LDLᵀ,
//
//     Z = D⁻¹L⁻¹ + (I − Lᵀ) Z,
//
// read from the last column to the first, gives each entry of Z on the pattern of L from later ones on it.
class SparseSelectedInverse : public SelectedInverse {
  public:
    explicit SparseSelectedInverse(const SparseCholesky& factor)
        : factor_(factor), diagonal_(factor.pivots().size()), below_(factor.values().size(), 0.0) {
        const std::vector<std::int64_t>& starts = factor.plan().column_starts();
        const std::vector<int>& rows = factor.rows();
        const std::vector<double>& values = factor.values();
        const std::size_t n = diagonal_.size();
        const std::size_t tail = dense_tail(starts, n);
        const Matrix full = invert_tail(tail);
        std::vector<std::int64_t> place(n, -1);  // of row i in the column at hand, or −1
        for (std::size_t j = tail; j-- > 0;) {
            for (std::int64_t p = starts[j]; p < starts[j + 1]; ++p) place[at(rows[at(p)])] = p;
            // Z_ij = −Σ_k Z_ik L_kj over the pattern of column j; Z_ik is on the pattern of column min(i, k).
            for (std::size_t p = at(starts[j]); p < at(starts[j + 1]); ++p) {
                const std::size_t k = at(rows[p]);
                below_[p] -= diagonal_[k] * values[p];
                if (k >= tail) {
                    const double* column = full.data() + static_cast<Index>(k - tail) * full.rows();
                    for (std::size_t q = p + 1; q < at(starts[j + 1]); ++q) {
                        const double entry = column[at(rows[q]) - tail];
                        below_[q] -= entry * values[p];
                        below_[p] -= entry * values[q];
                    }
                    continue;
                }
                for (std::size_t q = at(starts[k]); q < at(starts[k + 1]); ++q) {
                    const std::int64_t found = place[at(rows[q])];
                    if (found < 0) continue;
                    below_[at(found)] -= below_[q] * values[p];
                    below_[p] -= below_[q] * values[at(found)];
                }
            }
            double own = 1.0 / factor.pivots()[j];
            for (std::size_t p = at(starts[j]); p < at(starts[j + 1]); ++p) {
                own -= values[p] * below_[p];
                place[at(rows[p])] = -1;
            }
            diagonal_[j] = own;
        }
    }

    double operator()(Index i, Index j) const override {
        int row = factor_.plan().permuted_of(i);
        int column = factor_.plan().permuted_of(j);
        if (row == column) return diagonal_[at(row)];
        if (row < column) std::swap(row, column);
        const std::vector<std::int64_t>& starts = factor_.plan().column_starts();
        const auto begin = factor_.rows().begin() + starts[at(column)];
        const auto end = factor_.rows().begin() + starts[at(column) + 1];
        const auto found = std::lower_bound(begin, end, row);  // rows are ascending: they were filled row by row
        if (found == end || *found != row) throw std::logic_error("selected inverse: the entry is not on the pattern");
        return below_[at(found - factor_.rows().begin())];
    }

  private:
    // Where the last columns begin that have half of the rows below them or more, which is where crossed factors fill
    // in: densely they are inverted many times as fast, in no more than four numbers an entry of theirs. n where they
    // are too few to be worth it.
    static std::size_t dense_tail(const std::vector<std::int64_t>& starts, std::size_t n) {
        constexpr std::size_t kWorthIt = 48;
        std::size_t first = n;
        while (first > 0 && 2 * at(starts[first] - starts[first - 1]) >= n - first) --first;
        return n - first >= kWorthIt ? first : n;
    }

    // Z of these columns, densely: LAPACK's inverse from L√D.
    Matrix invert_tail(std::size_t first) {
        const std::vector<std::int64_t>& starts = factor_.plan().column_starts();
        const std::vector<int>& rows = factor_.rows();
        const auto size = static_cast<Index>(diagonal_.size() - first);
        // The entries of L below the diagonal, and their rows here.
        const auto visit_below = [&](Index j, const auto& visit) {
            for (std::size_t p = at(starts[first + at(j)]); p < at(starts[first + at(j) + 1]); ++p) {
                visit(p, static_cast<Index>(at(rows[p]) - first));
            }
        };
        Matrix inverse = Matrix::Zero(size, size);
        for (Index j = 0; j < size; ++j) {
            const double root = std::sqrt(factor_.pivots()[first + at(j)]);
            inverse(j, j) = root;
            visit_below(j, [&](std::size_t p, Index i) { inverse(i, j) = factor_.values()[p] * root; });
        }
        invert_from_cholesky_in_place(inverse);
        for (Index j = 0; j < size; ++j) {
            diagonal_[first + at(j)] = inverse(j, j);
            visit_below(j, [&](std::size_t p, Index i) { below_[p] = inverse(i, j); });
        }
        return inverse;
    }

    const SparseCholesky& factor_;
    std::vector<double> diagonal_;
    std::vector<double> below_;  // on the pattern of L
};

}  // namespace

SparsePlan::SparsePlan(const SparseMatrix& lower_pattern) {
    order(lower_pattern);
    permute(lower_pattern);
    find_tree();
    count();
}

std::uint64_t SparsePlan::bytes() const {
    return static_cast<std::uint64_t>(fill()) * (sizeof(double) + sizeof(int)) +
           static_cast<std::uint64_t>(size()) * sizeof(double);
}

double SparsePlan::work() const {
    double work = 0.0;
    for (std::size_t i = 0; i + 1 < column_starts_.size(); ++i) {
        work += std::pow(static_cast<double>(column_starts_[i + 1] - column_starts_[i]), 2.0);
    }
    return work;
}

void SparsePlan::order(const SparseMatrix& lower_pattern) {
    const int n = static_cast<int>(lower_pattern.rows());
    // Both triangles and a fifth more, as 32-bit positions.
    if (2.4 * static_cast<double>(lower_pattern.nonZeros()) + 4.0 * n > std::numeric_limits<int>::max()) {
        throw FactorTooLarge(
            fmt::format("the curvature, of {} coordinates, has {} entries, which are more than can be ordered for a "
                        "factorisation: use fewer crossed factors, or a smaller model",
                        n, lower_pattern.nonZeros()));
    }
    Eigen::PermutationMatrix<Eigen::Dynamic, Eigen::Dynamic, int> ordering;
    if (n > 0) {
        Eigen::AMDOrdering<int> amd;
        amd(lower_pattern.selfadjointView<Eigen::Lower>(), ordering);
    }
    original_of_.resize(at(n));
    permuted_of_.resize(at(n));
    for (int i = 0; i < n; ++i) {
        const int original = ordering.indices()[i];
        original_of_[at(i)] = original;
        permuted_of_[at(original)] = i;
    }
}

void SparsePlan::permute(const SparseMatrix& lower_pattern) {
    const std::size_t n = original_of_.size();
    const std::size_t entries = at(lower_pattern.nonZeros());
    std::vector<std::pair<int, int>> places;  // (row, column) in the permuted upper triangle
    places.reserve(entries);
    for (int column = 0; column < lower_pattern.outerSize(); ++column) {
        for (SparseMatrix::InnerIterator entry(lower_pattern, column); entry; ++entry) {
            const int a = permuted_of_[at(entry.row())];
            const int b = permuted_of_[at(column)];
            places.emplace_back(std::min(a, b), std::max(a, b));
        }
    }
    upper_starts_.assign(n + 1, 0);
    for (const auto& [row, column] : places) ++upper_starts_[at(column) + 1];
    for (std::size_t i = 1; i <= n; ++i) upper_starts_[i] += upper_starts_[i - 1];
    upper_rows_.resize(entries);
    slot_of_.resize(entries);
    std::vector<int> next(upper_starts_.begin(), upper_starts_.end() - 1);
    for (std::size_t e = 0; e < entries; ++e) {
        const int slot = next[at(places[e].second)]++;
        upper_rows_[at(slot)] = places[e].first;
        slot_of_[e] = slot;
    }
}

// The parent of column i is the first row below the diagonal of L's column i (Liu 1986).
void SparsePlan::find_tree() {
    const int n = static_cast<int>(original_of_.size());
    parent_.assign(at(n), -1);
    std::vector<int> ancestor(at(n), -1);  // the highest seen so far
    for (int k = 0; k < n; ++k) {
        for (int p = upper_starts_[at(k)]; p < upper_starts_[at(k) + 1]; ++p) {
            for (int i = upper_rows_[at(p)]; i != -1 && i < k;) {
                const int next = std::exchange(ancestor[at(i)], k);
                if (next == -1) parent_[at(i)] = k;
                i = next;
            }
        }
    }
}

std::vector<int> SparsePlan::postorder() const {
    const int n = static_cast<int>(parent_.size());
    std::vector<int> first_child(at(n), -1);
    std::vector<int> sibling(at(n), -1);
    for (int i = n; i-- > 0;) {
        if (parent_[at(i)] == -1) continue;
        sibling[at(i)] = std::exchange(first_child[at(parent_[at(i)])], i);
    }
    std::vector<int> order;
    order.reserve(at(n));
    std::vector<int> path;
    for (int root = 0; root < n; ++root) {
        if (parent_[at(root)] != -1) continue;
        path.push_back(root);
        while (!path.empty()) {
            int& child = first_child[at(path.back())];
            if (child != -1) {
                path.push_back(std::exchange(child, sibling[at(child)]));
            } else {
                order.push_back(path.back());
                path.pop_back();
            }
        }
    }
    return order;
}

// Row i of L is the subtree whose leaves are some of the columns j with A_ij ≠ 0 (Gilbert, Ng and Peyton 1994). Every
// leaf adds one to all columns above it, up to where the path of the leaf before it joins: the counts are sums over
// subtrees of these ones.
void SparsePlan::count() {
    const int n = static_cast<int>(original_of_.size());
    std::vector<int> lower_starts(at(n) + 1, 0);  // the lower triangle of the permuted matrix, by columns
    for (const int row : upper_rows_) ++lower_starts[at(row) + 1];
    std::partial_sum(lower_starts.begin(), lower_starts.end(), lower_starts.begin());
    std::vector<int> lower_rows(upper_rows_.size());
    std::vector<int> next(lower_starts.begin(), lower_starts.end() - 1);
    for (int k = 0; k < n; ++k) {
        for (int p = upper_starts_[at(k)]; p < upper_starts_[at(k) + 1]; ++p) {
            lower_rows[at(next[at(upper_rows_[at(p)])]++)] = k;
        }
    }

    const std::vector<int> order = postorder();
    std::vector<int> first(at(n), -1);  // in postorder, of the columns below and at each
    std::vector<std::int64_t> counts(at(n), 0);
    for (int k = 0; k < n; ++k) {
        int j = order[at(k)];
        if (first[at(j)] == -1) counts[at(j)] = 1;
        for (; j != -1 && first[at(j)] == -1; j = parent_[at(j)]) first[at(j)] = k;
    }
    std::vector<int> latest_first(at(n), -1);  // of the leaves of each row so far
    std::vector<int> latest_leaf(at(n), -1);
    std::vector<int> ancestor(at(n));
    std::iota(ancestor.begin(), ancestor.end(), 0);
    for (const int j : order) {
        if (parent_[at(j)] != -1) --counts[at(parent_[at(j)])];  // the diagonal of j itself stays with j
        for (int p = lower_starts[at(j)]; p < lower_starts[at(j) + 1]; ++p) {
            const int i = lower_rows[at(p)];
            if (i <= j || first[at(j)] <= latest_first[at(i)]) continue;
            latest_first[at(i)] = first[at(j)];
            const int before = std::exchange(latest_leaf[at(i)], j);
            ++counts[at(j)];
            if (before == -1) continue;
            int join = before;
            while (join != ancestor[at(join)]) join = ancestor[at(join)];
            for (int s = before; s != join;) s = std::exchange(ancestor[at(s)], join);
            --counts[at(join)];
        }
        if (parent_[at(j)] != -1) ancestor[at(j)] = parent_[at(j)];
    }
    column_starts_.assign(at(n) + 1, 0);
    for (int j = 0; j < n; ++j) {
        if (parent_[at(j)] != -1) counts[at(parent_[at(j)])] += counts[at(j)];
        column_starts_[at(j) + 1] = column_starts_[at(j)] + counts[at(j)] - 1;
    }
}

SparseCholesky::SparseCholesky(std::shared_ptr<const SparsePlan> plan)
    : plan_(std::move(plan)), rows_(at(plan_->fill())), values_(at(plan_->fill())), pivots_(at(plan_->size())) {}

// Up-looking: row k of L solves L(0:k, 0:k) D y = A(0:k, k), along the paths from the entries of column k of the upper
// triangle up the elimination tree to k.
std::optional<Index> SparseCholesky::factorise(const std::vector<double>& lower_values) {
    const SparsePlan& plan = *plan_;
    const std::size_t n = pivots_.size();
    std::vector<double> upper(plan.upper_rows_.size());
    for (std::size_t e = 0; e < upper.size(); ++e) upper[at(plan.slot_of_[e])] = lower_values[e];

    std::vector<double> row(n, 0.0);
    std::vector<int> pattern(n);
    std::vector<int> path(n);
    std::vector<int> visited_by(n, -1);
    std::vector<std::int64_t> filled(plan.column_starts_.begin(), plan.column_starts_.end() - 1);
    for (std::size_t k = 0; k < n; ++k) {
        if (k % kRowsAtOnce == 0) interruption_point();
        std::size_t top = n;
        visited_by[k] = static_cast<int>(k);
        double diagonal = 0.0;
        for (int p = plan.upper_starts_[k]; p < plan.upper_starts_[k + 1]; ++p) {
            std::size_t i = at(plan.upper_rows_[at(p)]);
            const double value = upper[at(p)];
            if (i == k) {
                diagonal += value;
                continue;
            }
            row[i] += value;
            std::size_t length = 0;
            while (visited_by[i] != static_cast<int>(k)) {
                path[length++] = static_cast<int>(i);
                visited_by[i] = static_cast<int>(k);
                i = at(plan.parent_[i]);
            }
            while (length > 0) pattern[--top] = path[--length];
        }
        double pivot = diagonal;
        for (; top < n; ++top) {
            const std::size_t i = at(pattern[top]);
            const double y = row[i];
            row[i] = 0.0;
            const std::size_t end = at(filled[i]);
            for (std::size_t p = at(plan.column_starts_[i]); p < end; ++p) row[at(rows_[p])] -= values_[p] * y;
            const double entry = y / pivots_[i];
            pivot -= entry * y;
            rows_[end] = static_cast<int>(k);
            values_[end] = entry;
            ++filled[i];
        }
        if (!is_safely_positive(pivot, diagonal)) return plan.original_of_[k];
        pivots_[k] = pivot;
    }
    return std::nullopt;
}

Vector SparseCholesky::permuted(const VectorView& x) const {
    return x(plan_->original_of_);
}

Vector SparseCholesky::unpermuted(const Vector& x) const {
    return x(plan_->permuted_of_);
}

void SparseCholesky::solve_lower(Vector& x) const {
    const std::vector<std::int64_t>& starts = plan_->column_starts_;
    for (std::size_t j = 0; j < pivots_.size(); ++j) {
        const double xj = x[static_cast<Index>(j)];
        for (std::size_t p = at(starts[j]); p < at(starts[j + 1]); ++p) x[rows_[p]] -= values_[p] * xj;
    }
}

void SparseCholesky::solve_lower_transposed(Vector& x) const {
    const std::vector<std::int64_t>& starts = plan_->column_starts_;
    for (std::size_t j = pivots_.size(); j-- > 0;) {
        double xj = x[static_cast<Index>(j)];
        for (std::size_t p = at(starts[j]); p < at(starts[j + 1]); ++p) xj -= values_[p] * x[rows_[p]];
        x[static_cast<Index>(j)] = xj;
    }
}

Matrix SparseCholesky::solve(const Matrix& right_hand_sides) const {
    const Eigen::Map<const Vector> pivots(pivots_.data(), plan_->size());
    Matrix result(right_hand_sides.rows(), right_hand_sides.cols());
    for (Index c = 0; c < result.cols(); ++c) {
        Vector x = permuted(right_hand_sides.col(c));
        solve_lower(x);
        x.array() /= pivots.array();
        solve_lower_transposed(x);
        result.col(c) = unpermuted(x);
    }
    return result;
}

// R = √D Lᵀ P, in A's order of rows too.
Matrix SparseCholesky::root_times(const Matrix& x) const {
    const std::vector<std::int64_t>& starts = plan_->column_starts_;
    Matrix result(x.rows(), x.cols());
    for (Index c = 0; c < result.cols(); ++c) {
        Vector y = permuted(x.col(c));
        for (std::size_t j = 0; j < pivots_.size(); ++j) {
            double yj = y[static_cast<Index>(j)];
            for (std::size_t p = at(starts[j]); p < at(starts[j + 1]); ++p) yj += values_[p] * y[rows_[p]];
            y[static_cast<Index>(j)] = yj * std::sqrt(pivots_[j]);
        }
        result.col(c) = unpermuted(y);
    }
    return result;
}

Matrix SparseCholesky::root_solve(const Matrix& z) const {
    const Eigen::Map<const Vector> pivots(pivots_.data(), plan_->size());
    Matrix result(z.rows(), z.cols());
    for (Index c = 0; c < result.cols(); ++c) {
        Vector x = permuted(z.col(c));
        x.array() /= pivots.array().sqrt();
        solve_lower_transposed(x);
        result.col(c) = unpermuted(x);
    }
    return result;
}

Matrix SparseCholesky::root_transposed_solve(const Matrix& g) const {
    const Eigen::Map<const Vector> pivots(pivots_.data(), plan_->size());
    Matrix result(g.rows(), g.cols());
    for (Index c = 0; c < result.cols(); ++c) {
        Vector x = permuted(g.col(c));
        solve_lower(x);
        x.array() /= pivots.array().sqrt();
        result.col(c) = unpermuted(x);
    }
    return result;
}

double SparseCholesky::smallest_pivot() const {
    return pivots_.empty() ? 1.0 : *std::min_element(pivots_.begin(), pivots_.end());
}

std::unique_ptr<SelectedInverse> SparseCholesky::selected_inverse() const {
    return std::make_unique<SparseSelectedInverse>(*this);
}

}  // namespace lrvb::detail
