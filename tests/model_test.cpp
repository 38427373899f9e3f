#include <lrvb/lrvb.hpp>
#include <lrvb/testing/density_battery.hpp>
#include <lrvb/testing/model_battery.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <malloc.h>
#include <numbers>
#include <string>
#include <utility>
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
using family::Wishart;

const Matrix kMatrix{{2.0, 0.5}, {0.5, 1.0}};

std::string indexed(const std::string& name, Index i) {
    return name + "[" + std::to_string(i + 1) + "]";
}

State after_sweeps(const Model& model, int sweeps) {
    Random random(7);
    State state = model.start(random);
    for (int i = 0; i < sweeps; ++i) model.sweep(state);
    return state;
}

// ---------------------------------------------------------------------------------------------------------------------
// Models that together use every distribution, slot and construct.

MultilinearModel hierarchy() {
    ModelBuilder builder;
    const Variable<Normal> root = builder.add("root", normal(1.0, 0.1));
    const Variable<Gamma> top_rate = builder.add("top_rate", exponential(2.0));
    const Variable<Gamma> rate = builder.add("rate", gamma(2.0, 0.5 * top_rate));
    const Variable<Gamma> tau = builder.add("tau", gamma(3.0, rate));
    for (Index i = 0; i < 2; ++i) {
        const Variable<Normal> group = builder.add(indexed("group", i), normal(root, tau));
        for (Index j = 0; j < 2; ++j) {
            const Variable<Normal> unit = builder.add(indexed("unit_" + std::to_string(i), j), normal(group, 2.0));
            const Vector y = Vector{{0.3, 1.1, -0.4}}.array() + static_cast<double>(i + j);
            builder.observe_column(y, normal(unit, tau));
        }
    }
    return builder.build();
}

MultilinearModel student_regression() {
    ModelBuilder builder;
    const Variable<Normal> mu = builder.add("mu", normal(0.0, 0.1));
    const Variable<Gamma> tau = builder.add("tau", gamma(2.0, 1.0));
    const Vector y{{0.1, -0.5, 7.0, 0.4}};
    for (Index n = 0; n < y.size(); ++n) {
        const Variable<Gamma> w = builder.add(indexed("w", n), gamma(2.0, 2.0));
        builder.observe(y[n], normal(mu, 1.5 * tau * w));
    }
    return builder.build();
}

MultilinearModel bilinear() {
    ModelBuilder builder;
    const Variable<Normal> a = builder.add("a", normal(1.0, 1.0));
    const Variable<Normal> b = builder.add("b", flat(Normal{}));
    const Variable<Gamma> tau = builder.add("tau", gamma(2.0, 1.0));
    for (Index n = 0; n < 3; ++n) {
        const Variable<Normal> f = builder.add(indexed("f", n), normal(0.0, 1.0));
        builder.observe(1.0 + 0.5 * static_cast<double>(n), normal(a * f - 2.0 * b, tau));
        builder.observe(f - b, normal(0.2, 3.0));
    }
    return builder.build();
}

MultilinearModel spike_and_slab() {
    ModelBuilder builder;
    const Variable<Beta> p = builder.add("p", beta(1.0, 2.0));
    const Variable<Gamma> tau = builder.add("tau", gamma(2.0, 1.0));
    const Matrix design{{1.0, 0.3}, {-0.5, 2.0}, {0.7, -1.0}};
    const Vector y{{1.2, -0.3, 0.9}};
    std::vector<Expression> effects;
    for (Index k = 0; k < 2; ++k) {
        const Variable<Bernoulli> z = builder.add(indexed("z", k), bernoulli(p));
        const Variable<Normal> x = builder.add(indexed("x", k), normal(0.0, 0.5));
        effects.push_back(z * x);
    }
    for (Index n = 0; n < 3; ++n) {
        builder.observe(y[n], normal(design(n, 0) * effects[0] + design(n, 1) * effects[1], tau));
    }
    builder.observe_linear(y, design, effects, 0.5 * tau);
    return builder.build();
}

