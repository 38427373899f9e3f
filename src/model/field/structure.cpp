#include "model/field/structure.hpp"

#include "base/messages.hpp"
#include "base/validate.hpp"
#include "model/field/share.hpp"

#include <lrvb/base/interruption.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace lrvb::detail {

namespace {

constexpr std::size_t kProductsAtOnce = 1000000;  // between points of interruption

constexpr std::size_t at(std::int64_t i) {
    return static_cast<std::size_t>(i);
}

Index values_before(const FieldData& data, std::size_t factor) {
    Index result = 1 + data.columns.cols();
    for (std::size_t f = 0; f < factor; ++f) result += data.factors[f].values.cols();
    return result;
}

}  // namespace

Index FieldScales::effect(const FieldData& data, std::size_t f, Index e) {
    return values_before(data, f) + e;
}

FieldUnits::FieldUnits(const FieldData& data) : FieldUnits(data, scales_of(data)) {}

FieldUnits::FieldUnits(const FieldData& data, const FieldScales& scales, const FieldPrior* given)
    : centre(Vector::Zero(data.columns.cols())), scale(Vector::Ones(data.columns.cols())) {
    const Vector& squares = data.intercept ? scales.about_mean : scales.about_zero;
    if (data.likelihood->has_sigma()) {
        const double mean = scales.mean[FieldScales::response];
        if (data.intercept) response_centre = mean;
        // A constant response has no scale of its own.
        const double rounded = 1e-14 * std::abs(mean);
        response_scale = std::sqrt(squares[FieldScales::response] / scales.total);
        if (!(response_scale > rounded)) response_scale = mean != 0.0 ? std::abs(mean) : 1.0;
    }
    for (Index j = 0; j < data.slopes(); ++j) {
        if (data.intercept) {
            centre[j] = given != nullptr && given->centre ? (*given->centre)[j] : scales.mean[FieldScales::column(j)];
        }
        scale[j] = std::sqrt(squares[FieldScales::column(j)] / scales.total);
    }
    constexpr double kCentred = 1e-8;  // sds: rounding of a column that was centred before
    for (std::size_t f = 0; f < data.factors.size(); ++f) {
        const Index effects = data.factors[f].values.cols();
        const bool has_prior = given != nullptr && f < given->factors.size() && given->factors[f].centre;
        Vector own_centre = has_prior ? *given->factors[f].centre : Vector(Vector::Zero(effects));
        Vector own_scale(effects);
        for (Index e = 0; e < effects; ++e) {
            const Index place = FieldScales::effect(data, f, e);
            const double spread = scales.about_mean[place];
            const double mean = scales.mean[place];
            const bool is_beside = data.factors[f].intercept >= 0 && e != data.factors[f].intercept;
            if (!has_prior && is_beside && mean * mean * scales.total > kCentred * kCentred * spread)
                own_centre[e] = mean;
            const double about_centre = spread + std::pow(mean - own_centre[e], 2) * scales.total;
            own_scale[e] = std::sqrt((about_centre > 0.0 ? about_centre : scales.about_zero[place]) / scales.total);
        }
        effect_centre.push_back(std::move(own_centre));
        effect_scale.push_back(std::move(own_scale));
    }
}

FieldShape::FieldShape(const FieldData& data)
    : intercept(data.intercept), fixed(data.columns.cols() + (data.intercept ? 1 : 0)), size(fixed) {
    plain = fixed;
    for (const FieldTerm& term : data.terms) {
        terms.push_back({(data.intercept ? 1 : 0) + term.first, term.count, 1});
        plain -= term.count;
    }
    for (const FieldFactor& factor : data.factors) {
        factors.push_back({size, static_cast<Index>(factor.levels.size()), static_cast<Index>(factor.effects.size())});
        size += factors.back().size();
    }
}

FieldDesign::FieldDesign(std::shared_ptr<const FieldData> data, FieldUnits units)
    : data_(std::move(data)), units_(std::move(units)), shape_(*data_) {}

void FieldDesign::fixed_row(Index n, double* x) const {
    if (shape_.intercept) *x++ = 1.0;
    for (Index j = 0; j < units_.scale.size(); ++j) {
        x[j] = (data_->columns(n, j) - units_.centre[j]) / units_.scale[j];
    }
}

