#include "kind/soundness.hpp"

#include "base/messages.hpp"
#include "linalg/semidefinite.hpp"

#include <lrvb/kind/kind.hpp>
#include <lrvb/posterior/quantiles.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <unordered_map>
#include <unordered_set>

namespace lrvb::detail {

namespace {

// Written so that they are read back as they were; a little is left for other programs' printing.
constexpr double kSame = 1e-6;

bool is_same(double left, double right) {
    return std::abs(left - right) <= kSame * std::max({std::abs(left), std::abs(right), 1e-300});
}

void require_distinct(const std::vector<std::string>& names, const std::string& what, const Fields& fields) {
    std::unordered_set<std::string_view> seen;
    for (const std::string& name : names) {
        if (!seen.insert(name).second) fields.refuse(what, fmt::format("has {} twice", shown(name)));
    }
}

void require_sound_outcome(const FitFile& fit, const Fields& fields) {
    if (fields.fields("outcome").flag("converged") != fit.converged()) {
        fields.refuse("outcome.converged",
                      fmt::format("contradicts the termination '{}'", to_string(fit.outcome.termination)));
    }
    if (fit.outcome.step < 0.0) fields.refuse("outcome.step", "is negative");
    if (!fit.converged()) return;
    if (!std::isfinite(fit.outcome.bound)) fields.refuse("outcome.bound", "is no number, though the fit converged");
    // A tolerance may be anything, but a fit that could still move by much has not converged.
    if (!(fit.outcome.step <= std::max(fit.options.tolerance, 0.01))) {
        fields.refuse("outcome.step", "is no small number, though the fit converged");
    }
    if (!fit.posterior.has_response()) {
        fields.refuse("posterior.covariance", "is missing, though the fit converged");
    }
}

void require_covariance(const std::shared_ptr<const Covariance>& covariance, const std::string& what,
                        const Fields& fields) {
    const Matrix* matrix = covariance ? covariance->matrix() : nullptr;
    if (matrix == nullptr) return;
    for (Index s = 0; s < matrix->rows(); ++s) {
        if ((*matrix)(s, s) < 0.0) fields.refuse(what, fmt::format("has a negative variance in row {}", s + 1));
    }
    if (!is_covariance(*matrix)) fields.refuse(what, "is not positive semi-definite, as a covariance is");
}

bool is_possible(const Transform& transform, double value) {
    // Bounds are written as they are, and read as an origin and a unit.
    const double nearly = transform.is_plain() ? 0.0 : 1e-12;
    const double plain = (value - transform.origin) / transform.unit;
    switch (transform.kind) {
        case Transform::Kind::exponential:
            return plain >= -nearly;
        case Transform::Kind::logistic:
            return plain >= -nearly && plain <= 1.0 + nearly;
        case Transform::Kind::negative:
        case Transform::Kind::log_logistic:
            return plain <= nearly;
        case Transform::Kind::correlation:
            return plain >= -1.0 && plain <= 1.0;
        case Transform::Kind::identity:
            break;
    }
    return true;
}

// Every statistic is a variable of the same name.
void require_sound_variables(const Posterior& posterior, const Fields& fields) {
    std::unordered_map<std::string_view, const PosteriorVariable*> variables;
    for (const PosteriorVariable& variable : posterior.variables) {
        if (!variables.emplace(variable.name, &variable).second) {
            fields.refuse("posterior.variables", fmt::format("has {} twice", shown(variable.name)));
        }
        if (!is_possible(variable.unbounded.transform, variable.mean)) {
            fields.refuse("posterior.variables", fmt::format("says that the mean of {} is {}, which it cannot be",
                                                             shown(variable.name), variable.mean));
        }
    }
    for (std::size_t s = 0; s < posterior.statistics.size(); ++s) {
        const std::string& name = posterior.statistics[s];
        const auto found = variables.find(name);
        if (found == variables.end()) {
            fields.refuse("posterior.statistics", fmt::format("has {}, which is no variable", shown(name)));
        }
        const PosteriorVariable& variable = *found->second;
        const auto at = static_cast<Index>(s);
        if (!is_same(variable.mean, posterior.mean[at])) {
            fields.refuse("posterior.mean", fmt::format("says that {} is {}, but posterior.variables {}", shown(name),
                                                        posterior.mean[at], variable.mean));
        }
        if (variable.gradient != Gradient{{at, 1.0}}) {
            fields.refuse("posterior.variables", fmt::format("has a gradient of {} that is another's", shown(name)));
        }
    }
}

// An interval is about its centre, which on the unbounded scale is not far from the mean: for log τ of a Gamma variable
// of shape a the distance is log a − ψ(a), less than 1 + sd(log τ).
void require_centres(const Posterior& posterior, bool is_corrected, const Fields& fields) {
    constexpr double kFar = 10.0;
    const std::shared_ptr<const Covariance>& covariance =
        posterior.has_response() ? posterior.covariance : posterior.mean_field_covariance;
    if (covariance->matrix() == nullptr) return;
    std::vector<Index> all(posterior.variables.size());
    std::iota(all.begin(), all.end(), Index{0});
    const Vector sds = covariance->variances(posterior.unbounded_gradients(all)).cwiseMax(0.0).cwiseSqrt();
    const Vector own = covariance->variances(posterior.gradients(all)).cwiseMax(0.0).cwiseSqrt();
    for (std::size_t v = 0; v < all.size(); ++v) {
        const PosteriorVariable& variable = posterior.variables[v];
        // On its own scale the interval of what has few values may be narrow, and not about the mean.
        const bool is_itself = variable.unbounded.transform == Transform::identity;
        const double sd = std::max(sds[static_cast<Index>(v)], is_itself ? own[static_cast<Index>(v)] : 0.0);
        const double mean = unbounded_values(variable.unbounded.transform, Vector{{variable.mean}})[0];
        if (!std::isfinite(sd))
            fields.refuse("posterior.variables", fmt::format("gives {} no sd", shown(variable.name)));
        if (!std::isfinite(mean) || is_corrected) continue;  // a weight of one; a mean that a heavy tail makes
        if (std::abs(mean - variable.unbounded.centre) > kFar * (1.0 + sd) + kSame * std::abs(mean)) {
            fields.refuse("posterior.variables",
                          fmt::format("has a centre of {} that is far from its mean", shown(variable.name)));
        }
    }
}

// Quantiles are those of draws that also have the mean and the sd of the variable: no more than a share p of these is
// √((1 − p)/p) sds below the mean, whatever they are. As quantiles between and beyond draws are not quite theirs, some
// is left to that.
void require_sound_quantiles(const PosteriorVariable& variable, double sd, const Fields& fields) {
    constexpr double kBeyond = 3.0;
    const auto refuse = [&](const std::string& reason) {
        fields.refuse("posterior.variables", fmt::format("has quantiles of {} {}", shown(variable.name), reason));
    };
    for (Index i = 0; i < variable.quantiles.size(); ++i) {
        const double quantile = variable.quantiles[i];
        if (i > 0 && quantile < variable.quantiles[i - 1]) refuse("that do not ascend");
        if (!is_possible(variable.unbounded.transform, quantile)) {
            refuse(fmt::format("of which one is {}, which it cannot be", quantile));
        }
        if (variable.moments != TailMoments::mean_and_sd) continue;  // its mean and sd stand in for what there is not
        const double p = kQuantileProbabilities[static_cast<std::size_t>(i)];
        const double most = quantile < variable.mean ? std::sqrt((1.0 - p) / p) : std::sqrt(p / (1.0 - p));
        if (std::abs(quantile - variable.mean) > kBeyond * most * sd + kSame * std::abs(variable.mean)) {
            refuse("that its mean and sd contradict");
        }
    }
}

// A correction by draws gives quantiles to all variables that are not held, or (before 1.5) to none.
void require_sound_quantiles(const FitFile& fit, const Fields& fields) {
    const std::vector<PosteriorVariable>& variables = fit.posterior.variables;
    const auto has_quantiles = [](const PosteriorVariable& variable) { return variable.quantiles.size() > 0; };
    const auto first = std::find_if(variables.begin(), variables.end(), has_quantiles);
    if (first == variables.end()) {
        if (fields.fields("posterior").has("probabilities"))
            fields.refuse("posterior.probabilities", "are those of no quantiles");
        return;
    }
    if (!fit.correction) {
        fields.refuse("posterior.variables",
                      fmt::format("has quantiles of {}, though no draws corrected the fit", shown(first->name)));
    }
    std::vector<Index> all(variables.size());
    std::iota(all.begin(), all.end(), Index{0});
    const Vector sds = fit.posterior.sds(all);
    for (std::size_t v = 0; v < variables.size(); ++v) {
        const double sd = sds[static_cast<Index>(v)];
        const bool may_lack = variables[v].meaning.is_local && fit.posterior.marginals;  // one of very many
        if (sd > 0.0 && !has_quantiles(variables[v]) && !may_lack) {
            fields.refuse("posterior.variables", fmt::format("has quantiles of {}, but none of {}", shown(first->name),
                                                             shown(variables[v].name)));
        }
        require_sound_quantiles(variables[v], sd, fields);
    }
}

void require_sound_prior(const FitFile& fit, const Fields& fields) {
    std::unordered_set<std::string> known;
    for (const PriorNumber& number : fit.model->prior(fit.data)) known.insert(number.name);
    for (const std::string& name : fit.posterior.hyperparameters) {
        if (!known.contains(name)) {
            fields.refuse("posterior.hyperparameters",
                          fmt::format("has {}, which is no number of the prior", shown(name)));
        }
    }
}

// What was found to be right to a tenth is not wrong by all of it.
void require_verdicts(const CheckResult& check, const Posterior& posterior, const Fields& fields) {
    constexpr double kWrong = 2.0;
    if (!posterior.has_response()) return;
    std::vector<Index> all(posterior.variables.size());
    std::iota(all.begin(), all.end(), Index{0});
    const Vector sds = posterior.sds(all);
    for (std::size_t v = 0; v < all.size(); ++v) {
        const CheckedVariable& variable = check.variables[v];
        const double sd = sds[static_cast<Index>(v)];
        if (variable.verdict != "ok") continue;
        const double shift = std::abs(variable.mean_exact - posterior.variables[v].mean);
        if (shift <= variable.sd_exact && sd <= kWrong * variable.sd_exact && variable.sd_exact <= kWrong * sd)
            continue;
        fields.refuse("check.verdicts",
                      fmt::format("says that {} is ok, which the numbers contradict", shown(variable.name)));
    }
}

void require_sound_check(const CheckResult& check, const Posterior& posterior, const Fields& fields) {
    if (check.draws < 1) fields.refuse("check.draws", "is 0");
    if (check.ess < 0.0) fields.refuse("check.ess", "is negative");
    for (std::size_t v = 0; v < check.variables.size(); ++v) {
        const CheckedVariable& variable = check.variables[v];
        if (variable.sd_exact < 0.0) {
            fields.refuse("check.sd", fmt::format("has a negative sd of {}", shown(variable.name)));
        }
        if (variable.verdict.empty()) {
            fields.refuse("check.verdicts", fmt::format("has none of {}", shown(variable.name)));
        }
        const bool is_judged = !posterior.variables[v].meaning.is_auxiliary;
        const bool is_fine = variable.verdict == "ok" || variable.verdict == "fixed" || !is_judged;
        if (check.verdict == CheckVerdict::ok && !is_fine) {
            fields.refuse("check.verdict",
                          fmt::format("is 'ok', but that of {} is {}", shown(variable.name), shown(variable.verdict)));
        }
    }
}

}  // namespace

void require_sound_columns(const DataRecord& data, const Fields& fields) {
    require_distinct(data.columns, "data.columns", fields);
}

void require_sound_parameters(const std::vector<ParameterRecord>& parameters, const Fields& fields) {
    std::unordered_set<std::string_view> names;
    for (std::size_t j = 0; j < parameters.size(); ++j) {
        const ParameterRecord& record = parameters[j];
        const std::string what = fmt::format("parameters[{}]", j + 1);
        const auto refuse = [&](const std::string& part, const std::string& reason) {
            fields.refuse(what + part, fmt::format("{} (of {})", reason, shown(record.name)));
        };
        if (record.name.empty()) fields.refuse(what + ".name", "is empty");
        if (!names.insert(record.name).second) refuse(".name", "stands there twice");
        const std::optional<AnyFamily> family = family_of(record);
        if (!family) {
            refuse(".family", fmt::format("is no family that is known with {} statistics", record.natural.size()));
        }
        if (record.clamped) {
            if (record.standard.size() > 0) refuse(".standard", "is of one that is not clamped");
            continue;
        }
        std::visit(
            [&](const auto& own) {
                if (const std::string error = own.domain_error(record.natural); !error.empty()) {
                    refuse(".natural", fmt::format("is outside of its domain: {}", error));
                }
                const auto require = [&](const std::string& part, const Vector& kept, const Vector& computed) {
                    if (kept.size() != computed.size()) refuse(part, "has another size than its family");
                    // A mean next to zero is a difference of larger numbers: compared with the others.
                    const double largest = computed.size() > 0 ? computed.cwiseAbs().maxCoeff() : 0.0;
                    if (!((kept - computed).cwiseAbs().maxCoeff() <= kSame * largest)) {
                        refuse(part, "contradicts its natural parameter");
                    }
                };
                require(".mean", record.mean, own.mean(record.natural));
                require(".standard", record.standard, own.standard(record.natural));
            },
            *family);
    }
}

void require_sound(const FitFile& fit, const Fields& fields) {
    require_sound_outcome(fit, fields);
    if (fit.data.total_weight < 0.0) fields.refuse("data.total_weight", "is negative");
    if (fit.options.tolerance < 0.0) fields.refuse("options.tolerance", "is negative");
    require_distinct(fit.posterior.statistics, "posterior.statistics", fields);
    require_distinct(fit.posterior.hyperparameters, "posterior.hyperparameters", fields);
    require_sound_variables(fit.posterior, fields);
    require_sound_prior(fit, fields);
    require_covariance(fit.posterior.covariance, "posterior.covariance", fields);
    require_covariance(fit.posterior.mean_field_covariance, "posterior.covariance_mfvb", fields);
    require_centres(fit.posterior, fit.correction.has_value(), fields);
    require_sound_quantiles(fit, fields);
    if (fit.check) {
        require_sound_check(*fit.check, fit.posterior, fields);
        require_verdicts(*fit.check, fit.posterior, fields);
    }
    if (fit.correction && !check_method(fit.correction->method)) {
        fields.refuse("correction.method", "is none that is known");
    }
    if (fit.correction && fit.correction->ess < 0.0) fields.refuse("correction.ess", "is negative");
    if (fit.correction && fit.correction->mean_error.value_or(0.0) < 0.0) {
        fields.refuse("correction.mean_error", "is negative");
    }
    if (fit.correction && fit.correction->sd_error.value_or(0.0) < 0.0) {
        fields.refuse("correction.sd_error", "is negative");
    }
    if (fit.correction && fit.correction->response_mean.size() > 0) {
        if (fit.correction->response_mean.size() != static_cast<Index>(fit.posterior.variables.size())) {
            fields.refuse("correction.response", "has another number of variables than the posterior");
        }
        if (!(fit.correction->response_sd.minCoeff() >= 0.0)) {
            fields.refuse("correction.response.sd", "holds a negative sd");
        }
    }
    fit.model->require_agreement(fit, fields);
}

}  // namespace lrvb::detail
