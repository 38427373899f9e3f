#include "model/field/precision.hpp"

#include "linalg/lapack.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <utility>

namespace lrvb::detail {

namespace {

constexpr std::size_t at(std::int64_t i) {
    return static_cast<std::size_t>(i);
}

constexpr Index kSmallRest = 256;
constexpr double kDenseGain = 8.0;  // of dense arithmetic over sparse

// A = LLᵀ in place for a small matrix, row by row, lower triangle.
bool small_cholesky(double* a, Index q) {
    for (Index j = 0; j < q; ++j) {
        const double diagonal = a[j * q + j];
        double pivot = diagonal;
        for (Index k = 0; k < j; ++k) pivot -= a[j * q + k] * a[j * q + k];
        if (!is_safely_positive(pivot / std::max(diagonal, std::numeric_limits<double>::min()), 1.0)) return false;
        const double root = std::sqrt(pivot);
        a[j * q + j] = root;
        for (Index i = j + 1; i < q; ++i) {
            double sum = a[i * q + j];
            for (Index k = 0; k < j; ++k) sum -= a[i * q + k] * a[j * q + k];
            a[i * q + j] = sum / root;
        }
    }
    return true;
}

// L⁻¹B and L⁻ᵀB in place, B of q rows.
void small_forward(const double* lower, Index q, double* b, Index columns) {
    for (Index i = 0; i < q; ++i) {
        for (Index k = 0; k < i; ++k) {
            const double entry = lower[i * q + k];
            for (Index c = 0; c < columns; ++c) b[i * columns + c] -= entry * b[k * columns + c];
        }
        const double inverse = 1.0 / lower[i * q + i];
        for (Index c = 0; c < columns; ++c) b[i * columns + c] *= inverse;
    }
}

void small_backward(const double* lower, Index q, double* b, Index columns) {
    for (Index i = q; i-- > 0;) {
        for (Index k = i + 1; k < q; ++k) {
            const double entry = lower[k * q + i];
            for (Index c = 0; c < columns; ++c) b[i * columns + c] -= entry * b[k * columns + c];
        }
        const double inverse = 1.0 / lower[i * q + i];
        for (Index c = 0; c < columns; ++c) b[i * columns + c] *= inverse;
    }
}

}  // namespace

PrecisionPlan::PrecisionPlan(std::shared_ptr<const FieldStructure> structure) : structure_(std::move(structure)) {
    const FieldShape& shape = this->shape();
    for (std::size_t f = 0; f < shape.factors.size(); ++f) {
        if (leading_ < 0 || shape.factors[f].size() > shape.factors[at(leading_)].size()) {
            leading_ = static_cast<std::ptrdiff_t>(f);
        }
    }
    rest_offset_.assign(shape.factors.size(), 0);
    for (std::size_t f = 0; f < shape.factors.size(); ++f) {
        if (static_cast<std::ptrdiff_t>(f) == leading_) continue;
        rest_offset_[f] = rest_;
        rest_ += shape.factors[f].size();
    }
    rest_ += shape.fixed;
    find_neighbours();
    find_rest_pattern();
}

Index PrecisionPlan::leading_levels() const {
    return leading_ < 0 ? 0 : shape().factors[at(leading_)].levels;
}

Index PrecisionPlan::leading_effects() const {
    return leading_ < 0 ? 0 : shape().factors[at(leading_)].effects;
}

Index PrecisionPlan::neighbour_count(Index level) const {
    return starts_[at(level) + 1] - starts_[at(level)] + shape().fixed;
}

void PrecisionPlan::neighbours(Index level, std::vector<int>& positions) const {
    positions.clear();
    for (std::int64_t s = source_starts_[at(level)]; s < source_starts_[at(level) + 1]; ++s) {
        for (int b = 0; b < sources_[at(s)].effects; ++b) positions.push_back(sources_[at(s)].first + b);
    }
    for (Index j = rest_ - shape().fixed; j < rest_; ++j) positions.push_back(static_cast<int>(j));
}

std::size_t PrecisionPlan::place(Index level) const {
    return at(leading_effects() * (starts_[at(level)] + level * shape().fixed));
}

void PrecisionPlan::find_neighbours() {
    const Index levels = leading_levels();
    std::vector<std::int64_t> counts(at(levels) + 1, 0);
    const std::vector<FieldStructure::Pair>& pairs = structure_->pairs();
    const auto visit = [&](const auto& found) {
        for (std::size_t k = 0; k < pairs.size(); ++k) {
            const FieldStructure::Pair& pair = pairs[k];
            const bool row = static_cast<std::ptrdiff_t>(pair.f) == leading_;
            const bool column = static_cast<std::ptrdiff_t>(pair.g) == leading_;
            if (!row && !column) continue;
            for (std::size_t l = 0; l + 1 < pair.starts.size(); ++l) {
                for (int m = pair.starts[l]; m < pair.starts[l + 1]; ++m) {
                    const Index own = row ? static_cast<Index>(l) : pair.levels[at(m)];
                    const Index other = row ? pair.levels[at(m)] : static_cast<Index>(l);
                    found(k, m, own, row ? pair.g : pair.f, other, column);
                }
            }
        }
    };
    visit([&](std::size_t, int, Index own, std::size_t, Index, bool) { ++counts[at(own) + 1]; });
    std::partial_sum(counts.begin(), counts.end(), counts.begin());
    source_starts_ = counts;
    sources_.resize(at(counts.back()));
    visit([&](std::size_t k, int m, Index own, std::size_t other, Index level, bool column) {
        const Index effects = shape().factors[other].effects;
        sources_[at(counts[at(own)]++)] = {static_cast<int>(k), m,
                                           static_cast<int>(rest_offset_[other] + level * effects),
                                           static_cast<int>(effects), column};
    });
    starts_.assign(at(levels) + 1, 0);
    column_of_meeting_.resize(pairs.size());
    for (std::size_t k = 0; k < pairs.size(); ++k) column_of_meeting_[k].resize(pairs[k].levels.size());
    for (Index i = 0; i < levels; ++i) {
        int column = 0;
        for (std::int64_t s = source_starts_[at(i)]; s < source_starts_[at(i) + 1]; ++s) {
            const Source& source = sources_[at(s)];
            column_of_meeting_[at(source.pair)][at(source.meeting)] = column;
            column += source.effects;
        }
        starts_[at(i) + 1] = starts_[at(i)] + column;
    }
}

template <class Visit>
void PrecisionPlan::visit_rest(const Visit& visit) const {
    const FieldShape& shape = this->shape();
    const Index p = shape.fixed;
    const Index last = rest_ - p;
    for (std::size_t f = 0; f < shape.factors.size(); ++f) {
        if (static_cast<std::ptrdiff_t>(f) == leading_) continue;
        const auto [offset, levels, q] = shape.factors[f];
        for (Index i = 0; i < levels * q; ++i) {
            const Index row = rest_offset_[f] + i;
            for (Index b = 0; b <= i % q; ++b) visit(row, row - i % q + b, 0, f, i * q + b);
            for (Index j = 0; j < p; ++j) visit(last + j, row, 1, f, i * p + j);
        }
    }
    for (std::size_t k = 0; k < structure_->pairs().size(); ++k) {
        const FieldStructure::Pair& pair = structure_->pairs()[k];
        if (static_cast<std::ptrdiff_t>(pair.f) == leading_ || static_cast<std::ptrdiff_t>(pair.g) == leading_)
            continue;
        const Index qf = shape.factors[pair.f].effects;
        const Index qg = shape.factors[pair.g].effects;
        for (std::size_t l = 0; l + 1 < pair.starts.size(); ++l) {
            for (int m = pair.starts[l]; m < pair.starts[l + 1]; ++m) {
                for (Index a = 0; a < qf; ++a) {
                    for (Index b = 0; b < qg; ++b) {
                        visit(rest_offset_[pair.f] + static_cast<Index>(l) * qf + a,
                              rest_offset_[pair.g] + pair.levels[at(m)] * qg + b, 2, k, (m * qf + a) * qg + b);
                    }
                }
            }
        }
    }
    for (Index i = 0; i < p; ++i) {
        for (Index j = 0; j <= i; ++j) visit(last + i, last + j, 3, 0, i * p + j);
    }
}

void PrecisionPlan::find_rest_pattern() {
    const Index levels = leading_levels();
    double cliques = 0.0;
    const double q = static_cast<double>(leading_effects());
    for (Index i = 0; i < levels; ++i) {
        const double count = static_cast<double>(neighbour_count(i));
        cliques += 0.5 * count * (count + 1.0);
        work_ += q * q * q + 2.0 * q * count * (q + count);
    }
    const double rest = static_cast<double>(rest_);
    const double dense_bytes = 8.0 * rest * rest;
    const double limit = static_cast<double>(factor_memory_limit());
    const bool dense_fits = dense_bytes <= limit;
    if (rest_ <= kSmallRest || (cliques >= 0.25 * rest * rest && dense_fits)) {
        work_ += rest * rest * rest / kDenseGain;
        return;
    }
    // Columns of 32 bits and rows of 32 bits, as one number each.
    std::vector<std::uint64_t> keys;
    const auto key = [](Index row, Index column) {
        return static_cast<std::uint64_t>(std::min(row, column)) << 32 |
               static_cast<std::uint64_t>(std::max(row, column));
    };
    visit_rest([&](Index row, Index column, int, std::size_t, Index) { keys.push_back(key(row, column)); });
    std::vector<int> positions;
    const auto visit_cliques = [&](const auto& visit) {
        for (Index i = 0; i < levels; ++i) {
            neighbours(i, positions);
            for (std::size_t a = 0; a < positions.size(); ++a) {
                for (std::size_t b = 0; b <= a; ++b) visit(positions[a], positions[b]);
            }
        }
    };
    visit_cliques([&](Index row, Index column) { keys.push_back(key(row, column)); });
    std::vector<std::uint64_t> sorted = keys;
    std::sort(sorted.begin(), sorted.end());
    sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
    SparseMatrix pattern(rest_, rest_);
    pattern.resizeNonZeros(static_cast<Index>(sorted.size()));
    for (std::size_t e = 0; e < sorted.size(); ++e) {
        pattern.innerIndexPtr()[e] = static_cast<int>(sorted[e] & 0xffffffffU);
        pattern.outerIndexPtr()[(sorted[e] >> 32) + 1] = static_cast<int>(e) + 1;
        pattern.valuePtr()[e] = 0.0;
    }
    rest_plan_ = std::make_shared<const SparsePlan>(pattern);
    const bool sparse_fits = static_cast<double>(rest_plan_->bytes()) <= limit;
    if (dense_fits && (!sparse_fits || kDenseGain * rest_plan_->work() > rest * rest * rest / 3.0)) {
        rest_plan_.reset();
        work_ += rest * rest * rest / kDenseGain;
        return;
    }
    if (!sparse_fits) {
        throw FactorTooLarge(fmt::format(
            "the factor of the field, of {} coefficients of which {} fill in, would take {:.3g} GB, but may "
            "take no more than {:.3g} GB: use fewer crossed factors, or a smaller model",
            shape().size, rest_, static_cast<double>(rest_plan_->bytes()) / 1e9, limit / 1e9));
    }
    dense_ = false;
    rest_entries_ = static_cast<Index>(sorted.size());
    rest_slots_.reserve(keys.size());
    for (const std::uint64_t one : keys) {
        rest_slots_.push_back(static_cast<int>(std::lower_bound(sorted.begin(), sorted.end(), one) - sorted.begin()));
    }
    work_ += 3.0 * rest_plan_->work();
}

bool PrecisionFactor::factorise(const FieldBlocks& blocks, double scale, const Vector& fixed_precision,
                                const std::vector<Matrix>& precisions) {
    const PrecisionPlan& plan = *plan_;
    const FieldShape& shape = plan.shape();
    const Index p = shape.fixed;
    const Index q = plan.leading_effects();
    const Index levels = plan.leading_levels();
    std::vector<double> values(at(plan.dense_ ? 0 : plan.rest_entries_), 0.0);
    if (plan.dense_) dense_.setZero(plan.rest_, plan.rest_);

    std::size_t entry = 0;
    const auto add = [&](Index row, Index column, double value) {
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
            value = scale * blocks.border[which][at(place)];
        } else if (kind == 2) {
            value = scale * blocks.cross[which][at(place)];
        } else {
            value = scale * blocks.fixed[at(place)];
            if (row == column) value += fixed_precision[place / p];
        }
        add(row, column, value);
    });

    log_determinant_ = 0.0;
    lower_.resize(at(levels * q * q));
    beside_.resize(levels > 0 ? plan.place(levels) : 0);
    Vector diagonal(plan.rest_);
    if (plan.dense_) {
        diagonal = dense_.diagonal();
    }
    std::vector<double> block;
    std::vector<int> positions;
    double product = 1.0;
    for (Index i = 0; i < levels; ++i) {
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
        if (others == 0) {
            for (Index a = 0; a < p; ++a) {
                for (Index b = 0; b <= a; ++b) {
                    double sum = 0.0;
                    for (Index k = 0; k < q; ++k) sum += w[k * count + a] * w[k * count + b];
                    add(plan.rest_ - p + a, plan.rest_ - p + b, -sum);
                }
            }
        } else {
            plan.neighbours(i, positions);
            for (Index a = 0; a < count; ++a) {
                for (Index b = 0; b <= a; ++b) {
                    double sum = 0.0;
                    for (Index k = 0; k < q; ++k) sum += w[k * count + a] * w[k * count + b];
                    add(positions[at(a)], positions[at(b)], -sum);
                }
            }
        }
        small_backward(lower, q, w, count);
    }
    return factorise_rest(std::move(values), diagonal);
}

