#include "kind/regression/field/predictor_draws.hpp"

#include "sample/resampling.hpp"

#include <lrvb/sample/pareto.hpp>

#include <Eigen/QR>

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

// As many sds from their mean, in hundredths; zero where they are all the same.
Vector standardised(const Eigen::ArrayXd& values) {
    const double mean = values.mean();
    const double sd = std::sqrt((values - mean).square().mean());
    constexpr double kSame = 1e-12;  // beside the mean: its rounding
    if (!(sd > kSame * std::abs(mean))) return Vector::Zero(values.size());
    return ((values - mean) * (kDigits / sd)).round() / kDigits;
}

// The L-skewness λ₃/λ₂, which a few values that are far out do not make up, less what as many of a normal would show.
double l_skewness(Vector values) {
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

}  // namespace

StandardisedDraws standardised_draws(const CorrectionDraws& draws, const FieldVariables& variables) {
    const std::vector<Index> coefficients = variables.coefficients();
    const auto rows = static_cast<Index>(coefficients.size());
    const Index psi = variables.psi_count();
    if (rows == 0 || rows > kMostCoefficients) return {};
    std::unordered_map<std::string_view, Index> place;
    for (std::size_t v = 0; v < draws.posterior.variables.size(); ++v) {
        place.emplace(draws.posterior.variables[v].name, static_cast<Index>(v));
    }
    const Index count = std::min({kMostDraws, kNumbers / rows, draws.values.cols()});
    const std::vector<Index> chosen = resampled(weights_of(draws.log_weights), count, 0.5);
    StandardisedDraws result{Matrix(rows, count), Matrix(psi, count)};
    for (Index i = 0; i < rows + psi; ++i) {
        const Index statistic = i < rows ? coefficients[static_cast<std::size_t>(i)] : variables.first_psi() + i - rows;
        const auto found = place.find(variables.statistics()[static_cast<std::size_t>(statistic)]);
        if (found == place.end()) return {};
        const Eigen::ArrayXd own = draws.values.row(found->second)(chosen).transpose();
        if (i < rows) {
            result.coefficients.row(i) = standardised(own);
        } else {
            result.psi.row(i - rows) = standardised(own);
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

PredictorDraws::PredictorDraws(const FieldVariables& variables, const StandardisedDraws& draws,
                               const Posterior& posterior)
    : draws_(draws), place_(posterior.statistics.size(), -1) {
    if (draws.coefficients.size() == 0) return;
    const std::vector<Index> coefficients = variables.coefficients();
    std::vector<Eigen::Triplet<double>> ones;
    for (std::size_t i = 0; i < coefficients.size(); ++i) {
        place_[static_cast<std::size_t>(coefficients[i])] = static_cast<Index>(i);
        ones.emplace_back(static_cast<int>(coefficients[i]), static_cast<int>(i), 1.0);
    }
    SparseMatrix each(static_cast<Index>(posterior.statistics.size()), static_cast<Index>(coefficients.size()));
    each.setFromTriplets(ones.begin(), ones.end());
    sds_ = posterior.covariance->variances(each).cwiseMax(0.0).cwiseSqrt();

    const Index count = draws.coefficients.cols();
    lines_.resize(count, 1 + draws.psi.rows());
    lines_.col(0).setOnes();
    lines_.rightCols(draws.psi.rows()) = draws.psi.transpose();
    // ψ that goes with others, or does not move, is left to these.
    const Matrix moments = lines_.transpose() * lines_;
    fitted_ = Eigen::CompleteOrthogonalDecomposition<Matrix>(moments).solve(lines_.transpose());
    const Matrix centred = draws.psi.colwise() - draws.psi.rowwise().mean();
    precision_ = centred * centred.transpose();
}

// γ of log E r² = γ₀ + Σ γ_j ψ_j, whose information is ½ XᵀX; `rest` is divided by the sd that it has by that.
Vector PredictorDraws::log_variance_slopes(Eigen::ArrayXd& rest) const {
    constexpr int kSteps = 20;
    constexpr double kMost = 20.0;  // of a logarithm
    Vector slopes = Vector::Zero(lines_.cols());
    slopes[0] = std::log(rest.square().mean());
    for (int i = 0; i < kSteps; ++i) {
        const Eigen::ArrayXd logs = (lines_ * slopes).array().max(slopes[0] - kMost).min(slopes[0] + kMost);
        const Vector next = fitted_ * (logs + rest.square() * (-logs).exp() - 1.0).matrix();
        const double step = (next - slopes).cwiseAbs().maxCoeff();
        slopes += std::min(1.0, 1.0 / step) * (next - slopes);
        if (step < 1e-3) break;
    }
    Vector own = slopes.tail(slopes.size() - 1);
    const double surprise = 0.5 * own.dot(precision_ * own);  // χ² of as many degrees as there are slopes
    own *= surprise > 0.0 ? std::max(0.0, 1.0 - static_cast<double>(own.size()) / surprise) : 0.0;
    if (own.allFinite()) {
        rest *= (-0.5 * (lines_.rightCols(own.size()) * own).array()).exp();
    } else {
        own.setZero();
    }
    return own;
}

PredictorShape PredictorDraws::shape_of(const std::vector<std::pair<Index, double>>& combination) const {
    const Index count = draws_.coefficients.cols();
    if (count < kFewest) return {};
    Vector values = Vector::Zero(count);
    for (const auto& [statistic, factor] : combination) {
        const Index at = place_[static_cast<std::size_t>(statistic)];
        values += (factor * sds_[at]) * draws_.coefficients.row(at).transpose();
    }
    const double sd = std::sqrt((values.array() - values.mean()).square().mean());
    if (!(sd > 0.0)) return {};
    values /= sd;
    PredictorShape shape;
    Eigen::ArrayXd rest = values;
    if (draws_.psi.rows() > 0) {
        const Vector line = fitted_ * values;
        rest -= (lines_ * line).array();
        if (!(rest.square().mean() > 0.0)) return {};
        shape.mean_slopes = line.tail(line.size() - 1);
        shape.log_variance_slopes = log_variance_slopes(rest);
    }
    shape.l_skewness = l_skewness(rest.matrix());
    return shape;
}

}  // namespace lrvb::detail