void FieldDesign::effect_row(Index n, std::size_t f, double* z) const {
    const Matrix& values = data_->factors[f].values;
    const Vector& centre = units_.effect_centre[f];
    const Vector& scales = units_.effect_scale[f];
    for (Index e = 0; e < scales.size(); ++e) z[e] = (values(n, e) - centre[e]) / scales[e];
}

Vector FieldDesign::predictor(const VectorView& x, Index first, Index count) const {
    std::vector<double> entries(at(shape_.size > 0 ? shape_.fixed + 64 : 1));
    for (const FieldShape::Factor& factor : shape_.factors) {
        entries.resize(std::max(entries.size(), at(factor.effects)));
    }
    Vector result(count);
    for (Index i = 0; i < count; ++i) {
        double sum = 0.0;
        fixed_row(first + i, entries.data());
        for (Index j = 0; j < shape_.fixed; ++j) sum += entries[at(j)] * x[j];
        for (std::size_t f = 0; f < shape_.factors.size(); ++f) {
            effect_row(first + i, f, entries.data());
            const Index position = level_position(first + i, f);
            for (Index e = 0; e < shape_.factors[f].effects; ++e) sum += entries[at(e)] * x[position + e];
        }
        result[i] = sum;
    }
    return result;
}

Vector FieldDesign::transposed(const VectorView& v, Index first) const {
    std::vector<double> entries(at(shape_.fixed + 64));
    for (const FieldShape::Factor& factor : shape_.factors) {
        entries.resize(std::max(entries.size(), at(factor.effects)));
    }
    Vector result = Vector::Zero(shape_.size);
    for (Index i = 0; i < v.size(); ++i) {
        if (v[i] == 0.0) continue;
        fixed_row(first + i, entries.data());
        for (Index j = 0; j < shape_.fixed; ++j) result[j] += entries[at(j)] * v[i];
        for (std::size_t f = 0; f < shape_.factors.size(); ++f) {
            effect_row(first + i, f, entries.data());
            const Index position = level_position(first + i, f);
            for (Index e = 0; e < shape_.factors[f].effects; ++e) result[position + e] += entries[at(e)] * v[i];
        }
    }
    return result;
}

Vector FieldBlocks::numbers() const {
    std::vector<double> all = fixed;
    for (const auto* part : {&diagonal, &border, &cross}) {
        for (const std::vector<double>& own : *part) all.insert(all.end(), own.begin(), own.end());
    }
    return Eigen::Map<const Vector>(all.data(), static_cast<Index>(all.size()));
}

void FieldBlocks::set(const Vector& numbers) {
    const double* next = numbers.data();
    const auto take = [&](std::vector<double>& own) {
        std::copy_n(next, own.size(), own.begin());
        next += own.size();
    };
    take(fixed);
    for (auto* part : {&diagonal, &border, &cross}) {
        for (std::vector<double>& own : *part) take(own);
    }
}

FieldCopies FieldCopies::of(const FieldData& data) {
    FieldCopies result;
    for (const FieldFactor& factor : data.factors) {
        std::vector<char>& ones = result.ones.emplace_back();
        std::vector<std::vector<char>>& of_column = result.of_column.emplace_back();
        for (Index e = 0; e < factor.values.cols(); ++e) {
            ones.push_back((factor.values.col(e).array() == 1.0).all() ? 1 : 0);
            std::vector<char>& own = of_column.emplace_back();
            for (Index j = 0; j < data.columns.cols(); ++j) {
                own.push_back(factor.values.col(e) == data.columns.col(j) ? 1 : 0);
            }
        }
    }
    return result;
}

void FieldCopies::add(const FieldCopies& other) {
    for (std::size_t f = 0; f < ones.size(); ++f) {
        for (std::size_t e = 0; e < ones[f].size(); ++e) {
            ones[f][e] = std::min(ones[f][e], other.ones[f][e]);
            for (std::size_t j = 0; j < of_column[f][e].size(); ++j) {
                of_column[f][e][j] = std::min(of_column[f][e][j], other.of_column[f][e][j]);
            }
        }
    }
}

