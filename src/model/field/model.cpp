#include "base/parallel.hpp"
#include "base/validate.hpp"
#include "model/field/core.hpp"
#include "model/field/row_field.hpp"
#include "model/field/share.hpp"

#include <lrvb/model/field.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace lrvb {

namespace {

using detail::EffectCovariance;
using detail::FieldCore;
using detail::PrecisionFactor;
using detail::PrecisionInverse;
using detail::PsiPoint;

constexpr double kNone = -std::numeric_limits<double>::infinity();

// Of values for which it is worth to wake threads.
constexpr Index kManyNumbers = 20000;

std::size_t at(Index i) {
    return static_cast<std::size_t>(i);
}

class NormalConditional final : public FieldConditional {
  public:
    NormalConditional(const std::shared_ptr<const FieldCore>& core, const VectorView& psi) : core_(core) {
        const PsiPoint point = core->psi_point(psi);
        factor_ = core->factor(point);
        if (!factor_) throw std::domain_error("the precision of the field cannot be factored at these sds");
        mean_ = core->solve_mean(point, *factor_);
        Vector force;
        const FieldCore::Squares squares = core->squares(mean_, force);
        log_density_ = core->bound(point, *factor_, core->log_joint(point, mean_, squares));
    }

    double log_density() const override { return log_density_; }
    const Vector& mean() const override { return mean_; }
    Vector variances() const override { return PrecisionInverse(*factor_).diagonal(); }
    Vector variances(const SparseMatrix& combinations) const override {
        const PrecisionInverse inverse(*factor_);
        return detail::combination_variances(*factor_, inverse.diagonal(), combinations, &inverse);
    }
    Matrix covariance_times(const Matrix& x) const override { return factor_->solve(x); }
    Matrix root_times(const Matrix& z) const override { return factor_->root_solve(z); }
    double log_determinant() const override { return factor_->log_determinant(); }

  private:
    std::shared_ptr<const FieldCore> core_;  // whose patterns the factor reads
    std::unique_ptr<PrecisionFactor> factor_;
    Vector mean_;
    double log_density_ = 0.0;
};

/// F at (ψ, m), with what a Newton step or a Hessian needs of it.
struct BoundAt {
    PsiPoint point;
    std::unique_ptr<PrecisionFactor> factor;
    FieldCore::Squares squares;
    FieldCore::Spread spread;
    Vector force;
    double value = kNone;
    double magnitude = 0.0;
    Vector psi_gradient;
};

BoundAt bound_at(const FieldCore& core, const VectorView& psi, const VectorView& x, bool gradient) {
    BoundAt result;
    if (!psi.allFinite() || !x.allFinite()) return result;
    result.point = core.psi_point(psi);
    result.factor = core.factor(result.point);
    if (!result.factor) return result;
    result.squares = core.squares(x, result.force);
    const double joint = core.log_joint(result.point, x, result.squares, &result.magnitude);
    result.value = core.bound(result.point, *result.factor, joint);
    result.magnitude += 0.5 * (std::abs(result.factor->log_determinant()) + result.factor->log_determinant_magnitude());
    if (gradient) {
        result.spread = core.spread(result.point, PrecisionInverse(*result.factor));
        result.psi_gradient = core.psi_gradient(result.point, result.squares, &result.spread);
    }
    return result;
}

/// Maximises the quadratic in the coefficients that are free, the others held, by conjugate gradients: every step
/// ascends, and one is enough for one coefficient.
void solve_free(const FieldCore& core, const PsiPoint& point, const std::vector<bool>& clamped, Vector& x) {
    const Index first = core.variance_count();
    const auto mask = [&](Vector v) {
        for (Index i = 0; i < v.size(); ++i) {
            if (clamped[at(first + i)]) v[i] = 0.0;
        }
        return v;
    };
    const double tau = point.parts.back().precision(0, 0);
    const auto times_precision = [&](const Vector& v) {
        Vector result = tau * core.structure->multiply(core.blocks, v);
        const Index p = core.shape().fixed;
        result.head(p) += point.fixed_precision.cwiseProduct(v.head(p));
        for (std::size_t f = 0; f < core.shape().factors.size(); ++f) {
            const detail::FieldShape::Factor& factor = core.shape().factors[f];
            const Eigen::Map<const Matrix> u(v.data() + factor.offset, factor.effects, factor.levels);
            Eigen::Map<Matrix>(result.data() + factor.offset, factor.effects, factor.levels) += point.precisions[f] * u;
        }
        return result;
    };
    Vector force;
    core.squares(x, force);
    Vector residual = mask(core.coefficient_gradient(point, x, force));
    Vector direction = residual;
    double square = residual.squaredNorm();
    const double enough = 1e-24 * square;
    for (int step = 0; step < 200 && square > enough && square > 0.0; ++step) {
        const Vector pushed = mask(times_precision(direction));
        const double length = square / direction.dot(pushed);
        x += length * direction;
        residual -= length * pushed;
        const double next = residual.squaredNorm();
        direction = residual + next / square * direction;
        square = next;
    }
}

}  // namespace

