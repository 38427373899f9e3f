#pragma once

#include <lrvb/family/family.hpp>
#include <lrvb/testing/report.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <exception>
#include <limits>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

/// The battery that every `Family` passes, at any natural parameter η inside its domain:
///
///     const family::Gamma gamma;
///     const Report report = testing::check_family(gamma, gamma.natural_from_standard(Vector{{3.0, 0.5}}));
///     EXPECT_TRUE(report.passed()) << report.text();
///
/// Run it at ordinary parameters and at the ends of the range that the family promises. With m = mean(η), V =
/// covariance(η), L = covariance_factor(η), A = log_partition, it checks, under the names in `testing::check`:
///
///   sizes       every vector and matrix has the size it must have, and rank ≤ size
///   domain      domain_error(η) is empty; also for reference_natural()
///   names       statistic and standard names are distinct and not empty
///   standard    η → standard → η' → standard: the same standard parameters, and Lᵀ(η' − η) = 0
///   mean        η → m → η' → m: the same m, and Lᵀ(η' − η) = 0
///   gradient    ∇A = m, by central differences of A
///   Hessian     ∇²A = V, by central differences of m
///   factor      LLᵀ = V with V symmetric and L lower trapezoidal
///   entropy     entropy(η) = A(η) − ηᵀm
///   samples     y = L⁺(T − m) of seeded draws T has mean 0 and covariance I
///   products    product(i, j) = product(j, i), and T_i T_j = T_k, or 0, in every draw, as the table says
///
/// What the tolerances mean. All comparisons are scale-free. Lᵀ(η' − η) is a change of η in posterior standard
/// deviations; it is blind to what the density does not depend on (a constant in the log probabilities of a
/// Categorical). Directions d are whitened: dᵀVd = 1. Where the arithmetic itself must lose digits, a check asks for no
/// more than is left: rounding m in its last place moves Lᵀη by |L⁺||m|ε, rounding A moves a difference quotient with
/// step h by |A|ε/h. The means and the standard parameters are taken to form convex sets: a parameter that rounds onto
/// the boundary (p = 1 for log odds of 40) goes back from a few units in the last place further inside.
///
/// Difference quotients take the largest step, down from 64 standard deviations, that changes the variance along d by
/// no more than 2 %, and two Romberg extrapolations. Samples are held to six standard errors, plus Bernstein's
/// allowance for rare large draws, with the fourth moments that the family itself implies (fourth derivatives of A): a
/// skewed family needs more draws for the same power, and gets up to 40 times as many as asked for.
///
/// `statistic(value)` is not checked: what a value is, only the family knows.
namespace lrvb::testing {

struct FamilyCheckOptions {
    std::uint64_t seed = 1;
    Index draws = 20000;
};

namespace check {

inline constexpr std::string_view sizes = "sizes";
inline constexpr std::string_view domain = "domain";
inline constexpr std::string_view names = "names";
inline constexpr std::string_view standard = "standard round trip";
inline constexpr std::string_view mean = "mean round trip";
inline constexpr std::string_view gradient = "mean = gradient of log partition";
inline constexpr std::string_view hessian = "covariance = Hessian of log partition";
inline constexpr std::string_view factor = "covariance = factor times its transpose";
inline constexpr std::string_view entropy = "entropy = log partition - natural * mean";
inline constexpr std::string_view samples = "samples";
inline constexpr std::string_view products = "products";

}  // namespace check

namespace detail {

inline constexpr double kEpsilon = std::numeric_limits<double>::epsilon();
/// How many roundings of its inputs a computed number may be away from the exact one.
inline constexpr double kRoundings = 64.0;

inline std::string entry(std::string_view what, Index i) {
    std::string name(what);
    return name.append("[").append(std::to_string(i + 1)).append("]");
}

inline std::string entry(std::string_view what, Index i, Index j) {
    std::string name(what);
    return name.append("[").append(std::to_string(i + 1)).append(",").append(std::to_string(j + 1)).append("]");
}

/// L⁺ for a lower trapezoidal L, by forward substitution. Row c is also the direction d with Lᵀd = e_c. Rows are zero
/// where the statistics have no variance left (to all digits: below 1e-280, where its square root no longer inverts).
inline Matrix pseudo_inverse(const Matrix& factor) {
    Matrix inverse = Matrix::Zero(factor.cols(), factor.rows());
    for (Index k = 0; k < factor.cols(); ++k) {
        if (!(factor(k, k) > 1e-140)) continue;
        inverse(k, k) = 1.0;
        inverse.row(k) -= factor.row(k).head(k) * inverse.topRows(k);
        inverse.row(k) /= factor(k, k);
    }
    return inverse;
}

/// Everything the checks compare, computed once.
template <Family F>
struct FamilyPoint {
    const F& family;
    Vector natural;
    Vector mean;
    Matrix covariance;
    Matrix factor;
    Matrix whitening;  // L⁺
    Vector sds;

