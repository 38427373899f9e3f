#include "model/multilinear_form.hpp"

#include "base/compensated_sum.hpp"

#include <algorithm>
#include <cmath>

namespace lrvb::detail {

namespace {

constexpr std::size_t kNone = static_cast<std::size_t>(-1);

// Taking out all that there was must leave nothing: a rest at the rounding of the sums would pass for a tiny precision.
double sum_without_rounding(double value, double change) {
    const double sum = value + change;
    return std::abs(sum) <= 1e-14 * std::abs(value) ? 0.0 : sum;
}

}  // namespace

MultilinearForm::MultilinearForm(const MonomialSum& sum, Index statistics)
    : statistics_(statistics), linear_(Vector::Zero(statistics)), starts_{0} {
    for (std::size_t i = 0; i < sum.size(); ++i) {
        const auto factors = sum.statistics(i);
        if (factors.empty()) {
            constant_ = sum.coefficient(i);
        } else if (factors.size() == 1) {
            linear_[factors.front()] = sum.coefficient(i);
        } else {
            coefficients_.push_back(sum.coefficient(i));
            pool_.insert(pool_.end(), factors.begin(), factors.end());
            starts_.push_back(static_cast<std::uint32_t>(pool_.size()));
        }
    }
    index_by_statistic();
    build_hessian_pattern();
}

MultilinearForm MultilinearForm::tilted(const Vector& tilt) const {
    MultilinearForm result = *this;
    result.linear_ += tilt;
    return result;
}

MultilinearForm MultilinearForm::changed(const MonomialSum& change) const {
    MultilinearForm result = *this;
    for (std::size_t i = 0; i < change.size(); ++i) {
        const std::span<const std::uint32_t> factors = change.statistics(i);
        const double by = change.coefficient(i);
        if (factors.empty()) {
            result.constant_ += by;
        } else if (factors.size() == 1) {
            double& coefficient = result.linear_[factors.front()];
            coefficient = sum_without_rounding(coefficient, by);
        } else if (const std::size_t term = find(factors); term < term_count()) {
            result.coefficients_[term] = sum_without_rounding(coefficients_[term], by);
        } else {
            // Terms of single rows may have cancelled in the sum: those of orthogonal columns.
            result.coefficients_.push_back(by);
            result.pool_.insert(result.pool_.end(), factors.begin(), factors.end());
            result.starts_.push_back(static_cast<std::uint32_t>(result.pool_.size()));
        }
    }
    if (result.term_count() > term_count()) {
        result.index_by_statistic();
        result.build_hessian_pattern();
    }
    return result;
}

std::size_t MultilinearForm::find(std::span<const std::uint32_t> statistics) const {
    const auto uses = [&](std::uint32_t s) { return term_starts_[s + 1] - term_starts_[s]; };
    const std::uint32_t rarest = *std::ranges::min_element(statistics, {}, uses);
    for (std::uint32_t i = term_starts_[rarest]; i < term_starts_[rarest + 1]; ++i) {
        const std::uint32_t term = terms_of_[i];
        const std::span<const std::uint32_t> factors(pool_.data() + starts_[term], pool_.data() + starts_[term + 1]);
        if (std::ranges::equal(factors, statistics)) return term;
    }
    return term_count();
}

bool MultilinearForm::is_invariant(const std::vector<std::uint32_t>& moved) const {
    const auto same = [](double a, double b) { return std::abs(a - b) <= 1e-12 * std::max(std::abs(a), std::abs(b)); };
    for (std::size_t s = 0; s < moved.size(); ++s) {
        if (!same(linear_[static_cast<Index>(s)], linear_[static_cast<Index>(moved[s])])) return false;
    }
    std::vector<std::uint32_t> factors;
    for (std::size_t term = 0; term < term_count(); ++term) {
        factors.assign(pool_.begin() + starts_[term], pool_.begin() + starts_[term + 1]);
        bool moves = false;
        for (std::uint32_t& factor : factors) {
            moves = moves || moved[factor] != factor;
            factor = moved[factor];
        }
        if (!moves) continue;
        std::ranges::sort(factors);
        const std::size_t image = find(factors);
        if (image == term_count() || !same(coefficients_[term], coefficients_[image])) return false;
    }
    return true;
}

void MultilinearForm::index_by_statistic() {
    term_starts_.assign(static_cast<std::size_t>(statistics_) + 1, 0);
    for (const std::uint32_t statistic : pool_) ++term_starts_[statistic + 1];
    for (std::size_t s = 1; s < term_starts_.size(); ++s) term_starts_[s] += term_starts_[s - 1];
    terms_of_.resize(pool_.size());
    std::vector<std::uint32_t> next(term_starts_.begin(), term_starts_.end() - 1);
    for (std::size_t term = 0; term < coefficients_.size(); ++term) {
        for (std::uint32_t p = starts_[term]; p < starts_[term + 1]; ++p) {
            terms_of_[next[pool_[p]]++] = static_cast<std::uint32_t>(term);
        }
    }
}

void MultilinearForm::build_hessian_pattern() {
    pairs_.clear();
    std::vector<Eigen::Triplet<double, int>> entries;
    for (std::size_t term = 0; term < coefficients_.size(); ++term) {
        for (std::uint32_t p = starts_[term]; p < starts_[term + 1]; ++p) {
            for (std::uint32_t q = starts_[term]; q < p; ++q) {
                entries.emplace_back(static_cast<int>(pool_[p]), static_cast<int>(pool_[q]), 0.0);
                pairs_.push_back({static_cast<std::uint32_t>(term), p - starts_[term], q - starts_[term], 0});
            }
        }
    }
    hessian_pattern_.resize(statistics_, statistics_);
    hessian_pattern_.setFromTriplets(entries.begin(), entries.end());
    for (PairSlot& pair : pairs_) {
        const int row = static_cast<int>(pool_[starts_[pair.term] + pair.first]);
        const std::uint32_t column = pool_[starts_[pair.term] + pair.second];
        const int* begin = hessian_pattern_.innerIndexPtr() + hessian_pattern_.outerIndexPtr()[column];
        const int* end = hessian_pattern_.innerIndexPtr() + hessian_pattern_.outerIndexPtr()[column + 1];
        pair.entry = static_cast<std::uint32_t>(std::lower_bound(begin, end, row) - hessian_pattern_.innerIndexPtr());
    }
}

double MultilinearForm::product_without(std::size_t term, std::size_t skip_a, std::size_t skip_b,
                                        const Vector& mean) const {
    double product = coefficients_[term];
    const std::size_t degree = starts_[term + 1] - starts_[term];
    for (std::size_t i = 0; i < degree; ++i) {
        if (i != skip_a && i != skip_b) product *= mean[pool_[starts_[term] + i]];
    }
    return product;
}

void MultilinearForm::block_gradient(const Vector& mean, Index offset, Eigen::Ref<Vector> block) const {
    for (Index r = 0; r < block.size(); ++r) {
        const std::size_t statistic = static_cast<std::size_t>(offset + r);
        double sum = linear_[offset + r];
        for (std::uint32_t i = term_starts_[statistic]; i < term_starts_[statistic + 1]; ++i) {
            const std::uint32_t term = terms_of_[i];
            double product = coefficients_[term];
            for (std::uint32_t p = starts_[term]; p < starts_[term + 1]; ++p) {
                if (pool_[p] != statistic) product *= mean[pool_[p]];
            }
            sum += product;
        }
        block[r] = sum;
    }
}

Vector MultilinearForm::gradient(const Vector& mean) const {
    Vector result = linear_;
    for (std::size_t term = 0; term < coefficients_.size(); ++term) {
        const std::size_t degree = starts_[term + 1] - starts_[term];
        for (std::size_t i = 0; i < degree; ++i) {
            result[pool_[starts_[term] + i]] += product_without(term, i, kNone, mean);
        }
    }
    return result;
}

Vector MultilinearForm::gradient_magnitude(const Vector& mean) const {
    Vector result = linear_.cwiseAbs();
    for (std::size_t term = 0; term < coefficients_.size(); ++term) {
        const std::size_t degree = starts_[term + 1] - starts_[term];
        for (std::size_t i = 0; i < degree; ++i) {
            result[pool_[starts_[term] + i]] += std::abs(product_without(term, i, kNone, mean));
        }
    }
    return result;
}

SparseMatrix MultilinearForm::hessian(const Vector& mean) const {
    SparseMatrix result = hessian_pattern_;
    double* values = result.valuePtr();
    std::fill(values, values + result.nonZeros(), 0.0);
    for (const PairSlot& pair : pairs_) values[pair.entry] += product_without(pair.term, pair.first, pair.second, mean);
    return result;
}

double MultilinearForm::value(const VectorView& mean) const {
    CompensatedSum sum;
    sum.add(constant_);
    for (Index s = 0; s < statistics_; ++s) sum.add(linear_[s] * mean[s]);
    for (std::size_t term = 0; term < coefficients_.size(); ++term) {
        double product = coefficients_[term];
        for (std::uint32_t p = starts_[term]; p < starts_[term + 1]; ++p) product *= mean[pool_[p]];
        sum.add(product);
    }
    return sum.value();
}

Expansion MultilinearForm::expand(const Vector& mean, Order order) const {
    Expansion expansion;
    CompensatedSum sum;
    const auto add = [&](double term) {
        sum.add(term);
        expansion.magnitude += std::abs(term);
    };
    add(constant_);
    for (Index s = 0; s < statistics_; ++s) add(linear_[s] * mean[s]);
    for (std::size_t term = 0; term < coefficients_.size(); ++term) add(product_without(term, kNone, kNone, mean));
    expansion.value = sum.value();
    if (order >= Order::gradient) {
        expansion.gradient = gradient(mean);
        expansion.gradient_magnitude = gradient_magnitude(mean);
    }
    if (order >= Order::hessian) expansion.hessian = hessian(mean);
    return expansion;
}

}  // namespace lrvb::detail
