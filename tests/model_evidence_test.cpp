#include <lrvb/lrvb.hpp>

#include <Eigen/Cholesky>
#include <Eigen/LU>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <numbers>
#include <string>
#include <vector>

// Where one variable is unknown and its conditional is conjugate, mean field is exact: the bound is the log evidence,
// with every constant. Expected numbers are the closed forms of the marginal likelihoods, from std::lgamma.

namespace lrvb {
namespace {

const double kLogTwoPi = std::log(2.0 * std::numbers::pi);
const Matrix kPrecision{{2.0, 0.5}, {0.5, 1.0}};
const Matrix kInverseScale{{1.5, -0.4}, {-0.4, 0.8}};

double log_beta(double a, double b) {
    return std::lgamma(a) + std::lgamma(b) - std::lgamma(a + b);
}

double log_factorial(double n) {
    return std::lgamma(n + 1.0);
}

/// log Γ_p(x) = p(p − 1)/4 log π + Σ_i log Γ(x − (i − 1)/2), here for p = 2.
double log_gamma_of_two(double x) {
    return 0.5 * std::log(std::numbers::pi) + std::lgamma(x) + std::lgamma(x - 0.5);
}

double log_normal_density(double y, double mean, double precision) {
    return 0.5 * (std::log(precision) - kLogTwoPi - precision * (y - mean) * (y - mean));
}

double log_normal_density(const Vector& deviation, const Matrix& covariance) {
    const Eigen::LLT<Matrix> cholesky(covariance);
    const Vector whitened = cholesky.matrixL().solve(deviation);
    const double log_root_det = cholesky.matrixLLT().diagonal().array().log().sum();
    return -0.5 * whitened.squaredNorm() - log_root_det - 0.5 * kLogTwoPi * static_cast<double>(deviation.size());
}

void expect_log_evidence(const ModelBuilder& builder, double expected) {
    const Optimum optimum = fit(builder.build());
    EXPECT_TRUE(optimum.converged()) << optimum.message;
    EXPECT_NEAR(optimum.bound, expected, 1e-10);
}

TEST(Evidence, IsExactForABetaWithBernoulliObservations) {
    ModelBuilder builder;
    const Variable<family::Beta> p = builder.add("p", beta(2.0, 3.5));
    builder.observe_column(Vector{{1.0, 0.0, 1.0, 1.0, 1.0}}, bernoulli(p));
    expect_log_evidence(builder, log_beta(2.0 + 4.0, 3.5 + 1.0) - log_beta(2.0, 3.5));
}

TEST(Evidence, IsExactForABetaWithABinomialObservation) {
    ModelBuilder builder;
    const Variable<family::Beta> p = builder.add("p", beta(0.5, 1.5));
    builder.observe(7.0, binomial(10, p));
    const double log_choose = log_factorial(10.0) - log_factorial(7.0) - log_factorial(3.0);
    expect_log_evidence(builder, log_choose + log_beta(7.5, 4.5) - log_beta(0.5, 1.5));
}

TEST(Evidence, IsExactForAGammaWithPoissonCountsAndExposures) {
    const double a = 1.8;
    const double b = 0.7;
    const Vector counts{{5.0, 1.0, 0.0, 14.0}};
    const Vector exposures{{94.3, 15.7, 62.9, 126.0}};
    ModelBuilder builder;
    const Variable<family::Gamma> rate = builder.add("rate", gamma(a, b));
    builder.observe_counts(counts, exposures, rate);
    double expected = a * std::log(b) - std::lgamma(a) + std::lgamma(a + counts.sum()) -
                      (a + counts.sum()) * std::log(b + exposures.sum());
    for (Index n = 0; n < counts.size(); ++n) {
        expected += counts[n] * std::log(exposures[n]) - log_factorial(counts[n]);
    }
    expect_log_evidence(builder, expected);
}

TEST(Evidence, IsExactForAGammaWithExponentialAndGammaObservations) {
    const double a = 2.5;
    const double b = 1.2;
    const Vector x{{0.3, 1.7, 0.9}};
    for (const double shape : {1.0, 3.3}) {
        ModelBuilder builder;
        const Variable<family::Gamma> rate = builder.add("rate", gamma(a, b));
        builder.observe_column(x, shape == 1.0 ? exponential(rate) : gamma(shape, rate));
        const double posterior_shape = a + 3.0 * shape;
        expect_log_evidence(builder, a * std::log(b) - std::lgamma(a) + std::lgamma(posterior_shape) -
                                         posterior_shape * std::log(b + x.sum()) +
                                         (shape - 1.0) * x.array().log().sum() - 3.0 * std::lgamma(shape));
    }
}

// y = μ1 + ε: jointly normal with covariance I/τ + 11ᵀ/τ_0.
TEST(Evidence, IsExactForANormalMeanWithKnownPrecision) {
    const Vector y{{1.1, -0.4, 2.3, 0.6}};
    ModelBuilder builder;
    const Variable<family::Normal> mu = builder.add("mu", normal(0.5, 0.2));
    builder.observe_column(y, normal(mu, 3.0));
    const Matrix covariance = Matrix::Identity(4, 4) / 3.0 + Matrix::Ones(4, 4) / 0.2;
    expect_log_evidence(builder, log_normal_density(y.array() - 0.5, covariance));
}

// The stacked rows are jointly normal with covariance I ⊗ Λ⁻¹ + 11ᵀ ⊗ Λ_0⁻¹.
TEST(Evidence, IsExactForANormalMeanVectorWithKnownPrecision) {
    const Matrix rows{{1.1, -0.4}, {2.3, 0.6}, {0.0, 1.0}};
    const Vector prior_mean{{0.5, -1.0}};
    ModelBuilder builder;
    const Variable<family::MvNormal> mu = builder.add("mu", mv_normal(prior_mean, kInverseScale));
    builder.observe_rows(rows, mv_normal(mu, kPrecision));
    Vector deviation(6);
    Matrix covariance = kInverseScale.inverse().replicate(3, 3);
    for (Index n = 0; n < 3; ++n) {
        deviation.segment(2 * n, 2) = rows.row(n).transpose() - prior_mean;
        covariance.block(2 * n, 2 * n, 2, 2) += kPrecision.inverse();
    }
    expect_log_evidence(builder, log_normal_density(deviation, covariance));
}

// A multivariate Student density.
TEST(Evidence, IsExactForAnUnknownPrecisionWithKnownMean) {
    const double a = 1.5;
    const double b = 0.8;
    const Vector y{{1.1, -0.4, 2.3}};
    ModelBuilder builder;
    const Variable<family::Gamma> tau = builder.add("tau", gamma(a, b));
    builder.observe_column(y, normal(0.5, tau));
    const double squares = (y.array() - 0.5).square().sum();
    expect_log_evidence(builder, a * std::log(b) - std::lgamma(a) + std::lgamma(a + 1.5) -
                                     (a + 1.5) * std::log(b + 0.5 * squares) - 1.5 * kLogTwoPi);
}

// A matrix Student density: ∫ Π_n N(y_n; m, Λ⁻¹) W(Λ; ν, S_0) dΛ.
TEST(Evidence, IsExactForAnUnknownPrecisionMatrixWithKnownMean) {
    const Matrix rows{{1.1, -0.4}, {2.3, 0.6}, {0.0, 1.0}};
    const Vector mean{{0.5, 0.2}};
    const double dof = 4.5;
    ModelBuilder builder;
    const Variable<family::Wishart> lambda = builder.add("Lambda", wishart(dof, kInverseScale));
    builder.observe_rows(rows, mv_normal(mean, lambda));
    const Matrix deviations = rows.rowwise() - mean.transpose();
    const Matrix posterior = kInverseScale + deviations.transpose() * deviations;
    const double half = 0.5 * (dof + 3.0);
    expect_log_evidence(builder, -3.0 * std::log(std::numbers::pi) + log_gamma_of_two(half) -
                                     log_gamma_of_two(0.5 * dof) + 0.5 * dof * std::log(kInverseScale.determinant()) -
                                     half * std::log(posterior.determinant()));
}

// A matrix beta density of the second kind: ∫ W(X; k, B) W(B; ν, S_0) dB.
TEST(Evidence, IsExactForAnUnknownInverseScaleMatrix) {
    const Matrix value{{1.2, 0.3}, {0.3, 0.9}};
    const double dof = 4.5;
    const double k = 3.5;
    ModelBuilder builder;
    const Variable<family::Wishart> scale = builder.add("B", wishart(dof, kInverseScale));
    builder.observe(half_vector(value), wishart(k, scale));
    expect_log_evidence(builder, log_gamma_of_two(0.5 * (dof + k)) - log_gamma_of_two(0.5 * dof) -
                                     log_gamma_of_two(0.5 * k) + 0.5 * (k - 3.0) * std::log(value.determinant()) +
                                     0.5 * dof * std::log(kInverseScale.determinant()) -
                                     0.5 * (dof + k) * std::log((kInverseScale + value).determinant()));
}

// Labels and counts of labels have the same evidence but for the multinomial coefficient.
TEST(Evidence, IsExactForADirichletWithLabelsAndWithCounts) {
    const Vector alpha{{0.5, 1.0, 2.5}};
    const Vector counts{{2.0, 0.0, 3.0}};
    double expected = std::lgamma(alpha.sum()) - std::lgamma(alpha.sum() + counts.sum());
    double log_coefficient = log_factorial(counts.sum());
    for (Index k = 0; k < 3; ++k) {
        expected += std::lgamma(alpha[k] + counts[k]) - std::lgamma(alpha[k]);
        log_coefficient -= log_factorial(counts[k]);
    }
    ModelBuilder labels;
    labels.observe_column(Vector{{0.0, 2.0, 2.0, 0.0, 2.0}}, categorical(labels.add("pi", dirichlet(alpha))));
    expect_log_evidence(labels, expected);
    ModelBuilder tables;
    tables.observe(counts, multinomial(tables.add("pi", dirichlet(alpha))));
    expect_log_evidence(tables, expected + log_coefficient);
}

// By enumeration of the labels: log Σ_k p_k N(y; m_k, τ_k) and log Σ_k p_k Poisson(y; λ_k).
TEST(Evidence, IsExactForAnUnknownLabel) {
    const Vector p{{0.2, 0.5, 0.3}};
    const Vector means{{-1.0, 0.5, 3.0}};
    const Vector precisions{{1.0, 4.0, 0.5}};
    const Vector rates{{0.5, 2.0, 6.0}};
    std::vector<Distribution<family::Normal>> normals;
    std::vector<Distribution<likelihood::Poisson>> poissons;
    double density = 0.0;
    double probability = 0.0;
    for (Index k = 0; k < 3; ++k) {
        normals.push_back(normal(means[k], precisions[k]));
        poissons.push_back(poisson(rates[k]));
        density += p[k] * std::exp(log_normal_density(0.9, means[k], precisions[k]));
        probability += p[k] * std::exp(4.0 * std::log(rates[k]) - rates[k] - log_factorial(4.0));
    }
    ModelBuilder continuous;
    continuous.observe(0.9, mixture(continuous.add("z", categorical(p)), normals));
    expect_log_evidence(continuous, std::log(density));
    ModelBuilder discrete;
    discrete.observe(4.0, mixture(discrete.add("z", categorical(p)), poissons));
    expect_log_evidence(discrete, std::log(probability));
}

TEST(Evidence, IsExactForASpikeThatIsOnOrOff) {
    ModelBuilder builder;
    const Variable<family::Bernoulli> z = builder.add("z", bernoulli(0.3));
    builder.observe(1.4, normal(2.0 * z - 0.5, 0.7));
    const double on = std::exp(log_normal_density(1.4, 1.5, 0.7));
    const double off = std::exp(log_normal_density(1.4, -0.5, 0.7));
    expect_log_evidence(builder, std::log(0.3 * on + 0.7 * off));
}

// The derivative of the gradient in a hyperparameter, against fourth-order differences of gradients of models that are
// built with other values of it. Each slot that takes a hyperparameter is used once.
MultilinearModel with_hyperparameter(double value) {
    ModelBuilder builder;
    const Hyperparameter h = builder.hyperparameter("h", value);
    const Variable<family::Normal> x = builder.add("x", normal(2.0 * h, h * h));
    const Variable<family::Gamma> tau = builder.add("tau", gamma(3.0 * h, h + 1.0));
    const Variable<family::Beta> p = builder.add("p", beta(h, 2.0 * h));
    const Variable<family::Dirichlet> pi = builder.add("pi", dirichlet({h, h * h, 1.0}));
    const Variable<family::Bernoulli> z = builder.add("z", bernoulli(0.5 * h));
    const Variable<family::Wishart> lambda = builder.add("Lambda", wishart(4.0 + h, scaled(h, kInverseScale)));
    const Variable<family::MvNormal> v = builder.add("v", mv_normal({h, x}, scaled(h * tau, lambda)));
    const Variable<family::Categorical> c = builder.add("c", categorical(pi));
    builder.observe(1.5, normal(h * x + z, h * tau));
    builder.observe(2.0, mixture(c, {poisson(h * tau), poisson(tau), poisson(h)}));
    builder.observe(1.0, mixture(c, {binomial(3, p), binomial(3, 0.4 * h), binomial(3, 0.9)}));
    builder.observe_counts(Vector{{2.0, 1.0}}, Vector{{1.0, 3.0}}, h * tau);
    builder.observe_linear(Vector{{1.0, 0.5}}, Matrix{{1.0, 2.0}, {0.0, 1.0}}, {v[0], h * v[1]}, h * h * tau);
    builder.add_term(-0.1 * h * h * x * tau);
    return builder.build();
}

TEST(Model, TheGradientInAHyperparameterIsTheDerivativeOfTheGradient) {
    const double h = 0.8;
    const MultilinearModel model = with_hyperparameter(h);
    Random random(5);
    const Vector mean = model.start(random).mean;
    const auto central = [&](double step) -> Vector {
        return (with_hyperparameter(h + step).expand(mean, Order::gradient).gradient -
                with_hyperparameter(h - step).expand(mean, Order::gradient).gradient) /
               (2.0 * step);
    };
    const Vector expected = (4.0 * central(1e-3) - central(2e-3)) / 3.0;
    const Vector actual = model.hyperparameter_gradient(mean, 0);
    for (Index i = 0; i < mean.size(); ++i) {
        EXPECT_NEAR(actual[i], expected[i], 1e-8 * (1.0 + std::abs(expected[i]))) << model.layout().statistic_name(i);
    }
}

TEST(ModelEvidence, ProbabilitiesMayBeHyperparameters) {
    // One label with known components: d bound / d p is a plain derivative of the log-sum-exp.
    const auto bound = [](double p, Vector* gradient) {
        ModelBuilder builder;
        const Hyperparameter first = builder.hyperparameter("p", p);
        const auto z = builder.add("z", categorical(std::vector<Expression>{first, 1.0 - Expression(first)}));
        builder.observe(0.4, mixture(z, {normal(0.0, 1.0), normal(2.0, 3.0)}));
        const MultilinearModel model = builder.build();
        const Optimum optimum = fit(model);
        if (gradient != nullptr) *gradient = model.hyperparameter_gradient(optimum.state.mean, 0);
        return optimum.bound;
    };
    const double density0 = std::exp(-0.08) / std::sqrt(2.0 * 3.14159265358979323846);
    const double density1 = std::sqrt(3.0) * std::exp(-1.5 * 2.56) / std::sqrt(2.0 * 3.14159265358979323846);
    Vector gradient;
    EXPECT_NEAR(bound(0.3, &gradient), std::log(0.3 * density0 + 0.7 * density1), 1e-12);
    EXPECT_NEAR(gradient[0], 1.0 / 0.3, 1e-12);
    EXPECT_NEAR(gradient[1], -1.0 / 0.7, 1e-12);
}

}  // namespace
}  // namespace lrvb
