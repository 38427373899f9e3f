#pragma once

#include <lrvb/lrvb.hpp>

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <vector>

/// Models whose rows have labels, and rows for them.
namespace lrvb::test {

constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();

inline Variable<family::Dirichlet> weights_of(ModelBuilder& builder, Index labels, const Expression& alpha) {
    return builder.add("pi", dirichlet(std::vector<Expression>(static_cast<std::size_t>(labels), alpha)));
}

/// As example::mixture_model, without indicators.
inline MultilinearModel normal_mixture(const Vector& x, Index components) {
    ModelBuilder builder;
    const Hyperparameter alpha = builder.hyperparameter("alpha", 1.0);
    const Hyperparameter precision = builder.hyperparameter("mu_precision", 0.01);
    const Hyperparameter shape = builder.hyperparameter("tau_shape", 2.0001);
    const Hyperparameter rate = builder.hyperparameter("tau_rate", 0.1);
    const auto pi = weights_of(builder, components, alpha);
    std::vector<Distribution<family::Normal>> kinds;
    for (Index k = 0; k < components; ++k) {
        const auto mu = builder.add(fmt::format("mu[{}]", k + 1), normal(0.0, precision));
        const auto tau = builder.add(fmt::format("tau[{}]", k + 1), gamma(shape, rate));
        kinds.push_back(normal(mu, tau));
    }
    builder.observe_mixture(pi, {column(x, kinds)}, builder.rows("rows", x.size()));
    return builder.build();
}

/// Two normal columns, the first of which has one precision for all labels.
inline MultilinearModel two_columns(const Matrix& x) {
    ModelBuilder builder;
    const auto p = builder.add("p", beta(2.0, 2.0));
    const auto tau = builder.add("tau", gamma(2.0, 1.0));
    std::vector<Distribution<family::Normal>> first;
    std::vector<Distribution<family::Normal>> second;
    for (Index k = 0; k < 2; ++k) {
        const auto mu = builder.add(fmt::format("mu[{}]", k + 1), normal(k == 0 ? -2.0 : 3.0, 0.3));
        const auto nu = builder.add(fmt::format("nu[{}]", k + 1), normal(0.0, 0.1));
        const auto rho = builder.add(fmt::format("rho[{}]", k + 1), gamma(2.0, 1.0));
        first.push_back(normal(mu, tau));
        second.push_back(normal(nu, rho));
    }
    const Rows rows = builder.rows("rows", x.rows());
    builder.observe_mixture(p, {column(x.col(0), first), column(x.col(1), second).as("other")}, rows);
    return builder.build();
}

inline Matrix latent_class_rows(Index rows, Index items, std::uint64_t seed) {
    Random random(seed);
    Matrix x(rows, items);
    for (Index n = 0; n < rows; ++n) {
        const bool first = random.uniform() < 0.4;
        for (Index j = 0; j < items; ++j) x(n, j) = random.uniform() < (first ? 0.85 : 0.2) ? 1.0 : 0.0;
    }
    x(1, 0) = kMissing;
    return x;
}

inline MultilinearModel latent_classes(const Matrix& x, Index classes) {
    ModelBuilder builder;
    const auto pi = weights_of(builder, classes, 1.0);
    std::vector<std::vector<Distribution<family::Bernoulli>>> items(static_cast<std::size_t>(x.cols()));
    for (Index k = 0; k < classes; ++k) {
        for (Index j = 0; j < x.cols(); ++j) {
            const auto p = builder.add(fmt::format("p[{},{}]", k + 1, j + 1), beta(1.0, 1.0));
            items[static_cast<std::size_t>(j)].push_back(bernoulli(p));
        }
    }
    std::vector<LabelledColumn> columns;
    for (Index j = 0; j < x.cols(); ++j) columns.push_back(column(x.col(j), items[static_cast<std::size_t>(j)]));
    builder.observe_mixture(pi, columns, builder.rows("people", x.rows()));
    return builder.build();
}

/// Columns: a count, an exposure, successes of six trials, successes and trials that differ, a label of three, a
/// duration.
inline Matrix rows_of_all_kinds(Index rows, std::uint64_t seed) {
    Random random(seed);
    Matrix x(rows, 1);
    for (Index n = 0; n < rows; ++n) x(n, 0) = (n % 2 == 0 ? 1.0 : 6.0) * -std::log(random.uniform());
    return x;
}

/// A duration that moves, and counts that do not.
inline MultilinearModel counts_of_all_kinds(const Matrix& durations) {
    const Index rows = durations.rows();
    Random random(11);
    Vector counts(rows);
    Vector exposures(rows);
    Vector plain(rows);
    Vector successes(rows);
    Vector trials(rows);
    Matrix labels = Matrix::Zero(rows, 3);
    for (Index n = 0; n < rows; ++n) {
        const bool high = n % 2 == 0;
        exposures[n] = 0.5 + random.uniform();
        counts[n] = std::floor((high ? 8.0 : 2.0) * exposures[n] * (0.5 + random.uniform()));
        plain[n] = std::floor((high ? 5.0 : 1.5) * (0.4 + 1.2 * random.uniform()));
        trials[n] = 3.0 + std::floor(5.0 * random.uniform());
        successes[n] = std::floor(trials[n] * (high ? 0.7 : 0.3) + random.uniform());
        labels(n, static_cast<Index>(3.0 * random.uniform())) = 1.0;
    }
    counts[4] = kMissing;
    successes[7] = trials[7] = kMissing;
    ModelBuilder builder;
    const auto pi = builder.add("pi", dirichlet({1.5, 2.5}));
    std::vector<Expression> rates;
    std::vector<Expression> chances;
    std::vector<Distribution<likelihood::Poisson>> poissons;
    std::vector<Distribution<likelihood::Binomial>> binomials;
    std::vector<Distribution<likelihood::Multinomial>> multinomials;
    std::vector<Distribution<family::Gamma>> gammas;
    for (Index k = 0; k < 2; ++k) {
        const auto rate = builder.add(fmt::format("rate[{}]", k + 1), gamma(2.0, k == 0 ? 0.3 : 1.0));
        const auto chance = builder.add(fmt::format("chance[{}]", k + 1), beta(2.0, 2.0));
        const auto shares = builder.add(fmt::format("shares[{}]", k + 1), dirichlet({1.0, 1.0, 1.0}));
        const auto decay = builder.add(fmt::format("decay[{}]", k + 1), gamma(2.0, 1.0));
        rates.emplace_back(rate);
        chances.emplace_back(chance);
        poissons.push_back(poisson(0.7 * rate));
        binomials.push_back(binomial(20, chance));
        multinomials.push_back(multinomial(shares));
        gammas.push_back(gamma(1.5, decay));
    }
    builder.observe_mixture(
        pi,
        {count_column(counts, exposures, rates), trial_column(successes, trials, chances), column(plain, poissons),
         column(plain, binomials), column(labels, multinomials), column(durations, gammas).as("duration")},
        builder.rows("rows", rows));
    return builder.build();
}

/// y, and a design of a constant and a slope, for two lines.
inline Matrix regression_rows(Index rows, std::uint64_t seed) {
    Random random(seed);
    Matrix x(rows, 3);
    for (Index n = 0; n < rows; ++n) {
        const double at = 4.0 * random.uniform() - 2.0;
        const double line = n % 3 == 0 ? 2.0 - 1.5 * at : -1.0 + 0.8 * at;
        x.row(n) << line + 0.4 * random.normal(), 1.0, at;
    }
    return x;
}

inline MultilinearModel regressions(const Vector& y, const Matrix& design) {
    ModelBuilder builder;
    const auto pi = builder.add("pi", dirichlet({2.0, 4.0}));
    std::vector<VectorParameter> coefficients;
    std::vector<Expression> precisions;
    const auto tau = builder.add("tau", gamma(2.0, 1.0));
    for (Index k = 0; k < 2; ++k) {
        std::vector<Variable<family::Normal>> beta;
        for (Index j = 0; j < design.cols(); ++j) {
            beta.push_back(builder.add(fmt::format("beta[{},{}]", k + 1, j + 1), normal(k == 0 ? 1.0 : -0.5, 0.2)));
        }
        coefficients.emplace_back(beta);
        precisions.emplace_back(k == 0 ? Expression(tau) : 0.5 * tau);
    }
    builder.observe_mixture(pi, {linear_column(y, design, coefficients, precisions)}, builder.rows("rows", y.size()));
    return builder.build();
}

inline MultilinearModel vector_mixture(const Matrix& x) {
    ModelBuilder builder;
    const auto pi = builder.add("pi", dirichlet({1.0, 1.0}));
    std::vector<Distribution<family::MvNormal>> kinds;
    for (Index k = 0; k < 2; ++k) {
        const auto mu = builder.add(fmt::format("mu[{}]", k + 1),
                                    mv_normal(Vector{{k == 0 ? 4.0 : 0.0, 0.0}}, 0.1 * Matrix::Identity(2, 2)));
        const auto lambda = builder.add(fmt::format("Lambda[{}]", k + 1), wishart(4.0, Matrix::Identity(2, 2)));
        kinds.push_back(mv_normal(mu, lambda));
    }
    builder.observe_mixture(pi, {column(x, kinds)}, builder.rows("rows", x.rows()));
    return builder.build();
}

/// Two groups with weights of their own, and components that they share.
inline MultilinearModel chosen_weights(const Vector& x) {
    ModelBuilder builder;
    const auto first = builder.add("pi[1]", dirichlet({2.0, 1.0}));
    const auto second = builder.add("pi[2]", dirichlet({1.0, 3.0}));
    const auto mu = builder.add("mu[1]", normal(-3.0, 0.2));
    const auto nu = builder.add("mu[2]", normal(2.0, 0.2));
    const auto tau = builder.add("tau", gamma(2.0, 1.0));
    std::vector<Index> group;
    for (Index n = 0; n < x.size(); ++n) group.push_back(n % 3 == 0 ? 1 : 0);
    builder.observe_mixture(LabelWeights::chosen({first, second}, group),
                            {column(x, {normal(mu, tau), normal(nu, tau)})}, builder.rows("rows", x.size()));
    return builder.build();
}

}  // namespace lrvb::test
