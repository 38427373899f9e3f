#include "linalg/lapack.hpp"
#include "model/field/precision.hpp"
#include "model/field/row_design.hpp"
#include "model/field/small_blocks.hpp"

#include <lrvb/base/interruption.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace lrvb::detail {

namespace {

constexpr Index kFew = 16;
constexpr Index kLevelsAtOnce = 1024;  // between points of interruption

constexpr std::size_t at(std::int64_t i) {
    return static_cast<std::size_t>(i);
}

}  // namespace

// S_NN is of the rest; S_iN = −W_i S_NN and S_ii = D_i⁻¹ − S_iN W_iᵀ.
PrecisionInverse::PrecisionInverse(const PrecisionFactor& factor) : plan_(factor.plan_.get()), factor_(&factor) {
    if (factor.sparse_) {
        sparse_ = factor.sparse_->selected_inverse();
    } else {
        dense_ = factor.dense_;
        invert_from_cholesky_in_place(dense_);
    }
    const Index q = plan_->leading_effects();
    const Index levels = plan_->leading_levels();
    own_.resize(at(levels * q * q));
    beside_.assign(factor.beside_.size(), 0.0);
    fill_beside();
    for (Index i = 0; i < levels; ++i) {
        if (i % kLevelsAtOnce == 0) interruption_point();
        const Index count = plan_->neighbour_count(i);
        const double* w = factor.beside_.data() + plan_->place(i);
        const double* beside = beside_.data() + plan_->place(i);
        double* own = own_.data() + i * q * q;
        const double* lower = factor.lower_.data() + i * q * q;
        for (Index a = 0; a < q; ++a) {
            for (Index b = 0; b < q; ++b) own[a * q + b] = a == b ? 1.0 : 0.0;
        }
        small_forward(lower, q, own, q);
        small_backward(lower, q, own, q);
        for (Index a = 0; a < q; ++a) {
            for (Index b = 0; b < q; ++b) {
                double sum = 0.0;
                for (Index k = 0; k < count; ++k) sum += beside[a * count + k] * w[b * count + k];
                own[a * q + b] -= sum;
            }
        }
    }
    combinations_ = levels > 0 ? static_cast<Index>(factor.left_.size()) / (levels * q) : 0;
    int next = 0;
    for (Index j = 0; j < plan_->shape().fixed; ++j) {
        combination_.push_back(combinations_ > 0 && plan_->combined_[at(j)] ? next++ : -1);
    }
}

void PrecisionInverse::fill_beside() {
    const Index q = plan_->leading_effects();
    const Index levels = plan_->leading_levels();
    const Index p = plan_->shape().fixed;
    std::vector<int> positions;
    const auto add = [&](Index i, Index count, Index k, const int* neighbours, const double* column) {
        const double* w = factor_->beside_.data() + plan_->place(i);
        double* beside = beside_.data() + plan_->place(i);
        for (Index a = 0; a < q; ++a) {
            const double entry = -w[a * count + k];
            for (Index b = 0; b < count - p; ++b) beside[a * count + b] += entry * column[neighbours[b]];
            for (Index j = 0; j < p; ++j) beside[a * count + count - p + j] += entry * column[plan_->rest_ - p + j];
        }
    };
    if (!sparse_) {
        // Column by column, which stay in the cache, as PrecisionFactor fills them.
        for (Index c = 0; c < plan_->rest_; ++c) {
            interruption_point();
            const double* column = dense_.data() + c * dense_.rows();
            const bool is_fixed = c >= plan_->rest_ - p;
            const std::int64_t begin = is_fixed ? 0 : plan_->beside_starts_[at(c)];
            const std::int64_t end = is_fixed ? levels : plan_->beside_starts_[at(c) + 1];
            for (std::int64_t e = begin; e < end; ++e) {
                const Index i = is_fixed ? e : plan_->besides_[at(e)].level;
                const Index count = plan_->neighbour_count(i);
                const Index k = is_fixed ? count - plan_->rest_ + c : plan_->besides_[at(e)].column;
                add(i, count, k, plan_->neighbours_.data() + plan_->starts_[at(i)], column);
            }
        }
        return;
    }
    std::vector<double> square;
    for (Index i = 0; i < levels; ++i) {
        if (i % kLevelsAtOnce == 0) interruption_point();
        const Index count = plan_->neighbour_count(i);
        if (i == 0 || count > p || at(count * count) != square.size()) {
            plan_->neighbours(i, positions);
            square.resize(at(count * count));
            for (Index a = 0; a < count; ++a) {
                for (Index b = 0; b <= a; ++b) {
                    square[at(a * count + b)] = square[at(b * count + a)] = rest(positions[at(a)], positions[at(b)]);
                }
            }
        }
        const double* w = factor_->beside_.data() + plan_->place(i);
        double* beside = beside_.data() + plan_->place(i);
        for (Index a = 0; a < q; ++a) {
            for (Index k = 0; k < count; ++k) {
                const double entry = -w[a * count + k];
                for (Index b = 0; b < count; ++b) beside[a * count + b] += entry * square[at(k * count + b)];
            }
        }
    }
}

