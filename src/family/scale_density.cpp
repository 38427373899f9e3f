#include "family/scale_density.hpp"

#include "base/validate.hpp"
#include "family/special.hpp"

#include <cmath>
#include <numbers>

namespace lrvb::detail {

namespace {

using ScaleKind = ScalePrior::Kind;

}  // namespace

ScaleDensity scale_density(const ScalePrior& prior, double t) {
    switch (prior.kind) {
        case ScaleKind::half_t: {
            // With z = log(x²/df): (1 + x²/df)^−(df+1)/2, whose share of x² is the logistic function of z.
            const double df = prior.first;
            const double scale = prior.second;
            const double z = 2.0 * (t - std::log(scale)) - std::log(df);
            const double rest = 1.0 / (1.0 + std::exp(-z));
            const double share = 1.0 / (1.0 + std::exp(z));
            const double log_share = -softplus(z);
            ScaleDensity density;
            density.value = std::numbers::ln2 + log_gamma_rise(0.5 * df, 0.5) - 0.5 * std::log(df * std::numbers::pi) -
                            std::log(scale) + t + 0.5 * (df + 1.0) * log_share;
            density.slope = 1.0 - (df + 1.0) * rest;
            density.curvature = -2.0 * (df + 1.0) * share * rest;
            density.by_first = 0.5 * (digamma_rise(0.5 * df, 0.5) - 1.0 / df + log_share + (df + 1.0) * rest / df);
            density.by_second = ((df + 1.0) * rest - 1.0) / scale;
            density.slope_by_first = -rest + (df + 1.0) * share * rest / df;
            density.slope_by_second = (df + 1.0) * 2.0 * share * rest / scale;
            return density;
        }
        case ScaleKind::half_normal: {
            const double square = std::exp(2.0 * (t - std::log(prior.first)));
            ScaleDensity density;
            density.value = 0.5 * std::log(2.0 / std::numbers::pi) - std::log(prior.first) + t - 0.5 * square;
            density.slope = 1.0 - square;
            density.curvature = -2.0 * square;
            density.by_first = (square - 1.0) / prior.first;
            density.slope_by_first = 2.0 * square / prior.first;
            return density;
        }
        case ScaleKind::exponential: {
            const double sd = std::exp(t);
            ScaleDensity density;
            density.value = std::log(prior.first) + t - prior.first * sd;
            density.slope = 1.0 - prior.first * sd;
            density.curvature = -prior.first * sd;
            density.by_first = 1.0 / prior.first - sd;
            density.slope_by_first = -sd;
            return density;
        }
        case ScaleKind::gamma_precision: {
            const double precision = std::exp(-2.0 * t);
            ScaleDensity density;
            density.value = std::numbers::ln2 + prior.first * std::log(prior.second) - log_gamma(prior.first) -
                            2.0 * prior.first * t - prior.second * precision;
            density.slope = -2.0 * prior.first + 2.0 * prior.second * precision;
            density.curvature = -4.0 * prior.second * precision;
            density.by_first = std::log(prior.second) - digamma(prior.first) - 2.0 * t;
            density.by_second = prior.first / prior.second - precision;
            density.slope_by_first = -2.0;
            density.slope_by_second = 2.0 * precision;
            return density;
        }
        case ScaleKind::gamma: {
            const double value = std::exp(t);
            ScaleDensity density;
            density.value =
                prior.first * std::log(prior.second) - log_gamma(prior.first) + prior.first * t - prior.second * value;
            density.slope = prior.first - prior.second * value;
            density.curvature = -prior.second * value;
            density.by_first = std::log(prior.second) - digamma(prior.first) + t;
            density.by_second = prior.first / prior.second - value;
            density.slope_by_first = 1.0;
            density.slope_by_second = -value;
            return density;
        }
        case ScaleKind::uniform: {
            ScaleDensity density;
            density.value = t - std::log(prior.second - prior.first);
            density.slope = 1.0;
            density.by_first = 1.0 / (prior.second - prior.first);
            density.by_second = -density.by_first;
            return density;
        }
    }
    return {};
}

ScaleDensity density_above(const ScalePrior& prior, double lower, double psi) {
    const double above = std::exp(psi);
    const double share = above / (lower + above);  // d log x / dψ
    const double t = lower > 0.0 ? std::log(lower + above) : psi;
    const ScaleDensity own = scale_density(prior, t);
    ScaleDensity density;
    density.value = own.value + (psi - t);
    if (lower > 0.0) density.value -= std::log(gamma_beyond(prior.first, prior.second * lower));
    density.slope = (own.slope - 1.0) * share + 1.0;
    density.slope_by_first = own.slope_by_first * share;
    density.slope_by_second = own.slope_by_second * share;
    return density;
}

void require_scale_prior(const ScalePrior& prior, const std::string& of) {
    const std::string who = "the prior of " + of;
    switch (prior.kind) {
        case ScaleKind::half_t:
            require_positive(who, "degrees of freedom", prior.first);
            require_positive(who, "scale", prior.second);
            return;
        case ScaleKind::half_normal:
            require_positive(who, "scale", prior.first);
            return;
        case ScaleKind::exponential:
            require_positive(who, "rate", prior.first);
            return;
        case ScaleKind::gamma_precision:
        case ScaleKind::gamma:
            require_positive(who, "shape", prior.first);
            require_positive(who, "rate", prior.second);
            return;
        case ScaleKind::uniform:
            require_finite(who, "lower bound", prior.first);
            require_positive(who, "upper bound", prior.second);
            if (prior.first < 0.0 || prior.first >= prior.second) {
                throw std::invalid_argument(
                    fmt::format("{}: its bounds are {} and {}, but must be a lower one that is not negative and an "
                                "upper one above it",
                                who, prior.first, prior.second));
            }
            return;
    }
}

}  // namespace lrvb::detail
