#include "base/files.hpp"
#include "reproduce/reproduce.hpp"

#include <lrvb/family/random.hpp>
#include <lrvb/fit/fit.hpp>
#include <lrvb/model/builder.hpp>
#include <lrvb/response/linear_response.hpp>

#include <Eigen/Cholesky>
#include <Eigen/LU>
#include <Eigen/QR>
#include <fmt/format.h>

#include <cmath>
#include <limits>

namespace lrvb::reproduce {

namespace {

struct Theorem {
    std::string name;
    std::string says;
    double error = 0.0;
};

double relative_error(const Matrix& a, const Matrix& b) {
    return (a - b).cwiseAbs().maxCoeff() / b.cwiseAbs().maxCoeff();
}

Matrix normal_matrix(Index rows, Index columns, Random& random) {
    Matrix matrix(rows, columns);
    for (Index j = 0; j < columns; ++j) {
        for (Index i = 0; i < rows; ++i) matrix(i, j) = random.normal();
    }
    return matrix;
}

/// A normal target, every coordinate a factor of its own.
struct NormalTarget {
    Vector mean;
    Matrix precision;
    MultilinearModel model;
    std::vector<Expression> coordinates;
};

NormalTarget normal_target(Index dimension, Random& random) {
    const Vector mean = normal_matrix(dimension, 1, random);
    const Matrix root = normal_matrix(dimension, dimension, random);
    const Matrix precision =
        root * root.transpose() / static_cast<double>(dimension) + 0.3 * Matrix::Identity(dimension, dimension);
    ModelBuilder builder;
    std::vector<Expression> x;
    for (Index i = 0; i < dimension; ++i) {
        x.emplace_back(builder.add(fmt::format("x[{}]", i + 1), flat(family::Normal{})));
    }
    const Vector shift = precision * mean;
    for (Index i = 0; i < dimension; ++i) {
        builder.add_term(shift[i] * x[static_cast<std::size_t>(i)]);
        for (Index j = 0; j < dimension; ++j) {
            builder.add_term(-0.5 * precision(i, j) * x[static_cast<std::size_t>(i)] * x[static_cast<std::size_t>(j)]);
        }
    }
    return {mean, precision, builder.build(), x};
}

Theorem normal_exactness(const Options& options) {
    Theorem theorem{"Normal exactness",
                    "the covariance of a normal target is exact, however it is factorised (dimension 2 to 40)"};
    for (const Index dimension : {2, 5, 10, 20, 40}) {
        Random random(options.seed, static_cast<std::uint64_t>(dimension));
        const NormalTarget target = normal_target(dimension, random);
        const LinearResponse response(target.model, fit(target.model));
        const Matrix exact = target.precision.llt().solve(Matrix::Identity(dimension, dimension));
        theorem.error = std::max(theorem.error, relative_error(response.covariance(target.coordinates), exact));
        theorem.error = std::max(theorem.error, relative_error(response.mean(target.coordinates), target.mean));
    }
    return theorem;
}

// The second moments of a normal factor do not answer to other variables: with V = [σ² 2xσ²; 2xσ² …] the response of
// (x, x²) is that of x carried by Cov(x, x²)/Var(x) = 2E[x], and its own variance is what is left of V.
Theorem second_moments(const Options& options) {
    Theorem theorem{
        "Second-moment lemma",
        "Cov(x_i², x_j) = 2E[x_i] Cov(x_i, x_j) for normal factors: second moments add nothing to the system"};
    Random random(options.seed, 77);
    const Index dimension = 8;
    const NormalTarget target = normal_target(dimension, random);
    const LinearResponse response(target.model, fit(target.model));
    std::vector<Index> first;
    std::vector<Index> second;
    for (Index i = 0; i < dimension; ++i) {
        first.push_back(target.model.layout()[i].offset);
        second.push_back(target.model.layout()[i].offset + 1);
    }
    const Matrix expected = 2.0 * target.mean.asDiagonal() * response.covariance(Functionals(first));
    theorem.error = relative_error(response.covariance(Functionals(second), Functionals(first)), expected);
    return theorem;
}

// Bivariate normal rows with entries missing at random, the covariance known: EM for the mean is an affine map, and SEM
// corrects the complete-data covariance by its derivative.
Theorem supplemented_em(const Options& options) {
    Theorem theorem{"Supplemented EM",
                    "the SEM covariance is linear response with two blocks (missing data, parameters)"};
    const Matrix covariance{{1.0, 0.9}, {0.9, 1.3}};
    Random random(options.seed, 78);
    const Index rows = 60;
    Matrix y(rows, 2);
    for (Index n = 0; n < rows; ++n) {
        const double shared = random.normal();
        y(n, 0) = 1.0 + shared;
        y(n, 1) = -2.0 + 0.9 * shared + 0.7 * random.normal();
        const double u = random.uniform();
        if (u < 0.3) y(n, 0) = std::numeric_limits<double>::quiet_NaN();
        if (u > 0.6) y(n, 1) = std::numeric_limits<double>::quiet_NaN();
    }
    ModelBuilder builder;
    const Variable<family::MvNormal> mu = builder.add("mu", flat(family::MvNormal(2)));
    const Matrix precision = covariance.inverse();
    for (Index n = 0; n < rows; ++n) {
        std::vector<Expression> row;
        for (Index i = 0; i < 2; ++i) {
            if (std::isnan(y(n, i))) {
                row.emplace_back(builder.add(fmt::format("missing[{},{}]", n + 1, i + 1), flat(family::Normal{})));
            } else {
                row.emplace_back(y(n, i));
            }
        }
        builder.observe(row, mv_normal(mu, precision));
    }
    const MultilinearModel model = builder.build();
    const LinearResponse response(model, fit(model));

    const auto map = [&](const Vector& mean) {
        Vector sum = Vector::Zero(2);
        for (Index n = 0; n < rows; ++n) {
            for (Index i = 0; i < 2; ++i) {
                const Index other = 1 - i;
                const double slope = covariance(i, other) / covariance(other, other);
                sum[i] += std::isnan(y(n, i)) ? mean[i] + slope * (y(n, other) - mean[other]) : y(n, i);
            }
        }
        return Vector(sum / static_cast<double>(rows));
    };
    Matrix derivative(2, 2);
    for (Index j = 0; j < 2; ++j) derivative.col(j) = map(Vector::Unit(2, j)) - map(Vector::Zero(2));
    const Matrix sem =
        (Matrix::Identity(2, 2) - derivative).partialPivLu().solve(Matrix(covariance / static_cast<double>(rows)));
    theorem.error = relative_error(response.covariance({mu[0], mu[1]}), sem);
    return theorem;
}

// y_n is a variable whose observation has the variance ε, so that its response can be asked for.
Theorem regression_leverage(const Options& options) {
    Theorem theorem{"Regression leverage", "Cov(Xβ, Y) = ε P_X, the hat matrix, for every noise ε from 1e-6 to 10"};
    Random random(options.seed, 79);
    const Index rows = 20;
    const Matrix x = normal_matrix(rows, 3, random);
    const Vector y = x * Vector{{1.0, -0.5, 2.0}} + normal_matrix(rows, 1, random);
    const Matrix q = x.householderQr().householderQ() * Matrix::Identity(rows, 3);
    for (const double epsilon : {1e-6, 1e-3, 1.0, 10.0}) {
        ModelBuilder builder;
        const Variable<family::MvNormal> beta = builder.add("beta", flat(family::MvNormal(3)));
        std::vector<Expression> fitted;
        std::vector<Expression> latent;
        for (Index n = 0; n < rows; ++n) {
            Expression mean = x(n, 0) * beta[0];
            for (Index j = 1; j < 3; ++j) mean = mean + x(n, j) * beta[j];
            const auto response = builder.add(fmt::format("y[{}]", n + 1), normal(mean, 0.4));
            builder.observe(y[n], normal(response, 1.0 / epsilon));
            fitted.push_back(mean);
            latent.emplace_back(response);
        }
        const MultilinearModel model = builder.build();
        const LinearResponse response(model, fit(model));
        theorem.error =
            std::max(theorem.error, relative_error(response.covariance(fitted, latent), epsilon * q * q.transpose()));
    }
    return theorem;
}

}  // namespace

std::string theorems(const Options& options) {
    std::string text = "## Theorems\n\n| theorem | says | largest relative error |\n|---|---|---|\n";
    std::string csv = "theorem,largest_relative_error\n";
    double done = 0.0;
    for (const auto check : {normal_exactness, second_moments, supplemented_em, regression_leverage}) {
        const Theorem theorem = check(options);
        text += fmt::format("| {} | {} | {:.1e} |\n", theorem.name, theorem.says, theorem.error);
        csv += fmt::format("{},{}\n", theorem.name, theorem.error);
        if (options.progress) options.progress("theorems", done += 0.25);
    }
    detail::write_text(options.directory + "/theorems.csv", csv);
    return text + "\n";
}

}  // namespace lrvb::reproduce
