// Normal targets are exact (paper, Appendix B): the LRVB covariance of a multivariate normal is its true covariance,
// however its coordinates are split into mean-field blocks, while the mean-field covariance is not.

#include "support.hpp"

#include <lrvb/testing/response_battery.hpp>

#include <Eigen/Cholesky>
#include <Eigen/LU>
#include <fmt/format.h>

namespace lrvb {
namespace {

using test::relative_error;

struct Target {
    Vector mean;
    Matrix precision;
};

Target random_target(Index dimension, Random& random) {
    return {test::random_matrix(dimension, 1, random), test::random_precision(dimension, random)};
}

// The target as raw terms over blocks of coordinates: scalar blocks are Normal, larger ones MvNormal variables.
struct Blocked {
    MultilinearModel model;
    std::vector<Expression> coordinates;
};

Blocked block_model(const Target& target, const std::vector<Index>& blocks) {
    ModelBuilder builder;
    std::vector<Expression> x;
    for (const Index size : blocks) {
        const std::string name = fmt::format("x[{}]", x.size() + 1);
        if (size == 1) {
            x.emplace_back(builder.add(name, flat(family::Normal{})));
        } else {
            const Variable<family::MvNormal> block = builder.add(name, flat(family::MvNormal(size)));
            for (Index i = 0; i < size; ++i) x.push_back(block[i]);
        }
    }
    const Vector shift = target.precision * target.mean;
    for (std::size_t i = 0; i < x.size(); ++i) {
        builder.add_term(shift[static_cast<Index>(i)] * x[i]);
        for (std::size_t j = 0; j < x.size(); ++j) {
            builder.add_term(-0.5 * target.precision(static_cast<Index>(i), static_cast<Index>(j)) * x[i] * x[j]);
        }
    }
    return {builder.build(), x};
}

// Scalar, mixed and single blocks of one dimension.
std::vector<std::vector<Index>> splits(Index dimension) {
    std::vector<Index> mixed;
    for (Index left = dimension, size = 1; left > 0; left -= mixed.back(), size = size % 5 + 1) {
        mixed.push_back(std::min(size, left));
    }
    return {std::vector<Index>(static_cast<std::size_t>(dimension), 1), mixed, {dimension}};
}

TEST(NormalTarget, MeansAndCovarianceAreExactForEverySplitWhileMeanFieldSdsAreNot) {
    double worst_mean = 0.0;
    double worst_covariance = 0.0;
    double largest_understatement = 1.0;
    for (const Index dimension : {2, 3, 5, 8, 13, 21, 34, 60}) {
        Random random(2014, static_cast<std::uint64_t>(dimension));
        const Target target = random_target(dimension, random);
        const Matrix covariance = target.precision.llt().solve(Matrix::Identity(dimension, dimension));
        for (const std::vector<Index>& blocks : splits(dimension)) {
            const Blocked blocked = block_model(target, blocks);
            const Optimum optimum = fit(blocked.model);
            ASSERT_TRUE(optimum.converged()) << optimum.message;
            const LinearResponse response(blocked.model, optimum);

            const double mean_error = relative_error(response.mean(blocked.coordinates), target.mean);
            const double covariance_error = relative_error(response.covariance(blocked.coordinates), covariance);
            EXPECT_LT(mean_error, 1e-9) << "dimension " << dimension << ", " << blocks.size() << " blocks";
            EXPECT_LT(covariance_error, 1e-9) << "dimension " << dimension << ", " << blocks.size() << " blocks";
            worst_mean = std::max(worst_mean, mean_error);
            worst_covariance = std::max(worst_covariance, covariance_error);

            const Vector true_sd = covariance.diagonal().cwiseSqrt();
            const Vector ratio = response.mean_field_sd(blocked.coordinates).cwiseQuotient(true_sd);
            if (blocks.size() == 1) {
                EXPECT_LT((ratio.array() - 1.0).abs().maxCoeff(), 1e-9);
            } else {
                EXPECT_LT(ratio.minCoeff(), 0.95) << "mean field should understate some sd";
                EXPECT_LT(ratio.maxCoeff(), 1.0 + 1e-9) << "mean field should overstate none";
                largest_understatement = std::min(largest_understatement, ratio.minCoeff());
            }
        }
    }
    fmt::print("largest relative error: means {:.1e}, covariance {:.1e}; smallest mean-field/true sd {:.3f}\n",
               worst_mean, worst_covariance, largest_understatement);
}

TEST(NormalTarget, NewtonSolvesItInOneStep) {
    Random random(5);
    const Blocked blocked = block_model(random_target(20, random), std::vector<Index>(20, 1));
    const Optimum optimum = fit(blocked.model);
    // One step to the solution, and one more that finds nothing left to do.
    EXPECT_LE(optimum.newton_steps, 2);
}

// Paper, lemma mvn_second_moments: Σ̂ of the mean is (I − V_θ ∂η_θ/∂m_θ)⁻¹ V_θ, computed from the linear statistics
// alone.
TEST(NormalTarget, QuadraticStatisticsDoNotChangeTheCovarianceOfTheMean) {
    Random random(77);
    const Index dimension = 12;
    const Target target = random_target(dimension, random);
    for (const std::vector<Index>& blocks : splits(dimension)) {
        const Blocked blocked = block_model(target, blocks);
        const Optimum optimum = fit(blocked.model);
        const LinearResponse response(blocked.model, optimum);
        const Matrix with_quadratic = response.covariance(blocked.coordinates);

        Matrix mean_field = Matrix::Zero(dimension, dimension);
        Matrix hessian = -target.precision;  // ∂η_θ/∂m_θ off the diagonal blocks, which vanish
        Index offset = 0;
        for (const Index size : blocks) {
            mean_field.block(offset, offset, size, size) =
                target.precision.block(offset, offset, size, size).llt().solve(Matrix::Identity(size, size));
            hessian.block(offset, offset, size, size).setZero();
            offset += size;
        }
        const Matrix linear_only =
            (Matrix::Identity(dimension, dimension) - mean_field * hessian).partialPivLu().solve(mean_field);
        EXPECT_LT(relative_error(with_quadratic, linear_only), 1e-12) << blocks.size() << " blocks";
    }
}

TEST(NormalTarget, ResponseEqualsRefit) {
    Random random(31);
    const Target target = random_target(6, random);
    const Blocked blocked = block_model(target, {1, 2, 3});
    std::vector<Index> all;
    for (Index s = 0; s < blocked.model.layout().size(); ++s) all.push_back(s);
    const testing::Report report = testing::check_covariance(blocked.model, all);
    EXPECT_TRUE(report.passed()) << report.text();

    const auto build = [&](const Vector& alpha) {
        ModelBuilder builder;
        const Hyperparameter location = builder.hyperparameter("location", alpha[0]);
        const Hyperparameter precision = builder.hyperparameter("precision", alpha[1]);
        const auto a = builder.add("a", normal(location, precision));
        const auto b = builder.add("b", normal(a, 2.0 * precision));
        builder.observe(1.3, normal(2.0 * b - a, 1.5));
        return builder.build();
    };
    const testing::Report priors = testing::check_sensitivity(build, Vector{{0.7, 2.0}});
    EXPECT_TRUE(priors.passed()) << priors.text();
}

}  // namespace
}  // namespace lrvb
