// Normal mixtures with explicit indicators.

#include "mixture_models.hpp"

#include <lrvb/testing/model_battery.hpp>
#include <lrvb/testing/response_battery.hpp>

namespace lrvb {
namespace {

TEST(Mixture, CovarianceEqualsTheDerivativeOfRefittedMeans) {
    const Vector x = test::three_component_rows(300, 21);
    const test::Mixture mixture = test::mixture_model(x, 3);
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
    const test::Mixture mixture = test::mixture_model(x, 3);
    options.fit.initial = fit(mixture.model, mixture.ordered_start(x)).state;
    const testing::Report report = testing::check_sensitivity(
        [&](const Vector& prior) { return test::mixture_model(x, 3, prior).model; }, test::kPaperPrior, options);
    EXPECT_TRUE(report.passed()) << report.text();
}

TEST(Mixture, PassesTheModelBattery) {
    const Vector x = test::three_component_rows(20, 3);
    const test::Mixture mixture = test::mixture_model(x, 3);
    Random random(1);
    State state = mixture.model.start(random);
    mixture.model.sweep(state);
    const testing::Report report = testing::check_model(mixture.model, state);
    EXPECT_TRUE(report.passed()) << report.text();
}

struct Reference {
    std::string file;
    std::string column;
    Index components;
    std::vector<double> sd;  // log_pi, mu, log_tau
    double smallest_ratio;   // LRVB/exact that is known on this data
};

// Exact posterior sds: adaptive importance sampling from Student-t proposals on the posterior with indicators summed
// out, 100,000 draws (the reference posteriors of the project).
TEST(Mixture, SdsAreNearTheExactPosteriorWhereMeanFieldIsNot) {
    const std::vector<Reference> references{
        {"old_faithful.csv", "eruptions", 2, {0.08357, 0.04508, 0.02659, 0.03378, 0.18491, 0.12329}, 0.95},
        {"mixture3.csv",
         "x",
         3,
         {0.09184, 0.07283, 0.07424, 0.06748, 0.06139, 0.09779, 0.11061, 0.18151, 0.11101},
         0.80}};
    for (const Reference& reference : references) {
        const Vector x = test::read_column(reference.file, reference.column);
        const test::Mixture mixture = test::mixture_model(x, reference.components);
        const Optimum optimum = fit(mixture.model, mixture.ordered_start(x));
        ASSERT_TRUE(optimum.converged()) << optimum.message;
        const LinearResponse response(mixture.model, optimum);
        const Vector exact = Eigen::Map<const Vector>(reference.sd.data(), static_cast<Index>(reference.sd.size()));
        const Vector lrvb_ratio = response.sd(mixture.global_names()).cwiseQuotient(exact);
        const Vector mfvb_ratio = response.mean_field_sd(mixture.global_names()).cwiseQuotient(exact);
        fmt::print("{}: sd over exact sd, LRVB {:.2f} to {:.2f}, MFVB {:.2f} to {:.2f}\n", reference.file,
                   lrvb_ratio.minCoeff(), lrvb_ratio.maxCoeff(), mfvb_ratio.minCoeff(), mfvb_ratio.maxCoeff());
        EXPECT_GT(lrvb_ratio.minCoeff(), reference.smallest_ratio);
        EXPECT_LT(lrvb_ratio.maxCoeff(), 1.07);
        EXPECT_LT(mfvb_ratio.minCoeff(), lrvb_ratio.minCoeff());
    }
}

}  // namespace
}  // namespace lrvb
