#include <lrvb/lrvb.hpp>

#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <ostream>
#include <stdexcept>
#include <string>
#include <vector>

// What a caller can get wrong. Every case must be refused by std::invalid_argument in one sentence that says who was
// asked, which argument is at fault, its value where it is a number, and why or what to do; and must leave the builder
// as it was.

namespace lrvb {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// A small proper model with a variable of every family, for the bad calls to be made on.
struct World {
    ModelBuilder builder;
    Hyperparameter h = builder.hyperparameter("h", 1.0);
    Variable<family::Normal> x = builder.add("x", normal(0.0, h));
    Variable<family::Gamma> tau = builder.add("tau", gamma(2.0, 1.0));
    Variable<family::Beta> p = builder.add("p", beta(2.0, 3.0));
    Variable<family::Bernoulli> z = builder.add("z", bernoulli(p));
    Variable<family::Dirichlet> pi = builder.add("pi", dirichlet(Vector{{1.0, 2.0}}));
    Variable<family::Categorical> c = builder.add("c", categorical(pi));
    Variable<family::Wishart> lambda = builder.add("Lambda", wishart(5.0, Matrix(Matrix::Identity(2, 2))));
    Variable<family::MvNormal> v = builder.add("v", mv_normal(Vector{{0.0, 1.0}}, lambda));

