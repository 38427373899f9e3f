#include "fit/places.hpp"

#include <lrvb/kind/fitted_model.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace lrvb {

SparseMatrix ModelRecord::statistics(const FitFile&) const {
    throw std::logic_error(fmt::format("the kind '{}' keeps covariances as matrices", kind()));
}

void ModelRecord::require_parameters(const Fields&) const {}

void ModelRecord::require_agreement(const FitFile&, const Fields&) const {}

std::unique_ptr<FittedModel> ModelRecord::restore(FitFile fit, const Dataset& data, int threads) const {
    const Dataset fitted = data.with_na(fit.data.na);
    return with_data(std::move(fit), fitted, threads);
}

void Kind::simulate(const Settings&, const std::function<void(const std::string&)>&) const {
    throw std::logic_error(fmt::format("the kind '{}' draws no data", name()));
}

namespace {

// Puts predictions beside the rows that they are of, which come in the same order.
class Beside final : public TableSink {
  public:
    Beside(TextRows& rows, std::string name, BesideSink& sink) : rows_(rows), name_(std::move(name)), sink_(sink) {}

    void header(const std::vector<std::string>& names) override {
        std::vector<std::string> beside;
        for (std::string name : names) {
            const auto is_taken = [&](const std::vector<std::string>& taken) {
                return std::find(taken.begin(), taken.end(), name) != taken.end();
            };
            while (is_taken(rows_.names()) || is_taken(beside)) name.insert(0, "predicted_");
            beside.push_back(std::move(name));
        }
        sink_.header(rows_.names(), beside);
    }
    void row(Index row, const Vector& numbers) override {
        while (rows_.next(fields_)) {
            const bool is_here = rows_.row() >= row;
            sink_.row(fields_, is_here ? &numbers : nullptr);
            if (is_here) return;
        }
        throw std::runtime_error(fmt::format("{}: the file changed while it was read: read it again", name_));
    }
    void finish() {
        while (rows_.next(fields_)) sink_.row(fields_, nullptr);
    }

  private:
    TextRows& rows_;
    std::string name_;
    BesideSink& sink_;
    std::vector<TextField> fields_;
};

// Says of the rows that were left out that nothing is known of them.
class EveryRow final : public TableSink {
  public:
    explicit EveryRow(TableSink& sink) : sink_(sink) {}

    void header(const std::vector<std::string>& names) override { sink_.header(names); }
    void row(Index row, const Vector& numbers) override {
        pass_to(row);
        sink_.row(row, numbers);
        last_ = row;
    }
    void pass_to(Index row) {
        while (++last_ < row) sink_.row(last_, Vector());
    }

  private:
    TableSink& sink_;
    Index last_ = 0;
};

// Keeps the answers about some rows, in ascending order.
RowVisitor keeper(const std::vector<Index>& rows, RowAnswers& kept) {
    return [&rows, &kept, next = std::size_t{0}](const RowAnswers& some) mutable {
        if (next == 0) {
            const auto count = static_cast<Index>(rows.size());
            kept.inputs.resize(count, some.inputs.cols());
            kept.weights.resize(count);
            kept.answers.resize(count, some.answers.cols());
        }
        for (; next < rows.size() && rows[next] < some.first + some.answers.rows(); ++next) {
            const auto to = static_cast<Index>(next);
            const Index from = rows[next] - some.first;
            kept.inputs.row(to) = some.inputs.row(from);
            kept.weights[to] = some.weights[from];
            kept.answers.row(to) = some.answers.row(from);
        }
    };
}

// Some of the answers about all rows: for models that have their rows at hand.
class SomeOfAllRows final : public SomeRows {
  public:
    SomeOfAllRows(const LinearResponse& response, std::vector<Index> rows)
        : response_(response), rows_(std::move(rows)) {}

    RowAnswers ask(const Functionals& functionals, RowChange change) const override {
        RowAnswers result;
        if (change == RowChange::weight) {
            response_.case_weights(functionals, keeper(rows_, result));
        } else {
            response_.leverage(functionals, keeper(rows_, result));
        }
        return result;
    }

  private:
    const LinearResponse& response_;
    std::vector<Index> rows_;
};

}  // namespace

void predict_beside(const FitFile& fit, const Dataset& rows, const PredictOptions& options, BesideSink& sink) {
    const std::unique_ptr<TextRows> texts = rows.text_rows();
    Beside beside(*texts, rows.name(), sink);
    fit.model->predict(fit, rows, options, beside);
    beside.finish();
}

void FittedModel::predict_rows(TableSink& sink) const {
    EveryRow every(sink);
    predict_fitted(every);
    every.pass_to(file_.data.rows + file_.data.dropped + 1);
}

void FittedModel::predict_fitted(TableSink&) const {
    throw std::logic_error(fmt::format("the kind '{}' has no table of the rows that were fitted", file_.model->kind()));
}

IntegratedPosterior FittedModel::integrate(const IntegrationOptions&) const {
    throw std::logic_error(fmt::format("the posterior of the kind '{}' is not integrated", file_.model->kind()));
}

std::string FittedModel::row_label(Index row) const {
    std::string name = row_name(row);
    return name.empty() ? fmt::format("{}", file_row(row)) : name;
}

bool FittedModel::has_rows() const {
    return dynamic_cast<const RowModel*>(&model()) != nullptr;
}

