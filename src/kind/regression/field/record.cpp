#include "kind/regression/field/record.hpp"

#include "base/messages.hpp"
#include "formula/term/latent_term.hpp"
#include "kind/regression/field/fitted.hpp"
#include "kind/regression/field/groups.hpp"
#include "kind/regression/field/plain.hpp"
#include "kind/regression/record.hpp"
#include "sample/resampling.hpp"

#include <lrvb/sample/pareto.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <unordered_map>

namespace lrvb::detail {

namespace {

constexpr Index kMostNodes = 128;
constexpr Index kRowsAtOnce = 1024;
constexpr std::size_t kMostNamedLevels = 2000;

// Draws (columns) one after the other so that neighbours are near each other: halves by their widest number, and so on.
// Every so many of them are then spread as all are, which as many at random would not be.
void order_by_halves(const Matrix& draws, std::vector<Index>::iterator begin, std::vector<Index>::iterator end) {
    const Index count = end - begin;
    if (count < 3 || draws.rows() == 0) return;
    Index widest = 0;
    double largest = -1.0;
    for (Index d = 0; d < draws.rows(); ++d) {
        const auto [low, high] =
            std::minmax_element(begin, end, [&](Index a, Index b) { return draws(d, a) < draws(d, b); });
        const double width = draws(d, *high) - draws(d, *low);
        if (width <= largest) continue;
        largest = width;
        widest = d;
    }
    const auto middle = begin + count / 2;
    std::nth_element(begin, middle, end,
                     [&](Index a, Index b) { return std::pair(draws(widest, a), a) < std::pair(draws(widest, b), b); });
    order_by_halves(draws, begin, middle);
    order_by_halves(draws, middle, end);
}

Matrix matrix_of(const Fields& fields, const std::string& key, Index rows, Index columns) {
    return rows > 0 && columns > 0 ? fields.matrix(key, rows, columns) : Matrix(Matrix::Zero(rows, columns));
}

// Rows without numbers have no JSON.
Document matrix_document(const Matrix& matrix) {
    return matrix.size() > 0 ? Document(matrix) : Document::list();
}

/// The formula's columns that are coefficients, then those of its latent terms.
Matrix coefficient_columns(const FormulaDesign& design, const std::vector<Index>& kept) {
    const Matrix& columns = design.columns;
    auto width = static_cast<Index>(kept.size());
    if (width == columns.cols() && design.latent.empty()) return columns;
    for (const LatentColumns& term : design.latent) width += term.columns.cols();
    Matrix result(columns.rows(), width);
    for (std::size_t j = 0; j < kept.size(); ++j) result.col(static_cast<Index>(j)) = columns.col(kept[j]);
    auto next = static_cast<Index>(kept.size());
    for (const LatentColumns& term : design.latent) {
        result.middleCols(next, term.columns.cols()) = term.columns;
        next += term.columns.cols();
    }
    return result;
}

std::string coefficient_name(const std::string& term, Index k) {
    return fmt::format("{},{}", term, k + 1);
}

}  // namespace

std::shared_ptr<const Likelihood> likelihood_of_words(const std::string& family, const std::string& link) {
    const std::string name = family.empty() ? "gaussian" : family;
    const std::vector<std::string>& names = Likelihood::names();
    if (std::find(names.begin(), names.end(), name) == names.end()) {
        throw UsageError(
            fmt::format("--family {}: there is no such family: choose {}", printable(name), enumerated(names)));
    }
    const std::vector<std::string_view>& links = Likelihood::named(name)->links();
    if (link.empty() || std::find(links.begin(), links.end(), link) != links.end()) {
        return Likelihood::named(name, link);
    }
    throw UsageError(fmt::format("--link {}: the {} family has {}: leave it out, or choose another family",
                                 printable(link), Likelihood::named(name)->name(),
                                 enumerated({links.begin(), links.end()})));
}

FieldData field_data(FormulaDesign design, const std::vector<Index>& kept, std::shared_ptr<const Likelihood> likelihood,
                     Vector weights) {
    FieldData data;
    data.likelihood = std::move(likelihood);
    data.response = design.response;
    data.y = std::move(design.y);
    data.trials = std::move(design.trials);
    data.offset = std::move(design.offset);
    data.weights = std::move(weights);
    data.intercept = design.intercept;
    for (const Index column : kept) data.names.push_back(design.names[static_cast<std::size_t>(column)]);
    for (const LatentColumns& term : design.latent) {
        const auto first = static_cast<Index>(data.names.size());
        data.terms.push_back({term.name, first, term.columns.cols()});
        for (Index k = 0; k < term.columns.cols(); ++k) data.names.push_back(coefficient_name(term.name, k));
    }
    data.columns = coefficient_columns(design, kept);
    for (RandomTerm& term : design.random) {
        data.factors.push_back({std::move(term.name), std::move(term.levels), std::move(term.effects),
                                std::move(term.level), std::move(term.values), std::move(term.blocks), term.intercept});
    }
    return data;
}

void add_curves(const FormulaCoding& coding, FormulaShape& shape) {
    for (std::size_t t = 0; t < shape.terms.size(); ++t) {
        FormulaShape::Term& term = shape.terms[t];
        const LatentTerm& own = *coding.latent()[t].term;
        for (const double node : own.nodes()) term.places.push_back(fmt::format("{}", node));
        term.curve = own.rows(own.nodes());
    }
}

std::string checksum_of(const FieldData& data) {
    Checksum checksum;
    checksum.add(data.y);
    checksum.add(data.trials);
    checksum.add(data.offset);
    checksum.add(Matrix(data.columns.leftCols(data.slopes())));
    checksum.add(data.weights);
    for (const FieldFactor& factor : data.factors) {
        Vector levels(static_cast<Index>(factor.level.size()));
        for (std::size_t n = 0; n < factor.level.size(); ++n) levels[static_cast<Index>(n)] = factor.level[n];
        checksum.add(levels);
        checksum.add(factor.values);
    }
    return checksum.text();
}

std::shared_ptr<const FieldRecord> FieldRecord::read(const Fields& fields) {
    auto record = std::make_shared<FieldRecord>();
    record->coding = std::make_shared<FormulaCoding>(FormulaCoding::read(fields.fields("coding")));
    const FormulaCoding& coding = *record->coding;
    const Vector kept = fields.vector("columns");
    for (const double column : kept) {
        const bool fits = column >= 0.0 && column < static_cast<double>(coding.names().size()) &&
                          column == std::floor(column) &&
                          (record->kept.empty() || column > static_cast<double>(record->kept.back()));
        if (!fits) fields.refuse("model.columns", "are not those of the formula");
        record->kept.push_back(static_cast<Index>(column));
    }
    FormulaShape& shape = record->shape;
    const std::string family = fields.text("family");
    const std::string link = fields.text("link");
    try {
        shape.likelihood = likelihood_of_words(family, link);
    } catch (const UsageError&) {
        fields.refuse("model.family", "is none that is known, or has another link");
    }
    if (fields.has("response_levels")) {
        const std::vector<std::string> levels = fields.texts("response_levels");
        if (levels.size() != 2 || levels[0] == levels[1]) {
            fields.refuse("model.response_levels", "are not the two values of a bernoulli response");
        }
        record->response_levels = ResponseLevels{levels[0], levels[1]};
    }
    shape.intercept = coding.intercept();
    for (const Index column : record->kept) shape.slopes.push_back(coding.names()[static_cast<std::size_t>(column)]);
    for (const FormulaCoding::Latent& latent : coding.latent()) {
        const Index count = latent.term->size();
        shape.terms.push_back({latent.name, count});
        for (Index k = 0; k < count; ++k) shape.slopes.push_back(coefficient_name(latent.name, k));
    }
    add_curves(coding, shape);
    for (const FormulaCoding::Random& term : coding.random()) {
        shape.factors.push_back({term.name, term.effects, term.levels, term.blocks, term.intercept});
    }
    record->prior_origin = fields.text("prior_name");
    record->numbers = field_prior(fields.fields("prior"), shape);
    const auto slopes = static_cast<Index>(shape.slopes.size());
    const Fields moments = fields.fields("moments");
    record->moments.columns = matrix_of(moments, "columns", shape.plain(), shape.plain());
    if (!shape.terms.empty()) record->moments.terms = moments.vector("terms", static_cast<Index>(shape.terms.size()));
    record->moments.response = std::numeric_limits<double>::quiet_NaN();
    if (moments.has("response")) {
        record->moments.response = moments.number("response");
    } else if (moments.has("residual")) {  // of files before 1.10: log(1 + 1/mean) of Poisson rows
        record->moments.response = 1.0 / std::expm1(moments.number("residual"));
    }
    std::size_t f = 0;
    moments.each("effects", [&](const Fields& entry) {
        if (f >= shape.factors.size()) entry.refuse("model.moments.effects", "are more than the formula has");
        const auto effects = static_cast<Index>(shape.factors[f++].effects.size());
        record->moments.effects.push_back(entry.matrix("mean", effects, effects));
    });
    if (f != shape.factors.size()) fields.refuse("model.moments.effects", "are fewer than the formula has");
    const FieldVariables variables = record->variables();
    const Fields units = fields.fields("units");
    const Index fixed = slopes + (shape.intercept ? 1 : 0);
    record->fixed_units = matrix_of(units, "fixed", fixed, variables.first_psi());
    f = 0;
    units.each("effects", [&](const Fields& entry) {
        if (f >= shape.factors.size()) entry.refuse("model.units.effects", "are more than the formula has");
        const auto effects = static_cast<Index>(shape.factors[f++].effects.size());
        record->effect_units.push_back(entry.vector("unit", effects));
    });
    if (f != shape.factors.size()) fields.refuse("model.units.effects", "are fewer than the formula has");
    const Fields nodes = fields.fields("nodes");
    record->nodes.weights = nodes.vector("weights");
    record->nodes.psi = matrix_of(nodes, "psi", variables.psi_count(), record->nodes.weights.size());
    const Vector& weights = record->nodes.weights;
    if (weights.size() == 0 || !(weights.minCoeff() >= 0.0) || std::abs(weights.sum() - 1.0) > 1e-6) {
        fields.refuse("model.nodes.weights", "are no weights that add up to one");
    }
    if (nodes.has("draws")) {
        const auto count = static_cast<Index>(nodes.length("draws"));
        const auto coefficients = static_cast<Index>(variables.coefficients().size());
        record->some_draws.coefficients = nodes.matrix("draws", count, coefficients).transpose();
        if (count == 0 || !are_standardised(record->some_draws.coefficients)) {
            fields.refuse("model.nodes.draws", "are no draws in sds from their means");
        }
        record->some_draws.psi.resize(0, count);
        if (nodes.has("psi_draws")) {
            record->some_draws.psi = nodes.matrix("psi_draws", count, variables.psi_count()).transpose();
            if (!are_standardised(record->some_draws.psi)) {
                fields.refuse("model.nodes.psi_draws", "are no draws in sds from their means");
            }
        }
    }
    return record;
}

Document FieldRecord::document() const {
    Document json;
    json["formula"] = coding->formula().text();
    json["coding"] = coding->document();
    json["columns"] = kept;
    json["family"] = shape.likelihood->name();
    json["link"] = shape.likelihood->link().name;
    if (response_levels) {
        json["response_levels"] = std::vector<std::string>(response_levels->begin(), response_levels->end());
    }
    json["prior_name"] = prior_origin;
    json["prior"] = to_document(numbers);
    Document means = Document::list();
    for (const Matrix& mean : moments.effects) means.push_back(Document{{"mean", mean}});
    json["moments"] = Document{
        {"columns", matrix_document(moments.columns)}, {"effects", std::move(means)}, {"response", moments.response}};
    if (!shape.terms.empty()) json["moments"]["terms"] = moments.terms;
    Document effects = Document::list();
    for (const Vector& unit : effect_units) effects.push_back(Document{{"unit", unit}});
    json["units"] = Document{{"fixed", matrix_document(fixed_units)}, {"effects", std::move(effects)}};
    json["nodes"] = Document{{"weights", nodes.weights}, {"psi", matrix_document(nodes.psi)}};
    if (some_draws.coefficients.size() > 0) json["nodes"]["draws"] = Matrix(some_draws.coefficients.transpose());
    if (some_draws.psi.size() > 0) json["nodes"]["psi_draws"] = Matrix(some_draws.psi.transpose());
    return json;
}

std::string FieldRecord::headline() const {
    std::string text = coding->formula().text();
    const Likelihood& likelihood = *shape.likelihood;
    if (!likelihood.is_normal()) {
        text += fmt::format(", {}", likelihood.name());
        if (likelihood.links().size() > 1) text += fmt::format(" ({})", likelihood.link().name);
    }
    for (const FormulaShape::Factor& factor : shape.factors) {
        text += fmt::format(", {} of {}", factor.levels.size(), factor.name);
    }
    for (const FormulaShape::Term& term : shape.terms) {
        text += fmt::format(", {} nodes of {}", term.places.size(), term.name);
    }
    return text;
}

std::string FieldRecord::title(const DataRecord&) const {
    return fmt::format("Regression of {}", coding->response());
}

std::string FieldRecord::description() const {
    return fmt::format("A {}{}, {}", shape.factors.empty() ? "" : "hierarchical ", shape.likelihood->title(),
                       coding->formula().text());
}

std::vector<PriorNumber> FieldRecord::prior(const DataRecord&) const {
    return prior_numbers(numbers, shape);
}

std::vector<VariableMeaning> FieldRecord::meanings(const FitFile&) const {
    return variables().meanings();
}

SparseMatrix FieldRecord::statistics(const FitFile&) const {
    const FieldVariables own = variables();
    const Index psi = own.psi_count();
    const Index fixed = fixed_units.rows();
    std::vector<Eigen::Triplet<double>> entries;
    for (Index s = 0; s < own.first_psi(); ++s) {
        for (Index i = 0; i < fixed; ++i) {
            if (fixed_units(i, s) == 0.0) continue;
            entries.emplace_back(static_cast<int>(psi + i), static_cast<int>(s), fixed_units(i, s));
        }
    }
    for (Index at = 0; at < psi; ++at)
        entries.emplace_back(static_cast<int>(at), static_cast<int>(own.first_psi() + at), 1.0);
    Index position = 0;
    for (std::size_t f = 0; f < shape.factors.size(); ++f) {
        for (std::size_t level = 0; level < shape.factors[f].levels.size(); ++level) {
            for (const double unit : effect_units[f]) {
                entries.emplace_back(static_cast<int>(psi + fixed + position),
                                     static_cast<int>(own.first_effect() + position), unit);
                ++position;
            }
        }
    }
    SparseMatrix result(psi + fixed + position, static_cast<Index>(own.statistics().size()));
    result.setFromTriplets(entries.begin(), entries.end());
    return result;
}

void FieldRecord::require_agreement(const FitFile& fit, const Fields& file) const {
    const FieldVariables own = variables();
    const std::vector<std::string>& expected = own.statistics();
    const std::vector<std::string>& kept_names = fit.posterior.statistics;
    if (kept_names.size() < expected.size() || !std::equal(expected.begin(), expected.end(), kept_names.begin())) {
        file.refuse("posterior.statistics", "are not those of the formula");
    }
    const auto count = expected.size() - (shape.intercept ? 1 : 0);  // two of them are one coefficient
    if (fit.parameters.size() != count) file.refuse("parameters", "are not those of the formula");
}

Document FieldRecord::page(const FitFile& fit) const {
    Document json;
    json["formula"] = coding->formula().text();
    const Likelihood& likelihood = *shape.likelihood;
    json["likelihood"] = Document{{"title", likelihood.title()},
                                  {"link", likelihood.links().size() > 1 ? likelihood.link().name : ""},
                                  {"has_sigma", likelihood.has_sigma()},
                                  {"is_share", likelihood.has_trials()}};
    json["response"] = coding->response();
    Document factors = Document::list();
    const FieldVariables own = variables();
    for (std::size_t f = 0; f < shape.factors.size(); ++f) {
        const FormulaShape::Factor& factor = shape.factors[f];
        Document one{{"name", factor.name}, {"effects", own.effect_names(f)}, {"count", factor.levels.size()}};
        // Names for the rows; of very many the page has those that it draws.
        if (factor.levels.size() <= kMostNamedLevels) one["levels"] = factor.levels;
        factors.push_back(std::move(one));
    }
    json["factors"] = std::move(factors);
    const Index columns = std::min(shape.plain(), kMostShownColumns);
    json["columns"] = std::vector<std::string>(shape.slopes.begin(), shape.slopes.begin() + columns);
    json["groups"] = groups_document(shape, own, fit.posterior);
    if (const std::optional<std::vector<RegressionTerm>> terms = plain_terms(*this)) {
        json["intercept"] = shape.intercept;
        json["slopes"] = shape.slopes;
        json["terms"] = terms_document(*terms);
        json["centre"] =
            shape.intercept ? *numbers.centre : Vector(Vector::Zero(static_cast<Index>(shape.slopes.size())));
    }
    return json;
}

void FieldRecord::predict(const FitFile& fit, const Dataset& rows, const PredictOptions& options,
                          TableSink& sink) const {
    const DataFrame frame =
        rows.with_na(fit.data.na).frame(coding->reading(false, options.drop_missing ? Missing::drop : Missing::refuse));
    const FormulaDesign design = coding->new_rows(frame);
    const Matrix columns = coefficient_columns(design, kept);
    const FieldVariables own = variables();
    const FieldPredictor predictor(shape, own, nodes);
    const PredictorDraws predictor_draws(own, some_draws, fit.posterior);
    // Means and sds of a predictor do not depend on its shape.
    const bool needs_shape = options.level || (!options.link && !shape.likelihood->link().is_identity);
    std::vector<std::string> names{"mean", "mean_sd"};
    if (!options.link) names.emplace_back("sd");
    if (options.level) names.insert(names.end(), {"lower", "upper"});
    sink.header(names);
    const Vector& centre = *numbers.centre;
    const auto statistics = static_cast<Index>(fit.posterior.statistics.size());
    for (Index begin = 0; begin < frame.rows; begin += kRowsAtOnce) {
        const Index count = std::min(kRowsAtOnce, frame.rows - begin);
        std::vector<Eigen::Triplet<double>> entries;
        std::vector<FieldRow> block(static_cast<std::size_t>(count));
        for (Index i = 0; i < count; ++i) {
            const Index n = begin + i;
            FieldRow& row = block[static_cast<std::size_t>(i)];
            std::vector<std::pair<Index, double>> combination;
            const auto add = [&](Index statistic, double value) {
                if (value == 0.0) return;
                combination.emplace_back(statistic, value);
                entries.emplace_back(static_cast<int>(statistic), static_cast<int>(i), value);
                row.mean += value * fit.posterior.mean[statistic];
            };
            if (design.offset.size() > 0) row.mean = design.offset[n];
            if (shape.intercept) add(0, 1.0);
            for (Index j = 0; j < columns.cols(); ++j) {
                add(own.first_slope() + j, columns(n, j) - (shape.intercept ? centre[j] : 0.0));
            }
            Index first = own.first_effect();
            for (std::size_t f = 0; f < design.random.size(); ++f) {
                const RandomTerm& term = design.random[f];
                const auto effects = static_cast<Index>(shape.factors[f].effects.size());
                const int level = term.level[static_cast<std::size_t>(n)];
                const Vector z = term.values.row(n).transpose() - own.effect_centre(f);
                if (!options.without_groups && level >= 0) {
                    for (Index e = 0; e < effects; ++e) add(first + level * effects + e, z[e]);
                } else if (!options.without_groups) {
                    row.new_groups.emplace_back(static_cast<Index>(f), z);
                }
                first += effects * static_cast<Index>(shape.factors[f].levels.size());
            }
            for (std::size_t t = 0; t < design.latent.size(); ++t) {
                const double beyond = design.latent[t].beyond[n];
                if (beyond > 0.0) row.beyond.emplace_back(static_cast<Index>(t), beyond);
            }
            if (needs_shape) row.shape = predictor_draws.shape_of(combination);
        }
        SparseMatrix combinations(statistics, count);
        combinations.setFromTriplets(entries.begin(), entries.end());
        const Vector variances = fit.posterior.covariance->variances(combinations);
        for (Index i = 0; i < count; ++i) {
            FieldRow& row = block[static_cast<std::size_t>(i)];
            row.variance = std::max(0.0, variances[i]);
            if (!std::isfinite(row.variance)) {
                throw std::runtime_error(
                    fmt::format("{}: row {}: its numbers go beyond what can be squared: correct them, or take the "
                                "column in another unit",
                                frame.name, frame.file_row(begin + i)));
            }
            const FieldPrediction prediction = predictor.predict(row, options.link, options.level);
            std::vector<double> numbers_of_row{prediction.mean, prediction.mean_sd};
            if (!options.link) numbers_of_row.push_back(prediction.sd);
            if (options.level) numbers_of_row.insert(numbers_of_row.end(), {prediction.lower, prediction.upper});
            sink.row(frame.file_row(begin + i),
                     Eigen::Map<const Vector>(numbers_of_row.data(), static_cast<Index>(numbers_of_row.size())));
        }
    }
}

// ψ of some of the draws, each as often as it weighs, and side by side; and coefficients where they are few.
std::shared_ptr<const ModelRecord> FieldRecord::corrected(const CorrectionDraws& draws) const {
    const FieldVariables own = variables();
    std::unordered_map<std::string_view, Index> place;
    for (std::size_t v = 0; v < draws.posterior.variables.size(); ++v) {
        place.emplace(draws.posterior.variables[v].name, static_cast<Index>(v));
    }
    const Vector weights = weights_of(draws.log_weights);
    Matrix psi(own.psi_count(), weights.size());
    for (Index at = 0; at < own.psi_count(); ++at) {
        const Index row = place.at(own.statistics()[static_cast<std::size_t>(own.first_psi() + at)]);
        psi.row(at) = draws.values.row(row);
    }
    std::vector<Index> order(static_cast<std::size_t>(weights.size()));
    std::iota(order.begin(), order.end(), Index{0});
    order_by_halves(psi, order.begin(), order.end());
    const std::vector<Index> chosen = resampled(Vector(weights(order)), std::min(kMostNodes, weights.size()), 0.5);
    auto record = std::make_shared<FieldRecord>(*this);
    const auto count = static_cast<Index>(chosen.size());
    record->nodes.psi.resize(own.psi_count(), count);
    record->nodes.weights = Vector::Constant(count, 1.0 / static_cast<double>(count));
    for (Index s = 0; s < count; ++s) {
        record->nodes.psi.col(s) = psi.col(order[static_cast<std::size_t>(chosen[static_cast<std::size_t>(s)])]);
    }
    // What lies in the middle of its neighbours is less spread than all are: as far apart as these again.
    const Vector shares = weights / weights.sum();
    for (Index at = 0; at < own.psi_count(); ++at) {
        const double mean = psi.row(at).dot(shares);
        const double variance = (psi.row(at).array() - mean).square().matrix().dot(shares);
        const double centre = record->nodes.psi.row(at).mean();
        Vector about = record->nodes.psi.row(at).transpose().array() - centre;
        const double spread = about.squaredNorm() / static_cast<double>(count);
        if (spread > 0.0) about *= std::sqrt(variance / spread);
        record->nodes.psi.row(at) = (about.array() + mean).transpose();
    }
    record->some_draws = standardised_draws(draws, own);
    return record;
}

std::unique_ptr<FittedModel> FieldRecord::with_data(FitFile fit, const Dataset& data, int threads) const {
    return FittedField::restored(std::move(fit), data, threads);
}

}  // namespace lrvb::detail
