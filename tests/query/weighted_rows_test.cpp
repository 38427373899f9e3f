// What is said and drawn of rows that have weights is what is said and drawn of the rows written out, and of a row of
// weight zero nothing.

#include "../says.hpp"
#include "data_files.hpp"
#include "frames.hpp"

#include <limits>

namespace lrvb {
namespace {

using test::fit_of;
using test::frame_of;

/// A table of y, x and the weights w = 0, 1, 2, 3, 0, 1, …, and the same rows written out. Rows of weight zero lie far
/// away.
struct Tables {
    explicit Tables(Index rows) {
        Random random(11);
        Vector x = standard_normals(rows, random);
        Vector y = 2.0 * x + standard_normals(rows, random);
        Vector weights(rows);
        std::vector<Index> all;
        for (Index n = 0; n < rows; ++n) {
            weights[n] = static_cast<double>(n % 4);
            for (Index i = 0; i < n % 4; ++i) all.push_back(n);
            if (n % 4 > 0) continue;
            x[n] += 40.0;
            y[n] -= 300.0;
        }
        weighted =
            fit_of("regression", frame_of({{"y", y}, {"x", x}, {"w", weights}}), {{"response", "y"}, {"weights", "w"}});
        written = fit_of("regression", frame_of({{"y", Vector(y(all))}, {"x", Vector(x(all))}}), {{"response", "y"}});
    }

    std::unique_ptr<FittedModel> weighted;
    std::unique_ptr<FittedModel> written;
};

void expect_equal(const ResponseCheck& weighted, const ResponseCheck& written) {
    constexpr double kError = 1e-7;
    EXPECT_NEAR(weighted.r2, written.r2, kError);
    EXPECT_NEAR(weighted.residual_sd, written.residual_sd, kError);
    EXPECT_NEAR(weighted.coverage, written.coverage, kError);
    ASSERT_EQ(weighted.quantiles.data.size(), written.quantiles.data.size());
    EXPECT_LT((weighted.quantiles.data - written.quantiles.data).cwiseAbs().maxCoeff(), kError);
    EXPECT_LT((weighted.quantiles.model - written.quantiles.model).cwiseAbs().maxCoeff(), kError);
    ASSERT_EQ(weighted.groups.size(), written.groups.size());
    using Group = ResponseCheck::Group;
    for (std::size_t g = 0; g < written.groups.size(); ++g) {
        for (double Group::*const number : {&Group::fitted, &Group::lowest, &Group::highest, &Group::min, &Group::q5,
                                            &Group::q50, &Group::q95, &Group::max, &Group::band}) {
            EXPECT_NEAR(weighted.groups[g].*number, written.groups[g].*number, kError) << "group " << g;
        }
    }
}

// 60 rows of one group, or two, whose residuals are all in the plot; 3000 in groups of 90, whose borders divide rows of
// weight 2 and 3, and a plot of some of them.
TEST(WeightedRows, ResidualsAreThoseOfRowsWrittenOut) {
    for (const Index rows : {20, 40, 3000}) {
        const Tables tables(rows);
        ModelCheckOptions options;
        options.draws = ParameterDraws::response;
        options.replicates = 20;
        const ModelCheck weighted = check_model_fit(*tables.weighted, options);
        expect_equal(weighted.response.value(), check_model_fit(*tables.written, options).response.value());
        // By the file's rows, of which the first, the fifth, … have no weight.
        EXPECT_EQ(static_cast<Index>(weighted.file_rows.size()), rows / 4 * 3);
        EXPECT_EQ(weighted.file_rows[3], 6);
    }
}

Drawing drawn(const FittedModel& fitted) {
    return fitted.drawing(fitted.file(), {});
}

TEST(WeightedRows, RowsWithoutWeightAreNotDrawn) {
    const Tables tables(100);
    const DrawingPanel panel = drawn(*tables.weighted).panels.at(0);
    ASSERT_EQ(panel.points.size(), 75U);
    for (const DrawingPanel::Point& point : panel.points) EXPECT_GT(point.y, -100.0);
    EXPECT_LT(panel.curves.at(0).x.maxCoeff(), 10.0);
}

TEST(WeightedRows, CellsCountRowsByTheirWeights) {
    const Tables tables(4000);
    const std::vector<DrawingPanel::Cell> weighted = drawn(*tables.weighted).panels.at(0).cells;
    const std::vector<DrawingPanel::Cell> written = drawn(*tables.written).panels.at(0).cells;
    ASSERT_EQ(weighted.size(), written.size());
    for (std::size_t i = 0; i < written.size(); ++i) {
        EXPECT_NEAR(weighted[i].left, written[i].left, 1e-9);
        EXPECT_NEAR(weighted[i].low, written[i].low, 1e-6);
        EXPECT_EQ(weighted[i].share, written[i].share);
    }
}

TEST(WeightedRows, TheReportCountsThemByTheirWeights) {
    const Tables tables(400);
    const Document weighted = tables.weighted->picture();
    const Document written = tables.written->picture();
    const auto cells = [](const Document& picture, bool of_term) {
        const Document& binned = *picture.find("binned");
        const Document& bins = of_term ? binned.find("terms")->entries()->front() : *binned.find("fitted");
        return bins.find("cells")->json();
    };
    EXPECT_EQ(cells(weighted, true), cells(written, true));
    EXPECT_EQ(cells(weighted, false), cells(written, false));
}

TEST(WeightedRows, CellsOfWeightsThatAreNotWholeHaveThem) {
    Random random(3);
    const Vector x = standard_normals(200, random);
    const auto fitted = fit_of(
        "regression", frame_of({{"y", x + standard_normals(200, random)}, {"x", x}, {"w", Vector::Constant(200, 0.5)}}),
        {{"response", "y"}, {"weights", "w"}});
    double total = 0.0;
    const Document picture = fitted->picture();
    for (const Document& cell : *picture.find("binned")->find("fitted")->find("cells")->entries()) {
        total += cell.entries()->back().number().value();
    }
    EXPECT_EQ(total, 100.0);
}

/// y, x, a factor whose level c has no weight, and a row that is missing its y.
class WeightlessLevel : public ::testing::Test {
  protected:
    WeightlessLevel() {
        std::string all = "y,x,g,w\n";
        std::string fewer = all;
        Random random(5);
        for (int n = 0; n < 40; ++n) {
            const char level = n % 5 == 4 ? 'c' : n % 2 == 0 ? 'a' : 'b';
            const double x = random.normal();
            const double y = x + (level == 'b' ? 1.0 : 0.0) + random.normal();
            const std::string row = fmt::format("{},{},{},{}\n", y, x, level, level == 'c' ? 0 : 1 + n % 2);
            all += row;
            if (level != 'c') fewer += row;
        }
        all_ = folder_.write("all.csv", all);
        fewer_ = folder_.write("fewer.csv", fewer);
    }

