#include "kind/declared/kind.hpp"
#include "kind/declared/record.hpp"

#include <lrvb/kind/declared.hpp>
#include <lrvb/sample/model_density.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace lrvb {

namespace detail {

namespace {

double work_of(const MultilinearModel& model) {
    return model.work();
}

double work_of(const JointModel& model) {
    return model.work();
}

/// What q says of the others, and S of joined coefficients, of which very many have their own variances alone. The
/// statistics are chosen ones.
std::shared_ptr<const Covariance> mean_field_of(const JointModel& model, const State& state,
                                                const SparseMatrix& weights) {
    const Layout& layout = model.layout();
    const Index others = model.other_count();
    const bool is_dense = weights.cols() <= kDenseStatistics;
    std::vector<Eigen::Triplet<double>> entries;
    const auto enter = [&](const Matrix& block, Index first) {
        for (Index c = 0; c < block.cols(); ++c) {
            for (Index r = 0; r < block.rows(); ++r) {
                if (block(r, c) == 0.0 || (r != c && first == others && !is_dense)) continue;
                entries.emplace_back(static_cast<int>(first + r), static_cast<int>(first + c), block(r, c));
            }
        }
    };
    for (Index j = 0; j < layout.variable_count() && layout[j].offset < others; ++j) {
        if (state.clamped[static_cast<std::size_t>(j)]) continue;
        const auto covariance = [&](const auto& family) { return family.covariance(layout.segment(state.natural, j)); };
        enter(std::visit(covariance, layout[j].family), layout[j].offset);
    }
    enter(model.conditional_covariance(state.mean), others);
    SparseMatrix all(layout.size(), layout.size());
    all.setFromTriplets(entries.begin(), entries.end());
    SparseMatrix covariance = weights.transpose() * SparseMatrix(all * weights);
    if (is_dense) return std::make_shared<DenseCovariance>(Matrix(covariance));
    return std::make_shared<SparseCovariance>(std::move(covariance));
}

template <class Declared>
std::shared_ptr<const DeclaredRecord> record_of(const Declared& model) {
    auto record = std::make_shared<DeclaredRecord>();
    record->hyperparameters = model.hyperparameters();
    record->values = model.hyperparameter_values();
    return record;
}

template <class Declared>
class FittedDeclared final : public FittedModel {
  public:
    FittedDeclared(FitFile fit_file, std::shared_ptr<const Declared> model, Optimum optimum)
        : FittedModel(std::move(fit_file), {}, 1), model_(std::move(model)) {
        set_optimum(std::move(optimum));
        set_posterior(declared_posterior(*model_, this->optimum()));
        set_other_optima([this](const Optimum& other) { return declared_posterior(*model_, other); });
    }

    FittedDeclared(FitFile fit_file, std::shared_ptr<const Declared> model, int threads)
        : FittedModel(std::move(fit_file), {}, threads), model_(std::move(model)) {
        restore_optimum();
        static_cast<void>(response());  // which finds out whether it is an optimum of this model
        if (!file().correction) return;
        set_uncorrected(declared_posterior(*model_, optimum()));
    }

    const Model& model() const override { return *model_; }
    Functionals statistics() const override { return DeclaredVariables(model_->layout()).stacked(); }

    // The model of a changed number is known to first order in the change, which is what a slope asks for.
    Posterior refit(const RefitChange& change) const override {
        Declared changed = *model_;
        for (const Index row : change.without_rows) changed = changed.without_row(row);
        if (change.prior) {
            const std::vector<std::string>& names = model_->hyperparameters();
            const auto found = std::ranges::find(names, change.prior->first);
            if (found == names.end()) {
                throw std::invalid_argument(
                    fmt::format("refit: the model has no hyperparameter '{}'", change.prior->first));
            }
            const Index at = found - names.begin();
            changed = changed.stepped(at, change.prior->second - model_->hyperparameter_values()[at]);
        }
        return declared_posterior(changed, refitted(changed));
    }

    bool has_rows() const override { return model_->rows() > 0; }
    double work_of_a_draw() const override { return work_of(*model_) * density_evaluations(*model_, optimum().state); }

