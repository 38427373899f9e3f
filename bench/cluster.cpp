// Rows on several ranks, in one run beside several threads:
//
//   rate       rows a second that one core passes over, K = 10: sums alone, and sums with curvature
//   threads    a pass by one thread over one by two
//   ranks      a pass by one rank over one by two, of one thread each; they also ask and answer
//   bytes      asked and answered between two ranks in a pass
//   message    time of a question and its answer that need no rows, and of a megabyte, between two ranks
//   model      what docs/scale.md makes of these: T = rows/(ranks·rate) + 2 log₂ ranks·(latency + bytes/bandwidth)
//
// usage: mpirun -n 2 cluster [ROWS]      (default 8000000 numbers of each kind)

#include "mpi/mpi_communicator.hpp"

#include <lrvb/data/npy.hpp>
#include <lrvb/data/row_crew.hpp>
#include <lrvb/family/random.hpp>
#include <lrvb/kind/kind.hpp>
#include <lrvb/kind/mixture/model.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <mpi.h>
#include <string>
#include <unistd.h>
#include <vector>

namespace {

using lrvb::Index;
using Clock = std::chrono::steady_clock;

constexpr Index kComponents = 10;

template <class Work>
double best_seconds(int times, Work work) {
    double best = 1e9;
    for (int i = 0; i < times; ++i) {
        const Clock::time_point start = Clock::now();
        work();
        best = std::min(best, std::chrono::duration<double>(Clock::now() - start).count());
    }
    return best;
}

// Counts what goes through.
class Counting final : public lrvb::Communicator {
  public:
    explicit Counting(lrvb::Communicator& inner) : inner_(inner) {}
    int rank() const override { return inner_.rank(); }
    int size() const override { return inner_.size(); }
    void send(int to, const std::string& message) override {
        sent += message.size();
        inner_.send(to, message);
    }
    std::string receive(int from) override {
        std::string message = inner_.receive(from);
        received += message.size();
        return message;
    }

    std::size_t sent = 0;
    std::size_t received = 0;

