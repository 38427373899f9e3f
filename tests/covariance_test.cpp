// The covariance from stored parts and the flattest direction, against LinearResponse and against dense decompositions.

#include "crossed_model.hpp"
#include "grouped_model.hpp"
#include "mixture_with_indicators.hpp"
#include "support.hpp"

#include <Eigen/Eigenvalues>

#include <thread>

namespace lrvb {
namespace {

SparseMatrix identity(Index size) {
    SparseMatrix weights(size, size);
    weights.setIdentity();
    return weights;
}

// The factorisation that a fit leaves behind is of the step before the last: the response is to make its own.
Optimum without_curvature(Optimum optimum) {
    optimum.curvature.reset();
    return optimum;
}

struct Case {
    std::string name;
    MultilinearModel model;
    Optimum optimum;
};

Case crossed_case() {
    MultilinearModel model = test::crossed_model(9, 7);
    Optimum optimum = without_curvature(fit(model));
    return {"crossed", std::move(model), std::move(optimum)};
}

Case mixture_case() {
    const Vector x = test::three_component_rows(60, 8);
    const example::Mixture mixture = example::mixture_model(x, 3);
    return {"mixture", mixture.model, without_curvature(fit(mixture.model, mixture.ordered_start(x)))};
}

Case clamped_case() {
    bench::Grouped grouped = bench::grouped_model(bench::simulate_groups(40, 5, 7));
    FitOptions options;
    options.clamp(grouped.tau, 1.1).clamp(grouped.mu, 0.9);
    Optimum optimum = without_curvature(fit(grouped.model, options));
    return {"clamped", std::move(grouped.model), std::move(optimum)};
}

std::vector<Case> cases() {
    std::vector<Case> all;
    all.push_back(crossed_case());
    all.push_back(mixture_case());
    all.push_back(clamped_case());
    return all;
}

FactoredCovariance stored(const Case& c, const LinearResponse& response) {
    return {c.model.layout(), c.optimum.state, response.hessian()};
}

TEST(FactoredCovariance, AnswersAsTheResponseDoesWithoutItsModel) {
    for (const Case& c : cases()) {
        ASSERT_TRUE(c.optimum.converged()) << c.optimum.message;
        const LinearResponse response(c.model, c.optimum);
        const FactoredCovariance covariance = stored(c, response);
        const Index size = c.model.layout().size();
        Random random(5);
        const SparseMatrix left = test::random_matrix(size, 3, random).sparseView();
        const SparseMatrix right = test::random_matrix(size, 5, random).sparseView();
        EXPECT_LT(test::relative_error(covariance.covariance(left, right), response.covariance(left, right)), 1e-12)
            << c.name;
        EXPECT_LT(test::relative_error(covariance.covariance(right), response.covariance(right)), 1e-12) << c.name;
        EXPECT_LT(test::relative_error(covariance.variances(right).cwiseSqrt(), response.sd(right)), 1e-12) << c.name;
        EXPECT_LT(
            test::relative_error(covariance.mean_field_variances(right).cwiseSqrt(), response.mean_field_sd(right)),
            1e-12)
            << c.name;
        EXPECT_LT(test::relative_error(covariance.mean_field_covariance(right), response.mean_field_covariance(right)),
                  1e-12)
            << c.name;
        const Vector change = test::random_matrix(size, 1, random);
        EXPECT_LT(test::relative_error(covariance.respond(change), response.respond(change)), 1e-12) << c.name;
        EXPECT_NEAR(covariance.smallest_pivot(), response.smallest_pivot(), 1e-12) << c.name;
        EXPECT_NEAR(covariance.flattest_direction().curvature, response.flattest_direction().curvature, 1e-12)
            << c.name;
    }
}

TEST(FactoredCovariance, VariancesBySelectedInverseEqualTheDiagonal) {
    for (const Case& c : cases()) {
        const FactoredCovariance covariance = stored(c, LinearResponse(c.model, c.optimum));
        const Layout& layout = c.model.layout();
        // All statistics, each with weights on its whole variable; then sums across variables, which need solves.
        SparseMatrix weights(layout.size(), layout.size() + 2);
        for (Index s = 0; s < layout.size(); ++s) {
            const VariableInfo& variable = layout[layout.variable_of(s)];
            for (Index t = 0; t < variable.size; ++t) {
                weights.insert(variable.offset + t, s) = variable.offset + t == s ? 1.0 : 0.3;
            }
        }
        weights.insert(0, layout.size()) = 1.0;
        weights.insert(layout.size() - 1, layout.size()) = -2.0;  // and the last column weighs nothing
        weights.makeCompressed();
        const Vector expected = covariance.covariance(weights).diagonal();
        const Vector variances = covariance.variances(weights);
        for (Index i = 0; i < expected.size(); ++i) {
            EXPECT_NEAR(variances[i], expected[i], 1e-12 * expected.maxCoeff()) << c.name << " " << i;
        }
        EXPECT_EQ(variances[layout.size() + 1], 0.0);
    }
}

TEST(FactoredCovariance, MeanFieldVariancesAreTheDiagonalOfTheMeanFieldCovariance) {
    for (const Case& c : cases()) {
        const FactoredCovariance covariance = stored(c, LinearResponse(c.model, c.optimum));
        Random random(6);
        const SparseMatrix weights = test::random_matrix(c.model.layout().size(), 4, random).sparseView();
        EXPECT_LT(test::relative_error(covariance.mean_field_variances(weights),
                                       Vector(covariance.mean_field_covariance(weights).diagonal())),
                  1e-13)
            << c.name;
    }
}

// n² numbers would be 300 GB, and a solve for each column hours.
TEST(FactoredCovariance, GivesAllVariancesOfAHundredThousandGroups) {
    const bench::Grouped grouped = bench::grouped_model(bench::simulate_groups(100000, 2, 1));
    const Optimum optimum = without_curvature(fit(grouped.model));
    ASSERT_TRUE(optimum.converged()) << optimum.message;
    const Layout& layout = grouped.model.layout();
    const FactoredCovariance covariance(layout, optimum.state, LinearResponse(grouped.model, optimum).hessian());
    const Vector variances = covariance.variances(identity(layout.size()));
    const Vector mean_field = covariance.mean_field_variances(identity(layout.size()));
    EXPECT_TRUE((variances.array() > 0.0).all());
    EXPECT_TRUE((mean_field.array() > 0.0).all());
    // A few columns are solved for instead.
    for (const Index g : {0, 777, 99999}) {
        const Index statistic = layout[grouped.first_group + g].offset;
        SparseMatrix weights(layout.size(), 1);
        weights.insert(statistic, 0) = 1.0;
        EXPECT_NEAR(variances[statistic], covariance.variances(weights)[0], 1e-10 * variances[statistic]);
    }
    const FlatDirection flattest = covariance.flattest_direction();
    EXPECT_GT(flattest.curvature, 0.0);
    EXPECT_LT(flattest.curvature, 1.0);
}

TEST(FactoredCovariance, IsSharedByCopiesAndByThreads) {
    const Case c = crossed_case();
    const FactoredCovariance covariance = stored(c, LinearResponse(c.model, c.optimum));
    std::vector<Vector> answers(4);
    std::vector<std::thread> threads;
    for (Vector& answer : answers) {
        threads.emplace_back([&answer, copy = covariance] { answer = copy.variances(identity(copy.layout().size())); });
    }
    for (std::thread& thread : threads) thread.join();
    for (const Vector& answer : answers) EXPECT_EQ(answer, covariance.variances(identity(covariance.layout().size())));
}

TEST(FactoredCovariance, RefusesPartsThatDoNotFitTogether) {
    const Case c = crossed_case();
    const Layout& layout = c.model.layout();
    const SparseMatrix hessian = LinearResponse(c.model, c.optimum).hessian();
    State shorter = c.optimum.state;
    shorter.natural.conservativeResize(shorter.natural.size() - 1);
    EXPECT_THROW(FactoredCovariance(layout, shorter, hessian), std::invalid_argument);
    EXPECT_THROW(FactoredCovariance(layout, c.optimum.state, identity(3)), std::invalid_argument);
    EXPECT_THROW(FactoredCovariance(layout, c.optimum.state, SparseMatrix(hessian.transpose())), std::invalid_argument);
    State outside = c.optimum.state;
    outside.natural[1] = 1.0;  // a normal of negative variance
    EXPECT_THROW(FactoredCovariance(layout, outside, hessian), std::invalid_argument);
    const SparseMatrix broken = hessian * std::nan("");
    EXPECT_THROW(FactoredCovariance(layout, c.optimum.state, broken), std::invalid_argument);
    const FactoredCovariance covariance(layout, c.optimum.state, hessian);
    EXPECT_THROW(covariance.variances(identity(3)), std::invalid_argument);
    EXPECT_THROW(covariance.variances(identity(layout.size()) * std::nan("")), std::invalid_argument);
    EXPECT_THROW(covariance.respond(Vector::Ones(3)), std::invalid_argument);
}

TEST(FactoredCovariance, RefusesAPointThatIsNoMaximumWhenItIsAsked) {
    // x and y under unit normals, coupled by 3xy: a saddle.
    Layout layout;
    layout.add("x", family::Normal{});
    layout.add("y", family::Normal{});
    State state;
    state.natural = Vector{{0.0, -0.5, 0.0, -0.5}};
    state.mean = Vector{{0.0, 1.0, 0.0, 1.0}};
    state.clamped = {false, false};
    SparseMatrix hessian(4, 4);
    hessian.insert(2, 0) = 3.0;
    const FactoredCovariance covariance(layout, state, hessian);
    for (int i = 0; i < 2; ++i) {
        try {
            covariance.variances(identity(4));
            FAIL() << "a saddle was accepted";
        } catch (const NotAnOptimum& refusal) {
            EXPECT_NE(std::string(refusal.what()).find("the pivot of variable '"), std::string::npos) << refusal.what();
        }
    }
}

// I − LᵀHL in full, from the families and the model, and its eigenvalues: none of the response's own algebra.
TEST(FlattestDirection, IsTheFirstOfADenseEigenvalueDecomposition) {
    for (const Case& c : cases()) {
        const Layout& layout = c.model.layout();
        std::vector<Matrix> factors;
        Index coordinates = 0;
        for (Index j = 0; j < layout.variable_count(); ++j) {
            if (c.optimum.state.clamped[static_cast<std::size_t>(j)]) {
                factors.emplace_back(layout[j].size, 0);
                continue;
            }
            factors.push_back(std::visit(
                [&](const auto& family) {
                    return Matrix(family.covariance_factor(layout.segment(c.optimum.state.natural, j)));
                },
                layout[j].family));
            coordinates += factors.back().cols();
        }
        Matrix factor = Matrix::Zero(layout.size(), coordinates);
        Index column = 0;
        for (Index j = 0; j < layout.variable_count(); ++j) {
            const Matrix& own = factors[static_cast<std::size_t>(j)];
            factor.block(layout[j].offset, column, own.rows(), own.cols()) = own;
            column += own.cols();
        }
        const Matrix hessian =
            Matrix(c.model.expand_at(c.optimum.state, Order::hessian).hessian).selfadjointView<Eigen::Lower>();
        const Matrix curvature = Matrix::Identity(coordinates, coordinates) - factor.transpose() * hessian * factor;
        const Eigen::SelfAdjointEigenSolver<Matrix> solver(curvature);
        const Vector expected = factor * solver.eigenvectors().col(0);

        const FlatDirection flattest = LinearResponse(c.model, c.optimum).flattest_direction();
        EXPECT_NEAR(flattest.curvature, solver.eigenvalues()[0], 1e-3 * solver.eigenvalues()[0]) << c.name;
        const double cosine = flattest.direction.dot(expected) / (flattest.direction.norm() * expected.norm());
        EXPECT_GT(std::abs(cosine), 0.999) << c.name;
        const Vector sds = factor.rowwise().norm();
        Index most = 0;
        expected.cwiseAbs().cwiseQuotient(sds.cwiseMax(1e-300)).maxCoeff(&most);
        EXPECT_EQ(flattest.statistic, most) << c.name;
        EXPECT_GT(flattest.direction[flattest.statistic], 0.0) << c.name;
    }
}

TEST(FlattestDirection, OfTwoCoupledNormalsIsTheirSum) {
    // exp(cxy) under unit normals: I − LᵀHL = [1 −c; −c 1], smallest eigenvalue 1 − c along (1, 1)/√2.
    ModelBuilder builder;
    const auto x = builder.add("x", normal(0.0, 1.0));
    const auto y = builder.add("y", normal(0.0, 1.0));
    builder.add_term(0.999 * x * y);
    const MultilinearModel model = builder.build();
    const LinearResponse response(model, fit(model));
    const FlatDirection flattest = response.flattest_direction();
    EXPECT_NEAR(flattest.curvature, 0.001, 1e-12);
    EXPECT_NEAR(flattest.direction[model.layout().statistic("x")], std::sqrt(0.5), 1e-9);
    EXPECT_NEAR(flattest.direction[model.layout().statistic("y")], std::sqrt(0.5), 1e-9);
}

TEST(FlattestDirection, IsWhatNothingTouchesWhereAllElseIsSteeper) {
    // Without terms between variables, I − LᵀHL is the identity.
    ModelBuilder builder;
    builder.add("x", normal(0.0, 1.0));
    const MultilinearModel model = builder.build();
    const LinearResponse response(model, fit(model));
    EXPECT_EQ(response.flattest_direction().curvature, 1.0);
    EXPECT_NEAR(response.flattest_direction().direction[0], 1.0, 1e-15);
}

class SmallMemory : public ::testing::Test {
  protected:
    SmallMemory() { set_factor_memory_limit(1000); }
    ~SmallMemory() override { set_factor_memory_limit(0); }

