#include <lrvb/check/check.hpp>

#include <fmt/format.h>

#include <cmath>
#include <stdexcept>
#include <unordered_map>

namespace lrvb {

namespace {

// The scale on which a variable's interval is taken, as values of the variable become values of it.
Vector unbounded_values(Transform transform, const Vector& values) {
    switch (transform) {
        case Transform::exponential:
            return values.array().log();
        case Transform::logistic:
            return (values.array() / (1.0 - values.array())).log();
        case Transform::log_logistic:
            return values.array() - (-values.array().expm1()).log();
        case Transform::identity:
            break;
    }
    return values;
}

bool is_fixed(const CheckedVariable& variable) {
    return variable.verdict == "fixed";
}

// All variables become statistics of their own, so that each has the mean and sd of its draws and not those of a first-
// order expansion; each interval is taken from the draws on its unbounded scale. What is fixed stays so, exactly.
Posterior corrected_posterior(const Posterior& before, const Check& check) {
    Posterior after = before;
    std::unordered_map<std::string, Index> row;
    for (std::size_t i = 0; i < check.variables.size(); ++i) row[check.variables[i].name] = static_cast<Index>(i);
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
    SparseMatrix extension(statistics, size);
    extension.setFromTriplets(gradients.begin(), gradients.end());
    after.mean_field_covariance = extension.transpose() * Matrix(before.mean_field_covariance * extension);
    after.sensitivities = extension.transpose() * before.sensitivities;

    Matrix values(size, check.values.cols());
    for (const auto& [name, at] : position) values.row(at) = check.values.row(row.at(name));
    NormalApproximation moments = weighted_moments(values, check.log_weights);
    for (const auto& [name, at] : position) {
        if (!is_fixed(check.variables[static_cast<std::size_t>(row.at(name))])) continue;
        moments.mean[at] = check.variables[static_cast<std::size_t>(row.at(name))].mean_exact;
        moments.covariance.row(at).setZero();
        moments.covariance.col(at).setZero();
    }
    after.mean = moments.mean;
    after.covariance = 0.5 * (moments.covariance + moments.covariance.transpose());
    for (PosteriorVariable& variable : after.variables) {
        const Index at = position.at(variable.name);
        variable.mean = moments.mean[at];
        variable.gradient = {{at, 1.0}};
        const Vector scale = unbounded_values(variable.unbounded.transform, values.row(at));
        const NormalApproximation own = weighted_moments(scale.transpose(), check.log_weights);
        const double variance = moments.covariance(at, at);
        const double slope = variance > 0.0 ? std::sqrt(own.covariance(0, 0) / variance) : 1.0;
        variable.unbounded.centre = variance > 0.0 ? own.mean[0] : scale[0];
        variable.unbounded.gradient = {{at, slope}};
    }
    return after;
}

// The coefficients that predictions use: α = intercept + Σ β_j x̄_j, draw by draw, and E σ².
void correct_coefficients(const Check& check, RegressionPosterior& coefficients) {
    const Index count = coefficients.mean.size();
    Matrix values = check.values.topRows(count);  // the intercept, if there is one, and the slopes stand first
    if (coefficients.intercept) {
        values.row(0) += coefficients.centre.transpose() * values.bottomRows(count - 1);
    }
    const NormalApproximation moments = weighted_moments(values, check.log_weights);
    coefficients.mean = moments.mean;
    coefficients.covariance = 0.5 * (moments.covariance + moments.covariance.transpose());
    for (std::size_t i = 0; i < check.variables.size(); ++i) {
        if (check.variables[i].name != "sigma") continue;
        const Vector squares = check.values.row(static_cast<Index>(i)).array().square();
        coefficients.noise_variance = squares.dot(check.log_weights.array().exp().matrix());
    }
}

}  // namespace

CheckRecord record_check(const Check& check) {
    CheckRecord record;
    record.draws = check.options.draws;
    record.seed = check.options.seed;
    record.k_hat = check.k_hat;
    record.ess = check.ess;
    record.verdict = to_string(check.verdict);
    record.message = check.message;
    record.mean.resize(static_cast<Index>(check.variables.size()));
    record.sd.resize(record.mean.size());
    for (std::size_t v = 0; v < check.variables.size(); ++v) {
        record.mean[static_cast<Index>(v)] = check.variables[v].mean_exact;
        record.sd[static_cast<Index>(v)] = check.variables[v].sd_exact;
        record.verdicts.push_back(check.variables[v].verdict);
    }
    return record;
}

FitFile corrected(const FitFile& fit, const Check& check) {
    if (!check.reliable) {
        throw std::invalid_argument(fmt::format("the fit cannot be corrected by these draws: {}", check.trust));
    }
    FitFile result = fit;
    result.posterior = corrected_posterior(fit.posterior, check);
    if (auto* regression = std::get_if<RegressionRecord>(&result.model)) {
        correct_coefficients(check, regression->coefficients);
    }
    CorrectionRecord record;
    record.method = check.options.method == CheckMethod::importance ? "importance" : "mh";
    record.draws = check.options.draws;
    record.seed = check.options.seed;
    record.ess = check.ess;
    if (std::isfinite(check.k_hat)) record.k_hat = check.k_hat;
    if (std::isfinite(check.r_hat)) record.r_hat = check.r_hat;
    result.correction = record;
    result.check.reset();  // it spoke of the means before
    return result;
}

}  // namespace lrvb
