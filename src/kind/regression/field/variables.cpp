#include "kind/regression/field/variables.hpp"

#include "kind/regression/field/functions.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace lrvb::detail {

namespace {

constexpr Index kMostSlopes = 200;  // whose share of the variance is taken

std::string name_of(const std::string& group, const std::vector<std::string>& indices) {
    return indices.empty() ? group : fmt::format("{}[{}]", group, fmt::join(indices, ","));
}

// Of columns and effects.
Index mean_places(const FieldData& data) {
    Index result = data.columns.cols();
    for (const FieldFactor& factor : data.factors) result += factor.values.cols();
    return result;
}

}  // namespace

std::string answer_moments(const FieldData& data, const RowBlocks& blocks, std::string_view asked) {
    ByteReader reader(asked);
    const bool has_mean = reader.number<bool>();
    const Vector mean = reader.vector();
    return block_sums(blocks, [&](Index begin, Index end) {
        const Index rows = end - begin;
        const Vector weights = data.weights.size() > 0 ? Vector(data.weights.segment(begin, rows)) : Vector::Ones(rows);
        const Matrix columns = data.columns.middleRows(begin, rows);
        if (!has_mean) {
            double count = 0.0;
            for (Index n = begin; n < end; ++n) count += data.count(n);
            Vector sums(mean_places(data) + 2);
            sums.head(columns.cols()) = columns.transpose() * weights;
            Index next = columns.cols();
            for (const FieldFactor& factor : data.factors) {
                sums.segment(next, factor.values.cols()) = factor.values.middleRows(begin, rows).transpose() * weights;
                next += factor.values.cols();
            }
            sums[next] = weights.sum();
            sums[next + 1] = count;
            return sums;
        }
        std::vector<double> sums;
        const auto add = [&](const Matrix& products) {
            sums.insert(sums.end(), products.data(), products.data() + products.size());
        };
        const Index slopes = data.slopes();
        if (slopes <= kMostSlopes) {
            const Matrix centred = columns.leftCols(slopes).rowwise() - mean.head(slopes).transpose();
            add(centred.transpose() * Matrix(weights.asDiagonal() * centred));
        }
        for (const FieldTerm& term : data.terms) {
            sums.push_back(weights.dot(columns.middleCols(term.first, term.count).rowwise().squaredNorm()));
        }
        Index next = columns.cols();
        for (const FieldFactor& factor : data.factors) {
            Matrix values = factor.values.middleRows(begin, rows);
            for (Index e = 0; e < values.cols(); ++e, ++next) {
                if (factor.intercept >= 0 && e != factor.intercept) values.col(e).array() -= mean[next];
            }
            add(values.transpose() * Matrix(weights.asDiagonal() * values));
        }
        return Vector(Eigen::Map<const Vector>(sums.data(), static_cast<Index>(sums.size())));
    });
}

FieldMoments moments_of(const FieldData& outline, const AskRows& ask) {
    const Index slopes = outline.slopes();
    const Vector first = total_of(ask(ByteWriter().number(false).vector({}).take()));
    const Index places = mean_places(outline);
    const double total = first[places + 1];  // rows
    const Vector mean = first.head(places) / first[places];
    const Vector sums = total_of(ask(ByteWriter().number(true).vector(mean).take()));
    FieldMoments result;
    Index next = 0;
    const auto take = [&](Index size) {
        Matrix own = sums.segment(next, size * size).reshaped(size, size) / total;
        next += size * size;
        return own;
    };
    result.columns = slopes <= kMostSlopes ? take(slopes) : Matrix(Matrix::Zero(slopes, slopes));
    result.terms.resize(static_cast<Index>(outline.terms.size()));
    for (double& term : result.terms) term = sums[next++] / total;
    for (const FieldFactor& factor : outline.factors) result.effects.push_back(take(factor.values.cols()));
    // Of families without a σ, whose rows are here.
    const bool has_response = !outline.likelihood->has_sigma();
    result.response = !has_response                ? std::numeric_limits<double>::quiet_NaN()
                      : outline.weights.size() > 0 ? outline.weights.dot(outline.y) / outline.total_weight()
                                                   : outline.y.mean();
    return result;
}