    // Of 30 groups: two for each effect and for mu, and one for each precision, whose log no term multiplies.
    template <class Function>
    static void expect_refusal(Function function) {
        try {
            function();
            FAIL() << "a factor that is too large was accepted";
        } catch (const FactorTooLarge& refusal) {
            EXPECT_NE(std::string(refusal.what()).find("the factor of the curvature, of 64 coordinates, would take"),
                      std::string::npos)
                << refusal.what();
        }
    }
};

TEST_F(SmallMemory, IsRefusedByTheFitTheResponseAndTheStoredParts) {
    const bench::Grouped grouped = bench::grouped_model(bench::simulate_groups(30, 5, 7));
    expect_refusal([&] { fit(grouped.model); });
    set_factor_memory_limit(0);
    const Optimum optimum = without_curvature(fit(grouped.model));
    const SparseMatrix hessian = LinearResponse(grouped.model, optimum).hessian();
    set_factor_memory_limit(1000);
    expect_refusal([&] { LinearResponse(grouped.model, optimum); });
    const FactoredCovariance covariance(grouped.model.layout(), optimum.state, hessian);
    expect_refusal([&] { covariance.smallest_pivot(); });
    set_factor_memory_limit(0);
    EXPECT_GT(covariance.smallest_pivot(), 0.0);
}

}  // namespace
}  // namespace lrvb
