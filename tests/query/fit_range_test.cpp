// One kind fitted with each number of a range: whether the fits are as good as each by itself, and which is best.

#include "frames.hpp"

namespace lrvb {
namespace {

using test::frame_of;

FittedRange range_of(const Dataset& data, const Settings& settings) {
    return fit_range(*find_kind("mixture"), FitRequest{data, settings, {}, 1, {}}, CheckWish::never);
}

// A start more can only find more: every bound is that of a fit by itself, or above it.
TEST(FitRanges, EveryFitIsAsGoodAsByItself) {
    for (const std::uint64_t seed : {1U, 2U}) {
        const Vector x = test::three_component_rows(400, seed);
        const Dataset data = frame_of({{"x", x}, {"y", x.reverse().cwiseAbs()}});
        const FittedRange range = range_of(data, {{"components", "1:4"}});
        ASSERT_EQ(range.fits.size(), 4U);
        for (const RangeFit& one : range.fits) {
            const auto alone =
                find_kind("mixture")->fit(FitRequest{data, {{"components", fmt::format("{}", one.number)}}, {}, 1, {}});
            EXPECT_TRUE(one.fit.fitted->file().converged());
            EXPECT_GE(one.fit.fitted->optimum().bound, alone->optimum().bound - 1e-6) << one.number;
            EXPECT_EQ(one.fit.fitted->file().data.checksum, alone->file().data.checksum);
        }
    }
}

TEST(FitRanges, TheBestIsThatWhichMadeTheRows) {
    const FittedRange range = range_of(frame_of({{"x", test::three_component_rows(1500, 3)}}), {{"components", "1:4"}});
    ASSERT_TRUE(range.best.has_value());
    EXPECT_GE(range.fits[*range.best].number, 3);  // four say no more than three
    EXPECT_EQ(range.fits[*range.best].compared->elpd_difference, 0.0);
    EXPECT_LT(range.fits[0].compared->elpd_difference, -50.0);
    EXPECT_EQ(range.fits[2].compared->loo.parameters, 8);
    EXPECT_NE(range.message.find("k = "), std::string::npos) << range.message;
    EXPECT_EQ(range.option.short_key(), "k");
}

// The same numbers as fits that are compared by hand.
TEST(FitRanges, AreComparedAsFitsAre) {
    const Dataset data = frame_of({{"x", test::three_component_rows(300, 6)}});
    const FittedRange range = range_of(data, {{"components", "1:2"}});
    const std::vector<ComparedFit> compared =
        compare_fits({range.fits[0].fit.fitted.get(), range.fits[1].fit.fitted.get()}, {"one", "two"});
    for (const ComparedFit& one : compared) {
        EXPECT_EQ(range.fits[one.fit].compared->loo.elpd_loo, one.loo.elpd_loo);
        EXPECT_EQ(range.fits[one.fit].compared->bound, one.bound);
    }
}

TEST(FitRanges, KeepWeightsAndRowsThatWereLeftOut) {
    Vector x = test::three_component_rows(200, 4);
    x[3] = std::numeric_limits<double>::quiet_NaN();
    const Dataset data = frame_of({{"x", x}, {"w", Vector::Constant(200, 2.0)}});
    const FittedRange range = range_of(data, {{"components", "2:3"}, {"weights", "w"}, {"drop-missing", "true"}});
    for (const RangeFit& one : range.fits) {
        EXPECT_EQ(one.fit.fitted->file().data.dropped, 1);
        EXPECT_EQ(one.fit.fitted->file_row(3), 5);
        EXPECT_EQ(one.fit.fitted->file().data.total_weight, 398.0);
    }
}

TEST(FitRanges, RangesThatAreNoneAreRefused) {
    const Dataset data = frame_of({{"x", test::three_component_rows(50, 4)}});
    for (const char* range : {"3:1", "0:2", "1:", ":2", "1:x", "1:2:3", "1:1000"}) {
        EXPECT_THROW(range_of(data, {{"components", range}}), UsageError) << range;
    }
    EXPECT_THROW(range_of(data, {{"components", "2"}}), std::invalid_argument);
    EXPECT_FALSE(range_option(*find_kind("mixture"), {{"components", "2"}}).has_value());
}

TEST(FitRanges, AreCancelledAsAWhole) {
    FitRequest request{frame_of({{"x", test::three_component_rows(300, 4)}}), {{"components", "2:4"}}, {}, 1, {}};
    request.options.progress = [](const Progress&) { return false; };
    const FittedRange range = fit_range(*find_kind("mixture"), request, CheckWish::never);
    EXPECT_TRUE(range.is_cancelled);
    EXPECT_EQ(range.fits.size(), 1U);
    EXPECT_FALSE(range.best.has_value());
}

}  // namespace
}  // namespace lrvb
