#include "field_data.hpp"
#include "field_truth.hpp"
#include "likelihood/normal_expectation.hpp"
#include "likelihood/row_likelihood.hpp"
#include "says.hpp"

#include <lrvb/lrvb.hpp>
#include <lrvb/model/field.hpp>
#include <lrvb/sample/field_integral.hpp>
#include <lrvb/sample/model_density.hpp>
#include <lrvb/sample/nuts.hpp>

#include <boost/math/quadrature/gauss_kronrod.hpp>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>

namespace lrvb {
namespace {

using detail::NormalExpectation;
using detail::SmoothFunction;
using test::Simulated;
using test::simulated;

double plain(SmoothFunction function, double x) {
    switch (function) {
        case SmoothFunction::softplus:
            return x > 0.0 ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x));
        case SmoothFunction::log_normal_cdf:
            // Mills' ratio to fifth order beyond what erfc has.
            if (x < -25.0) {
                const double s = 1.0 / (x * x);
                return -0.5 * x * x - 0.5 * std::log(2.0 * std::numbers::pi) - std::log(-x) +
                       std::log1p(-s * (1.0 - s * (3.0 - s * (15.0 - 105.0 * s))));
            }
            return std::log(0.5 * std::erfc(-x / std::numbers::sqrt2));
        case SmoothFunction::log_success:
            return x < -20.0 ? x - 0.5 * std::exp(x) : std::log(-std::expm1(-std::exp(std::min(x, 600.0))));
        case SmoothFunction::log_square:
            return std::log1p(x * x);
    }
    return 0.0;
}

constexpr SmoothFunction kFunctions[] = {SmoothFunction::softplus, SmoothFunction::log_normal_cdf,
                                         SmoothFunction::log_success, SmoothFunction::log_square};

// Adaptive Gauss–Kronrod quadrature on pieces between the sds.
TEST(FieldRows, ExpectationsEqualAdaptiveQuadratureForEveryVariance) {
    for (const SmoothFunction function : kFunctions) {
        const NormalExpectation expectation(function);
        for (const double variance : {1e-8, 0.02, 0.29, 0.31, 1.0, 9.0, 100.0}) {
            for (const double mean : {-60.0, -9.0, -1.3, 0.0, 0.7, 4.0, 30.0}) {
                const double sd = std::sqrt(variance);
                double value = 0.0;
                for (int piece = -9; piece < 9; ++piece) {
                    value += boost::math::quadrature::gauss_kronrod<double, 31>::integrate(
                        [&](double z) {
                            return plain(function, mean + sd * z) * std::exp(-0.5 * z * z) /
                                   std::sqrt(2.0 * std::numbers::pi);
                        },
                        piece, piece + 1.0, 12, 1e-12);
                }
                EXPECT_NEAR(expectation(mean, variance)[0], value, 1e-9 * (1.0 + std::abs(value)))
                    << static_cast<int>(function) << " at " << mean << ", " << variance;
            }
        }
    }
}

// Beyond the table. Of a wide normal, E log(1 + eˣ) is that of max(x, 0), μ Φ(μ/σ) + σ φ(μ/σ), and the area between the
// two, π²/6, times the density at zero. Far away they are their asymptotes.
TEST(FieldRows, ExpectationsOfFarAndWideNormalsAreThoseOfTheAsymptotes) {
    const NormalExpectation softplus(SmoothFunction::softplus);
    for (const double sd : {1e3, 1e6, 1e12}) {
        for (const double ratio : {-2.0, 0.0, 0.5, 3.0}) {
            const double density = std::exp(-0.5 * ratio * ratio) / std::sqrt(2.0 * std::numbers::pi);
            const double below = 0.5 * std::erfc(-ratio / std::numbers::sqrt2);
            const double area = std::numbers::pi * std::numbers::pi / 6.0;
            const detail::Derivatives here = softplus(ratio * sd, sd * sd);
            const double value = ratio * sd * below + sd * density + area * density / sd;
            EXPECT_NEAR(here[0], value, 1e-11 * value + 30.0 / (sd * sd * sd)) << sd << " " << ratio;
            EXPECT_NEAR(here[1], below, 3.0 / (sd * sd) + 1e-12) << sd << " " << ratio;
            EXPECT_NEAR(here[2] * sd, density, 3.0 / (sd * sd) + 1e-11) << sd << " " << ratio;
        }
    }
    for (const double mean : {1e3, 1.8e19, 1e200}) {
        EXPECT_NEAR(softplus(mean, 100.0)[0], mean, 1e-14 * mean);
        EXPECT_EQ(softplus(-mean, 100.0)[0], 0.0);
        EXPECT_NEAR(softplus(mean, 100.0)[1], 1.0, 1e-14);
        EXPECT_NEAR(NormalExpectation(SmoothFunction::log_success)(-mean, 100.0)[0], -mean, 1e-14 * mean);
    }
    // E log(1 + x²) of a wide normal at zero: 2 E log|x| = log σ² − γ − log 2, and 2π times the density at zero.
    const double wide = std::log(1e16) - std::numbers::egamma - std::numbers::ln2;
    EXPECT_NEAR(NormalExpectation(SmoothFunction::log_square)(0.0, 1e16)[0], wide, 1e-7);
    EXPECT_NEAR(NormalExpectation(SmoothFunction::log_normal_cdf)(-1e9, 1.0)[1], 1e9, 1e-3);
}