Matrix covariance_of_statistics(const Posterior& posterior, const std::vector<Index>& places) {
    std::vector<Eigen::Triplet<double>> entries;
    for (std::size_t i = 0; i < places.size(); ++i) {
        entries.emplace_back(static_cast<int>(places[i]), static_cast<int>(i), 1.0);
    }
    SparseMatrix chosen(posterior.mean.size(), static_cast<Index>(places.size()));
    chosen.setFromTriplets(entries.begin(), entries.end());
    return posterior.covariance->between(chosen, chosen);
}

FieldVariables::FieldVariables(FormulaShape shape, const FieldPrior& prior, FieldMoments moments)
    : shape_(std::move(shape)), moments_(std::move(moments)) {
    if (shape_.intercept) statistics_ = {"alpha", "intercept"};
    for (Index j = 0; j < static_cast<Index>(shape_.slopes.size()); ++j) {
        statistics_.push_back(
            name_of(j < shape_.plain() ? "beta" : "coef", {shape_.slopes[static_cast<std::size_t>(j)]}));
    }
    const auto add_psi = [&](std::string group, std::vector<std::string> indices, bool is_log) {
        statistics_.push_back(name_of(group, indices));
        psi_groups_.push_back(std::move(group));
        psi_indices_.push_back(std::move(indices));
        psi_is_log_.push_back(is_log);
        has_precision_.push_back(false);
        psi_effects_.emplace_back(-1, -1);
        return psi_count_++;
    };
    const auto is_log = [](const ScalePrior& own) { return own.kind != ScalePrior::Kind::uniform; };
    for (std::size_t f = 0; f < shape_.factors.size(); ++f) {
        const FormulaShape::Factor& factor = shape_.factors[f];
        const FieldPrior::Factor& own = prior.factors[f];
        const auto count = static_cast<Index>(factor.effects.size());
        effect_centre_.push_back(own.centre.value_or(Vector::Zero(count)));
        const EffectShape effect_shape{factor.blocks, factor.intercept, effect_centre_.back()};
        const auto parameters = std::make_shared<EffectParameters>(own, Vector::Ones(count), effect_shape, factor.name);
        effects_.push_back(parameters);
        factor_psi_.push_back(psi_count_);
        const auto name = [&](Index e) {
            return effect_name(factor.effects[static_cast<std::size_t>(e)],
                               e == factor.intercept && parameters->psi_at_means());
        };
        for (Index e = 0; e < count; ++e) {
            const ScalePrior& sd = own.sd[static_cast<std::size_t>(e)];
            add_psi(is_log(sd) ? "log_sd" : "logit_sd", {factor.name, name(e)}, is_log(sd));
            has_precision_.back() = sd.kind == ScalePrior::Kind::gamma_precision;
            psi_effects_.back() = {static_cast<Index>(f), e};
        }
        for (Index e = 1; e < count; ++e) {
            for (Index other = 0; other < e; ++other) {
                if (parameters->correlation(e, other) < 0) continue;
                add_psi(parameters->is_plain_correlation(e) ? "atanh_cor" : "atanh_partial_cor",
                        {factor.name, name(other), name(e)}, false);
            }
        }
    }
    for (std::size_t t = 0; t < shape_.terms.size(); ++t) {
        const ScalePrior& own = prior.terms[t];
        terms_.push_back(std::make_shared<EffectParameters>(FieldPrior::Factor{{own}, true}, Vector::Ones(1),
                                                            EffectShape{}, shape_.terms[t].name));
        term_psi_.push_back(add_psi(is_log(own) ? "log_sd" : "logit_sd", {shape_.terms[t].name}, is_log(own)));
        has_precision_.back() = own.kind == ScalePrior::Kind::gamma_precision;
    }
    if (shape_.has_sigma()) {
        const bool log = is_log(prior.sigma);
        sigma_ = std::make_shared<EffectParameters>(FieldPrior::Factor{{prior.sigma}, true}, Vector::Ones(1),
                                                    EffectShape{}, "sigma");
        sigma_psi_ = add_psi(log ? "log_sigma" : "logit_sigma", {}, log);
        has_precision_.back() = log;
    }
    for (const LikelihoodParameter& parameter : shape_.likelihood->parameters()) {
        parameter_psi_.push_back(add_psi(parameter.psi_name, {}, false));
    }
    for (std::size_t f = 0; f < shape_.factors.size(); ++f) {
        const std::vector<std::string> effects = effect_names(f);
        for (const std::string& level : shape_.factors[f].levels) {
            for (const std::string& effect : effects) {
                statistics_.push_back(name_of("u", {shape_.factors[f].name, level, effect}));
            }
        }
    }
}