    /// The model with a variable 'y', whose name the bad calls tried to take, and an observation of it.
    MultilinearModel finished() {
        const Variable<family::Normal> y = builder.add("y", normal(x, tau));
        builder.observe(1.5, normal(y + v[0], 2.0));
        return builder.build();
    }
};

struct BadInput {
    std::string name;
    std::function<void(World&)> call;
    std::vector<std::string> says;
};

std::ostream& operator<<(std::ostream& stream, const BadInput& bad) {
    return stream << bad.name;
}

std::string message_of(const BadInput& bad, World& world) {
    try {
        bad.call(world);
    } catch (const std::invalid_argument& error) {
        return error.what();
    }
    return {};
}

class BadInputTest : public ::testing::TestWithParam<BadInput> {};

TEST_P(BadInputTest, IsRefusedInOneSentenceThatSaysWhatIsWrong) {
    World world;
    const std::string message = message_of(GetParam(), world);
    ASSERT_FALSE(message.empty()) << "not refused";
    for (const std::string& part : GetParam().says) {
        EXPECT_NE(message.find(part), std::string::npos) << "'" << part << "' is not in: " << message;
    }
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
    EXPECT_EQ(message.find(". "), std::string::npos) << message;
    EXPECT_LT(message.size(), 300U) << message;
}

TEST_P(BadInputTest, LeavesTheBuilderAsItWas) {
    World touched;
    message_of(GetParam(), touched);
    World fresh;
    const MultilinearModel after = touched.finished();
    const MultilinearModel never = fresh.finished();
    EXPECT_EQ(after.layout().variable_count(), never.layout().variable_count());
    EXPECT_EQ(after.hyperparameters(), never.hyperparameters());
    EXPECT_EQ(after.term_count(), never.term_count());
    const Optimum optimum = fit(after);
    EXPECT_TRUE(optimum.converged()) << optimum.message;
    EXPECT_EQ(optimum.bound, fit(never).bound);
}

std::string name_of(const ::testing::TestParamInfo<BadInput>& info) {
    return info.param.name;
}

// clang-format off
std::vector<BadInput> parameters() {
    return {
        {"PrecisionIsNormal", [](World& w) { w.builder.add("y", normal(0.0, w.x)); },
         {"'y' ~ Normal", "precision", "'x' ~ Normal", "Gamma prior or make it a constant"}},
        {"PrecisionIsBernoulli", [](World& w) { w.builder.add("y", normal(0.0, w.z)); },
         {"'y' ~ Normal", "precision", "'z' ~ Bernoulli", "Gamma prior or make it a constant"}},
        {"PrecisionIsBeta", [](World& w) { w.builder.add("y", normal(0.0, w.p)); },
         {"'y' ~ Normal", "precision", "'p' ~ Beta", "Gamma prior or make it a constant"}},
        {"PrecisionIsASum", [](World& w) { w.builder.add("y", normal(0.0, w.tau + 1.0)); },
         {"'y' ~ Normal", "precision", "sum", "must be a positive constant times Gamma variables"}},
        {"PrecisionIsASquare", [](World& w) { w.builder.add("y", normal(0.0, w.tau * w.tau)); },
         {"'y' ~ Normal", "tau * tau", "'tau' ~ Gamma", "not conditionally conjugate", "in its place"}},
        {"PrecisionIsNegative", [](World& w) { w.builder.add("y", normal(0.0, -1.5)); },
         {"'y' ~ Normal", "precision", "-1.5", "must be positive"}},
        {"PrecisionIsZero", [](World& w) { w.builder.add("y", normal(0.0, 0.0)); },
         {"'y' ~ Normal", "precision", "is 0", "must be positive"}},
        {"PrecisionIsNaN", [](World& w) { w.builder.add("y", normal(0.0, kNaN)); },
         {"'y' ~ Normal", "precision", "nan", "must be a finite number"}},
        {"PrecisionIsInfinite", [](World& w) { w.builder.add("y", normal(0.0, kInfinity)); },
         {"'y' ~ Normal", "precision", "inf", "must be a finite number"}},
        {"PrecisionHasANegativeFactor", [](World& w) { w.builder.observe(1.0, normal(0.0, -2.0 * w.tau)); },
         {"~ Normal", "precision", "factor -2", "must be positive"}},
        {"MeanHoldsThePrecision", [](World& w) { w.builder.add("y", normal(w.tau + w.x, w.tau)); },
         {"'y' ~ Normal", "tau * tau", "'tau' ~ Gamma", "not conditionally conjugate", "in its place"}},
        {"MeanIsASquare", [](World& w) { w.builder.add("y", normal(w.x * w.x, 1.0)); },
         {"'y' ~ Normal", "x^2 * x", "'x' ~ Normal", "not conditionally conjugate", "in its place"}},
        {"MeanIsBeta", [](World& w) { w.builder.add("y", normal(w.p, 1.0)); },
         {"'y' ~ Normal", "'p' ~ Beta", "only its logarithms", "in its place"}},
        {"MeanIsAPartOfADirichlet", [](World& w) { w.builder.observe(1.0, normal(2.0 * w.pi[1], w.tau)); },
         {"~ Normal", "'pi' ~ Dirichlet", "only its logarithms", "in its place"}},
        {"MeanIsNaN", [](World& w) { w.builder.add("y", normal(kNaN, 1.0)); },
         {"'y' ~ Normal", "nan", "check the data and constants"}},
        {"ShapeIsAVariable", [](World& w) { w.builder.add("y", gamma(w.tau, 1.0)); },
         {"'y' ~ Gamma", "shape", "'tau' ~ Gamma", "must be a constant"}},
        {"ShapeIsZero", [](World& w) { w.builder.add("y", gamma(0.0, 1.0)); },
         {"'y' ~ Gamma", "shape", "is 0", "must be positive"}},
        {"RateIsNormal", [](World& w) { w.builder.add("y", gamma(2.0, w.x)); },
         {"'y' ~ Gamma", "rate", "'x' ~ Normal", "Gamma prior or make it a constant"}},
        {"RateIsNegative", [](World& w) { w.builder.add("y", exponential(-0.5)); },
         {"'y' ~ Gamma", "rate", "-0.5", "must be positive"}},
        {"AlphaIsAVariable", [](World& w) { w.builder.add("y", dirichlet({1.0, w.tau})); },
         {"'y' ~ Dirichlet", "alpha[2]", "'tau' ~ Gamma", "must be a constant"}},
        {"AlphaIsNegative", [](World& w) { w.builder.add("y", dirichlet(Vector{{1.0, 2.0, -0.1}})); },
         {"'y' ~ Dirichlet", "alpha[3]", "-0.1", "must be positive"}},
        {"AlphaIsNaN", [](World& w) { w.builder.add("y", dirichlet(Vector{{kNaN, 2.0}})); },
         {"entry[1]", "nan", "must be a finite number"}},
        {"DirichletHasOnePart", [](World& w) { w.builder.add("y", dirichlet(Vector{{1.0}})); },
         {"Dirichlet", "number of parts is 1", "must be at least 2"}},
        {"BetaHoldsAVariable", [](World& w) { w.builder.add("y", beta(w.tau, 1.0)); },
         {"'y' ~ Beta", "parameter a", "'tau' ~ Gamma", "must be a constant"}},
        {"BetaIsNegative", [](World& w) { w.builder.add("y", beta(1.0, -3.0)); },
         {"'y' ~ Beta", "parameter b", "-3", "must be positive"}},
        {"ProbabilityIsAboveOne", [](World& w) { w.builder.add("y", bernoulli(1.5)); },
         {"'y' ~ Bernoulli", "probability is 1.5", "strictly between 0 and 1"}},
        {"ProbabilityIsZero", [](World& w) { w.builder.observe(1.0, binomial(3, 0.0)); },
         {"~ Binomial", "probability is 0", "strictly between 0 and 1"}},
        {"ProbabilityIsNormal", [](World& w) { w.builder.add("y", bernoulli(w.x)); },
         {"'y' ~ Bernoulli", "probability", "'x' ~ Normal", "must be a constant or a Beta variable"}},
        {"ProbabilityIsHalfABeta", [](World& w) { w.builder.add("y", bernoulli(0.5 * w.p)); },
         {"'y' ~ Bernoulli", "probability", "'p' ~ Beta", "by itself"}},
        {"ProbabilityIsAHyperparameterTimesABeta", [](World& w) { w.builder.add("y", bernoulli(w.h * w.p)); },
         {"'y' ~ Bernoulli", "probability", "'p' ~ Beta", "by itself"}},
        {"ProbabilitiesDoNotAddUp", [](World& w) { w.builder.add("y", categorical({0.5, 0.4})); },
         {"probabilities", "0.9", "must add up to one"}},
        {"ProbabilitiesHoldAZero", [](World& w) { w.builder.add("y", categorical({1.0, 0.0})); },
         {"probabilities", "p[2] is 0", "must be positive"}},
        {"ProbabilitiesHoldANegative", [](World& w) { w.builder.add("y", categorical({-0.5, 1.5})); },
         {"probabilities", "p[1] is -0.5", "must be positive"}},
        {"DegreesOfFreedomAreTooFew",
         [](World& w) { w.builder.add("y", wishart(1.0, Matrix(Matrix::Identity(2, 2)))); },
         {"'y' ~ Wishart", "degrees of freedom are 1", "must be above 1 in dimension 2"}},
        {"DegreesOfFreedomAreAVariable", [](World& w) { w.builder.add("y", wishart(w.tau, w.lambda)); },
         {"'y' ~ Wishart", "degrees of freedom", "'tau' ~ Gamma", "must be a constant"}},
        {"InverseScaleIsNotPositiveDefinite",
         [](World& w) { w.builder.add("y", wishart(5.0, Matrix{{1.0, 2.0}, {2.0, 1.0}})); },
         {"'y' ~ Wishart", "inverse scale matrix", "not positive definite", "check its entries"}},
        {"InverseScaleIsNotSymmetric",
         [](World& w) { w.builder.add("y", wishart(5.0, Matrix{{1.0, 0.5}, {0.25, 1.0}})); },
         {"matrix parameter", "not symmetric", "(1, 2)", "0.5", "0.25"}},
        {"InverseScaleIsNotSquare", [](World& w) { w.builder.add("y", wishart(5.0, Matrix(Matrix::Ones(2, 3)))); },
         {"matrix parameter", "2 x 3", "must be square"}},
        {"InverseScaleIsNaN", [](World& w) { w.builder.add("y", wishart(5.0, Matrix(Matrix::Constant(1, 1, kNaN)))); },
         {"matrix parameter", "not finite"}},
        {"PrecisionMatrixIsNotPositiveDefinite",
         [](World& w) { w.builder.add("y", mv_normal(w.v, Matrix(-Matrix::Identity(2, 2)))); },
         {"'y' ~ MvNormal", "precision matrix", "not positive definite"}},
        {"PrecisionMatrixIsScaledByANormal",
         [](World& w) { w.builder.add("y", mv_normal(w.v, scaled(w.x, w.lambda))); },
         {"'y' ~ MvNormal", "scale of the precision matrix", "'x' ~ Normal", "Gamma prior or make it a constant"}},
        {"MeanVectorIsTooLong", [](World& w) { w.builder.add("y", mv_normal(Vector{{0.0, 0.0, 0.0}}, w.lambda)); },
         {"mv_normal", "mean has 3 entries", "must have 2"}},
        {"MixtureHasTooManyComponents",
         [](World& w) { w.builder.add("y", mixture(w.c, {normal(0.0, 1.0), normal(1.0, 1.0), normal(2.0, 1.0)})); },
         {"mixture", "3 components", "2 labels", "one for each"}},
        {"MixtureHasUnlikeComponents",
         [](World& w) {
             w.builder.add("y", mixture(w.c, {mv_normal(w.v, w.lambda), mv_normal({w.x}, Matrix{{1.0}})}));
         },
         {"mixture", "components differ in dimension", "of one kind"}},
        {"PoissonRateIsNormal", [](World& w) { w.builder.observe(1.0, poisson(w.x)); },
         {"~ Poisson", "rate", "'x' ~ Normal", "Gamma prior or make it a constant"}},
        {"ExposureIsZero", [](World& w) { w.builder.observe(1.0, poisson(w.tau, 0.0)); },
         {"poisson", "exposure is 0", "must be positive"}},
        {"NoTrials", [](World& w) { w.builder.observe(0.0, binomial(0, w.p)); },
         {"binomial", "trials is 0", "must be at least 1"}},
    };
}

std::vector<BadInput> observations() {
    return {
        {"ObservationIsNaN", [](World& w) { w.builder.observe(kNaN, normal(w.x, w.tau)); },
         {"Normal", "value is nan", "must be a finite number"}},
        {"ObservationIsInfinite", [](World& w) { w.builder.observe(kInfinity + w.x, normal(0.0, w.tau)); },
         {"~ Normal", "value is inf", "must be a finite number"}},
        {"ColumnHoldsANaN", [](World& w) { w.builder.observe_column(Vector{{1.0, 2.0, kNaN}}, normal(w.x, w.tau)); },
         {"row 3", "Normal", "nan", "must be a finite number"}},
        {"ColumnOverflows", [](World& w) { w.builder.observe_column(Vector{{1e200, 1.0}}, normal(w.x, w.tau)); },
         {"~ Normal", "inf", "too large"}},
        {"VectorIsTooShort", [](World& w) { w.builder.observe(Vector{{1.0}}, mv_normal(w.v, w.lambda)); },
         {"MvNormal", "value has 1 entries", "must have 2"}},
        {"PartlyMissingRowIsTooLong",
         [](World& w) { w.builder.observe(VectorParameter{1.0, w.x, 2.0}, mv_normal(w.v, w.lambda)); },
         {"~ MvNormal", "value has 3 entries", "2"}},
        {"PartlyMissingRowHoldsANaN",
         [](World& w) { w.builder.observe(VectorParameter{kNaN, w.x}, mv_normal(w.v, w.lambda)); },
         {"~ MvNormal", "nan", "must be a finite number"}},
        {"RowHoldsAnInfinity",
         [](World& w) { w.builder.observe_rows(Matrix{{1.0, 2.0}, {kInfinity, 2.0}}, mv_normal(w.v, w.lambda)); },
         {"row 2", "MvNormal", "inf", "must be a finite number"}},
        {"CountIsNegative", [](World& w) { w.builder.observe(-1.0, poisson(w.tau)); },
         {"Poisson", "value is -1", "must be a whole number"}},
        {"CountIsNotWhole", [](World& w) { w.builder.observe(1.5, poisson(w.tau)); },
         {"Poisson", "value is 1.5", "must be a whole number"}},
        {"CountIsNaN", [](World& w) { w.builder.observe_counts(Vector{{3.0, kNaN}}, Vector{{1.0, 1.0}}, w.tau); },
         {"row 2", "Poisson", "nan", "must be a whole number"}},
        {"CountsAndExposuresDiffer",
         [](World& w) { w.builder.observe_counts(Vector{{3.0}}, Vector{{1.0, 1.0}}, w.tau); },
         {"observe_counts", "exposures has 2 entries", "must have 1"}},
        {"ExposureOfARowIsZero",
         [](World& w) { w.builder.observe_counts(Vector{{3.0, 1.0}}, Vector{{1.0, 0.0}}, w.tau); },
         {"observe_counts", "exposure of row 2 is 0", "must be positive"}},
        {"MoreSuccessesThanTrials", [](World& w) { w.builder.observe(6.0, binomial(5, w.p)); },
         {"Binomial", "value is 6", "5 trials"}},
        {"MultinomialIsTooLong", [](World& w) { w.builder.observe(Vector{{1.0, 2.0, 3.0}}, multinomial(w.pi)); },
         {"Multinomial", "value has 3 entries", "must have 2"}},
        {"MultinomialCountIsNotWhole", [](World& w) { w.builder.observe(Vector{{1.0, 2.5}}, multinomial(w.pi)); },
         {"Multinomial", "value[2] is 2.5", "must be a whole number"}},
        {"GammaValueIsNegative", [](World& w) { w.builder.observe(-2.0, gamma(2.0, w.tau)); },
         {"Gamma", "value is -2", "must be positive"}},
        {"BetaValueIsOne", [](World& w) { w.builder.observe(1.0, beta(2.0, 2.0)); },
         {"Beta", "value is 1", "strictly between 0 and 1"}},
        {"BernoulliValueIsTwo", [](World& w) { w.builder.observe(2.0, bernoulli(w.p)); },
         {"Bernoulli", "value is 2", "must be 0 or 1"}},
        {"LabelIsTooLarge", [](World& w) { w.builder.observe_column(Vector{{1.0, 2.0}}, categorical(w.pi)); },
         {"row 2", "Categorical", "value is 2", "label from 0 to 1"}},
        {"WishartValueIsNotPositiveDefinite",
         [](World& w) { w.builder.observe(Vector{{1.0, 2.0, 1.0}}, wishart(3.0, w.lambda)); },
         {"Wishart", "value", "not a positive definite matrix"}},
        {"DesignHoldsANaN",
         [](World& w) { w.builder.observe_linear(Vector{{1.0, 2.0}}, Matrix{{1.0, 2.0}, {kNaN, 1.0}}, w.v, w.tau); },
         {"observe_linear", "design(2, 1)", "nan", "must be a finite number"}},
        {"SparseDesignHoldsAnInfinity",
         [](World& w) {
             SparseMatrix design(2, 2);
             design.insert(0, 1) = -kInfinity;
             w.builder.observe_linear(Vector{{1.0, 2.0}}, design, w.v, w.tau);
         },
         {"observe_linear", "design(1, 2)", "-inf", "must be a finite number"}},
        {"DesignHasTooManyRows",
         [](World& w) { w.builder.observe_linear(Vector{{1.0, 2.0}}, Matrix(Matrix::Ones(3, 2)), w.v, w.tau); },
         {"observe_linear", "y has 2 entries", "must have 3"}},
        {"DesignHasTooManyColumns",
         [](World& w) { w.builder.observe_linear(Vector{{1.0, 2.0}}, Matrix(Matrix::Ones(2, 3)), w.v, w.tau); },
         {"observe_linear", "coefficients has 2 entries", "must have 3"}},
        {"ResponseIsNaN",
         [](World& w) { w.builder.observe_linear(Vector{{1.0, kNaN}}, Matrix(Matrix::Ones(2, 2)), w.v, w.tau); },
         {"observe_linear", "y[2] is nan", "must be a finite number"}},
        {"PrecisionOfADesignIsNormal",
         [](World& w) { w.builder.observe_linear(Vector{{1.0, 2.0}}, Matrix(Matrix::Ones(2, 2)), w.v, w.x); },
         {"~ Normal", "precision", "'x' ~ Normal", "Gamma prior or make it a constant"}},
    };
}

std::vector<BadInput> structure() {
    return {
        {"NameIsTaken", [](World& w) { w.builder.add("x", gamma(1.0, 1.0)); }, {"'x'", "twice", "names must differ"}},
        {"NameIsEmpty", [](World& w) { w.builder.add("", normal(0.0, 1.0)); },
         {"variable", "name is empty", "give it"}},
        {"HyperparameterIsTaken", [](World& w) { w.builder.hyperparameter("h", 2.0); },
         {"hyperparameter 'h'", "twice", "names must differ"}},
        {"HyperparameterHasNoName", [](World& w) { w.builder.hyperparameter("", 2.0); },
         {"hyperparameter", "name is empty", "give it"}},
        {"HyperparameterIsNaN", [](World& w) { w.builder.hyperparameter("g", kNaN); },
         {"hyperparameter", "g is nan", "must be a finite number"}},
        {"ExpressionMixesModels", [](World& w) { w.builder.add("y", normal(w.x + World().x, 1.0)); },
         {"mixes variables of two models", "its own variables"}},
        {"MeanIsOfAnotherModel", [](World& w) { w.builder.add("y", normal(World().x, 1.0)); },
         {"'y' ~ Normal", "another model", "declare it in this one"}},
        {"ProbabilitiesAreOfAnotherModel", [](World& w) { w.builder.add("y", categorical(World().pi)); },
         {"'y' ~ Categorical", "another model", "declare it in this one"}},
        {"ChoiceIsOfAnotherModel",
         [](World& w) { w.builder.observe(1.0, mixture(World().c, {normal(0.0, 1.0), normal(1.0, 1.0)})); },
         {"~ Normal", "another model", "declare it in this one"}},
        {"HyperparameterIsOfAnotherModel", [](World& w) { w.builder.add("y", gamma(World().h, 1.0)); },
         {"'y' ~ Gamma", "another model", "declare it in this one"}},
        {"RawTermIsCubic", [](World& w) { w.builder.add_term(w.x * w.x * w.x); },
         {"raw term", "x^2 * x", "'x' ~ Normal", "not conditionally conjugate"}},
        {"RawTermIsNaN", [](World& w) { w.builder.add_term(kNaN * w.x); },
         {"raw term", "nan", "check the data and constants"}},
        {"NoVariables", [](World&) { ModelBuilder().build(); }, {"no variables", "add at least one"}},
        {"NothingMakesAFlatVariableProper",
         [](World&) {
             ModelBuilder builder;
             builder.add("mu", normal(0.0, 1.0));
             builder.add("nu", flat(family::Normal{}));
             builder.build();
         },
         {"'nu'", "improper", "precision", "proper prior or more data"}},
        {"TooFewRowsForAFlatVector",
         [](World&) {
             ModelBuilder builder;
             const Variable<family::MvNormal> b = builder.add("b", flat(family::MvNormal(2)));
             builder.observe_linear(Vector{{1.0}}, Matrix{{1.0, 2.0}}, b, 1.0);
             builder.build();
         },
         {"'b'", "improper", "not positive definite", "proper prior or more data"}},
        {"EntryOfAVectorIsOutside", [](World& w) { w.builder.add_term(w.v[2]); }, {"MvNormal", "index 2", "0 to 1"}},
        {"EntryOfASimplexIsOutside", [](World& w) { w.builder.add_term(log(w.pi, -1)); },
         {"Dirichlet", "index -1", "0 to 1"}},
        {"EntryOfAMatrixIsOutside", [](World& w) { w.builder.add_term(w.lambda(0, 3)); },
         {"Wishart", "index 3", "0 to 1"}},
    };
}

BadInput bad_fit(const std::string& name, const std::function<void(World&, FitOptions&)>& set,
                 const std::vector<std::string>& says) {
    return {name, [set](World& w) { FitOptions options; set(w, options); fit(w.builder.build(), options); }, says};
}

std::vector<BadInput> fits() {
    return {
        bad_fit("ToleranceIsZero", [](World&, FitOptions& o) { o.tolerance = 0.0; },
                {"fit", "tolerance is 0", "must be positive"}),
        bad_fit("ToleranceIsNegative", [](World&, FitOptions& o) { o.tolerance = -1e-8; },
                {"fit", "tolerance is -1e-08", "must be positive"}),
        bad_fit("NoRestarts", [](World&, FitOptions& o) { o.restarts = 0; },
                {"fit", "restarts is 0", "must be at least 1"}),
        bad_fit("NoIterations", [](World&, FitOptions& o) { o.max_iterations = 0; },
                {"fit", "max_iterations is 0", "must be at least 1"}),
        bad_fit("ClampIsOutsideTheSupport", [](World& w, FitOptions& o) { o.clamp(w.tau, -1.0); },
                {"Gamma", "value is -1", "must be positive"}),
        bad_fit("ClampIsNoLabel", [](World& w, FitOptions& o) { o.clamp(w.c, 0.5); },
                {"Categorical", "value is 0.5", "label from 0 to 1"}),
        bad_fit("ClampIsOutOfRange", [](World&, FitOptions& o) { o.clamp(AnyVariable(99, 0), 1.0); },
                {"clamp", "variable 99", "this model's 8"}),
        bad_fit("ClampIsOfAnotherModel", [](World&, FitOptions& o) { o.clamp(World().x, 1.0); },
                {"clamp", "not one of this model's", "handles of the builder"}),
        bad_fit("StartIsOfAnotherModel", [](World&, FitOptions& o) { o.start(World().x, Vector{{1.0, 1.0}}); },
                {"start", "not one of this model's", "handles of the builder"}),
        bad_fit("StartHasANegativeVariance", [](World& w, FitOptions& o) { o.start(w.x, Vector{{0.0, -2.0}}); },
                {"start of variable 'x'", "Normal", "variance is -2", "must be positive"}),
        bad_fit("StartIsTooShort", [](World& w, FitOptions& o) { o.start(w.tau, Vector{{1.0}}); },
                {"Gamma", "standard parameter has 1 entries", "must have 2"}),
        bad_fit("InitialStateIsOfAnotherModel", [](World&, FitOptions& o) { o.initial = State{}; },
                {"fit", "initial means has 0 entries", "must have"}),
    };
}

BadInput bad_query(const std::string& name, const std::function<void(World&, const LinearResponse&)>& ask,
                   const std::vector<std::string>& says) {
    const auto call = [ask](World& w) {
        const MultilinearModel model = w.builder.build();
        ask(w, LinearResponse(model, fit(model)));
    };
    return {name, call, says};
}

void respond_without_convergence(World& w) {
    const MultilinearModel model = w.builder.build();
    FitOptions options;
    options.max_iterations = 1;
    const LinearResponse response(model, fit(model, options));
}

std::vector<BadInput> responses() {
    return {
        bad_query("StatisticIsUnknown", [](World&, const LinearResponse& r) { r.sd({"log_x"}); },
                  {"no statistic 'log_x'", "the model has x, x^2, tau, log_tau"}),
        bad_query("StatisticIsOutside", [](World&, const LinearResponse& r) { r.sd(std::vector<Index>{-1}); },
                  {"statistic -1", "outside 0 to"}),
        bad_query("HyperparameterIsUnknown", [](World& w, const LinearResponse& r) { r.sensitivity({w.x}, "g"); },
                  {"no hyperparameter 'g'"}),
        bad_query("FunctionalIsAProduct", [](World& w, const LinearResponse& r) { r.sd({w.x * w.tau}); },
                  {"functional", "x * tau", "product of two variables", "delta method"}),
        bad_query("FunctionalIsAProbability", [](World& w, const LinearResponse& r) { r.mean({w.p}); },
                  {"functional", "'p' ~ Beta", "only its logarithms", "delta method"}),
        bad_query("FunctionalIsOfAnotherModel", [](World&, const LinearResponse& r) { r.covariance({World().x}); },
                  {"functional", "another model"}),
        bad_query("FunctionalIsDeclaredAfterTheModel",
                  [](World&, const LinearResponse&) {
                      World w;
                      const MultilinearModel model = w.builder.build();
                      Functionals{w.builder.add("late", normal(0.0, 1.0))}.resolve(model.layout());
                  },
                  {"functional", "another model"}),
        bad_query("WeightsAreTooFew",
                  [](World&, const LinearResponse& r) {
                      const SparseMatrix weights = Matrix::Ones(3, 1).sparseView();
                      r.sd(weights);
                  },
                  {"weights have 3 rows", "statistics"}),
        bad_query("GradientChangeIsTooShort", [](World&, const LinearResponse& r) { r.respond(Vector::Ones(2)); },
                  {"respond", "gradient_change has 2 entries", "must have"}),
        {"TiltIsTooShort", [](World& w) { w.builder.build().tilted(Vector{{1.0}}); },
         {"tilted", "tilt has 1 entries", "must have"}},
        {"TiltIsNaN",
         [](World& w) {
             const MultilinearModel model = w.builder.build();
             model.tilted(Vector::Constant(model.layout().size(), kNaN));
         },
         {"tilted", "tilt[1] is nan", "must be a finite number"}},
        {"ExpandedAtTooFewMeans", [](World& w) { w.builder.build().expand(Vector{{1.0}}, Order::value); },
         {"expand", "mean has 1 entries", "must have"}},
        {"FitDidNotConverge", respond_without_convergence,
         {"no response without an optimum", "not converged in 1 iterations", "raise max_iterations"}},
    };
}
// clang-format on

INSTANTIATE_TEST_SUITE_P(Parameter, BadInputTest, ::testing::ValuesIn(parameters()), name_of);
INSTANTIATE_TEST_SUITE_P(Observation, BadInputTest, ::testing::ValuesIn(observations()), name_of);
INSTANTIATE_TEST_SUITE_P(Structure, BadInputTest, ::testing::ValuesIn(structure()), name_of);
INSTANTIATE_TEST_SUITE_P(Fit, BadInputTest, ::testing::ValuesIn(fits()), name_of);
INSTANTIATE_TEST_SUITE_P(Response, BadInputTest, ::testing::ValuesIn(responses()), name_of);

TEST(BadInput, AFitThatDidNotConvergeIsNotAnOptimum) {
    World world;
    EXPECT_THROW(respond_without_convergence(world), NotAnOptimum);
}

}  // namespace
}  // namespace lrvb
