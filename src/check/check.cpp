#include "check/reported.hpp"
#include "family/validate.hpp"

#include <lrvb/check/check.hpp>
#include <lrvb/sample/diagnostics.hpp>
#include <lrvb/sample/mode.hpp>
#include <lrvb/sample/model_density.hpp>
#include <lrvb/sample/pareto.hpp>

#include <fmt/ranges.h>

#include <cmath>
#include <limits>

namespace lrvb {

namespace {

constexpr double kNothing = std::numeric_limits<double>::quiet_NaN();
constexpr double kLargestKHat = 1.0;
constexpr double kDoubtfulRHat = 1.1;
constexpr double kStandardErrors = 2.0;

// Draws of the density, as a check keeps them; returns the points.
Matrix draw_importance(const ModelDensity& density, const NormalApproximation& approximation, Check& check) {
    ImportanceOptions options;
    options.draws = check.options.draws;
    options.seed = check.options.seed;
    options.threads = check.options.threads;
    ImportanceSample sample = importance_sample(density, approximation, options);
    check.ess = sample.ess;
    check.k_hat = sample.k_hat;
    check.rounds = sample.rounds;
    check.acceptance = check.r_hat = kNothing;
    check.log_density = std::move(sample.log_density);
    check.log_proposal = std::move(sample.log_proposal);
    check.log_weights = std::move(sample.log_weights);
    const double threshold = pareto_threshold(check.options.draws);
    if (check.k_hat < threshold) {
        check.verdict = CheckVerdict::ok;
        check.trust =
            fmt::format("k-hat {:.2f} is below {:.2f}: the exact numbers can be relied on", check.k_hat, threshold);
    } else if (check.k_hat < kLargestKHat) {
        check.verdict = CheckVerdict::doubtful;
        check.trust = fmt::format(
            "k-hat {:.2f} is above {:.2f}: the exact numbers are doubtful; take more draws, or Metropolis-Hastings",
            check.k_hat, threshold);
    } else {
        check.trust = fmt::format(
            "k-hat {:.2f} is above 1: the exact numbers are not to be used; take Metropolis-Hastings", check.k_hat);
    }
    return std::move(sample.points);
}

Matrix draw_metropolis(const ModelDensity& density, const NormalApproximation& approximation, Check& check) {
    ModeOptions mode_options;
    mode_options.threads = check.options.threads;
    const Mode mode = find_mode(density, approximation, mode_options);
    MetropolisOptions options;
    options.draws = check.options.draws;
    options.seed = check.options.seed;
    options.threads = check.options.threads;
    MetropolisSample sample = metropolis_hastings(density, {mode.point, approximation.covariance}, options);
    check.options.draws = sample.points.cols();  // a multiple of the chains
    check.chains = sample.chains;
    check.ess = sample.ess;
    check.acceptance = sample.acceptance;
    check.r_hat = sample.r_hat;
    check.random_walk = sample.random_walk;
    check.k_hat = kNothing;
    check.log_density = std::move(sample.log_density);
    check.log_weights = Vector::Constant(check.options.draws, -std::log(static_cast<double>(check.options.draws)));
    const std::string moves =
        fmt::format("R-hat {:.3f} over {} chains, {:.0f}% of {} moves accepted", sample.r_hat, sample.chains,
                    100.0 * sample.acceptance, sample.random_walk ? "random-walk" : "independence");
    if (sample.reliable()) {
        check.verdict = CheckVerdict::ok;
        check.trust = fmt::format("{}: the exact numbers can be relied on", moves);
    } else if (sample.r_hat < kDoubtfulRHat) {
        check.verdict = CheckVerdict::doubtful;
        check.trust = fmt::format("{}: the exact numbers are doubtful; take more draws", moves);
    } else {
        check.trust = fmt::format(
            "{}: the exact numbers are not to be used; chains disagree, so take many more draws, or another fit",
            moves);
    }
    return std::move(sample.points);
}

struct Moments {
    double mean = 0.0;
    double sd = 0.0;
    // Monte Carlo standard errors, in sds.
    double mean_error = 0.0;
    double sd_error = 0.0;
};

Moments moments_of(const Vector& values, const Vector& weights, const Check& check) {
    Moments moments;
    moments.mean = weights.dot(values);
    const Eigen::ArrayXd squares = (values.array() - moments.mean).square();
    const double variance = weights.dot(squares.matrix());
    if (!(variance > 1e-28 * moments.mean * moments.mean)) return moments;  // fixed, but for rounding
    moments.sd = std::sqrt(variance);
    // Errors of self-normalised weights; draws of chains count for fewer, as many as their effective size says.
    double inflation = 1.0;
    if (check.chains > 0) {
        const Matrix chains = Eigen::Map<const Matrix>(values.data(), values.size() / check.chains, check.chains);
        inflation = std::sqrt(static_cast<double>(values.size()) / effective_sample_size(chains));
    }
    moments.mean_error = inflation * std::sqrt((weights.array().square() * squares).sum() / variance);
    moments.sd_error =
        inflation * std::sqrt((weights.array().square() * (squares - variance).square()).sum()) / (2.0 * variance);
    return moments;
}

std::string verdict_of(const CheckedVariable& variable, const Moments& exact) {
    std::string verdict;
    if (std::abs(variable.shift) > std::max(kCheckTolerance, kStandardErrors * exact.mean_error)) {
        verdict = fmt::format("mean off by {:+.2f} sd", variable.shift);
    }
    if (std::abs(variable.ratio - 1.0) > std::max(kCheckTolerance, kStandardErrors * exact.sd_error)) {
        if (!verdict.empty()) verdict += ", ";
        verdict += fmt::format("sd off by {:+.0f}%", 100.0 * (variable.ratio - 1.0));
    }
    return verdict.empty() ? "ok" : verdict;
}

void compare(const Posterior& posterior, Check& check) {
    std::vector<Index> all(posterior.variables.size());
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<Index>(i);
    const std::vector<Posterior::Row> rows = posterior.summary(all, 0.9);
    const Vector weights = check.log_weights.array().exp();
    std::vector<std::string> off;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const Moments exact = moments_of(check.values.row(static_cast<Index>(i)), weights, check);
        CheckedVariable variable{rows[i].name, rows[i].mean, rows[i].sd, exact.mean, exact.sd, 0.0, kNothing, "fixed"};
        if (exact.sd > 0.0) {
            variable.shift = (variable.mean_lrvb - exact.mean) / exact.sd;
            variable.ratio = variable.sd_lrvb / exact.sd;
            variable.verdict = check.verdict == CheckVerdict::unchecked ? "not checked" : verdict_of(variable, exact);
            if (variable.verdict != "ok") off.push_back(variable.name);
        }
        check.variables.push_back(std::move(variable));
    }
    if (check.verdict == CheckVerdict::unchecked) {
        check.message = "the draws are not good enough to tell";
        return;
    }
    check.message = "every mean is within 0.1 sd of the exact one, and every sd within 10%";
    if (off.empty()) return;
    if (check.verdict == CheckVerdict::ok) check.verdict = CheckVerdict::off;
    constexpr std::size_t most = 6;
    check.message = fmt::format(
        "{} of {} variables {} off by more than 10%: {}", off.size(), rows.size(), off.size() == 1 ? "is" : "are",
        fmt::join(off.begin(), off.begin() + static_cast<std::ptrdiff_t>(std::min(most, off.size())), ", "));
    if (off.size() > most) check.message += ", …";
}

// The optimum that a file describes: the fit begins where it ended.
Optimum optimum_of(const FitFile& fit, const Model& model) {
    if (!fit.converged()) {
        throw NotAnOptimum(fmt::format("the fit did not converge ({}), so there is no answer to check: fit again",
                                       to_string(fit.outcome.termination)));
    }
    FitOptions options;
    options.initial = fit.state(model.layout());
    options.first_sweeps = 0;
    options.tolerance = std::max(fit.options.tolerance, 1e-12);
    Optimum optimum = lrvb::fit(model, options);
    if (!optimum.converged()) {
        throw NotAnOptimum(fmt::format("the fit is no optimum of these data: {}", optimum.message));
    }
    return optimum;
}

void require_rows(const FitFile& fit, Index rows) {
    if (rows == fit.data.rows) return;
    throw std::runtime_error(fmt::format("the data have {} rows, but the fit is of {}: give the data that were fitted",
                                         rows, fit.data.rows));
}

}  // namespace

