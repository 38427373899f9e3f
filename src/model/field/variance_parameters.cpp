#include "model/field/variance_parameters.hpp"

#include "base/validate.hpp"
#include "family/special.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace lrvb::detail {

namespace {

using Kind = ScalePrior::Kind;

double logistic(double x) {
    return x > 0.0 ? 1.0 / (1.0 + std::exp(-x)) : std::exp(x) / (1.0 + std::exp(x));
}

// log(1 − tanh²z), without cancellation.
double log_one_minus_square(double z) {
    const double a = std::abs(z);
    return 2.0 * (std::numbers::ln2 - a - std::log1p(std::exp(-2.0 * a)));
}

}  // namespace

EffectParameters::EffectParameters(FieldPrior::Factor prior, Vector units, const std::string& name)
    : prior_(std::move(prior)), units_(std::move(units)) {
    require_size(name, "prior of the sds", static_cast<Index>(prior_.sd.size()), units_.size());
    for (const ScalePrior& own : prior_.sd) require_scale_prior(own, "an sd of " + name);
    huang_wand_ = prior_.huang_wand && units_.size() > 1;
    if (!huang_wand_) return;
    for (const ScalePrior& own : prior_.sd) {
        if (own.kind != Kind::half_t || own.first != prior_.sd.front().first) {
            throw std::invalid_argument(
                fmt::format("{}: Huang & Wand's prior of a covariance matrix needs half_t for every sd, all with the "
                            "same degrees of freedom: set huang_wand to false",
                            name));
        }
    }
}

double EffectParameters::log_sd(const VectorView& psi, Index effect, double* slope) const {
    const ScalePrior& own = prior_.sd[static_cast<std::size_t>(effect)];
    if (own.kind != Kind::uniform) {
        if (slope != nullptr) *slope = 1.0;
        return psi[effect];
    }
    const double share = logistic(psi[effect]);
    const double sd = own.first + (own.second - own.first) * share;
    if (slope != nullptr) *slope = (own.second - own.first) * share * logistic(-psi[effect]) / sd;
    return std::log(sd) - std::log(units_[effect]);
}

Vector EffectParameters::from_sds(const Vector& sds) const {
    Vector psi = Vector::Zero(size());
    for (Index k = 0; k < effects(); ++k) {
        const ScalePrior& own = prior_.sd[static_cast<std::size_t>(k)];
        if (own.kind != Kind::uniform) {
            psi[k] = std::log(sds[k]);
            continue;
        }
        const double share = (sds[k] * units_[k] - own.first) / (own.second - own.first);
        const double inside = std::clamp(share, 0.02, 0.98);
        psi[k] = std::log(inside / (1.0 - inside));
    }
    return psi;
}

Matrix EffectParameters::root(const VectorView& psi) const {
    const Index q = effects();
    Matrix result = Matrix::Zero(q, q);
    for (Index i = 0; i < q; ++i) {
        double left = std::exp(log_sd(psi, i));
        for (Index l = 0; l < i; ++l) {
            const double z = psi[correlation(i, l)];
            result(i, l) = std::tanh(z) * left;
            left /= std::cosh(z);
        }
        result(i, i) = left;
    }
    return result;
}

EffectCovariance EffectParameters::covariance(const VectorView& psi) const {
    const Index q = effects();
    EffectCovariance result;
    Vector sd(q);
    Vector sd_slope(q);
    for (Index k = 0; k < q; ++k) {
        const double log_sd_k = log_sd(psi, k, &sd_slope[k]);
        sd[k] = std::exp(log_sd_k);
        result.log_determinant += 2.0 * log_sd_k;
    }
    result.log_determinant_by_psi = Vector::Zero(size());
    result.log_determinant_by_psi.head(q) = 2.0 * sd_slope;
    for (Index i = 0; i < q; ++i) {
        for (Index l = 0; l < i; ++l) {
            const double z = psi[correlation(i, l)];
            result.log_determinant += log_one_minus_square(z);
            result.log_determinant_by_psi[correlation(i, l)] = -2.0 * std::tanh(z);
        }
    }
    result.root = root(psi);
    const Matrix inverse_root = result.root.triangularView<Eigen::Lower>().solve(Matrix::Identity(q, q));
    result.precision = inverse_root.transpose() * inverse_root;
    // dΛ = −M⁻ᵀ (N + Nᵀ) M⁻¹ with N = M⁻¹ dM.
    const auto push = [&](const Matrix& change) {
        const Matrix n = inverse_root * change;
        const Matrix both = n + n.transpose();
        result.by_psi.push_back(-inverse_root.transpose() * both * inverse_root);
    };
    for (Index k = 0; k < q; ++k) {
        Matrix change = Matrix::Zero(q, q);
        change.row(k) = sd_slope[k] * result.root.row(k);
        push(change);
    }
    for (Index i = 1; i < q; ++i) {
        double left = 1.0;
        for (Index l = 0; l < i; ++l) {
            const double z = psi[correlation(i, l)];
            const double w = std::tanh(z);
            Matrix change = Matrix::Zero(q, q);
            change(i, l) = sd[i] * left / (std::cosh(z) * std::cosh(z));
            for (Index j = l + 1; j <= i; ++j) change(i, j) = -w * result.root(i, j);
            push(change);
            left /= std::cosh(z);
        }
    }
    return result;
}

