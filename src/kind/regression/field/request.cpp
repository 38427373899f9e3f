#include "kind/regression/field/request.hpp"

#include "base/messages.hpp"
#include "kind/notes.hpp"
#include "kind/regression/columns.hpp"
#include "kind/regression/field/fitted.hpp"

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

// Of --response and -c, or the formula itself.
Formula formula_of(const Settings& settings, const Dataset& data) {
    if (settings.has("FORMULA")) {
        for (const char* key : {"response", "columns", "no-intercept"}) {
            if (!settings.has(key)) continue;
            throw UsageError(fmt::format("the formula says what --{} would: leave that out", key));
        }
        return Formula::parse(settings.text("FORMULA"));
    }
    if (!settings.has("response")) {
        throw UsageError(
            "there is neither a formula nor a --response: say what is to be explained, as in 'y ~ x + (1 | g)'");
    }
    FrameOptions read;
    read.columns = settings.list("columns");
    read.ranges = true;
    const bool chosen = !read.columns.empty();
    if (chosen) read.last = {settings.text("response")};
    read.numbers = {settings.text("response")};
    read.missing = Missing::drop;  // names alone are looked at
    const DataFrame frame = data.with_na(data.na()).frame(read);
    const Index response =
        chosen ? static_cast<Index>(frame.columns.size()) - 1 : frame.find(settings.text("response"));
    std::vector<std::string> columns;
    for (std::size_t j = 0; j < frame.columns.size(); ++j) {
        const std::string& name = frame.columns[j].name;
        if (static_cast<Index>(j) == response || name == settings.text("weights")) continue;
        columns.push_back(name);
    }
    return Formula::of_columns(frame.columns[static_cast<std::size_t>(response)].name, columns,
                               !settings.flag("no-intercept"));
}

void require_apart(const std::vector<std::string>& factors, const std::vector<std::string>& numbers) {
    for (const std::string& column : factors) {
        if (std::find(numbers.begin(), numbers.end(), column) == numbers.end()) continue;
        throw UsageError(fmt::format("--factor and --numeric both have '{}': give it to one of them", column));
    }
}

// Columns that are zero in every row are left out; what others make up is refused.
std::vector<Index> kept_columns(const FormulaDesign& design, std::vector<std::string>& notes) {
    const IdleColumns idle = idle_columns(design.columns, design.intercept);
    const auto named = [&](Index column) {
        return fmt::format("beta[{}]", printable(design.names[static_cast<std::size_t>(column)]));
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
            "coefficients apart: leave it out",
            design.source,
            many ? fmt::format("there are {} coefficients for {} rows",
                               design.columns.cols() + (design.intercept ? 1 : 0), design.columns.rows())
                 : "columns depend on each other",
            named(idle.collinear.front()), design.intercept ? " and the intercept" : ""));
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

// A normal response that looks like another.
void add_response_warnings(const FieldData& data, std::vector<std::string>& warnings) {
    if (data.family != FieldFamily::gaussian) return;
    constexpr std::size_t most = 20;
    std::set<double> few;
    for (Index n = 0; n < data.y.size() && few.size() <= most; ++n) few.insert(data.y[n]);
    if (few.size() > most) return;
    const bool whole = std::all_of(few.begin(), few.end(), [](double v) { return v >= 0.0 && v == std::floor(v); });
    if (few.size() == 2) {
        warnings.push_back(
            fmt::format("the response {} has two values, but this fits a normal response: "
                        "--family bernoulli fits one of 0 and 1",
                        shown(data.response)));
    } else if (whole && data.y.mean() < 10.0) {
        warnings.push_back(
            fmt::format("the response {} has small counts, but this fits a normal response of one "
                        "variance: --family poisson fits counts",
                        shown(data.response)));
    }
}