FieldStructure::FieldStructure(std::shared_ptr<const FieldDesign> design)
    : design_(std::move(design)), copies_(FieldCopies::of(design_->data())) {
    const std::vector<FieldFactor>& factors = design_->data().factors;
    const Index rows = design_->rows();
    for (std::size_t g = 0; g < factors.size(); ++g) {
        for (std::size_t f = g + 1; f < factors.size(); ++f) {
            // Rows in the order of the levels of g, then, stably, of f.
            const auto sorted_by = [&](const std::vector<int>& level, std::size_t count,
                                       const std::vector<int>& before) {
                std::vector<int> starts(count + 1, 0);
                for (const int l : level) ++starts[at(l) + 1];
                std::partial_sum(starts.begin(), starts.end(), starts.begin());
                std::vector<int> order(before.size());
                for (const int n : before) order[at(starts[at(level[at(n)])]++)] = n;
                return order;
            };
            std::vector<int> order(at(rows));
            std::iota(order.begin(), order.end(), 0);
            order = sorted_by(factors[g].level, factors[g].levels.size(), order);
            order = sorted_by(factors[f].level, factors[f].levels.size(), order);
            Pair pair{f, g, std::vector<int>(factors[f].levels.size() + 1, 0), {}, std::vector<int>(at(rows))};
            int last_f = -1;
            int last_g = -1;
            for (const int n : order) {
                const int own = factors[f].level[at(n)];
                const int other = factors[g].level[at(n)];
                if (own != last_f || other != last_g) {
                    pair.levels.push_back(other);
                    ++pair.starts[at(own) + 1];
                    last_f = own;
                    last_g = other;
                }
                pair.meeting[at(n)] = static_cast<int>(pair.levels.size()) - 1;
            }
            std::partial_sum(pair.starts.begin(), pair.starts.end(), pair.starts.begin());
            pairs_.push_back(std::move(pair));
        }
    }
}

FieldStructure::FieldStructure(std::shared_ptr<const FieldDesign> design, const std::vector<Meetings>& meetings,
                               FieldCopies copies)
    : design_(std::move(design)), copies_(std::move(copies)) {
    const std::vector<FieldFactor>& factors = design_->data().factors;
    const Index rows = design_->rows();
    for (std::size_t g = 0; g < factors.size(); ++g) {
        for (std::size_t f = g + 1; f < factors.size(); ++f) {
            const Meetings& own = meetings[pairs_.size()];
            const auto width = static_cast<std::int64_t>(factors[g].levels.size());
            Pair pair{f, g, std::vector<int>(factors[f].levels.size() + 1, 0), {}, std::vector<int>(at(rows))};
            for (const std::int64_t meeting : own) {
                pair.levels.push_back(static_cast<int>(meeting % width));
                ++pair.starts[at(meeting / width) + 1];
            }
            std::partial_sum(pair.starts.begin(), pair.starts.end(), pair.starts.begin());
            for (Index n = 0; n < rows; ++n) {
                const auto first = pair.levels.begin() + pair.starts[at(factors[f].level[at(n)])];
                const auto last = pair.levels.begin() + pair.starts[at(factors[f].level[at(n)]) + 1];
                pair.meeting[at(n)] =
                    static_cast<int>(std::lower_bound(first, last, factors[g].level[at(n)]) - pair.levels.begin());
            }
            pairs_.push_back(std::move(pair));
        }
    }
}

std::vector<Meetings> FieldStructure::meetings() const {
    std::vector<Meetings> result;
    for (const Pair& pair : pairs_) {
        Meetings& own = result.emplace_back();
        const std::int64_t width = shape().factors[pair.g].levels;
        for (std::size_t l = 0; l + 1 < pair.starts.size(); ++l) {
            for (int m = pair.starts[l]; m < pair.starts[l + 1]; ++m) {
                own.push_back(static_cast<std::int64_t>(l) * width + pair.levels[at(m)]);
            }
        }
    }
    return result;
}

FieldBlocks FieldStructure::empty_blocks() const {
    const FieldShape& shape = this->shape();
    const std::size_t p = at(shape.fixed);
    FieldBlocks blocks;
    blocks.fixed.assign(p * p, 0.0);
    for (const FieldShape::Factor& factor : shape.factors) {
        const std::size_t q = at(factor.effects);
        blocks.diagonal.emplace_back(at(factor.levels) * q * q, 0.0);
        blocks.border.emplace_back(at(factor.levels) * q * p, 0.0);
    }
    for (const Pair& pair : pairs_) {
        blocks.cross.emplace_back(
            pair.levels.size() * at(shape.factors[pair.f].effects * shape.factors[pair.g].effects), 0.0);
    }
    return blocks;
}

