#include <lrvb/family/any_family.hpp>
#include <lrvb/family/symmetric.hpp>
#include <lrvb/testing/family_battery.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

namespace lrvb {
namespace {

using family::Bernoulli;
using family::Beta;
using family::Categorical;
using family::Dirichlet;
using family::Gamma;
using family::MvNormal;
using family::Normal;
using family::Point;
using family::Wishart;

template <Family F>
void expect_passes(const F& family, const Vector& standard) {
    const testing::Report report = testing::check_family(family, family.natural_from_standard(standard));
    EXPECT_TRUE(report.passed()) << "standard parameter " << standard.transpose() << '\n' << report.text();
}

/// Variances 1, 2, …, P times `scale`, correlations (−0.6)^|i−j|.
Matrix correlated(Index dimension, double scale) {
    Matrix matrix(dimension, dimension);
    for (Index i = 0; i < dimension; ++i) {
        for (Index j = 0; j < dimension; ++j) {
            const double correlation = std::pow(-0.6, std::abs(static_cast<double>(i - j)));
            matrix(i, j) = scale * correlation * std::sqrt(static_cast<double>((i + 1) * (j + 1)));
        }
    }
    return matrix;
}

Vector mv_normal_standard(const Vector& mean, const Matrix& covariance) {
    Vector standard(mean.size() + half_size(mean.size()));
    standard << mean, half_vector(covariance);
    return standard;
}

Vector wishart_standard(double degrees_of_freedom, const Matrix& scale) {
    Vector standard(1 + half_size(scale.rows()));
    standard << degrees_of_freedom, half_vector(scale);
    return standard;
}

TEST(Family, UnivariateFamiliesPassTheBatteryAtOrdinaryParameters) {
    for (const double mean : {-3.0, 0.0, 0.5, 20.0}) expect_passes(Normal{}, Vector{{mean, 0.7}});
    for (const double shape : {0.5, 1.0, 3.7, 50.0}) expect_passes(Gamma{}, Vector{{shape, 2.5}});
    for (const double a : {0.5, 1.0, 4.0}) expect_passes(Beta{}, Vector{{a, 2.5}});
    for (const double p : {0.01, 0.3, 0.5, 0.9}) expect_passes(Bernoulli{}, Vector{{p}});
    for (const double value : {-40.0, 0.0, 0.3, 20.0}) expect_passes(Point{}, Vector{{value}});
    for (const double value : {-40.0, 0.0, 0.3}) expect_passes(Point(1024.0), Vector{{1024.0 * value, 1024.0}});
}

TEST(Family, DirichletPassesTheBatteryAtOrdinaryParameters) {
    expect_passes(Dirichlet(2), Vector{{0.5, 3.0}});
    expect_passes(Dirichlet(3), Vector{{1.0, 1.0, 1.0}});
    expect_passes(Dirichlet(3), Vector{{2.0, 30.0, 0.7}});
    expect_passes(Dirichlet(10), Vector::LinSpaced(10, 0.3, 40.0));
}

TEST(Family, CategoricalPassesTheBatteryAtOrdinaryParameters) {
    expect_passes(Categorical(2), Vector{{0.2, 0.8}});
    expect_passes(Categorical(3), Vector{{0.5, 0.1, 0.4}});
    expect_passes(Categorical(8), Vector::LinSpaced(8, 1.0, 8.0) / 36.0);
    // η is free up to a constant: far from the chart in which its exponentials add up to one.
    const testing::Report report = testing::check_family(Categorical(3), Vector{{105.0, 104.0, 107.0}});
    EXPECT_TRUE(report.passed()) << report.text();
}

TEST(Family, MvNormalPassesTheBatteryAtOrdinaryParameters) {
    for (const Index dimension : {1, 2, 3, 5}) {
        const Vector mean = Vector::LinSpaced(dimension, -1.0, 4.0);
        expect_passes(MvNormal(dimension), mv_normal_standard(mean, correlated(dimension, 0.4)));
        expect_passes(MvNormal(dimension), mv_normal_standard(Vector::Zero(dimension), correlated(dimension, 9.0)));
    }
}

TEST(Family, WishartPassesTheBatteryAtOrdinaryParameters) {
    for (const Index dimension : {1, 2, 3, 5}) {
        const double fewest = static_cast<double>(dimension - 1);
        expect_passes(Wishart(dimension), wishart_standard(fewest + 1.5, correlated(dimension, 2.0)));
        expect_passes(Wishart(dimension), wishart_standard(fewest + 40.0, correlated(dimension, 0.1)));
    }
}

TEST(Family, ReferenceParametersPassTheBattery) {
    const auto expect_reference_passes = [](const auto& family) {
        const testing::Report report = testing::check_family(family, family.reference_natural());
        EXPECT_TRUE(report.passed()) << report.text();
    };
    expect_reference_passes(Normal{});
    expect_reference_passes(MvNormal(3));
    expect_reference_passes(Gamma{});
    expect_reference_passes(Wishart(3));
    expect_reference_passes(Dirichlet(4));
    expect_reference_passes(Beta{});
    expect_reference_passes(Bernoulli{});
    expect_reference_passes(Categorical(4));
    expect_reference_passes(Point{});
}

/// That two families are one, at natural parameters of the same density; statistics in the same order.
template <Family F, Family G>
void expect_equal(const F& f, const Vector& natural_f, const G& g, const Vector& natural_g) {
    EXPECT_TRUE(f.mean(natural_f).isApprox(g.mean(natural_g), 1e-13));
    EXPECT_TRUE(f.covariance(natural_f).isApprox(g.covariance(natural_g), 1e-13));
    EXPECT_TRUE(f.covariance_factor(natural_f).isApprox(g.covariance_factor(natural_g), 1e-13));
    EXPECT_NEAR(f.entropy(natural_f), g.entropy(natural_g), 1e-12);
    EXPECT_NEAR(f.log_partition(natural_f), g.log_partition(natural_g), 1e-12 * std::abs(g.log_partition(natural_g)));
    EXPECT_TRUE(natural_f.isApprox(natural_g, 1e-13));
    EXPECT_TRUE(f.natural_from_mean(f.mean(natural_f)).isApprox(g.natural_from_mean(g.mean(natural_g)), 1e-10));
}

TEST(Family, WishartOfDimensionOneIsGamma) {
    for (const double dof : {0.3, 2.0, 7.0, 90.0, 1e5}) {
        for (const double scale : {1e-3, 0.4, 50.0}) {
            expect_equal(Wishart(1), Wishart(1).natural_from_standard(Vector{{dof, scale}}), Gamma{},
                         Gamma{}.natural_from_standard(Vector{{0.5 * dof, 0.5 / scale}}));
        }
    }
}

TEST(Family, BetaIsDirichletOfTwoParts) {
    const Vector weights{{0.7, 12.0}};
    expect_equal(Beta{}, Beta{}.natural_from_standard(weights), Dirichlet(2),
                 Dirichlet(2).natural_from_standard(weights));
}

TEST(Family, MvNormalOfDimensionOneIsNormal) {
    const Vector standard{{-3.0, 0.7}};
    expect_equal(MvNormal(1), MvNormal(1).natural_from_standard(standard), Normal{},
                 Normal{}.natural_from_standard(standard));
}

TEST(Family, StatisticOfAValueIsTheTextbookOne) {
    EXPECT_EQ(Normal{}.statistic(Vector{{3.0}}), (Vector{{3.0, 9.0}}));
    EXPECT_EQ(MvNormal(2).statistic(Vector{{2.0, 3.0}}), (Vector{{2.0, 3.0, 4.0, 6.0, 9.0}}));
    EXPECT_EQ(Gamma{}.statistic(Vector{{2.0}}), (Vector{{2.0, std::log(2.0)}}));
    EXPECT_EQ(Beta{}.statistic(Vector{{0.25}}), (Vector{{std::log(0.25), std::log1p(-0.25)}}));
    EXPECT_EQ(Dirichlet(2).statistic(Vector{{0.25, 0.75}}), (Vector{{std::log(0.25), std::log(0.75)}}));
    EXPECT_EQ(Bernoulli{}.statistic(Vector{{1.0}}), (Vector{{1.0}}));
    EXPECT_EQ(Categorical(3).statistic(Vector{{1.0}}), (Vector{{0.0, 1.0, 0.0}}));
    // det [2 1; 1 3] = 5.
    EXPECT_TRUE(Wishart(2).statistic(Vector{{2.0, 1.0, 3.0}}).isApprox(Vector{{2.0, 1.0, 3.0, std::log(5.0)}}, 1e-15));
}

// Families with one thing wrong each. The battery must reject them, under the name of the check that the mistake
// breaks.

struct MeanOff : Gamma {
    Vector mean(const VectorView& natural) const { return Gamma::mean(natural) + Vector{{0.0, 1e-6}}; }
};

/// The paper's slip: Cov(x, x²) is 2xσ², not xσ².
struct CovarianceOfThePaper : Normal {
    Matrix covariance(const VectorView& natural) const {
        Matrix wrong = Normal::covariance(natural);
        wrong(0, 1) = wrong(1, 0) = 0.5 * wrong(0, 1);
        return wrong;
    }
};

/// The same slip where V is computed as LLᵀ: only the derivatives of the mean can tell.
struct FactorOfThePaper : Normal {
    Matrix covariance_factor(const VectorView& natural) const {
        Matrix wrong = Normal::covariance_factor(natural);
        wrong(1, 0) *= 0.5;
        return wrong;
    }
    Matrix covariance(const VectorView& natural) const {
        return covariance_factor(natural) * covariance_factor(natural).transpose();
    }
};

struct CovarianceNotSymmetric : Normal {
    Matrix covariance(const VectorView& natural) const {
        Matrix wrong = Normal::covariance(natural);
        wrong(0, 1) *= 1.0 + 1e-6;
        return wrong;
    }
};

struct FactorOff : Gamma {
    Matrix covariance_factor(const VectorView& natural) const { return 1.001 * Gamma::covariance_factor(natural); }
};

/// LLᵀ = V still, but L turned by a rotation.
struct FactorNotLower : Gamma {
    Matrix covariance_factor(const VectorView& natural) const {
        return Gamma::covariance_factor(natural) * Matrix{{0.8, 0.6}, {-0.6, 0.8}};
    }
};

struct FactorTooWide : Categorical {
    using Categorical::Categorical;
    Matrix covariance_factor(const VectorView& natural) const { return Matrix::Zero(natural.size(), natural.size()); }
};

struct EntropyWithoutItsConstant : Normal {
    double entropy(const VectorView& natural) const { return Normal::entropy(natural) - 0.5; }
};

struct LogPartitionOff : Gamma {
    double log_partition(const VectorView& natural) const {
        return Gamma::log_partition(natural) + std::log(-natural[0]);
    }
};

struct NaturalFromMeanOff : Gamma {
    Vector natural_from_mean(const VectorView& mean) const { return 1.00001 * Gamma::natural_from_mean(mean); }
};

/// Shape and scale, read where shape and rate are written.
struct NaturalFromStandardOff : Gamma {
    Vector natural_from_standard(const VectorView& standard) const {
        return Gamma::natural_from_standard(Vector{{standard[0], 1.0 / standard[1]}});
    }
};

struct NaturalFromMeanThrows : Beta {
    Vector natural_from_mean(const VectorView&) const { throw std::runtime_error("not written yet"); }
};

struct SamplerOfAnotherShape : Gamma {
    Vector sample(const VectorView& natural, Random& random) const {
        return Gamma::sample(natural + Vector{{0.0, 0.3}}, random);
    }
};

/// The right mean, with a variance 1.5 times too large.
struct SamplerTooWide : Normal {
    Vector sample(const VectorView& natural, Random& random) const { return Normal::sample(natural / 1.5, random); }
};

struct ProductOutOfRange : Normal {
    StatisticProduct product(Index, Index) const { return StatisticProduct::of(2); }
};

struct ProductIsAnotherStatistic : Categorical {
    using Categorical::Categorical;
    StatisticProduct product(Index i, Index j) const {
        return i == j ? StatisticProduct::of(0) : StatisticProduct::zero();
    }
};

struct ProductNotZero : Bernoulli {
    StatisticProduct product(Index, Index) const { return StatisticProduct::zero(); }
};

struct ProductNotSymmetric : MvNormal {
    using MvNormal::MvNormal;
    StatisticProduct product(Index i, Index j) const {
        return i > j ? StatisticProduct::none() : MvNormal::product(i, j);
    }
};

struct DomainAlwaysComplains : Gamma {
    std::string domain_error(const VectorView&) const { return "today is not a good day"; }
};

struct NamesRepeat : Dirichlet {
    using Dirichlet::Dirichlet;
    std::vector<std::string> statistic_names(const std::string& variable) const { return {variable, variable}; }
};

struct NameIsEmpty : Gamma {
    std::vector<std::string> standard_names() const { return {"shape", ""}; }
};

struct NameIsMissing : Gamma {
    std::vector<std::string> statistic_names(const std::string& variable) const { return {variable}; }
};

/// `only`: that no other check complains.
template <Family F>
void expect_rejected(const F& family, const Vector& natural, std::string_view check, bool only = true) {
    const testing::Report report = testing::check_family(family, natural);
    EXPECT_FALSE(report.passed()) << "not rejected: " << check;
    const std::string beginning = std::string(F::name) + ": " + std::string(check) + ": ";
    EXPECT_PRED_FORMAT2(::testing::IsSubstring, beginning, report.text());
    if (!only) return;
    for (const std::string& failure : report.failures()) EXPECT_EQ(failure.substr(0, beginning.size()), beginning);
}

TEST(FamilyBattery, RejectsFamiliesWithOneThingWrongUnderTheNameOfTheCheck) {
    namespace check = testing::check;
    const Vector gamma{{-0.5, 2.0}};
    const Vector normal{{2.0, -0.5}};
    const Vector labels{{0.0, 0.4, -0.3}};
    const bool others_too = false;
    expect_rejected(MeanOff{}, gamma, check::gradient, others_too);
    expect_rejected(CovarianceOfThePaper{}, normal, check::hessian, others_too);
    expect_rejected(FactorOfThePaper{}, normal, check::hessian, others_too);
    expect_rejected(CovarianceNotSymmetric{}, normal, check::factor, others_too);
    expect_rejected(FactorOff{}, gamma, check::factor);
    expect_rejected(FactorNotLower{}, gamma, check::factor, others_too);
    expect_rejected(FactorTooWide(3), labels, check::sizes);
    expect_rejected(EntropyWithoutItsConstant{}, normal, check::entropy);
    expect_rejected(LogPartitionOff{}, gamma, check::gradient, others_too);
    expect_rejected(NaturalFromMeanOff{}, gamma, check::mean);
    expect_rejected(NaturalFromMeanThrows{}, Vector{{0.5, 1.0}}, check::mean);
    expect_rejected(NaturalFromStandardOff{}, gamma, check::standard);
    expect_rejected(SamplerOfAnotherShape{}, gamma, check::samples);
    expect_rejected(SamplerTooWide{}, normal, check::samples);
    expect_rejected(ProductOutOfRange{}, normal, check::products);
    expect_rejected(ProductIsAnotherStatistic(3), labels, check::products);
    expect_rejected(ProductNotZero{}, Vector{{0.2}}, check::products);
    expect_rejected(ProductNotSymmetric(2), MvNormal(2).reference_natural(), check::products);
    expect_rejected(DomainAlwaysComplains{}, gamma, check::domain);
    expect_rejected(NamesRepeat(2), Vector{{0.0, 1.0}}, check::names);
    expect_rejected(NameIsEmpty{}, gamma, check::names);
    expect_rejected(NameIsMissing{}, gamma, check::sizes);
}

TEST(FamilyBattery, RejectsAPointOutsideTheDomainWithTheFamilysOwnReason) {
    const testing::Report report = testing::check_family(Gamma{}, Vector{{-1.0, -2.0}});
    EXPECT_PRED_FORMAT2(::testing::IsSubstring, "Gamma: domain: the natural parameter is refused: shape -1",
                        report.text());
}

TEST(FamilyBattery, SaysTheEntryAndTheTwoNumbers) {
    const testing::Report report = testing::check_family(EntropyWithoutItsConstant{}, Vector{{0.0, -0.5}});
    // The entropy of a standard normal is ½ log(2πe) = 1.4189385…
    ASSERT_EQ(report.failures().size(), 1U);
    EXPECT_PRED_FORMAT2(::testing::IsSubstring, "entropy is 0.918938533", report.failures()[0]);
    EXPECT_PRED_FORMAT2(::testing::IsSubstring, "but must be 1.418938533", report.failures()[0]);
    EXPECT_EQ(testing::check_family(Normal{}, Vector{{0.0, -0.5}}).text(), "Normal: passed");
}

TEST(Family, WrongArgumentsThrowNamingFamilyArgumentAndValue) {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    struct Case {
        std::function<void()> call;
        std::vector<std::string> says;
    };
    const std::vector<Case> cases{
        {[] {
             Normal{}.natural_from_standard(Vector{{0.0, -1.5}});
         },
         {"Normal", "variance", "-1.5"}},
        {[=] {
             Normal{}.natural_from_standard(Vector{{nan, 1.0}});
         },
         {"Normal", "mean", "nan"}},
        {[] {
             Normal{}.natural_from_mean(Vector{{2.0, 3.0}});
         },
         {"Normal", "variance", "-1"}},
        {[] { Normal{}.natural_from_standard(Vector{{1.0}}); }, {"Normal", "standard parameter", "1", "2"}},
        {[] {
             Gamma{}.natural_from_standard(Vector{{0.0, 1.0}});
         },
         {"Gamma", "shape", "0"}},
        {[] {
             Gamma{}.natural_from_standard(Vector{{1.0, -2.0}});
         },
         {"Gamma", "rate", "-2"}},
        {[] {
             Gamma{}.natural_from_mean(Vector{{1.0, 0.5}});
         },
         {"Gamma", "log of the mean less mean of the log", "-0.5"}},
        {[] { Gamma{}.statistic(Vector{{-3.0}}); }, {"Gamma", "value", "-3"}},
        {[] { MvNormal(0); }, {"MvNormal", "dimension", "0"}},
        {[] {
             MvNormal(2).natural_from_standard(Vector{{0.0, 0.0, 1.0, 2.0, 1.0}});
         },
         {"MvNormal", "covariance matrix", "not positive definite"}},
        {[] { Wishart(3).natural_from_standard(wishart_standard(1.5, Matrix::Identity(3, 3))); },
         {"Wishart", "degrees of freedom", "1.5", "2"}},
        {[] {
             Wishart(2).natural_from_standard(Vector{{5.0, 1.0, 2.0, 1.0}});
         },
         {"Wishart", "scale matrix", "not positive definite"}},
        {[] {
             Wishart(2).statistic(Vector{{1.0, 2.0, 1.0}});
         },
         {"Wishart", "value", "positive definite"}},
        {[] {
             Dirichlet(3).natural_from_standard(Vector{{1.0, -0.5, 1.0}});
         },
         {"Dirichlet", "alpha[2]", "-0.5"}},
        {[] {
             Dirichlet(2).natural_from_mean(Vector{{-0.1, -0.1}});
         },
         {"Dirichlet", "means of the logs", "1.8"}},
        {[] {
             Dirichlet(2).statistic(Vector{{0.5, 0.6}});
         },
         {"Dirichlet", "value", "1.1"}},
        {[] { Dirichlet(1); }, {"Dirichlet", "number of parts", "1"}},
        {[] {
             Beta{}.natural_from_standard(Vector{{1.0, 0.0}});
         },
         {"Beta", "b", "0"}},
        {[] {
             Beta{}.natural_from_mean(Vector{{-0.1, -0.1}});
         },
         {"Beta", "means of the logs", "1.8"}},
        {[] { Beta{}.statistic(Vector{{1.25}}); }, {"Beta", "value", "1.25"}},
        {[] { Bernoulli{}.natural_from_standard(Vector{{1.5}}); }, {"Bernoulli", "p", "1.5"}},
        {[] { Bernoulli{}.statistic(Vector{{2.0}}); }, {"Bernoulli", "value", "2"}},
        {[] {
             Categorical(2).natural_from_standard(Vector{{0.5, 0.75}});
         },
         {"Categorical", "p", "1.25"}},
        {[] { Categorical(3).statistic(Vector{{3.0}}); }, {"Categorical", "value", "3", "0 to 2"}},
        {[] {
             Categorical(3).natural_from_mean(Vector{{0.5, 0.5}});
         },
         {"Categorical", "2", "3"}},
    };
    for (const Case& wrong : cases) {
        SCOPED_TRACE(wrong.says[0] + ", " + wrong.says[1]);
        try {
            wrong.call();
            ADD_FAILURE() << "nothing was thrown";
        } catch (const std::invalid_argument& error) {
            for (const std::string& part : wrong.says) EXPECT_PRED_FORMAT2(::testing::IsSubstring, part, error.what());
        }
    }
}

TEST(Random, SameSeedAndStreamGiveTheSameNumbers) {
    Random first(7, 3);
    Random second(7, 3);
    for (int n = 0; n < 100; ++n) EXPECT_EQ(first.log_gamma(0.4), second.log_gamma(0.4));
}

TEST(Random, OtherStreamsAndSeedsGiveOtherNumbers) {
    Random here(7, 3);
    Random other_stream(7, 4);
    Random other_seed(8, 3);
    for (int n = 0; n < 100; ++n) {
        const double uniform = here.uniform();
        EXPECT_NE(uniform, other_stream.uniform());
        EXPECT_NE(uniform, other_seed.uniform());
    }
}

TEST(Random, UniformLiesInTheOpenUnitIntervalWithMeanOneHalf) {
    Random random(1);
    const int draws = 100000;
    double sum = 0.0;
    for (int n = 0; n < draws; ++n) {
        const double uniform = random.uniform();
        ASSERT_GT(uniform, 0.0);
        ASSERT_LT(uniform, 1.0);
        sum += uniform;
    }
    // Five standard errors: the variance is 1/12.
    EXPECT_NEAR(sum / draws, 0.5, 5.0 / std::sqrt(12.0 * draws));
}

}  // namespace
}  // namespace lrvb