// ∂E g⁽ᵏ⁾/∂μ = E g⁽ᵏ⁺¹⁾ and ∂E g/∂v = ½ E g''.
TEST(FieldRows, DerivativesOfExpectationsAreExpectationsOfDerivatives) {
    constexpr double kStep = 1e-3;
    for (const SmoothFunction function : kFunctions) {
        const NormalExpectation expectation(function);
        for (const double variance : {0.1, 2.0}) {
            for (const double mean : {-30.0, -2.0, 0.4, 3.0}) {
                const detail::Derivatives here = expectation(mean, variance);
                const auto slope = [&](std::size_t order, double by_mean, double by_variance) {
                    const auto at = [&](double s) {
                        return expectation(mean + s * by_mean * kStep, variance + s * by_variance * kStep)[order];
                    };
                    return (8.0 * (at(1.0) - at(-1.0)) - (at(2.0) - at(-2.0))) / (12.0 * kStep);
                };
                for (std::size_t order = 0; order < 4; ++order) {
                    EXPECT_NEAR(slope(order, 1.0, 0.0), here[order + 1], 1e-7 * (1.0 + std::abs(here[order + 1])));
                }
                EXPECT_NEAR(slope(0, 0.0, 1.0), 0.5 * here[2], 1e-7);
            }
        }
    }
}

TEST(FieldRows, ResponsesThatAFamilyCannotHaveAreRefusedWithTheirRow) {
    const auto message = [](const std::function<void(FieldData&)>& change) {
        Simulated settings;
        settings.rows = 20;
        settings.groups = 4;
        FieldData data = simulated(settings);
        change(data);
        try {
            const FieldModel model(data);
        } catch (const std::invalid_argument& error) {
            return std::string(error.what());
        }
        return std::string();
    };
    EXPECT_TRUE(test::says(message([](FieldData& data) { data.y[2] = 0.5; }), {"row 3", "0.5", "0", "1", "response"}));
    EXPECT_TRUE(test::says(message([](FieldData& data) {
                               data.trials = Vector::Constant(20, 2.0);
                               data.y[4] = 3.0;
                           }),
                           {"row 5", "3", "2", "successes", "trials"}));
    EXPECT_TRUE(test::says(message([](FieldData& data) {
                               data.likelihood = Likelihood::named("poisson");
                               data.y[0] = -1.0;
                           }),
                           {"row 1", "-1", "count"}));
    EXPECT_TRUE(test::says(message([](FieldData& data) {
                               data.likelihood = Likelihood::named("poisson");
                               data.y[1] = 1.5;
                           }),
                           {"row 2", "1.5", "count"}));
    EXPECT_TRUE(test::says(message([](FieldData& data) {
                               data.likelihood = Likelihood::named("poisson");
                               data.y[2] = 1e31;
                           }),
                           {"row 3", "1e+31", "1e12", "count", "fit"}));
    EXPECT_TRUE(test::says(message([](FieldData& data) {
                               data.trials = Vector::Constant(20, 2.0);
                               data.trials[1] = 1e13;
                           }),
                           {"row 2", "10000000000000", "1e12", "trials"}));
}