FieldBlocks FieldStructure::fold(const VectorView& weights, Index begin, Index end) const {
    const FieldShape& shape = this->shape();
    const std::size_t p = at(shape.fixed);
    FieldBlocks blocks = empty_blocks();
    std::vector<std::size_t> starts;  // of each factor's z in `entries`
    std::size_t width = 0;
    for (const FieldShape::Factor& factor : shape.factors) {
        starts.push_back(width);
        width += at(factor.effects);
    }
    std::vector<double> x(p);
    std::vector<double> z(width);
    const std::vector<FieldFactor>& factors = design_->data().factors;
    const auto rows_at_once = static_cast<Index>(1 + kProductsAtOnce / (1 + p * p));
    for (Index n = begin; n < end; ++n) {
        if ((n - begin) % rows_at_once == 0) interruption_point();
        const double w = weights[n];
        if (w == 0.0) continue;
        design_->fixed_row(n, x.data());
        for (std::size_t i = 0; i < p; ++i) {
            const double wx = w * x[i];
            for (std::size_t j = 0; j <= i; ++j) blocks.fixed[i * p + j] += wx * x[j];
        }
        for (std::size_t f = 0; f < factors.size(); ++f) {
            double* own = z.data() + starts[f];
            design_->effect_row(n, f, own);
            const std::size_t q = at(shape.factors[f].effects);
            const std::size_t level = at(factors[f].level[at(n)]);
            double* diagonal = blocks.diagonal[f].data() + level * q * q;
            double* border = blocks.border[f].data() + level * q * p;
            for (std::size_t a = 0; a < q; ++a) {
                const double wz = w * own[a];
                for (std::size_t b = 0; b < q; ++b) diagonal[a * q + b] += wz * own[b];
                for (std::size_t j = 0; j < p; ++j) border[a * p + j] += wz * x[j];
            }
        }
        for (std::size_t k = 0; k < pairs_.size(); ++k) {
            const Pair& pair = pairs_[k];
            const std::size_t qf = at(shape.factors[pair.f].effects);
            const std::size_t qg = at(shape.factors[pair.g].effects);
            double* cross = blocks.cross[k].data() + at(pair.meeting[at(n)]) * qf * qg;
            const double* zf = z.data() + starts[pair.f];
            const double* zg = z.data() + starts[pair.g];
            for (std::size_t a = 0; a < qf; ++a) {
                for (std::size_t b = 0; b < qg; ++b) cross[a * qg + b] += w * zf[a] * zg[b];
            }
        }
    }
    for (std::size_t i = 0; i < p; ++i) {
        for (std::size_t j = i + 1; j < p; ++j) blocks.fixed[i * p + j] = blocks.fixed[j * p + i];
    }
    return blocks;
}

Vector FieldStructure::multiply(const FieldBlocks& blocks, const VectorView& x) const {
    const FieldShape& shape = this->shape();
    const Index p = shape.fixed;
    Vector result = Vector::Zero(shape.size);
    const double* fixed = blocks.fixed.data();
    for (Index i = 0; i < p; ++i) {
        for (Index j = 0; j < p; ++j) result[i] += fixed[i * p + j] * x[j];
    }
    for (std::size_t f = 0; f < shape.factors.size(); ++f) {
        const auto [offset, levels, q] = shape.factors[f];
        const double* diagonal = blocks.diagonal[f].data();
        const double* border = blocks.border[f].data();
        for (Index i = 0; i < levels * q; ++i, diagonal += q, border += p) {
            const Index first = offset + i / q * q;
            const double own = x[offset + i];
            double sum = 0.0;
            for (Index b = 0; b < q; ++b) sum += diagonal[b] * x[first + b];
            for (Index j = 0; j < p; ++j) {
                sum += border[j] * x[j];
                result[j] += border[j] * own;
            }
            result[offset + i] += sum;
        }
    }
    for (std::size_t k = 0; k < pairs_.size(); ++k) {
        const Pair& pair = pairs_[k];
        const FieldShape::Factor& f = shape.factors[pair.f];
        const FieldShape::Factor& g = shape.factors[pair.g];
        const double* cross = blocks.cross[k].data();
        for (Index level = 0; level < f.levels; ++level) {
            for (int m = pair.starts[at(level)]; m < pair.starts[at(level) + 1]; ++m) {
                const Index row = f.offset + level * f.effects;
                const Index column = g.offset + pair.levels[at(m)] * g.effects;
                for (Index a = 0; a < f.effects; ++a) {
                    for (Index b = 0; b < g.effects; ++b, ++cross) {
                        result[row + a] += *cross * x[column + b];
                        result[column + b] += *cross * x[row + a];
                    }
                }
            }
        }
    }
    return result;
}

