// The starts of a mixture's fit: whether they reach the optimum that many starts of an independent ascent find.

#include "kind/mixture/starts.hpp"
#include "plain_mixture.hpp"
#include "support.hpp"

#include <lrvb/data/csv.hpp>
#include <lrvb/data/table.hpp>
#include <lrvb/family/symmetric.hpp>
#include <lrvb/kind/mixture/fit.hpp>

namespace lrvb {
namespace {

using test::PlainMixture;
using test::ProblemFamily;

std::shared_ptr<TableSource> source_of(const Matrix& rows) {
    return std::make_shared<TableSource>(test::row_major(rows), rows.cols());
}

MixtureSpecification components(Index count) {
    MixtureSpecification specification;
    specification.components = count;
    return specification;
}

// Columns of zeros change no axis: with them there are more columns than rows, whose axes are found by products of the
// rows.
TEST(MixtureStarts, WideRowsAreSplitAsTheSameRowsWithoutColumnsOfZeros) {
    Random random(4);
    Matrix rows = test::random_matrix(30, 4, random);
    rows.col(2) *= 3.0;
    Matrix wide = Matrix::Zero(30, 50);
    wide.leftCols(4) = rows;
    Matrix responsibilities = Matrix::Zero(30, 2);
    for (Index n = 0; n < 30; ++n) responsibilities(n, 0) = random.uniform();
    for (const bool into_shells : {false, true}) {
        Matrix narrow_split = responsibilities;
        Matrix wide_split = responsibilities;
        detail::split_in_two(rows, 0, 1, into_shells, narrow_split);
        detail::split_in_two(wide, 0, 1, into_shells, wide_split);
        const Matrix mirrored = wide_split.rowwise().reverse();  // an axis has no direction
        const double error = std::min((wide_split - narrow_split).cwiseAbs().maxCoeff(),
                                      into_shells ? 1.0 : (mirrored - narrow_split).cwiseAbs().maxCoeff());
        EXPECT_LT(error, 1e-8) << into_shells;
    }
}

// What 'lrvb simulate mixture' writes.
Matrix simulated(const Vector& weights, const Vector& means, const Vector& sds, Index rows, std::uint64_t seed) {
    Matrix x(rows, 1);
    for (Index n = 0; n < rows; ++n) {
        Random random(seed, static_cast<std::uint64_t>(n));
        double u = random.uniform() * weights.sum();
        Index k = 0;
        while (k + 1 < weights.size() && u >= weights[k]) u -= weights[k++];
        x(n, 0) = means[k] + sds[k] * random.normal();
    }
    return x;
}

// The same state in the terms of the plain ascent, where the model's inner units are those of the data.
PlainMixture::State plain_state(const MixtureFit& fit) {
    const MixtureModel& model = *fit.model;
    const Index columns = model.columns();
    PlainMixture::State state;
    state.weights = fit.optimum.standard(model, model.weights());
    state.dof.resize(model.components());
    for (Index k = 0; k < model.components(); ++k) {
        const Vector location = fit.optimum.standard(model, model.location(k, 0));
        const Vector precision = fit.optimum.standard(model, model.precision(k, 0));
        state.mean.emplace_back(location.head(columns));
        state.spread.push_back(symmetric_from_half(location.tail(half_size(columns)), columns));
        if (columns == 1) {
            state.dof[k] = 2.0 * precision[0];
            state.scale.push_back(Matrix::Constant(1, 1, 0.5 / precision[1]));
        } else {
            state.dof[k] = precision[0];
            state.scale.push_back(symmetric_from_half(precision.tail(half_size(columns)), columns));
        }
    }
    return state;
}

TEST(MixtureStarts, ThePlainAscentHasTheSameBoundAtTheSameState) {
    for (const ProblemFamily family : {ProblemFamily::separated, ProblemFamily::several_columns}) {
        const test::StartProblem problem = test::start_problem(family, 901);
        const Index columns = problem.rows.cols();
        MixtureSpecification specification = components(problem.components);
        specification.prior = MixturePrior::paper(columns, MixtureCovariance::full);
        specification.standardisation = {Vector::Zero(columns), Vector::Ones(columns)};
        const MixtureFit fit = fit_mixture(source_of(problem.rows), specification);
        const PlainMixture plain(problem.rows, problem.components, *specification.prior);
        EXPECT_NEAR(plain.bound(plain_state(fit)), fit.optimum.bound, 1e-8) << name_of(family);
    }
}

// The bounds come from random starts of coordinate ascent in another program.
TEST(MixtureStarts, ComponentsThatShareAPlaceAreFound) {
    const Matrix rows = simulated(Vector{{0.8, 0.2}}, Vector{{0.0, 0.0}}, Vector{{1.0, 10.0}}, 500, 5);
    EXPECT_NEAR(fit_mixture(source_of(rows), components(2)).optimum.bound, -1074.80, 0.01);
}

TEST(MixtureStarts, TwoComponentsFindTheBetterWayToCoverThree) {
    const Matrix rows = simulated(Vector::Ones(3), Vector{{0.0, 2.5, 5.0}}, Vector{{1.0, 0.7, 1.3}}, 2000, 28);
    EXPECT_NEAR(fit_mixture(source_of(rows), components(2)).optimum.bound, -4444.77, 0.01);
}

// make optima judges by more data sets, and by 200 starts.
class MixtureStartsOfAFamily : public testing::TestWithParam<ProblemFamily> {};

TEST_P(MixtureStartsOfAFamily, ReachTheBestOptimumOfAPlainAscent) {
    for (const std::uint64_t seed : {911, 912, 913}) {
        const test::StartProblem problem = test::start_problem(GetParam(), seed);
        const MixtureFit fit = fit_mixture(source_of(problem.rows), components(problem.components));
        ASSERT_TRUE(fit.optimum.converged()) << fit.optimum.message;
        const PlainMixture plain(problem.rows, problem.components, fit.model->prior());
        EXPECT_GE(fit.optimum.bound, plain.best_of(20, seed) - 0.1) << "seed " << seed;
    }
}

INSTANTIATE_TEST_SUITE_P(All, MixtureStartsOfAFamily,
                         testing::Values(ProblemFamily::nested_scales, ProblemFamily::too_few_components,
                                         ProblemFamily::separated, ProblemFamily::several_columns));

struct HardCase {
    std::string file;
    bool weighted;
    Index components;
    double bound;  // the best of 100 starts of an ascent that was written apart from this one