// One indicator chooses between two of every kind of observation, and between two priors of a variable.
MultilinearModel mixtures() {
    ModelBuilder builder;
    const Variable<Dirichlet> pi = builder.add("pi", dirichlet({1.0, 2.0}));
    const Variable<Categorical> z = builder.add("z", categorical(pi));
    const Variable<Normal> mu = builder.add("mu", normal(0.0, 1.0));
    const Variable<Gamma> tau = builder.add("tau", gamma(2.0, 1.0));
    const Variable<Beta> p = builder.add("p", beta(2.0, 2.0));
    const Variable<Dirichlet> q = builder.add("q", dirichlet({1.5, 1.0, 2.0}));
    const Variable<Wishart> lambda = builder.add("Lambda", wishart(4.0, kMatrix));
    const SimplexParameter fixed{0.2, 0.3, 0.5};
    const Variable<Normal> x = builder.add("x", mixture(z, {normal(mu, tau), normal(-1.0, 2.0 * tau)}));
    builder.observe(0.4, mixture(z, {normal(x, tau), normal(mu * x, 1.0)}));
    builder.observe(Vector{{0.4, -1.0}}, mixture(z, {mv_normal({x, mu}, lambda), mv_normal({0.0, x}, kMatrix)}));
    builder.observe(1.3, mixture(z, {gamma(2.0, tau), exponential(1.0)}));
    builder.observe(3.0, mixture(z, {poisson(tau, 2.0), poisson(1.5)}));
    builder.observe(2.0, mixture(z, {binomial(5, p), binomial(5, 0.3)}));
    builder.observe_column(Vector{{1.0, 0.0, 1.0}}, mixture(z, {bernoulli(p), bernoulli(0.6)}));
    builder.observe(2.0, mixture(z, {categorical(q), categorical(fixed)}));
    builder.observe(Vector{{1.0, 0.0, 4.0}}, mixture(z, {multinomial(q), multinomial(fixed)}));
    builder.observe(0.3, mixture(z, {beta(2.0, 1.0), beta(1.0, 3.0)}));
    builder.observe(Vector{{0.3, 0.7}}, mixture(z, {dirichlet({2.0, 1.0}), dirichlet({1.0, 3.0})}));
    builder.observe(Vector{{1.0, 0.2, 1.5}}, mixture(z, {wishart(3.0, lambda), wishart(4.0, kMatrix)}));
    return builder.build();
}

MultilinearModel hidden_markov() {
    ModelBuilder builder;
    std::vector<Distribution<Categorical>> transitions;
    std::vector<Distribution<Normal>> emissions;
    for (Index k = 0; k < 2; ++k) {
        transitions.push_back(categorical(builder.add(indexed("row", k), dirichlet({2.0, 1.0}))));
        emissions.push_back(normal(builder.add(indexed("mu", k), normal(static_cast<double>(k), 1.0)), 4.0));
    }
    const Vector y{{0.1, 0.2, 1.3, 0.9}};
    Variable<Categorical> s = builder.add("s[1]", categorical({0.5, 0.5}));
    builder.observe(y[0], mixture(s, emissions));
    for (Index t = 1; t < y.size(); ++t) {
        s = builder.add(indexed("s", t), mixture(s, transitions));
        builder.observe(y[t], mixture(s, emissions));
    }
    return builder.build();
}

