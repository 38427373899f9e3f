#include "base/validate.hpp"
#include "model/joint/core.hpp"

#include <lrvb/model/joint_model.hpp>

/// What rows and the numbers of the prior do: all of it is linear in second moments, so the base's terms are asked at
/// (t, m, mmᵀ + S), along directions in which S follows.
namespace lrvb {

namespace {

std::shared_ptr<const detail::JointAt> require_at(const detail::JointCore& core, const Vector& mean) {
    std::shared_ptr<const detail::JointAt> at = core.at(mean);
    if (!at->fine) throw std::domain_error("the precision of the joined variables cannot be factored at these means");
    return at;
}

}  // namespace

const std::vector<std::string>& JointModel::hyperparameters() const {
    return core_->inner.hyperparameters();
}

const Vector& JointModel::hyperparameter_values() const {
    return core_->inner.hyperparameter_values();
}

Vector JointModel::hyperparameter_gradient(const Vector& mean, Index hyperparameter) const {
    const detail::JointCore& core = *core_;
    detail::require_size("hyperparameter_gradient", "mean", mean.size(), layout().size());
    const std::shared_ptr<const detail::JointAt> there = require_at(core, mean);
    const detail::JointAt& at = *there;
    const Vector gradient =
        core.inner.hyperparameter_gradient(core.extended(at.t, at.x, &at.covariance), hyperparameter);
    return core.folded(at, gradient);
}

std::vector<std::string> JointModel::inputs() const {
    return core_->inner.inputs();
}

Index JointModel::rows() const {
    return core_->inner.rows();
}

std::vector<std::pair<std::string, Index>> JointModel::row_sets() const {
    return core_->inner.row_sets();
}

void JointModel::ask_rows(const State& state, const Matrix& directions, RowChange change,
                          const RowVisitor& visit) const {
    const detail::JointCore& core = *core_;
    detail::require_size("ask_rows", "rows of the directions", directions.rows(), layout().size());
    detail::require_size("ask_rows", "the state's mean", state.mean.size(), layout().size());
    const std::shared_ptr<const detail::JointAt> there = require_at(core, state.mean);
    const detail::JointAt& at = *there;
    const Matrix extended = core.extended_directions(at, directions);
    if (!core.predictors || change == RowChange::value) {
        core.inner.ask_rows(core.inner_state(at, state), extended, change, visit);
        return;
    }
    const Matrix moved = core.predictors->times_matrix(directions.bottomRows(core.coefficients()));
    const Matrix spread = core.variance_directions(at, core.follow(at), directions);
    const std::vector<detail::RowLikelihood::RowSlopes> slopes = core.predictors->slopes(at.predictors, at.variances);
    core.inner.ask_rows(core.inner_state(at, state), extended, change, [&](const RowAnswers& answers) {
        RowAnswers whole = answers;
        core.predictors->add_slopes(slopes, moved, spread, answers.first, whole.answers);
        visit(whole);
    });
}

void JointModel::row_log_likelihoods(const Matrix& statistics, int threads, const RowVisitor& visit) const {
    const detail::JointCore& core = *core_;
    detail::require_size("row_log_likelihoods", "a column of statistics", statistics.rows(), layout().size());
    Matrix extended(core.shape.extended(), statistics.cols());
    for (Index c = 0; c < statistics.cols(); ++c) {
        extended.col(c) =
            core.extended(statistics.col(c).head(core.others()), statistics.col(c).tail(core.coefficients()), nullptr);
    }
    if (!core.predictors) {
        core.inner.row_log_likelihoods(extended, threads, visit);
        return;
    }
    const Matrix predictors = core.predictors->times_matrix(statistics.bottomRows(core.coefficients()));
    core.inner.row_log_likelihoods(extended, threads, [&](const RowAnswers& answers) {
        RowAnswers whole = answers;
        core.predictors->add_likelihoods(predictors, answers.first, whole.answers);
        visit(whole);
    });
}

JointModel JointModel::reweighted(const std::vector<Index>& rows, const Vector& weights) const {
    return JointModel(std::make_shared<const detail::JointCore>(*core_, core_->inner.reweighted(rows, weights)));
}

JointModel JointModel::reweighted(Index row, double weight) const {
    return reweighted(std::vector<Index>{row}, Vector::Constant(1, weight));
}

JointModel JointModel::stepped(Index hyperparameter, double step) const {
    return JointModel(std::make_shared<const detail::JointCore>(*core_, core_->inner.stepped(hyperparameter, step)));
}

JointModel JointModel::tilted(const Vector& tilt) const {
    detail::require_size("tilted", "tilt", tilt.size(), layout().size());
    Vector extended = Vector::Zero(core_->shape.extended());
    extended.head(tilt.size()) = tilt;
    return JointModel(std::make_shared<const detail::JointCore>(*core_, core_->inner.tilted(extended)));
}

}  // namespace lrvb
