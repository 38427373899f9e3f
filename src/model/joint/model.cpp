#include "base/parallel.hpp"
#include "base/validate.hpp"
#include "model/joint/core.hpp"

#include <lrvb/model/joint_model.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace lrvb {

namespace {

using detail::JointAt;
using detail::JointCore;

// Of values for which it is worth to wake threads.
constexpr Index kManyNumbers = 20000;
// A multiplication of a factorisation, of which there are d³/3, beside a number that is looked at.
constexpr double kWorkOfFactoring = 0.1;

}  // namespace

std::vector<Index> joinable(const MultilinearModel& base, const std::vector<PredictorRows>& rows) {
    return JointCore::joinable(base, rows);
}

JointModel::JointModel(const MultilinearModel& base, const std::vector<PredictorRows>& rows)
    : JointModel(base, joinable(base, rows), rows) {}

JointModel::JointModel(const MultilinearModel& base, const std::vector<Index>& joined,
                       const std::vector<PredictorRows>& rows)
    : core_(std::make_shared<const JointCore>(base, joined, rows)) {}

JointModel::JointModel(std::shared_ptr<const detail::JointCore> core) : core_(std::move(core)) {}

JointModel::~JointModel() = default;
JointModel::JointModel(const JointModel&) = default;
JointModel& JointModel::operator=(const JointModel&) = default;

const Layout& JointModel::layout() const {
    return core_->layout;
}

std::uint64_t JointModel::identity() const {
    return core_->identity;
}

State JointModel::start(Random& random) const {
    return core_->start(random);
}

Expansion JointModel::sweep(State& state) const {
    return core_->sweep(state);
}

Expansion JointModel::expand(const Vector& mean, Order order) const {
    const JointCore& core = *core_;
    detail::require_size("expand", "mean", mean.size(), layout().size());
    const std::shared_ptr<const JointAt> there = core.at(mean, order != Order::value);
    const JointAt& at = *there;
    Expansion result = core.value_at(at);
    if (order == Order::value) return result;
    if (!at.fine) {
        result.gradient = Vector::Constant(mean.size(), std::numeric_limits<double>::quiet_NaN());
        result.gradient_magnitude = Vector::Zero(mean.size());
        if (order == Order::hessian) {
            const Vector zero = Vector::Zero(core.form.products());
            const auto scales = static_cast<Index>(core.form.scales().size());
            result.hessian = core.form.hessian(at.t, zero, at.x, zero, Matrix::Zero(scales, scales), Matrix(), Matrix(),
                                               Vector::Zero(core.coefficients()));
        }
        return result;
    }
    Vector sizes;
    Vector u = core.form.values(at.x, &sizes);
    core.form.add_second(at.covariance, u);
    result.gradient.resize(mean.size());
    result.gradient_magnitude.resize(mean.size());
    result.gradient.head(core.others()) = core.form.pull(at.t, u);
    result.gradient_magnitude.head(core.others()) = core.form.pull(at.t, sizes, true);
    const Vector precisions = core.units.cwiseAbs2().cwiseInverse();  // of the Points
    const Vector own = at.x.cwiseProduct(precisions);
    result.gradient.tail(core.coefficients()) = own + core.coefficient_slope(at);
    result.gradient_magnitude.tail(core.coefficients()) = own.cwiseAbs() + core.form.slope_sizes(at.phi, at.x);
    if (core.predictors) {
        result.gradient_magnitude.tail(core.coefficients()) += core.predictors->transposed(at.terms.first).cwiseAbs();
    }
    if (order == Order::gradient) return result;
    result.hessian = core.hessian(at, u);
    return result;
}

Vector JointModel::log_joint(const Matrix& statistics, int threads) const {
    const JointCore& core = *core_;
    detail::require_size("log_joint", "a column of statistics", statistics.rows(), layout().size());
    if (statistics.size() < kManyNumbers) threads = 1;
    Vector result(statistics.cols());
    detail::in_parallel(threads, statistics.cols(), [&](Index c) {
        const Vector t = statistics.col(c).head(core.others());
        const Vector x = statistics.col(c).tail(core.coefficients());
        const Vector phi = core.form.phi(t);
        result[c] = detail::sum_of_products(phi, core.form.values(x));
        if (core.predictors) result[c] += core.predictors->log_likelihood(x, nullptr);
    });
    return result;
}

JointGradients JointModel::log_joint_gradients(const Matrix& statistics, int threads) const {
    const JointCore& core = *core_;
    detail::require_size("log_joint_gradients", "a column of statistics", statistics.rows(), layout().size());
    if (statistics.size() < kManyNumbers) threads = 1;
    JointGradients result{Vector(statistics.cols()), Matrix(statistics.rows(), statistics.cols())};
    detail::in_parallel(threads, statistics.cols(), [&](Index c) {
        const Vector t = statistics.col(c).head(core.others());
        const Vector x = statistics.col(c).tail(core.coefficients());
        const Vector phi = core.form.phi(t);
        const Vector u = core.form.values(x);
        result.values[c] = detail::sum_of_products(phi, u);
        result.gradients.col(c).head(core.others()) = core.form.pull(t, u);
        result.gradients.col(c).tail(core.coefficients()) = core.form.slope(phi, x);
        if (!core.predictors) return;
        Vector own;
        result.values[c] += core.predictors->log_likelihood(x, &own);
        result.gradients.col(c).tail(core.coefficients()) += own;
    });
    return result;
}

