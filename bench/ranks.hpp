#pragma once

#include <lrvb/types.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <string>
#include <vector>

/// Whether the ranks of true values among draws are uniform: by a chi-squared test in twenty bins, and in which way
/// they are not.
namespace lrvb::bench {

constexpr Index kRanked = 99;  // draws that the truth is ranked among
constexpr std::size_t kBins = 20;
constexpr double kLevel = 0.001;

// P(χ² > x) with an odd number of degrees of freedom: erfc √(x/2) + 2φ(√x) Σ_j x^(j − ½)/(1·3·…·(2j − 1)), up to
// j = (degrees − 1)/2.
inline double chi_squared_beyond(double x, std::size_t degrees) {
    double term = std::sqrt(x);
    double sum = 0.0;
    for (std::size_t j = 1; 2 * j < degrees; ++j) {
        sum += term;
        term *= x / static_cast<double>(2 * j + 1);
    }
    return std::erfc(std::sqrt(0.5 * x)) + std::sqrt(2.0 / std::numbers::pi) * std::exp(-0.5 * x) * sum;
}

struct RankTest {
    std::string model;
    std::string quantity;
    std::array<Index, kBins> counts{};
    double chi_squared = 0.0;
    double p = 1.0;
    double middle = 0.0;
    double spread = 0.0;
};

inline RankTest tested(std::string model, std::string quantity, const std::vector<Index>& ranks) {
    RankTest test{std::move(model), std::move(quantity)};
    const auto count = static_cast<double>(ranks.size());
    double mean = 0.0;
    double square = 0.0;
    for (const Index rank : ranks) {
        ++test.counts[static_cast<std::size_t>(rank) * kBins / (kRanked + 1)];
        const double share = (static_cast<double>(rank) + 0.5) / static_cast<double>(kRanked + 1) - 0.5;
        mean += share;
        square += share * share;
    }
    const double expected = count / static_cast<double>(kBins);
    for (const Index in_bin : test.counts) {
        test.chi_squared += std::pow(static_cast<double>(in_bin) - expected, 2) / expected;
    }
    test.p = chi_squared_beyond(test.chi_squared, kBins - 1);
    // A uniform share about its middle has the variance 1/12, and its square has 1/180.
    test.middle = mean / std::sqrt(count / 12.0);
    test.spread = (square - count / 12.0) / std::sqrt(count / 180.0);
    return test;
}

/// Prints them; whether none is too unlikely, given how many there are.
inline bool judged(const std::vector<RankTest>& tests) {
    fmt::print("\n{:<12} {:<18} {:>7} {:>9} {:>7} {:>7}\n", "model", "quantity", "chi2", "p", "middle", "spread");
    double smallest = 1.0;
    for (const RankTest& test : tests) {
        fmt::print("{:<12} {:<18} {:>7.1f} {:>9.2g} {:>7.1f} {:>7.1f}\n", test.model, test.quantity, test.chi_squared,
                   test.p, test.middle, test.spread);
        if (test.p < 0.01) fmt::print("  in each bin: {}\n", fmt::join(test.counts, " "));
        smallest = std::min(smallest, test.p);
    }
    const double corrected = std::min(1.0, smallest * static_cast<double>(tests.size()));
    fmt::print("smallest p {:.2g}; of {} tests, after Bonferroni, {:.2g} ({} fails)\n", smallest, tests.size(),
               corrected, kLevel);
    return corrected >= kLevel;
}

}  // namespace lrvb::bench