double EffectParameters::log_prior(const VectorView& psi, Eigen::Ref<Vector> gradient) const {
    if (huang_wand_) return huang_wand_density(psi, gradient);
    const Index q = effects();
    double value = 0.0;
    for (Index k = 0; k < q; ++k) {
        const ScalePrior& own = prior_.sd[static_cast<std::size_t>(k)];
        if (own.kind == Kind::uniform) {  // of ψ itself: logistic
            value -= softplus(psi[k]) + softplus(-psi[k]);
            gradient[k] += logistic(-psi[k]) - logistic(psi[k]);
            continue;
        }
        const ScaleDensity density = scale_density(own, psi[k] + std::log(units_[k]));
        value += density.value;
        gradient[k] += density.slope;
    }
    for (Index i = 1; i < q; ++i) {
        for (Index l = 0; l < i; ++l) {
            // (w + 1)/2 ~ Beta(b, b): its density in z.
            const double b = 0.5 * static_cast<double>(q - l);
            const double z = psi[correlation(i, l)];
            const double log_beta = log_gamma(b) - log_gamma_rise(b, b);
            value += b * log_one_minus_square(z) - (2.0 * b - 1.0) * std::numbers::ln2 - log_beta;
            gradient[correlation(i, l)] -= 2.0 * b * std::tanh(z);
        }
    }
    return value;
}

// With D_k = ν Λ_kk + 1/A_k², in the data's units:
//
//     log p(ψ) = constant − ½(ν + 2q) log|Σ| − ½(ν + q) Σ_k log D_k + (q + 1) Σ_k log sd_k
//                + Σ_il ½(q + 1 − l) log(1 − w_il²),     l = 1 …
double EffectParameters::huang_wand_density(const VectorView& psi, Eigen::Ref<Vector> gradient) const {
    const Index q = effects();
    const double dimension = static_cast<double>(q);
    const double df = prior_.sd.front().first;
    const EffectCovariance covariance = this->covariance(psi);
    double value = dimension * std::numbers::ln2 + 0.5 * dimension * (df + dimension - 1.0) * std::log(df) -
                   0.5 * dimension * std::log(std::numbers::pi) + dimension * log_gamma(0.5 * (df + dimension)) -
                   0.25 * dimension * (dimension - 1.0) * std::log(std::numbers::pi);
    for (Index k = 0; k < q; ++k) value -= log_gamma(0.5 * (df + dimension - 1.0 - static_cast<double>(k)));
    value -= 0.5 * (df + 2.0 * dimension) * (covariance.log_determinant + 2.0 * units_.array().log().sum());
    gradient -= 0.5 * (df + 2.0 * dimension) * covariance.log_determinant_by_psi;
    for (Index k = 0; k < q; ++k) {
        const double scale = prior_.sd[static_cast<std::size_t>(k)].second;
        const double unit = units_[k];
        // D_k times the square of the unit.
        const double d = df * covariance.precision(k, k) + unit * unit / (scale * scale);
        value -= std::log(scale) + 0.5 * (df + dimension) * (std::log(d) - 2.0 * std::log(unit));
        for (Index j = 0; j < size(); ++j) {
            gradient[j] -= 0.5 * (df + dimension) * df * covariance.by_psi[static_cast<std::size_t>(j)](k, k) / d;
        }
        value += (dimension + 1.0) * (psi[k] + std::log(unit));
        gradient[k] += dimension + 1.0;
    }
    for (Index i = 1; i < q; ++i) {
        for (Index l = 0; l < i; ++l) {
            const double power = 0.5 * static_cast<double>(q - l);
            const double z = psi[correlation(i, l)];
            value += power * log_one_minus_square(z);
            gradient[correlation(i, l)] -= 2.0 * power * std::tanh(z);
        }
    }
    return value;
}

Vector EffectParameters::gradient_by(const VectorView& psi, Index effect, bool second) const {
    Vector result = Vector::Zero(size());
    const ScalePrior& own = prior_.sd[static_cast<std::size_t>(effect)];
    if (!huang_wand_) {
        const ScaleDensity density = scale_density(own, psi[effect] + std::log(units_[effect]));
        result[effect] = second ? density.slope_by_second : density.slope_by_first;
        return result;
    }
    const Index q = effects();
    const double dimension = static_cast<double>(q);
    const double df = own.first;
    const EffectCovariance covariance = this->covariance(psi);
    const auto add = [&](Index k, double factor) {
        for (Index j = 0; j < size(); ++j) {
            result[j] += factor * covariance.by_psi[static_cast<std::size_t>(j)](k, k);
        }
    };
    if (second) {
        const double scale = own.second;
        const double unit = units_[effect];
        const double d = df * covariance.precision(effect, effect) + unit * unit / (scale * scale);
        add(effect, -(df + dimension) * df * unit * unit / (scale * scale * scale * d * d));
        return result;
    }
    result = -0.5 * covariance.log_determinant_by_psi;
    for (Index k = 0; k < q; ++k) {
        const double scale = prior_.sd[static_cast<std::size_t>(k)].second;
        const double precision = covariance.precision(k, k);
        const double rest = units_[k] * units_[k] / (scale * scale);
        const double d = df * precision + rest;
        // d/dν of (ν + q) ν / (ν Λ + r) = ((2ν + q) D − (ν² + qν) Λ)/D².
        add(k, -0.5 * ((2.0 * df + dimension) * d - df * (df + dimension) * precision) / (d * d));
    }
    return result;
}

}  // namespace lrvb::detail
