#include "model/field/row_field.hpp"

#include "base/validate.hpp"
#include "family/special.hpp"

#include <Eigen/LU>

#include <cmath>
#include <limits>
#include <numbers>
#include <stdexcept>
#include <utility>

namespace lrvb::detail {

namespace {

constexpr double kNone = -std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
// Of fourth-order differences of gradients that are good to about 1e-11.
constexpr double kStep = 0.01;

std::size_t at(Index i) {
    return static_cast<std::size_t>(i);
}

std::shared_ptr<const RowLikelihood> likelihood_of(const FieldDesign& design) {
    const FieldData& data = design.data();
    if (!data.likelihood->has_sigma()) {
        return data.likelihood->rows({data.y, data.trials, data.offset, data.weights, {}});
    }
    // In inner units, of which the offset is a part.
    Vector response(design.rows());
    for (Index n = 0; n < design.rows(); ++n) response[n] = design.response(n);
    const bool has_precisions = data.precision_weights && data.weights.size() > 0;
    return data.likelihood->rows({std::move(response), data.trials, Vector(), has_precisions ? Vector() : data.weights,
                                  has_precisions ? data.weights : Vector()});
}

// f'(0) of a vector by values at ±h and ±2h.
Vector difference(const Vector& up, const Vector& down, const Vector& far_up, const Vector& far_down) {
    return (8.0 * (up - down) - (far_up - far_down)) / (12.0 * kStep);
}

// The weights of q at steps 1, −1, 2 and −2 from here: each begins on the polynomial through those before it.
class ContinuedWeights {
  public:
    explicit ContinuedWeights(const FieldInner& here) : here_(here.weights) {}

    const FieldInner& near(double steps) {
        if (steps == 1.0) near_.weights = here_;
        if (steps == -1.0) near_.weights = 2.0 * here_ - up_;
        if (steps == 2.0) near_.weights = 3.0 * (up_ - here_) + down_;
        if (steps == -2.0) near_.weights = 3.0 * (down_ - here_) + up_;
        // Where a polynomial would cross zero, a curve does not.
        for (Index n = 0; n < here_.size(); ++n) {
            if (!(near_.weights[n] > 0.0)) near_.weights[n] = here_[n];
        }
        return near_;
    }
    void keep(double steps, const FieldInner& found) {
        if (steps == 1.0) up_ = found.weights;
        if (steps == -1.0) down_ = found.weights;
    }

