// Two observations of a normal mean: the posterior is known, Normal((1 + 3)/3, variance 1/3).
#include <lrvb/lrvb.hpp>

#include <cmath>

int main() {
    lrvb::ModelBuilder builder;
    const auto mu = builder.add("mu", lrvb::normal(0.0, 1.0));
    builder.observe_column(lrvb::Vector{{1.0, 3.0}}, lrvb::normal(mu, 1.0));
    const lrvb::MultilinearModel model = builder.build();
    const lrvb::LinearResponse response(model, lrvb::fit(model));
    const double mean_error = std::abs(response.mean({mu})[0] - 4.0 / 3.0);
    const double variance_error = std::abs(response.covariance({mu})(0, 0) - 1.0 / 3.0);
    return mean_error < 1e-12 && variance_error < 1e-12 ? 0 : 1;
}
