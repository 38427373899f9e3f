#include "model/mixture_components.hpp"

#include "family/validate.hpp"

#include <lrvb/family/symmetric.hpp>

#include <Eigen/Cholesky>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

namespace lrvb::detail {

namespace {

const double kLogTwoPi = std::log(2.0 * std::numbers::pi);

}  // namespace

MixtureComponents::MixtureComponents(Index columns, bool full, Index components)
    : columns_(columns),
      full_(full),
      components_(components),
      features_(full ? 1 + columns + half_size(columns) : 1 + 2 * columns) {
    if (has_weights()) layout_.add("pi", family::Dirichlet(components));
    for (Index k = 0; k < components; ++k) {
        const std::string mu = indexed("mu", {k});
        if (full) {
            layout_.add(mu, family::MvNormal(columns));
            layout_.add(indexed("Lambda", {k}), family::Wishart(columns));
            continue;
        }
        const auto name = [&](const char* base, Index p) {
            return columns == 1 ? indexed(base, {k}) : indexed(base, {k, p});
        };
        for (Index p = 0; p < columns; ++p) layout_.add(name("mu", p), family::Normal{});
        for (Index p = 0; p < columns; ++p) layout_.add(name("tau", p), family::Gamma{});
    }
    for (Index k = 0; k < components; ++k) {
        std::vector<Index> positions{has_weights() ? k : -1};
        for (const Index variable : variables_of(k)) {
            for (Index s = 0; s < layout_[variable].size; ++s) positions.push_back(layout_[variable].offset + s);
        }
        stacked_of_.push_back(std::move(positions));
    }
    own_size_ = static_cast<Index>(stacked_of_.front().size());
    list_terms();
}

Index MixtureComponents::location_variable(Index component, Index column) const {
    const Index first = has_weights() ? 1 : 0;
    return full_ ? first + 2 * component : first + 2 * columns_ * component + column;
}

Index MixtureComponents::precision_variable(Index component, Index column) const {
    return location_variable(component, column) + (full_ ? 1 : columns_);
}

std::vector<Index> MixtureComponents::variables_of(Index component) const {
    std::vector<Index> variables(static_cast<std::size_t>(full_ ? 2 : 2 * columns_));
    std::iota(variables.begin(), variables.end(), location_variable(component, 0));
    return variables;
}

// ρ = log π + ½ log det Λ − ½P log 2π − ½ tr(Λ μμᵀ) + (Λμ)ᵀx − ½ tr(Λ xxᵀ), each statistic at its mean.
void MixtureComponents::list_terms() {
    const double size = static_cast<double>(columns_);
    terms_.push_back({0, 1.0, 0, -1});
    terms_.push_back({0, -0.5 * size * kLogTwoPi, -1, -1});
    if (!full_) {
        for (Index p = 0; p < columns_; ++p) {
            const Index mu = 1 + 2 * p;
            const Index tau = 1 + 2 * columns_ + 2 * p;
            terms_.push_back({0, 0.5, tau + 1, -1});
            terms_.push_back({0, -0.5, tau, mu + 1});
            terms_.push_back({1 + p, 1.0, tau, mu});
            terms_.push_back({1 + columns_ + p, -0.5, tau, -1});
        }
        return;
    }
    const Index halves = half_size(columns_);
    const Index mu = 1;
    const Index second = 1 + columns_;
    const Index lambda = second + halves;
    terms_.push_back({0, 0.5, lambda + halves, -1});
    for (Index i = 0; i < columns_; ++i) {
        for (Index j = 0; j < columns_; ++j) {
            const Index at = half_index(i, j, columns_);
            terms_.push_back({1 + i, 1.0, lambda + at, mu + j});
            if (j < i) continue;
            const double weight = i == j ? -0.5 : -1.0;
            terms_.push_back({0, weight, lambda + at, second + at});
            terms_.push_back({1 + columns_ + at, weight, lambda + at, -1});
        }
    }
}

Vector MixtureComponents::own_means(const Vector& mean, Index component) const {
    const std::vector<Index>& positions = stacked_of_[static_cast<std::size_t>(component)];
    Vector own(own_size_);
    for (Index i = 0; i < own_size_; ++i) {
        const Index at = positions[static_cast<std::size_t>(i)];
        own[i] = at < 0 ? 0.0 : mean[at];
    }
    return own;
}

Matrix MixtureComponents::theta(const Vector& mean) const {
    Matrix result = Matrix::Zero(features_, components_);
    for (Index k = 0; k < components_; ++k) {
        const Vector own = own_means(mean, k);
        for (const Term& term : terms_) {
            result(term.feature, k) +=
                term.coefficient * (term.a < 0 ? 1.0 : own[term.a]) * (term.b < 0 ? 1.0 : own[term.b]);
        }
    }
    return result;
}

Matrix MixtureComponents::plug_in_theta(const State& state) const {
    // The same scores at statistics of the posterior means: log of E π, products of E μ, log det of E Λ.
    Vector point = state.mean;
    if (has_weights() && !state.clamped[0]) {
        const Vector alpha = layout_.segment(state.natural, 0).array() + 1.0;
        layout_.segment(point, 0) = (alpha / alpha.sum()).array().log();
    }
    for (Index k = 0; k < components_; ++k) {
        for (const Index variable : variables_of(k)) {
            const VariableInfo& info = layout_[variable];
            if (state.clamped[static_cast<std::size_t>(variable)]) continue;
            layout_.segment(point, variable) = std::visit(
                [&]<class F>(const F& family) -> Vector {
                    Vector own = layout_.segment(state.mean, variable);
                    if constexpr (std::is_same_v<F, family::MvNormal>) return family.statistic(own.head(columns_));
                    if constexpr (std::is_same_v<F, family::Wishart>) return family.statistic(own.head(own.size() - 1));
                    if constexpr (std::is_same_v<F, family::Normal> || std::is_same_v<F, family::Gamma>) {
                        return family.statistic(own.head(1));
                    }
                    return own;
                },
                info.family);
        }
    }
    return theta(point);
}

Vector MixtureComponents::own_gradient(const Vector& own, const Vector& sums) const {
    Vector result = Vector::Zero(own_size_);
    for (const Term& term : terms_) {
        const double weight = term.coefficient * sums[term.feature];
        if (term.a >= 0) result[term.a] += weight * (term.b < 0 ? 1.0 : own[term.b]);
        if (term.b >= 0) result[term.b] += weight * own[term.a];
    }
    return result;
}

Vector MixtureComponents::gradient(const Vector& mean, const Matrix& sums) const {
    return scattered([&](Index k) { return own_gradient(own_means(mean, k), sums.col(k)); });
}

Vector MixtureComponents::gradient_magnitude(const Vector& mean, const Matrix& sums) const {
    return scattered([&](Index k) {
        const Vector own = own_means(mean, k);
        Vector result = Vector::Zero(own_size_);
        for (const Term& term : terms_) {
            const double weight = std::abs(term.coefficient * sums(term.feature, k));
            if (term.a >= 0) result[term.a] += weight * (term.b < 0 ? 1.0 : std::abs(own[term.b]));
            if (term.b >= 0) result[term.b] += weight * std::abs(own[term.a]);
        }
        return result;
    });
}

template <class OwnOf>
Vector MixtureComponents::scattered(OwnOf own_of) const {
    Vector result = Vector::Zero(layout_.size());
    for (Index k = 0; k < components_; ++k) {
        const Vector own = own_of(k);
        for (Index i = 0; i < own_size_; ++i) {
            const Index at = stacked_of_[static_cast<std::size_t>(k)][static_cast<std::size_t>(i)];
            if (at >= 0) result[at] += own[i];
        }
    }
    return result;
}

Vector MixtureComponents::block_gradient(const Vector& mean, Index component, const Vector& sums,
                                         Index variable) const {
    const Vector own = own_gradient(own_means(mean, component), sums);
    const Index first = layout_[variable].offset - layout_[location_variable(component, 0)].offset;
    return own.segment(1 + first, layout_[variable].size);
}

Matrix MixtureComponents::jacobian(const Vector& own) const {
    Matrix result = Matrix::Zero(features_, own_size_);
    for (const Term& term : terms_) {
        if (term.a >= 0) result(term.feature, term.a) += term.coefficient * (term.b < 0 ? 1.0 : own[term.b]);
        if (term.b >= 0) result(term.feature, term.b) += term.coefficient * own[term.a];
    }
    return result;
}

// Σ_k Σ_f s_kf ∇²θ_kf + Σ_{k<l} (J_k − J_l)ᵀ P_kl (J_k − J_l), with J_k = ∂θ_k/∂m and P_kl the pair sums of the pass.
SparseMatrix MixtureComponents::hessian(const Vector& mean, const PassSums& sums) const {
    const Index size = layout_.size();
    Matrix dense = Matrix::Zero(size, size);
    const auto scatter = [&](Index k, Index l, const Matrix& block) {
        const std::vector<Index>& rows = stacked_of_[static_cast<std::size_t>(k)];
        const std::vector<Index>& columns = stacked_of_[static_cast<std::size_t>(l)];
        for (Index j = 0; j < own_size_; ++j) {
            const Index column = columns[static_cast<std::size_t>(j)];
            if (column < 0) continue;
            for (Index i = 0; i < own_size_; ++i) {
                const Index row = rows[static_cast<std::size_t>(i)];
                if (row >= 0) dense(row, column) += block(i, j);
            }
        }
    };
    std::vector<Matrix> jacobians;
    std::vector<Matrix> own_pairs(static_cast<std::size_t>(components_), Matrix::Zero(features_, features_));
    for (Index k = 0; k < components_; ++k) jacobians.push_back(jacobian(own_means(mean, k)));
    std::size_t pair = 0;
    for (std::size_t k = 0; k < jacobians.size(); ++k) {
        for (std::size_t l = k + 1; l < jacobians.size(); ++l, ++pair) {
            own_pairs[k] += sums.pairs[pair];
            own_pairs[l] += sums.pairs[pair];
            const Matrix cross = -jacobians[k].transpose() * sums.pairs[pair] * jacobians[l];
            scatter(static_cast<Index>(k), static_cast<Index>(l), cross);
            scatter(static_cast<Index>(l), static_cast<Index>(k), cross.transpose());
        }
    }
    for (Index k = 0; k < components_; ++k) {
        const Matrix& j = jacobians[static_cast<std::size_t>(k)];
        Matrix block = j.transpose() * own_pairs[static_cast<std::size_t>(k)] * j;
        for (const Term& term : terms_) {
            if (term.b < 0) continue;
            const double value = term.coefficient * sums.sums(term.feature, k);
            block(term.a, term.b) += value;
            block(term.b, term.a) += value;
        }
        scatter(k, k, block);
    }
    SparseMatrix lower(size, size);
    lower.reserve(Eigen::VectorXi::LinSpaced(size, static_cast<int>(size), 1));
    for (Index column = 0; column < size; ++column) {
        for (Index row = column; row < size; ++row) lower.insert(row, column) = dense(row, column);
    }
    lower.makeCompressed();
    return lower;
}

Functionals MixtureComponents::in_data_units(const std::vector<std::string>& names, const RowFormat& format) const {
    std::vector<Eigen::Triplet<double, int>> entries;
    Vector constants = Vector::Zero(static_cast<Index>(names.size()));
    for (Index c = 0; c < constants.size(); ++c) {
        const Index position = layout_.statistic(names[static_cast<std::size_t>(c)]);
        const Index variable = layout_.variable_of(position);
        const VariableInfo& info = layout_[variable];
        const Index s = position - info.offset;
        const auto add = [&](Index statistic, double weight) {
            entries.emplace_back(static_cast<int>(info.offset + statistic), static_cast<int>(c), weight);
        };
        const auto scale = [&](Index p) { return 1.0 / format.inverse_scale[p]; };
        // x_p x_q = (c_p + s_p x'_p)(c_q + s_q x'_q), from the linear statistics p, q and the second one.
        const auto add_second = [&](Index p, Index q, Index linear_p, Index linear_q) {
            add(s, scale(p) * scale(q));
            add(linear_p, format.centre[q] * scale(p));
            add(linear_q, format.centre[p] * scale(q));
            constants[c] = format.centre[p] * format.centre[q];
        };
        const Index column = full_ ? 0 : (variable - location_variable(0, 0)) % columns_;
        if (std::holds_alternative<family::Dirichlet>(info.family)) {
            add(s, 1.0);
        } else if (std::holds_alternative<family::Normal>(info.family)) {
            if (s == 0) {
                add(0, scale(column));
                constants[c] = format.centre[column];
            } else {
                add_second(column, column, 0, 0);
            }
        } else if (std::holds_alternative<family::Gamma>(info.family)) {
            add(s, s == 0 ? 1.0 / (scale(column) * scale(column)) : 1.0);
            if (s == 1) constants[c] = -2.0 * std::log(scale(column));
        } else {
            Index halves = std::holds_alternative<family::MvNormal>(info.family) ? s - columns_ : s;
            if (halves < 0) {
                add(s, scale(s));
                constants[c] = format.centre[s];
                continue;
            }
            if (halves == half_size(columns_)) {
                add(s, 1.0);
                constants[c] = 2.0 * format.inverse_scale.array().log().sum();
                continue;
            }
            Index p = 0;
            while (halves >= columns_ - p) halves -= columns_ - p++;
            const Index q = p + halves;
            if (std::holds_alternative<family::MvNormal>(info.family)) {
                add_second(p, q, p, q);
            } else {
                add(s, 1.0 / (scale(p) * scale(q)));
            }
        }
    }
    SparseMatrix weights(layout_.size(), constants.size());
    weights.setFromTriplets(entries.begin(), entries.end());
    return {weights, constants};
}

State MixtureComponents::ordered(const State& state) const {
    std::vector<Index> order(static_cast<std::size_t>(components_));
    std::iota(order.begin(), order.end(), Index{0});
    const auto first_mean = [&](Index k) { return state.mean[layout_[location_variable(k, 0)].offset]; };
    std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) { return first_mean(a) < first_mean(b); });
    State result = state;
    for (Index k = 0; k < components_; ++k) {
        const std::vector<Index>& to = stacked_of_[static_cast<std::size_t>(k)];
        const std::vector<Index>& from = stacked_of_[static_cast<std::size_t>(order[static_cast<std::size_t>(k)])];
        for (std::size_t i = 0; i < to.size(); ++i) {
            if (to[i] < 0) continue;
            result.mean[to[i]] = state.mean[from[i]];
            result.natural[to[i]] = state.natural[from[i]];
        }
    }
    return result;
}

}  // namespace lrvb::detail