// Wishart precisions, scaled matrices, a Wishart inverse scale, and rows with an entry missing.
MultilinearModel matrices() {
    ModelBuilder builder;
    const Variable<Gamma> tau = builder.add("tau", gamma(2.0, 2.0));
    const Variable<Wishart> scale = builder.add("Scale", wishart(5.0, scaled(tau, Matrix(kMatrix))));
    const Variable<Wishart> lambda = builder.add("Lambda", wishart(4.0, scale));
    const Variable<Wishart> other = builder.add("Other", wishart(6.0, scaled(0.5 * tau, scale)));
    const Variable<MvNormal> mu = builder.add("mu", mv_normal(Vector{{0.0, 1.0}}, scaled(tau, lambda)));
    const Variable<MvNormal> nu = builder.add("nu", mv_normal(mu, scaled(2.0 * tau, Matrix(kMatrix))));
    builder.observe_rows(Matrix{{0.3, 0.1}, {-1.0, 2.0}, {0.5, 0.8}}, mv_normal(nu, lambda));
    const Variable<Normal> missing = builder.add("missing", flat(Normal{}));
    builder.observe(VectorParameter{0.7, missing}, mv_normal(mu, lambda));
    builder.observe(mu, mv_normal({nu[0] + 1.0, 2.0 * nu[1]}, other));
    return builder.build();
}

MultilinearModel columns() {
    ModelBuilder builder;
    const Hyperparameter h = builder.hyperparameter("h", 0.7);
    const Variable<Gamma> tau = builder.add("tau", gamma(2.0, h));
    const Variable<Beta> p = builder.add("p", beta(1.0, 1.0));
    const Variable<MvNormal> b = builder.add("b", mv_normal(Vector{{0.0, 0.0}}, kMatrix));
    std::vector<Variable<Normal>> c;
    for (Index k = 0; k < 2; ++k) c.push_back(builder.add(indexed("c", k), normal(0.0, h * tau)));
    const Matrix design{{1.0, 0.5}, {0.0, -1.0}, {2.0, 0.0}};
    const SparseMatrix sparse = design.sparseView();
    builder.observe_linear(Vector{{1.0, 2.0, -0.5}}, design, b, tau);
    builder.observe_linear(Vector{{0.4, 0.0, 1.5}}, sparse, c, 2.0 * tau);
    builder.observe_counts(Vector{{3.0, 0.0, 2.0}}, Vector{{1.0, 0.5, 2.0}}, h * tau);
    builder.observe_column(Vector{{2.0, 5.0}}, binomial(6, p));
    return builder.build();
}

MultilinearModel raw_terms() {
    ModelBuilder builder;
    std::vector<Variable<Bernoulli>> spin;
    for (Index i = 0; i < 3; ++i) spin.push_back(builder.add(indexed("spin", i), flat(Bernoulli{})));
    const Variable<Gamma> tau = builder.add("tau", gamma(3.0, 2.0));
    const Variable<Beta> p = builder.add("p", beta(3.0, 4.0));
    const Variable<Dirichlet> pi = builder.add("pi", dirichlet({3.0, 4.0}));
    const Variable<Wishart> lambda = builder.add("Lambda", wishart(6.0, kMatrix));
    const Variable<Categorical> z = builder.add("z", flat(Categorical(3)));
    builder.add_term(0.3 * spin[0] * spin[1] - 0.7 * spin[1] * spin[2] + 0.2 * spin[0] * spin[1] * spin[2]);
    builder.add_term(0.5 * log(tau) * spin[0] + spin[1] * (log(p) + 0.4 * log1m(p)) - 0.3 * tau * spin[2]);
    builder.add_term(z[0] * log(pi, 1) + z[2] * log_det(lambda) - 0.1 * z[1] * lambda(1, 1) + lambda.statistic(1));
    return builder.build();
}

struct NamedModel {
    std::string name;
    MultilinearModel (*make)();
};

class ModelBatteryTest : public ::testing::TestWithParam<NamedModel> {};

TEST_P(ModelBatteryTest, PassesAtTheStartAndAfterTwoSweeps) {
    const MultilinearModel model = GetParam().make();
    for (const int sweeps : {0, 2}) {
        const testing::Report report = testing::check_model(model, after_sweeps(model, sweeps));
        EXPECT_TRUE(report.passed()) << sweeps << " sweeps\n" << report.text();
        const testing::Report gradients = testing::check_gradients(model, after_sweeps(model, sweeps));
        EXPECT_TRUE(gradients.passed()) << sweeps << " sweeps\n" << gradients.text();
    }
}

