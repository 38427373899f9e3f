// Normal mixtures with explicit indicators.

#include "mixture_with_indicators.hpp"
#include "support.hpp"

#include <lrvb/testing/density_battery.hpp>
#include <lrvb/testing/model_battery.hpp>
#include <lrvb/testing/response_battery.hpp>

namespace lrvb {
namespace {

TEST(Mixture, CovarianceEqualsTheDerivativeOfRefittedMeans) {
    const Vector x = test::three_component_rows(300, 21);
    const example::Mixture mixture = example::mixture_model(x, 3);
    testing::ResponseCheckOptions options;
    options.fit = mixture.ordered_start(x);
    // The 15 statistics of the weights, means and precisions, and the indicators of a row between two components.
    std::vector<Index> statistics;
    for (Index s = 0; s < 15; ++s) statistics.push_back(s);
    const Index between =
        std::min_element(x.begin(), x.end(), [](double a, double b) { return std::abs(a + 1.4) < std::abs(b + 1.4); }) -
        x.begin();
    for (Index k = 0; k < 3; ++k) statistics.push_back(15 + 3 * between + k);
    const testing::Report report = testing::check_covariance(mixture.model, statistics, options);
    EXPECT_TRUE(report.passed()) << report.text();
}

TEST(Mixture, SensitivityEqualsRefitsUnderOtherPriors) {
    const Vector x = test::three_component_rows(300, 21);
    testing::ResponseCheckOptions options;
    const example::Mixture mixture = example::mixture_model(x, 3);
    options.fit.initial = fit(mixture.model, mixture.ordered_start(x)).state;
    const testing::Report report = testing::check_sensitivity(
        [&](const Vector& prior) { return example::mixture_model(x, 3, prior).model; }, example::kPaperPrior, options);
    EXPECT_TRUE(report.passed()) << report.text();
}

TEST(Mixture, PassesTheModelBattery) {
    const Vector x = test::three_component_rows(20, 3);
    const example::Mixture mixture = example::mixture_model(x, 3);
    Random random(1);
    State state = mixture.model.start(random);
    mixture.model.sweep(state);
    const testing::Report report = testing::check_model(mixture.model, state);
    EXPECT_TRUE(report.passed()) << report.text();
    const testing::Report gradients = testing::check_gradients(mixture.model, state);
    EXPECT_TRUE(gradients.passed()) << gradients.text();
}

struct Reference {
    std::string name;
    std::string column;
    Index components;
    double smallest_ratio;  // LRVB/exact that is known on this data
};

TEST(Mixture, SdsAreNearTheExactPosteriorWhereMeanFieldIsNot) {
    for (const Reference& reference :
         {Reference{"old_faithful", "eruptions", 2, 0.95}, Reference{"mixture3", "x", 3, 0.80}}) {
        const Vector x = test::read_column(reference.name + ".csv", reference.column);
        const Vector exact = test::read_column(reference.name + "_posterior.csv", "sd");
        const example::Mixture mixture = example::mixture_model(x, reference.components);
        const Optimum optimum = fit(mixture.model, mixture.ordered_start(x));
        ASSERT_TRUE(optimum.converged()) << optimum.message;
        const LinearResponse response(mixture.model, optimum);
        const Vector lrvb_ratio = response.sd(mixture.global_names()).cwiseQuotient(exact);
        const Vector mfvb_ratio = response.mean_field_sd(mixture.global_names()).cwiseQuotient(exact);
        fmt::print("{}: sd over exact sd, LRVB {:.2f} to {:.2f}, MFVB {:.2f} to {:.2f}\n", reference.name,
                   lrvb_ratio.minCoeff(), lrvb_ratio.maxCoeff(), mfvb_ratio.minCoeff(), mfvb_ratio.maxCoeff());
        EXPECT_GT(lrvb_ratio.minCoeff(), reference.smallest_ratio);
        EXPECT_LT(lrvb_ratio.maxCoeff(), 1.07);
        EXPECT_LT(mfvb_ratio.minCoeff(), lrvb_ratio.minCoeff());
    }
}

}  // namespace
}  // namespace lrvb
