// Whitening by a covariance and by a sparse precision, and what the no-U-turn sampler makes of it on layouts of random
// effects.

#include "family/special.hpp"
#include "layouts.hpp"
#include "targets.hpp"

#include <lrvb/sample/diagnostics.hpp>
#include <lrvb/sample/nuts.hpp>

#include <algorithm>

namespace lrvb {
namespace {

// A chain of neighbours, on scales from 1e-3 to 1e3.
SparseMatrix banded_precision(Index size) {
    SparseMatrix result(size, size);
    const auto scale = [&](Index i) {
        return std::pow(10.0, -3.0 + 6.0 * static_cast<double>(i) / static_cast<double>(size));
    };
    for (Index i = 0; i < size; ++i) {
        result.insert(i, i) = 2.1 * scale(i) * scale(i);
        if (i + 1 < size) result.insert(i + 1, i) = -scale(i) * scale(i + 1);
    }
    result.makeCompressed();
    return result;
}

Matrix full(const SparseMatrix& lower) {
    const SparseMatrix both = lower.selfadjointView<Eigen::Lower>();
    return both;
}

Matrix factor_of(const Whitening& whitening) {
    return whitening.points(Matrix::Identity(whitening.dimension(), whitening.dimension())).colwise() -
           whitening.centre();
}

TEST(Whitening, OfACovarianceAndOfItsInverseIsARootOfIt) {
    for (const Index size : {1, 7, 150}) {
        const SparseMatrix lower = banded_precision(size);
        const Matrix precision = full(lower);
        const Matrix covariance = detail::PositiveDefinite(precision).inverse();
        const Vector centre = Vector::LinSpaced(size, 1.0, 2.0);
        const Matrix any = Matrix::Random(size, 3);
        for (const Whitening& whitening :
             {Whitening::of_covariance({centre, covariance}), Whitening::of_precision(centre, lower)}) {
            const Matrix factor = factor_of(whitening);
            EXPECT_LT((factor.transpose() * precision * factor - Matrix::Identity(size, size)).cwiseAbs().maxCoeff(),
                      1e-9);
            const Matrix pulled = factor.transpose() * any;
            EXPECT_LT(test::relative_error(whitening.gradients(any), pulled), 1e-12);
        }
    }
}

TEST(Whitening, RefusesWhatIsNotPositiveDefinite) {
    SparseMatrix precision = banded_precision(5);
    precision.coeffRef(4, 3) *= 3.0;
    EXPECT_THROW(Whitening::of_precision(Vector::Zero(5), precision), std::invalid_argument);
    precision.coeffRef(2, 2) = 0.0;
    EXPECT_THROW(Whitening::of_precision(Vector::Zero(5), precision), std::invalid_argument);
    EXPECT_THROW(Whitening::of_precision(Vector::Zero(4), banded_precision(5)), std::invalid_argument);
    EXPECT_THROW(Whitening::of_covariance({Vector::Zero(2), Matrix::Zero(2, 2)}), std::invalid_argument);
}

// Normals tied to a gamma and to a Wishart precision, a Dirichlet and a beta variable on their own.
MultilinearModel tied_families() {
    ModelBuilder builder;
    const Matrix unit = Matrix::Identity(2, 2);
    const auto x = builder.add("x", normal(0.5, 1.0));
    const auto tau = builder.add("tau", gamma(3.0, 2.0));
    const auto y = builder.add("y", mv_normal(Vector{{1.0, -2.0}}, unit));
    const auto lambda = builder.add("Lambda", wishart(5.0, unit));
    builder.add("pi", dirichlet(Vector{{3.0, 5.0, 4.0}}));
    builder.add("p", beta(4.0, 7.0));
    Random random(4);
    for (int i = 0; i < 6; ++i) {
        builder.observe(1.0 + random.normal(), normal(x, tau));
        builder.observe(standard_normals(2, random), mv_normal(y, lambda));
    }
    return builder.build();
}

// The draws are of the fit's factors, the second derivatives differences of gradients.
TEST(Whitening, OfAFitIsByTheCurvatureThatIsExpectedUnderIt) {
    const MultilinearModel model = tied_families();
    const Optimum optimum = fit(model);
    const ModelDensity density(model, optimum.state);
    const Index size = density.dimension();
    const Matrix factor = factor_of(density.whitening(optimum.state));
    const Matrix precision = detail::PositiveDefinite(Matrix(factor * factor.transpose())).inverse();
    constexpr Index kDraws = 20000;
    constexpr double kStep = 1e-4;
    Random random(1);
    Matrix sum = Matrix::Zero(size, size);
    Matrix squares = sum;
    for (Index draw = 0; draw < kDraws; ++draw) {
        Vector statistics(model.layout().size());
        for (Index j = 0; j < model.layout().variable_count(); ++j) {
            const Vector natural = model.layout().segment(optimum.state.natural, j);
            model.layout().segment(statistics, j) = std::visit(
                [&](const auto& family) { return family.sample(natural, random); }, model.layout()[j].family);
        }
        const Vector point = density.chart().point(statistics);
        Matrix around(size, 2 * size);
        around << (kStep * Matrix::Identity(size, size)).colwise() + point,
            (-kStep * Matrix::Identity(size, size)).colwise() + point;
        const Matrix gradients = density.evaluate_gradients(around, 1).gradients;
        const Matrix curvature = (gradients.rightCols(size) - gradients.leftCols(size)) / (2.0 * kStep);
        sum += curvature;
        squares += curvature.cwiseAbs2();
    }
    const Matrix mean = sum / kDraws;
    const Matrix error = ((squares / kDraws - mean.cwiseAbs2()).cwiseMax(0.0) / kDraws).cwiseSqrt();
    for (Index i = 0; i < size; ++i) {
        for (Index j = 0; j < size; ++j) {
            EXPECT_LT(std::abs(mean(i, j) - precision(i, j)), 4.5 * error(i, j) + 1e-5) << i << " " << j;
        }
    }
}

// How far means and sds of draws are from the exact ones, in their standard errors: the largest, and the root of the
// mean square, which is one where nothing but chance is at work.
struct Errors {
    double largest = 0.0;
    double typical = 0.0;
};

Errors errors_of(const NutsSample& sample, const test::ExactMoments& exact) {
    Errors errors;
    for (Index i = 0; i < exact.mean.size(); ++i) {
        const Vector values = sample.points.row(i);
        const Matrix chains = sample.by_chain(values);
        const double sd = std::sqrt((values.array() - values.mean()).square().mean());
        const double of_mean = (values.mean() - exact.mean[i]) / mean_error(chains);
        const double of_sd = (sd - exact.sd[i]) / sd_error(chains);
        errors.largest = std::max({errors.largest, std::abs(of_mean), std::abs(of_sd)});
        errors.typical += 0.5 * (of_mean * of_mean + of_sd * of_sd) / static_cast<double>(exact.mean.size());
    }
    errors.typical = std::sqrt(errors.typical);
    return errors;
}

void print(const char* what, const NutsSample& sample) {
    fmt::print("{}: {:.1f} gradients an effective draw (ess {:.0f} of {}), R-hat {:.4f}, {} diverged\n", what,
               static_cast<double>(sample.kept_gradients) / sample.ess, sample.ess, sample.points.cols(), sample.r_hat,
               sample.divergences);
}

// Discrete variables that are summed out of the density are summed out of the curvature: what is left whitens what the
// linear response makes of all of them.
TEST(Whitening, KnowsWhatSummingOutCosts) {
    ModelBuilder builder;
    Random random(5);
    const auto p = builder.add("p", beta(2.0, 2.0));
    const auto low = builder.add("low", normal(-1.0, 0.1));
    const auto high = builder.add("high", normal(1.0, 0.1));
    for (int i = 0; i < 60; ++i) {
        const auto z = builder.add(fmt::format("z[{}]", i + 1), bernoulli(p));
        const double y = (random.uniform() < 0.4 ? 1.5 : -1.5) + random.normal();
        builder.observe(y, normal(low + z * (high - low), 1.0));
    }
    const MultilinearModel model = builder.build();
    const Optimum optimum = fit(model);
    const ModelDensity density(model, optimum.state);
    const Matrix factor = factor_of(density.whitening(optimum.state));
    const Matrix covariance = density.chart().approximation(LinearResponse(model, optimum)).covariance;
    EXPECT_LT(test::relative_error(factor * factor.transpose(), covariance), 0.02);
}

// Of twice 806 numbers the largest is beyond 5 standard errors one time in a thousand; the standard errors are
// themselves estimates of some hundred draws.
TEST(OneWayLayout, OfFourHundredGroupsIsTheSameByDenseAndBySparseWhitening) {
    const test::OneWay layout(400, 5, 1);
    const Optimum optimum = fit(layout.model());
    const ModelDensity density(layout.model(), optimum.state);
    const test::ExactMoments exact = layout.exact();
    const NutsOptions options{.draws = 2000, .refinements = 0, .threads = 2};
    const auto expect = [&](const char* what, const NutsSample& sample) {
        print(what, sample);
        const Errors errors = errors_of(sample, exact);
        EXPECT_LT(errors.largest, 5.0) << what;
        EXPECT_LT(errors.typical, 1.1) << what;
        EXPECT_EQ(sample.divergences, 0) << what;
    };
    const NutsSample sparse = no_u_turn(density, density.whitening(optimum.state), options);
    expect("400 groups, sparse", sparse);
    const NutsSample dense =
        no_u_turn(density, density.chart().approximation(LinearResponse(layout.model(), optimum)), options);
    expect("400 groups, dense", dense);
    EXPECT_LT(static_cast<double>(sparse.kept_gradients), 1.5 * static_cast<double>(dense.kept_gradients));
}

// 5,003 coordinates: more than a dense covariance is made for. A hundred draws a chain say little of their own errors,
// so that the largest of 10,006 may be larger.
TEST(OneWayLayout, OfFiveThousandGroupsHasItsExactMoments) {
    const test::OneWay layout(5000, 5, 2);
    const Optimum optimum = fit(layout.model());
    const ModelDensity density(layout.model(), optimum.state);
    const NutsSample sample = no_u_turn(density, density.whitening(optimum.state),
                                        {.draws = 400, .warmup = 100, .refinements = 0, .threads = 2});
    print("5,000 groups, sparse", sample);
    const test::ExactMoments exact = layout.exact();
    const Errors errors = errors_of(sample, exact);
    EXPECT_LT(errors.typical, 1.1);
    EXPECT_LT(errors.largest, 6.0);
    for (Index i = 0; i < 3; ++i) {
        const Vector values = sample.points.row(i);
        EXPECT_LT(std::abs(values.mean() - exact.mean[i]), 4.0 * mean_error(sample.by_chain(values))) << i;
    }
    EXPECT_EQ(sample.divergences, 0);
}

// The streaming mixture's L is not linear, since its indicators have been maximised out of it: the curvature is still
// positive definite, and near that of the linear response.
TEST(Whitening, OfAMixtureIsAsGoodAsItsLinearResponse) {
    const test::FittedMixture mixture = test::old_faithful_pairs();
    const Whitening whitening = mixture.density.whitening(mixture.fit.optimum.state);
    const NutsSample dense = no_u_turn(mixture.density, mixture.approximation, {.threads = 2});
    const NutsSample sparse = no_u_turn(mixture.density, whitening, {.threads = 2});
    print("Old Faithful in two columns, dense", dense);
    print("Old Faithful in two columns, sparse", sparse);
    EXPECT_TRUE(sparse.reliable());
    EXPECT_LT(static_cast<double>(sparse.kept_gradients) / sparse.ess,
              1.5 * static_cast<double>(dense.kept_gradients) / dense.ess);
}

// Given r, the rates are Gammas; r itself is one number, by quadrature.
TEST(Pumps, HaveTheirExactMoments) {
    constexpr double kShape = 1.802;
    const Vector failures = test::read_column("pump.csv", "failures");
    const Vector hours = test::read_column("pump.csv", "thousand_hours");
    const Index pumps = failures.size();
    ModelBuilder builder;
    const auto r = builder.add("r", gamma(0.01, 1.0));
    for (Index i = 0; i < pumps; ++i) {
        const auto lambda = builder.add(fmt::format("lambda[{}]", i + 1), gamma(kShape, r));
        builder.observe(failures[i], poisson(lambda, hours[i]));
    }
    const MultilinearModel model = builder.build();
    test::WeightedMoments moments(1 + pumps);
    for (double log_r = -8.0; log_r < 5.0; log_r += 0.002) {
        const double rate = std::exp(log_r);
        double log_density = 0.01 * log_r - rate + static_cast<double>(pumps) * kShape * log_r;
        Vector mean(1 + pumps);
        Vector variance(1 + pumps);
        mean[0] = log_r;
        variance[0] = 0.0;
        for (Index i = 0; i < pumps; ++i) {
            const double shape = kShape + failures[i];
            log_density -= shape * std::log(hours[i] + rate);
            mean[1 + i] = detail::digamma(shape) - std::log(hours[i] + rate);
            variance[1 + i] = detail::trigamma(shape);
        }
        moments.add(log_density, mean, variance);
    }
    const Optimum optimum = fit(model);
    const ModelDensity density(model, optimum.state);
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
        const NutsSample sample =
            no_u_turn(density, density.chart().approximation(LinearResponse(model, optimum)), {.seed = seed});
        EXPECT_TRUE(sample.reliable());
        // Of 110 numbers the largest is beyond 4 standard errors one time in 140.
        EXPECT_LT(errors_of(sample, moments.result()).largest, 4.0) << seed;
    }
}

TEST(CrossedLayout, HasItsExactMomentsByDenseAndBySparseWhitening) {
    const test::Crossed layout(50, 1);
    const Optimum optimum = fit(layout.model());
    const ModelDensity density(layout.model(), optimum.state);
    const NormalApproximation approximation = density.chart().approximation(LinearResponse(layout.model(), optimum));
    const test::ExactMoments exact =
        layout.exact(approximation.mean.head(3), Vector(approximation.covariance.diagonal().head(3).cwiseSqrt()));
    const NutsSample dense = no_u_turn(density, approximation);
    print("crossed 50 x 50, dense", dense);
    EXPECT_LT(errors_of(dense, exact).largest, 4.0);
    EXPECT_TRUE(dense.reliable());
    const NutsSample sparse = no_u_turn(density, density.whitening(optimum.state));
    print("crossed 50 x 50, sparse", sparse);
    EXPECT_LT(errors_of(sparse, exact).largest, 4.0);
    EXPECT_TRUE(sparse.reliable());
}

// Every coordinate tenfold too narrow, but for their order the right one.
TEST(Whitening, OfTheWrongScalesIsPutRightByTheDraws) {
    const SparseMatrix right = banded_precision(50);
    const Matrix precision = full(right);
    const test::SmoothFunction target(50, [&](const Vector& u, Vector& gradient) {
        gradient = -precision * u;
        return 0.5 * gradient.dot(u);
    });
    const SparseMatrix narrow = 100.0 * right;
    const Whitening whitening = Whitening::of_precision(Vector::Zero(50), narrow);
    const NutsOptions once{.draws = 1000, .refinements = 0};
    const NutsSample before = no_u_turn(target, whitening, once);
    const std::optional<Whitening> refined = whitening.refined(before.points, before.ess);
    ASSERT_TRUE(refined.has_value());
    const NutsSample after = no_u_turn(target, *refined, once);
    EXPECT_LT(4 * after.kept_gradients, before.kept_gradients);
    const Matrix covariance = detail::PositiveDefinite(precision).inverse();
    EXPECT_LT(errors_of(after, {Vector::Zero(50), covariance.diagonal().cwiseSqrt()}).largest, 4.5);
}

TEST(Whitening, OfADimensionAndOfDrawsThatDoNotFitIsRefusedInASentence) {
    const test::SmoothFunction target(50, [](const Vector& u, Vector& gradient) {
        gradient = -u;
        return -0.5 * u.squaredNorm();
    });
    const Whitening whitening = Whitening::of_precision(Vector::Zero(50), banded_precision(50));
    try {
        no_u_turn(target, whitening, {.draws = kMostNutsNumbers / 50 + 1});
        FAIL();
    } catch (const std::invalid_argument& refusal) {
        EXPECT_NE(std::string(refusal.what()).find("draw 2684354 or fewer"), std::string::npos) << refusal.what();
    }
    EXPECT_THROW(no_u_turn(target, Whitening::of_precision(Vector::Zero(5), banded_precision(5))),
                 std::invalid_argument);
}

}  // namespace
}  // namespace lrvb
