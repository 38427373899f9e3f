#include "kind/records.hpp"

#include <algorithm>
#include <array>

namespace lrvb::detail {

namespace {

constexpr std::array kTerminations{Termination::converged,     Termination::iteration_limit, Termination::stalled,
                                   Termination::not_a_maximum, Termination::improper,        Termination::cancelled};

constexpr std::array<std::pair<Transform, std::string_view>, 4> kTransforms{
    {{Transform::identity, "identity"},
     {Transform::exponential, "exp"},
     {Transform::logistic, "logistic"},
     {Transform::log_logistic, "log_logistic"}}};

Json prior_to_json(const MixturePrior& prior, bool full) {
    Json json;
    json["alpha"] = prior.alpha;
    json["mean"] = to_json(prior.mean);
    json["variance"] = lower_to_json(prior.variance);
    if (full) {
        json["dof"] = prior.dof;
        json["inverse_scale"] = lower_to_json(prior.inverse_scale);
    } else {
        json["shape"] = prior.shape;
        json["rate"] = to_json(prior.rate);
    }
    return json;
}

MixturePrior mixture_prior(const Fields& fields, Index columns, bool full) {
    MixturePrior prior;
    prior.alpha = fields.number("alpha");
    prior.mean = fields.vector("mean", columns);
    prior.variance = fields.symmetric("variance", columns);
    if (full) {
        prior.dof = fields.number("dof");
        prior.inverse_scale = fields.symmetric("inverse_scale", columns);
    } else {
        prior.shape = fields.number("shape");
        prior.rate = fields.vector("rate", columns);
    }
    return prior;
}

// A gradient is two lists: positions of statistics, counted from 0, and derivatives.
Json gradient_to_json(const Gradient& gradient) {
    Json positions = Json::array();
    Json slopes = Json::array();
    for (const auto& [at, slope] : gradient) {
        positions.push_back(at);
        slopes.push_back(slope);
    }
    return Json{{"statistic", positions}, {"slope", slopes}};
}

Gradient gradient_record(const Fields& fields, Index statistics) {
    const Vector positions = fields.vector("statistic");
    const Vector slopes = fields.vector("slope", positions.size());
    Gradient gradient;
    for (Index i = 0; i < positions.size(); ++i) {
        const bool known = positions[i] >= 0.0 && positions[i] < static_cast<double>(statistics);
        if (!known || positions[i] != std::floor(positions[i])) {
            fields.refuse("a gradient", fmt::format("names statistic {}, which is not there", positions[i]));
        }
        gradient.emplace_back(static_cast<Index>(positions[i]), slopes[i]);
    }
    return gradient;
}

}  // namespace

Json to_json(const MixtureRecord& record) {
    const bool full = record.prior.inverse_scale.size() > 0;
    Json json;
    json["type"] = "mixture";
    json["components"] = record.components;
    json["covariance"] = record.covariance == MixtureCovariance::full ? "full" : "diagonal";
    json["prior_name"] = record.prior_name;
    json["prior"] = prior_to_json(record.prior, full);
    json["centre"] = to_json(record.centre);
    json["scale"] = to_json(record.scale);
    json["fixed"] = record.fixed;
    return json;
}

MixtureRecord mixture_record(const Fields& fields) {
    MixtureRecord record;
    record.components = fields.count("components");
    if (record.components < 1) fields.refuse("model.components", "is 0");
    const std::string covariance = fields.text("covariance");
    if (covariance != "full" && covariance != "diagonal") {
        fields.refuse("model.covariance", "is neither full nor diagonal");
    }
    record.covariance = covariance == "full" ? MixtureCovariance::full : MixtureCovariance::diagonal;
    record.prior_name = fields.text("prior_name");
    record.centre = fields.vector("centre");
    const Index columns = record.centre.size();
    if (columns < 1) fields.refuse("model.centre", "is empty");
    record.scale = fields.vector("scale", columns);
    if (!(record.scale.minCoeff() > 0.0)) fields.refuse("model.scale", "holds a number that is not positive");
    record.prior = mixture_prior(fields.fields("prior"), columns, covariance == "full" && columns > 1);
    record.fixed = fields.texts("fixed");
    return record;
}

Json to_json(const RegressionRecord& record) {
    Json json;
    json["type"] = "regression";
    json["response"] = record.response;
    json["terms"] = Json::array();
    for (const RegressionTerm& term : record.terms) {
        json["terms"].push_back(Json{{"column", term.column}, {"levels", term.levels}});
    }
    json["prior_name"] = record.prior_name;
    Json& prior = json["prior"];
    if (record.coefficients.intercept) {
        prior["intercept_mean"] = record.prior.intercept_mean;
        prior["intercept_variance"] = record.prior.intercept_variance;
    }
    prior["mean"] = to_json(record.prior.mean);
    prior["variance"] = to_json(record.prior.variance);
    prior["shape"] = record.prior.shape;
    prior["rate"] = record.prior.rate;
    const RegressionPosterior& coefficients = record.coefficients;
    json["coefficients"] = {
        {"intercept", coefficients.intercept},
        {"centre", to_json(coefficients.centre)},
        {"mean", to_json(coefficients.mean)},
        {"covariance", coefficients.covariance.size() > 0 ? lower_to_json(coefficients.covariance) : Json()},
        {"noise_variance", coefficients.noise_variance}};
    return json;
}

RegressionRecord regression_record(const Fields& fields) {
    RegressionRecord record;
    record.response = fields.text("response");
    fields.each("terms", [&](const Fields& entry) {
        record.terms.push_back({entry.text("column"), entry.texts("levels")});
    });
    const Index slopes = static_cast<Index>(design_names(record.terms).size());
    const Fields coefficients = fields.fields("coefficients");
    record.coefficients.intercept = coefficients.flag("intercept");
    const Index size = slopes + (record.coefficients.intercept ? 1 : 0);
    record.coefficients.centre = coefficients.vector("centre", slopes);
    record.coefficients.mean = coefficients.vector("mean", size);
    if (coefficients.has("covariance")) record.coefficients.covariance = coefficients.symmetric("covariance", size);
    record.coefficients.noise_variance = coefficients.number("noise_variance");
    record.prior_name = fields.text("prior_name");
    const Fields prior = fields.fields("prior");
    if (record.coefficients.intercept) {
        record.prior.intercept_mean = prior.number("intercept_mean");
        record.prior.intercept_variance = prior.number("intercept_variance");
    }
    record.prior.mean = prior.vector("mean", slopes);
    record.prior.variance = prior.vector("variance", slopes);
    record.prior.shape = prior.number("shape");
    record.prior.rate = prior.number("rate");
    return record;
}

Json to_json(const DataRecord& record) {
    Json json;
    json["name"] = record.name;
    json["columns"] = record.columns;
    json["weights"] = record.weights ? Json(*record.weights) : Json();
    json["rows"] = record.rows;
    json["dropped"] = record.dropped;
    json["total_weight"] = record.total_weight;
    json["checksum"] = record.checksum;
    return json;
}

DataRecord data_record(const Fields& fields) {
    DataRecord record;
    record.name = fields.text("name");
    record.columns = fields.texts("columns");
    if (fields.has("weights")) record.weights = fields.text("weights");
    record.rows = fields.count("rows");
    record.dropped = fields.count("dropped");
    record.total_weight = fields.number("total_weight");
    record.checksum = fields.text("checksum");
    return record;
}

Json to_json(const OptionsRecord& record) {
    Json json;
    json["seed"] = record.seed;
    json["restarts"] = record.restarts;
    json["tolerance"] = record.tolerance;
    json["max_iterations"] = record.max_iterations;
    return json;
}

OptionsRecord options_record(const Fields& fields) {
    OptionsRecord record;
    record.seed = fields.whole("seed", std::numeric_limits<std::uint64_t>::max());
    record.restarts = fields.small("restarts");
    record.tolerance = fields.number("tolerance");
    record.max_iterations = fields.small("max_iterations");
    return record;
}

Json to_json(const OutcomeRecord& record) {
    Json json;
    json["converged"] = record.termination == Termination::converged;
    json["termination"] = to_string(record.termination);
    json["message"] = record.message;
    json["bound"] = record.bound;
    json["step"] = std::isfinite(record.step) ? Json(record.step) : Json();
    json["passes"] = record.passes;
    json["sweeps"] = record.sweeps;
    json["newton_steps"] = record.newton_steps;
    return json;
}

OutcomeRecord outcome_record(const Fields& fields) {
    OutcomeRecord record;
    const std::string termination = fields.text("termination");
    const auto* found = std::find_if(kTerminations.begin(), kTerminations.end(),
                                     [&](Termination known) { return to_string(known) == termination; });
    if (found == kTerminations.end()) fields.refuse("outcome.termination", "is none that is known");
    record.termination = *found;
    record.message = fields.text("message");
    record.bound = fields.number_or_infinity("bound");
    record.step = fields.number_or_infinity("step");
    record.passes = fields.count("passes");
    record.sweeps = fields.small("sweeps");
    record.newton_steps = fields.small("newton_steps");
    return record;
}

Json to_json(const CheckRecord& record) {
    Json json;
    json["method"] = "importance";
    json["draws"] = record.draws;
    json["seed"] = record.seed;
    json["k_hat"] = std::isfinite(record.k_hat) ? Json(record.k_hat) : Json();
    json["ess"] = record.ess;
    json["verdict"] = record.verdict;
    json["message"] = record.message;
    json["mean"] = to_json(record.mean);
    json["sd"] = to_json(record.sd);
    json["verdicts"] = record.verdicts;
    return json;
}

CheckRecord check_record(const Fields& fields, Index variables) {
    CheckRecord record;
    record.draws = fields.count("draws");
    record.seed = fields.whole("seed", std::numeric_limits<std::uint64_t>::max());
    record.verdict = fields.text("verdict");
    constexpr double infinity = std::numeric_limits<double>::infinity();
    const double none = record.verdict == "unchecked" ? infinity : -infinity;
    record.k_hat = fields.has("k_hat") ? fields.number("k_hat") : none;
    record.ess = fields.number("ess");
    record.message = fields.text("message");
    record.mean = fields.vector("mean", variables);
    record.sd = fields.vector("sd", variables);
    record.verdicts = fields.texts("verdicts");
    if (static_cast<Index>(record.verdicts.size()) != variables) {
        fields.refuse("check.verdicts", fmt::format("has {} entries, not {}", record.verdicts.size(), variables));
    }
    return record;
}

Json to_json(const CorrectionRecord& record) {
    Json json;
    json["method"] = record.method;
    json["draws"] = record.draws;
    json["seed"] = record.seed;
    json["ess"] = record.ess;
    json["k_hat"] = record.k_hat ? Json(*record.k_hat) : Json();
    json["r_hat"] = record.r_hat ? Json(*record.r_hat) : Json();
    return json;
}

CorrectionRecord correction_record(const Fields& fields) {
    CorrectionRecord record;
    record.method = fields.text("method");
    record.draws = fields.count("draws");
    record.seed = fields.whole("seed", std::numeric_limits<std::uint64_t>::max());
    record.ess = fields.number("ess");
    if (fields.has("k_hat")) record.k_hat = fields.number("k_hat");
    if (fields.has("r_hat")) record.r_hat = fields.number("r_hat");
    return record;
}

Json to_json(const ParameterRecord& record) {
    Json json;
    json["name"] = record.name;
    json["family"] = record.family;
    json["clamped"] = record.clamped;
    json["standard"] = to_json(record.standard);
    json["natural"] = to_json(record.natural);
    json["mean"] = to_json(record.mean);
    return json;
}

ParameterRecord parameter_record(const Fields& fields) {
    ParameterRecord record;
    record.name = fields.text("name");
    record.family = fields.text("family");
    record.clamped = fields.flag("clamped");
    record.standard = fields.vector("standard");
    record.natural = fields.vector("natural");
    record.mean = fields.vector("mean", record.natural.size());
    return record;
}

Json to_json(const Posterior& posterior) {
    Json json;
    json["statistics"] = posterior.statistics;
    json["mean"] = to_json(posterior.mean);
    json["covariance"] = posterior.has_response() ? lower_to_json(posterior.covariance) : Json();
    json["covariance_mfvb"] = lower_to_json(posterior.mean_field_covariance);
    json["hyperparameters"] = posterior.hyperparameters;
    json["sensitivities"] = posterior.has_response() ? to_json(posterior.sensitivities) : Json();
    Json variables = Json::array();
    for (const PosteriorVariable& variable : posterior.variables) {
        Json entry;
        entry["name"] = variable.name;
        entry["mean"] = variable.mean;
        entry["gradient"] = gradient_to_json(variable.gradient);
        if (variable.unbounded.transform != Transform::identity) {
            const auto* known = std::find_if(kTransforms.begin(), kTransforms.end(), [&](const auto& pair) {
                return pair.first == variable.unbounded.transform;
            });
            entry["unbounded"] = {{"transform", known->second},
                                  {"centre", variable.unbounded.centre},
                                  {"gradient", gradient_to_json(variable.unbounded.gradient)}};
        }
        variables.push_back(std::move(entry));
    }
    json["variables"] = std::move(variables);
    return json;
}

Posterior posterior_record(const Fields& fields) {
    Posterior posterior;
    posterior.statistics = fields.texts("statistics");
    const Index size = static_cast<Index>(posterior.statistics.size());
    posterior.mean = fields.vector("mean", size);
    posterior.mean_field_covariance = fields.symmetric("covariance_mfvb", size);
    posterior.hyperparameters = fields.texts("hyperparameters");
    if (fields.has("covariance")) {
        posterior.covariance = fields.symmetric("covariance", size);
        posterior.sensitivities =
            fields.matrix("sensitivities", size, static_cast<Index>(posterior.hyperparameters.size()));
    }
    fields.each("variables", [&](const Fields& entry) {
        PosteriorVariable variable;
        variable.name = entry.text("name");
        variable.mean = entry.number("mean");
        variable.gradient = gradient_record(entry.fields("gradient"), size);
        variable.unbounded = {Transform::identity, variable.mean, variable.gradient};
        if (entry.has("unbounded")) {
            const Fields unbounded = entry.fields("unbounded");
            const std::string transform = unbounded.text("transform");
            const auto* known = std::find_if(kTransforms.begin(), kTransforms.end(),
                                             [&](const auto& pair) { return pair.second == transform; });
            if (known == kTransforms.end()) entry.refuse("a variable's transform", "is none that is known");
            variable.unbounded = {known->first, unbounded.number("centre"),
                                  gradient_record(unbounded.fields("gradient"), size)};
        }
        posterior.variables.push_back(std::move(variable));
    });
    return posterior;
}

}  // namespace lrvb::detail
