// The fit: ascent, Newton, restarts, outcomes.

#include "fit/entropy.hpp"
#include "mixture_with_indicators.hpp"
#include "support.hpp"

#include <lrvb/data/table.hpp>
#include <lrvb/kind/mixture/model.hpp>

#include <fmt/format.h>

namespace lrvb {
namespace {

TEST(Fit, TheBoundNeverFalls) {
    for (const std::uint64_t seed : {1U, 2U, 3U, 4U, 5U}) {
        const Vector x = test::three_component_rows(120, seed);
        const example::Mixture mixture = example::mixture_model(x, 3);
        FitOptions options;
        options.seed = seed;
        const Optimum optimum = fit(mixture.model, options);
        for (std::size_t i = 1; i < optimum.trace.size(); ++i) {
            EXPECT_GE(optimum.trace[i], optimum.trace[i - 1] - 1e-10 * std::abs(optimum.trace[i])) << "iteration " << i;
        }
        EXPECT_EQ(optimum.trace.back(), optimum.bound);
    }
}

// A model whose sweep maximises something else than its own log joint.
class WrongModel final : public Model {
  public:
    explicit WrongModel(MultilinearModel right) : right_(std::move(right)), other_(right_.tilted(tilt())) {}
    const Layout& layout() const override { return right_.layout(); }
    State start(Random& random) const override { return right_.start(random); }
    Expansion sweep(State& state) const override { return (++sweeps_ > 2 ? other_ : right_).sweep(state); }
    Expansion expand(const Vector& mean, Order order) const override { return right_.expand(mean, order); }
    const std::vector<std::string>& hyperparameters() const override { return right_.hyperparameters(); }
    Vector hyperparameter_gradient(const Vector& mean, Index i) const override {
        return right_.hyperparameter_gradient(mean, i);
    }

  private:
    Vector tilt() const { return Vector::Unit(right_.layout().size(), 0); }

    MultilinearModel right_;
    MultilinearModel other_;
    mutable int sweeps_ = 0;
};

MultilinearModel small_model() {
    ModelBuilder builder;
    const auto mu = builder.add("mu", normal(0.0, 0.1));
    const auto tau = builder.add("tau", gamma(2.0, 1.0));
    builder.observe_column(Vector{{1.0, 2.0, 4.0, 3.5}}, normal(mu, tau));
    return builder.build();
}

TEST(Fit, AFallOfTheBoundIsReportedAsABug) {
    const WrongModel model(small_model());
    try {
        fit(model);
        FAIL() << "the falling bound went unnoticed";
    } catch (const std::logic_error& error) {
        EXPECT_NE(std::string(error.what()).find("the bound fell"), std::string::npos) << error.what();
    }
}

TEST(Fit, NewtonFinishesAStronglyOverlappingMixtureInFewIterations) {
    // Coordinate ascent alone needs hundreds to thousands of passes here.
    const Vector x = test::read_column("mixture3.csv", "x");
    const example::Mixture mixture = example::mixture_model(x, 3);
    const Optimum optimum = fit(mixture.model, mixture.ordered_start(x));
    ASSERT_TRUE(optimum.converged()) << optimum.message;
    EXPECT_LE(optimum.step, 1e-8);
    EXPECT_LT(optimum.sweeps + optimum.newton_steps, 200);
    fmt::print("mixture3: {} sweeps, {} Newton steps\n", optimum.sweeps, optimum.newton_steps);
}

// The same model, with a note of what was asked of it.
class Watched final : public Model {
  public:
    explicit Watched(const Model& model) : model_(model) {}
    const Layout& layout() const override { return model_.layout(); }
    std::uint64_t identity() const override { return model_.identity(); }
    State start(Random& random) const override { return model_.start(random); }
    Expansion sweep(State& state) const override { return model_.sweep(state); }
    Expansion expand(const Vector& mean, Order order) const override { return model_.expand(mean, order); }
    Expansion expand_at(const State& state, Order order) const override {
        Expansion expansion = model_.expand_at(state, order);
        const double bound = expansion.value + detail::entropy_of(layout(), state).value;
        looks_.push_back({order, bound});
        return expansion;
    }
    const std::vector<std::string>& hyperparameters() const override { return model_.hyperparameters(); }
    Vector hyperparameter_gradient(const Vector& mean, Index i) const override {
        return model_.hyperparameter_gradient(mean, i);
    }

