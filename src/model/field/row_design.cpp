#include "model/field/row_design.hpp"

#include "base/parallel.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace lrvb::detail {

namespace {

constexpr Index kTaskRows = 4096;
constexpr Index kTaskLevels = 64;

constexpr std::size_t at(std::int64_t i) {
    return static_cast<std::size_t>(i);
}

// body(begin, end) for parts of 0 … count − 1 that do not depend on the number of threads.
template <class Body>
void in_parts(int threads, Index count, Index part, const Body& body) {
    in_parallel(threads, (count + part - 1) / part, [&](Index t) { body(t * part, std::min(count, (t + 1) * part)); });
}

}  // namespace

RowGroups::RowGroups(const std::vector<int>& group, std::size_t groups) : starts(groups + 1, 0), rows(group.size()) {
    for (const int g : group) ++starts[at(g) + 1];
    std::partial_sum(starts.begin(), starts.end(), starts.begin());
    std::vector<Index> next(starts.begin(), starts.end() - 1);
    for (std::size_t n = 0; n < group.size(); ++n) rows[at(next[at(group[n])]++)] = static_cast<Index>(n);
}

RowDesign::RowDesign(std::shared_ptr<const FieldStructure> structure) : structure_(std::move(structure)) {
    const FieldDesign& design = structure_->design();
    const FieldShape& shape = structure_->shape();
    fixed_.resize(design.rows(), shape.fixed);
    for (Index n = 0; n < design.rows(); ++n) design.fixed_row(n, fixed_.data() + n * shape.fixed);
    for (std::size_t f = 0; f < shape.factors.size(); ++f) {
        RowMajor values(design.rows(), shape.factors[f].effects);
        for (Index n = 0; n < design.rows(); ++n) design.effect_row(n, f, values.data() + n * values.cols());
        effects_.push_back(std::move(values));
        groups_.emplace_back(design.data().factors[f].level, at(shape.factors[f].levels));
    }
    for (const FieldStructure::Pair& pair : structure_->pairs())
        meetings_.emplace_back(pair.meeting, pair.levels.size());
}

Vector RowDesign::predictors(const VectorView& x, int threads) const {
    Vector eta(rows());
    const FieldShape& shape = this->shape();
    in_parts(threads, rows(), kTaskRows, [&](Index begin, Index end) {
        eta.segment(begin, end - begin).noalias() = fixed_.middleRows(begin, end - begin) * x.head(shape.fixed);
        for (std::size_t f = 0; f < effects_.size(); ++f) {
            const Index q = effects_[f].cols();
            for (Index n = begin; n < end; ++n) {
                const double* z = effects_[f].data() + n * q;
                const double* u = x.data() + shape.factors[f].offset + level(n, f) * q;
                double sum = 0.0;
                for (Index k = 0; k < q; ++k) sum += z[k] * u[k];
                eta[n] += sum;
            }
        }
    });
    return eta;
}

Vector RowDesign::transposed(const Vector& values, int threads) const {
    const FieldShape& shape = this->shape();
    Vector result = Vector::Zero(shape.size);
    Matrix partial(shape.fixed, (rows() + kTaskRows - 1) / kTaskRows);
    in_parts(threads, rows(), kTaskRows, [&](Index begin, Index end) {
        partial.col(begin / kTaskRows).noalias() =
            fixed_.middleRows(begin, end - begin).transpose() * values.segment(begin, end - begin);
    });
    for (Index t = 0; t < partial.cols(); ++t) result.head(shape.fixed) += partial.col(t);
    for (std::size_t f = 0; f < effects_.size(); ++f) {
        const Index q = effects_[f].cols();
        const RowGroups& groups = groups_[f];
        in_parts(threads, groups.count(), kTaskLevels, [&](Index begin, Index end) {
            for (Index g = begin; g < end; ++g) {
                double* sum = result.data() + shape.factors[f].offset + g * q;
                for (Index i = groups.starts[at(g)]; i < groups.starts[at(g) + 1]; ++i) {
                    const Index n = groups.rows[at(i)];
                    for (Index k = 0; k < q; ++k) sum[k] += values[n] * effects_[f](n, k);
                }
            }
        });
    }
    return result;
}

FieldBlocks RowDesign::fold(const Vector& weights, int threads) const {
    const FieldShape& shape = this->shape();
    const Index p = shape.fixed;
    FieldBlocks blocks;
    blocks.fixed.assign(at(p * p), 0.0);
    std::vector<RowMajor> partial(at((rows() + kTaskRows - 1) / kTaskRows));
    in_parts(threads, p > 0 ? rows() : 0, kTaskRows, [&](Index begin, Index end) {
        const RowMajor x = fixed_.middleRows(begin, end - begin);
        const RowMajor weighted = weights.segment(begin, end - begin).asDiagonal() * x;
        partial[at(begin / kTaskRows)].noalias() = x.transpose() * weighted;
    });
    for (const RowMajor& part : partial) {
        for (Index i = 0; i < part.size(); ++i) blocks.fixed[at(i)] += part.data()[i];
    }
    for (Index i = 0; i < p; ++i) {
        for (Index j = i + 1; j < p; ++j) blocks.fixed[at(i * p + j)] = blocks.fixed[at(j * p + i)];
    }
    for (std::size_t f = 0; f < effects_.size(); ++f) {
        const Index q = effects_[f].cols();
        const RowGroups& groups = groups_[f];
        std::vector<double>& diagonal = blocks.diagonal.emplace_back(at(groups.count() * q * q), 0.0);
        std::vector<double>& border = blocks.border.emplace_back(at(groups.count() * q * p), 0.0);
        in_parts(threads, groups.count(), kTaskLevels, [&](Index begin, Index end) {
            for (Index g = begin; g < end; ++g) {
                double* own = diagonal.data() + g * q * q;
                double* beside = border.data() + g * q * p;
                for (Index i = groups.starts[at(g)]; i < groups.starts[at(g) + 1]; ++i) {
                    const Index n = groups.rows[at(i)];
                    const double* z = effects_[f].data() + n * q;
                    const double* x = fixed_.data() + n * p;
                    for (Index a = 0; a < q; ++a) {
                        const double wz = weights[n] * z[a];
                        for (Index b = 0; b < q; ++b) own[a * q + b] += wz * z[b];
                        for (Index j = 0; j < p; ++j) beside[a * p + j] += wz * x[j];
                    }
                }
            }
        });
    }
    for (std::size_t k = 0; k < meetings_.size(); ++k) {
        const RowMajor& left = effects_[structure_->pairs()[k].f];
        const RowMajor& right = effects_[structure_->pairs()[k].g];
        const Index size = left.cols() * right.cols();
        const RowGroups& meetings = meetings_[k];
        std::vector<double>& cross = blocks.cross.emplace_back(at(meetings.count() * size), 0.0);
        in_parts(threads, meetings.count(), kTaskLevels, [&](Index begin, Index end) {
            for (Index m = begin; m < end; ++m) {
                for (Index i = meetings.starts[at(m)]; i < meetings.starts[at(m) + 1]; ++i) {
                    const Index n = meetings.rows[at(i)];
                    double* sum = cross.data() + m * size;
                    for (Index a = 0; a < left.cols(); ++a) {
                        const double wz = weights[n] * left(n, a);
                        for (Index b = 0; b < right.cols(); ++b) *sum++ += wz * right(n, b);
                    }
                }
            }
        });
    }
    return blocks;
}

}  // namespace lrvb::detail