  private:
    const Vector& here_;
    Vector up_;
    Vector down_;
    FieldInner near_;
};

}  // namespace

RowField::RowField(const FieldCore& core) : core_(core) {
    problem_ = std::make_shared<const FieldInnerProblem>(core.plan, std::make_shared<const RowDesign>(core.structure),
                                                         likelihood_of(*core.design));
    constant_ = -core.rows * std::log(core.design->units().response_scale);
    const Vector psi = guess();
    reference_ = std::make_shared<const FieldInner>(top(psi, nullptr).inner);
    find_rivals();
}

Vector RowField::guess() const {
    Vector psi(core_.variance_count());
    for (std::size_t i = 0; i < core_.parts.size(); ++i) {
        const bool is_sigma = i == core_.sigma_part();
        const Index q = core_.parts[i].effects();
        psi.segment(core_.part_offset(i), core_.parts[i].size()) =
            core_.parts[i].from_sds(Vector::Constant(q, is_sigma ? 0.6 * std::sqrt(core_.precision_unit) : 0.5));
    }
    const std::vector<LikelihoodParameter>& parameters = core_.likelihood().parameters();
    for (std::size_t i = 0; i < parameters.size(); ++i) {
        psi[core_.parameter_offset(i)] = parameters[i].psi(parameters[i].guess);
    }
    return psi;
}

Vector RowField::theta(const VectorView& psi) const {
    const std::vector<LikelihoodParameter>& parameters = core_.likelihood().parameters();
    Vector theta(core_.likelihood().parameter_count());
    const Index first = theta.size() - static_cast<Index>(parameters.size());
    if (core_.has_sigma) {
        const std::size_t part = core_.sigma_part();
        theta[0] = std::exp(core_.parts[part].log_sd(psi.segment(core_.part_offset(part), 1), 0));
    }
    for (std::size_t i = 0; i < parameters.size(); ++i) {
        theta[first + static_cast<Index>(i)] = parameters[i].value(psi[core_.parameter_offset(i)]);
    }
    return theta;
}

void RowField::add_parameter_gradient(const VectorView& psi, const Vector& theta, const Vector& by_theta,
                                      Vector& gradient) const {
    const std::vector<LikelihoodParameter>& parameters = core_.likelihood().parameters();
    const Index first = theta.size() - static_cast<Index>(parameters.size());
    if (core_.has_sigma) {
        const std::size_t part = core_.sigma_part();
        const Index place = core_.part_offset(part);
        double slope = 1.0;
        core_.parts[part].log_sd(psi.segment(place, 1), 0, &slope);
        gradient[place] += slope * by_theta[0];
    }
    for (std::size_t i = 0; i < parameters.size(); ++i) {
        const Index at = first + static_cast<Index>(i);
        gradient[core_.parameter_offset(i)] += by_theta[at] * (theta[at] - parameters[i].lower);
    }
}

FieldGiven RowField::given(const PsiPoint& point, const VectorView& psi) const {
    FieldGiven result;
    result.mean = Vector::Zero(core_.size());
    result.mean.head(core_.shape().fixed) = core_.fixed_mean;
    result.fixed_precision = point.fixed_precision;
    result.precisions = point.precisions;
    result.log_determinant = core_.fixed_precision.head(core_.shape().plain).array().log().sum();
    for (std::size_t f = 0; f < core_.shape().parts(); ++f) {
        const EffectCovariance& part = point.parts[f];
        if (!part.precision.allFinite() || !(part.precision.diagonal().minCoeff() > 0.0)) {
            throw std::domain_error("the prior precision of the field cannot be had at these sds");
        }
        result.log_determinant -= static_cast<double>(core_.shape().part(f).levels) * part.log_determinant;
    }
    result.theta = theta(psi);
    if (!result.theta.allFinite() || (result.theta.array() <= 0.0).any()) {
        throw std::domain_error("the scale of the rows cannot be had at these variance parameters");
    }
    return result;
}

double RowField::full_bound(const At& at) const {
    return at.inner.bound + at.point.log_prior + constant_;
}

RowField::At RowField::top(const VectorView& psi, const FieldInner* near, double close) const {
    At result;
    result.psi = psi;
    result.point = core_.psi_point(psi);
    result.given = given(result.point, psi);
    result.inner = problem_->top(result.given, near, close);
    result.bound = full_bound(result);
    return result;
}

RowField::At RowField::at(const VectorView& psi, const Vector& mean, const FieldInner* near) const {
    At result;
    result.psi = psi;
    result.point = core_.psi_point(psi);
    result.given = given(result.point, psi);
    result.inner = problem_->top_at(result.given, mean, near);
    result.bound = full_bound(result);
    return result;
}

std::shared_ptr<const RowField::At> RowField::at(const VectorView& psi, const Vector& mean) const {
    {
        const std::lock_guard<std::mutex> lock(mutex_);
        if (last_ && last_->psi == psi && last_->inner.mean == mean) return last_;
    }
    auto result = std::make_shared<const At>(at(psi, mean, reference_.get()));
    const std::lock_guard<std::mutex> lock(mutex_);
    last_ = result;
    return result;
}

void RowField::add_spread(const At& at, FieldCore::Squares& squares, FieldCore::Spread& spread) const {
    const Matrix fixed = core_.shape().terms.empty() ? Matrix() : at.inner.inverse->fixed();
    for (std::size_t i = 0; i < core_.shape().parts(); ++i) {
        squares.sums.push_back(core_.part_squares(i, at.inner.mean));
        spread.sums.push_back(core_.part_spread(i, *at.inner.inverse, fixed));
    }
}

Vector RowField::psi_gradient(const At& at) const {
    return held_gradient(at, at.psi);
}

Vector RowField::held_gradient(const At& at, const VectorView& psi) const {
    const bool here = psi == at.psi;
    const PsiPoint moved = here ? PsiPoint() : core_.psi_point(psi);
    const PsiPoint& point = here ? at.point : moved;
    FieldCore::Squares squares;
    FieldCore::Spread spread;
    add_spread(at, squares, spread);
    Vector gradient = core_.psi_gradient(point, squares, &spread);
    if (core_.likelihood().parameter_count() == 0) return gradient;
    const Vector theta = this->theta(psi);
    const RowLikelihood& likelihood = problem_->likelihood();
    LikelihoodTerms terms;
    if (!here) likelihood.terms(at.inner.predictors, at.inner.variances, theta, problem_->threads(), terms);
    const Vector by_theta =
        likelihood.parameter_gradient(at.inner.predictors, at.inner.variances, theta, here ? at.inner.terms : terms);
    add_parameter_gradient(psi, theta, by_theta, gradient);
    return gradient;
}

Matrix RowField::held_curvature(const At& at) const {
    const Index k = core_.variance_count();
    Matrix result(k, k);
    for (Index j = 0; j < k; ++j) {
        const auto gradient = [&](double steps) {
            Vector moved = at.psi;
            moved[j] += steps * kStep;
            return held_gradient(at, moved);
        };
        result.col(j) = difference(gradient(1.0), gradient(-1.0), gradient(2.0), gradient(-2.0));
    }
    return 0.5 * (result + result.transpose());
}

FieldCore::Evidence RowField::evidence(const VectorView& psi, bool gradient, const FieldInner* near) const {
    FieldCore::Evidence result;
    result.value = kNone;
    if (!psi.allFinite()) return result;
    try {
        At here = top(psi, near != nullptr ? near : reference_.get());
        if (std::isfinite(here.bound)) result.value = here.bound;
        result.mean = here.inner.mean;
        if (gradient) {
            add_spread(here, result.squares, result.spread);
            result.gradient = psi_gradient(here);
            if (!result.gradient.allFinite()) result.value = kNone;
        }
        result.inner = std::make_shared<const FieldInner>(std::move(here.inner));
    } catch (const std::domain_error&) {
        result.value = kNone;
    }
    return result;
}

Expansion RowField::expand(const Vector& mean, Order order) const {
    require_size("expand", "mean", mean.size(), core_.layout.size());
    const Index k = core_.variance_count();
    const Vector x = mean.tail(core_.size());
    Expansion result;
    std::shared_ptr<const At> found;
    try {
        if (!mean.allFinite()) throw std::domain_error("the mean is not finite");
        found = at(mean.head(k), x);
    } catch (const std::domain_error&) {
        result.value = kNone;
        result.magnitude = 1.0;
        if (order != Order::value) result.gradient = Vector::Constant(mean.size(), kNaN);
        if (order == Order::hessian) result.hessian = SparseMatrix(mean.size(), mean.size());
        return result;
    }
    const At& here = *found;
    const double square = 0.5 * mean.squaredNorm();
    result.value = here.bound + square;
    // S is found to a step of about 1e-11, and the bound is flat about it. Predictors are rounded, and rows go with
    // them.
    const Vector& offset = problem_->likelihood().offset();
    Vector predictors = here.inner.predictors;
    if (offset.size() > 0) predictors += offset;
    result.magnitude = here.inner.terms.value.cwiseAbs().sum() +
                       here.inner.terms.first.cwiseAbs().dot(predictors.cwiseAbs()) +
                       0.5 * std::abs(here.inner.factor->log_determinant()) + std::abs(here.given.log_determinant) +
                       std::abs(here.point.log_prior) + square;
    if (order == Order::value) return result;
    const auto coefficients = [&](const At& there) { return problem_->gradient(there.given, there.inner); };
    result.gradient = mean;
    result.gradient.head(k) += psi_gradient(here);
    result.gradient.tail(core_.size()) += coefficients(here);
    // By rows, then by the prior: each is a sum of terms of these sizes. S is known to 1e-11, not to rounding.
    result.gradient_magnitude = mean.cwiseAbs();
    result.gradient_magnitude.head(k).array() += 1e4 * (core_.rows + static_cast<double>(core_.size()));
    result.gradient_magnitude.tail(core_.size()) +=
        1e4 * (problem_->prior_times(here.given, x - here.given.mean).cwiseAbs() +
               Vector::Constant(core_.size(), here.inner.terms.first.cwiseAbs().maxCoeff()));
    if (order == Order::gradient) return result;

    Matrix curvature(k, k);
    Matrix mixed(core_.size(), k);
    for (Index j = 0; j < k; ++j) {
        std::vector<Vector> by_psi;
        std::vector<Vector> by_x;
        ContinuedWeights weights(here.inner);
        for (const double steps : {1.0, -1.0, 2.0, -2.0}) {
            Vector moved = mean.head(k);
            moved[j] += steps * kStep;
            const At there = at(moved, x, &weights.near(steps));
            weights.keep(steps, there.inner);
            by_psi.push_back(psi_gradient(there));
            by_x.push_back(coefficients(there));
        }
        curvature.col(j) = difference(by_psi[0], by_psi[1], by_psi[2], by_psi[3]);
        mixed.col(j) = difference(by_x[0], by_x[1], by_x[2], by_x[3]);
    }
    curvature = 0.5 * (curvature + curvature.transpose()).eval();
    const FieldBlocks blocks = problem_->responding_blocks(here.given, here.inner);
    const std::vector<double> precision =
        core_.structure->lower_values(blocks, 1.0, here.point.fixed_precision, here.point.precisions);
    const SparseMatrix& pattern = core_.hessian_pattern;
    SparseMatrix& hessian = result.hessian;
    hessian.resize(mean.size(), mean.size());
    hessian.resizeNonZeros(k * (k + 1) / 2 + k * core_.size() + pattern.nonZeros());
    int* starts = hessian.outerIndexPtr();
    int filled = 0;
    const auto put = [&](Index row, double value) {
        hessian.innerIndexPtr()[filled] = static_cast<int>(row);
        hessian.valuePtr()[filled++] = value;
    };
    for (Index j = 0; j < k; ++j) {
        starts[j] = filled;
        for (Index i = j; i < k; ++i) put(i, curvature(i, j) + (i == j ? 1.0 : 0.0));
        for (Index i = 0; i < core_.size(); ++i) put(k + i, mixed(i, j));
    }
    for (Index c = 0; c < core_.size(); ++c) {
        starts[k + c] = filled;
        for (int e = pattern.outerIndexPtr()[c]; e < pattern.outerIndexPtr()[c + 1]; ++e) {
            const Index row = pattern.innerIndexPtr()[e];
            put(k + row, (row == c ? 1.0 : 0.0) - precision[detail::at(e)]);
        }
    }
    starts[mean.size()] = filled;
    return result;
}

// A step of Newton's method in the free coefficients with S held, by conjugate gradients, halved until F does not fall.
Vector RowField::moved_free(const At& here, const std::vector<bool>& clamped) const {
    const Index k = core_.variance_count();
    const auto mask = [&](Vector v) {
        for (Index i = 0; i < v.size(); ++i) {
            if (clamped[detail::at(k + i)]) v[i] = 0.0;
        }
        return v;
    };
    const RowDesign& design = problem_->design();
    const int threads = problem_->threads();
    const Vector weights = here.inner.weights.cwiseMax(0.0);
    Vector step = Vector::Zero(core_.size());
    Vector residual = mask(problem_->gradient(here.given, here.inner));
    Vector direction = residual;
    double square = residual.squaredNorm();
    const double enough = 1e-20 * square;
    for (int i = 0; i < 200 && square > enough && square > 0.0; ++i) {
        const Vector along = design.predictors(direction, threads);
        const Vector image = mask(problem_->prior_times(here.given, direction) +
                                  design.transposed(weights.cwiseProduct(along), threads));
        const double length = square / direction.dot(image);
        step += length * direction;
        residual -= length * image;
        const double next = residual.squaredNorm();
        direction = residual + next / square * direction;
        square = next;
    }
    for (double length = 1.0; length > 1e-8; length *= 0.5) {
        Vector moved = here.inner.mean + length * step;
        try {
            if (at(here.psi, moved, &here.inner).bound >= here.bound) return moved;
        } catch (const std::domain_error&) {
            continue;
        }
    }
    return here.inner.mean;
}

// The coefficients given ψ, and then ψ, by a Newton step with q(x) held: a step of the EM algorithm, halved until the
// bound does not fall.
Expansion RowField::sweep(State& state) const {
    const Index k = core_.variance_count();
    Expansion before = expand(state.mean, Order::value);
    bool all_free = true;
    for (Index i = 0; i < core_.size(); ++i) all_free = all_free && !state.clamped[detail::at(k + i)];
    At here;
    try {
        here = *at(state.mean.head(k), state.mean.tail(core_.size()));
        if (all_free) {
            here = top(here.psi, &here.inner);
        } else {
            here = at(here.psi, moved_free(here, state.clamped), &here.inner);
        }
    } catch (const std::domain_error& error) {
        throw ImproperConditional(core_.layout[0].name, error.what());
    }
    Vector psi = here.psi;
    Vector x = here.inner.mean;
    if (k > 0) {
        Matrix curvature = held_curvature(here);
        Vector gradient = psi_gradient(here);
        for (Index j = 0; j < k; ++j) {
            if (!state.clamped[detail::at(j)]) continue;
            gradient[j] = 0.0;
            curvature.row(j).setZero();
            curvature.col(j).setZero();
            curvature(j, j) = -1.0;
        }
        const Vector step = FieldCore::bounded_step(curvature, gradient, 1.0);
        for (double length = 1.0; length > 1e-8 && step.dot(gradient) > 1e-20; length *= 0.5) {
            const Vector moved = psi + length * step;
            try {
                const At there = all_free ? top(moved, &here.inner) : at(moved, x, &here.inner);
                if (!(there.bound >= here.bound)) continue;
                psi = moved;
                x = there.inner.mean;
                break;
            } catch (const std::domain_error&) {
                continue;
            }
        }
    }
    for (Index i = 0; i < state.mean.size(); ++i) {
        if (state.clamped[detail::at(i)]) continue;
        state.mean[i] = i < k ? psi[i] : x[i - k];
        state.natural[i] = state.mean[i];
    }
    return before;
}

double RowField::log_joint(const VectorView& psi, const VectorView& x, Vector* gradient) const {
    const Index k = core_.variance_count();
    if (!psi.allFinite() || !x.allFinite()) {
        if (gradient != nullptr) *gradient = Vector::Constant(k + x.size(), kNaN);
        return kNone;
    }
    const PsiPoint point = core_.psi_point(psi);
    FieldGiven own;
    try {
        own = given(point, psi);
    } catch (const std::domain_error&) {
        if (gradient != nullptr) *gradient = Vector::Constant(k + x.size(), kNaN);
        return kNone;
    }
    const RowDesign& design = problem_->design();
    const Vector predictors = design.predictors(x, 1);
    LikelihoodTerms terms;
    problem_->likelihood().terms(predictors, Vector(), own.theta, 1, terms);
    const Vector away = x - own.mean;
    const Vector pull = problem_->prior_times(own, away);
    const double value = terms.value.sum() + constant_ + point.log_prior + 0.5 * own.log_determinant -
                         0.5 * static_cast<double>(core_.size()) * std::log(2.0 * std::numbers::pi) -
                         0.5 * away.dot(pull);
    if (gradient == nullptr) return value;
    gradient->resize(k + x.size());
    FieldCore::Squares squares;
    for (std::size_t i = 0; i < core_.shape().parts(); ++i) squares.sums.push_back(core_.part_squares(i, x));
    gradient->head(k) = core_.psi_gradient(point, squares, nullptr);
    const Vector by_theta = problem_->likelihood().parameter_gradient(predictors, Vector(), own.theta, terms);
    if (by_theta.size() > 0) add_parameter_gradient(psi, own.theta, by_theta, *gradient);
    gradient->tail(x.size()) = design.transposed(terms.first, 1) - pull;
    return value;
}

// ∂²F/∂m∂sd and ∂²F/∂ψ∂sd of a fixed effect's prior: by differences, as S follows the precision.
Vector RowField::fixed_sd_gradient(const Vector& mean, Index fixed) const {
    const Index k = core_.variance_count();
    const std::shared_ptr<const At> found = at(mean.head(k), mean.tail(core_.size()));
    const At& here = *found;
    std::vector<Vector> gradients;
    ContinuedWeights weights(here.inner);
    for (const double steps : {1.0, -1.0, 2.0, -2.0}) {
        At there;
        there.psi = here.psi;
        there.point = here.point;
        there.given = here.given;
        const double factor = std::exp(-2.0 * steps * kStep);
        there.given.fixed_precision[fixed] *= factor;
        there.given.log_determinant -= 2.0 * steps * kStep;
        there.inner = problem_->top_at(there.given, here.inner.mean, &weights.near(steps));
        weights.keep(steps, there.inner);
        Vector gradient(mean.size());
        gradient.head(k) = psi_gradient(there);
        gradient.tail(core_.size()) = problem_->gradient(there.given, there.inner);
        gradients.push_back(std::move(gradient));
    }
    const double sd = core_.fixed_unit[fixed] / std::sqrt(core_.fixed_precision[fixed]);
    return difference(gradients[0], gradients[1], gradients[2], gradients[3]) / sd;
}

class RowConditional final : public FieldConditional {
  public:
    RowConditional(const std::shared_ptr<const FieldCore>& core, const RowField& field, const VectorView& psi,
                   const RowConditional* near)
        : core_(core) {
        constexpr double kCloseEnough = 1e-5;  // of one among many
        FieldInner begin;
        if (near != nullptr) {
            begin.mean = near->begin_mean_;
            begin.weights = near->begin_weights_;
        }
        const RowField::At at =
            near != nullptr ? field.top(psi, &begin, kCloseEnough) : field.top(psi, field.reference());
        begin_mean_ = at.inner.mean;
        begin_weights_ = at.inner.weights;
        bound_ = at.bound;
        const FieldInnerProblem::Correction correction = field.problem().correction(at.given, at.inner);
        log_density_ = bound_ + (std::isfinite(correction.log_evidence) ? correction.log_evidence : 0.0);
        auto responding = std::make_shared<PrecisionFactor>(core->plan);
        factor_ = at.inner.factor;
        variances_ = at.inner.inverse->diagonal();
        if (responding->factorise(correction.blocks, 1.0, at.given.fixed_precision, at.given.precisions)) {
            Vector own = PrecisionInverse(*responding).diagonal();
            if (is_sound(own, field.problem(), at.given)) {
                factor_ = responding;
                variances_ = std::move(own);
            }
        }
        mean_ = at.inner.mean;
        if (!correction.force.allFinite()) return;
        const Vector away = factor_->solve(correction.force);
        const double farthest = away.cwiseAbs().cwiseQuotient(variances_.cwiseSqrt()).maxCoeff();
        if (std::isfinite(farthest)) mean_ += std::min(1.0, kFarthest / farthest) * away;
    }