std::optional<double> JointModel::gibbs_work() const {
    if (core_->predictors) return std::nullopt;
    const double d = static_cast<double>(core_->coefficients());
    return core_->form.work() + d * d * d / 3.0;
}

void JointModel::gibbs(Vector& statistics, const std::vector<bool>& clamped, Random& random) const {
    const JointCore& core = *core_;
    detail::require_size("gibbs", "statistics", statistics.size(), layout().size());
    const std::shared_ptr<const JointAt> there = core.at(statistics, false);
    const JointAt& at = *there;
    if (core.predictors) return Model::gibbs(statistics, clamped, random);
    if (!at.fine) JointCore::refuse_precision(layout());
    const Index other_variables = static_cast<Index>(core.base_variables.size());
    const auto first = clamped.begin() + other_variables;
    Vector x = at.x;
    if (std::none_of(first, clamped.end(), [](bool held) { return held; })) {
        x = core.improved(there, clamped)->x;
        Vector z = standard_normals(core.coefficients(), random);
        at.factor.triangularView<Eigen::Lower>().transpose().solveInPlace(z);
        x += z;
    } else {
        // One by one, given all others.
        Matrix precision;
        core.form.precision(at.phi, precision);
        const Matrix full = precision.selfadjointView<Eigen::Lower>();
        const Vector force = core.form.force(at.phi);
        for (Index i = 0; i < core.coefficients(); ++i) {
            if (*(first + i)) continue;
            x[i] += (force[i] - full.col(i).dot(x)) / full(i, i) + random.normal() / std::sqrt(full(i, i));
        }
    }
    Vector extended = core.extended(at.t, x, nullptr);
    Vector natural;
    for (Index j = 0; j < other_variables; ++j) {
        if (clamped[static_cast<std::size_t>(j)]) continue;
        const VariableInfo& variable = layout()[j];
        natural.resize(variable.size);
        core.inner_form().block_gradient(extended, variable.offset, natural);
        std::visit(
            [&](const auto& family) {
                const std::string error = family.domain_error(natural);
                if (!error.empty()) throw ImproperConditional(variable.name, error);
                extended.segment(variable.offset, variable.size) = family.sample(natural, random);
            },
            variable.family);
    }
    statistics = extended.head(layout().size());
}

const Layout& JointModel::base_layout() const {
    return *core_->base_layout;
}

const std::vector<Index>& JointModel::joined() const {
    return core_->joined;
}

Index JointModel::other_count() const {
    return core_->others();
}

Index JointModel::coefficient_count() const {
    return core_->coefficients();
}

Index JointModel::position(Index base_statistic) const {
    if (base_statistic < 0 || base_statistic >= base_layout().size()) {
        throw std::invalid_argument(fmt::format("position: {} is no statistic of the base, which has {}",
                                                base_statistic, base_layout().size()));
    }
    return core_->positions[static_cast<std::size_t>(base_statistic)];
}

Functionals JointModel::functionals(const std::vector<Expression>& expressions) const {
    const Functionals::Resolved base = Functionals(expressions).resolve(base_layout());
    std::vector<Eigen::Triplet<double>> entries;
    for (Index column = 0; column < base.weights.cols(); ++column) {
        for (SparseMatrix::InnerIterator entry(base.weights, column); entry; ++entry) {
            const Index position = this->position(entry.row());
            if (position < 0) {
                throw std::invalid_argument(
                    fmt::format("functionals: {} is no statistic of the joined model; ask for what is linear in its "
                                "coefficients",
                                base_layout().statistic_name(entry.row())));
            }
            entries.emplace_back(static_cast<int>(position), static_cast<int>(column), entry.value());
        }
    }
    SparseMatrix weights(layout().size(), base.weights.cols());
    weights.setFromTriplets(entries.begin(), entries.end());
    return {weights, base.constants};
}

Vector JointModel::mean_field_variances(const State& state) const {
    const JointCore& core = *core_;
    detail::require_size("mean_field_variances", "state", state.mean.size(), layout().size());
    Vector result = Vector::Zero(layout().size());
    const Index other_variables = static_cast<Index>(core.base_variables.size());
    for (Index j = 0; j < other_variables; ++j) {
        if (state.clamped[static_cast<std::size_t>(j)]) continue;
        layout().segment(result, j) = std::visit(
            [&](const auto& family) {
                return Vector(family.covariance(layout().segment(state.natural, j)).diagonal());
            },
            layout()[j].family);
    }
    result.tail(core.coefficients()) = conditional_covariance(state.mean).diagonal();
    return result;
}

Matrix JointModel::conditional_covariance(const Vector& mean) const {
    detail::require_size("conditional_covariance", "mean", mean.size(), layout().size());
    const std::shared_ptr<const JointAt> at = core_->at(mean);
    if (!at->fine) throw std::domain_error("the precision of the joined variables cannot be factored at these means");
    return at->covariance;
}

double JointModel::work() const {
    if (integrable().empty()) return core_->form.work();
    const auto d = static_cast<double>(core_->coefficients());
    return core_->form.work() + d * d * d * kWorkOfFactoring;
}

}  // namespace lrvb
