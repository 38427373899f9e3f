#include "base/parallel.hpp"
#include "base/validate.hpp"
#include "model/field/core.hpp"
#include "model/field/row_field.hpp"
#include "model/rows_at_once.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <stdexcept>

namespace lrvb {

namespace {

using detail::FieldCore;
using detail::PrecisionFactor;
using detail::PrecisionInverse;
using detail::PsiPoint;

std::size_t at(Index i) {
    return static_cast<std::size_t>(i);
}

Vector weights_of(const FieldData& data, Index first, Index count) {
    if (data.weights.size() == 0) return Vector::Ones(count);
    return data.weights.segment(first, count);
}

/// σ of each column of statistics, in inner units.
Vector sigmas(const FieldCore& core, const Matrix& statistics) {
    const Index place = core.part_offset(core.sigma_part());
    Vector result(statistics.cols());
    for (Index s = 0; s < statistics.cols(); ++s) {
        result[s] = std::exp(core.parts.back().log_sd(statistics.col(s).segment(place, 1), 0));
    }
    return result;
}

/// A factorisation with its selected inverse.
struct InverseAt {
    std::unique_ptr<PrecisionFactor> factor;
    std::unique_ptr<PrecisionInverse> inverse;

    InverseAt(const FieldCore& core, const VectorView& psi) : factor(core.factor(core.psi_point(psi))) {
        if (!factor) throw std::domain_error("the precision of the field cannot be factored at these sds");
        inverse = std::make_unique<PrecisionInverse>(*factor);
    }
};

void require_rows(const FieldCore& core) {
    if (core.has_rows) return;
    throw std::runtime_error(
        "the rows of this regression are with others, where they cannot be asked one by one: ask where all of them "
        "are, "
        "by lrvb instead of lrvb-mpi");
}

}  // namespace

std::vector<std::string> FieldModel::inputs() const {
    return {data().response};
}

// With r the residual of a row at the coefficients' means and v = aᵀSa the variance of its predictor,
//
//     ∂F/∂w = −½ log 2πσ² − ½ τ (r² + v),     ∂F/∂y = −w τ r,
//
// differentiated in the coefficients (r alone) and in ψ (τ, and v by central differences on the pattern of S).
void FieldModel::ask_rows(const State& state, const Matrix& directions, RowChange change,
                          const RowVisitor& visit) const {
    const FieldCore& core = *core_;
    require_rows(core);
    if (core.row_field) {
        core.row_field->ask_rows(state, directions, change, visit);
        return;
    }
    detail::require_size("ask_rows", "rows of the directions", directions.rows(), layout().size());
    const FieldData& data = this->data();
    const detail::FieldDesign& design = *core.design;
    const detail::FieldShape& shape = core.shape();
    const Index k = core.variance_count();
    const Index sigma = core.part_offset(core.sigma_part());
    const Vector psi = state.mean.head(k);
    const Vector x = state.mean.tail(core.size());
    const PsiPoint point = core.psi_point(psi);
    const double tau = point.parts.back().precision(0, 0);
    const double tau_by_psi = point.parts.back().by_psi[0](0, 0);
    const double log_determinant_by_psi = point.parts.back().log_determinant_by_psi[0];
    std::vector<InverseAt> inverses;  // here, and for every ψ a step up and down
    if (change == RowChange::weight) {
        inverses.emplace_back(core, psi);
        for (Index j = 0; j < k; ++j) {
            for (const double step : {detail::kPsiStep, -detail::kPsiStep}) {
                Vector moved = psi;
                moved[j] += step;
                inverses.emplace_back(core, moved);
            }
        }
    }
    constexpr Index kChunk = 4096;
    Vector by_psi(k);
    std::vector<double> entries(at(std::max<Index>(shape.fixed, 64)));
    for (const detail::FieldShape::Factor& factor : shape.factors) {
        entries.resize(std::max(entries.size(), at(factor.effects)));
    }
    RowAnswers answers;
    for (; answers.first < design.rows(); answers.first += kChunk) {
        const Index size = std::min(kChunk, design.rows() - answers.first);
        answers.inputs = data.y.segment(answers.first, size);
        answers.weights = weights_of(data, answers.first, size);
        answers.answers.resize(size, directions.cols());
        const Vector predictor = design.predictor(x, answers.first, size);
        for (Index i = 0; i < size; ++i) {
            const Index n = answers.first + i;
            const double residual = design.response(n) - predictor[i];
            double along = tau * residual;  // of the row's entries, in the coefficients
            by_psi.setZero();
            if (change == RowChange::value) {
                const double unit = design.units().response_scale;
                along = answers.weights[i] * tau / unit;
                by_psi[sigma] = -answers.weights[i] * tau_by_psi * residual / unit;
            } else {
                const double variance = inverses[0].inverse->row_variance(n);
                for (Index j = 0; j < k; ++j) {
                    const double up = inverses[at(1 + 2 * j)].inverse->row_variance(n);
                    const double down = inverses[at(2 + 2 * j)].inverse->row_variance(n);
                    by_psi[j] = -0.5 * tau * (up - down) / (2.0 * detail::kPsiStep);
                }
                by_psi[sigma] -= 0.5 * (log_determinant_by_psi + tau_by_psi * (residual * residual + variance));
            }
            Eigen::RowVectorXd answer = by_psi.transpose() * directions.topRows(k);
            design.fixed_row(n, entries.data());
            for (Index j = 0; j < shape.fixed; ++j) answer += along * entries[at(j)] * directions.row(k + j);
            for (std::size_t f = 0; f < shape.factors.size(); ++f) {
                design.effect_row(n, f, entries.data());
                const Index position = k + design.level_position(n, f);
                for (Index e = 0; e < shape.factors[f].effects; ++e) {
                    answer += along * entries[at(e)] * directions.row(position + e);
                }
            }
            answers.answers.row(i) = answer;
        }
        visit(answers);
    }
}

void FieldModel::row_log_likelihoods(const Matrix& statistics, int threads, const RowVisitor& visit) const {
    const FieldCore& core = *core_;
    require_rows(core);
    if (core.row_field) {
        core.row_field->row_log_likelihoods(statistics, threads, visit);
        return;
    }
    detail::require_size("row_log_likelihoods", "a column of statistics", statistics.rows(), layout().size());
    const detail::FieldDesign& design = *core.design;
    const Vector sigma = sigmas(core, statistics);
    const Eigen::ArrayXd constants =
        -sigma.array().log() - 0.5 * std::log(2.0 * std::numbers::pi) - std::log(design.units().response_scale);
    RowAnswers answers;
    const Index most = detail::rows_at_once(statistics.cols());
    for (; answers.first < design.rows(); answers.first += most) {
        const Index size = std::min(most, design.rows() - answers.first);
        answers.inputs = data().y.segment(answers.first, size);
        answers.weights = weights_of(data(), answers.first, size);
        answers.answers.resize(size, statistics.cols());
        Vector response(size);
        for (Index i = 0; i < size; ++i) response[i] = design.response(answers.first + i);
        detail::in_parallel(threads, statistics.cols(), [&](Index s) {
            const Vector predictor = design.predictor(statistics.col(s).tail(core.size()), answers.first, size);
            answers.answers.col(s) =
                (constants[s] - 0.5 * ((response - predictor) / sigma[s]).array().square()).matrix();
        });
        visit(answers);
    }
}

void FieldModel::replicate_rows(const Matrix& statistics, std::uint64_t seed, int threads,
                                const ReplicateVisitor& visit) const {
    const FieldCore& core = *core_;
    require_rows(core);
    if (core.row_field) {
        core.row_field->replicate_rows(statistics, seed, threads, visit);
        return;
    }
    detail::require_size("replicate_rows", "a column of statistics", statistics.rows(), layout().size());
    const detail::FieldDesign& design = *core.design;
    const double unit = design.units().response_scale;
    const Vector noise = unit * sigmas(core, statistics);
    std::vector<Index> all;
    for (Index n = 0; n < design.rows(); ++n) {
        const double times = data().weight(n);
        if (times != std::floor(times)) throw FractionalWeight(n, times);
        all.insert(all.end(), static_cast<std::size_t>(times), n);
    }
    const auto total = static_cast<Index>(all.size());
    RowReplicates rows;
    const Index most = detail::rows_at_once(statistics.cols());
    for (; rows.first < total; rows.first += most) {
        const Index size = std::min(most, total - rows.first);
        rows.observed.resize(size, 1);
        rows.expected.resize(size, statistics.cols());
        for (Index i = 0; i < size; ++i) rows.observed(i, 0) = data().y[all[at(rows.first + i)]];
        detail::in_parallel(threads, size, [&](Index i) {
            const Index n = all[at(rows.first + i)];
            for (Index s = 0; s < statistics.cols(); ++s) {
                // Counted from the observed response, as residuals are.
                const double predictor = design.predictor(statistics.col(s).tail(core.size()), n, 1)[0];
                rows.expected(i, s) = rows.observed(i, 0) - unit * (design.response(n) - predictor);
            }
        });
        rows.replicated = rows.expected;
        detail::in_parallel(threads, size, [&](Index i) {
            Random random(seed, static_cast<std::uint64_t>(rows.first + i));
            for (Index s = 0; s < statistics.cols(); ++s) rows.replicated(i, s) += noise[s] * random.normal();
        });
        visit(rows);
    }
}

}  // namespace lrvb