const RowModel& FittedModel::row_model() const {
    const auto* rows = dynamic_cast<const RowModel*>(&model());
    if (rows == nullptr) {
        throw std::runtime_error(
            fmt::format("a fit of the kind '{}' has no rows that can be asked: there is no influence, and no leverage",
                        file_.model->kind()));
    }
    if (!has_rows()) {
        throw std::runtime_error("the model of this fit was told of no rows: name them where they are observed");
    }
    return *rows;
}

std::vector<std::string> FittedModel::inputs() const {
    return row_model().inputs();
}

std::unique_ptr<SomeRows> FittedModel::some_rows(const std::vector<Index>& rows) const {
    return std::make_unique<SomeOfAllRows>(response(), rows);
}

Centring FittedModel::centring(const std::vector<Index>& variables) const {
    const auto count = static_cast<Index>(variables.size());
    SparseMatrix identity(count, count);
    identity.setIdentity();
    return {variables, identity};
}

Matrix FittedModel::beside(const std::vector<Index>& rows) const {
    return {static_cast<Index>(rows.size()), 0};
}

Matrix FittedModel::shown_values(const std::vector<Index>& rows) const {
    return {static_cast<Index>(rows.size()), 0};
}

void FittedModel::set_posterior(Posterior posterior) {
    file_.posterior = std::move(posterior);
    const bool is_dense = file_.posterior.mean_field_covariance->matrix() != nullptr;
    if (!is_dense && file_.posterior.has_response()) file_.hessian = response().hessian();
}

void FittedModel::set_uncorrected(Posterior posterior) {
    shown_ = std::move(file_.posterior);
    file_.correction.reset();
    set_posterior(std::move(posterior));
}

void FittedModel::set_other_optima(const std::function<Posterior(const Optimum&)>& posterior_at) {
    if (!file_.posterior.has_response() || optimum_.others.empty()) return;
    const std::vector<Index> shown = file_.posterior.select({});
    const SparseMatrix weights = statistics().resolve(model().layout()).weights;
    const bool is_dense = file_.posterior.covariance->matrix() != nullptr;
    const Vector variances = is_dense ? Vector(file_.posterior.covariance->matrix()->diagonal()) : Vector();
    for (const Optimum& optimum : optimum_.others) {
        const State near = detail::matched(model(), optimum_.state, optimum.state);
        const Vector moved = weights.transpose() * (near.mean - optimum_.state.mean);
        if (is_dense && (moved.array().square() <= variances.array()).all()) continue;
        const std::vector<Posterior::Row> rows = posterior_at(optimum).summary(shown, 0.9);
        OtherOptimum& other = file_.other_optima.emplace_back();
        other.bound = optimum.bound;
        for (const Posterior::Row& row : rows) {
            other.variables.push_back({row.name, row.mean, std::isfinite(row.sd) ? row.sd : row.mean_field_sd});
        }
    }
    if (file_.other_optima.empty()) return;
    set_shares(file_.outcome.bound, file_.other_optima);
    file_.warnings.push_back(fmt::format(
        "{}; means and sds are those of this optimum alone: report {}, or give a prior that decides between "
        "them",
        other_optima_text(file_.posterior, file_.other_optima),
        file_.other_optima.size() == 1 ? "both" : "all of them"));
}

const LinearResponse& FittedModel::response() const {
    std::call_once(responded_, [&] { response_ = std::make_unique<LinearResponse>(model(), optimum_); });
    return *response_;
}

Functionals FittedModel::functionals(const std::vector<Index>& variables) const {
    const Functionals::Resolved base = statistics().resolve(model().layout());
    if (base.weights.cols() != file_.posterior.mean.size()) {
        throw std::runtime_error(
            fmt::format("the posterior of the fit has {} statistics, but its model {}: the file is damaged, fit again",
                        file_.posterior.mean.size(), base.weights.cols()));
    }
    return {SparseMatrix(base.weights * file_.posterior.gradients(variables))};
}

void FittedModel::restore_optimum() {
    optimum_.state = file_.state(model().layout());
    optimum_.bound = file_.outcome.bound;
    optimum_.step = file_.outcome.step;
    optimum_.termination = file_.outcome.termination;
    optimum_.message = file_.outcome.message;
}

Optimum FittedModel::refitted(const Model& changed, bool from_optimum) const {
    FitOptions options;
    if (from_optimum) {
        options.initial = optimum_.state;
        options.first_sweeps = 0;
    }
    options.tolerance = std::min(file_.options.tolerance, 1e-8);
    Optimum result = lrvb::fit(changed, options);
    if (!result.converged()) throw std::runtime_error(fmt::format("a refit did not converge: {}", result.message));
    return result;
}

std::unique_ptr<FittedModel> restore(FitFile fit, const Dataset& data, int threads) {
    if (!fit.converged()) {
        throw NotAnOptimum(fmt::format(
            "the fit did not converge ({}), so there is no response to ask: fit again, with more iterations or another "
            "seed",
            to_string(fit.outcome.termination)));
    }
    const ModelRecord& record = *fit.model;
    std::shared_ptr<const ModelRecord> alive = fit.model;
    return record.restore(std::move(fit), data, threads);
}

void require_fitted_data(const FitFile& fit, const std::string& name, const std::string& checksum, Index rows) {
    if (checksum == fit.data.checksum && rows == fit.data.rows) return;
    throw std::runtime_error(
        fmt::format("{} holds other numbers than the data of the fit ({}, {} rows): give the data that was fitted",
                    name, fit.data.name, fit.data.rows));
}

}  // namespace lrvb
