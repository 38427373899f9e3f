#include "kind/regression/record.hpp"

#include "base/messages.hpp"
#include "kind/regression/meanings.hpp"
#include "linalg/semidefinite.hpp"

#include <lrvb/kind/regression/predictive.hpp>
#include <lrvb/sample/importance.hpp>
#include <lrvb/sample/pareto.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <unordered_map>

namespace lrvb::detail {

namespace {

struct Place {
    PriorNumber number;
    double* kept = nullptr;
};

/// In the order of the model's hyperparameters.
std::vector<Place> places(RegressionPrior& prior, bool intercept, const std::vector<std::string>& slopes) {
    std::vector<Place> result;
    const auto add = [&](const std::string& name, const std::string& group, PriorNumber::Role role, double unit,
                         double& value) {
        Place& place = result.emplace_back();
        place.number = PriorNumber(name, group, value, role, unit);
        place.kept = &value;
    };
    const auto location = [&](const std::string& name, const std::string& group, double& value, double variance) {
        add(name, group, PriorNumber::Role::location, std::sqrt(variance), value);
    };
    const auto positive = [&](const std::string& name, const std::string& group, double& value) {
        add(name, group, PriorNumber::Role::positive, value, value);
    };
    if (intercept) {
        location("intercept_mean", "intercept_mean", prior.intercept_mean, prior.intercept_variance);
        positive("intercept_variance", "intercept_variance", prior.intercept_variance);
    }
    for (std::size_t j = 0; j < slopes.size(); ++j) {
        const auto at = static_cast<Index>(j);
        location(fmt::format("mean[{}]", slopes[j]), "mean", prior.mean[at], prior.variance[at]);
        positive(fmt::format("variance[{}]", slopes[j]), "variance", prior.variance[at]);
    }
    positive("shape", "shape", prior.shape);
    positive("rate", "rate", prior.rate);
    return result;
}

// The precision of the noise, as the posterior has it: by linear response, or from the draws of a correction.
NoisePrecision noise_of(const Posterior& posterior) {
    const Posterior::Row log_tau = posterior.summary(posterior.select({"log_tau"}), 0.9).front();
    return noise_precision(log_tau.mean, log_tau.sd);
}

}  // namespace

void set_prior_number(RegressionPrior& prior, const std::vector<std::string>& slopes, const std::string& name,
                      double value) {
    for (const Place& place : places(prior, true, slopes)) {
        if (place.number.name != name) continue;
        *place.kept = value;
        return;
    }
    throw std::invalid_argument(fmt::format("the regression has no prior parameter '{}'", name));
}

FrameOptions columns_of(const std::vector<RegressionTerm>& terms, bool drop_missing) {
    FrameOptions options;
    for (const RegressionTerm& term : terms) {
        options.columns.push_back(term.column);
        (term.is_factor() ? options.text : options.numbers).push_back(term.column);
    }
    options.missing = drop_missing ? Missing::drop : Missing::refuse;
    return options;
}

std::string checksum_of(const RegressionDesign& design) {
    Checksum checksum;
    checksum.add(design.y);
    checksum.add(design.columns);
    checksum.add(design.weights);
    return checksum.text();
}

std::shared_ptr<const RegressionRecord> RegressionRecord::read(const Fields& fields) {
    auto record = std::make_shared<RegressionRecord>();
    record->response = fields.text("response");
    fields.each("terms", [&](const Fields& entry) {
        record->terms.push_back({entry.text("column"), entry.texts("levels")});
    });
    const auto slopes = static_cast<Index>(design_names(record->terms).size());
    const Fields coefficients = fields.fields("coefficients");
    RegressionPosterior& kept = record->coefficients;
    kept.intercept = coefficients.flag("intercept");
    const Index size = slopes + (kept.intercept ? 1 : 0);
    kept.centre = coefficients.vector("centre", slopes);
    kept.mean = coefficients.vector("mean", size);
    if (coefficients.has("covariance")) kept.covariance = coefficients.symmetric("covariance", size);
    kept.noise_variance = coefficients.number("noise_variance");
    if (!is_covariance(kept.covariance)) {
        fields.refuse("model.coefficients.covariance", "is not positive semi-definite, as a covariance is");
    }
    if (!(kept.noise_variance > 0.0)) fields.refuse("model.coefficients.noise_variance", "is not positive");
    record->prior_origin = fields.text("prior_name");
    const Fields prior = fields.fields("prior");
    if (kept.intercept) {
        record->numbers.intercept_mean = prior.number("intercept_mean");
        record->numbers.intercept_variance = prior.number("intercept_variance");
    }
    record->numbers.mean = prior.vector("mean", slopes);
    record->numbers.variance = prior.vector("variance", slopes);
    record->numbers.shape = prior.number("shape");
    record->numbers.rate = prior.number("rate");
    const bool positive = record->numbers.shape > 0.0 && record->numbers.rate > 0.0 &&
                          (!kept.intercept || record->numbers.intercept_variance > 0.0) &&
                          (slopes == 0 || record->numbers.variance.minCoeff() > 0.0);
    if (!positive) fields.refuse("model.prior", "holds a variance, shape or rate that is not positive");
    return record;
}

RegressionPrior RegressionRecord::centred_prior() const {
    RegressionPrior prior = numbers;
    prior.centre = coefficients.centre;
    return prior;
}

Document RegressionRecord::document() const {
    Document json;
    json["response"] = response;
    json["terms"] = terms_document(terms);
    json["prior_name"] = prior_origin;
    Document prior;
    if (coefficients.intercept) {
        prior["intercept_mean"] = numbers.intercept_mean;
        prior["intercept_variance"] = numbers.intercept_variance;
    }
    prior["mean"] = numbers.mean;
    prior["variance"] = numbers.variance;
    prior["shape"] = numbers.shape;
    prior["rate"] = numbers.rate;
    json["prior"] = std::move(prior);
    Document kept;
    kept["intercept"] = coefficients.intercept;
    kept["centre"] = coefficients.centre;
    kept["mean"] = coefficients.mean;
    kept["covariance"] =
        coefficients.covariance.size() > 0 ? Document::lower_triangle(coefficients.covariance) : Document();
    kept["noise_variance"] = coefficients.noise_variance;
    json["coefficients"] = std::move(kept);
    return json;
}

std::string RegressionRecord::headline() const {
    return fmt::format("{} on {} column{}", response, terms.size(), terms.size() == 1 ? "" : "s");
}

std::string RegressionRecord::title(const DataRecord&) const {
    return fmt::format("Regression of {}", response);
}

std::string RegressionRecord::description() const {
    return fmt::format("A linear regression of {}", response);
}

std::vector<PriorNumber> RegressionRecord::prior(const DataRecord&) const {
    RegressionPrior copy = numbers;
    std::vector<PriorNumber> result;
    for (const Place& place : places(copy, coefficients.intercept, design_names(terms))) {
        result.push_back(place.number);
    }
    return result;
}

std::vector<VariableMeaning> RegressionRecord::meanings(const FitFile&) const {
    return regression_meanings(coefficients.intercept, design_names(terms));
}

void RegressionRecord::require_agreement(const FitFile& fit, const Fields& file) const {
    std::vector<std::string> columns;
    for (const RegressionTerm& term : terms) columns.push_back(term.column);
    if (fit.data.columns != columns) file.refuse("data.columns", "are not those of model.terms");
    std::vector<std::string> names;
    if (coefficients.intercept) names.emplace_back("intercept");
    for (const std::string& slope : design_names(terms)) names.push_back(fmt::format("beta[{}]", slope));
    names.emplace_back("tau");
    const bool is_ours = std::equal(fit.parameters.begin(), fit.parameters.end(), names.begin(), names.end(),
                                    [](const ParameterRecord& record, const std::string& name) {
                                        return record.name == name && record.natural.size() == 2;
                                    });
    if (!is_ours) file.refuse("parameters", "are not those of model.terms");
    if (fit.converged() && coefficients.covariance.size() == 0 && coefficients.mean.size() > 0) {
        file.refuse("model.coefficients.covariance", "is missing, though the fit converged");
    }
    std::unordered_map<std::string_view, double> means;
    for (const PosteriorVariable& variable : fit.posterior.variables) means.emplace(variable.name, variable.mean);
    const Index first = coefficients.intercept ? 1 : 0;
    const Vector moved = coefficients.centre.cwiseProduct(coefficients.mean.tail(coefficients.centre.size()));
    for (Index j = 0; j < coefficients.mean.size(); ++j) {
        const std::string& name = names[static_cast<std::size_t>(j)];
        const auto known = means.find(name);
        if (known == means.end()) file.refuse("posterior.variables", fmt::format("lacks {}", shown(name)));
        // The intercept is another one here, that at the centre of the columns.
        const double kept = coefficients.mean[j] - (j < first ? moved.sum() : 0.0);
        const double size = std::abs(coefficients.mean[j]) + (j < first ? moved.cwiseAbs().sum() : 0.0);
        if (std::abs(kept - known->second) <= 1e-6 * std::max(size, std::abs(known->second))) continue;
        file.refuse("model.coefficients.mean",
                    fmt::format("says that {} is {}, but the posterior {}", shown(name), kept, known->second));
    }
}

Document terms_document(const std::vector<RegressionTerm>& terms) {
    Document list = Document::list();
    for (const RegressionTerm& term : terms) {
        list.push_back(Document{{"column", term.column}, {"levels", term.levels}});
    }
    return list;
}

Document RegressionRecord::page(const FitFile&) const {
    Document json;
    json["response"] = response;
    json["intercept"] = coefficients.intercept;
    json["slopes"] = design_names(terms);
    json["terms"] = terms_document(terms);
    json["centre"] = coefficients.centre;
    return json;
}

// Row by row: the mean of the response, the sd of that mean, and that of a new response; where it is asked for, the
// interval of a new response.
void RegressionRecord::predict(const FitFile& fit, const Dataset& rows, const PredictOptions& options,
                               TableSink& sink) const {
    std::optional<PredictiveInterval> interval;
    if (options.level) interval.emplace(noise_of(fit.posterior), *options.level);
    const DataFrame frame = rows.with_na(fit.data.na).frame(columns_of(terms, options.drop_missing));
    const RegressionPrediction prediction = lrvb::predict(coefficients, design_matrix(frame, terms));
    std::vector<std::string> names{"mean", "mean_sd", "sd"};
    if (interval) names.insert(names.end(), {"lower", "upper"});
    sink.header(names);
    for (Index i = 0; i < frame.rows; ++i) {
        const double mean = prediction.mean[i];
        const double mean_sd = prediction.mean_sd[i];
        if (interval) {
            const double half = interval->half_width(mean_sd);
            sink.row(frame.file_row(i), Vector{{mean, mean_sd, prediction.sd[i], mean - half, mean + half}});
        } else {
            sink.row(frame.file_row(i), Vector{{mean, mean_sd, prediction.sd[i]}});
        }
    }
}

// The coefficients that predictions use: α = intercept + Σ β_j x̄_j, draw by draw, and E σ².
std::shared_ptr<const ModelRecord> RegressionRecord::corrected(const CorrectionDraws& draws) const {
    auto record = std::make_shared<RegressionRecord>(*this);
    RegressionPosterior& kept = record->coefficients;
    const Index count = kept.mean.size();
    Matrix values = draws.values.topRows(count);  // the intercept, if there is one, and the slopes stand first
    if (kept.intercept) values.row(0) += kept.centre.transpose() * values.bottomRows(count - 1);
    const NormalApproximation moments = weighted_moments(values, draws.log_weights);
    kept.mean = moments.mean;
    kept.covariance = 0.5 * (moments.covariance + moments.covariance.transpose());
    for (std::size_t i = 0; i < draws.posterior.variables.size(); ++i) {
        if (draws.posterior.variables[i].meaning.role != Role::scale) continue;
        const Vector squares = draws.values.row(static_cast<Index>(i)).array().square();
        kept.noise_variance = squares.dot(weights_of(draws.log_weights));
    }
    return record;
}

}  // namespace lrvb::detail
