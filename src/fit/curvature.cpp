#include "fit/curvature.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>

namespace lrvb::detail {

CurvatureStructure::CurvatureStructure(const Layout& layout, const std::vector<bool>& clamped,
                                       const SparseMatrix& hessian_pattern)
    : clamped_(clamped),
      hessian_starts_(hessian_pattern.outerIndexPtr(),
                      hessian_pattern.outerIndexPtr() + hessian_pattern.outerSize() + 1),
      hessian_rows_(hessian_pattern.innerIndexPtr(), hessian_pattern.innerIndexPtr() + hessian_pattern.nonZeros()),
      active_(static_cast<std::size_t>(layout.variable_count()), 0) {
    collect_blocks(layout, hessian_pattern);
    lay_out(layout);
    plan_ = plan_cholesky(pattern_);
}

bool CurvatureStructure::describes(const SparseMatrix& hessian) const {
    return hessian.nonZeros() == static_cast<Index>(hessian_rows_.size()) &&
           std::equal(hessian_starts_.begin(), hessian_starts_.end(), hessian.outerIndexPtr()) &&
           std::equal(hessian_rows_.begin(), hessian_rows_.end(), hessian.innerIndexPtr());
}

void CurvatureStructure::collect_blocks(const Layout& layout, const SparseMatrix& hessian_pattern) {
    std::vector<Index> variable_of(static_cast<std::size_t>(layout.size()));
    for (Index j = 0; j < layout.variable_count(); ++j) {
        for (Index s = 0; s < layout[j].size; ++s) variable_of[static_cast<std::size_t>(layout[j].offset + s)] = j;
    }
    // A column variable's entries, one heap for each row variable: the heaps are the blocks.
    std::vector<std::vector<HessianEntry>> heaps(static_cast<std::size_t>(layout.variable_count()));
    std::vector<Index> rows;
    entries_.reserve(static_cast<std::size_t>(hessian_pattern.nonZeros()));
    int value = 0;
    for (Index k = 0; k < layout.variable_count(); ++k) {
        rows.clear();
        for (Index s = 0; s < layout[k].size; ++s) {
            for (SparseMatrix::InnerIterator entry(hessian_pattern, layout[k].offset + s); entry; ++entry, ++value) {
                const Index j = variable_of[static_cast<std::size_t>(entry.row())];
                if (clamped_[static_cast<std::size_t>(j)] || clamped_[static_cast<std::size_t>(k)]) continue;
                std::vector<HessianEntry>& heap = heaps[static_cast<std::size_t>(j)];
                if (heap.empty()) rows.push_back(j);
                heap.push_back({value, static_cast<int>(entry.row() - layout[j].offset), static_cast<int>(s)});
            }
        }
        std::sort(rows.begin(), rows.end());
        for (const Index j : rows) {
            std::vector<HessianEntry>& heap = heaps[static_cast<std::size_t>(j)];
            blocks_.push_back({j, k, entries_.size(), entries_.size() + heap.size(), 0});
            for (const HessianEntry& entry : heap) {
                Index& row_active = active_[static_cast<std::size_t>(j)];
                Index& column_active = active_[static_cast<std::size_t>(k)];
                row_active = std::max<Index>(row_active, entry.row + 1);
                column_active = std::max<Index>(column_active, entry.column + 1);
            }
            entries_.insert(entries_.end(), heap.begin(), heap.end());
            heap.clear();
        }
    }
    for (Index j = 0; j < layout.variable_count(); ++j) {
        const Index rank = std::visit([](const auto& family) { return family.rank(); }, layout[j].family);
        active_[static_cast<std::size_t>(j)] = std::min(active_[static_cast<std::size_t>(j)], rank);
    }
}

// Column by column: the diagonal block from the diagonal down, then the blocks below it in order of their variables.
void CurvatureStructure::lay_out(const Layout& layout) {
    const auto variables = static_cast<std::size_t>(layout.variable_count());
    active_offset_.assign(variables + 1, 0);
    std::partial_sum(active_.begin(), active_.end(), active_offset_.begin() + 1);
    std::vector<Index> rows_below(variables, 0);
    for (Block& block : blocks_) {
        if (block.row_variable == block.column_variable) continue;
        Index& below = rows_below[static_cast<std::size_t>(block.column_variable)];
        block.row_shift = below;
        below += active_[static_cast<std::size_t>(block.row_variable)];
    }
    const Index size = active_offset_.back();
    pattern_.resize(size, size);
    Index entries = 0;
    for (std::size_t k = 0; k < variables; ++k)
        entries += active_[k] * rows_below[k] + active_[k] * (active_[k] + 1) / 2;
    if (entries > std::numeric_limits<int>::max()) {
        throw FactorTooLarge(
            fmt::format("the curvature, of {} coordinates, would have {} entries, but can have no more than {}: use "
                        "fewer crossed factors, or a smaller model",
                        size, entries, std::numeric_limits<int>::max()));
    }
    pattern_.resizeNonZeros(entries);

    int* starts = pattern_.outerIndexPtr();
    int* rows = pattern_.innerIndexPtr();
    int filled = 0;
    std::size_t next_block = 0;
    for (std::size_t k = 0; k < variables; ++k) {
        std::size_t end_block = next_block;
        while (end_block < blocks_.size() && blocks_[end_block].column_variable == static_cast<Index>(k)) ++end_block;
        for (Index b = 0; b < active_[k]; ++b) {
            starts[active_offset_[k] + b] = filled;
            for (Index a = b; a < active_[k]; ++a) rows[filled++] = static_cast<int>(active_offset_[k] + a);
            for (std::size_t i = next_block; i < end_block; ++i) {
                const auto j = static_cast<std::size_t>(blocks_[i].row_variable);
                if (j == k) continue;
                for (Index a = 0; a < active_[j]; ++a) rows[filled++] = static_cast<int>(active_offset_[j] + a);
            }
        }
        next_block = end_block;
    }
    starts[size] = filled;
    std::fill(pattern_.valuePtr(), pattern_.valuePtr() + filled, 0.0);
}

Curvature::Curvature(std::shared_ptr<const CurvatureStructure> structure, const Layout& layout, const Vector& natural,
                     const SparseMatrix& hessian, double shift)
    : structure_(std::move(structure)), size_(layout.size()), shift_(shift), factorisation_(structure_->plan_()) {
    factors_.reserve(static_cast<std::size_t>(layout.variable_count()));
    for (Index j = 0; j < layout.variable_count(); ++j) {
        offsets_.push_back(layout[j].offset);
        if (structure_->clamped_[static_cast<std::size_t>(j)]) {
            factors_.emplace_back(layout[j].size, 0);
            continue;
        }
        factors_.push_back(
            std::visit([&](const auto& family) { return family.covariance_factor(layout.segment(natural, j)); },
                       layout[j].family));
    }
    const std::vector<double> values = assemble(hessian);
    const std::optional<Index> failed = factorisation_->factorise(values);
    if (failed) {
        const std::vector<Index>& offsets = structure_->active_offset_;
        failed_variable_ = std::upper_bound(offsets.begin(), offsets.end(), *failed) - offsets.begin() - 1;
    }
}

std::vector<double> Curvature::assemble(const SparseMatrix& hessian) const {
    const CurvatureStructure& structure = *structure_;
    const int* starts = structure.pattern_.outerIndexPtr();
    std::vector<double> values(static_cast<std::size_t>(structure.pattern_.nonZeros()), 0.0);
    for (Index c = 0; c < structure.pattern_.cols(); ++c) values[static_cast<std::size_t>(starts[c])] = 1.0 + shift_;

    Matrix block_hessian;
    Matrix whitened;
    for (const CurvatureStructure::Block& block : structure.blocks_) {
        const auto j = static_cast<std::size_t>(block.row_variable);
        const auto k = static_cast<std::size_t>(block.column_variable);
        block_hessian.setZero(factors_[j].rows(), factors_[k].rows());
        for (std::size_t e = block.first_entry; e < block.end_entry; ++e) {
            const CurvatureStructure::HessianEntry& entry = structure.entries_[e];
            block_hessian(entry.row, entry.column) = hessian.valuePtr()[entry.value];
        }
        const Index rows = structure.active_[j];
        const Index columns = structure.active_[k];
        if (j == k) {
            block_hessian = Matrix(block_hessian.selfadjointView<Eigen::Lower>());
        }
        whitened.noalias() = factors_[j].leftCols(rows).transpose() * block_hessian * factors_[k].leftCols(columns);
        for (Index b = 0; b < columns; ++b) {
            const Index start = starts[structure.active_offset_[k] + b];
            if (j == k) {
                for (Index a = b; a < rows; ++a) values[static_cast<std::size_t>(start + a - b)] -= whitened(a, b);
            } else {
                const Index shifted = start + (columns - b) + block.row_shift;
                for (Index a = 0; a < rows; ++a) values[static_cast<std::size_t>(shifted + a)] -= whitened(a, b);
            }
        }
    }
    return values;
}

// Lᵀ times stacked vectors, split: the active coordinates in `active`; and what the others give back, L_rest L_restᵀ
// times it.
template <class Stacked>
Stacked Curvature::whiten(const Stacked& stacked, Stacked& active) const {
    const CurvatureStructure& structure = *structure_;
    Stacked rest = Stacked::Zero(size_, stacked.cols());
    active.resize(structure.active_offset_.back(), stacked.cols());
    for (std::size_t j = 0; j < factors_.size(); ++j) {
        const Matrix& factor = factors_[j];
        const Index split = structure.active_[j];
        const Stacked whitened = factor.transpose() * stacked.middleRows(offsets_[j], factor.rows());
        active.middleRows(structure.active_offset_[j], split) = whitened.topRows(split);
        rest.middleRows(offsets_[j], factor.rows()) =
            factor.rightCols(factor.cols() - split) * whitened.bottomRows(factor.cols() - split);
    }
    return rest;
}

template <class Stacked>
Stacked Curvature::response_to(const Stacked& gradients) const {
    Stacked active;
    Stacked response = whiten(gradients, active) / (1.0 + shift_);
    const Matrix solved = factorisation_->solve(active);
    for (std::size_t j = 0; j < factors_.size(); ++j) {
        const Index split = structure_->active_[j];
        response.middleRows(offsets_[j], factors_[j].rows()) +=
            factors_[j].leftCols(split) * solved.middleRows(structure_->active_offset_[j], split);
    }
    return response;
}

template Vector Curvature::response_to(const Vector&) const;
template Matrix Curvature::response_to(const Matrix&) const;

double Curvature::largest_whitened(const Vector& gradient) const {
    double largest = 0.0;
    for (std::size_t j = 0; j < factors_.size(); ++j) {
        const Vector whitened = factors_[j].transpose() * own(gradient, j);
        largest = std::max(largest, whitened.norm());
    }
    return largest;
}

double Curvature::largest_whitened_bound(const Vector& magnitude) const {
    double largest = 0.0;
    for (std::size_t j = 0; j < factors_.size(); ++j) {
        const Vector whitened = factors_[j].cwiseAbs().transpose() * own(magnitude, j);
        largest = std::max(largest, whitened.norm());
    }
    return largest;
}

Vector Curvature::mean_field(const Vector& combination) const {
    Vector covariance(size_);
    for (std::size_t j = 0; j < factors_.size(); ++j) {
        const Vector whitened = factors_[j].transpose() * own(combination, j);
        own(covariance, j) = factors_[j] * whitened;
    }
    return covariance;
}

double Curvature::mean_field_variance(const SparseMatrix& weights, Index column) const {
    double sum = 0.0;
    SparseMatrix::InnerIterator entry(weights, column);
    while (entry) {
        const auto j = static_cast<std::size_t>(variable_of(entry.row()));
        const Index end = offsets_[j] + factors_[j].rows();
        Vector whitened = Vector::Zero(factors_[j].cols());
        for (; entry && entry.row() < end; ++entry) {
            whitened += entry.value() * factors_[j].row(entry.row() - offsets_[j]).transpose();
        }
        sum += whitened.squaredNorm();
    }
    return sum;
}

Vector Curvature::mean_field_sds() const {
    Vector sds(size_);
    for (std::size_t j = 0; j < factors_.size(); ++j) own(sds, j) = factors_[j].rowwise().norm();
    return sds;
}

Index Curvature::variable_of(Index statistic) const {
    return std::upper_bound(offsets_.begin(), offsets_.end(), statistic) - offsets_.begin() - 1;
}

Vector Curvature::unwhitened(const Vector& active) const {
    Vector stacked(size_);
    for (std::size_t j = 0; j < factors_.size(); ++j) {
        const Index split = structure_->active_[j];
        own(stacked, j) = factors_[j].leftCols(split) * active.segment(structure_->active_offset_[j], split);
    }
    return stacked;
}

Eigenpair Curvature::flattest() const {
    const Index size = structure_->active_offset_.back();
    Eigenpair flattest{std::numeric_limits<double>::infinity(), Vector::Zero(size_)};
    if (size > 0) {
        const Eigenpair inverse =
            largest_eigenpair(size, [&](const Vector& x) { return Vector(factorisation_->solve(x)); });
        flattest = {1.0 / inverse.value, unwhitened(inverse.vector)};
    }
    // On the coordinates that are not active, it is the identity.
    for (std::size_t j = 0; j < factors_.size() && flattest.value > 1.0; ++j) {
        if (factors_[j].cols() == structure_->active_[j]) continue;
        flattest = {1.0, Vector::Zero(size_)};
        own(flattest.vector, j) = factors_[j].col(structure_->active_[j]);
    }
    return flattest;
}

std::vector<Matrix> Curvature::marginal_blocks() const {
    const std::unique_ptr<SelectedInverse> inverse = factorisation_->selected_inverse();
    std::vector<Matrix> blocks;
    blocks.reserve(factors_.size());
    Matrix selected;
    for (std::size_t j = 0; j < factors_.size(); ++j) {
        const Matrix& factor = factors_[j];
        const Index split = structure_->active_[j];
        const Index offset = structure_->active_offset_[j];
        selected.resize(split, split);
        for (Index a = 0; a < split; ++a) {
            for (Index b = 0; b <= a; ++b) selected(a, b) = selected(b, a) = (*inverse)(offset + a, offset + b);
        }
        Matrix block = factor.leftCols(split) * selected * factor.leftCols(split).transpose();
        const Index others = factor.cols() - split;
        block.noalias() += factor.rightCols(others) * factor.rightCols(others).transpose();
        blocks.push_back(std::move(block));
    }
    return blocks;
}

}  // namespace lrvb::detail