Matrix PrecisionInverse::fixed() const {
    const Index p = plan_->shape().fixed;
    const Index first = plan_->rest_ - p;
    Matrix result(p, p);
    for (Index i = 0; i < p; ++i) {
        for (Index j = 0; j < p; ++j) result(i, j) = rest(first + i, first + j);
    }
    return result;
}

Matrix PrecisionInverse::block(std::size_t f, Index level) const {
    const Index q = plan_->shape().factors[f].effects;
    Matrix result(q, q);
    for (Index a = 0; a < q; ++a) {
        for (Index b = 0; b < q; ++b) {
            result(a, b) = static_cast<std::ptrdiff_t>(f) == plan_->leading_
                               ? own_[at((level * q + a) * q + b)]
                               : rest(plan_->rest_offset_[f] + level * q + a, plan_->rest_offset_[f] + level * q + b);
        }
    }
    return result;
}

Matrix PrecisionInverse::block_sum(std::size_t f) const {
    const Index q = plan_->shape().factors[f].effects;
    Matrix result = Matrix::Zero(q, q);
    if (static_cast<std::ptrdiff_t>(f) == plan_->leading_) {
        for (Index i = 0; i < plan_->leading_levels(); ++i) {
            for (Index a = 0; a < q; ++a) {
                for (Index b = 0; b < q; ++b) result(a, b) += own_[at((i * q + a) * q + b)];
            }
        }
        return result;
    }
    for (Index i = 0; i < plan_->shape().factors[f].levels; ++i) result += block(f, i);
    return result;
}

Vector PrecisionInverse::diagonal() const {
    const FieldShape& shape = plan_->shape();
    Vector result(shape.size);
    for (Index j = 0; j < shape.fixed; ++j) {
        const Index own = plan_->rest_ - shape.fixed + j;
        result[j] = rest(own, own);
    }
    for (std::size_t f = 0; f < shape.factors.size(); ++f) {
        const auto [offset, levels, q] = shape.factors[f];
        const bool leading = static_cast<std::ptrdiff_t>(f) == plan_->leading_;
        for (Index i = 0; i < levels * q; ++i) {
            const Index own = plan_->rest_offset_[f] + i;
            result[offset + i] = leading ? own_[at(i * q + i % q)] : rest(own, own);
        }
    }
    return result;
}

// Of fixed effects and one level i, zᵀD_i⁻¹z + rᵀS_NN r with r = x − W_iᵀz: no difference of large numbers, where rows
// are far more precise than the prior.
double PrecisionInverse::one_factor_variance(Index level, const double* fixed, const double* effects) const {
    const Index p = plan_->shape().fixed;
    const Index q = plan_->shape().factors[0].effects;
    std::array<double, kFew> r;
    std::array<double, kFew> z;
    std::copy(effects, effects + q, z.data());
    const double* w = factor_->beside_.data() + level * q * p;
    const double* left = factor_->left_.data() + level * q * combinations_;
    for (Index j = 0; j < p; ++j) {
        const int combination = combination_[at(j)];
        double sum = combination < 0 ? fixed[j] : 0.0;
        for (Index a = 0; a < q; ++a) {
            sum += z[at(a)] * (combination < 0 ? -w[a * p + j] : left[a * combinations_ + combination]);
        }
        r[at(j)] = sum;
    }
    double sum = 0.0;
    for (Index i = 0; i < p; ++i) {
        double row = 0.5 * dense_(i, i) * r[at(i)];
        for (Index j = 0; j < i; ++j) row += dense_(i, j) * r[at(j)];
        sum += 2.0 * row * r[at(i)];
    }
    small_forward(factor_->lower_.data() + level * q * q, q, z.data(), 1);
    for (Index a = 0; a < q; ++a) sum += z[at(a)] * z[at(a)];
    return sum;
}

bool PrecisionInverse::has_one_factor() const {
    const FieldShape& shape = plan_->shape();
    return shape.factors.size() == 1 && shape.fixed <= kFew && shape.factors[0].effects <= kFew && !sparse_;
}

void PrecisionInverse::row_variances(const RowDesign& design, Index begin, Index end, double* variances) const {
    if (!has_one_factor()) {
        for (Index n = begin; n < end; ++n) *variances++ = row_variance(n);
        return;
    }
    const RowMajor& fixed = design.fixed();
    const RowMajor& effects = design.effects(0);
    const std::vector<int>& levels = plan_->structure().design().data().factors[0].level;
    for (Index n = begin; n < end; ++n) {
        *variances++ =
            one_factor_variance(levels[at(n)], fixed.data() + n * fixed.cols(), effects.data() + n * effects.cols());
    }
}