bool FieldVariables::is_at_zero(std::size_t factor) const {
    return is_centred(factor) && !effects_[factor]->prior_at_means();
}

bool FieldVariables::are_correlated(std::size_t factor, Index effect, Index other) const {
    return effects_[factor]->correlation(std::max(effect, other), std::min(effect, other)) >= 0;
}

std::vector<std::string> FieldVariables::effect_names(std::size_t factor) const {
    std::vector<std::string> names = shape_.factors[factor].effects;
    if (!is_centred(factor)) return names;
    std::string& intercept = names[static_cast<std::size_t>(shape_.factors[factor].intercept)];
    intercept = effect_name(intercept, true);
    return names;
}

Vector FieldVariables::own(Index factor, const Vector& psi) const {
    return psi.segment(psi_of(factor), effects_[static_cast<std::size_t>(factor)]->size());
}

Matrix FieldVariables::effect_covariance(Index factor, const Vector& psi) const {
    return effects_[static_cast<std::size_t>(factor)]->covariance(own(factor, psi)).covariance();
}

double FieldVariables::term_sd(std::size_t term, const Vector& psi) const {
    return std::exp(terms_[term]->log_sd(psi.segment(term_psi_[term], 1), 0));
}

bool FieldVariables::is_of_shares(Index statistic) const {
    const bool is_slope = statistic >= first_slope() && statistic < first_slope() + shape_.plain();
    return is_slope || (statistic >= first_psi() && statistic < first_effect());
}

double FieldVariables::sigma(const Vector& psi) const {
    return std::exp(sigma_->log_sd(psi.segment(sigma_psi_, 1), 0));
}

Vector FieldVariables::theta(const Vector& psi) const {
    Vector theta(shape_.likelihood->parameter_count());
    if (sigma_) theta[0] = sigma(psi);
    const Index first = sigma_ ? 1 : 0;
    for (std::size_t i = 0; i < parameter_psi_.size(); ++i) {
        theta[first + static_cast<Index>(i)] = shape_.likelihood->parameters()[i].value(psi[parameter_psi_[i]]);
    }
    return theta;
}

// The variance of a response about its predictor does not depend on θ for being one.
bool FieldVariables::has_shares() const {
    const Vector any = Vector::Ones(shape_.likelihood->parameter_count());
    return std::isfinite(shape_.likelihood->link_variance(moments_.response, any)) && shape_.plain() <= kMostSlopes;
}

std::vector<std::string> FieldVariables::share_names() const {
    std::vector<std::string> names;
    if (!has_shares()) return names;
    for (const FormulaShape::Factor& factor : shape_.factors) names.push_back(name_of("ICC", {factor.name}));
    const bool has_more = !shape_.factors.empty() || !shape_.terms.empty();
    if (shape_.plain() > 0) names.emplace_back(has_more ? "R2_marginal" : "R2");
    if (has_more && shape_.plain() > 0) names.emplace_back("R2_conditional");
    return names;
}

Vector FieldVariables::shares(const Vector& slopes_and_psi) const {
    const Index slopes = shape_.plain();
    const Vector beta = slopes_and_psi.head(slopes);
    const Vector psi = slopes_and_psi.tail(psi_count_);
    const double explained = beta.dot(moments_.columns * beta);
    const double rest = shape_.likelihood->link_variance(moments_.response, theta(psi));
    std::vector<double> variances;
    double of_groups = 0.0;
    for (std::size_t f = 0; f < shape_.factors.size(); ++f) {
        variances.push_back(effect_covariance(static_cast<Index>(f), psi).cwiseProduct(moments_.effects[f]).sum());
        of_groups += variances.back();
    }
    for (std::size_t t = 0; t < shape_.terms.size(); ++t) {
        of_groups += std::pow(term_sd(t, psi), 2) * moments_.terms[static_cast<Index>(t)];
    }
    std::vector<double> result;
    result.reserve(variances.size() + 2);
    for (const double variance : variances) result.push_back(variance / (of_groups + rest));
    const double all = explained + of_groups + rest;
    if (slopes > 0) result.push_back(explained / all);
    const bool has_more = !shape_.factors.empty() || !shape_.terms.empty();
    if (has_more && slopes > 0) result.push_back((explained + of_groups) / all);
    return Eigen::Map<const Vector>(result.data(), static_cast<Index>(result.size()));
}

