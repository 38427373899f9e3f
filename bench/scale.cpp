// How cost grows with size: y = group effect + noise, ten rows a group, from 1,000 to 100,000 groups. Each phase is
// given as its share of the total, and the total per group relative to the smallest size: linear growth is a column of
// ones.

#include "grouped_model.hpp"

#include <fmt/format.h>

#include <chrono>
#include <sys/resource.h>

namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point& last) {
    const Clock::time_point now = Clock::now();
    const double seconds = std::chrono::duration<double>(now - last).count();
    last = now;
    return seconds;
}

double peak_megabytes() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return static_cast<double>(usage.ru_maxrss) / 1024.0;
}

}  // namespace

int main() {
    fmt::print("{:>8} {:>9} {:>7} {:>7} {:>7} {:>7} {:>7} {:>7} {:>9} {:>10} {:>8}\n", "groups", "rows", "build", "fit",
               "factor", "sds", "globals", "sweeps", "newton", "per group", "peak MB");
    double first_per_group = 0.0;
    for (const lrvb::Index groups : {1000, 3000, 10000, 30000, 100000}) {
        const lrvb::bench::GroupedData data = lrvb::bench::simulate_groups(groups, 10, 1);
        Clock::time_point last = Clock::now();
        const lrvb::bench::Grouped grouped = lrvb::bench::grouped_model(data);
        const double build = seconds_since(last);
        const lrvb::Optimum optimum = lrvb::fit(grouped.model);
        const double fit = seconds_since(last);
        const lrvb::LinearResponse response(grouped.model, optimum);
        const double factor = seconds_since(last);
        const lrvb::Vector sds = response.marginal_sds();
        const double marginals = seconds_since(last);
        const lrvb::Matrix covariance =
            response.covariance({grouped.mu, grouped.tau, log(grouped.tau), grouped.tau_group, log(grouped.tau_group)});
        const double globals = seconds_since(last);

        const double total = build + fit + factor + marginals + globals;
        const double per_group = total / static_cast<double>(groups);
        if (first_per_group == 0.0) first_per_group = per_group;
        const auto share = [&](double part) { return fmt::format("{:.0f}%", 100.0 * part / total); };
        fmt::print("{:>8} {:>9} {:>7} {:>7} {:>7} {:>7} {:>7} {:>7} {:>9} {:>10.2f} {:>8.0f}\n", groups, 10 * groups,
                   share(build), share(fit), share(factor), share(marginals), share(globals), optimum.sweeps,
                   optimum.newton_steps, per_group / first_per_group, peak_megabytes());
        if (!optimum.converged() || !sds.allFinite() || !covariance.allFinite()) {
            fmt::print(stderr, "scale: {}\n", optimum.message);
            return 1;
        }
    }
    return 0;
}
