#include "linalg/sparse_ldl.hpp"

#include "linalg/dense_cholesky.hpp"

#include <Eigen/OrderingMethods>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

namespace lrvb::detail {

namespace {

constexpr Index kDenseFrom = 64;
constexpr double kDenseSpeed = 8.0;  // of dense arithmetic over sparse

// A pivot that rounding alone could have made positive is no evidence of a maximum.
double pivot_noise(double diagonal) {
    return 16.0 * std::numeric_limits<double>::epsilon() * std::max(1.0, std::abs(diagonal));
}

}  // namespace

SymbolicLdl::SymbolicLdl(const SparseMatrix& lower_pattern) {
    find_parts(lower_pattern);
    if (parts_are_nearly_full(lower_pattern)) {
        make_dense(lower_pattern);
        return;
    }
    order(lower_pattern);
    permute(lower_pattern);
    eliminate();
    if (factor_fills_up()) make_dense(lower_pattern);
}

// Connected components of the pattern's graph, by a search from each position that has not been reached.
void SymbolicLdl::find_parts(const SparseMatrix& lower_pattern) {
    const auto n = static_cast<std::size_t>(lower_pattern.rows());
    const SparseMatrix upper_pattern = lower_pattern.transpose();
    part_of_.assign(n, -1);
    place_of_.assign(n, 0);
    std::vector<int> waiting;
    for (std::size_t first = 0; first < n; ++first) {
        if (part_of_[first] >= 0) continue;
        const int part = static_cast<int>(parts_.size());
        parts_.emplace_back();
        const auto reach = [&](int position) {
            int& of = part_of_[static_cast<std::size_t>(position)];
            if (of >= 0) return;
            of = part;
            waiting.push_back(position);
        };
        reach(static_cast<int>(first));
        while (!waiting.empty()) {
            const int position = waiting.back();
            waiting.pop_back();
            for (SparseMatrix::InnerIterator entry(lower_pattern, position); entry; ++entry) {
                reach(static_cast<int>(entry.row()));
            }
            for (SparseMatrix::InnerIterator entry(upper_pattern, position); entry; ++entry) {
                reach(static_cast<int>(entry.row()));
            }
        }
    }
    for (std::size_t i = 0; i < n; ++i) {
        Part& part = parts_[static_cast<std::size_t>(part_of_[i])];
        place_of_[i] = static_cast<int>(part.size());
        part.push_back(static_cast<int>(i));
    }
}

bool SymbolicLdl::parts_are_nearly_full(const SparseMatrix& lower_pattern) const {
    Index possible = 0;
    for (const Part& part : parts_) possible += static_cast<Index>(part.size() * (part.size() + 1) / 2);
    const bool are_few = lower_pattern.rows() >= kDenseFrom * static_cast<Index>(parts_.size());
    return lower_pattern.rows() > 0 && are_few && 2 * lower_pattern.nonZeros() >= possible;
}

bool SymbolicLdl::factor_fills_up() const {
    if (size() < kDenseFrom * static_cast<Index>(parts_.size())) return false;
    double dense_work = 0.0;
    for (const Part& part : parts_) dense_work += std::pow(static_cast<double>(part.size()), 3.0) / 3.0;
    double work = 0.0;
    for (std::size_t i = 0; i + 1 < column_starts_.size(); ++i) {
        work += std::pow(static_cast<double>(column_starts_[i + 1] - column_starts_[i]), 2.0);
    }
    return kDenseSpeed * work > dense_work;
}

void SymbolicLdl::make_dense(const SparseMatrix& lower_pattern) {
    is_dense_ = true;
    original_of_.resize(static_cast<std::size_t>(lower_pattern.rows()));
    std::iota(original_of_.begin(), original_of_.end(), 0);
    permuted_of_ = original_of_;
    for (int column = 0; column < lower_pattern.outerSize(); ++column) {
        for (SparseMatrix::InnerIterator entry(lower_pattern, column); entry; ++entry) {
            dense_rows_.push_back(static_cast<int>(entry.row()));
            dense_columns_.push_back(column);
        }
    }
    column_starts_.assign(original_of_.size() + 1, 0);
}

void SymbolicLdl::order(const SparseMatrix& lower_pattern) {
    const int n = static_cast<int>(lower_pattern.rows());
    Eigen::PermutationMatrix<Eigen::Dynamic, Eigen::Dynamic, int> ordering;
    if (n > 0) {
        Eigen::AMDOrdering<int> amd;
        amd(lower_pattern.selfadjointView<Eigen::Lower>(), ordering);
    }
    original_of_.resize(static_cast<std::size_t>(n));
    permuted_of_.resize(static_cast<std::size_t>(n));
    for (int i = 0; i < n; ++i) {
        const int original = ordering.indices()[i];
        original_of_[static_cast<std::size_t>(i)] = original;
        permuted_of_[static_cast<std::size_t>(original)] = i;
    }
}

void SymbolicLdl::permute(const SparseMatrix& lower_pattern) {
    const std::size_t n = original_of_.size();
    const std::size_t entries = static_cast<std::size_t>(lower_pattern.nonZeros());
    std::vector<std::pair<int, int>> places;  // (row, column) in the permuted upper triangle
    places.reserve(entries);
    for (int column = 0; column < lower_pattern.outerSize(); ++column) {
        for (SparseMatrix::InnerIterator entry(lower_pattern, column); entry; ++entry) {
            const int a = permuted_of_[static_cast<std::size_t>(entry.row())];
            const int b = permuted_of_[static_cast<std::size_t>(column)];
            places.emplace_back(std::min(a, b), std::max(a, b));
        }
    }
    upper_starts_.assign(n + 1, 0);
    for (const auto& [row, column] : places) ++upper_starts_[static_cast<std::size_t>(column) + 1];
    for (std::size_t i = 1; i <= n; ++i) upper_starts_[i] += upper_starts_[i - 1];
    upper_rows_.resize(entries);
    slot_of_.resize(entries);
    std::vector<int> next(upper_starts_.begin(), upper_starts_.end() - 1);
    for (std::size_t e = 0; e < entries; ++e) {
        const int slot = next[static_cast<std::size_t>(places[e].second)]++;
        upper_rows_[static_cast<std::size_t>(slot)] = places[e].first;
        slot_of_[e] = slot;
    }
}

// Row k of L has the nodes on the paths from the entries of column k of the upper triangle up the elimination tree to
// k.
void SymbolicLdl::eliminate() {
    const std::size_t n = original_of_.size();
    parent_.assign(n, -1);
    std::vector<int> visited_by(n, -1);
    std::vector<int> counts(n, 0);
    for (std::size_t k = 0; k < n; ++k) {
        visited_by[k] = static_cast<int>(k);
        for (int p = upper_starts_[k]; p < upper_starts_[k + 1]; ++p) {
            auto i = static_cast<std::size_t>(upper_rows_[static_cast<std::size_t>(p)]);
            while (visited_by[i] != static_cast<int>(k)) {
                if (parent_[i] == -1) parent_[i] = static_cast<int>(k);
                ++counts[i];
                visited_by[i] = static_cast<int>(k);
                i = static_cast<std::size_t>(parent_[i]);
            }
        }
    }
    column_starts_.assign(n + 1, 0);
    for (std::size_t i = 0; i < n; ++i) column_starts_[i + 1] = column_starts_[i] + counts[i];
}

SparseLdl::SparseLdl(std::shared_ptr<const SymbolicLdl> symbolic)
    : symbolic_(std::move(symbolic)),
      rows_(static_cast<std::size_t>(symbolic_->fill())),
      values_(static_cast<std::size_t>(symbolic_->fill())),
      pivots_(static_cast<std::size_t>(symbolic_->size())) {}

// Up-looking: row k of L solves L(0:k, 0:k) D y = A(0:k, k), along the pattern that the elimination tree gives.
std::optional<Index> SparseLdl::factorise(const double* lower_values) {
    const SymbolicLdl& symbolic = *symbolic_;
    if (symbolic.is_dense_) return factorise_dense(lower_values);
    const std::size_t n = pivots_.size();
    std::vector<double> upper(symbolic.upper_rows_.size());
    for (std::size_t e = 0; e < upper.size(); ++e) {
        upper[static_cast<std::size_t>(symbolic.slot_of_[e])] = lower_values[e];
    }

    std::vector<double> row(n, 0.0);
    std::vector<int> pattern(n);
    std::vector<int> path(n);
    std::vector<int> visited_by(n, -1);
    std::vector<int> filled(symbolic.column_starts_.begin(), symbolic.column_starts_.end() - 1);
    for (std::size_t k = 0; k < n; ++k) {
        std::size_t top = n;
        visited_by[k] = static_cast<int>(k);
        double diagonal = 0.0;
        for (int p = symbolic.upper_starts_[k]; p < symbolic.upper_starts_[k + 1]; ++p) {
            auto i = static_cast<std::size_t>(symbolic.upper_rows_[static_cast<std::size_t>(p)]);
            const double value = upper[static_cast<std::size_t>(p)];
            if (i == k) {
                diagonal += value;
                continue;
            }
            row[i] += value;
            std::size_t length = 0;
            while (visited_by[i] != static_cast<int>(k)) {
                path[length++] = static_cast<int>(i);
                visited_by[i] = static_cast<int>(k);
                i = static_cast<std::size_t>(symbolic.parent_[i]);
            }
            while (length > 0) pattern[--top] = path[--length];
        }
        double pivot = diagonal;
        for (; top < n; ++top) {
            const auto i = static_cast<std::size_t>(pattern[top]);
            const double y = row[i];
            row[i] = 0.0;
            const int end = filled[i];
            for (int p = symbolic.column_starts_[i]; p < end; ++p) {
                row[static_cast<std::size_t>(rows_[static_cast<std::size_t>(p)])] -=
                    values_[static_cast<std::size_t>(p)] * y;
            }
            const double entry = y / pivots_[i];
            pivot -= entry * y;
            rows_[static_cast<std::size_t>(end)] = static_cast<int>(k);
            values_[static_cast<std::size_t>(end)] = entry;
            ++filled[i];
        }
        if (!(pivot > pivot_noise(diagonal)) || !std::isfinite(pivot)) return symbolic.original_of_[k];
        pivots_[k] = pivot;
    }
    return std::nullopt;
}

std::optional<Index> SparseLdl::factorise_dense(const double* lower_values) {
    const SymbolicLdl& symbolic = *symbolic_;
    dense_.clear();
    for (const SymbolicLdl::Part& part : symbolic.parts_) {
        dense_.push_back(Matrix::Zero(static_cast<Index>(part.size()), static_cast<Index>(part.size())));
    }
    for (std::size_t e = 0; e < symbolic.dense_rows_.size(); ++e) {
        const auto [part, row] = symbolic.dense_place(symbolic.dense_rows_[e]);
        const int column = symbolic.dense_place(symbolic.dense_columns_[e]).second;
        dense_[static_cast<std::size_t>(part)](row, column) = lower_values[e];
    }
    for (std::size_t p = 0; p < dense_.size(); ++p) {
        const SymbolicLdl::Part& part = symbolic.parts_[p];
        Matrix& factor = dense_[p];
        const Vector diagonal = factor.diagonal();
        if (const std::optional<Index> failed = cholesky_in_place(factor)) {
            return part[static_cast<std::size_t>(*failed)];
        }
        for (Index i = 0; i < factor.rows(); ++i) {
            const double pivot = factor(i, i) * factor(i, i);
            const int position = part[static_cast<std::size_t>(i)];
            if (!(pivot > pivot_noise(diagonal[i])) || !std::isfinite(pivot)) return position;
            pivots_[static_cast<std::size_t>(position)] = pivot;
        }
    }
    return std::nullopt;
}

Vector SparseLdl::solve(const Vector& right_hand_side) const {
    if (symbolic_->is_dense_) {
        Vector result(right_hand_side.size());
        for (std::size_t p = 0; p < dense_.size(); ++p) {
            const SymbolicLdl::Part& part = symbolic_->parts_[p];
            Vector own = right_hand_side(part);
            dense_[p].triangularView<Eigen::Lower>().solveInPlace(own);
            dense_[p].triangularView<Eigen::Lower>().transpose().solveInPlace(own);
            result(part) = own;
        }
        return result;
    }
    const std::size_t n = pivots_.size();
    const std::vector<int>& starts = symbolic_->column_starts_;
    Vector x(static_cast<Index>(n));
    for (std::size_t i = 0; i < n; ++i) x[static_cast<Index>(i)] = right_hand_side[symbolic_->original_of_[i]];
    for (std::size_t j = 0; j < n; ++j) {
        const double xj = x[static_cast<Index>(j)];
        for (int p = starts[j]; p < starts[j + 1]; ++p) {
            x[rows_[static_cast<std::size_t>(p)]] -= values_[static_cast<std::size_t>(p)] * xj;
        }
    }
    for (std::size_t j = n; j-- > 0;) {
        double xj = x[static_cast<Index>(j)] / pivots_[j];
        for (int p = starts[j]; p < starts[j + 1]; ++p) {
            xj -= values_[static_cast<std::size_t>(p)] * x[rows_[static_cast<std::size_t>(p)]];
        }
        x[static_cast<Index>(j)] = xj;
    }
    Vector result(static_cast<Index>(n));
    for (std::size_t i = 0; i < n; ++i) result[symbolic_->original_of_[i]] = x[static_cast<Index>(i)];
    return result;
}

double SparseLdl::smallest_pivot() const {
    return pivots_.empty() ? 1.0 : *std::min_element(pivots_.begin(), pivots_.end());
}

}  // namespace lrvb::detail
