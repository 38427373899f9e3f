#include "report/contents.hpp"

#include "base/encoding.hpp"
#include "report/asked_rows.hpp"
#include "report/labels.hpp"
#include "report/page.hpp"

#include <lrvb/query/sensitivity.hpp>
#include <lrvb/report/report.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <numeric>

namespace lrvb::report {

namespace {

constexpr double kLevel = 0.9;
constexpr std::size_t kMostTop = 20;

using detail::double_precision;
using detail::single_precision;

std::string file_name(const std::string& path) {
    return std::filesystem::path(path).filename().string();
}

Document data_of(const DataRecord& data) {
    Document json;
    json["name"] = file_name(data.name);
    json["rows"] = data.rows;
    json["dropped"] = data.dropped;
    json["weights"] = data.weights;
    json["total_weight"] = data.total_weight;
    return json;
}

Document outcome_of(const FitFile& fit) {
    Document json;
    json["converged"] = fit.converged();
    json["message"] = fit.outcome.message;
    json["bound"] = fit.outcome.bound;
    json["passes"] = fit.outcome.passes;
    json["seed"] = fit.options.seed;
    json["restarts"] = fit.options.restarts;
    json["tolerance"] = fit.options.tolerance;
    return json;
}

Document correction_of(const FitFile& fit) {
    if (!fit.correction) return {};
    Document json;
    json["method"] = fit.correction->method;
    json["draws"] = fit.correction->draws;
    json["ess"] = fit.correction->ess;
    json["how"] = fit.correction->how;
    return json;
}

// Numbers where they are numbers, for the page to count with.
Document index_of(const std::string& index) {
    const bool is_number = !index.empty() && index.size() < 10 &&
                           std::all_of(index.begin(), index.end(), [](char c) { return c >= '0' && c <= '9'; });
    return is_number ? Document(std::stol(index)) : Document(index);
}

Document variables_of(const Gathered& gathered) {
    const std::vector<Index>& chosen = gathered.selection.variables;
    const std::vector<Posterior::Row> rows = gathered.fit.posterior.summary(chosen, kLevel);
    Document list = Document::list();
    for (std::size_t v = 0; v < rows.size(); ++v) {
        const Posterior::Row& row = rows[v];
        const VariableMeaning& meaning = gathered.fit.posterior.variables[static_cast<std::size_t>(chosen[v])].meaning;
        Document json;
        json["name"] = row.name;
        json["group"] = meaning.group;
        Document indices = Document::list();
        for (const std::string& index : meaning.indices) indices.push_back(index_of(index));
        json["indices"] = std::move(indices);
        json["role"] = to_string(meaning.role);
        json["panel"] = meaning.panel.empty() ? meaning.group : meaning.panel;
        // The page places what has a heavy tail by its quantiles, and shows no moments of it.
        json["mean"] = row.centre();
        json["sd"] = row.width(kLevel);
        if (row.moments != TailMoments::mean_and_sd) json["has_mean"] = row.moments == TailMoments::mean;
        if (!gathered.robust.empty()) json["sd_robust"] = gathered.robust[v].sd_robust;
        json["mean_field_sd"] = row.mean_field_sd;
        if (gathered.fit.correction && gathered.fit.correction->response_sd.size() > chosen[v]) {
            json["response_mean"] = gathered.fit.correction->response_mean[chosen[v]];
            json["response_sd"] = gathered.fit.correction->response_sd[chosen[v]];
        }
        json["lower"] = row.lower;
        json["upper"] = row.upper;
        json["mean_field_lower"] = row.mean_field_lower;
        json["mean_field_upper"] = row.mean_field_upper;
        if (gathered.check) {
            const CheckedVariable& checked = gathered.check->variables[static_cast<std::size_t>(chosen[v])];
            if (!checked.verdict.empty()) {
                json["exact_mean"] = checked.shown_mean_exact();
                json["exact_sd"] = checked.shown_sd_exact();
                json["verdict"] = checked.verdict;
            }
        }
        list.push_back(std::move(json));
    }
    return list;
}

// The upper triangle, row by row: in double precision while there is room, since a line far from the origin is a small
// difference of large numbers.
std::string correlations_of(const Gathered& gathered) {
    constexpr Index kMostInDouble = 150;
    std::vector<Index> chosen;
    for (const Index v : gathered.selection.correlated) {
        chosen.push_back(gathered.selection.variables[static_cast<std::size_t>(v)]);
    }
    const Matrix covariance = gathered.fit.posterior.covariance_of(chosen, Method::linear_response);
    const Index size = covariance.rows();
    const Vector sds = covariance.diagonal().cwiseSqrt();
    Matrix triangle(1, size * (size + 1) / 2);
    Index next = 0;
    for (Index i = 0; i < size; ++i) {
        for (Index j = i; j < size; ++j) triangle(0, next++) = i == j ? 1.0 : covariance(i, j) / (sds[i] * sds[j]);
    }
    return size <= kMostInDouble ? double_precision(triangle) : single_precision(triangle);
}

std::string_view role_of(const PriorNumber& number) {
    switch (number.role) {
        case PriorNumber::Role::location:
            return "location";
        case PriorNumber::Role::off_diagonal:
            return "off_diagonal";
        case PriorNumber::Role::positive:
            break;
    }
    return "positive";
}

Document priors_of(const Gathered& gathered) {
    Document list = Document::list();
    for (const Index h : gathered.selection.priors) {
        const PriorRange range = prior_range(gathered.priors[static_cast<std::size_t>(h)]);
        Document json;
        json["name"] = range.prior.shown_name();
        json["group"] = range.prior.group;
        json["kind"] = role_of(range.prior);
        json["value"] = range.prior.value;
        json["least"] = range.least;
        json["most"] = range.most;
        json["low"] = range.low;
        json["high"] = range.high;
        json["trusted_low"] = range.trusted_low;
        json["trusted_high"] = range.trusted_high;
        list.push_back(std::move(json));
    }
    return list;
}

// d mean / d value, of the selected numbers of the prior.
Matrix sensitivities_of(const Gathered& gathered) {
    const Matrix all = gathered.fit.posterior.sensitivities_of(gathered.selection.variables);
    Matrix result(all.rows(), static_cast<Index>(gathered.selection.priors.size()));
    for (Index h = 0; h < result.cols(); ++h) {
        result.col(h) = all.col(gathered.selection.priors[static_cast<std::size_t>(h)]);
    }
    return result;
}

std::vector<Index> furthest(const AskedRows& rows) {
    std::vector<Index> order(static_cast<std::size_t>(rows.distances.size()));
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(),
                     [&](Index a, Index b) { return rows.distances[a] > rows.distances[b]; });
    order.resize(std::min(static_cast<std::size_t>(rows.most_influential), kMostTop));
    return order;
}

// The inverse of each variable's sd; nothing of what is held.
Vector inverse_sds(const Gathered& gathered) {
    const Vector sds = gathered.fit.posterior.sds(gathered.selection.variables);
    return (sds.array() > 0.0).select(sds.cwiseInverse(), 0.0);
}

// How far the values of each input reach: its unit, whatever the data's.
Vector reaches(const Matrix& values) {
    if (values.size() == 0) return {};
    Vector reach(values.cols());
    for (Index i = 0; i < values.cols(); ++i) {
        double smallest = std::numeric_limits<double>::infinity();
        double largest = -smallest;
        for (const double value : values.col(i)) {  // a row without that input has no number there
            if (std::isnan(value)) continue;
            smallest = std::min(smallest, value);
            largest = std::max(largest, value);
        }
        const double span = largest - smallest;
        reach[i] = span > 0.0 && std::isfinite(span) ? span : 1.0;
    }
    return reach;
}

// Derivatives go without units, in posterior sds for a step as long as the rows reach, so that single precision is
// enough for any data.
Document rows_of(const Gathered& gathered) {
    const std::optional<AskedRows>& rows = gathered.rows;
    if (!rows) return {};
    const Vector inverse = inverse_sds(gathered);
    const Vector reach = reaches(rows->values);
    Matrix leverage = rows->leverage;
    for (Index v = 0; v < inverse.size() && leverage.size() > 0; ++v) {
        for (Index i = 0; i < reach.size(); ++i) leverage.col(v * reach.size() + i) *= inverse[v] * reach[i];
    }
    Document json;
    json["inputs"] = rows->inputs;
    json["all"] = rows->all;
    json["row"] = rows->file_rows;
    if (!rows->labels.empty()) json["label"] = rows->labels;
    json["values"] = double_precision(rows->values);
    json["weights"] = rows->weights;
    if (rows->beside.size() > 0) json["columns"] = double_precision(rows->beside);
    json["reach"] = reach;
    json["leverage"] = leverage.size() > 0 ? Document(single_precision(leverage)) : Document();
    json["case"] = single_precision(rows->case_weights * inverse.asDiagonal());
    json["distance"] = rows->distances;
    json["most_influential"] = rows->most_influential;
    json["top"] = furthest(*rows);
    return json;
}

}  // namespace

