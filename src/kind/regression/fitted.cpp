#include "kind/regression/fitted.hpp"

#include "kind/regression/binned_rows.hpp"
#include "kind/regression/columns.hpp"

#include <lrvb/kind/regression/posterior.hpp>

#include <fmt/format.h>

#include <numeric>

namespace lrvb::detail {

namespace {

std::shared_ptr<const RegressionRecord> record_of(const FitFile& file) {
    return std::static_pointer_cast<const RegressionRecord>(file.model);
}

}  // namespace

RegressionPosterior coefficients_of(const RegressionModel& model, const Optimum& optimum) {
    const Functionals::Resolved all = model.coefficients().resolve(model.layout());
    RegressionPosterior result;
    result.intercept = model.has_intercept();
    result.centre = model.centre();
    result.mean = all.weights.transpose() * optimum.state.mean + all.constants;
    if (optimum.converged()) result.covariance = LinearResponse(model, optimum).covariance(model.coefficients());
    result.noise_variance = model.noise_variance(optimum.state);
    return result;
}

FittedRegression::FittedRegression(FitFile fit_file, std::shared_ptr<const RegressionDesign> design,
                                   std::shared_ptr<const RegressionModel> model, Optimum optimum,
                                   std::vector<Index> file_rows, int threads)
    : FittedModel(std::move(fit_file), std::move(file_rows), threads),
      record_(record_of(file())),
      design_(std::move(design)),
      model_(std::move(model)) {
    set_optimum(std::move(optimum));
    file().posterior = regression_posterior(*model_, this->optimum());
}

FittedRegression::FittedRegression(FitFile fit_file, std::shared_ptr<const RegressionDesign> design,
                                   std::vector<Index> file_rows, int threads)
    : FittedModel(std::move(fit_file), std::move(file_rows), threads),
      record_(record_of(file())),
      design_(std::move(design)),
      model_(std::make_shared<RegressionModel>(design_, record_->centred_prior())) {
    restore_optimum();
    if (!file().correction) return;
    // As it was before its correction, predictions included.
    auto uncorrected = std::make_shared<RegressionRecord>(*record_);
    uncorrected->coefficients = coefficients_of(*model_, optimum());
    record_ = uncorrected;
    file().model = record_;
    set_uncorrected(regression_posterior(*model_, optimum()));
}

Functionals FittedRegression::statistics() const {
    std::vector<std::string> names = posterior().statistics;
    names.resize(static_cast<std::size_t>(posterior().model_statistics()));
    return model_->in_data_units(names);
}

Posterior FittedRegression::refit(const RefitChange& change) const {
    RegressionPrior prior = record_->centred_prior();
    if (change.prior) set_prior_number(prior, design_->names, change.prior->first, change.prior->second);
    RegressionDesign design = *design_;
    // The order of the rows means nothing: the last takes the place of the one that goes, the last of these first.
    for (auto row = change.without_rows.rbegin(); row != change.without_rows.rend(); ++row) {
        const Index last = design.y.size() - 1;
        if (design.weights.size() > 0) {
            design.weights[*row] = design.weights[last];
            design.weights.conservativeResize(last);
        }
        design.y[*row] = design.y[last];
        design.columns.row(*row) = Vector(design.columns.row(last)).transpose();
        design.y.conservativeResize(last);
        design.columns.conservativeResize(last, Eigen::NoChange);
    }
    const RegressionModel changed(design, prior);
    // Its inner units are its own, so that the old optimum is no start; but a regression is solved in a few steps.
    return regression_posterior(changed, refitted(changed, false));
}

// Its rows are folded: a draw costs as much as there are coefficients.
double FittedRegression::work_of_a_draw() const {
    const auto size = static_cast<double>(record_->coefficients.mean.size());
    return size * size;
}

// The intercept at the centre is none of its variables: of a corrected fit there is the one at zero alone.
Centring FittedRegression::centring(const std::vector<Index>& variables) const {
    Centring result = FittedModel::centring(variables);
    if (is_corrected()) return result;
    const auto place = [&](Index position) -> Index {  // in the posterior, where coefficients stand first
        for (std::size_t v = 0; v < variables.size(); ++v) {
            if (variables[v] == position) return static_cast<Index>(v);
        }
        return -1;
    };
    if (!design_->intercept) return result;
    const Index intercept = place(0);
    for (Index j = 0; j < design_->columns.cols() && intercept >= 0; ++j) {
        const Index slope = place(1 + j);
        if (slope < 0) return FittedModel::centring(variables);  // not all of them: no change that keeps distances
        result.change.coeffRef(intercept, slope) = model_->centre()[j];
    }
    return result;
}

Document FittedRegression::picture() const {
    return binned_rows(*design_, record_->coefficients);
}

Matrix FittedRegression::beside(const std::vector<Index>& rows) const {
    Matrix result(static_cast<Index>(rows.size()), design_->columns.cols());
    for (std::size_t i = 0; i < rows.size(); ++i) result.row(static_cast<Index>(i)) = design_->columns.row(rows[i]);
    return result;
}

Vector FittedRegression::hat_values() const {
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

std::optional<FittedResponse> FittedRegression::fitted_response() const {
    const RegressionPrediction prediction = predict(record_->coefficients, design_->columns);
    const Vector weights = design_->weights.size() > 0 ? design_->weights : Vector::Ones(design_->y.size());
    std::vector<Index> rows(static_cast<std::size_t>(weights.size()));
    std::iota(rows.begin(), rows.end(), Index{0});
    return FittedResponse{design_->response, design_->y, prediction.mean, prediction.sd, hat_values(), weights, rows};
}

std::unique_ptr<FittedModel> RegressionRecord::with_data(FitFile fit, const Dataset& data, int threads) const {
    FrameOptions options = columns_of(terms, fit.data.dropped > 0);
    options.columns.push_back(response);
    if (fit.data.weights) options.columns.push_back(*fit.data.weights);
    options.numbers.push_back(response);
    if (fit.data.weights) options.numbers.push_back(*fit.data.weights);
    DataFrame frame = data.frame(options);
    Vector weights;
    if (fit.data.weights)
        weights = taken_weights(frame, static_cast<Index>(frame.columns.size()) - 1, WeightMeaning::count);
    leave_out_weightless(frame, weights);
    if (frame.columns.back().is_text()) {
        throw std::runtime_error(
            fmt::format("{}: the response '{}' holds text: give the data that was fitted", frame.name, response));
    }
    auto design = std::make_shared<RegressionDesign>();
    design->source = frame.name;
    design->response = response;
    design->terms = terms;
    design->intercept = coefficients.intercept;
    design->names = design_names(terms);
    design->columns = design_matrix(frame, terms);
    design->y = frame.columns.back().numbers;
    design->weights = std::move(weights);
    require_fitted_data(fit, frame.name, checksum_of(*design), frame.rows);
    return std::make_unique<FittedRegression>(std::move(fit), std::move(design), frame.file_rows, threads);
}

}  // namespace lrvb::detail
