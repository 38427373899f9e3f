// Optima that share a posterior: found, told from labels that have changed places, and kept with the fit.

#include "fit/places.hpp"
#include "mixture_with_indicators.hpp"
#include "support.hpp"

#include <lrvb/check/check.hpp>
#include <lrvb/data/table.hpp>
#include <lrvb/kind/declared.hpp>
#include <lrvb/kind/mixture/fit.hpp>

#include <cmath>
#include <memory>

namespace lrvb {
namespace {

// y = xz + noise with x, z ~ Normal(0, 1): whatever is true of (x, z) is true of (−x, −z).
std::shared_ptr<const MultilinearModel> product_model() {
    ModelBuilder builder;
    const auto x = builder.add("x", normal(0.0, 1.0));
    const auto z = builder.add("z", normal(0.0, 1.0));
    builder.observe(5.0, normal(x * z, 10.0));
    return std::make_shared<const MultilinearModel>(builder.build());
}

Optimum product_optimum(const MultilinearModel& model) {
    FitOptions options;
    options.restarts = 10;
    return fit(model, options);
}

// Rows and their mirror images: half of them wide about 0, a quarter narrow about 20 and about -20, without chance. Two
// normals fit one of the narrow groups and all the rest, on either side.
std::vector<double> mirrored_rows(Index rows) {
    std::vector<double> result;
    for (Index n = 0; n < rows / 4; ++n) {
        const double u = std::sin(static_cast<double>(n) * 1.7) + 0.5 * std::cos(static_cast<double>(n) * 0.61);
        for (const double x : {6.0 * u, 20.0 + u}) {
            result.push_back(x);
            result.push_back(-x);
        }
    }
    return result;
}

MixtureFit mirrored_fit(Index rows, std::uint64_t seed, Index sample_rows = 8192) {
    MixtureSpecification specification;
    specification.components = 2;
    MixtureFitOptions options;
    options.seed = seed;
    options.sample_rows = sample_rows;
    return fit_mixture(std::make_shared<TableSource>(mirrored_rows(rows), 1), specification, options);
}

TEST(Optima, OfADeclaredModelWithTwoModesAreMirrorImages) {
    const auto model = product_model();
    const Optimum optimum = product_optimum(*model);
    ASSERT_TRUE(optimum.converged()) << optimum.message;
    ASSERT_EQ(optimum.others.size(), 1U);
    const Optimum& other = optimum.others.front();
    EXPECT_NEAR(other.bound, optimum.bound, 1e-9);
    // The statistics are x, x², z, z².
    EXPECT_NEAR(other.state.mean[0], -optimum.state.mean[0], 1e-6);
    EXPECT_NEAR(other.state.mean[1], optimum.state.mean[1], 1e-6);
    EXPECT_NEAR(other.state.mean[2], -optimum.state.mean[2], 1e-6);
}

TEST(Optima, OfADeclaredFitAreInItsFileAndInItsCheck) {
    const auto model = product_model();
    const auto fitted = fitted_model(model, product_optimum(*model));
    const FitFile& file = fitted->file();
    ASSERT_EQ(file.other_optima.size(), 1U);
    EXPECT_NEAR(file.other_optima.front().share, 0.5, 1e-6);
    ASSERT_EQ(file.warnings.size(), 1U);
    EXPECT_NE(file.warnings.front().find("another optimum holds about 50% of the posterior: x "), std::string::npos)
        << file.warnings.front();
    const OtherOptimum::Value* x = file.other_optima.front().find("x");
    ASSERT_NE(x, nullptr);
    EXPECT_NEAR(x->mean, -file.posterior.variables.front().mean, 1e-6);

    const Check result = check(*fitted);
    EXPECT_NE(result.verdict, CheckVerdict::ok);
    EXPECT_FALSE(result.reliable);
    for (const CheckedVariable& variable : result.variables) EXPECT_NE(variable.verdict, "ok") << variable.name;
    EXPECT_THROW(corrected(file, result), std::invalid_argument);
    // Nor by a check that was told of nothing.
    Check blind = result;
    blind.reliable = true;
    EXPECT_THROW(corrected(file, blind), std::invalid_argument);
}

TEST(Optima, StartsOfADeclaredMixtureThatEndWithOtherLabelsAreOneOptimum) {
    Vector rows(40);
    for (Index n = 0; n < rows.size(); ++n) {
        rows[n] = (n % 4 == 0 ? -8.0 : 3.0) + std::sin(static_cast<double>(n) * 1.7);
    }
    const example::Mixture mixture = example::mixture_model(rows, 2);
    FitOptions options;
    options.restarts = 8;
    const Optimum optimum = fit(mixture.model, options);
    ASSERT_TRUE(optimum.converged()) << optimum.message;
    int at_best = 0;
    for (const double bound : optimum.restart_bounds) at_best += bound > optimum.bound - 1e-6 ? 1 : 0;
    EXPECT_GT(at_best, 1);
    EXPECT_TRUE(optimum.others.empty());
}

TEST(Optima, OfAMixtureAreMatchedWithTheirLabelsExchanged) {
    const MixtureFit fitted = mirrored_fit(400, 1);
    const MixtureModel& model = *fitted.model;
    const State& state = fitted.optimum.state;
    // The components change places, by hand: weights, then location and precision of each.
    State exchanged = state;
    const Layout& layout = model.layout();
    const auto swap_blocks = [&](Index one, Index other) {
        for (Vector State::*part : {&State::natural, &State::mean}) {
            layout.segment(exchanged.*part, one) = layout.segment(state.*part, other);
            layout.segment(exchanged.*part, other) = layout.segment(state.*part, one);
        }
    };
    swap_blocks(model.location(0, 0).index(), model.location(1, 0).index());
    swap_blocks(model.precision(0, 0).index(), model.precision(1, 0).index());
    for (Vector State::*part : {&State::natural, &State::mean}) {
        const Index first = layout[model.weights().index()].offset;
        std::swap((exchanged.*part)[first], (exchanged.*part)[first + 1]);
    }
    EXPECT_TRUE(detail::same_place(model, state, exchanged));
    EXPECT_EQ(detail::matched(model, state, exchanged).mean, state.mean);
    ASSERT_EQ(fitted.optimum.others.size(), 1U);
    EXPECT_FALSE(detail::same_place(model, state, fitted.optimum.others.front().state));
}

TEST(Optima, OfMirroredRowsAreFoundWithEverySeed) {
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
        const MixtureFit fitted = mirrored_fit(400, seed);
        ASSERT_TRUE(fitted.optimum.converged());
        ASSERT_EQ(fitted.optimum.others.size(), 1U) << "seed " << seed;
        const Optimum& other = fitted.optimum.others.front();
        EXPECT_NEAR(other.bound, fitted.optimum.bound, 1e-6);
        // Mirrored, and in the order of their means again.
        const Functionals mu = fitted.model->in_data_units({"mu[1]", "mu[2]"});
        const Vector here = LinearResponse(*fitted.model, fitted.optimum).mean(mu);
        const Vector there = LinearResponse(*fitted.model, other).mean(mu);
        EXPECT_NEAR(there[0], -here[1], 1e-6);
        EXPECT_NEAR(there[1], -here[0], 1e-6);
        EXPECT_GT(fitted.other_passes, 0);
    }
}

// On a sample the two differ by chance, by hundreds of nats once its rows stand for all.
TEST(Optima, OfASampleAreCarriedToAllRows) {
    const MixtureFit fitted = mirrored_fit(20000, 1, 1000);
    ASSERT_TRUE(fitted.optimum.converged());
    ASSERT_EQ(fitted.start_passes, 0);
    ASSERT_EQ(fitted.optimum.others.size(), 1U);
    EXPECT_NEAR(fitted.optimum.others.front().bound, fitted.optimum.bound, 1e-5);
}

TEST(Optima, WithoutAnotherThereAreNeitherPassesNorOthers) {
    const Vector x = test::read_column("old_faithful.csv", "eruptions");
    MixtureSpecification specification;
    specification.components = 2;
    const MixtureFit fitted =
        fit_mixture(std::make_shared<TableSource>(std::vector<double>(x.begin(), x.end()), 1), specification);
    EXPECT_TRUE(fitted.optimum.others.empty());
    EXPECT_EQ(fitted.other_passes, 0);
}

TEST(Optima, HaveTheSharesOfTheirBounds) {
    std::vector<OtherOptimum> others(2);
    others[0].bound = -101.0;
    others[1].bound = -103.0;
    set_shares(-100.0, others);
    const double sum = 1.0 + std::exp(-1.0) + std::exp(-3.0);
    EXPECT_NEAR(others[0].share, std::exp(-1.0) / sum, 1e-15);
    EXPECT_NEAR(others[1].share, std::exp(-3.0) / sum, 1e-15);
    EXPECT_NEAR(own_share(others), 1.0 / sum, 1e-15);
}

}  // namespace
}  // namespace lrvb
