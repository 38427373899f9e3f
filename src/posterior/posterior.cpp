#include "base/messages.hpp"
#include "family/special.hpp"
#include "linalg/positive_definite.hpp"

#include <lrvb/family/symmetric.hpp>
#include <lrvb/posterior/posterior.hpp>
#include <lrvb/posterior/quantiles.hpp>
#include <lrvb/response/covariance.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <iterator>
#include <limits>
#include <unordered_map>

namespace lrvb {

namespace {

constexpr double kNothing = std::numeric_limits<double>::quiet_NaN();

void require_positions(const std::vector<Index>& chosen, std::size_t count) {
    for (const Index at : chosen) {
        if (at >= 0 && static_cast<std::size_t>(at) < count) continue;
        throw std::invalid_argument(
            fmt::format("there is no variable at position {}: the posterior has {}, counted from 0", at, count));
    }
}

SparseMatrix columns_of(Index rows, std::size_t count, const std::function<const Gradient&(std::size_t)>& gradient) {
    std::vector<Eigen::Triplet<double>> entries;
    for (std::size_t c = 0; c < count; ++c) {
        for (const auto& [at, slope] : gradient(c))
            entries.emplace_back(static_cast<int>(at), static_cast<int>(c), slope);
    }
    SparseMatrix result(rows, static_cast<Index>(count));
    result.setFromTriplets(entries.begin(), entries.end());
    return result;
}

Vector sds_along(const Covariance& covariance, const SparseMatrix& gradients) {
    return covariance.variances(gradients).cwiseMax(0.0).cwiseSqrt();
}

Vector chosen_of(const Vector& all, const std::vector<Index>& chosen) {
    Vector result(static_cast<Index>(chosen.size()));
    for (std::size_t i = 0; i < chosen.size(); ++i) result[static_cast<Index>(i)] = all[chosen[i]];
    return result;
}

Vector inverse_of_half(const Vector& half, Index size) {
    const Matrix inverse = detail::PositiveDefinite(symmetric_from_half(half, size)).inverse();
    return Eigen::Map<const Vector>(inverse.data(), inverse.size());
}

// What the linear response answers, where there are too many statistics for a matrix.
class ResponseCovariance final : public Covariance {
  public:
    ResponseCovariance(FactoredCovariance factored, const SparseMatrix& statistics)
        : factored_(std::move(factored)), statistics_(statistics) {}

    Index size() const override { return statistics_.cols(); }
    Matrix between(const SparseMatrix& left, const SparseMatrix& right) const override {
        return factored_.covariance(SparseMatrix(statistics_ * left), SparseMatrix(statistics_ * right));
    }
    Vector variances(const SparseMatrix& combinations) const override {
        return factored_.variances(SparseMatrix(statistics_ * combinations));
    }

  private:
    FactoredCovariance factored_;
    SparseMatrix statistics_;
};

// V, block by block.
SparseMatrix mean_field_blocks(const Layout& layout, const State& state) {
    std::vector<Eigen::Triplet<double>> entries;
    for (Index j = 0; j < layout.variable_count(); ++j) {
        if (state.clamped[static_cast<std::size_t>(j)]) continue;
        const VariableInfo& info = layout[j];
        const Matrix block = std::visit(
            [&](const auto& family) { return family.covariance(layout.segment(state.natural, j)); }, info.family);
        for (Index c = 0; c < block.cols(); ++c) {
            for (Index r = 0; r < block.rows(); ++r) {
                entries.emplace_back(static_cast<int>(info.offset + r), static_cast<int>(info.offset + c), block(r, c));
            }
        }
    }
    SparseMatrix result(layout.size(), layout.size());
    result.setFromTriplets(entries.begin(), entries.end());
    return result;
}

// Draw by draw: inverses of matrices are shared by their entries.
class ValuesAtDraws {
  public:
    explicit ValuesAtDraws(const Matrix& statistics) : statistics_(statistics) {}

