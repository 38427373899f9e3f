#include "check/target.hpp"

#include <lrvb/check/check.hpp>
#include <lrvb/posterior/quantiles.hpp>
#include <lrvb/sample/pareto.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <unordered_map>

namespace lrvb {

namespace {

bool is_fixed(const CheckedVariable& variable) {
    return variable.verdict == "fixed";
}

// The numbers of an integration, where `after` has all variables as statistics already.
Posterior integrated_posterior(Posterior after, const IntegratedPosterior& exact,
                               const std::vector<Index>& variable_of) {
    const auto size = static_cast<Index>(variable_of.size());
    Matrix covariance(size, size);
    after.mean.resize(size);
    std::vector<Index> position(after.variables.size());
    for (Index s = 0; s < size; ++s) {
        const Index variable = variable_of[static_cast<std::size_t>(s)];
        position[static_cast<std::size_t>(variable)] = s;
        after.mean[s] = exact.mean[variable];
        for (Index other = 0; other < size; ++other) {
            covariance(other, s) = exact.covariance(variable_of[static_cast<std::size_t>(other)], variable);
        }
    }
    after.covariance = std::make_shared<DenseCovariance>(std::move(covariance));
    for (std::size_t v = 0; v < after.variables.size(); ++v) {
        PosteriorVariable& variable = after.variables[v];
        const auto at = static_cast<Index>(v);
        const bool is_free = exact.sd[at] > 0.0;
        variable.mean = exact.mean[at];
        variable.gradient = {{position[v], 1.0}};
        variable.unbounded.centre = exact.unbounded_mean[at];
        variable.unbounded.gradient = {{position[v], is_free ? exact.unbounded_sd[at] / exact.sd[at] : 1.0}};
        variable.quantiles = is_free ? exact.quantiles[v] : Vector();
    }
    return after;
}

// The same of very many variables: means, sds and quantiles are those of the integration, correlations those of the
// response.
Posterior integrated_marginals(const Posterior& before, const IntegratedPosterior& exact, const Vector& response_sds) {
    Posterior after = before;
    std::unordered_map<std::string_view, Index> statistic;
    for (std::size_t s = 0; s < before.statistics.size(); ++s)
        statistic.emplace(before.statistics[s], static_cast<Index>(s));
    for (std::size_t v = 0; v < after.variables.size(); ++v) {
        PosteriorVariable& variable = after.variables[v];
        const auto at = static_cast<Index>(v);
        variable.mean = exact.mean[at];
        variable.unbounded.centre = exact.unbounded_mean[at];
        if (!variable.meaning.is_local && exact.sd[at] > 0.0) variable.quantiles = exact.quantiles[v];
        const auto found = statistic.find(variable.name);
        if (found != statistic.end()) after.mean[found->second] = exact.mean[at];
    }
    after.marginals->sd = exact.sd;
    after.marginals->unbounded_sd = exact.unbounded_sd;
    after.covariance = with_exact_sds(after, response_sds);
    return after;
}

// All variables become statistics of their own, so that each has the mean and sd of its draws and not those of a first-
// order expansion, and the quantiles of its draws. What is fixed stays so, exactly.
Posterior corrected_posterior(const Posterior& before, const Check& check) {
    if (before.mean_field_covariance->matrix() == nullptr && check.integrated && before.marginals) {
        return integrated_marginals(before, *check.integrated, before.marginals->sd);
    }
    if (before.mean_field_covariance->matrix() == nullptr) {
        throw std::invalid_argument("a posterior of so many statistics is not corrected as a whole");
    }
    Posterior after = before;
    // Where each variable stands among the statistics: those that are none yet are appended.
    std::unordered_map<std::string, Index> position;
    std::vector<Eigen::Triplet<double>> gradients;
    const Index statistics = static_cast<Index>(before.statistics.size());
    for (Index s = 0; s < statistics; ++s) {
        position[before.statistics[static_cast<std::size_t>(s)]] = s;
        gradients.emplace_back(static_cast<int>(s), static_cast<int>(s), 1.0);
    }
    for (const PosteriorVariable& variable : before.variables) {
        const Index at = static_cast<Index>(after.statistics.size());
        if (!position.try_emplace(variable.name, at).second) continue;
        after.statistics.push_back(variable.name);
        for (const auto& [s, slope] : variable.gradient) {
            gradients.emplace_back(static_cast<int>(s), static_cast<int>(at), slope);
        }
    }
    const Index size = static_cast<Index>(after.statistics.size());
    after.derived_statistics = before.derived_statistics + size - statistics;
    SparseMatrix extension(statistics, size);
    extension.setFromTriplets(gradients.begin(), gradients.end());
    // What varies with hardly any probability has a variance that rounding may make negative.
    Matrix mean_field = before.mean_field_covariance->between(extension, extension);
    mean_field.diagonal() = mean_field.diagonal().cwiseMax(0.0);
    after.mean_field_covariance = std::make_shared<DenseCovariance>(std::move(mean_field));
    after.sensitivities = extension.transpose() * before.sensitivities;
    std::unordered_map<std::string, Index> row;
    for (std::size_t i = 0; i < check.variables.size(); ++i) row[check.variables[i].name] = static_cast<Index>(i);

    std::vector<Index> variable_of(static_cast<std::size_t>(size));  // the variable that each statistic is
    for (const auto& [name, at] : position) {
        const auto known = row.find(name);
        if (known == row.end()) {
            throw std::invalid_argument(fmt::format(
                "the fit cannot be corrected: '{}' is a statistic of the posterior, but no variable of that name has "
                "its value at a draw: report it as one",
                name));
        }
        variable_of[static_cast<std::size_t>(at)] = known->second;
    }
    if (check.integrated) return integrated_posterior(std::move(after), *check.integrated, variable_of);
    Matrix values(size, check.values.cols());
    for (Index at = 0; at < size; ++at) values.row(at) = check.values.row(variable_of[static_cast<std::size_t>(at)]);
    const Eigen::ArrayXd weights = weights_of(check.log_weights);
    for (Index at = 0; at < size; ++at) values.row(at) = detail::counted_values(values.row(at), weights);
    NormalApproximation moments = weighted_moments(values, check.log_weights);
    for (const auto& [name, at] : position) {
        if (!is_fixed(check.variables[static_cast<std::size_t>(row.at(name))])) continue;
        moments.mean[at] = check.variables[static_cast<std::size_t>(row.at(name))].mean_exact;
        moments.covariance.row(at).setZero();
        moments.covariance.col(at).setZero();
    }
    after.mean = moments.mean;
    after.covariance = std::make_shared<DenseCovariance>(0.5 * (moments.covariance + moments.covariance.transpose()));
    for (PosteriorVariable& variable : after.variables) {
        const Index at = position.at(variable.name);
        variable.mean = moments.mean[at];
        variable.gradient = {{at, 1.0}};
        Vector scale = unbounded_values(variable.unbounded.transform, values.row(at));
        if (!scale.allFinite()) {  // at a bound, as indicators are
            variable.unbounded.transform = Transform::identity;
            scale = values.row(at);
        }
        const NormalApproximation own = weighted_moments(scale.transpose(), check.log_weights);
        const double variance = moments.covariance(at, at);
        const double slope = variance > 0.0 ? std::sqrt(own.covariance(0, 0) / variance) : 1.0;
        variable.unbounded.centre = variance > 0.0 ? own.mean[0] : scale[0];
        variable.unbounded.gradient = {{at, slope}};
        variable.quantiles = Vector();
        if (variance > 0.0) {
            variable.quantiles = draw_quantiles(variable.unbounded.transform, values.row(at), check.log_weights);
        }
    }
    return after;
}

void set_errors(const Posterior& posterior, const Check& check, CorrectionRecord& record) {
    double of_mean = 0.0;
    double of_sd = 0.0;
    for (std::size_t v = 0; v < check.variables.size(); ++v) {
        const CheckedVariable& variable = check.variables[v];
        const VariableMeaning& meaning = posterior.variables[v].meaning;
        // The indicator of a rare label has its sd from few draws, and no other number rests on it.
        const bool is_judged = detail::is_telling(meaning) || (meaning.may_be_infinite && !meaning.is_auxiliary);
        if (is_fixed(variable) || !is_judged || variable.moments() != TailMoments::mean_and_sd) continue;
        of_mean = std::max(of_mean, variable.mean_se);
        of_sd = std::max(of_sd, variable.ratio_se / variable.ratio);
    }
    if (std::isfinite(of_mean)) record.mean_error = of_mean;
    if (std::isfinite(of_sd)) record.sd_error = of_sd;
}

}  // namespace

void detail::require_one_optimum(const FitFile& fit) {
    if (fit.other_optima.empty()) return;
    throw std::invalid_argument(fmt::format(
        "the fit cannot be corrected by draws about one optimum: {}; report {}, or give a prior that decides "
        "between them",
        other_optima_text(fit.posterior, fit.other_optima), fit.other_optima.size() == 1 ? "both" : "all of them"));
}

FitFile corrected(const FitFile& fit, const Check& check) {
    detail::require_one_optimum(fit);
    if (!check.reliable) {
        throw std::invalid_argument(fmt::format("the fit cannot be corrected by these draws: {}", check.trust));
    }
    FitFile result = fit;
    result.posterior = corrected_posterior(fit.posterior, check);
    if (fit.model) {
        const CorrectionDraws draws{fit.posterior, check.values, check.log_weights};
        if (std::shared_ptr<const ModelRecord> model = fit.model->corrected(draws)) result.model = std::move(model);
    }
    CorrectionRecord record;
    record.response_mean.resize(static_cast<Index>(check.variables.size()));
    record.response_sd.resize(record.response_mean.size());
    std::vector<Index> all(check.variables.size());
    std::iota(all.begin(), all.end(), Index{0});
    const Vector sds = fit.posterior.sds(all);
    for (std::size_t v = 0; v < check.variables.size(); ++v) {
        const auto at = static_cast<Index>(v);
        const bool has_moments = fit.posterior.variables[v].moments == TailMoments::mean_and_sd;
        record.response_mean[at] = has_moments ? check.variables[v].mean_lrvb : fit.posterior.variables[v].mean;
        record.response_sd[at] = has_moments ? check.variables[v].sd_lrvb : sds[at];
    }
    if (check.integrated) {
        record.how = check.integrated->how;
    } else {
        set_errors(fit.posterior, check, record);
    }
    for (std::size_t v = 0; v < check.variables.size(); ++v) {
        result.posterior.variables[v].moments =
            std::max(fit.posterior.variables[v].moments, check.variables[v].moments());
    }
    record.method = to_string(check.method);
    record.draws = check.draws;
    record.seed = check.seed;
    record.ess = check.ess;
    if (std::isfinite(check.k_hat)) record.k_hat = check.k_hat;
    if (std::isfinite(check.r_hat)) record.r_hat = check.r_hat;
    std::size_t row = 0;
    for (const CheckedVariable& variable : check.variables) {
        const PosteriorVariable& known = fit.posterior.variables[row++];
        // What never has moments is no news.
        if (variable.moments() != TailMoments::mean_and_sd && known.moments == TailMoments::mean_and_sd &&
            (!check.integrated || known.meaning.is_shown)) {
            result.warnings.push_back(
                fmt::format("{} has a heavy tail: no {} that draws can tell. Use its median and quantiles",
                            variable.name, variable.moments() == TailMoments::none ? "mean and no sd" : "sd"));
        }
        if (!variable.verdict.starts_with("no number")) continue;
        result.warnings.push_back(
            fmt::format("{} is {}: infinite or undefined there; what is shown of it is of the other draws",
                        variable.name, variable.verdict));
    }
    result.correction = record;
    result.check.reset();  // it spoke of the means before
    return result;
}

}  // namespace lrvb