// Large counts say of effects what their logarithms say, whatever their unit: the rate of a count in thousandths is
// that of the count with an offset.
TEST(FieldRows, LargeCountsGiveTheSameEffectsInAnyUnit) {
    std::vector<FieldMarginals> found;
    for (const double unit : {1e2, 1e4, 1e6, 1e8}) {
        Random random(3);
        constexpr Index kGroups = 12;
        constexpr Index kRows = 48;
        FieldData data;
        data.likelihood = Likelihood::named("poisson");
        data.names = {"x"};
        data.columns.resize(kRows, 1);
        data.y.resize(kRows);
        data.offset = Vector::Constant(kRows, std::log(unit));
        const Vector u = standard_normals(kGroups, random);
        std::vector<int> level;
        for (Index n = 0; n < kRows; ++n) {
            level.push_back(static_cast<int>(n % kGroups));
            data.columns(n, 0) = random.normal();
            data.y[n] = unit * std::round(std::exp(5.0 + 0.3 * data.columns(n, 0) + u[n % kGroups]));
        }
        data.factors.push_back(
            test::field_factor("g", level, static_cast<int>(kGroups), {"intercept"}, Matrix::Ones(kRows, 1)));
        const FieldModel model(data);
        const Optimum optimum = fit(model);
        EXPECT_EQ(optimum.termination, Termination::converged) << unit << ' ' << optimum.message;
        EXPECT_LT(optimum.newton_steps + optimum.sweeps, 20) << unit;
        const FieldIntegral integral(model);
        found.push_back(integral.marginals(
            model.in_data_units({"intercept", "log_sd[g,intercept]", "u[g,1,intercept]", "beta[x]"})));
    }
    for (std::size_t i = 1; i < found.size(); ++i) {
        // With counts of 1e11, the last, rounding begins to show.
        const double close = i + 1 < found.size() ? 2e-3 : 1e-2;
        // The rows' own noise is a hundredth of the effects' sd in the first unit, and next to nothing in the others.
        for (Index v = 0; v < 3; ++v) {
            EXPECT_NEAR((found[i].mean[v] - found[0].mean[v]) / found[0].sd[v], 0.0, close) << i << ' ' << v;
            EXPECT_NEAR(found[i].sd[v] / found[0].sd[v], 1.0, close) << i << ' ' << v;
        }
        const double unit = std::pow(10.0, static_cast<double>(i));  // its root, against the first
        EXPECT_NEAR(found[i].sd[3] * unit / found[0].sd[3], 1.0, close) << i;
    }
}

/// Rows of every kind, in groups.
std::vector<FieldData> all_kinds(int rows, int groups) {
    std::vector<FieldData> result;
    for (const char* link : {"logit", "probit", "cloglog", "log"}) {
        Simulated settings;
        settings.rows = rows;
        settings.groups = groups;
        settings.likelihood = Likelihood::named(std::string(link) == "log" ? "poisson" : "binomial", link);
        settings.sd = 0.7;
        result.push_back(simulated(settings));
    }
    FieldData student = result.front();
    student.likelihood = Likelihood::named("student");
    Random random(5);
    for (Index n = 0; n < student.y.size(); ++n) {
        const double mixing = std::exp(random.log_gamma(1.5)) / 1.5;
        student.y[n] = 3.0 + student.columns(n, 0) + random.normal() / std::sqrt(mixing) +
                       0.5 * static_cast<double>(student.factors[0].level[static_cast<std::size_t>(n)] % 3);
    }
    result.push_back(student);
    return result;
}

// Fourth-order differences of the bound, with S solved again.
TEST(FieldRows, GradientsOfTheBoundEqualDifferences) {
    for (const FieldData& data : all_kinds(60, 6)) {
        const FieldModel model(data);
        Random random(3);
        State state = model.start(random);
        state.mean += 0.1 * standard_normals(state.mean.size(), random);
        const Expansion here = model.expand(state.mean, Order::gradient);
        for (Index i = 0; i < state.mean.size(); ++i) {
            const auto at = [&](double s) {
                Vector moved = state.mean;
                moved[i] += s * 1e-3;
                return model.expand(moved, Order::value).value;
            };
            const double slope = (8.0 * (at(1.0) - at(-1.0)) - (at(2.0) - at(-2.0))) / 12e-3;
            EXPECT_NEAR(here.gradient[i], slope, 1e-6 * (1.0 + std::abs(slope))) << data.likelihood->link().name;
        }
    }
}

// S follows m exactly within groups, and through the fixed effects only by what groups make of it.
TEST(FieldRows, TheHessianEqualsDifferencesUpToWhatIsNotLocal) {
    for (const FieldData& data : all_kinds(120, 10)) {
        const FieldModel model(data);
        Random random(3);
        const State state = model.start(random);
        const Matrix hessian = Matrix(model.expand(state.mean, Order::hessian).hessian).selfadjointView<Eigen::Lower>();
        Matrix differences(hessian.rows(), hessian.cols());
        for (Index i = 0; i < state.mean.size(); ++i) {
            const auto at = [&](double s) {
                Vector moved = state.mean;
                moved[i] += s * 1e-2;
                return model.expand(moved, Order::gradient).gradient;
            };
            differences.col(i) = (8.0 * (at(1.0) - at(-1.0)) - (at(2.0) - at(-2.0))) / 12e-2;
        }
        const Index k = model.variance_count();
        const Matrix error = hessian - differences;
        const double size = 1.0 + differences.cwiseAbs().maxCoeff();
        EXPECT_LT(error.leftCols(k).cwiseAbs().maxCoeff(), 1e-6 * size);
        EXPECT_LT(error.cwiseAbs().maxCoeff(), 0.02 * size);
    }
}

