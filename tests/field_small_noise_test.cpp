// Fields whose rows are far more precise than the prior of their effects: what eliminating these leaves of the
// intercept is a millionth of a millionth of what there was.

#include "field_data.hpp"

#include <lrvb/fit/fit.hpp>

#include <string>
#include <vector>

namespace lrvb {
namespace {

/// y = 1 + x/2 + u_g, with this noise, in groups of three.
FieldData quiet_field(Index groups, double sigma, std::uint64_t seed) {
    constexpr Index kEach = 3;
    Random random(seed);
    FieldData data;
    const Index rows = groups * kEach;
    data.y.resize(rows);
    data.columns.resize(rows, 1);
    data.names = {"x"};
    std::vector<int> level;
    const Vector u = standard_normals(groups, random);
    for (Index n = 0; n < rows; ++n) {
        const Index g = n / kEach;
        level.push_back(static_cast<int>(g));
        data.columns(n, 0) = random.normal();
        data.y[n] = 1.0 + 0.5 * data.columns(n, 0) + u[g] + sigma * random.normal();
    }
    data.factors.push_back(
        test::field_factor("g", level, static_cast<int>(groups), {"intercept"}, Matrix::Ones(rows, 1)));
    return data;
}

TEST(FieldSmallNoise, FitsConverge) {
    for (const double sigma : {5e-3, 5e-4, 5e-5, 5e-6, 5e-7}) {
        const FieldModel model(quiet_field(1200, sigma, 3));
        const Optimum optimum = fit(model);
        EXPECT_EQ(optimum.termination, Termination::converged) << sigma << ' ' << optimum.message;
        EXPECT_LT(optimum.newton_steps + optimum.sweeps, 20) << sigma;
        const Vector sds = model.variance_values(optimum.state.mean.head(model.variance_count()));
        EXPECT_NEAR(sds[1] / sigma, 1.0, 0.1);
    }
}

}  // namespace
}  // namespace lrvb