std::string_view to_string(CheckVerdict verdict) {
    switch (verdict) {
        case CheckVerdict::ok:
            return "ok";
        case CheckVerdict::off:
            return "off";
        case CheckVerdict::doubtful:
            return "doubtful";
        case CheckVerdict::unchecked:
            break;
    }
    return "not checked";
}

Check check_posterior(const Model& model, const Optimum& optimum, const Posterior& posterior, const Door& in_data_units,
                      const CheckOptions& options) {
    const LinearResponse response(model, optimum);
    const ModelDensity density(model, optimum.state);
    const NormalApproximation approximation = density.chart().approximation(response);
    Check check;
    check.options = options;
    const Matrix points = options.method == CheckMethod::importance ? draw_importance(density, approximation, check)
                                                                    : draw_metropolis(density, approximation, check);
    const std::vector<std::string> names = detail::model_statistics(posterior);
    const Functionals::Resolved statistics = in_data_units(names).resolve(model.layout());
    Matrix values = statistics.weights.transpose() * density.statistics(points, options.threads);
    values.colwise() += statistics.constants;
    check.values = detail::reported_values(posterior, names, values);
    compare(posterior, check);
    return check;
}

Check check_mixture(const FitFile& fit, const std::shared_ptr<RowSource>& rows, const CheckOptions& options) {
    const auto& record = std::get<MixtureRecord>(fit.model);
    MixtureSpecification specification;
    specification.components = record.components;
    specification.covariance = record.covariance;
    specification.prior = record.prior;
    specification.weighted = fit.data.weights.has_value();
    specification.threads = options.threads;
    specification.standardisation = std::pair(record.centre, record.scale);
    const MixtureModel model(rows, specification);
    require_rows(fit, model.rows());
    return check_posterior(
        model, optimum_of(fit, model), fit.posterior,
        [&](const std::vector<std::string>& names) { return model.in_data_units(names); }, options);
}

Check check_regression(const FitFile& fit, const RegressionDesign& design, const CheckOptions& options) {
    const RegressionModel model(design, std::get<RegressionRecord>(fit.model).prior);
    require_rows(fit, model.rows());
    return check_posterior(
        model, optimum_of(fit, model), fit.posterior,
        [&](const std::vector<std::string>& names) { return model.in_data_units(names); }, options);
}

}  // namespace lrvb