TEST(FieldRows, GradientsOfTheJointDensityEqualDifferences) {
    for (const FieldData& data : all_kinds(60, 6)) {
        const FieldModel model(data);
        Random random(3);
        State state = model.start(random);
        state.mean += 0.3 * standard_normals(state.mean.size(), random);
        const JointGradients here = model.log_joint_gradients(state.mean, 1);
        EXPECT_NEAR(here.values[0], model.log_joint(state.mean, 1)[0], 1e-9);
        for (Index i = 0; i < state.mean.size(); ++i) {
            Matrix moved = state.mean.replicate(1, 4);
            const double steps[] = {1.0, -1.0, 2.0, -2.0};
            for (Index s = 0; s < 4; ++s) moved(i, s) += steps[s] * 1e-3;
            const Vector values = model.log_joint(moved, 2);
            const double slope = (8.0 * (values[0] - values[1]) - (values[2] - values[3])) / 12e-3;
            EXPECT_NEAR(here.gradients(i, 0), slope, 1e-6 * (1.0 + std::abs(slope)));
        }
    }
}

/// α, slopes and log sd of the integral, as the nested truth has them.
Functionals nested_functionals(const FieldModel& model) {
    const Functionals::Resolved all = model.coefficients().resolve(model.layout());
    const Index fixed = 1 + model.data().columns.cols();
    const bool grouped = !model.data().factors.empty();
    std::vector<Eigen::Triplet<double>> entries;
    Vector constants = Vector::Zero(fixed + (grouped ? 1 : 0));
    for (Index j = 0; j < fixed; ++j) {
        for (SparseMatrix::InnerIterator entry(all.weights, j); entry; ++entry) {
            entries.emplace_back(entry.row(), j, entry.value());
        }
        constants[j] = all.constants[j];
    }
    if (grouped) entries.emplace_back(0, fixed, 1.0);
    SparseMatrix weights(model.layout().size(), constants.size());
    weights.setFromTriplets(entries.begin(), entries.end());
    return {weights, constants};
}

struct Limits {
    double coefficient_shift = 0.05;
    double coefficient_sd = 0.05;
    double scale_shift = 0.1;
    double scale_sd = 0.07;
    double evidence = 0.1;
};

void expect_near_truth(const FieldData& data, const Limits& limits, Index draws,
                       const std::optional<FieldPrior>& prior = {}) {
    const FieldModel model(data, prior);
    const FieldIntegral integral(model);
    const Functionals functionals = nested_functionals(model);
    const FieldMarginals found = integral.marginals(functionals);
    const test::Truth truth =
        test::nested_truth(data, model.prior(), {found.mean, 1.2 * integral.covariance(functionals)}, draws);
    ASSERT_GT(truth.ess, 0.4 * static_cast<double>(draws));
    // Of means of draws, in sds; of sds about the same share.
    const double noise = 3.0 / std::sqrt(truth.ess);
    for (Index j = 0; j < found.mean.size(); ++j) {
        const bool is_scale = !data.factors.empty() && j + 1 == found.mean.size();
        EXPECT_NEAR((found.mean[j] - truth.mean[j]) / truth.sd[j], 0.0,
                    noise + (is_scale ? limits.scale_shift : limits.coefficient_shift))
            << j;
        EXPECT_NEAR(found.sd[j] / truth.sd[j], 1.0, noise + (is_scale ? limits.scale_sd : limits.coefficient_sd)) << j;
    }
    EXPECT_NEAR(integral.log_evidence(), truth.log_evidence, limits.evidence + noise);
}

// A logistic regression with thirty rows, and the like: one point, with all second-order terms.
TEST(FieldRows, SmallRegressionsWithoutGroupsHaveTheirExactPosteriors) {
    for (const char* link : {"logit", "probit", "cloglog", "log"}) {
        Simulated settings;
        settings.groups = 0;
        settings.rows = 30;
        settings.likelihood = Likelihood::named(std::string(link) == "log" ? "poisson" : "binomial", link);
        expect_near_truth(simulated(settings), {0.03, 0.03, 0.0, 0.0, 0.02}, 20000);
    }
}

// Corrected by cumulants, of all pairs of rows.
TEST(FieldRows, ALogisticRegressionOfSixCoefficientsHasItsExactPosterior) {
    Simulated settings;
    settings.groups = 0;
    settings.rows = 40;
    FieldData data = simulated(settings);
    data.columns.conservativeResize(40, 5);
    Random random(21);
    for (Index j = 1; j < 5; ++j) data.columns.col(j) = standard_normals(40, random);
    data.names = {"x", "a", "b", "c", "d"};
    expect_near_truth(data, {0.02, 0.02, 0.0, 0.0, 0.02}, 20000);
}

