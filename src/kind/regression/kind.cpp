#include "kind/regression/kind.hpp"

#include "base/messages.hpp"
#include "kind/notes.hpp"
#include "kind/regression/columns.hpp"
#include "kind/regression/field/request.hpp"
#include "kind/regression/field/table.hpp"
#include "kind/regression/fitted.hpp"
#include "kind/regression/table.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace lrvb::detail {

namespace {

// What the options say, on top of the named prior; nothing where that is the automatic one.
std::optional<RegressionPrior> prior_of(const Settings& settings, const RegressionDesign& design) {
    const bool is_paper = settings.text("prior", "auto") == "paper";
    if (!settings.has_any("prior-") && !is_paper) return std::nullopt;
    const Index slopes = design.columns.cols();
    RegressionPrior prior = is_paper ? RegressionPrior::paper(slopes) : RegressionPrior::automatic(design);
    if (settings.has_any("prior-intercept-") && !design.intercept) {
        throw UsageError("there is no intercept to give a prior to: leave out --prior-intercept-…, or --no-intercept");
    }
    if (settings.has("prior-mean")) prior.mean = settings.for_columns("prior-mean", slopes);
    if (settings.has("prior-variance")) prior.variance = settings.positive_for_columns("prior-variance", slopes);
    if (settings.has("prior-intercept-mean")) prior.intercept_mean = settings.number("prior-intercept-mean");
    if (settings.has("prior-intercept-variance")) {
        prior.intercept_variance = settings.positive("prior-intercept-variance");
    }
    if (settings.has("prior-shape")) prior.shape = settings.positive("prior-shape");
    if (settings.has("prior-rate")) prior.rate = settings.positive("prior-rate");
    return prior;
}

// Treatment coding needs the intercept: without it the first level would be held at zero.
void require_coded(const RegressionDesign& design) {
    if (design.intercept) return;
    for (const RegressionTerm& term : design.terms) {
        if (!term.is_factor()) continue;
        throw std::runtime_error(fmt::format(
            "{}: column '{}' is text, and without an intercept its first level '{}' would be held at zero: leave "
            "out --no-intercept, or that column",
            design.source, term.column, term.levels.front()));
    }
}

}  // namespace

std::optional<std::vector<OptionInfo>> RegressionKind::options() const {
    std::vector<OptionInfo> options;
    options.push_back(
        {"FORMULA",
         "Such as 'y ~ x + (1 + x | g)' or 'y ~ rw2(t)'; --response and -c are short for one that adds up columns"});
    options.push_back({"--response", "The column to explain, by name or number"});
    options.push_back(OptionInfo::choice(
        "--family", Likelihood::names(),
        fmt::format("What the response is (default: gaussian): {}", fmt::join(Likelihood::names(), ", "))));
    options.push_back(OptionInfo::choice("--link", {"identity", "logit", "probit", "cloglog", "log"},
                                         "Of a bernoulli or binomial response: logit (default), probit, cloglog"));
    options.push_back({"--success",
                       "The value of a bernoulli response that is 1, of two (default: the second by their order)",
                       OptionInfo::Type::text,
                       false,
                       {},
                       "VALUE"});
    options.push_back(OptionInfo::flag("--no-intercept", "Through the origin"));
    const auto list = [&](const std::string& name, const std::string& help, const std::string& value) {
        options.push_back({name, help, OptionInfo::Type::list, false, {}, value});
    };
    options.push_back({"--weights", "Column that says how often each row counts: 3 is three rows"});
    options.push_back(
        {"--precision-weights",
         "Column of precisions w, as the weights of lm and lmer: the variance of a row is sigma^2/w; of a "
         "binomial response that is a share, the number of trials"});
    list("--factor", "Columns to take as groups, though they hold numbers", "COLUMNS");
    list("--numeric", "Columns to take as numbers, though they are quoted", "COLUMNS");
    list("--baseline", "The group that others are compared with, such as cyl=6 (default: the first)", "COLUMN=LEVEL");
    const std::string priors =
        "Priors, in the data's units (paper and --prior-…: without a formula, the paper's model)";
    options.push_back(
        {"--prior",
         "A sentence, such as 'beta ~ normal(0, 10)' or 'sd[g] ~ half_t(3, 2.5)', as often as needed; auto "
         "(default: on the scale of the columns); or, without a formula, paper",
         OptionInfo::Type::texts, false, priors});
    const auto prior = [&](const std::string& name, const std::string& help) {
        options.push_back({name, help, OptionInfo::Type::text, false, priors, "NUMBER"});
    };
    prior("--prior-mean", "Mean of the slopes: one number, or one a slope");
    prior("--prior-variance", "Variance of the slopes");
    prior("--prior-intercept-mean", "Mean of the intercept at the columns' means");
    prior("--prior-intercept-variance", "Variance of that intercept");
    prior("--prior-shape", "Gamma shape of the precision");
    prior("--prior-rate", "Gamma rate of the precision");
    return options;
}

