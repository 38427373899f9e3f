#include "model/field/precision_rest.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <utility>

namespace lrvb::detail {

namespace {

constexpr std::size_t at(std::int64_t i) {
    return static_cast<std::size_t>(i);
}

constexpr Index kSmallRest = 256;
constexpr double kDenseGain = 8.0;  // of dense arithmetic over sparse

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
    find_combined();
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
    positions.assign(neighbours_.begin() + starts_[at(level)], neighbours_.begin() + starts_[at(level) + 1]);
    for (Index j = rest_ - shape().fixed; j < rest_; ++j) positions.push_back(static_cast<int>(j));
}

std::size_t PrecisionPlan::place(Index level) const {
    return at(leading_effects() * (starts_[at(level)] + level * shape().fixed));
}

// The intercept's ones, and columns that are effects' values too, either of which may be centred.
void PrecisionPlan::find_combined() {
    const FieldDesign& design = structure_->design();
    const FieldData& data = design.data();
    const FieldUnits& units = design.units();
    combined_.assign(at(shape().fixed), false);
    if (leading_ < 0) return;
    const FieldFactor& factor = data.factors[at(leading_)];
    const Vector& scale = units.effect_scale[at(leading_)];
    const Vector& centre = units.effect_centre[at(leading_)];
    combinations_ = Matrix::Zero(factor.values.cols(), shape().fixed);
    const FieldCopies& copies = structure_->copies();
    Index ones = -1;
    for (Index e = 0; e < factor.values.cols(); ++e) {
        if (copies.ones[at(leading_)][at(e)]) ones = e;
    }
    Index count = 0;
    const Index first = shape().intercept ? 1 : 0;
    if (first == 1 && ones >= 0) {
        combined_[0] = true;
        combinations_(ones, count++) = scale[ones];
    }
    for (Index j = 0; j < data.columns.cols(); ++j) {
        for (Index e = 0; e < factor.values.cols(); ++e) {
            const double shift = centre[e] - units.centre[j];
            if (!copies.of_column[at(leading_)][at(e)][at(j)] || (ones < 0 && shift != 0.0)) continue;
            combined_[at(first + j)] = true;
            combinations_(e, count) += scale[e] / units.scale[j];
            if (shift != 0.0) combinations_(ones, count) += scale[ones] * shift / units.scale[j];
            ++count;
            break;
        }
    }
    combinations_.conservativeResize(Eigen::NoChange, count);
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
            for (int b = 0; b < source.effects; ++b) neighbours_.push_back(source.first + b);
        }
        starts_[at(i) + 1] = starts_[at(i)] + column;
    }
    beside_starts_.assign(at(rest_ - shape().fixed) + 1, 0);
    for (const int position : neighbours_) ++beside_starts_[at(position) + 1];
    std::partial_sum(beside_starts_.begin(), beside_starts_.end(), beside_starts_.begin());
    besides_.resize(neighbours_.size());
    std::vector<std::int64_t> next(beside_starts_.begin(), beside_starts_.end() - 1);
    for (Index i = 0; i < levels; ++i) {
        for (std::int64_t n = starts_[at(i)]; n < starts_[at(i) + 1]; ++n) {
            besides_[at(next[at(neighbours_[at(n)])]++)] = {static_cast<int>(i), static_cast<int>(n - starts_[at(i)])};
        }
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

}  // namespace lrvb::detail