/// Against the no-U-turn sampler on log p(y, x, ψ).
void expect_near_draws(const FieldData& data, const std::vector<std::string>& names, double shift, double spread,
                       const std::vector<std::string>& sds = {}) {
    const FieldModel model(data);
    const Optimum optimum = fit(model);
    ASSERT_TRUE(optimum.converged()) << optimum.message;
    const Functionals functionals = model.in_data_units(names);
    // Coarser than what is quoted, since that takes a few times longer: sds of coefficients move by less than a
    // percent.
    FieldIntegralOptions coarse;
    coarse.step = 1.25;
    coarse.drop = 7.0;
    const FieldMarginals found = FieldIntegral(model, coarse).marginals(functionals);
    const ModelDensity density(model, optimum.state);
    NutsOptions options;
    options.draws = 3000;
    const NutsSample sample = no_u_turn(density, density.whitening(optimum.state), options);
    ASSERT_LT(sample.r_hat, 1.02);
    const Functionals::Resolved resolved = functionals.resolve(model.layout());
    const Matrix values =
        (resolved.weights.transpose() * density.statistics(sample.points)).colwise() + resolved.constants;
    const double noise = 3.0 / std::sqrt(sample.ess);
    for (Index j = 0; j < values.rows(); ++j) {
        const double mean = values.row(j).mean();
        const double sd = std::sqrt((values.row(j).array() - mean).square().mean());
        EXPECT_NEAR((found.mean[j] - mean) / sd, 0.0, shift + noise) << names[static_cast<std::size_t>(j)];
        EXPECT_NEAR(found.sd[j] / sd, 1.0, spread + noise) << names[static_cast<std::size_t>(j)];
    }
    // An sd itself, whose logarithm may have a tail that chains hardly reach.
    const FieldMarginals variances = FieldIntegral(model).variances();
    const Matrix statistics = density.statistics(sample.points);
    for (std::size_t v = 0; v < model.variances().size(); ++v) {
        if (std::find(sds.begin(), sds.end(), model.variances()[v].name) == sds.end()) continue;
        const auto at = static_cast<Index>(v);
        Vector own(statistics.cols());
        for (Index s = 0; s < own.size(); ++s) {
            own[s] = model.variance_values(Vector(statistics.col(s).head(model.variance_count())))[at];
        }
        const double sd = std::sqrt((own.array() - own.mean()).square().mean());
        EXPECT_NEAR((variances.mean[at] - own.mean()) / sd, 0.0, shift + noise) << sds.front();
        EXPECT_NEAR(variances.sd[at] / sd, 1.0, spread + noise) << sds.front();
    }
}

// Brascamp & Lieb (1976): where rows are log-concave, effects given ψ vary no more than their prior says, however far
// out ψ is, and however alike the rows of a group are.
TEST(FieldRows, NoEffectVariesMoreThanItsPrior) {
    for (const int effects : {1, 2, 3}) {
        FieldData data = test::simulated_field(240, 40, 1, false, false, 7);
        data.likelihood = Likelihood::named("binomial");
        for (double& y : data.y) y = y > 3.5 ? 1.0 : 0.0;
        data.factors.pop_back();
        FieldFactor& factor = data.factors.front();
        for (int e = 1; e < effects; ++e) {
            factor.effects.push_back(data.names[static_cast<std::size_t>(e - 1)]);
            factor.values.conservativeResize(Eigen::NoChange, e + 1);
            factor.values.col(e) = data.columns.col(e - 1).array() - (e == 2 ? 3.0 : 0.0);
        }
        const FieldModel model(data);
        const Index psi_count = model.variance_count();
        const Functionals::Resolved resolved = model.coefficients().resolve(model.layout());
        Vector psi = model.modes().front().psi;
        const Vector top = psi;
        for (const double further : {0.0, 1.0, 2.0, 3.0}) {
            psi.head(effects) = top.head(effects).array() + further;
            const Vector sds = model.variance_values(psi);
            const Vector variances = model.conditional(psi)->variances();
            for (Index level = 0; level < 40; ++level) {
                for (Index e = 0; e < effects; ++e) {
                    const Index place = model.effect_position(0, level, e) - psi_count;
                    const double unit = resolved.weights.coeff(psi_count + place, place);
                    EXPECT_LT(unit * std::sqrt(variances[place]), (1.0 + 1e-6) * sds[e])
                        << effects << ' ' << further << ' ' << level << ' ' << e;
                }
            }
        }
    }
}

