#include "kind/mixture/record.hpp"

#include "base/messages.hpp"
#include "base/validate.hpp"
#include "kind/mixture/components.hpp"
#include "linalg/semidefinite.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <unordered_map>

namespace lrvb::detail {

namespace {

/// A number of a prior: what it is, and where it is kept (twice off the diagonal of a matrix).
struct Place {
    PriorNumber number;
    std::vector<double*> kept;
};

/// In the order of the model's hyperparameters (MixtureModel's declare_hyperparameters).
std::vector<Place> places(MixturePrior& prior, const MixtureStatistics& positions) {
    const Index columns = prior.mean.size();
    std::vector<Place> result;
    const auto add = [&](const std::string& group, std::initializer_list<Index> of, PriorNumber::Role role, double unit,
                         std::vector<double*> kept) {
        Place& place = result.emplace_back();
        place.number = PriorNumber(group, group, *kept.front(), role, unit);
        place.kept = std::move(kept);
        if (columns == 1 || of.size() == 0) return;
        std::vector<std::string> labels;
        for (const Index p : of) labels.push_back(positions.label(p));
        place.number.name = indexed(group, of);
        place.number.shown = fmt::format("{}[{}]", group, fmt::join(labels, ","));
    };
    const auto positive = [&](const std::string& group, std::initializer_list<Index> of, double& value,
                              double least = 0.0) {
        add(group, of, PriorNumber::Role::positive, value - least, {&value});
    };
    const auto matrix = [&](const std::string& group, Matrix& entries) {
        for (Index p = 0; p < columns; ++p) {
            positive(group, {p, p}, entries(p, p));
            for (Index q = p + 1; q < columns; ++q) {
                add(group, {p, q}, PriorNumber::Role::off_diagonal, std::sqrt(entries(p, p) * entries(q, q)),
                    {&entries(p, q), &entries(q, p)});
            }
        }
    };
    if (positions.has_weights()) positive("alpha", {}, prior.alpha);
    for (Index p = 0; p < columns; ++p) {
        add("mean", {p}, PriorNumber::Role::location, std::sqrt(prior.variance(p, p)), {&prior.mean[p]});
    }
    if (prior.inverse_scale.size() > 0) {
        matrix("variance", prior.variance);
        positive("dof", {}, prior.dof, static_cast<double>(columns) - 1.0);
        matrix("inverse_scale", prior.inverse_scale);
        return result;
    }
    for (Index p = 0; p < columns; ++p) positive("variance", {p}, prior.variance(p, p));
    positive("shape", {}, prior.shape);
    for (Index p = 0; p < columns; ++p) positive("rate", {p}, prior.rate[p]);
    return result;
}

Document prior_document(const MixturePrior& prior) {
    Document json;
    json["alpha"] = prior.alpha;
    json["mean"] = prior.mean;
    json["variance"] = Document::lower_triangle(prior.variance);
    if (prior.inverse_scale.size() > 0) {
        json["dof"] = prior.dof;
        json["inverse_scale"] = Document::lower_triangle(prior.inverse_scale);
    } else {
        json["shape"] = prior.shape;
        json["rate"] = prior.rate;
    }
    return json;
}

MixturePrior read_prior(const Fields& fields, Index columns, bool full) {
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
    const bool positive =
        prior.alpha > 0.0 && prior.variance.diagonal().minCoeff() > 0.0 &&
        (full ? prior.dof > static_cast<double>(columns) - 1.0 && prior.inverse_scale.diagonal().minCoeff() > 0.0
              : prior.shape > 0.0 && prior.rate.minCoeff() > 0.0);
    if (!positive) fields.refuse("model.prior", "holds a number that is too small");
    if (!is_covariance(prior.variance)) fields.refuse("model.prior.variance", "is not positive semi-definite");
    if (full && !is_covariance(prior.inverse_scale)) {
        fields.refuse("model.prior.inverse_scale", "is not positive semi-definite");
    }
    return prior;
}

// Columns that a fit knows by number, since the file had several of the same name, are not those of any other file.
// Those of a NumPy file have nothing but numbers, and are the first, the second, … of any.
void require_same_names(const DataRecord& fitted, const RowSource& rows) {
    if (fitted.name.ends_with(".npy") || rows.name().ends_with(".npy")) return;
    for (Index p = 0; p < rows.columns(); ++p) {
        const std::string& wanted = fitted.columns[static_cast<std::size_t>(p)];
        if (rows.column_name(p) == wanted) continue;
        throw std::runtime_error(
            fmt::format("{}: column {} is called {}, but the fit knows it by its number alone, since the data of the "
                        "fit had several columns of one name: give rows with the same columns",
                        rows.name(), wanted, shown(rows.column_name(p))));
    }
}

std::string components_text(Index components) {
    return fmt::format("{} component{}", components, components == 1 ? "" : "s");
}

}  // namespace

void set_prior_number(MixturePrior& prior, const MixtureStatistics& positions, const std::string& name, double value) {
    for (Place& place : places(prior, positions)) {
        if (place.number.name != name && place.number.shown_name() != name) continue;
        for (double* kept : place.kept) *kept = value;
        return;
    }
    throw std::invalid_argument(fmt::format("the mixture has no prior parameter '{}'", name));
}

std::shared_ptr<const MixtureRecord> MixtureRecord::read(const Fields& fields) {
    auto record = std::make_shared<MixtureRecord>();
    record->components = fields.count("components");
    if (record->components < 1) fields.refuse("model.components", "is 0");
    const std::string covariance = fields.text("covariance");
    if (covariance != "full" && covariance != "diagonal") {
        fields.refuse("model.covariance", "is neither full nor diagonal");
    }
    record->covariance = covariance == "full" ? MixtureCovariance::full : MixtureCovariance::diagonal;
    record->prior_origin = fields.text("prior_name");
    record->centre = fields.vector("centre");
    const Index columns = record->columns();
    if (columns < 1) fields.refuse("model.centre", "is empty");
    record->scale = fields.vector("scale", columns);
    if (!(record->scale.minCoeff() > 0.0)) fields.refuse("model.scale", "holds a number that is not positive");
    record->numbers = read_prior(fields.fields("prior"), columns, record->is_full());
    record->fixed = fields.texts("fixed");
    if (fields.has("draws")) {
        record->draws = MixtureDraws::read(fields, "draws", MixtureStatistics(record->shape(), {}));
    }
    return record;
}

Document MixtureRecord::document() const {
    Document json;
    json["components"] = components;
    json["covariance"] = covariance == MixtureCovariance::full ? "full" : "diagonal";
    json["prior_name"] = prior_origin;
    json["prior"] = prior_document(numbers);
    json["centre"] = centre;
    json["scale"] = scale;
    json["fixed"] = fixed;
    if (!draws.empty()) json["draws"] = draws.document();
    return json;
}

MixtureSpecification MixtureRecord::specification(bool weighted, int threads) const {
    MixtureSpecification result;
    result.components = components;
    result.covariance = covariance;
    result.prior = numbers;
    result.weighted = weighted;
    result.threads = threads;
    result.standardisation = {centre, scale};
    return result;
}

std::string MixtureRecord::headline() const {
    return components_text(components);
}

std::string MixtureRecord::title(const DataRecord& data) const {
    constexpr std::size_t kMostNames = 5;
    std::string title = fmt::format("Mixture of {} normal{}: ", components, components == 1 ? "" : "s");
    const std::size_t count = data.columns.size();
    for (std::size_t c = 0; c < std::min(count, kMostNames); ++c) {
        title += fmt::format("{}{}", c == 0 ? "" : ", ", data.columns[c]);
    }
    if (count > kMostNames) title += fmt::format(" and {} more", count - kMostNames);
    return title;
}

std::string MixtureRecord::description() const {
    return components == 1 ? "A single normal" : fmt::format("A mixture of {} normals", components);
}

std::vector<PriorNumber> MixtureRecord::prior(const DataRecord& data) const {
    MixturePrior copy = numbers;
    std::vector<PriorNumber> result;
    for (const Place& place : places(copy, positions(data))) result.push_back(place.number);
    return result;
}

std::vector<VariableMeaning> MixtureRecord::meanings(const FitFile& fit) const {
    return positions(fit).meanings();
}

SparseMatrix MixtureRecord::statistics(const FitFile& fit) const {
    const MixtureComponents parts(columns(), is_full(), components);
    RowFormat format;
    format.centre = centre;
    format.inverse_scale = scale.cwiseInverse();
    const Functionals functionals = parts.in_data_units(positions(fit).stacked(parts.layout()), format);
    return functionals.resolve(parts.layout()).weights;
}

void MixtureRecord::require_parameters(const Fields& file) const {
    // They name variables.
    const std::size_t named = file.fields("data").texts("columns").size();
    if (static_cast<Index>(named) != columns()) {
        file.refuse("data.columns", fmt::format("has {} entries, not {}", named, columns()));
    }
    const auto count = static_cast<Index>(file.length("parameters"));
    // The number of components is compared before anything is made of that size.
    const Index of_component = is_full() ? 2 : 2 * columns();
    const Index weights = components > 1 ? 1 : 0;
    if ((count - weights) % of_component == 0 && (count - weights) / of_component == components) return;
    file.refuse("parameters", fmt::format("are not those of {} components", components));
}

void MixtureRecord::require_agreement(const FitFile& fit, const Fields& file) const {
    const Layout layout = mixture_layout(shape());
    for (Index j = 0; j < layout.variable_count(); ++j) {
        const ParameterRecord& record = fit.parameters[static_cast<std::size_t>(j)];
        const std::string_view family = std::visit([](const auto& own) { return own.name; }, layout[j].family);
        if (record.name == layout[j].name && record.family == family && record.natural.size() == layout[j].size)
            continue;
        file.refuse("parameters", fmt::format("has {} in the place of {}", shown(record.name), shown(layout[j].name)));
    }
    const MixtureStatistics positions_of_fit = positions(fit);
    // A correction has means of its own.
    std::unordered_map<std::string_view, double> means;
    for (const PosteriorVariable& variable : fit.posterior.variables) means.emplace(variable.name, variable.mean);
    for (Index k = 0; k < components && !fit.correction; ++k) {
        for (Index p = 0; p < columns(); ++p) {
            const VariableMeaning location = positions_of_fit.of_column("mu", k, p);
            const std::string name = location.name();
            const auto known = means.find(name);
            if (known == means.end()) file.refuse("posterior.variables", fmt::format("lacks {}", shown(name)));
            const Index variable = layout.variable(is_full() ? indexed("mu", {k}) : location.numbered_name());
            const double inner = fit.parameters[static_cast<std::size_t>(variable)].mean[is_full() ? p : 0];
            const double expected = centre[p] + scale[p] * inner;
            if (std::abs(known->second - expected) <= 1e-6 * (std::abs(expected) + std::abs(centre[p]) + scale[p]))
                continue;
            file.refuse("posterior.variables",
                        fmt::format("says that {} is {}, but the parameters {}", shown(name), known->second, expected));
        }
    }
    for (const std::string& part : fixed) {
        if (part != "weights" && part != "means" && part != "precisions") {
            file.refuse("model.fixed", fmt::format("has {}, which is no part of a mixture", shown(part)));
        }
    }
}

Document MixtureRecord::page(const FitFile& fit) const {
    Document json;
    json["components"] = components;
    json["covariance"] = columns() == 1 ? "univariate" : covariance == MixtureCovariance::full ? "full" : "diagonal";
    json["columns"] = fit.data.columns;
    json["fixed"] = fixed;
    const MixtureMeans means = mixture_means(positions(fit), fit.posterior);
    Document parts;
    parts["pi"] = means.weights;
    parts["mu"] = means.locations;
    Document covariances = Document::list();
    for (const Matrix& one : means.covariances) covariances.push_back(Document(one));
    parts["sigma"] = std::move(covariances);
    json["parts"] = std::move(parts);
    return json;
}

void MixtureRecord::predict(const FitFile& fit, const Dataset& rows, const PredictOptions& options,
                            TableSink& sink) const {
    const State state = fit.state(mixture_layout(shape()));
    const NewRows new_rows = rows.with_na(fit.data.na).new_rows(fit.data.columns, options.drop_missing);
    require_same_names(fit.data, *new_rows.source);
    // One by one where rows are left out: then the number of those tells the file's row.
    predict(
        state, *new_rows.source, options.drop_missing, [&](Index row) { return row + 1 + new_rows.dropped(); }, sink,
        MixtureDraws::RowsAre::new_ones);
}

// Row by row: the most probable component, the probability of each, and the log density of the row.
void MixtureRecord::predict(const State& state, RowSource& rows, bool one_by_one,
                            const std::function<Index(Index)>& number, TableSink& sink,
                            MixtureDraws::RowsAre rows_are) const {
    constexpr Index kChunk = 1 << 12;  // rows
    const Index width = rows.columns();
    std::vector<std::string> header{"component"};
    for (Index k = 1; k <= components; ++k) header.push_back(fmt::format("p[{}]", k));
    header.emplace_back("log_density");
    sink.header(header);
    std::vector<double> buffer(static_cast<std::size_t>(kChunk * width));
    Index row = 0;
    rows.rewind();
    while (const Index count = rows.read(buffer.data(), one_by_one ? 1 : kChunk)) {
        const Matrix values = Eigen::Map<const Matrix>(buffer.data(), width, count).transpose().leftCols(columns());
        const MixtureModel::Prediction prediction =
            draws.empty() ? lrvb::predict(shape(), state, values) : draws.predict(values, rows_are);
        Vector numbers_of_row(components + 2);
        for (Index i = 0; i < count; ++i) {
            Index component = 0;
            prediction.responsibilities.row(i).maxCoeff(&component);
            numbers_of_row << static_cast<double>(component + 1), prediction.responsibilities.row(i).transpose(),
                prediction.log_density[i];
            sink.row(number(row++), numbers_of_row);
        }
    }
}

std::string MixtureRecord::prediction_note() const {
    if (!draws.empty()) return {};
    return "predictions are those of the fit before it was corrected, by a program that kept no draws: correct it "
           "again";
}

std::shared_ptr<const ModelRecord> MixtureRecord::corrected(const CorrectionDraws& exact) const {
    auto record = std::make_shared<MixtureRecord>(*this);
    record->draws = MixtureDraws::of(exact, MixtureStatistics(shape(), {}));
    return record;
}

}  // namespace lrvb::detail