    TemporaryDirectory folder_;
    std::string all_;
    std::string fewer_;
};

TEST_F(WeightlessLevel, IsNoneOfTheFit) {
    const Settings settings{{"response", "y"}, {"weights", "w"}};
    const auto with = fit_of("regression", all_, settings);
    const auto without = fit_of("regression", fewer_, settings);
    EXPECT_EQ(with->posterior().statistics, without->posterior().statistics);
    EXPECT_EQ(with->posterior().mean, without->posterior().mean);
    EXPECT_EQ(with->file().data.rows, 32);
    EXPECT_EQ(with->file_row(4), 6);  // row 5 is the first without weight
    const std::string meaning =
        "weights: column w counts rows (a weight of 3 is 3 rows); for precisions use --precision-weights";
    EXPECT_EQ(with->file().notes,
              (std::vector<std::string>{meaning, "w: weights; 8 rows have the weight 0, and are left out"}));
    EXPECT_EQ(without->file().notes, std::vector<std::string>{meaning});
    write_fit(folder_.path("fit.json"), with->file());
    const auto again = restore(read_fit(folder_.path("fit.json")), all_);
    EXPECT_EQ(again->file_row(4), 6);
    EXPECT_EQ(drawn(*again).panels.at(1).places, (std::vector<std::string>{"a", "b"}));
}

TEST_F(WeightlessLevel, IsRefusedAsABaseline) {
    const std::string message = message_of<std::runtime_error>([&] {
        fit_of("regression", all_, {{"response", "y"}, {"weights", "w"}, {"baseline", "g=c"}});
    });
    EXPECT_NE(message.find("column 'g' has no level 'c' that could be its baseline: its levels are 'a' and 'b'"),
              std::string::npos)
        << message;
}

// A question mark among numbers does not become a group because its row has no weight.
TEST_F(WeightlessLevel, TextAmongNumbersIsRefusedWhateverItsWeight) {
    const std::string path = folder_.write("a.csv", "y,x,w\n1,1,1\n2,2,1\n2,?,0\n4,4,1\n3,4,1\n");
    const std::string message = message_of<std::runtime_error>([&] {
        fit_of("regression", path, {{"response", "y"}, {"weights", "w"}});
    });
    EXPECT_NE(message.find("row 3, column 'x': '?' is not a number"), std::string::npos) << message;
}

// Row 2 is left out, and row 4 is the file's.
TEST(WeightedRows, AWeightThatIsNotWholeIsRefusedByTheRowOfTheFile) {
    Random random(7);
    Vector x = standard_normals(50, random);
    const Vector y = x + standard_normals(50, random);
    Vector weights = Vector::Ones(50);
    weights[0] = 0.0;
    weights[3] = 0.5;
    x[1] = std::numeric_limits<double>::quiet_NaN();
    const DataFrame table = frame_of({{"x", x}, {"y", y}, {"w", weights}});
    const Settings drop{{"weights", "w"}, {"drop-missing", "yes"}};
    Settings mixture = drop;
    mixture.set("components", "1");
    Settings regression = drop;
    regression.set("response", "y");
    for (const auto& [kind, settings] : {std::pair("mixture", mixture), std::pair("regression", regression)}) {
        const auto fitted = fit_of(kind, table, settings);
        EXPECT_TRUE(test::says(message_of<std::runtime_error>([&] { check_model_fit(*fitted); }),
                               {"row 4", "0.5", "weight", "weights", "fit"}));
    }
}

}  // namespace
}  // namespace lrvb
