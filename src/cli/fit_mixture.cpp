#include "cli/arguments.hpp"
#include "cli/command.hpp"
#include "cli/data.hpp"
#include "cli/fit_command.hpp"
#include "cli/fixed_values.hpp"
#include "cli/output.hpp"
#include "cli/progress.hpp"
#include "cli/warnings.hpp"

#include <lrvb/kind/mixture/fit.hpp>

#include <fmt/format.h>

#include <memory>

namespace lrvb::cli {

namespace {

struct Options {
    DataOptions data;
    FitCommandOptions common;
    int components = 0;
    std::string covariance = "full";
    int restarts = MixtureFitOptions().restarts;
    int threads = 0;
    std::string fix;
    std::string at;
    std::string prior = "auto";
    std::string prior_alpha;
    std::string prior_mean;
    std::string prior_variance;
    std::string prior_shape;
    std::string prior_rate;
    std::string prior_dof;
    std::string prior_inverse_scale;
};

class MixtureCommand {
  public:
    explicit MixtureCommand(const Options& options) : options_(options) {}

    int run() {
        const std::vector<std::string> parts = fixed_parts();
        require_other_file(options_.common.output, {options_.data.path, options_.at});
        Data data = open_data(options_.data.selection());
        const Index columns = static_cast<Index>(data.record.columns.size());
        MixtureSpecification specification;
        specification.components = options_.components;
        specification.covariance =
            options_.covariance == "full" ? MixtureCovariance::full : MixtureCovariance::diagonal;
        specification.weighted = !options_.data.weights.empty();
        specification.threads = threads_of(options_.threads);
        const bool full = specification.covariance == MixtureCovariance::full && columns > 1;
        specification.prior = prior(data, specification, full);

        MixtureFitOptions fit_options;
        fit_options.tolerance = options_.common.tolerance;
        fit_options.max_iterations = options_.common.max_iterations;
        fit_options.restarts = options_.restarts;
        fit_options.seed = options_.common.seed;
        if (!parts.empty()) {
            fit_options.fixed = read_fixed(parts, options_.at, options_.components, columns, full);
        }
        const MixtureFit fit = watched(data.record.rows, options_.common, fit_options,
                                       [&] { return fit_mixture(data.source, specification, fit_options); });

        FitFile file;
        MixtureRecord record;
        record.components = options_.components;
        record.covariance = specification.covariance;
        record.prior_name = prior_name();
        record.prior = fit.model->prior();
        record.centre = fit.model->centre();
        record.scale = fit.model->scale();
        record.fixed = parts;
        file.model = record;
        file.data = data.record;
        file.data.total_weight = fit.model->total_weight();
        file.options = {options_.common.seed, options_.restarts, options_.common.tolerance,
                        options_.common.max_iterations};
        file.outcome = record_outcome(fit.optimum, fit.passes);
        file.warnings = warnings(fit);
        file.parameters = record_parameters(fit.model->layout(), fit.optimum.state);
        file.posterior = mixture_posterior(fit);
        const double entries = full ? 0.5 * static_cast<double>(columns * (columns + 1)) : static_cast<double>(columns);
        const double work = static_cast<double>(data.record.rows * options_.components) * entries;
        const bool checks = fit.optimum.converged() && wants_check(options_.common, work);
        if (checks) {
            const Door door = [&](const std::vector<std::string>& names) { return fit.model->in_data_units(names); };
            check_fit(file, *fit.model, fit.optimum, door, options_.common, specification.threads);
        }
        add_warnings(file);
        return finish_fit(std::move(file), options_.common, checks);
    }

  private:
    std::vector<std::string> fixed_parts() const {
        const std::vector<std::string> parts = split(options_.fix);
        for (const std::string& part : parts) {
            if (part == "weights" || part == "means" || part == "precisions") continue;
            throw UsageError(fmt::format("--fix {}: what can be fixed is weights, means, precisions", part));
        }
        if (parts.empty() != options_.at.empty()) throw UsageError("--fix and --at need each other");
        return parts;
    }

    bool overrides() const {
        return !(options_.prior_alpha + options_.prior_mean + options_.prior_variance + options_.prior_shape +
                 options_.prior_rate + options_.prior_dof + options_.prior_inverse_scale)
                    .empty();
    }

    std::string prior_name() const { return overrides() ? "explicit" : options_.prior; }

