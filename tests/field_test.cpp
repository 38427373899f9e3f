#include "field_data.hpp"
#include "model/field/precision.hpp"
#include "model/field/row_design.hpp"
#include "model/field/variance_parameters.hpp"

#include <lrvb/testing/model_battery.hpp>
#include <lrvb/testing/response_battery.hpp>

#include <Eigen/Cholesky>
#include <Eigen/LU>

#include <cmath>
#include <numbers>

namespace lrvb {
namespace {

using test::dyestuff;
using test::FieldReference;
using test::simulated_field;
using test::sleepstudy;

/// AᵀWA + prior, dense, in the order of the field.
Matrix dense_precision(const detail::FieldStructure& structure, const detail::FieldBlocks& blocks, double scale,
                       const Vector& fixed, const std::vector<Matrix>& precisions) {
    SparseMatrix lower = structure.lower_pattern();
    const std::vector<double> values = structure.lower_values(blocks, scale, fixed, precisions);
    std::copy(values.begin(), values.end(), lower.valuePtr());
    return Matrix(SparseMatrix(lower.selfadjointView<Eigen::Lower>()));
}

void expect_factor_is_right(const FieldData& data) {
    const auto design =
        std::make_shared<const detail::FieldDesign>(std::make_shared<const FieldData>(data), detail::FieldUnits(data));
    const auto structure = std::make_shared<const detail::FieldStructure>(design);
    const auto plan = std::make_shared<const detail::PrecisionPlan>(structure);
    Random random(7);
    Vector weights(data.y.size());
    for (double& weight : weights) weight = 0.2 + random.uniform();
    const detail::FieldBlocks blocks = structure->fold(weights);
    const Index size = design->shape().size;

    // The rows themselves, written out.
    Matrix a(data.y.size(), size);
    for (Index j = 0; j < size; ++j) a.col(j) = design->predictor(Vector::Unit(size, j), 0, data.y.size());
    const Vector fixed = Vector::LinSpaced(design->shape().fixed, 0.1, 0.4);
    std::vector<Matrix> precisions;
    Matrix expected = 1.7 * a.transpose() * weights.asDiagonal() * a;
    for (Index j = 0; j < fixed.size(); ++j) expected(j, j) += fixed[j];
    for (const detail::FieldShape::Factor& factor : design->shape().factors) {
        precisions.push_back(test::random_precision(factor.effects, random));
        for (Index level = 0; level < factor.levels; ++level) {
            const Index at = factor.offset + level * factor.effects;
            expected.block(at, at, factor.effects, factor.effects) += precisions.back();
        }
    }
    EXPECT_LT(test::relative_error(dense_precision(*structure, blocks, 1.7, fixed, precisions), expected), 1e-13);
    const Vector x = standard_normals(size, random);
    const Vector product = a.transpose() * weights.asDiagonal() * a * x;
    EXPECT_LT(test::relative_error(structure->multiply(blocks, x), product), 1e-12);
    EXPECT_LT(test::relative_error(design->transposed(weights), a.transpose() * weights), 1e-12);

    detail::PrecisionFactor factor(plan);
    ASSERT_TRUE(factor.factorise(blocks, 1.7, fixed, precisions));
    const Matrix inverse = expected.inverse();
    EXPECT_NEAR(factor.log_determinant(), expected.llt().matrixLLT().diagonal().array().log().sum() * 2.0, 1e-9);
    const Matrix right = test::random_matrix(size, 2, random);
    EXPECT_LT(test::relative_error(factor.solve(right), inverse * right), 1e-10);
    const Matrix root = factor.root_solve(Matrix::Identity(size, size));
    EXPECT_LT(test::relative_error(root * root.transpose(), inverse), 1e-10);
    const detail::PrecisionInverse selected(factor);
    EXPECT_LT(test::relative_error(selected.diagonal(), inverse.diagonal()), 1e-10);
    for (std::size_t f = 0; f < design->shape().factors.size(); ++f) {
        const auto [offset, levels, q] = design->shape().factors[f];
        Matrix sum = Matrix::Zero(q, q);
        for (Index level = 0; level < levels; ++level)
            sum += inverse.block(offset + level * q, offset + level * q, q, q);
        EXPECT_LT(test::relative_error(selected.block_sum(f), sum), 1e-10);
    }
    for (const Index n : {Index{0}, data.y.size() / 2, data.y.size() - 1}) {
        EXPECT_NEAR(selected.row_variance(n), a.row(n) * inverse * a.row(n).transpose(), 1e-10);
    }
    const Vector expected_variances = (a * inverse).cwiseProduct(a).rowwise().sum();
    Vector variances(data.y.size() - 3);
    selected.row_variances(detail::RowDesign(structure), 3, data.y.size(), variances.data());
    EXPECT_LT(test::relative_error(variances, expected_variances.tail(variances.size())), 1e-10);
}

TEST(Field, PrecisionIsFactoredForEveryLayoutOfFactors) {
    expect_factor_is_right(sleepstudy(true));
    expect_factor_is_right(simulated_field(200, 12, 9, false, true, 1));
    expect_factor_is_right(simulated_field(200, 12, 3, true, true, 2));
    expect_factor_is_right(simulated_field(60, 12, 40, false, false, 3));
    // So many levels that the rest is sparse.
    expect_factor_is_right(simulated_field(700, 330, 2, true, false, 4));
    FieldData three = simulated_field(150, 10, 8, false, true, 5);
    three.factors.push_back(three.factors[0]);
    three.factors[2].name = "again";
    expect_factor_is_right(three);
    FieldData none = simulated_field(50, 4, 4, false, false, 6);
    none.factors.clear();
    expect_factor_is_right(none);
}

/// Fourth-order differences of a function of ψ.
template <class Function>
double slope(Function function, double at, double h = 1e-3) {
    return (8.0 * (function(at + h) - function(at - h)) - (function(at + 2.0 * h) - function(at - 2.0 * h))) /
           (12.0 * h);
}

const std::vector<ScalePrior>& scale_priors() {
    static const std::vector<ScalePrior> priors{ScalePrior::half_t(2.0, 3.0), ScalePrior::half_t(1.0, 0.5),
                                                ScalePrior::half_normal(2.0), ScalePrior::exponential(0.7),
                                                ScalePrior::gamma_precision(2.0, 0.5)};
    return priors;
}

TEST(Field, ScalePriorsAreDensitiesWithTheirDerivatives) {
    for (const ScalePrior& prior : scale_priors()) {
        double integral = 0.0;
        for (double t = -40.0; t < 40.0; t += 0.01) integral += 0.01 * std::exp(detail::scale_density(prior, t).value);
        EXPECT_NEAR(integral, 1.0, 1e-10);
        for (const double t : {-2.0, 0.3, 1.5}) {
            const detail::ScaleDensity density = detail::scale_density(prior, t);
            EXPECT_NEAR(density.slope, slope([&](double u) { return detail::scale_density(prior, u).value; }, t), 1e-8);
            const auto by_first = [&](double a) {
                return detail::scale_density({prior.kind, a, prior.second}, t).slope;
            };
            const auto by_second = [&](double b) {
                return detail::scale_density({prior.kind, prior.first, b}, t).slope;
            };
            EXPECT_NEAR(density.slope_by_first, slope(by_first, prior.first), 1e-8);
            EXPECT_NEAR(density.slope_by_second, slope(by_second, prior.second), 1e-8);
        }
    }
}

void expect_prior_derivatives(const FieldPrior::Factor& prior, const Vector& units, const Vector& psi,
                              const detail::EffectShape& shape = {}) {
    const detail::EffectParameters part(prior, units, shape, "g");
    Vector gradient = Vector::Zero(part.size());
    part.log_prior(psi, gradient);
    const detail::EffectCovariance covariance = part.covariance(psi);
    EXPECT_LT(test::relative_error(covariance.precision * covariance.covariance(),
                                   Matrix::Identity(part.effects(), part.effects())),
              1e-12);
    EXPECT_NEAR(covariance.log_determinant, std::log(covariance.covariance().determinant()), 1e-10);
    for (Index j = 0; j < part.size(); ++j) {
        const auto moved = [&](double value) {
            Vector other = psi;
            other[j] = value;
            return other;
        };
        const auto value = [&](double at) {
            Vector unused = Vector::Zero(part.size());
            return part.log_prior(moved(at), unused);
        };
        EXPECT_NEAR(gradient[j], slope(value, psi[j]), 1e-7);
        EXPECT_NEAR(covariance.log_determinant_by_psi[j],
                    slope([&](double at) { return part.covariance(moved(at)).log_determinant; }, psi[j]), 1e-8);
        for (Index r = 0; r < part.effects(); ++r) {
            for (Index c = 0; c < part.effects(); ++c) {
                const double by_psi =
                    slope([&](double at) { return part.covariance(moved(at)).precision(r, c); }, psi[j]);
                EXPECT_NEAR(covariance.by_psi[static_cast<std::size_t>(j)](r, c), by_psi,
                            1e-6 * (1 + std::abs(by_psi)));
            }
        }
    }
}

TEST(Field, PriorsOfCovarianceMatricesHaveTheirDerivatives) {
    const Vector units{{1.5, 0.4, 2.0}};
    const Vector psi{{-0.3, 0.5, 0.2, 0.4, -0.7, 0.25}};
    const std::vector<ScalePrior> half_t{ScalePrior::half_t(2.0, 1.0), ScalePrior::half_t(2.0, 0.3),
                                         ScalePrior::half_t(2.0, 4.0)};
    expect_prior_derivatives({half_t, true}, units, psi);
    expect_prior_derivatives({half_t, false}, units, psi);
    expect_prior_derivatives(
        {{ScalePrior::uniform(0.5, 4.0), ScalePrior::exponential(1.0), ScalePrior::gamma_precision(0.5, 0.5)}, false},
        units, psi);
    // Effects at the means of their columns, with a prior of those and one of the intercept at zero; in blocks; and
    // with bounds, which are those of the sd at zero.
    const detail::EffectShape centred{{}, 0, Vector{{0.0, 5.0, -2.0}}};
    expect_prior_derivatives({half_t, true}, units, psi, centred);
    expect_prior_derivatives({half_t, false}, units, psi, centred);
    expect_prior_derivatives({half_t, false, false}, units, psi, centred);
    expect_prior_derivatives({half_t, true}, units, psi.head(4), {{2, 1}, 0, centred.centre});
    expect_prior_derivatives({half_t, false, false}, units, psi.head(4), {{1, 2}, 1, Vector{{3.0, 0.0, 1.0}}});
    expect_prior_derivatives({half_t, true}, units, psi.head(3), {{1, 1, 1}, 0, centred.centre});
    expect_prior_derivatives(
        {{ScalePrior::uniform(0.5, 4.0), ScalePrior::exponential(1.0), ScalePrior::half_normal(0.5)}, false}, units,
        psi, centred);
}

// A prior of sds at zero in the coordinates at the means: that of the coordinates at zero times the Jacobian of these,
// by differences.
TEST(Field, APriorAtZeroIsADensityOfTheEffectsAtTheMeans) {
    const FieldPrior::Factor prior{{ScalePrior::half_normal(1.5), ScalePrior::half_normal(0.4)}, false, false};
    const detail::EffectParameters part(prior, Vector{{1.0, 1.0}}, {{}, 0, Vector{{0.0, 2.0}}}, "g");
    const detail::EffectParameters at_zero(prior, Vector{{1.0, 1.0}}, {{}, 0, Vector{{0.0, 0.0}}}, "g");
    const auto to_zero = [&](const Vector& psi) {
        const Matrix root = part.root_at_zero(psi);
        const Matrix covariance = root * root.transpose();
        const Vector sd = covariance.diagonal().cwiseSqrt();
        return Vector{{std::log(sd[0]), std::log(sd[1]), std::atanh(covariance(1, 0) / (sd[0] * sd[1]))}};
    };
    for (const Vector& psi : {Vector{{-0.3, 0.5, 0.2}}, Vector{{-2.0, 0.4, -1.5}}, Vector{{1.0, -3.0, 0.9}}}) {
        constexpr double kStep = 1e-5;
        Matrix jacobian(3, 3);
        for (Index j = 0; j < 3; ++j) {
            Vector up = psi;
            Vector down = psi;
            up[j] += kStep;
            down[j] -= kStep;
            jacobian.col(j) = (to_zero(up) - to_zero(down)) / (2.0 * kStep);
        }
        Vector unused = Vector::Zero(3);
        EXPECT_NEAR(part.log_prior(psi, unused),
                    at_zero.log_prior(to_zero(psi), unused) + std::log(std::abs(jacobian.determinant())), 1e-7);
    }
}

// By quadrature over the correlation and one sd, half_t(2, A) is left of the other.
TEST(Field, HuangAndWandsPriorHasHalfTMarginals) {
    const detail::EffectParameters part({{ScalePrior::half_t(2.0, 1.5), ScalePrior::half_t(2.0, 0.4)}, true},
                                        Vector{{1.0, 1.0}}, {}, "g");
    for (const double t : {-1.0, 0.2, 1.3}) {
        double marginal = 0.0;
        constexpr double kStep = 0.1;
        for (double other = -25.0; other < 25.0; other += kStep) {
            for (double z = -9.0; z <= 9.0; z += kStep) {
                Vector unused = Vector::Zero(3);
                marginal += kStep * kStep * std::exp(part.log_prior(Vector{{t, other, z}}, unused));
            }
        }
        EXPECT_NEAR(std::log(marginal), detail::scale_density(ScalePrior::half_t(2.0, 1.5), t).value, 1e-6);
    }
}

/// A weak prior of many kinds.
FieldPrior mixed_prior(const FieldData& data) {
    FieldPrior prior = FieldPrior::automatic(data);
    prior.sigma = ScalePrior::half_normal(2.0);
    if (prior.factors.size() > 1) prior.factors[1].sd[0] = ScalePrior::exponential(1.3);
    return prior;
}

TEST(Field, FitPassesTheBatteryOfModels) {
    const std::vector<FieldData> sets{dyestuff(), sleepstudy(false), sleepstudy(true),
                                      simulated_field(120, 8, 6, false, true, 11),
                                      simulated_field(90, 6, 3, true, false, 12)};
    for (const FieldData& data : sets) {
        const FieldModel model(data, mixed_prior(data));
        FitOptions options;
        options.tolerance = 1e-11;
        const Optimum optimum = fit(model, options);
        EXPECT_TRUE(optimum.converged()) << optimum.message;
        const testing::Report report = testing::check_model(model, optimum.state);
        EXPECT_TRUE(report.passed()) << report.text();
    }
}

TEST(Field, ExpansionAndJointHaveTheirDerivativesAwayFromTheFit) {
    const FieldData data = simulated_field(60, 5, 4, false, true, 13);
    const FieldModel model(data, mixed_prior(data));
    Random random(3);
    const Vector mean = 0.4 * standard_normals(model.layout().size(), random);
    const Expansion here = model.expand(mean, Order::hessian);
    const Matrix hessian = SparseMatrix(here.hessian.selfadjointView<Eigen::Lower>());
    const JointGradients joint = model.log_joint_gradients(mean, 1);
    EXPECT_EQ(joint.values[0], model.log_joint(mean, 1)[0]);
    for (Index i = 0; i < mean.size(); ++i) {
        const auto moved = [&](double value) {
            Vector other = mean;
            other[i] = value;
            return other;
        };
        const double bound = slope([&](double v) { return model.expand(moved(v), Order::value).value; }, mean[i]);
        EXPECT_NEAR(here.gradient[i], bound, 1e-6 * (1.0 + std::abs(bound)));
        const double log_joint = slope([&](double v) { return model.log_joint(moved(v), 1)[0]; }, mean[i]);
        EXPECT_NEAR(joint.gradients(i, 0), log_joint, 1e-6 * (1.0 + std::abs(log_joint)));
        for (Index j = 0; j < mean.size(); ++j) {
            const double second =
                slope([&](double v) { return model.expand(moved(v), Order::gradient).gradient[j]; }, mean[i]);
            EXPECT_NEAR(hessian(i, j), second, 1e-5 * (1.0 + std::abs(second)));
        }
    }
}

TEST(Field, TheCurvatureOfOnePlaceIsNotTakenForThatOfAnother) {
    for (const std::string family : {"gaussian", "poisson"}) {
        FieldData data = simulated_field(60, 5, 4, false, false, 13);
        data.likelihood = Likelihood::named(family);
        if (family == "poisson") {
            data.y = data.y.array().abs().ceil();
        }
        const FieldModel model(data);
        Random random(3);
        const Vector one = 0.2 * standard_normals(model.layout().size(), random);
        const Vector other = 0.2 * standard_normals(model.layout().size(), random);
        const auto of = [&](const FieldModel& asked, const Vector& mean) {
            return Matrix(asked.expand(mean, Order::hessian).hessian);
        };
        const Matrix first = of(model, one);
        EXPECT_TRUE(of(model, one) == first);
        EXPECT_LT(test::relative_error(of(model, other), of(FieldModel(data), other)), 1e-6);
        EXPECT_LT(test::relative_error(of(model, one), first), 1e-6);
    }
}

TEST(Field, ASweepWithSomethingClampedNeverLowersTheBound) {
    const FieldData data = simulated_field(60, 5, 4, false, true, 14);
    const FieldModel model(data);
    Random random(5);
    State state = model.start(random);
    state.mean += 0.3 * standard_normals(state.mean.size(), random);
    state.natural = state.mean;
    for (std::size_t i = 0; i < state.clamped.size(); i += 3) state.clamped[i] = true;
    const Vector before = state.mean;
    double last = testing::detail::bound(model, state);
    for (int i = 0; i < 20; ++i) {
        model.sweep(state);
        const double bound = testing::detail::bound(model, state);
        EXPECT_GE(bound, last - 1e-9);
        last = bound;
    }
    for (std::size_t i = 0; i < state.clamped.size(); i += 3) {
        EXPECT_EQ(state.mean[static_cast<Index>(i)], before[static_cast<Index>(i)]);
    }
}

/// Means and sds of the coefficients and ψ in data units.
struct Response {
    Vector mean;
    Vector sd;
};

Response respond(const FieldModel& model, const std::vector<std::string>& names) {
    FitOptions options;
    options.tolerance = 1e-12;
    const Optimum optimum = fit(model, options);
    EXPECT_TRUE(optimum.converged()) << optimum.message;
    const LinearResponse response(model, optimum);
    const Functionals functionals = model.in_data_units(names);
    return {response.mean(functionals), response.sd(functionals)};
}

// field.md, section 1: fixed effects .96 to .99 (.92 with six groups), log sds within .02 (.3) sds.
TEST(Field, OnePointResponseIsWhereTheTheoryPutsIt) {
    const FieldReference exact("sleepstudy_ri_default");
    const Response sleep =
        respond(FieldModel(sleepstudy(false)), {"intercept", "beta[Days]", "log_sd[Subject,intercept]", "log_sigma"});
    for (Index i = 0; i < 2; ++i) {
        EXPECT_NEAR(sleep.mean[i], exact.beta_mean[i], 0.001 * exact.beta_sd[i]);
        EXPECT_GT(sleep.sd[i], 0.95 * exact.beta_sd[i]);
        EXPECT_LT(sleep.sd[i], exact.beta_sd[i]);
        EXPECT_NEAR(sleep.mean[2 + i], exact.mean[i], 0.15 * exact.sd[i]);
        EXPECT_NEAR(sleep.sd[2 + i], exact.sd[i], 0.03 * exact.sd[i]);
    }
    const FieldReference few("dyestuff_default");
    const Response dye = respond(FieldModel(dyestuff()), {"intercept", "log_sd[Batch,intercept]"});
    EXPECT_NEAR(dye.mean[0], few.beta_mean[0], 1e-6);
    EXPECT_GT(dye.sd[0], 0.85 * few.beta_sd[0]);
    EXPECT_NEAR(dye.mean[1], few.mean[0], 0.35 * few.sd[0]);
}

// The marginal of y, a dense normal in the data's units, and the priors of the sds.
TEST(Field, DensityOfTheVarianceParametersIsThatOfTheMarginalNormal) {
    const FieldData data = sleepstudy(false);
    const FieldModel model(data);
    const FieldPrior& prior = model.prior();
    const Index rows = data.y.size();
    for (const Vector& psi : {Vector{{-0.5, -0.4}}, Vector{{0.6, -1.0}}}) {
        const Vector sds = model.variance_values(psi);
        Matrix covariance = sds[1] * sds[1] * Matrix::Identity(rows, rows);
        const Vector x = data.columns.col(0).array() - (*prior.centre)[0];
        covariance.array() += prior.intercept_sd * prior.intercept_sd;
        covariance += prior.sd[0] * prior.sd[0] * x * x.transpose();
        for (Index i = 0; i < rows; ++i) {
            for (Index j = 0; j < rows; ++j) {
                if (data.factors[0].level[static_cast<std::size_t>(i)] ==
                    data.factors[0].level[static_cast<std::size_t>(j)]) {
                    covariance(i, j) += sds[0] * sds[0];
                }
            }
        }
        const Eigen::LLT<Matrix> cholesky(covariance);
        const Vector residual = data.y.array() - prior.intercept_mean;
        double expected = -0.5 * residual.dot(cholesky.solve(residual)) -
                          cholesky.matrixLLT().diagonal().array().log().sum() -
                          0.5 * static_cast<double>(rows) * std::log(2.0 * std::numbers::pi);
        expected += detail::scale_density(prior.factors[0].sd[0], std::log(sds[0])).value;
        expected += detail::scale_density(prior.sigma, std::log(sds[1])).value;
        EXPECT_NEAR(model.log_density(psi), expected, 1e-8);
    }
}

TEST(Field, AutomaticPriorIsThatOfTheReferences) {
    const FieldData data = sleepstudy(true);
    const FieldPrior prior = FieldPrior::automatic(data);
    const double s = 56.32875712523514;  // sd_y of the reference
    const double days = std::sqrt((data.columns.col(0).array() - 4.5).square().sum() / 179.0);
    EXPECT_NEAR(prior.intercept_mean, data.y.mean(), 1e-10);
    EXPECT_NEAR(prior.intercept_sd, 2.5 * s, 1e-10);
    EXPECT_NEAR(prior.sd[0], 2.5 * s / days, 1e-10);
    EXPECT_NEAR(prior.sigma.second, s, 1e-10);
    EXPECT_EQ(prior.sigma.first, 2.0);
    EXPECT_NEAR(prior.factors[0].sd[0].second, s, 1e-10);
    EXPECT_NEAR(prior.factors[0].sd[1].second, s / days, 1e-10);
    EXPECT_TRUE(prior.factors[0].huang_wand);
}

TEST(Field, OffsetsAndUnitsChangeNothing) {
    const FieldData data = simulated_field(150, 10, 8, false, false, 21);
    const std::vector<std::string> names{"beta[x]", "beta[w]", "u[a,3,intercept]", "log_sd[a,intercept]", "log_sigma"};
    const Response plain = respond(FieldModel(data), names);
    FieldData moved = data;
    moved.columns.col(0).array() += 1e9;
    moved.y.array() -= 3e6;
    const Response far = respond(FieldModel(moved), names);
    for (Index i = 0; i < plain.mean.size(); ++i) {
        EXPECT_NEAR(far.mean[i], plain.mean[i], 1e-5 * plain.sd[i]);
        EXPECT_NEAR(far.sd[i], plain.sd[i], 1e-6 * plain.sd[i]);
    }
    FieldData scaled = data;
    scaled.columns.col(1) *= 1e-7;
    scaled.y *= 1e5;
    const Response other = respond(FieldModel(scaled), names);
    const Vector unit{{1e5, 1e12, 1e5, 1.0, 1.0}};
    const Vector shift{{0.0, 0.0, 0.0, std::log(1e5), std::log(1e5)}};
    for (Index i = 0; i < plain.mean.size(); ++i) {
        EXPECT_NEAR((other.mean[i] - shift[i]) / unit[i], plain.mean[i], 1e-8 * plain.sd[i]);
        EXPECT_NEAR(other.sd[i] / unit[i], plain.sd[i], 1e-8 * plain.sd[i]);
    }
}

TEST(Field, WeightsAreRowsWrittenOut) {
    FieldData data = simulated_field(40, 5, 4, false, true, 22);
    FieldData weighted = data;
    weighted.weights = Vector::Ones(40);
    weighted.weights[3] = 2.0;
    weighted.weights[7] = 0.0;
    weighted.weights[11] = 3.0;
    FieldData written = data;
    std::vector<int> rows;
    for (int n = 0; n < 40; ++n) rows.insert(rows.end(), static_cast<std::size_t>(weighted.weights[n]), n);
    written.y = Vector(data.y(rows));
    written.columns = Matrix(data.columns(rows, Eigen::all));
    for (std::size_t f = 0; f < 2; ++f) {
        written.factors[f].values = Matrix(data.factors[f].values(rows, Eigen::all));
        written.factors[f].level.clear();
        for (const int n : rows) written.factors[f].level.push_back(data.factors[f].level[static_cast<std::size_t>(n)]);
    }
    const std::vector<std::string> names{"intercept", "beta[x]", "u[a,2,x]", "log_sd[a,x]", "log_sigma"};
    const Response left = respond(FieldModel(weighted), names);
    const Response right = respond(FieldModel(written), names);
    EXPECT_LT((left.mean - right.mean).cwiseQuotient(right.sd).cwiseAbs().maxCoeff(), 1e-9);
    EXPECT_LT(test::relative_error(left.sd, right.sd), 1e-9);
}

TEST(Field, RowsAndPriorsMoveTheFitAsRefitsSay) {
    const FieldData data = simulated_field(60, 6, 4, false, true, 23);
    FieldPrior prior = mixed_prior(data);
    prior.centre = data.columns.colwise().mean().transpose();
    const FieldModel model(data, prior);
    FitOptions options;
    options.tolerance = 1e-13;
    const Optimum optimum = fit(model, options);
    ASSERT_TRUE(optimum.converged());
    const LinearResponse response(model, optimum);
    const std::vector<std::string> names{
        "intercept",           "beta[x]",  "u[a,2,x]", "log_sd[a,x]", "atanh_cor[a,intercept,x]",
        "log_sd[b,intercept]", "log_sigma"};
    const Functionals functionals = model.in_data_units(names);
    const Vector sds = response.sd(functionals);
    const auto refitted = [&](const FieldData& moved, const FieldPrior& other) {
        const FieldModel refit(moved, other);
        FitOptions close;
        close.tolerance = 1e-13;
        const Optimum there = fit(refit, close);
        const Functionals::Resolved resolved = refit.in_data_units(names).resolve(refit.layout());
        return Vector(resolved.weights.transpose() * there.state.mean + resolved.constants);
    };
    const auto expect_moves = [&](const std::string& what, const Vector& predicted, const auto& at, double h) {
        const Vector derivative = (8.0 * (at(h) - at(-h)) - (at(2.0 * h) - at(-2.0 * h))) / (12.0 * h);
        const double largest = derivative.cwiseQuotient(sds).cwiseAbs().maxCoeff();
        for (Index i = 0; i < predicted.size(); ++i) {
            EXPECT_NEAR(predicted[i] / sds[i], derivative[i] / sds[i], 2e-5 * largest + 1e-9 / h)
                << what << ", " << names[static_cast<std::size_t>(i)];
        }
    };
    for (const Index row : {Index{0}, Index{17}}) {
        response.case_weights(functionals, [&](const RowAnswers& answers) {
            expect_moves(
                "weight", answers.answers.row(row).transpose(),
                [&](double h) {
                    FieldData moved = data;
                    moved.weights = Vector::Ones(60);
                    moved.weights[row] += h;
                    return refitted(moved, prior);
                },
                0.02);
        });
        response.leverage(functionals, [&](const RowAnswers& answers) {
            expect_moves(
                "value", answers.answers.row(row).transpose(),
                [&](double h) {
                    FieldData moved = data;
                    moved.y[row] += h;
                    return refitted(moved, prior);
                },
                0.02);
        });
    }
    const Matrix sensitivities = response.sensitivities(functionals);
    const auto expect_sensitive = [&](const std::string& name, double& number) {
        Index found = -1;
        for (std::size_t i = 0; i < model.hyperparameters().size(); ++i) {
            if (model.hyperparameters()[i] == name) found = static_cast<Index>(i);
        }
        ASSERT_GE(found, 0) << name;
        const double value = number;
        expect_moves(
            name, sensitivities.col(found),
            [&](double h) {
                number = value + h;
                const Vector result = refitted(data, prior);
                number = value;
                return result;
            },
            0.01 * std::max(std::abs(value), 0.3));
    };
    expect_sensitive("intercept: mean", prior.intercept_mean);
    expect_sensitive("intercept: sd", prior.intercept_sd);
    expect_sensitive("beta[x]: mean", prior.mean[0]);
    expect_sensitive("beta[x]: sd", prior.sd[0]);
    expect_sensitive("sd[a,x]: scale", prior.factors[0].sd[1].second);
    expect_sensitive("sd[b,intercept]: rate", prior.factors[1].sd[0].first);
    expect_sensitive("sigma: scale", prior.sigma.first);
    // One number for all effects of a factor.
    const double df = prior.factors[0].sd[0].first;
    Index place = 0;
    while (model.hyperparameters()[static_cast<std::size_t>(place)] != "sd[a]: df") ++place;
    expect_moves(
        "df", sensitivities.col(place),
        [&](double h) {
            FieldPrior other = prior;
            for (ScalePrior& own : other.factors[0].sd) own.first = df + h;
            return refitted(data, other);
        },
        0.02);
}

TEST(Field, OddDataAreFitted) {
    Random random(31);
    // Groups of one row; one group; between-group sums of squares below their expectation; no factors; more
    // coefficients than rows; a level without rows.
    FieldData ones = simulated_field(30, 30, 5, false, false, 32);
    for (int n = 0; n < 30; ++n) ones.factors[0].level[static_cast<std::size_t>(n)] = n;
    FieldData one_group = simulated_field(30, 1, 5, false, false, 33);
    FieldData flat = dyestuff();
    for (Index n = 0; n < 30; ++n) flat.y[n] = 10.0 + static_cast<double>(n % 5) + 0.01 * static_cast<double>(n / 5);
    FieldData none = sleepstudy(false);
    none.factors.clear();
    FieldData wide = none;
    wide.columns = test::random_matrix(180, 220, random);
    wide.names.clear();
    for (int j = 0; j < 220; ++j) wide.names.push_back("x" + std::to_string(j));
    FieldData empty = sleepstudy(true);
    empty.factors[0].levels.emplace_back("nobody");
    FieldData bare = sleepstudy(false);
    bare.intercept = false;
    for (const FieldData& data : {ones, one_group, flat, none, wide, empty, bare}) {
        const FieldModel model(data);
        const Optimum optimum = fit(model);
        EXPECT_TRUE(optimum.converged()) << optimum.message;
        const LinearResponse response(model, optimum);
        EXPECT_TRUE(response.marginal_sds().allFinite());
        const Vector held = model.mean_field_variances(optimum.state);
        EXPECT_TRUE((held.array() > 0.0).all());
    }
    for (const ScalePrior& prior : {ScalePrior::gamma_precision(0.001, 0.001), ScalePrior::uniform(0.0, 100.0)}) {
        for (const FieldData& data : {flat, dyestuff()}) {
            FieldPrior own = FieldPrior::automatic(data);
            own.factors[0].sd[0] = prior;
            own.sigma = prior;
            const FieldModel model(data, own);
            const Optimum optimum = fit(model);
            EXPECT_TRUE(optimum.converged()) << optimum.message;
        }
    }
}

TEST(Field, ImpossibleDataAreRefused) {
    FieldData data = sleepstudy(false);
    data.columns.col(0).setConstant(3.0);
    EXPECT_THROW(FieldModel{data}, std::runtime_error);
    data = sleepstudy(false);
    data.y[5] = std::nan("");
    EXPECT_THROW(FieldModel{data}, std::runtime_error);
    data = sleepstudy(false);
    data.y.setConstant(2.0);
    EXPECT_THROW(FieldModel{data}, std::runtime_error);
    data = sleepstudy(false);
    data.factors[0].level[3] = 99;
    EXPECT_THROW(FieldModel{data}, std::invalid_argument);
    data = sleepstudy(true);
    FieldPrior prior = FieldPrior::automatic(data);
    prior.factors[0].sd[1] = ScalePrior::exponential(1.0);
    EXPECT_THROW(FieldModel(data, prior), std::invalid_argument);
    prior.factors[0].huang_wand = false;
    EXPECT_NO_THROW(FieldModel(data, prior));
    prior.sigma = ScalePrior::uniform(3.0, 2.0);
    EXPECT_THROW(FieldModel(data, prior), std::invalid_argument);
    EXPECT_THROW(FieldModel(sleepstudy(false)).in_data_units({"tau"}), std::invalid_argument);
}

TEST(Field, RowsAreDrawnAndWeighedAsTheyAreDistributed) {
    const FieldData data = sleepstudy(true);
    const FieldModel model(data);
    const Optimum optimum = fit(model);
    const Vector values = model.variance_values(optimum.state.mean.head(model.variance_count()));
    const double sigma = values[values.size() - 1];
    const Functionals::Resolved resolved =
        model.in_data_units({"intercept", "beta[Days]", "u[Subject,308,intercept]", "u[Subject,308,Days]"})
            .resolve(model.layout());
    const Vector own = resolved.weights.transpose() * optimum.state.mean + resolved.constants;
    model.row_log_likelihoods(optimum.state.mean, 2, [&](const RowAnswers& rows) {
        for (Index n = 0; n < 10; ++n) {  // the rows of 308
            const double days = data.columns(n, 0);
            const double z = (data.y[n] - own[0] - own[2] - days * (own[1] + own[3])) / sigma;
            EXPECT_NEAR(rows.answers(n, 0), -0.5 * z * z - std::log(sigma * std::sqrt(2.0 * std::numbers::pi)), 1e-9);
        }
    });
    const Matrix many = optimum.state.mean.replicate(1, 2000);
    model.replicate_rows(many, 3, 2, [&](const RowReplicates& rows) {
        const Vector noise = (rows.replicated - rows.expected).row(0);
        EXPECT_NEAR(std::sqrt(noise.squaredNorm() / 2000.0), sigma, 0.06 * sigma);
        if (rows.first == 0) {
            EXPECT_NEAR(rows.expected(1, 0), own[0] + own[2] + own[1] + own[3], 1e-9);
        }
    });
}

TEST(Field, VariancesAreFunctionsOfPsiWithTheirDerivatives) {
    FieldData data = simulated_field(80, 6, 4, false, true, 41);
    const FieldModel model(data);
    Random random(2);
    const Vector psi = 0.5 * standard_normals(model.variance_count(), random);
    const Matrix jacobian = model.variance_jacobian(psi);
    ASSERT_EQ(model.variances().size(), 5U);
    EXPECT_EQ(model.variances()[2].name, "cor[a,intercept,x]");
    EXPECT_NEAR(model.variance_values(psi)[2], std::tanh(psi[2]), 1e-12);
    for (Index j = 0; j < psi.size(); ++j) {
        for (Index v = 0; v < jacobian.rows(); ++v) {
            const auto value = [&](double at) {
                Vector moved = psi;
                moved[j] = at;
                return model.variance_values(moved)[v];
            };
            EXPECT_NEAR(jacobian(v, j), slope(value, psi[j]), 1e-8);
        }
    }
}

}  // namespace
}  // namespace lrvb