    Vector of(const FromDraw& rule) {
        if (rule.function) return function_of(rule);
        if (rule.dimension > 0) return inverse_entries(rule).row(rule.row * rule.dimension + rule.column);
        Vector u = Vector::Constant(statistics_.cols(), rule.constant);
        for (const auto& [at, factor] : rule.combination) u += factor * statistics_.row(at).transpose();
        if (rule.transform == Transform::exponential) return u.array().exp();
        if (rule.transform != Transform::identity) {
            for (double& value : u) value = transformed(rule.transform, value);
        }
        return u;
    }

  private:
    Vector function_of(const FromDraw& rule) const {
        Vector values(statistics_.cols());
        Vector own(static_cast<Index>(rule.combination.size()));
        for (Index n = 0; n < statistics_.cols(); ++n) {
            for (Index s = 0; s < own.size(); ++s) {
                own[s] = statistics_(rule.combination[static_cast<std::size_t>(s)].first, n);
            }
            values[n] = rule.function(own);
        }
        return values;
    }

    const Matrix& inverse_entries(const FromDraw& rule) {
        const Index first = rule.combination.front().first;
        if (first == inverted_ && inverse_.rows() == rule.dimension * rule.dimension) return inverse_;
        inverted_ = first;
        const Index size = rule.dimension;
        inverse_.resize(size * size, statistics_.cols());
        Vector half(static_cast<Index>(rule.combination.size()));
        for (Index n = 0; n < statistics_.cols(); ++n) {
            for (Index e = 0; e < half.size(); ++e) {
                half[e] = statistics_(rule.combination[static_cast<std::size_t>(e)].first, n);
            }
            inverse_.col(n) = inverse_of_half(half, size);
        }
        return inverse_;
    }

