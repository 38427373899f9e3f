// The Gaussian field: how long building, fitting, the response with all sds, and the integral over the variance
// parameters take, and how that grows. Times are of one run each; growth is the ratio of times over the ratio of sizes,
// 1 where it is linear.

#include <lrvb/lrvb.hpp>

#include <fmt/format.h>

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <sys/resource.h>
#include <vector>

namespace {

using namespace lrvb;
using Clock = std::chrono::steady_clock;

double seconds(const std::function<void()>& work) {
    const Clock::time_point begin = Clock::now();
    work();
    return std::chrono::duration<double>(Clock::now() - begin).count();
}

FieldFactor factor(const std::string& name, std::vector<int> level, Index levels, const Matrix& values) {
    FieldFactor result{name, {}, {"intercept"}, std::move(level), values};
    if (values.cols() > 1) result.effects.emplace_back("x");
    for (Index l = 0; l < levels; ++l) result.levels.push_back(fmt::format("{}", l + 1));
    return result;
}

/// y ~ x + (1 + x | g), or (1 | g); and + (1 | h), crossed, where there are levels of it.
std::shared_ptr<const FieldData> simulated(Index rows, Index groups, bool slopes, Index crossed) {
    Random random(1, static_cast<std::uint64_t>(rows + groups));
    auto data = std::make_shared<FieldData>();
    data->y.resize(rows);
    data->columns.resize(rows, 1);
    data->names = {"x"};
    const Vector u = 0.7 * standard_normals(groups, random);
    const Vector b = 0.3 * standard_normals(groups, random);
    const Vector v = 0.5 * standard_normals(std::max<Index>(crossed, 1), random);
    std::vector<int> g(static_cast<std::size_t>(rows));
    std::vector<int> h(static_cast<std::size_t>(rows));
    Matrix values = Matrix::Ones(rows, slopes ? 2 : 1);
    for (Index n = 0; n < rows; ++n) {
        const Index own = n % groups;
        const Index other = crossed > 0 ? static_cast<Index>(random.uniform() * static_cast<double>(crossed)) : 0;
        g[static_cast<std::size_t>(n)] = static_cast<int>(own);
        h[static_cast<std::size_t>(n)] = static_cast<int>(other);
        const double x = random.normal();
        data->columns(n, 0) = x;
        if (slopes) values(n, 1) = x;
        data->y[n] =
            1.0 + 0.5 * x + u[own] + (slopes ? b[own] * x : 0.0) + (crossed > 0 ? v[other] : 0.0) + random.normal();
    }
    data->factors.push_back(factor("g", std::move(g), groups, values));
    if (crossed > 0) data->factors.push_back(factor("h", std::move(h), crossed, Matrix::Ones(rows, 1)));
    return data;
}

struct Times {
    double build = 0.0;
    double fit = 0.0;
    double response = 0.0;
    double integral = 0.0;
};

Times run(const std::string& what, Index rows, Index groups, bool slopes, Index crossed, bool integrate) {
    const std::shared_ptr<const FieldData> data = simulated(rows, groups, slopes, crossed);
    Times times;
    std::unique_ptr<FieldModel> model;
    times.build = seconds([&] { model = std::make_unique<FieldModel>(data); });
    Optimum optimum;
    times.fit = seconds([&] { optimum = fit(*model); });
    Vector sds;
    times.response = seconds([&] { sds = LinearResponse(*model, optimum).marginal_sds(); });
    FieldIntegralOptions options;
    options.threads = 2;
    options.start = optimum.state.mean.head(model->variance_count());
    const double predicted = FieldIntegral::work(*model, options);
    Index nodes = 0;
    if (integrate) {
        times.integral = seconds([&] {
            const FieldIntegral integral(*model, options);
            nodes = integral.nodes();
            sds = integral.coefficients().sd;
        });
    }
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    fmt::print("{:<34} {:>8.3f} {:>8.3f} {:>8.3f} {:>9.3f} {:>6} {:>9.2g} {:>7.0f}  {}\n", what, times.build, times.fit,
               times.response, times.integral, nodes, predicted, static_cast<double>(usage.ru_maxrss) / 1024.0,
               optimum.converged() ? "" : optimum.message);
    std::fflush(stdout);
    return times;
}

}  // namespace

int main() {
    fmt::print("{:<34} {:>8} {:>8} {:>8} {:>9} {:>6} {:>9} {:>7}\n", "seconds", "build", "fit", "response", "integral",
               "nodes", "predicted", "peak MB");
    run("1e5 rows in 2,000 groups, (1 | g)", 100000, 2000, false, 0, true);
    run("crossed 3,000 x 1,000, 73,000 rows", 73000, 3000, false, 1000, false);
    const Times small = run("1e5 rows in 1e4, (1 + x | g)", 100000, 10000, true, 0, true);
    const Times large = run("1e6 rows in 1e5, (1 + x | g)", 1000000, 100000, true, 0, false);
    fmt::print("growth over ten times the groups: build {:.2f}, fit {:.2f}, response {:.2f}\n",
               large.build / small.build / 10.0, large.fit / small.fit / 10.0, large.response / small.response / 10.0);
    return 0;
}