std::vector<VariableMeaning> FieldVariables::meanings() const {
    std::vector<VariableMeaning> result;
    const auto add = [&](const std::string& group, std::vector<std::string> indices, Role role,
                         FromDraw from_draw) -> VariableMeaning& {
        VariableMeaning& meaning = result.emplace_back();
        meaning.group = group;
        meaning.indices = std::move(indices);
        meaning.role = role;
        meaning.from_draw = std::move(from_draw);
        meaning.panel = meaning.name();  // every column has a unit of its own
        return meaning;
    };
    const auto shown = [](VariableMeaning& meaning) { meaning.is_parameter = meaning.is_shown = true; };
    const auto psi = [&](Index at) { return first_psi() + at; };
    if (shape_.intercept) shown(add("intercept", {}, Role::coefficient, FromDraw::statistic(1)));
    for (Index j = 0; j < shape_.plain(); ++j) {
        shown(add("beta", {shape_.slopes[static_cast<std::size_t>(j)]}, Role::coefficient,
                  FromDraw::statistic(first_slope() + j)));
    }
    const auto scale = [&](const std::string& group, std::vector<std::string> indices, Index at,
                           const std::shared_ptr<const EffectParameters>& parameters, Index effect, Index first) {
        FromDraw rule = FromDraw::of(Transform::exponential, psi(at));
        if (!psi_is_log_[static_cast<std::size_t>(at)]) {
            rule = FromDraw::of({psi(at)}, [parameters, effect, first](const Vector& own_psi) {
                Vector part = Vector::Zero(parameters->size());
                part[first] = own_psi[0];
                return std::exp(parameters->log_sd(part, effect));
            });
        }
        shown(add(group, std::move(indices), Role::scale, std::move(rule)));
    };
    for (std::size_t f = 0; f < shape_.factors.size(); ++f) {
        const FormulaShape::Factor& factor = shape_.factors[f];
        const auto count = static_cast<Index>(factor.effects.size());
        const Index begin = factor_psi_[f];
        std::vector<Index> all(static_cast<std::size_t>(effects_[f]->size()));
        for (std::size_t s = 0; s < all.size(); ++s) all[s] = psi(begin + static_cast<Index>(s));
        const bool at_means = effects_[f]->psi_at_means();
        for (Index e = 0; e < count; ++e) {
            const std::string& effect = factor.effects[static_cast<std::size_t>(e)];
            if (!at_means || e != factor.intercept) {
                scale("sd", {factor.name, effect}, begin + e, effects_[f], e, e);
                continue;
            }
            shown(add("sd", {factor.name, effect}, Role::scale,
                      FromDraw::of(all, [parameters = effects_[f], e](const Vector& own_psi) {
                          return parameters->root_at_zero(own_psi).row(e).norm();
                      })));
            add("sd", {factor.name, effect_name(effect, true)}, Role::scale,
                FromDraw::of(Transform::exponential, psi(begin + e)))
                .is_shown = true;
        }
        for (Index e = 1; e < count; ++e) {
            for (Index other = 0; other < e; ++other) {
                const Index place = effects_[f]->correlation(e, other);
                if (place < 0) continue;
                FromDraw rule = FromDraw::of(Transform::correlation, psi(begin + place));
                const bool is_moved = at_means && (e == factor.intercept || other == factor.intercept);
                if (is_moved || !effects_[f]->is_plain_correlation(e)) {
                    rule = FromDraw::of(all, [parameters = effects_[f], e, other](const Vector& own_psi) {
                        // Far from the data it rounds to one.
                        constexpr double kMost = 1.0 - 1e-15;
                        const Matrix root = parameters->root_at_zero(own_psi);
                        const double norms = root.row(e).norm() * root.row(other).norm();
                        return std::clamp(root.row(e).dot(root.row(other)) / norms, -kMost, kMost);
                    });
                }
                shown(add("cor",
                          {factor.name, factor.effects[static_cast<std::size_t>(other)],
                           factor.effects[static_cast<std::size_t>(e)]},
                          Role::off_diagonal, std::move(rule)));
            }
        }
    }
    for (std::size_t t = 0; t < shape_.terms.size(); ++t) {
        scale("sd", {shape_.terms[t].name}, term_psi_[t], terms_[t], 0, 0);
    }
    if (sigma_) scale("sigma", {}, sigma_psi_, sigma_, 0, 0);
    for (std::size_t i = 0; i < parameter_psi_.size(); ++i) {
        const LikelihoodParameter& parameter = shape_.likelihood->parameters()[i];
        const Index at = psi(parameter_psi_[i]);
        FromDraw rule = FromDraw::of(Transform::exponential, at);
        if (parameter.lower != 0.0) {
            rule = FromDraw::of(
                {at}, [lower = parameter.lower](const Vector& own_psi) { return lower + std::exp(own_psi[0]); });
        }
        shown(add(parameter.name, {}, Role::other, std::move(rule)));
        for (const LikelihoodParameter::Power& power : parameter.powers) {
            add(power.name, {}, Role::other, FromDraw::of(Transform::exponential, at, power.exponent)).is_shown = true;
        }
    }
    std::vector<Index> slopes_and_psi;
    for (Index s = first_slope(); s < first_effect(); ++s) {
        if (is_of_shares(s)) slopes_and_psi.push_back(s);
    }
    const std::vector<std::string> names = share_names();
    const auto self = std::make_shared<FieldVariables>(*this);
    const std::vector<Index> psi_alone(slopes_and_psi.end() - psi_count_, slopes_and_psi.end());
    for (std::size_t i = 0; i < names.size(); ++i) {
        const std::size_t bracket = names[i].find('[');
        std::vector<std::string> indices;
        if (bracket != std::string::npos) indices = {names[i].substr(bracket + 1, names[i].size() - bracket - 2)};
        const bool of_psi = bracket != std::string::npos;  // ICC
        VariableMeaning& meaning =
            add(names[i].substr(0, bracket), std::move(indices), Role::other,
                FromDraw::of(of_psi ? psi_alone : slopes_and_psi, [self, i, of_psi](const Vector& values) {
                    Vector all = Vector::Zero(self->shape_.plain() + self->psi_count_);
                    all.tail(values.size()) = values;
                    return self->shares(of_psi ? all : values)[static_cast<Index>(i)];
                }));
        meaning.is_shown = true;
        meaning.panel = "shares of the variance";
    }

    const auto local = [](VariableMeaning& meaning) -> VariableMeaning& {
        meaning.is_local = true;
        return meaning;
    };
    if (shape_.intercept) local(add("alpha", {}, Role::location, FromDraw::statistic(0)));
    Index first_of_term = first_slope() + shape_.plain();
    for (const FormulaShape::Term& term : shape_.terms) {
        for (std::size_t i = 0; i < term.places.size(); ++i) {
            FromDraw curve = FromDraw::statistic(first_of_term);
            curve.combination.clear();
            for (Index k = 0; k < term.count; ++k) {
                curve.combination.emplace_back(first_of_term + k, term.curve(static_cast<Index>(i), k));
            }
            local(add("f", {term.name, term.places[i]}, Role::location, std::move(curve))).panel =
                fmt::format("f[{}]", term.name);
        }
        for (Index k = 0; k < term.count; ++k) {
            VariableMeaning& meaning = local(add("coef", {term.name, fmt::format("{}", k + 1)}, Role::location,
                                                 FromDraw::statistic(first_of_term + k)));
            meaning.panel = fmt::format("coef[{}]", term.name);
            meaning.is_auxiliary = true;
        }
        first_of_term += term.count;
    }
    for (Index at = 0; at < psi_count_; ++at) {
        const auto i = static_cast<std::size_t>(at);
        local(add(psi_groups_[i], psi_indices_[i], Role::logarithm, FromDraw::statistic(psi(at))));
    }
    for (Index at = 0; at < psi_count_; ++at) {
        const auto i = static_cast<std::size_t>(at);
        // With a prior that lets an sd be next to nothing, 1/sd² has no mean.
        if (!psi_is_log_[i] || !has_precision_[i]) continue;
        const auto [f, e] = psi_effects_[i];
        if (f >= 0 && effects_[static_cast<std::size_t>(f)]->psi_at_means() &&
            !effects_[static_cast<std::size_t>(f)]->prior_at_means()) {
            const FormulaShape::Factor& factor = shape_.factors[static_cast<std::size_t>(f)];
            std::vector<Index> all;
            for (Index s = 0; s < effects_[static_cast<std::size_t>(f)]->size(); ++s) all.push_back(psi(psi_of(f) + s));
            local(add(
                "tau", {factor.name, factor.effects[static_cast<std::size_t>(e)]}, Role::precision,
                FromDraw::of(all, [parameters = effects_[static_cast<std::size_t>(f)], e = e](const Vector& own_psi) {
                    return 1.0 / parameters->root_at_zero(own_psi).row(e).squaredNorm();
                })));
            continue;
        }
        local(add("tau", psi_indices_[i], Role::precision, FromDraw::of(Transform::exponential, psi(at), -2.0)));
    }
    // The statistics come last, one behind the other.
    Index at = first_effect();
    for (std::size_t f = 0; f < shape_.factors.size(); ++f) {
        const FormulaShape::Factor& factor = shape_.factors[f];
        const auto count = static_cast<Index>(factor.effects.size());
        for (const std::string& level : factor.levels) {
            if (is_centred(f)) {
                const std::string& effect = factor.effects[static_cast<std::size_t>(factor.intercept)];
                FromDraw at_zero = FromDraw::statistic(at + factor.intercept);
                for (Index e = 0; e < count; ++e) {
                    if (effect_centre_[f][e] != 0.0) at_zero.combination.emplace_back(at + e, -effect_centre_[f][e]);
                }
                local(add("u", {factor.name, level, effect}, Role::location, std::move(at_zero))).panel =
                    fmt::format("u[{},{}]", factor.name, effect);
            }
            at += count;
        }
    }
    at = first_effect();
    for (std::size_t f = 0; f < shape_.factors.size(); ++f) {
        const std::vector<std::string> effects = effect_names(f);
        for (const std::string& level : shape_.factors[f].levels) {
            for (const std::string& effect : effects) {
                VariableMeaning& meaning =
                    local(add("u", {shape_.factors[f].name, level, effect}, Role::location, FromDraw::statistic(at++)));
                meaning.is_parameter = true;
                meaning.panel = fmt::format("u[{},{}]", shape_.factors[f].name, effect);
            }
        }
    }
    return result;
}

