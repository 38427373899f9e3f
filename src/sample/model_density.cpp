#include "base/parallel.hpp"
#include "base/validate.hpp"

#include <lrvb/sample/model_density.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <stdexcept>
#include <utility>

namespace lrvb {

namespace {

constexpr std::uint64_t kDiscreteStreams = std::uint64_t{1} << 61U;  // no sampler has these
constexpr Index kPoints = 64;  // a task; and at most so many are not worth waking a thread for
constexpr int kTiedStatistics = 64;
constexpr std::size_t kFewDiscrete = 40;   // of which every pair is looked at
constexpr double kMostCombinations = 128;  // of labels that are summed over together
constexpr Index kMostLeft = 2000;          // statistics that are drawn where others are integrated out
constexpr Index kColumns = 4096;           // of statistics at a time

bool is_discrete(const AnyFamily& family) {
    return std::holds_alternative<family::Bernoulli>(family) || std::holds_alternative<family::Categorical>(family);
}

// Fills the statistics of a range of points; returns their log Jacobians.
Vector fill(const UnboundedChart& chart, const Matrix& points, int threads, Matrix& statistics) {
    Vector log_jacobians(points.cols());
    detail::in_parallel(threads, (points.cols() + kPoints - 1) / kPoints, [&](Index task) {
        for (Index i = task * kPoints; i < std::min(points.cols(), (task + 1) * kPoints); ++i) {
            log_jacobians[i] = chart.statistics(points.col(i), statistics.col(i));
        }
    });
    return log_jacobians;
}

double combination_count(const Layout& layout, const std::vector<Index>& discrete) {
    double count = 1.0;
    for (const Index j : discrete) count *= std::max(2.0, static_cast<double>(layout[j].size));
    return count;
}

// Statistics of every combination of labels of these variables, zero elsewhere, one a column.
Matrix combinations(const Layout& layout, const std::vector<Index>& discrete) {
    Matrix result = Matrix::Zero(layout.size(), static_cast<Index>(combination_count(layout, discrete)));
    Index stride = 1;
    for (const Index j : discrete) {
        const Index labels = std::max<Index>(2, layout[j].size);
        for (Index c = 0; c < result.cols(); ++c) {
            const Index label = c / stride % labels;
            if (label < layout[j].size) result(layout[j].offset + label, c) = 1.0;  // of an indicator: one, then zero
        }
        stride *= labels;
    }
    return result;
}

// The state with variables held that are integrated out.
State without_integrable(const Model& model, State state) {
    for (const Index j : model.integrable()) state.clamped[static_cast<std::size_t>(j)] = true;
    return state;
}

// Whether all that could be integrated out is free, some other variable is left to draw, and there are few labels.
bool can_integrate(const Model& model, const State& state) {
    const Layout& layout = model.layout();
    const std::vector<Index> integrable = model.integrable();
    detail::require_size("ModelDensity", "clamped", static_cast<Index>(state.clamped.size()), layout.variable_count());
    if (integrable.empty()) return false;
    for (const Index j : integrable) {
        if (state.clamped[static_cast<std::size_t>(j)]) return false;
    }
    const State left = without_integrable(model, state);
    std::vector<Index> discrete;
    Index left_size = 0;
    for (Index j = 0; j < layout.variable_count(); ++j) {
        if (left.clamped[static_cast<std::size_t>(j)]) continue;
        if (is_discrete(layout[j].family)) {
            discrete.push_back(j);
        } else {
            left_size += layout[j].size;
        }
    }
    return left_size > 0 && left_size <= kMostLeft && combination_count(layout, discrete) <= kMostCombinations;
}

// Whether L has a term with two of these variables, and which two.
std::optional<std::pair<Index, Index>> coupled(const Model& model, const State& state,
                                               const std::vector<Index>& variables) {
    const Layout& layout = model.layout();
    std::vector<Index> owner(static_cast<std::size_t>(layout.size()), -1);
    for (const Index j : variables) {
        for (Index s = 0; s < layout[j].size; ++s) owner[static_cast<std::size_t>(layout[j].offset + s)] = j;
    }
    const SparseMatrix hessian = model.expand_at(state, Order::hessian).hessian;
    for (Index column = 0; column < hessian.outerSize(); ++column) {
        for (SparseMatrix::InnerIterator entry(hessian, column); entry; ++entry) {
            const Index one = owner[static_cast<std::size_t>(entry.row())];
            const Index other = owner[static_cast<std::size_t>(entry.col())];
            if (one >= 0 && other >= 0 && one != other && entry.value() != 0.0) return std::pair(one, other);
        }
    }
    return std::nullopt;
}

// Whether the log joint at values has a term with both. It is multilinear: where it has none, the conditional of one
// does not move with the other, wherever the rest is.
bool depends(const Model& model, const UnboundedChart& chart, const State& state, Index one, Index other) {
    const Layout& layout = model.layout();
    Vector point = chart.point(state.mean);
    for (Index i = 0; i < point.size(); ++i) point[i] += 0.3 + 0.1 * std::sin(static_cast<double>(i));
    Matrix values = Matrix::Zero(layout.size(), 2);
    for (Index c = 0; c < 2; ++c) static_cast<void>(chart.statistics(point, values.col(c)));
    values(layout[other].offset, 1) = 1.0;
    const Matrix gradients = model.log_joint_gradients(values, 1).gradients;
    const auto conditional = [&](Index c) -> Vector {
        Vector own = gradients.col(c).segment(layout[one].offset, layout[one].size);
        if (own.size() > 1) own.array() -= static_cast<double>(own[0]);  // a label's are known but for a constant
        return own;
    };
    const Vector before = conditional(0);
    const Vector moved = conditional(1) - before;
    return !(moved.cwiseAbs().maxCoeff() <= 1e-9 * (1.0 + before.cwiseAbs().maxCoeff()));
}

// What the discrete variables add to ∇²L when they are summed out, both as lower triangles: Σ_j H_j V_j H_jᵀ with H_j
// the columns that belong to z_j. One that is tied to many statistics would tie all of these to each other: it is left
// out.
SparseMatrix summed_out(const SparseMatrix& hessian, const Layout& layout, const State& state,
                        const std::vector<Index>& discrete) {
    std::vector<Eigen::Triplet<double>> entries;
    int column = 0;
    for (const Index j : discrete) {
        const Matrix factor =
            std::visit([&](const auto& family) { return family.covariance_factor(layout.segment(state.natural, j)); },
                       layout[j].family);
        for (Index c = 0; c < factor.cols(); ++c, ++column) {
            for (Index s = 0; s < factor.rows(); ++s) {
                entries.emplace_back(static_cast<int>(layout[j].offset + s), column, factor(s, c));
            }
        }
    }
    SparseMatrix factors(layout.size(), column);
    factors.setFromTriplets(entries.begin(), entries.end());
    const SparseMatrix both = hessian.selfadjointView<Eigen::Lower>();
    SparseMatrix moved = both * factors;
    const std::vector<int> starts(moved.outerIndexPtr(), moved.outerIndexPtr() + column + 1);
    moved.prune([&](Index, Index c, double) {
        const auto at = static_cast<std::size_t>(c);
        return starts[at + 1] - starts[at] <= kTiedStatistics;
    });
    const SparseMatrix added = moved * SparseMatrix(moved.transpose());
    return hessian + SparseMatrix(added.triangularView<Eigen::Lower>());
}

}  // namespace

ModelDensity::ModelDensity(const Model& model, const State& state, JointNormals normals)
    : model_(&model),
      integrates_(normals == JointNormals::integrated_out && can_integrate(model, state)),
      chart_(model.layout(), integrates_ ? without_integrable(model, state) : state) {
    const std::vector<Index>& discrete = chart_.discrete();
    if (integrates_) {
        if (!discrete.empty()) labels_ = combinations(model.layout(), discrete);
        return;
    }
    if (discrete.size() < 2) return;
    // Curvature may come from what was maximised out, as joined variables are.
    const auto pair = coupled(model, state, discrete);
    const auto is_coupled = [&] {
        if (discrete.size() > kFewDiscrete) return true;
        for (std::size_t a = 0; a < discrete.size(); ++a) {
            for (std::size_t b = 0; b < a; ++b) {
                if (depends(model, chart_, state, discrete[a], discrete[b])) return true;
            }
        }
        return false;
    };
    if (!pair || !is_coupled()) return;
    if (combination_count(model.layout(), discrete) <= kMostCombinations) {
        labels_ = combinations(model.layout(), discrete);
        return;
    }
    throw std::invalid_argument(
        fmt::format("variables '{}' and '{}' are discrete and depend on each other, so that they cannot be summed "
                    "out one by one: there are no draws of this model",
                    model.layout()[pair->first].name, model.layout()[pair->second].name));
}

void ModelDensity::sum_out(JointGradients& joint, Matrix& statistics) const {
    const Layout& layout = model_->layout();
    for (Index i = 0; i < statistics.cols(); ++i) {
        for (const Index j : chart_.discrete()) {
            const Vector natural = joint.gradients.col(i).segment(layout[j].offset, layout[j].size);
            std::visit(
                [&](const auto& family) {
                    joint.values[i] += family.log_partition(natural);
                    statistics.col(i).segment(layout[j].offset, layout[j].size) = family.mean(natural);
                },
                layout[j].family);
        }
    }
}

JointGradients ModelDensity::at_labels(const Matrix& statistics, bool gradients, int threads) const {
    const Index count = labels_.cols();
    Matrix each(statistics.rows(), statistics.cols() * count);
    for (Index i = 0; i < statistics.cols(); ++i) {
        each.middleCols(i * count, count) = labels_.colwise() + statistics.col(i);
    }
    if (integrates_) return model_->integrated_joint(each, gradients, threads);
    if (gradients) return model_->log_joint_gradients(each, threads);
    return {model_->log_joint(each, threads), Matrix()};
}

JointGradients ModelDensity::joint(Matrix& statistics, bool gradients, int threads) const {
    if (labels_.cols() > 0) {
        const JointGradients each = at_labels(statistics, gradients, threads);
        const Index count = labels_.cols();
        JointGradients result{Vector(statistics.cols()), Matrix()};
        if (gradients) result.gradients = Matrix::Zero(statistics.rows(), statistics.cols());
        for (Index i = 0; i < statistics.cols(); ++i) {
            const Eigen::ArrayXd logs = each.values.segment(i * count, count);
            const double largest = logs.maxCoeff();
            const Eigen::ArrayXd shares = (logs - largest).exp();
            result.values[i] = std::isfinite(largest) ? largest + std::log(shares.sum()) : largest;
            for (Index k = 0; k < count && gradients && std::isfinite(largest); ++k) {
                if (shares[k] == 0.0) continue;  // its gradient may be no number
                result.gradients.col(i) += shares[k] / shares.sum() * each.gradients.col(i * count + k);
            }
        }
        return result;
    }
    if (integrates_) return model_->integrated_joint(statistics, gradients, threads);
    if (chart_.discrete().empty()) {
        if (gradients) return model_->log_joint_gradients(statistics, threads);
        return {model_->log_joint(statistics, threads), Matrix()};
    }
    JointGradients result = model_->log_joint_gradients(statistics, threads);
    sum_out(result, statistics);
    if (gradients) result.gradients = model_->log_joint_gradients(statistics, threads).gradients;
    return result;
}

Vector ModelDensity::evaluate(const Matrix& points, int threads) const {
    detail::require_size("evaluate", "a point", points.rows(), dimension());
    Vector result(points.cols());
    const Index step = labels_.cols() > 0 ? std::max<Index>(1, kColumns / labels_.cols()) : points.cols();
    for (Index first = 0; first < points.cols(); first += step) {
        const Index count = std::min(step, points.cols() - first);
        Matrix values(model_->layout().size(), count);
        const Vector log_jacobians = fill(chart_, points.middleCols(first, count), threads, values);
        result.segment(first, count) = joint(values, false, threads).values + log_jacobians;
    }
    return result;
}

DensityGradients ModelDensity::evaluate_gradients(const Matrix& points, int threads) const {
    detail::require_size("evaluate_gradients", "a point", points.rows(), dimension());
    Matrix values(model_->layout().size(), points.cols());
    const Vector log_jacobians = fill(chart_, points, threads, values);
    const JointGradients at = joint(values, true, threads);
    DensityGradients result{at.values + log_jacobians, Matrix(dimension(), points.cols())};
    for (Index i = 0; i < points.cols(); ++i) {
        result.gradients.col(i) = chart_.pulled_back(points.col(i), at.gradients.col(i));
    }
    return result;
}

void ModelDensity::draw_labels(Eigen::Ref<Vector> statistics, const VectorView& logs, Random& random) const {
    const Eigen::ArrayXd shares = (logs.array() - logs.maxCoeff()).exp();
    double left = random.uniform() * shares.sum();
    Index chosen = 0;
    while (chosen + 1 < shares.size() && !(left < shares[chosen])) left -= shares[chosen++];
    statistics += labels_.col(chosen);
}

Matrix ModelDensity::statistics(const Matrix& points, int threads, std::uint64_t seed) const {
    detail::require_size("statistics", "a point", points.rows(), dimension());
    const Layout& layout = model_->layout();
    Matrix values(layout.size(), points.cols());
    fill(chart_, points, threads, values);
    if (!integrates_ && chart_.discrete().empty()) return values;
    const bool by_themselves = !chart_.discrete().empty() && labels_.cols() == 0;
    JointGradients joint;
    if (by_themselves) joint = model_->log_joint_gradients(values, threads);
    detail::in_parallel(threads, (points.cols() + kPoints - 1) / kPoints, [&](Index task) {
        for (Index i = task * kPoints; i < std::min(points.cols(), (task + 1) * kPoints); ++i) {
            Random random(seed, kDiscreteStreams + static_cast<std::uint64_t>(i));
            if (labels_.cols() > 0) draw_labels(values.col(i), at_labels(values.col(i), false, 1).values, random);
            for (const Index j : by_themselves ? chart_.discrete() : std::vector<Index>()) {
                const Vector natural = joint.gradients.col(i).segment(layout[j].offset, layout[j].size);
                values.col(i).segment(layout[j].offset, layout[j].size) =
                    std::visit([&](const auto& family) { return family.sample(natural, random); }, layout[j].family);
            }
            if (integrates_) model_->draw_integrable(values.col(i), random);
        }
    });
    return values;
}

Index ModelDensity::enumerable() const {
    if (labels_.cols() > 0) return labels_.cols();
    if (chart_.discrete().size() != 1) return 0;
    return static_cast<Index>(combination_count(model_->layout(), chart_.discrete()));
}

ModelDensity::Enumerated ModelDensity::enumerated(const Matrix& points, double least, int threads,
                                                  std::uint64_t seed) const {
    detail::require_size("enumerated", "a point", points.rows(), dimension());
    const Layout& layout = model_->layout();
    Matrix values(layout.size(), points.cols());
    fill(chart_, points, threads, values);
    const Matrix labels = labels_.cols() > 0 ? labels_ : combinations(layout, chart_.discrete());
    Matrix logs(labels.cols(), points.cols());
    if (labels_.cols() > 0) {
        const Index step = std::max<Index>(1, kColumns / labels_.cols());
        for (Index first = 0; first < points.cols(); first += step) {
            const Index count = std::min(step, points.cols() - first);
            const Vector own = at_labels(values.middleCols(first, count), false, threads).values;
            logs.middleCols(first, count) = Eigen::Map<const Matrix>(own.data(), labels_.cols(), count);
        }
    } else {
        const VariableInfo& label = layout[chart_.discrete().front()];
        const Matrix gradients = model_->log_joint_gradients(values, threads).gradients;
        logs = labels.middleRows(label.offset, label.size).transpose() * gradients.middleRows(label.offset, label.size);
    }
    Enumerated result;
    std::vector<Index> chosen;
    for (Index i = 0; i < points.cols(); ++i) {
        const double largest = logs.col(i).maxCoeff();
        const double sum = largest + std::log((logs.col(i).array() - largest).exp().sum());
        for (Index k = 0; k < labels.cols(); ++k) {
            const double log_share = logs(k, i) - sum;
            if (!(log_share >= std::log(least))) continue;
            chosen.push_back(k);
            result.point.push_back(i);
            result.log_shares.push_back(log_share);
        }
    }
    result.statistics.resize(layout.size(), static_cast<Index>(chosen.size()));
    for (std::size_t c = 0; c < chosen.size(); ++c) {
        const auto at = static_cast<Index>(c);
        result.statistics.col(at) = values.col(result.point[c]) + labels.col(chosen[c]);
        if (!integrates_) continue;
        Random random(seed, kDiscreteStreams + static_cast<std::uint64_t>(c));
        model_->draw_integrable(result.statistics.col(at), random);
    }
    return result;
}

double density_evaluations(const Model& model, const State& state) {
    if (!can_integrate(model, state)) return 1.0;
    std::vector<Index> discrete;
    for (Index j = 0; j < model.layout().variable_count(); ++j) {
        if (is_discrete(model.layout()[j].family) && !state.clamped[static_cast<std::size_t>(j)]) discrete.push_back(j);
    }
    return combination_count(model.layout(), discrete);
}

Whitening ModelDensity::whitening(const State& state) const {
    detail::require_size("whitening", "state", state.mean.size(), model_->layout().size());
    SparseMatrix hessian = model_->expand_at(state, Order::hessian).hessian;
    if (!chart_.discrete().empty()) hessian = summed_out(hessian, model_->layout(), state, chart_.discrete());
    return Whitening::of_precision(chart_.point(state.mean), chart_.expected_precision(state, hessian));
}

}  // namespace lrvb
