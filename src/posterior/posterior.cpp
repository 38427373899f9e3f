#include "base/messages.hpp"
#include "posterior/parts.hpp"

#include <lrvb/posterior/posterior.hpp>

#include <boost/math/special_functions/digamma.hpp>
#include <boost/math/special_functions/erf.hpp>
#include <boost/math/special_functions/gamma.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <tuple>

namespace lrvb {

namespace {

std::string base_of(const std::string& name) {
    return name.substr(0, name.find('['));
}

double variance_along(const Gradient& gradient, const Matrix& covariance) {
    double sum = 0.0;
    for (const auto& [i, left] : gradient) {
        for (const auto& [j, right] : gradient) sum += left * right * covariance(i, j);
    }
    return std::max(0.0, sum);
}

double transformed(Transform transform, double u) {
    switch (transform) {
        case Transform::exponential:
            return std::exp(u);
        case Transform::logistic:
            return 1.0 / (1.0 + std::exp(-u));
        case Transform::log_logistic:
            return u > 0.0 ? -std::log1p(std::exp(-u)) : u - std::log1p(std::exp(u));
        case Transform::identity:
            break;
    }
    return u;
}

}  // namespace

std::vector<Index> Posterior::select(const std::vector<std::string>& names) const {
    std::vector<Index> chosen;
    const Index count = static_cast<Index>(variables.size());
    for (Index i = 0; i < count && names.empty(); ++i) chosen.push_back(i);
    for (const std::string& name : names) {
        const std::size_t before = chosen.size();
        for (Index i = 0; i < count; ++i) {
            const std::string& own = variables[static_cast<std::size_t>(i)].name;
            if (own == name || base_of(own) == name) chosen.push_back(i);
        }
        if (chosen.size() > before) continue;
        std::vector<std::string> bases;
        for (const PosteriorVariable& variable : variables) {
            const std::string base = detail::printable(base_of(variable.name));
            if (bases.empty() || bases.back() != base) bases.push_back(base);
        }
        std::sort(bases.begin(), bases.end());
        bases.erase(std::unique(bases.begin(), bases.end()), bases.end());
        throw std::invalid_argument(fmt::format("there is no variable {}: ask for one of {}, with an index or without",
                                                detail::shown(name), fmt::join(bases, ", ")));
    }
    return chosen;
}

Matrix Posterior::covariance_of(const std::vector<Index>& chosen, Method method) const {
    if (method == Method::linear_response && !has_response()) {
        throw NotAnOptimum(
            "there is no linear-response covariance, because the fit did not converge: fit again with more iterations "
            "or "
            "another seed, or ask for the mean-field one");
    }
    const Matrix& base = method == Method::linear_response ? covariance : mean_field_covariance;
    std::vector<Eigen::Triplet<double>> entries;
    for (std::size_t c = 0; c < chosen.size(); ++c) {
        for (const auto& [i, slope] : variables[static_cast<std::size_t>(chosen[c])].gradient) {
            entries.emplace_back(static_cast<int>(i), static_cast<int>(c), slope);
        }
    }
    SparseMatrix gradients(base.rows(), static_cast<Index>(chosen.size()));
    gradients.setFromTriplets(entries.begin(), entries.end());
    const Matrix product = gradients.transpose() * Matrix(base * gradients);
    return 0.5 * (product + product.transpose());
}

std::vector<Posterior::Row> Posterior::summary(const std::vector<Index>& chosen, double level) const {
    if (!(level > 0.0 && level < 1.0)) {
        throw std::invalid_argument(fmt::format("the level is {}, but must lie between 0 and 1", level));
    }
    const double quantile = std::numbers::sqrt2 * boost::math::erf_inv(level);
    constexpr double nothing = std::numeric_limits<double>::quiet_NaN();
    std::vector<Row> rows;
    for (const Index at : chosen) {
        const PosteriorVariable& variable = variables[static_cast<std::size_t>(at)];
        const PosteriorVariable::Unbounded& unbounded = variable.unbounded;
        const auto interval = [&](const Matrix& own) {
            const double half = quantile * std::sqrt(variance_along(unbounded.gradient, own));
            return std::pair(transformed(unbounded.transform, unbounded.centre - half),
                             transformed(unbounded.transform, unbounded.centre + half));
        };
        Row row{variable.name, variable.mean, nothing, 0.0, nothing, nothing, nothing, nothing};
        row.mean_field_sd = std::sqrt(variance_along(variable.gradient, mean_field_covariance));
        std::tie(row.mean_field_lower, row.mean_field_upper) = interval(mean_field_covariance);
        if (has_response()) {
            row.sd = std::sqrt(variance_along(variable.gradient, covariance));
            std::tie(row.lower, row.upper) = interval(covariance);
        }
        rows.push_back(std::move(row));
    }
    return rows;
}

namespace detail {

Posterior posterior_of(const Model& model, const Optimum& optimum, const std::vector<std::string>& statistics,
                       const Functionals& functionals) {
    const Layout& layout = model.layout();
    const Functionals::Resolved resolved = functionals.resolve(layout);
    Posterior posterior;
    posterior.statistics = statistics;
    posterior.mean = resolved.weights.transpose() * optimum.state.mean + resolved.constants;

    std::vector<Eigen::Triplet<double>> entries;
    for (Index j = 0; j < layout.variable_count(); ++j) {
        if (optimum.state.clamped[static_cast<std::size_t>(j)]) continue;
        const VariableInfo& info = layout[j];
        const Matrix block =
            std::visit([&](const auto& family) { return family.covariance(layout.segment(optimum.state.natural, j)); },
                       info.family);
        for (Index c = 0; c < block.cols(); ++c) {
            for (Index r = 0; r < block.rows(); ++r) {
                entries.emplace_back(static_cast<int>(info.offset + r), static_cast<int>(info.offset + c), block(r, c));
            }
        }
    }
    SparseMatrix mean_field(layout.size(), layout.size());
    mean_field.setFromTriplets(entries.begin(), entries.end());
    posterior.mean_field_covariance =
        Matrix(SparseMatrix(resolved.weights.transpose() * SparseMatrix(mean_field * resolved.weights)));

    posterior.hyperparameters = model.hyperparameters();
    if (optimum.converged()) {
        const LinearResponse response(model, optimum);
        posterior.covariance = response.covariance(functionals);
        posterior.sensitivities = response.sensitivities(functionals);
    }
    return posterior;
}

PosteriorVariable unbounded_variable(const std::string& name, double mean, const Gradient& gradient) {
    return {name, mean, gradient, {Transform::identity, mean, gradient}};
}

PosteriorVariable positive_variable(const std::string& name, double mean, const Gradient& gradient) {
    Gradient logarithmic = gradient;
    for (auto& [at, slope] : logarithmic) slope /= mean;
    return {name, mean, gradient, {Transform::exponential, std::log(mean), std::move(logarithmic)}};
}

Vector by_means(const AnyFamily& family, const VectorView& natural, const Vector& by_natural) {
    const Matrix factor = std::visit([&](const auto& own) { return own.covariance_factor(natural); }, family);
    const Vector whitened = factor.triangularView<Eigen::Lower>().solve(by_natural);
    return factor.transpose().triangularView<Eigen::Upper>().solve(whitened);
}

void add_precision(Posterior& posterior, const std::array<std::string, 3>& names, Index tau, Index log_tau,
                   const Layout& layout, const State& state, Index variable) {
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
            sigma = std::sqrt(standard[1]) * boost::math::tgamma_delta_ratio(shape - 0.5, 0.5);
            const Vector by_natural{{-0.5 * sigma / standard[1],
                                     sigma * (boost::math::digamma(shape - 0.5) - boost::math::digamma(shape))}};
            const Vector slopes =
                by_means(family::Gamma{}, family::Gamma{}.natural_from_standard(standard), by_natural);
            gradient = {{tau, slopes[0]}, {log_tau, slopes[1]}};
        }
    }
    posterior.variables.push_back(unbounded_variable(names[0], log_mean, {{log_tau, 1.0}}));
    posterior.variables.push_back(
        {names[1], posterior.mean[tau], {{tau, 1.0}}, {Transform::exponential, log_mean, {{log_tau, 1.0}}}});
    posterior.variables.push_back(
        {names[2], sigma, gradient, {Transform::exponential, -0.5 * log_mean, {{log_tau, -0.5}}}});
}

}  // namespace detail

}  // namespace lrvb