bool FieldVariables::is_of_psi(const FromDraw& rule) const {
    const bool is_statistic = !rule.function && rule.transform == Transform::identity;
    return !is_statistic && std::all_of(rule.combination.begin(), rule.combination.end(), [&](const auto& part) {
        return part.first >= first_psi() && part.first < first_effect();
    });
}

Functionals FieldVariables::functionals(const FieldModel& model) const {
    const Functionals::Resolved coefficients = model.coefficients().resolve(model.layout());
    const Index size = model.layout().size();
    const auto fixed = static_cast<Index>(shape_.slopes.size()) + (shape_.intercept ? 1 : 0);
    const auto count = static_cast<Index>(statistics_.size());
    std::vector<Eigen::Triplet<double>> entries;
    Vector constants = Vector::Zero(count);
    const auto add = [&](Index coefficient, Index to, double factor) {
        for (SparseMatrix::InnerIterator entry(coefficients.weights, coefficient); entry; ++entry) {
            entries.emplace_back(static_cast<int>(entry.row()), static_cast<int>(to), factor * entry.value());
        }
        constants[to] += factor * coefficients.constants[coefficient];
    };
    const Index first = shape_.intercept ? 1 : 0;
    if (shape_.intercept) {
        add(0, 0, 1.0);
        add(0, 1, 1.0);
        for (Index j = 0; j < fixed - 1; ++j) add(first + j, 1, -model.centre()[j]);
    }
    for (Index j = first; j < fixed; ++j) add(j, first_slope() + j - first, 1.0);
    for (Index at = 0; at < psi_count_; ++at) {
        entries.emplace_back(static_cast<int>(at), static_cast<int>(first_psi() + at), 1.0);
    }
    constants.segment(first_psi(), psi_count_) = model.psi_shift();
    for (Index c = fixed; c < coefficients.weights.cols(); ++c) add(c, first_effect() + c - fixed, 1.0);
    SparseMatrix weights(size, count);
    weights.setFromTriplets(entries.begin(), entries.end());
    return {weights, constants};
}