FieldModel::FieldModel(std::shared_ptr<const FieldData> data, const std::optional<FieldPrior>& prior)
    : FieldModel(std::shared_ptr<const FieldRows>(std::make_shared<const detail::RowsHere>(std::move(data))), prior) {}

FieldModel::FieldModel(std::shared_ptr<const FieldRows> rows, const std::optional<FieldPrior>& prior)
    : core_(std::make_shared<const FieldCore>(std::move(rows), prior)) {}

FieldModel::FieldModel(const FieldData& data, const std::optional<FieldPrior>& prior)
    : FieldModel(std::make_shared<const FieldData>(data), prior) {}

FieldModel::~FieldModel() = default;
FieldModel::FieldModel(const FieldModel&) = default;
FieldModel& FieldModel::operator=(const FieldModel&) = default;

const Layout& FieldModel::layout() const {
    return core_->layout;
}

std::uint64_t FieldModel::identity() const {
    return core_->identity;
}

State FieldModel::start(Random&) const {
    FieldCore::Evidence evidence;
    std::optional<Vector> from;
    if (variance_count() > 0 && core_->has_cheap_modes()) from = core_->modes(1).front().psi;
    const Vector psi = core_->top(from, &evidence);
    State state;
    state.mean.resize(layout().size());
    state.mean << psi, evidence.mean;
    state.natural = state.mean;
    state.clamped.assign(at(layout().variable_count()), false);
    return state;
}

namespace {

Expansion expansion(const FieldCore& core, const Vector& mean, Order order) {
    if (core.row_field) return core.row_field->expand(mean, order);
    detail::require_size("expand", "mean", mean.size(), core.layout.size());
    const Index k = core.variance_count();
    const Vector psi = mean.head(k);
    const Vector x = mean.tail(core.size());
    const BoundAt here = bound_at(core, psi, x, order != Order::value);
    Expansion result;
    result.value = here.value + 0.5 * mean.squaredNorm();
    result.magnitude = here.magnitude + 0.5 * mean.squaredNorm();
    if (order == Order::value) return result;
    if (here.value == kNone) {
        result.gradient = Vector::Constant(mean.size(), std::numeric_limits<double>::quiet_NaN());
    } else {
        result.gradient = mean;
        result.gradient.head(k) += here.psi_gradient;
        result.gradient.tail(core.size()) += core.coefficient_gradient(here.point, x, here.force);
        result.gradient_magnitude = mean.cwiseAbs();
        result.gradient_magnitude.head(k).array() += core.rows + static_cast<double>(core.size());
        const double tau = here.point.parts.back().precision(0, 0);
        result.gradient_magnitude.tail(core.size()) +=
            tau * (core.forces.cwiseAbs() + (core.forces - here.force).cwiseAbs());
    }
    if (order == Order::gradient) return result;

    // ψ with ψ, ψ with the coefficients that it governs, and −P.
    const Matrix curvature = core.psi_curvature(psi, here.squares, nullptr);
    const SparseMatrix& pattern = core.hessian_pattern;
    const double tau = here.value == kNone ? 1.0 : here.point.parts.back().precision(0, 0);
    const std::vector<double> precision =
        core.structure->lower_values(core.blocks, tau, here.point.fixed_precision, here.point.precisions);
    const detail::FieldShape& shape = core.shape();
    Index entries = k * (k + 1) / 2 + pattern.nonZeros();
    for (std::size_t i = 0; i < core.parts.size(); ++i) {
        entries += core.parts[i].size() * (i == core.sigma_part() ? core.size() : shape.part(i).size());
    }
    SparseMatrix& hessian = result.hessian;
    hessian.resize(mean.size(), mean.size());
    hessian.resizeNonZeros(entries);
    int* starts = hessian.outerIndexPtr();
    int* rows = hessian.innerIndexPtr();
    double* values = hessian.valuePtr();
    int filled = 0;
    const auto put = [&](Index row, double value) {
        rows[filled] = static_cast<int>(row);
        values[filled++] = value;
    };
    for (std::size_t i = 0; i < core.parts.size(); ++i) {
        const EffectCovariance& part = here.point.parts[i];
        for (Index j = 0; j < core.parts[i].size(); ++j) {
            const Index column = core.part_offset(i) + j;
            starts[column] = filled;
            for (Index row = column; row < k; ++row) put(row, curvature(row, column) + (row == column ? 1.0 : 0.0));
            const Matrix& change = part.by_psi[at(j)];
            if (i == core.sigma_part()) {
                for (Index c = 0; c < core.size(); ++c) put(k + c, change(0, 0) * here.force[c]);
                continue;
            }
            const auto [offset, levels, q] = shape.part(i);
            for (Index level = 0; level < levels; ++level) {
                for (Index a = 0; a < q; ++a) {
                    double sum = 0.0;
                    for (Index b = 0; b < q; ++b) sum += change(a, b) * x[offset + level * q + b];
                    put(k + offset + level * q + a, -sum);
                }
            }
        }
    }
    for (Index c = 0; c < core.size(); ++c) {
        starts[k + c] = filled;
        for (int e = pattern.outerIndexPtr()[c]; e < pattern.outerIndexPtr()[c + 1]; ++e) {
            const Index row = pattern.innerIndexPtr()[e];
            put(k + row, (row == c ? 1.0 : 0.0) - precision[at(e)]);
        }
    }
    starts[mean.size()] = filled;
    return result;
}

}  // namespace

