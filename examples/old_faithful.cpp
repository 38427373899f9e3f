// A normal mixture of two components on the Old Faithful eruptions, with an indicator variable for every row. Prints,
// for each parameter, the posterior mean, the mean-field and the linear-response sd, and their ratio: what mean field
// hid.

#include "csv.hpp"
#include "mixture_with_indicators.hpp"

#include <cstdio>
#include <exception>

namespace {

constexpr lrvb::Index kComponents = 2;

void print_table(const std::string& path) {
    const lrvb::Vector eruptions = lrvb::example::read_column(path, "eruptions");
    if (eruptions.size() < kComponents) {
        throw std::runtime_error(
            fmt::format("{}: {} rows are too few for {} components", path, eruptions.size(), kComponents));
    }
    const lrvb::example::Mixture mixture = lrvb::example::mixture_model(eruptions, kComponents);
    const lrvb::Optimum optimum = lrvb::fit(mixture.model, mixture.ordered_start(eruptions));
    const lrvb::LinearResponse response(mixture.model, optimum);

    const std::vector<std::string> names = mixture.global_names();
    const lrvb::Vector mean = response.mean(names);
    const lrvb::Vector sd_mfvb = response.mean_field_sd(names);
    const lrvb::Vector sd = response.sd(names);

    fmt::print("Old Faithful eruptions: {} rows, {} components, {} variables\n", eruptions.size(), kComponents,
               mixture.model.layout().variable_count());
    fmt::print("{} sweeps, {} Newton steps, bound {:.4f}, {}\n\n", optimum.sweeps, optimum.newton_steps, optimum.bound,
               optimum.message);
    fmt::print("{:<12} {:>9} {:>9} {:>9} {:>7}\n", "variable", "mean", "sd_mfvb", "sd", "ratio");
    for (std::size_t i = 0; i < names.size(); ++i) {
        const auto at = static_cast<lrvb::Index>(i);
        fmt::print("{:<12} {:>9.4f} {:>9.4f} {:>9.4f} {:>7.2f}\n", names[i], mean[at], sd_mfvb[at], sd[at],
                   sd[at] / sd_mfvb[at]);
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