namespace {

// V of ψ and S of the coefficients, carried to the statistics.
std::shared_ptr<const Covariance> mean_field_of(const FieldModel& model, const State& state,
                                                const SparseMatrix& statistics, Index first_effect) {
    const Index psi = model.variance_count();
    const Index count = model.coefficient_count();
    const Vector variances = model.mean_field_variances(state);
    const std::unique_ptr<FieldConditional> field = model.conditional(state.mean.head(psi));
    if (statistics.cols() <= kDenseStatistics) {
        Matrix all = Matrix::Zero(psi + count, psi + count);
        all.topLeftCorner(psi, psi).diagonal() = variances.head(psi);
        const Matrix joint = field->covariance_times(Matrix::Identity(count, count));
        all.bottomRightCorner(count, count) = 0.5 * (joint + joint.transpose());
        const Matrix product = statistics.transpose() * Matrix(all * statistics);
        return std::make_shared<DenseCovariance>(0.5 * (product + product.transpose()));
    }
    // Of very many effects their own variances alone, and all of the fixed ones.
    std::vector<Eigen::Triplet<double>> entries;
    for (Index i = 0; i < psi; ++i) entries.emplace_back(static_cast<int>(i), static_cast<int>(i), variances[i]);
    const Index fixed = count - (statistics.cols() - first_effect);
    Matrix chosen = Matrix::Zero(count, fixed);
    chosen.topRows(fixed).setIdentity();
    const Matrix joint = field->covariance_times(chosen).topRows(fixed);
    for (Index c = 0; c < fixed; ++c) {
        for (Index r = 0; r < fixed; ++r) {
            entries.emplace_back(static_cast<int>(psi + r), static_cast<int>(psi + c),
                                 0.5 * (joint(r, c) + joint(c, r)));
        }
    }
    for (Index i = psi + fixed; i < psi + count; ++i) {
        entries.emplace_back(static_cast<int>(i), static_cast<int>(i), variances[i]);
    }
    SparseMatrix all(psi + count, psi + count);
    all.setFromTriplets(entries.begin(), entries.end());
    return std::make_shared<SparseCovariance>(SparseMatrix(statistics.transpose() * SparseMatrix(all * statistics)));
}

}  // namespace

