#include "family/special.hpp"
#include "kind/declared/record.hpp"
#include "linalg/positive_definite.hpp"

#include <lrvb/family/symmetric.hpp>
#include <lrvb/kind/declared.hpp>
#include <lrvb/kind/derived.hpp>

#include <Eigen/Eigenvalues>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>

namespace lrvb {

namespace {

constexpr double kGradientStep = 1e-3;  // in posterior sds
constexpr double kCurvatureStep = 0.02;

/// An atom at a draw: a statistic of the posterior, or its exponential.
struct AtomValue {
    Index at = 0;  // among the statistics that the quantity depends on
    bool is_exponential = false;
};

/// Expressions with their atoms resolved, and a function of them.
struct DerivedFunction {
    struct ResolvedTerm {
        double coefficient;
        std::vector<AtomValue> atoms;
    };
    std::vector<std::vector<ResolvedTerm>> expressions;
    std::function<double(const Vector&)> function;

    double operator()(const Vector& statistics) const {
        Vector values(static_cast<Index>(expressions.size()));
        for (std::size_t e = 0; e < expressions.size(); ++e) {
            double sum = 0.0;
            for (const ResolvedTerm& term : expressions[e]) {
                double product = term.coefficient;
                for (const AtomValue& atom : term.atoms) {
                    product *= atom.is_exponential ? std::exp(statistics[atom.at]) : statistics[atom.at];
                }
                sum += product;
            }
            values[static_cast<Index>(e)] = sum;
        }
        return function(values);
    }
};

class Resolver {
  public:
    Resolver(const Layout& layout, const detail::DerivedVariablesView& places) : layout_(layout), places_(places) {}

    DerivedFunction resolve(const DerivedQuantity& quantity) {
        DerivedFunction result;
        result.function = quantity.function;
        for (const Expression& expression : quantity.of) {
            if (expression.model() != 0 && expression.model() != layout_.model()) refuse(quantity, "another model");
            auto& terms = result.expressions.emplace_back();
            for (const Expression::Term& term : expression.terms()) {
                DerivedFunction::ResolvedTerm resolved{term.coefficient.value(), {}};
                for (const Atom& atom : term.atoms) resolved.atoms.push_back(value_of(quantity, atom));
                terms.push_back(std::move(resolved));
            }
        }
        return result;
    }

    const std::vector<Index>& statistics() const { return statistics_; }

  private:
    AtomValue value_of(const DerivedQuantity& quantity, const Atom& atom) {
        if (atom.variable >= layout_.variable_count()) refuse(quantity, "another model");
        const VariableInfo& info = layout_[atom.variable];
        // Probabilities and positive numbers by their logarithms.
        if (atom.statistic < 0) {
            return {position(quantity, info.offset + (Atom::not_a_statistic - atom.statistic)), true};
        }
        const bool is_positive =
            std::holds_alternative<family::Gamma>(info.family) || std::holds_alternative<family::Scale>(info.family);
        if (is_positive && atom.statistic == 0) return {position(quantity, info.offset + 1), true};
        return {position(quantity, info.offset + atom.statistic), false};
    }

    Index position(const DerivedQuantity& quantity, Index stacked) {
        const auto place = places_.find(stacked);
        if (place == places_.end()) {
            throw std::invalid_argument(
                fmt::format("derived quantity '{}': the statistic {} is not reported; write it by the variable itself",
                            quantity.name, layout_.statistic_name(stacked)));
        }
        const auto known = std::ranges::find(statistics_, place->second);
        if (known != statistics_.end()) return known - statistics_.begin();
        statistics_.push_back(place->second);
        return static_cast<Index>(statistics_.size()) - 1;
    }

    [[noreturn]] static void refuse(const DerivedQuantity& quantity, const std::string& whose) {
        throw std::invalid_argument(fmt::format(
            "derived quantity '{}': an expression holds a variable of {}; use the handles of the builder that built it",
            quantity.name, whose));
    }

