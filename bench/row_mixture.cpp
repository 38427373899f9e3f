// Mixtures that are declared, with the labels of their rows summed out, beside the streaming mixture, in ratios
// measured in one run: one column, K = 3, the same prior.
//
//   pass      a pass over all rows (sums; sums and curvature) over one of the streaming mixture
//   fit       declaring and fitting, with its covariance, over the streaming fit with its covariance
//   bytes     the most memory that declaring and fitting took, for each row; the column itself is 8
//   indicators  the same model with a declared indicator for each row, on rows that it can bear, over this one
//
// usage: row_mixture [ROWS]      (default 1000000)

#include "mixture_with_indicators.hpp"

#include <lrvb/data/table.hpp>
#include <lrvb/lrvb.hpp>

#include <fmt/format.h>

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <string>
#include <thread>

namespace {

using lrvb::Index;
using lrvb::Vector;
using Clock = std::chrono::steady_clock;

template <class Work>
double seconds(Work work) {
    const Clock::time_point start = Clock::now();
    work();
    return std::chrono::duration<double>(Clock::now() - start).count();
}

template <class Work>
double best_seconds(int times, Work work) {
    double best = seconds(work);
    for (int i = 1; i < times; ++i) best = std::min(best, seconds(work));
    return best;
}

double status_bytes(const std::string& field) {
    std::ifstream status("/proc/self/status");
    for (std::string line; std::getline(status, line);) {
        if (line.starts_with(field)) return 1024.0 * std::stod(line.substr(field.size()));
    }
    return 0.0;
}

// The most memory from here on is what is counted: a kernel that does not let it be reset leaves the most so far.
void forget_peak() {
    std::ofstream("/proc/self/clear_refs") << "5";
}

Vector simulate(Index rows) {
    lrvb::Random random(1);
    Vector x(rows);
    for (double& value : x) {
        const auto k = static_cast<Index>(3.0 * random.uniform());
        value = 3.0 * static_cast<double>(k) + (0.6 + 0.2 * static_cast<double>(k)) * random.normal();
    }
    return x;
}

lrvb::MultilinearModel declared(const Vector& x, Index components) {
    lrvb::ModelBuilder builder;
    const Vector& prior = lrvb::example::kPaperPrior;
    const auto pi = builder.add("pi", lrvb::dirichlet(Vector::Constant(components, prior[0])));
    std::vector<lrvb::Distribution<lrvb::family::Normal>> kinds;
    for (Index k = 0; k < components; ++k) {
        const auto mu = builder.add(fmt::format("mu[{}]", k + 1), lrvb::normal(0.0, prior[1]));
        const auto tau = builder.add(fmt::format("tau[{}]", k + 1), lrvb::gamma(prior[2], prior[3]));
        kinds.push_back(lrvb::normal(mu, tau));
    }
    builder.observe_mixture(pi, {lrvb::column(x, kinds)}, builder.rows("rows", x.size()));
    return builder.build();
}

lrvb::Optimum require_converged(lrvb::Optimum optimum) {
    if (optimum.converged()) return optimum;
    fmt::print(stderr, "row_mixture: {}\n", optimum.message);
    std::exit(1);
}

void ask(const lrvb::Model& model, const lrvb::Optimum& optimum) {
    const lrvb::LinearResponse response(model, optimum);
    static_cast<void>(response.marginal_covariances());
}

void compare(Index rows) {
    const Vector x = simulate(rows);
    const int cores = static_cast<int>(std::thread::hardware_concurrency());

    lrvb::MixtureSpecification specification;
    specification.components = 3;
    specification.threads = cores;
    specification.prior = lrvb::MixturePrior::paper(1, lrvb::MixtureCovariance::full);
    const auto source = std::make_shared<lrvb::TableSource>(x.data(), rows, 1);
    lrvb::MixtureFit streaming;
    const double streaming_seconds = seconds([&] {
        streaming = lrvb::fit_mixture(source, specification);
        ask(*streaming.model, require_converged(streaming.optimum));
    });

    const double before = status_bytes("VmRSS:");
    forget_peak();
    std::optional<lrvb::MultilinearModel> model;
    lrvb::Optimum optimum;
    const double declaring = seconds([&] {
        model = declared(x, 3);
        model->set_threads(cores);
    });
    const double fitting = seconds([&] {
        optimum = require_converged(lrvb::fit(*model));
        ask(*model, optimum);
    });
    const double bytes = (status_bytes("VmHWM:") - before) / static_cast<double>(rows);

    const auto pass = [&](const lrvb::Model& of, const Vector& mean, lrvb::Order order) {
        return best_seconds(3, [&] { of.expand(mean, order); });
    };
    const Vector& mean = optimum.state.mean;
    const Vector& streamed = streaming.optimum.state.mean;
    const double sums =
        pass(*model, mean, lrvb::Order::gradient) / pass(*streaming.model, streamed, lrvb::Order::gradient);
    const double curvature =
        pass(*model, mean, lrvb::Order::hessian) / pass(*streaming.model, streamed, lrvb::Order::hessian);
    fmt::print("{:>9} {:>8.2f} {:>10.2f} {:>7} {:>7} {:>9.2f} {:>8.2f} {:>8.0f} {:>14.3g}\n", rows, sums, curvature,
               optimum.sweeps, optimum.newton_steps, declaring / streaming_seconds,
               (declaring + fitting) / streaming_seconds, bytes, std::abs(optimum.bound / streaming.optimum.bound - 1));
}

void compare_indicators(Index rows) {
    const Vector x = simulate(rows);
    const double summed = seconds([&] {
        const lrvb::MultilinearModel model = declared(x, 3);
        ask(model, require_converged(lrvb::fit(model)));
    });
    const double indicators = seconds([&] {
        const lrvb::example::Mixture mixture = lrvb::example::mixture_model(x, 3);
        ask(mixture.model, require_converged(lrvb::fit(mixture.model, mixture.ordered_start(x))));
    });
    fmt::print("\nwith an indicator declared for each of {} rows: {:.0f} times the time\n", rows, indicators / summed);
}

}  // namespace

int main(int argc, char** argv) {
    const Index rows = argc > 1 ? std::atol(argv[1]) : 1000000;
    try {
        fmt::print(
            "a declared mixture over the streaming one: a pass (sums; with curvature), declaring, the whole with its "
            "covariance;\nbytes of memory a row; how far the bounds are apart, relative\n\n");
        fmt::print("{:>9} {:>8} {:>10} {:>7} {:>7} {:>9} {:>8} {:>8} {:>14}\n", "rows", "sums", "curvature", "sweeps",
                   "newton", "declare", "fit", "bytes", "bounds");
        compare(rows / 10);
        compare(rows);
        compare_indicators(20000);
    } catch (const std::exception& error) {
        fmt::print(stderr, "row_mixture: {}\n", error.what());
        return 1;
    }
    return 0;
}