Expansion FieldModel::expand(const Vector& mean, Order order) const {
    if (order != Order::hessian) return expansion(*core_, mean, order);
    if (const std::shared_ptr<const Expansion> known = core_->last_expansion.at(mean)) return *known;
    Expansion result = expansion(*core_, mean, order);
    core_->last_expansion.keep(mean, result);
    return result;
}

// The coefficients given ψ, and then ψ, by a Newton step with q(x) held: a step of the EM algorithm, halved until the
// bound does not fall. Where coefficients are clamped, ψ sees the others where they are; otherwise they move along.
Expansion FieldModel::sweep(State& state) const {
    const FieldCore& core = *core_;
    const Index k = core.variance_count();
    if (core.row_field) return core.row_field->sweep(state);
    const auto first = state.clamped.begin();
    const bool all_free = std::none_of(first + k, state.clamped.end(), [](bool held) { return held; });
    Vector psi = state.mean.head(k);
    Vector x = state.mean.tail(core.size());
    BoundAt here = bound_at(core, psi, x, false);
    if (!here.factor) throw ImproperConditional(layout()[0].name, "the precision of the field cannot be factored");
    Expansion before;
    before.value = here.value + 0.5 * state.mean.squaredNorm();
    before.magnitude = here.magnitude + 0.5 * state.mean.squaredNorm();
    if (all_free) {
        x = core.solve_mean(here.point, *here.factor);
    } else {
        solve_free(core, here.point, state.clamped, x);
    }
    here.squares = core.squares(x, here.force);
    here.value = core.bound(here.point, *here.factor, core.log_joint(here.point, x, here.squares));
    here.spread = core.spread(here.point, PrecisionInverse(*here.factor));
    here.psi_gradient = core.psi_gradient(here.point, here.squares, &here.spread);
    Matrix curvature = core.psi_curvature(psi, here.squares, &here.spread);
    Vector gradient = here.psi_gradient;
    for (Index j = 0; j < k; ++j) {
        if (!state.clamped[at(j)]) continue;
        gradient[j] = 0.0;
        curvature.row(j).setZero();
        curvature.col(j).setZero();
        curvature(j, j) = -1.0;
    }
    constexpr double kLongest = 1.0;
    const Vector step = FieldCore::bounded_step(curvature, gradient, kLongest);
    if (step.dot(gradient) > 1e-20) {
        for (double length = 1.0; length > 1e-8; length *= 0.5) {
            const Vector moved = psi + length * step;
            if (all_free) {
                const FieldCore::Evidence there = core.evidence(moved, false);
                if (!(there.value >= here.value)) continue;
                psi = moved;
                x = there.mean;
                break;
            }
            if (!(bound_at(core, moved, x, false).value >= here.value)) continue;
            psi = moved;
            break;
        }
    }
    for (Index i = 0; i < state.mean.size(); ++i) {
        if (!state.clamped[at(i)]) state.mean[i] = i < k ? psi[i] : x[i - k];
    }
    for (Index i = 0; i < state.mean.size(); ++i) {
        if (!state.clamped[at(i)]) state.natural[i] = state.mean[i];
    }
    return before;
}

