#include "report/contents.hpp"

#include "kind/mixture/means.hpp"
#include "report/encoding.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <numeric>

namespace lrvb::report {

namespace {

constexpr double kLevel = 0.9;
constexpr std::size_t kMostTop = 20;

// JSON has no infinity, and null is how it says so.
Json number(double value) {
    return std::isfinite(value) ? Json(value) : Json();
}

// Whole where it is, which is shorter: only weights make others.
Json count(double value) {
    const bool is_whole = value == std::floor(value) && value < 1e15;
    return is_whole ? Json(static_cast<std::int64_t>(value)) : number(value);
}

template <class Values>
Json numbers(const Values& values) {
    Json list = Json::array();
    for (const double value : values) list.push_back(number(value));
    return list;
}

Json matrix(const Matrix& values) {
    Json rows = Json::array();
    for (Index i = 0; i < values.rows(); ++i) rows.push_back(numbers(Vector(values.row(i))));
    return rows;
}

std::string file_name(const std::string& path) {
    return std::filesystem::path(path).filename().string();
}

std::string covariance_name(const MixtureRecord& mixture) {
    if (mixture.centre.size() == 1) return "univariate";
    return mixture.covariance == MixtureCovariance::full ? "full" : "diagonal";
}

Json parts_of(const FitFile& fit) {
    const detail::MixtureMeans means = detail::mixture_means(fit);
    Json json;
    json["pi"] = numbers(means.weights);
    json["mu"] = matrix(means.locations);
    json["sigma"] = Json::array();
    for (const Matrix& covariance : means.covariances) json["sigma"].push_back(matrix(covariance));
    return json;
}

Json model_of(const FitFile& fit) {
    Json json;
    if (const auto* mixture = std::get_if<MixtureRecord>(&fit.model)) {
        json["components"] = mixture->components;
        json["covariance"] = covariance_name(*mixture);
        json["columns"] = fit.data.columns;
        json["prior"] = mixture->prior_name;
        json["fixed"] = mixture->fixed;
        json["parts"] = parts_of(fit);
        return json;
    }
    const auto& regression = std::get<RegressionRecord>(fit.model);
    json["response"] = regression.response;
    json["intercept"] = regression.coefficients.intercept;
    json["slopes"] = design_names(regression.terms);
    json["centre"] = numbers(regression.coefficients.centre);
    json["prior"] = regression.prior_name;
    return json;
}

std::string title_of(const FitFile& fit) {
    if (const auto* regression = std::get_if<RegressionRecord>(&fit.model)) {
        return fmt::format("Regression of {}", regression->response);
    }
    constexpr std::size_t kMostNames = 5;
    const Index components = std::get<MixtureRecord>(fit.model).components;
    std::string title = fmt::format("Mixture of {} normal{}: ", components, components == 1 ? "" : "s");
    const std::size_t count = fit.data.columns.size();
    for (std::size_t c = 0; c < std::min(count, kMostNames); ++c) {
        title += fmt::format("{}{}", c == 0 ? "" : ", ", fit.data.columns[c]);
    }
    if (count > kMostNames) title += fmt::format(" and {} more", count - kMostNames);
    return title;
}

// For a page that knows nothing of the kind.
std::string description_of(const FitFile& fit) {
    if (const auto* regression = std::get_if<RegressionRecord>(&fit.model)) {
        return fmt::format("A linear regression of {}", regression->response);
    }
    const Index components = std::get<MixtureRecord>(fit.model).components;
    return components == 1 ? "A single normal" : fmt::format("A mixture of {} normals", components);
}

Json data_of(const DataRecord& data) {
    Json json;
    json["name"] = file_name(data.name);
    json["rows"] = data.rows;
    json["dropped"] = data.dropped;
    json["weights"] = data.weights ? Json(*data.weights) : Json();
    json["total_weight"] = number(data.total_weight);
    return json;
}

Json outcome_of(const FitFile& fit) {
    Json json;
    json["converged"] = fit.converged();
    json["message"] = fit.outcome.message;
    json["bound"] = number(fit.outcome.bound);
    json["passes"] = fit.outcome.passes;
    json["seed"] = fit.options.seed;
    json["restarts"] = fit.options.restarts;
    json["tolerance"] = fit.options.tolerance;
    return json;
}

Json correction_of(const FitFile& fit) {
    if (!fit.correction) return {};
    Json json;
    json["method"] = fit.correction->method;
    json["draws"] = fit.correction->draws;
    json["ess"] = number(fit.correction->ess);
    return json;
}

Json check_of(const std::optional<Comparison>& comparison) {
    if (!comparison) return {};
    Json json;
    json["verdict"] = comparison->verdict;
    json["message"] = comparison->message;
    json["method"] = comparison->method;
    json["k_hat"] = number(comparison->k_hat);
    json["r_hat"] = number(comparison->r_hat);
    json["ess"] = number(comparison->ess);
    json["draws"] = comparison->draws;
    json["seed"] = comparison->seed;
    return json;
}

std::string group_of(const std::string& name) {
    return name.substr(0, name.find('['));
}

// What a variable is: its group, its indices, a word for its role, and the title of those that share its unit. From its
// name, as long as the posterior does not say it.
Json meaning_of(const FitFile& fit, const std::string& name) {
    const std::string group = group_of(name);
    const bool is_indexed = group.size() < name.size();
    const std::string within = is_indexed ? name.substr(group.size() + 1, name.size() - group.size() - 2) : "";
    Json json;
    json["group"] = group;
    json["indices"] = Json::array();
    if (!std::holds_alternative<MixtureRecord>(fit.model)) {
        if (is_indexed) json["indices"].push_back(within);
        json["role"] = group == "sigma" ? "scale" : "coefficient";
        json["panel"] = name;
        return json;
    }
    std::vector<std::size_t> indices;
    for (std::size_t from = 0; from < within.size();) {
        const std::size_t to = std::min(within.find(',', from), within.size());
        indices.push_back(std::stoul(within.substr(from, to - from)));
        from = to + 1;
    }
    json["indices"] = indices;
    if (group == "pi") {
        json["role"] = "weight";
        json["panel"] = "pi, the weights";
        return json;
    }
    json["role"] = group == "mu"                ? "location"
                   : group == "sigma"           ? "scale"
                   : is_off_diagonal(fit, name) ? "off_diagonal"
                                                : "covariance";
    const std::size_t first = indices.size() > 1 ? indices[1] : 1;
    json["panel"] = fmt::format("{}, of {}", group, fit.data.columns[first - 1]);
    if (indices.size() > 2 && indices[2] != first) {
        json["panel"] =
            fmt::format("{}, of {} and {}", group, fit.data.columns[first - 1], fit.data.columns[indices[2] - 1]);
    }
    return json;
}

Json variables_of(const Gathered& gathered) {
    const std::vector<Index>& chosen = gathered.selection.variables;
    const std::vector<Posterior::Row> rows = gathered.fit.posterior.summary(chosen, kLevel);
    Json list = Json::array();
    for (std::size_t v = 0; v < rows.size(); ++v) {
        const Posterior::Row& row = rows[v];
        Json json = meaning_of(gathered.fit, row.name);
        json["name"] = row.name;
        json["mean"] = number(row.mean);
        json["sd"] = number(row.sd);
        json["mean_field_sd"] = number(row.mean_field_sd);
        json["lower"] = number(row.lower);
        json["upper"] = number(row.upper);
        json["mean_field_lower"] = number(row.mean_field_lower);
        json["mean_field_upper"] = number(row.mean_field_upper);
        if (gathered.comparison) {
            if (const auto& exact = gathered.comparison->variables[static_cast<std::size_t>(chosen[v])]) {
                json["exact_mean"] = number(exact->mean);
                json["exact_sd"] = number(exact->sd);
                json["verdict"] = exact->verdict;
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

Json priors_of(const Gathered& gathered) {
    Json list = Json::array();
    for (std::size_t h = 0; h < gathered.priors.size(); ++h) {
        const PriorRange& range = gathered.priors[h];
        Json json;
        const auto at = static_cast<std::size_t>(gathered.selection.priors[h]);
        const std::string& name = gathered.fit.posterior.hyperparameters[at];
        json["name"] = name;
        json["group"] = group_of(name);
        json["kind"] = range.kind;
        json["value"] = number(range.value);
        json["least"] = number(range.least);
        json["most"] = number(range.most);
        json["low"] = number(range.low);
        json["high"] = number(range.high);
        json["trusted_low"] = number(range.trusted_low);
        json["trusted_high"] = number(range.trusted_high);
        list.push_back(std::move(json));
    }
    return list;
}

// d mean / d value: what moves the statistics moves a variable along its gradient.
Matrix sensitivities_of(const Gathered& gathered) {
    const Posterior& posterior = gathered.fit.posterior;
    const Selection& selection = gathered.selection;
    Matrix result =
        Matrix::Zero(static_cast<Index>(selection.variables.size()), static_cast<Index>(selection.priors.size()));
    for (Index v = 0; v < result.rows(); ++v) {
        const Index at = selection.variables[static_cast<std::size_t>(v)];
        for (const auto& [statistic, slope] : posterior.variables[static_cast<std::size_t>(at)].gradient) {
            for (Index h = 0; h < result.cols(); ++h) {
                result(v, h) +=
                    slope * posterior.sensitivities(statistic, selection.priors[static_cast<std::size_t>(h)]);
            }
        }
    }
    return result;
}

Json histograms_of(const DataPicture& picture, const std::vector<std::string>& columns) {
    Json list = Json::array();
    for (std::size_t p = 0; p < picture.histograms.size(); ++p) {
        const Histogram& histogram = picture.histograms[p];
        Json json;
        json["name"] = columns[p];
        json["start"] = histogram.axis().start;
        json["step"] = histogram.axis().step;
        json["counts"] = Json::array();
        for (const double bin : histogram.counts()) json["counts"].push_back(count(bin));
        list.push_back(std::move(json));
    }
    return list;
}

Json cells_of(const PairBins& pair) {
    Json cells = Json::array();
    for (Index i = 0; i < pair.counts().rows(); ++i) {
        for (Index j = 0; j < pair.counts().cols(); ++j) {
            const double cell = pair.counts()(i, j);
            if (cell > 0.0) cells.push_back(Json::array({i, j, count(cell)}));
        }
    }
    return cells;
}

Json pairs_of(const DataPicture& picture) {
    if (picture.pairs.empty()) return {};
    Json json;
    json["columns"] = picture.pairs.back().q() + 1;
    json["bins"] = Json::array();
    for (const PairBins& pair : picture.pairs) {
        Json entry;
        entry["p"] = pair.p();
        entry["q"] = pair.q();
        entry["x_start"] = pair.x().start;
        entry["x_step"] = pair.x().step;
        entry["x_bins"] = pair.x().bins;
        entry["y_start"] = pair.y().start;
        entry["y_step"] = pair.y().step;
        entry["y_bins"] = pair.y().bins;
        entry["cells"] = cells_of(pair);
        json["bins"].push_back(std::move(entry));
    }
    return json;
}

Json picture_of(const Gathered& gathered) {
    if (!gathered.picture) return {};
    const DataPicture& picture = *gathered.picture;
    const bool has_points = picture.points.size() > 0 && !(gathered.rows && gathered.rows->all);
    Json json;
    json["histograms"] = histograms_of(picture, gathered.fit.data.columns);
    json["pairs"] = pairs_of(picture);
    json["points"] = has_points ? Json{{"values", single_precision(picture.points)}} : Json();
    return json;
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
    const std::vector<Posterior::Row> shown = gathered.fit.posterior.summary(gathered.selection.variables, kLevel);
    Vector inverse = Vector::Zero(static_cast<Index>(shown.size()));
    for (std::size_t v = 0; v < shown.size(); ++v) {
        if (shown[v].sd > 0.0) inverse[static_cast<Index>(v)] = 1.0 / shown[v].sd;
    }
    return inverse;
}

// How far the values of each input reach: its unit, whatever the data's.
Vector reaches(const Matrix& values) {
    Vector reach = values.colwise().maxCoeff() - values.colwise().minCoeff();
    for (double& one : reach) one = one > 0.0 && std::isfinite(one) ? one : 1.0;
    return reach;
}

// Derivatives go without units, in posterior sds for a step as long as the rows reach, so that single precision is
// enough for any data.
Json rows_of(const Gathered& gathered) {
    const std::optional<AskedRows>& rows = gathered.rows;
    if (!rows) return {};
    const Vector inverse = inverse_sds(gathered);
    const Vector reach = reaches(rows->values);
    Matrix leverage = rows->leverage;
    for (Index v = 0; v < inverse.size(); ++v) {
        for (Index i = 0; i < reach.size(); ++i) leverage.col(v * reach.size() + i) *= inverse[v] * reach[i];
    }
    Json json;
    json["inputs"] = rows->inputs;
    json["all"] = rows->all;
    json["row"] = rows->file_rows;
    json["values"] = double_precision(rows->values);
    json["weights"] = rows->weights ? numbers(*rows->weights) : Json();
    if (rows->columns.size() > 0) json["columns"] = double_precision(rows->columns);
    json["reach"] = numbers(reach);
    json["leverage"] = single_precision(leverage);
    json["case"] = single_precision(rows->case_weights * inverse.asDiagonal());
    json["distance"] = numbers(rows->distances);
    json["top"] = furthest(*rows);
    return json;
}

}  // namespace

Json contents_of(const Gathered& gathered) {
    const FitFile& fit = gathered.fit;
    const bool has_response = fit.posterior.has_response();
    Json json;
    json["program"] = LRVB_VERSION;
    json["title"] = gathered.title.empty() ? title_of(fit) : gathered.title;
    json["fit_file"] = file_name(gathered.fit_name);
    const auto* mixture = std::get_if<MixtureRecord>(&fit.model);
    json["kind"] = mixture ? "mixture" : "regression";
    json["description"] = description_of(fit);
    json["prior"] = mixture ? mixture->prior_name : std::get<RegressionRecord>(fit.model).prior_name;
    json["model"] = model_of(fit);
    json["data"] = data_of(fit.data);
    json["outcome"] = outcome_of(fit);
    json["correction"] = correction_of(fit);
    json["warnings"] = fit.warnings;
    json["check"] = check_of(gathered.comparison);
    json["level"] = kLevel;
    json["response"] = has_response;
    json["variables"] = variables_of(gathered);
    json["variables_left_out"] = gathered.selection.variables_left_out;
    json["correlated"] = gathered.selection.correlated;
    if (has_response) json["correlations"] = correlations_of(gathered);
    json["priors"] = priors_of(gathered);
    json["priors_left_out"] = gathered.selection.priors_left_out;
    if (has_response) json["sensitivities"] = double_precision(sensitivities_of(gathered));
    json["picture"] = picture_of(gathered);
    json["rows"] = rows_of(gathered);
    return json;
}

}  // namespace lrvb::report