    struct Look {
        Order order;
        double bound;
    };
    const std::vector<Look>& looks() const { return looks_; }

  private:
    const Model& model_;
    mutable std::vector<Look> looks_;
};

// The whole of an optimum is of its state: what a fresh look at that state says, to the last bit.
TEST(Fit, StateBoundStepAndCurvatureAreThoseOfOneState) {
    const Vector x = test::three_component_rows(120, 1);
    const example::Mixture mixture = example::mixture_model(x, 3);
    for (const double tolerance : {9e-5, 1e-6, 1e-8}) {
        FitOptions options = mixture.ordered_start(x);
        options.tolerance = tolerance;
        const Optimum optimum = fit(mixture.model, options);
        ASSERT_TRUE(optimum.converged()) << optimum.message;
        const Expansion fresh = mixture.model.expand_at(optimum.state, Order::value);
        EXPECT_EQ(optimum.bound, fresh.value + detail::entropy_of(mixture.model.layout(), optimum.state).value);
        EXPECT_EQ(optimum.trace.back(), optimum.bound);

        Optimum without_curvature = optimum;
        without_curvature.curvature.reset();
        const Matrix factored_anew =
            LinearResponse(mixture.model, without_curvature).covariance(mixture.global_names());
        EXPECT_EQ(LinearResponse(mixture.model, optimum).covariance(mixture.global_names()), factored_anew);

        FitOptions again;
        again.initial = optimum.state;
        again.first_sweeps = 0;
        again.tolerance = tolerance;
        EXPECT_EQ(fit(mixture.model, again).step, optimum.step);
    }
}

TEST(Fit, AStepThatIsHalvedPaysForOneRejectedHessianAtMost) {
    const MultilinearModel small = small_model();
    // Starts of mu (mean, variance) and tau (shape, rate) from where Newton's first step is far too long.
    const std::vector<std::pair<Vector, Vector>> starts{{Vector{{0.0, 1.0}}, Vector{{4.0, 4000.0}}},
                                                        {Vector{{3.0, 1.0}}, Vector{{4.0, 4.0}}},
                                                        {Vector{{10.0, 100.0}}, Vector{{4.0, 4000.0}}}};
    int halved_again = 0;
    for (const auto& [mu, tau] : starts) {
        const Watched model(small);
        FitOptions options;
        options.first_sweeps = 0;
        options.start(AnyVariable(0, 0), mu);
        options.start(AnyVariable(1, 0), tau);
        const Optimum optimum = fit(model, options);
        ASSERT_TRUE(optimum.converged()) << optimum.message;
        int rejected_hessians = 0;  // since the last step that was taken
        for (const Watched::Look& look : model.looks()) {
            const bool taken = std::count(optimum.trace.begin(), optimum.trace.end(), look.bound) > 0;
            if (taken) {
                rejected_hessians = 0;
            } else if (look.order == Order::hessian) {
                EXPECT_EQ(++rejected_hessians, 1);
            } else {
                ++halved_again;
            }
        }
    }
    EXPECT_GT(halved_again, 0) << "no step was halved twice: the test tests nothing";
}

// Two spins, L = J s_1 s_2 with J a little above 1: s = 0 is a saddle, and a sweep multiplies what distance there is by
// J² alone, while the optimum is the other root of s = tanh(J s), here by bisection.
TEST(Fit, AnIndefiniteRegionThatAscentCrawlsThroughTakesFewSteps) {
    const double coupling = 1.005;
    ModelBuilder builder;
    const auto first = builder.add("first", bernoulli(0.5));
    const auto second = builder.add("second", bernoulli(0.5));
    builder.add_term(coupling * (2.0 * first - 1.0) * (2.0 * second - 1.0));
    const MultilinearModel model = builder.build();
    FitOptions options;
    options.start(first, Vector{{0.501}});
    options.start(second, Vector{{0.501}});
    const Optimum optimum = fit(model, options);
    ASSERT_TRUE(optimum.converged()) << optimum.message;
    double low = 0.05;
    double high = 1.0;
    for (int i = 0; i < 100; ++i) {
        const double middle = 0.5 * (low + high);
        (std::tanh(coupling * middle) > middle ? low : high) = middle;
    }
    const LinearResponse response(model, optimum);
    EXPECT_NEAR(2.0 * response.mean({first})[0] - 1.0, low, 1e-7);
    EXPECT_NEAR(2.0 * response.mean({second})[0] - 1.0, low, 1e-7);
    fmt::print("two spins: {} sweeps, {} Newton steps\n", optimum.sweeps, optimum.newton_steps);
    EXPECT_LE(optimum.sweeps + optimum.newton_steps, 40);

    // What it is spared: ascent from the same start, until it is past the saddle.
    FitOptions start = options;
    start.max_iterations = 1;
    start.first_sweeps = 1;
    State state = fit(model, start).state;
    int sweeps = 0;
    for (; 2.0 * state.mean[0] - 1.0 < 0.9 * low; ++sweeps) model.sweep(state);
    EXPECT_GT(sweeps, 300);
}

TEST(Fit, ShiftedStepsNeverLowerTheBound) {
    const Vector x = test::read_column("mixture3.csv", "x");
    MixtureSpecification specification;
    specification.components = 5;
    const MixtureModel model(std::make_shared<TableSource>(x), specification);
    int shifted = 0;
    for (const std::uint64_t seed : {1U, 2U, 3U}) {
        FitOptions options;
        options.seed = seed;
        options.progress = [&](const Progress& progress) {
            if (progress.stage == "newton" && std::isinf(progress.step)) ++shifted;
            return true;
        };
        const Optimum optimum = fit(model, options);
        ASSERT_TRUE(optimum.converged()) << optimum.message;
        for (std::size_t i = 1; i < optimum.trace.size(); ++i) {
            EXPECT_GE(optimum.trace[i], optimum.trace[i - 1] - 1e-10 * std::abs(optimum.trace[i])) << "iteration " << i;
        }
    }
    EXPECT_GT(shifted, 0) << "no step was shifted: the test tests nothing";
}

TEST(Fit, RestartsKeepTheBestBoundAndReportAll) {
    const Vector x = test::three_component_rows(150, 9);
    const example::Mixture mixture = example::mixture_model(x, 3);
    FitOptions options;
    options.restarts = 12;
    options.seed = 3;
    const Optimum optimum = fit(mixture.model, options);
    ASSERT_TRUE(optimum.converged()) << optimum.message;
    ASSERT_EQ(optimum.restart_bounds.size(), 12U);
    double best = -std::numeric_limits<double>::infinity();
    for (std::size_t r = 0; r < 12; ++r) {
        if (optimum.restart_terminations[r] == Termination::converged) best = std::max(best, optimum.restart_bounds[r]);
    }
    EXPECT_EQ(optimum.bound, best);
    EXPECT_GE(optimum.bound, fit(mixture.model, mixture.ordered_start(x)).bound - 1e-6);
}

TEST(Fit, TheSameSeedGivesTheSameBits) {
    const Vector x = test::three_component_rows(80, 2);
    const example::Mixture mixture = example::mixture_model(x, 3);
    FitOptions options;
    options.seed = 42;
    const Optimum first = fit(mixture.model, options);
    const Optimum second = fit(mixture.model, options);
    EXPECT_EQ(first.state.natural, second.state.natural);
    EXPECT_EQ(first.trace, second.trace);
    options.seed = 43;
    EXPECT_NE(fit(mixture.model, options).trace, first.trace);
}

TEST(Fit, AClampedVariableIsAConstant) {
    const Vector y{{1.0, 2.0, 4.0, 3.5}};
    ModelBuilder builder;
    const auto mu = builder.add("mu", normal(0.0, 0.1));
    const auto tau = builder.add("tau", gamma(2.0, 1.0));
    builder.observe_column(y, normal(mu, tau));
    const MultilinearModel model = builder.build();
    FitOptions options;
    options.clamp(tau, 3.0);
    const Optimum clamped = fit(model, options);
    ASSERT_TRUE(clamped.converged()) << clamped.message;
    const LinearResponse response(model, clamped);

    ModelBuilder constant_builder;
    const auto nu = constant_builder.add("mu", normal(0.0, 0.1));
    constant_builder.observe_column(y, normal(nu, 3.0));
    const MultilinearModel constant_model = constant_builder.build();
    const Optimum constant = fit(constant_model);
    const LinearResponse constant_response(constant_model, constant);

    EXPECT_NEAR(response.mean({mu})[0], constant_response.mean({nu})[0], 1e-14);
    EXPECT_NEAR(response.sd({mu})[0], constant_response.sd({nu})[0], 1e-14);
    EXPECT_EQ(response.mean({tau})[0], 3.0);
    EXPECT_EQ(response.sd({tau, log(tau)}), Vector(Vector::Zero(2)));
    // The clamped bound holds the prior density of the value: log Gamma(3; 2, 1) = log 3 − 3.
    EXPECT_NEAR(clamped.bound, constant.bound + std::log(3.0) - 3.0, 1e-12);
    EXPECT_EQ(clamped.standard(model, tau).size(), 0);
}

TEST(Fit, ClampingEveryVariableIsAFitWithNothingToDo) {
    ModelBuilder builder;
    const auto mu = builder.add("mu", normal(0.0, 1.0));
    builder.observe(1.0, normal(mu, 1.0));
    const MultilinearModel model = builder.build();
    FitOptions options;
    options.clamp(mu, 0.5);
    const Optimum optimum = fit(model, options);
    EXPECT_TRUE(optimum.converged()) << optimum.message;
    // log N(0.5; 0, 1) + log N(1; 0.5, 1)
    EXPECT_NEAR(optimum.bound, -std::log(2.0 * 3.14159265358979323846) - 0.125 - 0.125, 1e-14);
}

TEST(Fit, AWarmStartAtTheOptimumHasNothingLeftToDo) {
    const MultilinearModel model = small_model();
    const Optimum cold = fit(model);
    FitOptions options;
    options.initial = cold.state;
    const Optimum warm = fit(model, options);
    EXPECT_TRUE(warm.converged());
    EXPECT_EQ(warm.newton_steps, 0);
    EXPECT_NEAR(warm.bound, cold.bound, 1e-12);
}

TEST(Fit, ProgressIsToldAfterEveryIterationAndCanCancel) {
    const MultilinearModel model = small_model();
    std::vector<Progress> seen;
    FitOptions options;
    options.progress = [&](const Progress& progress) {
        seen.push_back(progress);
        return true;
    };
    const Optimum optimum = fit(model, options);
    ASSERT_EQ(seen.size(), optimum.trace.size());
    for (std::size_t i = 0; i < seen.size(); ++i) {
        EXPECT_EQ(seen[i].iteration, static_cast<int>(i));
        EXPECT_EQ(seen[i].bound, optimum.trace[i]);
    }
    EXPECT_EQ(seen.front().stage, "start");
    EXPECT_EQ(seen[1].stage, "ascent");
    EXPECT_EQ(seen.back().stage, "newton");

    options.restarts = 5;
    options.progress = [](const Progress& progress) { return progress.iteration < 3; };
    const Optimum cancelled = fit(model, options);
    EXPECT_EQ(cancelled.termination, Termination::cancelled);
    EXPECT_NE(cancelled.message.find("after 3 iterations"), std::string::npos) << cancelled.message;
    EXPECT_LE(cancelled.sweeps, 4) << "at most the sweep under way is finished";
    EXPECT_EQ(cancelled.restart_bounds.size(), 1U) << "a cancelled fit makes no further starts";
}

TEST(Fit, AnIterationLimitIsAnOutcomeNotAnError) {
    FitOptions options;
    options.max_iterations = 2;
    const Optimum optimum = fit(small_model(), options);
    EXPECT_EQ(optimum.termination, Termination::iteration_limit);
    EXPECT_EQ(optimum.sweeps + optimum.newton_steps, 2);
    EXPECT_NE(optimum.message.find("raise max_iterations"), std::string::npos) << optimum.message;
}

TEST(Fit, ASymmetricStartThatAscentCannotLeaveIsNotCalledAnOptimum) {
    const Vector x = test::three_component_rows(60, 4);
    const example::Mixture mixture = example::mixture_model(x, 2);
    FitOptions options;
    for (const auto& z : mixture.z) options.start(z, Vector{{0.5, 0.5}});
    for (const auto& mu : mixture.mu) options.start(mu, Vector{{0.0, 1.0}});
    const Optimum optimum = fit(mixture.model, options);
    EXPECT_EQ(optimum.termination, Termination::not_a_maximum) << optimum.message;
    EXPECT_NE(optimum.message.find("variable '"), std::string::npos) << optimum.message;
}

TEST(Fit, AnUpdateThatLeavesAFamilysDomainIsAnOutcomeThatNamesTheVariable) {
    // The conditional precision of x is 2 − 2.4 E z: proper at the prior's E z = 0.1, improper when the data push z
    // towards one.
    ModelBuilder builder;
    const auto z = builder.add("z", bernoulli(0.1));
    const auto x = builder.add("x", normal(0.0, 2.0));
    builder.add_term(1.2 * z * x * x);
    builder.add_term(8.0 * z);
    const Optimum optimum = fit(builder.build());
    EXPECT_EQ(optimum.termination, Termination::improper) << optimum.message;
    EXPECT_NE(optimum.message.find("'x'"), std::string::npos) << optimum.message;
    EXPECT_TRUE(optimum.state.mean.allFinite());
    EXPECT_TRUE(std::isfinite(optimum.bound));
}

TEST(Fit, DataWithAnOffsetThatDrownsThemInRoundingIsNotCalledConverged) {
    // Sums of squares about zero of numbers around 1e6 keep six digits fewer than the data have; around 1e8, none.
    Random random(6);
    const Vector noise = test::random_matrix(100, 1, random);
    const auto fit_with = [&](double offset) {
        ModelBuilder builder;
        const auto mu = builder.add("mu", normal(0.0, 1e-20));
        const auto tau = builder.add("tau", gamma(0.01, 0.01));
        builder.observe_column(noise.array() + offset, normal(mu, tau));
        return fit(builder.build());
    };
    EXPECT_TRUE(fit_with(0.0).converged());
    EXPECT_TRUE(fit_with(1e3).converged());
    for (const double offset : {1e7, 1e9}) {
        const Optimum optimum = fit_with(offset);
        EXPECT_FALSE(optimum.converged()) << offset;
        EXPECT_NE(optimum.message.find("centre and scale"), std::string::npos) << offset << ": " << optimum.message;
    }
}

TEST(Fit, RoundingInTheBoundOfManyPartsIsNotTakenForABug) {
    ModelBuilder builder;
    const auto pi = builder.add("pi", dirichlet(Vector::Constant(300, 0.5)));
    builder.add("z", categorical(pi));
    Vector counts = Vector::Zero(300);
    counts.head(5).setOnes();
    builder.observe(counts, multinomial(pi));
    const MultilinearModel model = builder.build();
    for (const std::uint64_t seed : {1U, 2U, 3U}) {
        FitOptions options;
        options.seed = seed;
        const Optimum cold = fit(model, options);
        options.initial = cold.state;
        EXPECT_NO_THROW(fit(model, options)) << seed;
    }
}

TEST(Fit, CancellingHoldsAtEveryIteration) {
    const MultilinearModel model = small_model();
    const Optimum whole = fit(model);
    for (int last = 0; last < static_cast<int>(whole.trace.size()); ++last) {
        FitOptions options;
        options.restarts = 3;
        options.progress = [&](const Progress& progress) { return progress.iteration < last; };
        const Optimum optimum = fit(model, options);
        EXPECT_EQ(optimum.termination, Termination::cancelled) << last;
        EXPECT_EQ(optimum.restart_bounds.size(), 1U) << last;
    }
}

TEST(Fit, StandardParametersAreWhatPeopleWrite) {
    ModelBuilder builder;
    const auto rate = builder.add("rate", gamma(2.0, 3.0));
    builder.observe_counts(Vector{{4.0, 1.0}}, Vector{{2.0, 0.5}}, rate);
    const MultilinearModel model = builder.build();
    const Optimum optimum = fit(model);
    // Conjugate: shape 2 + 5, rate 3 + 2.5.
    EXPECT_EQ(optimum.standard(model, rate), (Vector{{7.0, 5.5}}));
}

}  // namespace
}  // namespace lrvb
