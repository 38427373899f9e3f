#include "kind/mixture/components.hpp"

#include "base/validate.hpp"

#include <lrvb/family/symmetric.hpp>

#include <Eigen/Cholesky>

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>
#include <numeric>
#include <utility>

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
    for (Index p = 0; p < columns_; ++p) {
        for (Index q = p; q < (full_ ? columns_ : p + 1); ++q) entries_.push_back({p, q, p == q ? 1.0 : 2.0});
    }
    const Index halves = static_cast<Index>(entries_.size());
    for (Index p = 0; p < columns_; ++p) location_at_.push_back(full_ ? 1 + p : 1 + 2 * p);
    for (Index e = 0; e < halves; ++e) {
        second_at_.push_back(full_ ? 1 + columns_ + e : 2 + 2 * e);
        precision_at_.push_back(full_ ? 1 + columns_ + halves + e : 1 + 2 * columns_ + 2 * e);
        if (!full_) log_det_at_.push_back(precision_at_.back() + 1);
    }
    if (full_) log_det_at_.push_back(own_size_ - 1);
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

std::array<std::vector<Index>, 2> MixtureComponents::halves_of(Index component) const {
    const std::vector<Index> all = variables_of(component);
    const auto middle = all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2);
    return {std::vector<Index>(all.begin(), middle), std::vector<Index>(middle, all.end())};
}

MixtureComponents::Component MixtureComponents::component_at(const Vector& mean, Index component) const {
    const std::vector<Index>& stacked = stacked_of_[static_cast<std::size_t>(component)];
    const auto own = [&](Index i) { return mean[stacked[static_cast<std::size_t>(i)]]; };
    const auto gathered = [&](const std::vector<Index>& positions) {
        Vector values(static_cast<Index>(positions.size()));
        for (Index i = 0; i < values.size(); ++i) values[i] = own(positions[static_cast<std::size_t>(i)]);
        return values;
    };
    Component result;
    if (has_weights()) result.log_weight = own(0);
    result.location = gathered(location_at_);
    result.variance = gathered(second_at_) - outer(result.location, result.location);
    result.precision = gathered(precision_at_);
    result.log_det = gathered(log_det_at_).sum();
    return result;
}

MixtureComponents::Component MixtureComponents::component_at(const State& state, Index component) const {
    Component result = component_at(state.mean, component);
    for (Index p = 0; p < (full_ ? 1 : columns_); ++p) {
        const Index variable = location_variable(component, p);
        const Index size = full_ ? static_cast<Index>(entries_.size()) : 1;
        if (state.clamped[static_cast<std::size_t>(variable)]) continue;  // has no naturals
        const Vector standard =
            std::visit([&](const auto& family) { return family.standard(layout_.segment(state.natural, variable)); },
                       layout_[variable].family);
        result.variance.segment(p, size) = standard.tail(size);
    }
    return result;
}

MixtureComponents::Point MixtureComponents::point_at(const Vector& mean) const {
    Point point;
    for (Index k = 0; k < components_; ++k) point.push_back(component_at(mean, k));
    return point;
}

MixtureComponents::Point MixtureComponents::point_at(const State& state) const {
    Point point;
    for (Index k = 0; k < components_; ++k) point.push_back(component_at(state, k));
    return point;
}

MixtureComponents::Point MixtureComponents::plug_in_point(const State& state) const {
    Point point = point_at(state.mean);
    Vector log_weights = Vector::Zero(components_);
    if (has_weights()) {
        log_weights = layout_.segment(state.mean, 0);
        if (!state.clamped[0]) {
            const Vector alpha = layout_.segment(state.natural, 0).array() + 1.0;
            log_weights = (alpha / alpha.sum()).array().log();
        }
    }
    for (Index k = 0; k < components_; ++k) {
        Component& component = point[static_cast<std::size_t>(k)];
        component.log_weight = log_weights[k];
        component.variance.setZero();
        if (full_) {
            const Eigen::LLT<Matrix> cholesky(symmetric_from_half(component.precision, columns_));
            component.log_det = 2.0 * cholesky.matrixLLT().diagonal().array().log().sum();
        } else {
            component.log_det = component.precision.array().log().sum();
        }
    }
    return point;
}

Vector MixtureComponents::outer(const Vector& a, const Vector& b) const {
    Vector result(static_cast<Index>(entries_.size()));
    for (Index e = 0; e < result.size(); ++e) {
        const Entry& entry = entries_[static_cast<std::size_t>(e)];
        result[e] = a[entry.p] * b[entry.q];
    }
    return result;
}

