#include "kind/regression/field/request.hpp"

#include "base/messages.hpp"
#include "kind/notes.hpp"
#include "kind/regression/columns.hpp"
#include "kind/regression/field/fitted.hpp"
#include "kind/regression/field/response.hpp"
#include "kind/regression/table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

namespace lrvb::detail {

namespace {

/// All that a fit is made of.
struct Request {
    std::shared_ptr<FieldRecord> record;
    std::shared_ptr<const FieldData> data;
    DataRecord known;
    std::vector<std::string> notes;
    std::vector<std::string> warnings;
    std::vector<Index> file_rows;
};

std::vector<PriorSentence> sentences_in(const Settings& settings) {
    std::vector<PriorSentence> sentences;
    for (const std::string& text : settings.texts("prior")) {
        if (text == "auto") continue;
        if (text == "paper") {
            throw UsageError(
                "--prior paper is that of a regression without a formula: write the prior as sentences, such as "
                "'beta ~ normal(0, 10)'");
        }
        sentences.push_back(PriorSentence::parse(text));
    }
    return sentences;
}

/// The rows that a formula is of, and the formula.
struct Source {
    Formula formula;
    FormulaOptions options;
    RegressionTable table;
};

// What --factor and --numeric name is a column of the formula.
void require_known(const FormulaOptions& options, const DataFrame& frame) {
    const std::vector<std::string> known = frame.column_names();
    const auto require = [&](const char* option, const std::vector<std::string>& names) {
        for (const std::string& name : names) {
            if (std::find(known.begin(), known.end(), name) != known.end()) continue;
            throw UsageError(
                fmt::format("{} {}: the formula has no such column, only {}: take one of these, or leave "
                            "the option out",
                            option, printable(name), shown(known)));
        }
    };
    require("--factor", options.factors);
    require("--numeric", options.numbers);
}

Source source_by_formula(const FitRequest& fit) {
    const Settings& settings = fit.settings;
    for (const char* key : {"response", "columns", "no-intercept"}) {
        if (!settings.has(key)) continue;
        throw UsageError(fmt::format("the formula says what --{} would: leave that out", key));
    }
    Source source;
    source.formula = Formula::parse(settings.text("FORMULA"));
    source.options.factors = settings.list("factor");
    source.options.numbers = settings.list("numeric");
    require_apart(source.options.factors, source.options.numbers);
    source.options.weights = settings.text("weights");
    source.options.missing = settings.flag("drop-missing") ? Missing::drop : Missing::refuse;
    const std::vector<std::string> columns = source.formula.columns();
    if (std::find(columns.begin(), columns.end(), source.options.weights) != columns.end()) {
        throw UsageError(fmt::format("--weights {}: the formula has that column too: choose another for one of them",
                                     printable(source.options.weights)));
    }
    RegressionTable& table = source.table;
    table.frame = source.formula.read(fit.data, source.options);
    require_known(source.options, table.frame);
    if (settings.has("weights")) {
        const Index place = table.frame.find(settings.text("weights"));
        table.weights_name = table.frame.columns[static_cast<std::size_t>(place)].name;
        table.weights = taken_weights(table.frame, place);
    }
    if (const std::optional<std::string> response = source.formula.response_column()) {
        table.response = table.frame.find(*response);
    } else {
        table.response = -1;
    }
    return source;
}

// --response and -c, which are short for a formula.
Source source_by_columns(const FitRequest& fit) {
    const Settings& settings = fit.settings;
    if (!settings.has("response")) {
        throw UsageError(
            "there is neither a formula nor a --response: say what is to be explained, as in 'y ~ x + (1 | g)'");
    }
    Source source;
    source.table = read_table(fit);
    const std::vector<std::string> names = source.table.frame.column_names();
    std::vector<std::string> columns = names;
    columns.erase(columns.begin() + source.table.response);
    source.formula = Formula::of_columns(names[static_cast<std::size_t>(source.table.response)], columns,
                                         !settings.flag("no-intercept"));
    source.options.factors = settings.list("factor");
    source.options.numbers = settings.list("numeric");
    return source;
}

// Columns that are zero in every row are left out; what others make up is refused.
std::vector<Index> kept_columns(const FormulaDesign& design, std::vector<std::string>& notes) {
    const IdleColumns idle = idle_columns(design.columns, design.intercept);
    const auto named = [&](Index column) {
        return fmt::format("beta[{}]", printable(design.names[static_cast<std::size_t>(column)]));
    };
    const auto is_of_cells = [&](Index column) {
        const std::string& name = design.names[static_cast<std::size_t>(column)];
        return name.find("=") != std::string::npos && name.find(":") != std::string::npos;
    };
    if (!idle.constant.empty()) {
        throw std::runtime_error(
            fmt::format("{}: the column of {} is the same in every row, which an intercept says already: leave it out",
                        design.source, named(idle.constant.front())));
    }
    if (!idle.collinear.empty()) {
        const bool many = design.columns.cols() >= design.columns.rows();
        throw std::runtime_error(fmt::format(
            "{}: {}: the column of {} is a combination of those before it{}, so that no data can tell their "
            "coefficients apart: leave it out{}",
            design.source,
            many ? fmt::format("there are {} coefficients for {} rows",
                               design.columns.cols() + (design.intercept ? 1 : 0), design.columns.rows())
                 : "columns depend on each other",
            named(idle.collinear.front()), design.intercept ? " and the intercept" : "",
            is_of_cells(idle.collinear.front()) ? "; a cell of factors may be empty, and a formula such as 0 + a:b has "
                                                  "a coefficient for each that is not"
                                                : ""));
    }
    std::vector<Index> kept;
    std::vector<std::string> empty;
    for (Index j = 0; j < design.columns.cols(); ++j) {
        if (std::find(idle.zero.begin(), idle.zero.end(), j) == idle.zero.end()) {
            kept.push_back(j);
        } else {
            empty.push_back(named(j));
        }
    }
    if (!empty.empty()) {
        notes.push_back(fmt::format("{}: zero in every row, as of an empty cell, and left out", enumerated(empty)));
    }
    return kept;
}

// Numbers whose squares a computer does not have.
void require_reach(const FormulaDesign& design, const std::vector<Index>& kept) {
    constexpr double largest = 1e150;
    const auto require = [&](const Vector& values, const std::string& name, const std::string& remedy) {
        const double spread = values.maxCoeff() - values.minCoeff();
        const double size = values.cwiseAbs().maxCoeff();
        if (size < largest && (spread == 0.0 || spread > 1.0 / largest)) return;
        throw std::runtime_error(
            fmt::format("{}: the numbers of {} go beyond what can be squared: take another unit, "
                        "as in {}",
                        design.source, shown(name), remedy));
    };
    require(design.y, design.response, "I(y / 1e100) ~ …");
    for (const Index j : kept) {
        require(design.columns.col(j), design.names[static_cast<std::size_t>(j)], "I(x / 1e100)");
    }
    for (const RandomTerm& term : design.random) {
        for (Index e = 0; e < term.values.cols(); ++e) {
            require(term.values.col(e), term.effects[static_cast<std::size_t>(e)], "I(x / 1e100)");
        }
    }
}

// Where no row differs there is no scale for the prior, and nothing to explain.
void require_differences(const FormulaDesign& design, FieldFamily family) {
    const bool is_normal = family == FieldFamily::gaussian || family == FieldFamily::student;
    if (!is_normal || design.y.maxCoeff() > design.y.minCoeff()) return;
    throw std::runtime_error(
        design.y.size() == 1
            ? fmt::format("{}: there is one row alone, too few for a regression: add rows", design.source)
            : fmt::format("{}: the response {} is {} in every row, so that there is nothing to explain: choose another",
                          design.source, shown(design.response), design.y[0]));
}

// A slope whose column does not vary within any group is told from the intercepts by the prior alone.
void add_factor_notes(const FieldData& data, std::vector<std::string>& warnings) {
    for (const FieldFactor& factor : data.factors) {
        if (factor.levels.size() == 1) {
            warnings.push_back(
                fmt::format("{} has one group alone, so that its sds are what their priors say: leave the "
                            "random term out",
                            printable(factor.name)));
            continue;
        }
        const bool each_alone = factor.levels.size() == factor.level.size();
        if (each_alone && data.family != FieldFamily::poisson && data.family != FieldFamily::binomial) {
            warnings.push_back(
                fmt::format("every row is a group of {} of its own, so that the data do not tell its "
                            "effects from the residuals: the priors do",
                            printable(factor.name)));
        }
        for (std::size_t e = 0; e < factor.effects.size(); ++e) {
            const auto column = static_cast<Index>(e);
            if (factor.effects[e] == "intercept") continue;
            std::vector<double> first(factor.levels.size(), std::nan(""));
            bool varies = false;
            for (std::size_t n = 0; n < factor.level.size() && !varies; ++n) {
                double& own = first[static_cast<std::size_t>(factor.level[n])];
                const double value = factor.values(static_cast<Index>(n), column);
                if (std::isnan(own)) own = value;
                varies = own != value;
            }
            if (varies || each_alone) continue;
            warnings.push_back(
                fmt::format("{} does not vary within any group of {}, so that the data hardly tell sd[{},{}] from the "
                            "other effects of {}: leave it out of the random term",
                            printable(factor.effects[e]), printable(factor.name), printable(factor.name),
                            printable(factor.effects[e]), printable(factor.name)));
        }
    }
}

// How columns were taken, where they are not written in a formula.
void add_notes(const Source& source, bool is_written, const Settings& settings, Request& request) {
    const RegressionTable& table = source.table;
    const FieldRecord& record = *request.record;
    RegressionDesign taken;  // what the notes know of a regression
    taken.response = record.coding->response();
    if (!is_written) {
        for (const std::string& column : record.coding->columns()) {
            RegressionTerm& term = taken.terms.emplace_back();
            term.column = column;
            for (const FormulaCoding::Factor& factor : record.coding->factors()) {
                if (factor.column == column) term.levels = factor.levels;
            }
        }
    }
    request.notes = index_notes(table.frame.leaves_out_row_names,
                                is_written ? std::vector<std::string>() : counting_columns(table.frame, taken),
                                settings.list("columns"));
    for (std::string& note : column_notes(table.frame, taken)) request.notes.push_back(std::move(note));
    if (record.response_levels) request.notes.push_back(response_note(taken.response, *record.response_levels));
    if (table.weightless > 0) request.notes.push_back(table.weightless_note());
}

Request request_of(const FitRequest& fit) {
    const Settings& settings = fit.settings;
    if (settings.has_any("prior-")) {
        throw UsageError("with a formula a prior is a sentence, such as --prior 'beta ~ normal(0, 10)', not --prior-…");
    }
    const FieldFamily family = family_of_word(settings.text("family"));
    const FieldLink link = link_of_word(family, settings.text("link"));
    const std::vector<PriorSentence> sentences = sentences_in(settings);
    const bool is_written = settings.has("FORMULA");
    Source source = is_written ? source_by_formula(fit) : source_by_columns(fit);
    RegressionTable& table = source.table;
    DataFrame& frame = table.frame;
    if (table.weights.size() > 0 && !(table.weights.maxCoeff() > 0.0)) {
        throw std::runtime_error(
            fmt::format("{}: column {}: every row has the weight 0, so that none is left: choose "
                        "another column",
                        frame.name, shown(*table.weights_name)));
    }
    require_clear_columns(frame, table.response,
                          is_written);  // with all rows: what stands there was not meant as groups
    table.weightless = leave_out_weightless(frame, table.weights);

    Request request;
    request.record = std::make_shared<FieldRecord>();
    FieldRecord& record = *request.record;
    if (table.response >= 0) {
        record.response_levels =
            response_levels(frame, table.response, settings.text("family"), settings.text("success"));
        if (record.response_levels) code_response(frame, table.response, *record.response_levels);
    } else if (settings.has("success")) {
        throw UsageError("--success is for a response that is a column: leave it out");
    }
    source.options.baselines = baselines_of(settings, frame);
    record.coding = std::make_shared<FormulaCoding>(source.formula, frame, source.options);
    FormulaDesign design = record.coding->design(frame);
    require_response(design, frame, settings.text("family"), family);
    add_notes(source, is_written, settings, request);
    require_differences(design, family);
    record.kept = kept_columns(design, request.notes);
    require_reach(design, record.kept);
    request.known.columns = record.coding->columns();
    request.data = std::make_shared<FieldData>(field_data(std::move(design), record.kept, family, link, table.weights));
    add_factor_notes(*request.data, request.warnings);
    add_response_warnings(*request.data, request.warnings);
    record.shape = shape_of(*request.data);
    record.numbers = with_sentences(FieldPrior::automatic(*request.data), record.shape, sentences);
    record.prior_origin = sentences.empty() ? "auto" : "explicit";
    record.moments = moments_of(*request.data);
    request.known.name = frame.name;
    request.known.rows = frame.rows;
    request.known.dropped = frame.dropped;
    request.known.weights = table.weights_name;
    request.known.total_weight = request.data->total_weight();
    request.known.na = fit.data.na();
    request.known.checksum = checksum_of(*request.data);
    request.file_rows = frame.file_rows;
    return request;
}

}  // namespace

bool is_by_formula(const Settings& settings) {
    for (const char* key : {"FORMULA", "family", "link", "success", "show-priors"}) {
        if (settings.has(key)) return true;
    }
    const std::vector<std::string> priors = settings.texts("prior");
    const auto is_sentence = [](const std::string& text) { return text != "auto" && text != "paper"; };
    if (std::any_of(priors.begin(), priors.end(), is_sentence)) return true;
    return std::find(priors.begin(), priors.end(), "paper") == priors.end() && !settings.has_any("prior-");
}

std::unique_ptr<FittedModel> fit_by_formula(const FitRequest& request) {
    Request own = request_of(request);
    if (request.on_rows) request.on_rows(own.known.rows);
    const auto model = std::make_shared<FieldModel>(own.data, own.record->numbers);
    own.record->numbers = model->prior();
    Optimum optimum = lrvb::fit(*model, request.options);
    FitFile file;
    file.model = own.record;
    file.data = std::move(own.known);
    file.notes = std::move(own.notes);
    file.warnings = std::move(own.warnings);
    file.options = {request.options.seed, 1, request.options.tolerance, request.options.max_iterations};
    file.outcome = record_outcome(optimum, 1);
    file.parameters = record_parameters(model->layout(), optimum.state);
    return std::make_unique<FittedField>(std::move(file), model, std::move(optimum), std::move(own.file_rows),
                                         request.threads);
}

std::vector<std::string> priors_by_formula(const FitRequest& request) {
    const Request own = request_of(request);
    return prior_sentences(own.record->numbers, own.record->shape);
}

}  // namespace lrvb::detail
