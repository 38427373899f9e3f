#include "model/joint/form.hpp"

#include "base/compensated_sum.hpp"

#include <algorithm>
#include <cmath>
#include <map>

namespace lrvb::detail {

namespace {

constexpr std::size_t kSkipNone = static_cast<std::size_t>(-1);

}  // namespace

double sum_of_products(const Vector& phi, const Vector& u) {
    CompensatedSum sum;
    for (Index k = 0; k < u.size(); ++k) sum.add(phi[k] * u[k]);
    return sum.value();
}

JointForm::JointForm(const MultilinearForm& form, const JointShape& shape, bool dense) : shape_(shape), dense_(dense) {
    struct Group {
        double constant = 0.0;
        std::vector<Linear> linear;
        std::vector<Quadratic> pairs;
    };
    std::map<std::vector<std::uint32_t>, std::size_t> numbers;
    std::vector<Group> groups;
    const auto first_coefficient = static_cast<std::uint32_t>(shape.others);
    const auto first_pair = static_cast<std::uint32_t>(shape.statistics());
    factor_starts_ = {0};
    form.visit_terms([&](double coefficient, std::span<const std::uint32_t> statistics) {
        // Ascending: what belongs to the coefficients stands last, and is one statistic.
        const bool has_own = !statistics.empty() && statistics.back() >= first_coefficient;
        const std::vector<std::uint32_t> key(statistics.begin(), statistics.end() - (has_own ? 1 : 0));
        const auto [found, is_new] = numbers.emplace(key, groups.size());
        if (is_new) {
            groups.emplace_back();
            factors_.insert(factors_.end(), key.begin(), key.end());
            factor_starts_.push_back(static_cast<std::uint32_t>(factors_.size()));
        }
        Group& group = groups[found->second];
        if (!has_own) {
            group.constant += coefficient;
        } else if (statistics.back() < first_pair) {
            group.linear.push_back({statistics.back() - first_coefficient, coefficient});
        } else {
            group.pairs.push_back({statistics.back() - first_pair, coefficient});
        }
    });
    linear_starts_ = {0};
    pair_starts_ = {0};
    std::vector<bool> is_scale(static_cast<std::size_t>(shape.others), false);
    for (std::size_t k = 0; k < groups.size(); ++k) {
        const Group& group = groups[k];
        constants_.push_back(group.constant);
        linear_.insert(linear_.end(), group.linear.begin(), group.linear.end());
        linear_starts_.push_back(static_cast<std::uint32_t>(linear_.size()));
        pairs_.insert(pairs_.end(), group.pairs.begin(), group.pairs.end());
        pair_starts_.push_back(static_cast<std::uint32_t>(pairs_.size()));
        if (group.pairs.empty()) continue;
        quadratic_.push_back(static_cast<std::uint32_t>(k));
        for (const std::uint32_t s : factors(k)) is_scale[s] = true;
    }
    for (std::size_t s = 0; s < is_scale.size(); ++s) {
        if (is_scale[s]) scales_.push_back(static_cast<std::uint32_t>(s));
    }
    build_pattern();
}

double JointForm::product_without(std::size_t k, std::size_t skip_a, std::size_t skip_b, const Vector& t) const {
    double product = 1.0;
    const std::span<const std::uint32_t> own = factors(k);
    for (std::size_t i = 0; i < own.size(); ++i) {
        if (i != skip_a && i != skip_b) product *= t[own[i]];
    }
    return product;
}

Vector JointForm::phi(const Vector& t) const {
    Vector result(products());
    for (std::size_t k = 0; k < constants_.size(); ++k) {
        result[static_cast<Index>(k)] = product_without(k, kSkipNone, kSkipNone, t);
    }
    return result;
}

Vector JointForm::values(const Vector& x, Vector* magnitudes) const {
    Vector result(products());
    if (magnitudes != nullptr) magnitudes->resize(products());
    for (std::size_t k = 0; k < constants_.size(); ++k) {
        double sum = constants_[k];
        double size = std::abs(sum);
        const auto add = [&](double term) {
            sum += term;
            size += std::abs(term);
        };
        for (const Linear& entry : linear(k)) add(entry.value * x[entry.coefficient]);
        for (const Quadratic& entry : pairs(k)) {
            const CoefficientPair& pair = shape_.pairs[entry.pair];
            add(entry.value * x[pair.row] * x[pair.column]);
        }
        result[static_cast<Index>(k)] = sum;
        if (magnitudes != nullptr) (*magnitudes)[static_cast<Index>(k)] = size;
    }
    return result;
}

void JointForm::add_second(const Matrix& symmetric, Vector& u) const {
    for (const std::uint32_t k : quadratic_) {
        double sum = 0.0;
        for (const Quadratic& entry : pairs(k)) {
            const CoefficientPair& pair = shape_.pairs[entry.pair];
            sum += entry.value * symmetric(pair.row, pair.column);
        }
        u[k] += sum;
    }
}

void JointForm::precision(const Vector& phi, Matrix& lower) const {
    const Index d = shape_.coefficients;
    lower.setZero(d, d);
    for (const std::uint32_t k : quadratic_) {
        for (const Quadratic& entry : pairs(k)) {
            const CoefficientPair& pair = shape_.pairs[entry.pair];
            lower(pair.row, pair.column) -= phi[k] * entry.value * (pair.row == pair.column ? 2.0 : 1.0);
        }
    }
}

Vector JointForm::force(const Vector& phi, Vector* magnitudes) const {
    Vector result = Vector::Zero(shape_.coefficients);
    if (magnitudes != nullptr) magnitudes->setZero(shape_.coefficients);
    for (std::size_t k = 0; k < constants_.size(); ++k) {
        for (const Linear& entry : linear(k)) {
            const double term = phi[static_cast<Index>(k)] * entry.value;
            result[entry.coefficient] += term;
            if (magnitudes != nullptr) (*magnitudes)[entry.coefficient] += std::abs(term);
        }
    }
    return result;
}

Vector JointForm::slope(const Vector& phi, const Vector& x) const {
    Vector result = force(phi);
    for (const std::uint32_t k : quadratic_) {
        for (const Quadratic& entry : pairs(k)) {
            const CoefficientPair& pair = shape_.pairs[entry.pair];
            result[pair.row] += phi[k] * entry.value * x[pair.column];
            result[pair.column] += phi[k] * entry.value * x[pair.row];
        }
    }
    return result;
}

Vector JointForm::slope_sizes(const Vector& phi, const Vector& x) const {
    Vector result;
    force(phi, &result);
    for (const std::uint32_t k : quadratic_) {
        for (const Quadratic& entry : pairs(k)) {
            const CoefficientPair& pair = shape_.pairs[entry.pair];
            result[pair.row] += std::abs(phi[k] * entry.value * x[pair.column]);
            result[pair.column] += std::abs(phi[k] * entry.value * x[pair.row]);
        }
    }
    return result;
}

Vector JointForm::pull(const Vector& t, const Vector& v, bool sizes) const {
    Vector result = Vector::Zero(shape_.others);
    for (std::size_t k = 0; k < constants_.size(); ++k) {
        const std::span<const std::uint32_t> own = factors(k);
        for (std::size_t i = 0; i < own.size(); ++i) {
            const double term = product_without(k, i, kSkipNone, t) * v[static_cast<Index>(k)];
            result[own[i]] += sizes ? std::abs(term) : term;
        }
    }
    return result;
}

Vector JointForm::push(const Vector& t, const VectorView& direction) const {
    Vector result = Vector::Zero(products());
    for (std::size_t k = 0; k < constants_.size(); ++k) {
        const std::span<const std::uint32_t> own = factors(k);
        for (std::size_t i = 0; i < own.size(); ++i) {
            if (direction[own[i]] == 0.0) continue;
            result[static_cast<Index>(k)] += product_without(k, i, kSkipNone, t) * direction[own[i]];
        }
    }
    return result;
}

Matrix JointForm::half_sandwich(std::uint32_t k, const Matrix& symmetric, std::vector<std::uint32_t>& support) const {
    support.clear();
    for (const Quadratic& entry : pairs(k)) {
        support.push_back(shape_.pairs[entry.pair].row);
        support.push_back(shape_.pairs[entry.pair].column);
    }
    std::ranges::sort(support);
    support.erase(std::unique(support.begin(), support.end()), support.end());
    const auto place = [&](std::uint32_t i) {
        return static_cast<Index>(std::ranges::lower_bound(support, i) - support.begin());
    };
    Matrix result = Matrix::Zero(symmetric.rows(), static_cast<Index>(support.size()));
    for (const Quadratic& entry : pairs(k)) {
        const auto [row, column] = shape_.pairs[entry.pair];
        // Entries (i, j) and (j, i) of A_k; on the diagonal the two are one, of twice the size.
        result.col(place(row)) -= entry.value * symmetric.col(column);
        result.col(place(column)) -= entry.value * symmetric.col(row);
    }
    return result;
}

Vector JointForm::sandwich(std::uint32_t k, const Matrix& symmetric) const {
    std::vector<std::uint32_t> support;
    // By rows, so that the products below run along memory.
    const Matrix half = half_sandwich(k, symmetric, support).transpose();
    Matrix other(half.rows(), symmetric.cols());
    for (std::size_t s = 0; s < support.size(); ++s) other.row(static_cast<Index>(s)) = symmetric.row(support[s]);
    Vector result(static_cast<Index>(shape_.pairs.size()));
    for (std::size_t e = 0; e < shape_.pairs.size(); ++e) {
        const auto [row, column] = shape_.pairs[e];
        result[static_cast<Index>(e)] = half.col(row).dot(other.col(column));
    }
    return result;
}

double JointForm::along_pairs(std::uint32_t k, const Vector& v) const {
    double sum = 0.0;
    for (const Quadratic& entry : pairs(k)) sum += entry.value * v[entry.pair];
    return sum;
}

double JointForm::along_products(std::uint32_t k, const Eigen::Ref<const Vector>& w) const {
    double sum = 0.0;
    for (const Quadratic& entry : pairs(k)) {
        const CoefficientPair& pair = shape_.pairs[entry.pair];
        sum += entry.value * w[pair.row] * w[pair.column];
    }
    return sum;
}

SparseMatrix JointForm::scale_slopes(const Vector& t) const {
    std::vector<Eigen::Triplet<double, int>> entries;
    for (std::size_t i = 0; i < quadratic_.size(); ++i) {
        const std::span<const std::uint32_t> own = factors(quadratic_[i]);
        for (std::size_t f = 0; f < own.size(); ++f) {
            const auto scale = std::ranges::lower_bound(scales_, own[f]) - scales_.begin();
            entries.emplace_back(static_cast<int>(i), static_cast<int>(scale),
                                 product_without(quadratic_[i], f, kSkipNone, t));
        }
    }
    SparseMatrix result(static_cast<Index>(quadratic_.size()), static_cast<Index>(scales_.size()));
    result.setFromTriplets(entries.begin(), entries.end());
    return result;
}

std::uint32_t JointForm::slot(Index row, Index column) const {
    const int* begin = pattern_.innerIndexPtr() + pattern_.outerIndexPtr()[column];
    const int* end = pattern_.innerIndexPtr() + pattern_.outerIndexPtr()[column + 1];
    return static_cast<std::uint32_t>(std::lower_bound(begin, end, static_cast<int>(row)) - pattern_.innerIndexPtr());
}

void JointForm::build_pattern() {
    const Index size = shape_.statistics();
    const Index first = shape_.others;
    std::vector<Eigen::Triplet<double, int>> entries;
    const auto visit = [&](const auto& other, const auto& scale, const auto& mixed, const auto& own) {
        for (std::size_t k = 0; k < constants_.size(); ++k) {
            const std::span<const std::uint32_t> factors = this->factors(k);
            for (std::size_t i = 0; i < factors.size(); ++i) {
                for (std::size_t j = 0; j < i; ++j) other(factors[i], factors[j]);
                for (const Linear& entry : linear(k)) mixed(first + entry.coefficient, factors[i]);
                for (const Quadratic& entry : pairs(k)) {
                    mixed(first + shape_.pairs[entry.pair].row, factors[i]);
                    mixed(first + shape_.pairs[entry.pair].column, factors[i]);
                }
            }
        }
        for (std::size_t i = 0; i < scales_.size(); ++i) {
            for (std::size_t j = 0; j <= i; ++j) scale(scales_[i], scales_[j]);
        }
        for (const CoefficientPair& pair : shape_.pairs) own(first + pair.row, first + pair.column);
        for (Index i = 0; i < shape_.coefficients; ++i) own(first + i, first + i);
    };
    const auto enter = [&](Index row, Index column) {
        entries.emplace_back(static_cast<int>(row), static_cast<int>(column), 0.0);
    };
    visit(enter, enter, enter, enter);
    if (dense_) {
        for (Index j = 0; j < shape_.coefficients; ++j) {
            for (Index i = j; i < shape_.coefficients; ++i) enter(first + i, first + j);
            for (const std::uint32_t scale : scales_) enter(first + j, scale);
        }
    }
    pattern_.resize(size, size);
    pattern_.setFromTriplets(entries.begin(), entries.end());
    const auto into = [&](std::vector<std::uint32_t>& slots) {
        return [&](Index row, Index column) { slots.push_back(slot(row, column)); };
    };
    visit(into(other_slots_), into(scale_slots_), into(mixed_slots_), into(own_slots_));
}

SparseMatrix JointForm::hessian(const Vector& t, const Vector& phi, const Vector& x, const Vector& u,
                                const Matrix& between, const Matrix& mixed, const Matrix& bent,
                                const Vector& diagonal) const {
    SparseMatrix result = pattern_;
    double* values = result.valuePtr();
    std::fill(values, values + result.nonZeros(), 0.0);
    const std::uint32_t* other_slot = other_slots_.data();
    const std::uint32_t* mixed_slot = mixed_slots_.data();
    for (std::size_t k = 0; k < constants_.size(); ++k) {
        const std::size_t degree = factors(k).size();
        for (std::size_t i = 0; i < degree; ++i) {
            for (std::size_t j = 0; j < i; ++j) {
                values[*other_slot++] += product_without(k, i, j, t) * u[static_cast<Index>(k)];
            }
            const double slope = product_without(k, i, kSkipNone, t);
            for (const Linear& entry : linear(k)) values[*mixed_slot++] += slope * entry.value;
            for (const Quadratic& entry : pairs(k)) {
                const CoefficientPair& pair = shape_.pairs[entry.pair];
                values[*mixed_slot++] += slope * entry.value * x[pair.column];
                values[*mixed_slot++] += slope * entry.value * x[pair.row];
            }
        }
    }
    const std::uint32_t* scale_slot = scale_slots_.data();
    for (Index i = 0; i < static_cast<Index>(scales_.size()); ++i) {
        for (Index j = 0; j <= i; ++j) values[*scale_slot++] += between(i, j);
    }
    for (const std::uint32_t k : quadratic_) {
        for (const Quadratic& entry : pairs(k)) {
            const CoefficientPair& pair = shape_.pairs[entry.pair];
            values[own_slots_[entry.pair]] += phi[k] * entry.value * (pair.row == pair.column ? 2.0 : 1.0);
        }
    }
    const std::uint32_t* diagonal_slot = own_slots_.data() + shape_.pairs.size();
    for (Index i = 0; i < shape_.coefficients; ++i) values[diagonal_slot[i]] += diagonal[i];
    const Index d = shape_.coefficients;
    if (bent.size() > 0) {
        for (Index j = 0; j < d; ++j) {
            const Index column = shape_.others + j;
            double* first = values + pattern_.outerIndexPtr()[column];
            for (Index i = j; i < d; ++i) first[i - j] += bent(i, j);
        }
    }
    if (mixed.size() > 0) {
        for (std::size_t s = 0; s < scales_.size(); ++s) {
            double* last = values + pattern_.outerIndexPtr()[scales_[s] + 1];
            for (Index i = 0; i < d; ++i) last[i - d] += mixed(i, static_cast<Index>(s));
        }
    }
    return result;
}

}  // namespace lrvb::detail