Vector MixtureComponents::product(const Vector& entries, const Vector& vector) const {
    Vector result = Vector::Zero(columns_);
    for (Index e = 0; e < entries.size(); ++e) {
        const Entry& entry = entries_[static_cast<std::size_t>(e)];
        result[entry.p] += entries[e] * vector[entry.q];
        if (entry.p != entry.q) result[entry.q] += entries[e] * vector[entry.p];
    }
    return result;
}

MixtureScores MixtureComponents::scores(const Point& point) const {
    MixtureScores scores{Matrix(columns_, components_), Vector(components_),
                         Matrix(static_cast<Index>(entries_.size()), components_)};
    for (Index k = 0; k < components_; ++k) {
        const Component& component = point[static_cast<std::size_t>(k)];
        scores.origins.col(k) = component.location;
        double trace = 0.0;
        for (Index e = 0; e < component.precision.size(); ++e) {
            const double weighted = entries_[static_cast<std::size_t>(e)].weight * component.precision[e];
            scores.squares(e, k) = -0.5 * weighted;
            trace += weighted * component.variance[e];
        }
        const double size = static_cast<double>(columns_);
        scores.constants[k] = component.log_weight + 0.5 * (component.log_det - size * kLogTwoPi - trace);
    }
    return scores;
}

Matrix MixtureComponents::pair_origins(const Point& point) const {
    Matrix origins(columns_, components_ * (components_ - 1) / 2);
    Index pair = 0;
    for (std::size_t k = 0; k < point.size(); ++k) {
        for (std::size_t l = k + 1; l < point.size(); ++l, ++pair) {
            // From the first mean on, so that equal means give just that.
            const Vector shift = product(point[l].precision, point[l].location - point[k].location);
            const Vector precision = point[k].precision + point[l].precision;
            origins.col(pair) =
                point[k].location + (full_ ? Vector(symmetric_from_half(precision, columns_).ldlt().solve(shift))
                                           : Vector(shift.cwiseQuotient(precision)));
        }
    }
    return origins;
}

Vector MixtureComponents::own_gradient(const Component& component, const Vector& origin, const Vector& sums) const {
    const Vector off = component.location - origin;
    const Vector first = sums.segment(1, columns_);
    Vector result = Vector::Zero(own_size_);
    result[0] = sums[0];
    for (const Index at : log_det_at_) result[at] = 0.5 * sums[0];
    const Vector in_location = product(component.precision, first + sums[0] * origin);
    for (Index p = 0; p < columns_; ++p) result[location_at_[static_cast<std::size_t>(p)]] = in_location[p];
    for (std::size_t e = 0; e < entries_.size(); ++e) {
        const auto [p, q, weight] = entries_[e];
        const Index at = static_cast<Index>(e);
        result[second_at_[e]] = -0.5 * weight * component.precision[at] * sums[0];
        const double about_location = sums[1 + columns_ + at] - off[p] * first[q] - off[q] * first[p] +
                                      sums[0] * (off[p] * off[q] + component.variance[at]);
        result[precision_at_[e]] = -0.5 * weight * about_location;
    }
    return result;
}

Vector MixtureComponents::gradient(const Point& point, const Matrix& origins, const Matrix& sums) const {
    return scattered(
        [&](Index k) { return own_gradient(point[static_cast<std::size_t>(k)], origins.col(k), sums.col(k)); });
}