Vector FieldModel::log_joint(const Matrix& statistics, int threads) const {
    const FieldCore& core = *core_;
    detail::require_size("log_joint", "a column of statistics", statistics.rows(), layout().size());
    if (statistics.size() < kManyNumbers) threads = 1;
    Vector result(statistics.cols());
    detail::in_parallel(threads, statistics.cols(), [&](Index c) {
        const Vector psi = statistics.col(c).head(core.variance_count());
        const Vector x = statistics.col(c).tail(core.size());
        if (core.row_field) {
            result[c] = core.row_field->log_joint(psi, x, nullptr);
            return;
        }
        Vector force;
        result[c] = core.log_joint(core.psi_point(psi), x, core.squares(x, force));
    });
    return result;
}

JointGradients FieldModel::log_joint_gradients(const Matrix& statistics, int threads) const {
    const FieldCore& core = *core_;
    detail::require_size("log_joint_gradients", "a column of statistics", statistics.rows(), layout().size());
    if (statistics.size() < kManyNumbers) threads = 1;
    JointGradients result{Vector(statistics.cols()), Matrix(statistics.rows(), statistics.cols())};
    detail::in_parallel(threads, statistics.cols(), [&](Index c) {
        const Vector psi = statistics.col(c).head(core.variance_count());
        const Vector x = statistics.col(c).tail(core.size());
        if (core.row_field) {
            Vector gradient;
            result.values[c] = core.row_field->log_joint(psi, x, &gradient);
            result.gradients.col(c) = gradient;
            return;
        }
        Vector force;
        const PsiPoint point = core.psi_point(psi);
        const FieldCore::Squares squares = core.squares(x, force);
        result.values[c] = core.log_joint(point, x, squares);
        result.gradients.col(c).head(core.variance_count()) = core.psi_gradient(point, squares, nullptr);
        result.gradients.col(c).tail(core.size()) = core.coefficient_gradient(point, x, force);
    });
    return result;
}

const std::vector<std::string>& FieldModel::hyperparameters() const {
    return core_->hyperparameter_names;
}

// Of a fixed effect with the prior precision p, F has −½ p (m − μ)² − ½ log|P|: with s = P⁻¹e_j, ∂²F/∂ψ∂p is
// ½ sᵀ(∂P/∂ψ)s.
Vector FieldModel::hyperparameter_gradient(const Vector& mean, Index hyperparameter) const {
    const FieldCore& core = *core_;
    detail::require_size("hyperparameter_gradient", "mean", mean.size(), layout().size());
    const FieldCore::Hyperparameter& own = core.hyperparameters.at(at(hyperparameter));
    const Index k = core.variance_count();
    const Vector psi = mean.head(k);
    Vector result = Vector::Zero(mean.size());
    if (own.kind == FieldCore::Hyperparameter::Kind::scale) {
        const std::size_t part = at(own.place);
        const Index offset = core.part_offset(part);
        const Index size = core.parts[part].size();
        result.segment(offset, size) = core.parts[part].gradient_by(psi.segment(offset, size), own.effect, own.second);
        return result;
    }
    if (own.kind == FieldCore::Hyperparameter::Kind::parameter) {
        const std::size_t parameter = at(own.place);
        const Index place = core.parameter_offset(parameter);
        const detail::ScaleDensity density = detail::density_above(
            core.prior.parameters[parameter], core.likelihood().parameters()[parameter].lower, psi[place]);
        result[place] = own.second ? density.slope_by_second : density.slope_by_first;
        return result;
    }
    const Index j = own.place;
    const double precision = core.fixed_precision[j];
    if (own.kind == FieldCore::Hyperparameter::Kind::fixed_mean) {
        result[k + j] = precision / core.fixed_unit[j];
        return result;
    }
    if (core.row_field) return core.row_field->fixed_sd_gradient(mean, j);
    const double sd = core.fixed_unit[j] / std::sqrt(precision);
    const double change = -2.0 * precision / sd;
    result[k + j] = -change * (mean[k + j] - core.fixed_mean[j]);
    const PsiPoint point = core.psi_point(psi);
    const std::unique_ptr<PrecisionFactor> factor = core.factor(point);
    if (!factor) throw std::domain_error("the precision of the field cannot be factored at these sds");
    const Vector s = factor->solve(Vector::Unit(core.size(), j));
    for (std::size_t i = 0; i < core.parts.size(); ++i) {
        Matrix square(1, 1);
        if (i == core.sigma_part()) {
            square(0, 0) = s.dot(core.structure->multiply(core.blocks, s));
        } else {
            square = core.part_squares(i, s);
        }
        for (Index l = 0; l < core.parts[i].size(); ++l) {
            result[core.part_offset(i) + l] = 0.5 * change * point.parts[i].by_psi[at(l)].cwiseProduct(square).sum();
        }
    }
    return result;
}

