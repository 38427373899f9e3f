// Fits of the same rows, by how well they predict what they have not seen.

#include "frames.hpp"

#include <memory>

namespace lrvb {
namespace {

using test::fit_of;
using test::frame_of;

std::string refusal(const FittedModel& one, const FittedModel& other) {
    try {
        compare_fits({&one, &other}, {"one.json", "other.json"});
    } catch (const std::runtime_error& error) {
        return error.what();
    }
    return "";
}

TEST(Compare, FindsTheNumberOfComponentsThatMadeTheRows) {
    const Dataset data = frame_of({{"x", test::three_component_rows(600, 3)}});
    std::vector<std::unique_ptr<FittedModel>> fits;
    std::vector<const FittedModel*> given;
    for (const char* components : {"1", "2", "3"}) {
        fits.push_back(fit_of("mixture", data, {{"components", components}}));
        given.push_back(fits.back().get());
    }
    const std::vector<std::string> names{"one", "two", "three"};
    const std::vector<ComparedFit> compared = compare_fits(given, names);
    ASSERT_EQ(compared.size(), 3U);
    EXPECT_EQ(compared[0].fit, 2U);
    EXPECT_EQ(compared[2].fit, 0U);
    EXPECT_EQ(compared[0].elpd_difference, 0.0);
    EXPECT_EQ(compared[0].se_difference, 0.0);
    EXPECT_EQ(compared[0].loo.parameters, 8);  // 2 weights, 3 means, 3 precisions
    EXPECT_EQ(compared[2].loo.parameters, 2);
    // Paired by row: the variance of the differences, times their number.
    const Eigen::ArrayXd differences = compared[2].loo.elpd - compared[0].loo.elpd;
    EXPECT_NEAR(compared[2].elpd_difference, differences.sum(), 1e-9);
    EXPECT_NEAR(compared[2].se_difference, std::sqrt((differences - differences.mean()).square().sum() * 600.0 / 599.0),
                1e-9);
    EXPECT_NE(comparison_message(compared, names).find("three predicts best, by more"), std::string::npos);
}

TEST(Compare, TheBoundHasTheLabellingsThatCanBeExchanged) {
    const Dataset data = frame_of({{"x", test::three_component_rows(600, 3)}});
    const auto one = fit_of("mixture", data, {{"components", "1"}});
    const auto three = fit_of("mixture", data, {{"components", "3"}});
    EXPECT_EQ(log_labellings(*one), 0.0);
    EXPECT_NEAR(log_labellings(*three), std::log(6.0), 1e-12);
    const std::vector<ComparedFit> compared = compare_fits({one.get(), three.get()}, {"one", "three"});
    EXPECT_NEAR(compared[0].bound, three->optimum().bound + std::log(6.0), 1e-9);
    // Weights that are held: of 0.3, 0.4 and 0.3 two can be exchanged.
    const std::string path = ::testing::TempDir() + "/lrvb_compare_weights.json";
    std::ofstream(path) << R"({"weights": [0.3, 0.4, 0.3]})";
    const auto held = fit_of("mixture", data, {{"components", "3"}, {"fix", "weights"}, {"at", path}});
    EXPECT_NEAR(log_labellings(*held), std::log(2.0), 1e-12);
}

class CompareRegressions : public ::testing::Test {
  protected:
    CompareRegressions() {
        Random random(6);
        const Matrix x = test::random_matrix(80, 2, random);
        y = x.col(0) + 0.5 * standard_normals(80, random);
        a = x.col(0);
        b = x.col(1);
    }
    std::unique_ptr<FittedModel> on(const std::vector<std::pair<std::string, Vector>>& columns,
                                    const std::string& response = "y") const {
        return fit_of("regression", frame_of(columns), {{"response", response}});
    }
    Vector y;
    Vector a;
    Vector b;
};

TEST_F(CompareRegressions, OfOneResponseOnOtherColumns) {
    const auto good = on({{"y", y}, {"a", a}});
    const auto poor = on({{"y", y}, {"b", b}});
    const auto both = on({{"y", y}, {"a", a}, {"b", b}});
    const std::vector<std::string> names{"poor", "both", "good"};
    const std::vector<ComparedFit> compared = compare_fits({poor.get(), both.get(), good.get()}, names);
    EXPECT_EQ(compared[2].fit, 0U);
    EXPECT_LT(compared[2].elpd_difference, -20.0);
    // A column that says nothing costs little: the two cannot be told apart.
    EXPECT_GT(compared[1].elpd_difference, -4.0);
    EXPECT_NE(comparison_message(compared, names).find("but not clearly better than"), std::string::npos);
}

// A mixture of the response alone is a model of the same numbers, with no columns to explain them.
TEST_F(CompareRegressions, AndAMixtureOfTheResponse) {
    const auto good = on({{"y", y}, {"a", a}});
    const auto alone = fit_of("mixture", frame_of({{"y", y}}), {{"components", "1"}});
    const std::vector<ComparedFit> compared = compare_fits({alone.get(), good.get()}, {"alone", "good"});
    EXPECT_EQ(compared[0].fit, 1U);
}

TEST_F(CompareRegressions, OtherResponsesRowsAndNumbersAreRefusedInASentence) {
    const auto fit = on({{"y", y}, {"a", a}});
    const std::string other_response = refusal(*fit, *on({{"b", b}, {"a", a}}, "b"));
    EXPECT_NE(other_response.find("one.json and other.json are fits of other data (y and b)"), std::string::npos)
        << other_response;
    const std::string other_columns =
        refusal(*fit, *fit_of("mixture", frame_of({{"a", a}, {"b", b}}), {{"components", "1"}}));
    EXPECT_NE(other_columns.find("fits of other data (y and a, b)"), std::string::npos) << other_columns;
    const std::string fewer = refusal(*fit, *on({{"y", y.head(70)}, {"a", a.head(70)}}));
    EXPECT_NE(fewer.find("80 and 70 rows"), std::string::npos) << fewer;
    Vector changed = y;
    changed[4] += 1.0;
    const std::string moved = refusal(*fit, *on({{"y", changed}, {"a", a}}));
    EXPECT_NE(moved.find("row 5 differs"), std::string::npos) << moved;
}

TEST(Compare, ColumnsOfAMixtureMayStandInAnyOrder) {
    Random random(2);
    const Matrix x = test::random_matrix(50, 2, random);
    const Dataset data = frame_of({{"a", x.col(0)}, {"b", x.col(1)}});
    const auto one = fit_of("mixture", data, {{"components", "1"}, {"columns", "a,b"}});
    const auto other = fit_of("mixture", data, {{"components", "1"}, {"columns", "b,a"}});
    LooOptions options;
    options.method = LooMethod::response;
    const std::vector<ComparedFit> compared = compare_fits({one.get(), other.get()}, {"one", "other"}, options);
    // Wishart variables are drawn by their Cholesky factor, which knows the order.
    EXPECT_NEAR(compared[1].elpd_difference, 0.0, 0.02);
}

TEST(Compare, NeedsTwoFits) {
    const auto fit = fit_of("mixture", frame_of({{"x", test::three_component_rows(50, 3)}}), {{"components", "1"}});
    EXPECT_THROW(compare_fits({fit.get()}, {"one"}), std::invalid_argument);
}

}  // namespace
}  // namespace lrvb
