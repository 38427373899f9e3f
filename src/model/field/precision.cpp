#include "model/field/precision.hpp"

#include "linalg/lapack.hpp"
#include "model/field/precision_rest.hpp"
#include "model/field/small_blocks.hpp"

#include <lrvb/base/interruption.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

namespace lrvb::detail {

namespace {

constexpr Index kLevelsAtOnce = 1024;  // between points of interruption

constexpr std::size_t at(std::int64_t i) {
    return static_cast<std::size_t>(i);
}

}  // namespace

bool PrecisionFactor::factorise(const FieldBlocks& blocks, double scale, const Vector& fixed_precision,
                                const std::vector<Matrix>& precisions) {
    const PrecisionPlan& plan = *plan_;
    const FieldShape& shape = plan.shape();
    const Index p = shape.fixed;
    const Index q = plan.leading_effects();
    const Index levels = plan.leading_levels();
    const std::vector<bool> is_combined = blocks.is_fold ? plan.combined_ : std::vector<bool>(at(p), false);
    std::vector<double> values(at(plan.dense_ ? 0 : plan.rest_entries_), 0.0);
    if (plan.dense_) dense_.setZero(plan.rest_, plan.rest_);

    std::size_t entry = 0;
    Vector diagonal = Vector::Zero(plan.rest_);  // without regard to signs
    const auto add = [&](Index row, Index column, double value) {
        if (row == column) diagonal[row] += std::abs(value);
        if (plan.dense_) {
            dense_(std::max(row, column), std::min(row, column)) += value;
        } else {
            values[at(plan.rest_slots_[entry++])] += value;
        }
    };
    plan.visit_rest([&](Index row, Index column, int kind, std::size_t which, Index place) {
        double value = 0.0;
        if (kind == 0) {
            const Index own = shape.factors[which].effects;
            value = scale * blocks.diagonal[which][at(place)] + precisions[which](place / own % own, place % own);
        } else if (kind == 1) {
            // The leading levels have it, where it is a combination.
            value = is_combined[at(place % p)] ? 0.0 : scale * blocks.border[which][at(place)];
        } else if (kind == 2) {
            value = scale * blocks.cross[which][at(place)];
        } else {
            const bool combined = is_combined[at(place / p)] || is_combined[at(place % p)];
            value = combined ? 0.0 : scale * blocks.fixed[at(place)];
            if (row == column) value += fixed_precision[place / p];
        }
        add(row, column, value);
    });

    log_determinant_ = 0.0;
    log_determinant_magnitude_ = 0.0;
    lower_.resize(at(levels * q * q));
    beside_.resize(levels > 0 ? plan.place(levels) : 0);
    std::vector<int> positions;
    using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
    const Index combined = blocks.is_fold ? plan.combinations_.cols() : 0;
    RowMajor prior_combined;  // ΛK
    if (combined > 0) prior_combined = precisions[at(plan.leading_)] * plan.combinations_;
    RowMajor pull;
    left_.resize(at(levels * q * combined));
    std::vector<Index> which_combined(at(p), -1);
    for (Index j = 0, next = 0; j < p; ++j) {
        if (is_combined[at(j)]) which_combined[at(j)] = next++;
    }
    double product = 1.0;
    for (Index i = 0; i < levels; ++i) {
        if (i % kLevelsAtOnce == 0) interruption_point();
        double* lower = lower_.data() + i * q * q;
        const double* own = blocks.diagonal[at(plan.leading_)].data() + i * q * q;
        const Matrix& precision = precisions[at(plan.leading_)];
        for (Index a = 0; a < q; ++a) {
            for (Index b = 0; b < q; ++b) lower[a * q + b] = scale * own[a * q + b] + precision(a, b);
        }
        if (!small_cholesky(lower, q)) return false;
        for (Index a = 0; a < q; ++a) product *= lower[a * q + a];
        if (!(product > 1e-200 && product < 1e200) || i + 1 == levels) {
            log_determinant_ += 2.0 * std::log(product);
            product = 1.0;
        }

        const Index count = plan.neighbour_count(i);
        const Index others = count - p;
        double* w = beside_.data() + plan.place(i);
        Index column = 0;
        for (std::int64_t s = plan.source_starts_[at(i)]; s < plan.source_starts_[at(i) + 1]; ++s) {
            const PrecisionPlan::Source& source = plan.sources_[at(s)];
            const double* cross = blocks.cross[at(source.pair)].data() + Index{source.meeting} * q * source.effects;
            for (Index a = 0; a < q; ++a) {
                for (Index b = 0; b < source.effects; ++b) {
                    w[a * count + column + b] =
                        scale * (source.transposed ? cross[b * q + a] : cross[a * source.effects + b]);
                }
            }
            column += source.effects;
        }
        const double* border = blocks.border[at(plan.leading_)].data() + i * q * p;
        for (Index a = 0; a < q; ++a) {
            for (Index j = 0; j < p; ++j) w[a * count + others + j] = scale * border[a * p + j];
        }
        small_forward(lower, q, w, count);  // L⁻¹B, whose square is what the Schur complement loses
        if (combined > 0) {
            pull = prior_combined;
            small_forward(lower, q, pull.data(), combined);
        }
        if (others > 0 || i == 0) plan.neighbours(i, positions);
        // Between other factors, a dense complement is filled column by column.
        for (Index a = plan.dense_ ? others : 0; a < count; ++a) {
            const Index own_pull = a >= others ? which_combined[at(a - others)] : -1;
            for (Index b = 0; b <= a; ++b) {
                const Index pulled = own_pull < 0 && b >= others ? which_combined[at(b - others)] : own_pull;
                double sum = 0.0;
                if (pulled < 0) {
                    for (Index k = 0; k < q; ++k) sum -= w[k * count + a] * w[k * count + b];
                } else {
                    const Index other = own_pull < 0 ? a : b;
                    for (Index k = 0; k < q; ++k) sum += pull(k, pulled) * w[k * count + other];
                }
                add(positions[at(a)], positions[at(b)], sum);
            }
        }
        if (combined > 0) std::copy(pull.data(), pull.data() + q * combined, left_.data() + i * q * combined);
    }
    if (plan.dense_) subtract_products(diagonal);
    for (Index i = 0; i < levels; ++i) {
        const double* lower = lower_.data() + i * q * q;
        small_backward(lower, q, beside_.data() + plan.place(i), plan.neighbour_count(i));
        if (combined > 0) small_backward(lower, q, left_.data() + i * q * combined, combined);
    }
    return factorise_rest(std::move(values), diagonal);
}

// Σ_i B_iᵀD_i⁻¹B_i between the other factors, from L⁻¹B_i: a column of the complement stays in the cache, and all that
// its levels have beside it is added to that.
void PrecisionFactor::subtract_products(Vector& diagonal) {
    const PrecisionPlan& plan = *plan_;
    const Index q = plan.leading_effects();
    for (Index c = 0; c < plan.rest_ - plan.shape().fixed; ++c) {
        interruption_point();
        double* column = dense_.data() + c * dense_.rows();
        for (std::int64_t e = plan.beside_starts_[at(c)]; e < plan.beside_starts_[at(c) + 1]; ++e) {
            const auto [level, first] = plan.besides_[at(e)];
            const Index count = plan.neighbour_count(level);
            const Index others = count - plan.shape().fixed;
            const int* positions = plan.neighbours_.data() + plan.starts_[at(level)];
            const double* w = beside_.data() + plan.place(level);
            for (Index b = first; b < others; ++b) {
                double sum = 0.0;
                for (Index k = 0; k < q; ++k) sum -= w[k * count + b] * w[k * count + first];
                column[positions[b]] += sum;
                if (b == first) diagonal[c] += std::abs(sum);
            }
        }
    }
}

bool PrecisionFactor::factorise_rest(std::vector<double>&& sparse_values, const Vector& diagonal) {
    if (!plan_->dense_) {
        sparse_ = std::make_unique<SparseCholesky>(plan_->rest_plan_);
        if (sparse_->factorise(sparse_values)) return false;
        for (const double pivot : sparse_->pivots()) log_determinant_ += std::log(pivot);
        for (Index i = 0; i < diagonal.size(); ++i) {
            log_determinant_magnitude_ += diagonal[i] / sparse_->pivots()[at(plan_->rest_plan_->permuted_of(i))];
        }
        return true;
    }
    if (cholesky_in_place(dense_)) return false;
    for (Index i = 0; i < dense_.rows(); ++i) {
        const double pivot = dense_(i, i) * dense_(i, i);
        if (!is_safely_positive(pivot / diagonal[i], 1.0)) return false;
        log_determinant_ += std::log(pivot);
        log_determinant_magnitude_ += diagonal[i] / pivot;
    }
    return true;
}

Vector PrecisionFactor::gathered_rest(const Vector& x) const {
    const FieldShape& shape = plan_->shape();
    Vector rest(plan_->rest_);
    for (std::size_t f = 0; f < shape.factors.size(); ++f) {
        if (static_cast<std::ptrdiff_t>(f) == plan_->leading_) continue;
        rest.segment(plan_->rest_offset_[f], shape.factors[f].size()) =
            x.segment(shape.factors[f].offset, shape.factors[f].size());
    }
    rest.tail(shape.fixed) = x.head(shape.fixed);
    return rest;
}

void PrecisionFactor::scatter(const Vector& rest, Eigen::Ref<Vector> x) const {
    const FieldShape& shape = plan_->shape();
    for (std::size_t f = 0; f < shape.factors.size(); ++f) {
        if (static_cast<std::ptrdiff_t>(f) == plan_->leading_) continue;
        x.segment(shape.factors[f].offset, shape.factors[f].size()) =
            rest.segment(plan_->rest_offset_[f], shape.factors[f].size());
    }
    x.head(shape.fixed) = rest.tail(shape.fixed);
}

Matrix PrecisionFactor::solve(const Matrix& right) const {
    const PrecisionPlan& plan = *plan_;
    const Index q = plan.leading_effects();
    const Index levels = plan.leading_levels();
    const Index offset = levels > 0 ? plan.shape().factors[at(plan.leading_)].offset : 0;
    Matrix result(right.rows(), right.cols());
    std::vector<int> positions;
    for (Index c = 0; c < right.cols(); ++c) {
        Vector x = right.col(c);
        Vector rest = gathered_rest(x);
        for (Index i = 0; i < levels; ++i) {
            const Index count = plan.neighbour_count(i);
            const double* w = beside_.data() + plan.place(i);
            if (positions.size() != at(count) || count > plan.shape().fixed) plan.neighbours(i, positions);
            for (Index a = 0; a < q; ++a) {
                const double own = x[offset + i * q + a];
                for (Index k = 0; k < count; ++k) rest[positions[at(k)]] -= w[a * count + k] * own;
            }
        }
        if (sparse_) {
            rest = sparse_->solve(rest);
        } else {
            dense_.triangularView<Eigen::Lower>().solveInPlace(rest);
            dense_.triangularView<Eigen::Lower>().transpose().solveInPlace(rest);
        }
        for (Index i = 0; i < levels; ++i) {
            const Index count = plan.neighbour_count(i);
            const double* w = beside_.data() + plan.place(i);
            const double* lower = lower_.data() + i * q * q;
            double* own = x.data() + offset + i * q;
            small_forward(lower, q, own, 1);
            small_backward(lower, q, own, 1);
            if (positions.size() != at(count) || count > plan.shape().fixed) plan.neighbours(i, positions);
            for (Index a = 0; a < q; ++a) {
                for (Index k = 0; k < count; ++k) own[a] -= w[a * count + k] * rest[positions[at(k)]];
            }
        }
        scatter(rest, x);
        result.col(c) = x;
    }
    return result;
}

Matrix PrecisionFactor::root_solve(const Matrix& z) const {
    const PrecisionPlan& plan = *plan_;
    const Index q = plan.leading_effects();
    const Index levels = plan.leading_levels();
    const Index offset = levels > 0 ? plan.shape().factors[at(plan.leading_)].offset : 0;
    Matrix result(z.rows(), z.cols());
    std::vector<int> positions;
    for (Index c = 0; c < z.cols(); ++c) {
        Vector x = z.col(c);
        Vector rest = gathered_rest(x);
        if (sparse_) {
            rest = sparse_->root_solve(rest);
        } else {
            dense_.triangularView<Eigen::Lower>().transpose().solveInPlace(rest);
        }
        for (Index i = 0; i < levels; ++i) {
            const Index count = plan.neighbour_count(i);
            const double* w = beside_.data() + plan.place(i);
            double* own = x.data() + offset + i * q;
            small_backward(lower_.data() + i * q * q, q, own, 1);
            if (positions.size() != at(count) || count > plan.shape().fixed) plan.neighbours(i, positions);
            for (Index a = 0; a < q; ++a) {
                for (Index k = 0; k < count; ++k) own[a] -= w[a * count + k] * rest[positions[at(k)]];
            }
        }
        scatter(rest, x);
        result.col(c) = x;
    }
    return result;
}

}  // namespace lrvb::detail
