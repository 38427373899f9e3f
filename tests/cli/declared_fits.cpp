// Writes fit files of models declared in C++, for the tests of the program, which know nothing of the library: into the
// folder that it is given, `declared.json`, six heights under a normal; `stopped.json`, the same before it converged;
// and `large.json`, ten thousand groups. Prints what the linear response itself says of the large one.

#include "grouped_model.hpp"

#include <lrvb/base/document.hpp>
#include <lrvb/kind/declared.hpp>

#include <cstdio>
#include <string>

int main(int, char** arguments) {
    const std::string folder = arguments[1];
    lrvb::ModelBuilder builder;
    const auto location = builder.hyperparameter("location", 0.5);
    const auto mu = builder.add("mu", lrvb::normal(location, 0.04));
    const auto tau = builder.add("tau", lrvb::gamma(2.0, builder.hyperparameter("rate", 1.0)));
    const lrvb::Vector heights{{4.1, 5.3, 3.9, 6.0, 5.2, 4.7}};
    builder.observe_column(heights, lrvb::normal(mu, tau), builder.rows("people", heights.size()).as("height"));
    const auto small = std::make_shared<const lrvb::MultilinearModel>(builder.build());
    lrvb::write_fit(folder + "/declared.json", lrvb::fitted_model(small, lrvb::fit(*small))->file());
    lrvb::FitOptions one;
    one.max_iterations = 1;
    one.first_sweeps = 1;
    lrvb::write_fit(folder + "/stopped.json", lrvb::fitted_model(small, lrvb::fit(*small, one))->file());

    const lrvb::bench::Grouped grouped = lrvb::bench::grouped_model(lrvb::bench::simulate_groups(10000, 10, 2024));
    const auto large = std::make_shared<const lrvb::MultilinearModel>(grouped.model);
    const lrvb::Optimum optimum = lrvb::fit(*large);
    lrvb::write_fit(folder + "/large.json", lrvb::fitted_model(large, optimum)->file());
    const lrvb::LinearResponse response(*large, optimum);
    const lrvb::Functionals asked{"mu", "tau", "effect[77]"};
    lrvb::Document said;
    said["mean"] = response.mean(asked);
    said["sd"] = response.sd(asked);
    said["covariance"] = response.covariance(asked);
    std::printf("%s\n", said.json().c_str());
    return 0;
}