bool FieldVariables::is_parameter(const std::string& group) const {
    const std::vector<LikelihoodParameter>& parameters = shape_.likelihood->parameters();
    return std::any_of(parameters.begin(), parameters.end(),
                       [&](const LikelihoodParameter& parameter) { return parameter.name == group; });
}

TailMoments FieldVariables::moments_of(const std::string& group) const {
    for (const LikelihoodParameter& parameter : shape_.likelihood->parameters()) {
        for (const LikelihoodParameter::Power& power : parameter.powers) {
            if (power.name == group && !power.has_moments) return TailMoments::none;
        }
    }
    return TailMoments::mean_and_sd;
}

Posterior FieldVariables::posterior(const FieldModel& model, const Optimum& optimum) const {
    const Functionals own_statistics = functionals(model);
    Posterior posterior = posterior_of(model, optimum, statistics_, own_statistics);
    posterior.mean_field_covariance =
        mean_field_of(model, optimum.state, own_statistics.resolve(model.layout()).weights, first_effect());
    const Vector& mean = posterior.mean;
    // Var ψ by the response.
    Vector spread = Vector::Zero(psi_count_);
    if (posterior.has_response()) {
        std::vector<Eigen::Triplet<double>> entries;
        for (Index at = 0; at < psi_count_; ++at) {
            entries.emplace_back(static_cast<int>(first_psi() + at), static_cast<int>(at), 1.0);
        }
        SparseMatrix chosen(mean.size(), psi_count_);
        chosen.setFromTriplets(entries.begin(), entries.end());
        spread = posterior.covariance->variances(chosen);
    }
    Matrix point = mean;
    const auto value_at = [&](const FromDraw& rule, const Vector& values) { return rule.function(values); };
    for (VariableMeaning& meaning : meanings()) {
        const FromDraw rule = meaning.from_draw;
        const Index at = rule.combination.front().first;
        if (rule.function) {  // derivatives by differences, as long as what averages say
            Vector values(static_cast<Index>(rule.combination.size()));
            for (Index s = 0; s < values.size(); ++s)
                values[s] = mean[rule.combination[static_cast<std::size_t>(s)].first];
            const double value = value_at(rule, values);
            const bool is_positive =
                meaning.role == Role::scale || meaning.role == Role::precision || is_parameter(meaning.group);
            const Transform transform = is_positive                          ? Transform::exponential
                                        : meaning.role == Role::off_diagonal ? Transform::correlation
                                                                             : Transform::logistic;
            const auto unbounded = [&](double x) { return unbounded_values(transform, Vector{{x}})[0]; };
            SparseMatrix own(mean.size(), values.size());
            for (Index s = 0; s < values.size(); ++s) {
                own.insert(rule.combination[static_cast<std::size_t>(s)].first, s) = 1.0;
            }
            Gradient gradient;
            Gradient unbounded_gradient;
            for (Index s = 0; s < values.size(); ++s) {
                const double step = 1e-5 * std::max(1.0, std::abs(values[s]));
                Vector moved = values;
                moved[s] += step;
                const double up = value_at(rule, moved);
                moved[s] -= 2.0 * step;
                const double down = value_at(rule, moved);
                const Index statistic = rule.combination[static_cast<std::size_t>(s)].first;
                gradient.emplace_back(statistic, (up - down) / (2.0 * step));
                unbounded_gradient.emplace_back(statistic, (unbounded(up) - unbounded(down)) / (2.0 * step));
            }
            FunctionMoments moments{value, 0.0, unbounded(value), 0.0};
            if (posterior.has_response()) {
                const Matrix covariance = posterior.covariance->between(own, own);
                const auto sd_by = [&](const Gradient& slopes) {
                    Vector along(values.size());
                    for (Index s = 0; s < along.size(); ++s) along[s] = slopes[static_cast<std::size_t>(s)].second;
                    return std::sqrt(std::max(0.0, along.dot(covariance * along)));
                };
                const auto stretch = [&](Gradient& slopes, double to) {
                    const double by = to / sd_by(slopes);
                    for (auto& [statistic, slope] : slopes) slope *= std::isfinite(by) ? by : 1.0;
                };
                moments = function_moments(rule.function, values, covariance, transform);
                stretch(gradient, moments.sd);
                stretch(unbounded_gradient, moments.unbounded_sd);
            }
            posterior.variables.push_back(transformed_variable(std::move(meaning), moments.mean, std::move(gradient),
                                                               transform, moments.unbounded_mean,
                                                               std::move(unbounded_gradient)));
        } else if (rule.transform == Transform::exponential) {  // sd or 1/sd², lognormal
            const double factor = rule.combination.front().second;
            const double centre = factor * mean[at];
            const TailMoments moments = moments_of(meaning.group);
            const bool has_mean = moments != TailMoments::none;  // without one, the median
            const double value = std::exp(centre + (has_mean ? 0.5 * factor * factor * spread[at - first_psi()] : 0.0));
            posterior.variables.push_back(transformed_variable(std::move(meaning), value, {{at, factor * value}},
                                                               Transform::exponential, centre, {{at, factor}}));
            posterior.variables.back().moments = moments;
        } else if (rule.transform == Transform::correlation) {
            const double value = std::tanh(mean[at]);
            posterior.variables.push_back(transformed_variable(std::move(meaning), value, {{at, 1.0 - value * value}},
                                                               Transform::correlation, mean[at], {{at, 1.0}}));
        } else {
            double value = 0.0;
            for (const auto& [statistic, factor] : rule.combination) value += factor * mean[statistic];
            posterior.variables.push_back(unbounded_variable(std::move(meaning), value, rule.combination));
        }
    }
    keep_marginals(posterior);
    return posterior;
}

std::vector<Index> FieldVariables::coefficients() const {
    std::vector<Index> result;
    if (shape_.intercept) result.push_back(0);
    for (Index s = first_slope(); s < first_psi(); ++s) result.push_back(s);
    for (Index s = first_effect(); s < static_cast<Index>(statistics_.size()); ++s) result.push_back(s);
    return result;
}

}  // namespace lrvb::detail