INSTANTIATE_TEST_SUITE_P(Model, ModelBatteryTest,
                         ::testing::Values(NamedModel{"Hierarchy", hierarchy},
                                           NamedModel{"StudentRegression", student_regression},
                                           NamedModel{"Bilinear", bilinear}, NamedModel{"SpikeAndSlab", spike_and_slab},
                                           NamedModel{"Mixtures", mixtures}, NamedModel{"HiddenMarkov", hidden_markov},
                                           NamedModel{"Matrices", matrices}, NamedModel{"Columns", columns},
                                           NamedModel{"RawTerms", raw_terms}),
                         [](const ::testing::TestParamInfo<NamedModel>& instance) { return instance.param.name; });

// ---------------------------------------------------------------------------------------------------------------------
// The battery itself, on models with one thing wrong.

class WrongModel final : public Model {
  public:
    explicit WrongModel(const Model& right) : right_(right) {}

    const Layout& layout() const override { return right_.layout(); }
    State start(Random& random) const override { return right_.start(random); }
    Expansion sweep(State& state) const override {
        const Expansion entry = right_.sweep(state);
        if (spoil_state) spoil_state(state);
        return entry;
    }
    Expansion expand(const Vector& mean, Order order) const override {
        Expansion expansion = right_.expand(mean, order);
        if (spoil_expansion) spoil_expansion(expansion, order);
        return expansion;
    }
    const std::vector<std::string>& hyperparameters() const override { return right_.hyperparameters(); }
    Vector hyperparameter_gradient(const Vector& mean, Index i) const override {
        return right_.hyperparameter_gradient(mean, i);
    }

    std::function<void(State&)> spoil_state;
    std::function<void(Expansion&, Order)> spoil_expansion;

  private:
    const Model& right_;
};

/// The failures that hold a text: the name of a check and of an entry.
std::vector<std::string> failures_with(const testing::Report& report, const std::string& text) {
    std::vector<std::string> found;
    for (const std::string& failure : report.failures()) {
        if (failure.find(text) != std::string::npos) found.push_back(failure);
    }
    return found;
}

TEST(ModelBattery, NamesTheGradientThatIsScaled) {
    const MultilinearModel right = student_regression();
    WrongModel wrong(right);
    const Index tau = right.layout().statistic("tau");
    wrong.spoil_expansion = [tau](Expansion& expansion, Order order) {
        if (order >= Order::gradient) expansion.gradient[tau] *= 1.01;
    };
    const testing::Report report = testing::check_model(wrong, after_sweeps(right, 2));
    // The Hessian, which is right, now differs from the differences of the gradient: that is told as well.
    EXPECT_EQ(failures_with(report, "gradient: ").size(), 1U) << report.text();
    EXPECT_EQ(failures_with(report, "gradient: tau is").size(), 1U) << report.text();
}

TEST(ModelBattery, NamesTheHessianEntryThatIsOff) {
    const MultilinearModel right = student_regression();
    WrongModel wrong(right);
    const Index mu = right.layout().statistic("mu");
    const Index tau = right.layout().statistic("tau");
    wrong.spoil_expansion = [mu, tau](Expansion& expansion, Order order) {
        if (order == Order::hessian) expansion.hessian.coeffRef(tau, mu) *= 1.01;
    };
    const testing::Report report = testing::check_model(wrong, after_sweeps(right, 2));
    EXPECT_EQ(failures_with(report, "Hessian: mu and tau is").size(), 1U) << report.text();
    EXPECT_EQ(failures_with(report, "Hessian: tau and mu is").size(), 1U) << report.text();
    EXPECT_EQ(report.failures().size(), 2U) << report.text();
}

