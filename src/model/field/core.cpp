#include "model/field/core.hpp"

#include "base/messages.hpp"
#include "base/validate.hpp"
#include "model/field/row_field.hpp"
#include "model/field/share.hpp"

#include <lrvb/base/interruption.hpp>

#include <Eigen/Eigenvalues>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <stdexcept>

namespace lrvb::detail {

namespace {

const double kLogTwoPi = std::log(2.0 * std::numbers::pi);
constexpr double kNone = -std::numeric_limits<double>::infinity();

std::size_t at(Index i) {
    return static_cast<std::size_t>(i);
}

Vector units_of_effects(const FieldUnits& units, std::size_t f) {
    Vector result(units.effect_scale[f].size());
    for (Index e = 0; e < result.size(); ++e) result[e] = units.effect_unit(f, e);
    return result;
}

// A parameter is lower + exp(ψ), so that no density between bounds is one in ψ.
void require_parameter_prior(const LikelihoodParameter& parameter, const ScalePrior& prior) {
    require_scale_prior(prior, parameter.name);
    const bool is_cut = parameter.lower > 0.0;
    const bool fits = is_cut ? prior.kind == ScalePrior::Kind::gamma : prior.kind != ScalePrior::Kind::uniform;
    if (fits) return;
    throw std::invalid_argument(
        fmt::format("FieldPrior: the prior of {} must be {}", parameter.name,
                    is_cut ? "a gamma distribution" : "half_t, half_normal, exponential or gamma"));
}

}  // namespace

bool PsiPoint::has_precisions() const {
    return std::all_of(parts.begin(), parts.end(), [](const EffectCovariance& part) {
        return part.precision.allFinite() && part.precision.diagonal().minCoeff() > 0.0;
    });
}

FieldCore::FieldCore(std::shared_ptr<const FieldRows> rows_in, const std::optional<FieldPrior>& given)
    : source(std::move(rows_in)) {
    const std::shared_ptr<const FieldData> data = source->outline();
    const auto* const here = dynamic_cast<const RowsHere*>(source.get());
    has_rows = here != nullptr;
    if (has_rows) row_blocks = here->blocks();
    const FieldScales scales = sound_scales(*source);
    if (given && given->centre) {
        require_size("FieldPrior", "centre", given->centre->size(), data->columns.cols());
        require_finite("FieldPrior", "centre", *given->centre);
    }
    design = std::make_shared<const FieldDesign>(data, FieldUnits(*data, scales, given ? &*given : nullptr));
    if (here != nullptr) {
        structure = std::make_shared<const FieldStructure>(design);
        here->set_structure(structure);
    } else {
        structure = ask_structure(*source, design);
    }
    plan = std::make_shared<const PrecisionPlan>(structure);
    has_sigma = likelihood().has_sigma();
    set_prior(given);
    make_layout();
    rows = scales.total;
    log_precisions = scales.log_precisions;
    precision_unit = scales.precision_unit();
    identity = next_model_identity();
    hessian_pattern = structure->lower_pattern();
    if (!likelihood().is_normal()) {
        row_field = std::make_shared<const RowField>(*this);
        guess_ = guess();
        return;
    }
    blocks = ask_fold(*source, *structure);
    origin = Vector::Zero(shape().size);
    fold_residuals();
    // Residuals are counted from the coefficients at a first guess of ψ: where they are small, nothing cancels.
    guess_ = guess();
    const PsiPoint point = psi_point(guess_);
    if (const std::unique_ptr<PrecisionFactor> factored = factor(point)) {
        origin = solve_mean(point, *factored);
        fold_residuals();
        keep_rounding();
    }
}

const FieldDesign& FieldCore::row_design() const {
    if (has_rows) return *design;
    std::call_once(brought_, [&] {
        brought_design_ = std::make_unique<const FieldDesign>(std::make_shared<const FieldData>(bring_rows(*source)),
                                                              design->units());
    });
    return *brought_design_;
}

void FieldCore::fold_residuals() {
    FieldResiduals residuals = ask_residuals(*source, origin);
    squared = residuals.squared;
    forces = std::move(residuals.forces);
}

// Where the columns explain the response but for rounding, σ would go to zero without end: what is left counts as this
// share of the response's sd.
void FieldCore::keep_rounding() {
    const double share = 1e-7 * std::sqrt(precision_unit);
    constexpr double small = 1e-3;
    if (squared > small * small * precision_unit * rows) return;
    Vector psi = guess_;
    const EffectParameters& sigma = parts[sigma_part()];
    psi.segment(part_offset_[sigma_part()], sigma.size()) = sigma.from_sds(Vector::Constant(1, share));
    const PsiPoint point = psi_point(psi);
    const std::unique_ptr<PrecisionFactor> factored = factor(point);
    if (!factored) return;
    Vector force;
    const double least = squares(solve_mean(point, *factored), force).residual;
    squared += std::max(0.0, share * share * rows - std::max(0.0, least));
}

void FieldCore::set_prior(const std::optional<FieldPrior>& given) {
    const FieldData& data = design->data();
    const FieldUnits& units = design->units();
    prior = given ? *given : FieldPrior::automatic(*source);
    prior.centre = units.centre;
    const Index columns = data.columns.cols();
    require_size("FieldPrior", "mean", prior.mean.size(), columns);
    require_size("FieldPrior", "sd", prior.sd.size(), columns);
    require_size("FieldPrior", "factors", static_cast<Index>(prior.factors.size()),
                 static_cast<Index>(data.factors.size()));
    fixed_mean.resize(shape().fixed);
    fixed_precision.resize(shape().fixed);
    fixed_unit.resize(shape().fixed);
    require_size("FieldPrior", "terms", static_cast<Index>(prior.terms.size()), static_cast<Index>(data.terms.size()));
    const Index of_terms = shape().fixed - shape().plain;
    fixed_mean.tail(of_terms).setZero();
    fixed_precision.tail(of_terms).setOnes();
    fixed_unit.tail(of_terms).setConstant(units.response_scale);
    const auto set = [&](Index place, const std::string& name, double mean, double sd, double centre, double unit) {
        require_finite("FieldPrior", "mean of " + name, mean);
        require_positive("FieldPrior", "sd of " + name, sd);
        fixed_unit[place] = unit;
        fixed_mean[place] = (mean - centre) / unit;
        fixed_precision[place] = unit / sd * (unit / sd);
        hyperparameter_names.push_back(name + ": mean");
        hyperparameter_names.push_back(name + ": sd");
        hyperparameters.push_back({Hyperparameter::Kind::fixed_mean, place});
        hyperparameters.push_back({Hyperparameter::Kind::fixed_sd, place});
    };
    if (data.intercept) {
        set(0, "intercept", prior.intercept_mean, prior.intercept_sd, units.response_centre, units.response_scale);
    }
    for (Index j = 0; j < data.slopes(); ++j) {
        set(j + (data.intercept ? 1 : 0), fmt::format("beta[{}]", data.names[at(j)]), prior.mean[j], prior.sd[j], 0.0,
            units.slope_unit(j));
    }
    for (std::size_t f = 0; f < data.factors.size(); ++f) {
        prior.factors[f].centre = units.effect_centre[f];
        parts.emplace_back(prior.factors[f], units_of_effects(units, f),
                           effect_shape(data.factors[f], units.effect_centre[f]), data.factors[f].name);
    }
    for (std::size_t t = 0; t < data.terms.size(); ++t) {
        parts.emplace_back(FieldPrior::Factor{{prior.terms[t]}, false}, Vector::Constant(1, units.response_scale),
                           EffectShape{}, data.terms[t].name);
    }
    if (has_sigma) {
        parts.emplace_back(FieldPrior::Factor{{prior.sigma}, false}, Vector::Constant(1, units.response_scale),
                           EffectShape{}, "sigma");
    }

    const auto add_scale = [&](Index part, Index effect, const std::string& name, const ScalePrior& own, bool shared,
                               Hyperparameter::Kind kind = Hyperparameter::Kind::scale) {
        const auto add = [&](const std::string& number, bool second, const std::string& of) {
            hyperparameter_names.push_back(of + ": " + number);
            hyperparameters.push_back({kind, part, effect, second});
        };
        switch (own.kind) {
            case ScalePrior::Kind::half_t:
                if (!shared) add("df", false, name);
                add("scale", true, name);
                return;
            case ScalePrior::Kind::half_normal:
                add("scale", false, name);
                return;
            case ScalePrior::Kind::exponential:
                add("rate", false, name);
                return;
            case ScalePrior::Kind::gamma_precision:
            case ScalePrior::Kind::gamma:
                add("shape", false, name);
                add("rate", true, name);
                return;
            case ScalePrior::Kind::uniform:
                return;
        }
    };
    for (std::size_t f = 0; f < data.factors.size(); ++f) {
        const FieldFactor& factor = data.factors[f];
        const Index part = static_cast<Index>(f);
        bool has_shared = false;
        for (std::size_t e = 0; e < factor.effects.size(); ++e) {
            const auto effect = static_cast<Index>(e);
            const bool shared = parts[f].is_huang_wand(effect);
            if (shared && !has_shared) {
                hyperparameter_names.push_back(fmt::format("sd[{}]: df", factor.name));
                hyperparameters.push_back({Hyperparameter::Kind::scale, part, effect, false});
                has_shared = true;
            }
            const bool at_means = effect == factor.intercept && parts[f].prior_at_means();
            add_scale(part, effect, fmt::format("sd[{},{}]", factor.name, effect_name(factor.effects[e], at_means)),
                      prior.factors[f].sd[e], shared);
        }
    }
    for (std::size_t t = 0; t < data.terms.size(); ++t) {
        add_scale(static_cast<Index>(data.factors.size() + t), 0, fmt::format("sd[{}]", data.terms[t].name),
                  prior.terms[t], false);
    }
    if (has_sigma) add_scale(static_cast<Index>(sigma_part()), 0, "sigma", prior.sigma, false);
    const std::vector<LikelihoodParameter>& parameters = likelihood().parameters();
    if (prior.parameters.empty()) {
        for (const LikelihoodParameter& parameter : parameters) prior.parameters.push_back(parameter.prior);
    }
    require_size("FieldPrior", "parameters", static_cast<Index>(prior.parameters.size()),
                 static_cast<Index>(parameters.size()));
    for (std::size_t i = 0; i < parameters.size(); ++i) {
        require_parameter_prior(parameters[i], prior.parameters[i]);
        add_scale(static_cast<Index>(i), 0, parameters[i].name, prior.parameters[i], false,
                  Hyperparameter::Kind::parameter);
    }
}

void FieldCore::make_layout() {
    const FieldData& data = design->data();
    const auto psi_effect = [&](std::size_t f, Index e) {
        const FieldFactor& factor = data.factors[f];
        return effect_name(factor.effects[at(e)], e == factor.intercept && parts[f].psi_at_means());
    };
    for (std::size_t f = 0; f < data.factors.size(); ++f) {
        const FieldFactor& factor = data.factors[f];
        const Index q = static_cast<Index>(factor.effects.size());
        part_offset_.push_back(layout.size());
        for (Index e = 0; e < q; ++e) {
            const bool bounded = prior.factors[f].sd[at(e)].kind == ScalePrior::Kind::uniform;
            layout.add(fmt::format("{}[{},{}]", bounded ? "logit_sd" : "log_sd", factor.name, psi_effect(f, e)),
                       family::Point{});
            variances.push_back({fmt::format("sd[{},{}]", factor.name, factor.effects[at(e)]), FieldVariance::Kind::sd,
                                 static_cast<Index>(f), e, e});
        }
        for (Index i = 1; i < q; ++i) {
            for (Index l = 0; l < i; ++l) {
                if (parts[f].correlation(i, l) < 0) continue;
                layout.add(
                    fmt::format("{}[{},{},{}]", parts[f].is_plain_correlation(i) ? "atanh_cor" : "atanh_partial_cor",
                                factor.name, psi_effect(f, l), psi_effect(f, i)),
                    family::Point{});
                variances.push_back(
                    {fmt::format("cor[{},{},{}]", factor.name, factor.effects[at(l)], factor.effects[at(i)]),
                     FieldVariance::Kind::correlation, static_cast<Index>(f), i, l});
            }
        }
    }
    for (std::size_t t = 0; t < data.terms.size(); ++t) {
        part_offset_.push_back(layout.size());
        const bool bounded = prior.terms[t].kind == ScalePrior::Kind::uniform;
        layout.add(fmt::format("{}[{}]", bounded ? "logit_sd" : "log_sd", data.terms[t].name), family::Point{});
        variances.push_back({fmt::format("sd[{}]", data.terms[t].name), FieldVariance::Kind::sd,
                             static_cast<Index>(data.factors.size() + t), 0, 0});
    }
    if (has_sigma) {
        part_offset_.push_back(layout.size());
        layout.add(prior.sigma.kind == ScalePrior::Kind::uniform ? "logit_sigma" : "log_sigma", family::Point{});
        variances.push_back({"sigma", FieldVariance::Kind::sigma, -1, -1, -1});
    }
    for (std::size_t i = 0; i < likelihood().parameters().size(); ++i) {
        const LikelihoodParameter& parameter = likelihood().parameters()[i];
        layout.add(parameter.psi_name, family::Point{});
        variances.push_back({parameter.name, FieldVariance::Kind::parameter, static_cast<Index>(i), -1, -1});
    }
    variance_count_ = layout.size();
    if (data.intercept) layout.add("intercept", family::Point{});
    for (std::size_t j = 0; j < data.names.size(); ++j) {
        const bool is_slope = static_cast<Index>(j) < data.slopes();
        layout.add(fmt::format("{}[{}]", is_slope ? "beta" : "coef", data.names[j]), family::Point{});
    }
    for (std::size_t f = 0; f < data.factors.size(); ++f) {
        const FieldFactor& factor = data.factors[f];
        for (const std::string& level : factor.levels) {
            for (std::size_t e = 0; e < factor.effects.size(); ++e) {
                const bool at_means = static_cast<Index>(e) == factor.intercept && design->units().is_centred(f);
                layout.add("u[" + factor.name + "," + level + "," + effect_name(factor.effects[e], at_means) + "]",
                           family::Point{});
            }
        }
    }
}

PsiPoint FieldCore::psi_point(const VectorView& psi) const {
    PsiPoint result;
    result.prior_gradient = Vector::Zero(variance_count_);
    result.fixed_precision = fixed_precision;
    for (std::size_t i = 0; i < parts.size(); ++i) {
        const Index size = parts[i].size();
        const VectorView own = psi.segment(part_offset_[i], size);
        result.parts.push_back(parts[i].covariance(own));
        result.log_prior += parts[i].log_prior(own, result.prior_gradient.segment(part_offset_[i], size));
        if (i < shape().factors.size()) {
            result.precisions.push_back(result.parts.back().precision);
        } else if (i < sigma_part()) {
            const FieldShape::Factor& term = shape().part(i);
            result.fixed_precision.segment(term.offset, term.size()).setConstant(result.parts.back().precision(0, 0));
        }
    }
    for (std::size_t i = 0; i < likelihood().parameters().size(); ++i) {
        const Index place = parameter_offset(i);
        const ScaleDensity density = density_above(prior.parameters[i], likelihood().parameters()[i].lower, psi[place]);
        result.log_prior += density.value;
        result.prior_gradient[place] += density.slope;
    }
    return result;
}

std::unique_ptr<PrecisionFactor> FieldCore::factor(const PsiPoint& point) const {
    interruption_point();
    if (!point.has_precisions()) return nullptr;
    auto result = std::make_unique<PrecisionFactor>(plan);
    if (!result->factorise(blocks, point.parts.back().precision(0, 0), point.fixed_precision, point.precisions))
        return nullptr;
    return result;
}

// τ tr CS is what P has besides the prior: tr PS is the number of coefficients.
FieldCore::Spread FieldCore::spread(const PsiPoint& point, const PrecisionInverse& inverse) const {
    Spread result;
    double prior_share = 0.0;
    const Matrix fixed = inverse.fixed();
    for (Index j = 0; j < shape().plain; ++j) prior_share += fixed_precision[j] * fixed(j, j);
    for (std::size_t i = 0; i < shape().parts(); ++i) {
        result.sums.push_back(part_spread(i, inverse, fixed));
        prior_share += point.parts[i].precision.cwiseProduct(result.sums.back()).sum();
    }
    result.trace = (static_cast<double>(size()) - prior_share) / point.parts.back().precision(0, 0);
    return result;
}

FieldCore::Squares FieldCore::squares(const VectorView& x, Vector& force) const {
    const Vector moved = x - origin;
    const Vector pull = structure->multiply(blocks, moved);
    force = forces - pull;
    Squares result;
    result.residual = squared - moved.dot(forces) - moved.dot(force);
    for (std::size_t i = 0; i < shape().parts(); ++i) result.sums.push_back(part_squares(i, x));
    return result;
}

double FieldCore::part_unit(std::size_t part, Index effect) const {
    const FieldUnits& units = design->units();
    return part < shape().factors.size() ? units.effect_unit(part, effect) : units.response_scale;
}

Matrix FieldCore::part_squares(std::size_t part, const VectorView& x) const {
    const FieldShape::Factor& own = shape().part(part);
    const Eigen::Map<const Matrix> u(x.data() + own.offset, own.effects, own.levels);
    return u * u.transpose();
}

Matrix FieldCore::part_spread(std::size_t part, const PrecisionInverse& inverse, const Matrix& fixed) const {
    if (part < shape().factors.size()) return inverse.block_sum(part);
    const FieldShape::Factor& own = shape().part(part);
    return Matrix::Constant(1, 1, fixed.diagonal().segment(own.offset, own.size()).sum());
}

// From the origin: P d = τ g − (prior precision)(origin − prior mean).
Vector FieldCore::solve_mean(const PsiPoint& point, const PrecisionFactor& factored) const {
    const double tau = point.parts.back().precision(0, 0);
    Vector right = tau * forces;
    const Index p = shape().fixed;
    right.head(p) -= point.fixed_precision.cwiseProduct(origin.head(p) - fixed_mean);
    for (std::size_t f = 0; f < shape().factors.size(); ++f) {
        const FieldShape::Factor& factor = shape().factors[f];
        const Eigen::Map<const Matrix> u(origin.data() + factor.offset, factor.effects, factor.levels);
        Eigen::Map<Matrix>(right.data() + factor.offset, factor.effects, factor.levels) -= point.precisions[f] * u;
    }
    return origin + factored.solve(right);
}

double FieldCore::log_joint(const PsiPoint& point, const VectorView& x, const Squares& squares,
                            double* magnitude) const {
    const EffectCovariance& sigma = point.parts.back();
    const double tau = sigma.precision(0, 0);
    double sum = 0.0;
    double size = 0.0;
    const auto add = [&](double term) {
        sum += term;
        size += std::abs(term);
    };
    add(-0.5 * rows * kLogTwoPi);
    add(-rows * std::log(design->units().response_scale));
    add(-0.5 * rows * sigma.log_determinant);
    add(0.5 * log_precisions);
    add(-0.5 * tau * squares.residual);
    for (Index j = 0; j < shape().plain; ++j) {
        const double difference = x[j] - fixed_mean[j];
        add(0.5 * std::log(fixed_precision[j]) - 0.5 * kLogTwoPi - 0.5 * fixed_precision[j] * difference * difference);
    }
    for (std::size_t i = 0; i < shape().parts(); ++i) {
        const double levels = static_cast<double>(shape().part(i).levels);
        add(-0.5 * static_cast<double>(shape().part(i).size()) * kLogTwoPi);
        add(-0.5 * levels * point.parts[i].log_determinant);
        add(-0.5 * point.parts[i].precision.cwiseProduct(squares.sums[i]).sum());
    }
    add(point.log_prior);
    if (magnitude != nullptr) *magnitude = size;
    return sum;
}

double FieldCore::bound(const PsiPoint&, const PrecisionFactor& factored, double joint) const {
    return joint - 0.5 * factored.log_determinant() + 0.5 * static_cast<double>(size()) * kLogTwoPi;
}

Vector FieldCore::coefficient_gradient(const PsiPoint& point, const VectorView& x, const Vector& force) const {
    Vector gradient = point.parts.back().precision(0, 0) * force;
    const Index p = shape().fixed;
    gradient.head(p) -= point.fixed_precision.cwiseProduct(x.head(p) - fixed_mean);
    for (std::size_t f = 0; f < shape().factors.size(); ++f) {
        const FieldShape::Factor& factor = shape().factors[f];
        const Eigen::Map<const Matrix> u(x.data() + factor.offset, factor.effects, factor.levels);
        Eigen::Map<Matrix>(gradient.data() + factor.offset, factor.effects, factor.levels) -= point.precisions[f] * u;
    }
    return gradient;
}

Vector FieldCore::psi_gradient(const PsiPoint& point, const Squares& squares, const Spread* spread) const {
    Vector gradient = point.prior_gradient;
    for (std::size_t i = 0; i < parts.size(); ++i) {
        const bool is_sigma = i == sigma_part();
        if (is_sigma && row_field) continue;
        const double levels = is_sigma ? rows : static_cast<double>(shape().part(i).levels);
        Matrix sum = is_sigma ? Matrix::Constant(1, 1, squares.residual) : squares.sums[i];
        if (spread != nullptr) sum += is_sigma ? Matrix::Constant(1, 1, spread->trace) : spread->sums[i];
        const EffectCovariance& part = point.parts[i];
        for (Index j = 0; j < parts[i].size(); ++j) {
            gradient[part_offset_[i] + j] -=
                0.5 * (levels * part.log_determinant_by_psi[j] + part.by_psi[at(j)].cwiseProduct(sum).sum());
        }
    }
    return gradient;
}

FieldCore::Evidence FieldCore::evidence(const VectorView& psi, bool gradient, const Evidence* near) const {
    if (row_field) return row_field->evidence(psi, gradient, near != nullptr ? near->inner.get() : nullptr);
    Evidence result;
    result.value = kNone;
    if (!psi.allFinite()) return result;
    const PsiPoint point = psi_point(psi);
    const std::unique_ptr<PrecisionFactor> factored = factor(point);
    if (!factored) return result;
    result.mean = solve_mean(point, *factored);
    Vector force;
    result.squares = squares(result.mean, force);
    result.value = bound(point, *factored, log_joint(point, result.mean, result.squares));
    if (!std::isfinite(result.value)) result.value = kNone;
    if (!gradient) return result;
    result.spread = spread(point, PrecisionInverse(*factored));
    result.gradient = psi_gradient(point, result.squares, &result.spread);
    if (!result.gradient.allFinite()) result.value = kNone;
    return result;
}

// A few steps of the EM algorithm without priors, from a third of the response's sd in everything.
Vector FieldCore::guess() const {
    Vector psi(variance_count_);
    if (row_field) psi = row_field->guess();
    for (std::size_t i = 0; i < parts.size() && !row_field; ++i) {
        const double sd = i == sigma_part() ? 0.7 * std::sqrt(precision_unit) : 0.35;
        psi.segment(part_offset_[i], parts[i].size()) = parts[i].from_sds(Vector::Constant(parts[i].effects(), sd));
    }
    constexpr int kSteps = 3;
    Evidence before;
    for (int step = 0; step < kSteps; ++step) {
        const Evidence here = evidence(psi, true, &before);
        if (here.value == kNone) return psi;
        for (std::size_t i = 0; i < parts.size(); ++i) {
            const bool is_sigma = i == sigma_part();
            if (is_sigma && row_field) continue;
            const double levels = is_sigma ? rows : static_cast<double>(shape().part(i).levels);
            const Matrix sum = is_sigma ? Matrix::Constant(1, 1, here.squares.residual + here.spread.trace)
                                        : Matrix(here.squares.sums[i] + here.spread.sums[i]);
            psi.segment(part_offset_[i], parts[i].size()) = parts[i].from_covariance(sum / levels);
        }
        before.inner = here.inner;
    }
    return psi;
}

Matrix FieldCore::psi_curvature(const VectorView& psi, const Squares& squares, const Spread* held) const {
    Matrix result(variance_count_, variance_count_);
    for (Index j = 0; j < variance_count_; ++j) {
        const auto gradient = [&](double step) {
            Vector moved = psi;
            moved[j] += step;
            const PsiPoint point = psi_point(moved);
            if (held != nullptr) return psi_gradient(point, squares, held);
            const std::unique_ptr<PrecisionFactor> factored = factor(point);
            if (!factored) return Vector(Vector::Constant(variance_count_, std::numeric_limits<double>::quiet_NaN()));
            const Spread own = spread(point, PrecisionInverse(*factored));
            return psi_gradient(point, squares, &own);
        };
        const double up = (psi[j] + kPsiStep) - psi[j];
        const double down = psi[j] - (psi[j] - kPsiStep);
        result.col(j) = (gradient(up) - gradient(-down)) / (up + down);
    }
    return 0.5 * (result + result.transpose());
}

Vector FieldCore::bounded_step(const Matrix& curvature, const Vector& gradient, double longest) {
    const Eigen::SelfAdjointEigenSolver<Matrix> eigen(-curvature);
    Vector step = Vector::Zero(gradient.size());
    const double largest = eigen.eigenvalues().cwiseAbs().maxCoeff();
    for (Index i = 0; i < gradient.size(); ++i) {
        const double value = std::max({std::abs(eigen.eigenvalues()[i]), 1e-8 * largest, 1e-6});
        step += eigen.eigenvectors().col(i) * (eigen.eigenvectors().col(i).dot(gradient) / value);
    }
    const double length = step.cwiseAbs().maxCoeff();
    return length > longest ? Vector(step * (longest / length)) : step;
}

// Newton's method with the curvature by differences once, and Broyden–Fletcher–Goldfarb–Shanno's updates of it after:
// the differences again where these no longer gain.
Vector FieldCore::top(const std::optional<Vector>& from, Evidence* found) const {
    constexpr int kSteps = 200;
    constexpr double kLongest = 2.0;
    constexpr double kEnough = 1e-9;  // Newton's decrement
    Vector psi = from ? *from : guess_;
    Evidence here = evidence(psi, true);
    if (here.value == kNone) {
        throw std::domain_error(
            "the precision of the field cannot be factored where its fit begins: look for columns or effects whose "
            "sizes "
            "are extremely different");
    }
    const auto end = [&] {
        if (found != nullptr) *found = std::move(here);
        return psi;
    };
    if (variance_count_ == 0) return end();
    Matrix curvature;
    bool fresh = false;
    for (int step = 0; step < kSteps; ++step) {
        if (curvature.size() == 0) {
            curvature.resize(variance_count_, variance_count_);
            for (Index j = 0; j < variance_count_; ++j) {
                Vector moved = psi;
                moved[j] += kPsiStep;
                const Evidence there = evidence(moved, true, &here);
                if (there.value == kNone) return end();
                curvature.col(j) = (there.gradient - here.gradient) / kPsiStep;
            }
            curvature = 0.5 * (curvature + curvature.transpose()).eval();
            fresh = true;
        }
        const Vector direction = bounded_step(curvature, here.gradient, kLongest);
        if (direction.dot(here.gradient) < kEnough * kEnough) return end();
        double length = 1.0;
        Evidence there;
        for (; length > 1e-6; length *= 0.5) {
            there = evidence(psi + length * direction, true, &here);
            if (there.value > here.value - 1e-13 * std::abs(here.value) &&
                (there.value > here.value || there.gradient.norm() < here.gradient.norm())) {
                break;
            }
        }
        if (length <= 1e-6) {
            if (fresh) return end();
            curvature.resize(0, 0);
            continue;
        }
        const Vector moved = length * direction;
        const Vector change = there.gradient - here.gradient;
        psi += moved;
        here = std::move(there);
        fresh = false;
        const double along = -moved.dot(change);
        const Vector pushed = curvature * moved;
        if (length < 0.2 || !(along > 0.0) || !(moved.dot(pushed) < 0.0)) {
            curvature.resize(0, 0);
            continue;
        }
        curvature -= pushed * pushed.transpose() / moved.dot(pushed);
        curvature -= change * change.transpose() / along;
    }
    return end();
}

}  // namespace lrvb::detail
