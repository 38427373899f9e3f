#include "likelihood/normal_expectation.hpp"

#include <Eigen/Eigenvalues>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace lrvb::detail {

namespace {

constexpr double kReach = 8.5;  // sds on either side: what is beyond adds 2e-17
constexpr int kRule = 15;
constexpr int kShortRule = 9;  // up to a sixth of the largest variance of the longer one
constexpr int kPanelRule = 20;
constexpr double kPanel = 1.0;  // sds, at most, that a panel is wide
constexpr double kRootTwo = std::numbers::sqrt2;

Derivatives softplus_derivatives(double x) {
    const double e = std::exp(-std::abs(x));
    const double larger = 1.0 / (1.0 + e);
    const double smaller = e * larger;
    const double second = larger * smaller;
    const double lean = (larger - smaller) * (x >= 0.0 ? -1.0 : 1.0);
    return {std::max(x, 0.0) + std::log1p(e), x >= 0.0 ? larger : smaller, second, second * lean,
            second * (1.0 - 6.0 * second)};
}

// With r = φ/Φ, the first derivative, d = x + r and k = 1 − r d = d': r' = −r d and k' = r(d² − k). Far below zero d
// and k come from Laplace's continued fraction, −x + 1/(−x + 2/(−x + …)) for r, where they would cancel.
Derivatives log_normal_cdf_derivatives(double x) {
    double value = 0.0;
    double r = 0.0;
    double d = 0.0;
    double k = 0.0;
    if (x > -5.0) {
        const double cdf = 0.5 * std::erfc(-x / kRootTwo);
        value = x > 0.0 ? std::log1p(-0.5 * std::erfc(x / kRootTwo)) : std::log(cdf);
        r = std::exp(-0.5 * x * x) / (std::sqrt(2.0 * std::numbers::pi) * cdf);
        d = x + r;
        k = 1.0 - r * d;
    } else {
        const double y = -x;
        double tail = y;
        for (int j = 60; j >= 3; --j) tail = y + j / tail;
        const double b2 = y + 2.0 / tail;
        d = 1.0 / b2;
        r = y + d;
        k = (2.0 / tail - d) / b2;
        value = -0.5 * x * x - 0.5 * std::log(2.0 * std::numbers::pi) - std::log(r);
    }
    const double third = r * (d * d - k);
    return {value, r, -r * d, third, r * (2.0 * d * k - third) - d * third};
}

// With u = eˣ and D = u d/du: the first derivative is b = u/(eᵘ − 1), D b = b a with a = 1 − b − u, D a = −b a − u.
Derivatives log_success_derivatives(double x) {
    if (x > 6.6) return {};  // all below 1e-300
    const double u = std::exp(x);
    const double b = u == 0.0 ? 1.0 : u / std::expm1(u);
    // 1 − b − u cancels for small u; the next term is −u⁶/30240.
    const double a = u < 0.02 ? u * (-0.5 - u * (1.0 / 12.0 - u * u / 720.0)) : 1.0 - b - u;
    const double value = u < 1e-8 ? x - 0.5 * u : (u < 0.7 ? std::log(-std::expm1(-u)) : std::log1p(-std::exp(-u)));
    const double da = -b * a - u;
    const double inner = a * a - b * a - u;
    const double inner_change = 2.0 * a * da - b * a * a - b * da - u;
    return {value, b, b * a, b * inner, b * a * inner + b * inner_change};
}

// With s = 1/(1 + x²).
Derivatives log_square_derivatives(double x) {
    const double square = x * x;
    const double s = 1.0 / (1.0 + square);
    return {std::log1p(square), 2.0 * x * s, 2.0 * (1.0 - square) * s * s, 4.0 * x * (square - 3.0) * s * s * s,
            -12.0 * (1.0 + square * (square - 6.0)) * s * s * s * s};
}

double strip(SmoothFunction function) {
    switch (function) {
        case SmoothFunction::softplus:
            return std::numbers::pi;
        case SmoothFunction::log_normal_cdf:
            return 2.81;
        case SmoothFunction::log_success:
            return 0.5 * std::numbers::pi;
        case SmoothFunction::log_square:
            return 1.0;
    }
    return 1.0;
}

const HermiteRule& rule(bool is_short) {
    static const HermiteRule kept(kRule);
    static const HermiteRule kept_short(kShortRule);
    return is_short ? kept_short : kept;
}

}  // namespace