TEST(FieldRows, CrossedBinaryRowsAgreeWithTheSampler) {
    Simulated settings;
    settings.rows = 600;
    settings.groups = 20;
    FieldData data = simulated(settings);
    Random random(9);
    const Vector u = standard_normals(20, random);
    const Vector h = 0.8 * standard_normals(25, random);
    std::vector<int> level;
    for (Index n = 0; n < 600; ++n) {
        level.push_back(static_cast<int>(n % 25));
        const double eta =
            -0.5 + 0.8 * data.columns(n, 0) + u[data.factors[0].level[static_cast<std::size_t>(n)]] + h[level.back()];
        data.y[n] = test::drawn(data, eta, random);
    }
    data.factors.push_back(test::factor_of("h", level, 25));
    expect_near_draws(data, {"intercept", "beta[x]", "log_sd[g,intercept]", "log_sd[h,intercept]", "u[g,1,intercept]"},
                      0.05, 0.05);
}

TEST(FieldRows, TwoEffectsAGroupAgreeWithTheSampler) {
    Simulated settings;
    settings.rows = 500;
    settings.groups = 25;
    FieldData data = simulated(settings);
    FieldFactor& factor = data.factors[0];
    factor.effects = {"intercept", "x"};
    factor.values.conservativeResize(500, 2);
    factor.values.col(1) = data.columns.col(0);
    Random random(11);
    const Vector u = standard_normals(25, random);
    const Vector slopes = 1.2 * standard_normals(25, random);
    for (Index n = 0; n < 500; ++n) {
        const int g = factor.level[static_cast<std::size_t>(n)];
        data.y[n] = test::drawn(data, -0.5 + u[g] + (0.8 + slopes[g]) * data.columns(n, 0), random);
    }
    expect_near_draws(data, {"intercept", "beta[x]", "log_sd[g,intercept]", "log_sd[g,x]", "u[g,1,x]"}, 0.06, 0.06);
}

TEST(FieldRows, StudentRowsAgreeWithTheSampler) {
    expect_near_draws(all_kinds(200, 20).back(), {"intercept", "beta[x]", "log_sigma", "log_nu_above_1"}, 0.06, 0.06,
                      {"sd[g,intercept]"});
}

TEST(FieldRows, SparseBinaryRowsInManyGroupsComeOutByTheNodes) {
    Simulated settings;
    settings.rows = 220;
    settings.groups = 50;
    expect_near_truth(simulated(settings), {}, 4000);
}

TEST(FieldRows, ManySmallGroupsWithALargeSdComeOutByTheNodes) {
    Simulated settings;
    settings.rows = 600;
    settings.groups = 200;
    settings.sd = 2.0;
    expect_near_truth(simulated(settings), {}, 1500);
}

TEST(FieldRows, PoissonRowsInManyGroupsComeOutByTheNodes) {
    Simulated settings;
    settings.likelihood = Likelihood::named("poisson");
    settings.rows = 236;
    settings.groups = 118;
    settings.sd = 0.7;
    settings.intercept = 0.0;
    settings.slope = 0.3;
    expect_near_truth(simulated(settings), {}, 4000);
}

TEST(FieldRows, ProbitAndCloglogRowsInGroupsComeOutByTheNodes) {
    for (const char* link : {"probit", "cloglog"}) {
        Simulated settings;
        settings.rows = 200;
        settings.groups = 30;
        settings.likelihood = Likelihood::named(std::string(link) == "log" ? "poisson" : "binomial", link);
        expect_near_truth(simulated(settings), {}, 3000);
    }
}

TEST(FieldRows, CbppComesOutByTheNodes) {
    const DataFrame frame = [] {
        FrameOptions options;
        options.text = {"herd", "period"};
        return read_frame(LRVB_DATA_DIR "/cbpp.csv", options);
    }();
    FieldData data;
    data.likelihood = Likelihood::named("binomial");
    data.response = "incidence";
    data.y = frame.columns[1].numbers;
    data.trials = frame.columns[2].numbers;
    data.columns = Matrix::Zero(frame.rows, 3);
    std::vector<int> herd;
    for (Index n = 0; n < frame.rows; ++n) {
        const auto at = static_cast<std::size_t>(n);
        const std::string& period = frame.columns[3].levels[frame.columns[3].codes[at]];
        if (period != "1") data.columns(n, std::stoi(period) - 2) = 1.0;
        herd.push_back(static_cast<int>(frame.columns[0].codes[at]));
    }
    data.names = {"period=2", "period=3", "period=4"};
    data.factors = {test::factor_of("herd", herd, static_cast<int>(frame.columns[0].levels.size()))};
    expect_near_truth(data, {}, 4000);
}

