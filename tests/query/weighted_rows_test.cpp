// What is said and drawn of rows that have weights is what is said and drawn of the rows written out, and of a row of
// weight zero nothing.

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
        EXPECT_EQ(
            message_of<std::runtime_error>([&] { check_model_fit(*fitted); }),
            "no data can be drawn from this fit, to compare with its own: row 4 has the weight 0.5, and only rows "
            "of whole weights can be drawn again");
    }
}

}  // namespace
}  // namespace lrvb
