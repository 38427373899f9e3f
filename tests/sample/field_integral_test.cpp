#include "field_data.hpp"

#include <lrvb/sample/field_integral.hpp>
#include <lrvb/sample/model_density.hpp>
#include <lrvb/sample/nuts.hpp>

#include <Eigen/LU>

#include <cmath>

namespace lrvb {
namespace {

using test::dyestuff;
using test::FieldReference;
using test::simulated_field;
using test::sleepstudy;

/// Within 0.5 % in every sd and 0.01 sd in every mean of an exact posterior, by a grid of thousands of nodes.
void expect_exact(const FieldModel& model, const std::string& reference, const std::vector<std::string>& fixed) {
    const FieldReference exact(reference);
    const FieldIntegral integral(model);
    const auto expect = [&](const std::string& what, const FieldMarginals& found, const Vector& mean,
                            const Vector& sd) {
        ASSERT_EQ(found.mean.size(), mean.size());
        for (Index i = 0; i < mean.size(); ++i) {
            EXPECT_NEAR(found.mean[i], mean[i], 0.01 * sd[i]) << reference << ' ' << what << ' ' << i;
            EXPECT_NEAR(found.sd[i], sd[i], 0.005 * sd[i]) << reference << ' ' << what << ' ' << i;
            // The coarser lattice is worse than this one, and still not bad.
            EXPECT_LT(found.mean_error[i], 0.05);
            EXPECT_LT(found.sd_error[i], 0.05);
        }
    };
    expect("fixed effects", integral.marginals(model.in_data_units(fixed)), exact.beta_mean, exact.beta_sd);
    const FieldFactor& factor = model.data().factors[0];
    std::vector<std::string> effects;
    for (const std::string& level : factor.levels) effects.push_back("u[" + factor.name + "," + level + ",intercept]");
    expect("effects", integral.marginals(model.in_data_units(effects)), exact.u_mean, exact.u_sd);
    const std::vector<std::string> logs{"log_sd[" + factor.name + ",intercept]", "log_sigma"};
    expect("log sds", integral.marginals(model.in_data_units(logs)), exact.mean.head(2), exact.sd.head(2));
    expect("sds", integral.variances(), exact.mean.tail(2), exact.sd.tail(2));
}

TEST(FieldIntegral, IsTheExactPosteriorOfTheReferences) {
    expect_exact(FieldModel(dyestuff()), "dyestuff_default", {"intercept"});
    expect_exact(FieldModel(sleepstudy(false)), "sleepstudy_ri_default", {"intercept", "beta[Days]"});
    const FieldData dye = test::standardised(dyestuff());
    expect_exact(FieldModel(dye, test::seed_prior(dye)), "dyestuff_seed_std", {"intercept"});
    const FieldData sleep = test::standardised(sleepstudy(false));
    expect_exact(FieldModel(sleep, test::seed_prior(sleep)), "sleepstudy_ri_seed_std", {"intercept", "beta[Days]"});
}

// Each is sought from the one beside it, and kept.
TEST(FieldIntegral, NodesOfBinaryRowsAreThoseFoundAlone) {
    FieldData data = simulated_field(200, 12, 9, false, false, 3);
    data.likelihood = Likelihood::named("binomial");
    for (double& y : data.y) y = y > 3.5 ? 1.0 : 0.0;
    ASSERT_EQ(data.factors.size(), 2U);
    const FieldModel model(data);
    const FieldIntegral integral(model);
    ASSERT_GT(integral.nodes(), 100);
    Vector log_density(integral.nodes());
    Vector mean = Vector::Zero(model.coefficient_count());
    Vector variance = mean;
    for (Index k = 0; k < integral.nodes(); ++k) {
        const std::unique_ptr<FieldConditional> alone = model.conditional(integral.psi().col(k));
        log_density[k] = alone->log_density();
        mean += integral.weights()[k] * alone->mean();
        variance += integral.weights()[k] * (alone->variances() + alone->mean().cwiseAbs2());
    }
    const Vector sd = (variance - mean.cwiseAbs2()).cwiseSqrt();
    const FieldMarginals found = integral.coefficients();
    for (Index i = 0; i < mean.size(); ++i) {
        EXPECT_NEAR(found.mean[i], mean[i], 1e-4 * sd[i]) << i;
        EXPECT_NEAR(found.sd[i], sd[i], 1e-4 * sd[i]) << i;
    }
    const Vector constant = integral.weights().array().log() - log_density.array();
    EXPECT_LT(constant.maxCoeff() - constant.minCoeff(), 1e-5);
    // A lattice twice as fine, which reaches further out.
    FieldIntegralOptions options;
    options.step = 0.42;
    options.drop = 14.0;
    const FieldIntegral fine(model, options);
    EXPECT_GT(fine.nodes(), 3 * integral.nodes());
    const FieldMarginals better = fine.coefficients();
    for (Index i = 0; i < mean.size(); ++i) {
        EXPECT_NEAR(found.mean[i], better.mean[i], 0.005 * sd[i]) << i;
        EXPECT_NEAR(found.sd[i], better.sd[i], 0.005 * sd[i]) << i;
    }
    const FieldMarginals sds = integral.variances();
    const FieldMarginals better_sds = fine.variances();
    for (Index i = 0; i < sds.mean.size(); ++i) {
        EXPECT_NEAR(sds.mean[i], better_sds.mean[i], 0.01 * sds.sd[i]) << i;
        EXPECT_NEAR(sds.sd[i], better_sds.sd[i], 0.01 * sds.sd[i]) << i;
    }
}

// Of the default prior, to the digits that are known of an integral over a fine grid.
TEST(FieldIntegral, HasTheNumbersOfSlopesThatVaryBySubject) {
    const FieldModel model(sleepstudy(true));
    const FieldIntegral integral(model);
    const FieldMarginals fixed = integral.marginals(model.in_data_units({"intercept", "beta[Days]"}));
    EXPECT_NEAR(fixed.mean[0], 251.41, 0.02);
    EXPECT_NEAR(fixed.sd[0], 7.41, 0.02);
    EXPECT_NEAR(fixed.mean[1], 10.45, 0.01);
    EXPECT_NEAR(fixed.sd[1], 1.71, 0.01);
}

TEST(FieldIntegral, CoefficientsAllAtOnceAreThoseAskedForByName) {
    const FieldModel model(simulated_field(80, 6, 4, false, false, 3));
    const FieldIntegral integral(model);
    const FieldMarginals all = integral.coefficients();
    std::vector<Index> positions;
    for (Index i = 0; i < model.coefficient_count(); ++i) positions.push_back(model.variance_count() + i);
    const FieldMarginals asked = integral.marginals(Functionals(positions));
    EXPECT_LT((all.mean - asked.mean).cwiseQuotient(asked.sd).cwiseAbs().maxCoeff(), 1e-10);
    EXPECT_LT(test::relative_error(all.sd, asked.sd), 1e-10);
    EXPECT_LT((all.sd_error - asked.sd_error).cwiseAbs().maxCoeff(), 1e-8);
    const Matrix covariance = integral.covariance(Functionals(positions));
    EXPECT_LT(test::relative_error(covariance.diagonal().cwiseSqrt(), asked.sd), 1e-10);
}

// Against a lattice twice as fine that reaches further.
TEST(FieldIntegral, QuantilesOfSkewedSdsAreSmooth) {
    const std::vector<double> probabilities{0.005, 0.025, 0.1, 0.5, 0.9, 0.975, 0.995};
    FieldData flat = dyestuff();
    Random random(8);
    for (Index n = 0; n < 30; ++n) flat.y[n] = random.normal();
    for (const FieldData& data : {dyestuff(), flat}) {
        const FieldModel model(data);
        const FieldIntegral integral(model);
        FieldIntegralOptions options;
        options.step = 0.4;
        options.drop = 14.0;
        const FieldIntegral fine(model, options);
        EXPECT_GT(fine.nodes(), 2 * integral.nodes());
        const FieldMarginals rough = integral.variances(probabilities);
        const FieldMarginals exact = fine.variances(probabilities);
        for (Index i = 0; i < exact.mean.size(); ++i) {
            EXPECT_NEAR(rough.mean[i], exact.mean[i], 0.01 * exact.sd[i]);
            EXPECT_NEAR(rough.sd[i], exact.sd[i], 0.01 * exact.sd[i]);
            for (Index p = 0; p < exact.quantiles.rows(); ++p) {
                // In the far tails, half a per cent of probability is itself many sds wide.
                const bool tail = probabilities[static_cast<std::size_t>(p)] > 0.98;
                EXPECT_NEAR(rough.quantiles(p, i), exact.quantiles(p, i), (tail ? 0.06 : 0.015) * exact.sd[i])
                    << model.variances()[static_cast<std::size_t>(i)].name << " at "
                    << probabilities[static_cast<std::size_t>(p)];
            }
        }
        const Functionals intercept = model.in_data_units({"intercept"});
        const FieldMarginals left = integral.marginals(intercept, probabilities);
        const FieldMarginals right = fine.marginals(intercept, probabilities);
        EXPECT_LT((left.quantiles - right.quantiles).cwiseAbs().maxCoeff(), 0.03 * right.sd[0]);
        EXPECT_NEAR(left.quantiles(3, 0), left.mean[0], 0.1 * left.sd[0]);
    }
}

TEST(FieldIntegral, DrawsHaveTheMomentsOfTheIntegral) {
    const FieldModel model(dyestuff());
    const FieldIntegral integral(model);
    constexpr Index kDraws = 20000;
    const FieldDraws draws = integral.draw(kDraws, 4);
    const Vector weights = draws.log_weights.array().exp();
    EXPECT_NEAR(weights.sum(), 1.0, 1e-12);
    EXPECT_GT(1.0 / weights.squaredNorm(), 0.97 * kDraws);
    const FieldMarginals all = integral.marginals(Functionals([&] {
        std::vector<Index> every;
        for (Index i = 0; i < model.layout().size(); ++i) every.push_back(i);
        return every;
    }()));
    for (Index i = 0; i < model.layout().size(); ++i) {
        const double mean = draws.statistics.row(i) * weights;
        const double sd = std::sqrt((draws.statistics.row(i).array() - mean).square().matrix() * weights);
        EXPECT_NEAR(mean, all.mean[i], 5.0 * all.sd[i] / std::sqrt(kDraws));
        EXPECT_NEAR(sd, all.sd[i], 0.04 * all.sd[i]);
    }
}

TEST(FieldIntegral, AgreesWithTheNoUTurnSampler) {
    const FieldModel model(sleepstudy(false));
    const FieldIntegral integral(model);
    const Optimum optimum = fit(model);
    const ModelDensity density(model, optimum.state);
    NutsOptions options;
    options.draws = 4000;
    const NutsSample sample = no_u_turn(density, density.whitening(optimum.state), options);
    const FieldMarginals all = integral.coefficients();
    for (Index i = 0; i < model.coefficient_count(); ++i) {
        const Vector draws = sample.points.row(model.variance_count() + i);
        const double mean = draws.mean();
        const double sd = std::sqrt((draws.array() - mean).square().mean());
        EXPECT_NEAR(mean, all.mean[i], 0.1 * all.sd[i]) << model.layout()[model.variance_count() + i].name;
        EXPECT_NEAR(sd, all.sd[i], 0.08 * all.sd[i]) << model.layout()[model.variance_count() + i].name;
    }
}

TEST(FieldIntegral, ManyParametersAreDrawn) {
    FieldData data = simulated_field(200, 12, 8, false, true, 6);
    FieldIntegralOptions options;
    const FieldModel model(data);
    const FieldIntegral lattice(model, options);
    ASSERT_TRUE(lattice.is_lattice());
    options.lattice_dimensions = 0;
    options.draws = 6000;
    const FieldIntegral draws(model, options);
    EXPECT_FALSE(draws.is_lattice());
    EXPECT_TRUE(draws.reliable());
    EXPECT_GT(draws.ess(), 1000.0);
    EXPECT_NEAR(draws.log_evidence(), lattice.log_evidence(), 0.1);
    const FieldMarginals left = draws.coefficients();
    const FieldMarginals right = lattice.coefficients();
    EXPECT_LT((left.mean - right.mean).cwiseQuotient(right.sd).cwiseAbs().maxCoeff(), 0.06);
    EXPECT_LT((left.sd - right.sd).cwiseQuotient(right.sd).cwiseAbs().maxCoeff(), 0.06);
    EXPECT_LT((right.sd_error).maxCoeff(), 0.05);
}

TEST(FieldIntegral, ThreadsChangeNoBit) {
    const FieldModel model(simulated_field(90, 6, 5, false, false, 7));
    FieldIntegralOptions options;
    const FieldIntegral one(model, options);
    options.threads = 3;
    const FieldIntegral three(model, options);
    EXPECT_EQ(one.weights(), three.weights());
    EXPECT_EQ(one.psi(), three.psi());
    EXPECT_EQ(one.coefficients().sd, three.coefficients().sd);
    EXPECT_EQ(one.variances({0.1, 0.9}).quantiles, three.variances({0.1, 0.9}).quantiles);
    EXPECT_EQ(one.draw(50, 2).statistics, three.draw(50, 2).statistics);
}

// A variance that the data put at zero, under priors that do and do not go down there.
TEST(FieldIntegral, AVarianceAtZeroIsAnOrdinaryOutcome) {
    FieldData flat = dyestuff();
    for (Index n = 0; n < 30; ++n) flat.y[n] = 10.0 + static_cast<double>(n % 5) + 0.01 * static_cast<double>(n / 5);
    for (const ScalePrior& prior :
         {ScalePrior::half_t(2.0, 1.5), ScalePrior::half_normal(2.0), ScalePrior::uniform(0.0, 5.0),
          ScalePrior::exponential(1.0), ScalePrior::gamma_precision(0.001, 0.001)}) {
        FieldPrior own = FieldPrior::automatic(flat);
        own.factors[0].sd[0] = prior;
        const FieldModel model(flat, own);
        const FieldIntegral integral(model);
        FieldIntegralOptions options;
        options.step = 0.4;
        options.drop = 15.0;
        const FieldIntegral fine(model, options);
        EXPECT_LT(integral.nodes(), 2000);
        const FieldMarginals found = integral.variances({0.05, 0.5, 0.95});
        const FieldMarginals exact = fine.variances({0.05, 0.5, 0.95});
        for (Index i = 0; i < 2; ++i) {
            EXPECT_NEAR(found.mean[i], exact.mean[i], 0.01 * exact.sd[i]);
            EXPECT_NEAR(found.sd[i], exact.sd[i], 0.02 * exact.sd[i]);
            EXPECT_LT((found.quantiles.col(i) - exact.quantiles.col(i)).cwiseAbs().maxCoeff(), 0.02 * exact.sd[i])
                << "prior " << static_cast<int>(prior.kind) << " nodes " << integral.nodes();
        }
        EXPECT_LT(found.quantiles(0, 0), 0.2);
    }
}

TEST(FieldIntegral, WorkIsPredicted) {
    const FieldModel small(dyestuff());
    const FieldModel large(simulated_field(400, 60, 50, false, true, 8));
    EXPECT_GT(FieldIntegral::work(small), 0.0);
    EXPECT_GT(FieldIntegral::work(large), 20.0 * FieldIntegral::work(small));
}

}  // namespace
}  // namespace lrvb