  private:
    lrvb::Communicator& inner_;
};

std::vector<double> drawn_rows(Index rows, Index columns) {
    lrvb::Random random(1, static_cast<std::uint64_t>(columns));
    std::vector<double> numbers(static_cast<std::size_t>(rows * columns));
    for (Index i = 0; i < rows; ++i) {
        const double centre = 6.0 * std::floor(10.0 * random.uniform());
        for (Index p = 0; p < columns; ++p) {
            numbers[static_cast<std::size_t>(i * columns + p)] = centre + random.normal();
        }
    }
    return numbers;
}

struct Times {
    double sums = 0.0;
    double curvature = 0.0;
};

Times pass_times(const std::shared_ptr<lrvb::RowSource>& source, int threads) {
    lrvb::MixtureSpecification specification;
    specification.components = kComponents;
    specification.threads = threads;
    const lrvb::MixtureModel model(source, specification);
    lrvb::Random random(1);
    const lrvb::State state = model.start(random);
    return {best_seconds(3, [&] { model.expand_at(state, lrvb::Order::gradient); }),
            best_seconds(2, [&] { model.expand_at(state, lrvb::Order::hessian); })};
}

struct Measured {
    Index columns = 1;
    double sums_rate = 0.0;
    double curvature_rate = 0.0;
    double sums_bytes = 0.0;
    double curvature_bytes = 0.0;
};

Measured measure(Counting& communicator, const std::shared_ptr<lrvb::RowCrew>& crew, Index numbers, Index columns) {
    const Index rows = numbers / columns;
    const std::string path =
        (std::filesystem::temp_directory_path() / fmt::format("lrvb_cluster_{}.npy", ::getpid())).string();
    lrvb::write_npy(path, rows, columns, drawn_rows(rows, columns).data());
    lrvb::DataOptions here;
    here.memory = std::size_t{1} << 30;
    lrvb::DataOptions shared = here;
    shared.crew = crew;
    const std::shared_ptr<lrvb::RowSource> alone = lrvb::Dataset(path, here).rows({}).source;
    const Times one = pass_times(alone, 1);
    const Times two = pass_times(alone, 2);
    const auto count = static_cast<double>(rows);
    Measured result{columns, count / one.sums, count / one.curvature, 0.0, 0.0};
    fmt::print("{} rows of {} column{}, {} components\n", rows, columns, columns == 1 ? "" : "s", kComponents);
    fmt::print("  rate       {:.3g} rows/s a core for sums, {:.3g} with curvature\n", result.sums_rate,
               result.curvature_rate);
    fmt::print("  threads    two are {:.2f} times as fast as one for sums, {:.2f} with curvature\n",
               one.sums / two.sums, one.curvature / two.curvature);
    if (communicator.size() > 1) {
        const std::shared_ptr<lrvb::RowSource> both = lrvb::Dataset(path, shared).rows({}).source;
        const Times ranks = pass_times(both, 1);
        fmt::print("  ranks      {} are {:.2f} times as fast as one for sums, {:.2f} with curvature\n",
                   communicator.size(), one.sums / ranks.sums, one.curvature / ranks.curvature);
        lrvb::MixtureSpecification specification;
        specification.components = kComponents;
        const lrvb::MixtureModel model(both, specification);
        lrvb::Random random(1);
        const lrvb::State state = model.start(random);
        const auto bytes_of = [&](lrvb::Order order) {
            communicator.sent = communicator.received = 0;
            model.expand_at(state, order);
            return std::pair(communicator.sent, communicator.received);
        };
        const auto [asked, answered] = bytes_of(lrvb::Order::gradient);
        const auto [asked_too, answered_too] = bytes_of(lrvb::Order::hessian);
        fmt::print("  bytes      {} asked and {} answered for sums, {} and {} with curvature\n", asked, answered,
                   asked_too, answered_too);
        result.sums_bytes = static_cast<double>(asked + answered);
        result.curvature_bytes = static_cast<double>(asked_too + answered_too);
    }
    std::filesystem::remove(path);
    return result;
}

// There and back, of so many bytes.
double message_seconds(lrvb::Communicator& communicator, std::size_t bytes, int times) {
    const std::string message(bytes, 'x');
    double best = 1e9;
    for (int i = 0; i < times; ++i) {
        const Clock::time_point start = Clock::now();
        if (communicator.rank() == 0) {
            communicator.send(1, message);
            communicator.receive(1);
        } else {
            communicator.send(0, communicator.receive(0));
        }
        best = std::min(best, std::chrono::duration<double>(Clock::now() - start).count());
    }
    return 0.5 * best;
}

void print_model(const Measured& measured, double latency, double bandwidth) {
    struct Case {
        double rows;
        double cores;
    };
    for (const Case& one : {Case{1e9, 16.0}, Case{1e12, 1000.0}}) {
        const double rounds = std::ceil(std::log2(one.cores));
        const auto seconds = [&](double rate, double bytes) {
            return std::pair(one.rows / (one.cores * rate), 2.0 * rounds * latency + rounds * bytes / bandwidth);
        };
        const auto [sums, sums_sent] = seconds(measured.sums_rate, measured.sums_bytes);
        const auto [curvature, curvature_sent] = seconds(measured.curvature_rate, measured.curvature_bytes);
        fmt::print(
            "  model      {:.0e} rows on {} cores, P = {}: a pass takes {:.3g} s and {:.2g} s of messages for sums, "
            "{:.3g} s and {:.2g} s with curvature\n",
            one.rows, one.cores, measured.columns, sums, sums_sent, curvature, curvature_sent);
    }
}

}  // namespace

int main(int argc, char** argv) {
    int provided = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
    {
        lrvb::mpi::MpiCommunicator ranks;
        Counting communicator(ranks);
        double latency = 0.0;
        double bandwidth = 1e9;
        if (ranks.size() > 1 && ranks.rank() < 2) {
            constexpr std::size_t large = std::size_t{1} << 20;
            latency = message_seconds(ranks, 1, 200);
            bandwidth = static_cast<double>(large) / message_seconds(ranks, large, 20);
        }
        const auto crew = std::make_shared<lrvb::RowCrew>(communicator, lrvb::row_questions(), "bench");
        if (ranks.rank() > 0) {
            crew->serve();
        } else {
            const Index numbers = argc > 1 ? std::atol(argv[1]) : 8000000;
            if (ranks.size() > 1) {
                fmt::print("message    {:.2g} s, and {:.2g} bytes/s\n", latency, bandwidth);
            }
            for (const Index columns : {Index{1}, Index{16}}) {
                print_model(measure(communicator, crew, numbers, columns), latency, bandwidth);
            }
            crew->end(0);
        }
    }
    MPI_Finalize();
    return 0;
}
