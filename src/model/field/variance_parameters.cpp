#include "model/field/variance_parameters.hpp"

#include "base/validate.hpp"
#include "family/special.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <utility>

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

EffectBlock::EffectBlock(FieldPrior::Factor prior, Vector units, Index intercept, Vector at_zero,
                         const std::string& name)
    : prior_(std::move(prior)), units_(std::move(units)), intercept_(intercept), at_zero_(std::move(at_zero)) {
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

double EffectBlock::log_sd(const VectorView& psi, Index effect, double* slope) const {
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

Vector EffectBlock::from_sds(const Vector& sds) const {
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

Matrix EffectBlock::root(const VectorView& psi) const {
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

EffectCovariance EffectBlock::covariance(const VectorView& psi) const {
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

// Of Σ at zero, whose first row and column alone differ.
double EffectBlock::prior_log_sd(const VectorView& psi, Index effect, Vector& gradient) const {
    gradient = Vector::Zero(size());
    if (effect != intercept_ || at_zero_.size() == 0) {
        double slope = 1.0;
        const double result = log_sd(psi, effect, &slope);
        gradient[effect] = slope;
        return result;
    }
    const EffectCovariance own = covariance(psi);
    const Vector along = own.covariance() * at_zero_;
    const double variance = at_zero_.dot(along);
    for (Index j = 0; j < size(); ++j) {
        gradient[j] = -0.5 * along.dot(own.by_psi[static_cast<std::size_t>(j)] * along) / variance;
    }
    return 0.5 * std::log(variance);
}

double EffectBlock::log_prior(const VectorView& psi, Eigen::Ref<Vector> gradient) const {
    if (huang_wand_) return huang_wand_density(psi, gradient);
    const Index q = effects();
    double value = 0.0;
    Vector along;
    for (Index k = 0; k < q; ++k) {
        const ScalePrior& own = prior_.sd[static_cast<std::size_t>(k)];
        if (own.kind == Kind::uniform) {  // of ψ itself: logistic
            value -= softplus(psi[k]) + softplus(-psi[k]);
            gradient[k] += logistic(-psi[k]) - logistic(psi[k]);
            continue;
        }
        const double log_sd_k = prior_log_sd(psi, k, along);
        const ScaleDensity density = scale_density(own, log_sd_k + std::log(units_[k]));
        value += density.value;
        gradient += density.slope * along;
        if (k != intercept_ || at_zero_.size() == 0) continue;
        const double power = static_cast<double>(q) + 1.0;
        value += power * (psi[k] - log_sd_k);
        gradient[k] += power;
        gradient -= power * along;
    }
    return value + correlation_density(psi, gradient);
}

// (w + 1)/2 ~ Beta(b, b): its density in z.
double EffectBlock::correlation_density(const VectorView& psi, Eigen::Ref<Vector> gradient) const {
    const Index q = effects();
    double value = 0.0;
    for (Index i = 1; i < q; ++i) {
        for (Index l = 0; l < i; ++l) {
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
double EffectBlock::huang_wand_density(const VectorView& psi, Eigen::Ref<Vector> gradient) const {
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

Vector EffectBlock::gradient_by(const VectorView& psi, Index effect, bool second) const {
    Vector result = Vector::Zero(size());
    const ScalePrior& own = prior_.sd[static_cast<std::size_t>(effect)];
    if (!huang_wand_) {
        Vector along;
        const double log_sd_k = prior_log_sd(psi, effect, along);
        const ScaleDensity density = scale_density(own, log_sd_k + std::log(units_[effect]));
        return (second ? density.slope_by_second : density.slope_by_first) * along;
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

EffectParameters::EffectParameters(FieldPrior::Factor prior, Vector units, const EffectShape& shape,
                                   const std::string& name)
    : prior_(std::move(prior)), units_(std::move(units)) {
    const Index q = units_.size();
    require_size(name, "prior of the sds", static_cast<Index>(prior_.sd.size()), q);
    for (const ScalePrior& own : prior_.sd) require_scale_prior(own, "an sd of " + name);
    const std::vector<Index> sizes = shape.blocks.empty() ? std::vector<Index>{q} : shape.blocks;
    require_size(name, "the blocks of effects", std::accumulate(sizes.begin(), sizes.end(), Index{0}), q);
    to_zero_ = to_means_ = Matrix::Identity(q, q);
    Vector centre = Vector::Zero(q);  // inner
    if (shape.intercept >= 0 && shape.centre.size() > 0) {
        require_size(name, "the centre of the effects", shape.centre.size(), q);
        centre = shape.centre.cwiseProduct(units_) / units_[shape.intercept];
        centre[shape.intercept] = 0.0;
        to_zero_.row(shape.intercept) -= centre.transpose();
        to_means_.row(shape.intercept) += centre.transpose();
    }
    Index first = 0;
    Index next = q;  // of the correlations
    for (const Index size : sizes) {
        FieldPrior::Factor own{{prior_.sd.begin() + first, prior_.sd.begin() + first + size}, prior_.huang_wand};
        const bool has_intercept = shape.intercept >= first && shape.intercept < first + size;
        const bool is_free =
            std::none_of(own.sd.begin(), own.sd.end(), [](const ScalePrior& one) { return one.kind == Kind::uniform; });
        const bool at_means = has_intercept && is_free && centre.segment(first, size).squaredNorm() > 0.0;
        Vector at_zero;
        if (at_means) {
            psi_at_means_ = true;
            to_means_.row(shape.intercept).segment(first, size) = Vector::Unit(size, shape.intercept - first);
            prior_at_means_ = prior_.at_means || own.huang_wand;
            if (!prior_at_means_) at_zero = to_zero_.row(shape.intercept).segment(first, size);
        }
        std::vector<Index> places;
        for (Index k = 0; k < size; ++k) places.push_back(first + k);
        for (Index k = 0; k < size * (size - 1) / 2; ++k) places.push_back(next++);
        blocks_.emplace_back(std::move(own), units_.segment(first, size), has_intercept ? shape.intercept - first : -1,
                             std::move(at_zero), name);
        firsts_.push_back(first);
        places_.push_back(std::move(places));
        first += size;
    }
    size_ = next;
}

std::size_t EffectParameters::block_of(Index effect) const {
    std::size_t block = blocks_.size() - 1;
    while (firsts_[block] > effect) --block;
    return block;
}

Index EffectParameters::correlation(Index i, Index l) const {
    const std::size_t block = block_of(i);
    if (block != block_of(l)) return -1;
    const Index first = firsts_[block];
    return places_[block][static_cast<std::size_t>(blocks_[block].correlation(i - first, l - first))];
}

// With T the way to the effects at the means: Σ = T Σ_ψ Tᵀ, Λ = T⁻ᵀ Λ_ψ T⁻¹, and T⁻¹ = 2 − T, as T differs from one in
// the intercept's row alone.
EffectCovariance EffectParameters::covariance(const VectorView& psi) const {
    const Index q = effects();
    const Matrix from_means = 2.0 * Matrix::Identity(q, q) - to_means_;
    EffectCovariance result;
    result.root = Matrix::Zero(q, q);
    result.precision = Matrix::Zero(q, q);
    result.by_psi.assign(static_cast<std::size_t>(size()), Matrix::Zero(q, q));
    result.log_determinant_by_psi.resize(size());
    for (std::size_t b = 0; b < blocks_.size(); ++b) {
        const EffectCovariance block = blocks_[b].covariance(own(b, psi));
        const Index first = firsts_[b];
        const Index size = blocks_[b].effects();
        result.root.block(first, first, size, size) = block.root;
        result.precision.block(first, first, size, size) = block.precision;
        result.log_determinant += block.log_determinant;
        for (std::size_t j = 0; j < places_[b].size(); ++j) {
            result.by_psi[static_cast<std::size_t>(places_[b][j])].block(first, first, size, size) = block.by_psi[j];
            result.log_determinant_by_psi[places_[b][j]] = block.log_determinant_by_psi[static_cast<Index>(j)];
        }
    }
    if (from_means.isIdentity(0.0)) return result;
    result.root = (to_means_ * result.root).eval();
    result.precision = (from_means.transpose() * result.precision * from_means).eval();
    for (Matrix& change : result.by_psi) change = (from_means.transpose() * change * from_means).eval();
    return result;
}

Matrix EffectParameters::root_at_zero(const VectorView& psi) const {
    Matrix root = Matrix::Zero(effects(), effects());
    for (std::size_t b = 0; b < blocks_.size(); ++b) {
        const Index size = blocks_[b].effects();
        root.block(firsts_[b], firsts_[b], size, size) = blocks_[b].root(own(b, psi));
    }
    return to_zero_ * to_means_ * root;
}

double EffectParameters::log_sd(const VectorView& psi, Index effect, double* slope) const {
    const std::size_t block = block_of(effect);
    return blocks_[block].log_sd(own(block, psi), effect - firsts_[block], slope);
}

Vector EffectParameters::from_sds(const Vector& sds) const {
    Vector psi = Vector::Zero(size());
    for (std::size_t b = 0; b < blocks_.size(); ++b) {
        psi(places_[b]) = blocks_[b].from_sds(sds.segment(firsts_[b], blocks_[b].effects()));
    }
    return psi;
}

Vector EffectParameters::from_covariance(const Matrix& covariance) const {
    const Matrix from_means = 2.0 * Matrix::Identity(effects(), effects()) - to_means_;
    const Matrix all = from_means * covariance * from_means.transpose();
    const Vector sds = all.diagonal().cwiseMax(1e-6).cwiseSqrt();
    Vector psi = from_sds(sds);
    for (std::size_t b = 0; b < blocks_.size(); ++b) {
        const Index first = firsts_[b];
        const Index q = blocks_[b].effects();
        Matrix c = Matrix::Zero(q, q);
        for (Index i = 0; i < q; ++i) {
            double left = 1.0;
            for (Index l = 0; l < i; ++l) {
                const double correlation = all(first + i, first + l) / (sds[first + i] * sds[first + l]);
                const double along = (correlation - c.row(i).head(l).dot(c.row(l).head(l))) / c(l, l);
                const double w = std::clamp(along / left, -0.8, 0.8);
                c(i, l) = w * left;
                left *= std::sqrt(1.0 - w * w);
                psi[this->correlation(first + i, first + l)] = std::atanh(w);
            }
            c(i, i) = left;
        }
    }
    return psi;
}

double EffectParameters::log_prior(const VectorView& psi, Eigen::Ref<Vector> gradient) const {
    double value = 0.0;
    for (std::size_t b = 0; b < blocks_.size(); ++b) {
        Vector along = Vector::Zero(blocks_[b].size());
        value += blocks_[b].log_prior(own(b, psi), along);
        gradient(places_[b]) += along;
    }
    return value;
}

Vector EffectParameters::gradient_by(const VectorView& psi, Index effect, bool second) const {
    Vector result = Vector::Zero(size());
    for (std::size_t b = 0; b < blocks_.size(); ++b) {
        const Index place = effect - firsts_[b];
        // Huang & Wand's degrees of freedom are those of all blocks that have this prior.
        const bool is_shared = is_huang_wand(effect) && blocks_[b].is_huang_wand() && !second;
        if (!is_shared && (place < 0 || place >= blocks_[b].effects())) continue;
        result(places_[b]) += blocks_[b].gradient_by(own(b, psi), is_shared ? 0 : place, second);
    }
    return result;
}

std::string effect_name(const std::string& effect, bool at_means) {
    return at_means ? effect + "_at_means" : effect;
}

EffectShape effect_shape(const FieldFactor& factor, const Vector& centre) {
    return {factor.blocks, factor.intercept, centre};
}

}  // namespace lrvb::detail