// tests/data/field/field_epil_default.json: nested quadrature and 200,000 importance draws.
TEST(FieldRows, EpilHasItsExactPosterior) {
    FrameOptions options;
    options.text = {"trt", "subject"};
    const DataFrame frame = read_frame(LRVB_DATA_DIR "/epil.csv", options);
    const auto column = [&](const std::string& name) -> const FrameColumn& {
        for (const FrameColumn& own : frame.columns) {
            if (own.name == name) return own;
        }
        throw std::runtime_error("epil.csv has no column " + name);
    };
    FieldData data;
    data.likelihood = Likelihood::named("poisson");
    data.y = column("y").numbers;
    data.names = {"lbase", "trt=progabide", "lbase:trt=progabide", "lage", "V4"};
    data.columns.resize(frame.rows, 5);
    std::vector<int> subject;
    std::vector<std::uint32_t> order;
    for (Index n = 0; n < frame.rows; ++n) {
        const auto at = static_cast<std::size_t>(n);
        const double treated = column("trt").levels[column("trt").codes[at]] == "progabide" ? 1.0 : 0.0;
        const double base = column("lbase").numbers[n];
        data.columns.row(n) << base, treated, base * treated, column("lage").numbers[n], column("V4").numbers[n];
        // In the order of their first appearance, as the reference has them.
        const auto code = column("subject").codes[at];
        const auto seen = std::find(order.begin(), order.end(), code);
        subject.push_back(static_cast<int>(seen - order.begin()));
        if (seen == order.end()) order.push_back(code);
    }
    data.factors = {test::factor_of("subject", subject, static_cast<int>(order.size()))};
    FieldPrior prior;
    prior.intercept_sd = 10.0;
    prior.mean = Vector::Zero(5);
    prior.sd = Vector::Constant(5, 10.0);
    prior.factors = {{{ScalePrior::half_t(2.0, 1.0)}, true}};
    prior.centre = Vector::Zero(5);
    const FieldModel model(data, prior);
    const FieldIntegral integral(model);
    const test::FieldReference truth("epil_default");
    std::vector<std::string> names{"intercept"};
    for (const std::string& name : data.names) names.push_back("beta[" + name + "]");
    names.emplace_back("log_sd[subject,intercept]");
    const FieldMarginals found = integral.marginals(model.in_data_units(names));
    Vector mean(7);
    Vector sd(7);
    mean << truth.beta_mean, truth.mean[0];
    sd << truth.beta_sd, truth.sd[0];
    for (Index j = 0; j < 7; ++j) {
        EXPECT_NEAR((found.mean[j] - mean[j]) / sd[j], 0.0, 0.02) << names[static_cast<std::size_t>(j)];
        EXPECT_NEAR(found.sd[j] / sd[j], 1.0, 0.015) << names[static_cast<std::size_t>(j)];
    }
    const FieldMarginals all = integral.coefficients();
    for (Index g = 0; g < truth.u_mean.size(); ++g) {
        EXPECT_NEAR((all.mean[6 + g] - truth.u_mean[g]) / truth.u_sd[g], 0.0, 0.05) << g;
        EXPECT_NEAR(all.sd[6 + g] / truth.u_sd[g], 1.0, 0.03) << g;
    }
}

// All successes have x > 0, all failures x < 0.
TEST(FieldRows, SeparationIsAnOrdinaryCase) {
    Simulated settings;
    settings.rows = 60;
    settings.groups = 6;
    FieldData data = simulated(settings);
    for (Index n = 0; n < data.y.size(); ++n) data.y[n] = data.columns(n, 0) > 0.0 ? 1.0 : 0.0;
    const FieldModel model(data);
    const Optimum optimum = fit(model);
    ASSERT_TRUE(optimum.converged()) << optimum.message;
    const LinearResponse response(model, optimum);
    const Functionals slope = model.in_data_units({"beta[x]"});
    EXPECT_GT(response.mean(slope)[0], 2.0);
    EXPECT_LT(response.mean(slope)[0], 10.0);
    EXPECT_GT(response.sd(slope)[0], 0.3);
}

TEST(FieldRows, FitsOfAllKindsConvergeAndStayWhereTheyBegan) {
    for (const FieldData& data : all_kinds(200, 20)) {
        const FieldModel model(data);
        const Optimum optimum = fit(model);
        ASSERT_TRUE(optimum.converged()) << optimum.message;
        EXPECT_NEAR(optimum.bound, model.log_density(optimum.state.mean.head(model.variance_count())), 1e-7);
        const Vector mean_field = model.mean_field_variances(optimum.state);
        const Vector sds = LinearResponse(model, optimum).marginal_sds();
        EXPECT_TRUE((mean_field.array() > 0.0).all());
        for (Index i = 0; i < sds.size(); ++i) EXPECT_GT(sds[i], 0.95 * std::sqrt(mean_field[i]));
    }
}

