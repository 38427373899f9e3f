#include "base/parallel.hpp"
#include "base/validate.hpp"
#include "model/rows_at_once.hpp"

#include <lrvb/kind/regression/model.hpp>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <stdexcept>

namespace lrvb {

std::vector<std::string> RegressionModel::inputs() const {
    return {design_ ? design_->response : "y"};
}

// With e the residual at the origin's coefficients, and b, s the means of the coefficients counted from there and of
// their squares, a row of the inner model has
//
//     ℓ = ½ E log τ − ½ E τ [(e − Σ x_j b_j)² + Σ x_j² (s_j − b_j²)],
//
// whose gradient in (b, s, τ, log τ) is linear in e, and so in the response, and counts as often as its row does.
void RegressionModel::ask_rows(const State& state, const Matrix& directions, RowChange change,
                               const RowVisitor& visit) const {
    detail::require_size("ask_rows", "rows of the directions", directions.rows(), layout().size());
    require_rows();
    const Index count = origin_.size();
    const Index tau = layout()[layout().variable("tau")].offset;
    Vector b(count);
    Vector s(count);
    for (Index j = 0; j < count; ++j) {
        b[j] = state.mean[layout()[j].offset];
        s[j] = state.mean[layout()[j].offset + 1];
    }
    const double precision = state.mean[tau];
    constexpr Index kChunk = 4096;
    RowAnswers answers;
    for (; answers.first < rows_; answers.first += kChunk) {
        const Index size = std::min(kChunk, rows_ - answers.first);
        answers.inputs = design_->y.segment(answers.first, size);
        answers.weights = weights_of(answers.first, size);
        Matrix gradients = Matrix::Zero(layout().size(), size);
        for (Index n = 0; n < size; ++n) {
            const Vector x = inner_row(answers.first + n);
            const double residual = inner_residual(answers.first + n, x) - x.dot(b);
            for (Index j = 0; j < count; ++j) {
                const Index at = layout()[j].offset;
                if (change == RowChange::value) {
                    gradients(at, n) = answers.weights[n] * precision * x[j] / response_scale_;
                } else {
                    gradients(at, n) = precision * (x[j] * residual + x[j] * x[j] * b[j]);
                    gradients(at + 1, n) = -0.5 * precision * x[j] * x[j];
                }
            }
            if (change == RowChange::value) {
                gradients(tau, n) = -answers.weights[n] * residual / response_scale_;
            } else {
                const double spread = (x.array().square() * (s.array() - b.array().square())).sum();
                gradients(tau, n) = -0.5 * (residual * residual + spread);
                gradients(tau + 1, n) = 0.5;
            }
        }
        answers.answers = gradients.transpose() * directions;
        visit(answers);
    }
}

void RegressionModel::require_rows() const {
    if (!design_) throw std::invalid_argument("this regression did not keep its rows: make it from a shared design");
}

Vector RegressionModel::weights_of(Index first, Index count) const {
    if (design_->weights.size() == 0) return Vector::Ones(count);
    return design_->weights.segment(first, count);
}

Vector RegressionModel::inner_row(Index n) const {
    Vector x = Vector::Ones(origin_.size());
    x.tail(centre_.size()) = (design_->columns.row(n).transpose() - centre_).cwiseQuotient(scale_);
    return x;
}

double RegressionModel::inner_residual(Index n, const Vector& x) const {
    return (design_->y[n] - response_centre_) / response_scale_ - x.dot(origin_);
}

void RegressionModel::row_log_likelihoods(const Matrix& statistics, int, const RowVisitor& visit) const {
    detail::require_size("row_log_likelihoods", "a column of statistics", statistics.rows(), layout().size());
    require_rows();
    const Index count = origin_.size();
    const Index tau = layout()[layout().variable("tau")].offset;
    Matrix coefficients(count, statistics.cols());
    for (Index j = 0; j < count; ++j) coefficients.row(j) = statistics.row(layout()[j].offset);
    const Eigen::ArrayXd precisions = statistics.row(tau).transpose();
    const Eigen::ArrayXd constants = 0.5 * statistics.row(tau + 1).transpose().array() -
                                     0.5 * std::log(2.0 * std::numbers::pi) - std::log(response_scale_);
    RowAnswers answers;
    const Index most = detail::rows_at_once(statistics.cols());
    for (; answers.first < rows_; answers.first += most) {
        const Index size = std::min(most, rows_ - answers.first);
        answers.inputs = design_->y.segment(answers.first, size);
        answers.weights = weights_of(answers.first, size);
        Matrix x(size, count);
        Vector residuals(size);
        for (Index n = 0; n < size; ++n) {
            const Vector row = inner_row(answers.first + n);
            residuals[n] = inner_residual(answers.first + n, row);
            x.row(n) = row;
        }
        answers.answers = x * coefficients;
        for (Index s = 0; s < statistics.cols(); ++s) {
            answers.answers.col(s) =
                (constants[s] - 0.5 * precisions[s] * (residuals - answers.answers.col(s)).array().square()).matrix();
        }
        visit(answers);
    }
}

std::vector<Index> RegressionModel::repeated_rows() const {
    std::vector<Index> rows;
    rows.reserve(static_cast<std::size_t>(rows_));
    for (Index n = 0; n < rows_; ++n) {
        const double times = design_->weight(n);
        if (times != std::floor(times)) throw FractionalWeight(n, times);
        rows.insert(rows.end(), static_cast<std::size_t>(times), n);
    }
    return rows;
}

void RegressionModel::replicate_rows(const Matrix& statistics, std::uint64_t seed, int threads,
                                     const ReplicateVisitor& visit) const {
    detail::require_size("replicate_rows", "a column of statistics", statistics.rows(), layout().size());
    require_rows();
    const Index count = origin_.size();
    const Index tau = layout()[layout().variable("tau")].offset;
    Matrix coefficients(count, statistics.cols());
    for (Index j = 0; j < count; ++j) coefficients.row(j) = statistics.row(layout()[j].offset);
    const Vector noise = response_scale_ * statistics.row(tau).transpose().cwiseSqrt().cwiseInverse();
    const std::vector<Index> all = repeated_rows();
    const auto total = static_cast<Index>(all.size());
    RowReplicates rows;
    const Index most = detail::rows_at_once(statistics.cols());
    for (; rows.first < total; rows.first += most) {
        const Index size = std::min(most, total - rows.first);
        rows.observed.resize(size, 1);
        Matrix x(size, count);
        Vector residuals(size);
        for (Index n = 0; n < size; ++n) {
            const Index at = all[static_cast<std::size_t>(rows.first + n)];
            const Vector row = inner_row(at);
            residuals[n] = inner_residual(at, row);
            x.row(n) = row;
            rows.observed(n, 0) = design_->y[at];
        }
        // Counted from the observed response, as residuals are.
        rows.expected = response_scale_ * ((x * coefficients).colwise() - residuals);
        rows.expected.colwise() += rows.observed.col(0);
        rows.replicated = rows.expected;
        detail::in_parallel(threads, size, [&](Index n) {
            Random random(seed, static_cast<std::uint64_t>(rows.first + n));
            for (Index s = 0; s < statistics.cols(); ++s) rows.replicated(n, s) += noise[s] * random.normal();
        });
        visit(rows);
    }
}

}  // namespace lrvb
