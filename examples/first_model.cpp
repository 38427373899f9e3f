// The first model of the README: a mean and a precision, and what moves them.

#include <lrvb/lrvb.hpp>

#include <cstdio>

int main() {
    const lrvb::Vector y{{4.1, 5.3, 3.9, 6.0, 5.2, 4.7}};

    lrvb::ModelBuilder builder;
    const auto location = builder.hyperparameter("location", 0.0);
    const auto mu = builder.add("mu", lrvb::normal(location, 0.04));  // mean, precision
    const auto tau = builder.add("tau", lrvb::gamma(2.0, 1.0));       // shape, rate
    builder.observe_column(y, lrvb::normal(mu, tau));
    const lrvb::MultilinearModel model = builder.build();

    const lrvb::Optimum optimum = lrvb::fit(model);
    const lrvb::LinearResponse response(model, optimum);

    const lrvb::Functionals asked{mu, log(tau)};
    const lrvb::Vector mean = response.mean(asked);
    const lrvb::Vector sd = response.sd(asked);
    const lrvb::Vector sd_mfvb = response.mean_field_sd(asked);
    std::printf("%s\n", optimum.message.c_str());
    std::printf("mu       %7.4f  sd %.4f  (mean field %.4f)\n", mean[0], sd[0], sd_mfvb[0]);
    std::printf("log tau  %7.4f  sd %.4f  (mean field %.4f)\n", mean[1], sd[1], sd_mfvb[1]);
    std::printf("correlation %.4f\n", response.correlation(asked)(0, 1));
    std::printf("d E[mu] / d location %.4f\n", response.sensitivity(asked, location)[0]);
    return 0;
}
