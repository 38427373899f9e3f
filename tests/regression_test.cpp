// Regression leverage (paper, Appendix D, with its slip corrected): with y*_i ~ Normal(y_i, ε), y ~ Normal(Xβ, σ²) and
// a flat prior on β, Cov(Xβ, Y) = ε P_X exactly, for every ε. And regression with an unknown precision.

#include "support.hpp"

#include <lrvb/testing/density_battery.hpp>
#include <lrvb/testing/model_battery.hpp>
#include <lrvb/testing/response_battery.hpp>

#include <Eigen/Cholesky>
#include <Eigen/QR>
#include <fmt/format.h>

namespace lrvb {
namespace {

struct Design {
    std::string name;
    Matrix x;
    Vector y;
};

Design mtcars() {
    const Vector wt = test::read_column("mtcars.csv", "wt");
    const Vector hp = test::read_column("mtcars.csv", "hp");
    Matrix x(wt.size(), 3);
    x << Vector::Ones(wt.size()), wt, hp;
    return {"mtcars", x, test::read_column("mtcars.csv", "mpg")};
}

Design random_design(Index rows, Index columns, std::uint64_t seed) {
    Random random(seed);
    const Matrix x = test::random_matrix(rows, columns, random);
    const Vector y = x * test::random_matrix(columns, 1, random) + test::random_matrix(rows, 1, random);
    return {fmt::format("random {} x {}", rows, columns), x, y};
}

Matrix hat_matrix(const Matrix& x) {
    const Matrix q = x.householderQr().householderQ() * Matrix::Identity(x.rows(), x.cols());
    return q * q.transpose();
}

struct Leverage {
    MultilinearModel model;
    std::vector<Expression> fitted;  // Xβ
    std::vector<Expression> latent;  // Y
};

// y*_i ~ Normal(y_i, ε), y_i ~ Normal(x_iᵀβ, variance), β flat.
Leverage leverage_model(const Design& design, double variance, double epsilon) {
    ModelBuilder builder;
    const Hyperparameter noise = builder.hyperparameter("noise_precision", 1.0 / epsilon);
    const Variable<family::MvNormal> beta = builder.add("beta", flat(family::MvNormal(design.x.cols())));
    std::vector<Expression> fitted;
    std::vector<Expression> latent;
    for (Index i = 0; i < design.x.rows(); ++i) {
        Expression mean;
        for (Index j = 0; j < design.x.cols(); ++j) mean += design.x(i, j) * beta[j];
        const auto y = builder.add(fmt::format("y[{}]", i + 1), normal(mean, 1.0 / variance));
        builder.observe(design.y[i], normal(y, noise));
        fitted.push_back(mean);
        latent.emplace_back(y);
    }
    return {builder.build(), fitted, latent};
}

TEST(Regression, CovarianceOfFitAndResponseIsTheHatMatrixForEveryNoise) {
    double worst = 0.0;
    for (const Design& design : {mtcars(), random_design(12, 2, 1), random_design(40, 6, 2)}) {
        const Matrix hat = hat_matrix(design.x);
        for (const double epsilon : {1e-6, 1e-4, 1e-2, 1.0, 10.0}) {
            const Leverage leverage = leverage_model(design, 2.5, epsilon);
            const Optimum optimum = fit(leverage.model);
            ASSERT_TRUE(optimum.converged()) << design.name << ", epsilon " << epsilon << ": " << optimum.message;
            const LinearResponse response(leverage.model, optimum);
            const double error =
                test::relative_error(response.covariance(leverage.fitted, leverage.latent), epsilon * hat);
            EXPECT_LT(error, 1e-8) << design.name << ", epsilon " << epsilon;
            worst = std::max(worst, error);
        }
    }
    fmt::print("largest relative error of Cov(X beta, Y) against epsilon P_X: {:.1e}\n", worst);
}

TEST(Regression, ResponseOfTheLeverageModelEqualsRefit) {
    const Design design = random_design(12, 2, 1);
    const Leverage leverage = leverage_model(design, 2.5, 0.5);
    const testing::Report covariance = testing::check_covariance(leverage.model, {0, 1, 2, 5, 6, 7});
    EXPECT_TRUE(covariance.passed()) << covariance.text();
    const testing::Report sensitivity = testing::check_sensitivity(
        [&](const Vector& alpha) { return leverage_model(design, 2.5, 1.0 / alpha[0]).model; }, Vector{{2.0}});
    EXPECT_TRUE(sensitivity.passed()) << sensitivity.text();
}

MultilinearModel regression_model(const Design& design, const Vector& alpha) {
    ModelBuilder builder;
    const Hyperparameter precision = builder.hyperparameter("beta_precision", alpha[0]);
    const Hyperparameter shape = builder.hyperparameter("shape", alpha[1]);
    const Hyperparameter rate = builder.hyperparameter("rate", alpha[2]);
    std::vector<Variable<family::Normal>> beta;
    for (Index j = 0; j < design.x.cols(); ++j) {
        beta.push_back(builder.add(fmt::format("beta[{}]", j + 1), normal(0.0, precision)));
    }
    const auto tau = builder.add("tau", gamma(shape, rate));
    builder.observe_linear(design.y, design.x, beta, tau);
    return builder.build();
}

TEST(Regression, ResponseEqualsRefit) {
    const Vector prior{{0.01, 2.0001, 0.1}};
    for (const Design& design : {mtcars(), random_design(40, 6, 2)}) {
        const MultilinearModel model = regression_model(design, prior);
        const Optimum optimum = fit(model);
        ASSERT_TRUE(optimum.converged()) << optimum.message;
        const testing::Report terms = testing::check_model(model, optimum.state);
        EXPECT_TRUE(terms.passed()) << terms.text();
        const testing::Report gradients = testing::check_gradients(model, optimum.state);
        EXPECT_TRUE(gradients.passed()) << gradients.text();
        std::vector<Index> all;
        for (Index s = 0; s < model.layout().size(); ++s) all.push_back(s);
        const testing::Report covariance = testing::check_covariance(model, all);
        EXPECT_TRUE(covariance.passed()) << covariance.text();
        const testing::Report sensitivity =
            testing::check_sensitivity([&](const Vector& alpha) { return regression_model(design, alpha); }, prior);
        EXPECT_TRUE(sensitivity.passed()) << sensitivity.text();
    }
}

// With unknown precision and a vague prior the posterior of β is a Student t with variance RSS/(N − p − 2 + …) (XᵀX)⁻¹;
// linear response gets the correlations exactly and the variance to order 1/N, where scalar mean field misses the
// correlations.
TEST(Regression, CovarianceOfTheCoefficientsIsNearTheClosedForm) {
    const Design design = mtcars();
    const MultilinearModel model = regression_model(design, Vector{{1e-8, 1e-3, 1e-3}});
    const Optimum optimum = fit(model);
    ASSERT_TRUE(optimum.converged()) << optimum.message;
    const LinearResponse response(model, optimum);
    const Matrix covariance = response.covariance({"beta[1]", "beta[2]", "beta[3]"});
    const Matrix inverse_gram = (design.x.transpose() * design.x).llt().solve(Matrix::Identity(3, 3));
    const double residual = (design.y - hat_matrix(design.x) * design.y).squaredNorm();
    const double rows = static_cast<double>(design.x.rows());
    const Matrix exact = residual / (rows - 3.0 - 2.0) * inverse_gram;
    EXPECT_LT(test::relative_error(covariance, exact), 0.12);
    // Mean field with scalar blocks takes Var β_j as 1/(E τ (XᵀX)_jj): several times too small.
    const Vector ratio =
        response.mean_field_sd({"beta[1]", "beta[2]", "beta[3]"}).cwiseQuotient(exact.diagonal().cwiseSqrt());
    EXPECT_LT(ratio.minCoeff(), 0.4);
}

}  // namespace
}  // namespace lrvb
