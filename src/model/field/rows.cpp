#include "base/parallel.hpp"
#include "base/validate.hpp"
#include "model/field/core.hpp"
#include "model/field/row_field.hpp"
#include "model/field/share.hpp"
#include "model/rows_at_once.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <stdexcept>

namespace lrvb {

namespace {

using detail::FieldCore;
using detail::PsiPoint;

std::size_t at(Index i) {
    return static_cast<std::size_t>(i);
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

detail::RowsAsked rows_asked(const FieldCore& core, const State& state, const Matrix& directions, RowChange change) {
    detail::require_size("ask_rows", "rows of the directions", directions.rows(), core.layout.size());
    const Index k = core.variance_count();
    const Vector psi = state.mean.head(k);
    const PsiPoint point = core.psi_point(psi);
    const detail::EffectCovariance& sigma = point.parts.back();
    detail::RowsAsked asked;
    asked.change = change;
    asked.directions = directions;
    asked.x = state.mean.tail(core.size());
    asked.tau = sigma.precision(0, 0);
    asked.tau_by_psi = sigma.by_psi[0](0, 0);
    asked.log_determinant_by_psi = sigma.log_determinant_by_psi[0];
    asked.sigma = core.part_offset(core.sigma_part());
    asked.blocks = core.blocks;
    if (change == RowChange::value) return asked;
    const auto add = [&](const PsiPoint& own) {
        if (!own.has_precisions()) {
            throw std::domain_error("the precision of the field cannot be factored at these sds");
        }
        asked.precisions.push_back({own.parts.back().precision(0, 0), own.precisions, own.fixed_precision});
    };
    add(point);
    for (Index j = 0; j < k; ++j) {
        for (const double step : {detail::kPsiStep, -detail::kPsiStep}) {
            Vector moved = psi;
            moved[j] += step;
            add(core.psi_point(moved));
        }
    }
    return asked;
}

}  // namespace

std::vector<std::string> FieldModel::inputs() const {
    return {data().response};
}

void FieldModel::ask_rows(const State& state, const Matrix& directions, RowChange change,
                          const RowVisitor& visit) const {
    const FieldCore& core = *core_;
    if (core.row_field) {
        core.row_field->ask_rows(state, directions, change, visit);
        return;
    }
    detail::RowsAsked asked = rows_asked(core, state, directions, change);
    if (!core.has_rows) {
        detail::AskedRows(*core.source, asked).visit(visit);
        return;
    }
    const detail::NormalRowAnswers answers(std::move(asked), core.plan);
    const detail::RowBlocks& blocks = core.row_blocks;
    for (Index b = 0; b < blocks.count(); ++b) answers.visit(blocks.begin(b), blocks.end(b), blocks.begin(b), visit);
}

std::string FieldModel::tally_rows(const State& state, const Matrix& directions, RowChange change,
                                   const RowTally& tally, const std::string& asked) const {
    const FieldCore& core = *core_;
    if (core.row_field) return RowModel::tally_rows(state, directions, change, tally, asked);
    detail::RowsAsked rows = rows_asked(core, state, directions, change);
    if (!core.has_rows) return detail::AskedRows(*core.source, rows).tally(tally, asked);
    const detail::NormalRowAnswers answers(std::move(rows), core.plan);
    return answers.tallied(core.row_blocks, 0, tally, asked).take().bytes;
}

void FieldModel::row_log_likelihoods(const Matrix& statistics, int threads, const RowVisitor& visit) const {
    const FieldCore& core = *core_;
    if (core.row_field) {
        core.row_field->row_log_likelihoods(statistics, threads, visit);
        return;
    }
    detail::require_size("row_log_likelihoods", "a column of statistics", statistics.rows(), layout().size());
    const detail::FieldDesign& design = core.row_design();
    const FieldData& data = design.data();
    const Vector sigma = sigmas(core, statistics);
    const Eigen::ArrayXd constants =
        -sigma.array().log() - 0.5 * std::log(2.0 * std::numbers::pi) - std::log(design.units().response_scale);
    RowAnswers answers;
    const Index most = detail::rows_at_once(statistics.cols());
    for (; answers.first < design.rows(); answers.first += most) {
        const Index size = std::min(most, design.rows() - answers.first);
        answers.inputs = data.y.segment(answers.first, size);
        answers.weights = detail::row_weights(data, answers.first, size);
        answers.answers.resize(size, statistics.cols());
        Vector response(size);
        Eigen::ArrayXd precision(size);
        for (Index i = 0; i < size; ++i) {
            response[i] = design.response(answers.first + i);
            precision[i] = data.precision(answers.first + i);
        }
        const Eigen::ArrayXd half_logs = 0.5 * precision.log();
        detail::in_parallel(threads, statistics.cols(), [&](Index s) {
            const Vector predictor = design.predictor(statistics.col(s).tail(core.size()), answers.first, size);
            answers.answers.col(s) =
                (constants[s] + half_logs - 0.5 * precision * ((response - predictor) / sigma[s]).array().square())
                    .matrix();
        });
        visit(answers);
    }
}

void FieldModel::replicate_rows(const Matrix& statistics, std::uint64_t seed, int threads,
                                const ReplicateVisitor& visit) const {
    const FieldCore& core = *core_;
    if (core.row_field) {
        core.row_field->replicate_rows(statistics, seed, threads, visit);
        return;
    }
    detail::require_size("replicate_rows", "a column of statistics", statistics.rows(), layout().size());
    const detail::FieldDesign& design = core.row_design();
    const FieldData& data = design.data();
    const double unit = design.units().response_scale;
    const Vector noise = unit * sigmas(core, statistics);
    std::vector<Index> all;
    for (Index n = 0; n < design.rows(); ++n) {
        const double times = data.count(n);
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
        for (Index i = 0; i < size; ++i) rows.observed(i, 0) = data.y[all[at(rows.first + i)]];
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
            const double root = std::sqrt(data.precision(all[at(rows.first + i)]));
            for (Index s = 0; s < statistics.cols(); ++s) rows.replicated(i, s) += noise[s] / root * random.normal();
        });
        visit(rows);
    }
}

}  // namespace lrvb