// What a response of the family can be, with the row that is not.
void require_response(const FormulaDesign& design, const DataFrame& frame, const std::string& family_text,
                      FieldFamily family) {
    if (design.trials.size() > 0 && family != FieldFamily::binomial) {
        throw UsageError("cbind(successes, failures) is the response of a binomial family: give --family binomial");
    }
    if (family_text == "bernoulli" && design.trials.size() > 0) {
        throw UsageError("cbind(successes, failures) is of several trials: give --family binomial");
    }
    const auto refuse = [&](Index n, double value, const std::string& reason) {
        throw std::runtime_error(fmt::format("{}: row {}: the response {} is {}, but {}", design.source,
                                             frame.file_row(n), shown(design.response), value, reason));
    };
    const auto is_count = [](double value) { return value >= 0.0 && value == std::floor(value); };
    for (Index n = 0; n < design.y.size(); ++n) {
        const double y = design.y[n];
        if (family == FieldFamily::poisson && !is_count(y)) {
            refuse(n, y, "counts are whole and not negative: choose another --family");
        }
        if (family != FieldFamily::binomial) continue;
        if (design.trials.size() == 0) {
            if (y == 0.0 || y == 1.0) continue;
            refuse(n, y,
                   family_text == "binomial" ? "without its failures it is 0 or 1: write cbind(successes, failures) ~ …"
                                             : "a bernoulli response is 0 or 1: choose another --family");
        }
        if (!is_count(y)) refuse(n, y, "successes are whole and not negative: correct the row, or leave it out");
        if (!is_count(design.trials[n] - y)) {
            throw std::runtime_error(fmt::format(
                "{}: row {}: the response {} has {} failures, but these are whole and not negative: correct "
                "the row, or leave it out",
                design.source, frame.file_row(n), shown(design.response), design.trials[n] - y));
        }
    }
}

Request request_of(const FitRequest& fit) {
    const Settings& settings = fit.settings;
    if (settings.has_any("prior-")) {
        throw UsageError("with a formula a prior is a sentence, such as --prior 'beta ~ normal(0, 10)', not --prior-…");
    }
    const FieldFamily family = family_of_word(settings.text("family"));
    const FieldLink link = link_of_word(family, settings.text("link"));
    const std::vector<PriorSentence> sentences = sentences_in(settings);
    const Formula formula = formula_of(settings, fit.data);
    FormulaOptions options;
    options.factors = settings.list("factor");
    options.numbers = settings.list("numeric");
    require_apart(options.factors, options.numbers);
    options.weights = settings.text("weights");
    options.missing = settings.flag("drop-missing") ? Missing::drop : Missing::refuse;
    DataFrame frame = formula.read(fit.data, options);

    Request request;
    Vector weights;
    std::optional<std::string> weights_name;
    Index weightless = 0;
    if (settings.has("weights")) {
        const Index place = frame.find(settings.text("weights"));
        weights_name = frame.columns[static_cast<std::size_t>(place)].name;
        weights = taken_weights(frame, place);
        weightless = leave_out_weightless(frame, weights);
    }
    require_clear_columns(frame, -1);
    options.baselines = baselines_of(settings, frame);
    request.record = std::make_shared<FieldRecord>();
    FieldRecord& record = *request.record;
    record.coding = std::make_shared<FormulaCoding>(formula, frame, options);
    FormulaDesign design = record.coding->design(frame);
    require_response(design, frame, settings.text("family"), family);
    request.notes = index_notes(frame.leaves_out_row_names, {}, {});
    if (weightless > 0) {
        request.notes.push_back(fmt::format("{}: weights; {} the weight 0, and {} left out", printable(*weights_name),
                                            weightless == 1 ? "one row has" : fmt::format("{} rows have", weightless),
                                            weightless == 1 ? "is" : "are"));
    }
    record.kept = kept_columns(design, request.notes);
    request.known.columns = record.coding->columns();
    request.data = std::make_shared<FieldData>(field_data(std::move(design), record.kept, family, link, weights));
    add_factor_notes(*request.data, request.warnings);
    add_response_warnings(*request.data, request.warnings);
    record.shape = shape_of(*request.data);
    record.numbers = with_sentences(FieldPrior::automatic(*request.data), record.shape, sentences);
    record.prior_origin = sentences.empty() ? "auto" : "explicit";
    record.moments = moments_of(*request.data);
    request.known.name = frame.name;
    request.known.rows = frame.rows;
    request.known.dropped = frame.dropped;
    request.known.weights = weights_name;
    request.known.total_weight = request.data->total_weight();
    request.known.na = fit.data.na();
    request.known.checksum = checksum_of(*request.data);
    request.file_rows = frame.file_rows;
    return request;
}

}  // namespace

bool is_by_formula(const Settings& settings) {
    if (settings.has("FORMULA") || settings.has("family") || settings.has("link") || settings.has("show-priors"))
        return true;
    const std::vector<std::string> priors = settings.texts("prior");
    return std::any_of(priors.begin(), priors.end(),
                       [](const std::string& text) { return text != "auto" && text != "paper"; });
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
