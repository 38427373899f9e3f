// Exact posteriors as densities on unbounded parameters: Jacobians, integrals, and posteriors that are known otherwise.

#include "targets.hpp"

#include <lrvb/family/symmetric.hpp>

#include <Eigen/Cholesky>
#include <Eigen/LU>
#include <fmt/format.h>

#include <numbers>

namespace lrvb {
namespace {

using test::FittedMixture;

struct Fitted {
    explicit Fitted(const Model& model_in)
        : model(model_in),
          optimum(fit(model)),
          response(model, optimum),
          density(model, optimum.state),
          approximation(density.chart().approximation(response)) {}

    ImportanceSample sample(Index draws) const {
        return importance_sample(density, approximation, {.draws = draws, .threads = 2});
    }

    const Model& model;
    Optimum optimum;
    LinearResponse response;
    ModelDensity density;
    NormalApproximation approximation;
};

// A prior without data is a density, so it integrates to one whatever the chart is: if the Jacobians are right.
TEST(ModelDensity, PriorsOfEveryFamilyIntegrateToOne) {
    ModelBuilder builder;
    Matrix precision(2, 2);
    precision << 2.0, 0.5, 0.5, 1.0;
    builder.add("x", normal(1.5, 4.0));
    builder.add("y", mv_normal(Vector{{1.0, -2.0}}, precision));
    builder.add("tau", gamma(6.0, 2.0));
    builder.add("Lambda", wishart(12.0, precision));
    builder.add("pi", dirichlet(Vector{{3.0, 5.0, 4.0}}));
    builder.add("p", beta(4.0, 7.0));
    const MultilinearModel model = builder.build();
    const Fitted fitted(model);
    ASSERT_EQ(fitted.density.dimension(), 10);
    const ImportanceSample sample = fitted.sample(40000);
    EXPECT_TRUE(sample.reliable()) << sample.k_hat;
    EXPECT_NEAR(sample.log_integral, 0.0, 5.0 / std::sqrt(sample.ess));
    // Means of the statistics are those of the families.
    const NormalApproximation moments = weighted_moments(fitted.density.statistics(sample.points), sample.log_weights);
    const Vector sd = moments.covariance.diagonal().cwiseSqrt();
    EXPECT_LT((moments.mean - fitted.optimum.state.mean).cwiseQuotient(sd).cwiseAbs().maxCoeff(),
              5.0 / std::sqrt(sample.ess));
}

TEST(ModelDensity, TheJacobianOfAWishartEqualsADifferenceQuotient) {
    ModelBuilder builder;
    builder.add("Lambda", wishart(9.0, Matrix(Matrix::Identity(3, 3))));
    const MultilinearModel model = builder.build();
    Random random(1);
    const UnboundedChart chart(model.layout(), model.start(random));
    const Vector point{{0.3, -0.4, 0.1, 0.7, -0.2, -0.5}};
    Matrix jacobian(6, 6);
    Vector above(7);
    Vector below(7);
    for (Index i = 0; i < 6; ++i) {
        chart.statistics(point + 1e-5 * Vector::Unit(6, i), above);
        chart.statistics(point - 1e-5 * Vector::Unit(6, i), below);
        jacobian.col(i) = (above - below).head(6) / 2e-5;
    }
    Vector statistics(7);
    EXPECT_NEAR(chart.statistics(point, statistics), std::log(std::abs(jacobian.determinant())), 1e-8);
    const Matrix lambda = symmetric_from_half(statistics.head(6), 3);
    EXPECT_NEAR(statistics[6], std::log(lambda.determinant()), 1e-12);
}

// The approximation of a Wishart's chart is the delta method: here with its Jacobian by differences of the inverse map.
TEST(ModelDensity, TheApproximationOfAWishartIsTheDeltaMethod) {
    ModelBuilder builder;
    Matrix inverse_scale(2, 2);
    inverse_scale << 2.0, 0.6, 0.6, 1.0;
    builder.add("Lambda", wishart(400.0, inverse_scale));
    const MultilinearModel model = builder.build();
    const Fitted fitted(model);
    const auto coordinates = [&](const Vector& t) {
        const Matrix factor = symmetric_from_half(t, 2).llt().matrixL();
        return Vector{{std::log(factor(0, 0)), factor(1, 0), std::log(factor(1, 1))}};
    };
    const Matrix expected = fitted.response.delta_covariance(Functionals(std::vector<Index>{0, 1, 2}), coordinates);
    // Centred where the determinant is that of E log det, which for 400 degrees of freedom is nearly the same place.
    EXPECT_LT(test::relative_error(fitted.approximation.covariance, expected), 0.01);
}

TEST(ModelDensity, ModelsOfDiscreteVariablesAloneAreRefused) {
    ModelBuilder builder;
    builder.add("z", bernoulli(0.3));
    const MultilinearModel model = builder.build();
    Random random(1);
    const State state = model.start(random);
    try {
        const ModelDensity density(model, state);
        FAIL();
    } catch (const std::invalid_argument& error) {
        EXPECT_NE(std::string(error.what()).find("discrete"), std::string::npos) << error.what();
    }
}

// The batched log joint of a mixture and its expected log joint at the statistics of a value are two programs.
TEST(ModelDensity, TheBatchedMixtureEqualsItsExpectedLogJointAtAValue) {
    Random random(4);
    const Matrix rows = test::random_matrix(777, 2, random);
    Matrix weighted(777, 3);
    weighted << rows, test::random_matrix(777, 1, random).cwiseAbs();
    weighted(5, 2) = 0.0;
    for (const MixtureCovariance covariance : {MixtureCovariance::full, MixtureCovariance::diagonal}) {
        for (const bool has_weights : {false, true}) {
            MixtureSpecification specification;
            specification.components = 3;
            specification.covariance = covariance;
            specification.weighted = has_weights;
            const MixtureModel model(std::make_shared<TableSource>(has_weights ? weighted : rows), specification);
            const ModelDensity density(model, model.start(random));
            const Matrix points = 0.5 * test::random_matrix(density.dimension(), 40, random);
            const Matrix statistics = density.statistics(points);
            const Vector together = model.log_joint(statistics, 2);
            for (Index i = 0; i < points.cols(); ++i) {
                const double alone = model.expand(Vector(statistics.col(i)), Order::value).value;
                EXPECT_NEAR(together[i], alone, 1e-11 * std::abs(alone));
            }
        }
    }
}

// A single component of one column: the evidence and the moments by a grid over (μ, log τ), written by hand.
TEST(ModelDensity, ASingleComponentAgreesWithAGrid) {
    const Vector x{{1.2, 0.4, 2.2, 1.9, -0.3, 0.8, 1.1, 3.0}};
    MixtureSpecification specification;
    specification.components = 1;
    specification.prior = MixturePrior::paper(1, MixtureCovariance::full);
    const FittedMixture mixture(x, specification);
    ASSERT_EQ(mixture.density.dimension(), 2);
    double mass = 0.0;
    double first = 0.0;
    double second = 0.0;
    const double step = 0.01;
    for (double log_tau = -6.0; log_tau < 4.0; log_tau += step) {
        for (double mu = -6.0; mu < 8.0; mu += step) {
            const double tau = std::exp(log_tau);
            double value = -0.5 * mu * mu / 100.0 - 0.5 * std::log(2.0 * std::numbers::pi * 100.0);
            value += 2.0001 * std::log(0.1) - std::lgamma(2.0001) + 2.0001 * log_tau - 0.1 * tau;
            for (const double row : x) {
                value += 0.5 * log_tau - 0.5 * std::log(2.0 * std::numbers::pi) - 0.5 * tau * (row - mu) * (row - mu);
            }
            const double weight = std::exp(value) * step * step;
            mass += weight;
            first += weight * mu;
            second += weight * mu * mu;
        }
    }
    const ImportanceSample sample =
        importance_sample(mixture.density, mixture.approximation, {.draws = 40000, .threads = 2});
    EXPECT_TRUE(sample.reliable()) << sample.k_hat;
    EXPECT_NEAR(sample.log_integral, std::log(mass), 5.0 / std::sqrt(sample.ess));
    // The bound is below the evidence, and not far.
    EXPECT_LT(mixture.fit.optimum.bound, std::log(mass));
    EXPECT_GT(mixture.fit.optimum.bound, std::log(mass) - 0.5);
    const Functionals::Resolved mu = mixture.fit.model->in_data_units({"mu[1]"}).resolve(mixture.fit.model->layout());
    Matrix values = mu.weights.transpose() * mixture.density.statistics(sample.points);
    values.colwise() += mu.constants;
    const NormalApproximation moments = weighted_moments(values, sample.log_weights);
    const double mean = first / mass;
    const double sd = std::sqrt(second / mass - mean * mean);
    EXPECT_NEAR(moments.mean[0], mean, 5.0 * sd / std::sqrt(sample.ess));
    EXPECT_NEAR(std::sqrt(moments.covariance(0, 0)), sd, 5.0 * sd / std::sqrt(sample.ess));
}

// A row of weight w is w rows, and what is fixed stays where it is.
TEST(ModelDensity, WeightsCountRowsAndFixedPartsAreNotSampled) {
    const Vector x = test::three_component_rows(100, 3);
    Matrix weighted(100, 2);
    weighted << x, Vector::Constant(100, 2.0);
    Vector twice(200);
    twice << x, x;
    MixtureSpecification specification;
    specification.components = 3;
    specification.prior = MixturePrior::paper(1, MixtureCovariance::full);
    const MixtureModel plain(std::make_shared<TableSource>(twice), specification);
    specification.weighted = true;
    const MixtureModel counted(std::make_shared<TableSource>(weighted), specification);
    Random random(7);
    State state = plain.start(random);
    const ModelDensity one(plain, state);
    const ModelDensity other(counted, state);
    const Matrix points = 0.3 * test::random_matrix(one.dimension(), 5, random);
    EXPECT_LT(test::relative_error(one.evaluate(points, 1), other.evaluate(points, 1)), 1e-12);

    MixtureFitOptions options;
    options.fixed.weights = Vector{{0.3, 0.4, 0.3}};
    specification.weighted = false;
    const FittedMixture fixed(twice, specification, options);
    EXPECT_EQ(fixed.density.dimension(), 6);
    const Matrix statistics = fixed.density.statistics(fixed.approximation.mean);
    // Components come out ordered, and the weights with them.
    EXPECT_TRUE(statistics.col(0).head(3) == fixed.fit.optimum.state.mean.head(3));
    EXPECT_NEAR(std::exp(statistics.col(0).head(3).maxCoeff()), 0.4, 1e-12);
    EXPECT_TRUE(importance_sample(fixed.density, fixed.approximation).reliable());
}

// Given τ the coefficients are normal, with closed moments and a closed likelihood of τ: what is left is one integral.
TEST(ModelDensity, ARegressionAgreesWithQuadrature) {
    RegressionDesign design;
    design.response = "mpg";
    design.names = {"wt", "hp"};
    design.terms = {{"wt"}, {"hp"}};
    design.y = test::read_column("mtcars.csv", "mpg");
    design.columns.resize(32, 2);
    design.columns << test::read_column("mtcars.csv", "wt"), test::read_column("mtcars.csv", "hp");
    RegressionPrior prior = RegressionPrior::automatic(design);
    prior.variance[0] = 4.0;  // a prior that matters
    prior.mean[0] = -2.0;
    const RegressionModel model(design, prior);
    const Fitted fitted(model);
    const ImportanceSample sample = fitted.sample(20000);
    EXPECT_TRUE(sample.reliable()) << sample.k_hat;

    Matrix columns(32, 3);
    columns << Vector::Ones(32), design.columns.rowwise() - design.columns.colwise().mean();
    const Vector prior_mean{{prior.intercept_mean, prior.mean[0], prior.mean[1]}};
    const Vector prior_variance{{prior.intercept_variance, prior.variance[0], prior.variance[1]}};
    double mass = 0.0;
    Vector first = Vector::Zero(4);
    Vector second = Vector::Zero(4);
    double largest = -1e300;
    for (int round = 0; round < 2; ++round) {
        mass = 0.0;
        for (double log_tau = -5.0; log_tau < 1.0; log_tau += 0.005) {
            const double tau = std::exp(log_tau);
            const Matrix marginal =
                Matrix(columns * prior_variance.asDiagonal() * columns.transpose()) + Matrix::Identity(32, 32) / tau;
            const Eigen::LLT<Matrix> cholesky(marginal);
            const Vector residual = design.y - columns * prior_mean;
            const Matrix lower = cholesky.matrixL();
            const double value = -lower.diagonal().array().log().sum() - 0.5 * residual.dot(cholesky.solve(residual)) -
                                 16.0 * std::log(2.0 * std::numbers::pi) + prior.shape * std::log(prior.rate) -
                                 std::lgamma(prior.shape) + prior.shape * log_tau - prior.rate * tau;
            if (round == 0) {
                largest = std::max(largest, value);
                continue;
            }
            const Matrix precision =
                tau * columns.transpose() * columns + Matrix(prior_variance.cwiseInverse().asDiagonal());
            const Matrix covariance = precision.inverse();
            const Vector mean =
                covariance * (tau * columns.transpose() * design.y + prior_mean.cwiseQuotient(prior_variance));
            const double weight = std::exp(value - largest) * 0.005;
            mass += weight;
            first.head(3) += weight * mean;
            second.head(3) += weight * (mean.cwiseAbs2() + covariance.diagonal());
            first[3] += weight * log_tau;
            second[3] += weight * log_tau * log_tau;
        }
    }
    const Vector mean = first / mass;
    const Vector sd = (second / mass - mean.cwiseAbs2()).cwiseSqrt();
    EXPECT_NEAR(sample.log_integral, std::log(mass) + largest, 5.0 / std::sqrt(sample.ess));

    const Functionals::Resolved asked = model.coefficients().resolve(model.layout());
    const Functionals::Resolved log_tau = model.in_data_units({"log_tau"}).resolve(model.layout());
    const Matrix statistics = fitted.density.statistics(sample.points);
    Matrix values(4, statistics.cols());
    values.topRows(3) = (asked.weights.transpose() * statistics).colwise() + asked.constants;
    values.bottomRows(1) = (log_tau.weights.transpose() * statistics).colwise() + log_tau.constants;
    const NormalApproximation moments = weighted_moments(values, sample.log_weights);
    EXPECT_LT((moments.mean - mean).cwiseQuotient(sd).cwiseAbs().maxCoeff(), 5.0 / std::sqrt(sample.ess));
    const Vector ratio = moments.covariance.diagonal().cwiseSqrt().cwiseQuotient(sd);
    EXPECT_LT((ratio.array() - 1.0).abs().maxCoeff(), 5.0 / std::sqrt(sample.ess));
}

// The general model: ten rates and the one that they share, whose exact moments are known by quadrature
// (tests/pump_test.cpp).
TEST(ModelDensity, ThePumpsAgreeWithQuadrature) {
    const Vector failures = test::read_column("pump.csv", "failures");
    const Vector hours = test::read_column("pump.csv", "thousand_hours");
    ModelBuilder builder;
    const auto r = builder.add("r", gamma(0.01, 1.0));
    for (Index i = 0; i < failures.size(); ++i) {
        const auto lambda = builder.add(fmt::format("lambda[{}]", i + 1), gamma(1.802, r));
        builder.observe(failures[i], poisson(lambda, hours[i]));
    }
    const MultilinearModel model = builder.build();
    const Fitted fitted(model);
    const ImportanceSample sample = fitted.sample(40000);
    EXPECT_TRUE(sample.reliable()) << sample.k_hat;
    const Matrix values = fitted.density.statistics(sample.points).topRows(1);
    const NormalApproximation moments = weighted_moments(values, sample.log_weights);
    fmt::print("pumps: mean {:.4f}, sd {:.4f}, k {:.2f}, ess {:.0f}\n", moments.mean[0],
               std::sqrt(moments.covariance(0, 0)), sample.k_hat, sample.ess);
    EXPECT_NEAR(moments.mean[0], 2.47097, 5.0 * 0.71325 / std::sqrt(sample.ess));
    EXPECT_NEAR(std::sqrt(moments.covariance(0, 0)), 0.71325, 5.0 * 0.71325 / std::sqrt(sample.ess));
}

// What draws a point must not decide about its discrete variables as well.
TEST(ModelDensity, DiscreteVariablesHaveTheirMeansForAnySeed) {
    ModelBuilder builder;
    const auto p = builder.add("p", beta(1.5, 2.5));
    builder.add("z", bernoulli(p));
    const MultilinearModel model = builder.build();
    const Fitted fitted(model);
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
        const ImportanceSample sample =
            importance_sample(fitted.density, fitted.approximation, {.draws = 50000, .seed = seed});
        const Matrix values = fitted.density.statistics(sample.points).bottomRows(1);
        EXPECT_NEAR(weighted_moments(values, sample.log_weights).mean[0], 0.375, 0.01) << seed;
    }
}

// Three observations, each with a label of its own, and a switch: what is left is the sum over all sixteen values.
TEST(ModelDensity, DiscreteVariablesAreSummedOut) {
    ModelBuilder builder;
    const auto pi = builder.add("pi", dirichlet(Vector{{2.0, 3.0}}));
    const auto mu = builder.add("mu", normal(0.0, 0.5));
    const auto nu = builder.add("nu", normal(1.0, 0.5));
    const auto tau = builder.add("tau", gamma(3.0, 2.0));
    const std::vector<double> observed{0.3, 1.9, -0.4};
    for (std::size_t i = 0; i < observed.size(); ++i) {
        const auto z = builder.add(fmt::format("z[{}]", i), categorical(pi));
        builder.observe(observed[i], mixture(z, {normal(mu, tau), normal(nu, tau)}));
    }
    const auto on = builder.add("on", bernoulli(0.3));
    builder.observe(0.7, normal(mu + on, 2.0));
    const MultilinearModel model = builder.build();
    Random random(3);
    const State state = model.start(random);
    const ModelDensity density(model, state);
    ASSERT_EQ(density.chart().discrete().size(), 4U);
    const Vector point = standard_normals(density.dimension(), random);
    Vector statistics(model.layout().size());
    const double log_jacobian = density.chart().statistics(point, statistics);
    double sum = 0.0;
    double first_is_one = 0.0;
    for (int labels = 0; labels < 16; ++labels) {
        for (std::size_t j = 0; j < 4; ++j) {
            const double value = (labels >> j) % 2;
            Eigen::Ref<Vector> own = model.layout().segment(statistics, density.chart().discrete()[j]);
            if (own.size() == 2) own = Vector{{1.0 - value, value}};
            if (own.size() == 1) own[0] = value;
        }
        const double term = std::exp(model.log_joint(statistics, 1)[0]);
        sum += term;
        if (labels % 2 == 1) first_is_one += term;
    }
    EXPECT_NEAR(density.evaluate(point, 1)[0], std::log(sum) + log_jacobian, 1e-10);
    const DensityGradients there = density.evaluate_gradients(point, 1);
    EXPECT_NEAR(there.values[0], std::log(sum) + log_jacobian, 1e-10);
    for (Index i = 0; i < point.size(); ++i) {
        const Vector step = 1e-4 * Vector::Unit(point.size(), i);
        const double quotient = (density.evaluate(point + step, 1)[0] - density.evaluate(point - step, 1)[0]) / 2e-4;
        EXPECT_NEAR(there.gradients(i, 0), quotient, 1e-6 * std::max(1.0, std::abs(quotient)));
    }
    // Drawn given the others.
    const Index draws = 20000;
    const Matrix drawn = density.statistics(point.replicate(1, draws));
    const double share = drawn.row(model.layout()[density.chart().discrete()[0]].offset + 1).mean();
    const double exact = first_is_one / sum;
    EXPECT_NEAR(share, exact, 4.5 * std::sqrt(exact * (1.0 - exact) / static_cast<double>(draws)));
}

// Two switches of one mean: the sum over all four, though neither can be summed out by itself.
TEST(ModelDensity, FewDiscreteVariablesThatDependOnEachOtherAreSummedOutTogether) {
    ModelBuilder builder;
    const auto mu = builder.add("mu", normal(0.0, 1.0));
    const auto one = builder.add("one", bernoulli(0.3));
    const auto other = builder.add("other", bernoulli(0.6));
    builder.observe(0.7, normal(mu + one + other, 1.0));
    const MultilinearModel model = builder.build();
    Random random(1);
    const ModelDensity density(model, model.start(random));
    const auto normal_at = [](double x) { return std::exp(-0.5 * x * x) / std::sqrt(2.0 * std::numbers::pi); };
    const double mean = 0.4;
    double sum = 0.0;
    for (const double a : {0.0, 1.0}) {
        for (const double b : {0.0, 1.0}) {
            sum += (a > 0.0 ? 0.3 : 0.7) * (b > 0.0 ? 0.6 : 0.4) * normal_at(mean) * normal_at(0.7 - mean - a - b);
        }
    }
    EXPECT_NEAR(density.evaluate(Vector{{mean}}, 1)[0], std::log(sum), 1e-12);
}

TEST(ModelDensity, ManyDiscreteVariablesThatDependOnEachOtherAreRefusedByName) {
    ModelBuilder builder;
    const auto mu = builder.add("mu", normal(0.0, 1.0));
    Expression sum = mu;
    for (int i = 0; i < 8; ++i) sum += builder.add(fmt::format("on[{}]", i), bernoulli(0.3));
    builder.observe(0.7, normal(sum, 1.0));
    const MultilinearModel model = builder.build();
    Random random(1);
    const State state = model.start(random);
    try {
        const ModelDensity density(model, state);
        FAIL();
    } catch (const std::invalid_argument& error) {
        EXPECT_NE(std::string(error.what()).find("'on["), std::string::npos) << error.what();
    }
}

}  // namespace
}  // namespace lrvb
