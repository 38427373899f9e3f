#include "base/parallel.hpp"
#include "query/weighted_sum.hpp"

#include <lrvb/query/loo.hpp>
#include <lrvb/sample/model_density.hpp>
#include <lrvb/sample/pareto.hpp>

#include <Eigen/Cholesky>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

namespace lrvb {

namespace {

constexpr double kStep = 0.01;        // of differences, in posterior sds
constexpr double kFewSeconds = 1e9;   // numbers looked at
constexpr double kMostSeconds = 2.0;  // of draws
constexpr double kSmoothing = 20.0;   // what smoothing costs beside, for each row and draw
constexpr double kInfinite = std::numeric_limits<double>::infinity();
constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

double log_sum_exp(const Eigen::ArrayXd& values) {
    const double largest = values.maxCoeff();
    return std::isfinite(largest) ? largest + std::log((values - largest).exp().sum()) : largest;
}

Loo empty_loo(LooMethod method, Index rows, Index parameters, Index inputs) {
    Loo loo;
    loo.method = method;
    loo.elpd = loo.lpd = Vector::Constant(rows, kUnknown);
    loo.weights = Vector::Zero(rows);
    (method == LooMethod::draws ? loo.k_hat : loo.reach) = Vector::Constant(rows, kUnknown);
    loo.inputs.resize(rows, inputs);
    loo.parameters = parameters;
    return loo;
}

// Visits the rows with their log likelihoods at these points of the chart, one a column.
template <class Visit>
void visit_likelihoods(const FittedModel& fitted, const ModelDensity& density, const Matrix& points, std::uint64_t seed,
                       int threads, Loo& loo, Visit visit) {
    const RowModel& model = fitted.row_model();
    const Matrix statistics = density.statistics(points, threads, seed);
    try {
        model.row_log_likelihoods(statistics, threads, [&](const RowAnswers& rows) {
            const Index count = rows.answers.rows();
            loo.weights.segment(rows.first, count) = rows.weights;
            loo.inputs.middleRows(rows.first, count) = rows.inputs;
            const Matrix by_row = rows.answers.transpose();
            detail::in_parallel(threads, count, [&](Index i) {
                if (rows.weights[i] > 0.0) visit(rows.first + i, rows.weights[i], by_row.col(i));
            });
        });
    } catch (const std::invalid_argument& error) {
        throw std::runtime_error(fmt::format("no row can be left out of this fit: {}", error.what()));
    }
}

// The normal posterior, and a row's log likelihood as a quadratic, in whitened coordinates.
struct Quadratic {
    double value = 0.0;
    Vector slope;
    Matrix curvature;

