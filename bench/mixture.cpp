// The streaming mixture, in ratios measured in one run:
//
//   pass       time of a pass (sums; sums and curvature) over that of K vectorised exponentials a row, the floor
//   fit        passes over all rows, and the whole fit with its covariance in units of one pass
//   response   share of the covariance in the fit
//   threads    one pass by one thread over one by two
//   growth     fit time per row, from 1e4 rows to the largest size, from a NumPy file, and from a CSV file up
//   to
//              1e7 rows
//   sklearn    the fit over ONE iteration of scikit-learn's BayesianGaussianMixture on the same rows, where
//   python3-sklearn is installed
//
// usage: mixture [LARGEST_ROWS]      (default 10000000)

#include "kind/mixture/kernels.hpp"

#include <lrvb/data/csv.hpp>
#include <lrvb/data/npy.hpp>
#include <lrvb/lrvb.hpp>

#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>

namespace {

using lrvb::Index;
using Clock = std::chrono::steady_clock;

template <class Work>
double seconds(Work work) {
    const Clock::time_point start = Clock::now();
    work();
    return std::chrono::duration<double>(Clock::now() - start).count();
}

// The best of a few, so that what else the machine does counts less.
template <class Work>
double best_seconds(int times, Work work) {
    double best = seconds(work);
    for (int i = 1; i < times; ++i) best = std::min(best, seconds(work));
    return best;
}

// Memory of the program's own; what the system keeps of a file is its own to take back.
double own_megabytes() {
    std::ifstream status("/proc/self/status");
    for (std::string line; std::getline(status, line);) {
        if (line.starts_with("RssAnon:")) return std::stod(line.substr(8)) / 1024.0;
    }
    return 0.0;
}

// Rows of K components with means three apart in every column and sds between 0.6 and 1.
std::vector<double> simulate(Index rows, Index columns, Index components, std::uint64_t seed) {
    lrvb::Random random(seed);
    std::vector<double> x(static_cast<std::size_t>(rows * columns));
    for (Index n = 0; n < rows; ++n) {
        const auto k = static_cast<Index>(random.uniform() * static_cast<double>(components));
        for (Index p = 0; p < columns; ++p) {
            const double centre = 3.0 * static_cast<double>((k * (p + 1)) % components);
            const double sd = 0.6 + 0.2 * static_cast<double>((k + p) % 3);
            x[static_cast<std::size_t>(n * columns + p)] = centre + sd * random.normal();
        }
    }
    return x;
}

struct Measured {
    lrvb::MixtureFit fit;
    double fit_seconds;
    double response_seconds;
};

Measured fit_with_covariance(const std::shared_ptr<lrvb::RowSource>& source, Index components, int threads) {
    lrvb::MixtureSpecification specification;
    specification.components = components;
    specification.threads = threads;
    Measured measured{};
    measured.fit_seconds = seconds([&] { measured.fit = lrvb::fit_mixture(source, specification); });
    if (!measured.fit.optimum.converged()) {
        fmt::print(stderr, "mixture: {}\n", measured.fit.optimum.message);
        std::exit(1);
    }
    measured.response_seconds = seconds([&] {
        const lrvb::LinearResponse response(*measured.fit.model, measured.fit.optimum);
        static_cast<void>(response.marginal_covariances());
    });
    return measured;
}

// Seconds of one iteration of scikit-learn on rows in an NPY file; negative where it is not installed.
double sklearn_iteration(const std::string& path, Index components) {
    const std::string program = fmt::format(
        "import time, warnings, numpy as np\n"
        "from sklearn.mixture import BayesianGaussianMixture\n"
        "warnings.filterwarnings('ignore')\n"
        "x = np.load('{}')\n"
        "def run(n):\n"
        "    m = BayesianGaussianMixture(n_components={}, max_iter=n, tol=0, init_params='random', random_state=1)\n"
        "    t = time.perf_counter(); m.fit(x); return time.perf_counter() - t\n"
        "run(1); a = run(2); b = run(5)\n"
        "print((b - a) / 3)\n",
        path, components);
    const std::string script = path + ".py";
    std::FILE* file = std::fopen(script.c_str(), "w");
    std::fputs(program.c_str(), file);
    std::fclose(file);
    std::FILE* pipe = popen(fmt::format("/usr/bin/python3 {} 2>/dev/null", script).c_str(), "r");
    double result = -1.0;
    if (pipe != nullptr) {
        if (std::fscanf(pipe, "%lf", &result) != 1) result = -1.0;
        pclose(pipe);
    }
    std::filesystem::remove(script);
    return result;
}

void compare(Index rows, Index columns, Index components, const std::string& directory) {
    const std::vector<double> x = simulate(rows, columns, components, 1);
    const auto source = std::make_shared<lrvb::TableSource>(x.data(), rows, columns);
    const int cores = static_cast<int>(std::thread::hardware_concurrency());
    const Measured measured = fit_with_covariance(source, components, cores);
    const lrvb::MixtureModel& model = *measured.fit.model;
    const lrvb::Vector& mean = measured.fit.optimum.state.mean;

    lrvb::MixtureSpecification serial;
    serial.components = components;
    const lrvb::MixtureModel one(source, serial);
    const double sums_one = best_seconds(5, [&] { one.expand(mean, lrvb::Order::gradient); });
    const double curvature_one = best_seconds(3, [&] { one.expand(mean, lrvb::Order::hessian); });
    const double sums_all = best_seconds(5, [&] { model.expand(mean, lrvb::Order::gradient); });
    std::vector<double> block(static_cast<std::size_t>(4096));
    const double floor = best_seconds(3, [&] {
        for (Index done = 0; done < rows * components; done += static_cast<Index>(block.size())) {
            std::fill(block.begin(), block.end(), -1.5);
            lrvb::detail::exponentials(block.data(), block.size());
        }
    });
    const std::string path = fmt::format("{}/lrvb_mixture_{}_{}.npy", directory, rows, columns);
    lrvb::write_npy(path, rows, columns, x.data());
    const double iteration = sklearn_iteration(path, components);
    std::filesystem::remove(path);

    fmt::print("{:>9} {:>3} {:>3} {:>7} {:>8.2f} {:>10.2f} {:>8.2f} {:>8.1f} {:>8.1f}% {:>9}\n", rows, columns,
               components, measured.fit.passes, sums_one / floor, curvature_one / floor, sums_one / sums_all,
               measured.fit_seconds / sums_all, 100.0 * measured.response_seconds / measured.fit_seconds,
               iteration < 0.0 ? "absent"
                               : fmt::format("{:.2f}", (measured.fit_seconds + measured.response_seconds) / iteration));
}

void write_csv(const std::string& path, const std::vector<double>& column) {
    std::FILE* file = std::fopen(path.c_str(), "w");
    if (file == nullptr) throw std::runtime_error(path + " cannot be written");
    fmt::memory_buffer text;
    fmt::format_to(std::back_inserter(text), "x\n");
    for (std::size_t n = 0; n < column.size(); ++n) {
        fmt::format_to(std::back_inserter(text), "{:.6f}\n", column[n]);
        if (text.size() < (1U << 20U) && n + 1 < column.size()) continue;
        std::fwrite(text.data(), 1, text.size(), file);
        text.clear();
    }
    std::fclose(file);
}

struct Growth {
    Index rows;
    Index passes;
    double seconds_per_row;
    double megabytes;
};

Growth grown(const std::shared_ptr<lrvb::RowSource>& source, Index rows) {
    const int cores = static_cast<int>(std::thread::hardware_concurrency());
    const Measured measured = fit_with_covariance(source, 3, cores);
    return {rows, measured.fit.passes, measured.fit_seconds / static_cast<double>(rows), own_megabytes()};
}

void print_growth(Index largest, const std::string& directory) {
    constexpr Index kLargestCsv = 10000000;
    std::vector<Growth> numpy;
    std::vector<Growth> parsed;
    for (Index rows = 10000; rows <= largest; rows *= 10) {
        const std::string path = fmt::format("{}/lrvb_growth_{}", directory, rows);
        {
            const std::vector<double> x = simulate(rows, 1, 3, 2);
            lrvb::write_npy(path + ".npy", rows, 1, x.data());
            if (rows <= kLargestCsv) write_csv(path + ".csv", x);
        }
        numpy.push_back(grown(std::make_shared<lrvb::NpySource>(path + ".npy"), rows));
        std::filesystem::remove(path + ".npy");
        if (rows > kLargestCsv) continue;
        parsed.push_back(grown(std::make_shared<lrvb::CsvSource>(path + ".csv"), rows));
        std::filesystem::remove(path + ".csv");
    }
    const auto print = [&](const char* what, const std::vector<Growth>& lines) {
        for (const Growth& line : lines) {
            fmt::print("{:>14} {:>10} {:>7} {:>9.2f} {:>8.0f}\n", what, line.rows, line.passes,
                       line.seconds_per_row / numpy.back().seconds_per_row, line.megabytes);
        }
    };
    fmt::print(
        "\ngrowth: one column, K = 3; fit time per row over that of the largest NumPy file; memory of the "
        "program's own\n\n{:>14} {:>10} {:>7} {:>9} {:>8}\n",
        "source", "rows", "passes", "per row", "MB");
    print("NumPy", numpy);
    print("CSV", parsed);
}

}  // namespace

int main(int argc, char** argv) {
    const Index largest = argc > 1 ? std::atol(argv[1]) : 10000000;
    const std::string directory = std::filesystem::temp_directory_path();
    try {
        fmt::print(
            "sums, curvature: a pass by one thread over K exponentials a row; threads: speed-up of a pass by all "
            "cores;\n"
            "fit: in passes; response: share of the fit; sklearn: fit with covariance over one of its iterations\n\n");
        fmt::print("{:>9} {:>3} {:>3} {:>7} {:>8} {:>10} {:>8} {:>8} {:>9} {:>9}\n", "rows", "P", "K", "passes", "sums",
                   "curvature", "threads", "fit", "response", "sklearn");
        compare(1000000, 1, 3, directory);
        compare(1000000, 1, 10, directory);
        compare(200000, 16, 10, directory);

        print_growth(largest, directory);
    } catch (const std::exception& error) {
        fmt::print(stderr, "mixture: {}\n", error.what());
        return 1;
    }
    return 0;
}
