#include "base/parallel.hpp"
#include "base/validate.hpp"
#include "model/field/row_answers.hpp"
#include "model/field/row_field.hpp"
#include "model/rows_at_once.hpp"

#include <algorithm>
#include <cmath>

namespace lrvb::detail {

namespace {

constexpr Index kChunk = 4096;
constexpr double kStep = 0.01;

std::size_t at(Index i) {
    return static_cast<std::size_t>(i);
}

}  // namespace

// ∂F/∂w_n = E ℓ_n =: g(μ_n, v_n), and ∂F/∂y_n is such a function too. Along a direction in the coefficients it changes
// by g_μ times what μ_n does and g_v times what v_n does, which follows within its groups as in the Hessian; along ψ by
// what v_n does with the coefficients held, and by what σ and ν do to g: by differences.
void RowField::ask_rows(const State& state, const Matrix& directions, RowChange change, const RowVisitor& visit) const {
    require_size("ask_rows", "rows of the directions", directions.rows(), core_.layout.size());
    const FieldData& data = core_.design->data();
    const Index k = core_.variance_count();
    const Index rows = problem_->design().rows();
    const RowLikelihood& likelihood = problem_->likelihood();
    const double unit = core_.design->units().response_scale;
    const At here = at(state.mean.head(k), state.mean.tail(core_.size()), reference_.get());
    // g, g_μ and g_v of all rows.
    const auto slopes = [&](const FieldInner& inner, const Vector& theta) {
        RowLikelihood::RowSlopes result =
            change == RowChange::weight
                ? likelihood.by_weight(inner.predictors, inner.variances, theta, problem_->threads())
                : likelihood.by_response(inner.predictors, inner.variances, theta, problem_->threads());
        if (change == RowChange::value) {
            result.value /= unit;
            result.by_mean /= unit;
            result.by_variance /= unit;
        }
        return result;
    };
    const RowLikelihood::RowSlopes own = slopes(here.inner, here.given.theta);
    Matrix by_psi(rows, k);
    for (Index j = 0; j < k; ++j) {
        const auto moved = [&](double steps) {
            Vector psi = here.psi;
            psi[j] += steps * kStep;
            const At there = at(psi, here.inner.mean, &here.inner);
            return slopes(there.inner, there.given.theta).value;
        };
        by_psi.col(j) = (8.0 * (moved(1.0) - moved(-1.0)) - (moved(2.0) - moved(-2.0))) / (12.0 * kStep);
    }
    const LocalResponse response(*problem_, here.given, here.inner);
    Matrix all(rows, directions.cols());
    for (Index c = 0; c < directions.cols(); ++c) {
        const Vector moved = problem_->design().predictors(directions.col(c).tail(core_.size()), problem_->threads());
        const Vector spread = response.variance_change(moved, false);
        all.col(c) =
            own.by_mean.cwiseProduct(moved) + own.by_variance.cwiseProduct(spread) + by_psi * directions.col(c).head(k);
    }
    RowAnswers answers;
    for (; answers.first < rows; answers.first += kChunk) {
        const Index size = std::min(kChunk, rows - answers.first);
        answers.inputs = data.y.segment(answers.first, size);
        answers.weights = row_weights(data, answers.first, size);
        answers.answers = all.middleRows(answers.first, size);
        visit(answers);
    }
}

void RowField::row_log_likelihoods(const Matrix& statistics, int threads, const RowVisitor& visit) const {
    require_size("row_log_likelihoods", "a column of statistics", statistics.rows(), core_.layout.size());
    const FieldDesign& design = *core_.design;
    const FieldData& data = design.data();
    const double unit = std::log(design.units().response_scale);
    RowAnswers answers;
    const Index most = rows_at_once(statistics.cols());
    for (; answers.first < design.rows(); answers.first += most) {
        const Index size = std::min(most, design.rows() - answers.first);
        answers.inputs = data.y.segment(answers.first, size);
        answers.weights = row_weights(data, answers.first, size);
        answers.answers.resize(size, statistics.cols());
        in_parallel(threads, statistics.cols(), [&](Index s) {
            const Vector predictor = design.predictor(statistics.col(s).tail(core_.size()), answers.first, size);
            const Vector theta = this->theta(statistics.col(s).head(core_.variance_count()));
            answers.answers.col(s) =
                problem_->likelihood().log_likelihoods(answers.first, predictor, theta).array() - unit;
        });
        visit(answers);
    }
}

void RowField::replicate_rows(const Matrix& statistics, std::uint64_t seed, int threads,
                              const ReplicateVisitor& visit) const {
    require_size("replicate_rows", "a column of statistics", statistics.rows(), core_.layout.size());
    const FieldDesign& design = *core_.design;
    const FieldData& data = design.data();
    const RowLikelihood& likelihood = problem_->likelihood();
    std::vector<Vector> thetas;
    for (Index s = 0; s < statistics.cols(); ++s) {
        thetas.push_back(theta(statistics.col(s).head(core_.variance_count())));
    }
    std::vector<Index> all;
    for (Index n = 0; n < design.rows(); ++n) {
        const double times = data.weight(n);
        if (times != std::floor(times)) throw FractionalWeight(n, times);
        all.insert(all.end(), static_cast<std::size_t>(times), n);
    }
    const auto total = static_cast<Index>(all.size());
    const bool has_units = core_.has_sigma;
    RowReplicates rows;
    const Index most = rows_at_once(statistics.cols());
    for (; rows.first < total; rows.first += most) {
        const Index size = std::min(most, total - rows.first);
        rows.observed.resize(size, 1);
        rows.expected.resize(size, statistics.cols());
        rows.replicated.resize(size, statistics.cols());
        in_parallel(threads, size, [&](Index i) {
            const Index n = all[detail::at(rows.first + i)];
            rows.observed(i, 0) = data.y[n];
            Random random(seed, static_cast<std::uint64_t>(rows.first + i));
            for (Index s = 0; s < statistics.cols(); ++s) {
                const double predictor = design.predictor(statistics.col(s).tail(core_.size()), n, 1)[0];
                double about = likelihood.expected(n, predictor);
                double drawn = likelihood.draw(n, predictor, thetas[detail::at(s)], random);
                if (has_units) {
                    // Counted from the observed response, as residuals are.
                    const double scale = design.units().response_scale;
                    drawn = data.y[n] - scale * (design.response(n) - drawn);
                    about = data.y[n] - scale * (design.response(n) - about);
                }
                rows.expected(i, s) = about;
                rows.replicated(i, s) = drawn;
            }
        });
        visit(rows);
    }
}

}  // namespace lrvb::detail