    // log E exp(t ℓ); nothing where that is no normal integral. `moved`: by how far the tilt moves the mean.
    std::optional<double> log_mean(double t, double* moved = nullptr) const {
        if (t == 0.0) return 0.0;
        const Index size = slope.size();
        const Eigen::LLT<Matrix> factor(Matrix::Identity(size, size) - t * curvature);
        if (factor.info() != Eigen::Success) return std::nullopt;
        const Vector solved = factor.solve(slope);
        if (moved != nullptr) *moved = std::abs(t) * solved.norm();
        const double half_log_det = factor.matrixLLT().diagonal().array().log().sum();
        return t * value - half_log_det + 0.5 * t * t * slope.dot(solved);
    }
    // The same to second order in ℓ, which there always is.
    double log_mean_expanded(double t) const {
        return t * value + 0.5 * t * curvature.trace() + 0.5 * t * t * slope.squaredNorm();
    }
};

// Where ℓ is looked at: 0; ±h along each axis; ±h along the sum of two axes.
Matrix difference_points(Index size) {
    Matrix points = Matrix::Zero(size, 1 + 2 * size + size * (size - 1));
    Index at = 1;
    for (Index i = 0; i < size; ++i) {
        points(i, at++) = kStep;
        points(i, at++) = -kStep;
    }
    for (Index i = 0; i < size; ++i) {
        for (Index j = 0; j < i; ++j) {
            points(i, at) = points(j, at) = kStep;
            points(i, at + 1) = points(j, at + 1) = -kStep;
            at += 2;
        }
    }
    return points;
}

Quadratic quadratic_of(const Eigen::Ref<const Vector>& values, Index size) {
    Quadratic result{values[0], Vector(size), Matrix(size, size)};
    Vector pairs(size);  // f(h) + f(−h) − 2f(0)
    for (Index i = 0; i < size; ++i) {
        const double up = values[1 + 2 * i] - values[0];
        const double down = values[2 + 2 * i] - values[0];
        result.slope[i] = (up - down) / (2.0 * kStep);
        pairs[i] = up + down;
        result.curvature(i, i) = pairs[i] / (kStep * kStep);
    }
    Index at = 1 + 2 * size;
    for (Index i = 0; i < size; ++i) {
        for (Index j = 0; j < i; ++j, at += 2) {
            const double both = (values[at] - values[0]) + (values[at + 1] - values[0]);
            result.curvature(i, j) = result.curvature(j, i) = (both - pairs[i] - pairs[j]) / (2.0 * kStep * kStep);
        }
    }
    return result;
}

void add_up(Loo& loo) {
    const detail::WeightedSum elpd(loo.elpd, loo.weights);
    const detail::WeightedSum penalty(loo.lpd - loo.elpd, loo.weights);
    loo.elpd_loo = elpd.sum;
    loo.elpd_se = elpd.error;
    loo.p_loo = penalty.sum;
    loo.p_loo_se = penalty.error;
}

Loo by_response(const FittedModel& fitted, int threads) {
    const ModelDensity density(fitted.model(), fitted.optimum().state, JointNormals::coordinates);
    const Index size = density.dimension();
    if (size > kLooParameters) {
        throw std::invalid_argument(
            fmt::format("the model has {} free parameters, and rows are left out by linear response for {} at most: "
                        "take draws of the exact posterior",
                        size, kLooParameters));
    }
    const NormalApproximation normal = density.chart().approximation(fitted.response());
    const Matrix root = normal.covariance.llt().matrixL();
    const Matrix points = (root * difference_points(size)).colwise() + normal.mean;
    Loo loo = empty_loo(LooMethod::response, fitted.file().data.rows, size, static_cast<Index>(fitted.inputs().size()));
    visit_likelihoods(fitted, density, points, 1, threads, loo, [&](Index row, double weight, const auto& values) {
        const Quadratic quadratic = quadratic_of(values, size);
        double reach = 0.0;
        const double left_out = std::min(weight, 1.0);
        const std::optional<double> without = quadratic.log_mean(-left_out, &reach);
        const std::optional<double> again = quadratic.log_mean(1.0 - left_out);
        if (!without || !again) reach = kInfinite;
        loo.reach[row] = reach;
        loo.elpd[row] = without && again
                            ? *again - *without
                            : quadratic.log_mean_expanded(1.0 - left_out) - quadratic.log_mean_expanded(-left_out);
        loo.lpd[row] = quadratic.log_mean(1.0).value_or(quadratic.log_mean_expanded(1.0));
    });
    add_up(loo);
    return loo;
}

}  // namespace

bool Loo::is_doubtful(Index row) const {
    if (!(weights[row] > 0.0)) return false;
    return method == LooMethod::draws ? !(k_hat[row] < pareto_threshold(draws)) : !(reach[row] <= kLooReach);
}

Index Loo::doubtful_rows() const {
    Index count = 0;
    for (Index n = 0; n < weights.size(); ++n) count += is_doubtful(n) ? 1 : 0;
    return count;
}

std::string Loo::trust() const {
    const Index doubtful = doubtful_rows();
    const bool by_draws = method == LooMethod::draws;
    const std::string limit =
        by_draws ? fmt::format("{:.2f}", pareto_threshold(draws)) : fmt::format("{:.0f} sd", kLooReach);
    if (doubtful == 0) {
        return fmt::format("ok: every row can be relied on ({} {})",
                           by_draws ? "k-hat below" : "dropping it moves the posterior by no more than", limit);
    }
    return fmt::format(
        "doubtful: {} of {} rows cannot be relied on ({} {}): see them with --rows, and refit without {}", doubtful,
        weights.size(), by_draws ? "k-hat not below" : "dropping it moves the posterior by more than", limit,
        doubtful == 1 ? "it" : "them");
}

Loo leave_one_out(const FittedModel& fitted, const Check& check, int threads) {
    if (check.verdict == CheckVerdict::unchecked) {
        throw std::invalid_argument(
            fmt::format("the draws of the exact posterior are of no use for leaving rows out ({}): take linear "
                        "response",
                        check.trust));
    }
    const ModelDensity density(fitted.model(), fitted.optimum().state);
    const UnboundedChart all(fitted.model().layout(), fitted.optimum().state);
    Loo loo = empty_loo(LooMethod::draws, fitted.file().data.rows, all.dimension(),
                        static_cast<Index>(fitted.inputs().size()));
    loo.draws = check.points.cols();
    loo.ess = check.ess;
    const bool importance = check.method == CheckMethod::importance;
    // Of an integral, draws have weights too.
    const bool integration = check.method == CheckMethod::integration;
    const Vector base = importance    ? Vector(check.log_density - check.log_proposal)
                        : integration ? Vector(check.log_weights)
                                      : Vector::Zero(loo.draws);
    visit_likelihoods(fitted, density, check.points, check.seed, threads, loo,
                      [&](Index row, double weight, const auto& values) {
                          // Where the posterior has no density a likelihood may be anything.
                          Vector ratios(loo.draws);
                          Vector likelihoods(loo.draws);
                          for (Index s = 0; s < loo.draws; ++s) {
                              const bool counts = base[s] > -kInfinite && std::isfinite(values[s]);
                              ratios[s] = counts ? base[s] - std::min(weight, 1.0) * values[s] : -kInfinite;
                              likelihoods[s] = counts ? values[s] : -kInfinite;
                          }
                          const ParetoSmoothed smoothed = pareto_smooth(ratios);
                          loo.k_hat[row] = smoothed.k_hat;
                          loo.elpd[row] = log_sum_exp(smoothed.log_weights.array() + likelihoods.array());
                          loo.lpd[row] = log_sum_exp(check.log_weights.array() + likelihoods.array());
                      });
    add_up(loo);
    return loo;
}

Loo leave_one_out(const FittedModel& fitted, const LooOptions& options) {
    static_cast<void>(fitted.row_model());
    const bool quick = is_quick_by_draws(fitted, options.draws);
    const LooMethod method = options.method.value_or(quick ? LooMethod::draws : LooMethod::response);
    if (method == LooMethod::response) return by_response(fitted, options.threads);
    CheckOptions draws;
    draws.draws = options.draws;
    draws.seed = options.seed;
    draws.threads = options.threads;
    draws.seconds = kMostSeconds;
    const Check checked = check(fitted, draws);
    // Where nothing was asked for, what can be had.
    if (!options.method && checked.verdict == CheckVerdict::unchecked) return by_response(fitted, options.threads);
    return leave_one_out(fitted, checked, options.threads);
}

bool is_quick_by_draws(const FittedModel& fitted, Index draws) {
    const double rows = kSmoothing * static_cast<double>(fitted.file().data.rows);
    return (fitted.work_of_a_draw() + rows) * static_cast<double>(draws) <= kFewSeconds;
}

}  // namespace lrvb
