#include "kind/regression/field/request.hpp"

#include "base/messages.hpp"
#include "formula/column_uses.hpp"
#include "kind/notes.hpp"
#include "kind/regression/columns.hpp"
#include "kind/regression/field/fitted.hpp"
#include "kind/regression/field/response.hpp"
#include "kind/regression/field/table.hpp"
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
    std::shared_ptr<const FieldRows> rows;
    double response_sd = 0.0;
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
    FieldTable table;
    Index response = -1;  // where that is a column
    std::optional<std::string> weights = {};
    WeightMeaning meaning = WeightMeaning::count;
    Index weightless = 0;  // rows that have none, and are not there

    void take_weights(Index place) {
        weights = table.frame().columns[static_cast<std::size_t>(place)].name;
        table.take_weights(place, meaning);
    }
};

WeightMeaning meaning_of_weights(const Settings& settings, const Likelihood& likelihood) {
    if (!settings.has("precision-weights")) return WeightMeaning::count;
    if (likelihood.has_sigma()) return WeightMeaning::precision;
    if (likelihood.has_trials() && !likelihood.has_one_trial()) return WeightMeaning::trials;
    throw UsageError(fmt::format(
        "--precision-weights: {} rows have no precision of their own: use --weights to count rows{}",
        settings.text("family"),
        likelihood.has_one_trial() ? ", or --family binomial where the response is the share of successes" : ""));
}

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

Source source_by_formula(const FitRequest& fit, const Likelihood& likelihood) {
    const Settings& settings = fit.settings;
    for (const char* key : {"response", "columns", "no-intercept"}) {
        if (!settings.has(key)) continue;
        throw UsageError(fmt::format("the formula says what --{} would: leave that out", key));
    }
    const Formula formula = Formula::parse(settings.text("FORMULA"));
    FormulaOptions options;
    options.factors = settings.list("factor");
    options.numbers = settings.list("numeric");
    require_apart(options.factors, options.numbers);
    const WeightsOption weights = weights_option(settings);
    options.weights = weights.column;
    options.missing = settings.flag("drop-missing") ? Missing::drop : Missing::refuse;
    const std::vector<std::string> columns = formula.columns();
    if (std::find(columns.begin(), columns.end(), options.weights) != columns.end()) {
        throw UsageError(fmt::format("{} {}: the formula has that column too: choose another for one of them",
                                     weights.name, printable(options.weights)));
    }
    Source source{formula, options, FieldTable(fit.data, formula.reading(options, fit.data), likelihood)};
    const DataFrame& frame = source.table.frame();
    require_known(options, frame);
    source.meaning = meaning_of_weights(settings, likelihood);
    if (source.meaning == WeightMeaning::trials && formula.has_trials()) {
        throw UsageError(
            "--precision-weights: cbind(successes, failures) says the trials already: leave one of them out");
    }
    if (!weights.column.empty()) source.take_weights(frame.find(weights.column));
    if (const std::optional<std::string> response = formula.response_column()) source.response = frame.find(*response);
    return source;
}

// --response and -c, which are short for a formula.
Source source_by_columns(const FitRequest& fit, const Likelihood& likelihood) {
    const Settings& settings = fit.settings;
    if (!settings.has("response")) {
        throw UsageError(
            "there is neither a formula nor a --response: say what is to be explained, as in 'y ~ x + (1 | g)'");
    }
    FieldTable table(fit.data, table_reading(settings), likelihood);
    const TablePlaces places = table_places(settings, table.frame());
    Source source{{}, {}, std::move(table), places.response};
    source.meaning = meaning_of_weights(settings, likelihood);
    if (places.weights >= 0) {
        source.take_weights(places.weights);
        if (places.weights < source.response) --source.response;
    }
    const std::vector<std::string> names = source.table.frame().column_names();
    std::vector<std::string> columns = names;
    columns.erase(columns.begin() + source.response);
    source.formula =
        Formula::of_columns(names[static_cast<std::size_t>(source.response)], columns, !settings.flag("no-intercept"));
    source.options.factors = settings.list("factor");
    source.options.numbers = settings.list("numeric");
    return source;
}

// Columns of numbers whose different values are levels, or nodes of a latent term.
std::vector<std::string> grouping_columns(const Formula& formula) {
    std::vector<std::string> result;
    for (const ColumnUse& use : column_uses(formula.syntax())) {
        if (use.is_group || use.is_latent) result.push_back(use.name);
    }
    return result;
}

