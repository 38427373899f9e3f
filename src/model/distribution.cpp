#include "base/validate.hpp"
#include "family/special.hpp"
#include "model/function_node.hpp"

#include <lrvb/family/symmetric.hpp>
#include <lrvb/model/distribution.hpp>

#include <cmath>
#include <numbers>

namespace lrvb {

namespace {

using detail::ConditionalForm;
using detail::DistributionNode;
using detail::Lowering;
using detail::make_node;

const double kLogTwoPi = std::log(2.0 * std::numbers::pi);

Constant log_gamma(const Constant& x) {
    return x.mapped(detail::log_gamma(x.value()), detail::digamma(x.value()));
}

// Σ_{i≤j} c_ij S_ij = −½ tr(M S) for a half-vector of expressions M.
std::vector<Expression> minus_half_trace(const std::vector<Expression>& half, Index dimension) {
    std::vector<Expression> coefficients;
    for (Index i = 0; i < dimension; ++i) {
        for (Index j = i; j < dimension; ++j) {
            const Expression& entry = half[static_cast<std::size_t>(half_index(i, j, dimension))];
            coefficients.push_back((i == j ? -0.5 : -1.0) * entry);
        }
    }
    return coefficients;
}

ConditionalForm dirichlet_form(const Lowering& lowering, const std::vector<Expression>& alpha,
                               const std::vector<std::string>& names) {
    ConditionalForm form;
    Constant total = 0.0;
    for (std::size_t k = 0; k < alpha.size(); ++k) {
        const Constant a = lowering.positive_constant(alpha[k], "parameter " + names[k]);
        form.natural.push_back(Expression(a) - 1.0);
        form.log_normaliser -= log_gamma(a);
        total += a;
    }
    form.log_normaliser += log_gamma(total);
    return form;
}

// The number that an expression without variables is, before there is a model that could say whose it is.
double number_of(std::string_view who, std::string_view argument, const Expression& expression) {
    double sum = 0.0;
    for (const Expression::Term& term : expression.terms()) {
        if (!term.atoms.empty()) {
            throw std::invalid_argument(
                fmt::format("{}: the {} depends on a variable, but must be a constant", who, argument));
        }
        sum += term.coefficient.value();
    }
    return sum;
}

// A bound that may be infinite.
Constant bound_of(const Lowering& lowering, const Expression& bound, const std::string& role) {
    const double number = number_of("bounds", role, bound);
    return std::isfinite(number) ? lowering.constant(bound, role) : Constant(number);
}

// The density of the prior is the family's base measure: nothing is left for the log joint.
Distribution<family::Scale> scale_distribution(const PositivePrior& prior, family::Scale::Of of) {
    const ScalePrior numbers{prior.kind, number_of("a prior of a scale", "first number", prior.first),
                             number_of("a prior of a scale", "second number", prior.second)};
    return {family::Scale(numbers, of), make_node([prior](const Lowering& lowering) {
                return ConditionalForm{{0.0, 0.0},
                                       {},
                                       {lowering.constant(prior.first, "first number of the prior"),
                                        lowering.constant(prior.second, "second number of the prior")}};
            })};
}

}  // namespace

// −½τ(x − M)² + ½ log τ − ½ log 2π, expanded in (x, x²).
Distribution<family::Normal> normal(const Expression& mean, const Expression& precision) {
    return {family::Normal{}, make_node([=](const Lowering& lowering) {
                const Expression log_precision = lowering.log_of(precision, "precision");
                return ConditionalForm{
                    {lowering.lower(precision * mean), lowering.lower(-0.5 * precision)},
                    lowering.lower(0.5 * log_precision - 0.5 * kLogTwoPi - 0.5 * precision * mean * mean)};
            })};
}

Distribution<family::MvNormal> mv_normal(const VectorParameter& mean, const MatrixParameter& precision) {
    const Index dimension = precision.dimension();
    detail::require_size("mv_normal", "mean", mean.size(), dimension);
    return {family::MvNormal(dimension), make_node([=](const Lowering& lowering) {
                const auto [entries, log_det] = lowering.matrix(precision, "precision matrix");
                Expression quadratic;
                ConditionalForm form;
                for (Index i = 0; i < dimension; ++i) {
                    Expression row;
                    for (Index j = 0; j < dimension; ++j) {
                        row += entries[static_cast<std::size_t>(half_index(i, j, dimension))] *
                               mean.entries()[static_cast<std::size_t>(j)];
                    }
                    quadratic += row * mean.entries()[static_cast<std::size_t>(i)];
                    form.natural.push_back(lowering.lower(row));
                }
                for (Expression& coefficient : minus_half_trace(entries, dimension)) {
                    form.natural.push_back(std::move(coefficient));
                }
                form.log_normaliser =
                    lowering.lower(0.5 * log_det - 0.5 * kLogTwoPi * static_cast<double>(dimension) - 0.5 * quadratic);
                return form;
            })};
}

Distribution<family::Gamma> gamma(const Expression& shape, const Expression& rate) {
    return {family::Gamma{}, make_node([=](const Lowering& lowering) {
                const Constant a = lowering.positive_constant(shape, "shape");
                const Expression log_rate = lowering.log_of(rate, "rate");
                return ConditionalForm{{lowering.lower(-rate), Expression(a) - 1.0},
                                       lowering.lower(a * log_rate - Expression(log_gamma(a)))};
            })};
}

Distribution<family::Gamma> exponential(const Expression& rate) {
    return gamma(1.0, rate);
}

Distribution<family::TruncatedNormal> truncated_normal(const Expression& mean, const Expression& precision,
                                                       const Expression& lower, const Expression& upper) {
    const family::TruncatedNormal family(number_of("truncated_normal", "lower bound", lower),
                                         number_of("truncated_normal", "upper bound", upper));
    return {family, make_node([=](const Lowering& lowering) {
                const Constant location = lowering.constant(mean, "mean");
                const Constant strength = lowering.positive_constant(precision, "precision");
                const Constant linear = strength * location;
                const Constant quadratic = Constant(-0.5) * strength;
                const Vector natural{{linear.value(), quadratic.value()}};
                // −A(η), whose derivatives are −m.
                const Vector moments = family.mean(natural);
                Constant normaliser = linear.mapped(-family.log_partition(natural), -moments[0]);
                normaliser += quadratic.mapped(0.0, -moments[1]);
                return ConditionalForm{
                    {linear, quadratic},
                    normaliser,
                    {bound_of(lowering, lower, "lower bound"), bound_of(lowering, upper, "upper bound")}};
            })};
}

Distribution<family::TruncatedNormal> uniform(const Expression& lower, const Expression& upper) {
    const double first = number_of("uniform", "lower bound", lower);
    const double second = number_of("uniform", "upper bound", upper);
    detail::require_finite("uniform", "lower bound", first);
    detail::require_finite("uniform", "upper bound", second);
    return {family::TruncatedNormal(first, second), make_node([=](const Lowering& lowering) {
                return ConditionalForm{
                    {0.0, 0.0},
                    -std::log(second - first),
                    {bound_of(lowering, lower, "lower bound"), bound_of(lowering, upper, "upper bound")}};
            })};
}

PositivePrior half_cauchy(const Expression& scale) {
    return half_t(1.0, scale);
}

PositivePrior half_t(const Expression& degrees_of_freedom, const Expression& scale) {
    return {ScalePrior::Kind::half_t, degrees_of_freedom, scale};
}

PositivePrior half_normal(const Expression& scale) {
    return {ScalePrior::Kind::half_normal, scale, 0.0};
}

PositivePrior exponential_sd(const Expression& rate) {
    return {ScalePrior::Kind::exponential, rate, 0.0};
}

PositivePrior uniform_sd(const Expression& lower, const Expression& upper) {
    return {ScalePrior::Kind::uniform, lower, upper};
}

Distribution<family::Scale> precision(const PositivePrior& of_the_sd) {
    return scale_distribution(of_the_sd, family::Scale::Of::sd);
}

Distribution<family::Scale> precision_of_variance(const PositivePrior& of_the_variance) {
    return scale_distribution(of_the_variance, family::Scale::Of::variance);
}

Distribution<family::Scale> positive(const PositivePrior& of_the_value) {
    return scale_distribution(of_the_value, family::Scale::Of::value);
}

Distribution<family::Wishart> wishart(const Expression& degrees_of_freedom, const MatrixParameter& inverse_scale) {
    const Index dimension = inverse_scale.dimension();
    return {family::Wishart(dimension), make_node([=](const Lowering& lowering) {
                const Constant dof = lowering.constant(degrees_of_freedom, "number of degrees of freedom");
                const double size = static_cast<double>(dimension);
                if (!(dof.value() > size - 1.0)) {
                    lowering.refuse(fmt::format("the degrees of freedom are {}, but must be above {} in dimension {}",
                                                dof.value(), dimension - 1, dimension));
                }
                const auto [entries, log_det] = lowering.matrix(inverse_scale, "inverse scale matrix");
                ConditionalForm form{minus_half_trace(entries, dimension), {}};
                form.natural.push_back(0.5 * Expression(dof) - 0.5 * (size + 1.0));
                Constant log_gammas = 0.25 * size * (size - 1.0) * std::log(std::numbers::pi);
                for (Index i = 0; i < dimension; ++i) {
                    const double shape = 0.5 * (dof.value() - static_cast<double>(i));
                    log_gammas += dof.mapped(detail::log_gamma(shape), 0.5 * detail::digamma(shape));
                }
                form.log_normaliser = lowering.lower(0.5 * dof * (log_det - size * std::numbers::ln2)) - log_gammas;
                return form;
            })};
}

Distribution<family::Dirichlet> dirichlet(const VectorParameter& alpha) {
    return {family::Dirichlet(alpha.size()), make_node([alpha](const Lowering& lowering) {
                return dirichlet_form(lowering, alpha.entries(), family::Dirichlet(alpha.size()).standard_names());
            })};
}

Distribution<family::Beta> beta(const Expression& a, const Expression& b) {
    return {family::Beta{}, make_node([=](const Lowering& lowering) {
                return dirichlet_form(lowering, {a, b}, family::Beta{}.standard_names());
            })};
}

Distribution<family::Bernoulli> bernoulli(const Expression& p) {
    return {family::Bernoulli{}, make_node([=](const Lowering& lowering) {
                const auto [log_p, log_1m_p] = lowering.log_odds_parts(p, "probability");
                return ConditionalForm{{log_p - log_1m_p}, log_1m_p};
            })};
}

Distribution<family::Categorical> categorical(const SimplexParameter& p) {
    return {family::Categorical(p.size()), make_node([=](const Lowering& lowering) {
                ConditionalForm form;
                for (const Expression& log_p : p.logs()) form.natural.push_back(lowering.lower(log_p));
                return form;
            })};
}

Distribution<likelihood::Poisson> poisson(const Expression& rate, double exposure) {
    detail::require_positive("poisson", "exposure", exposure);
    return {likelihood::Poisson{}, make_node([=](const Lowering& lowering) {
                const Expression log_rate = lowering.log_of(rate, "rate");
                return ConditionalForm{{log_rate + std::log(exposure)}, lowering.lower(-exposure * rate)};
            })};
}

Distribution<likelihood::Binomial> binomial(Index trials, const Expression& p) {
    detail::require_at_least("binomial", "trials", trials, 1);
    return {likelihood::Binomial{trials}, make_node([=](const Lowering& lowering) {
                const auto [log_p, log_1m_p] = lowering.log_odds_parts(p, "probability");
                return ConditionalForm{{log_p - log_1m_p}, static_cast<double>(trials) * log_1m_p};
            })};
}

Distribution<likelihood::Multinomial> multinomial(const SimplexParameter& p) {
    return {likelihood::Multinomial{p.size()}, categorical(p).shared_node()};
}

namespace detail {

std::shared_ptr<const DistributionNode> flat_node(Index size) {
    return make_node([=](const Lowering&) {
        return ConditionalForm{std::vector<Expression>(static_cast<std::size_t>(size)), {}};
    });
}

namespace {

std::shared_ptr<const DistributionNode> node_of_indicators(
    std::vector<Expression> indicators, std::vector<std::shared_ptr<const DistributionNode>> components) {
    if (components.size() != indicators.size()) {
        throw std::invalid_argument(fmt::format(
            "mixture: {} components are given, but the variable that chooses has {} labels; give one for each",
            components.size(), indicators.size()));
    }
    return make_node([indicators = std::move(indicators),
                      components = std::move(components)](const Lowering& lowering) {
        ConditionalForm form;
        for (std::size_t k = 0; k < components.size(); ++k) {
            const ConditionalForm component = components[k]->lower(lowering);
            if (!component.numbers.empty()) {
                lowering.refuse(
                    "the components of a mixture have priors on an sd, or bounds, which cannot be chosen from; choose "
                    "between distributions of what depends on such variables");
            }
            form.natural.resize(component.natural.size());
            for (std::size_t s = 0; s < component.natural.size(); ++s) {
                form.natural[s] += lowering.lower(indicators[k] * component.natural[s]);
            }
            form.log_normaliser += lowering.lower(indicators[k] * component.log_normaliser);
        }
        return form;
    });
}

}  // namespace

std::shared_ptr<const DistributionNode> mixture_node(const Variable<family::Categorical>& choice,
                                                     std::vector<std::shared_ptr<const DistributionNode>> components) {
    std::vector<Expression> indicators;
    for (Index k = 0; k < choice.family().size(); ++k) indicators.push_back(choice[k]);
    return node_of_indicators(std::move(indicators), std::move(components));
}

std::shared_ptr<const DistributionNode> mixture_node(const Variable<family::Bernoulli>& choice,
                                                     std::vector<std::shared_ptr<const DistributionNode>> components) {
    return node_of_indicators({1.0 - Expression(choice), Expression(choice)}, std::move(components));
}

void refuse_unlike_components() {
    throw std::invalid_argument("mixture: the components differ in dimension; they must be distributions of one kind");
}

void refuse_no_components() {
    throw std::invalid_argument("a column has no distributions; give one for each label");
}

}  // namespace detail

}  // namespace lrvb