Vector MixtureComponents::gradient_magnitude(const Point& point, const Matrix& sums) const {
    return scattered([&](Index k) {
        // The same gradient of what is nowhere negative; |Σ r y| ≤ √(Σ r Σ r y²) stands for Σ r |y|.
        Component component = point[static_cast<std::size_t>(k)];
        component.precision = component.precision.cwiseAbs();
        component.variance = component.variance.cwiseAbs();
        component.location = component.location.cwiseAbs();
        Vector magnitudes = sums.col(k).cwiseAbs();
        for (std::size_t e = 0; e < entries_.size(); ++e) {
            const auto [p, q, weight] = entries_[e];
            if (p != q) continue;
            magnitudes[1 + p] = std::sqrt(magnitudes[0] * magnitudes[1 + columns_ + static_cast<Index>(e)]);
        }
        return Vector(own_gradient(component, component.location, magnitudes).cwiseAbs());
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

Vector MixtureComponents::block_of(const Vector& own_gradient, Index variable) const {
    const Index in_block = (layout_[variable].offset - layout_[location_variable(0, 0)].offset) % (own_size_ - 1);
    return own_gradient.segment(1 + in_block, layout_[variable].size);
}

SparseMatrix MixtureComponents::jacobian(const Component& component, const Vector& origin) const {
    std::vector<Eigen::Triplet<double, int>> triplets;
    const auto add = [&](Index feature, Index own, double value) {
        triplets.emplace_back(static_cast<int>(feature), static_cast<int>(own), value);
    };
    const Vector off = component.location - origin;
    add(0, 0, 1.0);
    for (const Index at : log_det_at_) add(0, at, 0.5);
    const Vector constant = product(component.precision, origin);
    for (Index p = 0; p < columns_; ++p) add(0, location_at_[static_cast<std::size_t>(p)], constant[p]);
    for (std::size_t e = 0; e < entries_.size(); ++e) {
        const auto [p, q, weight] = entries_[e];
        const Index at = static_cast<Index>(e);
        const double precision = component.precision[at];
        add(1 + q, location_at_[static_cast<std::size_t>(p)], precision);
        if (p != q) add(1 + p, location_at_[static_cast<std::size_t>(q)], precision);
        add(0, second_at_[e], -0.5 * weight * precision);
        add(0, precision_at_[e], -0.5 * weight * (off[p] * off[q] + component.variance[at]));
        add(1 + p, precision_at_[e], 0.5 * weight * off[q]);
        add(1 + q, precision_at_[e], 0.5 * weight * off[p]);
        add(1 + columns_ + at, precision_at_[e], -0.5 * weight);
    }
    SparseMatrix result(features_, own_size_);
    result.setFromTriplets(triplets.begin(), triplets.end());
    return result;
}

std::vector<Matrix> MixtureComponents::row_gradients(const Point& point, const Matrix& directions) const {
    std::vector<Matrix> result;
    for (std::size_t k = 0; k < point.size(); ++k) {
        Matrix own = Matrix::Zero(own_size_, directions.cols());
        for (Index i = 0; i < own_size_; ++i) {
            const Index at = stacked_of_[k][static_cast<std::size_t>(i)];
            if (at >= 0) own.row(i) = directions.row(at);
        }
        result.push_back(jacobian(point[k], point[k].location) * own);
    }
    return result;
}

// Blocks of a symmetric matrix between variables, those that are not zero.
class MixtureComponents::BlockSum {
  public:
    explicit BlockSum(const MixtureComponents& parts) : parts_(parts) {}

    // Adds a block between the own means of two components.
    void add(Index k, Index l, const Matrix& block) {
        for (const Piece& row : pieces_of(k)) {
            for (const Piece& column : pieces_of(l)) {
                if (row.variable < column.variable) continue;  // the other triangle
                const auto piece = block.block(row.own, column.own, row.size, column.size);
                if (piece.isZero(0.0)) continue;
                Matrix& sum = blocks_[{column.variable, row.variable}];
                if (sum.size() == 0) {
                    sum = Matrix::Zero(parts_.layout_[row.variable].size, parts_.layout_[column.variable].size);
                }
                sum.block(row.within, column.within, row.size, column.size) += piece;
            }
        }
    }

    // An entry of each triangle of such a block of one component; on its diagonal, twice.
    void add(Index k, Index a, Index b, double value) {
        add_entry(k, a, b, value);
        add_entry(k, b, a, value);
    }

    SparseMatrix lower() const {
        const Layout& layout = parts_.layout_;
        Index entries = 0;
        for (const auto& [at, block] : blocks_) {
            entries += at.first == at.second ? block.rows() * (block.rows() + 1) / 2 : block.size();
        }
        SparseMatrix result(layout.size(), layout.size());
        result.resizeNonZeros(entries);
        int filled = 0;
        auto first = blocks_.begin();
        for (Index variable = 0; variable < layout.variable_count(); ++variable) {
            auto end = first;
            while (end != blocks_.end() && end->first.first == variable) ++end;
            for (Index s = 0; s < layout[variable].size; ++s) {
                result.outerIndexPtr()[layout[variable].offset + s] = filled;
                for (auto at = first; at != end; ++at) {
                    const Index below = at->first.second == variable ? s : 0;
                    const Index offset = layout[at->first.second].offset;
                    for (Index i = below; i < at->second.rows(); ++i, ++filled) {
                        result.innerIndexPtr()[filled] = static_cast<int>(offset + i);
                        result.valuePtr()[filled] = at->second(i, s);
                    }
                }
            }
            first = end;
        }
        result.outerIndexPtr()[layout.size()] = filled;
        return result;
    }

  private:
    // A run of a component's own means that belongs to one variable, and where it stands there.
    struct Piece {
        Index variable;
        Index own;
        Index within;
        Index size;
    };

    void add_entry(Index component, Index a, Index b, double value) {
        if (pieces_component_ != component) {
            pieces_component_ = component;
            piece_at_.clear();
            for (const Piece& piece : pieces_of(component)) {
                if (piece.own == 1 && piece_at_.empty()) piece_at_.push_back({});  // no weights
                piece_at_.insert(piece_at_.end(), static_cast<std::size_t>(piece.size), piece);
            }
        }
        const Piece& row = piece_at_[static_cast<std::size_t>(a)];
        const Piece& column = piece_at_[static_cast<std::size_t>(b)];
        if (row.variable < column.variable || value == 0.0) return;
        Matrix& sum = blocks_[{column.variable, row.variable}];
        if (sum.size() == 0) {
            sum = Matrix::Zero(parts_.layout_[row.variable].size, parts_.layout_[column.variable].size);
        }
        sum(row.within + a - row.own, column.within + b - column.own) += value;
    }

    std::vector<Piece> pieces_of(Index component) const {
        std::vector<Piece> pieces;
        if (parts_.has_weights()) pieces.push_back({0, 0, component, 1});
        Index own = 1;
        for (const Index variable : parts_.variables_of(component)) {
            pieces.push_back({variable, own, 0, parts_.layout_[variable].size});
            own += pieces.back().size;
        }
        return pieces;
    }

    const MixtureComponents& parts_;
    std::map<std::pair<Index, Index>, Matrix> blocks_;  // by column, then row
    Index pieces_component_ = -1;
    std::vector<Piece> piece_at_;  // of each own mean of that component
};

// Σ_k Σ_n r_k ∇²ρ_k + Σ_{k<l} Σ_n r_k r_l (∇ρ_k − ∇ρ_l)(∇ρ_k − ∇ρ_l)ᵀ: what is bilinear in a component's own means, and
// (J_k − J_l)ᵀ P_kl (J_k − J_l) with J the coefficients of ∇ρ about the pair's origin and P_kl the pair's sums there.
SparseMatrix MixtureComponents::hessian(const Point& point, const Matrix& pair_origins, const PassSums& sums) const {
    BlockSum hessian(*this);
    Index pair = 0;
    for (Index k = 0; k < components_; ++k) {
        for (Index l = k + 1; l < components_; ++l, ++pair) {
            const Matrix& products = sums.pairs[static_cast<std::size_t>(pair)];
            if (products.size() == 0) continue;
            const SparseMatrix left = jacobian(point[static_cast<std::size_t>(k)], pair_origins.col(pair));
            const SparseMatrix right = jacobian(point[static_cast<std::size_t>(l)], pair_origins.col(pair));
            const Matrix times_left = products * left;
            const Matrix times_right = products * right;
            const Matrix cross = -(right.transpose() * times_left);
            hessian.add(k, k, left.transpose() * times_left);
            hessian.add(l, l, right.transpose() * times_right);
            hessian.add(l, k, cross);
            hessian.add(k, l, cross.transpose());
        }
    }
    for (Index k = 0; k < components_; ++k) {
        const Component& component = point[static_cast<std::size_t>(k)];
        const double weight = sums.sums(0, k);
        const Vector rows = sums.sums.col(k).segment(1, columns_) + weight * component.location;  // Σ r x
        const auto add = [&](Index a, Index b, double value) { hessian.add(k, a, b, value); };
        for (std::size_t e = 0; e < entries_.size(); ++e) {
            const Entry& entry = entries_[e];
            add(precision_at_[e], second_at_[e], -0.5 * entry.weight * weight);
            add(precision_at_[e], location_at_[static_cast<std::size_t>(entry.p)], rows[entry.q]);
            if (entry.p == entry.q) continue;
            add(precision_at_[e], location_at_[static_cast<std::size_t>(entry.q)], rows[entry.p]);
        }
    }
    return hessian.lower();
}

Functionals MixtureComponents::in_data_units(const std::vector<Index>& statistics, const RowFormat& format) const {
    std::vector<Eigen::Triplet<double, int>> entries;
    Vector constants = Vector::Zero(static_cast<Index>(statistics.size()));
    for (Index c = 0; c < constants.size(); ++c) {
        const Index position = statistics[static_cast<std::size_t>(c)];
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
        const Index source = order[static_cast<std::size_t>(k)];
        const std::vector<Index>& to = stacked_of_[static_cast<std::size_t>(k)];
        const std::vector<Index>& from = stacked_of_[static_cast<std::size_t>(source)];
        for (std::size_t i = 0; i < to.size(); ++i) {
            if (to[i] < 0) continue;
            result.mean[to[i]] = state.mean[from[i]];
            result.natural[to[i]] = state.natural[from[i]];
        }
        const std::vector<Index> variables = variables_of(k);
        const std::vector<Index> source_variables = variables_of(source);
        for (std::size_t i = 0; i < variables.size(); ++i) {
            result.clamped[static_cast<std::size_t>(variables[i])] =
                state.clamped[static_cast<std::size_t>(source_variables[i])];
        }
    }
    return result;
}

}  // namespace lrvb::detail