    FamilyPoint(const F& checked, const Vector& at)
        : family(checked),
          natural(at),
          mean(checked.mean(at)),
          covariance(checked.covariance(at)),
          factor(checked.covariance_factor(at)),
          whitening(pseudo_inverse(factor)),
          sds(factor.rowwise().norm()) {}

    bool has_direction(Index c) const { return whitening(c, c) > 0.0; }
    Vector direction(Index c) const { return whitening.row(c).transpose(); }

    /// How far, in standard deviations, whitened quantities move when m and η are rounded in their last places.
    Vector rounding() const {
        return kRoundings * kEpsilon *
               (whitening.cwiseAbs() * mean.cwiseAbs() + factor.cwiseAbs().transpose() * natural.cwiseAbs());
    }

    /// The variance of dᵀT at η + t d, from the factor, where nothing cancels. NaN outside the domain.
    double variance_along(const Vector& d, double t) const {
        const Vector moved = natural + t * d;
        if (!family.domain_error(moved).empty()) return std::numeric_limits<double>::quiet_NaN();
        return (family.covariance_factor(moved).transpose() * d).squaredNorm();
    }

    /// The largest step in the powers of four that changes the variance along d by no more than 2 %; zero without any.
    double step_along(const Vector& d) const {
        const double here = variance_along(d, 0.0);
        for (double step = 64.0; step > 1e-290; step *= 0.25) {
            // Each by itself: the larger of a number and of none may be either.
            const double forward = std::abs(variance_along(d, step) - here);
            const double backward = std::abs(variance_along(d, -step) - here);
            if (forward <= 0.02 * here && backward <= 0.02 * here) return step;
        }
        return 0.0;
    }

