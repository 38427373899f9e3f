#include "base/validate.hpp"
#include "family/dual_newton.hpp"
#include "family/line.hpp"
#include "family/prior_along_log.hpp"
#include "family/scale_density.hpp"
#include "family/special.hpp"

#include <lrvb/family/scale.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace lrvb::family {

namespace {

using ScaleKind = ScalePrior::Kind;
constexpr double kNoBound = std::numeric_limits<double>::infinity();

double power_of(Scale::Of of) {
    switch (of) {
        case Scale::Of::sd:
            return -0.5;
        case Scale::Of::variance:
            return -1.0;
        case Scale::Of::value:
            break;
    }
    return 1.0;
}

// exp(w) − 1 − w, which is w²/2 for small w.
double expm1_excess(double w) {
    if (std::abs(w) > 0.5) return std::expm1(w) - w;
    // Σ w^k/k!, k from 2 on: 17 terms leave 1e-21.
    double sum = 0.0;
    for (int k = 17; k >= 2; --k) sum = (1.0 + sum) * w / static_cast<double>(k);
    return sum * w;
}

}  // namespace

// φ(u) = log h(e^u) + u + η₁ e^u + η₂ u, relative to its value at the origin, u = log of `value`.
class Scale::Density final : public detail::LineDensity {
  public:
    Density(const Scale& scale, double first, double second, double origin_value, double origin_log)
        : value(origin_value),
          log_value(origin_log),
          rate_part(first * origin_value),
          // A multiply-add keeps what two large numbers leave of each other.
          tilt(std::fma(first, origin_value, second)),
          prior_(scale.prior_, scale.power_, origin_log) {
        tail = 2.0;
    }

    double at(double w) const override { return rate_part * expm1_excess(w) + tilt * w + prior_.rise(w); }
    double slope(double w) const override { return rate_part * std::expm1(w) + tilt + prior_.slope(w); }
    double curvature() const { return rate_part + prior_.curvature(); }

    double value;      // of x at the origin
    double log_value;  // its logarithm
    double rate_part;  // η₁ x̂
    double tilt;       // η₁ x̂ + η₂

  private:
    detail::PriorAlongLog prior_;
};

// With w = log x − log x̂ and d = x/x̂ − 1.
struct Scale::Moments {
    double value = 1.0;      // x̂
    double log_value = 0.0;  // log x̂
    double log_integral = 0.0;
    double mean_rise = 0.0;    // E d
    double mean_log = 0.0;     // E w
    double mean_excess = 0.0;  // E(d − w)
    double rate_part = 0.0;    // η₁ x̂
    double tilt = 0.0;         // η₁ x̂ + η₂
    double sd_of_rise = 0.0;
    double cross = 0.0;  // of log x on x/x̂, over its sd: L₂₁
    double rest = 0.0;   // sd of log x that x/x̂ leaves: L₂₂
};

Scale::Scale(const ScalePrior& prior, Of of)
    : prior_(prior), of_(of), power_(power_of(of)), lower_(-kNoBound), upper_(kNoBound) {
    detail::require_scale_prior(prior, "a Scale");
    if (prior.kind == ScaleKind::gamma_precision) {
        throw std::invalid_argument("Scale: a Gamma prior of a precision is the family Gamma; use that");
    }
    if (prior.kind != ScaleKind::uniform) return;
    const double first = prior.first > 0.0 ? std::log(prior.first) / power_ : -kNoBound / power_;
    const double second = std::log(prior.second) / power_;
    lower_ = std::min(first, second);
    upper_ = std::max(first, second);
}

std::vector<std::string> Scale::statistic_names(const std::string& variable) const {
    return {variable, "log_" + variable};
}

std::vector<std::string> Scale::standard_names() const {
    return {"shape", "rate"};
}