const FieldData& FieldModel::data() const {
    return core_->design->data();
}

const FieldData& FieldModel::data_with_rows() const {
    return core_->row_design().data();
}

double FieldModel::total_weight() const {
    return core_->rows;
}

double FieldModel::precision_unit() const {
    return core_->precision_unit;
}

const FieldPrior& FieldModel::prior() const {
    return core_->prior;
}

Index FieldModel::variance_count() const {
    return core_->variance_count();
}

Index FieldModel::coefficient_count() const {
    return core_->size();
}

Vector FieldModel::mean_field_variances(const State& state) const {
    const FieldCore& core = *core_;
    detail::require_size("mean_field_variances", "state", state.mean.size(), layout().size());
    const Index k = core.variance_count();
    const Vector psi = state.mean.head(k);
    if (core.row_field) {
        const detail::RowField::At at_state = core.row_field->at(psi, state.mean.tail(core.size()), nullptr);
        Vector result(state.mean.size());
        result.head(k) = -core.row_field->held_curvature(at_state).diagonal().cwiseInverse();
        result.tail(core.size()) = at_state.inner.inverse->diagonal();
        return result;
    }
    const BoundAt here = bound_at(core, psi, state.mean.tail(core.size()), true);
    if (!here.factor) throw std::domain_error("the precision of the field cannot be factored at these sds");
    Vector result(state.mean.size());
    const Matrix curvature = core.psi_curvature(psi, here.squares, &here.spread);
    for (Index j = 0; j < k; ++j) result[j] = 1.0 / -curvature(j, j);
    result.tail(core.size()) = PrecisionInverse(*here.factor).diagonal();
    return result;
}

std::unique_ptr<FieldConditional> FieldModel::conditional(const VectorView& psi, const FieldConditional* near) const {
    detail::require_size("conditional", "psi", psi.size(), variance_count());
    if (core_->row_field) return core_->row_field->conditional(core_, psi, near);
    return std::make_unique<NormalConditional>(core_, psi);
}

double FieldModel::log_density(const VectorView& psi, Vector* gradient) const {
    detail::require_size("log_density", "psi", psi.size(), variance_count());
    FieldCore::Evidence evidence = core_->evidence(psi, gradient != nullptr);
    if (gradient != nullptr) *gradient = std::move(evidence.gradient);
    return evidence.value;
}

double FieldModel::corrected_log_density(const VectorView& psi) const {
    detail::require_size("corrected_log_density", "psi", psi.size(), variance_count());
    if (!core_->row_field) return log_density(psi);
    try {
        return conditional(psi)->log_density();
    } catch (const std::domain_error&) {
        return kNone;
    }
}

bool FieldModel::has_corrections() const {
    return core_->row_field != nullptr;
}

std::vector<FieldRival> FieldModel::rivals() const {
    return core_->row_field ? core_->row_field->rivals() : std::vector<FieldRival>();
}

const std::vector<FieldMode>& FieldModel::modes(int threads) const {
    static const std::vector<FieldMode> none;
    return variance_count() > 0 ? core_->modes(threads) : none;
}

double FieldModel::work() const {
    return core_->plan->work();
}

}  // namespace lrvb