    /// E(dᵀ(T − m))⁴ = 3 + κ₄, κ₄ the second derivative of the variance along d. Not below 1, where every fourth moment
    /// is.
    double fourth_moment_along(const Vector& d) const {
        const double step = step_along(d);
        const double bend = variance_along(d, step) + variance_along(d, -step) - 2.0 * variance_along(d, 0.0);
        return std::max(1.0, 3.0 + bend / step / step);
    }
};

template <Family F>
bool sizes_agree(const F& family, const Vector& natural, Report& report) {
    const Index size = family.size();
    bool agree = true;
    const auto expect = [&](std::string_view what, Index actual, Index expected) {
        if (actual == expected) return;
        agree = false;
        report.fail(check::sizes,
                    std::string(what) + " is " + std::to_string(actual) + ", but must be " + std::to_string(expected));
    };
    if (family.rank() > size) expect("rank", family.rank(), size);
    expect("length of the natural parameter", natural.size(), size);
    expect("number of statistic names", static_cast<Index>(family.statistic_names("x").size()), size);
    expect("length of reference_natural", family.reference_natural().size(), size);
    if (!agree || !family.domain_error(natural).empty()) return agree;
    Random random(1);
    expect("length of the mean", family.mean(natural).size(), size);
    expect("rows of the covariance", family.covariance(natural).rows(), size);
    expect("columns of the covariance", family.covariance(natural).cols(), size);
    expect("rows of the covariance factor", family.covariance_factor(natural).rows(), size);
    expect("columns of the covariance factor", family.covariance_factor(natural).cols(), family.rank());
    expect("length of a sample", family.sample(natural, random).size(), size);
    expect("number of standard names", static_cast<Index>(family.standard_names().size()),
           family.standard(natural).size());
    return agree;
}

template <Family F>
void check_domain(const F& family, const Vector& natural, Report& report) {
    const std::string error = family.domain_error(natural);
    if (!error.empty()) report.fail(check::domain, "the natural parameter is refused: " + error);
    const std::string reference_error = family.domain_error(family.reference_natural());
    if (!reference_error.empty()) report.fail(check::domain, "reference_natural is refused: " + reference_error);
}

inline void check_distinct(const std::vector<std::string>& names, std::string_view what, Report& report) {
    std::set<std::string> seen;
    for (std::size_t i = 0; i < names.size(); ++i) {
        const std::string which = entry(what, static_cast<Index>(i));
        if (names[i].empty()) report.fail(check::names, which + " is empty");
        if (!seen.insert(names[i]).second) report.fail(check::names, which + " is \"" + names[i] + "\" again");
    }
}

template <Family F>
void check_names(const F& family, Report& report) {
    check_distinct(family.statistic_names("x"), "statistic_names", report);
    check_distinct(family.standard_names(), "standard_names", report);
}

/// η' back from a parameter in another chart. Parameters form a convex set: one that was rounded onto its boundary, and
/// is refused, is moved inside by some units in the last place, towards an inner point.
template <class BackToNatural>
Vector natural_back(const BackToNatural& back, Vector& parameter, const Vector& inner) {
    try {
        return back(parameter);
    } catch (const std::invalid_argument&) {
        parameter += 8.0 * kEpsilon * (inner - parameter);
        return back(parameter);
    }
}

template <Family F>
void expect_same_natural(const FamilyPoint<F>& point, const Vector& back, std::string_view check, Report& report) {
    const Vector moved = point.factor.transpose() * (back - point.natural);
    const Vector rounding = point.rounding();
    for (Index c = 0; c < moved.size(); ++c) {
        const std::string which = entry("change of the natural parameter along whitened direction", c);
        report.expect_near(check, which, moved[c], 0.0, 1e-9 + rounding.norm());
    }
}

template <Family F>
void check_standard_round_trip(const FamilyPoint<F>& point, Report& report) {
    const F& family = point.family;
    Vector standard = family.standard(point.natural);
    const Vector back = natural_back([&](const Vector& s) { return family.natural_from_standard(s); }, standard,
                                     family.standard(family.reference_natural()));
    expect_same_natural(point, back, check::standard, report);
    // The floor is for entries that are zero up to rounding, such as a correlation.
    const double floor = 1e-12 * standard.cwiseAbs().maxCoeff();
    const Vector again = family.standard(back);
    for (Index i = 0; i < standard.size(); ++i) {
        report.expect_near(check::standard, entry("standard", i), again[i], standard[i],
                           floor + 1e-9 * std::abs(standard[i]));
    }
}

template <Family F>
void check_mean_round_trip(const FamilyPoint<F>& point, Report& report) {
    const F& family = point.family;
    Vector mean = point.mean;
    const Vector back = natural_back([&](const Vector& m) { return family.natural_from_mean(m); }, mean,
                                     family.mean(family.reference_natural()));
    expect_same_natural(point, back, check::mean, report);
    const Vector again = family.mean(back);
    for (Index i = 0; i < mean.size(); ++i) {
        report.expect_near(check::mean, entry("mean", i), again[i], mean[i], 1e-9 * (std::abs(mean[i]) + point.sds[i]));
    }
}

struct Derivative {
    Vector value;
    Vector error;  // what the last extrapolation changed
};

/// The derivative of t ↦ f(t) at 0 from central differences at h, h/2 and h/4 (Romberg: the error is of order h⁶).
template <class Function>
Derivative differentiate(const Function& f, double h) {
    const auto central = [&](double step) { return Vector((f(step) - f(-step)) / (2.0 * step)); };
    const std::array<Vector, 3> plain{central(h), central(0.5 * h), central(0.25 * h)};
    const Vector coarse = (4.0 * plain[1] - plain[0]) / 3.0;
    const Vector fine = (4.0 * plain[2] - plain[1]) / 3.0;
    return {(16.0 * fine - coarse) / 15.0, (fine - coarse).cwiseAbs()};
}

template <Family F>
void check_gradient_along(const FamilyPoint<F>& point, Index c, double step, Report& report) {
    const Vector d = point.direction(c);
    const auto log_partition = [&](double t) {
        return Vector::Constant(1, point.family.log_partition(point.natural + t * d)).eval();
    };
    const Derivative slope = differentiate(log_partition, step);
    const double magnitude = 1.0 + std::abs(log_partition(0.0)[0]) +
                             point.natural.cwiseAbs().dot(point.mean.cwiseAbs()) +
                             step * (step + d.cwiseAbs().dot(point.mean.cwiseAbs()));
    const double tolerance = 1e-8 + slope.error[0] + kRoundings * kEpsilon * magnitude / step;
    report.expect_near(check::gradient, entry("mean along whitened direction", c), d.dot(point.mean), slope.value[0],
                       tolerance);
}

template <Family F>
void check_hessian_along(const FamilyPoint<F>& point, Index c, double step, Report& report) {
    const Vector d = point.direction(c);
    const Derivative slope = differentiate([&](double t) { return point.family.mean(point.natural + t * d); }, step);
    const Vector expected = point.covariance * d;
    const Vector cancelled = point.covariance.cwiseAbs() * d.cwiseAbs();
    const double rounding_of_natural = point.sds.dot(point.natural.cwiseAbs());
    for (Index i = 0; i < expected.size(); ++i) {
        const double sd = point.sds[i];
        if (!(sd > 0.0)) continue;
        const double magnitude = (std::abs(point.mean[i]) / sd + rounding_of_natural) / step + cancelled[i] / sd;
        const double tolerance = 1e-8 + slope.error[i] / sd + kRoundings * kEpsilon * magnitude;
        const std::string which = entry("covariance times whitened direction " + std::to_string(c + 1) + " over sd", i);
        report.expect_near(check::hessian, which, expected[i] / sd, slope.value[i] / sd, tolerance);
    }
}

template <Family F>
void check_derivatives(const FamilyPoint<F>& point, Report& report) {
    for (Index c = 0; c < point.whitening.rows(); ++c) {
        if (!point.has_direction(c)) continue;
        const double step = point.step_along(point.direction(c));
        if (step > 0.0) {
            check_gradient_along(point, c, step, report);
            check_hessian_along(point, c, step, report);
        } else {
            report.fail(check::hessian, entry("no step keeps the variance along whitened direction", c));
        }
    }
}

template <Family F>
void check_factor(const FamilyPoint<F>& point, Report& report) {
    const Matrix product = point.factor * point.factor.transpose();
    for (Index i = 0; i < product.rows(); ++i) {
        for (Index j = 0; j < product.cols(); ++j) {
            const double tolerance = 1e-11 * point.sds[i] * point.sds[j] + std::numeric_limits<double>::min();
            report.expect_near(check::factor, entry("covariance", i, j), point.covariance(i, j), product(i, j),
                               tolerance);
            if (j < point.factor.cols() && j > i) {
                report.expect_near(check::factor, entry("factor above its diagonal", i, j), point.factor(i, j), 0.0,
                                   0.0);
            }
        }
    }
}

template <Family F>
void check_entropy(const FamilyPoint<F>& point, Report& report) {
    const double log_partition = point.family.log_partition(point.natural);
    const double magnitude = 1.0 + std::abs(log_partition) + point.natural.cwiseAbs().dot(point.mean.cwiseAbs());
    report.expect_near(check::entropy, "entropy", point.family.entropy(point.natural),
                       log_partition - point.natural.dot(point.mean), kRoundings * kEpsilon * magnitude);
}

struct SampleMoments {
    Vector mean;
    Matrix covariance;
};

template <Family F>
SampleMoments whitened_moments(const FamilyPoint<F>& point, Index draws, std::uint64_t seed) {
    Random random(seed);
    const Index rank = point.whitening.rows();
    Vector sum = Vector::Zero(rank);
    Matrix sum_of_squares = Matrix::Zero(rank, rank);
    for (Index n = 0; n < draws; ++n) {
        const Vector white = point.whitening * (point.family.sample(point.natural, random) - point.mean);
        sum += white;
        sum_of_squares.noalias() += white * white.transpose();
    }
    return {sum / static_cast<double>(draws), sum_of_squares / static_cast<double>(draws)};
}

/// Six standard errors, and Bernstein's term for summands as large as `jump`.
inline double sampling_tolerance(double variance, double jump, Index draws) {
    const double n = static_cast<double>(draws);
    return 6.0 * std::sqrt(variance / n) + 12.0 * jump / n;
}

/// A normal variable has a fourth moment of 3; at ten times that, the draws asked for begin to be too few. Where it
/// exceeds their number, the variance comes from events that no sample will show.
inline Index enough_draws(double fourth_moment, Index asked_for) {
    const double asked = static_cast<double>(asked_for);
    if (!(fourth_moment < asked)) return asked_for;
    return static_cast<Index>(asked * std::clamp(fourth_moment / 30.0, 1.0, 40.0));
}

template <Family F>
void check_samples(const FamilyPoint<F>& point, const FamilyCheckOptions& options, Report& report) {
    const Index rank = point.whitening.rows();
    Vector fourth = Vector::Zero(rank);
    for (Index c = 0; c < rank; ++c) {
        if (point.has_direction(c)) fourth[c] = point.fourth_moment_along(point.direction(c));
    }
    const Index draws = enough_draws(fourth.maxCoeff(), options.draws);
    const SampleMoments moments = whitened_moments(point, draws, options.seed);
    const Vector rounding = point.rounding();
    for (Index c = 0; c < rank; ++c) {
        if (!point.has_direction(c)) continue;
        const double tolerance = sampling_tolerance(1.0, std::sqrt(fourth[c]), draws) + rounding[c];
        report.expect_near(check::samples, entry("mean of the whitened draws", c), moments.mean[c], 0.0, tolerance);
        for (Index b = 0; b <= c; ++b) {
            if (!point.has_direction(b)) continue;
            const double product_scale = std::sqrt(fourth[b] * fourth[c]);
            const double noise = rounding[b] + rounding[c] + rounding[b] * rounding[c];
            report.expect_near(check::samples, entry("covariance of the whitened draws", c, b),
                               moments.covariance(c, b), b == c ? 1.0 : 0.0,
                               sampling_tolerance(product_scale, product_scale, draws) + noise);
        }
    }
}

template <Family F>
void check_product(const FamilyPoint<F>& point, Index i, Index j, const std::vector<Vector>& draws, Report& report) {
    using Kind = StatisticProduct::Kind;
    const StatisticProduct product = point.family.product(i, j);
    const StatisticProduct mirrored = point.family.product(j, i);
    const bool is_statistic = product.kind == Kind::statistic;
    if (product.kind != mirrored.kind || (is_statistic && product.statistic != mirrored.statistic)) {
        report.fail(check::products, entry("product", i, j) + " differs from " + entry("product", j, i));
    }
    if (product.kind == Kind::none) return;
    if (is_statistic && (product.statistic < 0 || product.statistic >= point.family.size())) {
        report.fail(check::products,
                    entry("product", i, j) + " is statistic " + std::to_string(product.statistic) + ", which is none");
        return;
    }
    for (const Vector& draw : draws) {
        const double actual = draw[i] * draw[j];
        const double expected = is_statistic ? draw[product.statistic] : 0.0;
        const double tolerance = 4.0 * kEpsilon * std::abs(actual);
        if (std::abs(actual - expected) <= tolerance) continue;
        report.expect_near(check::products, entry("product", i, j) + " of a draw", actual, expected, tolerance);
        return;
    }
}

template <Family F>
void check_products(const FamilyPoint<F>& point, const FamilyCheckOptions& options, Report& report) {
    Random random(options.seed);
    std::vector<Vector> draws;
    for (int n = 0; n < 50; ++n) draws.push_back(point.family.sample(point.natural, random));
    for (Index i = 0; i < point.family.size(); ++i) {
        for (Index j = 0; j < point.family.size(); ++j) check_product(point, i, j, draws, report);
    }
}

/// An exception out of one check is a failure of that check; the others still run.
template <class Check>
void run(std::string_view check, Report& report, const Check& body) {
    try {
        body();
    } catch (const std::exception& error) {
        report.fail(check, std::string("threw \"") + error.what() + '"');
    }
}

}  // namespace detail

/// Runs the whole battery on `family` at `natural`. A wrong size or a point outside the domain ends it early.
template <Family F>
Report check_family(const F& family, const Vector& natural, const FamilyCheckOptions& options = {}) {
    Report report{std::string(F::name)};
    bool agree = false;
    detail::run(check::sizes, report, [&] { agree = detail::sizes_agree(family, natural, report); });
    if (!agree) return report;
    detail::run(check::names, report, [&] { detail::check_names(family, report); });
    detail::check_domain(family, natural, report);
    if (!family.domain_error(natural).empty()) return report;

    const detail::FamilyPoint<F> point(family, natural);
    detail::run(check::standard, report, [&] { detail::check_standard_round_trip(point, report); });
    detail::run(check::mean, report, [&] { detail::check_mean_round_trip(point, report); });
    detail::run(check::hessian, report, [&] { detail::check_derivatives(point, report); });
    detail::run(check::factor, report, [&] { detail::check_factor(point, report); });
    detail::run(check::entropy, report, [&] { detail::check_entropy(point, report); });
    detail::run(check::samples, report, [&] { detail::check_samples(point, options, report); });
    detail::run(check::products, report, [&] { detail::check_products(point, options, report); });
    return report;
}

}  // namespace lrvb::testing