    const Matrix& statistics_;
    Index inverted_ = -1;  // whose inverses are at hand: variables come matrix by matrix
    Matrix inverse_;
};

}  // namespace

Transform Transform::between(double lower, double upper) {
    if (std::isfinite(lower) && std::isfinite(upper)) return {Kind::logistic, lower, upper - lower};
    if (std::isfinite(lower)) return {Kind::exponential, lower, 1.0};
    if (std::isfinite(upper)) return {Kind::negative, upper, 1.0};
    return identity;
}

double transformed(const Transform& transform, double u) {
    const double plain = [&] {
        switch (transform.kind) {
            case Transform::Kind::exponential:
                return std::exp(u);
            case Transform::Kind::negative:
                return -std::exp(-u);
            case Transform::Kind::logistic:
                return 1.0 / (1.0 + std::exp(-u));
            case Transform::Kind::log_logistic:
                return u > 0.0 ? -std::log1p(std::exp(-u)) : u - std::log1p(std::exp(u));
            case Transform::Kind::correlation:
                return std::tanh(u);
            case Transform::Kind::identity:
                break;
        }
        return u;
    }();
    return transform.is_plain() ? plain : transform.origin + transform.unit * plain;
}

Vector unbounded_values(const Transform& transform, const Vector& values) {
    const Vector plain = transform.is_plain() ? values : Vector((values.array() - transform.origin) / transform.unit);
    switch (transform.kind) {
        case Transform::Kind::exponential:
            return plain.array().log();
        case Transform::Kind::negative:
            return -(-plain.array()).log();
        case Transform::Kind::logistic:
            return (plain.array() / (1.0 - plain.array())).log();
        case Transform::Kind::log_logistic:
            return plain.array() - (-plain.array().expm1()).log();
        case Transform::Kind::correlation:
            return plain.unaryExpr([](double value) { return std::atanh(value); });
        case Transform::Kind::identity:
            break;
    }
    return plain;
}

FromDraw FromDraw::of(const std::vector<Index>& statistics, Function function) {
    FromDraw result;
    for (const Index at : statistics) result.combination.emplace_back(at, 1.0);
    result.function = std::move(function);
    return result;
}

std::string_view to_string(Role role) {
    constexpr std::array<std::string_view, 10> names{"location",     "coefficient", "scale", "precision", "covariance",
                                                     "off_diagonal", "weight",      "rate",  "logarithm", "other"};
    return names[static_cast<std::size_t>(role)];
}

std::string VariableMeaning::name() const {
    return index_names.empty() ? numbered_name() : fmt::format("{}[{}]", group, fmt::join(index_names, ","));
}

std::string VariableMeaning::numbered_name() const {
    return indices.empty() ? group : fmt::format("{}[{}]", group, fmt::join(indices, ","));
}

VariableMeaning VariableMeaning::mirrored() const {
    VariableMeaning result = *this;
    if (role != Role::off_diagonal) return result;
    for (std::vector<std::string>* own : {&result.indices, &result.index_names}) {
        if (own->size() >= 2) std::swap(own->back(), (*own)[own->size() - 2]);
    }
    return result;
}

Matrix DenseCovariance::between(const SparseMatrix& left, const SparseMatrix& right) const {
    return left.transpose() * Matrix(matrix_ * right);
}

Vector DenseCovariance::variances(const SparseMatrix& combinations) const {
    Vector result(combinations.cols());
    for (Index c = 0; c < combinations.cols(); ++c) {
        double sum = 0.0;
        for (SparseMatrix::InnerIterator a(combinations, c); a; ++a) {
            for (SparseMatrix::InnerIterator b(combinations, c); b; ++b) {
                sum += a.value() * b.value() * matrix_(b.row(), a.row());  // down a column, as it lies in memory
            }
        }
        result[c] = sum;
    }
    return result;
}

Matrix ScaledCovariance::between(const SparseMatrix& left, const SparseMatrix& right) const {
    return base_->between(SparseMatrix(scale_.asDiagonal() * left), SparseMatrix(scale_.asDiagonal() * right));
}

Vector ScaledCovariance::variances(const SparseMatrix& combinations) const {
    return base_->variances(SparseMatrix(scale_.asDiagonal() * combinations));
}

std::shared_ptr<const Covariance> with_exact_sds(const Posterior& posterior, const Vector& response_sds) {
    std::unordered_map<std::string_view, Index> place;
    for (std::size_t v = 0; v < posterior.variables.size(); ++v) {
        place.emplace(posterior.variables[v].name, static_cast<Index>(v));
    }
    Vector scale = Vector::Ones(posterior.mean.size());
    for (std::size_t s = 0; s < posterior.statistics.size(); ++s) {
        const auto found = place.find(posterior.statistics[s]);
        if (found == place.end()) continue;
        const double before = response_sds[found->second];
        if (before > 0.0) scale[static_cast<Index>(s)] = posterior.marginals->sd[found->second] / before;
    }
    return std::make_shared<ScaledCovariance>(posterior.covariance, scale);
}

Matrix SparseCovariance::between(const SparseMatrix& left, const SparseMatrix& right) const {
    return Matrix(SparseMatrix(left.transpose() * SparseMatrix(matrix_ * right)));
}

Vector SparseCovariance::variances(const SparseMatrix& combinations) const {
    const SparseMatrix product = matrix_ * combinations;
    return Vector(combinations.cwiseProduct(product).transpose() * Vector::Ones(combinations.rows()));
}

std::vector<Index> Posterior::select(const std::vector<std::string>& names) const {
    std::vector<Index> chosen;
    const Index count = static_cast<Index>(variables.size());
    for (Index i = 0; i < count && names.empty(); ++i) {
        if (!variables[static_cast<std::size_t>(i)].meaning.is_local) chosen.push_back(i);
    }
    for (const std::string& name : names) {
        const std::size_t before = chosen.size();
        for (Index i = 0; i < count; ++i) {
            const PosteriorVariable& variable = variables[static_cast<std::size_t>(i)];
            const VariableMeaning& meaning = variable.meaning;
            const bool is_numbered = !meaning.index_names.empty() && meaning.numbered_name() == name;
            if (variable.name == name || meaning.group == name || is_numbered) chosen.push_back(i);
        }
        // Only then, so that a matrix that has both entries keeps them apart.
        for (Index i = 0; i < count && chosen.size() == before; ++i) {
            const VariableMeaning& meaning = variables[static_cast<std::size_t>(i)].meaning;
            if (meaning.role != Role::off_diagonal) continue;
            const VariableMeaning mirrored = meaning.mirrored();
            if (mirrored.name() == name || mirrored.numbered_name() == name) chosen.push_back(i);
        }
        // u[Subject] stands for every u[Subject,…].
        if (chosen.size() == before && name.ends_with(']')) {
            const std::string beginning = name.substr(0, name.size() - 1) + ",";
            for (Index i = 0; i < count; ++i) {
                if (variables[static_cast<std::size_t>(i)].name.starts_with(beginning)) chosen.push_back(i);
            }
        }
        if (chosen.size() > before) continue;
        std::vector<std::string> groups;
        for (const PosteriorVariable& variable : variables) {
            const std::string group = detail::printable(variable.meaning.group);
            if (groups.empty() || groups.back() != group) groups.push_back(group);
        }
        std::sort(groups.begin(), groups.end());
        groups.erase(std::unique(groups.begin(), groups.end()), groups.end());
        throw std::invalid_argument(fmt::format("there is no variable {}: ask for one of {}, with an index or without",
                                                detail::shown(name), fmt::join(groups, ", ")));
    }
    return chosen;
}

SparseMatrix Posterior::gradients(const std::vector<Index>& chosen) const {
    require_positions(chosen, variables.size());
    return columns_of(mean.size(), chosen.size(), [&](std::size_t c) -> const Gradient& {
        return variables[static_cast<std::size_t>(chosen[c])].gradient;
    });
}

SparseMatrix Posterior::unbounded_gradients(const std::vector<Index>& chosen) const {
    require_positions(chosen, variables.size());
    return columns_of(mean.size(), chosen.size(), [&](std::size_t c) -> const Gradient& {
        return variables[static_cast<std::size_t>(chosen[c])].unbounded.gradient;
    });
}

Matrix Posterior::covariance_of(const std::vector<Index>& chosen, Method method) const {
    if (method == Method::linear_response && !has_response()) {
        throw NotAnOptimum(
            "there is no linear-response covariance, because the fit did not converge: fit again with more iterations "
            "or another seed, or ask for the mean-field one");
    }
    const SparseMatrix own = gradients(chosen);
    const Covariance& base = method == Method::linear_response ? *covariance : *mean_field_covariance;
    const Matrix product = base.between(own, own);
    Matrix result = 0.5 * (product + product.transpose());
    for (std::size_t i = 0; i < chosen.size() && method == Method::linear_response; ++i) {
        if (variables[static_cast<std::size_t>(chosen[i])].moments == TailMoments::mean_and_sd) continue;
        result.row(static_cast<Index>(i)).setConstant(kNothing);
        result.col(static_cast<Index>(i)).setConstant(kNothing);
    }
    return result;
}

Vector Posterior::sds(const std::vector<Index>& chosen) const {
    require_positions(chosen, variables.size());
    if (!has_response()) return Vector::Constant(static_cast<Index>(chosen.size()), kNothing);
    return marginals ? chosen_of(marginals->sd, chosen) : sds_along(*covariance, gradients(chosen));
}

Matrix Posterior::sensitivities_of(const std::vector<Index>& chosen) const {
    return gradients(chosen).transpose() * sensitivities;
}

double Posterior::Row::width(double level) const {
    if (moments == TailMoments::mean_and_sd) return sd;
    return 0.5 * (upper - lower) / detail::central_quantile(level);
}

std::vector<Posterior::Row> Posterior::summary(const std::vector<Index>& chosen, double level) const {
    if (!(level > 0.0 && level < 1.0)) {
        throw std::invalid_argument(fmt::format("the level is {}, but must lie between 0 and 1", level));
    }
    const double quantile = detail::central_quantile(level);
    const SparseMatrix unbounded = unbounded_gradients(chosen);
    const Vector sd = sds(chosen);
    const Vector mean_field_sd =
        marginals ? chosen_of(marginals->mean_field_sd, chosen) : sds_along(*mean_field_covariance, gradients(chosen));
    const Vector mean_field_spread = marginals ? chosen_of(marginals->mean_field_unbounded_sd, chosen)
                                               : sds_along(*mean_field_covariance, unbounded);
    Vector spread = Vector::Constant(sd.size(), kNothing);
    if (has_response()) {
        spread = marginals ? chosen_of(marginals->unbounded_sd, chosen) : sds_along(*covariance, unbounded);
    }
    std::vector<Row> rows;
    rows.reserve(chosen.size());
    for (std::size_t i = 0; i < chosen.size(); ++i) {
        const PosteriorVariable& variable = variables[static_cast<std::size_t>(chosen[i])];
        const auto at = static_cast<Index>(i);
        const auto end = [&](double spread_here) {
            const double u = variable.unbounded.centre + spread_here;
            return std::isnan(u) ? kNothing : transformed(variable.unbounded.transform, u);
        };
        rows.push_back({variable.name, variable.mean, sd[at], mean_field_sd[at], end(-quantile * spread[at]),
                        end(quantile * spread[at]), end(-quantile * mean_field_spread[at]),
                        end(quantile * mean_field_spread[at])});
        Row& row = rows.back();
        row.median = transformed(variable.unbounded.transform, variable.unbounded.centre);
        row.moments = variable.moments;
        if (row.moments == TailMoments::none) row.mean = kNothing;
        if (row.moments != TailMoments::mean_and_sd) row.sd = kNothing;
        if (variable.quantiles.size() == 0) continue;
        row.median = quantile_at(variable.unbounded.transform, variable.quantiles, 0.5);
        row.lower = quantile_at(variable.unbounded.transform, variable.quantiles, 0.5 * (1.0 - level));
        row.upper = quantile_at(variable.unbounded.transform, variable.quantiles, 0.5 * (1.0 + level));
    }
    return rows;
}

Matrix Posterior::values_at(const Matrix& statistics_at_draws) const {
    ValuesAtDraws draws(statistics_at_draws);
    Matrix values(static_cast<Index>(variables.size()), statistics_at_draws.cols());
    for (std::size_t i = 0; i < variables.size(); ++i) {
        const FromDraw& rule = variables[i].meaning.from_draw;
        const bool fits = std::all_of(rule.combination.begin(), rule.combination.end(), [&](const auto& part) {
            return part.first >= 0 && part.first < statistics_at_draws.rows();
        });
        // An inverse is of the half of a matrix.
        const bool is_whole =
            rule.dimension == 0 || rule.function ||
            (static_cast<Index>(rule.combination.size()) == half_size(rule.dimension) && rule.row >= 0 &&
             rule.row < rule.dimension && rule.column >= 0 && rule.column < rule.dimension);
        if (!rule.is_known() || !fits || !is_whole) {
            throw std::invalid_argument(fmt::format("check: variable {} is no function of a draw that is known",
                                                    detail::shown(variables[i].name)));
        }
        values.row(static_cast<Index>(i)) = draws.of(rule);
    }
    return values;
}

Posterior posterior_of(const Model& model, const Optimum& optimum, std::vector<std::string> statistics,
                       const Functionals& functionals) {
    const Layout& layout = model.layout();
    const Functionals::Resolved resolved = functionals.resolve(layout);
    Posterior posterior;
    posterior.statistics = std::move(statistics);
    posterior.mean = resolved.weights.transpose() * optimum.state.mean + resolved.constants;
    const bool is_dense = resolved.weights.cols() <= kDenseStatistics;
    posterior.mean_field_covariance = mean_field_covariance(layout, optimum.state, resolved.weights);
    posterior.hyperparameters = model.hyperparameters();
    if (!optimum.converged()) return posterior;
    const LinearResponse response(model, optimum);
    posterior.sensitivities = response.sensitivities(functionals);
    if (is_dense) {
        posterior.covariance = std::make_shared<DenseCovariance>(response.covariance(functionals));
    } else {
        posterior.covariance =
            response_covariance(FactoredCovariance(layout, optimum.state, response.hessian()), resolved.weights);
    }
    return posterior;
}

std::shared_ptr<const Covariance> mean_field_covariance(const Layout& layout, const State& state,
                                                        const SparseMatrix& statistics) {
    SparseMatrix covariance = statistics.transpose() * SparseMatrix(mean_field_blocks(layout, state) * statistics);
    if (statistics.cols() <= kDenseStatistics) return std::make_shared<DenseCovariance>(Matrix(covariance));
    return std::make_shared<SparseCovariance>(std::move(covariance));
}

std::shared_ptr<const Covariance> response_covariance(FactoredCovariance factored, const SparseMatrix& statistics) {
    return std::make_shared<ResponseCovariance>(std::move(factored), statistics);
}

void keep_marginals(Posterior& posterior) {
    if (posterior.marginals || posterior.mean_field_covariance->matrix() != nullptr) return;
    std::vector<Index> all(posterior.variables.size());
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<Index>(i);
    const SparseMatrix gradients = posterior.gradients(all);
    const SparseMatrix unbounded = posterior.unbounded_gradients(all);
    Posterior::Marginals marginals;
    marginals.mean_field_sd = sds_along(*posterior.mean_field_covariance, gradients);
    marginals.mean_field_unbounded_sd = sds_along(*posterior.mean_field_covariance, unbounded);
    if (posterior.has_response()) {
        marginals.sd = sds_along(*posterior.covariance, gradients);
        marginals.unbounded_sd = sds_along(*posterior.covariance, unbounded);
    }
    posterior.marginals = std::move(marginals);
}

PosteriorVariable transformed_variable(VariableMeaning meaning, double mean, Gradient gradient,
                                       const Transform& transform, double centre, Gradient unbounded_gradient) {
    PosteriorVariable variable;
    variable.name = meaning.name();
    variable.mean = mean;
    variable.gradient = std::move(gradient);
    variable.unbounded.transform = transform;
    variable.unbounded.centre = centre;
    variable.unbounded.gradient = std::move(unbounded_gradient);
    variable.meaning = std::move(meaning);
    return variable;
}

PosteriorVariable unbounded_variable(VariableMeaning meaning, double mean, const Gradient& gradient) {
    return transformed_variable(std::move(meaning), mean, gradient, Transform::identity, mean, gradient);
}

PosteriorVariable interval_variable(VariableMeaning meaning, double mean, const Gradient& gradient, double lower,
                                    double upper, double sd) {
    Gradient along = gradient;
    const double slope = sd > 0.0 ? 0.5 * (upper - lower) / (detail::central_quantile(0.9) * sd) : 0.0;
    for (auto& [at, own] : along) own *= slope;
    return transformed_variable(std::move(meaning), mean, gradient, Transform::identity, 0.5 * (lower + upper),
                                std::move(along));
}

PosteriorVariable positive_variable(VariableMeaning meaning, double mean, const Gradient& gradient) {
    Gradient logarithmic = gradient;
    for (auto& [at, slope] : logarithmic) slope /= mean;
    return transformed_variable(std::move(meaning), mean, gradient, Transform::exponential, std::log(mean),
                                std::move(logarithmic));
}

Vector by_means(const AnyFamily& family, const VectorView& natural, const Vector& by_natural) {
    const Matrix factor = std::visit([&](const auto& own) { return own.covariance_factor(natural); }, family);
    const Vector whitened = factor.triangularView<Eigen::Lower>().solve(by_natural);
    return factor.transpose().triangularView<Eigen::Upper>().solve(whitened);
}

void add_precision(Posterior& posterior, VariableMeaning log_meaning, VariableMeaning meaning,
                   VariableMeaning sd_meaning, Index tau, Index log_tau, const Layout& layout, const State& state,
                   Index variable) {
    const double log_mean = posterior.mean[log_tau];
    double sigma = std::exp(-0.5 * log_mean);
    Gradient gradient{{log_tau, -0.5 * sigma}};
    if (!state.clamped[static_cast<std::size_t>(variable)]) {
        const Vector inner = layout.segment(state.natural, variable);
        Vector standard = family::Gamma{}.standard(inner);
        // In the data's units: τ is τ' over the square of the scale, and the difference of their logs tells that.
        standard[1] *= std::exp(layout.segment(state.mean, variable)[1] - log_mean);
        const double shape = standard[0];
        if (shape > 0.5) {
            sigma = std::sqrt(standard[1]) * std::exp(-detail::log_gamma_rise(shape - 0.5, 0.5));
            const Vector by_natural{{-0.5 * sigma / standard[1], sigma * -detail::digamma_rise(shape - 0.5, 0.5)}};
            const Vector slopes =
                by_means(family::Gamma{}, family::Gamma{}.natural_from_standard(standard), by_natural);
            gradient = {{tau, slopes[0]}, {log_tau, slopes[1]}};
        }
    }
    posterior.variables.push_back(unbounded_variable(std::move(log_meaning), log_mean, {{log_tau, 1.0}}));
    posterior.variables.push_back(transformed_variable(std::move(meaning), posterior.mean[tau], {{tau, 1.0}},
                                                       Transform::exponential, log_mean, {{log_tau, 1.0}}));
    posterior.variables.push_back(transformed_variable(std::move(sd_meaning), sigma, std::move(gradient),
                                                       Transform::exponential, -0.5 * log_mean, {{log_tau, -0.5}}));
}

// With p = exp E log π: the interval is that of logit π, whose derivative in log π is 1/(1 − p). E π_k = α_k/Σα has
// the derivatives (δ_jk − E π_k)/Σα in α.
void add_weights(Posterior& posterior, std::vector<VariableMeaning> log_meanings, std::vector<VariableMeaning> meanings,
                 Index first, const Layout& layout, const State& state, Index variable) {
    const auto size = static_cast<Index>(meanings.size());
    const Vector centre = layout.segment(state.mean, variable).array().exp();
    const Vector natural = layout.segment(state.natural, variable);
    const bool clamped = state.clamped[static_cast<std::size_t>(variable)];
    const AnyFamily& family = layout[variable].family;
    const Vector alpha = clamped ? centre : std::visit([&](const auto& own) { return own.standard(natural); }, family);
    std::vector<PosteriorVariable> plain;
    for (Index k = 0; k < size; ++k) {
        const Index at = first + k;
        const double weight = alpha[k] / alpha.sum();
        Gradient gradient{{at, weight}};
        if (!clamped) {
            const Vector by_natural = (Vector::Unit(size, k).array() - weight) / alpha.sum();
            const Vector slopes = by_means(family, natural, by_natural);
            gradient.clear();
            for (Index j = 0; j < size; ++j) gradient.emplace_back(first + j, slopes[j]);
        }
        const double rest = -std::expm1(posterior.mean[at]);
        const Gradient slope{{at, 1.0 / rest}};
        const double logit = std::log(centre[k] / rest);
        posterior.variables.push_back(transformed_variable(std::move(log_meanings[static_cast<std::size_t>(k)]),
                                                           posterior.mean[at], {{at, 1.0}}, Transform::log_logistic,
                                                           logit, slope));
        plain.push_back(transformed_variable(std::move(meanings[static_cast<std::size_t>(k)]), weight,
                                             std::move(gradient), Transform::logistic, logit, slope));
    }
    std::move(plain.begin(), plain.end(), std::back_inserter(posterior.variables));
}

}  // namespace lrvb