std::string Scale::domain_error(const VectorView& natural) const {
    const double rate = 0.0 - natural[0];
    const double shape = natural[1] + 1.0;
    if (!std::isfinite(rate)) return fmt::format("rate {} is not finite", rate);
    if (!std::isfinite(shape)) return fmt::format("shape {} is not finite", shape);
    if (upper_ == kNoBound) {
        const bool on_value = power_ > 0.0;
        if (on_value && prior_.kind == ScaleKind::exponential) {
            if (!(rate > -prior_.first)) return fmt::format("rate {} is not above {}", rate, -prior_.first);
        } else if (!(on_value && prior_.kind == ScaleKind::half_normal) && !(rate > 0.0)) {
            return fmt::format("rate {} is not positive, and under its prior alone it has no mean", rate);
        }
    }
    // The slope of log h(x) x in log x towards zero, where that has no bound.
    double rise = kNoBound;
    if (power_ > 0.0) {
        if (lower_ == -kNoBound) rise = 1.0;
    } else if (prior_.kind == ScaleKind::half_t) {
        rise = -power_ * prior_.first;
    }
    if (!(natural[1] + rise > 0.0)) return fmt::format("shape {} is not above {}", shape, 1.0 - rise);
    return {};
}

Scale::Density Scale::density(const VectorView& natural) const {
    const double first = natural[0];
    const double second = natural[1];
    const bool is_convex = first > 0.0 && upper_ < kNoBound;
    double origin = 0.0;
    if (is_convex && lower_ > -kNoBound) {
        const double rise =
            first * std::exp(lower_) * std::expm1(upper_ - lower_) + (second + power_) * (upper_ - lower_);
        origin = rise > 0.0 ? upper_ : lower_;
    } else {
        const auto slope = [&](double u) {
            return power_ * detail::scale_density(prior_, power_ * u).slope + first * std::exp(u) + second;
        };
        // About where Gamma's is, or the prior's.
        const double guess = first < 0.0 ? std::log(std::max(second, 0.5)) - std::log(-first) : 0.0;
        const double from = std::clamp(guess, lower_, upper_);
        origin = detail::falling_root(slope, lower_, upper_, from, second > 1.0 ? 1.0 / std::sqrt(second) : 1.0);
    }
    const bool at_bound = origin == lower_ || origin == upper_;
    const double value = std::exp(origin);
    // The logarithm of the number, not the number that was rounded to it; but a bound is where it is.
    const double log_value = at_bound ? origin : std::log(value);
    Density result(*this, first, second, value, log_value);
    result.lower = lower_ - log_value;
    result.upper = upper_ - log_value;
    result.is_convex = is_convex && lower_ > -kNoBound;
    result.is_concave = !(first > 0.0);
    const double steepness = std::abs(result.slope(0.0));
    result.width = 1.0 / std::max({std::sqrt(std::abs(result.curvature())), steepness, 1e-3});
    return result;
}

Scale::Moments Scale::moments(const VectorView& natural) const {
    const Density density = this->density(natural);
    const detail::LineRule rule = line_rule(density);
    Moments result;
    result.value = density.value;
    result.log_value = density.log_value;
    result.log_integral = rule.log_integral;
    result.rate_part = density.rate_part;
    result.tilt = density.tilt;
    result.mean_rise = rule.mean([](double w) { return std::expm1(w); });
    result.mean_log = rule.mean([](double w) { return w; });
    result.mean_excess = rule.mean([](double w) { return expm1_excess(w); });
    double variance = 0.0;
    double covariance = 0.0;  // of the excess and the rise
    for (std::size_t i = 0; i < rule.offsets.size(); ++i) {
        const double rise = std::expm1(rule.offsets[i]) - result.mean_rise;
        variance += rule.weights[i] * rise * rise;
        covariance += rule.weights[i] * rise * (expm1_excess(rule.offsets[i]) - result.mean_excess);
    }
    const double slope = covariance / variance;
    // What x leaves of x/x̂ − 1 − log(x/x̂) is what it leaves of log x.
    const double rest = rule.mean([&](double w) {
        const double left = expm1_excess(w) - result.mean_excess - slope * (std::expm1(w) - result.mean_rise);
        return left * left;
    });
    result.sd_of_rise = std::sqrt(variance);
    result.cross = (1.0 - slope) * result.sd_of_rise;
    result.rest = std::sqrt(rest);
    return result;
}

