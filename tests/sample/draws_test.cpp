// Draws that all count the same.

#include <lrvb/check/draws.hpp>
#include <lrvb/family/random.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace lrvb {
namespace {

// Weights of 1, 2, …, count, and of none for every fifth.
Check weighted(Index count, std::uint64_t seed) {
    Check check;
    check.seed = seed;
    check.values = Matrix::Zero(1, count);
    Vector weights(count);
    for (Index i = 0; i < count; ++i) weights[i] = i % 5 == 0 ? 0.0 : static_cast<double>(i + 1);
    check.log_weights = (weights / weights.sum()).array().log();
    return check;
}

TEST(EquallyWeighted, EveryDrawIsThereAsOftenAsItsWeightSays) {
    for (const std::uint64_t seed : {1, 2, 3}) {
        const Check check = weighted(1000, seed);
        const std::vector<Index> chosen = equally_weighted(check);
        ASSERT_EQ(chosen.size(), 1000U);
        for (Index i = 0; i < 1000; ++i) {
            const double wanted = 1000.0 * std::exp(check.log_weights[i]);
            const auto found = static_cast<double>(std::count(chosen.begin(), chosen.end(), i));
            EXPECT_GE(found, std::floor(wanted - 1e-9)) << i;
            EXPECT_LE(found, std::ceil(wanted + 1e-9)) << i;
        }
    }
}

TEST(EquallyWeighted, TheOrderIsRandomAndThatOfTheSeed) {
    const std::vector<Index> chosen = equally_weighted(weighted(1000, 1));
    EXPECT_EQ(equally_weighted(weighted(1000, 1)), chosen);
    EXPECT_NE(equally_weighted(weighted(1000, 2)), chosen);
    // The correlation of each with the next, of 1,000 in a random order, is 0 ± 1/√1000.
    const Vector places = Eigen::Map<const Eigen::Matrix<Index, Eigen::Dynamic, 1>>(chosen.data(), 1000).cast<double>();
    const Vector centred = places.array() - places.mean();
    const double correlation = centred.head(999).dot(centred.tail(999)) / centred.squaredNorm();
    EXPECT_LT(std::abs(correlation), 4.0 / std::sqrt(1000.0));
}

TEST(EquallyWeighted, ChainsStayAsTheyAre) {
    Check check = weighted(100, 1);
    check.chains = 4;
    std::vector<Index> all(100);
    std::iota(all.begin(), all.end(), Index{0});
    EXPECT_EQ(equally_weighted(check), all);
}

TEST(EquallyWeighted, WithoutAnyWeightThereAreNone) {
    Check check = weighted(10, 1);
    check.log_weights.setConstant(std::numeric_limits<double>::quiet_NaN());
    EXPECT_THROW(equally_weighted(check), std::invalid_argument);
    check.log_weights.setConstant(-std::numeric_limits<double>::infinity());
    EXPECT_THROW(equally_weighted(check), std::invalid_argument);
}

}  // namespace
}  // namespace lrvb
