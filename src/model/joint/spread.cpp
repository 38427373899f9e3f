#include "base/compensated_sum.hpp"
#include "linalg/lapack.hpp"
#include "model/joint/core.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

/// S at its best, and how it follows the means.
namespace lrvb::detail {

namespace {

constexpr int kMostSteps = 100;
constexpr double kCloseWeights = 1e-15;  // of ω, in units of 1/v
constexpr double kNearWeights = 1e-6;    // what rounding may leave of it where P knows little of some coefficients
constexpr double kNearEnd = 1e-3;
constexpr int kManySteps = 20;
constexpr double kGrow = 8.0;
constexpr double kWeak = 0.25;      // of a contraction
constexpr double kFurthest = 20.0;  // that ω may grow by in a step, in units of 1/v
constexpr double kFarWeights = 1e6;
constexpr Index kFewCoefficients = 200;  // for which dense products cost little

}  // namespace

std::shared_ptr<const JointAt> JointCore::at(const Vector& mean, bool covariance) const {
    const Vector t = mean.head(others());
    const Vector x = mean.tail(coefficients());
    {
        const std::lock_guard<std::mutex> lock(mutex_);
        if (last_ && last_->t == t && last_->x == x && (last_->has_covariance || !covariance || !last_->fine)) {
            return last_;
        }
    }
    auto result = std::make_shared<JointAt>();
    result->t = t;
    result->x = x;
    if (!mean.allFinite()) return result;
    result->phi = form.phi(t);
    factorise(*result, covariance);
    const std::lock_guard<std::mutex> lock(mutex_);
    last_ = result;
    return result;
}

void JointCore::factorise(JointAt& at, bool covariance) const {
    if (predictors) {
        at.fine = climb(at);
        at.has_covariance = at.fine;
        return;
    }
    form.precision(at.phi, at.factor);
    at.fine = false;
    if (cholesky_in_place(at.factor)) return;
    if (covariance) {
        at.covariance = at.factor;
        invert_from_cholesky_in_place(at.covariance);
        at.has_covariance = true;
    }
    at.bound = -at.factor.diagonal().array().log().sum() +
               0.5 * static_cast<double>(coefficients()) * std::log(2.0 * std::numbers::pi);
    at.magnitude = std::abs(at.bound);
    at.fine = std::isfinite(at.bound);
}

// ½ log|S| − ½ tr(PS) + Σ w E ℓ for S of these weights, with tr(PS) = d − Σ ω v.
bool JointCore::evaluate(const Matrix& precision, JointAt& at) const {
    at.factor = precision;
    predictors->fold(at.weights, at.factor);
    if (cholesky_in_place(at.factor)) return false;
    at.covariance = at.factor;
    invert_from_cholesky_in_place(at.covariance);
    if (coefficients() <= kFewCoefficients) {
        at.whitened = predictors->whitened(at.factor);
        at.variances = at.whitened.colwise().squaredNorm().transpose();
    } else {
        const Matrix products = predictors->times_matrix(at.covariance);  // A S
        at.variances.resize(predictors->designs());
        for (Index u = 0; u < at.variances.size(); ++u) {
            at.variances[u] = std::max(0.0, predictors->row_times(u, products.row(u)));
        }
    }
    at.terms = predictors->terms(at.predictors, at.variances);
    const double log_root = at.factor.diagonal().array().log().sum();
    const double constant = 0.5 * static_cast<double>(coefficients()) * std::log(2.0 * std::numbers::pi);
    const double spread = 0.5 * at.weights.dot(at.variances);
    at.bound = constant - log_root + spread + at.terms.value;
    at.magnitude = std::abs(constant) + std::abs(log_root) + spread + at.terms.magnitude;
    return std::isfinite(at.bound) && at.terms.second.allFinite() && at.terms.fourth.allFinite();
}

Matrix JointCore::crossed(const JointAt& at) const {
    if (coefficients() > kFewCoefficients) return predictors->crossed(at.covariance);
    return at.whitened.transpose() * at.whitened;
}

// Newton's method for ω = −Σ E ℓ''(μ, v(ω)), with the bound as its judge.
bool JointCore::climb(JointAt& at) const {
    Matrix precision;
    form.precision(at.phi, precision);
    at.predictors = predictors->times(at.x);
    at.weights = (-predictors->terms(at.predictors, Vector()).second).cwiseMax(1e-300);
    if (!at.weights.allFinite()) return false;
    // Where predictors are so uncertain that expectations overflow, less so.
    for (int tries = 0; !evaluate(precision, at); ++tries) {
        if (tries == 2 * kMostSteps) return false;
        at.weights *= kGrow;
    }
    const auto unsettled = [](const JointAt& there) {
        return (there.terms.second + there.weights).cwiseAbs().cwiseProduct(there.variances).maxCoeff();
    };
    double last = 0.0;
    for (int step = 0; step < kMostSteps; ++step) {
        const Vector exact = -at.terms.second;
        const Vector residual = exact - at.weights;
        const double largest = unsettled(at);
        const double rounding = step > kManySteps ? kNearWeights : 1e-10;
        const bool close = largest < kCloseWeights || (step > 0 && largest < rounding && largest >= 0.5 * last);
        if (close) return true;
        // Taking ω for what it should be is a contraction, mostly, and costs little; where it is a weak one, Newton's.
        const bool is_slow = step > 0 && largest > kWeak * last;
        last = largest;
        Vector target = exact;
        if (is_slow) {
            const PredictorResponse response(crossed(at), at.terms);
            target = at.weights + response.step(residual);
        }
        for (Index u = 0; u < target.size(); ++u) {
            // No further than by a factor.
            const double low = 0.2 * std::min(exact[u], at.weights[u]);
            const double high = 5.0 * std::max(exact[u], at.weights[u]);
            target[u] = std::isfinite(target[u]) ? std::clamp(target[u], low, high) : exact[u];
        }
        JointAt next;
        next.phi = at.phi;
        next.predictors = at.predictors;
        const auto is_better = [&](const Vector& along, double longest) {
            for (double length = longest; length > 1e-10 * longest; length *= 0.5) {
                next.weights = at.weights + length * along;
                if (!evaluate(precision, next)) continue;
                // Near the end, rounding in log|S| may hide what the bound gains.
                const bool settles = largest < kNearEnd && unsettled(next) < 0.5 * largest;
                if (settles || next.bound >= at.bound - 1e-14 * at.magnitude) return true;
            }
            return false;
        };
        // The bound always rises along what is left of ω, which exponentials may make too large by many orders.
        const double longest = largest > kFurthest ? kFurthest / largest : 1.0;
        const bool better =
            (largest < kFarWeights && is_better(target - at.weights, 1.0)) || is_better(residual, longest);
        if (!better) return largest < kNearWeights;
        at.factor = std::move(next.factor);
        at.covariance = std::move(next.covariance);
        at.whitened = std::move(next.whitened);
        at.variances = std::move(next.variances);
        at.weights = std::move(next.weights);
        at.terms = std::move(next.terms);
        at.bound = next.bound;
        at.magnitude = next.magnitude;
    }
    return false;
}

std::pair<double, double> JointCore::value(const JointAt& at) const {
    Vector sizes;
    const Vector u = form.values(at.x, &sizes);
    CompensatedSum sum;
    for (Index k = 0; k < u.size(); ++k) sum.add(at.phi[k] * u[k]);
    sum.add(at.bound);
    return {sum.value(), at.phi.cwiseAbs().dot(sizes) + at.magnitude};
}

Vector JointCore::coefficient_slope(const JointAt& at) const {
    Vector result = form.slope(at.phi, at.x);
    if (predictors) result += predictors->transposed(at.terms.first);
    return result;
}

std::shared_ptr<const JointAt> JointCore::improved(std::shared_ptr<const JointAt> at_begin,
                                                   const std::vector<bool>& clamped) const {
    const JointAt& at = *at_begin;
    const auto first = clamped.end() - coefficients();
    std::vector<Index> free;
    for (Index i = 0; i < coefficients(); ++i) {
        if (!*(first + i)) free.push_back(i);
    }
    if (free.empty()) return at_begin;
    const auto count = static_cast<Index>(free.size());
    const Vector slope = coefficient_slope(at);
    Matrix step(count, 1);
    for (Index i = 0; i < count; ++i) step(i, 0) = slope[free[static_cast<std::size_t>(i)]];
    if (!predictors && count == coefficients()) {
        cholesky_solve_in_place(at.factor, step);
    } else {
        const Matrix curvature = own_curvature(at);
        Matrix own(count, count);
        for (Index i = 0; i < count; ++i) {
            for (Index j = 0; j <= i; ++j) {
                own(i, j) = curvature(free[static_cast<std::size_t>(i)], free[static_cast<std::size_t>(j)]);
            }
        }
        if (cholesky_in_place(own)) return at_begin;
        cholesky_solve_in_place(own, step);
    }
    auto next = std::make_shared<JointAt>(at);
    const auto move = [&](double length) {
        next->x = at.x;
        for (Index i = 0; i < count; ++i) next->x[free[static_cast<std::size_t>(i)]] += length * step(i, 0);
    };
    if (!predictors) {
        move(1.0);  // S does not depend on x, and the bound is quadratic in it
        return next;
    }
    const auto [before, magnitude] = value(at);
    for (double length = 1.0; length > 1e-8; length *= 0.5) {
        move(length);
        factorise(*next, true);
        if (next->fine && value(*next).first >= before - 1e-14 * magnitude) return next;
    }
    return at_begin;
}

Matrix JointCore::own_curvature(const JointAt& at) const {
    Matrix result;
    form.precision(at.phi, result);
    if (!predictors) return result;
    predictors->fold(at.weights, result);
    const PredictorResponse response(crossed(at), at.terms);
    if (!response.fine()) return result;
    Matrix responding = result - predictors->bent(response, at.terms.third);
    Matrix factor = responding;
    return cholesky_in_place(factor) ? result : responding;
}

Vector JointCore::extended(const Vector& t, const Vector& x, const Matrix* covariance) const {
    Vector result(shape.extended());
    result.head(others()) = t;
    result.segment(others(), coefficients()) = x;
    for (std::size_t e = 0; e < shape.pairs.size(); ++e) {
        const auto [row, column] = shape.pairs[e];
        result[shape.statistics() + static_cast<Index>(e)] =
            x[row] * x[column] + (covariance != nullptr ? (*covariance)(row, column) : 0.0);
    }
    return result;
}

JointFollow JointCore::follow(const JointAt& at, bool strict) const {
    const Matrix w = predictors->times_matrix(at.covariance).transpose();
    JointFollow result{w, PredictorResponse(crossed(at), at.terms), Matrix()};
    if (!result.response.fine() && strict) {
        throw std::domain_error("the spread of the joined variables is not at a strict maximum at these means");
    }
    result.products.resize(predictors->designs(), static_cast<Index>(form.quadratic().size()));
    for (std::size_t i = 0; i < form.quadratic().size(); ++i) {
        for (Index u = 0; u < w.cols(); ++u) {
            result.products(u, static_cast<Index>(i)) = 2.0 * form.along_products(form.quadratic()[i], w.col(u));
        }
    }
    return result;
}

Matrix JointCore::variance_directions(const JointAt& at, const JointFollow& follow, const Matrix& directions) const {
    Matrix forces(predictors->designs(), directions.cols());  // g
    for (Index c = 0; c < directions.cols(); ++c) {
        const Vector products = form.push(at.t, Vector(directions.col(c).head(others())));
        Vector own(static_cast<Index>(form.quadratic().size()));
        for (Index i = 0; i < own.size(); ++i) own[i] = products[form.quadratic()[static_cast<std::size_t>(i)]];
        forces.col(c) = follow.products * own;
    }
    const Matrix moved = predictors->times_matrix(directions.bottomRows(coefficients()));
    // N g + N C f3 dμ, N = I + N C D.
    const Matrix bent = follow.response.bend().asDiagonal() * forces + at.terms.third.asDiagonal() * moved;
    return forces + follow.response.respond(bent);
}

Matrix JointCore::extended_directions(const JointAt& at, const Matrix& directions) const {
    Matrix result = Matrix::Zero(shape.extended(), directions.cols());
    result.topRows(shape.statistics()) = directions;
    for (std::size_t e = 0; e < shape.pairs.size(); ++e) {
        const auto [row, column] = shape.pairs[e];
        result.row(shape.statistics() + static_cast<Index>(e)) =
            at.x[row] * directions.row(others() + column) + at.x[column] * directions.row(others() + row);
    }
    // dS = −S (dP + Aᵀ dω A) S, dP = Σ_k dφ_k A_k.
    Matrix products(form.products(), directions.cols());
    for (Index d = 0; d < directions.cols(); ++d) {
        products.col(d) = form.push(at.t, Vector(directions.col(d).head(others())));
    }
    for (const std::uint32_t k : form.quadratic()) {
        if (products.row(k).isZero(0.0)) continue;
        result.bottomRows(static_cast<Index>(shape.pairs.size())) -= form.sandwich(k, at.covariance) * products.row(k);
    }
    if (!predictors) return result;
    const JointFollow follow = this->follow(at);
    const Matrix moved = predictors->times_matrix(directions.bottomRows(coefficients()));
    const Matrix weights = -(at.terms.third.asDiagonal() * moved +
                             follow.response.bend().asDiagonal() * variance_directions(at, follow, directions));
    for (std::size_t e = 0; e < shape.pairs.size(); ++e) {
        const auto [row, column] = shape.pairs[e];
        result.row(shape.statistics() + static_cast<Index>(e)) -=
            follow.crossed.row(row).cwiseProduct(follow.crossed.row(column)) * weights;
    }
    return result;
}

Vector JointCore::folded(const JointAt& at, const Vector& gradient) const {
    Vector result = gradient.head(shape.statistics());
    const Vector on_pairs = gradient.tail(static_cast<Index>(shape.pairs.size()));
    for (std::size_t e = 0; e < shape.pairs.size(); ++e) {
        const auto [row, column] = shape.pairs[e];
        result[others() + row] += on_pairs[static_cast<Index>(e)] * at.x[column];
        result[others() + column] += on_pairs[static_cast<Index>(e)] * at.x[row];
    }
    if (on_pairs.isZero(0.0)) return result;
    Vector along = Vector::Zero(form.products());
    for (const std::uint32_t k : form.quadratic()) along[k] = -form.sandwich(k, at.covariance).dot(on_pairs);
    if (predictors) {
        // Σ_e γ_e dS_e has Σ_u χ_u dω_u, χ_u = −Σ_e γ_e w_ui w_uj, and with ξ = χ + N C D χ
        // Σ χ dω = −(f3 ξ)ᵀ dμ − (D ξ)ᵀ g.
        const JointFollow follow = this->follow(at);
        Vector pull = Vector::Zero(predictors->designs());
        for (std::size_t e = 0; e < shape.pairs.size(); ++e) {
            const auto [row, column] = shape.pairs[e];
            pull -= on_pairs[static_cast<Index>(e)] *
                    follow.crossed.row(row).cwiseProduct(follow.crossed.row(column)).transpose();
        }
        const Vector& bend = follow.response.bend();
        const Vector whole = pull + Vector(follow.response.respond(bend.cwiseProduct(pull)));
        result.tail(coefficients()) -= predictors->transposed(at.terms.third.cwiseProduct(whole));
        const Vector by_product = follow.products.transpose() * bend.cwiseProduct(whole);
        for (std::size_t i = 0; i < form.quadratic().size(); ++i) {
            along[form.quadratic()[i]] -= by_product[static_cast<Index>(i)];
        }
    }
    result.head(others()) += form.pull(at.t, along);
    return result;
}

Matrix JointCore::between(const JointAt& at) const {
    const std::vector<std::uint32_t>& quadratic = form.quadratic();
    const auto count = static_cast<Index>(quadratic.size());
    // tr(S A_k S A_l)/2.
    Matrix traces(count, count);
    for (Index i = 0; i < count; ++i) {
        const Vector row = form.sandwich(quadratic[static_cast<std::size_t>(i)], at.covariance);
        for (Index l = 0; l < count; ++l) traces(i, l) = -form.along_pairs(quadratic[static_cast<std::size_t>(l)], row);
    }
    return traces;
}

SparseMatrix JointCore::hessian(const JointAt& at, const Vector& u) const {
    const SparseMatrix slopes = form.scale_slopes(at.t);  // quadratic products × scales
    Matrix traces = between(at);
    if (!predictors) {
        const Matrix scales = slopes.transpose() * (traces * slopes);
        return form.hessian(at.t, at.phi, at.x, u, scales, Matrix(), Matrix(), units.cwiseAbs2().cwiseInverse());
    }
    const JointFollow follow = this->follow(at, false);
    const Vector& bend = follow.response.bend();
    // ½ g_kᵀ D N g_l, D N = D + D N C D.
    const Matrix bent_products = bend.asDiagonal() * follow.products;
    const Matrix responding = follow.response.root_times(bent_products);
    traces += 0.5 * (follow.products.transpose() * bent_products + responding.transpose() * responding);
    const Matrix scales = slopes.transpose() * (traces * slopes);
    // ½ Aᵀ f3 N g, N = I + N C D.
    const Matrix pulled = follow.products + follow.response.respond(bent_products);
    const Matrix mixed = 0.5 * predictors->transposed_rows(at.terms.third.asDiagonal() * pulled) * slopes;
    Matrix own = predictors->bent(follow.response, at.terms.third);
    predictors->fold(at.terms.second, own);
    if (!follow.response.fine()) {
        // Not a maximum over S, so none over all: the curvature says so.
        own.setZero();
        predictors->fold(at.weights, own);
        Matrix prior;
        form.precision(at.phi, prior);
        own += 2.0 * prior;
    }
    return form.hessian(at.t, at.phi, at.x, u, scales, mixed, own, units.cwiseAbs2().cwiseInverse());
}

}  // namespace lrvb::detail