Vector Scale::mean(const VectorView& natural) const {
    const Moments own = moments(natural);
    return Vector{{own.value * (1.0 + own.mean_rise), own.log_value + own.mean_log}};
}

double Scale::log_partition(const VectorView& natural) const {
    const Moments own = moments(natural);
    return log_base_of_log(own.log_value).first + own.rate_part + natural[1] * own.log_value + own.log_integral;
}

// A − ηᵀm, in which η₁ x̂ + η₂ log x̂ has gone.
double Scale::entropy(const VectorView& natural) const {
    const Moments own = moments(natural);
    return log_base_of_log(own.log_value).first + own.log_integral - own.rate_part * own.mean_excess -
           own.tilt * own.mean_log;
}

Matrix Scale::covariance_factor(const VectorView& natural) const {
    const Moments own = moments(natural);
    return Matrix{{own.value * own.sd_of_rise, 0.0}, {own.cross, own.rest}};
}

Matrix Scale::covariance(const VectorView& natural) const {
    const Matrix factor = covariance_factor(natural);
    return factor * factor.transpose();
}

Vector Scale::natural_from_mean(const VectorView& mean) const {
    detail::require_size(name, "mean parameter", mean.size(), size());
    detail::require_positive(name, "mean of x", mean[0]);
    detail::require_finite(name, "mean of log x", mean[1]);
    const double gap = std::log(mean[0]) - mean[1];
    detail::require_positive(name, "log of the mean less mean of the log", gap);
    if (!(mean[1] > lower_ && std::log(mean[0]) < upper_)) {
        throw std::invalid_argument(fmt::format("{}: the mean {} of x is outside of its bounds {} and {}", name,
                                                mean[0], std::exp(lower_), std::exp(upper_)));
    }
    // Gamma's, less what the prior adds to slope and curvature there; or piled up at a bound; or any.
    const double shape = detail::inverse_log_minus_digamma(gap);
    const detail::ScaleDensity prior = detail::scale_density(prior_, power_ * mean[1]);
    const double curvature = power_ * power_ * prior.curvature;
    std::vector<Vector> guesses{
        Vector{{-shape / mean[0] - curvature * std::exp(-mean[1]), shape - power_ * prior.slope + curvature}},
        Vector{{-shape / mean[0], std::max(shape - 1.0, 0.0)}}};
    for (const double bound : {lower_, upper_}) {
        if (!std::isfinite(bound)) continue;
        // exp(−|u − bound|/distance), by the rate alone at a lower bound, by the shape alone at an upper one.
        const double distance = mean[1] - bound;
        const double steepness = -1.0 / distance - power_;
        guesses.push_back(bound == lower_ ? Vector{{(steepness - 1.0) * std::exp(-bound), 1.0}}
                                          : Vector{{-std::exp(-bound), steepness + 1.0}});
    }
    Vector best = reference_natural();
    double closest = kNoBound;
    for (const Vector& guess : guesses) {
        if (!guess.allFinite() || !domain_error(guess).empty()) continue;
        const double distance = detail::whitened_gap(*this, mean, guess, covariance_factor(guess)).norm();
        if (!(distance < closest)) continue;
        closest = distance;
        best = guess;
    }
    return detail::natural_of_mean(*this, mean, std::move(best));
}

Vector Scale::natural_from_standard(const VectorView& standard) const {
    detail::require_size(name, "standard parameter", standard.size(), size());
    Vector natural{{-standard[1], standard[0] - 1.0}};
    const std::string error = domain_error(natural);
    if (!error.empty()) throw std::invalid_argument(fmt::format("{}: {}", name, error));
    return natural;
}