// Column by column, and down each: visit(row, column, factor or −1, pair or −1, place in its block).
template <class Visit>
void FieldStructure::visit_lower(const Visit& visit) const {
    const FieldShape& shape = this->shape();
    const Index p = shape.fixed;
    for (Index j = 0; j < p; ++j) {
        for (Index i = j; i < p; ++i) visit(i, j, -1, -1, i * p + j);
        for (std::size_t f = 0; f < shape.factors.size(); ++f) {
            for (Index i = 0; i < shape.factors[f].size(); ++i) {
                visit(shape.factors[f].offset + i, j, static_cast<int>(f), -2, i * p + j);
            }
        }
    }
    for (std::size_t g = 0; g < shape.factors.size(); ++g) {
        // For each pair in which g is the earlier factor, its meetings by level of g.
        struct ByLevel {
            std::size_t pair;
            std::vector<int> starts;
            std::vector<int> level;
            std::vector<int> meeting;
        };
        std::vector<ByLevel> later;
        for (std::size_t k = 0; k < pairs_.size(); ++k) {
            if (pairs_[k].g != g) continue;
            const Pair& pair = pairs_[k];
            ByLevel own{k, std::vector<int>(at(shape.factors[g].levels) + 1, 0), {}, {}};
            for (const int l : pair.levels) ++own.starts[at(l) + 1];
            std::partial_sum(own.starts.begin(), own.starts.end(), own.starts.begin());
            own.level.resize(pair.levels.size());
            own.meeting.resize(pair.levels.size());
            std::vector<int> next(own.starts.begin(), own.starts.end() - 1);
            for (std::size_t l = 0; l + 1 < pair.starts.size(); ++l) {
                for (int m = pair.starts[l]; m < pair.starts[l + 1]; ++m) {
                    const std::size_t place = at(next[at(pair.levels[at(m)])]++);
                    own.level[place] = static_cast<int>(l);
                    own.meeting[place] = m;
                }
            }
            later.push_back(std::move(own));
        }
        const auto [offset, levels, q] = shape.factors[g];
        for (Index level = 0; level < levels; ++level) {
            for (Index b = 0; b < q; ++b) {
                const Index column = offset + level * q + b;
                for (Index a = b; a < q; ++a) {
                    visit(offset + level * q + a, column, static_cast<int>(g), -1, (level * q + a) * q + b);
                }
                for (const ByLevel& own : later) {
                    const FieldShape::Factor& f = shape.factors[pairs_[own.pair].f];
                    for (int m = own.starts[at(level)]; m < own.starts[at(level) + 1]; ++m) {
                        for (Index a = 0; a < f.effects; ++a) {
                            visit(f.offset + own.level[at(m)] * f.effects + a, column, -1, static_cast<int>(own.pair),
                                  (own.meeting[at(m)] * f.effects + a) * q + b);
                        }
                    }
                }
            }
        }
    }
}

SparseMatrix FieldStructure::lower_pattern() const {
    const Index size = shape().size;
    std::vector<int> rows;
    SparseMatrix result(size, size);
    int* starts = result.outerIndexPtr();
    visit_lower([&](Index row, Index column, int, int, Index) {
        rows.push_back(static_cast<int>(row));
        starts[column + 1] = static_cast<int>(rows.size());
    });
    result.resizeNonZeros(static_cast<Index>(rows.size()));
    std::copy(rows.begin(), rows.end(), result.innerIndexPtr());
    std::fill(result.valuePtr(), result.valuePtr() + rows.size(), 0.0);
    return result;
}

std::vector<double> FieldStructure::lower_values(const FieldBlocks& blocks, double scale, const Vector& fixed_precision,
                                                 const std::vector<Matrix>& precisions) const {
    std::vector<double> values;
    visit_lower([&](Index row, Index column, int factor, int pair, Index place) {
        double value = 0.0;
        if (pair >= 0) {
            value = scale * blocks.cross[at(pair)][at(place)];
        } else if (pair == -2) {
            value = scale * blocks.border[at(factor)][at(place)];
        } else if (factor >= 0) {
            const Index q = shape().factors[at(factor)].effects;
            value = scale * blocks.diagonal[at(factor)][at(place)] + precisions[at(factor)](place / q % q, place % q);
        } else {
            value = scale * blocks.fixed[at(place)] + (row == column ? fixed_precision[row] : 0.0);
        }
        values.push_back(value);
    });
    return values;
}

}  // namespace lrvb::detail
