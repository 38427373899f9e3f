#include "model/field/inner.hpp"

#include "base/parallel.hpp"

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <thread>
#include <utility>

namespace lrvb::detail {

namespace {

constexpr Index kTaskRows = 4096;
constexpr Index kRowsForThreads = 20000;
constexpr Index kMostFixedProducts = 12;  // fixed effects that are a group of their own
constexpr int kMostSteps = 200;

constexpr std::size_t at(std::int64_t i) {
    return static_cast<std::size_t>(i);
}

template <class Body>
void in_parts(int threads, Index count, Index part, const Body& body) {
    in_parallel(threads, (count + part - 1) / part, [&](Index t) { body(t * part, std::min(count, (t + 1) * part)); });
}

}  // namespace

FieldInnerProblem::FieldInnerProblem(std::shared_ptr<const PrecisionPlan> plan, std::shared_ptr<const RowDesign> design,
                                     std::shared_ptr<const RowLikelihood> likelihood)
    : plan_(std::move(plan)), design_(std::move(design)), likelihood_(std::move(likelihood)) {
    const auto cores = static_cast<int>(std::thread::hardware_concurrency());
    if (likelihood_->rows() >= kRowsForThreads) threads_ = std::max(1, cores);
}

Vector FieldInnerProblem::prior_times(const FieldGiven& given, const VectorView& x) const {
    const FieldShape& shape = this->shape();
    Vector result(shape.size);
    result.head(shape.fixed) = given.fixed_precision.cwiseProduct(x.head(shape.fixed));
    for (std::size_t f = 0; f < shape.factors.size(); ++f) {
        const auto [offset, levels, q] = shape.factors[f];
        for (Index g = 0; g < levels; ++g) {
            result.segment(offset + g * q, q).noalias() = given.precisions[f] * x.segment(offset + g * q, q);
        }
    }
    return result;
}

Vector FieldInnerProblem::gradient(const FieldGiven& given, const FieldInner& at) const {
    return design_->transposed(at.terms.first, threads_) - prior_times(given, at.mean - given.mean);
}

bool FieldInnerProblem::factorise(const FieldGiven& given, FieldInner& at) const {
    at.blocks = design_->fold(at.weights, threads_);
    auto factor = std::make_shared<PrecisionFactor>(plan_);
    if (!factor->factorise(at.blocks, 1.0, given.fixed_precision, given.precisions)) return false;
    at.inverse = std::make_shared<PrecisionInverse>(*factor);
    at.factor = std::move(factor);
    return true;
}

bool FieldInnerProblem::evaluate(const FieldGiven& given, FieldInner& at) const {
    if (!at.mean.allFinite() || !at.weights.allFinite() || !factorise(given, at)) return false;
    at.predictors = design_->predictors(at.mean, threads_);
    at.variances.resize(design_->rows());
    in_parts(threads_, design_->rows(), kTaskRows, [&](Index begin, Index end) {
        at.inverse->row_variances(*design_, begin, end, at.variances.data() + begin);
        for (Index n = begin; n < end; ++n) at.variances[n] = std::max(0.0, at.variances[n]);
    });
    likelihood_->terms(at.predictors, at.variances, given.theta, threads_, at.terms);
    const Vector away = at.mean - given.mean;
    at.bound = 0.5 * (given.log_determinant - at.factor->log_determinant()) - 0.5 * away.dot(prior_times(given, away)) +
               0.5 * at.weights.dot(at.variances) + at.terms.value.sum();
    return std::isfinite(at.bound) && at.terms.first.allFinite() && at.terms.second.allFinite();
}

// Normal rows about the predictors that each row would have by itself.
void FieldInnerProblem::start(const FieldGiven& given, FieldInner& at) const {
    const Index rows = design_->rows();
    Vector guesses(rows);
    for (Index n = 0; n < rows; ++n) guesses[n] = likelihood_->guess(n);
    LikelihoodTerms terms;
    likelihood_->terms(guesses, Vector(), given.theta, threads_, terms);
    at.weights = (-terms.second).cwiseMax(0.0);
    if (!factorise(given, at)) throw std::domain_error("the field's precision cannot be factored");
    const Vector right =
        prior_times(given, given.mean) + design_->transposed(at.weights.cwiseProduct(guesses), threads_);
    at.mean = at.factor->solve(right);
}

FieldInner FieldInnerProblem::top(const FieldGiven& given, const FieldInner* near, double close) const {
    FieldInner begin;
    if (near != nullptr) {
        begin.mean = near->mean;
        begin.weights = near->weights;
        if (evaluate(given, begin)) return climb(given, std::move(begin), true, close);
    }
    start(given, begin);
    if (!evaluate(given, begin)) {
        begin.mean = given.mean;
        if (!evaluate(given, begin)) throw std::domain_error("the field has no finite bound near its prior mean");
    }
    return climb(given, std::move(begin), true, close);
}

FieldInner FieldInnerProblem::top_at(const FieldGiven& given, const Vector& mean, const FieldInner* near) const {
    FieldInner begin;
    if (near != nullptr) {
        begin.weights = near->weights;
        begin.mean = mean;
        if (evaluate(given, begin)) return climb(given, std::move(begin), false, kClose);
    }
    start(given, begin);
    begin.mean = mean;
    if (!evaluate(given, begin)) throw std::domain_error("the field has no finite bound at this mean");
    return climb(given, std::move(begin), false, kClose);
}

// `enough`: of the step after this one, in sds.
FieldInner FieldInnerProblem::climb(const FieldGiven& given, FieldInner at, bool move_mean, double enough) const {
    const Index rows = design_->rows();
    const Vector& row_weights = likelihood_->weights();
    double last_decrement = 0.0;
    double last_largest = 0.0;
    for (; at.steps < kMostSteps; ++at.steps) {
        const LocalResponse response(*this, given, at);
        Vector step = Vector::Zero(shape().size);
        Vector moved = Vector::Zero(rows);
        double decrement = 0.0;
        if (move_mean) {
            // Conjugate gradients for (Q − H M Hᵀ) δ = g, preconditioned with Q: in its metric the operator is
            // I − Q⁻¹HMHᵀ.
            const Vector right = gradient(given, at) + design_->transposed(response.pull(moved, true), threads_);
            Vector residual = right;
            Vector preconditioned = at.factor->solve(residual);
            Vector direction = preconditioned;
            double size = residual.dot(preconditioned);
            const double first_size = size;
            decrement = size;
            for (int i = 0; i < 12 && size > 1e-5 * first_size && size > 1e-30; ++i) {
                const Vector along = design_->predictors(direction, threads_);
                // Q direction, by what Q is made of.
                Vector image =
                    prior_times(given, direction) +
                    design_->transposed(at.weights.cwiseProduct(along) - response.pull(along, false), threads_);
                const double curvature = direction.dot(image);
                if (!(curvature > 0.0)) break;
                const double length = size / curvature;
                step += length * direction;
                residual -= length * image;
                preconditioned = at.factor->solve(residual);
                const double next = residual.dot(preconditioned);
                direction = preconditioned + (next / size) * direction;
                size = next;
            }
            if (step.isZero(0.0)) step = at.factor->solve(right);
            moved = design_->predictors(step, threads_);
        }
        const Vector change = response.variance_change(moved, true);
        // Where the rows' curvatures will be, to first order; no further than half of what they are.
        Vector target =
            -at.terms.second - at.terms.third.cwiseProduct(moved) - 0.5 * at.terms.fourth.cwiseProduct(change);
        const bool concave = likelihood_->likelihood().is_log_concave();
        double largest = 0.0;
        for (Index n = 0; n < rows; ++n) {
            const double exact = -at.terms.second[n];
            if (concave && !(target[n] >= 0.25 * exact && target[n] <= 4.0 * exact)) {
                target[n] = std::clamp(target[n], 0.25 * exact, 4.0 * exact);
            }
            if (row_weights[n] == 0.0) target[n] = 0.0;
            largest = std::max(largest, std::abs(target[n] - at.weights[n]) * at.variances[n]);
        }
        // As steps shrink, so will the next.
        const auto next_of = [](double now, double last) { return now < last ? now * now / last : now; };
        const bool close = next_of(decrement, last_decrement) < enough * enough &&
                           next_of(largest, last_largest) < enough && decrement < 1e8 * enough * enough &&
                           largest < 1e3 * enough;
        last_decrement = decrement;
        last_largest = largest;
        const double magnitude = at.terms.value.cwiseAbs().sum() + std::abs(at.bound) + 1.0;
        bool better = false;
        FieldInner next;
        const auto try_steps = [&](const Vector& mean_step, const Vector& weight_step, double slack) {
            for (double length = 1.0; length > 1e-6; length *= 0.5) {
                next = FieldInner();
                next.mean = at.mean + length * mean_step;
                next.weights = at.weights + length * weight_step;
                next.steps = at.steps;
                if (evaluate(given, next) && next.bound >= at.bound - slack) return true;
                // Rounding is all that is left.
                if (close) return false;
            }
            return false;
        };
        better = try_steps(step, target - at.weights, 1e-14 * magnitude);
        if (!better && !close) {
            // The mean and the covariance, each with the other held: natural gradients, which always ascend.
            const Vector no_weights = Vector::Zero(rows);
            const Vector plain = at.factor->solve(gradient(given, at));
            FieldInner before = at;
            if (move_mean && try_steps(plain, no_weights, 0.0)) {
                better = next.bound > at.bound + 1e-12 * magnitude;
                at = std::move(next);
            }
            Vector weights = -at.terms.second;
            if (concave) weights = weights.cwiseMax(0.0);
            for (Index n = 0; n < rows; ++n) {
                if (row_weights[n] == 0.0) weights[n] = 0.0;
            }
            const bool is_wider = try_steps(Vector::Zero(shape().size), weights - at.weights, 0.0);
            better = better || (is_wider && next.bound > at.bound + 1e-12 * magnitude);
            if (!is_wider) next = std::move(at);
            at = std::move(before);
        }
        if (!better) {
            at.converged = close || (decrement < 1e-12 && largest < 1e-8);
            break;
        }
        at = std::move(next);
        if (close) {
            at.converged = true;
            break;
        }
    }
    return at;
}

void LocalResponse::weigh(const double* z, Index effects, double* w) {
    for (Index a = 0; a < effects; ++a) {
        for (Index b = 0; b <= a; ++b) *w++ = a == b ? z[a] * z[a] : 2.0 * z[a] * z[b];
    }
}

Index LocalResponse::effects(std::size_t grouping) const {
    return by_fixed_ ? problem_.shape().fixed : problem_.shape().factors[grouping].effects;
}

const double* LocalResponse::values(std::size_t grouping, Index row) const {
    const RowMajor& values = by_fixed_ ? problem_.design().fixed() : problem_.design().effects(grouping);
    return values.data() + row * values.cols();
}

const RowGroups& LocalResponse::groups(std::size_t grouping) const {
    return by_fixed_ ? all_ : problem_.design().groups(grouping);
}

Matrix LocalResponse::precision(std::size_t grouping, Index group, bool with_prior) const {
    const Index q = effects(grouping);
    const double* block = by_fixed_ ? at_.blocks.fixed.data() : at_.blocks.diagonal[grouping].data() + group * q * q;
    Matrix result = Eigen::Map<const RowMajor>(block, q, q);
    if (!with_prior) return result;
    if (by_fixed_) {
        result.diagonal() += given_.fixed_precision;
    } else {
        result += given_.precisions[grouping];
    }
    return result;
}

LocalResponse::LocalResponse(const FieldInnerProblem& problem, const FieldGiven& given, const FieldInner& at)
    : problem_(problem), given_(given), at_(at) {
    const FieldShape& shape = problem.shape();
    by_fixed_ = shape.factors.empty() && shape.fixed > 0 && shape.fixed <= kMostFixedProducts;
    if (by_fixed_) all_ = RowGroups(std::vector<int>(detail::at(problem.design().rows()), 0), 1);
    responses_.resize(by_fixed_ ? 1 : shape.factors.size());
    for (std::size_t f = 0; f < responses_.size(); ++f) {
        const Index q = effects(f);
        const Index count = products(q);
        const RowGroups& groups = this->groups(f);
        responses_[f].resize(detail::at(groups.count()));
        in_parts(problem.threads(), groups.count(), 64, [&](Index begin, Index end) {
            Vector w(count);
            for (Index g = begin; g < end; ++g) {
                const Matrix own = precision(f, g);
                // ½ tr(Q E_i Q E_j): with i = (a, b), E_i = e_a e_bᵀ + e_b e_aᵀ, or e_a e_aᵀ.
                Matrix curvature(count, count);
                Index i = 0;
                for (Index a = 0; a < q; ++a) {
                    for (Index b = 0; b <= a; ++b, ++i) {
                        Index j = 0;
                        for (Index c = 0; c < q; ++c) {
                            for (Index d = 0; d <= c; ++d, ++j) {
                                const double both = own(a, c) * own(b, d) + own(a, d) * own(b, c);
                                curvature(i, j) = both * (a == b ? 0.5 : 1.0) * (c == d ? 0.5 : 1.0);
                            }
                        }
                    }
                }
                Matrix bent = curvature;
                if (q == 1) {
                    const double* z = values(f, 0);
                    double sum = 0.0;
                    for (Index k = groups.starts[detail::at(g)]; k < groups.starts[detail::at(g) + 1]; ++k) {
                        const Index n = groups.rows[detail::at(k)];
                        sum += at.terms.fourth[n] * z[n] * z[n] * z[n] * z[n];
                    }
                    bent(0, 0) -= 0.25 * sum;
                }
                for (Index k = groups.starts[detail::at(g)]; q > 1 && k < groups.starts[detail::at(g) + 1]; ++k) {
                    const Index n = groups.rows[detail::at(k)];
                    weigh(values(f, n), q, w.data());
                    bent.noalias() -= 0.25 * at.terms.fourth[n] * w * w.transpose();
                }
                // Away from the top rows may bend more than q allows: then S follows as if they did not bend.
                const Eigen::LLT<Matrix> factor(bent);
                bool fine = factor.info() == Eigen::Success;
                for (Index k = 0; fine && k < count; ++k) {
                    const double pivot = factor.matrixLLT()(k, k);
                    fine = pivot * pivot > 0.02 * curvature(k, k);
                }
                Matrix& response = responses_[f][detail::at(g)];
                response = fine ? factor.solve(Matrix::Identity(count, count)).eval()
                                : curvature.llt().solve(Matrix::Identity(count, count)).eval();
            }
        });
    }
}

Vector LocalResponse::variance_change(const Vector& moved, bool with_residuals) const {
    Vector change = Vector::Zero(moved.size());
    for (std::size_t f = 0; f < responses_.size(); ++f) {
        const Index q = effects(f);
        const Index count = products(q);
        const RowGroups& groups = this->groups(f);
        // A row is in one group of each grouping.
        if (q == 1) {
            const double* z = values(f, 0);
            in_parts(problem_.threads(), groups.count(), 64, [&](Index begin, Index end) {
                for (Index g = begin; g < end; ++g) {
                    const Index first = groups.starts[at(g)];
                    const Index last = groups.starts[at(g) + 1];
                    double sum = 0.0;
                    for (Index k = first; k < last; ++k) {
                        const Index n = groups.rows[at(k)];
                        double force = at_.terms.third[n] * moved[n];
                        if (with_residuals) force += at_.weights[n] + at_.terms.second[n];
                        sum += force * z[n] * z[n];
                    }
                    sum *= 0.5 * responses_[f][at(g)](0, 0);
                    for (Index k = first; k < last; ++k) {
                        const Index n = groups.rows[at(k)];
                        change[n] += sum * z[n] * z[n];
                    }
                }
            });
            continue;
        }
        in_parts(problem_.threads(), groups.count(), 64, [&](Index begin, Index end) {
            Vector w(count);
            Vector sum(count);
            for (Index g = begin; g < end; ++g) {
                sum.setZero();
                const Index first = groups.starts[at(g)];
                const Index last = groups.starts[at(g) + 1];
                for (Index k = first; k < last; ++k) {
                    const Index n = groups.rows[at(k)];
                    double force = 0.5 * at_.terms.third[n] * moved[n];
                    if (with_residuals) force += 0.5 * (at_.weights[n] + at_.terms.second[n]);
                    weigh(values(f, n), q, w.data());
                    sum += force * w;
                }
                const Vector b = responses_[f][at(g)] * sum;
                for (Index k = first; k < last; ++k) {
                    const Index n = groups.rows[at(k)];
                    weigh(values(f, n), q, w.data());
                    change[n] += w.dot(b);
                }
            }
        });
    }
    return change;
}

Vector LocalResponse::pull(const Vector& moved, bool with_residuals) const {
    return 0.5 * at_.terms.third.cwiseProduct(variance_change(moved, with_residuals));
}

FieldBlocks FieldInnerProblem::responding_blocks(const FieldGiven& given, const FieldInner& at) const {
    const LocalResponse response(*this, given, at);
    FieldBlocks blocks = at.blocks;
    // Of one factor H_g has the combinations of A's columns; of several, what is left out of it does not.
    blocks.is_fold = response.groupings() <= 1;
    for (std::size_t f = 0; f < response.groupings(); ++f) respond(response, f, at, false, blocks);
    return sound(given, at, blocks).value_or(std::move(blocks));
}

// Of several factors, nested ones most of all, blocks that leave out how the levels of one move those of another may
// take away what is known of the fixed effects, which rows one by one cannot.
std::optional<FieldBlocks> FieldInnerProblem::sound(const FieldGiven& given, const FieldInner& at,
                                                    const FieldBlocks& blocks) const {
    constexpr double kMost = 1.2;  // of a variance, over that by rows
    if (shape().factors.size() < 2) return std::nullopt;
    FieldBlocks by_rows = design_->fold(at.weights - response_of_rows(at), threads_);
    PrecisionFactor own(plan_);
    PrecisionFactor rows(plan_);
    if (!own.factorise(blocks, 1.0, given.fixed_precision, given.precisions)) return by_rows;
    if (!rows.factorise(by_rows, 1.0, given.fixed_precision, given.precisions)) return std::nullopt;
    const Matrix fixed = Matrix::Identity(shape().size, shape().fixed);
    const Matrix own_covariance = own.solve(fixed);
    const Matrix row_covariance = rows.solve(fixed);
    for (Index j = 0; j < shape().fixed; ++j) {
        if (own_covariance(j, j) > kMost * row_covariance(j, j)) return by_rows;
    }
    return std::nullopt;
}

// ½ f3² N C on the diagonal of C = (ASAᵀ)∘(ASAᵀ), N = (I − ½ C f4)⁻¹: how much of a row's weight is lost as its own
// variance follows its predictor. Less than all of it, so that Q stays above P, whatever the groups are.
Vector FieldInnerProblem::response_of_rows(const FieldInner& at) const {
    constexpr double kMost = 0.9;
    const Eigen::ArrayXd square = at.variances.array().square();
    const Eigen::ArrayXd bent = (1.0 - 0.5 * square * at.terms.fourth.array()).max(0.1);
    const Eigen::ArrayXd lost = 0.5 * at.terms.third.array().square() * square / bent;
    return lost.min(kMost * at.weights.array().max(0.0));
}

void FieldInnerProblem::respond(const LocalResponse& response, std::size_t grouping, const FieldInner& at, bool bounded,
                                FieldBlocks& blocks) const {
    constexpr double kMost = 0.9;
    const Index p = shape().fixed;
    const Index q = response.effects(grouping);
    const Index own = shape().factors.empty() ? 0 : q;
    const Index count = LocalResponse::products(q);
    const RowGroups& groups = response.groups(grouping);
    Matrix h(p + own, count);
    Vector w(count);
    Matrix fixed_sum = Matrix::Zero(p, p);
    for (Index g = 0; g < groups.count(); ++g) {
        h.setZero();
        for (Index k = groups.starts[detail::at(g)]; k < groups.starts[detail::at(g) + 1]; ++k) {
            const Index n = groups.rows[detail::at(k)];
            LocalResponse::weigh(response.values(grouping, n), q, w.data());
            w *= 0.5 * at.terms.third[n];
            h.topRows(p) += design_->fixed().row(n).transpose() * w.transpose();
            if (own > 0) {
                h.bottomRows(own) += Eigen::Map<const Vector>(response.values(grouping, n), own) * w.transpose();
            }
        }
        Matrix product = h * response.responses()[grouping][detail::at(g)] * h.transpose();
        if (bounded) {
            const Matrix own_rows = response.precision(grouping, g, false) + 1e-6 * response.precision(grouping, g);
            const Eigen::LLT<Matrix> factor(own_rows);
            if (factor.info() != Eigen::Success) continue;
            const Matrix half = factor.matrixL().solve(product.bottomRightCorner(q, q));
            const Matrix white = factor.matrixL().solve(half.transpose());
            const double largest = Eigen::SelfAdjointEigenSolver<Matrix>(white).eigenvalues().maxCoeff();
            if (largest > kMost) product *= kMost / largest;
        }
        fixed_sum += product.topLeftCorner(p, p);
        if (own == 0) continue;
        double* diagonal = blocks.diagonal[grouping].data() + g * q * q;
        double* border = blocks.border[grouping].data() + g * q * p;
        for (Index a = 0; a < q; ++a) {
            for (Index b = 0; b < q; ++b) diagonal[a * q + b] -= product(p + a, p + b);
            for (Index j = 0; j < p; ++j) border[a * p + j] -= product(p + a, j);
        }
    }
    for (Index i = 0; i < p; ++i) {
        for (Index j = 0; j < p; ++j) blocks.fixed[detail::at(i * p + j)] -= fixed_sum(i, j);
    }
}

}  // namespace lrvb::detail