TEST(ModelBattery, NamesTheSweepThatUpdatesAVariableWrongly) {
    const MultilinearModel right = student_regression();
    // At the optimum any wrong update lowers the bound; one of the last variable also leaves the gradient.
    const Optimum optimum = fit(right);
    ASSERT_TRUE(optimum.converged()) << optimum.message;
    for (const Index variable : {Index{0}, right.layout().variable_count() - 1}) {
        WrongModel wrong(right);
        wrong.spoil_state = [&right, variable](State& state) {
            const VariableInfo& info = right.layout()[variable];
            state.natural.segment(info.offset, info.size) *= 1.05;
            const Vector natural = state.natural.segment(info.offset, info.size);
            state.mean.segment(info.offset, info.size) =
                std::visit([&](const auto& family) { return family.mean(natural); }, info.family);
        };
        const testing::Report report = testing::check_model(wrong, optimum.state);
        EXPECT_EQ(failures_with(report, "sweep: the bound falls").size(), 1U) << report.text();
        EXPECT_EQ(failures_with(report, "sweep: ").size(), report.failures().size()) << report.text();
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// How the builder expands and merges.

TEST(Model, EqualMonomialsMergeSoThatRowsAreFree) {
    const auto regression = [](Index rows) {
        ModelBuilder builder;
        const Variable<Normal> a = builder.add("a", normal(0.0, 1.0));
        const Variable<Normal> b = builder.add("b", normal(0.0, 1.0));
        const Variable<Gamma> tau = builder.add("tau", gamma(1.0, 1.0));
        for (Index n = 0; n < rows; ++n) {
            const double x = std::sin(static_cast<double>(n));
            builder.observe(0.5 + x, normal(a + x * b, tau));
        }
        return builder.build();
    };
    EXPECT_EQ(regression(10).term_count(), regression(10000).term_count());
}

void expect_same(const MultilinearModel& actual, const MultilinearModel& expected) {
    const State state = after_sweeps(expected, 1);
    const Expansion a = actual.expand(state.mean, Order::gradient);
    const Expansion b = expected.expand(state.mean, Order::gradient);
    EXPECT_NEAR(a.value, b.value, 1e-12 * b.magnitude);
    EXPECT_LE((a.gradient - b.gradient).norm(), 1e-12 * b.gradient.norm());
    EXPECT_EQ(actual.term_count(), expected.term_count());
    const double bound = fit(expected).bound;
    EXPECT_NEAR(fit(actual).bound, bound, 1e-12 * std::abs(bound));
}

TEST(Model, RowsAndDesignMatricesDenseAndSparseSayTheSame) {
    const Index rows = 50;
    Random random(3);
    Matrix design(rows, 3);
    for (Index n = 0; n < rows; ++n) {
        const double sparse = n % 4 == 0 ? random.normal() : 0.0;
        design.row(n) << 1.0, random.normal(), sparse;
    }
    const Vector y = design * Vector{{1.0, -0.5, 2.0}} + 0.3 * standard_normals(rows, random);
    const SparseMatrix sparse_design = design.sparseView();
    using Observe = std::function<void(ModelBuilder&, const Variable<MvNormal>&, const Variable<Gamma>&)>;
    const auto model = [](const Observe& observe) {
        ModelBuilder builder;
        const Variable<MvNormal> b = builder.add("b", mv_normal(Vector::Zero(3), Matrix(Matrix::Identity(3, 3))));
        const Variable<Gamma> tau = builder.add("tau", gamma(1.0, 1.0));
        observe(builder, b, tau);
        return builder.build();
    };
    const MultilinearModel by_row = model([&](ModelBuilder& builder, const auto& b, const auto& tau) {
        for (Index n = 0; n < rows; ++n) {
            builder.observe(y[n], normal(design(n, 0) * b[0] + design(n, 1) * b[1] + design(n, 2) * b[2], tau));
        }
    });
    expect_same(model([&](ModelBuilder& builder, const auto& b, const auto& tau) {
                    builder.observe_linear(y, design, b, tau);
                }),
                by_row);
    expect_same(model([&](ModelBuilder& builder, const auto& b, const auto& tau) {
                    builder.observe_linear(y, sparse_design, b, tau);
                }),
                by_row);
}

TEST(Model, RowsAndColumnsSayTheSame) {
    const Vector y{{0.3, -1.0, 2.2, 0.7}};
    const Vector counts{{3.0, 0.0, 2.0, 5.0}};
    const Vector exposures{{1.0, 0.5, 2.0, 3.0}};
    using Observe = std::function<void(ModelBuilder&, const Variable<Normal>&, const Variable<Gamma>&)>;
    const auto model = [](const Observe& observe) {
        ModelBuilder builder;
        const Variable<Normal> mu = builder.add("mu", normal(0.0, 1.0));
        const Variable<Gamma> tau = builder.add("tau", gamma(1.0, 1.0));
        observe(builder, mu, tau);
        return builder.build();
    };
    const MultilinearModel by_row = model([&](ModelBuilder& builder, const auto& mu, const auto& tau) {
        for (Index n = 0; n < y.size(); ++n) {
            builder.observe(y[n], normal(mu, tau));
            builder.observe(counts[n], poisson(2.0 * tau, exposures[n]));
        }
    });
    expect_same(model([&](ModelBuilder& builder, const auto& mu, const auto& tau) {
                    builder.observe_column(y, normal(mu, tau));
                    builder.observe_counts(counts, exposures, 2.0 * tau);
                }),
                by_row);
    expect_same(model([&](ModelBuilder& builder, const auto& mu, const auto& tau) {
                    builder.observe_linear(y, Matrix(Matrix::Ones(4, 1)), {mu}, tau);
                    builder.observe_counts(counts, exposures, 2.0 * tau);
                }),
                by_row);
}

TEST(Model, SquaresAndProductsExpandByThemselves) {
    const auto model = [](bool observed) {
        ModelBuilder builder;
        const Variable<Normal> a = builder.add("a", normal(0.0, 1.0));
        const Variable<Normal> x = builder.add("x", normal(0.0, 1.0));
        const Variable<Bernoulli> z = builder.add("z", bernoulli(0.5));
        const Variable<Normal> w = builder.add("w", normal(0.0, 1.0));
        const Variable<Normal> c = builder.add("c", normal(0.0, 1.0));
        const Variable<Gamma> tau = builder.add("tau", gamma(1.0, 1.0));
        if (observed) builder.observe(1.7, normal(a * x + z * w + c, tau));
        return builder.build();
    };
    // E T of each: a, a², x, x², z, w, w², c, c², tau, log tau.
    const Vector mean{{0.5, 1.25, -0.7, 2.0, 0.3, 1.1, 1.5, 0.2, 0.9, 1.6, 0.1}};
    const double observed = model(true).expand(mean, Order::value).value;
    const double prior = model(false).expand(mean, Order::value).value;
    // By hand: −½E[tau] E(y − ax − zw − c)² + ½E[log tau] − ½log 2π, with z² = z and independent factors.
    const double y = 1.7;
    const double ax = 0.5 * -0.7;
    const double zw = 0.3 * 1.1;
    const double c = 0.2;
    const double squares = y * y + 1.25 * 2.0 + 0.3 * 1.5 + 0.9;
    const double products = -y * (ax + zw + c) + ax * zw + ax * c + zw * c;
    const double expected =
        -0.5 * 1.6 * (squares + 2.0 * products) + 0.5 * 0.1 - 0.5 * std::log(2.0 * std::numbers::pi);
    EXPECT_NEAR(observed - prior, expected, 1e-13);
}

TEST(Model, ATiltAddsALinearTerm) {
    const MultilinearModel model = student_regression();
    const Vector mean = after_sweeps(model, 1).mean;
    const Vector tilt = Vector::LinSpaced(model.layout().size(), -1.0, 2.0);
    const Expansion before = model.expand(mean, Order::hessian);
    const Expansion after = model.tilted(tilt).expand(mean, Order::hessian);
    EXPECT_NEAR(after.value - before.value, tilt.dot(mean), 1e-13 * after.magnitude);
    EXPECT_LE((after.gradient - before.gradient - tilt).norm(), 1e-13 * before.gradient.norm());
    EXPECT_EQ((after.hessian - before.hessian).norm(), 0.0);
}

TEST(Model, StatisticsHaveNamesAndAreFoundByThem) {
    const MultilinearModel model = matrices();
    const Layout& layout = model.layout();
    for (Index i = 0; i < layout.size(); ++i) EXPECT_EQ(layout.statistic(layout.statistic_name(i)), i);

    ModelBuilder builder;
    const Variable<Normal> x = builder.add("x", normal(0.0, 1.0));
    const Variable<Gamma> tau = builder.add("tau[2]", gamma(1.0, 1.0));
    const Variable<MvNormal> mu = builder.add("mu", mv_normal(Vector{{0.0, 0.0}}, kMatrix));
    const Variable<Beta> p = builder.add("p", beta(1.0, 1.0));
    const Variable<Dirichlet> pi = builder.add("pi", dirichlet({1.0, 1.0}));
    const Variable<Categorical> z = builder.add("z[3]", categorical(pi));
    const Variable<Wishart> lambda = builder.add("Lambda", wishart(4.0, kMatrix));
    const MultilinearModel other = builder.build();
    const std::vector<std::pair<std::string, Expression>> expected{{"x", x},
                                                                   {"x^2", x * x},
                                                                   {"tau[2]", tau},
                                                                   {"log_tau[2]", log(tau)},
                                                                   {"mu[1]", mu[0]},
                                                                   {"mu[1]*mu[2]", mu[0] * mu[1]},
                                                                   {"mu[2]^2", mu[1] * mu[1]},
                                                                   {"log_p", log(p)},
                                                                   {"log1m_p", log1m(p)},
                                                                   {"log_pi[2]", log(pi, 1)},
                                                                   {"z[3,1]", z[0]},
                                                                   {"Lambda[1,2]", lambda(1, 0)},
                                                                   {"log_det_Lambda", log_det(lambda)}};
    for (const auto& [name, expression] : expected) {
        const Matrix by_name = Functionals(std::vector<std::string>{name}).resolve(other.layout()).weights;
        const Matrix by_expression = Functionals(std::vector<Expression>{expression}).resolve(other.layout()).weights;
        EXPECT_EQ(by_name, by_expression) << name;
    }
    EXPECT_EQ(other.layout().variable("z[3]"), z.index());
}

/// Bytes that a built model holds on to: many variables, of which the first few have a hyperparameter each.
std::size_t bytes_with_hyperparameters(Index hyperparameters) {
    ModelBuilder builder;
    const Variable<Gamma> tau = builder.add("tau", gamma(2.0, 1.0));
    for (Index i = 0; i < 2000; ++i) {
        const Expression mean = i < hyperparameters ? Expression(builder.hyperparameter(indexed("mean", i), 0.5)) : 0.5;
        builder.add(indexed("x", i), normal(mean, tau));
    }
    const auto allocated = [] {
        const struct mallinfo2 info = mallinfo2();
        return info.uordblks + info.hblkhd;
    };
    const std::size_t before = allocated();
    const MultilinearModel model = builder.build();
    return allocated() - before;
}

// 200 derivatives ∂L/∂α of three terms each; a form of 4,002 statistics for each of them would hold 13 MB.
TEST(Hyperparameters, CostTheirTermsAndNotTheSizeOfTheModel) {
    const std::size_t without = bytes_with_hyperparameters(0);
    EXPECT_LE(bytes_with_hyperparameters(200), without + 200000);
}

}  // namespace
}  // namespace lrvb