// Columns that are zero in every row are left out; what others make up is refused.
std::vector<Index> kept_columns(const FieldTable& table, const FormulaCoding& coding, std::vector<std::string>& notes) {
    const auto count = static_cast<Index>(coding.names().size());
    const Index rows = table.frame().rows;
    const std::string& name_of_data = table.frame().name;
    const bool intercept = coding.intercept();
    const IdleColumns idle = idle_columns(count, intercept, table.ask_columns());
    const auto named = [&](Index column) {
        return fmt::format("beta[{}]", printable(coding.names()[static_cast<std::size_t>(column)]));
    };
    const auto is_of_cells = [&](Index column) {
        const std::string& name = coding.names()[static_cast<std::size_t>(column)];
        return name.find("=") != std::string::npos && name.find(":") != std::string::npos;
    };
    if (!idle.constant.empty()) {
        throw std::runtime_error(
            fmt::format("{}: the column of {} is the same in every row, so it duplicates the intercept: leave it out",
                        name_of_data, named(idle.constant.front())));
    }
    if (!idle.collinear.empty()) {
        const bool many = count >= rows;
        throw std::runtime_error(fmt::format(
            "{}: {}: the column of {} is a combination of those before it{}, so that no data can tell their "
            "coefficients apart: leave it out{}",
            name_of_data,
            many ? fmt::format("there are {} coefficients for {} rows", count + (intercept ? 1 : 0), rows)
                 : "columns depend on each other",
            named(idle.collinear.front()), intercept ? " and the intercept" : "",
            is_of_cells(idle.collinear.front()) ? "; a cell of factors may be empty, and a formula such as 0 + a:b has "
                                                  "a coefficient for each that is not"
                                                : ""));
    }
    std::vector<Index> kept;
    std::vector<std::string> empty;
    for (Index j = 0; j < count; ++j) {
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
void require_reach(const std::string& source, const FormulaCoding& coding, const DesignEnds& ends,
                   const std::vector<Index>& kept) {
    constexpr double largest = 1e150;
    const auto require = [&](Index place, const std::string& name, const std::string& variable) {
        const double spread = ends.high[place] - ends.low[place];
        if (ends.size(place) >= largest) {
            throw std::runtime_error(fmt::format(
                "{}: the numbers of {} go beyond what can be squared: take another unit, as in I({} / 1e100)", source,
                shown(name), variable));
        }
        if (spread != 0.0 && spread <= 1.0 / largest) {
            throw std::runtime_error(fmt::format(
                "{}: the numbers of {} differ by too little to be squared: take another unit, as in I({} * 1e100)",
                source, shown(name), variable));
        }
    };
    require(0, coding.response(), "y");
    for (const Index j : kept) require(1 + j, coding.names()[static_cast<std::size_t>(j)], "x");
    Index place = 1 + static_cast<Index>(coding.names().size());
    for (const FormulaCoding::Random& term : coding.random()) {
        for (const std::string& effect : term.effects) require(place++, effect, "x");
    }
}

// An offset beyond all that a mean can follow: squares of a response's own unit, or exponents.
void require_offset(const std::string& source, const DesignEnds& ends, const Link& link) {
    const Index place = ends.low.size() - 1;
    if (!(ends.low[place] <= ends.high[place])) return;  // there is none
    const double spread = ends.high[place] - ends.low[place];
    const std::string range =
        fmt::format("{}: the offset runs from {:.4g} to {:.4g}", source, ends.low[place], ends.high[place]);
    if (ends.size(place) < link.largest_offset && spread < link.largest_offset_spread) return;
    throw std::runtime_error(fmt::format("{}, {}", range, link.offset_fault));
}

// Where no row differs there is no scale for the prior, and nothing to explain.
void require_differences(const DataFrame& frame, const FormulaCoding& coding, const DesignEnds& ends,
                         const Likelihood& likelihood) {
    if (!likelihood.has_sigma() || ends.high[0] > ends.low[0]) return;
    throw std::runtime_error(
        frame.rows == 1
            ? fmt::format("{}: there is one row alone, too few for a regression: add rows", frame.name)
            : fmt::format("{}: the response {} is {} in every row, so that there is nothing to explain: choose another",
                          frame.name, shown(coding.response()), ends.low[0]));
}

// A slope whose column does not vary within any group is told from the intercepts by the prior alone.
void add_factor_notes(const FieldData& data, Index rows, const EffectsVary& vary, std::vector<std::string>& warnings) {
    for (std::size_t f = 0; f < data.factors.size(); ++f) {
        const FieldFactor& factor = data.factors[f];
        if (factor.levels.size() == 1) {
            warnings.push_back(
                fmt::format("{} has one group alone, so that its sds are what their priors say: leave the "
                            "random term out",
                            printable(factor.name)));
            continue;
        }
        const bool each_alone = static_cast<Index>(factor.levels.size()) == rows;
        if (each_alone && data.likelihood->has_sigma()) {
            warnings.push_back(
                fmt::format("every row is a group of {} of its own, so that the data do not tell its "
                            "effects from the residuals: the priors do",
                            printable(factor.name)));
        }
        for (std::size_t e = 0; e < factor.effects.size(); ++e) {
            if (factor.effects[e] == "intercept" || vary[f][e] || each_alone) continue;
            warnings.push_back(
                fmt::format("{} does not vary within any group of {}, so that the data hardly tell sd[{},{}] from the "
                            "other effects of {}: leave it out of the random term",
                            printable(factor.effects[e]), printable(factor.name), printable(factor.name),
                            printable(factor.effects[e]), printable(factor.name)));
        }
    }
}

// A column far from zero, about which a random term or its prior says something else than about the data.
void add_origin_warnings(const FieldRecord& record, std::vector<std::string>& warnings) {
    constexpr double kFar = 5.0;  // sds
    const FieldVariables variables = record.variables();
    for (std::size_t f = 0; f < record.shape.factors.size(); ++f) {
        const FormulaShape::Factor& factor = record.shape.factors[f];
        const bool is_written = variables.is_at_zero(f);
        const auto count = static_cast<Index>(factor.effects.size());
        bool has_functions = false;
        for (const std::string& effect : factor.effects) {
            has_functions = has_functions || effect.find(':') != std::string::npos || effect.starts_with("I(");
        }
        for (Index e = 0; e < count; ++e) {
            const std::string& effect = factor.effects[static_cast<std::size_t>(e)];
            double mean = variables.effect_centre(f)[e];
            double variance = record.moments.effects[f](e, e);
            const auto fixed = std::find(record.shape.slopes.begin(), record.shape.slopes.end(), effect);
            if (factor.intercept < 0 && fixed != record.shape.slopes.end()) {
                const auto j = static_cast<Index>(fixed - record.shape.slopes.begin());
                mean = (*record.numbers.centre)[j];
                variance = record.moments.columns(j, j);
            }
            if (e == factor.intercept || !(std::abs(mean) > kFar * std::sqrt(variance)) || !(variance > 0.0)) continue;
            const std::string name = printable(effect);
            const std::string group = printable(factor.name);
            const std::string where =
                fmt::format("{} has mean {:.4g} and sd {:.3g}, far from zero", name, mean, std::sqrt(variance));
            const std::string remedy = fmt::format("centre it, as in I({} - {:.4g})", name, mean);
            if (factor.intercept < 0) {
                warnings.push_back(fmt::format(
                    "{}: without an intercept the lines of all groups of {} meet at zero: {}", where, group, remedy));
            } else if (!variables.are_correlated(f, e, factor.intercept)) {
                warnings.push_back(fmt::format(
                    "{}: intercepts and slopes of {} are independent at zero alone: {}, or correlate them, as in ({} | "
                    "{})",
                    where, group, remedy, name, group));
            } else if (is_written) {
                warnings.push_back(
                    fmt::format("{}: the prior of sd[{},intercept] is that at zero: {}, or give one to "
                                "sd[{},intercept_at_means]",
                                where, group, remedy, group));
            } else if (has_functions) {
                warnings.push_back(
                    fmt::format("{}: the prior of its functions and interactions in the term of {} "
                                "depends on its origin: {}",
                                where, group, remedy));
            }
        }
    }
}

// How columns were taken, where they are not written in a formula.
void add_notes(const Source& source, bool is_written, const Settings& settings, Request& request) {
    const DataFrame& frame = source.table.frame();
    const TableFacts& facts = source.table.facts();
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
    request.notes = index_notes(frame.leaves_out_row_names,
                                is_written ? std::vector<std::string>() : counting_columns(frame, facts, taken),
                                settings.list("columns"));
    for (std::string& note : column_notes(frame, facts, taken)) request.notes.push_back(std::move(note));
    if (record.response_levels) request.notes.push_back(response_note(taken.response, *record.response_levels));
    if (source.weights) request.notes.push_back(weights_note(*source.weights, source.meaning, taken.response));
    if (source.weightless > 0) request.notes.push_back(weightless_note(*source.weights, source.weightless));
}

Request request_of(const FitRequest& fit) {
    const Settings& settings = fit.settings;
    const std::vector<std::string> priors = settings.texts("prior");
    const bool is_paper = std::find(priors.begin(), priors.end(), "paper") != priors.end();
    if (settings.has("precision-weights") && (is_paper || settings.has_any("prior-"))) {
        throw UsageError(
            "--precision-weights needs priors that are sentences, such as --prior 'beta ~ normal(0, 10)': leave out "
            "--prior paper and --prior-…");
    }
    if (settings.has_any("prior-")) {
        throw UsageError("with a formula a prior is a sentence, such as --prior 'beta ~ normal(0, 10)', not --prior-…");
    }
    const std::shared_ptr<const Likelihood> likelihood =
        likelihood_of_words(settings.text("family"), settings.text("link"));
    const std::vector<PriorSentence> sentences = sentences_in(settings);
    const bool is_written = settings.has("FORMULA");
    Source source = is_written ? source_by_formula(fit, *likelihood) : source_by_columns(fit, *likelihood);
    FieldTable& table = source.table;
    const DataFrame& frame = table.frame();
    if (!table.has_weight()) {
        throw std::runtime_error(
            fmt::format("{}: column {}: every row has the weight 0, so that none is left: choose "
                        "another column",
                        frame.name, shown(*source.weights)));
    }
    const std::vector<std::string> groups = grouping_columns(source.formula);
    table.find_facts(groups);
    // With all rows: what stands there was not meant as groups.
    require_clear_columns(frame, table.facts(), source.response, is_written);
    source.weightless = table.leave_out_weightless();
    if (source.weightless > 0) table.find_facts(groups);

    Request request;
    request.record = std::make_shared<FieldRecord>();
    FieldRecord& record = *request.record;
    const bool has_shares = source.meaning == WeightMeaning::trials;
    if (has_shares && settings.has("success")) {
        throw UsageError("--success is for a response of two values, not for shares of trials: leave it out");
    }
    if (source.response >= 0 && !has_shares) {
        record.response_levels =
            response_levels(frame, table.facts(), source.response, *likelihood, settings.text("success"));
        if (record.response_levels) code_response(table.here().frame(), source.response, *record.response_levels);
    } else if (settings.has("success")) {
        throw UsageError("--success is for a response that is a column: leave it out");
    }
    source.options.baselines = baselines_of(settings, frame);
    record.coding = std::make_shared<FormulaCoding>(source.formula, frame, source.options, table.ask_formula());
    const FormulaCoding& coding = *record.coding;
    const DesignEnds ends = table.make_design(coding);
    require_trials(coding.has_trials(), *likelihood);
    if (table.is_here()) require_response(table.here().design(), frame, *likelihood);
    add_notes(source, is_written, settings, request);
    require_differences(frame, coding, ends, *likelihood);
    record.kept = kept_columns(table, coding, request.notes);
    require_reach(frame.name, coding, ends, record.kept);
    require_offset(frame.name, ends, likelihood->link());
    request.known.columns = coding.columns();
    const EffectsVary vary = table.make_data(coding, record.kept, likelihood);
    const FieldData& data = *table.data();
    add_factor_notes(data, frame.rows, vary, request.warnings);
    add_response_warnings(data, ends.responses, table.mean(), request.warnings);
    request.rows = table.rows();
    request.response_sd = table.sd();
    record.shape = shape_of(data);
    add_curves(coding, record.shape);
    record.numbers = with_sentences(FieldPrior::automatic(*request.rows), record.shape, sentences);
    record.prior_origin = sentences.empty() ? "auto" : "explicit";
    record.moments = table.moments();
    add_origin_warnings(record, request.warnings);
    request.known.name = frame.name;
    request.known.rows = frame.rows;
    request.known.dropped = frame.dropped;
    request.known.weights = source.weights;
    request.known.precision_weights = source.meaning != WeightMeaning::count;
    request.known.na = fit.data.na();
    request.known.checksum = table.checksum();
    request.file_rows = table.file_rows();
    return request;
}

}  // namespace

bool is_by_formula(const Settings& settings) {
    for (const char* key : {"FORMULA", "family", "link", "success", "show-priors", "precision-weights"}) {
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
    const auto model = std::make_shared<FieldModel>(own.rows, own.record->numbers);
    own.record->numbers = model->prior();
    own.known.total_weight = model->total_weight();
    Optimum optimum = lrvb::fit(*model, request.options);
    FitFile file;
    file.model = own.record;
    file.data = std::move(own.known);
    file.notes = std::move(own.notes);
    file.warnings = std::move(own.warnings);
    file.options = {request.options.seed, 1, request.options.tolerance, request.options.max_iterations};
    file.outcome = record_outcome(optimum, 1);
    file.parameters = record_parameters(model->layout(), optimum.state);
    return std::make_unique<FittedField>(std::move(file), model, std::move(optimum), own.response_sd,
                                         std::move(own.file_rows), request.threads);
}

std::vector<std::string> priors_by_formula(const FitRequest& request) {
    const Request own = request_of(request);
    return prior_sentences(own.record->numbers, own.record->shape);
}

}  // namespace lrvb::detail