Vector Scale::standard(const VectorView& natural) const {
    return Vector{{natural[1] + 1.0, 0.0 - natural[0]}};
}

Vector Scale::sample(const VectorView& natural, Random& random) const {
    const Density density = this->density(natural);
    const double w = detail::line_draw(density, random);
    return Vector{{density.value * std::exp(w), density.log_value + w}};
}

Vector Scale::statistic(const VectorView& value) const {
    detail::require_size(name, "value", value.size(), 1);
    detail::require_positive(name, "value", value[0]);
    const double u = std::log(value[0]);
    if (!(u >= lower_ && u <= upper_)) {
        throw std::invalid_argument(fmt::format("{}: value is {}, but its prior holds it between {} and {}", name,
                                                value[0], std::exp(lower_), std::exp(upper_)));
    }
    return Vector{{value[0], u}};
}

StatisticProduct Scale::product(Index, Index) const {
    return StatisticProduct::none();
}

// As after one observation whose square is what the prior expects.
Vector Scale::reference_natural() const {
    double typical = prior_.first;
    if (prior_.kind == ScaleKind::half_t) typical = prior_.second;
    if (prior_.kind == ScaleKind::exponential) typical = 1.0 / prior_.first;
    if (prior_.kind == ScaleKind::uniform) typical = 0.5 * (prior_.first + prior_.second);
    return Vector{{-0.5 * std::pow(typical, -1.0 / power_), 0.5}};
}

std::pair<double, double> Scale::log_base_of_log(double u) const {
    const detail::ScaleDensity density = detail::scale_density(prior_, power_ * u);
    return {density.value + std::log(std::abs(power_)), power_ * density.slope};
}

double Scale::log_base(const VectorView& value) const {
    const double u = std::log(value[0]);
    return log_base_of_log(u).first - u;
}

std::pair<Vector, Vector> Scale::nodes(const VectorView& natural) const {
    const Density density = this->density(natural);
    const detail::LineRule rule = line_rule(density);
    const auto count = static_cast<Index>(rule.offsets.size());
    const Vector offsets = Eigen::Map<const Vector>(rule.offsets.data(), count);
    return {Vector(offsets.array() + density.log_value), Eigen::Map<const Vector>(rule.weights.data(), count)};
}

Matrix Scale::mean_by_prior(const VectorView& natural) const {
    Matrix result = Matrix::Zero(2, 2);
    const Vector mean = this->mean(natural);
    if (prior_.kind == ScaleKind::uniform) {
        // A bound moves what is there: the density of log x at it, times what T is there beyond its mean.
        const double log_partition = this->log_partition(natural);
        const auto moved = [&](double bound, double u, double side) -> Vector {
            if (!std::isfinite(u)) return Vector::Zero(2);
            const double density =
                std::exp(log_base_of_log(u).first + natural[0] * std::exp(u) + natural[1] * u - log_partition);
            // d log x/d bound = 1/(power bound).
            return side * density / (power_ * bound) * (Vector{{std::exp(u), u}} - mean);
        };
        const bool falls = power_ < 0.0;
        result.col(0) = moved(prior_.first, falls ? upper_ : lower_, falls ? 1.0 : -1.0);
        result.col(1) = moved(prior_.second, falls ? lower_ : upper_, falls ? -1.0 : 1.0);
        return result;
    }
    const auto [u, weights] = nodes(natural);
    for (Index i = 0; i < u.size(); ++i) {
        const detail::ScaleDensity density = detail::scale_density(prior_, power_ * u[i]);
        const Vector deviation = Vector{{std::exp(u[i]), u[i]}} - mean;
        result.col(0) += weights[i] * density.by_first * deviation;
        result.col(1) += weights[i] * density.by_second * deviation;
    }
    return result;
}

Scale Scale::with_numbers(double first, double second) const {
    return Scale({prior_.kind, first, second}, of_);
}

}  // namespace lrvb::family
