#include "kind/records.hpp"

#include <lrvb/posterior/quantiles.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <unordered_set>

namespace lrvb::detail {

namespace {

constexpr std::array kTerminations{Termination::converged,     Termination::iteration_limit, Termination::stalled,
                                   Termination::not_a_maximum, Termination::improper,        Termination::cancelled};

constexpr std::array<std::pair<Transform, std::string_view>, 5> kTransforms{{{Transform::identity, "identity"},
                                                                             {Transform::exponential, "exp"},
                                                                             {Transform::logistic, "logistic"},
                                                                             {Transform::log_logistic, "log_logistic"},
                                                                             {Transform::correlation, "tanh"}}};

// What a heavy tail leaves of a variable's moments.
constexpr std::string_view kMeanOnly = "mean";
constexpr std::string_view kNoMoments = "none";

// Between bounds of its own a variable is on a scale that has them.
constexpr std::string_view kBetween = "between";  // since 1.8

void write_transform(const Transform& transform, Document& unbounded) {
    const auto* known =
        std::find_if(kTransforms.begin(), kTransforms.end(), [&](const auto& pair) { return pair.first == transform; });
    if (known != kTransforms.end()) {
        unbounded["transform"] = known->second;
        return;
    }
    unbounded["transform"] = kBetween;
    if (transform.kind != Transform::Kind::negative) unbounded["lower"] = transform.origin;
    if (transform.kind == Transform::Kind::negative) unbounded["upper"] = transform.origin;
    if (transform.kind == Transform::Kind::logistic) unbounded["upper"] = transform.origin + transform.unit;
}

Transform read_transform(const Fields& unbounded) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    const std::string name = unbounded.text("transform");
    if (name == kBetween) {
        const double lower = unbounded.has("lower") ? unbounded.number("lower") : -infinity;
        const double upper = unbounded.has("upper") ? unbounded.number("upper") : infinity;
        if (!(lower < upper)) unbounded.refuse("a variable's transform", "has its bounds in the wrong order");
        const bool has_both = unbounded.has("lower") && unbounded.has("upper");
        if (has_both ? !std::isfinite(upper - lower) : upper - lower != infinity || lower == -upper) {
            unbounded.refuse("a variable's transform", "has no bounds, or bounds that are too far apart");
        }
        return Transform::between(lower, upper);
    }
    const auto* known =
        std::find_if(kTransforms.begin(), kTransforms.end(), [&](const auto& pair) { return pair.second == name; });
    if (known == kTransforms.end()) unbounded.refuse("a variable's transform", "is none that is known");
    return known->first;
}

// A gradient is two lists: positions of statistics, counted from 0, and derivatives.
Document gradient_document(const Gradient& gradient) {
    std::vector<Index> positions;
    Document::Numbers slopes;
    for (const auto& [at, slope] : gradient) {
        positions.push_back(at);
        slopes.push_back(slope);
    }
    Document json;
    json["statistic"] = positions;
    json["slope"] = std::move(slopes);
    return json;
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

Document to_document(const DataRecord& record) {
    Document json;
    json["name"] = record.name;
    if (!record.files.empty()) json["files"] = record.files;
    json["columns"] = record.columns;
    json["weights"] = record.weights;
    if (record.precision_weights) json["precision_weights"] = true;
    json["rows"] = record.rows;
    json["dropped"] = record.dropped;
    if (!record.na.empty()) json["na"] = record.na;
    json["total_weight"] = record.total_weight;
    json["checksum"] = record.checksum;
    return json;
}

DataRecord data_record(const Fields& fields) {
    DataRecord record;
    record.name = fields.text("name");
    if (fields.has("files")) record.files = fields.texts("files");  // since 1.7
    record.columns = fields.texts("columns");
    if (fields.has("weights")) record.weights = fields.text("weights");
    record.precision_weights = fields.has("precision_weights") && fields.flag("precision_weights");
    record.rows = fields.count("rows");
    record.dropped = fields.count("dropped");
    if (fields.has("na")) record.na = fields.texts("na");  // since 1.4
    record.total_weight = fields.number("total_weight");
    record.checksum = fields.text("checksum");
    return record;
}

Document to_document(const OptionsRecord& record) {
    Document json;
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

Document to_document(const OutcomeRecord& record) {
    Document json;
    json["converged"] = record.termination == Termination::converged;
    json["termination"] = to_string(record.termination);
    json["message"] = record.message;
    json["bound"] = record.bound;
    json["step"] = record.step;
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

Document to_document(const CheckResult& check) {
    Vector mean(static_cast<Index>(check.variables.size()));
    Vector sd(mean.size());
    Document verdicts = Document::list();
    for (std::size_t v = 0; v < check.variables.size(); ++v) {
        mean[static_cast<Index>(v)] = check.variables[v].mean_exact;
        sd[static_cast<Index>(v)] = check.variables[v].sd_exact;
        verdicts.push_back(check.variables[v].verdict);
    }
    Document json;
    json["method"] = to_string(check.method);
    json["draws"] = check.draws;
    json["seed"] = check.seed;
    json["k_hat"] = check.k_hat;
    json["r_hat"] = check.r_hat;
    json["ess"] = check.ess;
    json["verdict"] = to_string(check.verdict);
    json["trust"] = check.trust;
    json["message"] = check.message;
    json["mean"] = mean;
    json["sd"] = sd;
    json["verdicts"] = std::move(verdicts);
    return json;
}

CheckResult check_result(const Fields& fields, const Posterior& posterior) {
    const auto variables = static_cast<Index>(posterior.variables.size());
    constexpr double nothing = std::numeric_limits<double>::quiet_NaN();
    CheckResult check;
    const std::optional<CheckMethod> method = check_method(fields.text("method"));
    if (!method) fields.refuse("check.method", "is none that is known");
    check.method = *method;
    check.draws = fields.count("draws");
    check.seed = fields.whole("seed", std::numeric_limits<std::uint64_t>::max());
    const std::optional<CheckVerdict> verdict = check_verdict(fields.text("verdict"));
    if (!verdict) fields.refuse("check.verdict", "is none that is known");
    check.verdict = *verdict;
    if (check.method == CheckMethod::importance) {
        constexpr double infinity = std::numeric_limits<double>::infinity();
        const double none = check.verdict == CheckVerdict::unchecked ? infinity : -infinity;
        check.k_hat = fields.has("k_hat") ? fields.number("k_hat") : none;
    }
    if (fields.has("r_hat")) check.r_hat = fields.number("r_hat");
    check.ess = fields.number("ess");
    if (fields.has("trust")) check.trust = fields.text("trust");  // since 1.2
    check.message = fields.text("message");
    const Vector mean = fields.vector("mean", variables);
    const Vector sd = fields.vector("sd", variables);
    const std::vector<std::string> verdicts = fields.texts("verdicts");
    if (static_cast<Index>(verdicts.size()) != variables) {
        fields.refuse("check.verdicts", fmt::format("has {} entries, not {}", verdicts.size(), variables));
    }
    for (Index v = 0; v < variables; ++v) {
        const auto at = static_cast<std::size_t>(v);
        CheckedVariable variable{posterior.variables[at].name,
                                 posterior.variables[at].mean,
                                 nothing,
                                 mean[v],
                                 sd[v],
                                 nothing,
                                 nothing,
                                 nothing,
                                 nothing,
                                 verdicts[at]};
        check.variables.push_back(std::move(variable));
    }
    return check;
}

std::vector<OtherOptimum> other_optima(const Fields& file, const Posterior& posterior) {
    std::unordered_set<std::string_view> names;
    for (const PosteriorVariable& variable : posterior.variables) names.insert(variable.name);
    std::vector<OtherOptimum> others;
    double shares = 0.0;
    file.each("other_optima", [&](const Fields& fields) {
        OtherOptimum other;
        other.bound = fields.number("bound");
        other.share = fields.number("share");
        if (!(other.share >= 0.0 && other.share <= 1.0))
            fields.refuse("other_optima", "has a share that is not between 0 and 1");
        shares += other.share;
        fields.each("variables", [&](const Fields& entry) {
            OtherOptimum::Value value{entry.text("name"), entry.number("mean"), entry.number_or_infinity("sd")};
            if (!names.contains(value.name))
                entry.refuse("other_optima", "names a variable that the posterior does not have");
            if (value.sd < 0.0) entry.refuse("other_optima", "has an sd that is negative");
            other.variables.push_back(std::move(value));
        });
        others.push_back(std::move(other));
    });
    if (shares > 1.0 + 1e-9) file.refuse("other_optima", "has shares that add up to more than 1");
    return others;
}

Document to_document(const CorrectionRecord& record) {
    Document json;
    json["method"] = record.method;
    json["draws"] = record.draws;
    json["seed"] = record.seed;
    json["ess"] = record.ess;
    json["k_hat"] = record.k_hat;
    json["r_hat"] = record.r_hat;
    if (record.mean_error) json["mean_error"] = record.mean_error;
    if (record.sd_error) json["sd_error"] = record.sd_error;
    if (!record.how.empty()) json["how"] = record.how;
    if (record.response_mean.size() > 0) {
        json["response"] = Document{{"mean", record.response_mean}, {"sd", record.response_sd}};
    }
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
    if (fields.has("mean_error")) record.mean_error = fields.number("mean_error");  // since 1.7, as the next
    if (fields.has("sd_error")) record.sd_error = fields.number("sd_error");
    if (fields.has("how")) record.how = fields.text("how");  // since 1.6, as what follows
    if (fields.has("response")) {
        record.response_mean = fields.fields("response").vector("mean");
        record.response_sd = fields.fields("response").vector("sd", record.response_mean.size());
    }
    return record;
}

Document to_document(const ParameterRecord& record) {
    Document json;
    json["name"] = record.name;
    json["family"] = record.family;
    json["clamped"] = record.clamped;
    json["standard"] = record.standard;
    json["natural"] = record.natural;
    json["mean"] = record.mean;
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

namespace {

Document entries_of(const SparseMatrix& matrix) {
    std::vector<Index> rows;
    std::vector<Index> columns;
    Document::Numbers values;
    for (Index c = 0; c < matrix.outerSize(); ++c) {
        for (SparseMatrix::InnerIterator entry(matrix, c); entry; ++entry) {
            rows.push_back(entry.row());
            columns.push_back(c);
            values.push_back(entry.value());
        }
    }
    Document json;
    json["size"] = matrix.rows();
    json["row"] = rows;
    json["column"] = columns;
    json["value"] = std::move(values);
    return json;
}

// A covariance that is no matrix: what is kept instead is in `marginals` and `hessian`.
Document matrix_or_nothing(const std::shared_ptr<const Covariance>& covariance) {
    const Matrix* matrix = covariance ? covariance->matrix() : nullptr;
    return matrix != nullptr ? Document::lower_triangle(*matrix) : Document();
}

Vector quantile_probabilities() {
    return Eigen::Map<const Vector>(kQuantileProbabilities.data(), static_cast<Index>(kQuantileProbabilities.size()));
}

void require_probabilities(const Fields& posterior) {
    const Vector kept = posterior.vector("probabilities", static_cast<Index>(kQuantileProbabilities.size()));
    if (kept == quantile_probabilities()) return;
    posterior.refuse("posterior.probabilities", "are not those that quantiles are kept at");
}

}  // namespace

Document to_document(const SparseMatrix& lower) {
    return entries_of(lower);
}

SparseMatrix lower_triangle_record(const Fields& fields, Index size) {
    if (fields.count("size") != size) {
        fields.refuse("hessian.size", fmt::format("is not {}, the number of statistics of the parameters", size));
    }
    const Vector values = fields.vector("value");
    const Vector rows = fields.vector("row", values.size());
    const Vector columns = fields.vector("column", values.size());
    std::vector<Eigen::Triplet<double>> entries;
    const auto last = static_cast<double>(size);
    for (Index e = 0; e < values.size(); ++e) {
        const bool whole = rows[e] == std::floor(rows[e]) && columns[e] == std::floor(columns[e]);
        if (!whole || !(columns[e] >= 0.0 && columns[e] <= rows[e] && rows[e] < last)) {
            fields.refuse("hessian", "has an entry that is not in its lower triangle");
        }
        entries.emplace_back(static_cast<int>(rows[e]), static_cast<int>(columns[e]), values[e]);
    }
    SparseMatrix result(size, size);
    result.setFromTriplets(entries.begin(), entries.end());
    return result;
}

Document to_document(const Posterior& posterior) {
    Document json;
    json["statistics"] = posterior.statistics;
    json["mean"] = posterior.mean;
    json["covariance"] = matrix_or_nothing(posterior.covariance);
    json["covariance_mfvb"] = matrix_or_nothing(posterior.mean_field_covariance);
    json["hyperparameters"] = posterior.hyperparameters;
    json["sensitivities"] = posterior.has_response() ? Document(posterior.sensitivities) : Document();
    if (posterior.marginals) {
        const Posterior::Marginals& marginals = *posterior.marginals;
        Document kept;
        if (posterior.has_response()) {
            kept["sd"] = marginals.sd;
            kept["unbounded_sd"] = marginals.unbounded_sd;
        }
        kept["sd_mfvb"] = marginals.mean_field_sd;
        kept["unbounded_sd_mfvb"] = marginals.mean_field_unbounded_sd;
        json["marginals"] = std::move(kept);
    }
    const auto has_quantiles = [](const PosteriorVariable& variable) { return variable.quantiles.size() > 0; };
    if (std::any_of(posterior.variables.begin(), posterior.variables.end(), has_quantiles)) {
        json["probabilities"] = quantile_probabilities();
    }
    Document variables = Document::list();
    for (const PosteriorVariable& variable : posterior.variables) {
        Document entry;
        entry["name"] = variable.name;
        entry["mean"] = variable.mean;
        entry["gradient"] = gradient_document(variable.gradient);
        const PosteriorVariable::Unbounded& scale = variable.unbounded;
        const bool is_itself = scale.transform == Transform::identity && scale.centre == variable.mean &&
                               scale.gradient == variable.gradient;
        if (!is_itself) {
            Document unbounded;
            write_transform(variable.unbounded.transform, unbounded);
            unbounded["centre"] = variable.unbounded.centre;
            unbounded["gradient"] = gradient_document(variable.unbounded.gradient);
            entry["unbounded"] = std::move(unbounded);
        }
        if (has_quantiles(variable)) entry["quantiles"] = variable.quantiles;
        if (variable.moments != TailMoments::mean_and_sd) {
            entry["moments"] = variable.moments == TailMoments::mean ? kMeanOnly : kNoMoments;
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
    if (fields.has("covariance_mfvb")) {
        posterior.mean_field_covariance = std::make_shared<DenseCovariance>(fields.symmetric("covariance_mfvb", size));
    }
    posterior.hyperparameters = fields.texts("hyperparameters");
    if (fields.has("covariance")) {
        posterior.covariance = std::make_shared<DenseCovariance>(fields.symmetric("covariance", size));
    }
    // What has a response has sensitivities; a covariance that is no matrix stands elsewhere.
    if (fields.has("covariance") || fields.has("sensitivities")) {
        posterior.sensitivities =
            fields.matrix("sensitivities", size, static_cast<Index>(posterior.hyperparameters.size()));
    }
    if (fields.has("probabilities")) require_probabilities(fields);  // since 1.5
    fields.each("variables", [&](const Fields& entry) {
        PosteriorVariable variable;
        variable.name = entry.text("name");
        variable.mean = entry.number("mean");
        variable.gradient = gradient_record(entry.fields("gradient"), size);
        variable.unbounded = {Transform::identity, variable.mean, variable.gradient};
        if (entry.has("unbounded")) {
            const Fields unbounded = entry.fields("unbounded");
            variable.unbounded = {read_transform(unbounded), unbounded.number("centre"),
                                  gradient_record(unbounded.fields("gradient"), size)};
        }
        if (entry.has("quantiles")) {  // since 1.5
            if (!fields.has("probabilities")) fields.refuse("posterior.probabilities", "is missing");
            variable.quantiles = entry.vector("quantiles", static_cast<Index>(kQuantileProbabilities.size()));
        }
        if (entry.has("moments")) {
            const std::string moments = entry.text("moments");
            const bool has_mean = moments == kMeanOnly;
            if (!has_mean && moments != kNoMoments) entry.refuse("moments", "is neither 'mean' nor 'none'");
            variable.moments = has_mean ? TailMoments::mean : TailMoments::none;
        }
        variable.meaning.group = variable.name;
        posterior.variables.push_back(std::move(variable));
    });
    if (fields.has("marginals")) {  // since 1.2
        const auto count = static_cast<Index>(posterior.variables.size());
        const Fields kept = fields.fields("marginals");
        if (fields.has("covariance_mfvb")) fields.refuse("posterior.marginals", "stands beside the covariances");
        Posterior::Marginals marginals;
        if (kept.has("sd")) {
            marginals.sd = kept.vector("sd", count);
            marginals.unbounded_sd = kept.vector("unbounded_sd", count);
        }
        if (posterior.covariance && !kept.has("sd")) kept.refuse("posterior.marginals", "has no sds");
        marginals.mean_field_sd = kept.vector("sd_mfvb", count);
        marginals.mean_field_unbounded_sd = kept.vector("unbounded_sd_mfvb", count);
        for (const Vector* sds :
             {&marginals.sd, &marginals.unbounded_sd, &marginals.mean_field_sd, &marginals.mean_field_unbounded_sd}) {
            if (sds->size() > 0 && sds->minCoeff() < 0.0) {
                fields.refuse("posterior.marginals", "holds an sd that is negative");
            }
        }
        posterior.marginals = std::move(marginals);
    }
    return posterior;
}

}  // namespace lrvb::detail