    friend void PrintTo(const HardCase& one, std::ostream* out) { *out << one.file; }
};

class MixtureStartsOnHardData : public ::testing::TestWithParam<HardCase> {};

// Optima that starts of the usual kinds hardly ever reach: a spike on a value that many rows repeat, or on a row that
// weighs much; components narrower than a hundredth of the data; and components that are better left empty.
TEST_P(MixtureStartsOnHardData, EverySeedReachesTheBestKnownOptimum) {
    const HardCase& one = GetParam();
    const std::string path = fmt::format("{}/starts/{}", LRVB_TEST_DATA, one.file);
    MixtureSpecification specification = components(one.components);
    specification.weighted = one.weighted;
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
        MixtureFitOptions options;
        options.seed = seed;
        EXPECT_NEAR(fit_mixture(std::make_shared<CsvSource>(path), specification, options).optimum.bound, one.bound,
                    1e-3)
            << seed;
    }
}

INSTANTIATE_TEST_SUITE_P(All, MixtureStartsOnHardData,
                         ::testing::Values(HardCase{"rounded_to_tens.csv", false, 2, -3289.5529},
                                           HardCase{"heavy_row.csv", true, 2, -1946.9909},
                                           HardCase{"narrow_spots.csv", false, 3, -72.6121},
                                           HardCase{"one_component_is_enough.csv", false, 2, -253.9160}));

TEST(MixtureStarts, AreTheSameForAnyNumberOfThreads) {
    const test::StartProblem problem = test::start_problem(ProblemFamily::several_columns, 921);
    MixtureSpecification specification = components(problem.components);
    const MixtureFit one = fit_mixture(source_of(problem.rows), specification);
    specification.threads = 3;
    const MixtureFit three = fit_mixture(source_of(problem.rows), specification);
    EXPECT_EQ(one.start_bounds, three.start_bounds);
    EXPECT_EQ(one.optimum.state.mean, three.optimum.state.mean);
}

TEST(MixtureStarts, OfOneRestartAreOnePartition) {
    const test::StartProblem problem = test::start_problem(ProblemFamily::separated, 931);
    MixtureFitOptions options;
    options.restarts = 1;
    EXPECT_EQ(fit_mixture(source_of(problem.rows), components(problem.components), options).start_bounds.size(), 1U);
}

TEST(MixtureStarts, HoldWhatIsFixed) {
    const Matrix rows = test::start_problem(ProblemFamily::nested_scales, 941).rows;
    MixtureFitOptions options;
    options.fixed.means = Matrix{{-0.5}, {0.5}};
    const MixtureFit fit = fit_mixture(source_of(rows), components(2), options);
    ASSERT_TRUE(fit.optimum.converged()) << fit.optimum.message;
    for (Index k = 0; k < 2; ++k) {
        const auto variable = static_cast<std::size_t>(fit.model->location(k, 0).index());
        EXPECT_TRUE(fit.optimum.state.clamped[variable]);
        const double inner = fit.model->layout().segment(fit.optimum.state.mean, fit.model->location(k, 0).index())[0];
        EXPECT_NEAR(inner * fit.model->scale()[0] + fit.model->centre()[0], k == 0 ? -0.5 : 0.5, 1e-12);
    }
    EXPECT_GT(fit.start_bounds.size(), 1U);
}

}  // namespace
}  // namespace lrvb