void gather_fit(const FittedModel& fitted, Gathered& gathered) {
    std::vector<std::string> names;
    for (const Index v : gathered.selection.variables) {
        names.push_back(gathered.fit.posterior.variables[static_cast<std::size_t>(v)].name);
    }
    if (!names.empty()) gathered.robust = robust_sds(fitted, names);
    if (!is_quick_model_check(fitted)) return;
    try {
        ModelCheckOptions options;
        options.exact.threads = fitted.threads();
        gathered.model_check = check_model_fit(fitted, options);
    } catch (const std::runtime_error&) {  // a kind that draws no rows, or weights that are no whole numbers
    }
}

Document contents_of(const Gathered& gathered) {
    const FitFile& fit = gathered.fit;
    const bool has_response = fit.posterior.has_response();
    Document json;
    json["program"] = gathered.program;
    json["title"] = gathered.title.empty() ? fit.model->title(fit.data) : gathered.title;
    json["fit_file"] = file_name(gathered.fit_name);
    // As they were given, for commands that can be copied.
    json["paths"] =
        Document{{"fit", gathered.fit_name}, {"data", gathered.data_name.empty() ? fit.data.name : gathered.data_name}};
    json["label"] = gathered.label.empty() ? Document() : Document(gathered.label);
    json["kind"] = fit.model->kind();
    json["description"] = fit.model->description();
    json["prior"] = fit.model->prior_name();
    json["model"] = fit.model->page(fit);
    json["data"] = data_of(fit.data);
    json["outcome"] = outcome_of(fit);
    json["correction"] = correction_of(fit);
    json["warnings"] = fit.warnings;
    json["notes"] = fit.notes;
    json["other_optima"] = other_optima_document(fit.other_optima, fit.posterior, gathered.selection.variables);
    json["check"] = gathered.check ? gathered.check->document({}) : Document();
    json["model_check"] = gathered.model_check ? gathered.model_check->document() : Document();
    json["robust"] = gathered.robust.empty() ? Document() : Document{{"warnings", robust_warnings(gathered.robust)}};
    json["level"] = kLevel;
    json["response"] = has_response;
    json["variables"] = variables_of(gathered);
    json["variables_left_out"] = gathered.selection.variables_left_out;
    json["correlated"] = gathered.selection.correlated;
    if (has_response) json["correlations"] = correlations_of(gathered);
    json["priors"] = priors_of(gathered);
    json["priors_left_out"] = gathered.selection.priors_left_out;
    if (has_response) json["sensitivities"] = double_precision(sensitivities_of(gathered));
    json["picture"] = gathered.picture;
    // The rows that can be moved are points as well, and where they are all of them nobody needs their counts.
    if (gathered.rows && gathered.rows->all && json["picture"].is_object()) {
        for (const char* part : {"points", "binned"}) json["picture"][part] = Document();
    }
    json["rows"] = rows_of(gathered);
    return json;
}

}  // namespace lrvb::report

namespace lrvb {

std::string report_page(const FitFile& fit, const FittedModel* fitted, const ReportOptions& options) {
    report::Gathered gathered{fit, options.fit_name, options.data_name, options.title, options.program, {}, {}, {}, {},
                              {}};
    gathered.priors = prior_numbers(fit);
    gathered.selection = report::select(fit, gathered.priors);
    gathered.check = options.check ? options.check : fit.check;
    if (fitted != nullptr) {
        gathered.picture = fitted->picture();
        if (fit.posterior.has_response()) gathered.rows = report::asked_rows(*fitted, gathered.selection);
        if (gathered.rows && !options.labels && !fitted->row_name(0).empty()) {
            for (const Index row : gathered.rows->file_rows) {
                gathered.rows->labels.push_back(fitted->row_name(row - 1));
            }
            gathered.label = "node";
        }
        if (gathered.rows && options.labels) {
            gathered.rows->labels = report::labels_of(*options.labels, gathered.rows->file_rows);
            gathered.label = options.labels->columns.front().name;
        }
        if (gathered.rows) report::gather_fit(*fitted, gathered);
    }
    const Document contents = report::contents_of(gathered);
    return report::page(*contents.find("title")->text(), contents);
}

}  // namespace lrvb
