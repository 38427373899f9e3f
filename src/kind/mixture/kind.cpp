#include "kind/mixture/kind.hpp"

#include "kind/mixture/fitted.hpp"
#include "kind/mixture/fixed_values.hpp"
#include "kind/mixture/questions.hpp"
#include "kind/notes.hpp"

#include <fmt/format.h>

namespace lrvb::detail {

namespace {

std::vector<std::string> fixed_parts(const Settings& settings) {
    std::vector<std::string> parts = settings.list("fix");
    for (const std::string& part : parts) {
        if (part == "weights" || part == "means" || part == "precisions") continue;
        throw UsageError(fmt::format("--fix {}: what can be fixed is weights, means, precisions", part));
    }
    if (parts.empty() == settings.has("at")) throw UsageError("--fix and --at need each other");
    return parts;
}

bool overrides_prior(const Settings& settings) {
    return settings.has_any("prior-");
}

// What the options say, on top of the named prior; nothing where that is the automatic one.
std::optional<MixturePrior> prior_of(const Settings& settings, const DataRows& data,
                                     const MixtureSpecification& specification, bool full) {
    const auto columns = static_cast<Index>(data.record.columns.size());
    if (full && (settings.has("prior-shape") || settings.has("prior-rate"))) {
        throw UsageError(
            "--prior-shape and --prior-rate are of one column, or of diagonal covariances; here it is --prior-dof "
            "and --prior-inverse-scale");
    }
    if (!full && (settings.has("prior-dof") || settings.has("prior-inverse-scale"))) {
        throw UsageError(
            "--prior-dof and --prior-inverse-scale are of full covariances of several columns; here it is "
            "--prior-shape and --prior-rate");
    }
    const bool is_paper = settings.text("prior", "auto") == "paper";
    if (!overrides_prior(settings) && !is_paper) return std::nullopt;
    MixturePrior prior = is_paper ? MixturePrior::paper(columns, specification.covariance)
                                  : MixtureModel(data.source, specification).prior();
    if (settings.has("prior-alpha")) {
        prior.alpha = settings.number("prior-alpha");
        if (!(prior.alpha >= 1e-6 && prior.alpha <= 1e12)) {
            throw UsageError(fmt::format("--prior-alpha is {}, but must lie between 1e-6 and 1e12", prior.alpha));
        }
    }
    if (settings.has("prior-mean")) prior.mean = settings.for_columns("prior-mean", columns);
    if (settings.has("prior-variance")) {
        prior.variance = settings.positive_for_columns("prior-variance", columns).asDiagonal();
    }
    if (settings.has("prior-shape")) prior.shape = settings.positive("prior-shape");
    if (settings.has("prior-rate")) prior.rate = settings.positive_for_columns("prior-rate", columns);
    if (settings.has("prior-dof")) {
        prior.dof = settings.number("prior-dof");
        if (!(prior.dof > static_cast<double>(columns - 1))) {
            throw UsageError(
                fmt::format("--prior-dof is {}, but must be larger than {}, the number of columns less one", prior.dof,
                            columns - 1));
        }
    }
    if (settings.has("prior-inverse-scale")) {
        prior.inverse_scale = settings.positive_for_columns("prior-inverse-scale", columns).asDiagonal();
    }
    return prior;
}

// What a fit has to solve for; beyond it, one takes long.
constexpr Index kManyStatistics = 2000;

std::vector<std::string> warnings_of(const MixtureFit& fit) {
    std::vector<std::string> result;
    const Index statistics = fit.model->layout().size();
    if (fit.model->has_full_covariances() && statistics > kManyStatistics) {
        result.push_back(
            fmt::format("full covariances of {} columns make {} statistics, which take long to fit; if columns are "
                        "unrelated within "
                        "components, --covariance diagonal has {}",
                        fit.model->columns(), statistics, fit.model->components() * (4 * fit.model->columns() + 1)));
    }
    if (fit.optimum.converged() && fit.finalists > 1 && fit.finalists_at_best == 1) {
        result.push_back(fmt::format(
            "only one of the {} best starts reached this optimum, so there may be a better one: try more --restarts",
            fit.finalists));
    }
    return result;
}

}  // namespace

std::optional<std::vector<OptionInfo>> MixtureKind::options() const {
    std::vector<OptionInfo> options;
    options.push_back(OptionInfo::whole_range("-k,--components", 1, 100000,
                                              "Number of components; 1:8 fits each from 1 to 8, and compares")
                          .require());
    options.push_back({"--weights", "Column of row weights"});
    options.push_back(
        OptionInfo::choice("--covariance", {"full", "diagonal"}, "Of several columns: full (default) or diagonal"));
    options.push_back({"--fix", "Hold parts at given values: weights, means, precisions"});
    options.push_back(
        {"--at", "The values of --fix: a fit file, or JSON with a list for each part", OptionInfo::Type::file});
    options.push_back(OptionInfo::whole("--restarts", 1, 1000000, "Starts that compete (default 16)"));
    const std::string priors = "Priors, in the data's units";
    options.push_back(
        OptionInfo::choice("--prior", {"paper", "auto"}, "auto (default: on standardised columns) or paper"));
    options.back().group = priors;
    const auto number = [&](const std::string& name, const std::string& help) {
        options.push_back({name, help, OptionInfo::Type::text, false, priors, "NUMBER"});
    };
    number("--prior-alpha", "Dirichlet parameter of the weights");
    number("--prior-mean", "Mean of the component means");
    number("--prior-variance", "Variance of the component means");
    number("--prior-shape", "Gamma shape of the precisions");
    number("--prior-rate", "Gamma rate of the precisions");
    number("--prior-dof", "Wishart degrees of freedom (full covariances)");
    number("--prior-inverse-scale", "Diagonal of the Wishart's inverse scale (full covariances)");
    return options;
}

std::optional<OptionInfo> MixtureKind::table_option() const {
    return OptionInfo{"--labels",
                      "Write the component of every row, and the probability of each, to this file (CSV), as 'lrvb "
                      "predict' does; - for standard output",
                      OptionInfo::Type::output};
}

std::unique_ptr<FittedModel> MixtureKind::fit(const FitRequest& request) const {
    const Settings& settings = request.settings;
    const std::vector<std::string> parts = fixed_parts(settings);
    const auto* previous = dynamic_cast<const FittedMixture*>(request.previous);
    DataRows data = previous != nullptr ? previous->data()
                                        : request.data.rows({settings.list("columns"), settings.text("weights"),
                                                             settings.flag("drop-missing"), false, true});
    const auto columns = static_cast<Index>(data.record.columns.size());
    if (request.on_rows) request.on_rows(data.record.rows);
    auto record = std::make_shared<MixtureRecord>();
    record->components = settings.whole("components", 1);
    record->covariance =
        settings.text("covariance", "full") == "full" ? MixtureCovariance::full : MixtureCovariance::diagonal;
    record->fixed = parts;
    const bool full = record->covariance == MixtureCovariance::full && columns > 1;

    MixtureSpecification specification;
    specification.components = record->components;
    specification.covariance = record->covariance;
    specification.weighted = settings.has("weights");
    specification.threads = request.threads;
    specification.prior = prior_of(settings, data, specification, full);
    record->prior_origin = overrides_prior(settings) ? "explicit" : settings.text("prior", "auto");

    MixtureFitOptions options;
    options.tolerance = request.options.tolerance;
    options.max_iterations = request.options.max_iterations;
    options.seed = request.options.seed;
    options.progress = request.options.progress;
    options.restarts = static_cast<int>(settings.whole("restarts", options.restarts));
    if (!parts.empty()) options.fixed = read_fixed(parts, settings.text("at"), record->components, columns, full);
    if (previous != nullptr && previous->optimum().converged()) options.before = previous->before();
    const MixtureFit fit = fit_mixture(data.source, specification, options);

    record->numbers = fit.model->prior();
    record->centre = fit.model->centre();
    record->scale = fit.model->scale();
    FitFile file;
    file.model = record;
    file.data = data.record;
    file.data.total_weight = fit.model->total_weight();
    file.options = {options.seed, options.restarts, options.tolerance, options.max_iterations};
    file.outcome = record_outcome(fit.optimum, fit.passes);
    file.notes = index_notes(data.leaves_out_row_names, data.counting, settings.list("columns"));
    file.warnings = warnings_of(fit);
    file.parameters = record_parameters(fit.model->layout(), fit.optimum.state);
    return std::make_unique<FittedMixture>(std::move(file), std::move(data), fit, request.threads);
}

std::vector<RowQuestion> MixtureKind::row_questions() const {
    return mixture_questions();
}

std::shared_ptr<const ModelRecord> MixtureKind::read(const Fields& fields) const {
    return MixtureRecord::read(fields);
}

}  // namespace lrvb::detail
