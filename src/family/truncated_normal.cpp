#include "base/validate.hpp"
#include "family/dual_newton.hpp"
#include "family/line.hpp"

#include <lrvb/family/normal.hpp>
#include <lrvb/family/truncated_normal.hpp>

#include <algorithm>
#include <cmath>

namespace lrvb::family {

namespace {

constexpr double kFarInSds = 38.0;  // where a normal density has nothing left

}  // namespace

// η₁ x + η₂ x² relative to its value at the origin c, in d = x − c.
class TruncatedNormal::Density final : public detail::LineDensity {
  public:
    // A multiply-add keeps what two large numbers leave of each other.
    Density(double first, double second, double at_origin)
        : origin(at_origin), tilt(std::fma(2.0 * second, at_origin, first)), second_(second) {}

    double at(double d) const override { return d * (tilt + second_ * d); }
    double slope(double d) const override { return tilt + 2.0 * second_ * d; }

    double origin;
    double tilt;  // η₁ + 2 η₂ c

  private:
    double second_;
};

struct TruncatedNormal::Moments {
    double origin = 0.0;
    double tilt = 0.0;
    double log_integral = 0.0;
    double mean = 0.0;    // E d
    double square = 0.0;  // E d²
    double sd = 0.0;      // of d
    double cross = 0.0;   // of d² on d, over the sd of d
    double rest = 0.0;    // sd of d² that d leaves
};

TruncatedNormal::TruncatedNormal(double lower, double upper) : lower_(lower), upper_(upper) {
    if (lower < upper) return;
    throw std::invalid_argument(
        fmt::format("{}: the bounds are {} and {}, but the first must be below the second", name, lower, upper));
}

std::vector<std::string> TruncatedNormal::statistic_names(const std::string& variable) const {
    return {variable, variable + "^2"};
}

std::vector<std::string> TruncatedNormal::standard_names() const {
    return {"precision times mean", "precision"};
}

std::string TruncatedNormal::domain_error(const VectorView& natural) const {
    if (!std::isfinite(natural[0])) return fmt::format("precision times mean is {}", natural[0]);
    const double precision = 0.0 - 2.0 * natural[1];
    if (!std::isfinite(precision)) return fmt::format("precision {} is not finite", precision);
    const bool bounded = std::isfinite(lower_) && std::isfinite(upper_);
    if (!bounded && !(precision > 0.0)) return fmt::format("precision {} is not positive", precision);
    return {};
}

bool TruncatedNormal::is_plain(const VectorView& natural) const {
    if (!(natural[1] < 0.0)) return false;
    const double variance = -0.5 / natural[1];
    const double mean = natural[0] * variance;
    const double far = kFarInSds * std::sqrt(variance);
    return mean - far > lower_ && mean + far < upper_;
}

TruncatedNormal::Density TruncatedNormal::density(const VectorView& natural) const {
    const double first = natural[0];
    const double second = natural[1];
    double origin = 0.0;
    if (second < 0.0) {
        origin = std::clamp(-0.5 * first / second, lower_, upper_);
    } else {
        origin = first + second * (lower_ + upper_) > 0.0 ? upper_ : lower_;
    }
    Density result(first, second, origin);
    result.lower = lower_ - origin;
    result.upper = upper_ - origin;
    result.is_convex = second > 0.0;
    const double narrow = std::max(std::abs(result.tilt), std::sqrt(2.0 * std::abs(second)));
    result.width = std::min(1.0 / narrow, upper_ - lower_);
    return result;
}

TruncatedNormal::Moments TruncatedNormal::moments(const VectorView& natural) const {
    const Density density = this->density(natural);
    const detail::LineRule rule = line_rule(density);
    Moments result;
    result.origin = density.origin;
    result.tilt = density.tilt;
    result.log_integral = rule.log_integral;
    result.mean = rule.mean([](double d) { return d; });
    // About the mean of d, so that the square of a shift does not hide the variance.
    const double variance = rule.mean([&](double d) { return (d - result.mean) * (d - result.mean); });
    const double third = rule.mean([&](double d) { return std::pow(d - result.mean, 3.0); });
    const double slope = third / variance;
    const double rest = rule.mean([&](double d) {
        const double own = d - result.mean;
        const double left = own * own - variance - slope * own;
        return left * left;
    });
    result.square = result.mean * result.mean + variance;
    result.sd = std::sqrt(variance);
    result.cross = (2.0 * result.mean + slope) * result.sd;
    result.rest = std::sqrt(rest);
    return result;
}

Vector TruncatedNormal::mean(const VectorView& natural) const {
    if (is_plain(natural)) return Normal{}.mean(natural);
    const Moments own = moments(natural);
    const double mean = own.origin + own.mean;
    return Vector{{mean, mean * mean + own.sd * own.sd}};
}

double TruncatedNormal::log_partition(const VectorView& natural) const {
    if (is_plain(natural)) return Normal{}.log_partition(natural);
    const Moments own = moments(natural);
    return own.origin * (natural[0] + natural[1] * own.origin) + own.log_integral;
}

double TruncatedNormal::entropy(const VectorView& natural) const {
    if (is_plain(natural)) return Normal{}.entropy(natural);
    const Moments own = moments(natural);
    return own.log_integral - own.tilt * own.mean - natural[1] * own.square;
}

Matrix TruncatedNormal::covariance_factor(const VectorView& natural) const {
    if (is_plain(natural)) return Normal{}.covariance_factor(natural);
    const Moments own = moments(natural);
    return Matrix{{own.sd, 0.0}, {2.0 * own.origin * own.sd + own.cross, own.rest}};
}

Matrix TruncatedNormal::covariance(const VectorView& natural) const {
    const Matrix factor = covariance_factor(natural);
    return factor * factor.transpose();
}

Vector TruncatedNormal::natural_from_mean(const VectorView& mean) const {
    detail::require_size(name, "mean parameter", mean.size(), size());
    detail::require_finite(name, "mean parameter", mean);
    const double variance = mean[1] - mean[0] * mean[0];
    detail::require_positive(name, "variance", variance);
    if (!(mean[0] > lower_ && mean[0] < upper_)) {
        throw std::invalid_argument(
            fmt::format("{}: the mean is {}, but must be between {} and {}", name, mean[0], lower_, upper_));
    }
    Vector natural{{mean[0] / variance, -0.5 / variance}};
    if (is_plain(natural)) return natural;
    return detail::natural_of_mean(*this, mean, std::move(natural));
}

Vector TruncatedNormal::natural_from_standard(const VectorView& standard) const {
    detail::require_size(name, "standard parameter", standard.size(), size());
    Vector natural{{standard[0], -0.5 * standard[1]}};
    const std::string error = domain_error(natural);
    if (!error.empty()) throw std::invalid_argument(fmt::format("{}: {}", name, error));
    return natural;
}

Vector TruncatedNormal::standard(const VectorView& natural) const {
    return Vector{{natural[0], 0.0 - 2.0 * natural[1]}};
}

Vector TruncatedNormal::sample(const VectorView& natural, Random& random) const {
    if (is_plain(natural)) return Normal{}.sample(natural, random);
    const Density density = this->density(natural);
    const double d = detail::line_draw(density, random);
    const double x = std::clamp(density.origin + d, lower_, upper_);
    return Vector{{x, x * x}};
}

Vector TruncatedNormal::statistic(const VectorView& value) const {
    detail::require_size(name, "value", value.size(), 1);
    detail::require_finite(name, "value", value[0]);
    if (!(value[0] >= lower_ && value[0] <= upper_)) {
        throw std::invalid_argument(
            fmt::format("{}: value is {}, but must be between {} and {}", name, value[0], lower_, upper_));
    }
    return Vector{{value[0], value[0] * value[0]}};
}

StatisticProduct TruncatedNormal::product(Index i, Index j) const {
    return Normal{}.product(i, j);
}

// About as wide as the interval, or with sd one next to a bound that is alone.
Vector TruncatedNormal::reference_natural() const {
    if (std::isfinite(lower_) && std::isfinite(upper_)) {
        const double half = 0.5 * (upper_ - lower_);
        const double precision = 1.0 / (half * half);
        return Vector{{precision * (lower_ + half), -0.5 * precision}};
    }
    double centre = 0.0;
    if (std::isfinite(lower_)) centre = lower_ + 1.0;
    if (std::isfinite(upper_)) centre = upper_ - 1.0;
    return Vector{{centre, -0.5}};
}

std::pair<Vector, Vector> TruncatedNormal::nodes(const VectorView& natural) const {
    const Density density = this->density(natural);
    const detail::LineRule rule = line_rule(density);
    const auto count = static_cast<Index>(rule.offsets.size());
    const Vector offsets = Eigen::Map<const Vector>(rule.offsets.data(), count);
    return {Vector(offsets.array() + density.origin), Eigen::Map<const Vector>(rule.weights.data(), count)};
}

// A bound moves what is there: the density at it, times what T is there beyond its mean.
Matrix TruncatedNormal::mean_by_bounds(const VectorView& natural) const {
    Matrix result = Matrix::Zero(2, 2);
    if (is_plain(natural)) return result;
    const Vector mean = this->mean(natural);
    const double log_partition = this->log_partition(natural);
    const auto moved = [&](double x, double side) -> Vector {
        if (!std::isfinite(x)) return Vector::Zero(2);
        const double density = std::exp(x * (natural[0] + natural[1] * x) - log_partition);
        return side * density * (Vector{{x, x * x}} - mean);
    };
    result.col(0) = moved(lower_, -1.0);
    result.col(1) = moved(upper_, 1.0);
    return result;
}

}  // namespace lrvb::family
