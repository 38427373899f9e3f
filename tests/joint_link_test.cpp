#include "joint_models.hpp"
#include "support.hpp"

#include <lrvb/testing/density_battery.hpp>
#include <lrvb/testing/model_battery.hpp>
#include <lrvb/testing/response_battery.hpp>

#include <cmath>

namespace lrvb {
namespace {

using test::Grouped;

void expect_sound(const JointModel& model) {
    const Optimum optimum = fit(model);
    ASSERT_TRUE(optimum.converged()) << optimum.message;
    const testing::Report at_optimum = testing::check_model(model, optimum.state);
    EXPECT_TRUE(at_optimum.passed()) << at_optimum.text();
    const testing::Report density = testing::check_gradients(model, optimum.state);
    EXPECT_TRUE(density.passed()) << density.text();
    const testing::Report covariance = testing::check_covariance(
        model, {0, 1, 2, 3, model.layout().size() - 1}, [&](const Vector& tilt) { return model.tilted(tilt); });
    EXPECT_TRUE(covariance.passed()) << covariance.text();
    const testing::Report weights = testing::check_case_weights(
        model, {0, 3, model.rows() - 1}, [&](Index row, double weight) { return model.reweighted(row, weight); });
    EXPECT_TRUE(weights.passed()) << weights.text();
}

TEST(JointLink, BinomialRowsPassTheBatteries) {
    expect_sound(Grouped("logit", 1, 21, 1, 30.0).model());  // as BUGS' "seeds"
}

TEST(JointLink, BinaryRowsPassTheBatteries) {
    expect_sound(Grouped("logit", 2).model());
    expect_sound(Grouped("probit", 3).model());
    expect_sound(Grouped("cloglog", 4).model());
}

TEST(JointLink, CountsPassTheBatteries) {
    expect_sound(Grouped("log", 5).model());
}

TEST(JointLink, RespondsToThePriorLikeARefit) {
    for (const char* kind : {"logit", "log"}) {
        const Grouped data(kind, 6);
        const testing::Report report =
            testing::check_sensitivity([&](const Vector& alpha) { return data.model(alpha); }, Vector{{2.0, 1.0, 0.1}});
        EXPECT_TRUE(report.passed()) << report.text();
    }
}

}  // namespace
}  // namespace lrvb