    const Layout& layout_;
    const detail::DerivedVariablesView& places_;
    std::vector<Index> statistics_;
};

Matrix covariance_of_statistics(const Posterior& posterior, const std::vector<Index>& statistics) {
    const Covariance& covariance = posterior.covariance ? *posterior.covariance : *posterior.mean_field_covariance;
    std::vector<Eigen::Triplet<double>> entries;
    for (std::size_t s = 0; s < statistics.size(); ++s) {
        entries.emplace_back(static_cast<int>(statistics[s]), static_cast<int>(s), 1.0);
    }
    SparseMatrix chosen(covariance.size(), static_cast<Index>(statistics.size()));
    chosen.setFromTriplets(entries.begin(), entries.end());
    return covariance.between(chosen, chosen);
}

// f at the means, its gradient there, and ½ tr(f″C) along the columns of a root of C.
struct Delta {
    double value = 0.0;
    Vector gradient;
    double bend = 0.0;
};

Delta delta_of(const DerivedFunction& function, const Vector& mean, const Matrix& covariance) {
    Delta result{function(mean), Vector::Zero(mean.size()), 0.0};
    for (Index s = 0; s < mean.size(); ++s) {
        const double sd = std::sqrt(covariance(s, s));
        if (!(sd > 0.0)) continue;  // fixed
        const Vector step = kGradientStep * sd * Vector::Unit(mean.size(), s);
        const auto central = [&](double h) { return (function(mean + h * step) - function(mean - h * step)) / h; };
        result.gradient[s] = (4.0 * central(0.5) - central(1.0)) / 6.0 / (kGradientStep * sd);
    }
    const Eigen::SelfAdjointEigenSolver<Matrix> solver(covariance);
    for (Index c = 0; c < mean.size(); ++c) {
        const Vector step =
            kCurvatureStep * std::sqrt(std::max(0.0, solver.eigenvalues()[c])) * solver.eigenvectors().col(c);
        const double second = function(mean + step) + function(mean - step) - 2.0 * result.value;
        if (std::isfinite(second)) result.bend += 0.5 * second / (kCurvatureStep * kCurvatureStep);
    }
    return result;
}

/// E σ under q and its slopes in the means of (τ, log τ); nothing where it has no mean.
std::optional<std::pair<double, Vector>> exact_sd(const AnyFamily& family, const VectorView& natural) {
    if (const auto* scale = std::get_if<family::Scale>(&family)) {
        const auto [logs, weights] = scale->nodes(natural);
        const Vector sds = (-0.5 * logs.array()).exp();
        const double mean = weights.dot(sds);
        const Vector expected = scale->mean(natural);
        Vector by_natural = Vector::Zero(2);
        for (Index i = 0; i < logs.size(); ++i) {
            by_natural += weights[i] * (sds[i] - mean) * (Vector{{std::exp(logs[i]), logs[i]}} - expected);
        }
        return std::pair(mean, by_means(family, natural, by_natural));
    }
    const Vector standard = family::Gamma{}.standard(natural);
    if (!(standard[0] > 0.5)) return std::nullopt;
    const double mean = std::sqrt(standard[1]) * std::exp(-detail::log_gamma_rise(standard[0] - 0.5, 0.5));
    const Vector by_natural{{-0.5 * mean / standard[1], -mean * detail::digamma_rise(standard[0] - 0.5, 0.5)}};
    return std::pair(mean, by_means(family, natural, by_natural));
}

double slope_to_unbounded(const Transform& transform, double value) {
    const double plain = (value - transform.origin) / transform.unit;
    switch (transform.kind) {
        case Transform::Kind::exponential:
            return 1.0 / (plain * transform.unit);
        case Transform::Kind::negative:
            return -1.0 / (plain * transform.unit);
        case Transform::Kind::logistic:
            return 1.0 / (plain * (1.0 - plain) * transform.unit);
        case Transform::Kind::correlation:
            return 1.0 / ((1.0 - plain * plain) * transform.unit);
        default:
            return 1.0 / transform.unit;
    }
}

}  // namespace

DerivedQuantity derived_quantity(const std::string& name, const Expression& expression) {
    return derived_quantity(name, {expression}, [](const Vector& x) { return x[0]; });
}

DerivedQuantity derived_quantity(const std::string& name, std::vector<Expression> of,
                                 std::function<double(const Vector&)> function, const Transform& transform) {
    if (name.empty()) throw std::invalid_argument("a derived quantity's name is empty; give it one");
    if (!function) throw std::invalid_argument(fmt::format("derived quantity '{}' has no function", name));
    return {name, std::move(of), std::move(function), Role::other, transform, {}};
}

DerivedQuantity sd_of(const std::string& name, const Expression& precision) {
    DerivedQuantity result = derived_quantity(
        name, {precision}, [](const Vector& x) { return 1.0 / std::sqrt(x[0]); }, Transform::exponential);
    result.role = Role::scale;
    return result;
}

DerivedQuantity sd_of(const std::string& name, const Variable<family::Gamma>& precision) {
    DerivedQuantity result = sd_of(name, Expression(precision));
    result.sd_of_variable = precision.index();
    return result;
}

DerivedQuantity sd_of(const std::string& name, const Variable<family::Scale>& precision) {
    DerivedQuantity result = sd_of(name, Expression(precision));
    result.sd_of_variable = precision.index();
    return result;
}

std::vector<DerivedQuantity> sds_and_correlations(const Variable<family::Wishart>& precision,
                                                  const std::string& sd_name, const std::string& correlation_name) {
    const Index dimension = precision.family().dimension();
    std::vector<Expression> entries;
    for (Index i = 0; i < dimension; ++i) {
        for (Index j = i; j < dimension; ++j) entries.push_back(precision(i, j));
    }
    const auto inverse = [dimension](const Vector& half) -> Matrix {
        return detail::PositiveDefinite(symmetric_from_half(half, dimension)).inverse();
    };
    std::vector<DerivedQuantity> result;
    for (Index i = 0; i < dimension; ++i) {
        result.push_back(derived_quantity(
            fmt::format("{}[{}]", sd_name, i + 1), entries,
            [=](const Vector& half) { return std::sqrt(inverse(half)(i, i)); }, Transform::exponential));
        result.back().role = Role::scale;
    }
    for (Index i = 0; i < dimension; ++i) {
        for (Index j = i + 1; j < dimension; ++j) {
            result.push_back(derived_quantity(
                fmt::format("{}[{},{}]", correlation_name, i + 1, j + 1), entries,
                [=](const Vector& half) {
                    const Matrix covariance = inverse(half);
                    return covariance(i, j) / std::sqrt(covariance(i, i) * covariance(j, j));
                },
                Transform::correlation));
        }
    }
    return result;
}

DerivedQuantity probability(const std::string& name, const Expression& p) {
    DerivedQuantity result = derived_quantity(
        name, {p}, [](const Vector& x) { return x[0]; }, Transform::logistic);
    result.role = Role::weight;
    return result;
}

Posterior declared_posterior(const MultilinearModel& model, const Optimum& optimum,
                             const std::vector<DerivedQuantity>& derived) {
    Posterior posterior = declared_posterior(model, optimum);
    posterior.marginals.reset();
    const Layout& layout = model.layout();
    const detail::DeclaredVariables variables(layout);
    detail::DerivedVariablesView places;
    for (std::size_t s = 0; s < variables.stacked().size(); ++s) {
        places.emplace(variables.stacked()[s], static_cast<Index>(s));
    }
    for (const DerivedQuantity& quantity : derived) {
        const auto same = [&](const PosteriorVariable& known) { return known.name == quantity.name; };
        if (std::ranges::any_of(posterior.variables, same)) {
            throw std::invalid_argument(
                fmt::format("derived quantity '{}': a variable of that name is reported already; name it otherwise",
                            quantity.name));
        }
        Resolver resolver(layout, places);
        const auto function = std::make_shared<const DerivedFunction>(resolver.resolve(quantity));
        const std::vector<Index>& statistics = resolver.statistics();
        if (statistics.empty()) {
            throw std::invalid_argument(
                fmt::format("derived quantity '{}' depends on no variable; it is a constant", quantity.name));
        }
        Vector mean(static_cast<Index>(statistics.size()));
        for (Index s = 0; s < mean.size(); ++s) mean[s] = posterior.mean[statistics[static_cast<std::size_t>(s)]];
        const Delta delta = delta_of(*function, mean, covariance_of_statistics(posterior, statistics));
        if (!std::isfinite(delta.value) || !delta.gradient.allFinite()) {
            throw std::invalid_argument(fmt::format(
                "derived quantity '{}' is {} at the posterior means, or not smooth there; write it so that it is a "
                "finite number",
                quantity.name, delta.value));
        }
        Gradient gradient;
        Gradient unbounded;
        const double slope = slope_to_unbounded(quantity.transform, delta.value);
        for (Index s = 0; s < mean.size(); ++s) {
            gradient.emplace_back(statistics[static_cast<std::size_t>(s)], delta.gradient[s]);
            unbounded.emplace_back(statistics[static_cast<std::size_t>(s)], slope * delta.gradient[s]);
        }
        double expected = delta.value + delta.bend;
        if (quantity.sd_of_variable && !optimum.state.clamped[static_cast<std::size_t>(*quantity.sd_of_variable)]) {
            const VariableInfo& info = layout[*quantity.sd_of_variable];
            const VectorView natural = optimum.state.natural.segment(info.offset, info.size);
            if (const auto exact = exact_sd(info.family, natural)) {
                expected = exact->first;
                gradient = {{places.at(info.offset), exact->second[0]}, {places.at(info.offset + 1), exact->second[1]}};
            }
        }
        VariableMeaning meaning = detail::meaning_of_name(quantity.name);
        meaning.role = quantity.role;
        meaning.is_shown = true;
        meaning.from_draw = FromDraw::of(statistics, [function](const Vector& own) { return (*function)(own); });
        const double centre = unbounded_values(quantity.transform, Vector::Constant(1, delta.value))[0];
        posterior.variables.push_back(transformed_variable(std::move(meaning), expected, std::move(gradient),
                                                           quantity.transform, centre, std::move(unbounded)));
        posterior.variables.back().name = quantity.name;
    }
    keep_marginals(posterior);
    return posterior;
}

}  // namespace lrvb
