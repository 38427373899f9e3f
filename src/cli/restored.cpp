#include "cli/restored.hpp"

#include "cli/prior_parameters.hpp"

#include <lrvb/data/frame.hpp>
#include <lrvb/data/table.hpp>
#include <lrvb/kind/mixture/fit.hpp>
#include <lrvb/kind/regression/model.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace lrvb::cli {

namespace {

void require_same(const FitFile& fit, const DataRecord& data) {
    if (data.checksum == fit.data.checksum) return;
    throw std::runtime_error(
        fmt::format("{} holds other numbers than the data of the fit ({}, {} rows): give the data that was fitted",
                    data.name, fit.data.name, fit.data.rows));
}

// All rows of a source but one.
class WithoutRow final : public RowSource {
  public:
    WithoutRow(std::shared_ptr<RowSource> source, Index row) : source_(std::move(source)), row_(row) {}

    Index columns() const override { return source_->columns(); }
    std::string name() const override { return source_->name(); }
    std::string column_name(Index column) const override { return source_->column_name(column); }
    void rewind() override {
        source_->rewind();
        next_ = 0;
    }
    Index read(double* rows, Index capacity) override {
        Index count = source_->read(rows, capacity);
        if (row_ >= next_ && row_ < next_ + count) {
            const Index width = columns();
            double* const gap = rows + (row_ - next_) * width;
            std::copy(gap + width, rows + count * width, gap);
            next_ += count;
            --count;
            const Index more = source_->read(rows + count * width, 1);
            next_ += more;
            return count + more;
        }
        next_ += count;
        return count;
    }

  private:
    std::shared_ptr<RowSource> source_;
    Index row_;
    Index next_ = 0;
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

class RestoredMixture final : public Restored {
  public:
    RestoredMixture(FitFile fit, FittedData data, int threads)
        : Restored(std::move(fit)), record_(std::get<MixtureRecord>(file().model)), source_(std::move(data.source)) {
        set_file_rows(std::move(data.file_rows));
        specification_.components = record_.components;
        specification_.covariance = record_.covariance;
        specification_.prior = record_.prior;
        specification_.weighted = file().data.weights.has_value();
        specification_.threads = threads;
        specification_.standardisation = {record_.centre, record_.scale};
        model_ = std::make_shared<MixtureModel>(source_, specification_);
        respond();
        if (file().correction) undo_correction(mixture_posterior(restored_fit()));
    }

    const RowModel& model() const override { return *model_; }
    Functionals statistics() const override { return model_->in_data_units(file().posterior.statistics); }

    Posterior refit(const RefitChange& change) const override {
        MixtureSpecification specification = specification_;
        if (change.prior) set_prior_parameter(*specification.prior, change.prior->first, change.prior->second);
        std::shared_ptr<RowSource> source = source_;
        if (change.without_row) source = std::make_shared<WithoutRow>(source_, *change.without_row);
        MixtureFit fit;
        fit.model = std::make_shared<MixtureModel>(source, specification);
        fit.optimum = refitted(*fit.model);
        return mixture_posterior(fit);
    }

    // A row's answers depend on no other row: a model of these rows alone gives them, however many others there are.
    RowAnswers ask(const Functionals& functionals, RowChange change, const std::vector<Index>& rows) const override {
        const MixtureModel model(std::make_shared<TableSource>(read_rows(rows), source_->columns()), specification_);
        const SparseMatrix weights = functionals.resolve(model_->layout()).weights;
        Matrix directions(weights.rows(), weights.cols());
        for (Index c = 0; c < weights.cols(); ++c) directions.col(c) = response().respond(Vector(weights.col(c)));
        std::vector<Index> all(rows.size());
        std::iota(all.begin(), all.end(), 0);
        RowAnswers result;
        model.ask_rows(optimum().state, directions, change, keeper(all, result));
        return result;
    }

