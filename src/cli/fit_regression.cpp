#include "cli/arguments.hpp"
#include "cli/command.hpp"
#include "cli/data.hpp"
#include "cli/fit_command.hpp"
#include "cli/warnings.hpp"

#include <lrvb/data/frame.hpp>
#include <lrvb/kind/regression/model.hpp>

#include <fmt/format.h>

#include <memory>

namespace lrvb::cli {

namespace {

struct Options {
    DataOptions data;
    FitCommandOptions common;
    std::string response;
    bool no_intercept = false;
    std::string prior_mean;
    std::string prior_variance;
    std::string prior_intercept_mean;
    std::string prior_intercept_variance;
    std::string prior_shape;
    std::string prior_rate;
};

DataFrame read_columns(const Options& options) {
    FrameOptions frame;
    frame.columns = split(options.data.columns);
    if (!frame.columns.empty()) frame.columns.push_back(options.response);
    frame.missing = options.data.drop_missing ? Missing::drop : Missing::refuse;
    return read_frame(options.data.path, frame);
}

// What the options say, on top of the automatic prior.
std::optional<RegressionPrior> prior_of(const Options& options, const RegressionDesign& design) {
    const std::string given = options.prior_mean + options.prior_variance + options.prior_intercept_mean +
                              options.prior_intercept_variance + options.prior_shape + options.prior_rate;
    if (given.empty()) return std::nullopt;
    const Index slopes = design.columns.cols();
    RegressionPrior prior = RegressionPrior::automatic(design);
    const auto positive = [](const std::string& option, const std::string& text) {
        const double value = single(option, text);
        require_positive(option, value);
        return value;
    };
    if (!(options.prior_intercept_mean + options.prior_intercept_variance).empty() && options.no_intercept) {
        throw UsageError("there is no intercept to give a prior to: leave out --prior-intercept-…, or --no-intercept");
    }
    if (!options.prior_mean.empty()) prior.mean = for_columns("--prior-mean", options.prior_mean, slopes);
    if (!options.prior_variance.empty()) {
        prior.variance = for_columns("--prior-variance", options.prior_variance, slopes);
        require_positive("--prior-variance", prior.variance.minCoeff());
    }
    if (!options.prior_intercept_mean.empty()) {
        prior.intercept_mean = single("--prior-intercept-mean", options.prior_intercept_mean);
    }
    if (!options.prior_intercept_variance.empty()) {
        prior.intercept_variance = positive("--prior-intercept-variance", options.prior_intercept_variance);
    }
    if (!options.prior_shape.empty()) prior.shape = positive("--prior-shape", options.prior_shape);
    if (!options.prior_rate.empty()) prior.rate = positive("--prior-rate", options.prior_rate);
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

int fit_regression(const Options& options) {
    require_other_file(options.common.output, {options.data.path});
    const DataFrame frame = read_columns(options);
    // With -c the response was asked for last; a number would now mean another column.
    const Index response =
        options.data.columns.empty() ? frame.find(options.response) : static_cast<Index>(frame.columns.size()) - 1;
    const RegressionDesign design = regression_design(frame, response, !options.no_intercept);
    require_coded(design);
    const std::optional<RegressionPrior> prior = prior_of(options, design);
    const RegressionModel model(design, prior);
    FitOptions fit_options = options.common.fit_options();
    const Optimum optimum = watched(model.rows(), options.common, fit_options, [&] { return fit(model, fit_options); });

    FitFile file;
    RegressionRecord record;
    record.response = design.response;
    record.terms = design.terms;
    record.prior_name = prior ? "explicit" : "auto";
    record.prior = model.prior();
    const Functionals::Resolved coefficients = model.coefficients().resolve(model.layout());
    record.coefficients.intercept = model.has_intercept();
    record.coefficients.centre = model.centre();
    record.coefficients.mean = coefficients.weights.transpose() * optimum.state.mean + coefficients.constants;
    if (optimum.converged()) {
        record.coefficients.covariance = LinearResponse(model, optimum).covariance(model.coefficients());
    }
    record.coefficients.noise_variance = model.noise_variance(optimum.state);
    file.model = record;
    file.data.name = frame.name;
    for (const RegressionTerm& term : design.terms) file.data.columns.push_back(term.column);
    file.data.rows = frame.rows;
    file.data.dropped = frame.dropped;
    file.data.total_weight = static_cast<double>(frame.rows);
    file.data.checksum = checksum_of(design);
    file.options = {options.common.seed, 1, options.common.tolerance, options.common.max_iterations};
    file.outcome = record_outcome(optimum, 1);
    file.parameters = record_parameters(model.layout(), optimum.state);
    file.posterior = regression_posterior(model, optimum);
    // Its rows are folded: a draw costs as much as there are coefficients.
    const double work = static_cast<double>(record.coefficients.mean.size() * record.coefficients.mean.size());
    const bool checks = optimum.converged() && wants_check(options.common, work);
    if (checks) {
        const Door door = [&](const std::vector<std::string>& names) { return model.in_data_units(names); };
        check_fit(file, model, optimum, door, options.common, 1);
    }
    add_warnings(file);
    return finish_fit(std::move(file), options.common, checks);
}

}  // namespace

void add_fit_regression(CLI::App& group, Run& run) {
    const auto options = std::make_shared<Options>();
    CLI::App* command = group.add_subcommand("regression", "Fit a linear regression");
    options->data.add_to(*command);
    command->add_option("--response", options->response, "The column to explain, by name or number")->required();
    command->add_flag("--no-intercept", options->no_intercept, "Through the origin");
    options->common.add_to(*command);
    const auto prior = [&](const std::string& name, std::string& value, const std::string& description) {
        command->add_option(name, value, description)
            ->group("Priors, in the data's units (default: on standardised columns)")
            ->type_name("NUMBER");
    };
    prior("--prior-mean", options->prior_mean, "Mean of the slopes: one number, or one a slope");
    prior("--prior-variance", options->prior_variance, "Variance of the slopes");
    prior("--prior-intercept-mean", options->prior_intercept_mean, "Mean of the intercept at the columns' means");
    prior("--prior-intercept-variance", options->prior_intercept_variance, "Variance of that intercept");
    prior("--prior-shape", options->prior_shape, "Gamma shape of the precision");
    prior("--prior-rate", options->prior_rate, "Gamma rate of the precision");
    command->callback([options, &run] { run = [options] { return fit_regression(*options); }; });
}

}  // namespace lrvb::cli
