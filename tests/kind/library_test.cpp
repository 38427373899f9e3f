// The kind of counts_kind.cpp from C++, without the program; and tables in memory as any kind may get them.

#include <lrvb/check/check.hpp>
#include <lrvb/kind/kind.hpp>
#include <lrvb/query/influence.hpp>
#include <lrvb/query/sensitivity.hpp>
#include <lrvb/report/plot.hpp>
#include <lrvb/report/report.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace lrvb {
namespace {

constexpr double kNothing = std::numeric_limits<double>::quiet_NaN();

FrameColumn numbers(const std::string& name, const Vector& values) {
    return {.name = name, .numbers = values, .levels = {}, .codes = {}};
}

/// Two groups, north and south, in this order.
DataFrame visits() {
    DataFrame frame;
    frame.rows = 5;
    frame.columns.push_back(numbers("visits", Vector{{3.0, 0.0, 7.0, 2.0, 4.0}}));
    frame.columns.push_back(numbers("hours", Vector{{1.0, 0.5, 4.0, 2.0, 1.5}}));
    frame.columns.push_back({.name = "place", .numbers = {}, .levels = {"north", "south"}, .codes = {0, 1, 0, 1, 0}});
    return frame;
}

const Settings kSettings{
    {"count", "visits"}, {"exposure", "hours"}, {"group", "place"}, {"prior-shape", "2"}, {"prior-rate", "0.5"}};

// The posterior of a rate is Gamma(shape + Σy, rate + Σe): 16 and 7 for north, 4 and 3 for south.
TEST(CountsFromCpp, TenLinesFitCheckAskAndReport) {
    const Kind* kind = find_kind("counts");
    const std::unique_ptr<FittedModel> fitted = kind->fit(FitRequest{visits(), kSettings, {}, 1, {}});
    const Check checked = check(*fitted);
    const RowInfluence influence(*fitted);
    const RowInfluence::Case worst = influence.most_influential(1).front();
    const std::string page = report_page(fitted->file(), fitted.get());
    const std::string picture = plot_svg(fitted->file(), fitted.get(), Figure::fit);

    EXPECT_NEAR(fitted->posterior().variables[0].mean, 16.0 / 7.0, 1e-12);
    EXPECT_NEAR(fitted->posterior().variables[2].mean, 4.0 / 3.0, 1e-12);
    EXPECT_EQ(checked.verdict, CheckVerdict::ok);
    // To first order row n moves its rate by −(y − e·mean)/B: the third, by (7 − 4·16/7)/7 the other way, most.
    EXPECT_EQ(worst.row, 2);
    EXPECT_NEAR(worst.shifts[0], -(7.0 - 4.0 * 16.0 / 7.0) / 7.0 / (4.0 / 7.0), 1e-10);
    EXPECT_NEAR(influence.refitted(worst).shifts[0], (9.0 / 3.0 - 16.0 / 7.0) / (4.0 / 7.0), 1e-6);
    EXPECT_NE(page.find("Rates of visits"), std::string::npos);
    EXPECT_NE(picture.find("Rates of visits"), std::string::npos);
}

TEST(CountsFromCpp, AFigureThatNeedsTheDataSaysSo) {
    const std::unique_ptr<FittedModel> fitted = find_kind("counts")->fit(FitRequest{visits(), kSettings, {}, 1, {}});
    EXPECT_THROW(plot_svg(fitted->file(), nullptr, Figure::fit), std::invalid_argument);
    EXPECT_THROW(plot_svg(fitted->file(), nullptr, Figure::influence), std::invalid_argument);
    EXPECT_THROW(figure_named("pie"), std::invalid_argument);
    PlotOptions narrow;
    narrow.width = 10;
    EXPECT_THROW(plot_svg(fitted->file(), nullptr, Figure::intervals, narrow), std::invalid_argument);
}

TEST(CountsFromCpp, ASavedFitIsRestoredWithATableInMemory) {
    const std::unique_ptr<FittedModel> fitted = find_kind("counts")->fit(FitRequest{visits(), kSettings, {}, 1, {}});
    const std::string path = ::testing::TempDir() + "/lrvb_counts.json";
    write_fit(path, fitted->file());
    const std::unique_ptr<FittedModel> again = restore(read_fit(path), visits());
    const std::vector<PriorEffect> effects = prior_effects(*again, again->posterior().select({"rate[south]"}));
    ASSERT_EQ(effects.size(), 2U);
    for (const PriorEffect& effect : effects) {  // of A/B in shape and rate, and of √A/B
        const bool is_shape = effect.prior.name == "shape";
        EXPECT_NEAR(effect.mean_slope, is_shape ? 1.0 / 3.0 : -4.0 / 9.0, 1e-10);
        EXPECT_NEAR(effect.sd_slope, is_shape ? 0.5 / 2.0 / 3.0 : -2.0 / 9.0, 1e-5);
    }
    DataFrame others = visits();
    others.columns[0].numbers[1] = 1.0;
    EXPECT_THROW(restore(read_fit(path), others), std::runtime_error);
    std::remove(path.c_str());
}

TEST(CountsFromCpp, AMissingNumberInATableIsRefusedOrLeftOut) {
    DataFrame frame = visits();
    frame.columns[1].numbers[1] = kNothing;
    frame.columns[0].numbers[3] = kNothing;
    try {
        find_kind("counts")->fit(FitRequest{frame, kSettings, {}, 1, {}});
        FAIL() << "it must be refused";
    } catch (const MissingValue& error) {
        EXPECT_STREQ(error.what(),
                     "a table in memory: row 2, column 'hours': the value is missing, in the first of 2 such rows: "
                     "fill it in, or have rows with missing values dropped");
    }
    Settings settings = kSettings;
    settings.set("drop-missing", "true");
    const auto fitted = find_kind("counts")->fit(FitRequest{frame, settings, {}, 1, {}});
    EXPECT_EQ(fitted->file().data.dropped, 2);
    EXPECT_EQ(fitted->file_row(1), 3);
    // Of south there is nothing left.
    ASSERT_EQ(fitted->posterior().variables.size(), 2U);
    EXPECT_EQ(fitted->posterior().variables[0].name, "rate[north]");
    EXPECT_EQ(restore(fitted->file(), frame)->file_row(1), 3);
}

TEST(CountsFromCpp, GroupsThatAreNumbersInATableAreText) {
    DataFrame frame = visits();
    frame.columns[2] = numbers("place", Vector{{10.0, 2.0, 10.0, 2.0, 10.0}});
    const auto fitted = find_kind("counts")->fit(FitRequest{frame, kSettings, {}, 1, {}});
    EXPECT_NEAR(fitted->posterior().variables[0].mean, 16.0 / 7.0, 1e-12);
    EXPECT_EQ(fitted->posterior().variables[0].name, "rate[10]");
    EXPECT_EQ(fitted->posterior().variables[2].name, "rate[2]");
}

// Every kind reads a table: here the rows of a mixture, which are streamed where they are a file.
TEST(CountsFromCpp, RowsOfAMixtureInATableMayBeMissingToo) {
    DataFrame frame;
    frame.rows = 40;
    Vector x(40);
    for (Index n = 0; n < 40; ++n) x[n] = static_cast<double>(n % 2) * 5.0 + std::sin(static_cast<double>(n));
    x[7] = kNothing;
    frame.columns.push_back(numbers("x", x));
    const Settings settings{{"components", "2"}, {"drop-missing", "true"}};
    const auto fitted = find_kind("mixture")->fit(FitRequest{frame, settings, {}, 1, {}});
    EXPECT_EQ(fitted->file().data.rows, 39);
    EXPECT_EQ(fitted->file().data.dropped, 1);
    EXPECT_EQ(fitted->file_row(7), 9);

    struct Rows final : TableSink {
        void header(const std::vector<std::string>&) override {}
        void row(Index row, const Vector&) override { seen.push_back(row); }
        std::vector<Index> seen;
    } predicted;
    fitted->file().model->predict(fitted->file(), frame, {.drop_missing = true}, predicted);
    ASSERT_EQ(predicted.seen.size(), 39U);
    EXPECT_EQ(predicted.seen[6], 7);
    EXPECT_EQ(predicted.seen[7], 9);
}

TEST(CountsFromCpp, ATableThatIsNoneIsRefusedInASentence) {
    const auto refused = [](const DataFrame& frame) -> std::string {
        try {
            Dataset data(frame);
        } catch (const std::invalid_argument& error) {
            return error.what();
        }
        return {};
    };
    DataFrame frame = visits();
    frame.rows = 4;
    EXPECT_EQ(refused(frame), "Dataset: column 'visits' has 5 values, but the table has 4 rows: give one a row");
    frame = visits();
    frame.columns[2].codes[0] = 2;
    EXPECT_EQ(refused(frame), "Dataset: column 'place' has the code 2, but 2 levels: codes count from 0");
    frame = visits();
    frame.columns[2].levels = {"south", "north"};
    EXPECT_EQ(refused(frame), "Dataset: the levels of column 'place' are not sorted, or one comes twice: sort them");
    EXPECT_EQ(refused(DataFrame()), "Dataset: a table of 0 rows and 0 columns holds nothing: give it both");
}

TEST(CountsFromCpp, AKindIsRegisteredOnce) {
    class Another final : public Kind {
      public:
        std::string_view name() const override { return "counts"; }
        std::string_view help() const override { return ""; }
        std::optional<std::vector<OptionInfo>> options() const override { return std::nullopt; }
        std::unique_ptr<FittedModel> fit(const FitRequest&) const override { return nullptr; }
        std::shared_ptr<const ModelRecord> read(const Fields&) const override { return nullptr; }
    };
    EXPECT_THROW(register_kind(std::make_unique<Another>()), std::invalid_argument);
}

}  // namespace
}  // namespace lrvb
