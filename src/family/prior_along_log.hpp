#pragma once

#include "family/special.hpp"

#include <lrvb/family/scale_prior.hpp>

#include <cmath>

namespace lrvb::detail {

/// The log density of y = x^power under a prior of a scale, as one of u = log x, about an origin: its rise from there
/// to u = origin + w, the slope there, without its constants and without cancellation.
class PriorAlongLog {
  public:
    PriorAlongLog(const ScalePrior& prior, double power, double origin) : kind_(prior.kind), power_(power) {
        const double t = power * origin;
        if (kind_ == ScalePrior::Kind::half_t) {
            factor_ = prior.first + 1.0;
            at_origin_ = 2.0 * (t - std::log(prior.second)) - std::log(prior.first);
            base_ = softplus(at_origin_);
        } else if (kind_ == ScalePrior::Kind::half_normal) {
            factor_ = std::exp(2.0 * (t - std::log(prior.first)));
        } else if (kind_ == ScalePrior::Kind::exponential) {
            factor_ = std::exp(t) * prior.first;
        }
    }

    double rise(double w) const {
        const double s = power_ * w;
        switch (kind_) {
            case ScalePrior::Kind::half_t:
                return s - 0.5 * factor_ * (softplus(at_origin_ + 2.0 * s) - base_);
            case ScalePrior::Kind::half_normal:
                return s - 0.5 * factor_ * std::expm1(2.0 * s);
            case ScalePrior::Kind::exponential:
                return s - factor_ * std::expm1(s);
            default:
                return s;
        }
    }

    double slope(double w) const {
        const double s = power_ * w;
        switch (kind_) {
            case ScalePrior::Kind::half_t:
                return power_ * (1.0 - factor_ / (1.0 + std::exp(-at_origin_ - 2.0 * s)));
            case ScalePrior::Kind::half_normal:
                return power_ * (1.0 - factor_ * std::exp(2.0 * s));
            case ScalePrior::Kind::exponential:
                return power_ * (1.0 - factor_ * std::exp(s));
            default:
                return power_;
        }
    }

    /// At the origin.
    double curvature() const {
        double own = 0.0;
        if (kind_ == ScalePrior::Kind::half_t) {
            const double rest = 1.0 / (1.0 + std::exp(-at_origin_));
            own = -2.0 * factor_ * rest * (1.0 - rest);
        } else if (kind_ == ScalePrior::Kind::half_normal) {
            own = -2.0 * factor_;
        } else if (kind_ == ScalePrior::Kind::exponential) {
            own = -factor_;
        }
        return power_ * power_ * own;
    }

  private:
    ScalePrior::Kind kind_;
    double power_;
    double factor_ = 0.0;
    double at_origin_ = 0.0;
    double base_ = 0.0;
};

}  // namespace lrvb::detail
