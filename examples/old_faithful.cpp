// A normal mixture of two components on the Old Faithful eruptions, declared with an indicator variable for every row:
//
//     pi ~ Dirichlet(1, 1),   mu_k ~ Normal(0, variance 100),   tau_k ~ Gamma(2.0001, 0.1),
//     z_n ~ Categorical(pi),  x_n ~ Normal(mu_{z_n}, precision tau_{z_n}).
//
// Prints, for each parameter, the posterior mean, the mean-field and the linear-response sd, and what mean field hid.

#include <lrvb/lrvb.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <exception>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

constexpr int kComponents = 2;

// The first column of a CSV file with a header.
lrvb::Vector read_first_column(const std::string& path) {
    std::ifstream file(path);
    if (!file) throw std::runtime_error(fmt::format("{}: cannot be opened; give the path of a CSV file", path));
    std::vector<double> values;
    std::string line;
    std::getline(file, line);
    for (std::size_t row = 1; std::getline(file, line); ++row) {
        double value = 0.0;
        const char* end = line.data() + std::min(line.find(','), line.size());
        const auto [stop, error] = std::from_chars(line.data(), end, value);
        if (error != std::errc{} || stop != end) {
            throw std::runtime_error(fmt::format("{}: row {} does not start with a number: '{}'", path, row, line));
        }
        values.push_back(value);
    }
    if (values.size() < kComponents) {
        throw std::runtime_error(
            fmt::format("{}: {} rows are too few for {} components", path, values.size(), kComponents));
    }
    return Eigen::Map<const lrvb::Vector>(values.data(), static_cast<lrvb::Index>(values.size()));
}

void print_table(const std::string& path) {
    const lrvb::Vector eruptions = read_first_column(path);

    lrvb::ModelBuilder builder;
    const auto pi = builder.add("pi", lrvb::dirichlet({1.0, 1.0}));
    std::vector<lrvb::Variable<lrvb::family::Normal>> mu;
    std::vector<lrvb::Variable<lrvb::family::Gamma>> tau;
    std::vector<lrvb::Distribution<lrvb::family::Normal>> components;
    for (int k = 0; k < kComponents; ++k) {
        mu.push_back(builder.add(fmt::format("mu[{}]", k + 1), lrvb::normal(0.0, 0.01)));
        tau.push_back(builder.add(fmt::format("tau[{}]", k + 1), lrvb::gamma(2.0001, 0.1)));
        components.push_back(lrvb::normal(mu.back(), tau.back()));
    }
    // Labels are exchangeable: starting each row at the nearer end of the data makes the short eruptions the first
    // component.
    lrvb::FitOptions options;
    const double middle = 0.5 * (eruptions.minCoeff() + eruptions.maxCoeff());
    for (lrvb::Index n = 0; n < eruptions.size(); ++n) {
        const auto z = builder.add(fmt::format("z[{}]", n + 1), lrvb::categorical(pi));
        builder.observe(eruptions[n], lrvb::mixture(z, components));
        const double first = eruptions[n] < middle ? 0.9 : 0.1;
        options.start(z, lrvb::Vector{{first, 1.0 - first}});
    }
    const lrvb::MultilinearModel model = builder.build();
    const lrvb::Optimum optimum = lrvb::fit(model, options);
    const lrvb::LinearResponse response(model, optimum);

    std::vector<std::string> names{"log_pi[1]", "log_pi[2]"};
    for (const char* statistic : {"mu", "log_tau"}) {
        for (int k = 1; k <= kComponents; ++k) names.push_back(fmt::format("{}[{}]", statistic, k));
    }
    const lrvb::Vector mean = response.mean(names);
    const lrvb::Vector mfvb = response.mean_field_sd(names);
    const lrvb::Vector lrvb_sd = response.sd(names);

    fmt::print("Old Faithful eruptions, {} rows, {} components, {} variables\n", eruptions.size(), kComponents,
               model.layout().variable_count());
    fmt::print("{} sweeps, {} Newton steps, bound {:.4f}, {}\n\n", optimum.sweeps, optimum.newton_steps, optimum.bound,
               optimum.message);
    fmt::print("{:<12} {:>9} {:>9} {:>9} {:>7}\n", "variable", "mean", "sd_mfvb", "sd", "ratio");
    for (std::size_t i = 0; i < names.size(); ++i) {
        const auto at = static_cast<lrvb::Index>(i);
        fmt::print("{:<12} {:>9.4f} {:>9.4f} {:>9.4f} {:>7.2f}\n", names[i], mean[at], mfvb[at], lrvb_sd[at],
                   lrvb_sd[at] / mfvb[at]);
    }
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 2) {
        fmt::print(stderr, "usage: old_faithful FILE.csv\n");
        return 2;
    }
    try {
        print_table(argv[1]);
    } catch (const std::exception& error) {
        fmt::print(stderr, "old_faithful: {}\n", error.what());
        return 1;
    }
    return 0;
}