  private:
    // One after the other.
    std::vector<double> read_rows(const std::vector<Index>& rows) const {
        std::vector<double> numbers;
        Index row = 0;
        auto next = rows.begin();
        for_each_row(*source_, [&](const double* values) {
            if (next == rows.end() || *next != row++) return;
            numbers.insert(numbers.end(), values, values + source_->columns());
            ++next;
        });
        return numbers;
    }

    MixtureFit restored_fit() const {
        MixtureFit fit;
        fit.model = model_;
        fit.optimum = optimum();
        return fit;
    }

    MixtureRecord record_;
    MixtureSpecification specification_;
    std::shared_ptr<RowSource> source_;
    std::shared_ptr<MixtureModel> model_;
};

class RestoredRegression final : public Restored {
  public:
    RestoredRegression(FitFile fit, FittedData data)
        : Restored(std::move(fit)), record_(std::get<RegressionRecord>(file().model)), design_(std::move(data.design)) {
        prior_ = record_.prior;
        prior_.centre = record_.coefficients.centre;
        set_file_rows(std::move(data.file_rows));
        model_ = std::make_shared<RegressionModel>(design_, prior_);
        respond();
        if (file().correction) undo_correction(regression_posterior(*model_, optimum()));
    }

    const RowModel& model() const override { return *model_; }
    Functionals statistics() const override { return model_->in_data_units(file().posterior.statistics); }

    Posterior refit(const RefitChange& change) const override {
        RegressionPrior prior = prior_;
        if (change.prior) set_prior_parameter(prior, change.prior->first, design_->names, change.prior->second);
        RegressionDesign design = *design_;
        if (change.without_row) {
            const Index last = design.y.size() - 1;
            // The order of the rows means nothing: the last takes the place of the one that goes.
            design.y[*change.without_row] = design.y[last];
            design.columns.row(*change.without_row) = Vector(design.columns.row(last)).transpose();
            design.y.conservativeResize(last);
            design.columns.conservativeResize(last, Eigen::NoChange);
        }
        const RegressionModel model(design, prior);
        // Its inner units are its own, so that the old optimum is no start; but a regression is solved in a few steps.
        const Optimum optimum = fit(model, {});
        if (!optimum.converged())
            throw std::runtime_error(fmt::format("a refit did not converge: {}", optimum.message));
        return regression_posterior(model, optimum);
    }

    SparseMatrix centring(const std::vector<Index>& variables) const override {
        SparseMatrix result = Restored::centring(variables);
        const std::vector<PosteriorVariable>& all = file().posterior.variables;
        const auto place = [&](const std::string& name) -> Index {
            for (std::size_t v = 0; v < variables.size(); ++v) {
                if (all[static_cast<std::size_t>(variables[v])].name == name) return static_cast<Index>(v);
            }
            return -1;
        };
        const Index intercept = place("intercept");
        for (std::size_t j = 0; j < design_->names.size() && intercept >= 0; ++j) {
            const Index slope = place(fmt::format("beta[{}]", design_->names[j]));
            if (slope < 0) return Restored::centring(variables);  // not all of them: no change that keeps distances
            result.coeffRef(intercept, slope) = model_->centre()[static_cast<Index>(j)];
        }
        return result;
    }

    Vector hat_values() const override {
        Vector hats(design_->y.size());
        const Index first = design_->intercept ? 1 : 0;
        response().leverage(model_->coefficients(), [&](const RowAnswers& rows) {
            for (Index i = 0; i < rows.answers.rows(); ++i) {
                const Vector x = design_->columns.row(rows.first + i).transpose() - model_->centre();
                const Vector answers = rows.answers.row(i);
                hats[rows.first + i] = x.dot(answers.tail(x.size())) + (first == 1 ? answers[0] : 0.0);
            }
        });
        return hats;
    }