std::unique_ptr<FittedModel> RegressionKind::fit(const FitRequest& request) const {
    const Settings& settings = request.settings;
    if (is_by_formula(settings)) return fit_by_formula(request);
    if (!settings.has("response")) {
        throw UsageError(
            "there is neither a formula nor a --response: say what is to be explained, as in 'y ~ x + (1 | g)'");
    }
    RegressionTable table = read_table(request);
    const DataFrame& frame = table.frame;
    // With all rows: what stands there was not meant as groups.
    require_clear_columns(frame, facts_of(frame), table.response);
    table.weightless = leave_out_weightless(table.frame, table.weights);
    const TableFacts facts = facts_of(frame);
    const auto design = std::make_shared<RegressionDesign>(
        regression_design(frame, table.response, !settings.flag("no-intercept"), baselines_of(settings, frame)));
    design->weights = table.weights;
    require_coded(*design);
    const std::optional<RegressionPrior> prior = prior_of(settings, *design);
    const auto model = std::make_shared<RegressionModel>(std::shared_ptr<const RegressionDesign>(design), prior);
    if (request.on_rows) request.on_rows(model->rows());
    Optimum optimum = lrvb::fit(*model, request.options);

    auto record = std::make_shared<RegressionRecord>();
    record->response = design->response;
    record->terms = design->terms;
    record->prior_origin = settings.has_any("prior-") ? "explicit" : settings.text("prior", "auto");
    record->numbers = model->prior();
    record->coefficients = coefficients_of(*model, optimum);
    FitFile file;
    file.model = record;
    file.data.name = frame.name;
    for (const RegressionTerm& term : design->terms) file.data.columns.push_back(term.column);
    file.data.rows = frame.rows;
    file.data.dropped = frame.dropped;
    file.data.weights = table.weights_name;
    file.data.total_weight = design->total_weight();
    file.data.na = request.data.na();
    file.data.checksum = checksum_of(*design);
    file.notes =
        index_notes(frame.leaves_out_row_names, counting_columns(frame, facts, *design), settings.list("columns"));
    for (std::string& note : column_notes(frame, facts, *design)) file.notes.push_back(std::move(note));
    if (table.weights_name) {
        file.notes.push_back(weights_note(*table.weights_name, WeightMeaning::count, design->response));
    }
    if (table.weightless > 0) file.notes.push_back(weightless_note(*table.weights_name, table.weightless));
    file.warnings = response_warnings(*design);
    file.options = {request.options.seed, 1, request.options.tolerance, request.options.max_iterations};
    file.outcome = record_outcome(optimum, 1);
    file.parameters = record_parameters(model->layout(), optimum.state);
    return std::make_unique<FittedRegression>(std::move(file), design, model, std::move(optimum), frame.file_rows,
                                              request.threads);
}

std::vector<RowQuestion> RegressionKind::row_questions() const {
    return field_questions();
}

std::vector<std::string> RegressionKind::priors(const FitRequest& request) const {
    return priors_by_formula(request);
}

std::shared_ptr<const ModelRecord> RegressionKind::read(const Fields& fields) const {
    if (fields.has("formula")) return FieldRecord::read(fields);
    return RegressionRecord::read(fields);
}

}  // namespace lrvb::detail
