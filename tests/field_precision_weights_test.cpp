// Precision weights: y_n ~ Normal(η_n, σ²/w_n), or a Student t of that scale. A row times √w_n, its columns, effects
// and offset too, is a row of weight one: what a model of such rows says is what precision weights must say, and its
// density differs by Π √w_n.

#include "field_data.hpp"

#include <lrvb/lrvb.hpp>
#include <lrvb/model/field.hpp>
#include <lrvb/sample/field_integral.hpp>

#include <cmath>

namespace lrvb {
namespace {

const std::vector<std::string> kNames{"beta[one]", "beta[x]", "u[g,2,intercept]", "u[g,2,x]", "log_sigma"};

struct Weighted {
    FieldData data;          // with precision weights
    FieldData scaled;        // its rows times the roots of their weights
    FieldPrior prior;        // of both
    double half_logs = 0.0;  // ½ Σ log w
};

Weighted weighted(const std::string& family) {
    constexpr Index rows = 60;
    Random random(3);
    Weighted result;
    FieldData& data = result.data;
    data.likelihood = Likelihood::named(family);
    data.intercept = false;
    data.names = {"one", "x"};
    data.columns.resize(rows, 2);
    data.y.resize(rows);
    data.offset.resize(rows);
    data.weights.resize(rows);
    data.precision_weights = true;
    std::vector<int> level;
    const Vector u = standard_normals(6, random);
    for (Index n = 0; n < rows; ++n) {
        data.columns.row(n) << 1.0, random.normal();
        level.push_back(static_cast<int>(n % 6));
        data.weights[n] = std::exp(1.5 * random.normal());
        data.offset[n] = 0.3 * random.normal();
        const double noise = random.normal() / std::sqrt(data.weights[n]);
        data.y[n] = data.offset[n] + 1.0 + 2.0 * data.columns(n, 1) + u[level.back()] + 0.7 * noise;
    }
    data.factors = {test::field_factor("g", level, 6, {"intercept", "x"}, data.columns)};
    const Vector roots = data.weights.cwiseSqrt();
    FieldData& scaled = result.scaled;
    scaled = data;
    scaled.precision_weights = false;
    scaled.weights.resize(0);
    scaled.y.array() *= roots.array();
    scaled.offset.array() *= roots.array();
    scaled.columns = roots.asDiagonal() * data.columns;
    scaled.factors[0].values = scaled.columns;
    result.half_logs = roots.array().log().sum();
    result.prior = FieldPrior::automatic(data);
    result.prior.centre = Vector::Zero(2);
    return result;
}

class PrecisionWeights : public ::testing::TestWithParam<const char*> {};

TEST_P(PrecisionWeights, AreRowsTimesTheRootsOfTheirWeights) {
    const Weighted own = weighted(GetParam());
    const FieldModel model(own.data, own.prior);
    const FieldModel scaled(own.scaled, own.prior);
    EXPECT_EQ(model.total_weight(), 60.0);
    const Optimum one = fit(model);
    const Optimum other = fit(scaled);
    ASSERT_TRUE(one.termination == Termination::converged && other.termination == Termination::converged);
    EXPECT_NEAR(one.bound, other.bound + own.half_logs, 1e-6);
    const LinearResponse response(model, one);
    const LinearResponse expected(scaled, other);
    const Functionals ours = model.in_data_units(kNames);
    const Functionals theirs = scaled.in_data_units(kNames);
    const Vector sd = expected.sd(theirs);
    EXPECT_LT((response.mean(ours) - expected.mean(theirs)).cwiseQuotient(sd).cwiseAbs().maxCoeff(), 1e-5);
    EXPECT_LT((response.sd(ours) - sd).cwiseQuotient(sd).cwiseAbs().maxCoeff(), 1e-5);

    const auto answers = [](const LinearResponse& asked, const Functionals& functionals, bool by_weight) {
        Matrix all(60, static_cast<Index>(kNames.size()));
        const auto visit = [&](const RowAnswers& rows) {
            all.middleRows(rows.first, rows.answers.rows()) = rows.answers;
            EXPECT_EQ(rows.weights, Vector::Ones(rows.answers.rows()));
        };
        by_weight ? asked.case_weights(functionals, visit) : asked.leverage(functionals, visit);
        return all;
    };
    const auto expect_near = [&](const Matrix& left, const Matrix& right) {
        for (Index v = 0; v < sd.size(); ++v) {
            const double size = right.col(v).cwiseAbs().maxCoeff();
            EXPECT_LT((left.col(v) - right.col(v)).cwiseAbs().maxCoeff(), 1e-4 * size) << v;
        }
    };
    expect_near(answers(response, ours, true), answers(expected, theirs, true));
    // dm/dy = √w dm/d(√w y).
    const Matrix leverage = own.data.weights.cwiseSqrt().asDiagonal() * answers(expected, theirs, false);
    expect_near(answers(response, ours, false), leverage);
}

TEST_P(PrecisionWeights, GiveRowsTheirOwnDensity) {
    const Weighted own = weighted(GetParam());
    const auto model = std::make_shared<const FieldModel>(own.data, own.prior);
    const Optimum optimum = fit(*model);
    const Vector at = LinearResponse(*model, optimum).mean(model->in_data_units(kNames));
    const double sigma = std::exp(at[4]);
    Vector densities(60);
    model->row_log_likelihoods(optimum.state.mean, 1, [&](const RowAnswers& rows) {
        densities.segment(rows.first, rows.answers.rows()) = rows.answers.col(0);
    });
    const Functionals effects = model->in_data_units({"u[g,1,intercept]", "u[g,1,x]"});
    const Vector u = LinearResponse(*model, optimum).mean(effects);
    const double nu = std::string(GetParam()) == "student"
                          ? model->variance_values(optimum.state.mean.head(model->variance_count())).tail(1)[0]
                          : 0.0;
    const double x = own.data.columns(0, 1);
    const double eta = own.data.offset[0] + at[0] + at[1] * x + u[0] + u[1] * x;
    const double scale = sigma / std::sqrt(own.data.weights[0]);
    const double z = (own.data.y[0] - eta) / scale;
    const double expected = nu > 0.0 ? std::lgamma(0.5 * (nu + 1.0)) - std::lgamma(0.5 * nu) -
                                           0.5 * std::log(nu * M_PI) - 0.5 * (nu + 1.0) * std::log1p(z * z / nu)
                                     : -0.5 * z * z - 0.5 * std::log(2.0 * M_PI);
    EXPECT_NEAR(densities[0], expected - std::log(scale), 1e-8);
    // Replicates vary by it: the mean square of 4,000 of them, within 5 of its Monte Carlo errors.
    if (nu > 0.0) return;
    const Matrix many = optimum.state.mean.replicate(1, 4000);
    Vector variance = Vector::Zero(60);
    model->replicate_rows(many, 1, 1, [&](const RowReplicates& rows) {
        for (Index i = 0; i < rows.replicated.rows(); ++i) {
            variance[rows.first + i] = (rows.replicated.row(i) - rows.expected.row(i)).squaredNorm() / 4000.0;
        }
    });
    for (Index n = 0; n < 60; ++n) {
        EXPECT_NEAR(variance[n] * own.data.weights[n] / (sigma * sigma), 1.0, 5.0 * std::sqrt(2.0 / 4000.0)) << n;
    }
}

INSTANTIATE_TEST_SUITE_P(Families, PrecisionWeights, ::testing::Values("gaussian", "student"));

// A unit of the weights is one of σ, and of nothing else.
TEST(PrecisionWeightsPrior, FollowsTheUnitOfTheWeights) {
    Weighted own = weighted("gaussian");
    const FieldPrior before = FieldPrior::automatic(own.data);
    own.data.weights *= 1e6;
    const FieldPrior after = FieldPrior::automatic(own.data);
    EXPECT_NEAR(after.sigma.second, 1e3 * before.sigma.second, 1e-9 * after.sigma.second);
    EXPECT_EQ(after.sd, before.sd);
    EXPECT_EQ(after.factors[0].sd[0].second, before.factors[0].sd[0].second);
    const FieldModel model(own.data);
    const Optimum optimum = fit(model);
    own.data.weights /= 1e6;
    const FieldModel smaller(own.data);
    const Optimum other = fit(smaller);
    const Vector one = LinearResponse(model, optimum).mean(model.in_data_units(kNames));
    Vector two = LinearResponse(smaller, other).mean(smaller.in_data_units(kNames));
    two[4] += std::log(1e3);
    EXPECT_LT((one - two).cwiseAbs().maxCoeff(), 1e-6);
}

TEST(PrecisionWeightsPrior, AreForRowsThatHaveAVarianceOfTheirOwn) {
    FieldData data = weighted("gaussian").data;
    data.likelihood = Likelihood::named("poisson");
    data.y.setOnes();
    EXPECT_THROW(FieldModel{data}, std::invalid_argument);
}

}  // namespace
}  // namespace lrvb