Derivatives derivatives(SmoothFunction function, double x) {
    switch (function) {
        case SmoothFunction::softplus:
            return softplus_derivatives(x);
        case SmoothFunction::log_normal_cdf:
            return log_normal_cdf_derivatives(x);
        case SmoothFunction::log_success:
            return log_success_derivatives(x);
        case SmoothFunction::log_square:
            return log_square_derivatives(x);
    }
    return {};
}

// Golub and Welsch: the eigenvalues of the Jacobi matrix, and the squares of the first entries of its eigenvectors.
HermiteRule::HermiteRule(int count) {
    Matrix jacobi = Matrix::Zero(count, count);
    for (Index i = 1; i < count; ++i) jacobi(i, i - 1) = jacobi(i - 1, i) = std::sqrt(static_cast<double>(i));
    const Eigen::SelfAdjointEigenSolver<Matrix> solved(jacobi);
    for (Index i = 0; i < count; ++i) {
        // Symmetric, as the rule is.
        const double node = 0.5 * (solved.eigenvalues()[i] - solved.eigenvalues()[count - 1 - i]);
        const double left = solved.eigenvectors()(0, i);
        const double right = solved.eigenvectors()(0, count - 1 - i);
        nodes.push_back(node);
        weights.push_back(0.5 * (left * left + right * right));
    }
}

// The same with the Jacobi matrix of Legendre's polynomials, on [−1, 1].
LegendreRule::LegendreRule(int count) {
    Matrix jacobi = Matrix::Zero(count, count);
    for (Index i = 1; i < count; ++i) {
        const auto n = static_cast<double>(i);
        jacobi(i, i - 1) = jacobi(i - 1, i) = n / std::sqrt(4.0 * n * n - 1.0);
    }
    const Eigen::SelfAdjointEigenSolver<Matrix> solved(jacobi);
    for (Index i = 0; i < count; ++i) {
        nodes.push_back(solved.eigenvalues()[i]);
        weights.push_back(2.0 * solved.eigenvectors()(0, i) * solved.eigenvectors()(0, i));
    }
}

NormalExpectation::NormalExpectation(SmoothFunction function) : function_(function) {
    const double scale = strip(function) / std::numbers::pi;
    step_ = 0.4 * scale;
    narrow_ = 0.3 * scale * scale;
    half_count_ = static_cast<int>(std::ceil(160.0 * std::max(scale, 0.6) / step_));
    const auto size = static_cast<std::size_t>(2 * half_count_ + 1);
    table_.resize(kOrders * size);
    for (int k = -half_count_; k <= half_count_; ++k) {
        const Derivatives at = derivatives(function, k * step_);
        for (std::size_t o = 0; o < kOrders; ++o) table_[o * size + static_cast<std::size_t>(k + half_count_)] = at[o];
    }
}

Derivatives NormalExpectation::by_rule(double mean, double variance) const {
    if (variance <= 0.0) return derivatives(function_, mean);
    const double sd = std::sqrt(variance);
    const HermiteRule& used = rule(variance <= narrow_ / 6.0);
    Derivatives sums{};
    for (std::size_t k = 0; k < used.nodes.size(); ++k) {
        const Derivatives at = derivatives(function_, mean + sd * used.nodes[k]);
        for (std::size_t o = 0; o < kOrders; ++o) sums[o] += used.weights[k] * at[o];
    }
    return sums;
}

