#include "kind/declared/kind.hpp"
#include "kind/declared/record.hpp"

#include <lrvb/kind/declared.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace lrvb {

namespace detail {

namespace {

std::shared_ptr<const DeclaredRecord> record_of(const MultilinearModel& model) {
    auto record = std::make_shared<DeclaredRecord>();
    record->hyperparameters = model.hyperparameters();
    record->values = model.hyperparameter_values();
    return record;
}

class FittedDeclared final : public FittedModel {
  public:
    FittedDeclared(FitFile fit_file, std::shared_ptr<const MultilinearModel> model, Optimum optimum)
        : FittedModel(std::move(fit_file), {}, 1), model_(std::move(model)) {
        set_optimum(std::move(optimum));
        set_posterior(declared_posterior(*model_, this->optimum()));
        set_other_optima([this](const Optimum& other) { return declared_posterior(*model_, other); });
    }

    FittedDeclared(FitFile fit_file, std::shared_ptr<const MultilinearModel> model, int threads)
        : FittedModel(std::move(fit_file), {}, threads), model_(std::move(model)) {
        restore_optimum();
        static_cast<void>(response());  // which finds out whether it is an optimum of this model
        if (!file().correction) return;
        set_posterior(declared_posterior(*model_, optimum()));
        file().correction.reset();
    }

    const Model& model() const override { return *model_; }
    Functionals statistics() const override { return DeclaredVariables(model_->layout()).stacked(); }

    // The model of a changed number is known to first order in the change, which is what a slope asks for.
    Posterior refit(const RefitChange& change) const override {
        MultilinearModel changed = *model_;
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
    double work_of_a_draw() const override { return static_cast<double>(model_->term_count() + 1); }

  private:
    std::shared_ptr<const MultilinearModel> model_;
};

}  // namespace

std::unique_ptr<FittedModel> DeclaredKind::fit(const FitRequest&) const {
    throw UsageError("a declared model is fitted in the program that declares it");
}

std::shared_ptr<const ModelRecord> DeclaredKind::read(const Fields& fields) const {
    return DeclaredRecord::read(fields);
}

}  // namespace detail

Posterior declared_posterior(const MultilinearModel& model, const Optimum& optimum) {
    const Layout& layout = model.layout();
    const detail::DeclaredVariables variables(layout);
    Posterior posterior = posterior_of(model, optimum, variables.names(), variables.weights());
    for (const detail::DeclaredVariables::Reported& one : variables.reported()) {
        const AnyFamily& family = layout[one.variable].family;
        const auto statistic = [&](const VariableMeaning& meaning) {
            return meaning.from_draw.combination.front().first;
        };
        const bool is_gamma = std::holds_alternative<family::Gamma>(family);
        const bool is_beta = std::holds_alternative<family::Beta>(family);
        if (is_beta || std::holds_alternative<family::Dirichlet>(family)) {
            // Of a Beta variable 1 − p is no variable of its own.
            const std::size_t count = is_beta ? 2 : one.meanings.size() / 2;
            std::vector<VariableMeaning> logs(one.meanings.begin(),
                                              one.meanings.begin() + static_cast<std::ptrdiff_t>(count));
            std::vector<VariableMeaning> plain(one.meanings.begin() + static_cast<std::ptrdiff_t>(count),
                                               one.meanings.end());
            plain.resize(count);
            add_weights(posterior, std::move(logs), std::move(plain), one.first, layout, optimum.state, one.variable);
            if (is_beta) posterior.variables.pop_back();
            continue;
        }
        for (const VariableMeaning& meaning : one.meanings) {
            const Index at = statistic(meaning);
            const double mean = posterior.mean[at];
            const bool is_positive = meaning.role == Role::precision;
            if (is_gamma && is_positive) {  // the interval is that of its logarithm
                posterior.variables.push_back(transformed_variable(meaning, mean, {{at, 1.0}}, Transform::exponential,
                                                                   posterior.mean[at + 1], {{at + 1, 1.0}}));
            } else if (meaning.role == Role::weight && mean > 0.0 && mean < 1.0) {  // of a label: within (0, 1)
                posterior.variables.push_back(transformed_variable(meaning, mean, {{at, 1.0}}, Transform::logistic,
                                                                   std::log(mean / (1.0 - mean)),
                                                                   {{at, 1.0 / (mean * (1.0 - mean))}}));
            } else {
                posterior.variables.push_back(is_positive ? positive_variable(meaning, mean, {{at, 1.0}})
                                                          : unbounded_variable(meaning, mean, {{at, 1.0}}));
            }
        }
    }
    keep_marginals(posterior);
    return posterior;
}

std::unique_ptr<FittedModel> fitted_model(std::shared_ptr<const MultilinearModel> model, Optimum optimum,
                                          DataRecord data) {
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
    return std::make_unique<detail::FittedDeclared>(std::move(file), std::move(model), std::move(optimum));
}

std::unique_ptr<FittedModel> restore(FitFile fit, std::shared_ptr<const MultilinearModel> model, int threads) {
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
    return std::make_unique<detail::FittedDeclared>(std::move(fit), std::move(model), threads);
}

}  // namespace lrvb