// d mean / d w_n against refits with the weight of a row raised and lowered.
TEST(FieldRows, CaseWeightsEqualRefits) {
    for (FieldData data : all_kinds(120, 12)) {
        data.weights = Vector::Ones(data.y.size());
        const FieldPrior prior = FieldModel(data).prior();
        const FieldModel model(data, prior);
        const Optimum optimum = fit(model);
        ASSERT_TRUE(optimum.converged());
        const Functionals functionals = model.in_data_units({"intercept", "beta[x]"});
        const LinearResponse response(model, optimum);
        Matrix slopes(data.y.size(), 2);
        response.case_weights(functionals, [&](const RowAnswers& answers) {
            slopes.middleRows(answers.first, answers.answers.rows()) = answers.answers;
        });
        const Vector sd = response.sd(functionals);
        for (const Index row : {Index{0}, Index{7}, Index{50}}) {
            const auto refit = [&](double weight) {
                FieldData changed = data;
                changed.weights[row] = weight;
                const FieldModel other(changed, prior);
                const Optimum found = fit(other);
                return Vector(LinearResponse(other, found).mean(other.in_data_units({"intercept", "beta[x]"})));
            };
            const Vector expected = (refit(1.05) - refit(0.95)) / 0.1;
            for (Index j = 0; j < 2; ++j) {
                EXPECT_NEAR(slopes(row, j) / sd[j], expected[j] / sd[j], 0.003 + 0.03 * std::abs(expected[j] / sd[j]))
                    << data.likelihood->link().name << " row " << row;
            }
        }
    }
}

TEST(FieldRows, SensitivityToThePriorEqualsRefits) {
    for (const FieldData& data : all_kinds(120, 12)) {
        const FieldPrior prior = FieldModel(data).prior();
        const FieldModel model(data, prior);
        const Optimum optimum = fit(model);
        ASSERT_TRUE(optimum.converged());
        const Functionals functionals = model.in_data_units({"intercept", "beta[x]", "log_sd[g,intercept]"});
        const LinearResponse response(model, optimum);
        const Vector found = response.sensitivity(functionals, "beta[x]: sd");
        const auto refit = [&](double factor) {
            FieldPrior changed = prior;
            changed.sd[0] *= factor;
            const FieldModel other(data, changed);
            return Vector(LinearResponse(other, fit(other)).mean(functionals));
        };
        const Vector expected = (refit(1.01) - refit(0.99)) / (0.02 * prior.sd[0]);
        const Vector sd = response.sd(functionals);
        for (Index j = 0; j < 3; ++j) {
            EXPECT_NEAR(found[j] * prior.sd[0] / sd[j], expected[j] * prior.sd[0] / sd[j],
                        1e-4 + 0.05 * std::abs(expected[j] * prior.sd[0] / sd[j]));
        }
    }
}

TEST(FieldRows, NothingDependsOnTheNumberOfThreads) {
    Simulated settings;
    settings.rows = 30000;
    settings.groups = 300;
    const FieldData data = simulated(settings);
    const std::shared_ptr<const detail::RowLikelihood> likelihood =
        Likelihood::named("binomial")->rows({data.y, {}, {}, {}, {}});
    Random random(4);
    const Vector means = standard_normals(30000, random);
    const Vector variances = standard_normals(30000, random).cwiseAbs2();
    detail::LikelihoodTerms one;
    detail::LikelihoodTerms three;
    likelihood->terms(means, variances, {}, 1, one);
    likelihood->terms(means, variances, {}, 3, three);
    EXPECT_EQ(one.value, three.value);
    EXPECT_EQ(one.fourth, three.fourth);
}

// Of many draws: means and, for counts, variances.
TEST(FieldRows, ReplicatedRowsHaveTheirExpectations) {
    for (const FieldData& data : all_kinds(40, 4)) {
        const FieldModel model(data);
        Random random(3);
        const State state = model.start(random);
        const Matrix statistics = state.mean.replicate(1, 2000);
        model.replicate_rows(statistics, 1, 1, [&](const RowReplicates& rows) {
            for (Index i = 0; i < rows.replicated.rows(); ++i) {
                const double mean = rows.replicated.row(i).mean();
                const double sd = std::sqrt((rows.replicated.row(i).array() - mean).square().mean() / 2000.0);
                EXPECT_NEAR(mean, rows.expected(i, 0), 5.0 * sd + 0.01);
            }
        });
        double sum = 0.0;
        model.row_log_likelihoods(state.mean, 1, [&](const RowAnswers& answers) { sum += answers.answers.sum(); });
        EXPECT_TRUE(std::isfinite(sum));
    }
}

}  // namespace
}  // namespace lrvb
