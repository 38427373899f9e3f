// Supplemented EM (Meng & Rubin 1991; paper, section B.1): the SEM covariance I_oc⁻¹ (I − DM)⁻¹ of an EM fixed point,
// from the derivative DM of the EM map, is linear response with two blocks, the missing data and the parameters.
// Exactly so where the joint of both is normal; asymptotically otherwise.

#include "support.hpp"

#include <lrvb/testing/response_battery.hpp>

#include <Eigen/Cholesky>
#include <Eigen/LU>
#include <fmt/format.h>

#include <limits>

namespace lrvb {
namespace {

constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();

// Bivariate normal rows, with one or the other entry missing completely at random.
Matrix incomplete_rows(Index rows, std::uint64_t seed) {
    Random random(seed);
    Matrix y(rows, 2);
    for (Index n = 0; n < rows; ++n) {
        const double shared = random.normal();
        y(n, 0) = 1.0 + shared;
        y(n, 1) = -2.0 + 0.9 * shared + 0.7 * random.normal();
        const double u = random.uniform();
        if (u < 0.3) y(n, 0) = kMissing;
        if (u > 0.6) y(n, 1) = kMissing;
    }
    return y;
}

struct Moments {
    Vector mean;
    Matrix covariance;
};

// E step: expected sufficient statistics given the parameters. M step: their moments.
Moments em_map(const Matrix& y, const Moments& at) {
    Vector first = Vector::Zero(2);
    Matrix second = Matrix::Zero(2, 2);
    for (Index n = 0; n < y.rows(); ++n) {
        Vector filled = y.row(n);
        Matrix conditional = Matrix::Zero(2, 2);
        for (Index i = 0; i < 2; ++i) {
            if (!std::isnan(y(n, i))) continue;
            const Index other = 1 - i;
            const double slope = at.covariance(i, other) / at.covariance(other, other);
            filled[i] = at.mean[i] + slope * (y(n, other) - at.mean[other]);
            conditional(i, i) = at.covariance(i, i) - slope * at.covariance(i, other);
        }
        first += filled;
        second += filled * filled.transpose() + conditional;
    }
    const double rows = static_cast<double>(y.rows());
    const Vector mean = first / rows;
    return {mean, second / rows - mean * mean.transpose()};
}

template <class Precision>
void observe_incomplete(ModelBuilder& builder, const Matrix& y, const Variable<family::MvNormal>& mu,
                        const Precision& precision) {
    for (Index n = 0; n < y.rows(); ++n) {
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
}

TEST(SupplementedEm, EqualsTwoBlockLinearResponseExactlyInTheGaussianCase) {
    const Matrix y = incomplete_rows(40, 11);
    const Matrix covariance{{1.0, 0.9}, {0.9, 1.3}};
    const Matrix precision = covariance.inverse();

    ModelBuilder builder;
    const Variable<family::MvNormal> mu = builder.add("mu", flat(family::MvNormal(2)));
    observe_incomplete(builder, y, mu, precision);
    const MultilinearModel model = builder.build();
    const Optimum optimum = fit(model);
    ASSERT_TRUE(optimum.converged()) << optimum.message;
    const LinearResponse response(model, optimum);

    // EM in the mean alone, the covariance known. The map is affine, so its derivative is a plain difference.
    const auto map = [&](const Vector& mean) { return em_map(y, {mean, covariance}).mean; };
    Vector mean = Vector::Zero(2);
    for (int i = 0; i < 500; ++i) mean = map(mean);
    Matrix derivative(2, 2);
    for (Index j = 0; j < 2; ++j) derivative.col(j) = map(mean + Vector::Unit(2, j)) - map(mean);
    const Matrix complete = covariance / static_cast<double>(y.rows());  // I_oc⁻¹
    const Matrix sem = (Matrix::Identity(2, 2) - derivative).partialPivLu().solve(complete);

    EXPECT_LT(test::relative_error(response.mean({mu[0], mu[1]}), mean), 1e-12);
    EXPECT_LT(test::relative_error(response.covariance({mu[0], mu[1]}), sem), 1e-11);
    // What SEM supplements: the complete-data covariance, which is mean field's.
    EXPECT_LT(test::relative_error(response.mean_field_covariance({mu[0], mu[1]}), complete), 1e-12);
}

MultilinearModel wishart_model(const Matrix& y, const Vector& alpha) {
    ModelBuilder builder;
    const Hyperparameter location = builder.hyperparameter("location_precision", alpha[0]);
    const Hyperparameter dof = builder.hyperparameter("dof", alpha[1]);
    const Hyperparameter scale = builder.hyperparameter("inverse_scale", alpha[2]);
    const Matrix identity = Matrix::Identity(2, 2);
    const Variable<family::MvNormal> mu = builder.add("mu", mv_normal(Vector::Zero(2), scaled(location, identity)));
    const Variable<family::Wishart> lambda = builder.add("Lambda", wishart(dof, scaled(scale, identity)));
    observe_incomplete(builder, y, mu, lambda);
    return builder.build();
}

TEST(SupplementedEm, AgreesWithLinearResponseAsymptoticallyWhenTheCovarianceIsUnknown) {
    const Matrix y = incomplete_rows(4000, 12);
    const MultilinearModel model = wishart_model(y, Vector{{1e-6, 2.0, 1e-6}});
    const Optimum optimum = fit(model);
    ASSERT_TRUE(optimum.converged()) << optimum.message;
    const LinearResponse response(model, optimum);

    // EM in (μ_1, μ_2, Σ_11, Σ_12, Σ_22), its derivative by central differences.
    const auto pack = [](const Moments& moments) {
        Vector packed(5);
        packed << moments.mean, half_vector(moments.covariance);
        return packed;
    };
    const auto map = [&](const Vector& packed) {
        return pack(em_map(y, {packed.head(2), symmetric_from_half(packed.tail(3), 2)}));
    };
    Vector at(5);
    at << 0.0, 0.0, 1.0, 0.0, 1.0;
    for (int i = 0; i < 1000; ++i) at = map(at);
    Matrix derivative(5, 5);
    for (Index j = 0; j < 5; ++j) {
        derivative.col(j) = (map(at + 1e-5 * Vector::Unit(5, j)) - map(at - 1e-5 * Vector::Unit(5, j))) / 2e-5;
    }
    // Complete-data covariance: Σ/N for the mean, (Σ_ik Σ_jl + Σ_il Σ_jk)/N for the covariance.
    const Matrix covariance = symmetric_from_half(at.tail(3), 2);
    Matrix complete = Matrix::Zero(5, 5);
    complete.topLeftCorner(2, 2) = covariance;
    const Index pairs[3][2] = {{0, 0}, {0, 1}, {1, 1}};
    for (Index a = 0; a < 3; ++a) {
        for (Index b = 0; b < 3; ++b) {
            const auto [i, j] = pairs[a];
            const auto [k, l] = pairs[b];
            complete(2 + a, 2 + b) = covariance(i, k) * covariance(j, l) + covariance(i, l) * covariance(j, k);
        }
    }
    complete /= static_cast<double>(y.rows());
    const Vector sem = (Matrix::Identity(5, 5) - derivative).partialPivLu().solve(complete).diagonal().cwiseSqrt();

    Vector linear_response(5);
    linear_response << response.sd({"mu[1]", "mu[2]"}),
        response.delta_sd({"Lambda[1,1]", "Lambda[1,2]", "Lambda[2,2]"},
                          [](const Vector& lambda) { return half_vector(symmetric_from_half(lambda, 2).inverse()); });
    const Vector ratio = linear_response.cwiseQuotient(sem);
    fmt::print("LRVB sd / SEM sd: mu {:.4f} {:.4f}, Sigma {:.4f} {:.4f} {:.4f}\n", ratio[0], ratio[1], ratio[2],
               ratio[3], ratio[4]);
    EXPECT_LT((ratio.array() - 1.0).abs().maxCoeff(), 0.01);
}

TEST(SupplementedEm, ResponseEqualsRefit) {
    const Matrix y = incomplete_rows(30, 13);
    const Vector prior{{0.1, 3.0, 0.5}};
    const testing::Report covariance =
        testing::check_covariance(wishart_model(y, prior), {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10});
    EXPECT_TRUE(covariance.passed()) << covariance.text();
    const testing::Report sensitivity =
        testing::check_sensitivity([&](const Vector& alpha) { return wishart_model(y, alpha); }, prior);
    EXPECT_TRUE(sensitivity.passed()) << sensitivity.text();
}

}  // namespace
}  // namespace lrvb