bool PrecisionFactor::factorise_rest(std::vector<double>&& sparse_values, const Vector& diagonal) {
    if (!plan_->dense_) {
        sparse_ = std::make_unique<SparseCholesky>(plan_->rest_plan_);
        if (sparse_->factorise(sparse_values)) return false;
        for (const double pivot : sparse_->pivots()) log_determinant_ += std::log(pivot);
        return true;
    }
    if (cholesky_in_place(dense_)) return false;
    for (Index i = 0; i < dense_.rows(); ++i) {
        const double pivot = dense_(i, i) * dense_(i, i);
        if (!is_safely_positive(pivot / diagonal[i], 1.0)) return false;
        log_determinant_ += std::log(pivot);
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
            cholesky_solve_in_place(dense_, rest);
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

// S_NN is of the rest; S_iN = −W_i S_NN and S_ii = D_i⁻¹ − S_iN W_iᵀ.
PrecisionInverse::PrecisionInverse(const PrecisionFactor& factor) : plan_(factor.plan_.get()) {
    if (factor.sparse_) {
        sparse_ = factor.sparse_->selected_inverse();
    } else {
        dense_ = factor.dense_;
        invert_from_cholesky_in_place(dense_);
    }
    const Index q = plan_->leading_effects();
    const Index levels = plan_->leading_levels();
    const Index p = plan_->shape().fixed;
    own_.resize(at(levels * q * q));
    beside_.assign(factor.beside_.size(), 0.0);
    std::vector<int> positions;
    std::vector<double> square;
    for (Index i = 0; i < levels; ++i) {
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
        const double* w = factor.beside_.data() + plan_->place(i);
        double* beside = beside_.data() + plan_->place(i);
        for (Index a = 0; a < q; ++a) {
            for (Index k = 0; k < count; ++k) {
                const double entry = -w[a * count + k];
                for (Index b = 0; b < count; ++b) beside[a * count + b] += entry * square[at(k * count + b)];
            }
        }
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

double PrecisionInverse::row_variance(Index n) const {
    const FieldStructure& structure = plan_->structure();
    const FieldDesign& design = structure.design();
    const FieldShape& shape = plan_->shape();
    const Index p = shape.fixed;
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

}  // namespace lrvb::detail