    std::optional<MixturePrior> prior(const Data& data, const MixtureSpecification& specification, bool full) const {
        const Index columns = static_cast<Index>(data.record.columns.size());
        if (full && !(options_.prior_shape + options_.prior_rate).empty()) {
            throw UsageError(
                "--prior-shape and --prior-rate are of one column, or of diagonal covariances; here it is --prior-dof "
                "and --prior-inverse-scale");
        }
        if (!full && !(options_.prior_dof + options_.prior_inverse_scale).empty()) {
            throw UsageError(
                "--prior-dof and --prior-inverse-scale are of full covariances of several columns; here it is "
                "--prior-shape and --prior-rate");
        }
        if (!overrides() && options_.prior == "auto") return std::nullopt;
        MixturePrior result = options_.prior == "paper" ? MixturePrior::paper(columns, specification.covariance)
                                                        : MixtureModel(data.source, specification).prior();
        if (!options_.prior_alpha.empty()) {
            result.alpha = single("--prior-alpha", options_.prior_alpha);
            if (!(result.alpha >= 1e-6 && result.alpha <= 1e12)) {
                throw UsageError(fmt::format("--prior-alpha is {}, but must lie between 1e-6 and 1e12", result.alpha));
            }
        }
        if (!options_.prior_mean.empty()) result.mean = for_columns("--prior-mean", options_.prior_mean, columns);
        if (!options_.prior_variance.empty()) {
            const Vector variance = for_columns("--prior-variance", options_.prior_variance, columns);
            require_positive("--prior-variance", variance.minCoeff());
            result.variance = variance.asDiagonal();
        }
        if (!options_.prior_shape.empty()) {
            result.shape = single("--prior-shape", options_.prior_shape);
            require_positive("--prior-shape", result.shape);
        }
        if (!options_.prior_rate.empty()) {
            result.rate = for_columns("--prior-rate", options_.prior_rate, columns);
            require_positive("--prior-rate", result.rate.minCoeff());
        }
        if (!options_.prior_dof.empty()) {
            result.dof = single("--prior-dof", options_.prior_dof);
            if (!(result.dof > static_cast<double>(columns - 1))) {
                throw UsageError(
                    fmt::format("--prior-dof is {}, but must be larger than {}, the number of columns "
                                "less one",
                                result.dof, columns - 1));
            }
        }
        if (!options_.prior_inverse_scale.empty()) {
            const Vector scale = for_columns("--prior-inverse-scale", options_.prior_inverse_scale, columns);
            require_positive("--prior-inverse-scale", scale.minCoeff());
            result.inverse_scale = scale.asDiagonal();
        }
        return result;
    }

    static std::vector<std::string> warnings(const MixtureFit& fit) {
        std::vector<std::string> result;
        if (fit.optimum.converged() && fit.finalists > 1 && fit.finalists_at_best == 1) {
            result.push_back(fmt::format(
                "only one of the {} best starts reached this optimum, so there may be a better one: try more "
                "--restarts",
                fit.finalists));
        }
        return result;
    }

    const Options& options_;
};

}  // namespace

void add_fit_mixture(CLI::App& fit, Run& run) {
    const auto options = std::make_shared<Options>();
    CLI::App* command = fit.add_subcommand("mixture", "Fit a normal mixture");
    options->data.add_to(*command);
    command->add_option("-k,--components", options->components, "Number of components")
        ->required()
        ->check(CLI::Range(1, 100000).description("1 or more"));
    options->common.add_to(*command);
    command->add_option("--weights", options->data.weights, "Column of row weights");
    command->add_option("--covariance", options->covariance, "Of several columns: full (default) or diagonal")
        ->check(CLI::IsMember({"full", "diagonal"}).description(""))
        ->type_name("full|diagonal");
    command->add_option("--fix", options->fix, "Hold parts at given values: weights, means, precisions");
    command->add_option("--at", options->at, "The values of --fix: a fit file, or JSON with a list for each part");
    command->add_option("--restarts", options->restarts, "Starts that compete (default 16)")
        ->check(CLI::Range(1, 1000000).description("1 or more"));
    add_threads(*command, options->threads);
    const char* priors = "Priors, in the data's units";
    command->add_option("--prior", options->prior, "auto (default: on standardised columns) or paper")
        ->check(CLI::IsMember({"auto", "paper"}).description(""))
        ->type_name("paper|auto")
        ->group(priors);
    const auto prior = [&](const std::string& name, std::string& value, const std::string& description) {
        command->add_option(name, value, description)->group(priors)->type_name("NUMBER");
    };
    prior("--prior-alpha", options->prior_alpha, "Dirichlet parameter of the weights");
    prior("--prior-mean", options->prior_mean, "Mean of the component means");
    prior("--prior-variance", options->prior_variance, "Variance of the component means");
    prior("--prior-shape", options->prior_shape, "Gamma shape of the precisions");
    prior("--prior-rate", options->prior_rate, "Gamma rate of the precisions");
    prior("--prior-dof", options->prior_dof, "Wishart degrees of freedom (full covariances)");
    prior("--prior-inverse-scale", options->prior_inverse_scale,
          "Diagonal of the Wishart's inverse scale (full covariances)");
    command->callback([options, &run] { run = [options] { return MixtureCommand(*options).run(); }; });
}

}  // namespace lrvb::cli