    double log_density() const override { return log_density_; }
    double bound() const override { return bound_; }
    const Vector& mean() const override { return mean_; }
    Vector variances() const override { return variances_; }
    Vector variances(const SparseMatrix& combinations) const override {
        return combination_variances(*factor_, variances_, combinations);
    }
    Matrix covariance_times(const Matrix& x) const override { return factor_->solve(x); }
    Matrix root_times(const Matrix& z) const override { return factor_->root_solve(z); }
    double log_determinant() const override { return factor_->log_determinant(); }

  private:
    static constexpr double kFarthest = 3.0;  // that corrections move a coefficient by, in its sds

    // Brascamp & Lieb (1976): where rows are log-concave, nothing varies more than its prior says. What does, nearly,
    // is a factor that has lost what rows know.
    static bool is_sound(const Vector& variances, const FieldInnerProblem& problem, const FieldGiven& given) {
        constexpr double kMost = 3.0;  // as these are approximations
        if (!variances.allFinite() || !(variances.minCoeff() > 0.0)) return false;
        if (!problem.likelihood().likelihood().is_log_concave()) return true;
        const FieldShape& shape = problem.shape();
        for (Index j = 0; j < shape.fixed; ++j) {
            if (variances[j] * given.fixed_precision[j] > kMost) return false;
        }
        for (std::size_t f = 0; f < shape.factors.size(); ++f) {
            const auto [offset, levels, q] = shape.factors[f];
            const Vector most = kMost * given.precisions[f].inverse().diagonal();
            for (Index g = 0; g < levels; ++g) {
                if (((variances.segment(offset + g * q, q) - most).array() > 0.0).any()) return false;
            }
        }
        return true;
    }

    std::shared_ptr<const FieldCore> core_;
    std::shared_ptr<const PrecisionFactor> factor_;
    Vector mean_;
    Vector variances_;
    // Of the best normal, for others to begin at.
    Vector begin_mean_;
    Vector begin_weights_;
    double log_density_ = 0.0;
    double bound_ = 0.0;
};

std::unique_ptr<FieldConditional> RowField::conditional(const std::shared_ptr<const FieldCore>& core,
                                                        const VectorView& psi, const FieldConditional* near) const {
    return std::make_unique<RowConditional>(core, *this, psi, dynamic_cast<const RowConditional*>(near));
}

}  // namespace lrvb::detail