  private:
    RegressionRecord record_;
    RegressionPrior prior_;
    std::shared_ptr<const RegressionDesign> design_;
    std::shared_ptr<RegressionModel> model_;
};

FittedData open_rows(const FitFile& fit, const std::string& path) {
    Data data = open_data({path, fit.data.columns, fit.data.weights.value_or(""), fit.data.dropped > 0});
    require_same(fit, data.record);
    return {data.source, nullptr, std::move(data.file_rows)};
}

FittedData open_design(const FitFile& fit, const std::string& path) {
    const auto& record = std::get<RegressionRecord>(fit.model);
    FrameOptions options = columns_of(record.terms, fit.data.dropped > 0);
    options.columns.push_back(record.response);
    const DataFrame frame = read_frame(path, options);
    if (frame.columns.back().is_text()) {
        throw std::runtime_error(fmt::format("{}: the response '{}' holds text: give the data that was fitted",
                                             frame.name, record.response));
    }
    auto design = std::make_shared<RegressionDesign>();
    design->source = frame.name;
    design->response = record.response;
    design->terms = record.terms;
    design->intercept = record.coefficients.intercept;
    design->names = design_names(record.terms);
    design->columns = design_matrix(frame, record.terms);
    design->y = frame.columns.back().numbers;
    DataRecord data;
    data.name = frame.name;
    data.checksum = checksum_of(*design);
    require_same(fit, data);
    return {nullptr, std::move(design), frame.file_rows};
}

}  // namespace

FittedData open_fitted(const FitFile& fit, const std::string& path) {
    return std::holds_alternative<MixtureRecord>(fit.model) ? open_rows(fit, path) : open_design(fit, path);
}

SparseMatrix Restored::centring(const std::vector<Index>& variables) const {
    const auto count = static_cast<Index>(variables.size());
    SparseMatrix identity(count, count);
    identity.setIdentity();
    return identity;
}

RowAnswers Restored::ask(const Functionals& functionals, RowChange change, const std::vector<Index>& rows) const {
    RowAnswers result;
    if (change == RowChange::weight) {
        response().case_weights(functionals, keeper(rows, result));
    } else {
        response().leverage(functionals, keeper(rows, result));
    }
    return result;
}

Functionals Restored::functionals(const std::vector<Index>& variables) const {
    const Functionals::Resolved base = statistics().resolve(model().layout());
    std::vector<Eigen::Triplet<double, int>> entries;
    for (std::size_t v = 0; v < variables.size(); ++v) {
        const PosteriorVariable& variable = file_.posterior.variables[static_cast<std::size_t>(variables[v])];
        for (const auto& [at, slope] : variable.gradient) {
            entries.emplace_back(static_cast<int>(at), static_cast<int>(v), slope);
        }
    }
    SparseMatrix gradients(base.weights.cols(), static_cast<Index>(variables.size()));
    gradients.setFromTriplets(entries.begin(), entries.end());
    return {SparseMatrix(base.weights * gradients)};
}

void Restored::respond() {
    optimum_.state = file_.state(model().layout());
    optimum_.bound = file_.outcome.bound;
    optimum_.termination = file_.outcome.termination;
    optimum_.message = file_.outcome.message;
    response_ = std::make_unique<LinearResponse>(model(), optimum_);
}

Optimum Restored::refitted(const Model& changed) const {
    FitOptions options;
    options.initial = optimum_.state;
    options.first_sweeps = 0;
    options.tolerance = std::min(file_.options.tolerance, 1e-8);
    Optimum result = fit(changed, options);
    if (!result.converged()) throw std::runtime_error(fmt::format("a refit did not converge: {}", result.message));
    return result;
}

std::unique_ptr<Restored> restore(const std::string& fit, const std::string& data, int threads) {
    FitFile file = read_fit(fit);
    if (!file.converged()) {
        throw std::runtime_error(fmt::format(
            "{}: the fit did not converge, so there is no response to ask: fit again, with more iterations or "
            "another seed",
            fit));
    }
    FittedData fitted = open_fitted(file, data);
    return restore(std::move(file), std::move(fitted), threads);
}

std::unique_ptr<Restored> restore(FitFile fit, FittedData data, int threads) {
    if (std::holds_alternative<MixtureRecord>(fit.model)) {
        return std::make_unique<RestoredMixture>(std::move(fit), std::move(data), threads);
    }
    return std::make_unique<RestoredRegression>(std::move(fit), std::move(data));
}

}  // namespace lrvb::cli