double PrecisionInverse::row_variance(Index n) const {
    const FieldStructure& structure = plan_->structure();
    const FieldDesign& design = structure.design();
    const FieldShape& shape = plan_->shape();
    const Index p = shape.fixed;
    if (has_one_factor()) {
        std::array<double, kFew> x;
        std::array<double, kFew> effects;
        design.fixed_row(n, x.data());
        design.effect_row(n, 0, effects.data());
        return one_factor_variance(design.data().factors[0].level[at(n)], x.data(), effects.data());
    }
    thread_local std::vector<double> entries;  // of the rest, and their positions
    thread_local std::vector<int> positions;
    thread_local std::vector<double> z;
    entries.clear();
    positions.clear();
    double sum = 0.0;
    for (std::size_t f = 0; f < shape.factors.size(); ++f) {
        if (static_cast<std::ptrdiff_t>(f) == plan_->leading_) continue;
        const Index q = shape.factors[f].effects;
        const Index first = plan_->rest_offset_[f] + design.level_position(n, f) - shape.factors[f].offset;
        entries.resize(entries.size() + at(q));
        design.effect_row(n, f, entries.data() + entries.size() - at(q));
        for (Index a = 0; a < q; ++a) positions.push_back(static_cast<int>(first + a));
    }
    entries.resize(entries.size() + at(p));
    design.fixed_row(n, entries.data() + entries.size() - at(p));
    for (Index j = 0; j < p; ++j) positions.push_back(static_cast<int>(plan_->rest_ - p + j));
    for (std::size_t a = 0; a < entries.size(); ++a) {
        sum += entries[a] * entries[a] * rest(positions[a], positions[a]);
        for (std::size_t b = 0; b < a; ++b) sum += 2.0 * entries[a] * entries[b] * rest(positions[a], positions[b]);
    }
    if (plan_->leading_ < 0) return sum;

    const std::size_t leading = at(plan_->leading_);
    const Index q = shape.factors[leading].effects;
    const Index level = (design.level_position(n, leading) - shape.factors[leading].offset) / q;
    const Index count = plan_->neighbour_count(level);
    z.resize(at(q));
    design.effect_row(n, leading, z.data());
    const double* own = own_.data() + level * q * q;
    const double* beside = beside_.data() + plan_->place(level);
    for (Index a = 0; a < q; ++a) {
        for (Index b = 0; b < q; ++b) sum += z[at(a)] * z[at(b)] * own[a * q + b];
        for (Index j = 0; j < p; ++j) {
            sum += 2.0 * z[at(a)] * beside[a * count + count - p + j] * entries[entries.size() - at(p) + at(j)];
        }
    }
    std::size_t next = 0;  // in `entries`, which has the other factors in order
    for (std::size_t f = 0; f < shape.factors.size(); ++f) {
        if (f == leading) continue;
        for (std::size_t k = 0; k < structure.pairs().size(); ++k) {
            const FieldStructure::Pair& pair = structure.pairs()[k];
            if (!((pair.f == f && pair.g == leading) || (pair.g == f && pair.f == leading))) continue;
            const Index column = plan_->column_of_meeting_[k][at(pair.meeting[at(n)])];
            for (Index b = 0; b < shape.factors[f].effects; ++b) {
                for (Index a = 0; a < q; ++a) {
                    sum += 2.0 * z[at(a)] * beside[a * count + column + b] * entries[next + at(b)];
                }
            }
        }
        next += at(shape.factors[f].effects);
    }
    return sum;
}

Vector combination_variances(const PrecisionFactor& factor, const Vector& diagonal, const SparseMatrix& combinations,
                             const PrecisionInverse* inverse) {
    const FieldShape& shape = factor.plan().shape();
    std::optional<PrecisionInverse> own;
    Vector result = Vector::Zero(combinations.cols());
    for (Index c = 0; c < combinations.cols(); ++c) {
        std::vector<std::pair<Index, double>> entries;
        for (SparseMatrix::InnerIterator entry(combinations, c); entry; ++entry) {
            if (entry.value() != 0.0) entries.emplace_back(entry.row(), entry.value());
        }
        if (entries.size() <= 1) {
            for (const auto& [at_entry, value] : entries) result[c] = value * value * diagonal[at_entry];
            continue;
        }
        std::size_t f = shape.factors.size();
        while (f > 0 && shape.factors[f - 1].offset > entries.front().first) --f;
        if (f > 0) {
            const auto [offset, levels, q] = shape.factors[f - 1];
            const Index level = (entries.front().first - offset) / q;
            if (entries.back().first < offset + (level + 1) * q) {
                if (inverse == nullptr) inverse = &own.emplace(factor);
                Vector z = Vector::Zero(q);
                for (const auto& [at_entry, value] : entries) z[at_entry - offset - level * q] = value;
                result[c] = z.dot(inverse->block(f - 1, level) * z);
                continue;
            }
        }
        const Vector column = combinations.col(c);
        result[c] = column.dot(factor.solve(column).col(0));
    }
    return result;
}

}  // namespace lrvb::detail