  private:
    std::shared_ptr<const Declared> model_;
};

}  // namespace

std::unique_ptr<FittedModel> DeclaredKind::fit(const FitRequest&) const {
    throw UsageError("a declared model is fitted in the program that declares it");
}

std::shared_ptr<const ModelRecord> DeclaredKind::read(const Fields& fields) const {
    return DeclaredRecord::read(fields);
}

}  // namespace detail

namespace {

void add_variables(Posterior& posterior, const detail::DeclaredVariables& variables, const Optimum& optimum) {
    variables.report(posterior, optimum.state);
    keep_marginals(posterior);
}

template <class Declared>
std::unique_ptr<FittedModel> fitted_of(std::shared_ptr<const Declared> model, Optimum optimum, DataRecord data) {
    if (model == nullptr) throw std::invalid_argument("fitted_model: there is no model");
    FitFile file;
    file.model = detail::record_of(*model);
    file.data = std::move(data);
    if (file.data.rows == 0) file.data.rows = model->rows();
    if (model->rows() > 0 && file.data.rows != model->rows()) {
        throw std::invalid_argument(
            fmt::format("fitted_model: the data have {} rows, but the model was told of {}: name all of them, or none",
                        file.data.rows, model->rows()));
    }
    if (file.data.total_weight == 0.0) file.data.total_weight = static_cast<double>(file.data.rows);
    file.options.tolerance = FitOptions().tolerance;
    file.options.max_iterations = FitOptions().max_iterations;
    file.outcome = record_outcome(optimum, 0);
    file.parameters = record_parameters(model->layout(), optimum.state);
    return std::make_unique<detail::FittedDeclared<Declared>>(std::move(file), std::move(model), std::move(optimum));
}

template <class Declared>
std::unique_ptr<FittedModel> restored(FitFile fit, std::shared_ptr<const Declared> model, int threads) {
    if (!fit.converged()) {
        throw std::runtime_error("the fit did not converge, so there is no response to ask: fit again");
    }
    if (fit.model->kind() != "declared") {
        throw std::runtime_error(fmt::format(
            "the fit is of the kind '{}', not of a declared model: restore it with its data", fit.model->kind()));
    }
    if (model == nullptr) throw std::invalid_argument("restore: there is no model");
    if (model->rows() > 0 && fit.data.rows != model->rows()) {
        throw std::runtime_error(
            fmt::format("the fit has {} rows, but the model was told of {}: declare the model that was fitted",
                        fit.data.rows, model->rows()));
    }
    return std::make_unique<detail::FittedDeclared<Declared>>(std::move(fit), std::move(model), threads);
}

}  // namespace

Posterior declared_posterior(const MultilinearModel& model, const Optimum& optimum) {
    const detail::DeclaredVariables variables(model.layout());
    Posterior posterior = posterior_of(model, optimum, variables.names(), variables.weights());
    add_variables(posterior, variables, optimum);
    return posterior;
}

Posterior declared_posterior(const JointModel& model, const Optimum& optimum) {
    const detail::DeclaredVariables variables(model.layout());
    Posterior posterior = posterior_of(model, optimum, variables.names(), variables.weights());
    posterior.mean_field_covariance = detail::mean_field_of(model, optimum.state, variables.weights());
    add_variables(posterior, variables, optimum);
    return posterior;
}

std::unique_ptr<FittedModel> fitted_model(std::shared_ptr<const MultilinearModel> model, Optimum optimum,
                                          DataRecord data) {
    return fitted_of(std::move(model), std::move(optimum), std::move(data));
}

std::unique_ptr<FittedModel> fitted_model(std::shared_ptr<const JointModel> model, Optimum optimum, DataRecord data) {
    return fitted_of(std::move(model), std::move(optimum), std::move(data));
}

std::unique_ptr<FittedModel> restore(FitFile fit, std::shared_ptr<const MultilinearModel> model, int threads) {
    return restored(std::move(fit), std::move(model), threads);
}

std::unique_ptr<FittedModel> restore(FitFile fit, std::shared_ptr<const JointModel> model, int threads) {
    return restored(std::move(fit), std::move(model), threads);
}

}  // namespace lrvb
