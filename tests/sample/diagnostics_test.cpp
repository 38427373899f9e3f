// Effective sample sizes and R̂ of chains whose autocorrelation is known.

#include "sample/autocovariance.hpp"

#include <lrvb/family/random.hpp>
#include <lrvb/sample/diagnostics.hpp>

#include <gtest/gtest.h>

#include <cmath>

namespace lrvb {
namespace {

// x_t = φx_{t−1} + noise: n draws are worth n(1 − φ)/(1 + φ).
Matrix autoregressive(double phi, Index draws, Index chains, std::uint64_t seed) {
    Random random(seed);
    Matrix result(draws, chains);
    for (Index c = 0; c < chains; ++c) {
        double x = random.normal();
        for (Index t = 0; t < draws; ++t) {
            x = phi * x + std::sqrt(1.0 - phi * phi) * random.normal();
            result(t, c) = x;
        }
    }
    return result;
}

TEST(Diagnostics, AutocovariancesAreSumsOfProducts) {
    for (const Index draws : {1, 2, 7, 64, 100}) {
        const Matrix chains = autoregressive(0.9, draws, 3, 5);
        const Vector all = detail::autocovariances(chains);
        ASSERT_EQ(all.size(), draws);
        for (Index lag = 0; lag < draws; ++lag) {
            const double direct = chains.topRows(draws - lag).cwiseProduct(chains.bottomRows(draws - lag)).sum();
            EXPECT_NEAR(all[lag], direct, 1e-12 * chains.squaredNorm()) << draws << " " << lag;
        }
    }
}

TEST(Diagnostics, TheEffectiveSizeOfAnAutoregressionIsKnown) {
    for (const double phi : {0.0, 0.5, 0.9, -0.4}) {
        const double exact = 40000.0 * (1.0 - phi) / (1.0 + phi);
        EXPECT_NEAR(effective_sample_size(autoregressive(phi, 10000, 4, 3)) / exact, 1.0, 0.1) << phi;
    }
}

TEST(Diagnostics, RHatIsOneWhereChainsAgreeAndLargeWhereTheyDoNot) {
    const Matrix same = autoregressive(0.3, 1000, 4, 1);
    EXPECT_LT(split_r_hat(same), 1.01);
    Matrix shifted = same;
    shifted.col(2).array() += 1.0;
    EXPECT_GT(split_r_hat(shifted), 1.1);
    Matrix wider = same;
    wider.col(1) *= 4.0;  // the same centre: only the folded draws tell
    EXPECT_GT(split_r_hat(wider), 1.1);
    Matrix drifting = same;
    drifting.bottomRows(500).array() += 1.5;  // every chain alike: only its halves tell
    EXPECT_GT(split_r_hat(drifting), 1.1);
    // Ranks do not mind infinite variance, nor a change of units.
    EXPECT_NEAR(split_r_hat(Matrix(same.array().exp())), split_r_hat(same), 0.02);
}

TEST(Diagnostics, ChainsThatDisagreeAreWorthFewDraws) {
    Matrix chains = autoregressive(0.0, 1000, 4, 2);
    chains.col(3).array() += 5.0;
    EXPECT_LT(effective_sample_size(chains), 20.0);
}

TEST(Diagnostics, AConstantIsNoReasonForNaN) {
    EXPECT_EQ(split_r_hat(Matrix::Ones(100, 4)), 1.0);
    EXPECT_EQ(effective_sample_size(Matrix::Ones(100, 4)), 400.0);
    EXPECT_THROW(split_r_hat(Matrix::Ones(4, 4)), std::invalid_argument);
}

}  // namespace
}  // namespace lrvb
