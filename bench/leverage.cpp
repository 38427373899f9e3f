// What it costs to ask every row, as ratios in one run: all leverage scores against refitting each row from the optimum
// (the paper reports over 30 times), and against the fit itself at a million rows.

#include <lrvb/lrvb.hpp>

#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <exception>
#include <thread>

namespace {

using lrvb::Index;
using lrvb::Vector;

template <class Work>
double seconds(Work work) {
    const auto begin = std::chrono::steady_clock::now();
    work();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

// The fastest of several runs: the others were disturbed.
template <class Work>
double fastest(int runs, Work work) {
    double best = seconds(work);
    for (int i = 1; i < runs; ++i) best = std::min(best, seconds(work));
    return best;
}

Vector draw_rows(Index count, const Vector& means) {
    lrvb::Random random(7);
    Vector x(count);
    for (double& value : x) {
        const auto k = static_cast<Index>(random.uniform() * static_cast<double>(means.size()));
        value = means[k] + random.normal();
    }
    return x;
}

double ask_all(const lrvb::MixtureFit& fit, const std::vector<std::string>& names) {
    const lrvb::LinearResponse response(*fit.model, fit.optimum);
    double sum = 0.0;
    response.leverage(fit.model->in_data_units(names),
                      [&](const lrvb::RowAnswers& rows) { sum += rows.answers.sum(); });
    return sum;
}

void against_refits() {
    Vector x = draw_rows(500, Vector{{-2.0, 2.0}});
    lrvb::MixtureSpecification specification;
    specification.components = 2;
    const lrvb::MixtureFit fit = lrvb::fit_mixture(std::make_shared<lrvb::TableSource>(x), specification);
    double sum = 0.0;
    const double asked = fastest(200, [&] { sum += ask_all(fit, {"mu[1]", "mu[2]"}); });
    specification.prior = fit.model->prior();
    specification.standardisation = {fit.model->centre(), fit.model->scale()};
    const double refitted = seconds([&] {
        for (Index n = 0; n < x.size(); ++n) {
            const double value = x[n];
            x[n] += 1e-4;
            const lrvb::MixtureModel changed(std::make_shared<lrvb::TableSource>(x), specification);
            lrvb::FitOptions options;
            options.initial = fit.optimum.state;
            options.first_sweeps = 0;
            sum += lrvb::fit(changed, options).bound;
            x[n] = value;
        }
    });
    fmt::print("500 rows, 2 components: one refit for each row / all leverage scores = {:.0f}\n", refitted / asked);
    if (sum == 0.125) fmt::print("\n");  // so that nothing is left out
}

void against_the_fit(Index rows, Index components) {
    const Vector means = 4.0 * Vector::LinSpaced(components, 0.0, static_cast<double>(components - 1));
    const auto source = std::make_shared<lrvb::TableSource>(draw_rows(rows, means));
    lrvb::MixtureSpecification specification;
    specification.components = components;
    specification.threads = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
    lrvb::MixtureFit fit;
    const double fitted = fastest(3, [&] { fit = lrvb::fit_mixture(source, specification); });
    std::vector<std::string> names;
    for (Index k = 1; k <= components; ++k) names.push_back(fmt::format("mu[{}]", k));
    const double asked = fastest(3, [&] { ask_all(fit, names); });
    fmt::print("{} rows, {} components: all leverage scores on the means / the fit = {:.2f}\n", rows, components,
               asked / fitted);
}

}  // namespace

int main() {
    try {
        against_refits();
        against_the_fit(1000000, 3);
        against_the_fit(1000000, 10);
    } catch (const std::exception& error) {
        fmt::print(stderr, "leverage: {}\n", error.what());
        return 1;
    }
    return 0;
}
