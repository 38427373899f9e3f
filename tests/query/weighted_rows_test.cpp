// What is said and drawn of rows that have weights is what is said and drawn of the rows written out, and of a row of
// weight zero nothing.

#include "data_files.hpp"
#include "frames.hpp"

#include <limits>

namespace lrvb {
namespace {

using test::fit_of;
using test::frame_of;

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
