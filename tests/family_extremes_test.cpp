#include <lrvb/family/any_family.hpp>
#include <lrvb/family/symmetric.hpp>
#include <lrvb/testing/family_battery.hpp>

#include <boost/math/constants/constants.hpp>
#include <boost/math/special_functions/digamma.hpp>
#include <boost/math/special_functions/gamma.hpp>
#include <boost/math/special_functions/trigamma.hpp>
#include <boost/multiprecision/cpp_bin_float.hpp>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

/// The families at the ends of the range they promise: the battery, and the numbers themselves against 50 digits.
namespace lrvb {
namespace {

using family::Bernoulli;
using family::Beta;
using family::Categorical;
using family::Dirichlet;
using family::Gamma;
using family::MvNormal;
using family::Normal;
using family::Wishart;

template <Family F>
void expect_passes(const F& family, const Vector& natural) {
    const testing::Report report = testing::check_family(family, natural);
    EXPECT_TRUE(report.passed()) << "natural parameter " << natural.transpose() << '\n' << report.text();
}

template <Family F>
void expect_passes_at_standard(const F& family, const Vector& standard) {
    SCOPED_TRACE(::testing::Message() << "standard parameter " << standard.transpose());
    expect_passes(family, family.natural_from_standard(standard));
}

std::vector<Vector> mixed_weights() {
    std::vector<Vector> weights{
        Vector{{1e-3, 1e9}},       Vector{{1e9, 1e-3}},       Vector{{1e-3, 1e-3, 1e9}}, Vector{{1e9, 1e-3, 1e-3}},
        Vector{{1e9, 1.0, 1e-3}},  Vector{{1e-3, 1.0, 1e9}},  Vector{{1e9, 1e9, 1e-3}},  Vector{{5.0, 1e-3}},
        Vector{{1e-3, 5.0, 1e-3}}, Vector{{30.0, 1e-3, 1e4}}, Vector{{1e-2, 1e3, 1e6}},
    };
    for (const double weight : {1e-3, 1e-2, 0.1, 1.0, 10.0, 19.99, 20.01, 1e3, 1e6, 1e9}) {
        for (const Index parts : {2, 3, 10}) weights.push_back(Vector::Constant(parts, weight));
    }
    return weights;
}

std::vector<double> shapes_from_tiny_to_huge() {
    std::vector<double> shapes{19.99, 20.01};  // on both sides of the switch to the asymptotic series
    for (int power = -3; power <= 12; ++power) shapes.push_back(std::pow(10.0, power));
    return shapes;
}

Vector wishart_standard(double degrees_of_freedom, const Matrix& scale) {
    Vector standard(1 + half_size(scale.rows()));
    standard << degrees_of_freedom, half_vector(scale);
    return standard;
}

/// Unit diagonal scaled by `scale`, correlations 0.4^|i−j|.
Matrix correlated(Index dimension, double scale) {
    Matrix matrix(dimension, dimension);
    for (Index i = 0; i < dimension; ++i) {
        for (Index j = 0; j < dimension; ++j)
            matrix(i, j) = scale * std::pow(0.4, std::abs(static_cast<double>(i - j)));
    }
    return matrix;
}

TEST(FamilyExtremes, GammaPassesTheBatteryForShapesFromOneThousandthToATrillion) {
    for (const double shape : shapes_from_tiny_to_huge()) {
        for (const double rate : {1e-6, 1.0, 1e6}) expect_passes_at_standard(Gamma{}, Vector{{shape, rate}});
    }
}

TEST(FamilyExtremes, DirichletPassesTheBatteryForWeightsFromOneThousandthToABillion) {
    for (const Vector& weights : mixed_weights()) expect_passes_at_standard(Dirichlet(weights.size()), weights);
}

TEST(FamilyExtremes, BetaPassesTheBatteryForWeightsFromOneThousandthToABillion) {
    for (const double a : {1e-3, 0.1, 1.0, 1e3, 1e9}) {
        for (const double b : {1e-3, 0.1, 1.0, 1e3, 1e9}) expect_passes_at_standard(Beta{}, Vector{{a, b}});
    }
}

TEST(FamilyExtremes, WishartPassesTheBatteryNextToTheFewestAndAtABillionDegreesOfFreedom) {
    for (const Index dimension : {1, 2, 3, 5}) {
        const double fewest = static_cast<double>(dimension - 1);
        for (const double degrees_of_freedom : {fewest + 1e-3, fewest + 1e-2, 1e9}) {
            const double scale = dimension % 2 == 0 ? 1e-6 : 1e6;
            expect_passes_at_standard(Wishart(dimension),
                                      wishart_standard(degrees_of_freedom, correlated(dimension, scale)));
        }
    }
}

TEST(FamilyExtremes, NormalPassesTheBatteryAMillionStandardDeviationsFromZero) {
    for (const double sd : {1e-6, 1.0, 1e6}) {
        for (const double sds_from_zero : {-1e6, 1e3, 1e6}) {
            expect_passes_at_standard(Normal{}, Vector{{sds_from_zero * sd, sd * sd}});
        }
    }
}

TEST(FamilyExtremes, MvNormalPassesTheBatteryAMillionStandardDeviationsFromZero) {
    Vector standard(5);
    standard << 1e6, -1e6, half_vector(correlated(2, 1.0));
    expect_passes_at_standard(MvNormal(2), standard);
}

TEST(FamilyExtremes, BernoulliPassesTheBatteryAtCertainty) {
    for (const double log_odds : {-700.0, -40.0, -12.0, 12.0, 40.0, 700.0}) {
        expect_passes(Bernoulli{}, Vector::Constant(1, log_odds));
    }
}

TEST(FamilyExtremes, CategoricalPassesTheBatteryAtCertainty) {
    for (const double log_odds : {12.0, 40.0, 300.0, 715.0, 800.0}) {
        expect_passes(Categorical(2), Vector{{0.0, -log_odds}});
        expect_passes(Categorical(2), Vector{{0.0, log_odds}});
        expect_passes(Categorical(3), Vector{{0.0, log_odds, 1.0}});
        expect_passes(Categorical(3), Vector{{0.0, -log_odds, 1.0}});
        expect_passes(Categorical(3), Vector{{0.0, log_odds, -log_odds}});
        expect_passes(Categorical(4), Vector{{-log_odds, -log_odds, 0.5, -0.5}});
    }
}

// The reference: the textbook formulas, cancelling as they please, in 50 digits. Built from the same double η.
using Wide = boost::multiprecision::cpp_bin_float_50;
using WideMatrix = std::vector<std::vector<Wide>>;

struct WideReference {
    std::vector<Wide> mean;
    WideMatrix covariance;
    Wide entropy;
};

WideReference gamma_reference(const Vector& natural) {
    const Wide shape = Wide(natural[1]) + 1;
    const Wide rate = -Wide(natural[0]);
    const Wide digamma = boost::math::digamma(shape);
    return {{shape / rate, digamma - log(rate)},
            {{shape / (rate * rate), 1 / rate}, {1 / rate, boost::math::trigamma(shape)}},
            shape - log(rate) + boost::math::lgamma(shape) + (1 - shape) * digamma};
}

WideReference dirichlet_reference(const Vector& natural) {
    const std::size_t parts = static_cast<std::size_t>(natural.size());
    std::vector<Wide> alpha(parts);
    Wide total = 0;
    for (std::size_t k = 0; k < parts; ++k) total += alpha[k] = Wide(natural[static_cast<Index>(k)]) + 1;

    WideReference reference{std::vector<Wide>(parts), WideMatrix(parts, std::vector<Wide>(parts)), 0};
    reference.entropy = -boost::math::lgamma(total);
    for (std::size_t k = 0; k < parts; ++k) {
        reference.mean[k] = boost::math::digamma(alpha[k]) - boost::math::digamma(total);
        for (Wide& entry : reference.covariance[k]) entry = -boost::math::trigamma(total);
        reference.covariance[k][k] += boost::math::trigamma(alpha[k]);
        reference.entropy += boost::math::lgamma(alpha[k]) - (alpha[k] - 1) * reference.mean[k];
    }
    return reference;
}

WideMatrix cholesky(const WideMatrix& matrix) {
    const std::size_t size = matrix.size();
    WideMatrix factor(size, std::vector<Wide>(size, Wide(0)));
    for (std::size_t j = 0; j < size; ++j) {
        for (std::size_t i = j; i < size; ++i) {
            Wide rest = matrix[i][j];
            for (std::size_t k = 0; k < j; ++k) rest -= factor[i][k] * factor[j][k];
            factor[i][j] = i == j ? Wide(sqrt(rest)) : Wide(rest / factor[j][j]);
        }
    }
    return factor;
}

struct WorstErrors {
    double mean = 0.0;
    double covariance = 0.0;
    double factor = 0.0;
    double entropy = 0.0;
};

void worsen(double& worst, double actual, const Wide& expected, const Wide& floor = 0) {
    const Wide scale = std::max<Wide>(abs(expected), floor);
    const double error =
        scale == 0 ? std::abs(actual) : static_cast<double>(Wide(abs(Wide(actual) - expected) / scale));
    worst = std::max(worst, std::isnan(error) ? HUGE_VAL : error);
}

/// Relative errors of every entry. A mean of a logarithm may cross zero: it is measured against its own sd at least. So
/// may an entropy: against one nat.
template <Family F>
void compare(const F& family, const Vector& natural, const WideReference& reference, WorstErrors& worst) {
    const Vector mean = family.mean(natural);
    const Matrix covariance = family.covariance(natural);
    const Matrix factor = family.covariance_factor(natural);
    const WideMatrix wide_factor = cholesky(reference.covariance);
    for (Index i = 0; i < family.size(); ++i) {
        const std::size_t row = static_cast<std::size_t>(i);
        worsen(worst.mean, mean[i], reference.mean[row], sqrt(reference.covariance[row][row]));
        for (Index j = 0; j < family.size(); ++j) {
            const std::size_t column = static_cast<std::size_t>(j);
            worsen(worst.covariance, covariance(i, j), reference.covariance[row][column]);
            worsen(worst.factor, factor(i, j), wide_factor[row][column]);
        }
    }
    worsen(worst.entropy, family.entropy(natural), reference.entropy, 1);
}

TEST(FamilyExtremes, GammaAgreesWithFiftyDigits) {
    WorstErrors worst;
    for (const double shape : shapes_from_tiny_to_huge()) {
        for (const double rate : {1e-6, 1e-3, 0.7, 1.0, 1e3, 1e6, shape}) {
            const Vector natural = Gamma{}.natural_from_standard(Vector{{shape, rate}});
            compare(Gamma{}, natural, gamma_reference(natural), worst);
        }
    }
    // Reached: 1.2e-15, 1.5e-16, 5.2e-16, 5.8e-15.
    EXPECT_LT(worst.mean, 1e-14);
    EXPECT_LT(worst.covariance, 1e-14);
    EXPECT_LT(worst.factor, 1e-14);
    EXPECT_LT(worst.entropy, 5e-14);
}

TEST(FamilyExtremes, DirichletAgreesWithFiftyDigits) {
    WorstErrors worst;
    for (const Vector& weights : mixed_weights()) {
        const Dirichlet dirichlet(weights.size());
        const Vector natural = dirichlet.natural_from_standard(weights);
        compare(dirichlet, natural, dirichlet_reference(natural), worst);
    }
    // Reached: 1.4e-15, 3.9e-14, 3.6e-13 (weights 5 and 0.001: differences of 1/ψ' lose three digits), 9.9e-15.
    EXPECT_LT(worst.mean, 1e-14);
    EXPECT_LT(worst.covariance, 2e-13);
    EXPECT_LT(worst.factor, 2e-12);
    EXPECT_LT(worst.entropy, 5e-14);
}

// With W = wI, in 50 digits: of log det X, the mean, the sd left when the rest of X is known, and the entropy of X.
void compare_isotropic_wishart(const Wishart& wishart, const Vector& natural, WorstErrors& worst) {
    const Index dimension = wishart.dimension();
    const Index last = natural.size() - 1;
    const Wide dof = 2 * Wide(natural[last]) + dimension + 1;
    const Wide scale = -1 / (2 * Wide(natural[0]));
    Wide mean = dimension * log(2 * scale);
    Wide log_partition =
        dof / 2 * mean + Wide(dimension * (dimension - 1)) / 4 * log(boost::math::constants::pi<Wide>());
    Wide variance = 0;
    for (Index i = 0; i < dimension; ++i) {
        const Wide shape = (dof - i) / 2;
        mean += boost::math::digamma(shape);
        variance += boost::math::trigamma(shape) - 2 / dof;
        log_partition += boost::math::lgamma(shape);
    }
    const Wide entropy = log_partition + dof * dimension / 2 - Wide(natural[last]) * mean;
    worsen(worst.mean, wishart.mean(natural)[last], mean, sqrt(variance + 2 * dimension / dof));
    worsen(worst.factor, wishart.covariance_factor(natural)(last, last), sqrt(variance));
    worsen(worst.entropy, wishart.entropy(natural), entropy, 1);
}

TEST(FamilyExtremes, WishartAgreesWithFiftyDigits) {
    WorstErrors worst;
    for (const Index dimension : {1, 2, 5}) {
        const Wishart wishart(dimension);
        const Matrix identity = Matrix::Identity(dimension, dimension);
        const double fewest = static_cast<double>(dimension - 1);
        // 0.3 is not a sum of powers of two: the shapes (ν − i)/2 are rounded.
        for (const double dof : {fewest + 1e-3, fewest + 0.3, 9.3, 45.3, 1e5 + 0.3, 1e9 + 0.3}) {
            for (const double scale : {1.0, 1.0 / dof, 1e-6}) {
                const Vector natural = wishart.natural_from_standard(wishart_standard(dof, scale * identity));
                compare_isotropic_wishart(wishart, natural, worst);
            }
        }
    }
    // Reached: 6.0e-12 (in sds, where νW = I to the last place and no better), 2.9e-16, 1.3e-15.
    EXPECT_LT(worst.mean, 2e-11);
    EXPECT_LT(worst.factor, 1e-14);
    EXPECT_LT(worst.entropy, 1e-14);
}

// The covariance of two labels with log odds η is σ(η)σ(−η)[1 −1; −1 1], whichever of them is certain.
TEST(FamilyExtremes, CategoricalKeepsTheDigitsOfASmallVariance) {
    for (const double log_odds : {-700.0, -40.0, 40.0, 700.0}) {
        const double expected = static_cast<double>(Wide(1 / ((1 + exp(Wide(log_odds))) * (1 + exp(Wide(-log_odds))))));
        const Vector natural{{0.0, log_odds}};
        const Matrix covariance = Categorical(2).covariance(natural);
        const double variance = Bernoulli{}.covariance(Vector::Constant(1, log_odds))(0, 0);
        EXPECT_NEAR(covariance(0, 0) / expected, 1.0, 1e-14) << log_odds;
        EXPECT_NEAR(covariance(0, 1) / expected, -1.0, 1e-14) << log_odds;
        EXPECT_NEAR(covariance(1, 1) / expected, 1.0, 1e-14) << log_odds;
        EXPECT_NEAR(variance / expected, 1.0, 1e-14) << log_odds;
    }
}

}  // namespace
}  // namespace lrvb