Derivatives NormalExpectation::by_grid(double mean, double variance) const {
    Derivatives sums{};
    const double sd = std::sqrt(variance);
    const double low = std::ceil((mean - kReach * sd) / step_);
    const double high = std::floor((mean + kReach * sd) / step_);
    if (!(low >= -half_count_ && high <= half_count_)) return by_panels(mean, sd);
    const auto size = static_cast<std::size_t>(2 * half_count_ + 1);
    const auto first = static_cast<std::size_t>(static_cast<int>(low) + half_count_);
    expect_table(table_.data() + first, size, static_cast<std::size_t>(high - low) + 1, low * step_, step_, mean,
                 1.0 / variance, sums.data());
    for (double& sum : sums) sum *= step_ / std::sqrt(2.0 * std::numbers::pi * variance);
    return sums;
}

// The grid has as many points as the normal is wide, and far from zero they are closer than numbers are. There the
// function is smooth over widths that grow with the distance from zero: Gauss and Legendre's rule on panels that
// double.
Derivatives NormalExpectation::by_panels(double mean, double sd) const {
    Derivatives sums{};
    if (!std::isfinite(mean) || !std::isfinite(sd)) {
        sums.fill(std::numeric_limits<double>::quiet_NaN());
        return sums;
    }
    // From where x is, or from where the mean is if zero is too far away for x to tell its points apart.
    const bool is_near = sd > 1e-8 * std::abs(mean);
    const double origin = is_near ? 0.0 : mean;
    const double centre = mean - origin;
    std::vector<double> ends;
    for (double z = -kReach; z <= kReach; z += kPanel) ends.push_back(centre + sd * z);
    const double first = ends.front();
    const double last = ends.back();
    const auto add = [&](double x) {
        if (x > first && x < last) ends.push_back(x);
    };
    if (is_near) add(0.0);
    for (double x = strip(function_); is_near && x < std::max(-first, last); x *= 2.0) {
        add(x);
        add(-x);
    }
    std::sort(ends.begin(), ends.end());
    static const LegendreRule used(kPanelRule);
    for (std::size_t panel = 0; panel + 1 < ends.size(); ++panel) {
        const double middle = 0.5 * (ends[panel] + ends[panel + 1]);
        const double half = 0.5 * (ends[panel + 1] - ends[panel]);
        for (std::size_t k = 0; k < used.nodes.size(); ++k) {
            const double place = middle + half * used.nodes[k];
            const double z = (place - centre) / sd;
            const double weight = half / sd * used.weights[k] * std::exp(-0.5 * z * z);
            const Derivatives at = derivatives(function_, origin + place);
            for (std::size_t o = 0; o < kOrders; ++o) sums[o] += weight * at[o];
        }
    }
    for (double& sum : sums) sum /= std::sqrt(2.0 * std::numbers::pi);
    return sums;
}

Derivatives NormalExpectation::operator()(double mean, double variance) const {
    return variance > narrow_ ? by_grid(mean, variance) : by_rule(mean, variance);
}

void NormalExpectation::block(const double* means, const double* variances, std::size_t rows, double* out) const {
    const auto put = [&](std::size_t row, const Derivatives& sums) {
        for (std::size_t o = 0; o < kOrders; ++o) out[o * kFieldBlock + row] = sums[o];
    };
    if (function_ != SmoothFunction::softplus) {
        for (std::size_t i = 0; i < rows; ++i) put(i, (*this)(means[i], variances[i]));
        return;
    }
    std::array<double, kFieldBlock> sds{};
    const double largest = *std::max_element(variances, variances + rows);
    for (std::size_t i = 0; i < rows; ++i) sds[i] = std::sqrt(std::clamp(variances[i], 0.0, narrow_));
    static const HermiteRule point(1);
    const HermiteRule& used = largest <= 0.0 ? point : rule(largest <= narrow_ / 6.0);
    expect_softplus(means, sds.data(), rows, used.nodes.data(), used.weights.data(), used.nodes.size(), out);
    if (largest <= narrow_) return;
    for (std::size_t i = 0; i < rows; ++i) {
        if (variances[i] > narrow_) put(i, by_grid(means[i], variances[i]));
    }
}

}  // namespace lrvb::detail
