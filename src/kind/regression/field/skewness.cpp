#include "kind/regression/field/skewness.hpp"

#include "sample/resampling.hpp"

#include <lrvb/sample/pareto.hpp>

#include <algorithm>
#include <cmath>
#include <string_view>
#include <unordered_map>

namespace lrvb::detail {

namespace {

constexpr Index kMostCoefficients = 200;
constexpr Index kNumbers = 20000;
constexpr Index kMostDraws = 1000;
constexpr double kDigits = 100.0;  // in an sd
constexpr Index kFewest = 100;

}  // namespace

Matrix standardised_draws(const CorrectionDraws& draws, const FieldVariables& variables) {
    const std::vector<Index> coefficients = variables.coefficients();
    const auto rows = static_cast<Index>(coefficients.size());
    if (rows == 0 || rows > kMostCoefficients) return {};
    std::unordered_map<std::string_view, Index> place;
    for (std::size_t v = 0; v < draws.posterior.variables.size(); ++v) {
        place.emplace(draws.posterior.variables[v].name, static_cast<Index>(v));
    }
    const Index count = std::min({kMostDraws, kNumbers / rows, draws.values.cols()});
    const std::vector<Index> chosen = resampled(weights_of(draws.log_weights), count, 0.5);
    Matrix result(rows, count);
    for (Index i = 0; i < rows; ++i) {
        const Index statistic = coefficients[static_cast<std::size_t>(i)];
        const auto found = place.find(variables.statistics()[static_cast<std::size_t>(statistic)]);
        if (found == place.end()) return {};
        Eigen::ArrayXd own(count);
        for (Index s = 0; s < count; ++s) own[s] = draws.values(found->second, chosen[static_cast<std::size_t>(s)]);
        const double mean = own.mean();
        const double sd = std::sqrt((own - mean).square().mean());
        constexpr double kSame = 1e-12;
        if (sd > kSame * std::abs(mean)) {
            result.row(i) = ((own - mean) * (kDigits / sd)).round() / kDigits;
        } else {
            result.row(i).setZero();  // held
        }
    }
    return result;
}

bool are_standardised(const Matrix& draws) {
    constexpr double kRounding = 0.05;
    for (Index i = 0; i < draws.rows(); ++i) {
        const double mean = draws.row(i).mean();
        const double square = draws.row(i).squaredNorm() / static_cast<double>(draws.cols());
        if (!(std::abs(mean) < kRounding && (square == 0.0 || std::abs(square - 1.0) < kRounding))) return false;
    }
    return true;
}

Skewness::Skewness(const FieldVariables& variables, const Matrix& draws, const Posterior& posterior)
    : draws_(draws), place_(posterior.statistics.size(), -1) {
    if (draws.size() == 0) return;
    const std::vector<Index> coefficients = variables.coefficients();
    std::vector<Eigen::Triplet<double>> ones;
    for (std::size_t i = 0; i < coefficients.size(); ++i) {
        place_[static_cast<std::size_t>(coefficients[i])] = static_cast<Index>(i);
        ones.emplace_back(static_cast<int>(coefficients[i]), static_cast<int>(i), 1.0);
    }
    SparseMatrix each(static_cast<Index>(posterior.statistics.size()), static_cast<Index>(coefficients.size()));
    each.setFromTriplets(ones.begin(), ones.end());
    sds_ = posterior.covariance->variances(each).cwiseMax(0.0).cwiseSqrt();
}

double Skewness::of(const std::vector<std::pair<Index, double>>& combination) const {
    if (draws_.cols() < kFewest) return 0.0;
    Vector values = Vector::Zero(draws_.cols());
    for (const auto& [statistic, factor] : combination) {
        const Index at = place_[static_cast<std::size_t>(statistic)];
        values += (factor * sds_[at]) * draws_.row(at).transpose();
    }
    std::sort(values.begin(), values.end());
    const auto size = static_cast<double>(values.size());
    // Probability-weighted moments b_r = E x F(x)ʳ; λ₂ = 2b₁ − b₀ and λ₃ = 6b₂ − 6b₁ + b₀.
    double b[3] = {0.0, 0.0, 0.0};
    for (Index i = 0; i < values.size(); ++i) {
        const auto below = static_cast<double>(i);
        b[0] += values[i] / size;
        b[1] += values[i] / size * below / (size - 1.0);
        b[2] += values[i] / size * below / (size - 1.0) * (below - 1.0) / (size - 2.0);
    }
    const double width = 2.0 * b[1] - b[0];
    if (!(width > 0.0)) return 0.0;
    const double skewness = (6.0 * b[2] - 6.0 * b[1] + b[0]) / width;
    const double by_chance = 4.0 * 0.1866 / size;  // two standard errors of that of a normal, squared
    return std::copysign(std::sqrt(std::max(0.0, skewness * skewness - by_chance)), skewness);
}

}  // namespace lrvb::detail
